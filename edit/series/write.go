// Package series has the rules of writing series of events: schedules, phases, scopes, the horizon up to which
// occurrences are stored.
//
// A series has phases, each with a schedule and a template. The template is an event with the fields that the occurrences
// share. A write of a series locks it with all its occurrences, plans what each occurrence is afterwards, and stores all
// changes with package bulk. Writes of one event that touch no schedule are in package edit.
package series

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// notRecurring returns the fault of a series scope in a request for an event outside a series.
func notRecurring() *param.Fault {
	return &param.Fault{Param: "scope", Reason: "not-recurring", Key: "not-recurring", Data: map[string]any{}}
}

// seriesWrite is the state of a write of a series and its occurrences, which are all locked.
type seriesWrite struct {
	*edit.Editor
	tx           *ent.Tx
	series       *ent.Series
	storedPhases []seriesPhase
	phases       []seriesPhase // phases after the write
	occurrences  []*occurrenceChange
	addressed    *occurrenceChange // the addressed occurrence; nil means the series
	scope        edit.Scope

	state          edit.PublicationState // new state of the series
	author         *int64
	generatedUntil *calendar.Wall // new end of the period with stored occurrences; nil if the schedule ends
	slug           *string        // new slug; nil means no change
	sentTemplate   *ent.Event     // the fields sent; nil means none
	newStarts      []newStart

	phaseSizes map[int]int // bytes of an occurrence of each phase, as far as they were asked for
}

// occurrenceChange is an occurrence of a series and its planned changes.
type occurrenceChange struct {
	bulk.EventChange
	excluded bool // a client trashed the occurrence, so its start is an exdate
	affected bool
	// scheduled reports whether a changed schedule sets the dates of the occurrence.
	scheduled         bool
	restored          bool     // the schedule has the occurrence again
	copied            []string // names of fields to copy from the template of the phase
	copiedFromRequest []string // names of fields to copy from the request
}

// wasTrashed reports whether the series was in the trash before the write.
func (w *seriesWrite) wasTrashed() bool { return w.series.Status == calendar.Trash }

// isAllowed reports whether the caller may carry out the operation on the series.
func (w *seriesWrite) isAllowed(op auth.Operation) bool {
	s := w.series
	return auth.May(w.By, op, auth.RecordOf(calendar.Series, s.AuthorID, s.Status.Shown(w.Now, s.PublishedAt), s.StatusBeforeTrash))
}

// isAllowedFor reports whether the caller may carry out the operation on an occurrence.
func (w *seriesWrite) isAllowedFor(c *occurrenceChange, op auth.Operation) bool {
	r := c.Row
	return auth.May(w.By, op, auth.RecordOf(calendar.Event, r.AuthorID, r.Status.Shown(w.Now, r.PublishedAt), r.StatusBeforeTrash))
}

// storedState returns the publication state of an occurrence before the write.
func storedState(row *ent.Event) edit.PublicationState {
	return edit.PublicationState{
		Status: row.Status, BeforeTrash: row.StatusBeforeTrash, Published: row.PublishedAt, Dated: row.Dated,
	}
}

// wasTrashed reports whether the occurrence was in the trash before the write.
func (c *occurrenceChange) wasTrashed() bool { return c.Row.Status == calendar.Trash }

func (c *occurrenceChange) begun(now time.Time) bool { return !c.Row.StartsAt.After(now) }

// live reports whether the occurrence itself is outside the trash, as planned so far.
func (c *occurrenceChange) live() bool { return c.State.Status != calendar.Trash }

// has reports whether name is an own field of the occurrence.
func (c *occurrenceChange) has(name string) bool { return slices.Contains(c.OwnFields, name) }

