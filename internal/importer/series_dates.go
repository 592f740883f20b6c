package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// datesToWrite has the planned writes for single occurrences that differ from their series, and what the report says
// about them.
type datesToWrite struct {
	writes []func(context.Context, *ent.Tx) (int64, error)
	notice string
	kept   []KeptRecord
}

func (d *datesToWrite) write(ctx context.Context, tx *ent.Tx) error {
	for _, do := range d.writes {
		if _, err := do(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// prepareDates plans the writes of single occurrences. The id is that of their series. An occurrence gets the fields in
// which the source's date differs from the series. Its other fields follow the series again.
func (r *importRun) prepareDates(ctx context.Context, db *ent.Client, id int64, e *Event) (*datesToWrite, error) {
	d := &datesToWrite{}
	stored, err := seriesWithPhases(ctx, db, id)
	if err != nil {
		return nil, err
	}
	changed := make(map[calendar.Wall]*Event, len(e.Series.Changed))
	var starts []calendar.Wall
	for _, o := range e.Series.Changed {
		changed[o.Nominal] = o
		starts = append(starts, o.Nominal)
	}
	rows, err := eventsWithLinks(db.Event.Query().Where(event.SeriesID(id), event.OwnFieldsNotNil())).
		Order(event.ByOriginalStart()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("exceptions of series %d: %w", id, err)
	}
	seen := make(map[calendar.Wall]bool)
	for _, row := range rows {
		seen[*row.OriginalStart] = true
	}
	starts = slices.DeleteFunc(starts, func(w calendar.Wall) bool { return seen[w] })
	for some := range slices.Chunk(starts, idBatch) {
		more, err := eventsWithLinks(db.Event.Query().Where(event.SeriesID(id), event.OriginalStartIn(some...))).
			Order(event.ByOriginalStart()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("occurrences of series %d: %w", id, err)
		}
		for _, row := range more {
			seen[*row.OriginalStart] = true
		}
		rows = append(rows, more...)
	}
	inTrash := 0
	for _, row := range rows {
		if row.Status == calendar.Trash {
			if changed[*row.OriginalStart] != nil {
				inTrash++
			}
			continue
		}
		wanted := changed[*row.OriginalStart]
		if wanted == nil {
			if e.Series.Partial {
				continue
			}
			if wanted = e.dateAt(*row.OriginalStart); wanted == nil {
				continue
			}
		}
		do, notice, kept, err := r.prepareDate(ctx, db, wanted, row, stored)
		if err != nil {
			return nil, err
		}
		d.notice = joinNotices(d.notice, notice)
		if len(kept) > 0 {
			d.kept = append(d.kept, KeptRecord{Kind: calendar.Event, Title: row.Title, Fields: kept})
		}
		if do != nil {
			d.writes = append(d.writes, do)
		}
	}
	note := func(what string, n int) {
		if n > 0 {
			d.notice = joinNotices(d.notice, fmt.Sprintf("changed dates %s: %d", what, n))
		}
	}
	note("that are in the trash here, left alone", inTrash)
	missing := 0
	for w := range changed {
		if !seen[w] {
			missing++
		}
	}
	note("that are not here, or not yet", missing)
	return d, nil
}

// dateAt returns the date with a nominal start, as an event with the fields that all dates of the series share. Nil
// means that the series has no such date.
func (e *Event) dateAt(nominal calendar.Wall) *Event {
	s := e.Series.Schedule
	if unknown, err := unknownDates(s, datesOf([]calendar.Wall{nominal})); err != nil || len(unknown) > 0 {
		return nil
	}
	o, ok := s.Occurrence(nominal)
	if !ok {
		return nil
	}
	one := *e
	one.Key, one.Slug, one.Nominal, one.Span, one.Modified, one.Series = "", "", nominal, o.Span, nil, nil
	return &one
}

// prepareDate compares a stored occurrence with the source's date, and returns the write. Nil means that they are
// equal. A field that equals that of the series follows the series from then on.
func (r *importRun) prepareDate(ctx context.Context, db *ent.Client, e *Event, row *ent.Event, of *ent.Series) (
	do func(context.Context, *ent.Tx) (int64, error), notice string, kept []string, err error,
) {
	c, s := &change{}, storedTextsOf(row)
	in, notice, err := r.compareEvent(ctx, db, c, s, e, row)
	if err != nil {
		return nil, "", nil, err
	}
	if !row.StartWall.Equal(e.Span.Start) || !row.EndWall.Equal(e.Span.End) || row.Timezone != e.Span.Zone.String() ||
		row.AllDay != e.Span.AllDay {
		setSpan(c, in, row, e.Span)
	}
	edited, err := r.editedEvent(ctx, db, row.ID, row.SeriesID)
	if err != nil {
		return nil, "", nil, err
	}
	if kept, err = keepEvent(c, s, in, edited); err != nil {
		return nil, "", nil, err
	}
	setModified(c, &in.ModifiedAt, row.Core().LastWrite(), s.isTranslated() || len(edited) > 0, e.Modified)
	if e.Key != "" && (row.SourceID == nil || *row.SourceID != e.Key) {
		c.differs = true
		in.SourceID = &e.Key
	}
	if !c.differs {
		own, err := series.DifferentOwnFields(row, of)
		if err != nil || len(own) == len(row.OwnFields) {
			return nil, notice, kept, err
		}
		return func(ctx context.Context, tx *ent.Tx) (int64, error) {
			return row.ID, r.editor.SetOwnFields(ctx, tx, row.ID, own)
		}, notice, kept, nil
	}
	save := r.writeEvent(s, c, row, in)
	return func(ctx context.Context, tx *ent.Tx) (int64, error) {
		id, err := save(ctx, tx)
		if err != nil {
			return 0, err
		}
		row, err := eventsWithLinks(tx.Event.Query().Where(event.ID(id))).Only(ctx)
		if err != nil {
			return 0, fmt.Errorf("event %d: %w", id, err)
		}
		own, err := series.DifferentOwnFields(row, of)
		if err == nil && len(own) < len(row.OwnFields) {
			err = r.editor.SetOwnFields(ctx, tx, id, own)
		}
		return id, err
	}, notice, kept, nil
}
