package handlers

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entrecord "github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
)

// listEvents answers GET /events. It finds the ids, takes events from the record cache, and renders the others
// from their rows.
func (r *request) listEvents(q *eventQuery) (*Reply, error) {
	r.setPassword(q.Password)
	page, err := q.find(r)
	if err != nil {
		return nil, err
	}
	var v *represent.View
	items, err := reply.Render(r.ctx, r.newTableRows(calendar.Event).cut(r.rendering()), page, reply.Renderer[*ent.Event]{
		Kind: calendar.Event, Media: r.codec.mediaType, Encode: r.codec.encodeRecord,
		Read: func(ids []int64) ([]*ent.Event, error) {
			rows, err := r.events(ids)
			if err != nil {
				return nil, err
			}
			v = r.view() // the view needs the series of the rows
			return rows, r.tryPassword(rows...)
		},
		Value: func(e *ent.Event) (any, reply.Audience) {
			if r.isTable() {
				return v.EventRow(e, r.isProtected(e)), r.audienceOf(e)
			}
			shown := v.Event(e, false)
			if r.isProtected(e) {
				v.Redact(&shown, e)
			}
			return &shown, r.audienceOf(e)
		},
		Parts: r.partsOfEvent,
	})
	if err != nil {
		return nil, err
	}
	r.Complete, r.Found = r.FindAgain != nil && q.isCheap() && len(page.IDs) <= ent.MaxRead, page
	return r.listReply(calendar.Event, q.paging, items, page.Total)
}

// partsOfEvent returns an event and the records that its representation shows. Their dates decide how long it is
// right.
func (r *request) partsOfEvent(e *ent.Event) []ent.Core {
	out := []ent.Core{e.Core()}
	for _, v := range e.Edges.Venues {
		out = append(out, v.Core())
	}
	for _, o := range e.Edges.Organizers {
		out = append(out, o.Core())
	}
	if e.SeriesID == nil {
		return out
	}
	if s := r.recurrences[*e.SeriesID]; s != nil {
		out = append(out, ent.Core{ID: s.ID, Kind: calendar.Series, Status: s.Status, PublishedAt: s.PublishedAt})
	}
	return out
}

// events loads events with all that their representations show, in any order.
func (r *request) events(ids []int64) ([]*ent.Event, error) {
	rows, err := r.db.ReadEvents(r.ctx, ids)
	if err != nil {
		return nil, err
	}
	return rows, r.loadRelated(rows, false)
}

// loadRelated loads the records that representations of events show. full includes those that only JSON-LD shows.
func (r *request) loadRelated(events []*ent.Event, full bool) error {
	page, err := r.db.ReadEventLinks(r.ctx, events)
	if err != nil {
		return err
	}
	if err := r.readSeries(events, full); err != nil {
		return err
	}
	page.Events = events
	return r.translate(page)
}

// target names a record in the path of a request, by id or slug.
type target struct {
	ID       int64
	Slug     string
	Password *string
}

func (r *request) declareEventByID(p *param.Set, q *target) {
	p.PathID(&q.ID, "id", "ID of the event")
	p.OptString(&q.Password, "password", "Access password of the event")
	r.declareLanguage(p)
}

func (r *request) declareEventBySlug(p *param.Set, q *target) {
	p.PathString(&q.Slug, "slug", "Slug of the event")
	// The password is accepted for a slug as well, but not published.
	p.OptString(&q.Password, "password", "Access password of the event").Hide()
	r.declareLanguage(p)
}

// getEvent answers GET of one event, by id or slug.
func (r *request) getEvent(q *target) (*Reply, error) {
	e, err := r.findEvent(q)
	if err != nil {
		return nil, err
	}
	status := e.Status.Shown(r.now, e.PublishedAt)
	switch {
	case status == calendar.Trash:
		return nil, &calendar.Error{Code: "event-no-longer-available", Key: "event-no-longer-available"}
	case !auth.May(r.caller, auth.Read, auth.RecordOf(calendar.Event, e.AuthorID, status, "")):
		return nil, notAccessible(calendar.Event)
	}
	r.setPassword(q.Password)
	if err := r.tryPassword(e); err != nil {
		return nil, err
	}
	if r.isProtected(e) {
		return nil, &calendar.Error{Code: "event-password-protected", Key: "event-password-protected"}
	}
	if err := r.loadRelated([]*ent.Event{e}, true); err != nil {
		return nil, err
	}
	r.DependsOn(calendar.Event, e.ID)
	r.Complete = true
	return r.eventReply(e, true), nil
}

// writtenEvent returns the reply to a write: the event with all that its representation shows.
func (r *request) writtenEvent(id int64) (*Reply, error) {
	e, err := r.findEvent(&target{ID: id})
	if err != nil {
		return nil, err
	}
	if err := r.loadRelated([]*ent.Event{e}, false); err != nil {
		return nil, err
	}
	return r.eventReply(e, false), nil
}

// eventReply returns the reply with an event that is not redacted: the caller may edit it, gave its password, or it has
// none.
func (r *request) eventReply(e *ent.Event, full bool) *Reply {
	v := r.view()
	_, version := v.LastWrite(e.Core(), edit.HasPassword(e))
	return &Reply{status: 200, body: new(v.Event(e, full)), version: version}
}

// findEvent loads the event that a path names. An unknown id is 404, or 400 if a record of another kind has it.
// An unknown slug is an invalid parameter.
func (r *request) findEvent(q *target) (*ent.Event, error) {
	id := q.ID
	if q.Slug != "" {
		owner, err := r.ownerBySlug(calendar.Event, q.Slug)
		if err != nil {
			return nil, err
		}
		if owner == 0 {
			return nil, invalidPath("slug", noSlug(q.Slug))
		}
		id = owner
	}
	rows, err := r.db.ReadEvents(r.ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, r.eventNotFoundError(id)
	}
	return rows[0], nil
}

// eventNotFoundError returns the error for an id that no event has.
func (r *request) eventNotFoundError(id int64) error {
	taken, err := r.db.Record.Query().Where(entrecord.ID(id)).Exist(r.ctx)
	if err != nil {
		return err
	}
	code := "rest-event-not-found"
	if taken {
		code = "rest-invalid-event-id"
	}
	return &calendar.Error{Code: code, Key: code, Args: map[string]any{"ID": strconv.FormatInt(id, 10)}}
}

// invalidPath returns the error for an unknown id or slug in a path, where that is an invalid parameter
// (contract, section 3).
func invalidPath(name string, fault *param.Fault) error {
	fault.Param = name
	return param.Invalid{Faults: []param.Fault{*fault}}
}

func notAccessible(kind calendar.Kind) error {
	code := string(kind) + "-not-accessible"
	return &calendar.Error{Code: code, Key: code}
}
