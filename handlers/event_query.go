package handlers

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/when"
)

// eventQuery is what GET /events may be asked.
type eventQuery struct {
	paging
	StartDate, EndDate         *when.Date
	StartsBefore, StartsAfter  *when.Date
	EndsBefore, EndsAfter      *when.Date
	Strict                     bool
	Search                     *string
	Categories, Tags           []string
	Venues, Organizers         []int64
	Featured, Geoloc, Ticketed *bool
	Status                     []calendar.Status
	Lat, Lng                   *float64
	Radius                     float64
	Include                    []int64
	Parent                     *int64
	Password                   *string

	// What the lookups of terms found: for each, the terms an event may carry, descendants included.
	categoryIDs, tagIDs []int64
	// What the lookups of find found.
	near, unlocked []int64
	text           search.Query
}

// window is the default time window in whole days of the site zone: from today to the day 24 months later.
func window(now time.Time, zone calendar.Zone) (first, last calendar.Wall) {
	today := zone.Wall(now).StartOfDay()
	year, month, day := today.Date()
	last = calendar.WallAt(year+2, month, day, 23, 59, 59)
	if _, m, _ := last.Date(); m != month { // 29 February
		last = calendar.WallAt(year+2, month+1, 0, 23, 59, 59)
	}
	return today, last
}

func (r *request) declareEventQuery(p *param.Set, q *eventQuery) {
	zone := r.zone()
	date := parseDate(p.Now, zone)
	r.declarePaging(p, &q.paging, "Events")
	first, last := window(p.Now, zone)
	dates := []struct {
		dst               **when.Date
		name, description string
		link              func() string
		published         any
	}{
		{
			&q.StartDate, "start_date", "Events starting on or after this date",
			func() string { return q.startLink(zone, first) }, first.String(),
		},
		{
			&q.EndDate, "end_date", "Events ending on or before this date",
			func() string { return q.endLink(zone, last) }, last.String(),
		},
		{&q.StartsBefore, "starts_before", "Events starting before this date", nil, nil},
		{&q.StartsAfter, "starts_after", "Events starting after this date", nil, nil},
		{&q.EndsBefore, "ends_before", "Events ending before this date", nil, nil},
		{&q.EndsAfter, "ends_after", "Events ending after this date", nil, nil},
	}
	for _, d := range dates {
		decl := param.Opt(p, d.dst, d.name, d.description, "", date)
		if d.published != nil {
			decl.PublishDefault(d.published)
		}
		if d.link == nil {
			d.link = func() string { return q.dateLink(*d.dst, zone, calendar.Wall.EndOfDay) }
		}
		decl.Link(d.link)
	}
	param.Default(p.Bool(&q.Strict, "strict_dates", "Compare exact times instead of whole days").Untyped(),
		&q.Strict, false)
	p.OptString(&q.Search, "search", "Text in title, excerpt or description").Longest(search.MaxChars).
		Check(func(context.Context) *param.Fault {
			text, ok := search.ParseEvents(*q.Search)
			if !ok {
				return badSearch(*q.Search)
			}
			q.text = text
			return nil
		})
	p.Words(&q.Categories, "categories", "Categories, by ID or slug").
		Check(r.areTerms(calendar.Category, &q.Categories, &q.categoryIDs))
	p.Words(&q.Tags, "tags", "Tags, by ID or slug").Check(r.areTerms(calendar.Tag, &q.Tags, &q.tagIDs))
	p.IDs(&q.Venues, "venue", "Venue IDs").Check(r.areRecords(calendar.Venue, &q.Venues))
	p.IDs(&q.Organizers, "organizer", "Organizer IDs").Check(r.areRecords(calendar.Organizer, &q.Organizers))
	p.OptBool(&q.Featured, "featured", "Featured or not")
	r.declareStatuses(p, &q.Status)
	p.OptBool(&q.Geoloc, "geoloc", "With a located venue or without").CheckAlways(q.checkGeoloc)
	p.OptNumber(&q.Lat, "geoloc_lat", "Latitude of the centre; needs geoloc_lng").Between(-90, 90).
		Check(inBounds("geoloc_lat", &q.Lat, 90)).CheckAlways(paired("geoloc_lat", "geoloc_lng", &q.Lat, &q.Lng))
	p.OptNumber(&q.Lng, "geoloc_lng", "Longitude of the centre; needs geoloc_lat").Between(-180, 180).
		Check(inBounds("geoloc_lng", &q.Lng, 180)).CheckAlways(paired("geoloc_lng", "geoloc_lat", &q.Lng, &q.Lat))
	param.Default(p.Number(&q.Radius, "geoloc_radius", "Radius in kilometres, at most 500"), &q.Radius, 25).Above(0, 500).
		Check(func(context.Context) *param.Fault {
			if q.Radius <= 0 || q.Radius > 500 {
				return param.OutOfBounds("geoloc_radius", 0, 500)
			}
			return nil
		})
	p.IDs(&q.Include, "include", "Event IDs; date filters are ignored").Between(1, nil).Check(func(context.Context) *param.Fault {
		for _, id := range q.Include {
			if id < 1 {
				return param.OutOfBounds("include", 1, nil)
			}
		}
		return nil
	})
	p.OptInt(&q.Parent, "post_parent", "ID of the parent event").Check(r.isReadableEvent(&q.Parent))
	p.OptBool(&q.Ticketed, "ticketed", "With tickets or without")
	p.OptString(&q.Password, "password", "Access password of protected events").NoLink()
	r.declareLanguage(p)
}

