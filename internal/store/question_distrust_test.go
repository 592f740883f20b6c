package store

import (
	"runtime"
	"testing"
	"time"
)

func TestIndexThatHidesACommitIsNotTrusted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the index of the log is read on Linux only")
	}
	st, err := Open(t.Context(), "sqlite://"+t.TempDir()+"/asked.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := st.DB.ExecContext(t.Context(), "CREATE TABLE t (n integer); INSERT INTO t VALUES (5)"); err != nil {
		t.Fatal(err)
	}
	q := st.NewQuestion("SELECT n FROM t")
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	ask := func() {
		t.Helper()
		if n, err := q.Ask(t.Context()); n != 5 || err != nil {
			t.Fatal(n, err)
		}
	}
	ask()
	ask()
	if n, ok := q.Last(); n != 5 || !ok {
		t.Fatalf("%d, %v", n, ok)
	}
	// An answer is not repeated for ever.
	old := *q.answer.Load()
	old.at = old.at.Add(-2 * answerLifetime)
	q.answer.Store(&old)
	if _, ok := q.Last(); ok {
		t.Error("an old answer")
	}
	ask()
	if _, ok := q.Last(); !ok {
		t.Error("the new answer is not known")
	}
	// As if somebody had committed and the index did not show it.
	q.answer.Store(&countRead{time.Now(), old.index, old.log, 4})
	ask()
	ask()
	if _, ok := q.Last(); ok {
		t.Error("the index is still trusted")
	}
}
