package scopemodel

import (
	"maps"
	"slices"
	"time"
)

// The values of Rule.Unit.
const (
	Daily   = "DAILY"
	Weekly  = "WEEKLY"
	Monthly = "MONTHLY"
)

// Rule is a rule of recurrence with a count: every second week, five times. Without a unit it has one start.
type Rule struct {
	Unit  string
	Every int
	Count int
}

// Phase is a stretch of a series with one schedule and one title. Its times are those of a clock, as if in UTC.
type Phase struct {
	Start time.Time
	Rule
	RDate  []time.Time
	ExDate map[time.Time]bool
	Title  string
}

// RuleStarts returns the starts of the rule.
func (p *Phase) RuleStarts() (list []time.Time) {
	for i := 0; len(list) < p.Count; i++ {
		switch p.Unit {
		case Daily:
			list = append(list, p.Start.AddDate(0, 0, i*p.Every))
		case Weekly:
			list = append(list, p.Start.AddDate(0, 0, 7*i*p.Every))
		case Monthly:
			if at := p.Start.AddDate(0, i*p.Every, 0); at.Day() == p.Start.Day() { // the month has the day
				list = append(list, at)
			}
		default:
			return []time.Time{p.Start}
		}
	}
	return list
}

// Starts returns all nominal starts in their order, with those of ExDate.
func (p *Phase) Starts() []time.Time {
	all := append(p.RuleStarts(), p.RDate...)
	slices.SortFunc(all, time.Time.Compare)
	return slices.Compact(all)
}

// first returns the first nominal start.
func (p *Phase) first() time.Time { return p.Starts()[0] }

// has reports whether a time is a nominal start of the phase.
func (p *Phase) has(at time.Time) bool { return slices.Contains(p.Starts(), at) }

// liveStarts returns the nominal starts with an occurrence: all but those of ExDate.
func (p *Phase) liveStarts() []time.Time {
	return slices.DeleteFunc(p.Starts(), func(at time.Time) bool { return p.ExDate[at] })
}

// addRDate adds a start to the list of RDate, unless it is there.
func (p *Phase) addRDate(at time.Time) {
	p.RDate = append(slices.Clone(p.RDate), at)
	slices.SortFunc(p.RDate, time.Time.Compare)
	p.RDate = slices.Compact(p.RDate)
}

// addExDate adds a start to ExDate.
func (p *Phase) addExDate(at time.Time) {
	p.ExDate = maps.Clone(p.ExDate)
	p.ExDate[at] = true
}

// part returns the phase with those of its starts that are in a stretch of time. It returns false if there are none.
// COUNT is the number of starts of the rule that are left. Without any, the first RDate is the start.
func (p Phase) part(contains func(time.Time) bool) (Phase, bool) {
	starts := slices.DeleteFunc(p.RuleStarts(), func(at time.Time) bool { return !contains(at) })
	part := Phase{Rule: Rule{p.Unit, p.Every, len(starts)}, ExDate: map[time.Time]bool{}, Title: p.Title}
	for _, at := range p.RDate {
		if contains(at) {
			part.RDate = append(part.RDate, at)
		}
	}
	for at := range p.ExDate {
		if contains(at) {
			part.ExDate[at] = true
		}
	}
	switch {
	case len(starts) > 0:
		part.Start = starts[0]
	case len(part.RDate) > 0:
		part.Start, part.RDate, part.Unit, part.Count = part.RDate[0], part.RDate[1:], "", 1
	default:
		return part, false
	}
	return part, true
}

// startsBefore returns a stretch of time for part: all times before a cut.
func startsBefore(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return at.Before(cut) }
}

// startsFrom returns a stretch of time for part: a cut and all times after it.
func startsFrom(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return !at.Before(cut) }
}

// movedBy returns the phase with all its starts later on the clock.
func (p Phase) movedBy(by time.Duration) Phase {
	moved := p
	moved.Start, moved.RDate, moved.ExDate = p.Start.Add(by), nil, map[time.Time]bool{}
	for _, at := range p.RDate {
		moved.RDate = append(moved.RDate, at.Add(by))
	}
	for at := range p.ExDate {
		moved.ExDate[at.Add(by)] = true
	}
	return moved.withoutStrayExDates()
}

// withoutStrayExDates returns the phase with those of ExDate that are starts of it.
func (p Phase) withoutStrayExDates() Phase {
	p.ExDate = maps.Clone(p.ExDate)
	maps.DeleteFunc(p.ExDate, func(at time.Time, _ bool) bool { return !p.has(at) })
	return p
}

// isSamePeriod reports whether two times are in the same week, month or day, which is that of the rule.
func (p *Phase) isSamePeriod(a, b time.Time) bool {
	switch p.Unit {
	case Weekly:
		a, b = mondayOf(a), mondayOf(b)
	case Monthly:
		return a.Year() == b.Year() && a.Month() == b.Month()
	}
	return isSameDay(a, b)
}

func mondayOf(at time.Time) time.Time { return at.AddDate(0, 0, -(int(at.Weekday())+6)%7) }

func isSameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// PhaseOf returns the index of the phase that a nominal start belongs to: the last one that begins by then.
func PhaseOf(phases []Phase, at time.Time) int {
	i := len(phases) - 1
	for i > 0 && at.Before(phases[i].first()) {
		i--
	}
	return i
}

// splitPhases returns the phases such that one begins at a cut, and its index. If all starts are before the cut, the
// index is the number of phases up to then.
func splitPhases(phases []Phase, cut time.Time) ([]Phase, int) {
	k := PhaseOf(phases, cut)
	earlier, hasEarlier := phases[k].part(startsBefore(cut))
	later, hasLater := phases[k].part(startsFrom(cut))
	switch {
	case !hasEarlier:
		return phases, k
	case !hasLater:
		return phases, k + 1
	}
	return slices.Concat(phases[:k], []Phase{earlier, later}, phases[k+1:]), k + 1
}

// startsBeforePhase returns how many starts the rule of a phase had in the phases before it that it was split from.
func startsBeforePhase(phases []Phase, k int) (n int) {
	for i := k; i > 0 && phases[i-1].Unit == phases[i].Unit && phases[i-1].Every == phases[i].Every; i-- {
		n += len(phases[i-1].RuleStarts())
	}
	return n
}
