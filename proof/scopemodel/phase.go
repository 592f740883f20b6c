package scopemodel

import (
	"maps"
	"slices"
	"time"
)

// Daily, Weekly and Monthly are the values of Rule.Unit.
const (
	Daily   = "DAILY"
	Weekly  = "WEEKLY"
	Monthly = "MONTHLY"
)

// Rule is a recurrence rule with a count, such as every second week, five times. An empty Unit means a single start.
type Rule struct {
	Unit  string
	Every int
	Count int
}

// Phase is a period of a series with one schedule and one title. RDate lists further starts, ExDate excluded ones.
// Wall times are stored as if in UTC.
type Phase struct {
	Start time.Time
	Rule
	RDate  []time.Time
	ExDate map[time.Time]bool
	Title  string
}

// RuleStarts returns the starts that the rule alone gives, without RDate and ExDate.
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

// Starts returns all nominal starts in order: those of the rule and of RDate. It includes those in ExDate.
func (p *Phase) Starts() []time.Time {
	all := append(p.RuleStarts(), p.RDate...)
	slices.SortFunc(all, time.Time.Compare)
	return slices.Compact(all)
}

// first returns the first nominal start, including excluded ones.
func (p *Phase) first() time.Time { return p.Starts()[0] }

// has reports whether a time is a nominal start of the phase, even an excluded one.
func (p *Phase) has(at time.Time) bool { return slices.Contains(p.Starts(), at) }

// liveStarts returns the nominal starts except those of ExDate. Each has an occurrence.
func (p *Phase) liveStarts() []time.Time {
	return slices.DeleteFunc(p.Starts(), func(at time.Time) bool { return p.ExDate[at] })
}

// addRDate adds a start to RDate, in order. A start that is there already is not repeated.
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

// part returns the phase restricted to the starts for which contains is true. It returns false if there are none. Its
// Count is the number of remaining starts of the rule. Without any of them, the first RDate becomes the start.
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

// startsBefore returns a function that reports whether a start is before cut.
func startsBefore(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return at.Before(cut) }
}

// startsFrom returns a function that reports whether a start is at or after cut.
func startsFrom(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return !at.Before(cut) }
}

// movedBy returns a copy of the phase in which all starts, and the excluded ones, are later by a duration.
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

// withoutStrayExDates returns a copy of the phase whose ExDate contains only starts of it.
func (p Phase) withoutStrayExDates() Phase {
	p.ExDate = maps.Clone(p.ExDate)
	maps.DeleteFunc(p.ExDate, func(at time.Time, _ bool) bool { return !p.has(at) })
	return p
}

// isSamePeriod reports whether two times are in the same period of the rule: a week, a month or a day. Without a rule
// the period is a day.
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

// PhaseOf returns the index of the last phase that begins at or before a nominal start. It returns 0 for
// a start before all phases.
func PhaseOf(phases []Phase, at time.Time) int {
	i := len(phases) - 1
	for i > 0 && at.Before(phases[i].first()) {
		i--
	}
	return i
}

// splitPhases splits the phase of a series that contains the nominal start cut. It returns all phases with the index
// of the one that begins at cut. Without a start before cut, nothing is split. Without one from cut on, the index is
// that of the next phase.
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

// startsBeforePhase returns the number of starts that rules give in the phases directly before phase k with the same
// rule. COUNT of the whole rule includes them.
func startsBeforePhase(phases []Phase, k int) (n int) {
	for i := k; i > 0 && phases[i-1].Unit == phases[i].Unit && phases[i-1].Every == phases[i].Every; i-- {
		n += len(phases[i-1].RuleStarts())
	}
	return n
}
