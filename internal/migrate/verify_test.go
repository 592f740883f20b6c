package migrate_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// devFor returns an empty database in which Verify can replay migrations. It returns nil for SQLite, which needs
// none.
func devFor(t *testing.T, st *store.Store) *store.Store {
	t.Helper()
	if st.Engine() == "sqlite" {
		return nil
	}
	return storetest.Open(t, storetest.MySQL(t))
}

func verifyBothWays(t *testing.T, st *store.Store, files fs.FS) migrate.Drift {
	t.Helper()
	dev := devFor(t, st)
	drift, err := migrate.VerifyFiles(t.Context(), st, files, dev)
	must.Succeed(t, err)
	if dev != nil {
		if left := tables(t, dev); len(left) != 0 {
			t.Errorf("left in the dev database: %v", left)
		}
	}
	return drift
}

// runDrift runs the statements of a drift in one session, in the order printed.
func runDrift(t *testing.T, st *store.Store, d migrate.Drift) {
	t.Helper()
	var statements []string
	for _, s := range d.Mend {
		statements = append(statements, s.SQL)
	}
	runInSession(t, st, statements)
}

// runInSession runs statements on one connection.
func runInSession(t *testing.T, st *store.Store, statements []string) {
	t.Helper()
	conn, err := st.DB.Conn(t.Context())
	must.Succeed(t, err)
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

const verifiedHistory = "CREATE TABLE p (id bigint NOT NULL, name varchar(20) NULL, PRIMARY KEY (id));\n" +
	"CREATE INDEX p_name ON p (name);\n" +
	"CREATE TABLE c (id bigint NOT NULL, p_id bigint NOT NULL, PRIMARY KEY (id), " +
	"CONSTRAINT c_p FOREIGN KEY (p_id) REFERENCES p (id));\n" +
	"CREATE INDEX c_p_id ON c (p_id);\n"

func TestVerifyFindsDriftAndMendsIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change string // one statement per line
		want   string // in what mends it
	}{
		{"nothing", "", ""},
		{"a table too many", "CREATE TABLE theirs (id int)", "DROP TABLE `theirs`"},
		{"a table too few", "DROP TABLE c", "CREATE TABLE `c`"},
		{"a column too many", "ALTER TABLE p ADD COLUMN extra int NULL", "p"},
		{"a column too few", "DROP INDEX p_name{ ON p}\nALTER TABLE p DROP COLUMN name", "name"},
		{"an index too many", "CREATE INDEX extra ON p (name, id)", "extra"},
		{"an index too few", "DROP INDEX p_name{ ON p}", "INDEX `p_name`"},
		{"an index that became unique", "DROP INDEX p_name{ ON p}\nCREATE UNIQUE INDEX p_name ON p (name)", "p_name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachOpen(t, func(t *testing.T, st *store.Store) {
				files := sealedFiles(t, map[string]string{"1_a.sql": verifiedHistory})
				if _, err := applyAll(t.Context(), st, files); err != nil {
					t.Fatal(err)
				}
				storetest.Exec(t, st, "INSERT INTO p (id, name) VALUES (1, 'x')", "INSERT INTO c VALUES (1, 1)")
				for line := range strings.Lines(test.change) {
					if st.Engine() == "mysql" {
						line = strings.NewReplacer("{", "", "}", "").Replace(line)
					} else if before, after, ok := strings.Cut(line, "{"); ok {
						_, rest, _ := strings.Cut(after, "}")
						line = before + rest
					}
					storetest.Exec(t, st, line)
				}
				drift := verifyBothWays(t, st, files)
				if test.want == "" {
					if len(drift.Mend) != 0 || !strings.HasPrefix(drift.String(), "-- No drift: ") {
						t.Errorf("got\n%s", drift)
					}
					return
				}
				if len(drift.Mend) == 0 || !strings.Contains(drift.String(), test.want) {
					t.Fatalf("want %s in\n%s", test.want, drift)
				}
				runDrift(t, st, drift)
				if again := verifyBothWays(t, st, files); len(again.Mend) != 0 {
					t.Errorf("after\n%s\nthere is still\n%s", drift, again)
				}
			})
		})
	}
}

func TestVerifyLooksAtWhatIsApplied(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		files := sealedFiles(t, threeMigrations)
		if _, err := migrate.VerifyFiles(t.Context(), st, files, devFor(t, st)); !errors.Is(err, migrate.ErrNoRecord) {
			t.Errorf("empty database: got %v, want ErrNoRecord", err)
		}
		if _, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{To: "2"}); err != nil {
			t.Fatal(err)
		}
		if drift := verifyBothWays(t, st, files); len(drift.Mend) != 0 || drift.Version != "2" {
			t.Errorf("behind: got\n%s", drift)
		}
		if st.Engine() == "mysql" {
			if _, err := migrate.VerifyFiles(t.Context(), st, files, nil); err == nil || !strings.Contains(err.Error(), "empty database") {
				t.Errorf("behind, without a dev database: got %v", err)
			}
		}
		if _, err := applyAll(t.Context(), st, historyWith(t, map[string]string{"4_four.sql": createC})); err != nil {
			t.Fatal(err)
		}
		_, err := migrate.VerifyFiles(t.Context(), st, files, devFor(t, st))
		if err == nil || !strings.Contains(err.Error(), "ahead of this program, which does not know 4") {
			t.Errorf("ahead: got %v", err)
		}
		full := storetest.Open(t, storetest.SQLite(t))
		storetest.Exec(t, full, createA)
		if st.Engine() == "sqlite" {
			_, err := migrate.VerifyFiles(t.Context(), st, historyWith(t, map[string]string{"4_four.sql": createC}), full)
			if err == nil || !strings.Contains(err.Error(), "is to be empty") {
				t.Errorf("a dev database with a table: got %v", err)
			}
			if diff := cmp.Diff([]string{"a"}, tables(t, full)); diff != "" {
				t.Errorf("it was changed (-want +got):\n%s", diff)
			}
		}
	})
}

