// Package icaltest writes iCalendar files in the style of other calendar programs.
// It also lists the occurrences in them.
// Tests of the import and the comparison with other readers (.ci/ical-roundtrip) use it. The files follow RFC 5545
// and the habits of those programs.
package icaltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// File is an iCalendar file in the style of some calendar program. It also lists the occurrences.
type File struct {
	Name string // program and zone, as a file name without an ending
	Text string
	// Strict means that every reader finds the same instants. Otherwise EXDATE and the like have days written as times.
	Strict bool
	// Occurrences are all occurrences of its events, sorted, as start, end and title. Times are in UTC, in the form of
	// RFC 3339. A day without a time is in the form 2006-01-02, and its end is the last day.
	Occurrences []string
}

// dialect describes how a calendar program writes iCalendar files: zone names, all-day events, EXDATE and the like.
type dialect struct {
	program, prodid string
	header          []string
	windows         bool // zones have the names of Windows
	hasLocation     bool // VTIMEZONE has X-LIC-LOCATION
	utc             bool // single events have times in UTC
	flat            bool // each date of a series is an event of its own
	until           bool // series end with UNTIL instead of COUNT
	exdateUTC       bool // EXDATE has times in UTC
	daysAsTimes     bool // EXDATE, RECURRENCE-ID and UNTIL of days are midnight in UTC or in the zone
	marksDays       bool // X-MICROSOFT-CDO-ALLDAYEVENT
	uid             string
}

var dialects = []dialect{
	{
		program: "outlook", prodid: "-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN", header: []string{"METHOD:PUBLISH"},
		windows: true, until: true, marksDays: true, uid: "040000008200E00074C5B7101A82E008%s",
	},
	{
		program: "exchange", prodid: "Microsoft Exchange Server 2010", header: []string{"METHOD:PUBLISH", "X-WR-CALNAME:Calendar"},
		windows: true, until: true, daysAsTimes: true, marksDays: true, uid: "040000008200E00074C5B7101A82E009%s",
	},
	{
		program: "google", prodid: "-//Google Inc//Google Calendar 70.9054//EN", header: []string{"CALSCALE:GREGORIAN", "X-WR-TIMEZONE:%s"},
		hasLocation: true, utc: true, until: true, uid: "%s@google.com",
	},
	{
		program: "google-old", prodid: "-//Google Inc//Google Calendar 70.9054//EN", header: []string{"CALSCALE:GREGORIAN", "X-WR-TIMEZONE:%s"},
		hasLocation: true, utc: true, daysAsTimes: true, uid: "old-%s@google.com",
	},
	{program: "apple", prodid: "-//Apple Inc.//macOS 14.0//EN", header: []string{"CALSCALE:GREGORIAN"}, uid: "B7B2C1D0-%s"},
	{
		program: "thunderbird", prodid: "-//Mozilla.org/NONSGML Mozilla Calendar V1.1//EN", hasLocation: true, exdateUTC: true,
		uid: "7d2c0a3e-%s",
	},
	{program: "nextcloud", prodid: "-//IDN nextcloud.com//Calendar app 4.6.4//EN", header: []string{"CALSCALE:GREGORIAN"}, uid: "e1f7c6aa-%s"},
	{
		program: "the-events-calendar", prodid: "-//Example - ECPv6.3.0//NONSGML v1.0//EN",
		header: []string{"METHOD:PUBLISH", "X-ORIGINAL-URL:https://example.org", "REFRESH-INTERVAL;VALUE=DURATION:PT1H"}, flat: true,
		uid: "%s@example.org",
	},
	{program: "gancio", prodid: "gancio", header: []string{"METHOD:PUBLISH", "X-PUBLISHED-TTL:PT1H"}, utc: true, flat: true, uid: "%s@gancio"},
}

// zone is a time zone with its rules for summer time, for writing a VTIMEZONE.
type zone struct {
	iana, windowsName        string
	standard, summer         string // offsets from UTC
	toStandard, toSummer     string // rules
	standardTime, summerTime string // times of the changes, before them
}

var zones = []zone{
	{
		"Europe/Warsaw", "Central European Standard Time", "+0100", "+0200",
		"FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "1028T030000", "0325T020000",
	},
	{
		"America/New_York", "Eastern Standard Time", "-0500", "-0400",
		"FREQ=YEARLY;BYMONTH=11;BYDAY=1SU", "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", "1104T020000", "0311T020000",
	},
}

