package handlers

import (
	"context"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
)

// linkedQuery is what the lists of venues and of organizers may be asked.
type linkedQuery struct {
	paging
	Search       *string
	Event        *int64
	HasEvents    *bool
	OnlyUpcoming bool
	Status       []calendar.Status

	pieces []string // of Search, folded
}

// declareLinkedQuery declares it for the collection of a kind, named by its noun.
func declareLinkedQuery(noun string) func(*request, *param.Set, *linkedQuery) {
	return func(r *request, p *param.Set, q *linkedQuery) {
		lower := strings.ToLower(noun)
		r.declarePaging(p, &q.paging, noun)
		p.OptString(&q.Search, "search", "Text in name, description or contact fields").Longest(search.MaxChars).
			Check(func(context.Context) *param.Fault {
				pieces, ok := search.ParseLinked(*q.Search)
				if !ok {
					return badSearch(*q.Search)
				}
				q.pieces = pieces
				return nil
			})
		p.OptInt(&q.Event, "event", noun+" of this event").Check(r.isOpenEvent(&q.Event))
		p.OptBool(&q.HasEvents, "has_events", "Only "+lower+" with events, or without").Untyped()
		param.Default(p.Bool(&q.OnlyUpcoming, "only_with_upcoming", "Only "+lower+" with upcoming events").Untyped(),
			&q.OnlyUpcoming, false)
		r.declareStatuses(p, &q.Status)
		r.declareLanguage(p)
	}
}

// counted selects the events that has_events and only_with_upcoming count: those that the caller sees in lists, unless
// redacted. Events with hide_from_listings count. lookDue comes first.
func (r *request) counted() predicate.Event {
	return event.And(inList[predicate.Event](r, calendar.Event, nil), r.unredacted(nil))
}

// find looks up which venues or organizers are on the page, and how many there are on all pages. What the index cannot
// say now, or does not know, the database does.
func (q *linkedQuery) find(r *request, kind calendar.Kind) (ids []int64, total int, err error) {
	offset, ok := q.offset()
	limit := int(q.perPage)
	if !ok {
		offset, limit = 0, 0
	}
	if q.OnlyUpcoming {
		r.holdsUntil(r.now.Add(time.Second)) // the next event may begin then
	}
	if r.h.Index != nil && q.Event == nil {
		since, err := r.since()
		if err != nil {
			return nil, 0, err
		}
		found, err := r.h.Index.FindLinked(r.ctx, kind, &index.LinkedFilter{
			Since: since, Now: r.now, Visible: seenBy(r.caller, q.Status), HasEvents: q.HasEvents,
			Upcoming: q.OnlyUpcoming, Events: seenBy(r.caller, nil), Readable: r.readable(nil), Pieces: q.pieces, Language: r.lang,
		}, offset, limit)
		if !r.unanswered(err) {
			return found.IDs, found.Total, err
		}
	}
	if err := r.lookDue(kind, calendar.Event); err != nil {
		return nil, 0, err
	}
	if kind == calendar.Venue {
		query := r.db.Venue.Query().Where(
			linkedPredicates(r, q, kind, venue.HasEventsWith, venue.Not)...)
		if total, err = query.Clone().Count(r.ctx); err != nil || offset >= total || limit == 0 {
			return nil, total, err
		}
		ids, err = query.Order(venue.ByPublishedAt(sql.OrderDesc()), venue.ByID(sql.OrderDesc())).
			Offset(offset).Limit(limit).IDs(r.ctx)
		return ids, total, err
	}
	query := r.db.Organizer.Query().Where(
		linkedPredicates(r, q, kind, organizer.HasEventsWith, organizer.Not)...)
	if total, err = query.Clone().Count(r.ctx); err != nil || offset >= total || limit == 0 {
		return nil, total, err
	}
	ids, err = query.Order(organizer.ByPublishedAt(sql.OrderDesc()), organizer.ByID(sql.OrderDesc())).
		Offset(offset).Limit(limit).IDs(r.ctx)
	return ids, total, err
}

// linkedPredicates are the filters of a list of venues or organizers (contract, section 9.2).
func linkedPredicates[P predicateOf](
	r *request, q *linkedQuery, kind calendar.Kind, withEvents func(...predicate.Event) P, not func(P) P,
) []P {
	where := []P{inList[P](r, kind, q.Status)}
	if q.Event != nil {
		where = append(where, withEvents(event.ID(*q.Event)))
	}
	if q.HasEvents != nil {
		has := withEvents(r.counted())
		if !*q.HasEvents {
			has = not(has)
		}
		where = append(where, has)
	}
	if q.OnlyUpcoming {
		where = append(where, withEvents(r.counted(), event.StartsAtGTE(r.now)))
	}
	if q.pieces != nil {
		where = append(where, foundBy[P](kind, r.lang, q.pieces, nil))
	}
	return where
}

