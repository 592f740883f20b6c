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

// idBatch is the number of ids or dates in one statement.
const idBatch = 500

// separate splits the events into recurring and single ones. Dates with their own ids stay single events if one
// of them is stored as a single event. A single event in a file that is stored as a series becomes a series
// with one date.
func (r *importRun) separate(ctx context.Context, all []*Event) (recurring, single []*Event, err error) {
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

// seriesOff is the error for recurring events while series are switched off (series.IsEnabled).
const seriesOff refusedRecord = "events that recur are not switched on; when no older version of the program serves, " +
	"run 'almanac migrate data'"

// prepareSeries compares recurring events of the source with the stored series, and returns the writes.
func (r *importRun) prepareSeries(ctx context.Context, db *ent.Client, items []*Event) ([]recordWrite, error) {
	enabled, err := series.IsEnabled(ctx, db)
	if err == nil && !enabled && !r.DryRun {
		err = seriesOff
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

// findSeries returns the stored series of a recurring event with its phases. Nil means that there is none. The
// series has the source id of the event or of a date. Otherwise one of its occurrences has such a source id.
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

// prepareNewSeries plans the creation of a series from an event that is new or stored as a single event.
func (r *importRun) prepareNewSeries(ctx context.Context, db *ent.Client, e *Event) (recordWrite, error) {
	row, err := eventsWithLinks(db.Event.Query().Where(event.SourceID(e.Key))).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return recordWrite{}, fmt.Errorf("event by source: %w", err)
	}
	c := &change{fresh: row == nil, any: true}
	old := row
	if old == nil {
		old = &ent.Event{}
	}
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, notice: trashedNotice, hidden: true}, nil
	}
	s := spokenOf(old)
	e, cut := r.shortened(e)
	in, notice, err := r.compareEvent(ctx, db, c, s, e, old)
	if err != nil {
		return recordWrite{}, err
	}
	notice = joinNotices(notice, cut)
	if c.fresh {
		in.SourceID, in.AuthorID = &e.Key, r.author()
	}
	setSchedule(in, e.Series.Schedule)
	replaced, err := r.replacedBy(ctx, db, e)
	if err != nil {
		return recordWrite{}, err
	}
	save := r.writeEvent(s, c, row, in)
	w := recordWrite{action: Create, notice: notice, dates: &datesToWrite{}}
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
		w.dates.notice = dates.notice
		if err := dates.write(ctx, tx); err != nil {
			return 0, err
		}
		return *first.SeriesID, r.trashReplaced(ctx, tx, replaced)
	}
	return w, nil
}

// replacedRecords has the ids of records from earlier imports that a series replaces.
type replacedRecords struct {
	events []int64 // of changed dates, because the file did not have their series
	series []int64 // of changes of all following dates that the file no longer has
}

func (p replacedRecords) isEmpty() bool { return len(p.events)+len(p.series) == 0 }

// replacedBy returns the records that a recurring event replaces. The file does not have them as records of their own.
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

// trashReplaced moves replaced records to the trash. Series lose their source id, so that a later file may bring them again.
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

// trashGone moves to the trash what an earlier import made of events that have no date any more.
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

// setSchedule sets all fields of a schedule in an input. A schedule without a rule gets its start as an rdate, because
// an input without both makes no series.
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
				return r.withReservedDates(e, func() error { return series.Update(ctx, tx, r.editor, s.ID, in) })
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

// datesToWrite are the occurrences of a series that need a separate write.
type datesToWrite struct {
	writes []func(context.Context, *ent.Tx) (int64, error)
	notice string
}

func (d *datesToWrite) write(ctx context.Context, tx *ent.Tx) error {
	for _, do := range d.writes {
		if _, err := do(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// prepareDates plans the writes of single occurrences. Dates with own fields at the source get these fields.
// Stored occurrences with own fields that the source does not have get those of the series again.
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
		do, notice, err := r.prepareDate(ctx, db, wanted, row, stored)
		if err != nil {
			return nil, err
		}
		d.notice = joinNotices(d.notice, notice)
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

// dateAt returns the event with the fields of all dates at a nominal start. Nil means that the series has no
// such date.
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

// prepareDate returns the write of an occurrence. Nil means that it does not differ from the source. Own fields
// that no longer differ from the series stop being own fields.
func (r *importRun) prepareDate(ctx context.Context, db *ent.Client, e *Event, row *ent.Event, of *ent.Series) (
	do func(context.Context, *ent.Tx) (int64, error), notice string, err error,
) {
	c, s := &change{}, spokenOf(row)
	in, notice, err := r.compareEvent(ctx, db, c, s, e, row)
	if err != nil {
		return nil, "", err
	}
	if !row.StartWall.Equal(e.Span.Start) || !row.EndWall.Equal(e.Span.End) || row.Timezone != e.Span.Zone.String() ||
		row.AllDay != e.Span.AllDay {
		setSpan(c, in, row, e.Span)
	}
	setModified(c, &in.ModifiedAt, row.Core().LastWrite(), s.many(), e.Modified)
	if e.Key != "" && (row.SourceID == nil || *row.SourceID != e.Key) {
		c.any = true
		in.SourceID = &e.Key
	}
	if !c.any {
		own, err := series.DifferentOwnFields(row, of)
		if err != nil || len(own) == len(row.OwnFields) {
			return nil, notice, err
		}
		return func(ctx context.Context, tx *ent.Tx) (int64, error) {
			return row.ID, r.editor.SetOwnFields(ctx, tx, row.ID, own)
		}, notice, nil
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
	}, notice, nil
}

// joinNotices joins notices to one text. It leaves out "".
func joinNotices(notices ...string) string {
	return strings.Join(slices.DeleteFunc(notices, func(n string) bool { return n == "" }), "; ")
}