// openSeries loads a series with its phases and occurrences. It locks the series, then the occurrences in the
// order of their ids.
func openSeries(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64, scope edit.Scope) (*seriesWrite, error) {
	s, err := edit.LockSeries(ctx, tx, id)
	if err != nil {
		return nil, fmt.Errorf("series %d: %w", id, err)
	}
	w := &seriesWrite{
		Editor: e, tx: tx, series: s, scope: scope, author: s.AuthorID, generatedUntil: s.GeneratedUntil,
		state: edit.PublicationState{Status: s.Status, BeforeTrash: s.StatusBeforeTrash, Published: s.PublishedAt, Dated: s.Dated},
	}
	stored, err := edit.LoadPhases(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range stored {
		schedule, err := edit.ScheduleOf(p)
		if err != nil {
			return nil, err
		}
		template, err := ent.DecodeTemplate(p.Template)
		if err != nil {
			return nil, fmt.Errorf("template of series %d: %w", id, err)
		}
		w.storedPhases = append(w.storedPhases, seriesPhase{schedule, *template})
	}
	if len(w.storedPhases) == 0 {
		return nil, fmt.Errorf("series %d has no phase", id)
	}
	w.phases = w.storedPhases
	rows, err := tx.Event.Query().Where(event.SeriesID(id)).Order(event.ByID()).Modify(edit.ForUpdate).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("occurrences of series %d: %w", id, err)
	}
	slices.SortFunc(rows, func(a, b *ent.Event) int { return a.OriginalStart.Compare(*b.OriginalStart) })
	for _, row := range rows {
		span, err := edit.StoredSpan(row)
		if err != nil {
			return nil, err
		}
		exdate := w.storedPhases[phaseOf(w.storedPhases, *row.OriginalStart)].ExDate
		w.occurrences = append(w.occurrences, &occurrenceChange{
			EventChange: bulk.EventChange{
				Row: row, State: storedState(row), Author: row.AuthorID, Span: span, OriginalStart: *row.OriginalStart,
				OwnFields: row.OwnFields, OffSchedule: row.OffSchedule, Languages: row.Languages,
			},
			excluded: row.Status == calendar.Trash && !row.OffSchedule && slices.ContainsFunc(exdate, row.OriginalStart.Equal),
		})
	}
	return w, nil
}

// address sets the occurrence to which the request is addressed. Without it, the request is for the series.
func (w *seriesWrite) address(id int64) error {
	i := slices.IndexFunc(w.occurrences, func(c *occurrenceChange) bool { return c.Row.ID == id })
	if i < 0 {
		return fmt.Errorf("event %d is no occurrence of series %d", id, w.series.ID)
	}
	w.addressed = w.occurrences[i]
	return nil
}

// UpdateSeries stores the sent fields of a series, and copies them to all its occurrences.
func Update(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64, in *edit.EventInput) error {
	w, err := openSeries(ctx, tx, e, id, edit.AllOccurrences)
	if err != nil {
		return err
	}
	return w.update(ctx, in)
}

// TrashSeries moves a series and its occurrences to the trash. If the series is there already, it returns
// *calendar.Error series-is-in-trash.
func Trash(ctx context.Context, tx *ent.Tx, e *edit.Editor, id int64) error {
	w, err := openSeries(ctx, tx, e, id, edit.AllOccurrences)
	if err != nil {
		return err
	}
	return w.remove(ctx)
}

// updateOccurrences is UpdateEvent for a request with a series scope.
func updateOccurrences(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, in *edit.EventInput) (*ent.Event, error) {
	if row.SeriesID == nil {
		return nil, edit.InvalidInput(notRecurring())
	}
	w, err := openSeries(ctx, tx, e, *row.SeriesID, in.Scope)
	if err != nil {
		return nil, err
	}
	if err := w.address(row.ID); err != nil {
		return nil, err
	}
	if err := w.update(ctx, in); err != nil {
		return nil, err
	}
	return tx.Event.Get(ctx, row.ID)
}

// TrashOccurrences moves the occurrences of a series that the scope selects to the trash. Row is the addressed
// occurrence.
func TrashOccurrences(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, scope edit.Scope) error {
	if row.SeriesID == nil {
		return edit.InvalidInput(notRecurring())
	}
	w, err := openSeries(ctx, tx, e, *row.SeriesID, scope)
	if err != nil {
		return err
	}
	if err := w.address(row.ID); err != nil {
		return err
	}
	return w.remove(ctx)
}

