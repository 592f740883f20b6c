package recur

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// First returns the earliest nominal start of the schedule, which may be in ExDate. A date in RDate may be
// earlier than Start.
func (s Schedule) First() calendar.Wall {
	if len(s.RDate) > 0 && s.RDate[0].Before(s.Start) {
		return s.RDate[0]
	}
	return s.Start
}

// Has reports whether a wall time is a nominal start of the schedule. The start may be in ExDate.
func (s Schedule) Has(w calendar.Wall) bool { return len(s.starts([]Date{{Wall: w}})) > 0 }

// CountBefore returns the number of starts of the rule before a wall time.
func (s Schedule) CountBefore(at calendar.Wall) int {
	n, _, _, _ := s.ruleStartsAround(at)
	return n
}

// starts returns the dates that are nominal starts, sorted and without repeats.
func (s Schedule) starts(dates []Date) []calendar.Wall {
	named := s.startsOnDays(dates)
	var out []calendar.Wall
	for _, d := range dates {
		if slices.ContainsFunc(named[dayNumber(d.Wall.Date())], d.Wall.Equal) {
			out = append(out, d.Wall)
		}
	}
	return sortUnique(out, compareWalls)
}

// Split returns two schedules: before has the nominal starts before a wall time, rest has the others. If one of
// them would have no start, its boolean is false. Before is finite. A COUNT becomes the number of its starts.
// Without COUNT, a later or missing UNTIL becomes the day before at. If the last start is on the day of at, UNTIL
// becomes that start. Rest has the remaining COUNT.
func (s Schedule) Split(at calendar.Wall) (before Schedule, hasBefore bool, rest Schedule, hasRest bool) {
	n, last, first, hasFirst := s.ruleStartsAround(at)
	isBefore := func(w calendar.Wall) bool { return w.Before(at) }
	isRest := func(w calendar.Wall) bool { return !w.Before(at) }

	before = s
	switch {
	case n == 0:
		before.Rule = Rule{}
	case s.Rule.Count > 0:
		before.Rule.Count = n
	case !s.Rule.IsZero() && (s.Rule.Until.IsZero() || !s.Rule.Until.Before(at)):
		before.Rule.Until = at.AddDate(0, 0, -1).EndOfDay()
		if before.Rule.Until.Before(last) { // the last start is earlier on the day of at
			before.Rule.Until = last
		}
	}
	before, hasBefore = before.withDates(n > 0, isBefore)

	rest = s
	if hasFirst {
		if rule := s.Rule.Complete(s.Start); !rule.sameDays(s.Rule.Complete(first)) {
			rest.Rule = rule
		}
		rest.Span = s.MoveStart(first)
		if rest.Rule.Count > 0 {
			rest.Rule.Count -= n
		}
	} else {
		rest.Rule = Rule{}
	}
	rest, hasRest = rest.withDates(hasFirst, isRest)
	return before, hasBefore, rest, hasRest
}

// ruleStartsAround returns the number of starts of the rule before a wall time, the last of these, and the
// first of the others.
func (s Schedule) ruleStartsAround(at calendar.Wall) (n int, last, first calendar.Wall, hasFirst bool) {
	for w := range s.Rule.Starts(s.Start, calendar.Wall{}, LastStart()) {
		if !w.Before(at) {
			return n, last, w, true
		}
		n, last = n+1, w
	}
	return n, last, first, false
}

// sameDays reports whether two complete rules include the same days.
func (r Rule) sameDays(o Rule) bool {
	return slices.Equal(r.ByDay, o.ByDay) && slices.Equal(r.ByMonthDay, o.ByMonthDay) && slices.Equal(r.ByMonth, o.ByMonth)
}

// withDates returns the schedule with the dates for which in returns true. If the rule has no start in this
// part, the first date of RDate becomes the start.
func (s Schedule) withDates(hasRule bool, in func(calendar.Wall) bool) (Schedule, bool) {
	out := func(w calendar.Wall) bool { return !in(w) }
	s.RDate = slices.DeleteFunc(slices.Clone(s.RDate), out)
	s.ExDate = slices.DeleteFunc(slices.Clone(s.ExDate), out)
	if hasRule {
		return s, true
	}
	if len(s.RDate) == 0 {
		return Schedule{}, false
	}
	s.Span = s.MoveStart(s.RDate[0])
	s.RDate = s.RDate[1:]
	return s, true
}

