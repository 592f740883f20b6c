package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestDataStepsNameMigrations(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	last := ""
	for _, step := range dataSteps(siteSource{}) {
		if !regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`).MatchString(step.Name) || len(step.Name) > 40 || seen[step.Name] {
			t.Errorf("%q is no name for a step", step.Name)
		}
		seen[step.Name] = true
		if step.Version < last {
			t.Errorf("%s comes after a step of a later migration", step.Name)
		}
		last = step.Version
		for _, engine := range []string{"mysql", "sqlite"} {
			entries, err := migrations.FS.ReadDir(engine)
			must.Succeed(t, err)
			found := false
			for _, e := range entries {
				found = found || strings.HasPrefix(e.Name(), step.Version+"_")
			}
			if !found {
				t.Errorf("%s: %s has no migration %s", step.Name, engine, step.Version)
			}
		}
	}
}

// TestTermSortKeysAreFilledAndTakenUp runs the data step that fills the sort keys of terms. There is more than a
// batch of terms without keys. The step is also interrupted and continued.
func TestTermSortKeysAreFilledAndTakenUp(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		quiet := func() *canceller { return &canceller{at: "nothing of the kind"} }
		terminal := quiet()
		if code, _ := almanacOn(t.Context(), url, terminal, "migrate", "apply", "--to", "20261121120147"); code != 0 {
			t.Fatalf("the first migration: exit status %d, %s", code, terminal)
		}
		st, err := store.Open(t.Context(), url)
		must.Succeed(t, err)
		defer st.Close()
		const terms = 1200
		addTermsWithoutKeys(t, st, terms)
		terminal = quiet()
		code, out := almanacOn(t.Context(), url, terminal, "migrate", "apply", "--no-data")
		if code != 0 || strings.Contains(out, "data step") {
			t.Fatalf("apply --no-data: exit status %d, got %q, stderr %q", code, out, terminal)
		}
		without := func() int { return st.Ent.Term.Query().Where(term.SortEnIsNil()).CountX(t.Context()) }
		if n := without(); n != terms {
			t.Fatalf("%d terms have no keys, want %d", n, terms)
		}
		if code, out := almanacOn(t.Context(), url, quiet(), "migrate", "status"); code != 0 ||
			!regexp.MustCompile(`(?m)^term-sort-keys +\d+ +pending +-$`).MatchString(out) {
			t.Errorf("status: exit status %d,\n%s", code, out)
		}

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		terminal = &canceller{at: "00 rows", cancel: cancel} // the first batch is done
		code, out = almanacOn(ctx, url, terminal, "migrate", "data")
		if code != 1 || out != "" || !strings.Contains(terminal.String(), "data step term-sort-keys: interrupted") {
			t.Fatalf("interrupted: exit status %d, got %q, stderr %q", code, out, terminal)
		}
		left := without()
		if left == 0 || left == terms {
			t.Fatalf("%d terms have no keys after an interruption", left)
		}
		terminal = quiet()
		checkSeriesEnabled(t, st, false, "before their step is done")
		const steps = "done data step term-sort-keys\ndone data step series\n"
		if code, out := almanacOn(t.Context(), url, terminal, "migrate", "data"); code != 0 || out != steps {
			t.Errorf("data: exit status %d, got %q, stderr %q", code, out, terminal)
		}
		if want := fmt.Sprintf("data step term-sort-keys: %d rows\n", left); !strings.Contains(terminal.String(), want) {
			t.Errorf("%q is not in %q", want, terminal)
		}
		if n := without(); n != 0 {
			t.Errorf("%d terms have no keys at the end", n)
		}
		if code, out := almanacOn(t.Context(), url, quiet(), "migrate", "data"); code != 0 || out != "no data step is pending\n" {
			t.Errorf("once more: exit status %d, got %q", code, out)
		}
		if code, out := almanacOn(t.Context(), url, quiet(), "migrate", "data", "--again"); code != 0 || out != steps {
			t.Errorf("again: exit status %d, got %q", code, out)
		}
		checkSeriesEnabled(t, st, true, "once their step is done")
		storetest.DisableSeries(t, st.Ent)
		checkSeriesEnabled(t, st, false, "once they are switched off")
	})
}

// addTermsWithoutKeys adds categories and tags as a program wrote them before terms had sort keys.
func addTermsWithoutKeys(t *testing.T, st *store.Store, terms int) {
	for first := 0; first < terms; first += 100 {
		var rows []string
		for n := first; n < first+100; n++ {
			rows = append(rows, fmt.Sprintf("('en', 'en', '2026-11-21 12:00:00', '2026-11-21 12:00:00', 'Łódź %d', 'lodz %d', '', 'lodz-%d', '%s')",
				n, n, n, []string{"category", "tag"}[n%2]))
		}
		_, err := st.DB.ExecContext(t.Context(), "INSERT INTO terms (language, languages, created_at, modified_at, name, "+
			"name_key, description, slug, taxonomy) VALUES "+strings.Join(rows, ", "))
		must.Succeed(t, err)
	}
}

func TestServeRunsDataStepsWhereNoOlderProgramServes(t *testing.T) {
	t.Parallel()
	const first = "20261121120147"
	for _, tt := range []struct {
		name   string
		engine string
		from   string // the last migration that the database has before
		apply  bool   // serve --migrate
		want   bool
	}{
		{"serve on SQLite, new database", "sqlite", "", false, true},
		{"serve on SQLite, old database", "sqlite", first, false, true},
		{"serve on SQLite, current database", "sqlite", "all", false, true},
		{"serve on MySQL, current database", "mysql", "all", false, false},
		{"serve --migrate on MySQL, new database", "mysql", "", true, true},
		{"serve --migrate on MySQL, old database", "mysql", first, true, false},
		{"serve --migrate on MySQL, current database", "mysql", "all", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			storetest.EachURL(t, func(t *testing.T, url string) {
				st := storetest.Open(t, url)
				if st.Engine() != tt.engine {
					t.Skip("is about another engine")
				}
				if tt.from != "" {
					o := migrate.ApplyOptions{Operator: "test"}
					if tt.from != "all" {
						o.To = tt.from
					}
					if _, err := migrate.Apply(t.Context(), st, o); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // the second is a restart
					must.Succeed(t, prepareSchema(t.Context(), st, siteSource{}, tt.apply))
					states, err := migrate.DataStatus(t.Context(), st, dataSteps(siteSource{}))
					if pending := pendingData(states); (len(pending) == 0) != tt.want || err != nil {
						t.Errorf("pending %v, %v", pending, err)
					}
					if on, err := series.IsEnabled(t.Context(), st.Ent); on != tt.want || err != nil {
						t.Errorf("series are on: %t, %v", on, err)
					}
				}
			})
		})
	}
}

// checkSeriesEnabled checks whether series are switched on.
func checkSeriesEnabled(t *testing.T, st *store.Store, want bool, when string) {
	t.Helper()
	if on, err := series.IsEnabled(t.Context(), st.Ent); on != want || err != nil {
		t.Errorf("series are on %s: %t, %v", when, on, err)
	}
}
