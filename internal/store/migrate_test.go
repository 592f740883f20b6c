package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ariga.io/atlas/sql/migrate"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// sealed is a folder of migrations for both engines, with its checksums.
func sealed(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	dir := &migrate.MemDir{}
	for name, text := range files {
		if err := dir.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dir.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	text, err := sum.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, engine := range []string{"mysql", "sqlite"} {
		out[engine+"/atlas.sum"] = &fstest.MapFile{Data: text}
		for name, text := range files {
			out[engine+"/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

// eachOpen runs test on an open database of each engine, empty and not migrated.
func eachOpen(t *testing.T, test func(t *testing.T, st *store.Store)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, open(t, url)) })
}

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// tables is the names of all tables.
func tables(t *testing.T, st *store.Store) (names []string) {
	t.Helper()
	q := "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
	if st.Engine() == "mysql" {
		q = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name"
	}
	rows, err := st.DB.QueryContext(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func scan(t *testing.T, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, query string, args ...any,
) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func exec(t *testing.T, st *store.Store, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := st.DB.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

const (
	createA = "CREATE TABLE a (id bigint PRIMARY KEY);\n"
	createB = "CREATE TABLE b (id bigint PRIMARY KEY);\n"
	wrong   = "CREATE TABEL b (id bigint PRIMARY KEY);\n"
)

func TestFailedMigrationIsTakenUpWhereItFailed(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		broken := sealed(t, map[string]string{"20270101000000_two.sql": createA + wrong})
		mended := sealed(t, map[string]string{"20270101000000_two.sql": createA + createB})

		_, err := st.MigrateFiles(ctx, broken)
		if err == nil || !strings.Contains(err.Error(), "20270101000000") || !strings.Contains(err.Error(), "TABEL") {
			t.Fatalf("got %v, want the version and the statement in it", err)
		}
		revs, err := st.StatusFiles(ctx, broken)
		if err != nil || len(revs) != 1 || revs[0].Done() || revs[0].Total != 2 {
			t.Fatalf("got %+v, error %v", revs, err)
		}
		failed := st.CurrentFiles(ctx, broken)
		if !errors.Is(failed, store.ErrBehind) {
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
			// What has run already is not to be changed.
			other := sealed(t, map[string]string{"20270101000000_two.sql": "CREATE TABLE c (id int);\n" + createB})
			if _, err := st.MigrateFiles(ctx, other); err == nil || !strings.Contains(err.Error(), "history changed") {
				t.Errorf("another first statement: got %v", err)
			}
		}

		done, err := st.MigrateFiles(ctx, mended)
		if err != nil {
			t.Fatal(err)
		}
		if len(done) != 1 || !done[0].Done() || done[0].Applied != 2 || done[0].Total != 2 {
			t.Errorf("got %+v", done)
		}
		if diff := cmp.Diff([]string{"a", "atlas_schema_revisions", "b"}, tables(t, st)); diff != "" {
			t.Errorf("tables (-want +got):\n%s", diff)
		}
		if err := st.CurrentFiles(ctx, mended); err != nil {
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
			st := open(t, storetest.SQLite(t))
			files := sealed(t, map[string]string{"1_a.sql": createA})
			test.change(files)
			_, err := st.MigrateFiles(t.Context(), files)
			if err == nil || !strings.Contains(err.Error(), "migrations/sqlite") || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("got %v", err)
			}
			if _, err := st.StatusFiles(t.Context(), files); err == nil {
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
		none := sealed(t, nil)
		done, err := st.MigrateFiles(t.Context(), none)
		if err != nil || len(done) != 0 {
			t.Errorf("got %v, error %v", done, err)
		}
		if err := st.CurrentFiles(t.Context(), none); err != nil {
			t.Error(err)
		}
		if _, err := st.MigrateFiles(t.Context(), fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no folder: got %v", err)
		}
	})
}

func TestMigrateLeavesTablesOfOthersAlone(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		exec(t, st, "CREATE TABLE theirs (id int)")
		_, err := st.MigrateFiles(t.Context(), sealed(t, map[string]string{"1_a.sql": createA}))
		if err == nil || !strings.Contains(err.Error(), "want an empty database") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestDatabaseAheadOfTheBinaryIsServed(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		older := sealed(t, map[string]string{"1_a.sql": createA})
		newer := sealed(t, map[string]string{"1_a.sql": createA, "2_b.sql": createB})
		if done, err := st.MigrateFiles(ctx, newer); err != nil || len(done) != 2 {
			t.Fatalf("got %v, error %v", done, err)
		}
		if err := st.CurrentFiles(ctx, older); err != nil {
			t.Errorf("not current: %v", err)
		}
		if done, err := st.MigrateFiles(ctx, older); err != nil || len(done) != 0 {
			t.Errorf("migrating again: %v, error %v", done, err)
		}
		revs, err := st.StatusFiles(ctx, older)
		if err != nil || len(revs) != 2 || revs[1].Version != "2" || !revs[1].Done() {
			t.Errorf("got %+v, error %v", revs, err)
		}
	})
}

const (
	family = "CREATE TABLE parent (id integer PRIMARY KEY);\n" +
		"CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent (id) ON DELETE CASCADE);\n" +
		"INSERT INTO parent VALUES (1), (2);\nINSERT INTO child VALUES (1, 1), (2, 2), (3, 2);\n"
	rebuilt = "PRAGMA foreign_keys = off;\nCREATE TABLE new_parent (id integer PRIMARY KEY, name text NULL);\n" +
		"INSERT INTO new_parent (id) SELECT id FROM parent;\nDROP TABLE parent;\n" +
		"ALTER TABLE new_parent RENAME TO parent;\nPRAGMA foreign_keys = on;\n"
	orphaning = "DELETE FROM parent WHERE id = 2;\n"
)

func TestRebuiltTableKeepsTheRowsThatReferToIt(t *testing.T) {
	t.Parallel()
	st := open(t, storetest.SQLite(t))
	ctx := t.Context()
	files := map[string]string{"1_family.sql": family, "2_rebuilt.sql": rebuilt}
	for range 2 { // together, and with nothing left to do
		if _, err := st.MigrateFiles(ctx, sealed(t, files)); err != nil {
			t.Fatal(err)
		}
		if got := scan(t, st.DB, "SELECT count(*) FROM child"); got != "3" {
			t.Errorf("%s children are left, want 3", got)
		}
	}
	files["3_orphaning.sql"] = orphaning
	_, err := st.MigrateFiles(ctx, sealed(t, files))
	if err == nil || !strings.Contains(err.Error(), "of child refers to a missing row of parent") {
		t.Errorf("got %v, want the row without a parent", err)
	}
	if got := scan(t, st.DB, "SELECT count(*) FROM parent"); got != "2" {
		t.Errorf("%s parents are left, want 2: it was not rolled back", got)
	}
	if err := st.CurrentFiles(ctx, sealed(t, files)); !errors.Is(err, store.ErrBehind) {
		t.Errorf("got %v, want ErrBehind", err)
	}
	isReset(t, st)
}

// isReset checks that a migration left the connections of the pool as they were.
func isReset(t *testing.T, st *store.Store) {
	t.Helper()
	if st.Engine() != "sqlite" {
		return
	}
	if got := scan(t, st.DB, "PRAGMA foreign_keys"); got != "1" {
		t.Errorf("foreign_keys is %s afterwards, want 1", got)
	}
}

func TestMigrateSaysThatItWaitedForAnother(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		files := sealed(t, map[string]string{"1_a.sql": createA})
		st, other := open(t, url), open(t, url)
		release := holdLock(t, other)

		st.SetLockWait(0)
		if _, err := st.MigrateFiles(ctx, files); !errors.Is(err, store.ErrLocked) {
			t.Errorf("got %v, want ErrLocked", err)
		}
		isReset(t, st)

		st.SetLockWait(time.Minute)
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, err := st.MigrateFiles(short, files)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for") {
			t.Errorf("got %v, want what it was waiting for", err)
		}
		isReset(t, st)

		release()
		if done, err := st.MigrateFiles(ctx, files); err != nil || len(done) != 1 {
			t.Errorf("after that: %v, error %v", done, err)
		}
		isReset(t, st)
	})
}