// Change returns the schedule with a new span, and with the rule and dates that are not nil. Stored dates move
// on the clock by the same distance as the start. If the only value of BYDAY, BYMONTHDAY, BYYEARDAY, BYWEEKNO or
// BYMONTH fits the old start, Change replaces it by the value of the new start. It moves the time of day of UNTIL
// in the same way. It drops stored exdates that are no longer nominal starts. Errors are those of New.
func (s Schedule) Change(span calendar.Span, rule *Rule, rdate, exdate *[]Date) (Schedule, error) {
	span = span.Rounded()
	if rule == nil {
		moved := s.Rule.moved(s.Start, span.Start)
		rule = &moved
	}
	if rdate == nil {
		moved := s.moveDates(s.RDate, span)
		rdate = &moved
	}
	if exdate != nil {
		return New(span, *rule, *rdate, *exdate)
	}
	changed, err := New(span, *rule, *rdate, nil)
	if err != nil {
		return Schedule{}, err
	}
	changed.ExDate = changed.starts(s.moveDates(s.ExDate, span))
	return changed, nil
}

// moveDates moves wall times on the clock by the distance from the start of the schedule to the start of span.
func (s Schedule) moveDates(walls []calendar.Wall, span calendar.Span) []Date {
	dates := make([]Date, len(walls))
	for i, w := range walls {
		dates[i].Wall = moveWall(w, s.Start, span.Start)
		if span.AllDay {
			dates[i].Wall = dates[i].Wall.StartOfDay()
		}
	}
	return dates
}

// moveWall moves a wall time on the clock by the distance from from to to.
func moveWall(w, from, to calendar.Wall) calendar.Wall {
	return calendar.Span{Start: from, End: w}.MoveStart(to).End
}

// moved returns the rule for a schedule whose start moves from the time from to the time to.
func (r Rule) moved(from, to calendar.Wall) Rule {
	if until := r.Until; !until.IsZero() && !until.Equal(until.EndOfDay()) && secondOfDay(until) == secondOfDay(from) {
		r.Until = wallOnDay(dayNumber(until.Date()), to)
	}
	if from.StartOfDay().Equal(to.StartOfDay()) {
		return r
	}
	year, m, day := to.Date()
	fromYear, oldMonth, oldDay := from.Date()
	length := month{year, m}.length()
	if len(r.ByDay) == 1 && r.ByDay[0].Day == from.Weekday() {
		w := Weekday{Day: to.Weekday()}
		before, after := day-1, length-day // days of the month, or of the year, before and after this one
		if r.Freq == FreqYearly && len(r.ByMonth) == 0 {
			first, next := month{year, 1}.firstDay(), month{year + 1, 1}.firstDay()
			number := dayNumber(year, m, day)
			before, after = number-first, next-number-1
		}
		switch ordinal := r.ByDay[0].Ordinal; {
		case ordinal > 0:
			w.Ordinal = before/7 + 1
		case ordinal < 0:
			w.Ordinal = -after/7 - 1
		}
		r.ByDay = []Weekday{w}
	}
	if len(r.ByYearDay) == 1 {
		first, next := dayNumber(year, 1, 1), dayNumber(year+1, 1, 1)
		switch oldNumber, number := dayNumber(fromYear, oldMonth, oldDay), dayNumber(year, m, day); r.ByYearDay[0] {
		case oldNumber - dayNumber(fromYear, 1, 1) + 1:
			r.ByYearDay = []int{number - first + 1}
		case oldNumber - dayNumber(fromYear+1, 1, 1):
			r.ByYearDay = []int{number - next}
		}
	}
	if len(r.ByWeekNo) == 1 {
		oldWeek, oldWeeks := r.weekOf(dayNumber(fromYear, oldMonth, oldDay))
		switch week, weeks := r.weekOf(dayNumber(year, m, day)); r.ByWeekNo[0] {
		case oldWeek:
			r.ByWeekNo = []int{week}
		case oldWeek - oldWeeks - 1:
			r.ByWeekNo = []int{week - weeks - 1}
		}
	}
	if len(r.ByMonthDay) == 1 {
		switch r.ByMonthDay[0] {
		case oldDay:
			r.ByMonthDay = []int{day}
		case oldDay - month{fromYear, oldMonth}.length() - 1:
			r.ByMonthDay = []int{day - length - 1}
		}
	}
	if len(r.ByMonth) == 1 && r.ByMonth[0] == int(oldMonth) {
		r.ByMonth = []int{int(m)}
	}
	return r
}

// Period returns the first day of the week, month or year of the rule that contains a wall time. For a daily
// rule and for the zero Rule it returns the day.
func (r Rule) Period(w calendar.Wall) calendar.Wall {
	year, m, _ := w.Date()
	switch r.Freq {
	case FreqYearly:
		return calendar.WallAt(year, 1, 1, 0, 0, 0)
	case FreqMonthly:
		return calendar.WallAt(year, m, 1, 0, 0, 0)
	case FreqWeekly:
		return w.StartOfDay().AddDate(0, 0, -int(w.Weekday()-r.WeekStart+7)%7)
	}
	return w.StartOfDay()
}
