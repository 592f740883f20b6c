package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/series"
)

// FewEvents is the largest length of a list for which LatestEvents looks up events by id. In longer lists it reads
// events in the order of their changes, until it has enough.
const FewEvents = 1000

// Latest is the result of LatestEvents. It has the events of a list that changed last, and possibly some others.
type Latest struct {
	IDs []int64 // ids in ascending order
	// Changed has the revision at which each event last changed, in the order of IDs. Nil means that the engine does
	// not know it. The database never does.
	Changed []int64
	// Since is the time of the oldest among the latest changes of the events themselves. Linked records count only
	// if they changed later. Zero means that IDs has the whole list.
	Since time.Time
	// Next is the earliest end, at Events.Now or later, of an event that the result depends on. This is one of IDs, or the
	// first occurrence of a series if a later occurrence was left out. Zero means no such event.
	Next time.Time
}

// LatestEvents finds the events of a list that changed last, for feeds that begin with the latest change. It
// returns at least number events if the list has them, and at most eight times as many. Publication of an event
// counts as a change. So do changes of its terms, and changes and publication of its public venues and organizers,
// unless the event has a password. Changes that the public could not see do not count.
//
// few has the ids of the whole list. Nil means that the list has more than FewEvents.
func (d Database) LatestEvents(ctx context.Context, q *Events, few []int64, number int) (out Latest, err error) {
	l := latestSearch{db: d, q: q, number: number, first: make(map[int64]occurrence)}
	if err := l.restrict(ctx, few); err != nil {
		return Latest{}, err
	}
	modified, err := l.changed(ctx, event.FieldModifiedAt)
	if err != nil {
		return Latest{}, fmt.Errorf("events by change: %w", err)
	}
	if len(modified) == number { // otherwise the list has no other events
		l.since = modified[number-1].ModifiedAt
		published, err := l.changed(ctx, event.FieldPublishedAt,
			sql.FieldsGT(event.FieldPublishedAt, event.FieldModifiedAt), event.PublishedAtGT(l.since), event.PublishedAtLTE(q.Now))
		if err != nil {
			return Latest{}, fmt.Errorf("events by publication: %w", err)
		}
		modified = append(modified, published...)
		for _, kind := range slices.Concat(calendar.LinkedKinds, []calendar.Kind{calendar.Category, calendar.Tag}) {
			times := []string{event.FieldModifiedAt} // columns of linked records that say when they changed
			if !kind.IsTerm() {
				times = append(times, event.FieldPublishedAt)
			}
			for _, column := range times {
				linked, err := l.linked(ctx, kind, column)
				if err != nil {
					return Latest{}, fmt.Errorf("events by change of kind %s: %w", kind, err)
				}
				modified = append(modified, linked...)
			}
		}
	}
	for _, row := range modified {
		out.IDs = append(out.IDs, row.ID)
		l.ends(row.EndsAt)
	}
	slices.Sort(out.IDs)
	out.IDs = slices.Compact(out.IDs)
	out.Since, out.Next = l.since, l.next
	return out, nil
}

// latestSearch is the state of one call of LatestEvents.
type latestSearch struct {
	db     Database
	q      *Events
	number int
	where  []predicate.Event // conditions except for Series.First
	since  time.Time         // time after which changes matter
	first  map[int64]occurrence
	next   time.Time
}

// occurrence has columns of the first event of a series in the list. The zero value means that the series keeps all
// its events.
type occurrence struct {
	ID       int64     `sql:"id"`
	SeriesID int64     `sql:"series_id"`
	EndsAt   time.Time `sql:"ends_at"`
}

// restrict sets l.where to the conditions of the query. If few is not nil, it sets l.where to a condition on these
// ids instead, which is faster.
func (l *latestSearch) restrict(ctx context.Context, few []int64) (err error) {
	if few != nil {
		l.where = []predicate.Event{func(s *sql.Selector) {
			id := s.C(event.FieldID)
			if len(few) == 0 {
				s.Where(sql.False())
				return
			}
			s.Where(sql.P(func(b *sql.Builder) { b.Ident(id).WriteString(" IN " + IDList(few)) }))
		}}
		return nil
	}
	every := *l.q
	every.Series.First = false
	l.where, err = l.db.where(ctx, &every)
	return err
}

// changed returns the events of the list with the latest times in a column, l.number at most. column is
// event.FieldModifiedAt or event.FieldPublishedAt. The events must also meet the predicates in more. changed reads
// few rows, however long the list is.
func (l *latestSearch) changed(ctx context.Context, column string, more ...predicate.Event) (out []*ent.Event, err error) {
	var last *ent.Event
	at := func(e *ent.Event) time.Time {
		if column == event.FieldPublishedAt {
			return e.PublishedAt
		}
		return e.ModifiedAt
	}
	for size := 2 * l.number; ; size = min(2*size, FewEvents) {
		list := l.db.Ent.Event.Query().Where(l.where...).Where(more...)
		if last != nil {
			list = list.Where(sql.FieldLTE(column, at(last)),
				event.Or(sql.FieldLT(column, at(last)), event.IDLT(last.ID)))
		}
		rows, err := list.Order(sql.OrderByField(column, sql.OrderDesc()).ToFunc(), event.ByID(sql.OrderDesc())).Limit(size).
			Select(event.FieldID, event.FieldModifiedAt, event.FieldPublishedAt, event.FieldEndsAt, event.FieldSeriesID).All(ctx)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			last = rows[len(rows)-1]
		}
		shown, err := l.withoutLater(ctx, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, shown...)
		if len(out) >= l.number || len(rows) < size {
			return out[:min(len(out), l.number)], nil
		}
	}
}

