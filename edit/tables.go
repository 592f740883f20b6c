package edit

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/organizertranslation"
	"github.com/almanac-cal/almanac/ent/termtranslation"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
)

// translations has the statements for the table with the translations of one kind of record.
type translations struct {
	load   func(ctx context.Context, owner int64) ([]translation, error)
	save   func(ctx context.Context, owner int64, t *translation) error
	remove func(ctx context.Context, id int64) error
}

// namedTranslation is the mutation of a translation of a venue, an organizer or a term.
type namedTranslation interface {
	SetName(string)
	SetNameKey(string)
	SetDescription(string)
	SetSlug(string)
}

func (t *translation) fill(m namedTranslation) {
	m.SetName(t.title)
	m.SetNameKey(calendar.FoldName(t.title))
	m.SetDescription(t.description)
	m.SetSlug(t.slug)
}

// translationsFrom converts rows to translations. It passes on the error of the caller's query.
func translationsFrom[R any](rows []R, err error, one func(R) translation) ([]translation, error) {
	out := make([]translation, len(rows))
	for i, r := range rows {
		out[i] = one(r)
	}
	return out, err
}

// translationsOf returns the statements for the translations of a kind. The generated types of the four tables
// differ, so each has its own function.
func translationsOf(tx *ent.Tx, kind calendar.Kind) translations {
	switch kind {
	case calendar.Event:
		return eventTranslations(tx)
	case calendar.Venue:
		return venueTranslations(tx)
	case calendar.Organizer:
		return organizerTranslations(tx)
	default:
		return termTranslations(tx)
	}
}

func eventTranslations(tx *ent.Tx) translations {
	return translations{
		load: func(ctx context.Context, owner int64) ([]translation, error) {
			rows, err := tx.EventTranslation.Query().Where(eventtranslation.EventID(owner)).All(ctx)
			return translationsFrom(rows, err, func(r *ent.EventTranslation) translation {
				return translation{r.ID, r.Language, recordText{r.Title, r.Description, r.Excerpt, r.Slug, r.EventStatusReason}}
			})
		},
		save: func(ctx context.Context, owner int64, t *translation) error {
			fill := func(m *ent.EventTranslationMutation) {
				m.SetTitle(t.title)
				m.SetDescription(t.description)
				m.SetExcerpt(t.excerpt)
				m.SetEventStatusReason(t.reason)
				m.SetSlug(t.slug)
			}
			if t.id != 0 {
				u := tx.EventTranslation.Update().Where(eventtranslation.ID(t.id))
				fill(u.Mutation())
				return expectOneRow(u.Save(ctx))
			}
			c := tx.EventTranslation.Create().SetEventID(owner).SetLanguage(t.language)
			fill(c.Mutation())
			return c.Exec(ctx)
		},
		remove: func(ctx context.Context, id int64) error { return tx.EventTranslation.DeleteOneID(id).Exec(ctx) },
	}
}

func venueTranslations(tx *ent.Tx) translations {
	return translations{
		load: func(ctx context.Context, owner int64) ([]translation, error) {
			rows, err := tx.VenueTranslation.Query().Where(venuetranslation.VenueID(owner)).All(ctx)
			return translationsFrom(rows, err, func(r *ent.VenueTranslation) translation {
				return translation{r.ID, r.Language, recordText{title: r.Name, description: r.Description, slug: r.Slug}}
			})
		},
		save: func(ctx context.Context, owner int64, t *translation) error {
			if t.id != 0 {
				u := tx.VenueTranslation.Update().Where(venuetranslation.ID(t.id))
				t.fill(u.Mutation())
				return expectOneRow(u.Save(ctx))
			}
			c := tx.VenueTranslation.Create().SetVenueID(owner).SetLanguage(t.language)
			t.fill(c.Mutation())
			return c.Exec(ctx)
		},
		remove: func(ctx context.Context, id int64) error { return tx.VenueTranslation.DeleteOneID(id).Exec(ctx) },
	}
}

func organizerTranslations(tx *ent.Tx) translations {
	return translations{
		load: func(ctx context.Context, owner int64) ([]translation, error) {
			rows, err := tx.OrganizerTranslation.Query().Where(organizertranslation.OrganizerID(owner)).All(ctx)
			return translationsFrom(rows, err, func(r *ent.OrganizerTranslation) translation {
				return translation{r.ID, r.Language, recordText{title: r.Name, description: r.Description, slug: r.Slug}}
			})
		},
		save: func(ctx context.Context, owner int64, t *translation) error {
			if t.id != 0 {
				u := tx.OrganizerTranslation.Update().Where(organizertranslation.ID(t.id))
				t.fill(u.Mutation())
				return expectOneRow(u.Save(ctx))
			}
			c := tx.OrganizerTranslation.Create().SetOrganizerID(owner).SetLanguage(t.language)
			t.fill(c.Mutation())
			return c.Exec(ctx)
		},
		remove: func(ctx context.Context, id int64) error { return tx.OrganizerTranslation.DeleteOneID(id).Exec(ctx) },
	}
}

func termTranslations(tx *ent.Tx) translations {
	return translations{
		load: func(ctx context.Context, owner int64) ([]translation, error) {
			rows, err := tx.TermTranslation.Query().Where(termtranslation.TermID(owner)).All(ctx)
			return translationsFrom(rows, err, func(r *ent.TermTranslation) translation {
				return translation{r.ID, r.Language, recordText{title: r.Name, description: r.Description, slug: r.Slug}}
			})
		},
		save: func(ctx context.Context, owner int64, t *translation) error {
			if t.id != 0 {
				u := tx.TermTranslation.Update().Where(termtranslation.ID(t.id))
				t.fill(u.Mutation())
				return expectOneRow(u.Save(ctx))
			}
			c := tx.TermTranslation.Create().SetTermID(owner).SetLanguage(t.language)
			t.fill(c.Mutation())
			return c.Exec(ctx)
		},
		remove: func(ctx context.Context, id int64) error { return tx.TermTranslation.DeleteOneID(id).Exec(ctx) },
	}
}