// linkedReads is what reading venues and reading organizers differ in: R is the row, J its representation and L a list of
// those.
type linkedReads[R ent.Row, J any, L ~[]J] struct {
	kind      calendar.Kind
	rows      func(*ent.Client, context.Context, []int64) ([]R, error)
	represent func(v *represent.View, row R, full bool) J
}

// venues are the reads of venues.
var venues = linkedReads[*ent.Venue, represent.Venue, represent.Venues]{
	calendar.Venue, (*ent.Client).ReadVenues, (*represent.View).Venue,
}

// organizers are the reads of organizers.
var organizers = linkedReads[*ent.Organizer, represent.Organizer, represent.Organizers]{
	calendar.Organizer, (*ent.Client).ReadOrganizers, (*represent.View).Organizer,
}

// list answers the collection.
func (l linkedReads[R, J, L]) list(r *request, q *linkedQuery) (*reply, error) {
	ids, total, err := q.find(r, l.kind)
	if err != nil {
		return nil, err
	}
	rows, err := l.rows(r.db, r.ctx, ids)
	if err != nil {
		return nil, err
	}
	inOrder(rows, ids, func(row R) int64 { return row.Core().ID })
	if err := r.translate(ent.PageOf(rows...)); err != nil {
		return nil, err
	}
	v := r.view()
	items := make(L, len(rows))
	for i, row := range rows {
		items[i] = l.represent(v, row, false)
	}
	return r.listReply(l.kind, q.paging, items, len(items), total)
}

// find returns the row that a path names.
func (l linkedReads[R, J, L]) find(r *request, q *target) (row R, err error) {
	id, name, err := r.resolve(l.kind, q)
	if err != nil {
		return row, err
	}
	rows, err := l.rows(r.db, r.ctx, []int64{id})
	if err == nil && len(rows) == 0 {
		err = invalidPath(name)
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// get answers a single record.
func (l linkedReads[R, J, L]) get(r *request, q *target) (*reply, error) {
	row, err := l.find(r, q)
	if err != nil {
		return nil, err
	}
	if !r.mayRead(r.recordOf(row.Core())) {
		return nil, notAccessible(l.kind)
	}
	return l.reply(r, row, true)
}

// written answers a write of a record.
func (l linkedReads[R, J, L]) written(r *request, id int64) (*reply, error) {
	row, err := l.find(r, &target{ID: id})
	if err != nil {
		return nil, err
	}
	return l.reply(r, row, false)
}

// reply answers with a row. full adds json_ld.
func (l linkedReads[R, J, L]) reply(r *request, row R, full bool) (*reply, error) {
	if err := r.translate(ent.PageOf(row)); err != nil {
		return nil, err
	}
	return &reply{status: 200, body: l.represent(r.view(), row, full), version: row.Core().Version}, nil
}

// byID and bySlug declare the path of a single record; noun is the kind with its article.
func byID(noun string) func(*request, *param.Set, *target) {
	return func(r *request, p *param.Set, q *target) {
		p.PathID(&q.ID, "id", "ID of "+noun)
		r.declareLanguage(p)
	}
}

func bySlug(noun string) func(*request, *param.Set, *target) {
	return func(r *request, p *param.Set, q *target) {
		p.PathString(&q.Slug, "slug", "Slug of "+noun)
		r.declareLanguage(p)
	}
}

// resolve is the id a path names, and the name of the parameter it came from.
func (r *request) resolve(kind calendar.Kind, q *target) (id int64, name string, err error) {
	if q.Slug == "" {
		return q.ID, "id", nil
	}
	id, err = r.ownerBySlug(kind, q.Slug)
	return id, "slug", err
}

// recordOf returns what the rights on a record depend on.
func (r *request) recordOf(c ent.Core) auth.Record {
	return auth.RecordOf(c.Kind, c.AuthorID, c.Status.Shown(r.now, c.PublishedAt), c.StatusBeforeTrash)
}

// mayRead is the read column of the matrix, and the trash: who may edit a venue or organizer in the trash may
// read it.
func (r *request) mayRead(rec auth.Record) bool {
	if rec.Status == calendar.Trash {
		return auth.May(r.caller, auth.Edit, rec)
	}
	return auth.May(r.caller, auth.Read, rec)
}
