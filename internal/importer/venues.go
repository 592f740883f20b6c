package importer

import (
	"context"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/venue"
)

func (r *importRun) prepareVenues(ctx context.Context, db *ent.Client, items []*Venue) ([]recordWrite, error) {
	return prepareNamed(ctx, r, db, namedKind[*ent.Venue, edit.VenueValues]{
		kind: calendar.Venue, empty: &ent.Venue{}, rules: edit.Venues, keep: keepVenueValues,
		bySource: func(keys []string) ([]*ent.Venue, error) {
			return db.Venue.Query().Where(venue.SourceIDIn(keys...)).WithTranslations().All(ctx)
		},
		byName: func(names []string) ([]*ent.Venue, error) {
			return db.Venue.Query().Where(venue.NameKeyIn(names...), venue.StatusNEQ(calendar.Trash)).Order(ent.Asc(venue.FieldID)).All(ctx)
		},
	}, items)
}

// matchesRow also compares the addresses, if both are known.
func (v *Venue) matchesRow(row *ent.Venue) bool {
	address := calendar.FoldName(row.Address)
	return row.NameKey == calendar.FoldName(v.Name) &&
		(v.Address == "" || address == "" || strings.Contains(calendar.FoldName(v.Address), address))
}

func (v *Venue) setValues(c *change, values *edit.VenueValues, old *ent.Venue) {
	setIfChanged(c, &values.Address, old.Address, v.Address)
	setIfChanged(c, &values.City, old.City, v.City)
	setIfChanged(c, &values.Country, old.Country, v.Country)
	setIfChanged(c, &values.Province, old.Province, v.Province)
	setIfChanged(c, &values.State, old.State, v.State)
	setIfChanged(c, &values.Zip, old.Zip, v.Zip)
	setIfChanged(c, &values.Phone, old.Phone, v.Phone)
	setIfChanged(c, &values.Stateprovince, old.Stateprovince, v.StateProvince)
	setIfChanged(c, &values.Website, old.Website, v.Website)
	setIfChanged(c, &values.ShowMap, old.ShowMap, v.ShowMap)
	setIfChanged(c, &values.ShowMapLink, old.ShowMapLink, v.ShowMapLink)
	setIfChanged(c, &values.Latitude, coordinate(old.Latitude), coordinate(v.Latitude))
	setIfChanged(c, &values.Longitude, coordinate(old.Longitude), coordinate(v.Longitude))
}

func coordinate(degrees *float64) edit.Coordinate {
	if degrees == nil {
		return edit.Coordinate{}
	}
	return edit.Coordinate{Set: true, Degrees: *degrees}
}
