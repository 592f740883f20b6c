package importer

import (
	"errors"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// span reads when the event takes place.
func (r sheetRow) span(e *Event) {
	s := calendar.Span{Zone: r.Site.Zone}
	if name := r.cells["timezone"]; name != "" {
		z, err := parseZone(name)
		if err != nil {
			r.fault("timezone", "%q is unknown", shorten(name))
			return
		}
		s.Zone = z
	}
	date := func(field string) (d sheetDate, ok bool) {
		text := r.cells[field]
		if text == "" {
			return d, false
		}
		d, err := readDate(text, r.orders[field])
		if err == nil && d.at != nil {
			wall := s.Zone.Wall(*d.at)
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
				r.notice(field, fmt.Sprintf("%q: %v; left out", shorten(text), err))
				return d, false
			}
		}
		r.fault(field, "%q: %v", shorten(text), err)
		return d, false
	}
	clock := func(field string) (times []sheetClock) {
		text := r.cells[field]
		if text == "" {
			return nil
		}
		times, err := readTimes(text, true)
		if err != nil || len(times) == 0 {
			if field == "end_time" {
				r.notice(field, fmt.Sprintf("%q: %v; left out", shorten(text), errNoTime))
			} else {
				r.fault(field, "%q: %v", shorten(text), errNoTime)
			}
			return nil
		}
		return times
	}
	allDay := r.yesNo("all_day")
	first, started := date("start_date")
	if !started {
		switch {
		case len(r.log.faults) > 0:
		case e.Edited == nil:
			r.fault("start_date", "missing")
		default:
			if last, ok := date("end_date"); ok {
				e.Span.End = last.start()
			}
		}
		return
	}
	times := first.times
	if more := clock("start_time"); len(more) > 0 {
		times = more
	}
	last, ended := date("end_date")
	endTimes := last.times
	if more := clock("end_time"); len(more) > 0 {
		endTimes = more
	}
	if len(times) > 0 {
		s.Start = times[0].on(first.day)
	} else {
		s.Start = first.day
	}
	s.AllDay = len(times) == 0 && len(endTimes) == 0
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
	dated := ended && !last.day.IsZero()
	s.End = s.Start
	switch {
	case s.AllDay:
		if dated {
			s.End = last.day
		}
	case len(endTimes) > 0 && dated:
		s.End = endTimes[len(endTimes)-1].on(last.day)
	case len(endTimes) > 0:
		s.End = endTimes[len(endTimes)-1].on(first.day)
		if next := s.End.AddDate(0, 0, 1); s.End.Before(s.Start) && next.Sub(s.Start) <= longNight {
			s.End = next
		}
	case dated && last.day.Equal(first.day):
	case dated:
		s.End = last.day.EndOfDay()
		if len(times) > 0 {
			s.End = times[0].on(last.day)
		}
	case r.cells["duration"] != "":
		length, err := readDuration(r.cells["duration"])
		if err != nil {
			r.notice("duration", fmt.Sprintf("%q: %v; left out", shorten(r.cells["duration"]), err))
		}
		s.End = s.Start.Add(length)
	}
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
	e.Span = s
}

// start returns the start of a date: its day with its first time.
func (d sheetDate) start() calendar.Wall {
	if len(d.times) > 0 {
		return d.times[0].on(d.day)
	}
	return d.day
}

// longNight is the longest time that an end without a date, before the start, may be after it on the next day.
const longNight = 12 * time.Hour
