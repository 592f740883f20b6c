package feed

import (
	"fmt"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// zoneRule describes the clock of a zone from some year on. It corresponds to a VTIMEZONE with one STANDARD and at most
// one DAYLIGHT. Readers that do not follow RFC 5545 closely understand only that form.
type zoneRule struct {
	name   string
	offset int           // seconds east of UTC, if the clock is never changed
	abbr   string        // abbreviation, if the clock is never changed
	onsets []clockChange // the two changes of a year in their order, or none
}

// clockChange is a change of the clock that comes every year.
type clockChange struct {
	month    time.Month
	week     int // 1 to 4, or -1 for the last one of the month
	day      time.Weekday
	clock    int // seconds of the day on the clock before the change
	from, to int // seconds east of UTC, before and after
	abbr     string
}

const (
	firstYear = 1970 // in which the rules begin
	lastYear  = 2035 // up to which ical.js and libical expand rules
	ruleYears = 12   // until each day of a month has been each day of the week
)

// ruleOf returns the rule that a zone keeps from the beginning of year on. There is none for offsets, for UTC, and for
// zones whose clocks are changed in other ways, such as on the day after the last Thursday.
func ruleOf(zone calendar.Zone, year int) *zoneRule {
	if zone.IsOffset() || zone.String() == "UTC" {
		return nil
	}
	rule := &zoneRule{name: zone.String()}
	rule.abbr, rule.offset = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).In(zone.Location()).Zone()
	var weeks []weekSet // of each onset, which weeks it was in so far
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

// weekSet is a set of weeks of a month: bit 0 is the last one, bits 1 to 4 are the first ones.
type weekSet uint8

// any returns a week of the set, as onset.week.
func (s weekSet) any() int {
	for week := 1; week <= 4; week++ {
		if s&(1<<week) != 0 {
			return week
		}
	}
	return -1
}

// clockChanges returns the changes of the clock in a year of UTC, without their weeks, and the weeks that each may be in. Zones
// have transitions that change nothing.
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
			in = 0 // not to be written in hours and minutes
		}
		hour, minute, second := wall.Clock()
		changes = append(changes, clockChange{
			month: wall.Month(), day: wall.Weekday(), clock: hour*3600 + minute*60 + second, from: from, to: to, abbr: abbr,
		})
		weeks = append(weeks, in)
	}
}

// in returns when the change takes place in a year, on the clock before it.
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

// resolves reports whether every reader of the rule takes what the clock of the zone shows at an instant for that
// instant. It does not where the clock shows the same twice: some readers take the second pass. at must be in the zone.
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
			return false // shown twice
		case i == 0 && year == firstYear:
			return false // before all onsets
		}
	}
	return offset == ruled
}

// RuleCovers reports whether the instants can be written as wall times of a zone, by the rule that the zone keeps from
// year on.
func RuleCovers(zone calendar.Zone, year int, instants ...time.Time) bool {
	rule := ruleOf(zone, year)
	for _, at := range instants {
		if rule == nil || !rule.resolves(at.In(zone.Location())) {
			return false
		}
	}
	return true
}

// zone writes a VTIMEZONE.
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
		// Readers want one STANDARD. The database calls the winter of Dublin a negative daylight saving time.
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

// offsetText writes seconds east of UTC such as +0200.
func offsetText(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
}