// remove moves the occurrences in the scope to the trash. If earlier occurrences remain, the series ends before
// the addressed occurrence.
func (w *seriesWrite) remove(ctx context.Context) error {
	version, trashed := calendar.Version{All: w.series.Version, Hidden: w.series.HiddenChanges}, w.wasTrashed()
	if w.addressed != nil {
		version, trashed = w.addressed.Row.Core().Writes(), w.addressed.wasTrashed()
	}
	if !w.isAllowed(auth.Delete) {
		return edit.Forbidden()
	}
	switch {
	case trashed && w.addressed != nil:
		return edit.InTrash(calendar.Event)
	case trashed:
		return edit.InTrash(calendar.Series)
	}
	if err := w.trash(); err != nil {
		return err
	}
	if err := w.CheckPrecondition(version); err != nil {
		return err
	}
	return w.store(ctx)
}

// trash plans the move of the occurrences in the scope to the trash.
func (w *seriesWrite) trash() error {
	phases, k := w.phases, 0
	if w.scope == edit.FollowingOccurrences {
		if phases, k = splitPhases(w.phases, w.addressed.OriginalStart); !haveOccurrence(phases[:k]) {
			k = 0 // no earlier occurrence remains
		}
	}
	for _, c := range w.occurrences {
		if k > 0 && phaseOf(phases, c.OriginalStart) < k {
			continue
		}
		if k > 0 {
			c.OffSchedule = true // the schedule ends before this occurrence
		}
		if !c.live() {
			continue
		}
		if !w.isAllowedFor(c, auth.Delete) {
			return edit.Forbidden()
		}
		c.affected = true
		c.State = w.nextPublicationState(c.State, new(calendar.Trash), nil)
	}
	if k == 0 {
		w.state = w.nextPublicationState(w.state, new(calendar.Trash), nil)
		return nil
	}
	w.phases, w.generatedUntil = phases[:k], nil
	return nil
}

func (w *seriesWrite) nextPublicationState(old edit.PublicationState, sent *calendar.Status, date *time.Time) edit.PublicationState {
	return edit.NextPublicationState(old, sent, date, w.Now, w.isAllowed(auth.Publish))
}

// EventOf returns an event with the template and the first dates of a phase, and with the id, the author
// and the status of its series. Its edges are those of the template. The slugs are those outside the trash.
func EventOf(s *ent.Series, p recur.Schedule, t *ent.Event) *ent.Event {
	row := new(*t)
	row.ID, row.AuthorID, row.Status, row.StatusBeforeTrash = s.ID, s.AuthorID, s.Status, s.StatusBeforeTrash
	row.PublishedAt, row.Dated, row.ModifiedAt, row.HiddenAt = s.PublishedAt, s.Dated, s.ModifiedAt, s.HiddenAt
	row.Version, row.HiddenChanges, row.Language, row.Languages = s.Version, s.HiddenChanges, s.Language, s.Languages
	row.StartWall, row.EndWall, row.Timezone, row.AllDay = p.Start, p.End, p.Zone.String(), p.AllDay
	row.StartsAt, row.EndsAt = p.StartsAt(), p.EndsAt()
	return row
}

// compareAddressed begins to compare the input with the addressed occurrence, or with an event that has the template of the last
// phase if the request is for the series. It returns that event with its links.
func (w *seriesWrite) compareAddressed(ctx context.Context, in *edit.EventInput) (*edit.EventWrite, *ent.Event, edit.EventLinks, error) {
	if w.addressed == nil {
		last := &w.storedPhases[len(w.storedPhases)-1]
		row := EventOf(w.series, last.Schedule, &last.template)
		c, err := w.ChangeSeries(w.tx, w.series, row, in)
		if err != nil {
			return nil, nil, edit.EventLinks{}, err
		}
		c.SetTexts(row.Translated())
		c.Span = edit.NominalSpan(w.addressedPhase().Span, in) // the dates of a series are nominal
		return c, row, edit.LinksOf(row), nil
	}
	row := w.addressed.Row
	c, err := w.ChangeSeries(w.tx, w.series, row, in)
	if err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	if err := c.LoadTexts(ctx); err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	loaded, err := loadEventLinks(ctx, w.tx, []int64{row.ID})
	if err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	return c, row, *loaded[row.ID], nil
}

