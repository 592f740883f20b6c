package ruletext

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// simplify returns an equivalent rule that is easy to describe. It names each weekday, day and month, and has the
// shortest possible period. A daily rule on Mondays becomes a weekly one. Equivalent rules often become equal. The
// time start must be a start of the rule.
func simplify(r recur.Rule, start calendar.Wall) recur.Rule {
	r = r.Complete(start)
	if len(r.ByDay) == 7 && isPlain(r.ByDay) && (r.Freq == recur.FreqDaily || len(r.ByMonthDay) > 0) {
		r.ByDay = nil
	}
	if len(r.ByMonth) == 12 && r.Freq != recur.FreqYearly {
		r.ByMonth = nil
	}
	r = simplifyPlaces(r)
	r = simplifyPeriod(r, start)
	r = simplifyDayBlock(r)
	r = simplifyLackingDay(r)
	lacking := missingMonthDays(r)
	if r.Skip == recur.SkipBackward && slices.Contains(lacking, 31) {
		// The 31st is the last day of a month, or moves to it.
		others := slices.DeleteFunc(slices.Clone(r.ByMonthDay), func(n int) bool { return n == 31 || n == -1 })
		r.ByMonthDay = slices.Concat(others, []int{-1})
		lacking = missingMonthDays(r)
	}
	if len(lacking) == 0 {
		r.Skip = recur.SkipOmit
	}
	if r.Freq != recur.FreqWeekly || len(r.BySetPos) == 0 && (r.Interval == 1 || sameWeeks(r, start)) {
		r.WeekStart = time.Monday
	}
	return r
}

// simplifyLackingDay replaces a day that its months lack, such as 31 April, by the day to which SKIP moves it.
func simplifyLackingDay(r recur.Rule) recur.Rule {
	if len(r.ByMonth) != 1 || len(r.ByMonthDay) != 1 || len(r.ByDay)+len(r.BySetPos) > 0 || r.ByMonthDay[0] < 0 {
		return r
	}
	month := r.ByMonth[0]
	never := r.ByMonthDay[0] > longestMonth(month)
	switch {
	case r.Skip == recur.SkipBackward && (never || month == 2 && r.ByMonthDay[0] == 29):
		r.ByMonthDay = []int{-1}
	case r.Skip == recur.SkipForward && never: // a month without a 31st is never December
		r.ByMonth, r.ByMonthDay = []int{month + 1}, []int{1}
	}
	return r
}

// simplifyPlaces replaces BYSETPOS by ordinals in BYDAY, or by BYMONTHDAY, if these give the same days.
func simplifyPlaces(r recur.Rule) recur.Rule {
	if len(r.BySetPos) == 0 {
		return r
	}
	inMonth := r.Freq == recur.FreqMonthly || r.Freq == recur.FreqYearly && len(r.ByMonth) == 1
	inYear := r.Freq == recur.FreqYearly && len(r.ByMonth) == 0
	weekdays := len(r.ByMonthDay) == 0 && isPlain(r.ByDay)
	monthDays := inMonth && len(r.ByDay) == 0
	places := r.BySetPos
	switch {
	case r.Freq == recur.FreqDaily,
		r.Freq == recur.FreqWeekly && len(r.ByDay) == 1,
		monthDays && len(r.ByMonthDay) == 1,
		(inMonth || inYear) && len(r.ByDay) == 1 && !isPlain(r.ByDay):
		// No period has two days. As the start is at a place of BYSETPOS, all days are.
	case r.Freq == recur.FreqWeekly && len(r.ByMonth) == 0:
		r.ByDay = sortFrom(time.Monday, pickPlaces(sortFrom(r.WeekStart, r.ByDay), places))
	case weekdays && inMonth && len(r.ByDay) == 7:
		r.ByMonthDay, r.ByDay = limitNumbers(places, 31), nil
	case weekdays && inMonth && len(r.ByDay) == 1:
		r.ByDay = ordinals(limitNumbers(places, 5), r.ByDay)
	case weekdays && inYear && len(r.ByDay) == 1:
		r.ByDay = ordinals(limitNumbers(places, 53), r.ByDay)
	case monthDays && !slices.ContainsFunc(r.ByMonthDay, func(n int) bool { return n < 0 || n > 28 }):
		r.ByMonthDay = pickPlaces(r.ByMonthDay, places)
	case monthDays && slices.Equal(places, []int{-1}) && r.ByMonthDay[0] == 28 && isRun(r.ByMonthDay):
		r.ByMonthDay, r.Skip = r.ByMonthDay[len(r.ByMonthDay)-1:], recur.SkipBackward
	default:
		return r
	}
	r.BySetPos = nil
	return r
}