const createC = "CREATE TABLE c (id bigint PRIMARY KEY);\n"

// TestVerifyOfTheRealSchema applies the migrations of this program, and expects no drift. On MySQL it verifies both
// with and without a database to replay the migrations in.
func TestVerifyOfTheRealSchema(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, dev := range []*store.Store{nil, devFor(t, st)} {
			drift, err := migrate.Verify(t.Context(), st, dev)
			if err != nil || len(drift.Mend) != 0 {
				t.Errorf("right after migrating: error %v\n%s", err, drift)
			}
		}
		storetest.Exec(t, st, "CREATE TABLE theirs (id int)", "ALTER TABLE settings ADD COLUMN extra int NULL",
			"CREATE INDEX extra ON slugs (owner_id)")
		drift, err := migrate.Verify(t.Context(), st, nil)
		must.Succeed(t, err)
		for _, want := range []string{"theirs", "settings", "extra"} {
			if !strings.Contains(drift.String(), want) {
				t.Errorf("want %s in\n%s", want, drift)
			}
		}
		runDrift(t, st, drift)
		if again, err := migrate.Verify(t.Context(), st, nil); err != nil || len(again.Mend) != 0 {
			t.Errorf("after mending: error %v\n%s", err, again)
		}
	})
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		files := sealedFiles(t, threeMigrations)
		options := migrate.BaselineOptions{Operator: "test", Dev: devFor(t, st)}
		err := migrate.BaselineFiles(ctx, st, files, "2", options)
		var differs *migrate.DriftError
		if !errors.Is(err, migrate.ErrDrift) || !errors.As(err, &differs) || len(differs.Drift.Mend) != 3 {
			t.Fatalf("empty database: got %v, want the three tables", err)
		}
		storetest.Exec(t, st, "CREATE TABLE a (id integer PRIMARY KEY)", "CREATE TABLE a_log (id integer NOT NULL)",
			"CREATE TABLE b (id integer PRIMARY KEY, note varchar(20) NULL)")
		for version, want := range map[string]error{"": migrate.ErrVersion, "7": migrate.ErrVersion, "3": migrate.ErrDrift} {
			if err := migrate.BaselineFiles(ctx, st, files, version, options); !errors.Is(err, want) {
				t.Errorf("baseline %q: got %v, want %v", version, err, want)
			}
		}
		if diff := cmp.Diff([]string{"a", "a_log", "b"}, tables(t, st)); diff != "" {
			t.Errorf("what was refused left something (-want +got):\n%s", diff)
		}
		must.Succeed(t, migrate.BaselineFiles(ctx, st, files, "2", options))
		written := "SELECT COUNT(*) FROM atlas_schema_revisions WHERE type = 1 AND version = '2' AND description = 'two'"
		if got := storetest.Value(t, st.DB, written); got != "1" {
			t.Errorf("%s revisions, want the one that the Atlas CLI writes", got)
		}
		revs, err := migrate.StatusFiles(ctx, st, files)
		if err != nil || len(revs) != 3 {
			t.Fatalf("got %+v, error %v", revs, err)
		}
		for i, want := range []migrate.State{migrate.StateBaseline, migrate.StateBaseline, migrate.StatePending} {
			if revs[i].State() != want {
				t.Errorf("%s is %s, want %s", revs[i].Version, revs[i].State(), want)
			}
		}
		if drift := verifyBothWays(t, st, files); len(drift.Mend) != 0 {
			t.Errorf("drift right after it:\n%s", drift)
		}
		done, err := applyAll(ctx, st, files)
		if err != nil || len(done) != 1 || done[0].Version != "3" {
			t.Errorf("then: got %+v, error %v", done, err)
		}
		if drift := verifyBothWays(t, st, files); len(drift.Mend) != 0 {
			t.Errorf("drift at the end:\n%s", drift)
		}
		if err := migrate.CheckCurrentFiles(ctx, st, files); err != nil {
			t.Error(err)
		}
		options.Force = true
		err = migrate.BaselineFiles(ctx, st, files, "3", options)
		if err == nil || !strings.Contains(err.Error(), "a record of migrations already") {
			t.Errorf("a second time: got %v", err)
		}
		checkReset(t, st)
	})
}

func TestForcedBaselineComparesNothing(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		files := sealedFiles(t, threeMigrations)
		storetest.Exec(t, st, "CREATE TABLE theirs (id int)")
		must.Succeed(t, migrate.BaselineFiles(t.Context(), st, files, "3", migrate.BaselineOptions{Force: true}))
		if err := migrate.CheckCurrentFiles(t.Context(), st, files); err != nil {
			t.Error(err)
		}
		if drift := verifyBothWays(t, st, files); len(drift.Mend) == 0 {
			t.Error("no drift")
		}
	})
}