// sentSeriesFields has the sent fields that differ from the addressed event.
type sentSeriesFields struct {
	template    ent.Event // template of the addressed event with the sent fields
	fields      []string  // names of sent template fields, with languages
	dates       []string  // sent names of timezone, all_day, start_date, end_date
	stateFields []string  // sent names of author, date, status
	slug        *string
	schedule    scheduleChange
}

// update checks and stores the sent fields of a series.
func (w *seriesWrite) update(ctx context.Context, in *edit.EventInput) error {
	c, row, links, err := w.compareAddressed(ctx, in)
	if err != nil {
		return err
	}
	if err := c.Plan(ctx, ruleFault(c.Span.Zone, in)); err != nil {
		return err
	}
	if err := c.Permit(); err != nil {
		return err
	}
	if err := c.CarryOut(ctx); err != nil {
		return err
	}
	sent, err := w.compare(c, links, in)
	if err != nil {
		return err
	}
	if err := w.plan(sent, in); err != nil {
		if fault := ScheduleFault(err); fault != nil {
			return edit.InvalidInput(fault)
		}
		return err
	}
	if err := w.refuseParents(ctx); err != nil {
		return err
	}
	if err := w.CheckPrecondition(row.Core().Writes()); err != nil {
		return err
	}
	if sent.slug != nil {
		if err := w.takeSlug(ctx, *sent.slug); err != nil {
			return err
		}
	}
	return w.store(ctx)
}

// compare returns the sent fields that differ from the addressed event.
func (w *seriesWrite) compare(c *edit.EventWrite, links edit.EventLinks, in *edit.EventInput) (*sentSeriesFields, error) {
	found, err := c.Compare(links)
	if err != nil {
		return nil, err
	}
	sent := &sentSeriesFields{template: found.Template, slug: found.Slug}
	for _, name := range found.Changed {
		field, _ := calendar.CutField(name)
		switch {
		case field == "date" && in.Published == nil, field == "slug":
		case field == "status" && in.Status == nil:
		case slices.Contains([]string{"author", "date", "status"}, field):
			sent.stateFields = append(sent.stateFields, name)
		case slices.Contains(dateFields, field):
			sent.dates = append(sent.dates, name)
		default:
			sent.fields = append(sent.fields, name)
		}
	}
	return sent, w.compareSchedule(sent, in)
}

// dateFields are the names of the fields with the time of an event.
var dateFields = []string{"timezone", "all_day", "start_date", "end_date"}

// compareSchedule sets the sent parts of the schedule that differ from the schedule of the addressed phase.
func (w *seriesWrite) compareSchedule(sent *sentSeriesFields, in *edit.EventInput) error {
	phase := w.addressedPhase()
	c := &sent.schedule
	c.whole = w.scope == edit.AllOccurrences
	base := phase.Span
	if w.addressed != nil {
		base = w.addressed.Span
	}
	c.span = func(s calendar.Span) calendar.Span { return movedPhase(s, base, in) }
	if in.Rule != nil {
		var rule recur.Rule
		if *in.Rule != "" {
			var err error
			if rule, err = recur.Parse(*in.Rule, edit.ValueOr(phase.Zone, in.Zone)); err != nil {
				return edit.InvalidInput(ScheduleFault(err))
			}
		}
		if rule.String() != phase.Rule.String() {
			c.rule = &rule
		}
	}
	if in.RDate != nil {
		same, err := recur.New(phase.Span, phase.Rule, *in.RDate, nil)
		if err != nil {
			return err
		}
		if !slices.Equal(same.RDate, phase.RDate) {
			c.rdate = in.RDate
		}
	}
	if in.ExDate != nil {
		same, err := phase.Change(phase.Span, nil, nil, in.ExDate)
		if err != nil || !slices.Equal(same.ExDate, phase.ExDate) {
			c.exdate = in.ExDate
		}
	}
	return nil
}

// addressedPhase returns the stored phase of the addressed occurrence. For a request to the series it returns
// the last phase.
func (w *seriesWrite) addressedPhase() *seriesPhase {
	if w.addressed == nil {
		return &w.storedPhases[len(w.storedPhases)-1]
	}
	return &w.storedPhases[phaseOf(w.storedPhases, w.addressed.OriginalStart)]
}

