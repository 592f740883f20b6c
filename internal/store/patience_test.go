package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// writes are the ways to write to a table t.
var writes = []struct {
	name string
	do   func(ctx context.Context, db *sql.DB) error
}{
	{"a statement", func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}},
	{"a statement too long to be kept", func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO t VALUES (1) -- %09000d", 7))
		return err
	}},
	{"a statement with rows", func(ctx context.Context, db *sql.DB) error {
		var n int
		return db.QueryRowContext(ctx, "INSERT INTO t VALUES (1) RETURNING n").Scan(&n)
	}},
	{"a transaction", func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)"); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}},
}

// twoProcesses opens two stores on one SQLite file with an empty table t. They act like stores of two processes.
// options are URL options of the first store.
func twoProcesses(t *testing.T, options string) (st, other *store.Store) {
	t.Helper()
	url := storetest.SQLite(t)
	st, other = storetest.Open(t, url+options), storetest.Open(t, url)
	if _, err := other.DB.ExecContext(t.Context(), "CREATE TABLE t (n integer)"); err != nil {
		t.Fatal(err)
	}
	return st, other
}

// holdLock locks an SQLite database as if another process were writing, until release is called.
func holdLock(t *testing.T, st *store.Store) (release func()) {
	t.Helper()
	conn, err := st.DB.Conn(t.Context())
	must.Succeed(t, err)
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, conn.Close())
	}
}

func rowsOf(t *testing.T, st *store.Store) string {
	t.Helper()
	return storetest.Value(t, st.DB, "SELECT count(*) FROM t")
}

// TestWaitForAWriterEndsWithTheContext checks that a write stops waiting for another writer when ctx ends. SQLite's
// own waiting would continue for ten seconds.
func TestWaitForAWriterEndsWithTheContext(t *testing.T) {
	t.Parallel()
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			st, other := twoProcesses(t, "?max-open=1")
			release := holdLock(t, other)
			for _, want := range []error{context.DeadlineExceeded, context.Canceled} {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if errors.Is(want, context.Canceled) {
					ctx, cancel = context.WithCancel(t.Context())
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				began := time.Now()
				err := w.do(ctx, st.DB)
				cancel()
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
			}
			// Reading never waits.
			if got := rowsOf(t, st); got != "0" {
				t.Errorf("%s rows", got)
			}
			release()
			if err := w.do(t.Context(), st.DB); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			if got := rowsOf(t, st); got != "1" {
				t.Errorf("%s rows, want 1", got)
			}
		})
	}
}

func TestWaitForAWriterEndsByItself(t *testing.T) {
	t.Parallel()
	st, other := twoProcesses(t, "?busy-timeout=50ms")
	release := holdLock(t, other)
	defer release()
	for _, w := range writes {
		began := time.Now()
		err := w.do(t.Context(), st.DB)
		took := time.Since(began)
		if !store.IsUnavailable(err) || t.Context().Err() != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		if took < 50*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s: it took %s", w.name, took)
		}
	}
}

func TestWriterIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			st, other := twoProcesses(t, "")
			release := holdLock(t, other)
			done := make(chan error)
			go func() { done <- w.do(t.Context(), st.DB) }()
			select {
			case err := <-done:
				t.Errorf("it did not wait: %v", err)
			case <-time.After(100 * time.Millisecond):
				release()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if got := rowsOf(t, other); got != "1" {
				t.Errorf("%s rows, want 1", got)
			}
		})
	}
}

// TestScriptIsNotRepeated checks that a text with two statements is not retried while another process writes. The
// first statement could have had its effect already.
func TestScriptIsNotRepeated(t *testing.T) {
	t.Parallel()
	st, other := twoProcesses(t, "")
	release := holdLock(t, other)
	began := time.Now()
	_, err := st.DB.ExecContext(t.Context(), "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);")
	if took := time.Since(began); !store.IsUnavailable(err) || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	release()
	if got := rowsOf(t, st); got != "0" {
		t.Errorf("%s rows", got)
	}
}

// TestTransactionOfThePastDoesNotWait writes in a transaction that read before another one committed. Such a write
// never succeeds, so it must fail without waiting.
func TestTransactionOfThePastDoesNotWait(t *testing.T) {
	t.Parallel()
	st, other := twoProcesses(t, "")
	tx, err := st.DB.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	must.Succeed(t, err)
	var n int
	must.Succeed(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n))
	if _, err := other.DB.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
	if took := time.Since(began); !store.IsUnavailable(err) || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// withoutLog opens an SQLite file with one connection and without a write-ahead log, as other programs do.
func withoutLog(t *testing.T, url string) *sql.DB {
	t.Helper()
	file, _ := store.SQLiteFile(url)
	db, err := sql.Open("sqlite", file)
	must.Succeed(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestWaitToOpenEndsWithTheContext opens a file that another process has locked exclusively.
func TestWaitToOpenEndsWithTheContext(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	alone := withoutLog(t, url)
	for _, s := range []string{
		"CREATE TABLE t (n integer)", "PRAGMA locking_mode = EXCLUSIVE", "INSERT INTO t VALUES (1)",
	} {
		if _, err := alone.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := store.Open(ctx, url)
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

// TestWaitToReadEndsWithTheContext checks that a read that waits for a lock ends with ctx. The file has no
// write-ahead log, because with one reads never wait.
func TestWaitToReadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	other := withoutLog(t, url)
	do := func(statement string) {
		t.Helper()
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do("CREATE TABLE t (n integer)")
	do("INSERT INTO t VALUES (5)")
	st, err := store.OpenReading(t.Context(), url)
	must.Succeed(t, err)
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	const query = "SELECT n FROM t"
	q := st.NewQuestion(query)
	defer func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, read := range map[string]func(ctx context.Context) (int64, error){
		"a question": q.Ask,
		"a query": func(ctx context.Context) (n int64, err error) {
			err = st.DB.QueryRowContext(ctx, query).Scan(&n)
			return n, err
		},
	} {
		do("BEGIN EXCLUSIVE")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		_, err := read(ctx)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
			t.Errorf("%s: %v after %s", name, err, took)
		}
		cancel()
		do("ROLLBACK")
		if got, err := read(t.Context()); err != nil || got != 5 {
			t.Errorf("%s: %d, %v afterwards", name, got, err)
		}
	}
}

// TestTwoProcessesWriteAtTheSameTime has many goroutines on two stores write to one file. All writes must succeed.
func TestTwoProcessesWriteAtTheSameTime(t *testing.T) {
	t.Parallel()
	st, other := twoProcesses(t, "")
	const writers, each = 6, 25
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range each {
				w := writes[i%len(writes)]
				if err := w.do(t.Context(), []*store.Store{st, other}[i%2].DB); err != nil {
					t.Errorf("%s: %v", w.name, err)
					return
				}
			}
		})
	}
	all.Wait()
	if got := rowsOf(t, st); got != fmt.Sprint(writers*each) {
		t.Errorf("%s rows, want %d", got, writers*each)
	}
}
