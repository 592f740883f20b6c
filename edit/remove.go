package edit

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/store"
)

// RemoveAll deletes events, series, venues or organizers for good, whether they are in the trash or not, with
// their slugs, links, translations and search texts. Their ids are never used again. The API only moves records
// to the trash. RemoveAll is for records that were never real, such as seeded ones.
//
// Other events and series lose a link to a removed parent, venue or organizer. Occurrences of a removed series
// become single events. The nominal start of a removed occurrence becomes an exdate. A series is removed with
// its last occurrence. RemoveAll ignores ids that do not exist.
func (e *Editor) RemoveAll(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	if e.By.Role != calendar.Administrator {
		return Forbidden()
	}
	ids = slices.Sorted(slices.Values(ids))
	for part := range slices.Chunk(ids, BatchSize) {
		var events []*ent.Event
		var there []int64
		var err error
		if kind == calendar.Event {
			if err := lockSeriesOfRemoved(ctx, tx, part); err != nil {
				return err
			}
			if err := e.unlinkSeries(ctx, tx, "post_parent", part, true); err != nil {
				return err
			}
			events, err = LockEvents(ctx, tx, part...)
			for _, row := range events {
				there = append(there, row.ID)
			}
		} else {
			there, err = lockRecords(ctx, tx, kind, sql.FieldIn(event.FieldID, part...), noLimit)
		}
		if err != nil {
			return fmt.Errorf("remove records of kind %s: %w", kind, err)
		}
		if len(there) == 0 {
			continue
		}
		shown, err := e.PublicIDs(ctx, tx, kind, there)
		if err != nil {
			return err
		}
		for _, row := range events {
			shown[row.ID] = shown[row.ID] || row.Sequence > 0 // feeds may show it as withdrawn
		}
		if _, err := tx.Slug.Delete().Where(slug.KindEQ(kind), slug.OwnerIDIn(there...)).Exec(ctx); err != nil {
			return fmt.Errorf("remove slugs of kind %s: %w", kind, err)
		}
		// The database deletes the translations with their record. Write deletes the search texts.
		switch {
		case kind == calendar.Event:
			err = e.removeEvents(ctx, tx, events, there)
		case kind == calendar.Series:
			err = e.removeSeries(ctx, tx, there)
		case kind.IsNamed():
			if kind.IsLinked() {
				err = e.unlinkRemoved(ctx, tx, kind, there)
			}
			if err == nil {
				err = tx.Client().DeleteRecords(ctx, kind, there)
			}
		default:
			err = fmt.Errorf("no records of kind %s are removed like this", kind)
		}
		if err != nil {
			return fmt.Errorf("remove records of kind %s: %w", kind, store.AsConflict(err))
		}
		for _, id := range there {
			e.LogChange(kind, id, calendar.Deleted, nil, Impact{Visible: shown[id]})
		}
	}
	return nil
}

// lockSeriesOfRemoved locks all series that change when the given events are removed, in the order of their ids.
// Those are the events' own series, and any other series whose occurrences have such an event as parent.
func lockSeriesOfRemoved(ctx context.Context, tx *ent.Tx, ids []int64) error {
	rows, err := tx.Event.Query().Where(event.IDIn(ids...), event.SeriesIDNotNil()).
		Select(event.FieldID, event.FieldSeriesID).All(ctx)
	if err != nil {
		return fmt.Errorf("series of events: %w", err)
	}
	linked, err := linkedSeries(ctx, tx, "post_parent", ids)
	if err != nil {
		return fmt.Errorf("series below events: %w", err)
	}
	locked := slices.Concat(seriesOf(rows), linked)
	slices.Sort(locked)
	for part := range slices.Chunk(slices.Compact(locked), BatchSize) {
		if _, err := lockRecords(ctx, tx, calendar.Series, sql.FieldIn(series.FieldID, part...), noLimit); err != nil {
			return fmt.Errorf("series of events: %w", err)
		}
	}
	return nil
}

// unlinkRemoved removes the links of events and series to venues or organizers. It is called before these are
// deleted.
func (e *Editor) unlinkRemoved(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	public, err := e.PublicIDs(ctx, tx, kind, ids)
	if err != nil {
		return err
	}
	for _, seen := range [...]bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return public[id] != seen })
		if err := e.unlink(ctx, tx, kind, some, seen); err != nil {
			return err
		}
	}
	return nil
}

