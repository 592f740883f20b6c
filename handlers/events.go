package handlers

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entrecord "github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
)

func (r *request) declareEventQuery(p *param.Set, q *read.EventQuery) {
	q.Declare(r.Reader, p, r.LargestPage())
}

// listEvents answers GET /events. It finds the ids, takes events from the record cache, and renders the others
// from their rows.
func (r *request) listEvents(q *read.EventQuery) (*endpoint.Reply, error) {
	r.SetPassword(q.Password)
	page, err := q.Find(r.Reader)
	if err != nil {
		return nil, err
	}
	var v *represent.View
	items, err := reply.Render(r.Ctx, r.TableRows(calendar.Event).Cut(r.Rendering()), page, reply.Renderer[*ent.Event]{
		Kind: calendar.Event, Media: r.Codec.MediaType, Encode: r.Codec.EncodeRecord,
		Read: func(ids []int64) ([]*ent.Event, error) {
			rows, err := r.Events(ids)
			if err != nil {
				return nil, err
			}
			v = r.View() // the view needs the series of the rows
			return rows, r.TryPassword(rows...)
		},
		Value: func(e *ent.Event) (any, reply.Audience) {
			if r.IsTable() {
				return v.EventRow(e, r.IsProtected(e)), r.AudienceOf(e)
			}
			shown := v.Event(e, false)
			if r.IsProtected(e) {
				v.Redact(&shown, e)
			}
			return &shown, r.AudienceOf(e)
		},
		Parts: r.PartsOfEvent,
	})
	if err != nil {
		return nil, err
	}
	r.Complete, r.Found = r.FindAgain != nil && q.IsCheap() && len(page.IDs) <= ent.MaxRead, page
	return r.ListReply(calendar.Event, q.Paging, items, page.Total)
}

// target names a record in the path of a request, by id or slug.
type target struct {
	ID       int64
	Slug     string
	Password *string
}

// protectedTarget returns a function that registers the path of an event or a series, and the parameter
// password. The argument by is "id" or "slug".
func protectedTarget(kind calendar.Kind, by string) func(*request, *param.Set, *target) {
	return func(_ *request, p *param.Set, q *target) {
		noun := "the " + string(kind)
		if by == "id" {
			p.PathID(&q.ID, "id", "ID of "+noun)
			p.OptString(&q.Password, "password", "Access password of "+noun)
		} else {
			p.PathString(&q.Slug, "slug", "Slug of "+noun)
			// The password is accepted for a slug as well, but not published.
			p.OptString(&q.Password, "password", "Access password of "+noun).Hide()
		}
		read.DeclareLanguage(p)
	}
}

// getEvent answers GET of one event, by id or slug.
func (r *request) getEvent(q *target) (*endpoint.Reply, error) {
	e, err := r.findEvent(q)
	if err != nil {
		return nil, err
	}
	status := e.Status.Shown(r.Now, e.PublishedAt)
	switch {
	case status == calendar.Trash:
		return nil, &calendar.Error{Code: "event-no-longer-available", Key: "event-no-longer-available"}
	case !auth.May(r.Caller, auth.Read, auth.RecordOf(calendar.Event, e.AuthorID, status, "")):
		return nil, notAccessible(calendar.Event)
	}
	r.SetPassword(q.Password)
	if err := r.TryPassword(e); err != nil {
		return nil, err
	}
	if r.IsProtected(e) {
		return nil, &calendar.Error{Code: "event-password-protected", Key: "event-password-protected"}
	}
	if err := r.LoadRelated([]*ent.Event{e}, true); err != nil {
		return nil, err
	}
	r.DependsOn(calendar.Event, e.ID)
	r.Complete = true
	return r.eventReply(e, true), nil
}

// writtenEvent returns the reply to a write of the event with an id. It shows the event as stored.
func (r *request) writtenEvent(id int64) (*endpoint.Reply, error) {
	e, err := r.findEvent(&target{ID: id})
	if err != nil {
		return nil, err
	}
	if err := r.LoadRelated([]*ent.Event{e}, false); err != nil {
		return nil, err
	}
	return r.eventReply(e, false), nil
}

// eventReply returns the reply with an event that the caller may see in full. If full is true, the body includes
// json_ld.
func (r *request) eventReply(e *ent.Event, full bool) *endpoint.Reply {
	v := r.View()
	_, version := v.LastWrite(e.Core(), edit.HasPassword(e))
	return &endpoint.Reply{Status: 200, Body: new(v.Event(e, full)), Version: version}
}

// findEvent loads the event that a path names. An unknown id is 404, or 400 if a record of another kind has it.
// An unknown slug is an invalid parameter.
func (r *request) findEvent(q *target) (*ent.Event, error) {
	id := q.ID
	if q.Slug != "" {
		owner, err := r.OwnerBySlug(calendar.Event, q.Slug)
		if err != nil {
			return nil, err
		}
		if owner == 0 {
			return nil, invalidPath("slug", read.UnknownSlug(q.Slug))
		}
		id = owner
	}
	rows, err := r.DB.ReadEvents(r.Ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, r.eventNotFoundError(id)
	}
	return rows[0], nil
}

// eventNotFoundError returns the error for an id that no event has. Its status is 404, or 400 if a record of
// another kind has the id.
func (r *request) eventNotFoundError(id int64) error {
	taken, err := r.DB.Record.Query().Where(entrecord.ID(id)).Exist(r.Ctx)
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

// unknownTarget returns the parameter error for an id or slug in the path that no record of the kind has.
func unknownTarget(kind calendar.Kind, q *target) *param.Fault {
	if q.Slug != "" {
		return read.UnknownSlug(q.Slug)
	}
	return read.UnknownID(kind, q.ID)
}
