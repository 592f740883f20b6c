// Package scenario makes up believable, harmless calendars. The same options give the same calendar on any machine. It
// touches no database and reads no clock.
package scenario

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/seed/picture"
)

// Options of a calendar. Only From must be set; the zero values of the others are the defaults named.
type Options struct {
	// Scenario is one of Scenarios; "" is "city".
	Scenario string
	// Seed decides everything that is left to chance.
	Seed uint64
	// Events, Venues and Organizers say how many there are; 0 is 200 events and numbers that fit them. The
	// occurrences of series come on top of the events.
	Events, Venues, Organizers int
	// City is the city of the events: one that the package knows, or any other. "" means that the seed chooses
	// one.
	City string
	// From is the first day of the calendar. Months is its length; 0 means 24.
	From   calendar.Wall
	Months int
	// Zone is the time zone of the events; the zero value is that of the places.
	Zone calendar.Zone
	// Languages are the languages of the texts. The first is the original language. It selects the countries of
	// the places, unless City does. None means all, English first.
	Languages []calendar.Language
	// Now is the time at which it is decided what is over, runs or is scheduled: UTC. Zero is the start of From, and
	// records are then published long before, so that a calendar of the future can be read today.
	Now time.Time
	// Open makes all events public: there are no drafts, hidden events and passwords.
	Open bool
	// Nasty adds a few texts that trip careless clients: emoji, quotes, ampersands, right-to-left.
	Nasty bool
	// Pictures gives most events, some venues and some organizers a picture.
	Pictures bool
}

// Text is a text in some languages, always in the first of the calendar; nil is no text.
type Text map[calendar.Language]string

// Term is a category or a tag.
type Term struct {
	SourceID    string
	Parent      int // index into Categories; -1 at the top
	Name        Text
	Description Text // plain text
}

// Venue is a place.
type Venue struct {
	SourceID            string
	Name                Text // the same in all languages for proper names
	Description         Text // HTML
	Address, City, Zip  string
	Province, Country   string
	Phone, Website      string
	Latitude, Longitude float64 // degrees north, east
	Located             bool    // whether it has a position
	Picture             int     // index into Pictures; -1 none
}

// Organizer is a person or group that organizes events.
type Organizer struct {
	SourceID              string
	Name                  Text
	Description           Text // HTML
	Phone, Email, Website string
	Picture               int // index into Pictures; -1 none
}

// Event is a generated event. Its links are indices.
type Event struct {
	SourceID             string
	Title                Text // plain text
	Excerpt, Description Text // HTML
	Status               calendar.Status
	Published            time.Time // UTC, whole seconds
	Span                 calendar.Span
	Cost                 calendar.Cost
	Website              string // "" is never set
	Password             string // plain text; "" means none

	Hide, Sticky, Featured, Ticketed bool

	EventStatus       calendar.EventStatus // "" is scheduled
	EventStatusReason Text                 // plain text
	Attendance        calendar.Attendance  // "" is offline
	VirtualURL        string               // "" is none

	Categories, Tags, Venues, Organizers []int
	Parent                               int // index of an earlier event; -1 none
	Picture                              int // index into Pictures; -1 none
}

// Series is an event that takes place again and again.
type Series struct {
	Event // with the span of the first occurrence; published, without a parent
	Rule  recur.Rule
	// ExDate are nominal starts without an occurrence.
	ExDate     []calendar.Wall
	Exceptions []Exception
}

// Schedule returns when the occurrences start.
func (s *Series) Schedule() recur.Schedule {
	return recur.Schedule{Span: s.Span, Rule: s.Rule, ExDate: s.ExDate}
}

// Exception is an occurrence that differs from the others. It is moved or canceled.
type Exception struct {
	Nominal calendar.Wall // its start in the schedule
	Start   calendar.Wall // zero: as in the schedule
	Reason  Text          // reason of the cancellation; nil if it takes place
}

// Picture is the content of a picture; package picture draws it.
type Picture struct {
	SourceID string
	picture.Poster
}
