package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/when"
)

// MaxNew is the maximum number of new records in each list of venues, organizers, categories or tags of one
// event. A request body has room for tens of thousands, and their creation would block all other writers.
const MaxNew = 500

// EventInput is the data that a client sent for an event. Nil means not sent. To create an event, Title, Start
// and End are required.
type EventInput struct {
	AuthorID  *int64
	Published *time.Time // UTC, whole seconds; the caller converts it from other zones
	Status    *calendar.Status

	Title       *string
	Description *string // sanitised HTML
	Excerpt     *string // sanitised HTML
	Slug        *string // any text, which calendar.KeptSlug normalises; "" means not sent

	Zone       *calendar.Zone
	AllDay     *bool
	Start, End *when.Date

	ImageID  *int64 // 0 removes the image
	Cost     *calendar.Cost
	Website  *Website
	Password *string // plain text; "" removes the password
	ParentID *int64  // 0 removes the parent

	ent.EventValues // sent flags, event status, attendance and virtual URL

	EventStatusReason *string

	// Rule is an RRULE in the syntax of recur.Parse; "" removes the rule. An empty RDate or ExDate removes
	// those dates.
	Rule          *string
	RDate, ExDate *[]recur.Date

	// Scope selects the occurrences of a series that the write changes. "" means ThisOccurrence. DropExceptions
	// removes their own fields first.
	Scope          Scope
	DropExceptions bool

	// A list that is sent replaces all links of its kind. An empty list removes them.
	Categories, Tags *[]TermRef
	Venues           *[]VenueRef
	Organizers       *[]OrganizerRef

	SourceID   *string    // id of the event in the source of an import
	ModifiedAt *time.Time // UTC; an import sets it; nil means the time of the request
}

// Website is the website of an event. The zero value means that the website was never set: readers get the URL
// of the event. Set with an empty URL means that the event has no website.
type Website struct {
	Set bool
	URL string
}

// TermRef names a category or tag by ID, or by Name if that is not empty. An unknown name creates a term, if the
// caller has that right.
type TermRef struct {
	ID   int64
	Name string
}

// LinkRef names a venue or organizer by ID. If New is not nil, the write creates the record from New instead.
type LinkRef[I any] struct {
	ID  int64
	New *I
}

// VenueRef names a venue in the input of an event.
type VenueRef = LinkRef[VenueInput]

// OrganizerRef names an organizer in the input of an event.
type OrganizerRef = LinkRef[OrganizerInput]

// TermInput is the data that a client sent for a category or tag. Nil means not sent. To create a term,
// Taxonomy and Name are required.
type TermInput struct {
	Taxonomy    calendar.Kind // Category or Tag; ignored by updates
	Name        *string
	Description *string // plain text
	Slug        *string // any text, which calendar.KeptSlug normalises; "" means not sent
	ParentID    *int64  // id of the parent category; 0 means the top level

	SourceID   *string
	ModifiedAt *time.Time
}

// Recurs reports whether the input has a rule or rdates.
func (in *EventInput) Recurs() bool {
	return ValueOr("", in.Rule) != "" || len(ValueOr(nil, in.RDate)) > 0
}

// HasSchedule reports whether the client sent a rule, rdates or exdates, even empty ones.
func (in *EventInput) HasSchedule() bool {
	return in.Rule != nil || in.RDate != nil || in.ExDate != nil
}
