package query

import (
	"errors"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
)

// ErrUnsupported is returned by an engine that does not know a condition of a query. Another engine has to answer.
var ErrUnsupported = errors.New("the engine does not know a condition of the query")

// Events is a query for a list of events. The zero value of a field, other than Visible, restricts nothing.
//
// The list is in the order of start and id, or of publication and id if Include is set. With ByEnd it is in the descending
// order of end and id.
type Events struct {
	Now     time.Time // decides which scheduled events count as published
	Visible Visible
	Hidden  bool // includes events that are hidden from listings
	// Window is in whole seconds.
	Window     Window
	Periods    []Period // all of them; the index does not know any
	Include    []int64  // ids of events
	ByEnd      bool
	Conditions []Condition
	Series     Series
	// Located selects events by whether they have a venue with a position. Near selects those with a venue within a
	// distance. Positions of published venues count, and of unpublished venues those that Places sees.
	Located *bool
	Near    *Circle
	Places  Visible
	// Search is compared with the texts that are served in Language.
	Search   *search.Query
	Language calendar.Language
	// Readable limits the protected events, if the query is guarded.
	Readable Readable
	// OnlyReadable makes the query guarded whatever its conditions are.
	OnlyReadable bool
	// Spans asks for those of the page.
	Spans bool
	// Revision is that of the calendar which the engine has to know at least. 0 means the newest one of its database.
	Revision int64
}

// Visible is whose events of which effective status are in a list.
type Visible struct {
	Anyone []calendar.Status
	Author int64
	Own    []calendar.Status // of the author
}

// Readable is which protected events a caller may read.
type Readable struct {
	All    bool
	IDs    []int64 // opened by a password
	Author int64   // the author's own; 0 means no author
	// DraftsOnly limits those of the author to drafts and pending ones, and those in the trash that were such.
	DraftsOnly bool
}

// Window is bounds of start and end, inclusive. Nil is no bound.
type Window struct{ StartMin, StartMax, EndMin, EndMax *time.Time }

// Series is which occurrences of series are in a list. For None and First, events of a series that Visible does not see
// are no occurrences.
type Series struct {
	IDs     []int64 // only occurrences of these series; nil means any event
	None    bool    // no occurrences
	Visible Visible
	// First leaves of each series the occurrence with the earliest start, then the lowest id, of those that all other
	// conditions leave. The order of the list does not matter.
	First bool
}

// Circle is a distance around a position in degrees north and east.
type Circle struct{ Latitude, Longitude, Kilometres float64 }

// Page is a part of a list.
type Page struct {
	IDs   []int64 // in the order of the list
	Total int     // of the whole list
	// Changed are the revisions of the last changes of what the records show, in the order of IDs. They may be too new,
	// and are never too old. Nil means that the engine does not know.
	Changed []int64
	// Spans are in the order of IDs. Nil means that they were not asked for, or that the engine does not know.
	Spans []Span
}

// Span is when an event takes place.
type Span struct {
	Starts, Ends int64 // seconds since 1970, UTC
	// FirstDay and LastDay are the days of an all-day event by its own clock, in days since 1970. A protected event counts as
	// timed, since it is shown so.
	FirstDay, LastDay int32
	AllDay            bool
}

// Dependency is a record that a reply depends on, with all its shown fields. ID 0 means any record of the kind.
type Dependency struct {
	Kind   calendar.Kind
	ID     int64
	Counts bool // the numbers of events of terms as well
}

// Guarded reports whether the query asks for something that the password of an event guards (contract, section 13). Events
// that the caller gets redacted are then left out.
func (q *Events) Guarded() bool {
	return q.OnlyReadable || q.Search != nil || q.AsksForPlaces() ||
		slices.ContainsFunc(q.Conditions, func(c Condition) bool { return !c.Column.Public })
}

// AsksForPlaces reports whether the positions of venues decide.
func (q *Events) AsksForPlaces() bool { return q.Located != nil || q.Near != nil }

// near reports whether the distance decides. An event without a located venue is near nothing.
func (q *Events) near() bool { return q.Near != nil && (q.Located == nil || *q.Located) }
