package handlers

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// namedInput is the input of a request that creates or updates a record with a name.
type namedInput[V any] struct {
	target
	edit.NamedInput[V]
	Image *picture
	place int // index in the event's list of such records, for a record sent inside an event
}

// declareTarget registers the id or slug in the path of an update or delete. The argument by is "id" or "slug".
// Its check requires that the record exists.
func (r *writing) declareTarget(p *param.Set, q *target, kind calendar.Kind, by string) {
	if by == "slug" {
		p.PathString(&q.Slug, "slug", "Slug of the "+string(kind)).Check(r.slugExists(kind, &q.Slug))
		return
	}
	p.PathID(&q.ID, "id", "ID of the "+string(kind)).Check(func(ctx context.Context) *param.Fault {
		if kind.IsTerm() {
			_, err := r.findTerm(kind, q.ID)
			if _, unknown := err.(param.Invalid); unknown { //nolint:errorlint // findTerm returns it as it is
				return read.UnknownID(kind, q.ID)
			}
			if err != nil {
				return &param.Fault{Err: err}
			}
			return nil
		}
		known, err := r.DB.HasRecord(ctx, kind, sql.FieldEQ(event.FieldID, q.ID))
		if err != nil {
			return &param.Fault{Err: err}
		}
		if !known {
			return read.UnknownID(kind, q.ID)
		}
		return nil
	})
}

// declareCreate registers the request fields for creating a record.
func (n *namedResource[R, V, J]) declareCreate(r *writing, p *param.Set, in *namedInput[V]) {
	n.declare(r, fields{p: p, r: r, create: true}, in)
	read.DeclareLanguage(p)
}

// declareUpdate returns a function that registers the request fields for updating a record. The argument by is
// "id" or "slug".
func (n *namedResource[R, V, J]) declareUpdate(by string) func(*writing, *param.Set, *namedInput[V]) {
	return func(r *writing, p *param.Set, in *namedInput[V]) {
		r.declareTarget(p, &in.target, n.kind, by)
		n.declare(r, fields{p: p, r: r}, in)
		read.DeclareLanguage(p)
	}
}

// declare registers the request fields of a record, with their checks (contract, sections 10.2 and 10.3).
// Records inside an event have the same fields.
func (n *namedResource[R, V, J]) declare(r *writing, f fields, in *namedInput[V]) {
	if n.declareOwn != nil {
		n.declareOwn(r, f, in)
		return
	}
	f.author(&in.AuthorID, nil).PublishDefault(nil)
	date, dateUTC := f.published(&in.Published)
	date.PublishDefault(nil)
	dateUTC.PublishDefault(nil)
	name := f.title(&in.Name, string(n.kind), "Name")
	name.PublishDefault(nil)
	name.Sample = "Old Mill"
	f.html(&in.Description, "description", "Description, HTML").PublishDefault(nil)
	f.slug(&in.NamedInput.Slug)
	f.status(&in.Status).PublishDefault(nil)
	for _, one := range f.plain(n.plain(&in.Values)) {
		one.PublishDefault(nil)
	}
	f.image(&in.Image, "Image ID or URL", true).PublishDefault(nil)
}

// deleteTarget returns a function that registers the id or slug in the path of a delete. The argument by is "id"
// or "slug".
func deleteTarget(kind calendar.Kind, by string) func(*writing, *param.Set, *target) {
	return func(r *writing, p *param.Set, q *target) {
		r.declareTarget(p, q, kind, by)
		read.DeclareLanguage(p)
	}
}

// post answers a request that creates a record.
func (n *namedResource[R, V, J]) post(r *writing, in *namedInput[V]) (*endpoint.Reply, error) {
	if !auth.May(r.Caller, auth.Create, auth.Record{Kind: n.kind}) {
		return nil, edit.Forbidden()
	}
	if err := r.resolvePicture(in.Image, &in.ImageID); err != nil {
		return nil, err
	}
	var id int64
	err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
		row, _, err := n.writes.Create(r.Ctx, tx, e, &in.NamedInput)
		if err != nil {
			return err
		}
		id = row.Core().ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	rep, err := n.written(r.request, id)
	if err != nil {
		return nil, err
	}
	return r.createdReply(n.kind, id, rep.Version, rep.Body), nil
}

// patch answers a request that updates a record.
func (n *namedResource[R, V, J]) patch(r *writing, in *namedInput[V]) (*endpoint.Reply, error) {
	id, err := n.permitted(r, &in.target, auth.Edit)
	if err != nil {
		return nil, err
	}
	if err := r.resolvePicture(in.Image, &in.ImageID); err != nil {
		return nil, err
	}
	return n.change(r, id, func(tx *entTx, e *edit.Editor, row R) (R, error) {
		return n.writes.Update(r.Ctx, tx, e, row, &in.NamedInput)
	})
}

// remove answers a request that deletes a record. It moves the record to the trash.
func (n *namedResource[R, V, J]) remove(r *writing, q *target) (*endpoint.Reply, error) {
	id, err := n.permitted(r, q, auth.Delete)
	if err != nil {
		return nil, err
	}
	return n.change(r, id, func(tx *entTx, e *edit.Editor, row R) (R, error) { return n.writes.Trash(r.Ctx, tx, e, row) })
}

// permitted returns the id of the record that a path names. It returns an error if the caller may not do op on
// the record. It also stores the version of the record in r.changes.
func (n *namedResource[R, V, J]) permitted(r *writing, q *target, op auth.Operation) (int64, error) {
	row, err := n.find(r.request, q)
	if err != nil {
		return 0, err
	}
	c := row.Core()
	if !r.mayWrite(op, r.recordOf(c)) {
		return 0, edit.Forbidden()
	}
	r.changes = c.Writes()
	return c.ID, nil
}

// change locks the record with an id and runs do in a transaction. The reply shows the record as it is after that.
func (n *namedResource[R, V, J]) change(r *writing, id int64, do func(*entTx, *edit.Editor, R) (R, error)) (*endpoint.Reply, error) {
	err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
		row, err := n.writes.Lock(r.Ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = do(tx, e, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return n.written(r.request, id)
}
