package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/when"
)

// MaxNew is the maximum number of new venues, organizers, categories or tags in each list of one event. A body
// has room for tens of thousands, and their creation blocks all other writers.
const MaxNew = 500

// EventInput is the data that a client sent for an event. Nil means not sent. A create needs Title, Start and
// End.
type EventInput struct {
	AuthorID  *int64
	Published *time.Time // UTC, whole seconds; zones are the caller's business
	Status    *calendar.Status

	Title       *string
	Description *string // sanitised HTML
	Excerpt     *string // sanitised HTML
	Slug        *string // in any form; "" means not sent

	Zone       *calendar.Zone
	AllDay     *bool
	Start, End *when.Date

	ImageID  *int64 // 0 removes it
	Cost     *calendar.Cost
	Website  *Website
	Password *string // plain text; "" removes the password
	ParentID *int64  // 0 removes it

	ShowMap, ShowMapLink, Hide, Sticky, Featured, Ticketed *bool

	EventStatus       *calendar.EventStatus
	EventStatusReason *string
	Attendance        *calendar.Attendance
	VirtualURL        *string

	// Rule is an RRULE that recur.Parse takes; "" removes it. Empty lists remove the dates.
	Rule          *string
	RDate, ExDate *[]recur.Date

	// Scope selects the occurrences of a series that a write changes; "" means ThisOccurrence. DropExceptions
	// first removes their own fields.
	Scope          Scope
	DropExceptions bool

	// Sent lists replace all links; empty ones remove them.
	Categories, Tags *[]TermRef
	Venues           *[]VenueRef
	Organizers       *[]OrganizerRef

	SourceID   *string    // of an import
	ModifiedAt *time.Time // UTC, set by an import; nil means the time of the request
}

// Website of an event. The zero value takes it back to never set, which is answered as the event's own URL;
// Set with an empty URL is no website.
type Website struct {
	Set bool
	URL string
}

// TermRef names a category or tag: by ID unless Name is set, which is looked up and, if unknown, created.
type TermRef struct {
	ID   int64
	Name string
}

// LinkRef names a venue or organizer by ID unless New is set, which creates one by the rules of its kind.
type LinkRef[I any] struct {
	ID  int64
	New *I
}

// VenueRef names a venue of an event.
type VenueRef = LinkRef[VenueInput]

// OrganizerRef names an organizer of an event.
type OrganizerRef = LinkRef[OrganizerInput]

// VenueInput is the data that a client sent for a venue. Nil means not sent. A create needs Name. New venues
// show the map and the map link by default.
type VenueInput struct {
	AuthorID  *int64 // ignored for venues created with an event, which take the event's author
	Published *time.Time
	Status    *calendar.Status

	Name        *string
	Description *string // sanitised HTML
	Slug        *string // in any form; "" means not sent

	Address, City, Country, Province, State, Zip, Phone *string
	StateProvince                                       *string // "" is derived when read
	Website                                             *string
	ImageID                                             *int64 // 0 removes it
	ShowMap, ShowMapLink                                *bool
	Latitude, Longitude                                 *Coordinate

	SourceID   *string
	ModifiedAt *time.Time
}

// Coordinate is a latitude or longitude. The zero value removes it.
type Coordinate struct {
	Set     bool
	Degrees float64 // north, east
}

// OrganizerInput is the data that a client sent for an organizer. Nil means not sent. A create needs Name.
type OrganizerInput struct {
	AuthorID  *int64 // ignored for organizers created with an event, which take the event's author
	Published *time.Time
	Status    *calendar.Status

	Name        *string
	Description *string // sanitised HTML
	Slug        *string // in any form; "" means not sent

	Phone, Email, Website *string
	ImageID               *int64 // 0 removes it

	SourceID   *string
	ModifiedAt *time.Time
}

// TermInput is the data that a client sent for a category or tag. Nil means not sent. A create needs Taxonomy
// and Name.
type TermInput struct {
	Taxonomy    calendar.Kind // Category or Tag; read on create only
	Name        *string
	Description *string // plain text
	Slug        *string // in any form; "" means not sent
	ParentID    *int64  // parent of a category; 0 means the top level

	SourceID   *string
	ModifiedAt *time.Time
}
