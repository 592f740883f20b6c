package store_test

import (
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/store"
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
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
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
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("pool", func(b *testing.B) {
		for b.Loop() {
			var n int64
			if err := st.DB.QueryRowContext(b.Context(), query).Scan(&n); err != nil {
				b.Fatal(err)
			}
		}
	})
}
