package handlers

import (
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
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
		declareSearch(p, &q.Search, "Text in name, description or contact fields", func(text string) (ok bool) {
			q.pieces, ok = search.ParseLinked(text)
			return ok
		})
		p.OptInt(&q.Event, "event", noun+" of this event").Check(r.isOpenEvent(&q.Event))
		p.OptBool(&q.HasEvents, "has_events", "Only "+lower+" with events, or without").Untyped()
		param.Default(p.Bool(&q.OnlyUpcoming, "only_with_upcoming", "Only "+lower+" with upcoming events").Untyped(),
			&q.OnlyUpcoming, false)
		r.declareStatuses(p, &q.Status)
		r.declareLanguage(p)
	}
}

// find looks up which venues or organizers are on the page, and how many there are on all pages. The database answers what
// the index cannot.
func (q *linkedQuery) find(r *request, kind calendar.Kind) (_ query.Page, err error) {
	if q.OnlyUpcoming {
		r.holdsUntil(r.now.Add(time.Second)) // the next event may begin then
	}
	l := &query.Linked{
		Now: r.now, Visible: seenBy(r.caller, q.Status), Event: q.Event, HasEvents: q.HasEvents, Upcoming: q.OnlyUpcoming,
		Events: seenBy(r.caller, nil), Readable: r.readable(nil), Pieces: q.pieces, Language: r.lang,
	}
	offset, limit := q.span()
	if r.h.Index != nil {
		if l.Since, err = r.since(); err != nil {
			return query.Page{}, err
		}
		page, err := r.h.Index.FindLinked(r.ctx, kind, l, offset, limit)
		if !r.unanswered(err) {
			return page, err
		}
	}
	return query.Database{Ent: r.db}.FindLinked(r.ctx, kind, l, offset, limit)
}

func (r *request) listVenues(q *linkedQuery) (*reply, error) {
	page, err := q.find(r, calendar.Venue)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Venue
	if len(page.IDs) > 0 {
		list := r.db.Venue.Query().Where(venue.IDIn(page.IDs...))
		list.Select(represent.VenueColumns...)
		if rows, err = list.All(r.ctx); err != nil {
			return nil, err
		}
	}
	inOrder(rows, page.IDs, func(v *ent.Venue) int64 { return v.ID })
	if err := r.reader().LoadImages(r.ctx, rows, nil); err != nil {
		return nil, err
	}
	if err := r.reader().TranslateVenues(r.ctx, rows...); err != nil {
		return nil, err
	}
	v := r.view()
	items := make(represent.Venues, len(rows))
	for i, row := range rows {
		items[i] = v.Venue(row, false)
	}
	return r.listReply(calendar.Venue, q.paging, items, len(items), page.Total)
}

func (r *request) listOrganizers(q *linkedQuery) (*reply, error) {
	page, err := q.find(r, calendar.Organizer)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Organizer
	if len(page.IDs) > 0 {
		list := r.db.Organizer.Query().Where(organizer.IDIn(page.IDs...))
		list.Select(represent.OrganizerColumns...)
		if rows, err = list.All(r.ctx); err != nil {
			return nil, err
		}
	}
	inOrder(rows, page.IDs, func(o *ent.Organizer) int64 { return o.ID })
	if err := r.reader().LoadImages(r.ctx, nil, rows); err != nil {
		return nil, err
	}
	if err := r.reader().TranslateOrganizers(r.ctx, rows...); err != nil {
		return nil, err
	}
	v := r.view()
	items := make(represent.Organizers, len(rows))
	for i, row := range rows {
		items[i] = v.Organizer(row, false)
	}
	return r.listReply(calendar.Organizer, q.paging, items, len(items), page.Total)
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
	if !r.mayRead(auth.RecordOf(calendar.Venue, row.AuthorID, status, row.StatusBeforeTrash)) {
		return nil, notAccessible(calendar.Venue)
	}
	if err := r.reader().TranslateVenues(r.ctx, row); err != nil {
		return nil, err
	}
	return &reply{status: 200, body: r.view().Venue(row, true), version: row.Version}, nil
}

func (r *request) getOrganizer(q *target) (*reply, error) {
	row, err := r.findOrganizer(q)
	if err != nil {
		return nil, err
	}
	status := row.Status.Shown(r.now, row.PublishedAt)
	if !r.mayRead(auth.RecordOf(calendar.Organizer, row.AuthorID, status, row.StatusBeforeTrash)) {
		return nil, notAccessible(calendar.Organizer)
	}
	if err := r.reader().TranslateOrganizers(r.ctx, row); err != nil {
		return nil, err
	}
	return &reply{status: 200, body: r.view().Organizer(row, true), version: row.Version}, nil
}
