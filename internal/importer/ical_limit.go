package importer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// limitDates returns the schedule, shortened if it has more occurrences than one write can store. It first drops the
// oldest past dates. If there are still too many, it replaces the rule by a list of the next dates.
func (r *icalReader) limitDates(o icalObject, s recur.Schedule) (recur.Schedule, error) {
	now := s.Zone.Wall(r.now)
	last := recur.LastStart()
	if s.IsLong() {
		last = now.AddDate(0, importMonths, 0)
		if last.Before(s.Start) {
			last = s.Start
		}
	}
	_, err := s.Expand(last, recur.MaxOccurrences)
	if refused, ok := errors.AsType[*recur.Error](err); !ok || refused.Reason != recur.TooManyOccurrences {
		return s, err
	}
	ahead := 0
	for range s.Starts(now, last) {
		if ahead++; ahead == recur.MaxOccurrences {
			break
		}
	}
	// The oldest date to keep, and the first start of the rule from there.
	past := lastStarts(s, now)
	before := calendar.Wall{} // all past dates that may be kept are later
	if len(past) > recur.MaxOccurrences {
		before = past[len(past)-recur.MaxOccurrences-1]
	}
	kept := slices.Collect(s.Starts(before, now))
	if n := recur.MaxOccurrences - ahead; len(kept) > n {
		kept = kept[len(kept)-n:]
	}
	dropped := len(past)
	if len(kept) > 0 {
		dropped, _ = slices.BinarySearchFunc(past, kept[0], calendar.Wall.Compare)
	}
	if dropped == len(past) { // the rule has no past date to begin with
		dates := kept
		for w := range s.Starts(now, last) {
			if len(dates) == recur.MaxOccurrences {
				break
			}
			dates = append(dates, w)
		}
		if len(dates) == 0 {
			return s, err
		}
		o.notice("RRULE", fmt.Sprintf("more than %d dates; those from %s to %s are taken", len(dates), dates[0], dates[len(dates)-1]))
		return recur.Schedule{Span: s.MoveStart(dates[0]), RDate: dates}, nil
	}
	start := past[dropped]
	rule := s.Rule.Complete(s.Start)
	if rule.Count > 0 {
		rule.Count -= dropped
	}
	cut := recur.Schedule{Span: s.MoveStart(start), Rule: rule}
	later := func(list []calendar.Wall) []calendar.Wall {
		return slices.DeleteFunc(slices.Clone(list), func(w calendar.Wall) bool { return w.Before(start) })
	}
	cut.RDate, cut.ExDate = later(s.RDate), later(s.ExDate)
	o.notice("RRULE", fmt.Sprintf("more than %d dates; those before %s are left out", recur.MaxOccurrences, start))
	_, err = cut.Expand(last, recur.MaxOccurrences)
	return cut, err
}

// lastStarts returns the latest starts of a schedule's rule up to now, in ascending order. For a rule with COUNT it
// returns all. Otherwise it returns at least the last recur.MaxOccurrences if there are so many.
func lastStarts(s recur.Schedule, now calendar.Wall) (past []calendar.Wall) {
	for years := 3; ; years *= 10 {
		after := calendar.Wall{}
		if from := now.AddDate(-min(years, 9000), 0, 0); s.Rule.Count == 0 && s.Start.Before(from) {
			after = from
		}
		past = past[:0]
		for w := range s.Rule.Starts(s.Start, after, now) {
			past = append(past, w)
		}
		if len(past) >= recur.MaxOccurrences || after.IsZero() {
			return past
		}
	}
}

// importMonths is how many months ahead the dates of a long schedule are counted. It is not less than the horizon of
// stored occurrences.
const importMonths = 26

// datesToKeep returns up to most successive dates of a sorted list, beginning with the first date from now on. If
// fewer follow, it begins earlier.
func datesToKeep(dates []calendar.Wall, now calendar.Wall, most int) []calendar.Wall {
	if len(dates) <= most {
		return dates
	}
	ahead, _ := slices.BinarySearchFunc(dates, now, calendar.Wall.Compare)
	from := min(ahead, len(dates)-most)
	return dates[from : from+most]
}

// maxDates is the maximum length of each of the lists RDATE, EXDATE and changed dates of a series. It also limits
// how many events joinDates joins.
const maxDates = recur.MaxOccurrences
