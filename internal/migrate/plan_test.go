package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// threeMigrations has seven statements, with rows that a statement would duplicate if it ran twice.
var threeMigrations = map[string]string{
	"1_one.sql": "-- the first table\nCREATE TABLE a (id integer PRIMARY KEY);\nINSERT INTO a VALUES (1), (2);\n" +
		"CREATE TABLE a_log (id integer NOT NULL);\n",
	"2_two.sql":   "CREATE TABLE b (id integer PRIMARY KEY, note varchar(20) NULL);\nINSERT INTO a_log SELECT id FROM a;\n",
	"3_three.sql": "ALTER TABLE b ADD COLUMN weight integer NULL;\nINSERT INTO a_log SELECT id + 10 FROM a\n",
}

const statementCount = 7

// contents returns a text with the tables, their columns, and the rows of the table a_log, if there is one.
func contents(t *testing.T, st *store.Store) string {
	t.Helper()
	columns := "SELECT COALESCE(group_concat(x, ','), '') FROM (SELECT m.name || '.' || p.name AS x FROM sqlite_master m, " +
		"pragma_table_info(m.name) p WHERE m.name <> 'atlas_schema_revisions' ORDER BY 1)"
	if st.Engine() == "mysql" {
		columns = "SELECT COALESCE(GROUP_CONCAT(CONCAT(table_name, '.', column_name) ORDER BY 1), '') FROM " +
			"information_schema.columns WHERE table_schema = DATABASE() AND table_name <> 'atlas_schema_revisions'"
	}
	got := storetest.Value(t, st.DB, columns)
	if strings.Contains(got, "a_log") {
		log := "SELECT COALESCE(group_concat(id), '') FROM (SELECT id FROM a_log ORDER BY id) x"
		got += " log " + storetest.Value(t, st.DB, log)
	}
	return got
}

// sqlOf returns the SQL of steps.
func sqlOf(steps []migrate.Step) (sql []string) {
	for _, s := range steps {
		sql = append(sql, s.SQL)
	}
	return sql
}

func TestInterruptedMigrationIsTakenUpAtEveryStatement(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"between statements", "with its connection"} {
		for at := 1; at <= statementCount; at++ {
			t.Run(fmt.Sprint(how, at), func(t *testing.T) {
				t.Parallel()
				eachOpen(t, func(t *testing.T, st *store.Store) {
					if how == "with its connection" && st.Engine() != "mysql" {
						t.Skip("a file has no connection to lose")
					}
					checkInterruption(t, st, at, how == "with its connection")
				})
			})
		}
	}
}

// killOthers ends all other connections to the database, and so the one that migrates. It cannot find that one with
// IS_USED_LOCK, because TiDB answers 1 for the lock of another connection.
func killOthers(t *testing.T, st *store.Store) {
	t.Helper()
	conn, err := st.DB.Conn(t.Context())
	must.Succeed(t, err)
	defer conn.Close()
	const query = "SELECT COALESCE(GROUP_CONCAT(id), '') FROM information_schema.processlist " +
		"WHERE db = DATABASE() AND id <> CONNECTION_ID()"
	var ids string
	for range 100 { // MySQL fails while any connection runs a statement with bytes that are no text
		if err = conn.QueryRowContext(t.Context(), query).Scan(&ids); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	must.Succeed(t, err)
	for id := range strings.SplitSeq(ids, ",") {
		if _, err := conn.ExecContext(t.Context(), "KILL CONNECTION "+id); err != nil {
			t.Fatal(err)
		}
	}
}

func checkInterruption(t *testing.T, st *store.Store, at int, crash bool) {
	t.Helper()
	files := sealedFiles(t, threeMigrations)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ran []string
	stop := func(s migrate.Step) {
		if len(ran)+1 < at {
			ran = append(ran, s.SQL)
			return
		}
		if !crash {
			cancel()
			return
		}
		killOthers(t, st)
	}
	before, err := migrate.PlanFiles(t.Context(), st, files, "")
	if err != nil || len(before.Steps) != statementCount {
		t.Fatalf("got %+v, error %v", before, err)
	}
	_, err = migrate.ApplyFiles(ctx, st, files, migrate.ApplyOptions{Operator: "test", Progress: stop})
	if crash != (err != nil && !errors.Is(err, context.Canceled)) || err == nil {
		t.Fatalf("got %v", err)
	}
	checkReset(t, st)

	left := before.Steps
	if st.Engine() == "sqlite" {
		if got := tables(t, st); len(got) != 0 {
			t.Errorf("left behind: %v", got)
		}
	} else {
		left = left[at-1:]
		revs, err := migrate.StatusFiles(t.Context(), st, files)
		must.Succeed(t, err)
		for _, r := range revs {
			want := migrate.StateApplied
			switch {
			case r.Version == left[0].Version:
				want = migrate.StateInterrupted
				if r.Applied != left[0].Number-1 {
					t.Errorf("%+v: want %d statements applied", r, left[0].Number-1)
				}
			case r.Version > left[0].Version:
				want = migrate.StatePending
			}
			if r.State() != want || r.Done() != (want == migrate.StateApplied) {
				t.Errorf("%s is %s, done %t, want %s", r.Version, r.State(), r.Done(), want)
			}
		}
		says := fmt.Sprintf("migration %s was interrupted at statement %d of %d",
			left[0].Version, left[0].Number, left[0].Total)
		err = migrate.CheckCurrentFiles(t.Context(), st, files)
		if !errors.Is(err, migrate.ErrBehind) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
		if drift := verifyBothWays(t, st, files); len(drift.Mend) != 0 {
			t.Errorf("half a migration counts as drift:\n%s", drift)
		}
	}
	plan, err := migrate.PlanFiles(t.Context(), st, files, "")
	must.Succeed(t, err)
	if diff := cmp.Diff(left, plan.Steps); diff != "" {
		t.Errorf("plan after the interruption (-want +got):\n%s", diff)
	}

	var rest []migrate.Step
	_, err = migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{
		Progress: func(s migrate.Step) { rest = append(rest, s) },
	})
	must.Succeed(t, err)
	if diff := cmp.Diff(sqlOf(plan.Steps), sqlOf(rest)); diff != "" {
		t.Errorf("ran something else than was planned (-plan +ran):\n%s", diff)
	}
	if want := "a.id,a_log.id,b.id,b.note,b.weight log 1,2,11,12"; contents(t, st) != want {
		t.Errorf("ends with %s, want %s", contents(t, st), want)
	}
	if err := migrate.CheckCurrentFiles(t.Context(), st, files); err != nil {
		t.Error(err)
	}
}

