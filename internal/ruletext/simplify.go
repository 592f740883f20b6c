package ruletext

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// simplify returns an equivalent rule in the form that writer.rule expects. It names each weekday, day and month, and
// omits parts that have no effect. Calendar apps write some everyday rules in several ways: the first Monday is
// BYDAY=1MO, or BYDAY=MO with BYSETPOS=1. The time start must be a start of the rule.
func simplify(r recur.Rule, start calendar.Wall) recur.Rule {
	r = r.Complete(start)
	if r.Freq == recur.FreqDaily && r.Interval == 1 && len(r.ByDay) > 0 && len(r.ByMonthDay)+len(r.BySetPos) == 0 {
		r.Freq = recur.FreqWeekly
	}
	inMonth := r.Freq == recur.FreqMonthly || r.Freq == recur.FreqYearly && len(r.ByMonth) == 1
	if inMonth && len(r.BySetPos) > 0 && len(r.ByMonthDay) == 0 && len(r.ByDay) == 1 && r.ByDay[0].Ordinal == 0 {
		weekday := r.ByDay[0].Day
		r.ByDay = nil
		for _, n := range r.BySetPos {
			r.ByDay = append(r.ByDay, recur.Weekday{Ordinal: n, Day: weekday})
		}
		r.BySetPos = nil
	}
	if !slices.ContainsFunc(r.ByMonthDay, func(n int) bool { return mayLack(r, n) }) {
		r.Skip = recur.SkipOmit
	}
	if r.Freq != recur.FreqWeekly || len(r.BySetPos) == 0 && (r.Interval == 1 || sameWeeks(r, start)) {
		r.WeekStart = time.Monday
	}
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

// mayLack reports whether some month of the rule lacks day n, such as 29 in February. A negative n counts from the
// end.
func mayLack(r recur.Rule, n int) bool {
	shortest := 31
	for _, month := range r.ByMonth {
		shortest = min(shortest, [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1])
	}
	if len(r.ByMonth) == 0 {
		shortest = 28
	}
	return max(n, -n) > shortest
}
