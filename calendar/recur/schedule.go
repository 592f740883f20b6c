package recur

import (
	"iter"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// MaxOccurrences is the maximum number of occurrences that one write creates.
const MaxOccurrences = 1000

// Schedule defines when the occurrences of an event start. New creates a Schedule; copies may share its slices.
type Schedule struct {
	// Span is the time of the event that recurs. Its start is a nominal start.
	calendar.Span
	Rule Rule

	RDate  []calendar.Wall // sorted nominal starts in addition to those of the rule
	ExDate []calendar.Wall // sorted nominal starts without an occurrence
}

// Date is one date in the parameter rdate or exdate, as the client sent it: with or without a time of day.
type Date struct {
	Wall    calendar.Wall
	DayOnly bool // the client sent no time of day
}

func (d Date) String() string {
	if d.DayOnly {
		return d.Wall.Format("2006-01-02")
	}
	return d.Wall.String()
}

// Occurrence is a single event of a schedule, with its dates and its nominal start.
type Occurrence struct {
	Nominal calendar.Wall // nominal start, which identifies the occurrence
	calendar.Span
}

// New checks the parts of a schedule and returns it. If the rule is not zero, the start of span must be one of its
// starts. In rdate, a day without a time gets the time of day of the start. In exdate, a day without a time means
// all nominal starts on that day. A time in exdate is a nominal start. If the clock skips a nominal start, the
// time that the clock then shows is accepted too. In an all-day schedule, only the days of the dates count.
//
// Errors are of type *Error. EndBeforeStart means that the end is before the start on the clock. It is an error
// even if the instants are in order, because other occurrences would end before they start. BadRule means that
// UNTIL is before the start. StartNotInRule means that the start of span is not a start of the rule. Its data has
// the next start of the rule, or nil. NotInSchedule has the dates of exdate that are not nominal starts.
func New(span calendar.Span, rule Rule, rdate, exdate []Date) (Schedule, error) {
	s := Schedule{Span: span.Rounded(), Rule: rule}
	if s.End.Before(s.Start) {
		return Schedule{}, &Error{"end_date", EndBeforeStart, map[string]any{}}
	}
	if !rule.Until.IsZero() && rule.Until.Before(s.Start) {
		return Schedule{}, badPart("UNTIL", formatUntil(rule.Until))
	}
	switch next, ok := firstOf(rule.Starts(s.Start, calendar.Wall{}, LastStart())); {
	case !ok:
		return Schedule{}, ruleError(StartNotInRule, map[string]any{"next": nil})
	case !next.Equal(s.Start):
		return Schedule{}, ruleError(StartNotInRule, map[string]any{"next": next.String()})
	}
	for _, d := range rdate {
		if d.DayOnly || s.AllDay {
			d.Wall = wallOnDay(dayNumber(d.Wall.Date()), s.Start)
		}
		s.RDate = append(s.RDate, d.Wall)
	}
	s.RDate = sortUnique(s.RDate, calendar.Wall.Compare)
	return s.exclude(exdate)
}

// exclude returns the schedule with the starts that dates mean added to ExDate. The error is an *Error with all
// dates that mean no start.
func (s Schedule) exclude(dates []Date) (Schedule, error) {
	var unknown []string
	for i, named := range s.StartsNamed(dates) {
		if len(named) == 0 {
			unknown = append(unknown, dates[i].String())
		}
		s.ExDate = append(s.ExDate, named...)
	}
	if len(unknown) > 0 {
		return Schedule{}, &Error{"exdate", NotInSchedule, map[string]any{"dates": unknown}}
	}
	s.ExDate = sortUnique(s.ExDate, calendar.Wall.Compare)
	return s, nil
}

// StartsNamed returns the nominal starts that each of dates, sent as exdate, means. The result has one list per
// date. The list is empty if the date means no start. A start may be in s.ExDate already.
func (s Schedule) StartsNamed(dates []Date) [][]calendar.Wall {
	starts := s.startsOnDays(dates)
	named := make([][]calendar.Wall, len(dates))
	for i, d := range dates {
		named[i] = starts[dayNumber(d.Wall.Date())]
		if !d.DayOnly && !s.AllDay {
			named[i] = s.startsAtTime(named[i], d.Wall)
		}
	}
	return named
}

// startsOnDays returns the nominal starts on the days of the given dates, by day number (dayNumber). The map also has
// all dates of s.RDate, whatever their day. Without dates it is empty.
func (s Schedule) startsOnDays(dates []Date) map[int][]calendar.Wall {
	starts := make(map[int][]calendar.Wall)
	var days []int
	for _, d := range dates {
		days = append(days, dayNumber(d.Wall.Date()))
	}
	slices.Sort(days)
	days = slices.Compact(days)
	if len(days) == 0 {
		return starts
	}
	for _, w := range s.RDate {
		day := dayNumber(w.Date())
		starts[day] = append(starts[day], w)
	}
	rest := days
	for day := range s.Rule.days(s.Start, wallOnDay(days[0]-1, s.Start), wallOnDay(days[len(days)-1], LastStart())) {
		for len(rest) > 0 && rest[0] < day {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] == day {
			starts[day] = append(starts[day], wallOnDay(day, s.Start))
		}
	}
	return starts
}

// startsAtTime selects from the nominal starts of a day the one at the wall time w. If there is none, it selects
// nominal starts in a gap of the zone, if the clock shows w instead of them.
func (s Schedule) startsAtTime(starts []calendar.Wall, w calendar.Wall) []calendar.Wall {
	if slices.ContainsFunc(starts, w.Equal) {
		return []calendar.Wall{w}
	}
	var shown []calendar.Wall
	for _, start := range starts {
		if s.Zone.Wall(s.Zone.Instant(start)).Equal(w) {
			shown = append(shown, start)
		}
	}
	return shown
}

// Ends reports whether the schedule has a last start. It is true for a schedule without a rule.
func (s Schedule) Ends() bool { return s.Rule.Ends() }

// IsLong reports whether the schedule has too many starts to store all its occurrences at once. It is true for an
// endless schedule. It is also true if the rule has more than MaxOccurrences starts until UNTIL.
func (s Schedule) IsLong() bool {
	if s.Rule.Until.IsZero() {
		return !s.Ends()
	}
	n := 0
	for range s.Rule.days(s.Start, calendar.Wall{}, LastStart()) {
		if n++; n > MaxOccurrences {
			return true
		}
	}
	return false
}

// HasAfter reports whether the schedule has a nominal start later than w. It counts starts in ExDate too.
func (s Schedule) HasAfter(w calendar.Wall) bool {
	if n := len(s.RDate); n > 0 && w.Before(s.RDate[n-1]) {
		return true
	}
	_, has := firstOf(s.Rule.Starts(s.Start, w, LastStart()))
	return has
}

// Starts returns the nominal starts of the schedule in ascending order, without those in ExDate and without
// repeats. They are later than after and not later than last. If after is zero, they begin with the first. Some
// may have no occurrence, because the zone skips the whole day.
func (s Schedule) Starts(after, last calendar.Wall) iter.Seq[calendar.Wall] {
	return func(yield func(calendar.Wall) bool) {
		rdate := s.RDate
		// give yields a start unless it is excluded or out of bounds. It returns false to stop the iteration.
		give := func(w calendar.Wall) bool {
			_, excluded := slices.BinarySearchFunc(s.ExDate, w, calendar.Wall.Compare)
			return excluded || !after.Before(w) || last.Before(w) || yield(w)
		}
		for w := range s.Rule.Starts(s.Start, after, last) {
			for ; len(rdate) > 0 && rdate[0].Before(w); rdate = rdate[1:] {
				if !give(rdate[0]) {
					return
				}
			}
			if len(rdate) > 0 && rdate[0].Equal(w) {
				rdate = rdate[1:]
			}
			if !give(w) {
				return
			}
		}
		for _, w := range rdate {
			if !give(w) {
				return
			}
		}
	}
}

// Occurrences returns the occurrences whose nominal starts are later than after and not later than last. If after
// is zero, they begin with the first. It leaves out starts on days that the zone skips.
func (s Schedule) Occurrences(after, last calendar.Wall) iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		for w := range s.Starts(after, last) {
			if o, ok := s.Occurrence(w); ok && !yield(o) {
				return
			}
		}
	}
}

