package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	entseries "github.com/almanac-cal/almanac/ent/series"
)

// replacedRecords has the ids of earlier imports' records that the import moves to the trash, because a series replaces
// them.
type replacedRecords struct {
	events []int64 // of changed dates, because the file did not have their series
	series []int64 // of changes of all following dates that the file no longer has
}

func (p replacedRecords) isNone() bool { return len(p.events)+len(p.series) == 0 }

// replacedBy returns the stored records that a recurring event replaces: those that the file no longer has as
// separate records.
func (r *importRun) replacedBy(ctx context.Context, db *ent.Client, e *Event) (p replacedRecords, err error) {
	if !e.InFile {
		return p, nil
	}
	from := icalDateKey(e.Key, "")
	to := strings.TrimSuffix(from, "=") + ">" // the next sign; a range uses the index on source ids, where LIKE does not on SQLite
	events, err := db.Event.Query().Where(event.SourceIDGTE(from), event.SourceIDLT(to), event.SeriesIDIsNil(), event.StatusNEQ(calendar.Trash)).
		Order(event.ByID()).Select(event.FieldID, event.FieldSourceID).All(ctx)
	if err != nil {
		return p, fmt.Errorf("dates of %s by source: %w", e.Key, err)
	}
	for _, row := range events {
		if !r.keys[*row.SourceID] {
			p.events = append(p.events, row.ID)
		}
	}
	if e.Series.Partial {
		return p, nil
	}
	split, err := db.Series.Query().Where(entseries.SourceIDGTE(from), entseries.SourceIDLT(to), entseries.StatusNEQ(calendar.Trash)).
		Order(entseries.ByID()).Select(entseries.FieldID, entseries.FieldSourceID).All(ctx)
	if err != nil {
		return p, fmt.Errorf("series of %s by source: %w", e.Key, err)
	}
	for _, row := range split {
		if !r.keys[*row.SourceID] {
			p.series = append(p.series, row.ID)
		}
	}
	return p, nil
}

// trashReplaced moves replaced records to the trash. It removes the source ids of series, so that a later file can
// create these series again.
func (r *importRun) trashReplaced(ctx context.Context, tx *ent.Tx, p replacedRecords) error {
	if err := r.trashEvents(ctx, tx, p.events); err != nil {
		return err
	}
	for _, id := range p.series {
		if err := series.Trash(ctx, tx, r.editor, id); err != nil {
			return fmt.Errorf("series %d: %w", id, err)
		}
		err := tx.Series.UpdateOneID(id).ClearSourceID().Exec(ctx)
		if err == nil {
			err = tx.Event.Update().Where(event.SeriesID(id)).ClearSourceID().Exec(ctx)
		}
		if err != nil {
			return fmt.Errorf("series %d: %w", id, err)
		}
	}
	return nil
}

// trashGone moves to the trash what earlier imports stored for events that no longer have any date. keys are their
// source ids.
func (r *importRun) trashGone(ctx context.Context, keys []string) error {
	for some := range slices.Chunk(keys, idBatch) {
		ids, err := r.DB.Series.Query().Where(entseries.SourceIDIn(some...), entseries.StatusNEQ(calendar.Trash)).Order(entseries.ByID()).IDs(ctx)
		if err != nil {
			return fmt.Errorf("series by source: %w", err)
		}
		events, err := r.DB.Event.Query().Where(event.SourceIDIn(some...), event.SeriesIDIsNil(), event.StatusNEQ(calendar.Trash)).
			Order(event.ByID()).IDs(ctx)
		if err != nil {
			return fmt.Errorf("events by source: %w", err)
		}
		gone := make([]replacedRecords, 0, len(ids)+1)
		if len(events) > 0 {
			gone = append(gone, replacedRecords{events: events})
		}
		for _, id := range ids {
			gone = append(gone, replacedRecords{series: []int64{id}})
		}
		for _, p := range gone {
			if err := edit.Write(ctx, r.DB, r.editor, func(tx *ent.Tx) error { return r.trashReplaced(ctx, tx, p) }); err != nil {
				return err
			}
		}
	}
	return nil
}
