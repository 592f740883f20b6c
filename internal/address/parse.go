package address

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// recordViews maps the first segment of a path to its view. The slug of a record follows the segment.
var recordViews = map[string]View{
	"event": ViewEvent, "series": ViewSeries, "venue": ViewVenue, "organizer": ViewOrganizer,
}

// foreignViews are views of The Events Calendar that Almanac lacks. Their addresses redirect to the default view.
var foreignViews = []string{"week", "photo", "map", "summary"}

// feedFormats maps a segment after feed/ to its format.
var feedFormats = map[string]Format{
	"rss": FormatRSS, "rss2": FormatRSS, "rdf": FormatRSS, "atom": FormatAtom,
}

// FirstYear and LastYear limit the months and days of pages.
const (
	FirstYear = 1000
	LastYear  = 9999
)

// longestPageTail is the largest number of segments after the slugs of a term: view, date, featured/, page/ and
// its number, feed/ and its format.
const longestPageTail = 7

// Parse returns the pages that an address below the base URL can mean, the preferred one first. It returns none if
// no page has the address. The path is percent-encoded. Only paths of categories can mean several pages, since
// their last segments may be slugs or a view. The caller takes the first page whose terms exist.
//
// A page redirects if its path contains a name that the site has replaced by another.
func Parse(path string, query url.Values, names Names) []Page {
	segments, ok := pageSegments(path)
	if !ok {
		return nil
	}
	base := Page{}
	if len(segments) > 0 && calendar.Language(segments[0]).Known() {
		base.Language, segments = calendar.Language(segments[0]), segments[1:]
	}
	if names.resolve(segments) {
		base.Redirect = 301
	}
	named, ok := pathOfQuery(segments, query)
	if ok {
		segments, base.Redirect, base.ByQuery = named, 301, true
	}
	readings := base.readings(segments, query)
	if ok && len(segments) > 2 && segments[1] == segmentCategory {
		readings = base.term(calendar.Category, segments[2:], 1) // the query has the slug without its ancestors
	}
	for i := range readings {
		readings[i].applyQuery(query)
	}
	if query.Has(ParamFeed) && feedFormats[query.Get(ParamFeed)] == "" && slices.ContainsFunc(readings, Page.isListing) {
		return []Page{{Language: base.Language, View: ViewNone}} // a feed of a format that does not exist
	}
	return readings
}

// CutLanguage splits a path into its leading language and the rest. If the path does not begin with a language,
// the result segment is "", and below is the whole path.
func CutLanguage(path string) (segment, below string) {
	const end = len("/pl")
	if len(path) < end || path[0] != '/' || len(path) > end && path[end] != '/' || !calendar.Language(path[1:end]).Known() {
		return "", path
	}
	return path[:end], path[end:]
}

// pageSegments splits a path into decoded segments. It ignores a trailing slash. The result ok is false if a
// segment is not valid.
func pageSegments(path string) (segments []string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, false
	}
	if rest == "" {
		return nil, true
	}
	segments = strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		if err != nil || text == "" {
			return nil, false
		}
		segments[i] = text
	}
	return segments, true
}

// readings returns the pages that a path can mean, the preferred one first. Nil means none. It uses only the
// parameter p of the query. The method applyQuery applies the others.
func (p Page) readings(segments []string, query url.Values) []Page {
	if len(segments) == 0 {
		p.View = ViewHome
		if id := query.Get(ParamRecord); isDigits(id) {
			p.View = ViewRecord
			if n, err := strconv.ParseInt(id, 10, 64); err == nil {
				p.ID = n
			}
		}
		return []Page{p}
	}
	first, rest := segments[0], segments[1:]
	switch {
	case first == SegmentICal && len(rest) == 0:
		p.View, p.Format = ViewHome, FormatICal
		return []Page{p}
	case first == string(ViewDevelopers) && len(rest) == 0:
		p.View = ViewDevelopers
		return []Page{p}
	case p.Redirect != 0 && first == string(ViewNone):
		return []Page{{Language: p.Language, View: ViewNone}}
	case recordViews[first] != "" && len(rest) > 0:
		return p.record(recordViews[first], rest)
	case first == segmentTag && len(rest) > 0:
		return p.term(calendar.Tag, rest, 1)
	case first != segmentEvents:
		return nil
	case len(rest) > 1 && rest[0] == segmentCategory:
		return p.term(calendar.Category, rest[1:], len(rest)-1)
	case len(rest) > 1 && rest[0] == segmentTag:
		return p.term(calendar.Tag, rest[1:], 1)
	}
	if !p.tail(rest) {
		return nil
	}
	return []Page{p}
}

// record parses the path of the page of a record, such as an event. The parameter rest has the segments after the
// first one.
func (p Page) record(view View, rest []string) []Page {
	p.View, p.Slugs = view, rest[:1]
	t := tail(rest[1:])
	switch view {
	case ViewEvent:
		if date, ok := ParseDay(t.peek()); ok {
			p.Date, t = date, t[1:]
		}
	case ViewVenue, ViewOrganizer:
		if !t.number(&p) {
			return nil
		}
	}
	if t.take(SegmentICal) {
		p.Format = FormatICal
	}
	if len(t) > 0 {
		return nil
	}
	return []Page{p}
}

