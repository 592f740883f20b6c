package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		q := st.NewQuestion("SELECT value FROM counters WHERE name = 'asked'")
		ask := func(want int64) {
			t.Helper()
			if got, err := q.Ask(t.Context()); err != nil || got != want {
				t.Fatalf("%d, %v; want %d", got, err, want)
			}
		}
		write := func(statement string) {
			t.Helper()
			if _, err := st.DB.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		ask(0)
		write("INSERT INTO counters (name, value) VALUES ('asked', 5)")
		ask(5)
		ask(5)
		write("UPDATE counters SET value = 6 WHERE name = 'asked'")
		ask(6)
		ask(6)
		write("UPDATE counters SET value = 5 WHERE name = 'asked'")
		ask(5)
		// What it has read once is not what it goes on reading.
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					if got, err := q.Ask(t.Context()); err != nil || got < 5 || got > 105 {
						t.Errorf("%d, %v", got, err)
						return
					}
				}
			})
		}
		for range 100 {
			write("UPDATE counters SET value = value + 1 WHERE name = 'asked'")
		}
		all.Wait()
		ask(105)
		must.Succeed(t, q.Close())
		if _, err := q.Ask(t.Context()); err == nil && st.Engine() == "sqlite" {
			t.Error("it answers after its end")
		}
	})
}

func TestQuestionThatIsWrong(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		q := st.NewQuestion("SELECT value FROM no_such_table")
		for range 2 {
			if got, err := q.Ask(t.Context()); err == nil {
				t.Errorf("%d", got)
			}
		}
		text := st.NewQuestion("SELECT 'a'")
		if got, err := text.Ask(t.Context()); err == nil {
			t.Errorf("%d", got)
		}
		for _, q := range []*store.Question{q, text} {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAnswerIsNeverOld checks that Ask returns a value as soon as it is committed. Commits by the same process and
// checkpoints, which restart the log, must not hide it.
func TestAnswerIsNeverOld(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	if _, err := st.DB.ExecContext(t.Context(), "INSERT INTO counters (name, value) VALUES ('asked', 0)"); err != nil {
		t.Fatal(err)
	}
	q := st.NewQuestion("SELECT value FROM counters WHERE name = 'asked'")
	defer func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}()
	var committed, stop atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for stop.Load() == 0 {
				least := committed.Load()
				got, err := q.Ask(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if got < least {
					t.Errorf("%d after %d was committed", got, least)
					return
				}
			}
		})
	}
	for n := int64(1); n <= 400; n++ {
		if _, err := st.DB.ExecContext(t.Context(), "UPDATE counters SET value = ? WHERE name = 'asked'", n); err != nil {
			t.Error(err)
			break
		}
		committed.Store(n)
		if n%50 == 0 {
			if _, err := st.DB.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Error(err)
			}
		}
	}
	stop.Store(1)
	all.Wait()
}

// BenchmarkQuestion compares a question with the same query by database/sql.
func BenchmarkQuestion(b *testing.B) {
	const query = "SELECT value FROM counters WHERE name = 'asked'"
	st := storetest.Migrated(b, storetest.SQLite(b))
	if _, err := st.DB.ExecContext(b.Context(), "INSERT INTO counters (name, value) VALUES ('asked', 5)"); err != nil {
		b.Fatal(err)
	}
	b.Run("kept", func(b *testing.B) {
		q := st.NewQuestion(query)
		for b.Loop() {
			if _, err := q.Ask(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		must.Succeed(b, q.Close())
	})
	b.Run("pool", func(b *testing.B) {
		for b.Loop() {
			var n int64
			must.Succeed(b, st.DB.QueryRowContext(b.Context(), query).Scan(&n))
		}
	})
}