// zone is the site's, UTC while only describing.
func (r *request) zone() calendar.Zone {
	if r.h == nil {
		return calendar.UTC()
	}
	return r.h.Site.Zone
}

func (q *eventQuery) checkGeoloc(context.Context) *param.Fault {
	if q.Geoloc != nil && !*q.Geoloc && (q.Lat != nil || q.Lng != nil) {
		return param.Bad()
	}
	return nil
}

// relative reports whether one of the filters that make the default window vanish was sent.
func (q *eventQuery) relative() bool {
	return q.StartsBefore != nil || q.StartsAfter != nil || q.EndsBefore != nil || q.EndsAfter != nil
}

// startLink and endLink repeat the dates of the window, which links carry even when they are defaults.
func (q *eventQuery) startLink(zone calendar.Zone, first calendar.Wall) string {
	if q.StartDate == nil && q.Include == nil && !q.relative() {
		return first.String()
	}
	return q.dateLink(q.StartDate, zone, calendar.Wall.StartOfDay)
}

func (q *eventQuery) endLink(zone calendar.Zone, last calendar.Wall) string {
	if q.EndDate == nil && q.Include == nil && !q.relative() {
		return last.String()
	}
	return q.dateLink(q.EndDate, zone, calendar.Wall.EndOfDay)
}

// dateLink is a date as it was applied. round is what whole-day mode does to it.
func (q *eventQuery) dateLink(d *when.Date, zone calendar.Zone, round func(calendar.Wall) calendar.Wall) string {
	switch {
	case d == nil || q.Include != nil:
		return ""
	case q.Strict:
		return dateText(d.Instant(zone), zone)
	}
	return round(d.Wall(zone)).String()
}

// find looks up which events are on the page, and how many there are on all pages. The index knows most; what it cannot
// say now, or does not know, the database does.
func (q *eventQuery) find(r *request) (ids []int64, total int, err error) {
	q.holds(r)
	if q.Search != nil {
		if q.unlocked, err = r.unlocked(q.Password); err != nil {
			return nil, 0, err
		}
	}
	offset, ok := q.offset()
	limit := int(q.perPage)
	if !ok {
		offset, limit = 0, 0
	}
	if r.h.Index != nil && q.Parent == nil {
		f := q.filter(r)
		if f.Since, err = r.since(); err != nil {
			return nil, 0, err
		}
		from, most := offset, limit
		if q.Include != nil {
			from, most = 0, -1
		}
		found, err := r.h.Index.Find(r.ctx, f, from, most)
		if err == nil && q.Include != nil {
			// In another order, which the database knows. They are as few as a client can name.
			found.IDs, err = r.db.Event.Query().Where(event.IDIn(found.IDs...)).
				Order(event.ByPublishedAt(), event.ByID()).Offset(offset).Limit(limit).IDs(r.ctx)
		}
		if !r.unanswered(err) {
			return found.IDs, found.Total, err
		}
	}
	if q.Lat != nil && q.Lng != nil {
		if q.near, err = r.venuesNear(*q.Lat, *q.Lng, q.Radius); err != nil {
			return nil, 0, err
		}
	}
	if err := r.lookDue(calendar.Event); err != nil {
		return nil, 0, err
	}
	query := r.db.Event.Query().Where(q.predicates(r)...)
	if total, err = query.Clone().Count(r.ctx); err != nil || offset >= total || limit == 0 {
		return nil, total, err
	}
	order := event.ByStartsAt()
	if q.Include != nil {
		order = event.ByPublishedAt()
	}
	// Only ids, which an index has: the rows that are skipped are not read.
	ids, err = query.Order(order, event.ByID()).Offset(offset).Limit(limit).IDs(r.ctx)
	return ids, total, err
}

