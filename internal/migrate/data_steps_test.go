package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// raiseCounters is a data step in batches of two: it adds 100 to every counter below 100. ran counts its runs.
func raiseCounters(version string, ran *int) migrate.DataStep {
	return migrate.DataStep{
		Name: "double-counters", Version: version,
		Run: func(ctx context.Context, db *ent.Client, progress func(int)) error {
			*ran++
			for done := 0; ; {
				rows, err := db.Counter.Query().Where(counter.ValueLT(100)).Order(ent.Asc(counter.FieldID)).Limit(2).All(ctx)
				if err != nil || len(rows) == 0 {
					return err
				}
				err = store.Tx(ctx, db, func(tx *ent.Tx) error {
					for _, r := range rows {
						if err := tx.Counter.UpdateOne(r).AddValue(100).Exec(ctx); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
				done += len(rows)
				progress(done)
			}
		},
	}
}

func TestDataStepIsTakenUpAndRecorded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		names := versions(t, st)
		ran := 0
		steps := []migrate.DataStep{raiseCounters(names[0], &ran)}
		for n := range 5 {
			storetest.Exec(t, st, fmt.Sprintf("INSERT INTO counters (name, value) VALUES ('c%d', %d)", n, n))
		}
		values := func() string {
			return storetest.Value(t, st.DB, "SELECT group_concat(value) FROM (SELECT value FROM counters ORDER BY name) x")
		}
		pending := func() bool {
			t.Helper()
			states, err := migrate.DataStatus(t.Context(), st, steps)
			if err != nil || len(states) != 1 || states[0].Name != "double-counters" || states[0].Version != names[0] {
				t.Fatalf("got %+v, error %v", states, err)
			}
			return states[0].DoneAt.IsZero()
		}
		if !pending() {
			t.Error("done before it began")
		}

		ctx, cancel := context.WithCancel(t.Context())
		var told []int
		stop := func(_ string, rows int) {
			told = append(told, rows)
			if rows > 0 {
				cancel()
			}
		}
		done, err := migrate.RunData(ctx, st, steps, migrate.DataOptions{Progress: stop})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "data step double-counters: interrupted") || len(done) != 0 {
			t.Fatalf("got %v, error %v", done, err)
		}
		if got := values(); got != "100,101,2,3,4" || !pending() {
			t.Errorf("after one batch: %s, pending %t", got, pending())
		}

		keep := func(_ string, rows int) { told = append(told, rows) }
		done, err = migrate.RunData(t.Context(), st, steps, migrate.DataOptions{Progress: keep})
		if err != nil || len(done) != 1 || done[0].DoneAt.IsZero() {
			t.Fatalf("got %+v, error %v", done, err)
		}
		if diff := cmp.Diff([]int{0, 2, 0, 2, 3}, told); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		if got := values(); got != "100,101,102,103,104" || pending() {
			t.Errorf("at the end: %s, pending %t", got, pending())
		}

		if done, err = migrate.RunData(t.Context(), st, steps, migrate.DataOptions{}); err != nil || len(done) != 0 || ran != 2 {
			t.Errorf("once more: %+v, error %v, ran %d times", done, err, ran)
		}
		// A program of the version before has written meanwhile.
		storetest.Exec(t, st, "INSERT INTO counters (name, value) VALUES ('c5', 5)")
		if done, err = migrate.RunData(t.Context(), st, steps, migrate.DataOptions{Again: true}); err != nil || len(done) != 1 {
			t.Errorf("again: %+v, error %v", done, err)
		}
		if got := values(); got != "100,101,102,103,104,105" {
			t.Errorf("after doing it again: %s", got)
		}
	})
}

func TestDataStepThatFails(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		names := versions(t, st)
		no := errors.New("no")
		ran := 0
		steps := []migrate.DataStep{
			raiseCounters(names[0], &ran),
			{Name: "impossible", Version: names[0], Run: func(context.Context, *ent.Client, func(int)) error { return no }},
			{Name: "never", Version: names[0], Run: func(context.Context, *ent.Client, func(int)) error {
				t.Error("a step ran after one that failed")
				return nil
			}},
		}
		done, err := migrate.RunData(t.Context(), st, steps, migrate.DataOptions{})
		if !errors.Is(err, no) || !strings.Contains(err.Error(), "data step impossible") || len(done) != 1 {
			t.Errorf("got %+v, error %v", done, err)
		}
		states, err := migrate.DataStatus(t.Context(), st, steps)
		if err != nil || states[0].DoneAt.IsZero() || !states[1].DoneAt.IsZero() || !states[2].DoneAt.IsZero() {
			t.Errorf("got %+v, error %v", states, err)
		}
	})
}

func TestDataStepWaitsForItsMigration(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		names := versions(t, st)
		ran := 0
		steps := []migrate.DataStep{raiseCounters(names[0], &ran)}
		states, err := migrate.DataStatus(t.Context(), st, steps)
		if err != nil || len(states) != 1 || !states[0].DoneAt.IsZero() {
			t.Errorf("without tables: %+v, error %v", states, err)
		}
		_, err = migrate.RunData(t.Context(), st, steps, migrate.DataOptions{})
		if !errors.Is(err, migrate.ErrBehind) || !strings.Contains(err.Error(), names[0]) || ran != 0 {
			t.Errorf("got %v, ran %d times", err, ran)
		}
		if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"}); err != nil {
			t.Fatal(err)
		}
		// Without rows the step does nothing and is recorded.
		if done, err := migrate.RunData(t.Context(), st, steps, migrate.DataOptions{}); err != nil || len(done) != 1 {
			t.Errorf("got %+v, error %v", done, err)
		}
	})
}
