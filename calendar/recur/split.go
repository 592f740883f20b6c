package recur

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// First returns the earliest nominal start of the schedule, even if it is in ExDate. It may be a date of RDate
// before Start.
func (s Schedule) First() calendar.Wall {
	if len(s.RDate) > 0 && s.RDate[0].Before(s.Start) {
		return s.RDate[0]
	}
	return s.Start
}

// Has reports whether w is a nominal start of the schedule. It counts starts in ExDate too.
func (s Schedule) Has(w calendar.Wall) bool { return len(s.starts([]Date{{Wall: w}})) > 0 }

// CountBefore returns the number of starts of the rule before the wall time at. It does not count RDate.
func (s Schedule) CountBefore(at calendar.Wall) int {
	n, _, _, _ := s.ruleStartsAround(at)
	return n
}

// starts selects the dates that are nominal starts of the schedule. It returns them sorted, without repeats.
func (s Schedule) starts(dates []Date) []calendar.Wall {
	named := s.startsOnDays(dates)
	var out []calendar.Wall
	for _, d := range dates {
		if slices.ContainsFunc(named[dayNumber(d.Wall.Date())], d.Wall.Equal) {
			out = append(out, d.Wall)
		}
	}
	return sortUnique(out, calendar.Wall.Compare)
}

// Split returns two schedules, for a series that changes from the wall time at on. The schedule before has the
// nominal starts before at, and the schedule rest has the others. hasBefore and hasRest are false if the schedule
// would have no start.
//
// The schedule before always ends. If the rule has COUNT, it becomes the number of starts in this part. Otherwise
// UNTIL becomes the day before at, unless it is earlier already. If the last start is on the day of at, UNTIL
// becomes that start. Rest gets the remaining COUNT.
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
	before, hasBefore = before.keepDates(n > 0, isBefore)

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
	rest, hasRest = rest.keepDates(hasFirst, isRest)
	return before, hasBefore, rest, hasRest
}

// ruleStartsAround returns the number n of rule starts before the wall time at, and the last of these. It also
// returns the first start that is not before at. hasFirst is false if there is none.
func (s Schedule) ruleStartsAround(at calendar.Wall) (n int, last, first calendar.Wall, hasFirst bool) {
	for w := range s.Rule.Starts(s.Start, calendar.Wall{}, LastStart()) {
		if !w.Before(at) {
			return n, last, w, true
		}
		n, last = n+1, w
	}
	return n, last, first, false
}

// sameDays reports whether two rules have the same BYDAY, BYMONTHDAY and BYMONTH. Both must be results of
// Complete.
func (r Rule) sameDays(o Rule) bool {
	return slices.Equal(r.ByDay, o.ByDay) && slices.Equal(r.ByMonthDay, o.ByMonthDay) && slices.Equal(r.ByMonth, o.ByMonth)
}

// keepDates returns the schedule with only those dates of RDate and ExDate for which the function in returns true. If
// hasRule is false, the rule has no start left, and the first date of RDate becomes the start. The second result is
// false if there is no such date either.
func (s Schedule) keepDates(hasRule bool, in func(calendar.Wall) bool) (Schedule, bool) {
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

// Change returns the schedule with a new span. A rule, rdate or exdate that is not nil replaces the stored one.
// Stored dates that remain move on the clock by the same distance as the start.
//
// A stored rule follows the new start. If the only value of BYDAY, BYMONTHDAY, BYYEARDAY, BYWEEKNO or BYMONTH fits
// the old start, it becomes that of the new start. The time of day of UNTIL moves in the same way. Change drops
// stored exdates that are no longer nominal starts. Errors are those of New.
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

// moveDates moves wall times on the clock by the distance between s.Start and span.Start.
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

// moveWall moves w on the clock by the distance between two other wall times, oldStart and newStart.
func moveWall(w, oldStart, newStart calendar.Wall) calendar.Wall {
	return calendar.Span{Start: oldStart, End: w}.MoveStart(newStart).End
}

// moved returns the rule adapted to a schedule whose start moves from oldStart to newStart. A weekly rule on
// Mondays can become one on Tuesdays. See Schedule.Change.
func (r Rule) moved(oldStart, newStart calendar.Wall) Rule {
	if until := r.Until; !until.IsZero() && !until.Equal(until.EndOfDay()) && secondOfDay(until) == secondOfDay(oldStart) {
		r.Until = wallOnDay(dayNumber(until.Date()), newStart)
	}
	if oldStart.StartOfDay().Equal(newStart.StartOfDay()) {
		return r
	}
	year, m, day := newStart.Date()
	fromYear, oldMonth, oldDay := oldStart.Date()
	length := month{year, m}.length()
	if len(r.ByDay) == 1 && r.ByDay[0].Day == oldStart.Weekday() {
		w := Weekday{Day: newStart.Weekday()}
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

// Period returns the first day of the week, month or year that contains a wall time. FREQ decides which of these
// it is. For a daily rule and for the zero Rule it returns the day.
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
