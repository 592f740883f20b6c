package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// sealedFiles returns a folder of migrations for both engines, with its checksums.
func sealedFiles(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	dir := &atlas.MemDir{}
	for name, text := range files {
		must.Succeed(t, dir.WriteFile(name, []byte(text)))
	}
	sum, err := dir.Checksum()
	must.Succeed(t, err)
	text, err := sum.MarshalText()
	must.Succeed(t, err)
	out := fstest.MapFS{}
	for _, engine := range []string{"mysql", "sqlite"} {
		out[engine+"/atlas.sum"] = &fstest.MapFile{Data: text}
		for name, text := range files {
			out[engine+"/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

// eachOpen runs test once per engine. st is an empty database without the tables of migrations.
func eachOpen(t *testing.T, test func(t *testing.T, st *store.Store)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, storetest.Open(t, url)) })
}

// applyAll applies all migrations of files.
func applyAll(ctx context.Context, st *store.Store, files fs.FS) ([]migrate.Revision, error) {
	return migrate.ApplyFiles(ctx, st, files, migrate.ApplyOptions{Operator: "test"})
}

// tables returns the names of all tables.
func tables(t *testing.T, st *store.Store) []string {
	t.Helper()
	q := "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
	if st.Engine() == "mysql" {
		q = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name"
	}
	return storetest.Texts(t, st.DB, q)
}

const (
	createA  = "CREATE TABLE a (id bigint PRIMARY KEY);\n"
	createB  = "CREATE TABLE b (id bigint PRIMARY KEY);\n"
	invalidB = "CREATE TABEL b (id bigint PRIMARY KEY);\n"
)

func TestFailedMigrationIsTakenUpWhereItFailed(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		broken := sealedFiles(t, map[string]string{"20270101000000_two.sql": createA + invalidB})
		mended := sealedFiles(t, map[string]string{"20270101000000_two.sql": createA + createB})

		_, err := applyAll(ctx, st, broken)
		if err == nil || !strings.Contains(err.Error(), "20270101000000") || !strings.Contains(err.Error(), "TABEL") {
			t.Fatalf("got %v, want the version and the statement in it", err)
		}
		revs, err := migrate.StatusFiles(ctx, st, broken)
		if err != nil || len(revs) != 1 || revs[0].Done() || revs[0].Total != 2 {
			t.Fatalf("got %+v, error %v", revs, err)
		}
		failed := migrate.CheckCurrentFiles(ctx, st, broken)
		if !errors.Is(failed, migrate.ErrBehind) {
			t.Fatalf("got %v, want ErrBehind", failed)
		}
		if st.Engine() == "sqlite" {
			if got := tables(t, st); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		} else {
			if revs[0].Applied != 1 || !strings.Contains(revs[0].Error, "TABEL") || revs[0].ExecutedAt.IsZero() {
				t.Errorf("got %+v", revs[0])
			}
			if !strings.Contains(failed.Error(), "20270101000000 stopped at statement 2 of 2") {
				t.Errorf("got %v", failed)
			}
			// A statement that has run must not be changed.
			other := sealedFiles(t, map[string]string{"20270101000000_two.sql": "CREATE TABLE c (id int);\n" + createB})
			if _, err := applyAll(ctx, st, other); err == nil || !strings.Contains(err.Error(), "history changed") {
				t.Errorf("another first statement: got %v", err)
			}
		}

		done, err := applyAll(ctx, st, mended)
		must.Succeed(t, err)
		if len(done) != 1 || !done[0].Done() || done[0].Applied != 2 || done[0].Total != 2 {
			t.Errorf("got %+v", done)
		}
		if diff := cmp.Diff([]string{"a", "atlas_schema_revisions", "b"}, tables(t, st)); diff != "" {
			t.Errorf("tables (-want +got):\n%s", diff)
		}
		if err := migrate.CheckCurrentFiles(ctx, st, mended); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrateRefusesWhatIsNotSealed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(fstest.MapFS)
	}{
		{"changed", func(f fstest.MapFS) { f["sqlite/1_a.sql"].Data = []byte(createB) }},
		{"added", func(f fstest.MapFS) { f["sqlite/2_b.sql"] = &fstest.MapFile{Data: []byte(createB)} }},
		{"taken away", func(f fstest.MapFS) { delete(f, "sqlite/1_a.sql") }},
		{"no checksums", func(f fstest.MapFS) { delete(f, "sqlite/atlas.sum") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, storetest.SQLite(t))
			files := sealedFiles(t, map[string]string{"1_a.sql": createA})
			test.change(files)
			_, err := applyAll(t.Context(), st, files)
			if err == nil || !strings.Contains(err.Error(), "migrations/sqlite") || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("got %v", err)
			}
			if _, err := migrate.StatusFiles(t.Context(), st, files); err == nil {
				t.Error("status is given all the same")
			}
			if got := tables(t, st); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

func TestMigrateWithoutMigrations(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		none := sealedFiles(t, nil)
		done, err := applyAll(t.Context(), st, none)
		if err != nil || len(done) != 0 {
			t.Errorf("got %v, error %v", done, err)
		}
		if err := migrate.CheckCurrentFiles(t.Context(), st, none); err != nil {
			t.Error(err)
		}
		if _, err := applyAll(t.Context(), st, fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no folder: got %v", err)
		}
	})
}

