package handlers

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/represent"
)

// organizers describes how the API reads, writes and represents organizers.
var organizers = &namedResource[*ent.Organizer, ent.OrganizerValues, represent.Organizer]{
	kind: calendar.Organizer, one: "an organizer", writes: edit.Organizers, plain: (*ent.OrganizerValues).Plain,
	rows: (*ent.Client).ReadOrganizers, represent: (*represent.View).Organizer, table: (*represent.View).OrganizerRow,
}

// organizerInput is the input of a request that creates or updates an organizer.
type organizerInput = namedInput[ent.OrganizerValues]
