package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// seriesUpdate is a planned change of a stored series.
type seriesUpdate struct {
	id       int64
	event    *Event // of the source
	change   *change
	input    *edit.EventInput
	texts    storedTexts
	plan     schedulePlan
	replaced replacedRecords
}

// prepareKnownSeries compares a recurring event with its stored series, and plans the write.
func (r *importRun) prepareKnownSeries(ctx context.Context, db *ent.Client, e *Event, s *ent.Series) (recordWrite, error) {
	if s.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: s.ID, notice: trashedNotice, hidden: true}, nil
	}
	e, err := r.withNominalStarts(ctx, db, e, s.ID)
	if err != nil {
		return recordWrite{}, err
	}
	u := &seriesUpdate{id: s.ID, event: e}
	notice, kept, err := r.compareSeries(ctx, db, u, s)
	if err != nil {
		return recordWrite{}, err
	}
	if u.plan, err = r.planSchedule(ctx, db, s, e.Series); err != nil {
		return recordWrite{}, err
	}
	dates, err := r.prepareDates(ctx, db, s.ID, e)
	if err != nil {
		return recordWrite{}, err
	}
	if u.replaced, err = r.replacedBy(ctx, db, e); err != nil {
		return recordWrite{}, err
	}
	w := recordWrite{action: u.change.action(), id: s.ID, notice: notice, kept: kept, dates: dates}
	if w.action == Unchanged && u.plan.isUnchanged() && len(dates.writes) == 0 && u.replaced.isNone() {
		return w, nil
	}
	if w.action == Unchanged {
		w.action = Update
	}
	w.do = func(ctx context.Context, tx *ent.Tx) (int64, error) { return r.updateSeries(ctx, tx, u, w.dates) }
	return w, nil
}

// compareSeries compares the fields that all dates of a series share. It sets u.change, u.texts and u.input. notice
// is for the report; "" means none.
func (r *importRun) compareSeries(ctx context.Context, db *ent.Client, u *seriesUpdate, s *ent.Series) (
	notice string, kept []string, err error,
) {
	row, err := ent.DecodeTemplate(s.Edges.Phases[len(s.Edges.Phases)-1].Template)
	if err != nil {
		return "", nil, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	row.ID, row.Status, row.PublishedAt = s.ID, s.Status, s.PublishedAt
	common := *u.event
	common.Slug = "" // the series keeps its slug, which clients may know
	u.change = &change{}
	u.texts = storedTexts{kind: calendar.Series, id: s.ID, original: row.Text(), others: row.Translated()}
	short, cut := r.withShortTexts(&common)
	if u.input, notice, err = r.compareEvent(ctx, db, u.change, u.texts, short, row); err != nil {
		return "", nil, err
	}
	edited, err := r.editedByPerson(ctx, db, calendar.Series, s.ID)
	if err != nil {
		return "", nil, err
	}
	if kept, err = keepEvent(u.change, u.texts, u.input, edited); err != nil {
		return "", nil, err
	}
	if from := u.event.Series; len(from.Single) > 0 && !from.Typical {
		u.change, u.input = &change{}, &edit.EventInput{} // each date is written separately
		kept = nil
	}
	return joinNotices(notice, cut), kept, nil
}

// updateSeries writes the planned change of a series and of its dates, and returns the id. It sets dates.notice for the
// report.
func (r *importRun) updateSeries(ctx context.Context, tx *ent.Tx, u *seriesUpdate, dates *datesToWrite) (int64, error) {
	if err := r.updateSeriesFields(ctx, tx, u); err != nil {
		return 0, err
	}
	plan := u.plan
	var err error
	if plan.changed != nil {
		// The change keeps occurrences with own fields, even if the source lacks their dates.
		if plan, err = r.planStored(ctx, tx.Client(), u.id, u.event); err != nil {
			return 0, err
		}
	}
	if err := r.trashDates(ctx, tx, plan); err != nil {
		return 0, err
	}
	if err := r.trashReplaced(ctx, tx, u.replaced); err != nil {
		return 0, err
	}
	current, err := r.prepareDates(ctx, tx.Client(), u.id, u.event)
	if err != nil {
		return 0, err
	}
	dates.notice, dates.kept = current.notice, current.kept
	if err := current.write(ctx, tx); err != nil {
		return 0, err
	}
	plan, err = r.planStored(ctx, tx.Client(), u.id, u.event)
	if err == nil && !plan.isUnchanged() {
		err = refusedRecord("its dates cannot become those of the source, because of what was changed here")
	}
	return u.id, err
}

// updateSeriesFields writes the fields and the schedule of a series if they changed.
func (r *importRun) updateSeriesFields(ctx context.Context, tx *ent.Tx, u *seriesUpdate) error {
	if !u.change.differs && u.plan.changed == nil {
		return nil
	}
	if u.plan.changed != nil {
		setSchedule(u.input, *u.plan.changed)
	}
	return r.writeLanguages(ctx, tx, u.texts, u.change.texts, func(w translationWrite, first bool) error {
		in := u.input
		if !first {
			in = &edit.EventInput{}
		}
		in.Title, in.Description, in.Excerpt = w.title, w.description, w.excerpt
		in.EventStatusReason = w.reason
		return r.withReservedDates(u.event, func() error { return series.Update(ctx, tx, r.editor, u.id, in) })
	})
}

// withNominalStarts returns the event with the stored nominal start of each stored date, found by its source id.
// Without it, a moved date would count as new. A new date that starts at the nominal start of a moved occurrence gets a
// free one.
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

// planStored loads the series inside the transaction and plans its schedule again with planSchedule.
func (r *importRun) planStored(ctx context.Context, db *ent.Client, id int64, e *Event) (schedulePlan, error) {
	s, err := seriesWithPhases(ctx, db, id)
	if err != nil {
		return schedulePlan{}, err
	}
	return r.planSchedule(ctx, db, s, e.Series)
}