// Files returns a file of each calendar program for each test zone, east and west of Greenwich. An error means that a
// zone is unknown.
func Files() ([]File, error) {
	var files []File
	for _, d := range dialects {
		for _, z := range zones {
			clock, err := calendar.ParseZone(z.iana)
			if err != nil {
				return nil, err
			}
			w := writer{dialect: d, zone: z, clock: clock}
			files = append(files, w.file())
		}
	}
	return files, nil
}

// writer writes one iCalendar file and records the occurrences in it.
type writer struct {
	dialect
	zone
	clock       calendar.Zone
	text        strings.Builder
	occurrences []string
	events      int
}

func (w *writer) file() File {
	w.line("BEGIN:VCALENDAR")
	w.line("PRODID:" + w.prodid)
	w.line("VERSION:2.0")
	for _, line := range w.header {
		w.line(strings.ReplaceAll(line, "%s", w.iana))
	}
	w.timezone()
	at := func(month, day, hour, minute int) calendar.Wall {
		return calendar.WallAt(2027, 1, day, hour, minute, 0).AddDate(0, month-1, 0)
	}
	w.event("Talk", timed(at(2, 10, 18, 0), at(2, 10, 19, 30), w.utc))
	w.event("Late show", timed(at(7, 2, 23, 0), at(7, 3, 1, 0), w.utc))
	w.event("Festival", days(at(7, 2, 0, 0), at(7, 4, 0, 0)))
	w.event("Open day, for all; with a title that is so long that the program has to fold it into another line", days(at(5, 1, 0, 0), at(5, 1, 0, 0)))
	choir := timed(at(3, 2, 18, 0), at(3, 2, 20, 0), w.utc && w.flat) // the clocks change within it
	w.series("Choir", choir, 6, 2, 3)
	w.series("Market", days(at(1, 5, 0, 0), at(1, 5, 0, 0)), 4, 1, 2)
	w.line("END:VCALENDAR")
	slices.Sort(w.occurrences)
	return File{
		Name: w.program + "-" + strings.ReplaceAll(w.iana, "/", "-"), Text: w.text.String(), Strict: !w.daysAsTimes,
		Occurrences: w.occurrences,
	}
}

// line writes a line, folded after every 75 octets of its text (RFC 5545, section 3.1).
func (w *writer) line(s string) {
	const most = 75
	for len(s) > most {
		w.text.WriteString(s[:most] + "\r\n ")
		s = s[most:]
	}
	w.text.WriteString(s + "\r\n")
}

func (w *writer) tzid() string {
	if w.windows {
		return w.windowsName
	}
	return w.iana
}

// timezone writes the VTIMEZONE, unless all events are single and in UTC.
func (w *writer) timezone() {
	if w.utc && w.flat {
		return
	}
	year := "1970"
	if w.windows {
		year = "1601"
	}
	w.line("BEGIN:VTIMEZONE")
	w.line("TZID:" + w.tzid())
	if w.hasLocation {
		w.line("X-LIC-LOCATION:" + w.iana)
	}
	for _, c := range []struct{ name, from, to, time, rule string }{
		{"STANDARD", w.summer, w.standard, w.standardTime, w.toStandard},
		{"DAYLIGHT", w.standard, w.summer, w.summerTime, w.toSummer},
	} {
		w.line("BEGIN:" + c.name)
		w.line("DTSTART:" + year + c.time)
		w.line("TZOFFSETFROM:" + c.from)
		w.line("TZOFFSETTO:" + c.to)
		w.line("RRULE:" + c.rule)
		w.line("END:" + c.name)
	}
	w.line("END:VTIMEZONE")
}

// span is the start and end of an event. If it is all-day, these are its first and last day.
type span struct {
	start, end calendar.Wall
	allDay     bool
	utc        bool // written in UTC
}

func timed(start, end calendar.Wall, utc bool) span {
	return span{start, end, false, utc}
}

// days returns the span of an all-day event from its first to its last day.
func days(first, last calendar.Wall) span { return span{first, last, true, false} }