// holds notes until when the dates asked for mean what they mean now.
func (q *eventQuery) holds(r *request) {
	zone := r.zone()
	tomorrow := r.tomorrow()
	if q.Include == nil && !q.relative() && (q.StartDate == nil || q.EndDate == nil) {
		r.holdsUntil(tomorrow)
	}
	for _, d := range []*when.Date{q.StartDate, q.EndDate, q.StartsBefore, q.StartsAfter, q.EndsBefore, q.EndsAfter} {
		if d == nil || !d.Relative() {
			continue
		}
		late := d.Again(tomorrow.Add(-time.Second), zone)
		switch {
		case q.Strict && late.Instant(zone).Equal(d.Instant(zone)), !q.Strict && dayOf(late, zone) == dayOf(*d, zone):
			r.holdsUntil(tomorrow) // "today", also "now" where whole days count
		default:
			r.holdsUntil(r.now.Add(time.Second))
		}
	}
}

// tomorrow is when the day of the site ends.
func (r *request) tomorrow() time.Time {
	return r.zone().Instant(r.zone().Wall(r.now).StartOfDay().AddDate(0, 0, 1))
}

// predicates are the filters of a list of events (contract, section 9.1). The date filters affect each other,
// so they stand in one place.
func (q *eventQuery) predicates(r *request) []predicate.Event {
	where := []predicate.Event{
		inList[predicate.Event](r, calendar.Event, q.Status),
		event.HideFromListings(false),
	}
	if q.Include != nil {
		where = append(where, event.IDIn(q.Include...))
	} else {
		where = append(where, within(q.dates(r.now, r.zone()))...)
	}
	if q.categoryIDs != nil {
		where = append(where, linked(eventterm.Table, eventterm.FieldTermID, q.categoryIDs))
	}
	if q.tagIDs != nil {
		where = append(where, linked(eventterm.Table, eventterm.FieldTermID, q.tagIDs))
	}
	if q.Venues != nil {
		where = append(where, linked(eventvenue.Table, eventvenue.FieldVenueID, q.Venues))
	}
	if q.Organizers != nil {
		where = append(where, linked(eventorganizer.Table, eventorganizer.FieldOrganizerID, q.Organizers))
	}
	if q.Featured != nil {
		where = append(where, event.Featured(*q.Featured))
	}
	if q.Ticketed != nil {
		where = append(where, event.Ticketed(*q.Ticketed))
	}
	if q.Parent != nil {
		where = append(where, event.ParentID(*q.Parent))
	}
	switch {
	case q.Geoloc != nil && !*q.Geoloc:
		where = append(where, event.Not(event.HasVenuesWith(venue.LatitudeNotNil())))
	case q.near != nil:
		where = append(where, linked(eventvenue.Table, eventvenue.FieldVenueID, q.near))
	case q.Geoloc != nil:
		where = append(where, event.HasVenuesWith(venue.LatitudeNotNil()))
	}
	if q.Search != nil {
		where = append(where, r.searched(q.text, q.unlocked))
	}
	return where
}

// lastSecond is the last one that an event may start or end in. Databases know no later one.
var lastSecond = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// firstSecond is the first one that an event may start in.
var firstSecond = time.Date(1000, time.January, 1, 0, 0, 0, 0, time.UTC)

