package ruletext

import (
	"slices"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// date is a calendar day. Year 0 means every year.
type date struct{ year, month, day int }

func dateOf(w calendar.Wall) date {
	year, month, day := w.Date()
	return date{year, int(month), day}
}

// datesOf returns the days of wall times, without repeats. The wall times must be sorted.
func datesOf(walls []calendar.Wall) []date {
	var all []date
	for _, w := range walls {
		all = append(all, dateOf(w))
	}
	return slices.Compact(all)
}

// changes returns the exceptions of a schedule. The result added has its starts that the simplified rule r does not
// produce. The result removed has the starts of the rule that the schedule excludes.
func changes(s recur.Schedule, r recur.Rule) (added, removed []calendar.Wall) {
	ruled := ruledDates(s, r)
	for _, w := range s.RDate {
		if !containsWall(s.ExDate, w) && !containsWall(ruled, w) {
			added = append(added, w)
		}
	}
	for _, w := range s.ExDate {
		if !containsWall(s.RDate, w) || containsWall(ruled, w) {
			removed = append(removed, w)
		}
	}
	return added, removed
}

// maxYears limits the expansion of a rule, in years after the start. Later starts in RDATE count as exceptions to the
// rule.
const maxYears = 100

// ruledDates returns the starts in RDATE that the rule also produces. The text does not mention them.
func ruledDates(s recur.Schedule, r recur.Rule) []calendar.Wall {
	// The time of day and the weekday rule out most dates without expanding the rule.
	far := s.Start.AddDate(maxYears, 0, 0)
	likely := slices.DeleteFunc(slices.Clone(s.RDate), func(w calendar.Wall) bool {
		onWeekday := func(d recur.Weekday) bool { return d.Day == w.Weekday() }
		return far.Before(w) || !sameClock(w, s.Start) || len(r.ByDay) > 0 && !slices.ContainsFunc(r.ByDay, onWeekday)
	})
	if len(likely) == 0 {
		return nil
	}
	var ruled []calendar.Wall
	for w := range r.Starts(s.Start, likely[0].Add(-time.Second), likely[len(likely)-1]) {
		for likely[0].Before(w) {
			likely = likely[1:]
		}
		if likely[0].Equal(w) {
			ruled = append(ruled, w)
		}
	}
	return ruled
}

// lastDay returns the last day on which the rule can have a start. This is the day of UNTIL. It is the day before
// if the time of UNTIL is earlier than the time of day of the starts.
func lastDay(s recur.Schedule) date {
	until := s.Rule.Until
	hour, minute, second := s.Start.Clock()
	year, month, day := until.Date()
	if until.Before(calendar.WallAt(year, month, day, hour, minute, second)) {
		until = until.AddDate(0, 0, -1)
	}
	return dateOf(until)
}

func containsWall(walls []calendar.Wall, w calendar.Wall) bool {
	return slices.ContainsFunc(walls, w.Equal)
}

func sameClock(v, w calendar.Wall) bool {
	return v.Sub(v.StartOfDay()) == w.Sub(w.StartOfDay())
}

// starts lists the first days of a schedule in words. Format uses it if no words describe the rule.
func (w *writer) starts(s recur.Schedule) string {
	var all []calendar.Wall
	complete := true
	for start := range s.Starts(calendar.Wall{}, recur.LastStart()) {
		if len(all) == recur.MaxOccurrences || !s.Ends() && len(datesOf(all)) > listSample {
			complete = false
			break
		}
		all = append(all, start)
	}
	days := datesOf(all)
	if len(days) == 0 {
		return w.say("schedule-no-dates", nil)
	}
	timed := slices.ContainsFunc(all, func(start calendar.Wall) bool { return !sameClock(start, s.Start) })
	if complete && len(days) <= listLimit {
		return w.say("schedule-dates", arguments{"Dates": w.startList(all, timed)})
	}
	others := slices.IndexFunc(all, func(start calendar.Wall) bool { return dateOf(start) == days[listSample] })
	args := arguments{"Dates": w.startList(all[:others], timed)}
	if !complete {
		return w.say("schedule-dates-later", args)
	}
	args["Count"], args["Last"] = len(days)-listSample, w.date(days[len(days)-1])
	return w.say("schedule-dates-more", args)
}

// startList lists the days of starts in words. If timed is true, it adds the times of day.
func (w *writer) startList(starts []calendar.Wall, timed bool) string {
	if !timed {
		return w.dateList(datesOf(starts))
	}
	var items []string
	for i := 0; i < len(starts); {
		day := dateOf(starts[i])
		var times []string
		for ; i < len(starts) && dateOf(starts[i]) == day; i++ {
			times = append(times, w.time(starts[i]))
		}
		items = append(items, w.dayArticle+w.date(day)+" "+w.timeList(times))
	}
	return w.join(items)
}

// timeList joins times of day that begin with a preposition, as in "at 09:00 and 11:00". If vocabulary.timesInFull is
// true, it repeats the preposition.
func (w *writer) timeList(times []string) string {
	if w.timesInFull {
		return w.join(times)
	}
	return w.joinPhrases(times)
}

// time returns the time of day of a start with its preposition, such as "at 09:00".
func (w *writer) time(start calendar.Wall) string {
	hour, _, second := start.Clock()
	clock := start.Format(":04")
	if second > 0 {
		clock = start.Format(":04:05")
	}
	return w.timeOfDay(hour, strconv.Itoa(hour)+clock)
}

// date returns a day without an article, such as "3 May 2027".
func (w *writer) date(d date) string {
	return strconv.Itoa(d.day) + w.dateSeparator + w.months[d.month-1] + w.dateSeparator + strconv.Itoa(d.year)
}

// dateList returns a list of days with their articles, such as "3 and 10 May 2027". It writes the common month or
// year of successive days once.
func (w *writer) dateList(days []date) string {
	var items, numbers []string
	for i, d := range days {
		numbers = append(numbers, strconv.Itoa(d.day))
		later := days[i+1:]
		if len(later) > 0 && later[0].month == d.month && later[0].year == d.year {
			continue
		}
		item := w.dayArticle
		if len(numbers) > 1 {
			item = w.daysArticle
		}
		item += w.join(numbers) + w.dateSeparator + w.months[d.month-1]
		if d.year > 0 && (len(later) == 0 || later[0].year != d.year) {
			item += w.dateSeparator + strconv.Itoa(d.year)
		}
		items, numbers = append(items, item), nil
	}
	return w.join(items)
}
