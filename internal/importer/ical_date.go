package importer

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// icalDate is a value of type DATE or DATE-TIME.
type icalDate struct {
	wall calendar.Wall
	day  bool // the value is a day without a time
	// zone is the zone of wall. For days and floating times it is the zone of the calendar.
	zone     calendar.Zone
	utc      bool // the value is in UTC
	floating bool // the value has a time without a zone
}

// parseICalDate reads a date such as 20261205, 20261205T180000 or 20261205T180000Z. It does not set the zone.
func parseICalDate(text string) (d icalDate, ok bool) {
	layout := "20060102T150405"
	if len(text) == len("20261205") {
		layout, d.day = "20060102", true
	} else {
		text, d.utc = strings.CutSuffix(text, "Z")
	}
	t, err := time.Parse(layout, text)
	d.wall = calendar.WallOf(t)
	return d, err == nil && t.Year() >= 1000
}

// date reads one value of a property. A property may have several values.
func (c *icalCalendar) date(p property, value string) (icalDate, error) {
	d, ok := parseICalDate(strings.ToUpper(strings.TrimSpace(value)))
	if !ok {
		return icalDate{}, fmt.Errorf("%q is no date", shorten(value))
	}
	if p.isDay() && !d.day {
		d.wall, d.day, d.utc = d.wall.StartOfDay(), true, false
	}
	d.zone = c.zone
	name := p.parameter("TZID")
	switch {
	case d.day:
	case d.utc:
		d.zone = calendar.UTC()
	case name == "":
		d.floating = true
		if c.own != nil {
			d.wall, d.zone = c.zones.read(c.own, d.wall, c.zone)
		}
	default:
		d.wall, d.zone = c.zones.read(c.zones.find(name), d.wall, c.zone)
	}
	return d, nil
}

// wallIn returns the wall time of the date in a zone. A day without a time is the same in all zones.
func (d icalDate) wallIn(zone calendar.Zone) calendar.Wall {
	if d.day || d.zone.String() == zone.String() {
		return d.wall
	}
	return zone.Wall(d.zone.Instant(d.wall))
}

// key returns a text that is equal for dates at the same instant, in any zone.
func (d icalDate) key() string {
	if d.day {
		return d.wall.StartOfDay().Format("20060102")
	}
	return d.zone.Instant(d.wall).UTC().Format("20060102T150405Z")
}

// nominalIn returns the nominal start of the date in a series with the given span. A day without a time gets
// the time of day of the start.
func (d icalDate) nominalIn(span calendar.Span) calendar.Wall {
	w := d.wallIn(span.Zone)
	switch {
	case span.AllDay:
		w = w.StartOfDay()
	case d.day:
		w = atTimeOf(w, span.Start)
	}
	return w
}

// atTimeOf returns the date of day with the time of day of clock.
func atTimeOf(day, clock calendar.Wall) calendar.Wall {
	year, month, number := day.Date()
	hour, minute, second := clock.Clock()
	return calendar.WallAt(year, month, number, hour, minute, second)
}

// span returns the time of an event, and its DTSTART. A recurring event with times in UTC stays in UTC, because
// its rule refers to days in UTC. Other times in UTC are converted to zone.
func (c *component) span(zone calendar.Zone, recurs bool) (calendar.Span, icalDate, error) {
	p, ok := c.first("DTSTART")
	if !ok {
		return calendar.Span{}, icalDate{}, errors.New("DTSTART: missing")
	}
	start, err := c.calendar.date(p, p.value)
	if err != nil {
		return calendar.Span{}, start, fmt.Errorf("DTSTART: %w", err)
	}
	s := calendar.Span{Start: start.wall, Zone: start.zone, AllDay: start.day}
	if start.utc && !recurs {
		s.Zone = zone
		s.Start = start.wallIn(zone)
	}
	if s.End, err = c.end(s); err != nil {
		return s, start, err
	}
	if !s.AllDay && strings.EqualFold(c.value("X-MICROSOFT-CDO-ALLDAYEVENT"), "TRUE") {
		s = wholeDays(s, zone)
	}
	s = s.Rounded()
	if err := s.Check(); err != nil {
		return s, start, fmt.Errorf("DTSTART, DTEND: %w", err)
	}
	return s, start, nil
}

// wholeDays converts a span that begins and ends at midnight to days. It tries the zone of the span, then zone.
// It returns other spans unchanged.
func wholeDays(s calendar.Span, zone calendar.Zone) calendar.Span {
	inZone := calendar.Span{Start: zone.Wall(s.StartsAt()), End: zone.Wall(s.EndsAt()), Zone: zone}
	for _, days := range []calendar.Span{s, inZone} {
		if days.Start.Equal(days.Start.StartOfDay()) && days.End.Equal(days.End.StartOfDay()) && days.Start.Before(days.End) {
			days.AllDay, days.End = true, days.End.AddDate(0, 0, -1)
			return days
		}
	}
	return s
}

// end returns the end of a component from DTEND or DURATION. s has its start, its zone, and whether it lasts
// all day.
func (c *component) end(s calendar.Span) (calendar.Wall, error) {
	end := s.Start
	if p, ok := c.first("DTEND"); ok {
		d, err := c.calendar.date(p, p.value)
		if err != nil {
			return end, fmt.Errorf("DTEND: %w", err)
		}
		end = d.wallIn(s.Zone)
	} else if text := c.value("DURATION"); text != "" {
		var err error
		if end, err = addDuration(s, text); err != nil {
			return end, fmt.Errorf("DURATION: %w", err)
		}
	} else {
		return end, nil
	}
	if s.AllDay {
		// DTEND is the day after the last day.
		if end = end.StartOfDay().AddDate(0, 0, -1); end.Before(s.Start) {
			end = s.Start
		}
	}
	return end, nil
}

// durationPattern matches a value of type DURATION: sign, weeks, days, hours, minutes and seconds.
var durationPattern = regexp.MustCompile(
	`^([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$`)

// addDuration returns the end of a span after a duration. Weeks and days are calendar days. Hours, minutes and
// seconds are exact times.
func addDuration(s calendar.Span, text string) (calendar.Wall, error) {
	m := durationPattern.FindStringSubmatch(strings.ToUpper(text))
	if m == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return calendar.Wall{}, fmt.Errorf("%q is no duration", shorten(text))
	}
	if m[1] == "-" {
		return calendar.Wall{}, fmt.Errorf("%q is negative", shorten(text))
	}
	var n [5]int
	for i, digits := range m[2:] {
		if digits != "" {
			var err error
			if n[i], err = strconv.Atoi(digits); err != nil {
				return calendar.Wall{}, err
			}
		}
	}
	end := s.Start.AddDate(0, 0, 7*n[0]+n[1])
	exact := time.Duration(n[2])*time.Hour + time.Duration(n[3])*time.Minute + time.Duration(n[4])*time.Second
	if exact == 0 || s.AllDay {
		return end, nil
	}
	return s.Zone.Wall(s.Zone.Instant(end).Add(exact)), nil
}

// instant returns the instant of a date property in UTC. It returns nil if the property is missing, invalid or
// implausible.
func (c *component) instant(name string) *time.Time {
	p, ok := c.first(name)
	if !ok {
		return nil
	}
	d, err := c.calendar.date(p, p.value)
	if err != nil || d.day {
		return nil
	}
	const earliest = 1970 // some programs write an earlier date for none
	if year, _, _ := d.wall.Date(); year < earliest {
		return nil
	}
	return new(d.zone.Instant(d.wall))
}

// shorten cuts a text for a quotation in a message.
func shorten(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most+4)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
