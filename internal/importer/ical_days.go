package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// localClock returns a function that converts an instant to the wall time of the file's users. Their zone is
// X-WR-TIMEZONE, or else the only known zone in the file. It returns false if there is no such zone, it is UTC, or the
// file has more than 20. The importing site's zone is never used.
func (c *icalCalendar) localClock() (wall func(time.Time) calendar.Wall, ok bool) {
	switch {
	case c.ownZone != nil:
		return c.ownZone.clock.wall, true
	case c.named:
		return c.zone.Wall, !isUTC(c.zone)
	}
	const most = 20 // names that are compared
	names := make(map[string]bool)
	for _, d := range c.declared {
		names[d.value("TZID")] = true
	}
	for name := range c.zones.used {
		names[name] = true
	}
	if len(names) > most {
		return nil, false
	}
	var only calendar.Zone
	found := 0
	for _, name := range slices.Sorted(maps.Keys(names)) { // finding one may cost and tell something
		zone := c.zones.find(name)
		if !zone.known || found > 0 && zone.zone.String() == only.String() {
			continue
		}
		only = zone.zone
		found++
	}
	return only.Wall, found == 1 && !isUTC(only)
}

// isUTC reports whether a zone is UTC. Midnight in UTC does not show that a program meant a whole day.
func isUTC(zone calendar.Zone) bool { return zone.String() == calendar.UTC().String() }

// days returns the days that a date of an all-day event may mean, the most likely first. Programs write midnight in
// UTC or in the user's zone, which can differ from the site's. If the file names no zone, the nearest midnight
// counts: 23:00Z means the next day, 05:00Z the same day.
func (d icalDate) days() []calendar.Wall {
	written := d.wall.StartOfDay()
	if d.day || d.floating || d.wall.Equal(written) && !d.isUTC() {
		return []calendar.Wall{written}
	}
	at := d.zone.Instant(d.wall)
	inUTC := calendar.UTC().Wall(at)
	var days []calendar.Wall
	if inUTC.Equal(inUTC.StartOfDay()) {
		days = append(days, inUTC)
	}
	if wall, ok := d.calendar.local(); ok {
		days = append(days, wall(at).StartOfDay())
	}
	if !d.isUTC() {
		days = append(days, written)
	}
	const east = 14 * time.Hour // largest offset from UTC
	return append(days, inUTC.Add(halfDay).StartOfDay(), inUTC.StartOfDay(), inUTC.Add(east).StartOfDay())
}

const halfDay = 12 * time.Hour

// isUTC reports whether the date is a time in UTC.
func (d icalDate) isUTC() bool {
	return d.utc || !d.day && !d.floating && isUTC(d.zone)
}

// isDayStart reports whether a date can be midnight for the user of the file. It is true for a day without a time.
func (d icalDate) isDayStart() bool {
	if d.day || d.wall.Equal(d.wall.StartOfDay()) {
		return true
	}
	if !d.isUTC() {
		return false
	}
	wall, ok := d.calendar.local()
	if !ok {
		return true
	}
	w := wall(d.zone.Instant(d.wall))
	return w.Equal(w.StartOfDay())
}

// asDay converts the date of an all-day event to a day: the first of d.days for which has returns true. If there is
// none, or has is nil, it is the first of d.days.
func (d icalDate) asDay(has func(calendar.Wall) bool) icalDate {
	days := d.days()
	d.wall = days[0]
	if has != nil {
		if i := slices.IndexFunc(days, has); i >= 0 {
			d.wall = days[i]
		}
	}
	d.day, d.utc, d.floating = true, false, false
	if d.calendar != nil {
		d.zone = d.calendar.zone
	}
	return d
}

// wholeDays converts a span to days if Outlook marked its event as all-day (X-MICROSOFT-CDO-ALLDAYEVENT). The span must
// last from midnight to midnight in the zone of its start or of the file. If the file names no zone, times in UTC count
// if they are whole days apart. Other spans are returned unchanged.
func (d icalDate) wholeDays(s calendar.Span) calendar.Span {
	from, to := s.StartsAt(), s.EndsAt()
	clocks := []func(time.Time) calendar.Wall{d.zone.Wall}
	local, hasLocal := d.calendar.local()
	if hasLocal {
		clocks = append(clocks, local)
	}
	for i, wall := range clocks {
		days := calendar.Span{Start: wall(from), End: wall(to), Zone: d.zone, AllDay: true}
		if i > 0 {
			days.Zone = d.calendar.zone
		}
		if days.Start.Equal(days.Start.StartOfDay()) && days.End.Equal(days.End.StartOfDay()) && days.Start.Before(days.End) {
			days.End = days.End.AddDate(0, 0, -1)
			return days
		}
	}
	length := to.Sub(from)
	whole := length.Round(2 * halfDay)
	const clockChange = time.Hour
	if !d.isUTC() || hasLocal || whole == 0 || (length-whole).Abs() > clockChange {
		return s
	}
	first := d.asDay(nil).wall
	return calendar.Span{
		Start: first, End: first.AddDate(0, 0, int(whole/(2*halfDay))-1), Zone: d.calendar.zone, AllDay: true,
	}
}

