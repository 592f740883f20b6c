// Package scenario generates realistic, harmless calendars. The same options give the same calendar on any
// machine. It uses no database and no clock.
package scenario

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/seed/picture"
)

// Text maps languages to a text and its translations. Unless it is nil, which means no text, it has the calendar's
// first language.
type Text map[calendar.Language]string

// Term is a category or a tag.
type Term struct {
	SourceID    string
	Parent      int // index into Categories; -1 means the top level
	Name        Text
	Description Text // plain text
}

// Venue is a generated venue.
type Venue struct {
	SourceID            string
	Name                Text // proper names are the same in all languages
	Description         Text // HTML
	Address, City, Zip  string
	Province, Country   string
	Phone, Website      string
	Latitude, Longitude float64 // degrees north, east
	Located             bool    // whether it has a position
	Picture             int     // index into Pictures; -1 means none
}

// Organizer is a generated person or group that organizes events.
type Organizer struct {
	SourceID              string
	Name                  Text
	Description           Text // HTML
	Phone, Email, Website string
	Picture               int // index into Pictures; -1 means none
}

// Event is a generated event. Its links are indexes into the lists of the calendar, such as Calendar.Venues.
type Event struct {
	SourceID             string
	Title                Text // plain text
	Excerpt, Description Text // HTML
	Status               calendar.Status
	Published            time.Time // UTC, whole seconds
	Span                 calendar.Span
	Cost                 calendar.Cost
	Website              string // "" means that none was ever set
	Password             string // plain text; "" means none

	Hide, Sticky, Featured, Ticketed bool

	EventStatus       calendar.EventStatus // "" means scheduled
	EventStatusReason Text                 // plain text
	Attendance        calendar.Attendance  // "" means offline
	VirtualURL        string               // "" means none

	Categories, Tags, Venues, Organizers []int
	Parent                               int // index of an earlier event; -1 means none
	Picture                              int // index into Pictures; -1 means none
}

// Series is a generated recurring event.
type Series struct {
	Event // has the span of the first occurrence; published, without a parent
	Rule  recur.Rule
	// ExDate has the starts that Rule gives but at which no occurrence takes place.
	ExDate     []calendar.Wall
	Exceptions []Exception
}

// Schedule returns the span, the rule and the excluded starts of the series. It ignores Exceptions.
func (s *Series) Schedule() recur.Schedule {
	return recur.Schedule{Span: s.Span, Rule: s.Rule, ExDate: s.ExDate}
}

// Exception is an occurrence that is moved or canceled.
type Exception struct {
	Nominal calendar.Wall // start that the rule gives
	Start   calendar.Wall // new start; zero means that it is not moved
	Reason  Text          // reason of the cancellation; nil means that the occurrence takes place
}

// Picture describes a picture that package picture draws. The title becomes the file name, and is not drawn.
type Picture struct {
	SourceID string
	Title    string
	picture.Poster
}
