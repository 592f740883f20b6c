package seed

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
)

// ICS writes a calendar as iCalendar (RFC 5545), in its first language: what anybody may read, that is, published
// events without a password. A series is an event with a rule, and one more for each exception. The zones of its events
// come with it, for the years that it needs.
func ICS(out io.Writer, c Calendar) error {
	w := &icsWriter{out: bufio.NewWriter(out), cal: c, language: c.Options().Languages[0]}
	w.line("BEGIN:VCALENDAR")
	w.line("VERSION:2.0")
	w.line("PRODID:-//Almanac//Made-up calendar//EN")
	w.line("CALSCALE:GREGORIAN")
	for _, z := range w.zones() {
		w.zone(z)
	}
	for i := range c.Len() {
		if v := c.Event(i); open(&v) {
			w.event(&v, func() { w.span(v.Span) })
		}
	}
	for _, s := range c.Series() {
		w.series(&s)
	}
	w.line("END:VCALENDAR")
	if w.err != nil {
		return fmt.Errorf("iCalendar: %w", w.err)
	}
	return w.out.Flush()
}

// open reports whether anybody may read an event.
func open(v *scenario.Event) bool { return v.Status == calendar.Publish && v.Password == "" }

type icsWriter struct {
	out      *bufio.Writer
	cal      Calendar
	language calendar.Language
	err      error
}

// maxLine is the longest line in bytes, without its end.
const maxLine = 75

// line writes a content line, folded between characters.
func (w *icsWriter) line(text string) {
	limit := maxLine
	for len(text) > limit {
		cut := limit
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		w.write(text[:cut] + "\r\n ")
		text, limit = text[cut:], maxLine-1 // the blank counts
	}
	w.write(text + "\r\n")
}

func (w *icsWriter) write(text string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(text)
	}
}

// icsEscaper escapes a value of type TEXT.
var icsEscaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// text writes a property of type TEXT, if there is something to write.
func (w *icsWriter) text(name, value string) {
	if value != "" {
		w.line(name + ":" + icsEscaper.Replace(value))
	}
}

const (
	icsWall = "20060102T150405"
	icsUTC  = icsWall + "Z"
	icsDate = "20060102"
	// icsYears is for how long after the start of a series its zone is described.
	icsYears = 5
)

// event writes an event. Dates writes when it takes place.
func (w *icsWriter) event(v *scenario.Event, dates func()) {
	w.line("BEGIN:VEVENT")
	w.line("UID:" + v.SourceID + "@almanac.example")
	w.line("DTSTAMP:" + w.cal.Options().Now.UTC().Format(icsUTC))
	dates()
	w.text("SUMMARY", v.Title[w.language])
	w.text("DESCRIPTION", markup.Plain(v.Description[w.language]))
	if len(v.Venues) > 0 {
		place := w.cal.Venues()[v.Venues[0]]
		var parts []string
		for _, p := range []string{place.Name[w.language], place.Address, place.City} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		w.text("LOCATION", strings.Join(parts, ", "))
		if place.Located {
			degrees := func(d float64) string { return strconv.FormatFloat(d, 'f', 6, 64) }
			w.line("GEO:" + degrees(place.Latitude) + ";" + degrees(place.Longitude))
		}
	}
	var names []string
	for _, i := range v.Categories {
		names = append(names, icsEscaper.Replace(w.cal.Categories()[i].Name[w.language]))
	}
	if len(names) > 0 {
		w.line("CATEGORIES:" + strings.Join(names, ","))
	}
	if v.Website != "" {
		w.line("URL:" + v.Website) // a URI is not escaped
	}
	switch v.EventStatus {
	case calendar.Canceled:
		w.line("STATUS:CANCELLED")
	case calendar.Postponed:
		w.line("STATUS:TENTATIVE")
	default:
		w.line("STATUS:CONFIRMED")
	}
	w.line("END:VEVENT")
}

