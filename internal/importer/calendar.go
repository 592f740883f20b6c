package importer

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Calendar has the records that a Reader read from a source.
type Calendar struct {
	Events []*Event
	// Parents are ancestors of the categories of events and of Terms. Neither has them itself.
	Parents []*Term
	// Terms, Venues and Organizers are the records in the lists of the source. Events may have others.
	Terms      []*Term
	Venues     []*Venue
	Organizers []*Organizer
	Problems   []Problem
	Notices    []string
	// Gone are the source ids of events that the source has without any date.
	Gone []string
	// Paths are the bases of the pages of a WordPress site where they differ from those of this program: events, event,
	// venue, organizer, category and tag. Letters beyond ASCII are percent-encoded in lower case.
	Paths map[string]string
	// Site has what the source says about itself. Nil means that the source is not a WordPress site.
	Site *SourceSite

	seen map[string]bool // source ids of the events read so far
}

// CommonZone returns the time zone of more than half of the events. It reports false if there is none. UTC does not count,
// because many programs write all times in it.
func (c *Calendar) CommonZone() (calendar.Zone, bool) {
	events := map[string]int{}
	for _, e := range c.Events {
		zone := e.Span.Zone.String()
		events[zone]++
		if zone != calendar.UTC().String() && 2*events[zone] > len(c.Events) {
			return e.Span.Zone, true
		}
	}
	return calendar.Zone{}, false
}

// Page is one page of a list of events, as a REST service sends it.
type Page struct {
	Events   []*Event
	Next     string // URL of the next page; "" means that this is the last page
	Total    int    // number of events on all pages; 0 means unknown
	Problems []Problem
	Notices  []string
}

// Origin identifies a record at the source of an import.
type Origin struct {
	Key   string // source id, which is the same in every import
	Where string // position of the record in the source, for messages
	// Language is the language of the title. "" means that the source does not name it.
	Language calendar.Language
	// Languages are all languages in which the record has texts. "" means that the source does not name them.
	Languages calendar.LanguageSet
	// NameOnly reports whether the source knows little more than the name of a record. An existing record then
	// does not change.
	NameOnly bool

	// Removed counts what the texts of the record lost.
	Removed markup.Removed
	// Number is the id at the source. 0 means that it has none that an import can keep.
	Number int64
	// Here is the id of the record in this calendar, if a table names it. 0 means unknown.
	Here int64
	// BySlug reports whether the name of a term may be a slug of this calendar.
	BySlug bool
}

func (o *Origin) source() *Origin { return o }

// Event is an event of the source. Fields that the source did not send are nil.
type Event struct {
	Origin
	Title                string
	Description, Excerpt *string
	Slug                 string
	Status               *calendar.Status
	Published, Modified  *time.Time
	Span                 calendar.Span
	Cost                 *calendar.Cost
	Currency             Currency // how the source formats the cost; zero means unknown
	Website              *Website
	HasImage             bool // the source says whether there is an image
	Image                *Image

	ent.EventValues   // plain fields
	EventStatusReason *string

	// Page is the address of the event's page. "" means that the source sent none.
	Page string
	// GUID identifies the event in feeds of the source, and UID in its iCalendar files. "" means unknown.
	GUID, UID string

	HasVenues, HasOrganizers, HasCategories, HasTags bool // the source says which it has
	Venues                                           []*Venue
	Organizers                                       []*Organizer
	Terms                                            []*Term

	// Series is the recurrence of the event. Nil means a single event.
	Series *Recurrence
	// Protected reports whether the event needs a password at the source. Then the source shows only some of
	// its fields.
	Protected bool
	// InFile reports whether the event comes from an iCalendar file. Such a file has all dates of the event,
	// and identifies venues, organizers and categories by name only.
	InFile bool
	// Altered reports whether something of the event is left out or changed, which a notice says.
	Altered bool
	// Incomplete reports whether the file ends too early: something of the event may lack. A stored series keeps its dates.
	Incomplete bool
	// Replaces is the date of a series that this event replaces, if the source does not have the series itself.
	// Otherwise it is nil.
	Replaces *replacedDate
	// Nominal is the nominal start of a date of a series, as a wall time in the zone of the series.
	Nominal calendar.Wall
	// SeriesPage is the host and path of the page of the recurring event if this is one of its dates. "" means
	// another event.
	SeriesPage string
	// Edited is the row of a table that Almanac wrote, which names an event of this calendar. Otherwise it is nil.
	Edited *editedRow
}

// isAltered reports whether the reader left out or changed something of the event or of one of its dates.
func (e *Event) isAltered() bool {
	return e.Altered || e.Series != nil && slices.ContainsFunc(e.Series.Changed, func(o *Event) bool { return o.Altered })
}

// Recurrence describes when an event of the source recurs, and the dates that differ from the others.
type Recurrence struct {
	Schedule recur.Schedule
	// Changed are the dates that have fields of their own at the source. A date that differs from the series is
	// an exception.
	Changed []*Event
	// Single are the dates as separate events, from a source that has an id for each. Such a source may have
	// more dates than it sent.
	Single []*Event
	// Typical reports whether more than half of the single dates have the fields of the event. Only then do the
	// fields of a stored series change.
	Typical bool
	// Partial reports whether the source may have more dates than it sent. The import then removes no date and
	// no exception.
	Partial bool
}

// replacedDate identifies the date of a series for which an event of the source is the replacement. The source has only
// the replacement, not the series.
type replacedDate struct {
	series string // source id of the series
	date   icalDate
}

// Website is the web address of an event. If Own is true, the source sent its own page of the event. URL is then empty,
// and no website is stored.
type Website struct {
	URL string
	Own bool
}

// Named has the fields that venues and organizers of the source share. Fields that the source did not send are empty.
type Named struct {
	Origin
	Name, Description, Slug string
	Page                    string // address of its page
	Status                  *calendar.Status
	Published, Modified     *time.Time
	Phone, Website          string
	Image                   *Image
}

// Venue is a venue of the source. Fields that the source did not send are empty.
type Venue struct {
	Named
	Address, City, Country, Province, State, Zip string
	StateProvince                                string // "" means that it follows from Province, State and Country
	ShowMap, ShowMapLink                         bool
	Latitude, Longitude                          *float64 // degrees; both are set or both are nil
}

// Organizer is an organizer of the source. Fields that the source did not send are empty.
type Organizer struct {
	Named
	Email string
}

// Term is a category or tag of the source. Fields that the source did not send are empty.
type Term struct {
	Origin
	Kind                    calendar.Kind
	Name, Slug, Description string
	Parent                  string // source id of the parent; "" means the top level
	ParentURL               string // address of the parent; "" means that the source sent none
}

// Image is an image of the source, which may not be downloaded yet.
type Image struct {
	Origin
	URL           string
	Extension     string
	MIMEType      string
	Width, Height int   // pixels
	Filesize      int64 // bytes
	Sizes         map[string]calendar.ImageSize
}

func (e *Event) displayName() string { return e.Title }
func (n *Named) displayName() string { return n.Name }
func (t *Term) displayName() string  { return t.Name }
func (i *Image) displayName() string { return i.URL }

func (n *Named) named() *Named { return n }

// add appends the records of a page. It skips an event that an earlier page had, because the list changed
// between the requests.
func (c *Calendar) add(p *Page) {
	c.Problems = append(c.Problems, p.Problems...)
	c.Notices = append(c.Notices, p.Notices...)
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	for _, e := range p.Events {
		if !c.seen[e.Key] {
			c.seen[e.Key] = true
			c.Events = append(c.Events, e)
		}
	}
}