// linked returns events of the list whose linked records of a kind changed last, l.number at most. column is the
// time of the linked records to compare. Only times after l.since count, only public records, and only events
// without a password.
func (l *latestSearch) linked(ctx context.Context, kind calendar.Kind, column string) (out []*ent.Event, err error) {
	to := ent.LinkTables[kind]
	newer, err := l.db.newer(ctx, kind, column, l.since, l.q.Now, func(s *sql.Selector) {
		links := sql.Table(to.Table)
		s.Where(sql.In(s.C(event.FieldID), sql.Select(links.C(to.Record)).From(links)))
		if !kind.IsTerm() {
			s.Where(sql.Or(sql.EQ(s.C(event.FieldStatus), calendar.Publish), sql.And(
				sql.EQ(s.C(event.FieldStatus), calendar.Future), sql.LTE(s.C(event.FieldPublishedAt), l.q.Now))))
		}
	})
	if err != nil {
		return nil, err
	}
	for _, id := range newer {
		for before := int64(0); ; {
			rows, err := l.db.Ent.Event.Query().Where(l.where...).Where(event.PasswordHashIsNil(), func(s *sql.Selector) {
				link := sql.Table(to.Table)
				s.Join(link).On(s.C(event.FieldID), link.C(to.Event))
				s.Where(sql.EQ(link.C(to.Record), id)).OrderBy(sql.Desc(link.C(to.Event)))
				if before > 0 {
					s.Where(sql.LT(link.C(to.Event), before))
				}
			}).Limit(2*l.number).Select(event.FieldID, event.FieldEndsAt, event.FieldSeriesID).All(ctx)
			if err != nil {
				return nil, err
			}
			if len(rows) > 0 {
				before = rows[len(rows)-1].ID
			}
			shown, err := l.withoutLater(ctx, rows)
			if err != nil {
				return nil, err
			}
			out = append(out, shown...)
			if len(out) >= l.number {
				return out[:l.number], nil
			}
			if len(rows) < 2*l.number {
				break
			}
		}
	}
	return out, nil
}

// newer returns the ids of the records of a kind whose time in a column is after since and not after now. The
// records must also meet the condition where. The latest one is first.
func (d Database) newer(
	ctx context.Context, kind calendar.Kind, column string, since, now time.Time, where func(*sql.Selector),
) (ids []int64, err error) {
	err = d.Ent.ScanKind(ctx, kind, &ids, func(s *sql.Selector) {
		s.Select(s.C(event.FieldID)).Where(sql.And(sql.GT(s.C(column), since), sql.LTE(s.C(column), now))).
			OrderBy(sql.Desc(s.C(column)), sql.Desc(s.C(event.FieldID)))
		where(s)
	})
	return ids, err
}

// NewerTerms returns the ids of the terms that changed after since and not after now. It returns a list for
// categories and one for tags, each with the latest change first. An empty list is left out.
func (d Database) NewerTerms(ctx context.Context, since, now time.Time) (ids [][]int64, err error) {
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		some, err := d.newer(ctx, kind, event.FieldModifiedAt, since, now, func(*sql.Selector) {})
		if err != nil {
			return nil, fmt.Errorf("changes of kind %s: %w", kind, err)
		}
		if len(some) > 0 {
			ids = append(ids, some)
		}
	}
	return ids, nil
}

// withoutLater removes all but the first occurrence of each series if the query has Series.First. It keeps all
// occurrences of series that the caller may not see. It reuses the memory of rows.
func (l *latestSearch) withoutLater(ctx context.Context, rows []*ent.Event) ([]*ent.Event, error) {
	if !l.q.Series.First {
		return rows, nil
	}
	var unknown []int64
	for _, row := range rows {
		if row.SeriesID != nil {
			if _, ok := l.first[*row.SeriesID]; !ok {
				l.first[*row.SeriesID] = occurrence{}
				unknown = append(unknown, *row.SeriesID)
			}
		}
	}
	if err := l.findFirst(ctx, unknown); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(row *ent.Event) bool {
		if row.SeriesID == nil {
			return false
		}
		first := l.first[*row.SeriesID]
		if first.ID == 0 || first.ID == row.ID {
			return false
		}
		l.ends(first.EndsAt)
		return true
	}), nil
}

// findFirst reads the first occurrence of each given series into l.first. A series that the client cannot see keeps
// the zero value.
func (l *latestSearch) findFirst(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	due, err := findOverdue(ctx, l.db.Ent, l.q.Now, calendar.Series)
	if err != nil {
		return err
	}
	seen, err := l.db.Ent.Series.Query().Where(series.IDIn(ids...),
		inList[predicate.Series](l.q.Series.Visible, l.q.Now, due[calendar.Series])).IDs(ctx)
	if err != nil || len(seen) == 0 {
		return err
	}
	var found []occurrence
	err = l.db.Ent.Event.Query().Where(firstOfSeries(l.where, nil, seen)).
		Select(event.FieldID, event.FieldSeriesID, event.FieldEndsAt).Scan(ctx, &found)
	for _, o := range found {
		l.first[o.SeriesID] = o
	}
	return err
}

// ends records the time at, when an event ends that the result depends on. It keeps only the earliest such time
// at Now or later.
func (l *latestSearch) ends(at time.Time) {
	if !at.Before(l.q.Now) && (l.next.IsZero() || at.Before(l.next)) {
		l.next = at
	}
}