func TestMigrateLeavesTablesOfOthersAlone(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		storetest.Exec(t, st, "CREATE TABLE theirs (id int)")
		_, err := applyAll(t.Context(), st, sealedFiles(t, map[string]string{"1_a.sql": createA}))
		if err == nil || !strings.Contains(err.Error(), "want an empty database") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestDatabaseAheadOfTheBinaryIsServed(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		older := sealedFiles(t, map[string]string{"1_a.sql": createA})
		newer := sealedFiles(t, map[string]string{"1_a.sql": createA, "2_b.sql": createB})
		if done, err := applyAll(ctx, st, newer); err != nil || len(done) != 2 {
			t.Fatalf("got %v, error %v", done, err)
		}
		if err := migrate.CheckCurrentFiles(ctx, st, older); err != nil {
			t.Errorf("not current: %v", err)
		}
		if done, err := applyAll(ctx, st, older); err != nil || len(done) != 0 {
			t.Errorf("migrating again: %v, error %v", done, err)
		}
		revs, err := migrate.StatusFiles(ctx, st, older)
		if err != nil || len(revs) != 2 || revs[1].Version != "2" || !revs[1].Done() {
			t.Errorf("got %+v, error %v", revs, err)
		}
	})
}

const (
	familyTables = "CREATE TABLE parent (id integer PRIMARY KEY);\n" +
		"CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent (id) ON DELETE CASCADE);\n" +
		"INSERT INTO parent VALUES (1), (2);\nINSERT INTO child VALUES (1, 1), (2, 2), (3, 2);\n"
	rebuildParent = "PRAGMA foreign_keys = off;\nCREATE TABLE new_parent (id integer PRIMARY KEY, name text NULL);\n" +
		"INSERT INTO new_parent (id) SELECT id FROM parent;\nDROP TABLE parent;\n" +
		"ALTER TABLE new_parent RENAME TO parent;\nPRAGMA foreign_keys = on;\n"
	deleteParent = "DELETE FROM parent WHERE id = 2;\n"
)

func TestRebuiltTableKeepsTheRowsThatReferToIt(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	ctx := t.Context()
	files := map[string]string{"1_family.sql": familyTables, "2_rebuilt.sql": rebuildParent}
	for range 2 { // together, and with nothing left to do
		if _, err := applyAll(ctx, st, sealedFiles(t, files)); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Value(t, st.DB, "SELECT count(*) FROM child"); got != "3" {
			t.Errorf("%s children are left, want 3", got)
		}
	}
	files["3_orphaning.sql"] = deleteParent
	_, err := applyAll(ctx, st, sealedFiles(t, files))
	if err == nil || !strings.Contains(err.Error(), "of child refers to a missing row of parent") {
		t.Errorf("got %v, want the row without a parent", err)
	}
	if got := storetest.Value(t, st.DB, "SELECT count(*) FROM parent"); got != "2" {
		t.Errorf("%s parents are left, want 2: it was not rolled back", got)
	}
	if err := migrate.CheckCurrentFiles(ctx, st, sealedFiles(t, files)); !errors.Is(err, migrate.ErrBehind) {
		t.Errorf("got %v, want ErrBehind", err)
	}
	checkReset(t, st)
}

