package recur

import (
	"iter"
	"math/bits"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// LastStart returns the last second of year 9999. No event starts later.
func LastStart() calendar.Wall { return calendar.WallAt(9999, 12, 31, 23, 59, 59) }

// Starts returns the nominal starts of the rule for an event that starts at start, in ascending order. They are
// later than after and not later than last. If after is zero, they begin with the first.
//
// A nominal start is a wall time with the time of day of start. COUNT counts from start, whatever after is.
// Start is included only if the rule includes its day. Weekday, day and month that the rule does not set are
// those of start (RFC 5545, section 3.3.10). With BYWEEKNO alone, the weekday of start is set. A day must match all BY
// parts. BYSETPOS counts in the whole period, even if that begins before start. The period of a yearly rule is the
// calendar year, also for a week that two years share. BYMONTH refers to the month that lacks a day, not to the
// one to which SKIP=FORWARD moves it.
//
// The run time is proportional to the days from after to last, with COUNT to those from start. A rule that matches no day
// takes some ten milliseconds until LastStart.
func (r Rule) Starts(start, after, last calendar.Wall) iter.Seq[calendar.Wall] {
	return func(yield func(calendar.Wall) bool) {
		earliest := dayNotAfter(after, start) + 1
		for day := range r.days(start, after, last) {
			if day >= earliest && !yield(wallOnDay(day, start)) {
				return
			}
		}
	}
}

// days returns the days on which the rule has a start, from start to last, as days since 1 January 1970. Days that
// the caller does not need, because they are not later than after, may be left out.
func (r Rule) days(start, after, last calendar.Wall) iter.Seq[int] {
	return func(yield func(int) bool) {
		first := dayNotAfter(start, start)
		from := first
		if r.Count == 0 && start.Before(after) {
			from = dayNotAfter(after, start)
		}
		end := min(dayNotAfter(last, start), dayNotAfter(LastStart(), start))
		if !r.Until.IsZero() {
			end = min(end, dayNotAfter(r.Until, start))
		}
		if r.IsZero() {
			if first <= end {
				yield(first)
			}
			return
		}
		n, previous := 0, first-1
		newExpansion(r, start).walk(from, end, func(day int) bool {
			switch {
			case day <= previous: // before the start, or moved by SKIP to a day that is named as well
				return true
			case day > end || !yield(day):
				return false
			}
			previous = day
			n++
			return n != r.Count
		})
	}
}

// dayNotAfter returns the last day on which an event with the time of day of clock starts no later than w. The
// result is in days since 1 January 1970.
func dayNotAfter(w, clock calendar.Wall) int {
	year, month, day := w.Date()
	n := dayNumber(year, month, day)
	if secondOfDay(clock) > secondOfDay(w) {
		n--
	}
	return n
}

// wallOnDay returns a wall time with the time of day of clock. day is its day, in days since 1 January 1970.
func wallOnDay(day int, clock calendar.Wall) calendar.Wall {
	hour, minute, second := clock.Clock()
	return calendar.WallAt(1970, time.January, 1+day, hour, minute, second)
}

func secondOfDay(w calendar.Wall) int {
	hour, minute, second := w.Clock()
	return (hour*60+minute)*60 + second
}

// dayNumber returns the number of days since 1 January 1970. It is negative for earlier days.
func dayNumber(year int, month time.Month, day int) int {
	// The year begins in March here, so that the leap day is its last day.
	y, m := year, int(month)-3
	if m < 0 {
		y, m = y-1, m+12
	}
	// The result is right for years from 1 on, in which no division has a negative operand.
	return 365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + day - 719469
}

// weekdayOf returns the weekday of a day, which is given in days since 1 January 1970.
func weekdayOf(day int) time.Weekday { return time.Weekday(((day+4)%7 + 7) % 7) }

// expansion computes the days of a rule, period by period.
//
// Years are of 28 kinds: the weekday of 1 January, and whether this year, the year before, the year after or none of
// these is a leap year. The neighbors matter for the weeks that two years share. For each kind, the days that the
// rule includes are computed once, day by day. Then a month needs only one look-up.
type expansion struct {
	rule  Rule
	start calendar.Wall
	kinds [28]*[12]uint32

	// The positions of BYSETPOS, by index from the start and from the end of the period.
	fromStart, fromEnd [maxPosition]bool
}

func newExpansion(r Rule, start calendar.Wall) *expansion {
	e := &expansion{rule: r.Complete(start), start: start}
	for _, n := range r.BySetPos {
		if n > 0 {
			e.fromStart[n-1] = true
		} else {
			e.fromEnd[-n-1] = true
		}
	}
	return e
}

// Complete returns an equivalent rule with all values explicit. It sets a missing interval to 1. A missing
// weekday, day or month becomes that of start.
func (r Rule) Complete(start calendar.Wall) Rule {
	r.Interval = max(r.Interval, 1)
	switch {
	case r.Freq == FreqDaily || len(r.ByDay)+len(r.ByMonthDay)+len(r.ByYearDay) > 0:
	case r.Freq == FreqWeekly, len(r.ByWeekNo) > 0:
		r.ByDay = []Weekday{{0, start.Weekday()}}
	default:
		_, month, day := start.Date()
		r.ByMonthDay = []int{day}
		if r.Freq == FreqYearly && len(r.ByMonth) == 0 {
			r.ByMonth = []int{int(month)}
		}
	}
	return r
}

// walk calls emit for the days that the rule includes, in ascending order, until emit returns false. It stops
// after the period that contains the day end.
//
// It may emit days before the start of the event and after end, so emit must filter them. It skips most periods
// that end before the day from. With SKIP it may emit a day twice in succession. Days are counted since 1 January
// 1970.
func (e *expansion) walk(from, end int, emit func(day int) bool) {
	first := dayNotAfter(e.start, e.start)
	// skipped returns the length of the whole intervals of periods that end before from. A day that SKIP moves is at most
	// one period later.
	skipped := func(until, length int) int { return max(until/length-2, 0) * length }
	switch e.rule.Freq {
	case FreqDaily:
		e.walkDays(first+skipped(from-first, e.rule.Interval), 1, end, emit)
	case FreqWeekly:
		back := (e.start.Weekday() - e.rule.WeekStart + 7) % 7
		e.walkDays(first-int(back)+skipped(from-first, 7*e.rule.Interval), 7, end, emit)
	case FreqMonthly:
		const longest = 31 // days of a month
		e.walkMonths(e.firstMonth().add(skipped((from-first)/longest, e.rule.Interval)), 1, end, emit)
	case FreqYearly:
		const longest = 366 // days of a year
		year, _, _ := e.start.Date()
		e.walkMonths(month{year + skipped((from-first)/longest, e.rule.Interval), time.January}, 12, end, emit)
	}
}

// walkDays calls emit for the days of a daily or weekly rule, in ascending order. It stops when emit returns false. A
// period has size days. The first one begins on day number first, counted from 1 January 1970. The interval n of the
// rule means that only every nth period counts. No period begins after day number end.
func (e *expansion) walkDays(first, size, end int, emit func(day int) bool) {
	year, m, _ := wallOnDay(first, e.start).Date()
	current := month{year, m}
	from, next, named := current.firstDay(), current.add(1).firstDay(), e.daysIn(current)
	var set []int
	for period := first; period <= end; period += size * e.rule.Interval {
		set = set[:0]
		for day := period; day < period+size; day++ {
			for day >= next {
				current = current.add(1)
				from, next, named = next, next+current.length(), e.daysIn(current)
			}
			if named>>(day-from)&1 == 1 {
				set = append(set, day)
			}
		}
		if !e.emitPositions(set, emit) {
			return
		}
	}
}

// walkMonths calls emit for the days of a monthly or yearly rule, in ascending order. It stops when emit returns
// false. A period has size months, and the first one begins with the month first. No period begins after day number
// end, counted from 1 January 1970.
func (e *expansion) walkMonths(first month, size, end int, emit func(day int) bool) {
	var set []int
	for period := first; period.firstDay() <= end; period = period.add(size * e.rule.Interval) {
		set = set[:0]
		for i := range size {
			m := period.add(i)
			from := m.firstDay()
			for named := e.daysIn(m); named != 0; named &= named - 1 {
				set = append(set, from+bits.TrailingZeros32(named))
			}
		}
		if !e.emitPositions(set, emit) {
			return
		}
	}
}

// emitPositions calls emit for the days of one period, until emit returns false. Then it returns false too. If the
// rule has BYSETPOS, it calls emit only for the days at those positions. The parameter set has the days that the
// other parts include.
func (e *expansion) emitPositions(set []int, emit func(day int) bool) bool {
	for i, day := range set {
		if len(e.rule.BySetPos) > 0 && !e.fromStart[i] && !e.fromEnd[len(set)-1-i] {
			continue
		}
		if !emit(day) {
			return false
		}
	}
	return true
}

// firstMonth returns the month from which a monthly rule counts its periods. It is the month of the start, or
// the month before if SKIP=FORWARD moved the start out of that month.
func (e *expansion) firstMonth() month {
	year, m, day := e.start.Date()
	own := month{year, m}
	before := own.add(-1)
	if day == 1 && e.daysIn(own)&1 == 0 && e.daysIn(before)>>before.length()&1 == 1 {
		return before
	}
	return own
}

// daysIn returns the days of a month that the rule includes, as bits: bit 0 is the first day. The bit after the
// last day is the first day of the next month, to which SKIP=FORWARD moves a day that the month lacks.
func (e *expansion) daysIn(m month) uint32 {
	kind := weekdayOf(dayNumber(m.year, time.January, 1))
	switch {
	case isLeap(m.year):
		kind += 7
	case isLeap(m.year - 1):
		kind += 14
	case isLeap(m.year + 1):
		kind += 21
	}
	if e.kinds[kind] == nil {
		e.kinds[kind] = e.daysInYear(m.year)
	}
	return e.kinds[kind][m.month-1]
}

// daysInYear returns the values of daysIn for all months of a year.
func (e *expansion) daysInYear(year int) *[12]uint32 {
	var all [12]uint32
	for i := range all {
		m := month{year, time.Month(i + 1)}
		if len(e.rule.ByMonth) > 0 && !slices.Contains(e.rule.ByMonth, i+1) {
			continue
		}
		length := m.length()
		for day := 1; day <= length; day++ {
			if e.includesDay(m, day) {
				all[i] |= 1 << (day - 1)
			}
		}
		lacking := func(n int) bool { return max(n, -n) > length }
		switch moved := slices.ContainsFunc(e.rule.ByMonthDay, lacking); {
		case moved && e.rule.Skip == SkipBackward:
			all[i] |= 1 << (length - 1)
		case moved && e.rule.Skip == SkipForward:
			all[i] |= 1 << length
		}
	}
	return &all
}

// includesDay reports whether a day of a month satisfies BYWEEKNO, BYYEARDAY, BYMONTHDAY and BYDAY. The parameter
// day counts from 1.
func (e *expansion) includesDay(m month, day int) bool {
	length := m.length()
	number := m.firstDay() + day - 1
	first, next := dayNumber(m.year, time.January, 1), dayNumber(m.year+1, time.January, 1)
	if days := e.rule.ByYearDay; len(days) > 0 &&
		!slices.Contains(days, number-first+1) && !slices.Contains(days, number-next) {
		return false
	}
	if list := e.rule.ByWeekNo; len(list) > 0 {
		week, weeks := e.rule.weekOf(number)
		if !slices.Contains(list, week) && !slices.Contains(list, week-weeks-1) {
			return false
		}
	}
	if days := e.rule.ByMonthDay; len(days) > 0 &&
		!slices.Contains(days, day) && !slices.Contains(days, day-length-1) {
		return false
	}
	if len(e.rule.ByDay) == 0 {
		return true
	}
	weekday := weekdayOf(number)
	left := length - day // days of the month after this one
	if e.rule.Freq == FreqYearly && len(e.rule.ByMonth) == 0 {
		day, left = number-first+1, next-number-1
	}
	return slices.ContainsFunc(e.rule.ByDay, func(w Weekday) bool {
		return w.Day == weekday && (w.Ordinal == 0 || w.Ordinal == (day-1)/7+1 || w.Ordinal == -left/7-1)
	})
}

// weekOf returns the number of the week of a day, and the number of weeks in the year of that week. The day is in days
// since 1 January 1970. A week belongs to the year that has at least four of its days (RFC 5545, section 3.3.10).
func (r Rule) weekOf(day int) (week, weeks int) {
	first := func(year int) int {
		fourth := dayNumber(year, time.January, 4)
		return fourth - int(weekdayOf(fourth)-r.WeekStart+7)%7
	}
	year, _, _ := wallOnDay(day, calendar.Wall{}).Date()
	switch {
	case day < first(year):
		year--
	case day >= first(year+1):
		year++
	}
	return (day-first(year))/7 + 1, (first(year+1) - first(year)) / 7
}

// month is a month in a certain year.
type month struct {
	year  int
	month time.Month
}

// add returns the month n months later.
func (m month) add(n int) month {
	n += m.year*12 + int(m.month) - 1
	return month{n / 12, time.Month(n%12 + 1)}
}

// firstDay returns the first day of the month, in days since 1 January 1970.
func (m month) firstDay() int { return dayNumber(m.year, m.month, 1) }

// length returns the number of days in the month.
func (m month) length() int {
	switch m.month {
	case time.February:
		if isLeap(m.year) {
			return 29
		}
		return 28
	case time.April, time.June, time.September, time.November:
		return 30
	}
	return 31
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }
