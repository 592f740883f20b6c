package query

import (
	"errors"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
)

// ErrUnsupported is returned by an engine that does not support a condition of a query. The caller must use
// another engine.
var ErrUnsupported = errors.New("the engine does not know a condition of the query")

// Events is a query for a list of events. The zero value of a field means no restriction, except for Hidden,
// Readable and the fields of type Visible.
//
// The list is sorted by start and id, or by publication and id if Include is set. ByEnd sorts it by end and id,
// descending.
type Events struct {
	Now     time.Time // time that decides which scheduled events count as published
	Visible Visible
	Hidden  bool // true includes events that are hidden from listings
	// Protected restricts the list to events with a password.
	Protected bool
	// Window restricts starts and ends, in whole seconds.
	Window     Window
	Periods    []Period // an event must be in all of these periods; nil means any time
	Include    []int64  // ids of the only events to include
	ByEnd      bool
	Conditions []Condition
	Series     Series
	// Located restricts the list to events with (true) or without (false) a positioned venue. Near restricts it
	// to events with a venue in a circle. Only published venues, and those that Places allows, are considered.
	Located *bool
	Near    *Circle
	Places  Visible
	// Search is compared with the texts that are served in Language.
	Search   *search.Query
	Language calendar.Language
	// Readable limits which protected events a guarded query finds.
	Readable Readable
	// OnlyReadable makes the query guarded (Guarded), whatever its conditions are.
	OnlyReadable bool
	// Spans requests the start and end of the events on the page (Page.Spans).
	Spans bool
	// Revision is the id of the newest change that the engine must at least have applied. 0 means the newest one in
	// its database.
	Revision int64
}

// Visible selects records by status: those in Anyone for all authors, and those in Own for Author. A scheduled
// record whose publication date has passed counts as published.
type Visible struct {
	Anyone []calendar.Status
	Author int64
	Own    []calendar.Status // statuses for events of Author only
}

// Readable selects the events with a password that the client can see in full.
type Readable struct {
	All    bool
	IDs    []int64 // ids of events that the caller opened with a password
	Author int64   // user id of the caller, who may read own events; 0 means none
	// DraftsOnly limits Author to own events that are draft or pending, or that were so before they were
	// trashed.
	DraftsOnly bool
}

// Window is a set of inclusive bounds of start and end. Nil means no bound.
type Window struct{ StartMin, StartMax, EndMin, EndMax *time.Time }

// Series restricts a list of events by the series to which they belong. If Visible excludes a series, None and First
// treat its occurrences as single events.
type Series struct {
	IDs     []int64 // only occurrences of these series; nil means any event
	None    bool    // true excludes all occurrences
	Visible Visible
	// First keeps one occurrence of each series: the earliest start, then the lowest id, among those that meet
	// all other conditions. The order of the list does not matter.
	First bool
}

// Circle is the area within a distance of a position. The position is in degrees north and east.
type Circle struct{ Latitude, Longitude, Kilometres float64 }

// Page is the part of a list that was requested, with the length of the whole list.
type Page struct {
	IDs   []int64 // record ids in the order of the list
	Total int     // number of records in the whole list
	// Changed has, in the order of IDs, the revision of the last change of the data that each record shows. A
	// revision may be too new. It is never too old. Nil means unknown.
	Changed []int64
	// Spans are in the order of IDs. Nil means that the query did not request them or that the engine does not
	// know them.
	Spans []Span
}

// Span is the time at which an event takes place.
type Span struct {
	Starts, Ends int64 // seconds since 1970, UTC
	// FirstDay and LastDay are the dates of an all-day event in its own zone, as days since 1970. A protected
	// event counts as timed, because it is shown so.
	FirstDay, LastDay int32
	AllDay            bool
}

// Dependency is a record on whose shown fields a response depends. ID 0 means any record of the kind.
type Dependency struct {
	Kind   calendar.Kind
	ID     int64
	Counts bool // true if the reply also depends on the event counts of terms
}

// Guarded reports whether a condition uses data that the password of an event protects (contract, section 13). The
// list then excludes events whose protected data the client cannot see.
func (q *Events) Guarded() bool {
	return q.OnlyReadable || q.Search != nil || q.AsksForPlaces() ||
		slices.ContainsFunc(q.Conditions, func(c Condition) bool { return !c.Column.Public })
}

// AsksForPlaces reports whether the query has a condition on the position of venues.
func (q *Events) AsksForPlaces() bool { return q.Located != nil || q.Near != nil }

// near reports whether the query is limited to a circle. A circle has no effect if Located is false, because events
// without a position cannot be in one.
func (q *Events) near() bool { return q.Near != nil && (q.Located == nil || *q.Located) }
