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
	// Parents are ancestors of categories, read one by one because no list or event of the source has them.
	Parents []*Term
	// Terms, Venues and Organizers come from the source's own lists of them. Events can link to further records.
	Terms      []*Term
	Venues     []*Venue
	Organizers []*Organizer
	Problems   []Problem
	Notices    []string
	// Gone are the source ids of events whose dates are all excluded or canceled at the source. The import moves
	// them to the trash.
	Gone []string
	// Paths maps event, events, venue, organizer, category and tag to their path segment on a WordPress site. It has
	// only those that differ from Almanac's. Letters beyond ASCII are percent-encoded in lower case.
	Paths map[string]string
	// Site has what the source says about itself. Nil means that the source is not a WordPress site.
	Site *SourceSite

	seen map[string]bool // source ids of the events read so far
}

// CommonZone returns the time zone that more than half of the events have, or false if there is none. It never
// returns UTC, because many programs write all times in UTC.
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
	// NameOnly is true if the source knows little more than the name of a record. The import then does not change an
	// existing record.
	NameOnly bool

	// Removed counts the videos, scripts and other elements that sanitising removed from the record's descriptions.
	Removed markup.Removed
	// Number is the numeric id at the source, which the new record keeps. 0 means that there is none to keep.
	Number int64
	// Here is the id of an existing record of this calendar, if an imported table names it. 0 means unknown.
	Here int64
	// BySlug is true if the name of a term may be a slug of this calendar.
	BySlug bool
}

func (o *Origin) source() *Origin { return o }

// Event is an event read from the source. Optional fields that the source did not send are nil or empty.
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
	HasImage             bool // whether the source sent an image, or that there is none
	Image                *Image

	ent.EventValues   // plain fields
	EventStatusReason *string

	// Page is the URL of the event's page. "" means that the source sent none.
	Page string
	// GUID identifies the event in feeds of the source, and UID in its iCalendar files. "" means unknown.
	GUID, UID string

	HasVenues, HasOrganizers, HasCategories, HasTags bool // whether the source sent such links, or that there are none
	Venues                                           []*Venue
	Organizers                                       []*Organizer
	Terms                                            []*Term

	// Series is the recurrence of the event. Nil means a single event.
	Series *Recurrence
	// Protected is true if the event needs a password at the source. The source then sends only some of its fields.
	Protected bool
	// InFile is true if the event comes from an iCalendar file or a table. Such a file has all dates of the event, and
	// usually identifies venues, organizers and categories by name only.
	InFile bool
	// Altered is true if the reader left out or changed a part of the event. A notice says which.
	Altered bool
	// Incomplete is true if the file ends too early, so that parts of the event may be missing. A stored series then
	// keeps its dates.
	Incomplete bool
	// Replaces is the date of a series that this event replaces, if the source does not have the series itself. Nil
	// means none.
	Replaces *replacedDate
	// Nominal is the start that the schedule gives to this date of a series, even if the date was moved. It is a
	// wall time in the series' zone.
	Nominal calendar.Wall
	// SeriesPage is the host and path of the recurring event's page, if this event is one of its dates. "" means
	// that it is none.
	SeriesPage string
	// Edited is the row of an exported table that changes an existing event. Nil means that the event does not come
	// from such a table.
	Edited *editedRow
}

// isAltered reports whether the reader left out or changed something of the event or of one of its dates.
func (e *Event) isAltered() bool {
	return e.Altered || e.Series != nil && slices.ContainsFunc(e.Series.Changed, func(o *Event) bool { return o.Altered })
}

// Recurrence describes when an event of the source recurs, and the dates that differ from the others.
type Recurrence struct {
	Schedule recur.Schedule
	// Changed are the dates for which the source has fields of their own. The import stores a date that differs from
	// the series as an exception.
	Changed []*Event
	// Single are the dates as separate events, if the source has an id for each. The source may have more dates than
	// it sent.
	Single []*Event
	// Typical is true if more than half of Single have the event's own fields. Otherwise the fields of a stored
	// series do not change.
	Typical bool
	// Partial is true if the source may have more dates than it sent. The import then removes no date and no
	// exception.
	Partial bool
}

// replacedDate identifies one date of a series that is not in the source. The source has only the event that
// replaces the date.
type replacedDate struct {
	series string // source id of the series
	date   icalDate
}

// Website is the web address of an event. Own is true if the source sent the URL of its own event page instead. URL
// is then "", and the import stores no website.
type Website struct {
	URL string
	Own bool
}

// Named has the fields that venues and organizers of the source share. Fields that the source did not send are empty.
type Named struct {
	Origin
	Name, Description, Slug string
	Page                    string // URL of its page at the source
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
	ParentURL               string // URL of the parent's page; "" means that the source sent none
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

// add appends a page's events, problems and notices. It skips an event that an earlier page had, because the list
// changed between the requests.
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
