package series

import (
	"context"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
)

// plan computes all changes of the series and its occurrences from the sent fields. It stores nothing. If the caller
// lacks a permission, it returns edit.Forbidden.
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
		if c.affected && !w.isAllowedFor(c, auth.Edit) || !c.isLive() && !c.wasTrashed() && !w.isAllowedFor(c, auth.Delete) {
			return edit.Forbidden()
		}
	}
	if trashes && w.state.Status != calendar.Trash && (w.addressed == nil || w.addressed.isLive()) {
		return w.trash()
	}
	return nil
}

// planTemplates copies the sent fields to the shared fields of the phases in split, from the index first on. If this
// changes any, the split phases become the phases of the series.
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

// planState computes the new author, publication date and status of the series. A sent status takes a trashed series
// out of the trash, with the occurrences that were trashed with it. It also takes the occurrence in the path out of
// the trash.
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
			if !c.isLive() && !c.excluded && !c.OffSchedule {
				w.restore(c)
			}
		}
	}
	if c := w.addressed; c != nil && !c.isLive() && !w.wasTrashed() && status != nil {
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

// restore plans to take an occurrence out of the trash. It gets the status of the series, unless the status is an
// own field of the occurrence.
func (w *seriesWrite) restore(c *occurrenceChange) {
	status := w.state.Status
	if c.ownsField("status") {
		status = c.State.BeforeTrash
	}
	c.State = w.nextPublicationState(c.State, &status, nil)
	c.excluded, c.OffSchedule, c.affected = false, false, true
}

// planFields decides which sent fields are copied to an occurrence. It also decides which of its own fields are
// reset to the values of the series.
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
		if !c.ownsField(name) {
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
	case c.isLive():
		c.State = w.nextPublicationState(c.State, status, date)
	default: // the occurrence stays in the trash
		s := c.State
		s.Status, s.BeforeTrash = s.BeforeTrash, ""
		s = w.nextPublicationState(s, status, date)
		s.Status, s.BeforeTrash = calendar.Trash, s.Status
		c.State = s
	}
}

// keepsDates reports whether the dates of an occurrence must not change. It is true if the occurrence has begun, or
// if its nominal start is past. It is false for an occurrence in the trash.
func (w *seriesWrite) keepsDates(c *occurrenceChange) bool {
	if !c.isLive() || c.begun(w.Now) {
		return c.isLive()
	}
	o, ok := w.storedPhases[phaseOf(w.storedPhases, c.OriginalStart)].Occurrence(c.OriginalStart)
	return ok && !o.StartsAt().After(w.Now)
}

// planPhaseFields decides which fields occurrences copy from the series. An occurrence that moves to another phase
// (part of the series) copies the fields in which the phases differ. An occurrence that the new schedule restores
// from the trash copies all. Own fields, and occurrences outside the schedule, do not change.
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
			if !c.ownsField(name) && !slices.Contains(c.copied, name) {
				c.copied = append(c.copied, name)
			}
		}
	}
}

// refuseParents returns an error if the parents that the write sets would make an occurrence its own ancestor.
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
