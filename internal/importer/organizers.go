package importer

import (
	"context"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
)

func (r *importRun) prepareOrganizers(ctx context.Context, db *ent.Client, items []*Organizer) ([]recordWrite, error) {
	return prepareNamed(ctx, r, db, namedKind[*ent.Organizer, ent.OrganizerValues]{
		kind: calendar.Organizer, empty: &ent.Organizer{}, rules: edit.Organizers, keep: keepOrganizerValues,
		bySource: func(keys []string) ([]*ent.Organizer, error) {
			return db.Organizer.Query().Where(organizer.SourceIDIn(keys...)).WithTranslations().All(ctx)
		},
		byName: func(names []string) ([]*ent.Organizer, error) {
			return db.Organizer.Query().Where(organizer.NameKeyIn(names...), organizer.StatusNEQ(calendar.Trash)).
				Order(ent.Asc(organizer.FieldID)).All(ctx)
		},
	}, items)
}

// matchesRow also compares the e-mail addresses, if both are known.
func (o *Organizer) matchesRow(row *ent.Organizer) bool {
	return row.NameKey == calendar.FoldName(o.Name) &&
		(o.Email == "" || row.Email == "" || strings.EqualFold(o.Email, row.Email))
}

func (o *Organizer) setValues(c *change, values *ent.OrganizerValues, old *ent.Organizer) {
	setIfChanged(c, &values.Phone, old.Phone, o.Phone)
	setIfChanged(c, &values.Email, old.Email, o.Email)
	setIfChanged(c, &values.Website, old.Website, o.Website)
}
