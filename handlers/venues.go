package handlers

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

// venues describes how the API reads, writes and represents venues.
var venues = &namedResource[*ent.Venue, edit.VenueValues, represent.Venue]{
	kind: calendar.Venue, one: "a venue", writes: edit.Venues, declareOwn: (*writing).declareVenue,
	rows: (*ent.Client).ReadVenues, represent: (*represent.View).Venue, table: (*represent.View).VenueRow,
}

// venueInput is the input of a request that creates or updates a venue.
type venueInput = namedInput[edit.VenueValues]

// declareVenue registers the request fields of a venue, with their checks (contract, section 10.2). Venues
// inside an event have the same fields.
func (r *writing) declareVenue(f fields, in *venueInput) {
	p := f.p
	f.author(&in.AuthorID, nil)
	f.published(&in.Published)
	f.title(&in.Name, "venue", "Name")
	f.html(&in.Description, "description", "Description, HTML").PublishDefault(nil)
	f.slug(&in.NamedInput.Slug)
	f.status(&in.Status)
	param.Opt(p, &in.Values.ShowMap, "show_map", "Show a map", "string", boolOrEmpty).PublishDefault(nil)
	param.Opt(p, &in.Values.ShowMapLink, "show_map_link", "Show a map link", "string", boolOrEmpty).PublishDefault(nil)
	for _, one := range f.plain(in.Values.Plain()) {
		one.PublishDefault(nil)
	}
	f.image(&in.Image, "Image ID or URL", true).PublishDefault(nil)
	f.coordinate(&in.Values.Latitude, "geo_lat", "Latitude, degrees north", 90)
	f.coordinate(&in.Values.Longitude, "geo_lng", "Longitude, degrees east", 180)
}

// boolOrEmpty parses a boolean. "" means false.
func boolOrEmpty(raw any) (bool, *param.Fault) {
	if param.LastValue(raw) == "" {
		return false, nil
	}
	return param.Boolean(raw)
}

// coordinate registers a request field for a latitude or longitude in degrees. "" and null remove it. The
// argument limit is its largest absolute value.
func (f fields) coordinate(dst **edit.Coordinate, name, description string, limit float64) {
	p := param.Opt(f.p, dst, name, description, "number", func(raw any) (edit.Coordinate, *param.Fault) {
		if last := param.LastValue(raw); last == nil || last == "" {
			return edit.Coordinate{}, nil
		}
		degrees, fault := param.Number(raw)
		if fault != nil {
			return edit.Coordinate{}, fault
		}
		if degrees < -limit || degrees > limit {
			return edit.Coordinate{}, param.OutOfBounds(name, -limit, limit)
		}
		return edit.Coordinate{Set: true, Degrees: degrees}, nil
	})
	p.Format = "double"
	f.nullClears(p)
	p.Minimum, p.Maximum = -limit, limit // the parser above enforces these limits
}
