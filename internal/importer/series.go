package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/when"
)

// separateRecurring splits the events into recurring and single ones, usually as the source has them. Dates with
// their own ids stay single events if an earlier import stored one of them so. A single event of a file becomes a
// series of one date if a series is stored for it.
func (r *importRun) separateRecurring(ctx context.Context, all []*Event) (recurring, single []*Event, err error) {
	var keys []string
	for _, e := range all {
		if e.Series != nil {
			keys = append(keys, keysOf(e.Series.Single)...)
		}
	}
	here := make(map[string]bool)
	for some := range slices.Chunk(keys, idBatch) {
		rows, err := r.DB.Event.Query().Where(event.SourceIDIn(some...), event.SeriesIDIsNil()).
			Select(event.FieldSourceID).Strings(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("events by source: %w", err)
		}
		for _, key := range rows {
			here[key] = true
		}
	}
	var inFile []string
	for _, e := range all {
		if e.InFile && e.Series == nil && e.Replaces == nil {
			inFile = append(inFile, e.Key)
		}
	}
	recurs := make(map[string]bool)
	for some := range slices.Chunk(inFile, idBatch) {
		rows, err := r.DB.Series.Query().Where(entseries.SourceIDIn(some...)).Select(entseries.FieldSourceID).Strings(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("series by source: %w", err)
		}
		for _, key := range rows {
			recurs[key] = true
		}
	}
	for _, e := range all {
		switch {
		case e.Series == nil && e.Replaces == nil && recurs[e.Key]:
			one := *e
			schedule, err := recur.New(e.Span, recur.Rule{}, datesOf([]calendar.Wall{e.Span.Start}), nil)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", e.Where, err)
			}
			one.Series = &Recurrence{Schedule: schedule, Partial: e.Incomplete}
			recurring = append(recurring, &one)
		case e.Series == nil:
			single = append(single, e)
		case slices.ContainsFunc(keysOf(e.Series.Single), func(key string) bool { return here[key] }):
			single = append(single, e.Series.Single...)
		default:
			recurring = append(recurring, e)
		}
	}
	return recurring, single, nil
}

