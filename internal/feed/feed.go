// Package feed writes events in the formats of subscriptions: iCalendar, Atom, RSS, JSON Feed. All functions are pure,
// and the same input gives the same bytes.
package feed

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

// Feed describes a feed. Its methods write it with its entries.
type Feed struct {
	Name     string            // plain text
	Language calendar.Language // of the words that are written beside the texts of the entries
	Zone     calendar.Zone     // of the site
	Self     string            // address of the feed; "" for a file that is not subscribed to
	Page     string            // address of the page that lists the same events, or ""
	Words    *locale.Catalogues

	// Year is the current year. Descriptions of zones hold the rule from that year on.
	Year int
	// Import makes iCalendar that is imported once instead of subscribed to: descriptions have up to 8000 characters,
	// not 1000, and timed events block their time.
	Import bool
	// Outlook leaves out X-WR-CALNAME.
	Outlook bool

	rules map[string]*zoneRule // of the zones that were looked at; nil for zones without a rule
}

// Entry is an event in a feed. Texts are plain unless said otherwise. Empty values are left out.
type Entry struct {
	ID       int64  // decides the order of entries that are equal otherwise
	UID      string // a result of UID
	Sequence int
	Stamp    time.Time // last change
	Created  time.Time // publication

	// Start and End are the stored instants, from which all times are written. StartWall and EndWall are the stored
	// wall times, whose days an all-day entry is on.
	Start, End         time.Time
	StartWall, EndWall calendar.Wall
	Zone               calendar.Zone
	AllDay             bool

	Status calendar.EventStatus // "" is calendar.Scheduled
	// Withdrawn makes the entry an announcement that the event is no longer public. Nothing is written but UID, Stamp,
	// Sequence and the times. RSS and JSON Feed leave it out.
	Withdrawn bool
	// Protected hides what the password of the event guards, whatever the other fields hold.
	Protected bool

	Title       string
	Description string // HTML
	Excerpt     string // HTML
	URL         string // address of its page
	VirtualURL  string
	Places      []Place
	Categories  []string // names of categories, then those of tags
	Image       Image
	Organizers  []Organizer
	Related     string // UID of its series or of its parent

	// Recurrence makes the entry a series, or an occurrence that differs from its series. Nil for single events.
	Recurrence *Recurrence
}

// Place is a venue.
type Place struct {
	Name, Address, Zip, City, Region, Country string

	Located             bool    // Latitude and Longitude are set
	Latitude, Longitude float64 // degrees
}

// Organizer is a person or a group.
type Organizer struct{ Name, Phone, Email string }

// Image is a picture. The zero value is none.
type Image struct {
	URL       string
	MediaType string // such as image/jpeg
	Size      int64  // bytes; 0 if unknown
}

// Recurrence is the recurring side of an entry. Its wall times are in the zone of the entry. Resolves must report true for
// all starts and ends, except in UTC and of days.
type Recurrence struct {
	Rule     string          // value of RRULE; "" for an occurrence
	Excluded []calendar.Wall // starts of the rule that do not take place
	Replaces calendar.Wall   // the start in the rule of the occurrence that the entry stands for; zero for a series
}