// checkReset checks that a migration has turned foreign keys on again for the connections of the pool.
func checkReset(t *testing.T, st *store.Store) {
	t.Helper()
	if st.Engine() != "sqlite" {
		return
	}
	if got := storetest.Value(t, st.DB, "PRAGMA foreign_keys"); got != "1" {
		t.Errorf("foreign_keys is %s afterwards, want 1", got)
	}
}

func TestMigrateSaysThatItWaitedForAnother(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		files := sealedFiles(t, map[string]string{"1_a.sql": createA})
		st, other := storetest.Open(t, url), storetest.Open(t, url)
		release := holdLock(t, other)

		if _, err := migrate.ApplyFiles(ctx, st, files, migrate.ApplyOptions{LockWait: -1}); !errors.Is(err, store.ErrLocked) {
			t.Errorf("got %v, want ErrLocked", err)
		}
		checkReset(t, st)

		short, cancel := context.WithTimeout(ctx, 2*time.Second) // TiDB takes a while to get to the lock
		defer cancel()
		_, err := applyAll(short, st, files)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for") {
			t.Errorf("got %v, want what it was waiting for", err)
		}
		checkReset(t, st)

		release()
		if done, err := applyAll(ctx, st, files); err != nil || len(done) != 1 {
			t.Errorf("after that: %v, error %v", done, err)
		}
		checkReset(t, st)
	})
}

// holdLock takes the migration lock as if another process were migrating, until release is called.
func holdLock(t *testing.T, st *store.Store) (release func()) {
	t.Helper()
	conn, err := st.DB.Conn(t.Context())
	must.Succeed(t, err)
	if st.Engine() == "mysql" {
		getLock(t, conn)
	} else if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if st.Engine() == "mysql" {
			storetest.Value(t, conn, "SELECT RELEASE_LOCK('"+migrate.LockName+"')")
		} else if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, conn.Close())
	}
}

// getLock takes the migration lock on a connection. TiDB may answer with error 1105 while several connections wait
// for the lock. getLock then retries.
func getLock(t *testing.T, conn *sql.Conn) {
	t.Helper()
	for range 300 {
		var got int
		err := conn.QueryRowContext(t.Context(), "SELECT GET_LOCK(?, 60)", migrate.LockName).Scan(&got)
		if my, ok := errors.AsType[*mysql.MySQLError](err); ok && my.Number == 1105 {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		if err != nil || got != 1 {
			t.Fatalf("GET_LOCK: %d, error %v", got, err)
		}
		return
	}
	t.Fatal("GET_LOCK: error 1105 for a minute")
}

func TestCancelledMigrationLeavesNoLock(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		files := &cancellingFS{FS: sealedFiles(t, map[string]string{"1_a.sql": createA}), cancel: cancel}
		if _, err := applyAll(ctx, st, files); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		checkReset(t, st)
		if done, err := applyAll(t.Context(), st, files.FS); err != nil || len(done) != 1 {
			t.Errorf("after that: %v, error %v", done, err)
		}
	})
}

// cancellingFS calls cancel as soon as a migration is read.
type cancellingFS struct {
	fs.FS
	cancel func()
}

func (c *cancellingFS) ReadFile(name string) ([]byte, error) {
	c.cancel()
	return fs.ReadFile(c.FS, name)
}

