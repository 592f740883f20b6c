package translations

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// update locks the record of a group, decides its units again, and writes the changed texts. If the record was deleted
// meanwhile, the outcome of its units is Unknown.
func (r *importRun) update(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	var d decision
	var err error
	named := edit.TextsOf(g.kind)
	switch {
	case g.kind == calendar.Event:
		d, err = updateRow(ctx, r, tx, g, edit.LockEvent, func(row *ent.Event, sent texts) error {
			_, err := r.editor.UpdateEvent(ctx, tx, row, &edit.EventInput{
				Title: sent.title, Description: sent.description, Excerpt: sent.excerpt, Slug: sent.slug,
				EventStatusReason: sent.reason,
			})
			return err
		})
	case named != nil:
		d, err = updateRow(ctx, r, tx, g, named.LockRow, func(row ent.Row, sent texts) error {
			return named.UpdateTexts(ctx, tx, r.editor, row, sent.title, sent.description, sent.slug)
		})
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

// updateRow does the work of update for one type of database row. If a term turns out to be of another taxonomy, the
// outcome is Unknown.
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
