package importer

import (
	"errors"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// span sets the start, end and zone of a row's event from its cells.
func (r sheetRow) span(e *Event) {
	zone, ok := r.zone()
	if !ok {
		return
	}
	allDay := r.yesNo("all_day")
	first, started := r.date(e, "start_date", zone)
	if !started {
		r.endWithoutStart(e, zone)
		return
	}
	times := first.times
	if more := r.clock("start_time"); len(more) > 0 {
		times = more
	}
	last, ended := r.date(e, "end_date", zone)
	endTimes := last.times
	if more := r.clock("end_time"); len(more) > 0 {
		endTimes = more
	}
	s := calendar.Span{Zone: zone, Start: first.day, AllDay: len(times) == 0 && len(endTimes) == 0}
	if len(times) > 0 {
		s.Start = times[0].on(first.day)
	}
	if allDay != nil {
		s.AllDay = *allDay
	}
	if !ended && first.last != nil {
		last, ended = *first.last, true
		if len(endTimes) == 0 {
			endTimes = last.times
		}
	}
	if len(endTimes) == 0 && len(times) == 2 {
		endTimes = times[1:]
	}
	s.End = r.end(s, first, times, last, ended && !last.day.IsZero(), endTimes)
	e.Span = r.checkedSpan(e, s)
}

// zone returns the time zone of a row, by default the site's. It returns false if the cell names an unknown zone.
func (r sheetRow) zone() (calendar.Zone, bool) {
	name := r.cells["timezone"]
	if name == "" {
		return r.Site.Zone, true
	}
	zone, err := parseZone(name)
	if err != nil {
		r.fault("timezone", "%q is unknown", abbreviate(name))
	}
	return zone, err == nil
}

// date parses the cell of a date field. It returns false if the cell is empty or invalid.
func (r sheetRow) date(e *Event, field string, zone calendar.Zone) (d sheetDate, ok bool) {
	text := r.cells[field]
	if text == "" {
		return d, false
	}
	d, err := readDate(text, r.orders[field])
	if err == nil && d.at != nil {
		wall := zone.Wall(*d.at)
		h, m, sec := wall.Clock()
		d = sheetDate{day: wall.StartOfDay(), times: []sheetClock{{h, m, sec}}}
	}
	if err == nil {
		return d, true
	}
	if field == "end_date" {
		// A cell may have a time only.
		if times, timeErr := readTimes(text, false); timeErr == nil && len(times) == 1 {
			return sheetDate{times: times}, true
		}
		if e.Edited == nil {
			r.notice(field, fmt.Sprintf("%q: %v; left out", abbreviate(text), err))
			return d, false
		}
	}
	r.fault(field, "%q: %v", abbreviate(text), err)
	return d, false
}

// clock parses a cell with times of day. Nil means empty or invalid; an invalid end_time adds a notice, another
// field a fault.
func (r sheetRow) clock(field string) []sheetClock {
	text := r.cells[field]
	if text == "" {
		return nil
	}
	times, err := readTimes(text, true)
	switch {
	case err == nil && len(times) > 0:
		return times
	case field == "end_time":
		r.notice(field, fmt.Sprintf("%q: %v; left out", abbreviate(text), errNoTime))
	default:
		r.fault(field, "%q: %v", abbreviate(text), errNoTime)
	}
	return nil
}

// endWithoutStart sets the end of a row that has no start. Only a row that edits a stored event may lack its start.
func (r sheetRow) endWithoutStart(e *Event, zone calendar.Zone) {
	switch {
	case len(r.log.faults) > 0:
	case e.Edited == nil:
		r.fault("start_date", "missing")
	default:
		if last, ok := r.date(e, "end_date", zone); ok {
			e.Span.End = last.start()
		}
	}
}

// end returns the end of an event whose start is in s. The start's date and times are first and times. The end's are
// last and endTimes; dated is true if the end has a date.
func (r sheetRow) end(
	s calendar.Span, first sheetDate, times []sheetClock, last sheetDate, dated bool, endTimes []sheetClock,
) calendar.Wall {
	switch {
	case s.AllDay:
		if dated {
			return last.day
		}
	case len(endTimes) > 0 && dated:
		return endTimes[len(endTimes)-1].on(last.day)
	case len(endTimes) > 0:
		end := endTimes[len(endTimes)-1].on(first.day)
		if next := end.AddDate(0, 0, 1); end.Before(s.Start) && next.Sub(s.Start) <= longNight {
			return next
		}
		return end
	case dated && last.day.Equal(first.day):
	case dated && len(times) > 0:
		return times[0].on(last.day)
	case dated:
		return last.day.EndOfDay()
	case r.cells["duration"] != "":
		length, err := readDuration(r.cells["duration"])
		if err != nil {
			r.notice("duration", fmt.Sprintf("%q: %v; left out", abbreviate(r.cells["duration"]), err))
		}
		return s.Start.Add(length)
	}
	return s.Start
}

// checkedSpan returns the span in the form in which it is stored. A new event that ends before its start then ends
// at its start, with a notice. Other invalid spans are faults of the row.
func (r sheetRow) checkedSpan(e *Event, s calendar.Span) calendar.Span {
	s = s.Rounded()
	if !s.AllDay {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	err := s.Check()
	if errors.Is(err, calendar.ErrEndBeforeStart) && e.Edited == nil {
		r.notice("end_date", "before the start; the event has no length")
		s.End = s.Start
		s = s.Rounded()
		err = s.Check()
	}
	if err != nil {
		r.fault("start_date", "%v", err)
	}
	return s
}

// start returns the wall time of the date's first time of day, or midnight if it has none.
func (d sheetDate) start() calendar.Wall {
	if len(d.times) > 0 {
		return d.times[0].on(d.day)
	}
	return d.day
}

// longNight is the longest duration of an event whose end has no date and lies on the next day.
const longNight = 12 * time.Hour