// TestMigrateDoesNotWaitForATableForever checks that a statement which waits for a table gives up after a time. While
// it waits, all later statements on the table wait too.
func TestMigrateDoesNotWaitForATableForever(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	st := storetest.Open(t, storetest.MySQL(t))
	ctx := t.Context()
	first := map[string]string{"1_a.sql": createA}
	if _, err := applyAll(ctx, st, sealedFiles(t, first)); err != nil {
		t.Fatal(err)
	}
	first["2_b.sql"] = createB + "ALTER TABLE a ADD COLUMN n int NULL, ALGORITHM=INSTANT;\n"
	files := withStates(t, first) // TiDB runs the statement when the transaction has ended
	reader, err := st.DB.BeginTx(ctx, nil)
	must.Succeed(t, err)
	storetest.Value(t, reader, "SELECT COUNT(*) FROM a")
	for range 60 {
		_, err = migrate.ApplyFiles(ctx, st, files, migrate.ApplyOptions{Operator: "test", LockWait: time.Second})
		// Other tests migrate on the same server, which has one lock for all databases.
		if err == nil || strings.Contains(err.Error(), "ALTER TABLE a") {
			break
		}
	}
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "ALTER TABLE a") {
		t.Errorf("got %v, want ErrLocked with the statement", err)
	}
	must.Succeed(t, reader.Rollback())
	if got := storetest.Value(t, st.DB, "SELECT @@session.lock_wait_timeout"); got != "5" {
		t.Error("a connection of the pool is left with the timeout")
	}
	plan, err := migrate.PlanFiles(ctx, st, files, "")
	if err != nil || len(plan.Steps) != 1 {
		t.Errorf("left to do: %+v, error %v", plan.Steps, err)
	}
	if done, err := applyAll(ctx, st, files); err != nil || len(done) != 1 || !done[0].Done() {
		t.Errorf("after that: %+v, error %v", done, err)
	}
}

// TestTablesOfAnotherProcessAreNoError has another process migrate an empty database after the record of migrations
// was read.
func TestTablesOfAnotherProcessAreNoError(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st, other := storetest.Open(t, url), storetest.Open(t, url)
		pending, err := migrate.PendingAfter(t.Context(), st, migrations.FS, func() error {
			_, err := migrate.Apply(t.Context(), other, migrate.ApplyOptions{Operator: "test"})
			return err
		})
		if pending != 0 || err != nil {
			t.Errorf("%d pending, %v", pending, err)
		}
	})
}

func TestMigrateIsSafeForSeveralProcessesAtOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		const processes = 4
		var group sync.WaitGroup
		applied := make([]int, processes)
		failed := make([]error, processes)
		for i := range processes {
			group.Go(func() {
				st, err := store.Open(t.Context(), url)
				if err != nil {
					failed[i] = err
					return
				}
				defer st.Close()
				done, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"})
				applied[i], failed[i] = len(done), err
			})
		}
		group.Wait()
		must.Succeed(t, errors.Join(failed...))
		total := 0
		for _, n := range applied {
			total += n
		}
		st := storetest.Migrated(t, url)
		revs, err := migrate.Status(t.Context(), st)
		must.Succeed(t, err)
		if total != len(revs) || total == 0 {
			t.Errorf("%d processes applied %v migrations, want %d in all", processes, applied, len(revs))
		}
		if err := migrate.CheckCurrent(t.Context(), st); err != nil {
			t.Errorf("after migrating: %v", err)
		}
	})
}

func TestCurrentSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st, err := store.Open(t.Context(), url)
		must.Succeed(t, err)
		defer st.Close()
		if err := migrate.CheckCurrent(t.Context(), st); !errors.Is(err, migrate.ErrBehind) {
			t.Errorf("empty database: got %v, want ErrBehind", err)
		}
	})
}

// TestDriverKeepsDeadline opens Atlas's driver with a context that has ended. Atlas itself would query MySQL with a
// context that never ends.
func TestDriverKeepsDeadline(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if st.Engine() != "mysql" {
			t.Skip("SQLite is asked nothing")
		}
		conn, err := st.DB.Conn(t.Context())
		must.Succeed(t, err)
		defer conn.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := migrate.OpenDriver(ctx, st, conn); !errors.Is(err, context.Canceled) {
			t.Errorf("opened with %v, want %v", err, context.Canceled)
		}
	})
}
