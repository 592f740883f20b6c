package series

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
)

// planSchedule computes the schedules of the series after the write, and the new nominal starts of its occurrences.
// Occurrences without a start go to the trash, and some return from it.
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
	cut, ok := w.firstChangeableStart()
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
			trashed: !c.isLive(), excluded: c.excluded,
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

// firstChangeableStart returns the first nominal start whose occurrence the request may reschedule. Earlier starts
// are past or outside the scope. It returns false if all starts are past.
func (w *seriesWrite) firstChangeableStart() (calendar.Wall, bool) {
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

// planSpans computes the dates of occurrences that a changed schedule moves. It also resets dates that are no longer
// own fields of an occurrence. Own dates stay.
func (w *seriesWrite) planSpans() error {
	for _, c := range w.occurrences {
		lost := slices.ContainsFunc(dateFields, func(name string) bool {
			return slices.Contains(c.Row.OwnFields, name) && !c.ownsField(name)
		})
		if !c.scheduled && !lost {
			continue
		}
		s := w.phases[phaseOf(w.phases, c.OriginalStart)].Schedule
		if c.ownsField("timezone") {
			s.Zone = c.Span.Zone
		}
		if c.ownsField("all_day") {
			s.AllDay = c.Span.AllDay
		}
		o, ok := s.Occurrence(c.OriginalStart)
		if !ok {
			continue
		}
		switch hasStart, hasEnd := c.ownsField("start_date"), c.ownsField("end_date"); {
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

// movedPhase returns the new first span of a phase, a part of a series, after a request moves an event. The event
// had the span from and gets the sent dates. The phase, which begins with the span first, moves by the same amount.
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
