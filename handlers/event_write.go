package handlers

import (
	"context"
	"errors"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

type entTx = ent.Tx

// createEvent answers POST /events.
func (r *writing) createEvent(in *eventInput) (*endpoint.Reply, error) {
	if !auth.May(r.Caller, auth.Create, auth.Record{Kind: calendar.Event}) {
		return nil, edit.Forbidden()
	}
	if err := r.resolvePictures(in); err != nil {
		return nil, err
	}
	if in.Recurs() {
		if err := r.waitForSeries(); err != nil {
			return nil, err
		}
	}
	var id int64
	err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
		row, err := series.CreateEvent(r.Ctx, tx, e, &in.EventInput)
		if err == nil {
			id = row.ID
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rep, err := r.writtenEvent(id)
	if err != nil {
		return nil, err
	}
	return r.createdReply(calendar.Event, id, rep.Version, rep.Body), nil
}

// waitForSeries sanitises the sent texts, then waits for a slot to write many occurrences.
func (r *writing) waitForSeries() error {
	if err := r.sanitise(); err != nil || r.Call.EnterSeries == nil {
		return err
	}
	return r.Call.EnterSeries()
}

// eventForWrite finds the event of an update or delete, and checks that the caller may do that. A caller who may
// not create events does not learn whether the event exists.
func (r *writing) eventForWrite(q *target, op auth.Operation) (*ent.Event, error) {
	e, err := r.findEvent(q)
	var unknown *calendar.Error
	var invalid param.Invalid
	if errors.As(err, &unknown) || errors.As(err, &invalid) {
		if !auth.May(r.Caller, auth.Create, auth.Record{Kind: calendar.Event}) {
			return nil, edit.Forbidden()
		}
		if q.Slug != "" {
			return nil, &calendar.Error{
				Code: "rest-event-not-found", Key: "event-slug-not-found", Args: map[string]any{"Slug": q.Slug},
			}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	c := e.Core()
	if !r.mayWrite(op, r.recordOf(c)) {
		return nil, edit.Forbidden()
	}
	r.changes = c.Writes()
	return e, nil
}

// mayWrite reports whether the permission matrix allows the caller an operation on a record. Call it before anything
// is downloaded or written. Package edit checks again in the transaction, for exactly what changes.
func (r *writing) mayWrite(op auth.Operation, rec auth.Record) bool {
	return auth.May(r.Caller, op, rec)
}

// lockForScope locks an event, or its series if scope.IsSeries reports true. It returns errOutdated if the event
// was removed meanwhile.
func (r *writing) lockForScope(tx *entTx, id int64, scope edit.Scope) (*ent.Event, error) {
	lock := edit.LockEvent
	if scope.IsSeries() {
		lock = edit.LockSeriesOf
	}
	row, err := lock(r.Ctx, tx, id)
	if ent.IsNotFound(err) {
		return nil, errOutdated
	}
	return row, err
}

// updateEvent answers POST, PUT and PATCH of one event.
func (r *writing) updateEvent(in *eventInput) (*endpoint.Reply, error) {
	e, err := r.eventForWrite(&in.target, auth.Edit)
	if err != nil {
		return nil, err
	}
	if err := r.resolvePictures(in); err != nil {
		return nil, err
	}
	if err := r.sanitise(); err != nil { // sanitise must run before in is copied
		return nil, err
	}
	if in.Scope.IsSeries() || in.Recurs() {
		if err := r.waitForSeries(); err != nil {
			return nil, err
		}
	}
	for {
		if err = r.updateUnchanged(e, in.EventInput); err == nil {
			return r.writtenEvent(e.ID)
		}
		if errors.Is(err, errOutdated) {
			e, err = r.eventForWrite(&target{ID: e.ID}, auth.Edit)
		}
		if err != nil {
			return nil, err
		}
	}
}

// errOutdated means that another caller has written or removed the record since it was read.
var errOutdated = errors.New("the record was written or removed meanwhile")

// updateUnchanged stores an update of the event e. In an update of an occurrence, values that a read of e shows count
// as not sent. So if the stored occurrence differs from e by now, it returns errOutdated and stores nothing. It also
// returns errOutdated if e was removed, whether or not e belongs to a series.
func (r *writing) updateUnchanged(e *ent.Event, in edit.EventInput) error {
	if err := r.omitStored(e, &in); err != nil {
		return err
	}
	return r.change(&e.ID, func(tx *entTx, ed *edit.Editor) error {
		row, err := r.lockForScope(tx, e.ID, in.Scope)
		if err != nil {
			return err
		}
		if e.SeriesID != nil && row.Version != e.Version {
			return errOutdated
		}
		_, err = series.UpdateEvent(r.Ctx, tx, ed, row, &in)
		return err
	})
}

func (r *writing) declareEventDelete(p *param.Set, in *eventInput) {
	p.PathID(&in.ID, "id", "ID of the event")
	p.OptString(&in.target.Password, "password", "Access password of the event")
	r.declareScope(p, in)
	read.DeclareLanguage(p)
}

func (r *writing) declareEventDeleteBySlug(p *param.Set, in *eventInput) {
	slug := &in.target.Slug
	p.PathString(slug, "slug", "Slug of the event").Check(r.slugExists(calendar.Event, slug))
	r.declareScope(p, in)
	read.DeclareLanguage(p)
}

// slugExists returns a check for a slug parameter. The check returns a parameter error if no record of the kind has
// the slug.
func (r *writing) slugExists(kind calendar.Kind, slug *string) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		owner, err := r.OwnerBySlug(kind, *slug)
		if err != nil {
			return &param.Fault{Err: err}
		}
		if owner == 0 {
			return read.UnknownSlug(*slug)
		}
		return nil
	}
}

// deleteEvent answers DELETE of one event. It moves the event, or the occurrences in the scope, to the trash.
func (r *writing) deleteEvent(in *eventInput) (*endpoint.Reply, error) {
	e, err := r.eventForWrite(&in.target, auth.Delete)
	if err != nil {
		return nil, err
	}
	if in.Scope.IsSeries() {
		if err := r.waitForSeries(); err != nil {
			return nil, err
		}
	}
	err = r.change(&e.ID, func(tx *entTx, ed *edit.Editor) error {
		row, err := r.lockForScope(tx, e.ID, in.Scope)
		if err != nil {
			return err
		}
		if in.Scope.IsSeries() {
			return series.TrashOccurrences(r.Ctx, tx, ed, row, in.Scope)
		}
		_, err = ed.TrashEvent(r.Ctx, tx, row)
		return err
	})
	if errors.Is(err, errOutdated) {
		return nil, r.eventNotFoundError(e.ID)
	}
	if err != nil {
		return nil, err
	}
	return r.writtenEvent(e.ID)
}
