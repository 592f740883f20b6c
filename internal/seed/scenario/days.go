package scenario

import (
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// fillDays finds out which days of the calendar are public holidays, and when the clocks change in each city.
func (c *Calendar) fillDays() error {
	end := c.o.From.AddDate(0, c.o.Months, 0)
	c.holidays = map[int]map[yearDay]bool{}
	for n := 0; c.day(n).Before(end); n++ {
		c.publicHolidays = append(c.publicHolidays, c.isHoliday(c.day(n)))
	}
	for i := range c.cities {
		c.cities[i].changes = c.clockChanges(c.cities[i].zone)
	}
	return nil
}

// day returns midnight at the start of day n, counted from 0 at the first day of the calendar.
func (c *Calendar) day(n int) calendar.Wall { return c.o.From.AddDate(0, 0, n) }

// weekday returns the weekday of a day; 0 is Monday.
func (c *Calendar) weekday(day int) int {
	return ((int(c.o.From.Weekday())+6+day)%7 + 7) % 7
}

// isHoliday reports whether a day is a public holiday in any city of the calendar.
func (c *Calendar) isHoliday(w calendar.Wall) bool {
	year, month, day := w.Date()
	if c.holidays[year] == nil {
		c.holidays[year] = map[yearDay]bool{}
		for _, in := range c.cities {
			maps.Copy(c.holidays[year], holidaysIn(in.closed, year))
		}
	}
	return c.holidays[year][yearDay{month, day}]
}

// month returns the month of a day, from 1. South of the equator it returns the northern month of the same season: 7
// for January. It does not do so if the scenario has cities in several countries.
func (c *Calendar) month(day int) int {
	_, month, _ := c.day(day).Date()
	if c.cities[0].lat < 0 && (c.plan.Country || !c.plan.Cities) {
		month += 6
	}
	return (int(month)-1)%12 + 1
}

// hasSeasons reports whether the first city has summers and winters: it is at least 12 degrees from the equator.
func (c *Calendar) hasSeasons() bool { return math.Abs(c.cities[0].lat) >= 12 }

// inSeason reports whether a month is in a season, given as its first and last month. {0, 0} means all year. The month
// must come from Calendar.month, which adjusts for the southern hemisphere.
func inSeason(month int, season [2]int) bool {
	switch first, last := season[0], season[1]; {
	case first == 0:
		return true
	case first <= last:
		return first <= month && month <= last
	default:
		return first <= month || month <= last
	}
}

// suits reports whether an event of a kind may take place on a day and the next days. The parameter after is the
// number of these next days. No day may be a public holiday.
func (c *Calendar) suits(k *eventKind, day, after int) bool {
	if day < 0 || day+after >= len(c.publicHolidays) || !inSeason(c.month(day), k.Months) ||
		len(k.days) > 0 && !slices.Contains(k.days, c.weekday(day)) {
		return false
	}
	for d := day; d <= day+after; d++ {
		if c.publicHolidays[d] {
			return false
		}
	}
	return true
}

// fillKindDays sets k.full, the cumulative weights by which days are chosen for events of a kind. If no day suits the
// kind, all weights are 0.
func (c *Calendar) fillKindDays(k *eventKind) {
	after := 0
	if len(k.starts) == 0 && k.Lasts[1] <= 3 {
		after = k.Lasts[1] - 1
	}
	switch k.Role {
	case festivalRole:
		after = c.plan.Fests.Days[1] - 1
	case courseRole:
		after = 0
	}
	total := uint64(0)
	k.full = make([]uint64, len(c.publicHolidays))
	for day := range c.publicHolidays {
		if c.suits(k, day, after) && (k.Role != courseRole || c.suitsLessons(k, day)) &&
			(k.Role != festivalRole || inSeason(c.month(day), c.plan.Fests.Months)) {
			weight := c.plan.Weekdays[c.weekday(day)]
			if len(k.days) > 0 { // a day that the kind names twice has twice the weight
				weight = 0
				for _, d := range k.days {
					if d == c.weekday(day) {
						weight++
					}
				}
			}
			total += uint64(weight * c.plan.Months[c.month(day)-1])
		}
		k.full[day] = total
	}
}

// lessonInterval returns the number of days between two lessons of a course. It is 7, or 1 if the calendar is too short
// for weekly lessons.
func (c *Calendar) lessonInterval() int {
	if len(c.publicHolidays) < 7*lessonsOfCourse+7 {
		return 1
	}
	return 7
}

// suitsLessons reports whether all lessons of a course that begins on a day can take place. Daily lessons must begin
// on a Monday.
func (c *Calendar) suitsLessons(k *eventKind, day int) bool {
	weekly := c.lessonInterval()
	if weekly == 1 && c.weekday(day) != 0 {
		return false
	}
	for n := range lessonsOfCourse {
		if at := day + n*weekly; at >= len(c.publicHolidays) || c.publicHolidays[at] || c.inBreak(at) {
			return false
		}
	}
	return true
}

// inBreak reports whether a day is in the winter break, from 22 December to 2 January.
func (c *Calendar) inBreak(day int) bool {
	_, month, d := c.day(day).Date()
	return month == time.December && d > 21 || month == time.January && d < 3
}

// dayOf chooses a day for event n of a kind with count events. Later events get later days. The kind must have a
// possible day.
func (k *eventKind) dayOf(n, count int, source *randomSource) int {
	total := k.full[len(k.full)-1]
	part := (float64(n) + float64(source.below(1000))/1000) / float64(max(count, 1))
	at := min(uint64(float64(total)*part), total-1)
	return sort.Search(len(k.full), func(i int) bool { return k.full[i] > at })
}

// hasDayAndVenue reports whether events of the kind have a possible day and, unless they are online, a possible
// venue.
func (c *Calendar) hasDayAndVenue(k *eventKind) bool {
	if k.full[len(k.full)-1] == 0 {
		return false
	}
	return len(k.At) == 0 || slices.ContainsFunc(k.At, func(typ string) bool { return len(c.venueIndex.byType[typ]) > 0 })
}

// clock is a time of day at which events begin. If dusk or dark is set, it is relative to the sunset.
type clock struct {
	minute     int // minutes after midnight
	dusk, dark bool
}

// at returns the time in minutes after midnight, on a day in a city.
func (t clock) at(c *Calendar, city, day int) int {
	switch {
	case t.dusk:
		return c.dusk(city, day)
	case t.dark:
		return c.dark(city, day)
	}
	return t.minute
}

// clockChanges returns the numbers of the days after which, in the night, the clocks of the zone change.
func (c *Calendar) clockChanges(zone calendar.Zone) []int {
	var days []int
	offset := func(day int) int {
		_, seconds := zone.Instant(c.day(day).Add(12 * time.Hour)).In(zone.Location()).Zone()
		return seconds
	}
	before := offset(0)
	for day := range len(c.publicHolidays) - 1 {
		after := offset(day + 1)
		if after != before {
			days = append(days, day)
		}
		before = after
	}
	return days
}
