package handlers

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// termInput is the input of a request that creates or updates a category or tag.
type termInput struct {
	target
	edit.TermInput
}

func termCreate(taxonomy calendar.Kind) func(*writing, *param.Set, *termInput) {
	return func(r *writing, p *param.Set, in *termInput) {
		r.declareTerm(fields{p: p, r: r, create: true}, taxonomy, in)
	}
}

func termUpdate(taxonomy calendar.Kind) func(*writing, *param.Set, *termInput) {
	return func(r *writing, p *param.Set, in *termInput) {
		r.declareTarget(p, &in.target, taxonomy, "id")
		r.declareTerm(fields{p: p, r: r}, taxonomy, in)
	}
}

// declareTerm registers the request fields of a category or tag, with their checks (contract, section 10.3).
func (r *writing) declareTerm(f fields, taxonomy calendar.Kind, in *termInput) {
	in.Taxonomy = taxonomy
	f.title(&in.Name, "name", "Name")
	f.text(&in.Description, "description", "Description", maxTermText).Check(func(context.Context) *param.Fault {
		// An empty description is refused, because only null clears it.
		if raw, _ := f.p.Raw("description"); raw != nil && *in.Description == "" {
			return &param.Fault{Key: "empty-text"}
		}
		return nil
	})
	f.slug(&in.TermInput.Slug).Check(func(context.Context) *param.Fault {
		if *in.TermInput.Slug == "" {
			return &param.Fault{Key: "empty-text"}
		}
		return nil
	})
	if taxonomy.IsHierarchical() {
		f.nullClears(param.Opt(f.p, &in.ParentID, "parent", "ID of the parent category", "integer", idOrNone)).
			Check(func(ctx context.Context) *param.Fault {
				if *in.ParentID == 0 {
					return nil
				}
				return read.ReferenceFault(r.Editor().TermsFault(ctx, r.DB, calendar.Category, []int64{*in.ParentID}))
			})
	}
	read.DeclareLanguage(f.p)
}

// maxTermText is the largest length of a term's description in characters (contract, section 4).
const maxTermText = maxText

// mayManageTerms returns an error if the caller may not write terms of the taxonomy.
func (r *writing) mayManageTerms(taxonomy calendar.Kind) error {
	if !auth.May(r.Caller, auth.ManageTerms, auth.Record{Kind: taxonomy}) {
		return edit.Forbidden()
	}
	return nil
}

func createTerm(taxonomy calendar.Kind) func(*writing, *termInput) (*endpoint.Reply, error) {
	return func(r *writing, in *termInput) (*endpoint.Reply, error) {
		if err := r.mayManageTerms(taxonomy); err != nil {
			return nil, err
		}
		var id int64
		err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
			row, err := e.CreateTerm(r.Ctx, tx, &in.TermInput)
			if err == nil {
				id = row.ID
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		rep, err := r.termReply(taxonomy, id)
		if err != nil {
			return nil, err
		}
		return r.createdReply(taxonomy, id, rep.Version, rep.Body), nil
	}
}

func updateTerm(taxonomy calendar.Kind) func(*writing, *termInput) (*endpoint.Reply, error) {
	return func(r *writing, in *termInput) (*endpoint.Reply, error) {
		if err := r.mayManageTerms(taxonomy); err != nil {
			return nil, err
		}
		err := r.change(&in.ID, func(tx *entTx, e *edit.Editor) error {
			row, err := edit.LockTerm(r.Ctx, tx, in.ID)
			if ent.IsNotFound(err) {
				return invalidPath("id", read.UnknownID(taxonomy, in.ID)) // the term was deleted in the meantime
			}
			if err != nil {
				return err
			}
			_, err = e.UpdateTerm(r.Ctx, tx, row, &in.TermInput)
			return err
		})
		if err != nil {
			return nil, err
		}
		return r.termReply(taxonomy, in.ID)
	}
}

// deleteTerm returns the handler that deletes a category or tag permanently. The reply shows the deleted term.
func deleteTerm(taxonomy calendar.Kind) func(*writing, *target) (*endpoint.Reply, error) {
	return func(r *writing, q *target) (*endpoint.Reply, error) {
		if err := r.mayManageTerms(taxonomy); err != nil {
			return nil, err
		}
		rep, err := r.termReply(taxonomy, q.ID)
		if err != nil {
			return nil, err
		}
		err = r.change(&q.ID, func(tx *entTx, e *edit.Editor) error {
			row, err := edit.LockTerm(r.Ctx, tx, q.ID)
			if ent.IsNotFound(err) {
				return invalidPath("id", read.UnknownID(taxonomy, q.ID)) // the term was deleted in the meantime
			}
			if err != nil {
				return err
			}
			return e.DeleteTerm(r.Ctx, tx, row)
		})
		rep.Version = calendar.ShownVersion{} // a deleted term has no version
		return rep, err
	}
}
