// Package occurrencemodel says which occurrences series have after writes to single events (contract, sections 19.3 to 19.5,
// the scope this).
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

// Calendar is events, some of which are occurrences of series. Now is the time of the next write.
type Calendar struct {
	Now    time.Time
	Zone   *time.Location
	Series map[int64]*Series
	Events map[int64]Event
	// IDOf returns the id of the stored occurrence of a series with a nominal start.
	IDOf func(series int64, nominal string) int64
}

// Event is an event. Outside a series, Series is 0 and Nominal and Own are empty. Own has the names of the own fields
// in order, separated by spaces. Starts are in the form of time.DateTime.
type Event struct {
	Series  int64
	Nominal string
	Own     string
	Title   string
	Start   string
	Status  calendar.Status
	State   calendar.EventStatus
}

// fieldOrder is the order of the names of own fields: a translated one is after its field.
var fieldOrder = []string{"title", "title:pl", "start_date", "end_date", "featured", "event_status"}

// addOwn makes fields of an occurrence own ones.
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

// change changes an event.
func (c *Calendar) change(id int64, do func(e *Event)) {
	e := c.Events[id]
	do(&e)
	c.Events[id] = e
}

// Count returns the number of occurrences of a series, in or out of the trash.
func (c *Calendar) Count(series int64) (n int) {
	for _, e := range c.Events {
		if e.Series == series {
			n++
		}
	}
	return n
}

// AddSeries adds a new series with its occurrences. Events that are occurrences already stay as they are.
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

// MakeRecurring makes an event outside a series the first occurrence of one. The others get its fields. A stored state becomes an
// own field of the event.
func (c *Calendar) MakeRecurring(id, series int64, s *Series) {
	c.change(id, func(e *Event) {
		e.Series, e.Nominal, s.Title = series, e.Start, e.Title
		if e.State != calendar.Scheduled {
			e.addOwn("event_status")
		}
	})
	c.AddSeries(series, s)
}

// TakeOut takes an occurrence out of its series, which gets an exdate.
func (c *Calendar) TakeOut(id int64) {
	c.exclude(c.Events[id])
	c.change(id, func(e *Event) { e.Series, e.Nominal, e.Own = 0, "", "" })
}

// SetTitle sets a title. A stored title that is sent again changes nothing.
func (c *Calendar) SetTitle(id int64, title string) {
	c.change(id, func(e *Event) {
		if title != e.Title {
			e.addOwn("title")
		}
		e.Title = title
	})
}

// SetPolishTitle sets a title in another language.
func (c *Calendar) SetPolishTitle(id int64) {
	c.change(id, func(e *Event) { e.addOwn("title:pl") })
}

// SetState sets a state. A stored state that is sent again changes nothing.
func (c *Calendar) SetState(id int64, state calendar.EventStatus) {
	c.change(id, func(e *Event) {
		if state != e.State {
			e.addOwn("event_status")
		}
		e.State = state
	})
}

// SetStart sends a start_date. The nominal start stays.
func (c *Calendar) SetStart(id int64, start string) {
	c.change(id, func(e *Event) {
		e.Start = start
		e.addOwn("start_date", "end_date")
	})
}

// SetFeatured sends featured with another value than the stored one.
func (c *Calendar) SetFeatured(id int64) {
	c.change(id, func(e *Event) { e.addOwn("featured") })
}

// Trash moves an event to the trash. The start of an occurrence becomes an exdate.
func (c *Calendar) Trash(id int64) {
	c.change(id, func(e *Event) { e.Status = calendar.Trash })
	c.exclude(c.Events[id])
}

// exclude makes the nominal start of an occurrence an exdate. It does nothing for other events.
func (c *Calendar) exclude(e Event) {
	if s := c.Series[e.Series]; s != nil {
		s.ExDate[e.Nominal] = true
		s.Version++
	}
}

// Restore publishes an event that is in the trash, and undoes the exdate of an occurrence.
func (c *Calendar) Restore(id int64) {
	c.change(id, func(e *Event) { e.Status = calendar.Publish })
	e := c.Events[id]
	if s := c.Series[e.Series]; s != nil {
		delete(s.ExDate, e.Nominal)
		s.Version++
	}
}

// Remove removes an event for good. A series goes with its last occurrence. Otherwise the start becomes an exdate.
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

// Extend adds the occurrences that series get as time passes.
func (c *Calendar) Extend() {
	for id, s := range c.Series {
		if c.isDue(id, s) {
			c.addOccurrences(id, s.Starts(s.GeneratedUntil, c.horizon(s)))
			s.GeneratedUntil = c.horizon(s)
			s.Version++
		}
	}
}
