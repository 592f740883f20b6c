// Package seed makes up calendars: believable, harmless and the same each time for the same seed.
//
// A scenario is a function from Options to a Calendar of plain values; it touches no database and reads no
// clock. Write stores any Calendar. Names of venues, organizers and people are invented; streets, postcodes
// and coordinates are real; web and mail addresses end in .example, which nobody can own.
package seed

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Options of a scenario. Only From must be set.
type Options struct {
	// Seed decides everything that is left to chance.
	Seed uint64
	// Events is how many events there are; 0 or less is DefaultEvents. A longer calendar begins with the
	// events of the shorter one.
	Events int
	// From is the time around which the events are laid out: a few before it, most in the eight weeks after.
	From time.Time
	// Zone is the time zone of the events; the zero value is that of the city.
	Zone calendar.Zone
	// Languages are those of the texts. The first is the language of the originals and decides which city
	// it is; none is all, English first.
	Languages []calendar.Language
	// AuthorID is the user who is the author of all records; 0 is nobody.
	AuthorID int64
}

// DefaultEvents is the number of events of a calendar when none is asked for.
const DefaultEvents = 48

// Calendar is a made-up calendar. Records refer to each other by source id, and stand in the order in which
// they can be written: parents before children.
type Calendar struct {
	Scenario   string // the middle part of the source ids: "city"
	City       string
	Language   calendar.Language // of names and of the original texts
	Zone       calendar.Zone
	AuthorID   int64
	Categories []Term
	Tags       []Term
	Venues     []Venue
	Organizers []Organizer
	Events     []Event
}

// Text is a text in some languages, always in that of the calendar; nil is no text.
type Text map[calendar.Language]string

// Languages are those of the text, in the order of calendar.Languages.
func (t Text) Languages() []calendar.Language {
	var ls []calendar.Language
	for _, l := range calendar.Languages {
		if _, ok := t[l]; ok {
			ls = append(ls, l)
		}
	}
	return ls
}

// Term is a category or a tag.
type Term struct {
	SourceID    string
	Parent      string // source id of a category; "" at the top
	Name        Text
	Description Text // plain text
}

// Venue is a place in the city.
type Venue struct {
	SourceID            string
	Name                string // proper names are not translated
	Description         Text   // HTML
	Address, City, Zip  string
	Province, Country   string
	Phone, Website      string
	Latitude, Longitude float64 // degrees north, east
}

// Organizer is who holds events.
type Organizer struct {
	SourceID              string
	Name                  string
	Description           Text // HTML
	Phone, Email, Website string
}

// Event is an event with source ids of what it is linked to.
type Event struct {
	SourceID             string
	Title                Text // plain text
	Excerpt, Description Text // HTML
	Status               calendar.Status
	Published            time.Time // UTC, whole seconds
	Span                 calendar.Span
	Cost                 calendar.Cost
	Website              string // "" is never set
	Password             string // in clear; "" is none

	Hide, Sticky, Featured, Ticketed bool

	Categories, Tags, Venues, Organizers []string
	Parent                               string
}

// languages are those asked for: known, once each, the first one first.
func (o Options) languages() []calendar.Language {
	var ls []calendar.Language
	for _, l := range o.Languages {
		if l.Known() && !slices.Contains(ls, l) {
			ls = append(ls, l)
		}
	}
	if len(ls) == 0 {
		return calendar.Languages
	}
	return ls
}
