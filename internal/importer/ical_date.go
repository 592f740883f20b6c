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
	utc      bool          // the value is in UTC
	floating bool          // the value has a time without a zone
	unknown  bool          // the value names a zone that is unknown
	flaw     string        // notice if only a part of the value was read; "" means none
	calendar *icalCalendar // calendar in which the property stands
}

// datePattern matches the forms of a date without white space: those of the RFC and those of ISO 8601. A fraction of a second
// is ignored.
var datePattern = regexp.MustCompile(
	`^(\d{4})-?(\d\d)-?(\d\d)(?:Z?$|T?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$)`)

// hourPattern matches a date with an hour and no minutes. It has no white space.
var hourPattern = regexp.MustCompile(`^(\d{4}-?\d\d-?\d\dT\d\d)(Z?)$`)

// parseICalDate parses a date such as 20261205, 20261205T180000 or 20261205T180000Z, and does not set its zone. It
// accepts invalid forms with only one meaning, such as punctuation, white space, an offset, 24:00, or missing minutes.
// It reads second 60 as 59 (RFC 5545, section 3.3.12). It returns false for other text and for years before 1000.
func parseICalDate(text string) (d icalDate, ok bool) {
	const longest = 100
	if len(text) > longest {
		return icalDate{}, false
	}
	text = hourPattern.ReplaceAllString(strings.ToUpper(strings.Join(strings.Fields(text), "")), "${1}00$2")
	m := datePattern.FindStringSubmatch(text)
	if m == nil {
		return icalDate{}, false
	}
	t, err := time.Parse("20060102", m[1]+m[2]+m[3])
	if err != nil || t.Year() < 1000 {
		return icalDate{}, false
	}
	d.wall = calendar.WallOf(t)
	if m[4] == "" {
		d.day = true
		return d, true
	}
	clock := [3]int{}
	for i, digits := range m[4:7] {
		if digits != "" {
			if clock[i], err = strconv.Atoi(digits); err != nil {
				return icalDate{}, false
			}
		}
	}
	if clock[0] > 24 || clock[0] == 24 && clock[1]+clock[2] > 0 || clock[1] > 59 || clock[2] > 60 {
		return icalDate{}, false
	}
	clock[2] = min(clock[2], 59)
	d.wall = d.wall.Add(time.Duration(clock[0])*time.Hour + time.Duration(clock[1])*time.Minute + time.Duration(clock[2])*time.Second)
	if m[7] == "" {
		return d, true
	}
	d.utc = true
	if m[7] != "Z" {
		offset, ok := parseUTCOffset(m[7])
		if !ok {
			return icalDate{}, false
		}
		d.wall = d.wall.Add(-time.Duration(offset) * time.Second)
	}
	return d, true
}

// date parses one value of a date property and sets its zone. For a property with several values, call it once for
// each.
func (c *icalCalendar) date(p property, value string) (icalDate, error) {
	d, ok := parseICalDate(value)
	if !ok {
		return icalDate{}, fmt.Errorf("%q is no date", abbreviate(value))
	}
	d.calendar, d.zone = c, c.zone
	name := p.parameter("TZID")
	switch {
	case d.day:
	case d.utc:
		d.zone = calendar.UTC()
	case name == "":
		d.floating = true
		if c.ownZone != nil {
			d.wall, d.zone = c.zones.read(c.ownZone, d.wall, c.zone)
		}
	default:
		zone := c.zones.find(name)
		d.unknown = zone.clock == nil && !zone.known
		d.wall, d.zone = c.zones.read(zone, d.wall, c.zone)
	}
	if p.isDay() {
		d = d.asDay(nil)
	}
	return d, nil
}

// wallIn returns the date as a wall time of a zone. A day without a time is returned unchanged.
func (d icalDate) wallIn(zone calendar.Zone) calendar.Wall {
	if d.day || d.zone.String() == zone.String() {
		return d.wall
	}
	return zone.Wall(d.zone.Instant(d.wall))
}

// key returns a text that is equal for equal days, and for times at the same instant in any zone.
func (d icalDate) key() string {
	if d.day {
		return d.wall.StartOfDay().Format("20060102")
	}
	return d.zone.Instant(d.wall).UTC().Format("20060102T150405Z")
}

// nominalIn returns the start that an EXDATE or RECURRENCE-ID identifies in a series with the given span. It is a wall
// time of the series' schedule, even if that date was moved. A day without a time gets the series' time of day. For an
// all-day series the result is midnight.
func (d icalDate) nominalIn(span calendar.Span) calendar.Wall {
	switch {
	case span.AllDay:
		return d.asDay(nil).wall
	case d.day:
		return atTimeOf(d.wall, span.Start)
	}
	return d.wallIn(span.Zone)
}

// atTimeOf returns the wall time on the date of day, at the time of day of clock.
func atTimeOf(day, clock calendar.Wall) calendar.Wall {
	year, month, number := day.Date()
	hour, minute, second := clock.Clock()
	return calendar.WallAt(year, month, number, hour, minute, second)
}

// propertyFlaw is a property that was left out or changed, and the reason.
type propertyFlaw struct{ name, text string }

