package series

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/param"
)

// scheduleChange has the sent fields of a request that change the schedules of a series: dates, rule, rdates and
// exdates.
type scheduleChange struct {
	// span returns the new first span of a phase (part of the series with one schedule), from its old one.
	span          func(calendar.Span) calendar.Span
	rule          *recur.Rule // nil means that the rule does not change
	rdate, exdate *[]recur.Date
	addressed     int  // index of the phase whose rdate and exdate are replaced
	whole         bool // true if the COUNT of the new rule also counts starts before the change
}

// apply changes the schedules of a series from the nominal start cut on. A phase that contains cut is split there.
// It returns all phases and the index of the first changed one. If nothing changes, the index is the number of
// phases.
//
// Without a new rule, later phases remain. They move and keep their rdates and exdates. Errors are *recur.Error and
// param.Invalid.
func (c *scheduleChange) apply(phases []seriesPhase, cut calendar.Wall) ([]seriesPhase, int, error) {
	at := phaseOf(phases, cut)
	split, k := splitPhases(phases, cut)
	count, addressed := countBefore(split, k), c.addressed
	if len(split) > len(phases) { // cut is inside a phase
		count = countBefore(phases, at) + phases[at].CountBefore(cut)
		if addressed >= at {
			addressed++
		}
	}
	next := split[k:]
	if c.rule != nil {
		next, addressed = next[:1], k
	}
	changed, err := c.change(next, addressed-k, split[:k], count)
	if err != nil {
		return nil, 0, err
	}
	if sameSchedules(split[k:], changed) {
		return phases, len(phases), nil
	}
	if k > 0 {
		err = refuseOverlap(&split[k-1], &changed[0])
	}
	return slices.Concat(split[:k], changed), k, err
}

// countBefore returns the number of starts before phases[at] that count against the COUNT of its rule. They are in
// the phases directly before it that have the same rule, apart from COUNT and UNTIL.
func countBefore(phases []seriesPhase, at int) (n int) {
	rule := func(p seriesPhase, complete bool) string {
		r := p.Rule
		if complete {
			r = r.Complete(p.Start)
		}
		r.Count, r.Until = 0, calendar.Wall{}
		return r.String()
	}
	for i := at; i > 0; i-- {
		if rule(phases[i-1], false) != rule(phases[i], false) && rule(phases[i-1], true) != rule(phases[i], true) {
			break
		}
		n += phases[i-1].CountBefore(phases[i].First())
	}
	return n
}

// extend changes the schedule of a series whose starts are all past. It adds a phase, a part with its own schedule,
// that begins after now. It returns all phases and the index of the new one. If nothing changes, the index is the
// number of phases.
func (c *scheduleChange) extend(phases []seriesPhase, now time.Time) ([]seriesPhase, int, error) {
	last := len(phases) - 1
	own := *c
	anew := c.rule != nil && !c.whole // COUNT begins with the new phase
	if anew {
		endless := *c.rule
		endless.Count = 0
		own.rule = &endless
	}
	changed, err := own.change(phases[last:], 0, phases, countBefore(phases, last))
	if err != nil {
		return nil, 0, err
	}
	next := changed[0]
	moves := !sameSpan(next.Span, phases[last].Span)
	excludes := slices.ContainsFunc(next.ExDate, func(w calendar.Wall) bool {
		return !slices.ContainsFunc(phases[last].ExDate, w.Equal)
	})
	if c.rule == nil && !moves && !excludes && (c.rdate == nil || len(next.RDate) == 0) {
		return phases, len(phases), nil // all dates belong to occurrences that have begun
	}
	cut, ok := firstAfter(changed, calendar.Wall{}, now)
	if !ok {
		return nil, 0, &recur.Error{Param: "rrule", Reason: recur.NoOccurrences, Data: map[string]any{}}
	}
	_, _, next.Schedule, _ = next.Split(cut)
	if anew && !next.Rule.IsZero() {
		next.Rule.Count = c.rule.Count
	}
	return append(slices.Clone(phases), next), len(phases), refuseOverlap(&phases[last], &next)
}

// change returns the given phases, parts of a series, with their new schedules. The sent rdates and exdates replace
// those of the phase with index addressed. The list earlier has the phases before these, whose dates may be sent
// again. The parameter count is the number of starts that a replaced rule has in earlier phases.
func (c *scheduleChange) change(phases []seriesPhase, addressed int, earlier []seriesPhase, count int) ([]seriesPhase, error) {
	rule := c.rule
	if rule != nil && c.whole && rule.Count > 0 {
		left := *rule
		if left.Count -= count; left.Count <= 0 {
			return nil, &recur.Error{Param: "rrule", Reason: recur.NoOccurrences, Data: map[string]any{}}
		}
		rule = &left
	}
	changed, err := c.changeSchedules(phases, rule, make([]*[]recur.Date, len(phases)))
	if err != nil {
		return nil, err
	}
	if c.rdate != nil {
		if changed, err = c.changeSchedules(phases, rule, c.assignRDates(changed, addressed, earlier)); err != nil {
			return nil, err
		}
	}
	if c.exdate != nil && addressed >= 0 && addressed < len(changed) {
		changed[addressed].ExDate = nil
	}
	changed = closePhases(changed)
	if c.exdate == nil {
		return changed, nil
	}
	return changed, c.exclude(changed, earlier)
}

