package handlers

import (
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// The columns that answers are made of: what only writers and the database look at is not read.
var (
	venueColumns = without(venue.Columns,
		venue.FieldCreatedAt, venue.FieldVersion, venue.FieldSourceID, venue.FieldDated, venue.FieldNameKey, venue.FieldCell)
	organizerColumns = without(organizer.Columns, organizer.FieldCreatedAt, organizer.FieldVersion,
		organizer.FieldSourceID, organizer.FieldDated, organizer.FieldNameKey)
	termColumns = without(term.Columns, append([]string{
		term.FieldCreatedAt, term.FieldVersion, term.FieldSourceID, term.FieldNameKey,
	}, sortColumns()...)...)
	pictureColumns = without(image.Columns,
		image.FieldAuthorID, image.FieldSourceID, image.FieldCreatedAt, image.FieldVersion)
)

func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(column string) bool { return slices.Contains(some, column) })
}

func sortColumns() []string {
	var columns []string
	for _, l := range calendar.Languages {
		columns = append(columns, edit.NameSortColumn(l), edit.DescriptionSortColumn(l))
	}
	return columns
}

// loadImages gives rows their images, with one query for all of them, and none where there are no images.
func (r *request) loadImages(venues []*ent.Venue, organizers []*ent.Organizer) error {
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
	query := r.db.Image.Query().Where(image.IDIn(slices.Sorted(maps.Keys(wanted))...))
	query.Select(pictureColumns...)
	rows, err := query.All(r.ctx)
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
