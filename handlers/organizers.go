package handlers

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/represent"
)

// organizers is the resource of organizers.
var organizers = &namedResource[*ent.Organizer, ent.OrganizerValues, represent.Organizer]{
	kind: calendar.Organizer, one: "an organizer", writes: edit.Organizers, declare: (*request).declareOrganizer,
	rows: (*ent.Client).ReadOrganizers, represent: (*represent.View).Organizer, table: (*represent.View).OrganizerRow,
}

// organizerInput is the input of a request that creates or updates an organizer.
type organizerInput = namedInput[ent.OrganizerValues]

// declareOrganizer declares the fields of an organizer (contract, section 10.3). Organizers inside an event have
// the same fields.
func (r *request) declareOrganizer(f fields, in *organizerInput) {
	f.author(&in.AuthorID, nil).PublishDefault(nil)
	date, dateUTC := f.published(&in.Published)
	date.PublishDefault(nil)
	dateUTC.PublishDefault(nil)
	f.title(&in.Name, "organizer", "Name").PublishDefault(nil)
	f.html(&in.Description, "description", "Description, HTML").PublishDefault(nil)
	f.slug(&in.NamedInput.Slug)
	f.status(&in.Status).PublishDefault(nil)
	for _, one := range f.plain(in.Values.Plain()) {
		one.PublishDefault(nil)
	}
	f.image(&in.Image, "Image ID or URL", true).PublishDefault(nil)
}