// movedPhase returns the new first span of a phase. The request moves an event from the span from to the sent
// dates, and the phase moves by the same amount.
func movedPhase(first, from calendar.Span, in *edit.EventInput) calendar.Span {
	to := edit.NominalSpan(from, in)
	moved := calendar.Span{Zone: to.Zone, AllDay: first.AllDay, Start: first.Start, End: first.End}
	if in.Zone == nil {
		moved.Zone = first.Zone
	}
	moved.AllDay = edit.ValueOr(first.AllDay, in.AllDay)
	moved = moved.Rounded()
	from.AllDay = to.AllDay
	from = from.Rounded()
	if in.Start != nil {
		start := calendar.Span{Start: from.Start, End: moved.Start}.MoveStart(to.Start).End
		moved = moved.MoveStart(start)
	}
	if in.End != nil {
		moved.End = calendar.Span{Start: to.Start, End: to.End}.MoveStart(moved.Start).End
	}
	return moved.Rounded()
}

// plan plans all changes of the series and its occurrences.
func (w *seriesWrite) plan(sent *sentSeriesFields, in *edit.EventInput) error {
	trashes := in.Status != nil && *in.Status == calendar.Trash
	split, first, from := w.phases, 0, calendar.Wall{}
	if w.scope == edit.FollowingOccurrences {
		from = w.addressed.OriginalStart
		split, first = splitPhases(w.phases, from)
	}
	w.planTemplates(split, first, sent)
	w.sentTemplate = &sent.template
	if trashes {
		sent.stateFields = slices.DeleteFunc(sent.stateFields, func(name string) bool { return name == "status" })
	}
	if err := w.planState(sent, in); err != nil {
		return err
	}
	for _, c := range w.occurrences {
		if !c.OriginalStart.Before(from) {
			w.planFields(c, sent, in)
		}
	}
	c := &sent.schedule
	if len(sent.dates) > 0 || c.rule != nil || c.rdate != nil || c.exdate != nil {
		if err := w.planSchedule(sent); err != nil {
			return err
		}
	}
	if err := w.planSpans(); err != nil {
		return err
	}
	w.planPhaseFields()
	for _, c := range w.occurrences {
		if c.affected && !w.isAllowedFor(c, auth.Edit) || !c.live() && !c.wasTrashed() && !w.isAllowedFor(c, auth.Delete) {
			return edit.Forbidden()
		}
	}
	if trashes && w.state.Status != calendar.Trash && (w.addressed == nil || w.addressed.live()) {
		return w.trash()
	}
	return nil
}

// planTemplates copies the sent fields to the templates of the phases from the index first on. It uses the
// split phases only if a template changes.
func (w *seriesWrite) planTemplates(split []seriesPhase, first int, sent *sentSeriesFields) {
	next, changed := slices.Clone(split), false
	for i := min(first, len(next)); i < len(next); i++ {
		edit.CopyFields(&next[i].template, &sent.template, sent.fields)
		changed = changed || len(edit.ChangedFields(&next[i].template, &split[i].template, sent.fields)) > 0
	}
	if changed {
		w.phases = next
	}
}

// planState plans author, date and status of the series. A sent status restores a trashed series, and the
// occurrences that were trashed with it. It also restores the addressed occurrence.
func (w *seriesWrite) planState(sent *sentSeriesFields, in *edit.EventInput) error {
	status := in.Status
	if status != nil && *status == calendar.Trash {
		status = nil
	}
	restores := w.wasTrashed() && status != nil
	if restores || len(sent.stateFields) > 0 {
		var to *calendar.Status
		var date *time.Time
		if restores || slices.Contains(sent.stateFields, "status") {
			to = status
		}
		if slices.Contains(sent.stateFields, "date") {
			date = in.Published
		}
		switch {
		case to != nil && w.wasTrashed() && !w.isAllowed(auth.Restore):
			return edit.Forbidden()
		default:
			w.state = w.nextPublicationState(w.state, to, date)
		}
		if slices.Contains(sent.stateFields, "author") {
			if w.author = in.AuthorID; edit.ValueOr(0, in.AuthorID) == 0 {
				w.author = nil
			}
		}
	}
	if restores {
		for _, c := range w.occurrences {
			if !c.live() && !c.excluded && !c.OffSchedule {
				w.restore(c)
			}
		}
	}
	if c := w.addressed; c != nil && !c.live() && !w.wasTrashed() && status != nil {
		w.phases = slices.Clone(w.phases)
		p := &w.phases[phaseOf(w.phases, c.OriginalStart)]
		p.ExDate = slices.DeleteFunc(slices.Clone(p.ExDate), c.OriginalStart.Equal)
		if !p.Has(c.OriginalStart) {
			p.RDate = edit.InsertStart(slices.Clone(p.RDate), c.OriginalStart)
		}
		c.OffSchedule, c.excluded = false, false
		w.restore(c)
	}
	return nil
}

