// Package occurrencemodel computes the occurrences of series after writes to single events (contract, sections 19.3
// to 19.5, the scope this). A nominal start is the wall time at which the schedule says an occurrence starts,
// wherever that occurrence was moved.
//
// It is a second, simple implementation of these rules. Time adds occurrences as well. The model has events and series in
// maps, and shares no code with package edit. Tests draw writes, make them in both, and compare.
package occurrencemodel

import (
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Calendar is a model of the stored events and series, for comparing with the database after random writes. Now is
// the time of the next write.
type Calendar struct {
	Now    time.Time
	Zone   *time.Location
	Series map[int64]*Series
	Events map[int64]Event
	// IDOf returns the id of the stored occurrence of a series at a nominal start in the form of time.DateTime.
	IDOf func(series int64, nominal string) int64
}

// Event is an event in the model. Starts are wall times in the form of time.DateTime. Own lists the fields that a
// write changed for this occurrence only, in the order of fieldOrder, separated by spaces. Outside a series, Series
// is 0, and Nominal and Own are empty.
type Event struct {
	Series  int64
	Nominal string
	Own     string
	Title   string
	Start   string
	Status  calendar.Status
	State   calendar.EventStatus
}

// fieldOrder is the order of names in Event.Own. A translated field follows its original.
var fieldOrder = []string{"title", "title:pl", "start_date", "end_date", "featured", "event_status"}

// addOwn adds names of fields to Own. It does nothing for a single event.
func (e *Event) addOwn(names ...string) {
	if e.Series == 0 {
		return
	}
	old := strings.Fields(e.Own)
	own := slices.DeleteFunc(slices.Clone(fieldOrder), func(name string) bool {
		return !slices.Contains(old, name) && !slices.Contains(names, name)
	})
	e.Own = strings.Join(own, " ")
}

// change applies do to the event with an id and stores the result.
func (c *Calendar) change(id int64, do func(e *Event)) {
	e := c.Events[id]
	do(&e)
	c.Events[id] = e
}

// Count returns the number of occurrences of a series, including those in the trash.
func (c *Calendar) Count(series int64) (n int) {
	for _, e := range c.Events {
		if e.Series == series {
			n++
		}
	}
	return n
}

// AddSeries adds a series and its missing occurrences. Occurrences that the model has already stay unchanged.
func (c *Calendar) AddSeries(id int64, s *Series) {
	s.Version, s.GeneratedUntil = 1, c.horizon(s)
	c.Series[id] = s
	c.addOccurrences(id, c.AllStarts(s))
}

func (c *Calendar) addOccurrences(series int64, starts []string) {
	for _, nominal := range starts {
		id := c.IDOf(series, nominal)
		if _, known := c.Events[id]; !known {
			c.Events[id] = Event{
				Series: series, Nominal: nominal, Title: c.Series[series].Title, Start: nominal,
				Status: calendar.Publish, State: calendar.Scheduled,
			}
		}
	}
}

// MakeRecurring turns a single event into the first occurrence of a new series. The other occurrences get its title.
// If its state is not the default, such as cancelled, the state becomes an own field of this event.
func (c *Calendar) MakeRecurring(id, series int64, s *Series) {
	c.change(id, func(e *Event) {
		e.Series, e.Nominal, s.Title = series, e.Start, e.Title
		if e.State != calendar.Scheduled {
			e.addOwn("event_status")
		}
	})
	c.AddSeries(series, s)
}

// TakeOut makes an occurrence a single event. The series excludes its nominal start from then on (exdate).
func (c *Calendar) TakeOut(id int64) {
	c.exclude(c.Events[id])
	c.change(id, func(e *Event) { e.Series, e.Nominal, e.Own = 0, "", "" })
}

// SetTitle models a write of the field title. Sending the stored title changes nothing.
func (c *Calendar) SetTitle(id int64, title string) {
	c.change(id, func(e *Event) {
		if title != e.Title {
			e.addOwn("title")
		}
		e.Title = title
	})
}

// SetPolishTitle models a write of a title in Polish to an event whose original language is another.
func (c *Calendar) SetPolishTitle(id int64) {
	c.change(id, func(e *Event) { e.addOwn("title:pl") })
}

// SetState models a write of an event's state, such as cancelled. Sending the stored state changes nothing.
func (c *Calendar) SetState(id int64, state calendar.EventStatus) {
	c.change(id, func(e *Event) {
		if state != e.State {
			e.addOwn("event_status")
		}
		e.State = state
	})
}

// SetStart models a write of the field start_date with another value than the stored one. The nominal start stays.
func (c *Calendar) SetStart(id int64, start string) {
	c.change(id, func(e *Event) {
		e.Start = start
		e.addOwn("start_date", "end_date")
	})
}

// SetFeatured models a write of the field featured with another value than the stored one.
func (c *Calendar) SetFeatured(id int64) {
	c.change(id, func(e *Event) { e.addOwn("featured") })
}

// Trash moves an event to the trash. The series excludes the nominal start of an occurrence from then on (exdate).
func (c *Calendar) Trash(id int64) {
	c.change(id, func(e *Event) { e.Status = calendar.Trash })
	c.exclude(c.Events[id])
}

// exclude makes the series of an occurrence exclude its nominal start. It does nothing for a single event.
func (c *Calendar) exclude(e Event) {
	if s := c.Series[e.Series]; s != nil {
		s.ExDate[e.Nominal] = true
		s.Version++
	}
}

// Restore publishes an event from the trash. The series of an occurrence no longer excludes its start.
func (c *Calendar) Restore(id int64) {
	c.change(id, func(e *Event) { e.Status = calendar.Publish })
	e := c.Events[id]
	if s := c.Series[e.Series]; s != nil {
		delete(s.ExDate, e.Nominal)
		s.Version++
	}
}

// Remove deletes an event permanently. Its series excludes its nominal start from then on (exdate). Removing the last
// occurrence removes the series instead.
func (c *Calendar) Remove(id int64) {
	e := c.Events[id]
	delete(c.Events, id)
	s := c.Series[e.Series]
	switch {
	case s != nil && c.Count(e.Series) == 0:
		delete(c.Series, e.Series)
	case s != nil && !s.ExDate[e.Nominal]:
		c.exclude(e)
	}
}

// Extend adds the occurrences that the service creates as time passes. It does so for series for which isDue is true.
func (c *Calendar) Extend() {
	for id, s := range c.Series {
		if c.isDue(id, s) {
			c.addOccurrences(id, s.Starts(s.GeneratedUntil, c.horizon(s)))
			s.GeneratedUntil = c.horizon(s)
			s.Version++
		}
	}
}