// span returns the start and end of an event, its DTSTART, and the problems with its end. Times in UTC are converted
// to zone, unless recurs is true: a rule in UTC refers to days in UTC. An end that cannot be used is left out. The
// error says why there is no start.
func (c *component) span(zone calendar.Zone, recurs bool) (calendar.Span, icalDate, []propertyFlaw, error) {
	start, err := c.start()
	if err != nil {
		return calendar.Span{}, start, nil, fmt.Errorf("DTSTART: %w", err)
	}
	s := calendar.Span{Start: start.wall, End: start.wall, Zone: start.zone, AllDay: start.day}
	if start.utc && !recurs {
		s.Zone = zone
		s.Start = start.wallIn(zone)
		s.End = s.Start
	}
	if err := s.Rounded().Check(); err != nil {
		return s, start, nil, fmt.Errorf("DTSTART: %w", err)
	}
	end, flaws := c.end(s, recurs)
	s.End = end
	if start.flaw != "" {
		flaws = append(flaws, propertyFlaw{"DTSTART", start.flaw})
	}
	if !s.AllDay && strings.EqualFold(c.value("X-MICROSOFT-CDO-ALLDAYEVENT"), "TRUE") {
		s = start.wholeDays(s)
	}
	return s.Rounded(), start, flaws, nil
}

// start returns the first DTSTART that can be parsed, and its first value if it has several. If its time is invalid,
// only its day is used. The error says why there is no start.
func (c *component) start() (d icalDate, err error) {
	err = errors.New("missing")
	if c.broken["DTSTART"] > 0 {
		err = errUnreadable
	}
	for i, p := range c.properties["DTSTART"] {
		d, readErr := c.calendar.date(p, p.value)
		if readErr == nil {
			return d, nil
		}
		if i == 0 {
			err = readErr
		}
	}
	for _, p := range c.properties["DTSTART"] {
		first, _, isList := strings.Cut(p.value, ",")
		if d, readErr := c.calendar.date(p, first); isList && readErr == nil {
			d.flaw = "more than one date; the first is taken"
			return d, nil
		}
		if m := dayPattern.FindStringSubmatch(p.value); m != nil {
			if d, readErr := c.calendar.date(p, m[1]); readErr == nil {
				d.flaw = fmt.Sprintf("the time of %q cannot be read; the event lasts all day", abbreviate(p.value))
				return d, nil
			}
		}
	}
	return icalDate{}, err
}

// dayPattern matches the day of a date with a time.
var dayPattern = regexp.MustCompile(`^\s*(\d{4}-?\d\d-?\d\d)(?:[Tt]|\s+\d)`)

var errUnreadable = errors.New("cannot be read")

// end returns the wall time at which a component ends, from DTEND or else DURATION. The start, zone and all-day flag
// come from s. Without a usable end, the end is the start (RFC 5545, section 3.6.1). recurs tells whether the event
// recurs.
func (c *component) end(s calendar.Span, recurs bool) (end calendar.Wall, flaws []propertyFlaw) {
	for _, name := range []string{"DTEND", "DURATION"} {
		for _, p := range c.properties[name] {
			var err error
			if name == "DTEND" {
				end, err = c.endAt(s, p)
			} else if end, err = addDuration(s, p.value); s.AllDay && s.Start.Before(end) {
				end = end.AddDate(0, 0, -1)
			}
			if err == nil {
				one := s
				one.End = end
				if err = one.Rounded().Check(); recurs && end.Before(s.Start) {
					err = calendar.ErrEndBeforeStart // all dates have to end after they start on the clock
				}
			}
			if err == nil {
				return end, flaws
			}
			flaws = append(flaws, propertyFlaw{name, err.Error() + "; left out"})
		}
	}
	return s.Start, flaws
}

// endAt returns the wall time of DTEND. For an all-day event it returns the last day, whether DTEND is the day
// after, its midnight, or a time on the last day.
func (c *component) endAt(s calendar.Span, p property) (calendar.Wall, error) {
	d, err := c.calendar.date(p, p.value)
	switch {
	case err != nil:
		return s.Start, err
	case !s.AllDay:
		return d.wallIn(s.Zone), nil
	case !d.isDayStart():
		return d.wall.StartOfDay(), nil
	}
	day := d.asDay(nil).wall
	if day.Equal(s.Start) {
		return day, nil // programs write it for one day
	}
	return day.AddDate(0, 0, -1), nil
}

// durationPattern matches a value of type DURATION: sign, weeks, days, hours, minutes and seconds.
var durationPattern = regexp.MustCompile(
	`^([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$`)

// addDuration parses a DURATION and adds it to the start of s. Weeks and days are calendar days. Hours, minutes and
// seconds are exact; for an all-day span they are rounded up to whole days. It returns an error for invalid and
// negative durations.
func addDuration(s calendar.Span, text string) (calendar.Wall, error) {
	const longest = 100
	compact := strings.ToUpper(strings.Join(strings.Fields(text[:min(len(text), longest)]), ""))
	m := durationPattern.FindStringSubmatch(compact)
	if m == nil || strings.HasSuffix(compact, "P") || strings.HasSuffix(compact, "T") {
		return s.Start, fmt.Errorf("%q is no duration", abbreviate(text))
	}
	if m[1] == "-" {
		return s.Start, fmt.Errorf("%q is negative", abbreviate(text))
	}
	var n [5]int
	for i, digits := range m[2:] {
		if digits != "" {
			var err error
			if n[i], err = strconv.Atoi(digits); err != nil {
				return s.Start, err
			}
		}
	}
	end := s.Start.AddDate(0, 0, 7*n[0]+n[1])
	exact := time.Duration(n[2])*time.Hour + time.Duration(n[3])*time.Minute + time.Duration(n[4])*time.Second
	if s.AllDay {
		const day = 24 * time.Hour
		return end.AddDate(0, 0, int((exact+day-1)/day)), nil
	}
	if exact == 0 {
		return end, nil
	}
	return s.Zone.Wall(s.Zone.Instant(end).Add(exact)), nil
}

// instant returns the instant of a date property in UTC. It returns nil if the property is missing, invalid, without a
// time or before 1970.
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

// abbreviate shortens a text of more than 60 characters with an ellipsis, so that a message can quote it.
func abbreviate(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most+4)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