// restore plans the return of an occurrence from the trash. It gets the status of the series, unless status is
// an own field.
func (w *seriesWrite) restore(c *occurrenceChange) {
	status := w.state.Status
	if c.has("status") {
		status = c.State.BeforeTrash
	}
	c.State = w.nextPublicationState(c.State, &status, nil)
	c.excluded, c.OffSchedule, c.affected = false, false, true
}

// planFields plans which sent fields are copied to an occurrence, and which own fields it loses.
func (w *seriesWrite) planFields(c *occurrenceChange, sent *sentSeriesFields, in *edit.EventInput) {
	var lost []string
	if in.DropExceptions {
		lost = append(lost, c.OwnFields...)
	}
	if c == w.addressed {
		lost = slices.Concat(lost, sent.fields, sent.stateFields, sent.dates)
		if in.End != nil && slices.Contains(sent.dates, "start_date") {
			lost = append(lost, "end_date") // otherwise the end would move with the start
		}
	}
	if isDate := func(name string) bool { return slices.Contains(dateFields, name) }; slices.ContainsFunc(lost, isDate) && w.keepsDates(c) {
		lost = slices.DeleteFunc(lost, isDate)
		if c == w.addressed && !c.begun(w.Now) {
			c.Span, c.affected = edit.ChangedSpan(c.Span, in), true
			c.OwnFields = edit.MergeOwnFields(c.OwnFields, sent.dates...)
		}
	}
	gone := func(name string) bool { return slices.Contains(lost, name) }
	names := slices.DeleteFunc(slices.Clone(c.OwnFields), func(name string) bool { return !gone(name) })
	c.OwnFields = slices.DeleteFunc(slices.Clone(c.OwnFields), gone)
	c.affected = c.affected || len(names)+len(sent.fields)+len(sent.stateFields) > 0
	for _, name := range slices.Concat(sent.fields, sent.stateFields) {
		if !c.has(name) {
			names, c.copiedFromRequest = append(names, name), append(c.copiedFromRequest, name)
		}
	}
	c.copied = append(c.copied, names...)
	if slices.Contains(names, "author") {
		c.Author = w.author
	}
	var status *calendar.Status
	var date *time.Time
	if slices.Contains(names, "status") {
		status = new(w.state.Status)
		if w.state.Status == calendar.Trash {
			status = new(w.state.BeforeTrash)
		}
	}
	if slices.Contains(names, "date") {
		date = &w.state.Published
	}
	switch {
	case status == nil && date == nil:
	case c.live():
		c.State = w.nextPublicationState(c.State, status, date)
	default: // the occurrence stays in the trash
		s := c.State
		s.Status, s.BeforeTrash = s.BeforeTrash, ""
		s = w.nextPublicationState(s, status, date)
		s.Status, s.BeforeTrash = calendar.Trash, s.Status
		c.State = s
	}
}

// keepsDates reports whether an occurrence does not move: it has begun, or its nominal start is past.
func (w *seriesWrite) keepsDates(c *occurrenceChange) bool {
	if !c.live() || c.begun(w.Now) {
		return c.live()
	}
	o, ok := w.storedPhases[phaseOf(w.storedPhases, c.OriginalStart)].Occurrence(c.OriginalStart)
	return ok && !o.StartsAt().After(w.Now)
}

