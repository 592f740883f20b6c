package fill_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func options(events int) fill.Options {
	return fill.Options{Events: events, From: calendar.WallAt(2026, 9, 1, 0, 0, 0), Site: local.Site("http://localhost")}
}

func newFilledStore(t *testing.T, url string, events int) *store.Store {
	t.Helper()
	st := storetest.Migrated(t, url)
	must.Succeed(t, fill.Database(t.Context(), st, options(events)))
	return st
}

// rows returns the rows of a query, each as one text.
func rows(t *testing.T, st *store.Store, query string) []string {
	t.Helper()
	rows, err := st.DB.QueryContext(t.Context(), query)
	must.Succeed(t, err)
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	names, err := rows.Columns()
	must.Succeed(t, err)
	var out []string
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		must.Succeed(t, rows.Scan(into...))
		for i, v := range values {
			if text, ok := v.([]byte); ok {
				values[i] = string(text)
			}
		}
		out = append(out, fmt.Sprint(values...))
	}
	must.Succeed(t, rows.Err())
	return out
}

// TestFillIsTheSameEachTime checks that equal options give equal rows, so that measurements can be repeated on other
// machines.
func TestFillIsTheSameEachTime(t *testing.T) {
	tables := []string{
		"SELECT id, status, title, description, slug, starts_at, ends_at, timezone, parent_id, author_id " +
			"FROM events ORDER BY id",
		"SELECT id, name, latitude, cell FROM venues ORDER BY id",
		"SELECT id, name, email FROM organizers ORDER BY id",
		"SELECT id, name, slug, parent_id, event_count FROM terms ORDER BY id",
		"SELECT event_id, term_id FROM event_terms ORDER BY event_id, term_id",
		"SELECT event_id, venue_id, position FROM event_venues ORDER BY event_id, venue_id",
		"SELECT event_id, language, title FROM event_translations ORDER BY event_id, language",
		"SELECT owner_id, languages, text FROM search_texts ORDER BY id",
	}
	one := newFilledStore(t, storetest.SQLite(t), 700)
	storetest.EachURL(t, func(t *testing.T, url string) {
		other := newFilledStore(t, url, 700)
		for _, query := range tables {
			want := rows(t, one, query)
			if len(want) == 0 {
				t.Errorf("%s: nothing", query)
			}
			if diff := cmp.Diff(want, rows(t, other, query)); diff != "" {
				t.Errorf("%s:\n%s", query, diff)
			}
		}
	})
}

func TestFilled(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	is := func(o fill.Options, want bool) {
		t.Helper()
		if got, err := fill.Filled(t.Context(), st, o); err != nil || got != want {
			t.Errorf("filled: %v, %v, want %v", got, err, want)
		}
	}
	is(options(20), false)
	must.Succeed(t, fill.Database(t.Context(), st, options(20)))
	is(options(20), true)
	is(options(30), false)
	if err := fill.Database(t.Context(), st, options(20)); err == nil {
		t.Error("a database was filled twice")
	}
}

func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for i := range fill.Words {
		word := fill.Word(i)
		folded := search.Fold(word)
		if seen[folded] || len(folded) < 3 || strings.ContainsAny(folded, " -\"") {
			t.Fatalf("word %d is %q", i, word)
		}
		seen[folded] = true
	}
}
