package translations

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// update locks the record of a group, decides again, and writes the changed texts. If the record was deleted
// meanwhile, the outcome is Unknown.
func (r *importRun) update(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	var d decision
	var err error
	switch g.kind {
	case calendar.Event:
		d, err = updateRow(ctx, r, tx, g, edit.LockEvent, func(row *ent.Event, sent texts) error {
			_, err := r.editor.UpdateEvent(ctx, tx, row, &edit.EventInput{
				Title: sent.title, Description: sent.description, Excerpt: sent.excerpt, Slug: sent.slug,
				EventStatusReason: sent.reason,
			})
			return err
		})
	case calendar.Venue:
		d, err = updateNamed(ctx, r, tx, g, edit.Venues)
	case calendar.Organizer:
		d, err = updateNamed(ctx, r, tx, g, edit.Organizers)
	default:
		d, err = updateRow(ctx, r, tx, g, edit.LockTerm, func(row *ent.Term, sent texts) error {
			_, err := r.editor.UpdateTerm(ctx, tx, row, &edit.TermInput{
				Name: sent.title, Description: sent.description, Slug: sent.slug,
			})
			return err
		})
	}
	if ent.IsNotFound(err) {
		return r.decide(nil, g), nil
	}
	return d, err
}

// updateNamed is update for a kind of records with a name.
func updateNamed[R ent.Row, V any](ctx context.Context, r *importRun, tx *ent.Tx, g *group, kind interface {
	Lock(context.Context, *ent.Tx, int64) (R, error)
	Update(context.Context, *ent.Tx, *edit.Editor, R, *edit.NamedInput[V]) (R, error)
},
) (decision, error) {
	return updateRow(ctx, r, tx, g, kind.Lock, func(row R, sent texts) error {
		_, err := kind.Update(ctx, tx, r.editor, row, &edit.NamedInput[V]{
			Name: sent.title, Description: sent.description, Slug: sent.slug,
		})
		return err
	})
}

// updateRow is update for one type of row. For a term of another taxonomy the outcome is Unknown.
func updateRow[R ent.Row](
	ctx context.Context, r *importRun, tx *ent.Tx, g *group,
	lock func(context.Context, *ent.Tx, int64) (R, error), write func(R, texts) error,
) (decision, error) {
	row, err := lock(ctx, tx, g.id)
	if err != nil {
		return decision{}, err
	}
	if row.Core().Kind != g.kind {
		return r.decide(nil, g), nil
	}
	if err := tx.Client().ReadTranslations(ctx, calendar.Languages, ent.PageOf(row)); err != nil {
		return decision{}, err
	}
	d := r.decide(recordOf(row), g)
	if d.sent == (texts{}) {
		return d, nil
	}
	return d, write(row, d.sent)
}
