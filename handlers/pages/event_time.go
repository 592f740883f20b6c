package pages

import (
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// eventTime is when an event takes place, formatted for a page.
type eventTime struct {
	first, last calendar.Wall // first and last day, in the zone of the event
	allDay      bool
	start, end  string // for machines: times with UTC offset, or days of an all-day event
	time        string // time of day, or that the event lasts all day
	zone        string // name of the event's zone if its clock differs from that of the site, else ""
	until       string // last day; "" for an event on one day
	text        string // whole text of date and time
}

// eventTimeOf returns when an event takes place. If redacted is true, the event is never shown as all-day.
func (r *request) eventTimeOf(e *ent.Event, redacted bool) eventTime {
	zone, err := calendar.ParseZone(e.Timezone)
	if err != nil { // zones in the database are always valid
		zone = calendar.UTC()
	}
	allDay := e.AllDay && !redacted
	m := eventTime{allDay: allDay, first: e.StartWall.StartOfDay(), last: lastDay(e.StartWall, e.EndWall)}
	if allDay {
		m.start, m.end = m.first.Format(time.DateOnly), m.last.Format(time.DateOnly)
		m.time = r.words.AllDay
	} else {
		m.start = e.StartsAt.In(zone.Location()).Format(time.RFC3339)
		m.end = e.EndsAt.In(zone.Location()).Format(time.RFC3339)
		m.time = r.dates.Time(e.StartWall)
		if !r.Zone().Wall(e.StartsAt).Equal(e.StartWall) || !r.Zone().Wall(e.EndsAt).Equal(e.EndWall) {
			m.zone = zone.Abbreviation(e.StartsAt)
			if m.zone != zone.String() {
				m.zone += " (" + strings.ReplaceAll(zone.String(), "_", " ") + ")"
			}
		}
		if e.StartWall.StartOfDay() == m.last && e.EndWall != e.StartWall {
			m.time = r.dates.TimeRange(e.StartWall, e.EndWall)
		}
	}
	if m.last != m.first {
		m.until = strings.ReplaceAll(r.words.Until, "{date}", r.dates.dayMonth(m.last, m.first))
	}
	m.text = r.dates.span(e.StartWall, e.EndWall, m.last, allDay)
	return m
}

// lateHours is how long after midnight an event still belongs to the day before.
const lateHours = 6 * time.Hour

// lastDay returns the last day of an event as visitors understand it. An event shorter than a day that ends at
// most lateHours after the next midnight has only its first day.
func lastDay(start, end calendar.Wall) calendar.Wall {
	last := end.StartOfDay()
	if last.Before(start.StartOfDay()) {
		return start.StartOfDay()
	}
	if end.Sub(start) < 24*time.Hour && end.Sub(last) <= lateHours && last.AddDate(0, 0, -1).Equal(start.StartOfDay()) {
		return start.StartOfDay()
	}
	return last
}

func dayNumber(w calendar.Wall) int {
	_, _, day := w.Date()
	return day
}
