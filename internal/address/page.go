// Package address knows the addresses of calendar pages (contract, section 21).
package address

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// ErrNoPage is the error for a page that does not exist or that the visitor may not know of.
var ErrNoPage = &calendar.Error{Code: "rest_no_route", Key: "rest_no_route"}

// Page is a parsed address of a calendar page (contract, section 21). It can be compared by
// reflect.DeepEqual.
type Page struct {
	Language calendar.Language // language segment of the path; "" means that there is none
	View     View
	// Taxonomy is calendar.Category or calendar.Tag for the page of a term, else "". The View of such a page is a
	// list, month or day.
	Taxonomy calendar.Kind
	// Slugs are decoded but not normalised: a category after its ancestors, a tag, or a record.
	Slugs []string
	// Date is the first moment of the month or day in the path. Zero means the present month or day.
	Date     calendar.Wall
	Page     int // page number; 0 means the first page
	Featured bool
	Past     bool // true if the page shows past events; only for lists, venues, organizers and series
	Format   Format
	ID       int64 // id of the record for ViewRecord; no record has the id 0
	// Redirect is 301 or 302 if the parsed address redirects to the page's canonical one. 0 means no redirect.
	Redirect int
	ByQuery  bool // true if the query named the page; the canonical path replaces its parameters
}

// View names a kind of page.
type View string

// Views are the kinds of calendar pages. The page of a record has the name of its kind.
const (
	ViewHome       View = "home"
	ViewDevelopers View = "developers"
	ViewDefault    View = "default" // view that the site has chosen for /events/
	ViewList       View = "list"
	ViewMonth      View = "month"
	ViewDay        View = "day"
	// page of an event; with Date, that of an occurrence of a series (contract, section 19.4)
	ViewEvent     View = "event"
	ViewSeries    View = "series"
	ViewVenue     View = "venue"
	ViewOrganizer View = "organizer"
	ViewRecord    View = "record" // /?p={id}: redirect to the page of a record
	ViewNone      View = "none"   // a page that the query names and that does not exist
)

// Format is the format in which a page is requested. All formats except FormatHTML are feeds.
type Format string

// FormatHTML to FormatAtom are the formats in which pages can be requested.
const (
	FormatHTML    Format = ""
	FormatICal    Format = "ical"
	FormatOutlook Format = "outlook-ical"
	FormatRSS     Format = "rss"
	FormatAtom    Format = "atom"
)

// segmentEvents to SegmentFeed are literal segments in page paths.
const (
	segmentEvents   = "events"
	segmentCategory = "category"
	segmentTag      = "tag"
	segmentPage     = "page"
	segmentFeatured = "featured"
	segmentToday    = "today"
	segmentDay      = "day"
	SegmentICal     = "ical"
	SegmentFeed     = "feed"
)

// isListing reports whether the page is a list of events, with or without dates.
func (p Page) isListing() bool { return p.View == ViewDefault || p.View == ViewList }

// WithDefault returns a copy of p. If the view of p is ViewDefault, the copy has the given view instead.
func (p Page) WithDefault(view View) Page {
	if p.View == ViewDefault {
		p.View = view
	}
	return p
}

// Path returns the canonical path of the page, below the base URL and percent-encoded. Parse returns the same page
// for this path with the query of Params, without Redirect.
func (p Page) Path(paths *calendar.Paths) string {
	var b strings.Builder
	add := func(segments ...string) {
		for _, s := range segments {
			b.WriteString(EscapeSegment(s))
			b.WriteByte('/')
		}
	}
	if p.Language != "" {
		b.WriteString("/" + string(p.Language))
	}
	switch p.View {
	case ViewHome, ViewRecord, ViewNone:
		b.WriteByte('/')
	case ViewDevelopers:
		b.WriteByte('/')
		add(string(ViewDevelopers))
	case ViewEvent, ViewSeries, ViewVenue, ViewOrganizer:
		b.WriteString(paths.Of(calendar.Kind(p.View)))
		add(p.Slugs[0])
		if p.View == ViewEvent && !p.Date.IsZero() {
			add(p.Date.Format(time.DateOnly))
		}
	default:
		if p.Taxonomy != "" {
			b.WriteString(paths.Of(p.Taxonomy))
		} else {
			b.WriteString(paths.List())
		}
		add(p.Slugs...)
		add(p.viewSegments()...)
	}
	if p.Featured {
		add(segmentFeatured)
	}
	if p.Page > 0 {
		add(segmentPage, strconv.Itoa(p.Page))
	}
	switch p.Format {
	case FormatHTML:
	case FormatICal, FormatOutlook:
		if p.View != ViewRecord {
			add(SegmentICal)
		}
	case FormatRSS:
		add(SegmentFeed)
	case FormatAtom:
		add(SegmentFeed, string(FormatAtom))
	}
	return b.String()
}

// EscapeSegment percent-encodes a segment of a path. Characters beyond ASCII are in lower case, as in stored slugs.
func EscapeSegment(text string) string {
	parts := strings.Split(url.PathEscape(text), "%")
	for i, part := range parts[1:] {
		if part[0] >= '8' {
			parts[i+1] = strings.ToLower(part[:2]) + part[2:]
		}
	}
	return strings.Join(parts, "%")
}

// viewSegments returns the path segments for the view and date of the page. On the page of a term, no such segments
// mean a list.
func (p Page) viewSegments() []string {
	switch {
	case p.View == ViewList && p.Taxonomy == "":
		return []string{string(ViewList)}
	case p.View == ViewMonth && p.Date.IsZero():
		return []string{string(ViewMonth)}
	case p.View == ViewMonth && p.Taxonomy == "":
		return []string{string(ViewMonth), p.Date.Format("2006-01")}
	case p.View == ViewMonth:
		return []string{p.Date.Format("2006-01")}
	case p.View == ViewDay && p.Date.IsZero():
		return []string{segmentToday}
	case p.View == ViewDay:
		return []string{p.Date.Format(time.DateOnly)}
	}
	return nil
}

// Params returns the query parameters of the address besides the filters, such as p and eventDisplay.
func (p Page) Params() url.Values {
	out := url.Values{}
	if p.View == ViewRecord {
		out.Set(ParamRecord, strconv.FormatInt(p.ID, 10))
		if p.Format == FormatICal {
			out.Set(string(FormatICal), "1")
		}
	}
	if p.View == ViewNone {
		out.Set(ParamFeed, string(ViewNone))
	}
	if p.Past {
		out.Set(ParamDisplay, DisplayPast)
	}
	if p.Format == FormatOutlook {
		out.Set(string(FormatOutlook), "1")
	}
	return out
}

// Canonical returns the page with the form of its canonical address. The parameter view is the default view of the
// site, whose address is /events/.
func (p Page) Canonical(view View) Page {
	if p.View == view && p.Taxonomy == "" && p.Date.IsZero() && p.Page == 0 && !p.Past && !p.IsFeed() {
		p.View = ViewDefault
	}
	p.Redirect = 0
	return p
}

// IsFeed reports whether the address is that of an RSS or Atom feed. The page of such a feed is a list.
func (p Page) IsFeed() bool { return p.Format == FormatRSS || p.Format == FormatAtom }