// removeSeries deletes series with their schedules. Their occurrences become single events.
func (e *Editor) removeSeries(ctx context.Context, tx *ent.Tx, ids []int64) error {
	occurrences, err := lockRecords(ctx, tx, calendar.Event, sql.FieldIn(event.FieldSeriesID, ids...), noLimit)
	if err != nil {
		return err
	}
	// The occurrences may have different series, some of them hidden. All count as shown.
	err = e.touch(ctx, tx, calendar.Event, occurrences, []string{"series"}, true, func(u *sql.UpdateBuilder) {
		u.SetNull(event.FieldSeriesID).SetNull(event.FieldOriginalStart).SetNull(event.FieldOwnFields).Set(event.FieldOffSchedule, false)
	})
	if err != nil {
		return err
	}
	_, err = tx.Series.Delete().Where(series.IDIn(ids...)).Exec(ctx)
	return err
}

// excludeRemoved adds the nominal starts of removed occurrences to the exdates of their series, so that no
// process creates them again. It returns the ids of the series without other occurrences.
func (e *Editor) excludeRemoved(ctx context.Context, tx *ent.Tx, events []*ent.Event, ids []int64) (empty []int64, err error) {
	touched := seriesOf(events)
	if len(touched) == 0 {
		return nil, nil
	}
	var left []int64 // ids of series with other occurrences
	err = tx.Event.Query().Where(event.SeriesIDIn(touched...), event.IDNotIn(ids...)).
		Unique(true).Select(event.FieldSeriesID).Scan(ctx, &left)
	if err != nil {
		return nil, fmt.Errorf("series of occurrences: %w", err)
	}
	for _, id := range left {
		phases, err := LoadPhases(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		changed := make(map[*ent.SeriesPhase]bool)
		for _, row := range events {
			if !equalsID(row.SeriesID, id) || row.OffSchedule {
				continue
			}
			phase := PhaseAt(phases, *row.OriginalStart)
			if !slices.ContainsFunc(phase.Exdate, row.OriginalStart.Equal) {
				phase.Exdate, changed[phase] = InsertStart(phase.Exdate, *row.OriginalStart), true
			}
		}
		if len(changed) == 0 {
			continue
		}
		for _, phase := range phases {
			if !changed[phase] {
				continue
			}
			err := tx.SeriesPhase.Update().Where(seriesphase.ID(phase.ID)).SetExdate(phase.Exdate).Exec(ctx)
			if err != nil {
				return nil, fmt.Errorf("phase %d: %w", phase.ID, err)
			}
		}
		if err := e.touchSeries(ctx, tx, id, []string{"exdate"}); err != nil {
			return nil, err
		}
	}
	return idsWithout(touched, left), nil
}

// removeEvents deletes locked events with their links. It also removes each series that has no other occurrence.
func (e *Editor) removeEvents(ctx context.Context, tx *ent.Tx, events []*ent.Event, ids []int64) error {
	empty, err := e.excludeRemoved(ctx, tx, events, ids)
	if err != nil {
		return err
	}
	var counts []struct {
		TermID int64 `json:"term_id"`
		Count  int   `json:"count"`
	}
	err = tx.EventTerm.Query().
		Where(eventterm.EventIDIn(ids...), eventterm.HasEventWith(event.StatusEQ(calendar.Publish))).
		GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return err
	}
	by := make(map[int64]int, len(counts))
	for _, c := range counts {
		by[c.TermID] = -c.Count
	}
	if err := CountEvents(ctx, tx, by); err != nil {
		return err
	}
	children, err := tx.Event.Query().Where(event.ParentIDIn(ids...), event.IDNotIn(ids...)).
		Order(event.ByID()).Modify(ForUpdate).IDs(ctx)
	if err != nil {
		return err
	}
	err = e.touch(ctx, tx, calendar.Event, children, []string{"post_parent"}, true,
		func(u *sql.UpdateBuilder) { u.SetNull(event.FieldParentID) })
	if err != nil {
		return err
	}
	if err := unlinkEvents(ctx, tx, ids); err != nil {
		return err
	}
	if err := dropWithdrawals(ctx, tx, ids); err != nil {
		return err
	}
	if _, err = tx.Event.Delete().Where(event.IDIn(ids...)).Exec(ctx); err != nil {
		return err
	}
	return e.RemoveAll(ctx, tx, calendar.Series, empty)
}
