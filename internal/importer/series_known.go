package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// prepareKnownSeries compares a recurring event with its stored series, and plans the write.
func (r *importRun) prepareKnownSeries(ctx context.Context, db *ent.Client, e *Event, s *ent.Series) (recordWrite, error) {
	if s.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: s.ID, notice: trashedNotice, hidden: true}, nil
	}
	e, err := r.withNominalStarts(ctx, db, e, s.ID)
	if err != nil {
		return recordWrite{}, err
	}
	row, err := ent.DecodeTemplate(s.Edges.Phases[len(s.Edges.Phases)-1].Template)
	if err != nil {
		return recordWrite{}, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	row.ID, row.Status, row.PublishedAt = s.ID, s.Status, s.PublishedAt
	c := &change{}
	common := *e
	common.Slug = "" // the series keeps its slug, which clients may know
	texts := storedTexts{kind: calendar.Series, id: s.ID, original: row.Text(), others: row.Translated()}
	short, cut := r.shortened(&common)
	in, notice, err := r.compareEvent(ctx, db, c, texts, short, row)
	if err != nil {
		return recordWrite{}, err
	}
	notice = joinNotices(notice, cut)
	if len(e.Series.Single) > 0 && !e.Series.Typical {
		c, in = &change{}, &edit.EventInput{} // each date is written separately
	}
	plan, err := r.planSchedule(ctx, db, s, e.Series)
	if err != nil {
		return recordWrite{}, err
	}
	dates, err := r.prepareDates(ctx, db, s.ID, e)
	if err != nil {
		return recordWrite{}, err
	}
	replaced, err := r.replacedBy(ctx, db, e)
	if err != nil {
		return recordWrite{}, err
	}
	w := recordWrite{action: c.action(), id: s.ID, notice: notice, dates: dates}
	if w.action == Unchanged && plan.same() && len(dates.writes) == 0 && replaced.isEmpty() {
		return w, nil
	}
	if w.action == Unchanged {
		w.action = Update
	}
	w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) {
		if c.any || plan.changed != nil {
			if plan.changed != nil {
				setSchedule(in, *plan.changed)
			}
			err := r.writeLanguages(ctx, tx, texts, c.words, func(one translationWrite, first bool) error {
				in := in
				if !first {
					in = &edit.EventInput{}
				}
				in.Title, in.Description, in.Excerpt = one.title, one.description, one.excerpt
				in.EventStatusReason = one.reason
				return r.withReservedDates(e, func() error { return r.editor.UpdateSeries(ctx, tx, s.ID, in) })
			})
			if err != nil {
				return 0, err
			}
		}
		if plan.changed != nil {
			// The change keeps occurrences with own fields, even if the source lacks their dates.
			if plan, err = r.planStored(ctx, tx.Client(), s.ID, e); err != nil {
				return 0, err
			}
		}
		if err := r.trashDates(ctx, tx, plan); err != nil {
			return 0, err
		}
		if err := r.trashReplaced(ctx, tx, replaced); err != nil {
			return 0, err
		}
		dates, err := r.prepareDates(ctx, tx.Client(), s.ID, e)
		if err != nil {
			return 0, err
		}
		w.dates.notice = dates.notice
		if err := dates.write(ctx, tx); err != nil {
			return 0, err
		}
		plan, err := r.planStored(ctx, tx.Client(), s.ID, e)
		if err == nil && !plan.same() {
			err = refusedRecord("its dates cannot become those of the source, because of what was changed here")
		}
		return s.ID, err
	}
	return w, nil
}

// withNominalStarts returns the event with the nominal starts of its stored dates. A date is identified by its
// source id. If it has another start now, the occurrence has moved. A new date may start at the nominal start
// of a moved occurrence; it then gets the nominal start that is free.
func (r *importRun) withNominalStarts(ctx context.Context, db *ent.Client, e *Event, id int64) (*Event, error) {
	here := make(map[string]calendar.Wall)
	for some := range slices.Chunk(keysOf(e.Series.Single), idBatch) {
		rows, err := db.Event.Query().Where(event.SeriesID(id), event.SourceIDIn(some...)).
			Select(event.FieldSourceID, event.FieldOriginalStart).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("occurrences by source: %w", err)
		}
		for _, row := range rows {
			here[*row.SourceID] = *row.OriginalStart
		}
	}
	free := make(map[calendar.Wall]calendar.Wall) // new starts of moved dates, by their nominal start
	for _, o := range e.Series.Changed {
		if nominal, ok := here[o.Key]; ok && !nominal.Equal(o.Nominal) {
			free[nominal] = o.Nominal
		}
	}
	if len(free) == 0 {
		return e, nil
	}
	one, recurrence := *e, *e.Series
	recurrence.Changed = slices.Clone(e.Series.Changed)
	starts := make([]recur.Date, len(recurrence.Changed))
	for i, o := range recurrence.Changed {
		moved := *o
		nominal, known := here[o.Key]
		if !known {
			nominal = o.Nominal
			for next, taken := free[nominal]; taken; next, taken = free[nominal] {
				nominal = next
			}
		}
		if e.Span.Start.Equal(o.Nominal) {
			one.Span = e.Span.MoveStart(nominal)
		}
		moved.Nominal, starts[i].Wall = nominal, nominal
		recurrence.Changed[i] = &moved
	}
	var err error
	if recurrence.Schedule, err = recur.New(one.Span, recur.Rule{}, starts, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Where, err)
	}
	one.Series = &recurrence
	return &one, nil
}

// planStored is planSchedule for the series as it is stored at this moment.
func (r *importRun) planStored(ctx context.Context, db *ent.Client, id int64, e *Event) (schedulePlan, error) {
	s, err := seriesWithPhases(ctx, db, id)
	if err != nil {
		return schedulePlan{}, err
	}
	return r.planSchedule(ctx, db, s, e.Series)
}
