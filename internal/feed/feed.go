// Package feed formats events as subscriptions. The formats are iCalendar, Atom, RSS and JSON Feed. Its
// functions do not use the clock or the database, so the same input gives the same bytes.
package feed

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

// Feed describes a feed. It has a method for each format, which returns the file with the given entries.
type Feed struct {
	Name     string            // title of the feed, in plain text
	Language calendar.Language // language of the title and of words such as "canceled"
	Zone     calendar.Zone     // time zone of the site
	Self     string            // address of the feed; "" for a file that is not a subscription
	Page     string            // address of the web page with the same events; "" means none
	Words    *locale.Catalogues

	// Year is the current year. VTIMEZONE components contain the rule that applies from that year on.
	Year int
	// Import makes iCalendar for a one-time import instead of a subscription. Descriptions then have up to 8000
	// characters, not 1000, and timed events mark their time as busy.
	Import bool
	// Outlook is true for a file that Microsoft Outlook imports. It leaves out X-WR-CALNAME.
	Outlook bool

	rules map[string]*zoneRule // cached rules by zone name; a nil rule means that the zone has none
}

// Entry is an event in a feed. Texts are plain text unless noted. Empty values are left out.
type Entry struct {
	ID       int64  // id of the event; orders entries that are otherwise equal
	UID      string // UID in iCalendar; it never changes
	NewsID   string // id in RSS, Atom and JSON Feed; it never changes; "" means the URN of UID
	Sequence int
	Stamp    time.Time // time of the last change
	Created  time.Time // time of publication; zero means unknown

	// Start and End are the stored instants, from which all times are formatted. StartWall and EndWall are the
	// stored wall times, which give the days of an all-day entry.
	Start, End         time.Time
	StartWall, EndWall calendar.Wall
	Zone               calendar.Zone
	AllDay             bool

	Status calendar.EventStatus // "" means calendar.Scheduled
	// Withdrawn is true for an event that is no longer public. Only UID, Stamp, Sequence, the times and
	// Recurrence are then written. RSS and JSON Feed leave the entry out.
	Withdrawn bool
	// Protected is true for an event with a password. The fields that the password protects are then not
	// written.
	Protected bool

	Title       string
	Description string // HTML
	Excerpt     string // HTML
	URL         string // address of the event's page
	VirtualURL  string
	Places      []Place
	Categories  []string // names of the categories, then of the tags
	Image       Image
	Organizers  []Organizer
	Related     string // UID of the series or of the parent event; "" means none

	// Recurrence is the schedule of a series, or says which start an occurrence replaces. Nil means a single
	// event.
	Recurrence *Recurrence
}

// newsID returns the id of the entry in RSS, Atom and JSON Feed.
func (e *Entry) newsID() string {
	if e.NewsID != "" {
		return e.NewsID
	}
	return "urn:uuid:" + e.UID
}

// Place is a venue in a feed.
type Place struct {
	Name, Address, Zip, City, Region, Country string

	Located             bool    // true if Latitude and Longitude are set
	Latitude, Longitude float64 // degrees north and east
}

// Organizer is a person or group with contact data.
type Organizer struct{ Name, Phone, Email string }

// Image is a picture in a feed. The zero value means none.
type Image struct {
	URL       string
	MediaType string // media type such as image/jpeg
	Size      int64  // bytes; 0 means unknown
}

// Recurrence is the schedule of an entry that is a series or a changed occurrence. Its wall times are in the zone
// of the entry. The caller must check with RuleCovers that all starts and ends can be written as wall times. UTC
// and all-day entries need no check.
type Recurrence struct {
	Rule     string          // value of RRULE; "" for a single occurrence
	Excluded []calendar.Wall // starts that the rule produces and that are cancelled
	Replaces calendar.Wall   // start, by the rule, of the occurrence that this entry replaces; zero for a series
}
