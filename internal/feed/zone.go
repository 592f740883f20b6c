package feed

import (
	"fmt"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// zoneRule describes the UTC offsets of a zone from some year on. It has the form of a VTIMEZONE with one STANDARD
// and at most one DAYLIGHT. Many programs understand only that form.
type zoneRule struct {
	name   string
	offset int           // seconds east of UTC, for a clock that never changes
	abbr   string        // abbreviation, for a clock that never changes
	onsets []clockChange // the two clock changes of a year, in order; empty means none
}

// clockChange is a change of the clock that recurs every year.
type clockChange struct {
	month    time.Month
	week     int // week of the month, 1 to 4; -1 means the last
	day      time.Weekday
	clock    int // time of the change on the old clock, in seconds of the day
	from, to int // seconds east of UTC before and after the change
	abbr     string
}

const (
	firstYear = 1970 // year in which the written rules begin
	lastYear  = 2035 // last year to which ical.js and libical expand rules
	ruleYears = 12   // years to check; within them every date falls on every weekday
)

// ruleOf returns the rule that a zone follows from the beginning of a year on. It returns nil for offsets, for
// UTC, and for zones with other kinds of changes, such as the day after the last Thursday.
func ruleOf(zone calendar.Zone, year int) *zoneRule {
	if zone.IsOffset() || zone.String() == "UTC" {
		return nil
	}
	rule := &zoneRule{name: zone.String()}
	rule.abbr, rule.offset = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).In(zone.Location()).Zone()
	var weeks []weekSet // weeks that each change was in so far
	for y := range ruleYears {
		changes, in := clockChanges(zone.Location(), year+y)
		if y == 0 {
			rule.onsets, weeks = changes, in
		}
		if n := len(changes); n != len(rule.onsets) || n != 0 && n != 2 {
			return nil
		}
		for i := range changes {
			weeks[i] &= in[i]
			if changes[i] != rule.onsets[i] || weeks[i] == 0 {
				return nil
			}
		}
	}
	for i := range rule.onsets {
		rule.onsets[i].week = weeks[i].any()
	}
	return rule
}

// weekSet is a set of weeks of a month. Bit 0 is the last week, bits 1 to 4 are the first four.
type weekSet uint8

// any returns one week of the set: 1 to 4, or -1 for the last.
func (s weekSet) any() int {
	for week := 1; week <= 4; week++ {
		if s&(1<<week) != 0 {
			return week
		}
	}
	return -1
}

// clockChanges returns the clock changes of a zone in a UTC year. The weeks of the changes are not set. The result
// weeks has the possible weeks of each change. It ignores transitions of the zone that do not change the clock.
func clockChanges(loc *time.Location, year int) (changes []clockChange, weeks []weekSet) {
	next := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
	at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).In(loc)
	for {
		_, end := at.ZoneBounds()
		// On the last day of a leap year after 2037, ZoneBounds returns its own instant as the end.
		if end.IsZero() || !end.Before(next) || !end.After(at) {
			return changes, weeks
		}
		_, from := at.Zone()
		at = end.In(loc)
		abbr, to := at.Zone()
		if from == to {
			continue
		}
		wall := end.UTC().Add(time.Duration(from) * time.Second)
		var in weekSet
		if week := (wall.Day()-1)/7 + 1; week <= 4 {
			in |= 1 << week
		}
		if wall.AddDate(0, 0, 7).Month() != wall.Month() {
			in |= 1
		}
		if from%60 != 0 || to%60 != 0 {
			in = 0 // HHMM offsets cannot express seconds
		}
		hour, minute, second := wall.Clock()
		changes = append(changes, clockChange{
			month: wall.Month(), day: wall.Weekday(), clock: hour*3600 + minute*60 + second, from: from, to: to, abbr: abbr,
		})
		weeks = append(weeks, in)
	}
}

// in returns the time of the change in a year, as wall time before the change, stored as UTC.
func (o *clockChange) in(year int) time.Time {
	first := time.Date(year, o.month, 1, 0, 0, o.clock, 0, time.UTC)
	day := (int(o.day) - int(first.Weekday()) + 7) % 7
	if o.week > 0 {
		return first.AddDate(0, 0, day+7*(o.week-1))
	}
	last := first.AddDate(0, 0, day+7*4)
	if last.Month() != o.month {
		last = last.AddDate(0, 0, -7)
	}
	return last
}

// resolves reports whether every reader of the rule maps the wall time of an instant back to that instant. It
// is false for times that the clock shows twice, because some readers take the second. at must be in the zone.
func (r *zoneRule) resolves(at time.Time) bool {
	_, offset := at.Zone()
	year := at.Year()
	if year < firstYear || year > lastYear {
		return false
	}
	if len(r.onsets) == 0 {
		return offset == r.offset
	}
	local := at.Unix() + int64(offset)
	ruled := r.onsets[0].from
	for i := range r.onsets {
		o := &r.onsets[i]
		change := o.in(year).Unix()
		switch {
		case local >= change:
			ruled = o.to
		case local >= change-int64(o.from-o.to):
			return false // the clock shows this time twice
		case i == 0 && year == firstYear:
			return false // before the first change of the rule
		}
	}
	return offset == ruled
}

// RuleCovers reports whether all instants can be written as wall times of a zone in an iCalendar file. The file
// describes the zone by the rule that it follows from year on.
func RuleCovers(zone calendar.Zone, year int, instants ...time.Time) bool {
	rule := ruleOf(zone, year)
	for _, at := range instants {
		if rule == nil || !rule.resolves(at.In(zone.Location())) {
			return false
		}
	}
	return true
}

// zone writes the VTIMEZONE of a rule.
func (w *icalWriter) zone(r *zoneRule) {
	w.raw("BEGIN", "VTIMEZONE")
	w.raw("TZID", r.name)
	if len(r.onsets) == 0 {
		w.raw("BEGIN", "STANDARD")
		w.raw("DTSTART", "19700101T000000")
		w.raw("TZOFFSETFROM", offsetText(r.offset))
		w.raw("TZOFFSETTO", offsetText(r.offset))
		w.text("TZNAME", r.abbr)
		w.raw("END", "STANDARD")
	}
	for i := range r.onsets {
		o := &r.onsets[i]
		// Readers require one STANDARD. The zone database treats Dublin's winter time as negative daylight
		// saving.
		kind := "STANDARD"
		if o.to > o.from {
			kind = "DAYLIGHT"
		}
		day := strings.ToUpper(o.day.String()[:2])
		w.raw("BEGIN", kind)
		w.raw("DTSTART", o.in(firstYear).Format(wallLayout))
		w.raw("RRULE", fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d;BYDAY=%d%s", o.month, o.week, day))
		w.raw("TZOFFSETFROM", offsetText(o.from))
		w.raw("TZOFFSETTO", offsetText(o.to))
		w.text("TZNAME", o.abbr)
		w.raw("END", kind)
	}
	w.raw("END", "VTIMEZONE")
}

// offsetText formats seconds east of UTC, such as +0200.
func offsetText(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
}
