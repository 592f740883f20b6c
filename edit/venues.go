package edit

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// Venues has the methods that create, change and trash venues.
var Venues = declared(&Named[*ent.Venue, *ent.VenueMutation, *ent.VenueTranslation, VenueValues]{
	NamedTable: ent.VenuesTable, apply: (*VenueValues).apply, faults: coordinateFaults,
	derive: func(m *ent.VenueMutation, d *diff, old, row *ent.Venue) {
		putOptional(d, "", old.Cell, VenueCell(row.Latitude, row.Longitude), m.SetCell, m.ClearCell)
	},
})

// VenueInput is the data that a client sent for a venue. New venues show the map and the map link by default.
type VenueInput = NamedInput[VenueValues]

// VenueValues are the sent values of the fields that only venues have. Nil means not sent.
type VenueValues struct {
	ent.VenueValues // an empty Stateprovince means that readers get a value derived from Province or State

	Latitude, Longitude *Coordinate
}

// Coordinate is a latitude or longitude that a client sent. The zero value removes the stored one.
type Coordinate struct {
	Set     bool
	Degrees float64 // positive is north or east
}

func (v *VenueValues) apply(row *ent.Venue) {
	v.Apply(row)
	row.Latitude, row.Longitude = v.Latitude.applyTo(row.Latitude), v.Longitude.applyTo(row.Longitude)
}

// applyTo returns the coordinate that a venue has after a write, or nil if it has none. A nil receiver means
// not sent. Then the result is old.
func (c *Coordinate) applyTo(old *float64) *float64 {
	switch {
	case c == nil:
		return old
	case !c.Set:
		return nil
	}
	return new(c.Degrees)
}

// coordinateFaults returns a parameter error if a venue has only one of latitude and longitude. It names the missing
// one. Nil means none.
func coordinateFaults(row *ent.Venue) []*param.Fault {
	missing, there := "geo_lng", "geo_lat"
	if (row.Latitude == nil) == (row.Longitude == nil) {
		return nil
	}
	if row.Latitude == nil {
		missing, there = there, missing
	}
	return []*param.Fault{{
		Param: missing, Key: "needs-other", Args: map[string]any{"Param": missing, "Other": there},
	}}
}

// VenueCell returns the number of the map cell that contains a venue (calendar.Cell). It returns nil if a coordinate
// is missing.
func VenueCell(latitude, longitude *float64) *int64 {
	if latitude == nil || longitude == nil {
		return nil
	}
	return new(calendar.Cell(*latitude, *longitude))
}