// Expand returns the occurrences whose nominal starts are not later than last. Its error is a *Error:
// NoOccurrences if there are none, TooManyOccurrences if there are more than most.
func (s Schedule) Expand(last calendar.Wall, most int) ([]Occurrence, error) {
	var all []Occurrence
	for o := range s.Occurrences(calendar.Wall{}, last) {
		if len(all) == most {
			return nil, ruleError(TooManyOccurrences, map[string]any{"maximum": most})
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil, ruleError(NoOccurrences, map[string]any{})
	}
	return all, nil
}

// Occurrence returns the occurrence at a nominal start. The second result is false on a day that the zone skips. It
// is also false outside the years 1000 to 9999, on the clock or in UTC.
//
// A start in a gap moves forward by the gap. A start in a repeated hour is the first pass. The end has the same
// distance on the clock from the nominal start as in the schedule, and is found by the same rules. If it then
// is not later than the start, it is the start plus that distance as exact time. The span of a timed occurrence
// has times that the clock shows. That of an all-day one has whole days.
func (s Schedule) Occurrence(nominal calendar.Wall) (Occurrence, bool) {
	if skipsDay(s.Zone, nominal) {
		return Occurrence{}, false
	}
	span := s.MoveStart(nominal)
	if !span.AllDay {
		start, end := span.StartsAt(), span.EndsAt()
		if !end.After(start) {
			end = start.Add(span.End.Sub(span.Start))
		}
		span.Start, span.End = s.Zone.Wall(start), s.Zone.Wall(end)
	}
	return Occurrence{nominal, span}, span.Check() == nil
}

// skipsDay reports whether the clock of the zone skips the whole day of w, as in Samoa on 30 December 2011.
// Then the gap begins at midnight, so the instant of that midnight is on another day.
func skipsDay(zone calendar.Zone, w calendar.Wall) bool {
	midnight := w.StartOfDay()
	return !zone.Wall(zone.Instant(midnight)).StartOfDay().Equal(midnight)
}

func firstOf(starts iter.Seq[calendar.Wall]) (calendar.Wall, bool) {
	for w := range starts {
		return w, true
	}
	return calendar.Wall{}, false
}

// PhaseAt returns the index of the phase to which a nominal start belongs. It is the last phase whose own start is
// not later than nominal. A nominal start before all phases belongs to the first. Phases must be in the order of
// their starts, and not empty.
func PhaseAt[P any](phases []P, start func(P) calendar.Wall, nominal calendar.Wall) int {
	at := len(phases) - 1
	for at > 0 && nominal.Before(start(phases[at])) {
		at--
	}
	return at
}
