package translations

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// update locks the record of a group, decides again, and writes what is new. A record that went away meanwhile is
// unknown.
func (r *run) update(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	var d decision
	var err error
	switch g.kind {
	case calendar.Event:
		d, err = r.event(ctx, tx, g)
	case calendar.Venue:
		d, err = r.venue(ctx, tx, g)
	case calendar.Organizer:
		d, err = r.organizer(ctx, tx, g)
	default:
		d, err = r.term(ctx, tx, g)
	}
	if ent.IsNotFound(err) {
		return r.decide(nil, g), nil
	}
	return d, err
}

func (r *run) event(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	row, err := edit.LockEvent(ctx, tx, g.id)
	if err != nil {
		return decision{}, err
	}
	if row.Edges.Translations, err = row.QueryTranslations().All(ctx); err != nil {
		return decision{}, err
	}
	d := r.decide(eventRecord(row), g)
	if d.sent == (texts{}) {
		return d, nil
	}
	_, err = r.editor.UpdateEvent(ctx, tx, row, &edit.EventInput{
		Title: d.sent.title, Description: d.sent.description, Excerpt: d.sent.excerpt, Slug: d.sent.slug,
	})
	return d, err
}

func (r *run) venue(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	row, err := edit.LockVenue(ctx, tx, g.id)
	if err != nil {
		return decision{}, err
	}
	if row.Edges.Translations, err = row.QueryTranslations().All(ctx); err != nil {
		return decision{}, err
	}
	d := r.decide(venueRecord(row), g)
	if d.sent == (texts{}) {
		return d, nil
	}
	_, err = r.editor.UpdateVenue(ctx, tx, row, &edit.VenueInput{
		Name: d.sent.title, Description: d.sent.description, Slug: d.sent.slug,
	})
	return d, err
}

func (r *run) organizer(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	row, err := edit.LockOrganizer(ctx, tx, g.id)
	if err != nil {
		return decision{}, err
	}
	if row.Edges.Translations, err = row.QueryTranslations().All(ctx); err != nil {
		return decision{}, err
	}
	d := r.decide(organizerRecord(row), g)
	if d.sent == (texts{}) {
		return d, nil
	}
	_, err = r.editor.UpdateOrganizer(ctx, tx, row, &edit.OrganizerInput{
		Name: d.sent.title, Description: d.sent.description, Slug: d.sent.slug,
	})
	return d, err
}

func (r *run) term(ctx context.Context, tx *ent.Tx, g *group) (decision, error) {
	row, err := edit.LockTerm(ctx, tx, g.id)
	if err != nil {
		return decision{}, err
	}
	if row.Taxonomy != g.kind {
		return r.decide(nil, g), nil
	}
	if row.Edges.Translations, err = row.QueryTranslations().All(ctx); err != nil {
		return decision{}, err
	}
	d := r.decide(termRecord(row), g)
	if d.sent == (texts{}) {
		return d, nil
	}
	_, err = r.editor.UpdateTerm(ctx, tx, row, &edit.TermInput{
		Name: d.sent.title, Description: d.sent.description, Slug: d.sent.slug,
	})
	return d, err
}