func TestPlanSaysWhatApplyRuns(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		files := sealedFiles(t, threeMigrations)
		for _, step := range []struct{ to, at string }{{"1", "no migration applied"}, {"", "at version 1"}} {
			plan, err := migrate.PlanFiles(t.Context(), st, files, step.to)
			must.Succeed(t, err)
			if !strings.Contains(plan.String(), step.at) {
				t.Errorf("want %q in\n%s", step.at, plan)
			}
			var ran []migrate.Step
			done, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{
				To: step.to, Progress: func(s migrate.Step) { ran = append(ran, s) },
			})
			if err != nil || len(done) == 0 {
				t.Fatalf("got %v, error %v", done, err)
			}
			if diff := cmp.Diff(plan.Steps, ran); diff != "" || len(ran) == 0 {
				t.Errorf("to %q (-plan +ran):\n%s", step.to, diff)
			}
			if step.to != "" && done[len(done)-1].Version != step.to {
				t.Errorf("applied up to %s, want %s", done[len(done)-1].Version, step.to)
			}
		}
		// Migrations that are applied are not planned for any version.
		for _, to := range []string{"", "1", "3"} {
			plan, err := migrate.PlanFiles(t.Context(), st, files, to)
			if err != nil || len(plan.Steps) != 0 || !strings.HasPrefix(plan.String(), "-- Nothing to apply: ") {
				t.Errorf("to %q: %s, error %v", to, plan, err)
			}
			done, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{To: to})
			if err != nil || len(done) != 0 {
				t.Errorf("to %q: got %v, error %v", to, done, err)
			}
		}
		if _, err := migrate.PlanFiles(t.Context(), st, files, "4"); !errors.Is(err, migrate.ErrVersion) {
			t.Errorf("plan of an unknown version: %v", err)
		}
		_, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{To: "4"})
		if !errors.Is(err, migrate.ErrVersion) {
			t.Errorf("apply of an unknown version: %v", err)
		}
	})
}

// TestPlanRunsByHand runs the text of a plan as SQL on another database. It must create the same tables as Apply.
func TestPlanRunsByHand(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	files := sealedFiles(t, threeMigrations)
	plan, err := migrate.PlanFiles(t.Context(), st, files, "")
	must.Succeed(t, err)
	for _, want := range []string{
		"-- Migration 2 two: statements 1 to 2 of 2\n", "-- 3 three, statement 2 of 2\n", "-- the first table\n",
		"\nINSERT INTO a_log SELECT id + 10 FROM a;\n",
	} {
		if !strings.Contains(plan.String(), want) {
			t.Errorf("want %q in\n%s", want, plan)
		}
	}
	storetest.Exec(t, st, plan.String())
	if want := "a.id,a_log.id,b.id,b.note,b.weight log 1,2,11,12"; contents(t, st) != want {
		t.Errorf("ends with %s, want %s", contents(t, st), want)
	}
}

func TestPlanRefusesWhatApplyRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		before []string          // statements
		first  map[string]string // applied before
		files  map[string]string
		want   string
	}{
		{"tables of others", []string{"CREATE TABLE theirs (id int)"}, nil, threeMigrations, "want an empty database"},
		{
			"out of order", nil,
			map[string]string{"1_one.sql": createA, "3_three.sql": createB},
			map[string]string{"1_one.sql": createA, "2_two.sql": createC, "3_three.sql": createB},
			"out of order",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachOpen(t, func(t *testing.T, st *store.Store) {
				storetest.Exec(t, st, test.before...)
				if test.first != nil {
					if _, err := applyAll(t.Context(), st, sealedFiles(t, test.first)); err != nil {
						t.Fatal(err)
					}
				}
				files := sealedFiles(t, test.files)
				_, planned := migrate.PlanFiles(t.Context(), st, files, "")
				_, applied := applyAll(t.Context(), st, files)
				if planned == nil || applied == nil || planned.Error() != applied.Error() ||
					!strings.Contains(planned.Error(), test.want) {
					t.Errorf("plan: %v; apply: %v; want both to say %s", planned, applied, test.want)
				}
			})
		})
	}
}

func TestPlanRefusesAChangedBeginning(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	st := storetest.Open(t, storetest.MySQL(t))
	if _, err := applyAll(t.Context(), st, sealedFiles(t, map[string]string{"1_a.sql": createA + invalidB})); err == nil {
		t.Fatal("want an error")
	}
	other := sealedFiles(t, map[string]string{"1_a.sql": "CREATE TABLE c (id int);\n" + createB})
	if _, err := migrate.PlanFiles(t.Context(), st, other, ""); err == nil || !strings.Contains(err.Error(), "history changed") {
		t.Errorf("got %v", err)
	}
	mended := sealedFiles(t, map[string]string{"1_a.sql": createA + createB})
	plan, err := migrate.PlanFiles(t.Context(), st, mended, "")
	if err != nil || len(plan.Steps) != 1 || plan.Steps[0].Number != 2 {
		t.Errorf("got %+v, error %v", plan, err)
	}
}

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	look := func(file string) error {
		st, err := store.OpenReading(t.Context(), "sqlite://"+file)
		if err != nil {
			return err
		}
		defer st.Close()
		if _, err := migrate.Status(t.Context(), st); err != nil {
			return err
		}
		plan, err := migrate.Plan(t.Context(), st, "")
		if err == nil && len(plan.Steps) == 0 {
			err = errors.New("nothing is planned")
		}
		return err
	}
	if err := look(folder + "/new.db"); err != nil {
		t.Error(err)
	}
	if err := look(folder + "/none/new.db"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder that is not there: got %v", err)
	}
	must.Succeed(t, os.WriteFile(folder+"/empty.db", nil, 0o600))
	if err := look(folder + "/empty.db"); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, error %v; want the empty file", entries, err)
	}
	if data, err := os.ReadFile(folder + "/empty.db"); err != nil || len(data) != 0 {
		t.Errorf("the empty file has %d bytes, error %v", len(data), err)
	}
	st, err := store.OpenReading(t.Context(), "sqlite://"+folder+"/empty.db")
	must.Succeed(t, err)
	defer st.Close()
	if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"}); err == nil {
		t.Error("what was opened for reading was migrated")
	}
}

func TestLockWaitIsAsked(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		files := sealedFiles(t, map[string]string{"1_a.sql": createA})
		st, other := storetest.Open(t, url), storetest.Open(t, url)
		release := holdLock(t, other)
		defer release()
		for _, wait := range []time.Duration{-1, time.Millisecond} {
			_, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{LockWait: wait})
			if !errors.Is(err, store.ErrLocked) {
				t.Errorf("wait %s: got %v, want ErrLocked", wait, err)
			}
		}
		// Plan does not wait.
		if plan, err := migrate.PlanFiles(t.Context(), st, files, ""); err != nil || len(plan.Steps) != 1 {
			t.Errorf("plan: got %+v, error %v", plan, err)
		}
	})
}

// historyWith returns the migrations threeMigrations together with the files more.
func historyWith(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	all := maps.Clone(threeMigrations)
	maps.Copy(all, more)
	return sealedFiles(t, all)
}