// planSchedule plans the new schedule of all occurrences that have not begun.
func (w *seriesWrite) planSchedule(sent *sentSeriesFields) error {
	if w.state.Status == calendar.Trash {
		return edit.InTrash(calendar.Series)
	}
	sent.schedule.addressed = len(w.phases) - 1
	if w.addressed != nil {
		if w.addressed.OffSchedule {
			return edit.InTrash(calendar.Event)
		}
		sent.schedule.addressed = phaseOf(w.phases, w.addressed.OriginalStart)
	}
	cut, ok := w.cut()
	var phases []seriesPhase
	var k int
	var err error
	if ok {
		phases, k, err = sent.schedule.apply(w.phases, cut)
	} else {
		phases, k, err = sent.schedule.extend(w.phases, w.Now)
	}
	if err != nil || k == len(phases) {
		return err
	}
	stored := make([]storedStart, len(w.occurrences))
	for i, c := range w.occurrences {
		stored[i] = storedStart{
			nominal: c.OriginalStart, earlier: !ok || c.OriginalStart.Before(cut), begun: c.begun(w.Now), hasOwnFields: len(c.OwnFields) > 0,
			trashed: !c.live(), excluded: c.excluded,
		}
		c.affected = c.affected || !stored[i].earlier && (stored[i].trashed || !stored[i].begun)
	}
	until := recur.LastStart()
	if w.generatedUntil = generatedUntil(phases[len(phases)-1].Schedule, w.Now); w.generatedUntil != nil {
		if old := w.series.GeneratedUntil; old != nil && w.generatedUntil.Before(*old) {
			w.generatedUntil = old
			if !phases[len(phases)-1].HasAfter(*old) {
				w.generatedUntil = nil
			}
		}
	}
	if w.generatedUntil != nil {
		until = *w.generatedUntil
	}
	most := recur.MaxOccurrences
	for _, p := range phases[k:] {
		most = min(most, mostOccurrences(occurrenceSize(w.Editor, &p.template)))
	}
	matched, fresh, err := matchStarts(stored, phases, k, until, most)
	if err != nil {
		return err
	}
	w.phases, w.newStarts = phases, fresh
	for i, c := range w.occurrences {
		c.OriginalStart = matched[i].nominal
		c.OffSchedule = matched[i].offSchedule
		switch {
		case matched[i].removed:
			c.State = w.nextPublicationState(c.State, new(calendar.Trash), nil)
		case matched[i].restored:
			w.restore(c)
			c.restored = true
		}
		begun := stored[i].begun && !stored[i].trashed
		c.scheduled = !begun && (!stored[i].earlier && !c.OffSchedule || !c.OriginalStart.Equal(stored[i].nominal))
	}
	return nil
}

// cut returns the nominal start from which on schedules change. It returns false if all starts are past.
func (w *seriesWrite) cut() (calendar.Wall, bool) {
	from := calendar.Wall{}
	if w.scope == edit.FollowingOccurrences {
		from = w.addressed.OriginalStart
		o, ok := w.phases[phaseOf(w.phases, from)].Occurrence(from)
		if ok && o.StartsAt().After(w.Now) && !w.addressed.begun(w.Now) {
			return from, true
		}
	}
	return firstAfter(withoutExDates(w.phases), from, w.Now)
}

// planSpans plans the dates of occurrences with a changed schedule, and of those that lost own dates.
func (w *seriesWrite) planSpans() error {
	for _, c := range w.occurrences {
		lost := slices.ContainsFunc(dateFields, func(name string) bool {
			return slices.Contains(c.Row.OwnFields, name) && !c.has(name)
		})
		if !c.scheduled && !lost {
			continue
		}
		s := w.phases[phaseOf(w.phases, c.OriginalStart)].Schedule
		if c.has("timezone") {
			s.Zone = c.Span.Zone
		}
		if c.has("all_day") {
			s.AllDay = c.Span.AllDay
		}
		o, ok := s.Occurrence(c.OriginalStart)
		if !ok {
			continue
		}
		switch hasStart, hasEnd := c.has("start_date"), c.has("end_date"); {
		case hasStart && hasEnd:
			o.Start, o.End = c.Span.Start, c.Span.End
		case hasStart: // the occurrence gets the duration of the others
			if o, ok = s.Occurrence(c.Span.Start); !ok {
				continue
			}
		case hasEnd: // the end moves with the start
			o.End = c.Span.MoveStart(o.Start).End
		}
		c.Span = o.Rounded()
		if err := edit.InvalidInput(edit.CheckSpan(c.Span, &edit.EventInput{})); err != nil {
			return err
		}
	}
	return nil
}