// holdLock does what another process does while it migrates.
func holdLock(t *testing.T, st *store.Store) (release func()) {
	t.Helper()
	conn, err := st.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Engine() == "mysql" {
		if got := scan(t, conn, "SELECT GET_LOCK('"+store.LockName+"', 60)"); got != "1" {
			t.Fatalf("GET_LOCK: %s", got)
		}
	} else if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if st.Engine() == "mysql" {
			scan(t, conn, "SELECT RELEASE_LOCK('"+store.LockName+"')")
		} else if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelledMigrationLeavesNoLock(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		files := &cancelling{FS: sealed(t, map[string]string{"1_a.sql": createA}), cancel: cancel}
		if _, err := st.MigrateFiles(ctx, files); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		isReset(t, st)
		if done, err := st.MigrateFiles(t.Context(), files.FS); err != nil || len(done) != 1 {
			t.Errorf("after that: %v, error %v", done, err)
		}
	})
}

// cancelling ends the context as soon as a migration was read.
type cancelling struct {
	fs.FS
	cancel func()
}

func (c *cancelling) ReadFile(name string) ([]byte, error) {
	c.cancel()
	return fs.ReadFile(c.FS, name)
}

// A statement that waits for a table keeps everybody waiting who comes later, so it gives up.
func TestMigrateDoesNotWaitForATableForever(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	st := open(t, storetest.MySQL(t))
	ctx := t.Context()
	first := map[string]string{"1_a.sql": createA}
	if _, err := st.MigrateFiles(ctx, sealed(t, first)); err != nil {
		t.Fatal(err)
	}
	first["2_b.sql"] = createB + "ALTER TABLE a ADD COLUMN n int NULL, ALGORITHM=INSTANT;\n"
	files := sealed(t, first)
	reader, err := st.DB.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	scan(t, reader, "SELECT COUNT(*) FROM a")
	_, err = st.MigrateFilesWith(ctx, files, store.MigrateOptions{Operator: "test", LockWait: time.Second})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "ALTER TABLE a") {
		t.Errorf("got %v, want ErrLocked with the statement", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, st.DB, "SELECT @@session.lock_wait_timeout"); got != "5" {
		t.Error("a connection of the pool is left with the timeout")
	}
	plan, err := st.PlanFiles(ctx, files, "")
	if err != nil || len(plan.Steps) != 1 {
		t.Errorf("left to do: %+v, error %v", plan.Steps, err)
	}
	if done, err := st.MigrateFiles(ctx, files); err != nil || len(done) != 1 || !done[0].Done() {
		t.Errorf("after that: %+v, error %v", done, err)
	}
}
