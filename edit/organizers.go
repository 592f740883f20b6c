package edit

import "github.com/almanac-cal/almanac/ent"

// Organizers has the methods that create, change and trash organizers.
var Organizers = declared(&Named[*ent.Organizer, *ent.OrganizerMutation, *ent.OrganizerTranslation, ent.OrganizerValues]{
	NamedTable: ent.OrganizersTable, apply: (*ent.OrganizerValues).Apply,
})

// OrganizerInput is the data that a client sent for an organizer.
type OrganizerInput = NamedInput[ent.OrganizerValues]