// changeSchedules returns the phases, parts of a series, with their new spans. A rule that is not nil replaces the
// rule of each phase. The list rdate has the new rdates for each phase. Nil means no change.
func (c *scheduleChange) changeSchedules(phases []seriesPhase, rule *recur.Rule, rdate []*[]recur.Date) ([]seriesPhase, error) {
	changed := slices.Clone(phases)
	for i, p := range phases {
		span := c.span(p.Span)
		if i+1 < len(phases) && !sameSpan(span, p.Span) && p.endsBefore(phases[i+1].First()) {
			p.Rule.Until = calendar.Wall{} // closePhases sets it to the new start of the next phase
		}
		var err error
		if changed[i].Schedule, err = p.Change(span, rule, rdate[i], nil); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// endsBefore reports whether extending the rule of p from its UNTIL to next would add no start.
func (p *seriesPhase) endsBefore(next calendar.Wall) bool {
	rule := p.Rule
	rule.Until = calendar.Wall{}
	for w := range rule.Starts(p.Start, p.Rule.Until, next) {
		return !w.Before(next)
	}
	return true
}

// assignRDates returns the new rdates of each given part of a series. A sent date goes to the last part that begins
// on it or earlier, or else to the first. Stored dates remain, except in the part with index addressed. Sent dates
// that are starts of earlier parts are left out.
func (c *scheduleChange) assignRDates(phases []seriesPhase, addressed int, earlier []seriesPhase) []*[]recur.Date {
	lists := make([]*[]recur.Date, len(phases))
	for i, p := range phases {
		list := []recur.Date{}
		for _, w := range p.RDate {
			if i != addressed {
				list = append(list, recur.Date{Wall: w})
			}
		}
		lists[i] = &list
	}
	for _, d := range *c.rdate {
		if slices.ContainsFunc(earlier, func(p seriesPhase) bool { return p.Has(p.startOn(d)) }) {
			continue
		}
		i := len(phases) - 1
		for i > 0 && phases[i].startOn(d).Before(phases[i].First()) {
			i--
		}
		*lists[i] = append(*lists[i], d)
	}
	return lists
}

// startOn returns the nominal start that a sent rdate means. A date without a time gets the time of day of the
// phase.
func (p *seriesPhase) startOn(d recur.Date) calendar.Wall {
	if !d.DayOnly && !p.AllDay {
		return d.Wall
	}
	return calendar.Span{Start: p.Start.StartOfDay(), End: p.Start}.MoveStart(d.Wall.StartOfDay()).End
}

// exclude adds each sent exdate to the part of the series that has this start. Dates that earlier parts exclude
// already are accepted. Any other date is the error not-in-schedule.
func (c *scheduleChange) exclude(phases, earlier []seriesPhase) error {
	dates := *c.exdate
	found := make([]bool, len(dates))
	for _, p := range earlier {
		for i, named := range p.StartsNamed(dates) {
			isExcluded := func(w calendar.Wall) bool { return slices.ContainsFunc(p.ExDate, w.Equal) }
			found[i] = found[i] || slices.ContainsFunc(named, isExcluded)
		}
	}
	for j := range phases {
		exdate := slices.Clone(phases[j].ExDate)
		for i, named := range phases[j].StartsNamed(dates) {
			found[i] = found[i] || len(named) > 0
			exdate = append(exdate, named...)
		}
		slices.SortFunc(exdate, calendar.Wall.Compare)
		phases[j].ExDate = slices.Compact(exdate)
	}
	var unknown []recur.Date
	for i, d := range dates {
		if !found[i] {
			unknown = append(unknown, d)
		}
	}
	if unknown != nil {
		return notInSchedule(unknown...)
	}
	return nil
}

// closePhases ends each part of a series before the first start of the next one. It drops a part that then has no
// start.
func closePhases(phases []seriesPhase) (closed []seriesPhase) {
	for i, p := range phases {
		if i+1 < len(phases) {
			before, ok, _, _ := p.Split(phases[i+1].First())
			if !ok {
				continue // the next phase replaces this one
			}
			p.Schedule = before
		}
		closed = append(closed, p)
	}
	return closed
}

// refuseOverlap returns param.Invalid if the part before of a series still has an occurrence when the part p begins.
func refuseOverlap(before, p *seriesPhase) error {
	first := p.First()
	for o := range before.Occurrences(calendar.Wall{}, recur.LastStart()) {
		if !o.Nominal.Before(first) {
			name := "start_date"
			if first.Before(p.Start) {
				name = "rdate"
			}
			return badParam(name)
		}
	}
	return nil
}

// badParam returns param.Invalid for a parameter whose value is not possible in this request.
func badParam(name string) error {
	fault := param.Bad()
	fault.Param = name
	return edit.InvalidInput(fault)
}

// sameSpan reports whether two spans have the same dates in the same zone.
func sameSpan(a, b calendar.Span) bool {
	return a.Start.Equal(b.Start) && a.End.Equal(b.End) && a.AllDay == b.AllDay && a.Zone.String() == b.Zone.String()
}