// simplifyPeriod chooses the shortest frequency and interval that give the same starts.
func simplifyPeriod(r recur.Rule, start calendar.Wall) recur.Rule {
	_, startMonth, _ := start.Date()
	switch {
	case r.Freq == recur.FreqDaily && r.Interval == 1 && len(r.ByMonthDay) > 0:
		r.Freq = recur.FreqMonthly
	case r.Freq == recur.FreqDaily && r.Interval == 1 && len(r.ByDay) > 0:
		r.Freq = recur.FreqWeekly
	case r.Freq == recur.FreqDaily && r.Interval%7 == 0 && len(r.ByMonthDay) == 0:
		r.Freq, r.Interval, r.ByDay = recur.FreqWeekly, r.Interval/7, []recur.Weekday{{Day: start.Weekday()}}
	case r.Freq == recur.FreqMonthly && r.Skip == recur.SkipForward:
		// The start may have moved from a day of the month before.
	case r.Freq == recur.FreqMonthly && r.Interval%12 == 0:
		r.Freq, r.Interval, r.ByMonth = recur.FreqYearly, r.Interval/12, []int{int(startMonth)}
	case r.Freq == recur.FreqMonthly && 12%r.Interval == 0 && len(r.ByMonth) > 0:
		r.ByMonth = slices.DeleteFunc(slices.Clone(r.ByMonth), func(m int) bool { return (m-int(startMonth))%r.Interval != 0 })
		r.Interval = 1
	}
	ofYear := len(r.ByMonth) == 0 && !isPlain(r.ByDay)
	if r.Freq == recur.FreqYearly && r.Interval == 1 && !ofYear && (len(r.BySetPos) == 0 || len(r.ByMonth) == 1) {
		r.Freq = recur.FreqMonthly
		if len(r.ByMonth) == 12 {
			r.ByMonth = nil
		}
	}
	if r.Freq == recur.FreqMonthly && r.Interval == 1 && len(r.BySetPos)+len(r.ByMonthDay) == 0 && isPlain(r.ByDay) {
		r.Freq = recur.FreqWeekly
	}
	if r.Freq == recur.FreqWeekly && r.Interval == 1 && len(r.BySetPos) == 0 && len(r.ByDay) == 7 {
		r.Freq, r.ByDay = recur.FreqDaily, nil
	}
	return r
}

// simplifyDayBlock replaces a weekday within seven successive days by an ordinal: the Monday among the days 1
// to 7 is the first Monday.
func simplifyDayBlock(r recur.Rule) recur.Rule {
	ofMonth := r.Freq == recur.FreqMonthly || r.Freq == recur.FreqYearly && len(r.ByMonth) > 0
	if !ofMonth || len(r.BySetPos) > 0 || len(r.ByDay) == 0 || !isPlain(r.ByDay) || len(r.ByMonthDay) != 7 {
		return r
	}
	first, last := r.ByMonthDay[0], r.ByMonthDay[6]
	switch {
	case !isRun(r.ByMonthDay):
		return r
	case last == -1:
		r.ByDay = ordinals([]int{-1}, r.ByDay)
	case first > 0 && last <= 28 && last%7 == 0:
		r.ByDay = ordinals([]int{last / 7}, r.ByDay)
	default:
		return r
	}
	r.ByMonthDay = nil
	return r
}

// sameWeeks reports whether the rule has the same starts if its weeks begin on Monday.
func sameWeeks(r recur.Rule, start calendar.Wall) bool {
	distance := func(w recur.Weekday, from time.Weekday) int {
		return int((w.Day-from+7)%7) - int((start.Weekday()-from+7)%7)
	}
	return !slices.ContainsFunc(r.ByDay, func(w recur.Weekday) bool {
		return distance(w, r.WeekStart) != distance(w, time.Monday)
	})
}

// missingMonthDays returns the days of BYMONTHDAY that some month of the rule lacks, such as 29 in February.
func missingMonthDays(r recur.Rule) []int {
	shortest := 28
	if len(r.ByMonth) > 0 {
		shortest = 31
	}
	for _, month := range r.ByMonth {
		if month == 2 {
			shortest = 28
		}
		shortest = min(shortest, longestMonth(month))
	}
	return slices.DeleteFunc(slices.Clone(r.ByMonthDay), func(n int) bool { return max(n, -n) <= shortest })
}

// longestMonth returns the number of days of a month, for February in a leap year.
func longestMonth(month int) int {
	return [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// isPlain reports whether none of the weekdays has an ordinal.
func isPlain(days []recur.Weekday) bool {
	return !slices.ContainsFunc(days, func(w recur.Weekday) bool { return w.Ordinal != 0 })
}

// isRun reports whether the numbers are consecutive and ascending.
func isRun(numbers []int) bool {
	for i, n := range numbers {
		if n != numbers[0]+i {
			return false
		}
	}
	return true
}

// sortFrom returns the weekdays in the order of a week that begins on first.
func sortFrom(first time.Weekday, days []recur.Weekday) []recur.Weekday {
	return slices.SortedFunc(slices.Values(days), func(a, b recur.Weekday) int {
		return int((a.Day-first+7)%7) - int((b.Day-first+7)%7)
	})
}

// isLongRun reports whether days of a month are a run of at least three days. The text then names only the first
// and last.
func isLongRun(days []int) bool { return len(days) > 2 && days[0] > 0 && isRun(days) }

// pickPlaces returns the items at the given places, which count from 1, or from -1 at the end.
func pickPlaces[T any](items []T, places []int) []T {
	var out []T
	for i, item := range items {
		if slices.Contains(places, i+1) || slices.Contains(places, i-len(items)) {
			out = append(out, item)
		}
	}
	return out
}

// limitNumbers returns the numbers from -most to most in a list, in its order.
func limitNumbers(numbers []int, most int) []int {
	return slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return max(n, -n) > most })
}

// ordinals returns all combinations of a weekday and a number, such as the first Monday.
func ordinals(numbers []int, days []recur.Weekday) []recur.Weekday {
	var out []recur.Weekday
	for _, n := range numbers {
		for _, w := range days {
			out = append(out, recur.Weekday{Ordinal: n, Day: w.Day})
		}
	}
	return out
}
