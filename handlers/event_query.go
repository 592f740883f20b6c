package handlers

import (
	"context"
	"errors"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/when"
)

// eventQuery is the input of GET /events. Calendar pages and feeds use it, too.
type eventQuery struct {
	paging
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

	endless    bool              // the default time window of GET /events does not apply, because the list is a feed
	text       search.Query      // parsed form of Search
	conditions []query.Condition // conditions on the columns of eventFilters, one for each filter sent
	undated    bool              // the list has no default time window, because a calendar page sets one
}

// find returns the ids of the events on the page, and the number of events on all pages.
func (q *eventQuery) find(r *request) (query.Page, error) {
	q.limitValidity(r)
	e, err := q.events(r)
	if err != nil {
		return query.Page{}, err
	}
	offset, limit := q.span()
	return r.findEvents(e, offset, limit)
}

// events returns the query for the events of the list that the caller may see.
func (q *eventQuery) events(r *request) (e *query.Events, err error) {
	e = &query.Events{
		Now: r.now, Language: r.lang, Visible: visibleTo(r.caller, q.Status), Places: visibleTo(r.caller, nil),
		Include: q.Include, Conditions: q.conditions, Series: q.Series, Located: q.Geoloc,
	}
	e.Series.Visible = e.Places
	if q.Include == nil {
		e.Window = q.dates(r.now, r.zone())
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
	e.Readable = r.readableEvents(unlocked)
	return e, nil
}

// isCheap reports whether finding the list again takes little time and memory. Then a cached reply may do so to
// check whether it is still right. A search may have to read texts.
func (q *eventQuery) isCheap() bool {
	ids := len(q.Series.IDs)
	for _, c := range q.conditions {
		ids += len(c.IDs)
	}
	return q.Search == nil && reply.FewDependencies(ids)
}

// findEvents returns a page of a list of events. It asks the index, or the database if the index cannot answer.
func (r *request) findEvents(q *query.Events, offset, limit int) (query.Page, error) {
	return byIndex(r, func(x *index.Index, revision int64) (query.Page, error) {
		q.Revision = revision
		return r.findIndexed(x, q, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindEvents(r.ctx, q, offset, limit) })
}

// byIndex returns what the index finds, or what the database finds if there is no index or it cannot answer. The index must have
// applied the given revision of the calendar.
func byIndex[T any](
	r *request, ask func(x *index.Index, revision int64) (T, error), fallBack func(db query.Database) (T, error),
) (found T, err error) {
	if x := r.h.Index; x != nil {
		var revision int64
		if revision, err = r.sinceRevision(); err == nil {
			found, err = ask(x, revision)
		}
		if !r.needsDatabase(err) {
			return found, err
		}
	}
	return fallBack(query.Database{Ent: r.db})
}

// findIndexed returns a page of a list of events, found by the index.
func (r *request) findIndexed(x *index.Index, q *query.Events, offset, limit int) (query.Page, error) {
	if q.Include == nil {
		r.FindAgain = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
			again := *q
			again.Revision, again.Now = revision, now
			return x.FindEvents(ctx, &again, offset, limit)
		}
		return x.FindEvents(r.ctx, q, offset, limit)
	}
	page, err := x.FindEvents(r.ctx, q, 0, -1)
	if err != nil {
		return query.Page{}, err
	}
	// These ids need the order of the database. There are no more of them than a client can name.
	page.Changed = nil
	page.IDs, err = r.db.Event.Query().Where(event.IDIn(page.IDs...)).
		Order(event.ByPublishedAt(), event.ByID()).Offset(offset).Limit(limit).IDs(r.ctx)
	return page, err
}

// needsDatabase reports whether the database must answer the list after the index returned err. That is so if the
// index is not ready, does not support a condition, or follows an unavailable replica.
func (r *request) needsDatabase(err error) bool {
	return errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported) ||
		err != nil && r.h.Replica != nil && r.db != r.h.Replica && r.ctx.Err() == nil
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

// replacesDefaultWindow reports whether a calendar page or a sent filter replaces the default time window.
func (q *eventQuery) replacesDefaultWindow() bool {
	return q.undated || q.StartsBefore != nil || q.StartsAfter != nil || q.EndsBefore != nil || q.EndsAfter != nil
}

// startLink and endLink return the dates of the window for links. Links have them even when they are defaults.
func (q *eventQuery) startLink(zone calendar.Zone, first calendar.Wall) string {
	if q.StartDate == nil && q.Include == nil && !q.replacesDefaultWindow() {
		return first.String()
	}
	return q.dateLink(q.StartDate, zone, calendar.Wall.StartOfDay)
}

func (q *eventQuery) endLink(zone calendar.Zone, last calendar.Wall) string {
	if q.EndDate == nil && q.Include == nil && !q.replacesDefaultWindow() {
		return last.String()
	}
	return q.dateLink(q.EndDate, zone, calendar.Wall.EndOfDay)
}

// dateLink returns a date for links, as it was applied. round moves it to the start or end of its day, unless
// times are exact.
func (q *eventQuery) dateLink(d *when.Date, zone calendar.Zone, round func(calendar.Wall) calendar.Wall) string {
	switch {
	case d == nil || q.Include != nil:
		return ""
	case q.Strict:
		return represent.DateText(d.Instant(zone), zone)
	}
	return round(d.Wall(zone)).String()
}

// limitValidity records when relative dates ("today") change their meaning, so that caches expire.
func (q *eventQuery) limitValidity(r *request) {
	zone := r.zone()
	tomorrow := r.tomorrow()
	if !q.endless && q.Include == nil && !q.replacesDefaultWindow() && (q.StartDate == nil || q.EndDate == nil) {
		r.ExpireBy(tomorrow)
	}
	for _, d := range []*when.Date{q.StartDate, q.EndDate, q.StartsBefore, q.StartsAfter, q.EndsBefore, q.EndsAfter} {
		if d == nil || !d.Relative() {
			continue
		}
		late := d.Again(tomorrow.Add(-time.Second), zone)
		switch {
		case q.Strict && late.Instant(zone).Equal(d.Instant(zone)), !q.Strict && dayOf(late, zone) == dayOf(*d, zone):
			r.ExpireBy(tomorrow) // "today"; also "now" if filters are by whole days
		default:
			r.ExpireBy(r.now.Add(time.Second))
		}
	}
}

// tomorrow returns the instant when the current day ends in the site's zone.
func (r *request) tomorrow() time.Time {
	return r.zone().Instant(r.zone().Wall(r.now).StartOfDay().AddDate(0, 0, 1))
}

// dates returns the date filters as bounds of a query. Times are in whole seconds, so an exclusive bound moves by
// one second. A whole day ends one second before the next midnight of the site's zone.
func (q *eventQuery) dates(now time.Time, zone calendar.Zone) query.Window {
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
		from(&w.StartMin, zone.Instant(dayOf(*start, zone)))
	case !q.replacesDefaultWindow() && !q.endless:
		from(&w.StartMin, zone.Instant(first))
	}
	switch {
	case end != nil && q.Strict:
		to(&w.EndMax, exact(*end))
	case end != nil:
		to(&w.EndMax, endOf(dayOf(*end, zone)))
	case !q.replacesDefaultWindow() && !q.endless:
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
			to(f.bound, endOf(dayOf(*f.d, zone)))
		case q.Strict:
			from(f.bound, exact(*f.d).Add(time.Second))
		default:
			from(f.bound, endOf(dayOf(*f.d, zone)).Add(time.Second))
		}
	}
	return w
}
