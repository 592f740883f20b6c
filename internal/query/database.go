package query

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
)

// Database is the engine that queries the database. It supports all conditions.
type Database struct{ Ent *ent.Client }

// FindEvents returns the ids of up to limit events of a list, after the first offset ones. The Page also has the
// length of the whole list.
func (d Database) FindEvents(ctx context.Context, q *Events, offset, limit int) (Page, error) {
	where, err := d.where(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if q.ByEnd {
		return pageOf(ctx, d.Ent.Event.Query().Where(where...), offset, limit,
			event.ByEndsAt(sql.OrderDesc()), event.ByID(sql.OrderDesc()))
	}
	order := event.ByStartsAt()
	if q.Include != nil {
		order = event.ByPublishedAt()
	}
	return pageOf(ctx, d.Ent.Event.Query().Where(where...), offset, limit, order, event.ByID())
}

// where returns the predicates that select the events of a query. It runs statements to find hidden series, near
// venues, and whether scheduled records are due for publication.
func (d Database) where(ctx context.Context, q *Events) ([]predicate.Event, error) {
	kinds := []calendar.Kind{calendar.Event}
	if q.AsksForPlaces() {
		kinds = append(kinds, calendar.Venue)
	}
	if q.Series.None || q.Series.First {
		kinds = append(kinds, calendar.Series)
	}
	due, err := findOverdue(ctx, d.Ent, q.Now, kinds...)
	if err != nil {
		return nil, err
	}
	where := q.predicates(due)
	if q.near() {
		around, err := d.venuesNear(ctx, q, due)
		if err != nil {
			return nil, err
		}
		where = append(where, atVenues(around))
	}
	if q.Series.None || q.Series.First {
		hidden, err := d.Ent.Series.Query().
			Where(notInList[predicate.Series](q.Series.Visible, q.Now, due[calendar.Series])).IDs(ctx)
		if err != nil {
			return nil, err
		}
		if q.Series.None {
			where = append(where, event.Or(event.SeriesIDIsNil(), ofSeries(hidden)))
		}
		if q.Series.First {
			where = []predicate.Event{firstOfSeries(where, hidden, nil)}
		}
	}
	return where, nil
}

// listQuery is the constraint of pageOf: the methods that it calls on an Ent query.
type listQuery[Q any, O ~func(*sql.Selector)] interface {
	Clone() Q
	Count(ctx context.Context) (int, error)
	Order(by ...O) Q
	Offset(n int) Q
	Limit(n int) Q
	IDs(ctx context.Context) ([]int64, error)
}

// pageOf runs a list query. It returns the ids on one page and the number of rows in the whole list. It selects ids
// only, so that the database can skip rows in an index without reading them.
func pageOf[Q listQuery[Q, O], O ~func(*sql.Selector)](
	ctx context.Context, list Q, offset, limit int, order ...O,
) (Page, error) {
	total, err := list.Clone().Count(ctx)
	if err != nil || offset >= total || limit == 0 {
		return Page{Total: total}, err
	}
	ids, err := list.Order(order...).Offset(offset).Limit(limit).IDs(ctx)
	return Page{IDs: ids, Total: total}, err
}

// predicates returns the predicates for the conditions of a query (contract, section 9.1). It
// leaves out Near, Series.None and Series.First. due has the kinds with scheduled records that are due for publication.
func (q *Events) predicates(due overdueKinds) []predicate.Event {
	where := []predicate.Event{inList[predicate.Event](q.Visible, q.Now, due[calendar.Event])}
	if !q.Hidden {
		where = append(where, inListings)
	}
	if q.Protected {
		where = append(where, event.PasswordHashNotNil())
	}
	if q.Include != nil {
		where = append(where, event.IDIn(q.Include...))
	}
	where = append(where, q.Window.predicates()...)
	for _, period := range q.Periods {
		for _, p := range period.predicates(event.PasswordHashNotNil()) {
			where = append(where, p)
		}
	}
	for _, c := range q.Conditions {
		where = append(where, c.Predicate())
	}
	if q.Series.IDs != nil {
		where = append(where, ofSeries(q.Series.IDs))
	}
	if q.Located != nil && !q.near() {
		located := event.HasVenuesWith(
			venue.LatitudeNotNil(), inList[predicate.Venue](q.Places, q.Now, due[calendar.Venue]))
		if !*q.Located {
			located = event.Not(located)
		}
		where = append(where, located)
	}
	if q.Search != nil {
		all, none := splitQuery(*q.Search)
		where = append(where, HasText[predicate.Event](calendar.Event, q.Language, all, none))
	}
	if q.Guarded() {
		where = append(where, isUnredacted(q.Readable, event.PasswordHashIsNil()))
	}
	return where
}

// inListings selects events that are not hidden from listings. It writes "= FALSE", because SQLite uses no index for
// Ent's NOT.
func inListings(s *sql.Selector) {
	hidden := s.C(event.FieldHideFromListings)
	s.Where(sql.P(func(b *sql.Builder) { b.Ident(hidden).WriteString(" = FALSE") }))
}

// LastSecond is the last second in which an event may start or end. It is the last one that the databases can
// store.
var LastSecond = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// firstSecond is the first second in which an event may start.
var firstSecond = time.Date(1000, time.January, 1, 0, 0, 0, 0, time.UTC)

// predicates returns the predicates for events whose start and end are in the window. A bound outside the range of
// the databases selects all or no events.
func (w Window) predicates() []predicate.Event {
	var where []predicate.Event
	for _, b := range []struct {
		at *time.Time
		is func(time.Time) predicate.Event
		no bool
	}{
		{w.StartMin, event.StartsAtGTE, w.StartMin != nil && w.StartMin.After(LastSecond)},
		{w.StartMax, event.StartsAtLTE, w.StartMax != nil && w.StartMax.Before(firstSecond)},
		{w.EndMin, event.EndsAtGTE, w.EndMin != nil && w.EndMin.After(LastSecond)},
		{w.EndMax, event.EndsAtLTE, w.EndMax != nil && w.EndMax.Before(firstSecond)},
	} {
		switch {
		case b.no:
			return []predicate.Event{event.IDIn()}
		case b.at != nil:
			where = append(where, b.is(*b.at))
		}
	}
	return where
}

// venuesNear returns the ids of the venues in the circle of a query that the caller may see. It finds candidates by
// map cells, which have an index, and then compares great-circle distances.
func (d Database) venuesNear(ctx context.Context, q *Events, due overdueKinds) ([]int64, error) {
	c := q.Near
	var around []predicate.Venue
	for _, cell := range calendar.Cells(c.Latitude, c.Longitude, c.Kilometres) {
		around = append(around, venue.And(venue.CellGTE(cell.First), venue.CellLTE(cell.Last)))
	}
	rows, err := d.Ent.Venue.Query().
		Where(venue.Or(around...), inList[predicate.Venue](q.Places, q.Now, due[calendar.Venue])).
		Select(venue.FieldID, venue.FieldLatitude, venue.FieldLongitude).All(ctx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, v := range rows {
		if v.Latitude != nil && v.Longitude != nil &&
			calendar.Distance(c.Latitude, c.Longitude, *v.Latitude, *v.Longitude) <= c.Kilometres {
			ids = append(ids, v.ID)
		}
	}
	return ids, nil
}

// atVenues selects events that are linked to one of the venues. Unlike event.HasVenuesWith(venue.IDIn(ids...))
// it needs no placeholders: a circle may contain more venues than an engine allows.
func atVenues(ids []int64) predicate.Event {
	return func(s *sql.Selector) {
		if len(ids) == 0 {
			s.Where(sql.False())
			return
		}
		t := sql.Table(eventvenue.Table)
		in := sql.P(func(b *sql.Builder) { b.Ident(t.C(eventvenue.FieldVenueID)).WriteString(" IN " + IDList(ids)) })
		s.Where(sql.In(s.C(event.FieldID), sql.Select(t.C(eventvenue.FieldEventID)).From(t).Where(in)))
	}
}

// ofSeries selects the occurrences of the given series. It writes the ids into the statement, without
// placeholders.
func ofSeries(ids []int64) predicate.Event {
	return func(s *sql.Selector) {
		if len(ids) == 0 {
			s.Where(sql.False())
			return
		}
		of := s.C(event.FieldSeriesID) // evaluated here, because the selector may get another name later
		s.Where(sql.P(func(b *sql.Builder) { b.Ident(of).WriteString(" IN " + IDList(ids)) }))
	}
}

// firstOfSeries selects the events that meet all predicates in where, but only the earliest occurrence of each
// series. Occurrences of series whose ids are in hidden count as single events. If some is not nil, only
// occurrences of the series with these ids are considered.
func firstOfSeries(where []predicate.Event, hidden, some []int64) predicate.Event {
	const ranked, place = "ranked", "place"
	return func(s *sql.Selector) {
		all := sql.Dialect(s.Dialect()).Select().From(sql.Table(event.Table))
		if some != nil {
			// Otherwise SQLite reads all public events. The limit keeps it from merging the two statements.
			ofSeries(some)(all)
			all = sql.Dialect(s.Dialect()).Select().From(all.Limit(math.MaxInt64).As(event.Table))
		}
		id, of, start := all.C(event.FieldID), all.C(event.FieldSeriesID), all.C(event.FieldStartsAt)
		all.Select(id).AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
			// An event without a series gets a partition of its own. Its negative id cannot be a series id.
			b.WriteString("ROW_NUMBER() OVER (PARTITION BY CASE WHEN ").Ident(of).WriteString(" IS NULL")
			if len(hidden) > 0 {
				b.WriteString(" OR ").Ident(of).WriteString(" IN " + IDList(hidden))
			}
			b.WriteString(" THEN -").Ident(id).WriteString(" ELSE ").Ident(of).WriteString(" END ORDER BY ").
				Ident(start).Comma().Ident(id).WriteString(")")
		}), place)
		for _, p := range where {
			p(all)
		}
		first := sql.Dialect(s.Dialect()).Select(event.FieldID).From(all.As(ranked)).Where(sql.EQ(place, 1))
		s.Where(sql.In(s.C(event.FieldID), first))
	}
}

// IDList formats ids as an SQL list in parentheses, such as (1,2). Without ids the list is empty, which SQL may
// reject.
func IDList(ids []int64) string {
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