// planPhaseFields plans the fields that occurrences copy from their phases. One that changes its phase gets the
// fields that differ between the phases. One that returns to the schedule gets all fields. Occurrences outside
// the schedule do not change.
func (w *seriesWrite) planPhaseFields() {
	different := make(map[[2]int][]string)
	for _, c := range w.occurrences {
		if c.OffSchedule {
			continue
		}
		pair := [2]int{phaseOf(w.storedPhases, *c.Row.OriginalStart), phaseOf(w.phases, c.OriginalStart)}
		names, ok := different[pair]
		if !ok {
			names = edit.DifferentFields(&w.storedPhases[pair[0]].template, &w.phases[pair[1]].template)
			different[pair] = names
		}
		if c.restored {
			names = edit.TemplateFieldNames(w.series.Language)
		}
		for _, name := range names {
			if !c.has(name) && !slices.Contains(c.copied, name) {
				c.copied = append(c.copied, name)
			}
		}
	}
}

// refuseParents returns an error if an occurrence would be below itself, with all parents that the write
// changes.
func (w *seriesWrite) refuseParents(ctx context.Context) error {
	parents := make(map[int64]int64)
	for _, c := range w.occurrences {
		if !slices.Contains(c.copied, "post_parent") {
			continue
		}
		t := &w.phases[phaseOf(w.phases, c.OriginalStart)].template
		if slices.Contains(c.copiedFromRequest, "post_parent") {
			t = w.sentTemplate
		}
		if parent := edit.ValueOr(0, t.ParentID); edit.ValueOr(0, c.Row.ParentID) != parent {
			parents[c.Row.ID] = parent
		}
	}
	return edit.RefuseEventLoops(ctx, w.tx, parents)
}

// takeSlug takes the sent slug for the series.
func (w *seriesWrite) takeSlug(ctx context.Context, sent string) error {
	slugs := w.slugs()
	i := 0
	if w.Write != "" {
		if i = slices.IndexFunc(slugs, func(s edit.OwnedSlug) bool { return s.Language == w.Write }); i < 0 {
			i = len(slugs)
			slugs = append(slugs, w.slugIn(w.Write, "", w.wasTrashed()))
		}
	}
	own := make([]string, len(slugs))
	for k, s := range slugs {
		own[k] = s.Slug
	}
	var err error
	if slugs[i].Slug, err = slugs[i].TakeSent(ctx, w.tx, sent, own); err != nil {
		return err
	}
	w.setSlugs(slugs)
	return nil
}

// slugIn returns a slug of the series in a language.
func (w *seriesWrite) slugIn(l calendar.Language, slug string, trashed bool) edit.OwnedSlug {
	return edit.OwnedSlug{Kind: calendar.Series, Owner: w.series.ID, Language: l, Slug: slug, Trashed: trashed}
}

// slugs returns the slugs of the series, which are those of its last phase: first that in the original language.
func (w *seriesWrite) slugs() []edit.OwnedSlug {
	trashed := w.wasTrashed()
	out := []edit.OwnedSlug{w.slugIn(w.series.Language, edit.ValueOr(w.series.Slug, w.slug), trashed)}
	for _, other := range w.phases[len(w.phases)-1].template.Translated() {
		slug := other.Slug
		if trashed {
			slug = calendar.TrashedSlug(slug)
		}
		out = append(out, w.slugIn(other.Language, slug, trashed))
	}
	return out
}

// setSlugs sets the slugs of the series in the templates of all phases. Templates have slugs as they are
// outside the trash.
func (w *seriesWrite) setSlugs(slugs []edit.OwnedSlug) {
	w.phases = slices.Clone(w.phases)
	for i := range w.phases {
		t := &w.phases[i].template
		edit.SetTemplateSlug(t, t.Language, calendar.UntrashedSlug(slugs[0].Slug))
		for _, s := range slugs[1:] {
			edit.SetTemplateSlug(t, s.Language, calendar.UntrashedSlug(s.Slug))
		}
	}
	w.slug = &slugs[0].Slug
}
