package seed

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
)

// ICS writes the public part of a calendar as iCalendar (RFC 5545) in its first language. It leaves out unpublished
// events and events with a password. A series becomes an event with a rule, and one more event per exception. If time
// zone rules in the file would give a wrong time, each occurrence is an event. Then the file has only the occurrences
// of the first five years.
func ICS(out io.Writer, c Calendar) error {
	words, err := locale.Load()
	if err != nil {
		return err
	}
	o := c.Options()
	w := icsWriter{cal: c, language: o.Languages[0], year: o.Now.UTC().Year()}
	for i := range c.Len() {
		if v := c.Event(i); isPublic(&v) {
			w.add(&v, v.SourceID, nil)
		}
	}
	for _, s := range c.Series() {
		if w.fitsRule(&s) {
			w.series(&s)
		} else {
			w.occurrences(&s)
		}
	}
	zone := o.Zone
	if zone == (calendar.Zone{}) && c.Len() > 0 { // use the zone of the first event
		zone = c.Event(0).Span.Zone
	}
	f := feed.Feed{Language: w.language, Zone: zone, Words: words, Year: w.year, Import: true}
	if _, err := out.Write(f.ICalendar(w.entries)); err != nil {
		return fmt.Errorf("iCalendar: %w", err)
	}
	return nil
}

// icsWriter collects the entries of an iCalendar file.
type icsWriter struct {
	cal      Calendar
	language calendar.Language
	year     int
	entries  []feed.Entry
}

const (
	icsUTC  = "20060102T150405Z"
	icsDate = "20060102"
	// icsYears is the number of years, from the start of a series, for which its times are checked. It also limits
	// series whose occurrences are separate events.
	icsYears = 5
)

// isPublic reports whether an event is published and has no password.
func isPublic(v *scenario.Event) bool { return v.Status == calendar.Publish && v.Password == "" }

// add adds an event to the file. Its UID begins with source. The recurrence r is nil for a single event.
func (w *icsWriter) add(v *scenario.Event, source string, r *feed.Recurrence) {
	e := feed.Entry{
		ID: int64(len(w.entries)), UID: source + "@almanac.example", Stamp: w.cal.Options().Now, Created: v.Published,
		Start: v.Span.StartsAt(), End: v.Span.EndsAt(), StartWall: v.Span.Start, EndWall: v.Span.End, Zone: v.Span.Zone,
		AllDay: v.Span.AllDay, Status: v.EventStatus, Title: v.Title[w.language], Description: v.Description[w.language],
		URL: v.Website, VirtualURL: v.VirtualURL, Recurrence: r,
	}
	if len(v.Venues) > 0 {
		p := w.cal.Venues()[v.Venues[0]]
		e.Places = []feed.Place{{
			Name: p.Name[w.language], Address: p.Address, Zip: p.Zip, City: p.City, Country: p.Country,
			Located: p.Located, Latitude: p.Latitude, Longitude: p.Longitude,
		}}
	}
	for _, i := range v.Categories {
		e.Categories = append(e.Categories, w.cal.Categories()[i].Name[w.language])
	}
	w.entries = append(w.entries, e)
}

// fitsRule reports whether the file can have a series as one event with a rule. The result is false if its time zone
// rules would give a wrong time in the first icsYears.
func (w *icsWriter) fitsRule(s *scenario.Series) bool {
	if s.Span.AllDay || s.Span.Zone.String() == "UTC" {
		return true
	}
	var times []time.Time
	check := func(start calendar.Wall) {
		span := s.Span.MoveStart(start)
		times = append(times, span.StartsAt(), span.EndsAt())
	}
	for start := range s.Schedule().Starts(calendar.Wall{}, s.Span.Start.AddDate(icsYears, 0, 0)) {
		check(start)
	}
	for _, x := range s.Exceptions {
		if !x.Start.IsZero() {
			check(x.Start)
		}
	}
	return feed.RuleCovers(s.Span.Zone, w.year, times...)
}

// series adds a series as an event with a rule, and each exception as another event.
func (w *icsWriter) series(s *scenario.Series) {
	rule, until := s.Rule, s.Rule.Until
	rule.Until = calendar.Wall{}
	text := rule.String()
	switch {
	case until.IsZero():
	case s.Span.AllDay:
		text += ";UNTIL=" + until.Format(icsDate)
	default: // an instant, since starts have a zone
		text += ";UNTIL=" + s.Span.Zone.Instant(until).UTC().Format(icsUTC)
	}
	w.add(&s.Event, s.SourceID, &feed.Recurrence{Rule: text, Excluded: s.ExDate})
	for i := range s.Exceptions {
		v := occurrence(s, &s.Exceptions[i])
		w.add(&v, s.SourceID, &feed.Recurrence{Replaces: s.Exceptions[i].Nominal})
	}
}

// occurrences adds the occurrences in the first icsYears of a series as separate events.
func (w *icsWriter) occurrences(s *scenario.Series) {
	exceptions := make(map[calendar.Wall]*scenario.Exception)
	for i := range s.Exceptions {
		exceptions[s.Exceptions[i].Nominal] = &s.Exceptions[i]
	}
	n := 0
	for start := range s.Schedule().Starts(calendar.Wall{}, s.Span.Start.AddDate(icsYears, 0, 0)) {
		v := s.Event
		v.Span = s.Span.MoveStart(start)
		if x := exceptions[start]; x != nil {
			v = occurrence(s, x)
		}
		w.add(&v, s.SourceID+":"+strconv.Itoa(n), nil)
		n++
	}
}

// occurrence returns the moved or canceled occurrence that x describes as an event of its own.
func occurrence(s *scenario.Series, x *scenario.Exception) scenario.Event {
	v, start := s.Event, x.Nominal
	if !x.Start.IsZero() {
		start = x.Start
	}
	v.Span = s.Span.MoveStart(start)
	if x.Reason != nil {
		v.EventStatus = calendar.Canceled
	}
	return v
}