// prepareSeries compares recurring events of the source with the stored series, and returns the writes that make
// them equal.
func (r *importRun) prepareSeries(ctx context.Context, db *ent.Client, items []*Event) ([]recordWrite, error) {
	enabled, err := series.IsEnabled(ctx, db)
	if err == nil && !enabled && !r.DryRun {
		err = errSeriesDisabled
	}
	if err != nil {
		return nil, err
	}
	writes := make([]recordWrite, len(items))
	for i, e := range items {
		known, err := r.findSeries(ctx, db, e)
		if err == nil && known != nil {
			writes[i], err = r.prepareKnownSeries(ctx, db, e, known)
		} else if err == nil {
			writes[i], err = r.prepareNewSeries(ctx, db, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return writes, nil
}

// idBatch is the number of ids or dates in one statement.
const idBatch = 500

// errSeriesDisabled is the error for recurring events while series are switched off (series.IsEnabled).
const errSeriesDisabled refusedRecord = "events that recur are not switched on; when no older version of the program serves, " +
	"run 'almanac migrate data'"

// findSeries returns the stored series of a recurring event, or nil. It loads its phases: the parts with one schedule
// and one set of common fields each. It looks up the source ids of the event and its dates in series, then in
// occurrences.
func (r *importRun) findSeries(ctx context.Context, db *ent.Client, e *Event) (*ent.Series, error) {
	keys := []string{e.Key}
	for _, key := range keysOf(e.Series.Single) {
		if key != e.Key {
			keys = append(keys, key)
		}
	}
	var ids []int64
	for some := range slices.Chunk(keys, idBatch) {
		bySource, err := db.Series.Query().Where(entseries.SourceIDIn(some...)).Order(entseries.ByID()).Limit(1).IDs(ctx)
		if err != nil {
			return nil, fmt.Errorf("series by source: %w", err)
		}
		ids = append(ids, bySource...)
	}
	for some := range slices.Chunk(keys, idBatch) {
		if len(ids) > 0 {
			break
		}
		row, err := db.Event.Query().Where(event.SourceIDIn(some...), event.SeriesIDNotNil()).Order(event.ByID()).First(ctx)
		switch {
		case err == nil:
			ids = append(ids, *row.SeriesID)
		case !ent.IsNotFound(err):
			return nil, fmt.Errorf("occurrences by source: %w", err)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return seriesWithPhases(ctx, db, ids[0])
}

func seriesWithPhases(ctx context.Context, db *ent.Client, id int64) (*ent.Series, error) {
	s, err := db.Series.Query().Where(entseries.ID(id)).
		WithPhases(func(q *ent.SeriesPhaseQuery) { q.Order(seriesphase.ByPosition()) }).Only(ctx)
	if err == nil && len(s.Edges.Phases) == 0 {
		err = errors.New("it has no phase")
	}
	if err != nil {
		return nil, fmt.Errorf("series %d: %w", id, err)
	}
	return s, nil
}

// prepareNewSeries plans the creation of a series. An earlier import may have stored the event as a single one.
func (r *importRun) prepareNewSeries(ctx context.Context, db *ent.Client, e *Event) (recordWrite, error) {
	row, err := eventsWithLinks(db.Event.Query().Where(event.SourceID(e.Key))).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return recordWrite{}, fmt.Errorf("event by source: %w", err)
	}
	c := &change{isNew: row == nil, differs: true}
	old := row
	if old == nil {
		old = &ent.Event{}
	}
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, notice: trashedNotice, hidden: true}, nil
	}
	s := storedTextsOf(old)
	e, cut := r.withShortTexts(e)
	in, notice, err := r.compareEvent(ctx, db, c, s, e, old)
	if err != nil {
		return recordWrite{}, err
	}
	notice = joinNotices(notice, cut)
	if c.isNew {
		in.SourceID, in.AuthorID = &e.Key, r.author()
	}
	edited, err := r.editedByPerson(ctx, db, calendar.Event, old.ID)
	if err != nil {
		return recordWrite{}, err
	}
	if edited.hasAny(movingFields) {
		return r.prepareEvent(ctx, db, e, row) // its dates here stay, so it does not recur
	}
	kept, err := keepEvent(c, s, in, edited)
	if err != nil {
		return recordWrite{}, err
	}
	setSchedule(in, e.Series.Schedule)
	replaced, err := r.replacedBy(ctx, db, e)
	if err != nil {
		return recordWrite{}, err
	}
	save := r.writeEvent(s, c, row, in)
	w := recordWrite{action: Create, notice: notice, kept: kept, dates: &datesToWrite{}}
	w.do = func(ctx context.Context, tx *ent.Tx) (id int64, err error) {
		err = r.withReservedDates(e, func() (err error) {
			id, err = save(ctx, tx)
			return err
		})
		if err != nil {
			return 0, err
		}
		first, err := tx.Event.Get(ctx, id)
		if err != nil {
			return 0, fmt.Errorf("event %d: %w", id, err)
		}
		if first.SeriesID == nil {
			return 0, refusedRecord("it does not recur")
		}
		dates, err := r.prepareDates(ctx, tx.Client(), *first.SeriesID, e)
		if err != nil {
			return 0, err
		}
		w.dates.notice, w.dates.kept = dates.notice, dates.kept
		if err := dates.write(ctx, tx); err != nil {
			return 0, err
		}
		return *first.SeriesID, r.trashReplaced(ctx, tx, replaced)
	}
	return w, nil
}

// setSchedule copies a schedule to an input. Without a rule, the start becomes an RDATE, because an input without
// rule and RDATE makes no series.
func setSchedule(in *edit.EventInput, s recur.Schedule) {
	if s.Rule.IsZero() && len(s.RDate) == 0 {
		s.RDate = []calendar.Wall{s.Start}
	}
	in.Start, in.End = new(when.FromWall(s.Start)), new(when.FromWall(s.End))
	in.Zone, in.AllDay = &s.Zone, &s.AllDay
	in.Rule = new(s.Rule.String())
	in.RDate, in.ExDate = new(datesOf(s.RDate)), new(datesOf(s.ExDate))
}

// eventsWithLinks adds to a query the links, terms and translations that a comparison needs.
func eventsWithLinks(q *ent.EventQuery) *ent.EventQuery {
	return q.WithVenueLinks(func(q *ent.EventVenueQuery) { q.Order(eventvenue.ByPosition()) }).
		WithOrganizerLinks(func(q *ent.EventOrganizerQuery) { q.Order(eventorganizer.ByPosition()) }).
		WithTerms(func(q *ent.TermQuery) { q.Select(term.FieldID, term.FieldTaxonomy) }).
		WithTranslations()
}

// joinNotices joins the notices that are not "" to one text.
func joinNotices(notices ...string) string {
	return strings.Join(slices.DeleteFunc(notices, func(n string) bool { return n == "" }), "; ")
}
