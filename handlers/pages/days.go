package pages

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/query"
)

// dayEvent is an event with the days on which the calendar of the site shows it.
type dayEvent struct {
	id          int64
	changed     int64 // revision of the last change, as in query.Page.Changed
	known       bool  // changed is known
	first, last calendar.Wall
	allDay      bool
	starts, end time.Time
}

// zoneWidth is the greatest difference between the days of an all-day event and days of the site. Each zone is up
// to 14 hours from UTC.
const zoneWidth = 28 * time.Hour

// idsAtOnce is the number of events whose days one SQL statement reads.
const idsAtOnce = 2000

// dayRange is a range of days of the site, including both ends.
type dayRange struct{ first, last calendar.Wall }

// daySheet has the events of a range of days.
type daySheet struct {
	days  []sheetDay
	total int // number of events on the days that were to be counted
}

// sheetDay is a day with its first events. All-day events come first, then those that began earlier, then the
// others by start.
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

// eventsOfDays returns the events of a query for each day in shown (contract, section 21). It keeps at most the
// first dayLimit events of a day. The total is the number of events on the days in counted.
func (r *request) eventsOfDays(q *query.Events, shown, counted dayRange, dayLimit int) (*daySheet, error) {
	zone := r.Zone()
	begin, end := zone.Instant(shown.first), zone.Instant(shown.last.AddDate(0, 0, 1))
	wide := *q
	from := begin.Add(-zoneWidth)
	wide.Window, wide.Spans = query.Window{EndMin: &from, StartMax: startMax(end.Add(zoneWidth))}, true
	page, err := r.FindEvents(&wide, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if page, err = r.withSpans(page); err != nil {
		return nil, err
	}
	out := emptySheet(shown)
	edges := make([]int64, 0, len(out.days)+1) // start of each day and end of the last, in seconds since 1970
	for _, on := range out.days {
		edges = append(edges, zone.Instant(on.day).Unix())
	}
	edges = append(edges, end.Unix())
	number := int(dayNumberOf(shown.first))
	countFirst, countLast := int(dayNumberOf(counted.first))-number, int(dayNumberOf(counted.last))-number
	// For each day and rank, places has the positions on page of its first events.
	places := make([][ranks][]int, len(out.days))
	for i := range page.Spans {
		first, last := sheetDays(&page.Spans[i], edges, number)
		if first <= countLast && last >= countFirst {
			out.total++
		}
		for at := max(first, 0); at <= min(last, len(out.days)-1); at++ {
			out.days[at].total++
			rank := rankOnDay(page.Spans[i].AllDay, first < at)
			if of := &places[at][rank]; len(*of) < dayLimit {
				*of = append(*of, i)
			}
		}
	}
	for at := range out.days {
		for _, i := range slices.Concat(places[at][:]...) {
			if len(out.days[at].events) < dayLimit {
				out.days[at].events = append(out.days[at].events, r.dayEventOf(page, i))
			}
		}
	}
	return out, nil
}

// rankAllDay to rankToday are the ranks by which the events of a day are sorted. Events of the same rank are in
// the order of their starts. The constant ranks is the number of ranks.
const (
	rankAllDay = iota
	rankBefore // the event began on an earlier day
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

// sheetDays returns the first and last day of an event as indices of days in a range. The argument edges has the
// starts of these days and the end of the last, in seconds since 1970. An index below 0 means a day before the
// range. The argument number is the day number of its first day (see dayNumberOf).
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

// dayNumberOf returns the number of days from 1970-01-01 to a day.
func dayNumberOf(w calendar.Wall) int32 {
	year, month, day := w.Date()
	return int32(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)) //nolint:gosec // years have four digits
}

// wallOfDay returns the day with a number, as the inverse of dayNumberOf.
func wallOfDay(number int32) calendar.Wall {
	return calendar.WallOf(time.Unix(int64(number)*24*60*60, 0).UTC())
}

// startMax returns the upper bound of a time window. It returns nil after the last year that databases can
// compare.
func startMax(t time.Time) *time.Time {
	if t.Year() > address.LastYear {
		return nil
	}
	return &t
}

// withSpans returns a page with the time spans of its events. It leaves out events that were deleted meanwhile.
func (r *request) withSpans(page query.Page) (query.Page, error) {
	if page.Spans != nil || len(page.IDs) == 0 {
		return page, nil
	}
	byID := make(map[int64]query.Span, len(page.IDs))
	for ids := range slices.Chunk(page.IDs, idsAtOnce) {
		rows, err := r.DB.Event.Query().Where(event.IDIn(ids...)).Select(event.FieldID, event.FieldStartsAt, event.FieldEndsAt,
			event.FieldStartWall, event.FieldEndWall, event.FieldAllDay, event.FieldPasswordHash).All(r.Ctx)
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

// spanOf returns the time span of an event in the form of query.Page. It hides that an event with a password
// lasts all day.
func spanOf(row *ent.Event) query.Span {
	out := query.Span{Starts: row.StartsAt.Unix(), Ends: row.EndsAt.Unix()}
	if row.AllDay && !edit.HasPassword(row) {
		out.AllDay, out.FirstDay, out.LastDay = true, dayNumberOf(row.StartWall), dayNumberOf(row.EndWall)
	}
	return out
}

// dayEventOf returns the event at index i of a page, with its days. An all-day event has its own days, others
// those of the site's clock.
func (r *request) dayEventOf(page query.Page, i int) dayEvent {
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
	zone := r.Zone()
	e.first = zone.Wall(e.starts).StartOfDay()
	e.last = e.first
	if s.Ends > s.Starts {
		// An event that ends at midnight does not take place on the day that begins then.
		e.last = zone.Wall(e.end.Add(-time.Second)).StartOfDay()
	}
	return e
}

// dayEvent returns an event with the days on which the calendar shows it.
func (r *request) dayEvent(row *ent.Event) dayEvent {
	return r.dayEventOf(query.Page{IDs: []int64{row.ID}, Spans: []query.Span{spanOf(row)}}, 0)
}

// pageOfDays returns events as a page of a list that has the given total of events.
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

// neighboursNext and neighboursAround are the numbers of events that are read first to find the neighbours of a
// period. Usually one of the few events next to the period decides.
const (
	neighboursNext   = 8
	neighboursAround = 64
)

// neighbours returns the closest days with events before and after a period, for links to other pages. Zero means
// that there is none. If the result is within near, it may be any day with events, because the page then links its
// month.
func (r *request) neighbours(q *query.Events, period, near dayRange) (before, after calendar.Wall, err error) {
	zone := r.Zone()
	yesterday, tomorrow := period.first.AddDate(0, 0, -1), period.last.AddDate(0, 0, 1)
	begin, end := zone.Instant(period.first), zone.Instant(tomorrow)
	until, from := begin.Add(-time.Second), end.Add(-zoneWidth)
	for _, one := range []struct {
		next, around query.Window
		byEnd        bool
		note         func(*dayEvent)
		far          func(*dayEvent) bool // no later event in the list can change the result
		enough       func() bool
	}{{
		// Start with the event that ends last among those that may have begun before the period.
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
		// Start with the event that begins first among those that may end after the period.
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
		// The list of next events lacks days of other zones, so it decides only if it has enough.
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

// eachDayEvent calls do for at most limit events of a list, from offset, until do returns false. The result left is
// true if do returned true for all these events and the list has more.
func (r *request) eachDayEvent(q *query.Events, offset, limit int, do func(*dayEvent) (more bool)) (left bool, err error) {
	page, err := r.FindEvents(q, offset, limit)
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

// laterWall returns the later of two days, and earlierWall the earlier one. Both return b if a is zero. Callers
// of earlierWall must not pass zero as b.
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
