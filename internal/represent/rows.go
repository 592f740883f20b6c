package represent

import (
	"context"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// Reader reads the rows that representations are made of, and what they are linked to.
type Reader struct {
	DB        *ent.Client
	Languages []calendar.Language // that a reply may be in: that of the request, then that of the site
}

// The columns that representations are made of. Columns for writers and for the database alone are left out.
var (
	VenueColumns = without(venue.Columns,
		venue.FieldCreatedAt, venue.FieldVersion, venue.FieldSourceID, venue.FieldDated, venue.FieldNameKey, venue.FieldCell)
	OrganizerColumns = without(organizer.Columns, organizer.FieldCreatedAt, organizer.FieldVersion,
		organizer.FieldSourceID, organizer.FieldDated, organizer.FieldNameKey)
	TermColumns = []string{
		term.FieldID, term.FieldTaxonomy, term.FieldParentID, term.FieldLanguage, term.FieldLanguages, term.FieldName,
		term.FieldDescription, term.FieldSlug, term.FieldEventCount, term.FieldModifiedAt,
	}
	pictureColumns = without(image.Columns,
		image.FieldAuthorID, image.FieldSourceID, image.FieldCreatedAt, image.FieldVersion)
)

func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(column string) bool { return slices.Contains(some, column) })
}

// LoadImages gives rows their images, with one query for all of them, and none where there are no images.
func (r *Reader) LoadImages(ctx context.Context, venues []*ent.Venue, organizers []*ent.Organizer) error {
	wanted := make(map[int64][]**ent.Image)
	want := func(id *int64, to **ent.Image) {
		if id != nil {
			wanted[*id] = append(wanted[*id], to)
		}
	}
	for _, v := range venues {
		want(v.ImageID, &v.Edges.Image)
	}
	for _, o := range organizers {
		want(o.ImageID, &o.Edges.Image)
	}
	if len(wanted) == 0 {
		return nil
	}
	query := r.DB.Image.Query().Where(image.IDIn(slices.Sorted(maps.Keys(wanted))...))
	query.Select(pictureColumns...)
	rows, err := query.All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, to := range wanted[row.ID] {
			*to = row
		}
	}
	return nil
}
