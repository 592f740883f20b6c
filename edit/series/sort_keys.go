package series

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
)

// SortKeysOf returns the sort keys of a series by the name of their column. Each key is made of the title that
// readers of a language get. The event t has the titles of the series.
func SortKeysOf(site calendar.Language, t *ent.Event) map[string][]byte {
	keys := make(map[string][]byte, len(calendar.Languages))
	for _, l := range calendar.Languages {
		served := calendar.Served(l, site, t.Text(), t.Translated())
		keys[edit.NameSortColumn(l)] = calendar.SortKey(l, served.Title, calendar.NameKeySize)
	}
	return keys
}

// WriteSortKeys computes the sort keys of series from their titles and stores them.
func WriteSortKeys(ctx context.Context, tx *ent.Tx, e *edit.Editor, ids []int64) error {
	// The lock precedes the first read of the transaction, so that this sees the changes of earlier writers.
	rows, err := tx.Series.Query().Where(series.IDIn(ids...)).Order(series.ByID()).Modify(edit.ForUpdate).All(ctx)
	if err != nil {
		return fmt.Errorf("sort keys of series: %w", err)
	}
	for _, r := range rows {
		phases, err := edit.LoadPhases(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		if len(phases) == 0 {
			continue // a series without a schedule has no title
		}
		update := tx.Series.UpdateOne(r)
		t, err := ent.DecodeTemplate(phases[len(phases)-1].Template)
		if err != nil {
			return fmt.Errorf("template of series %d: %w", r.ID, err)
		}
		setSeriesSortKeys(e, update.Mutation(), t)
		if err := update.Exec(ctx); err != nil {
			return fmt.Errorf("sort keys of series: %w", err)
		}
	}
	return nil
}

// setSeriesSortKeys sets in m the keys by which lists of series are sorted in each language. The event t has the
// titles of the series.
func setSeriesSortKeys(e *edit.Editor, m *ent.SeriesMutation, t *ent.Event) {
	keys := SortKeysOf(e.Site.IndexedIn(), t)
	m.SetSortEn(keys[edit.NameSortColumn(calendar.English)])
	m.SetSortPl(keys[edit.NameSortColumn(calendar.Polish)])
	m.SetSortEs(keys[edit.NameSortColumn(calendar.Spanish)])
}