// term parses the path of the page of a category or tag. The parameter rest has the segments after the
// taxonomy. The number most is the largest number of slugs among them.
func (p Page) term(taxonomy calendar.Kind, rest []string, most int) []Page {
	var readings []Page
	for n := min(most, len(rest)); n > 0 && len(rest)-n <= longestPageTail; n-- {
		reading := p
		reading.Taxonomy, reading.Slugs = taxonomy, rest[:n:n]
		if reading.tail(rest[n:]) {
			readings = append(readings, reading)
		}
	}
	return readings
}

// tail parses a view and the segments that may follow it. It returns false if the segments are not valid.
func (p *Page) tail(rest []string) bool {
	t, moved := tail(rest), false
	p.View = ViewDefault
	switch name := t.peek(); {
	case slices.Contains(foreignViews, name):
		// Dates and page numbers of a view that does not exist here are ignored.
		p.Redirect = 302
		if p.Taxonomy != "" {
			p.View = ViewList
		}
		return true
	case t.take(string(ViewList)):
		p.View = ViewList
	case t.take(string(ViewMonth)):
		p.View = ViewMonth
		if date, ok := ParseMonth(t.peek()); ok {
			p.Date, t = date, t[1:]
			moved = p.Taxonomy != ""
		}
	case t.take(segmentToday):
		p.View = ViewDay
	case t.take(segmentDay):
		p.View, moved = ViewDay, true
		if date, ok := ParseDay(t.peek()); ok {
			p.Date, t = date, t[1:]
		}
	default:
		if date, ok := ParseMonth(name); ok {
			p.View, p.Date, t = ViewMonth, date, t[1:]
			moved = p.Taxonomy == ""
		} else if date, ok := ParseDay(name); ok {
			p.View, p.Date, t = ViewDay, date, t[1:]
		}
	}
	p.Featured = t.take(segmentFeatured)
	if listing := p.View == ViewDefault || p.View == ViewList; listing && !t.number(p) || !t.format(p) || len(t) > 0 {
		return false
	}
	if moved {
		p.Redirect = 301
	}
	return true
}

// tail is the end of a path: the segments that are not parsed yet.
type tail []string

// peek returns the next segment, or "" if there is none.
func (t tail) peek() string {
	if len(t) == 0 {
		return ""
	}
	return t[0]
}

// take removes the next segment if it equals literal, and reports whether it did.
func (t *tail) take(literal string) bool {
	if t.peek() != literal {
		return false
	}
	*t = (*t)[1:]
	return true
}

// number parses page/{n}/ if it comes next, and sets the page number. It returns false if n is not valid. Only
// paths of lists, venues and organizers may have it.
func (t *tail) number(p *Page) bool {
	if !t.take(segmentPage) {
		return true
	}
	n, ok := pageNumber(t.peek())
	if !ok {
		return false
	}
	if *t = (*t)[1:]; n > 1 {
		p.Page = n
	}
	if p.View == ViewDefault {
		p.View = ViewList
	}
	return true
}

// format parses ical/ or feed/ and the segments that may follow, if they come next, and sets the format. The
// segment featured/ may precede or follow ical/.
func (t *tail) format(p *Page) bool {
	switch {
	case t.take(SegmentICal):
		p.Format = FormatICal
		p.Featured = t.take(segmentFeatured) || p.Featured
	case t.take(SegmentFeed):
		if p.View != ViewDefault && p.View != ViewList {
			return false
		}
		p.View, p.Format = ViewList, FormatRSS
		if len(*t) > 0 {
			p.Format = feedFormats[t.peek()]
			*t = (*t)[1:]
		}
		return p.Format != FormatHTML
	}
	return true
}

// ParseMonth parses a month such as 2026-12. It returns the first day of that month, or false if the text is
// not a month.
func ParseMonth(text string) (calendar.Wall, bool) { return ParseDate("2006-01", text) }

// ParseDay parses a day such as 2026-12-05. It returns false if the text is not a day.
func ParseDay(text string) (calendar.Wall, bool) { return ParseDate(time.DateOnly, text) }

// ParseDate parses a date in a layout of package time. It returns false if the text is not a date with a year
// of four digits.
func ParseDate(layout, text string) (calendar.Wall, bool) {
	day, err := time.Parse(layout, text)
	if err != nil || day.Year() < FirstYear || day.Year() > LastYear {
		return calendar.Wall{}, false
	}
	return calendar.WallOf(day), true
}

// longestPageNumber is the largest number of digits of a page number. Longer numbers are not valid.
const longestPageNumber = 9

// pageNumber parses a page number, which is at least 1. It returns false for any other text.
func pageNumber(text string) (int, bool) {
	if !isDigits(text) || len(text) > longestPageNumber {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