// dates are the date filters as bounds. Nothing is more precise than a second, so what is exclusive is inclusive of the
// second before or after. Whole days end at the next midnight of the site zone, exclusive.
func (q *eventQuery) dates(now time.Time, zone calendar.Zone) index.Window {
	var w index.Window
	endOf := func(day calendar.Wall) time.Time {
		end := zone.Instant(day.AddDate(0, 0, 1)).Add(-time.Second)
		if end.After(lastSecond) {
			return lastSecond
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
	first, last := window(now, zone)
	start, end := q.StartDate, q.EndDate
	switch {
	case start != nil && q.Strict:
		from(&w.StartMin, exact(*start))
	case start != nil:
		from(&w.StartMin, zone.Instant(dayOf(*start, zone)))
	case !q.relative():
		from(&w.StartMin, zone.Instant(first))
	}
	switch {
	case end != nil && q.Strict:
		to(&w.EndMax, exact(*end))
	case end != nil:
		to(&w.EndMax, endOf(dayOf(*end, zone)))
	case !q.relative():
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

// within selects the events of a window. A bound that no database knows is beyond all events.
func within(w index.Window) []predicate.Event {
	var where []predicate.Event
	for _, min := range []*time.Time{w.StartMin, w.EndMin} {
		if min != nil && min.After(lastSecond) {
			return []predicate.Event{event.IDIn()}
		}
	}
	for _, max := range []*time.Time{w.StartMax, w.EndMax} {
		if max != nil && max.Before(firstSecond) {
			return []predicate.Event{event.IDIn()}
		}
	}
	for _, b := range []struct {
		at *time.Time
		is func(time.Time) predicate.Event
	}{
		{w.StartMin, event.StartsAtGTE},
		{w.StartMax, event.StartsAtLTE},
		{w.EndMin, event.EndsAtGTE},
		{w.EndMax, event.EndsAtLTE},
	} {
		if b.at != nil {
			where = append(where, b.is(*b.at))
		}
	}
	return where
}

// filter is the same as predicates, for the index.
func (q *eventQuery) filter(r *request) *index.Filter {
	f := &index.Filter{
		Now: r.now, Visible: seenBy(r.caller, q.Status), IDs: q.Include,
		Categories: q.categoryIDs, Tags: q.tagIDs, Venues: q.Venues, Organizers: q.Organizers,
		Featured: q.Featured, Ticketed: q.Ticketed, Located: q.Geoloc,
	}
	if q.Include == nil {
		f.Window = q.dates(r.now, r.zone())
	}
	if q.Lat != nil && q.Lng != nil {
		f.Near = &index.Circle{Latitude: *q.Lat, Longitude: *q.Lng, Kilometres: q.Radius}
	}
	if q.Search != nil {
		f.Search, f.Language, f.Readable = &q.text, r.lang, r.readable(q.unlocked)
	}
	return f
}

// linked selects events with a link to one of the ids. The subquery is answered from the index on the linked
// column.
func linked(table, column string, ids []int64) predicate.Event {
	return func(s *sql.Selector) {
		if len(ids) == 0 {
			s.Where(sql.False())
			return
		}
		t := sql.Table(table)
		in := sql.P(func(b *sql.Builder) { b.Ident(t.C(column)).WriteString(" IN " + idList(ids)) })
		s.Where(sql.In(s.C(event.FieldID), sql.Select(t.C("event_id")).From(t).Where(in)))
	}
}

// idList is ids as they stand in a statement, in parentheses. They are numbers, and there may be more of them than an
// engine has placeholders.
func idList(ids []int64) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	b.WriteByte(')')
	return b.String()
}

// badSearch is the fault of a search that is blank or too much.
func badSearch(text string) *param.Fault {
	if utf8.RuneCountInString(text) > search.MaxChars {
		return param.TooLong("search", search.MaxChars)
	}
	return param.Bad()
}

func notBlank(v **string) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		if strings.TrimSpace(**v) == "" {
			return param.Bad()
		}
		return nil
	}
}

func inBounds(name string, v **float64, limit float64) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		if **v < -limit || **v > limit {
			return param.OutOfBounds(name, -limit, limit)
		}
		return nil
	}
}

// paired faults a parameter that is missing while the other of its pair was sent.
func paired(name, other string, v, o **float64) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		if *v == nil && *o != nil {
			return &param.Fault{Key: "needs-other", Args: map[string]any{"Param": other, "Other": name}}
		}
		return nil
	}
}