// move returns the span n days later.
func (m span) move(n int) span {
	m.start, m.end = m.start.AddDate(0, 0, n), m.end.AddDate(0, 0, n)
	return m
}

// value formats a time for a line such as DTSTART: its parameters, a colon and the time. The caller writes the
// property's name before it. utc requests UTC for a time, and allDay a date.
func (w *writer) value(at calendar.Wall, allDay, utc bool) string {
	switch {
	case allDay:
		return ";VALUE=DATE:" + at.Format("20060102")
	case utc:
		return ":" + w.clock.Instant(at).UTC().Format("20060102T150405Z")
	}
	return ";TZID=" + w.tzid() + ":" + at.Format("20060102T150405")
}

// dateOf formats the start of a span for EXDATE or RECURRENCE-ID, in the dialect's form: parameters, colon, time. utc
// requests UTC for a span that is not all-day.
func (w *writer) dateOf(m span, utc bool) string {
	if m.allDay && w.daysAsTimes {
		if w.windows {
			return ":" + w.clock.Instant(m.start).UTC().Format("20060102T150405Z")
		}
		return ":" + m.start.Format("20060102T150405Z")
	}
	return w.value(m.start, m.allDay, utc)
}

// event writes a VEVENT for a single event and records it as an expected occurrence.
func (w *writer) event(title string, m span) {
	w.vevent(w.nextID(), title, m, nil)
	w.expect(title, m)
}

// nextID returns a text for the next UID. It is unique among the events of all files of a program.
func (w *writer) nextID() string {
	w.events++
	return fmt.Sprintf("%s%04d", w.iana[:2], w.events)
}

func (w *writer) vevent(id, title string, m span, more []string) {
	w.line("BEGIN:VEVENT")
	w.line("UID:" + fmt.Sprintf(w.uid, id))
	w.line("DTSTAMP:20261101T100000Z")
	w.line("DTSTART" + w.value(m.start, m.allDay, m.utc))
	end := m.end
	if m.allDay {
		end = end.AddDate(0, 0, 1)
	}
	w.line("DTEND" + w.value(end, m.allDay, m.utc))
	for _, line := range more {
		w.line(line)
	}
	w.line("SUMMARY:" + strings.NewReplacer(",", `\,`, ";", `\;`).Replace(title))
	if w.marksDays {
		w.line("X-MICROSOFT-CDO-ALLDAYEVENT:" + strings.ToUpper(fmt.Sprint(m.allDay)))
	}
	w.line("END:VEVENT")
}

// expect records an occurrence that a reader must find in the file.
func (w *writer) expect(title string, m span) {
	form := func(at calendar.Wall) string {
		if m.allDay {
			return at.Format("2006-01-02")
		}
		return w.clock.Instant(at).UTC().Format("2006-01-02T15:04:05Z")
	}
	w.occurrences = append(w.occurrences, form(m.start)+" "+form(m.end)+" "+title)
}

// series writes a weekly series with a number of dates. It excludes the date with the index skipped, and moves the
// date with the index moved to the next day. Indexes count from 0.
func (w *writer) series(title string, m span, dates, skipped, moved int) {
	if w.flat {
		for i := range dates {
			switch i {
			case skipped:
			case moved:
				w.event(title, m.move(7*i+1))
			default:
				w.event(title, m.move(7*i))
			}
		}
		return
	}
	id := w.nextID()
	end := fmt.Sprintf("COUNT=%d", dates)
	if last := m.move(7 * (dates - 1)).start; w.until {
		switch {
		case !m.allDay || w.daysAsTimes:
			end = "UNTIL=" + w.clock.Instant(last).UTC().Format("20060102T150405Z")
		default:
			end = "UNTIL=" + last.Format("20060102")
		}
	}
	w.vevent(id, title, m, []string{"RRULE:FREQ=WEEKLY;" + end, "EXDATE" + w.dateOf(m.move(7*skipped), w.exdateUTC)})
	w.vevent(id, title, m.move(7*moved+1), []string{"RECURRENCE-ID" + w.dateOf(m.move(7*moved), false)})
	for i := range dates {
		switch i {
		case skipped:
		case moved:
			w.expect(title, m.move(7*i+1))
		default:
			w.expect(title, m.move(7*i))
		}
	}
}