// series writes a series: its rule, and the occurrences that are moved or canceled.
func (w *icsWriter) series(s *scenario.Series) {
	w.event(&s.Event, func() {
		w.span(s.Span)
		rule, until := s.Rule, s.Rule.Until
		rule.Until = calendar.Wall{}
		switch {
		case until.IsZero():
			w.line("RRULE:" + rule.String())
		case s.Span.AllDay:
			w.line("RRULE:" + rule.String() + ";UNTIL=" + until.Format(icsDate))
		default: // an instant, since starts have a zone
			w.line("RRULE:" + rule.String() + ";UNTIL=" + s.Span.Zone.Instant(until).UTC().Format(icsUTC))
		}
		for _, at := range s.ExDate {
			w.time("EXDATE", at, s.Span)
		}
	})
	for _, x := range s.Exceptions {
		v := s.Event
		start := x.Nominal
		if !x.Start.IsZero() {
			start = x.Start
		}
		v.Span.Start, v.Span.End = start, start.Add(s.Span.End.Sub(s.Span.Start))
		if x.Reason != nil {
			v.EventStatus = calendar.Canceled
		}
		w.event(&v, func() {
			w.time("RECURRENCE-ID", x.Nominal, s.Span)
			w.span(v.Span)
		})
	}
}

// time writes a property that is a start of an event with a span.
func (w *icsWriter) time(name string, at calendar.Wall, s calendar.Span) {
	switch {
	case s.AllDay:
		w.line(name + ";VALUE=DATE:" + at.Format(icsDate))
	case s.Zone.String() == "UTC":
		w.line(name + ":" + at.Format(icsUTC))
	default:
		w.line(name + ";TZID=" + s.Zone.String() + ":" + at.Format(icsWall))
	}
}

// span writes start and end. The end of days is the day after the last.
func (w *icsWriter) span(s calendar.Span) {
	w.time("DTSTART", s.Start, s)
	switch {
	case s.AllDay:
		w.time("DTEND", s.End.AddDate(0, 0, 1), s)
	case s.EndsAt().After(s.StartsAt()): // else it has none: an end must be later
		w.time("DTEND", s.End, s)
	}
}

// zoneUse is a zone and the time for which it is needed.
type zoneUse struct {
	zone        calendar.Zone
	first, last time.Time
}

// zones are those of the events, by name. UTC needs no description.
func (w *icsWriter) zones() []zoneUse {
	uses := make(map[string]*zoneUse)
	add := func(s calendar.Span, end time.Time) {
		name := s.Zone.String()
		if s.AllDay || name == "UTC" {
			return
		}
		start := s.StartsAt()
		u := uses[name]
		if u == nil {
			u = &zoneUse{s.Zone, start, end}
			uses[name] = u
		}
		if start.Before(u.first) {
			u.first = start
		}
		if end.After(u.last) {
			u.last = end
		}
	}
	for i := range w.cal.Len() {
		if v := w.cal.Event(i); open(&v) {
			add(v.Span, v.Span.EndsAt())
		}
	}
	for _, s := range w.cal.Series() {
		add(s.Span, s.Span.EndsAt().AddDate(icsYears, 0, 0))
	}
	out := make([]zoneUse, 0, len(uses))
	for _, u := range uses {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b zoneUse) int { return cmp.Compare(a.zone.String(), b.zone.String()) })
	return out
}

// zone describes a zone by the changes of its clock, one component each, from the one before the first event to
// the one after the last.
func (w *icsWriter) zone(u zoneUse) {
	w.line("BEGIN:VTIMEZONE")
	w.line("TZID:" + u.zone.String())
	at := u.first.In(u.zone.Location())
	for {
		start, end := at.ZoneBounds()
		name, offset := at.Zone()
		before := offset
		if start.IsZero() { // since ever
			start = time.Date(1970, 1, 1, 0, 0, 0, 0, u.zone.Location())
		} else {
			_, before = start.Add(-time.Second).Zone()
		}
		kind := "STANDARD"
		if at.IsDST() {
			kind = "DAYLIGHT"
		}
		w.line("BEGIN:" + kind)
		// The onset reads as on a clock that has not been changed yet.
		w.line("DTSTART:" + start.UTC().Add(time.Duration(before)*time.Second).Format(icsWall))
		w.line("TZOFFSETFROM:" + icsOffset(before))
		w.line("TZOFFSETTO:" + icsOffset(offset))
		w.text("TZNAME", name)
		w.line("END:" + kind)
		if end.IsZero() || end.After(u.last) {
			break
		}
		at = end.In(u.zone.Location())
	}
	w.line("END:VTIMEZONE")
}

// icsOffset is a distance from UTC in seconds, such as +0200.
func icsOffset(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	text := fmt.Sprintf("%s%02d%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		text += fmt.Sprintf("%02d", seconds%60)
	}
	return text
}
