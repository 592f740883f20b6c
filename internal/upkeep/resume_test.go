package upkeep_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// TestReindexOfOldSettingsChangesNothing runs Reindex with settings that have been replaced since, like a command
// that started earlier.
func TestReindexOfOldSettingsChangesNothing(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		ctx := t.Context()
		w.Event(w.As(calendar.Editor), &edit.EventInput{})
		old := w.As(calendar.Editor)
		err := edit.StoreSite(ctx, w.DB, func(settings.Layer) (settings.Layer, bool, error) {
			said := settings.Layer{}
			return said, true, said.Set("languages", "pl,en")
		})
		if err != nil {
			t.Fatal(err)
		}
		texts := func() []*ent.SearchText { return w.DB.SearchText.Query().Order(searchtext.ByID()).AllX(ctx) }
		before := texts()
		for _, again := range []func() error{
			func() error { return upkeep.Reindex(ctx, w.DB, old, func(calendar.Kind, int) {}) },
			func() error { return upkeep.FinishReindex(ctx, w.DB, old, func(calendar.Kind, int) {}) },
		} {
			if err := again(); !errors.Is(err, edit.ErrSiteChanged) {
				t.Errorf("%v, want %v", err, edit.ErrSiteChanged)
			}
			if diff := cmp.Diff(ids(before), ids(texts())); diff != "" {
				t.Error(diff)
			}
			if pending, err := upkeep.ReindexPending(ctx, w.DB); !pending || err != nil {
				t.Errorf("pending %t, %v", pending, err)
			}
		}
	})
}

func ids(rows []*ent.SearchText) (out []int64) {
	for _, row := range rows {
		out = append(out, row.ID)
	}
	return out
}
