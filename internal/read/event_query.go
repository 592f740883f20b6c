package read

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/when"
)

// EventQuery is the input of GET /events. Calendar pages and feeds use it, too.
type EventQuery struct {
	Paging
	StartDate, EndDate        *when.Date
	StartsBefore, StartsAfter *when.Date
	EndsBefore, EndsAfter     *when.Date
	Strict                    bool
	Search                    *string
	Status                    []calendar.Status
	Geoloc                    *bool
	Lat, Lng                  *float64
	Radius                    float64
	Include                   []int64
	Series                    query.Series
	Password                  *string

	Endless    bool              // true if the default time window does not apply, because the list is a feed
	text       search.Query      // parsed form of Search
	Conditions []query.Condition // conditions on the columns of eventFilters, one for each filter sent
	Undated    bool              // true if a calendar page sets the time window
}

// Find returns the ids of the events on the page, and the number of events on all pages.
func (q *EventQuery) Find(r *Reader) (query.Page, error) {
	q.LimitValidity(r)
	e, err := q.Events(r)
	if err != nil {
		return query.Page{}, err
	}
	offset, limit := q.Span()
	return r.FindEvents(e, offset, limit)
}

// Events converts the parameters of the request to a query for the events that the caller may see. It tries the
// sent password if a filter needs that.
func (q *EventQuery) Events(r *Reader) (e *query.Events, err error) {
	e = &query.Events{
		Now: r.Now, Language: r.Language, Visible: VisibleTo(r.Caller, q.Status), Places: VisibleTo(r.Caller, nil),
		Include: q.Include, Conditions: q.Conditions, Series: q.Series, Located: q.Geoloc,
	}
	e.Series.Visible = e.Places
	if q.Include == nil {
		e.Window = q.dates(r.Now, r.Zone())
	}
	if q.Lat != nil && q.Lng != nil {
		e.Near = &query.Circle{Latitude: *q.Lat, Longitude: *q.Lng, Kilometres: q.Radius}
	}
	if q.Search != nil {
		e.Search = &q.text
	}
	var unlocked []int64
	if e.Guarded() && q.Password != nil {
		if unlocked, err = r.unlockedEvents(e.Visible); err != nil {
			return nil, err
		}
	}
	e.Readable = r.ReadableEvents(unlocked)
	return e, nil
}

// IsCheap reports whether the query takes little time and memory. If it does, the reply cache may repeat it to
// check a cached reply. A text search is not cheap, because it may have to read texts.
func (q *EventQuery) IsCheap() bool {
	ids := len(q.Series.IDs)
	for _, c := range q.Conditions {
		ids += len(c.IDs)
	}
	return q.Search == nil && reply.FewDependencies(ids)
}

// defaultWindow returns the first and last moment of the default time window. It lasts from today to the same day
// 24 months later, in the site's zone.
func defaultWindow(now time.Time, zone calendar.Zone) (first, last calendar.Wall) {
	today := zone.Wall(now).StartOfDay()
	year, month, day := today.Date()
	last = calendar.WallAt(year+2, month, day, 23, 59, 59)
	if _, m, _ := last.Date(); m != month { // 29 February
		last = calendar.WallAt(year+2, month+1, 0, 23, 59, 59)
	}
	return today, last
}

// ReplacesDefaultWindow reports whether a calendar page or a sent filter replaces the default time window.
func (q *EventQuery) ReplacesDefaultWindow() bool {
	return q.Undated || q.StartsBefore != nil || q.StartsAfter != nil || q.EndsBefore != nil || q.EndsAfter != nil
}

// startLink and endLink return the first and last date of the list for its links. If none was sent, they return the
// bounds of the default window, so that all pages show the same window. "" means no bound.
func (q *EventQuery) startLink(zone calendar.Zone, first calendar.Wall) string {
	if q.StartDate == nil && q.Include == nil && !q.ReplacesDefaultWindow() {
		return first.String()
	}
	return q.dateLink(q.StartDate, zone, calendar.Wall.StartOfDay)
}

func (q *EventQuery) endLink(zone calendar.Zone, last calendar.Wall) string {
	if q.EndDate == nil && q.Include == nil && !q.ReplacesDefaultWindow() {
		return last.String()
	}
	return q.dateLink(q.EndDate, zone, calendar.Wall.EndOfDay)
}

// dateLink formats the date of a filter for links. The function round moves it to the start or end of its day,
// unless q.Strict is set. "" means that the filter does not apply.
func (q *EventQuery) dateLink(d *when.Date, zone calendar.Zone, round func(calendar.Wall) calendar.Wall) string {
	switch {
	case d == nil || q.Include != nil:
		return ""
	case q.Strict:
		return represent.DateText(d.Instant(zone), zone)
	}
	return round(d.Wall(zone)).String()
}

// LimitValidity records when relative dates ("today") change their meaning, so that caches expire.
func (q *EventQuery) LimitValidity(r *Reader) {
	zone := r.Zone()
	tomorrow := r.Tomorrow()
	if !q.Endless && q.Include == nil && !q.ReplacesDefaultWindow() && (q.StartDate == nil || q.EndDate == nil) {
		r.ExpireBy(tomorrow)
	}
	for _, d := range []*when.Date{q.StartDate, q.EndDate, q.StartsBefore, q.StartsAfter, q.EndsBefore, q.EndsAfter} {
		if d == nil || !d.Relative() {
			continue
		}
		late := d.Again(tomorrow.Add(-time.Second), zone)
		switch {
		case q.Strict && late.Instant(zone).Equal(d.Instant(zone)), !q.Strict && DayOf(late, zone) == DayOf(*d, zone):
			r.ExpireBy(tomorrow) // "today"; also "now" if filters are by whole days
		default:
			r.ExpireBy(r.Now.Add(time.Second))
		}
	}
}

// dates returns the date filters as bounds of a query. Times are in whole seconds, so an exclusive bound moves by
// one second. A whole day ends one second before the next midnight of the site's zone.
func (q *EventQuery) dates(now time.Time, zone calendar.Zone) query.Window {
	var w query.Window
	endOf := func(day calendar.Wall) time.Time {
		end := zone.Instant(day.AddDate(0, 0, 1)).Add(-time.Second)
		if end.After(query.LastSecond) {
			return query.LastSecond
		}
		return end
	}
	from := func(bound **time.Time, at time.Time) {
		if *bound == nil || at.After(**bound) {
			*bound = &at
		}
	}
	to := func(bound **time.Time, at time.Time) {
		if *bound == nil || at.Before(**bound) {
			*bound = &at
		}
	}
	exact := func(d when.Date) time.Time { return d.Instant(zone) }
	first, last := defaultWindow(now, zone)
	start, end := q.StartDate, q.EndDate
	switch {
	case start != nil && q.Strict:
		from(&w.StartMin, exact(*start))
	case start != nil:
		from(&w.StartMin, zone.Instant(DayOf(*start, zone)))
	case !q.ReplacesDefaultWindow() && !q.Endless:
		from(&w.StartMin, zone.Instant(first))
	}
	switch {
	case end != nil && q.Strict:
		to(&w.EndMax, exact(*end))
	case end != nil:
		to(&w.EndMax, endOf(DayOf(*end, zone)))
	case !q.ReplacesDefaultWindow() && !q.Endless:
		to(&w.EndMax, endOf(last.StartOfDay()))
	}
	for _, f := range []struct {
		d      *when.Date
		bound  **time.Time
		before bool
	}{
		{q.StartsBefore, &w.StartMax, true},
		{q.StartsAfter, &w.StartMin, false},
		{q.EndsBefore, &w.EndMax, true},
		{q.EndsAfter, &w.EndMin, false},
	} {
		switch {
		case f.d == nil:
		case f.before && q.Strict:
			to(f.bound, exact(*f.d).Add(-time.Second))
		case f.before:
			to(f.bound, endOf(DayOf(*f.d, zone)))
		case q.Strict:
			from(f.bound, exact(*f.d).Add(time.Second))
		default:
			from(f.bound, endOf(DayOf(*f.d, zone)).Add(time.Second))
		}
	}
	return w
}
