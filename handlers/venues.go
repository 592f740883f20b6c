package handlers

import (
	"context"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
)

// linkedQuery is the input of the lists of venues and organizers.
type linkedQuery struct {
	paging
	Search       *string
	Event        *int64
	HasEvents    *bool
	OnlyUpcoming bool
	Status       []calendar.Status

	pieces []string // words of Search, folded for comparison
}

// declareLinkedQuery returns the declaration of linkedQuery. noun names the records of the list, capitalised.
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

// find returns the ids of the venues or organizers on the page, and the number on all pages. It asks the index,
// or the database if the index cannot answer.
func (q *linkedQuery) find(r *request, kind calendar.Kind) (_ query.Page, err error) {
	if q.OnlyUpcoming {
		r.expireBy(r.now.Add(time.Second)) // the next event may begin in a second
	}
	l := &query.Linked{
		Now: r.now, Visible: visibleTo(r.caller, q.Status), Event: q.Event, HasEvents: q.HasEvents, Upcoming: q.OnlyUpcoming,
		Events: visibleTo(r.caller, nil), Readable: r.readableEvents(nil), Pieces: q.pieces, Language: r.lang,
	}
	offset, limit := q.span()
	return byIndex(r, func(x *index.Index, revision int64) (query.Page, error) {
		if q.Event == nil {
			r.depends.find = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
				again := *l
				again.Revision, again.Now = revision, now
				return x.FindLinked(ctx, kind, &again, offset, limit)
			}
		}
		l.Revision = revision
		return x.FindLinked(r.ctx, kind, l, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindLinked(r.ctx, kind, l, offset, limit) })
}

// linkedReads has the operations in which reads of venues and organizers differ. R is the row type and J the type
// of its representation.
type linkedReads[R ent.Row, J any] struct {
	kind      calendar.Kind
	rows      func(*ent.Client, context.Context, []int64) ([]R, error)
	represent func(v *represent.View, row R, full bool) J
	table     func(v *represent.View, row R) represent.Row
}

// venues has the read operations of venues.
var venues = linkedReads[*ent.Venue, represent.Venue]{
	calendar.Venue, (*ent.Client).ReadVenues, (*represent.View).Venue, (*represent.View).VenueRow,
}

// organizers has the read operations of organizers.
var organizers = linkedReads[*ent.Organizer, represent.Organizer]{
	calendar.Organizer, (*ent.Client).ReadOrganizers, (*represent.View).Organizer, (*represent.View).OrganizerRow,
}

// list answers GET of the list of records.
func (l linkedReads[R, J]) list(r *request, q *linkedQuery) (*reply, error) {
	page, err := q.find(r, l.kind)
	if err != nil {
		return nil, err
	}
	v := r.view()
	items, err := renderRecords(r, page, recordRenderer[R]{
		kind: l.kind, codec: r.codec,
		read: func(ids []int64) ([]R, error) {
			rows, err := l.rows(r.db, r.ctx, ids)
			if err != nil {
				return nil, err
			}
			return rows, r.translate(ent.PageOf(rows...))
		},
		value: func(row R) (any, audience) {
			if r.isTable() {
				return l.table(v, row), sameScope
			}
			return l.represent(v, row, false), sameScope
		},
		parts: func(row R) []ent.Core { return []ent.Core{row.Core()} },
	})
	if err != nil {
		return nil, err
	}
	r.depends.complete, r.depends.found = r.depends.find != nil && q.Search == nil && len(page.IDs) <= ent.MaxRead, page
	return r.listReply(l.kind, q.paging, items, page.Total)
}

// find loads the record that a path names.
func (l linkedReads[R, J]) find(r *request, q *target) (row R, err error) {
	id, name, err := r.resolve(l.kind, q)
	if err != nil {
		return row, err
	}
	rows, err := l.rows(r.db, r.ctx, []int64{id})
	if err == nil && len(rows) == 0 {
		err = invalidPath(name, unknownTarget(l.kind, q))
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// get answers GET of one record.
func (l linkedReads[R, J]) get(r *request, q *target) (*reply, error) {
	row, err := l.find(r, q)
	if err != nil {
		return nil, err
	}
	if !r.mayRead(r.recordOf(row.Core())) {
		return nil, notAccessible(l.kind)
	}
	r.dependsOn(l.kind, row.Core().ID)
	r.depends.complete = true
	return l.reply(r, row, true)
}

// written returns the reply to a write of a record.
func (l linkedReads[R, J]) written(r *request, id int64) (*reply, error) {
	row, err := l.find(r, &target{ID: id})
	if err != nil {
		return nil, err
	}
	return l.reply(r, row, false)
}

// reply returns the reply with a record. full adds json_ld.
func (l linkedReads[R, J]) reply(r *request, row R, full bool) (*reply, error) {
	if err := r.translate(ent.PageOf(row)); err != nil {
		return nil, err
	}
	v := r.view()
	_, version := v.LastWrite(row.Core(), false)
	return &reply{status: 200, body: l.represent(v, row, full), version: version}, nil
}

// byID and bySlug return declarations of the path of a record. Their noun is the kind with its article, such as
// "the venue".
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

// resolve returns the id that a path names, and the name of the path parameter: "id" or "slug".
func (r *request) resolve(kind calendar.Kind, q *target) (id int64, name string, err error) {
	if q.Slug == "" {
		return q.ID, "id", nil
	}
	id, err = r.ownerBySlug(kind, q.Slug)
	return id, "slug", err
}

// recordOf returns the properties of a record that permissions depend on.
func (r *request) recordOf(c ent.Core) auth.Record {
	return auth.RecordOf(c.Kind, c.AuthorID, c.Status.Shown(r.now, c.PublishedAt), c.StatusBeforeTrash)
}

// mayRead reports whether the caller may read a record. A record in the trash may be read by those who may edit
// it.
func (r *request) mayRead(rec auth.Record) bool {
	if rec.Status == calendar.Trash {
		return auth.May(r.caller, auth.Edit, rec)
	}
	return auth.May(r.caller, auth.Read, rec)
}
