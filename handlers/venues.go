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

// countsAsEvent selects the events that has_events asks about.
func countsAsEvent() predicate.Event {
	return event.StatusIn(calendar.Publish, calendar.Future, calendar.Private)
}

// upcoming selects the events that only_with_upcoming asks about: starting now or later, that the caller would
// see in lists; hidden ones count.
func (r *request) upcoming() predicate.Event {
	return event.And(inList[predicate.Event](r, calendar.Event, nil), event.StartsAtGTE(r.now))
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
			Upcoming: q.OnlyUpcoming, Events: seenBy(r.caller, nil), Pieces: q.pieces, Language: r.lang,
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
		has := withEvents(countsAsEvent())
		if !*q.HasEvents {
			has = not(has)
		}
		where = append(where, has)
	}
	if q.OnlyUpcoming {
		where = append(where, withEvents(r.upcoming()))
	}
	if q.pieces != nil {
		where = append(where, foundBy[P](kind, r.lang, q.pieces, nil))
	}
	return where
}

func (r *request) listVenues(q *linkedQuery) (*reply, error) {
	ids, total, err := q.find(r, calendar.Venue)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Venue
	if len(ids) > 0 {
		query := r.db.Venue.Query().Where(venue.IDIn(ids...))
		query.Select(venueColumns...)
		if rows, err = query.All(r.ctx); err != nil {
			return nil, err
		}
	}
	inOrder(rows, ids, func(v *ent.Venue) int64 { return v.ID })
	if err := r.loadImages(rows, nil); err != nil {
		return nil, err
	}
	if err := r.translateVenues(rows); err != nil {
		return nil, err
	}
	v := r.view()
	items := make(venueList, len(rows))
	for i, row := range rows {
		items[i] = v.venue(row, false)
	}
	return r.listReply(calendar.Venue, q.paging, items, len(items), total)
}

func (r *request) listOrganizers(q *linkedQuery) (*reply, error) {
	ids, total, err := q.find(r, calendar.Organizer)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Organizer
	if len(ids) > 0 {
		query := r.db.Organizer.Query().Where(organizer.IDIn(ids...))
		query.Select(organizerColumns...)
		if rows, err = query.All(r.ctx); err != nil {
			return nil, err
		}
	}
	inOrder(rows, ids, func(o *ent.Organizer) int64 { return o.ID })
	if err := r.loadImages(nil, rows); err != nil {
		return nil, err
	}
	if err := r.translateOrganizers(rows); err != nil {
		return nil, err
	}
	v := r.view()
	items := make(organizerList, len(rows))
	for i, row := range rows {
		items[i] = v.organizer(row, false)
	}
	return r.listReply(calendar.Organizer, q.paging, items, len(items), total)
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

func (r *request) findVenue(q *target) (*ent.Venue, error) {
	id, name, err := r.resolve(calendar.Venue, q)
	if err != nil {
		return nil, err
	}
	row, err := r.db.Venue.Query().Where(venue.ID(id)).WithImage().Only(r.ctx)
	if ent.IsNotFound(err) {
		return nil, invalidPath(name)
	}
	return row, err
}

func (r *request) findOrganizer(q *target) (*ent.Organizer, error) {
	id, name, err := r.resolve(calendar.Organizer, q)
	if err != nil {
		return nil, err
	}
	row, err := r.db.Organizer.Query().Where(organizer.ID(id)).WithImage().Only(r.ctx)
	if ent.IsNotFound(err) {
		return nil, invalidPath(name)
	}
	return row, err
}

// mayRead is the read column of the matrix, and the trash: who may edit a venue or organizer in the trash may
// read it.
func (r *request) mayRead(rec auth.Record) bool {
	if rec.Status == calendar.Trash {
		return auth.May(r.caller, auth.Edit, rec)
	}
	return auth.May(r.caller, auth.Read, rec)
}

func (r *request) getVenue(q *target) (*reply, error) {
	row, err := r.findVenue(q)
	if err != nil {
		return nil, err
	}
	status := row.Status.Shown(r.now, row.PublishedAt)
	if !r.mayRead(record(calendar.Venue, row.AuthorID, status, row.StatusBeforeTrash)) {
		return nil, notAccessible(calendar.Venue)
	}
	if err := r.translateVenues([]*ent.Venue{row}); err != nil {
		return nil, err
	}
	return &reply{status: 200, body: r.view().venue(row, true), version: row.Version}, nil
}

func (r *request) getOrganizer(q *target) (*reply, error) {
	row, err := r.findOrganizer(q)
	if err != nil {
		return nil, err
	}
	status := row.Status.Shown(r.now, row.PublishedAt)
	if !r.mayRead(record(calendar.Organizer, row.AuthorID, status, row.StatusBeforeTrash)) {
		return nil, notAccessible(calendar.Organizer)
	}
	if err := r.translateOrganizers([]*ent.Organizer{row}); err != nil {
		return nil, err
	}
	return &reply{status: 200, body: r.view().organizer(row, true), version: row.Version}, nil
}
