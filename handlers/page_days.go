package handlers

import (
	"cmp"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// dayEvent is an event with the days of the site that it stands on.
type dayEvent struct {
	id          int64
	changed     int64 // as query.Page.Changed
	known       bool  // changed is known
	first, last calendar.Wall
	allDay      bool
	starts, end time.Time
}

// on reports whether the event stands on a day.
func (e *dayEvent) on(day calendar.Wall) bool { return !day.Before(e.first) && !e.last.Before(day) }

// zoneWidth is how far the days of an all-day event are from those of the site at most: its zone is up to 14 hours before or
// after UTC, and so is the site's.
const zoneWidth = 28 * time.Hour

// idsAtOnce is how many events a statement reads for the days that they stand on.
const idsAtOnce = 2000

// eventsOfDays returns the events of a query that take place between two days of the site, both included, in the order of
// their starts (contract, section 21).
func (r *pageRequest) eventsOfDays(q *query.Events, first, last calendar.Wall) ([]dayEvent, error) {
	zone := r.zone()
	begin, end := zone.Instant(first), zone.Instant(last.AddDate(0, 0, 1))
	wide := *q
	from := begin.Add(-zoneWidth)
	wide.Window = query.Window{EndMin: &from, StartMax: startMax(end.Add(zoneWidth))}
	var out []dayEvent
	for offset := 0; ; offset += idsAtOnce {
		page, err := r.findEvents(&wide, offset, idsAtOnce)
		if err != nil {
			return nil, err
		}
		if len(page.IDs) == 0 {
			break
		}
		days, err := r.daysOf(page)
		if err != nil {
			return nil, err
		}
		for _, e := range days {
			if !e.last.Before(first) && !last.Before(e.first) {
				out = append(out, e)
			}
		}
		if offset+len(page.IDs) >= page.Total {
			break
		}
	}
	return out, nil
}

// startMax is the bound of a window, nil beyond the years that databases compare.
func startMax(t time.Time) *time.Time {
	if t.Year() > lastPageYear {
		return nil
	}
	return &t
}

// daysOf reads the days that the events of a page stand on.
func (r *pageRequest) daysOf(page query.Page) ([]dayEvent, error) {
	rows, err := r.db.Event.Query().Where(event.IDIn(page.IDs...)).Select(event.FieldID, event.FieldStartsAt, event.FieldEndsAt,
		event.FieldStartWall, event.FieldEndWall, event.FieldAllDay, event.FieldPasswordHash, event.FieldPasswordID).All(r.ctx)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*ent.Event, len(rows))
	for _, row := range rows {
		byID[row.ID] = row
	}
	out := make([]dayEvent, 0, len(rows))
	for i, id := range page.IDs {
		row := byID[id]
		if row == nil {
			continue
		}
		e := r.dayEvent(row)
		if page.Changed != nil {
			e.changed, e.known = page.Changed[i], true
		}
		out = append(out, e)
	}
	return out, nil
}

// dayEvent returns the days of an event: of an all-day event its own, of others those of the site's clock. A protected event
// is shown as timed.
func (r *pageRequest) dayEvent(row *ent.Event) dayEvent {
	e := dayEvent{id: row.ID, starts: row.StartsAt, end: row.EndsAt, allDay: row.AllDay && !edit.HasPassword(row)}
	if e.allDay {
		e.first, e.last = row.StartWall.StartOfDay(), row.EndWall.StartOfDay()
		return e
	}
	zone := r.zone()
	e.first = zone.Wall(row.StartsAt).StartOfDay()
	e.last = e.first
	if row.EndsAt.After(row.StartsAt) {
		// An event that ends at midnight does not take place on the day that begins then.
		e.last = zone.Wall(row.EndsAt.Add(-time.Second)).StartOfDay()
	}
	return e
}

// onDay returns the events of a day: those of the whole day first, then those that began before, then by their starts.
func onDay(all []dayEvent, day calendar.Wall) []dayEvent {
	var out []dayEvent
	for _, e := range all {
		if e.on(day) {
			out = append(out, e)
		}
	}
	rank := func(e dayEvent) int {
		switch {
		case e.allDay:
			return 0
		case e.first.Before(day):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b dayEvent) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.starts.Compare(b.starts), cmp.Compare(a.id, b.id))
	})
	return out
}

// pageOfDays returns some events as a part of a list.
func pageOfDays(events []dayEvent, total int) query.Page {
	page := query.Page{Total: total}
	for _, e := range events {
		page.IDs, page.Changed = append(page.IDs, e.id), append(page.Changed, e.changed)
	}
	if slices.ContainsFunc(events, func(e dayEvent) bool { return !e.known }) {
		page.Changed = nil
	}
	return page
}

// neighboursAtFirst is how many events are looked at first for the neighbours of a period. Mostly one of the first few decides.
const neighboursAtFirst = 64

// neighbours returns the next day with events of a query before a period of days of the site, and after it. Zero is none.
func (r *pageRequest) neighbours(q *query.Events, first, last calendar.Wall) (before, after calendar.Wall, err error) {
	zone := r.zone()
	yesterday, tomorrow := first.AddDate(0, 0, -1), last.AddDate(0, 0, 1)
	until, from := startMax(zone.Instant(first).Add(zoneWidth)), zone.Instant(tomorrow).Add(-zoneWidth)
	// From the one that ends last of what may have begun before.
	err = r.eachDayEvent(q, query.Window{StartMax: until}, true, func(e *dayEvent) (more bool) {
		if !before.IsZero() && e.end.Before(zone.Instant(before).Add(-zoneWidth)) {
			return false
		}
		if e.first.Before(first) {
			before = laterWall(before, earlierWall(e.last, yesterday))
		}
		return before != yesterday
	})
	if err != nil {
		return before, after, err
	}
	// From the one that begins first of what may end after.
	err = r.eachDayEvent(q, query.Window{EndMin: &from}, false, func(e *dayEvent) (more bool) {
		if !after.IsZero() && e.starts.After(zone.Instant(after).Add(zoneWidth)) {
			return false
		}
		if last.Before(e.last) {
			after = earlierWall(after, laterWall(e.first, tomorrow))
		}
		return after != tomorrow
	})
	return before, after, err
}

// eachDayEvent calls a function for each event of a query in a window, in the order of start, or of end with byEnd, until it
// returns false.
func (r *pageRequest) eachDayEvent(q *query.Events, w query.Window, byEnd bool, do func(*dayEvent) (more bool)) error {
	one := *q
	one.Window, one.ByEnd = w, byEnd
	for offset, limit := 0, neighboursAtFirst; ; offset, limit = offset+limit, idsAtOnce {
		page, err := r.findEvents(&one, offset, limit)
		if err != nil {
			return err
		}
		days, err := r.daysOf(page)
		if err != nil {
			return err
		}
		for i := range days {
			if !do(&days[i]) {
				return nil
			}
		}
		if offset+len(page.IDs) >= page.Total || len(page.IDs) == 0 {
			return nil
		}
	}
}

// laterWall returns the later of two days, earlierWall the earlier one. Zero is no day.
func laterWall(a, b calendar.Wall) calendar.Wall {
	if a.IsZero() || a.Before(b) {
		return b
	}
	return a
}

func earlierWall(a, b calendar.Wall) calendar.Wall {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