// maxMatchedDays limits how many days of an event's rules daysOfRule lists.
const maxMatchedDays = 5000

// daysOfRule returns a function that reports whether an all-day event recurs on a day. It ignores UNTIL and days after
// 100 years or after the first maxMatchedDays. It expands the rules at its first call.
func (c *component) daysOfRule(s calendar.Span) func(calendar.Wall) bool {
	var days map[string]bool
	return func(w calendar.Wall) bool {
		if days == nil {
			days = map[string]bool{s.Start.String(): true}
			const years = 100
			for _, p := range c.properties["RRULE"] {
				read, _, err := parseICalRule(p.value, s)
				if err != nil {
					continue
				}
				read.rule.Until = calendar.Wall{}
				for day := range read.ruleFrom(s.Start).Starts(s.Start, calendar.Wall{}, s.Start.AddDate(years, 0, 0)) {
					if days[day.String()] = true; len(days) >= maxMatchedDays {
						break
					}
				}
			}
		}
		return days[w.String()]
	}
}

// lastDay returns the last day of an all-day event's rule from the text of UNTIL. A time one second or minute before
// midnight means the day that then ends. has reports whether the rule has a day.
func (c *icalCalendar) lastDay(text string, has func(calendar.Wall) bool) calendar.Wall {
	d, err := c.date(property{}, text)
	if err != nil || d.day { // parseICalRule has read it
		return d.wall
	}
	day := d.asDay(has).wall
	if _, minute, second := d.wall.Clock(); minute == 59 && (second == 0 || second == 59) {
		d.wall = d.wall.Add(time.Minute - time.Duration(second)*time.Second)
		day = d.asDay(func(w calendar.Wall) bool { return has(w.AddDate(0, 0, -1)) }).wall.AddDate(0, 0, -1)
	}
	if last := recur.LastStart(); last.Before(day) {
		return last.StartOfDay()
	}
	return day
}

// readDates cleans the date lists of a recurring event before its schedule is read. It removes values of RDATE and
// EXDATE that cannot be parsed, and invalid ends of periods. In an all-day event it also converts times to days, in
// RECURRENCE-ID too.
func (r *icalReader) readDates(g *icalGroup) {
	c := g.master
	s, _, _, err := c.span(c.calendar.zone, true)
	if err != nil {
		return
	}
	has := c.daysOfRule(s)
	for _, name := range []string{"RDATE", "EXDATE"} {
		for i, p := range c.properties[name] {
			c.properties[name][i].value = c.readableDates(name, p, s, has)
		}
	}
	if !s.AllDay {
		return
	}
	for _, o := range g.overrides {
		*o.replaces = o.replaces.asDay(has)
	}
}

// readableDates removes from a value of RDATE or EXDATE the dates that cannot be parsed, and returns the rest. In an
// all-day event it converts times to days; has reports whether the rule has a day.
func (c *icalComponent) readableDates(name string, p property, s calendar.Span, has func(calendar.Wall) bool) string {
	var values []string
	for value := range strings.SplitSeq(strings.ReplaceAll(p.value, ";", ","), ",") { // vCalendar 1.0 has semicolons
		if strings.TrimSpace(value) == "" {
			continue
		}
		text, end, isPeriod := strings.Cut(value, "/")
		d, err := c.calendar.date(p, text)
		if err != nil {
			c.flaw(p.line, fmt.Sprintf("%s: %v; left out", name, err))
			continue
		}
		switch {
		case s.AllDay:
			value = d.asDay(has).wall.Format("20060102")
		case isPeriod && !d.day:
			own := s
			own.Start = d.wallIn(s.Zone)
			if _, err = c.calendar.periodEnd(own, p, end); err != nil {
				c.flaw(p.line, fmt.Sprintf("%s: %v; its end is left out", name, err))
				value = text
			}
		}
		values = append(values, value)
	}
	return strings.Join(values, ",")
}

// periodEnd returns the end of a period in RDATE. text is the date or duration after the slash, and s has the period's
// start. It returns an error if the end is invalid or before the start.
func (c *icalCalendar) periodEnd(s calendar.Span, p property, text string) (end calendar.Wall, err error) {
	if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "P") {
		s.End, err = addDuration(s, text)
	} else {
		var d icalDate
		if d, err = c.date(p, text); err == nil {
			s.End = d.wallIn(s.Zone)
		}
	}
	if err == nil {
		err = s.Check()
	}
	return s.End, err
}
