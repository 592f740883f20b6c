package store_test

import (
	"slices"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestDrawnIDsAreOurs draws blocks of ids in several concurrent transactions. No id may be drawn twice.
func TestDrawnIDsAreOurs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const writers, blocks, size = 3, 4, 700
		results := make(chan []int64, writers*blocks)
		errs := make(chan error, writers)
		for range writers {
			go func() {
				errs <- func() error {
					for range blocks {
						var ids []int64
						err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) (err error) {
							ids, err = store.DrawIDs(t.Context(), tx, calendar.Event, size)
							return err
						})
						if err != nil {
							return err
						}
						results <- ids
					}
					return nil
				}()
			}()
		}
		for range writers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		close(results)
		seen := map[int64]bool{}
		for ids := range results {
			if !slices.IsSorted(ids) {
				t.Error("a block is not in order")
			}
			for _, id := range ids {
				if seen[id] {
					t.Fatalf("id %d was drawn twice", id)
				}
				seen[id] = true
			}
		}
		rows := st.Ent.Record.Query().AllX(t.Context())
		if len(seen) != writers*blocks*size || len(rows) != len(seen) {
			t.Fatalf("%d ids, %d rows", len(seen), len(rows))
		}
		for _, r := range rows {
			if r.Kind != calendar.Event {
				t.Fatalf("record %d is of kind %q", r.ID, r.Kind)
			}
		}
	})
}

func TestRaisedIDsAreAboveAllOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const kept = 1000
		st.Ent.Record.Create().SetID(kept).SetKind(calendar.Venue).ExecX(t.Context())
		err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
			if err := store.RaiseRecordIDs(t.Context(), tx, calendar.Event); err != nil {
				return err
			}
			ids, err := store.DrawIDs(t.Context(), tx, calendar.Event, 2)
			if err == nil && ids[0] <= kept+1 {
				t.Errorf("ids %v are not above %d", ids, kept+1)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
