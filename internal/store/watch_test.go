package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestReach(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if err := st.Reach(t.Context()); err != nil {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := st.Reach(ended); err == nil {
			t.Error("reached after the end")
		}
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var mu sync.Mutex
		var seen []string
		failed := 0
		watch := func(ctx context.Context, operation, statement string) (context.Context, func(error)) {
			if statement == "" || strings.Contains(statement, "secret") {
				t.Errorf("statement %q", statement)
			}
			return ctx, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, operation)
				if err != nil {
					failed++
				}
			}
		}
		st.Watch([]store.Watch{watch, watch}...)
		said := func(want ...string) {
			t.Helper()
			for i := len(want) - 1; i >= 0; i-- { // two watches
				want = slices.Insert(want, i, want[i])
			}
			if !slices.Equal(seen, want) {
				t.Errorf("saw %q, want %q", seen, want)
			}
			seen = nil
		}
		ctx := t.Context()
		if _, err := st.Ent.Setting.Query().Count(ctx); err != nil {
			t.Fatal(err)
		}
		said("query")
		if _, err := st.Ent.ExecContext(ctx, "UPDATE `settings` SET `name` = ? WHERE `name` = ?", "secret", "secret"); err != nil {
			t.Fatal(err)
		}
		said("exec")
		err := store.Tx(ctx, st.Ent, func(tx *ent.Tx) error { return readRows(ctx, t, tx) })
		if err != nil {
			t.Fatal(err)
		}
		said("begin", "query", "commit")
		question := st.NewQuestion("SELECT 1")
		if n, err := question.Ask(ctx); n != 1 || err != nil {
			t.Error(n, err)
		}
		if err := question.Close(); err != nil {
			t.Error(err)
		}
		said("query")
		stop := errors.New("stop")
		if err := store.Tx(ctx, st.Ent, func(*ent.Tx) error { return stop }); !errors.Is(err, stop) {
			t.Error(err)
		}
		said("begin", "rollback")
		if _, err := st.Ent.ExecContext(ctx, "DELETE FROM nowhere"); err == nil {
			t.Error("an error was lost")
		}
		if failed != 2 {
			t.Errorf("%d failures were seen by two", failed)
		}
	})
}

// readRows reads the rows of a statement.
func readRows(ctx context.Context, t *testing.T, tx *ent.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT 1")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil || n != 1 {
			t.Error(n, err)
		}
	}
	return rows.Err()
}
