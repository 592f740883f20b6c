package handlers

import (
	"math"
	"slices"
	"sort"
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

// zoneWidth is the greatest difference between the days of an all-day event and the days of the site. Each zone is up
// to 14 hours from UTC.
const zoneWidth = 28 * time.Hour

// idsAtOnce is how many events a statement reads for the days that they stand on.
const idsAtOnce = 2000

// dayRange are days of the site in a row, both included.
type dayRange struct{ first, last calendar.Wall }

// daySheet has the events of some days.
type daySheet struct {
	days  []sheetDay
	total int // events that stand on some of the days that were to be counted
}

// sheetDay is a day with its first events: those of the whole day first, then those that began before, then by their starts.
type sheetDay struct {
	day    calendar.Wall
	total  int
	events []dayEvent
}

func emptySheet(of dayRange) *daySheet {
	out := &daySheet{}
	for day := of.first; !of.last.Before(day); day = day.AddDate(0, 0, 1) {
		out.days = append(out.days, sheetDay{day: day})
	}
	return out
}

// eventsOfDays returns the events of a query that take place on some days (contract, section 21): up to a number for each
// day. It counts those that take place on the days of counted.
func (r *pageRequest) eventsOfDays(q *query.Events, shown, counted dayRange, most int) (*daySheet, error) {
	zone := r.zone()
	begin, end := zone.Instant(shown.first), zone.Instant(shown.last.AddDate(0, 0, 1))
	wide := *q
	from := begin.Add(-zoneWidth)
	wide.Window, wide.Spans = query.Window{EndMin: &from, StartMax: startMax(end.Add(zoneWidth))}, true
	page, err := r.findEvents(&wide, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if page, err = r.withSpans(page); err != nil {
		return nil, err
	}
	out := emptySheet(shown)
	edges := make([]int64, 0, len(out.days)+1) // of the days: seconds since 1970
	for _, on := range out.days {
		edges = append(edges, zone.Instant(on.day).Unix())
	}
	edges = append(edges, end.Unix())
	number := int(dayNumberOf(shown.first))
	countFirst, countLast := int(dayNumberOf(counted.first))-number, int(dayNumberOf(counted.last))-number
	// By day, the places on the page of those that are first on it, by their rank.
	places := make([][ranks][]int, len(out.days))
	for i := range page.Spans {
		first, last := sheetDays(&page.Spans[i], edges, number)
		if first <= countLast && last >= countFirst {
			out.total++
		}
		for at := max(first, 0); at <= min(last, len(out.days)-1); at++ {
			out.days[at].total++
			rank := rankOnDay(page.Spans[i].AllDay, first < at)
			if of := &places[at][rank]; len(*of) < most {
				*of = append(*of, i)
			}
		}
	}
	for at := range out.days {
		for _, i := range slices.Concat(places[at][:]...) {
			if len(out.days[at].events) < most {
				out.days[at].events = append(out.days[at].events, r.dayEventOf(page, i))
			}
		}
	}
	return out, nil
}

// The ranks of the events of a day. Within one they are in the order of their starts.
const (
	rankAllDay = iota
	rankBefore // it began on an earlier day
	rankToday
	ranks
)

func rankOnDay(allDay, before bool) int {
	switch {
	case allDay:
		return rankAllDay
	case before:
		return rankBefore
	}
	return rankToday
}

// sheetDays returns the first and the last day of an event as places among days that begin at the edges. The last edge is
// the end of the last day. Days before and after are below 0 and above. number is that of the first day.
func sheetDays(s *query.Span, edges []int64, number int) (first, last int) {
	if s.AllDay {
		return int(s.FirstDay) - number, int(s.LastDay) - number
	}
	dayOf := func(second int64) int {
		return sort.Search(len(edges), func(i int) bool { return edges[i] > second }) - 1
	}
	first = dayOf(s.Starts)
	if s.Ends <= s.Starts {
		return first, first
	}
	// An event that ends at midnight does not take place on the day that begins then.
	return first, dayOf(s.Ends - 1)
}

// dayNumberOf returns the days since 1970 of a day.
func dayNumberOf(w calendar.Wall) int32 {
	year, month, day := w.Date()
	return int32(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)) //nolint:gosec // years have four digits
}

// wallOfDay is the inverse of dayNumberOf.
func wallOfDay(number int32) calendar.Wall {
	return calendar.WallOf(time.Unix(int64(number)*24*60*60, 0).UTC())
}

// startMax is the bound of a window, nil beyond the years that databases compare.
func startMax(t time.Time) *time.Time {
	if t.Year() > lastPageYear {
		return nil
	}
	return &t
}

// withSpans returns a page with the spans of its events. It leaves out those that are gone meanwhile.
func (r *pageRequest) withSpans(page query.Page) (query.Page, error) {
	if page.Spans != nil || len(page.IDs) == 0 {
		return page, nil
	}
	byID := make(map[int64]query.Span, len(page.IDs))
	for ids := range slices.Chunk(page.IDs, idsAtOnce) {
		rows, err := r.db.Event.Query().Where(event.IDIn(ids...)).Select(event.FieldID, event.FieldStartsAt, event.FieldEndsAt,
			event.FieldStartWall, event.FieldEndWall, event.FieldAllDay, event.FieldPasswordHash).All(r.ctx)
		if err != nil {
			return query.Page{}, err
		}
		for _, row := range rows {
			byID[row.ID] = spanOf(row)
		}
	}
	out := query.Page{Total: page.Total}
	for i, id := range page.IDs {
		span, ok := byID[id]
		if !ok {
			continue
		}
		out.IDs, out.Spans = append(out.IDs, id), append(out.Spans, span)
		if page.Changed != nil {
			out.Changed = append(out.Changed, page.Changed[i])
		}
	}
	return out, nil
}

// spanOf returns the span of an event as query.Page has it.
func spanOf(row *ent.Event) query.Span {
	out := query.Span{Starts: row.StartsAt.Unix(), Ends: row.EndsAt.Unix()}
	if row.AllDay && !edit.HasPassword(row) {
		out.AllDay, out.FirstDay, out.LastDay = true, dayNumberOf(row.StartWall), dayNumberOf(row.EndWall)
	}
	return out
}

// dayEventOf returns an event of a page with its days: of an all-day event its own, of others those of the site's clock.
func (r *pageRequest) dayEventOf(page query.Page, i int) dayEvent {
	s := &page.Spans[i]
	e := dayEvent{
		id: page.IDs[i], allDay: s.AllDay, starts: time.Unix(s.Starts, 0).UTC(), end: time.Unix(s.Ends, 0).UTC(),
	}
	if page.Changed != nil {
		e.changed, e.known = page.Changed[i], true
	}
	if e.allDay {
		e.first, e.last = wallOfDay(s.FirstDay), wallOfDay(s.LastDay)
		return e
	}
	zone := r.zone()
	e.first = zone.Wall(e.starts).StartOfDay()
	e.last = e.first
	if s.Ends > s.Starts {
		// An event that ends at midnight does not take place on the day that begins then.
		e.last = zone.Wall(e.end.Add(-time.Second)).StartOfDay()
	}
	return e
}

// dayEvent returns the days of an event.
func (r *pageRequest) dayEvent(row *ent.Event) dayEvent {
	return r.dayEventOf(query.Page{IDs: []int64{row.ID}, Spans: []query.Span{spanOf(row)}}, 0)
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

// These are the numbers of events read first for the neighbours of a period. Mostly one of the few events next to the
// period decides.
const (
	neighboursNext   = 8
	neighboursAround = 64
)

// neighbours returns the next day with events of a query before a period of days of the site, and after it. Zero is none.
// Any day of near is as good as the next one: the page links its month.
func (r *pageRequest) neighbours(q *query.Events, period, near dayRange) (before, after calendar.Wall, err error) {
	zone := r.zone()
	yesterday, tomorrow := period.first.AddDate(0, 0, -1), period.last.AddDate(0, 0, 1)
	begin, end := zone.Instant(period.first), zone.Instant(tomorrow)
	until, from := begin.Add(-time.Second), end.Add(-zoneWidth)
	for _, one := range []struct {
		next, around query.Window
		byEnd        bool
		note         func(*dayEvent)
		far          func(*dayEvent) bool // what follows in the list changes nothing
		enough       func() bool
	}{{
		// From the one that ends last of what may have begun before.
		query.Window{StartMax: &until},
		query.Window{StartMax: startMax(begin.Add(zoneWidth))},
		true,
		func(e *dayEvent) {
			if e.first.Before(period.first) {
				before = laterWall(before, earlierWall(e.last, yesterday))
			}
		},
		func(e *dayEvent) bool { return !before.IsZero() && e.end.Before(zone.Instant(before).Add(-zoneWidth)) },
		func() bool { return !before.Before(near.first) },
	}, {
		// From the one that begins first of what may end after.
		query.Window{StartMin: &end},
		query.Window{EndMin: &from},
		false,
		func(e *dayEvent) {
			if period.last.Before(e.last) {
				after = earlierWall(after, laterWall(e.first, tomorrow))
			}
		},
		func(e *dayEvent) bool { return !after.IsZero() && e.starts.After(zone.Instant(after).Add(zoneWidth)) },
		func() bool { return !after.IsZero() && !near.last.Before(after) },
	}} {
		list := *q
		list.Window, list.ByEnd, list.Spans = one.next, one.byEnd, true
		// The list of what is next lacks days of other zones, so it decides only if it has enough.
		_, err := r.eachDayEvent(&list, 0, neighboursNext, func(e *dayEvent) (more bool) {
			one.note(e)
			return !one.enough()
		})
		list.Window = one.around
		left := !one.enough()
		for offset, limit := 0, neighboursAround; err == nil && left; offset, limit = offset+limit, idsAtOnce {
			left, err = r.eachDayEvent(&list, offset, limit, func(e *dayEvent) (more bool) {
				if one.far(e) {
					return false
				}
				one.note(e)
				return !one.enough()
			})
		}
		if err != nil {
			return before, after, err
		}
	}
	return before, after, nil
}

// eachDayEvent calls a function for each event of a part of a list until it returns false. left reports whether there are
// more events that the function wants.
func (r *pageRequest) eachDayEvent(q *query.Events, offset, limit int, do func(*dayEvent) (more bool)) (left bool, err error) {
	page, err := r.findEvents(q, offset, limit)
	if err != nil {
		return false, err
	}
	left = len(page.IDs) > 0 && offset+len(page.IDs) < page.Total
	if page, err = r.withSpans(page); err != nil {
		return false, err
	}
	for i := range page.IDs {
		if e := r.dayEventOf(page, i); !do(&e) {
			return false, nil
		}
	}
	return left, nil
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
