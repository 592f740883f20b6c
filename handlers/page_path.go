package handlers

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// pagePath is a parsed address of a calendar page (contract, section 21). It can be compared by
// reflect.DeepEqual.
type pagePath struct {
	Language calendar.Language // language segment of the path; "" means that there is none
	View     pageView
	// Taxonomy is calendar.Category or calendar.Tag for the page of a term, else "". The View of such a page is a
	// list, month or day.
	Taxonomy calendar.Kind
	// Slugs are decoded but not normalised: a category after its ancestors, a tag, or a record.
	Slugs []string
	// Date is the first moment of the month or day in the path. Zero means the present month or day.
	Date     calendar.Wall
	Page     int // page number; 0 means the first page
	Featured bool
	Past     bool // the page shows past events; only for lists, venues, organizers and series
	Format   pageFormat
	ID       int64 // id of the record for viewRecord; no record has the id 0
	// Redirect is 301 or 302 if the address redirects to the one of this reading. 0 means no redirect.
	Redirect int
	ByQuery  bool // the query named the page, and the path of this reading replaces its parameters
}

// pageView names a kind of page.
type pageView string

// Views are the kinds of calendar pages. The page of a record has the name of its kind.
const (
	viewHome       pageView = "home"
	viewDevelopers pageView = "developers"
	viewDefault    pageView = "default" // view that the site has chosen for /events/
	viewList       pageView = "list"
	viewMonth      pageView = "month"
	viewDay        pageView = "day"
	// page of an event; with Date, that of an occurrence of a series (contract, section 19.4)
	viewEvent     pageView = "event"
	viewSeries    pageView = "series"
	viewVenue     pageView = "venue"
	viewOrganizer pageView = "organizer"
	viewRecord    pageView = "record" // /?p={id}: redirect to the page of a record
	viewNone      pageView = "none"   // a page that the query names and that does not exist
)

// pageFormat is the format in which a page is requested. All formats except formatHTML are feeds.
type pageFormat string

// Formats in which pages can be requested.
const (
	formatHTML    pageFormat = ""
	formatICal    pageFormat = "ical"
	formatOutlook pageFormat = "outlook-ical"
	formatRSS     pageFormat = "rss"
	formatAtom    pageFormat = "atom"
)

// Literal segments of the paths of pages.
const (
	segmentEvents   = "events"
	segmentCategory = "category"
	segmentTag      = "tag"
	segmentPage     = "page"
	segmentFeatured = "featured"
	segmentToday    = "today"
	segmentDay      = "day"
	segmentICal     = "ical"
	segmentFeed     = "feed"
)

// Query parameters that choose a page.
const (
	paramRecord  = "p"
	paramDisplay = "eventDisplay"
	// Older forms and forms of the page's bar.
	paramDisplayOld = "tribe_event_display"
	paramDate       = "eventDate"
	displayPast     = "past"
)

// recordViews maps the first segment of a path to its view. The slug of a record follows the segment.
var recordViews = map[string]pageView{
	"event": viewEvent, "series": viewSeries, "venue": viewVenue, "organizer": viewOrganizer,
}

// foreignViews are views of The Events Calendar that Almanac lacks. Their addresses redirect to the default view.
var foreignViews = []string{"week", "photo", "map", "summary"}

// feedFormats maps a segment after feed/ to its format.
var feedFormats = map[string]pageFormat{
	"rss": formatRSS, "rss2": formatRSS, "rdf": formatRSS, "atom": formatAtom,
}

// Range of years for the months and days of pages.
const (
	firstPageYear = 1000
	lastPageYear  = 9999
)

// longestPageTail is the largest number of segments after the slugs of a term: view, date, featured/, page/ and
// its number, feed/ and its format.
const longestPageTail = 7

// parsePagePath returns the possible readings of an address below the base URL, the preferred one first. It
// returns none if no page has the address. path is percent-encoded. Only the path of a category has several
// readings, since its last segments may be slugs or a view. The caller takes the first reading whose terms exist.
//
// A name in the path that the site does not have redirects to the one that it has.
func parsePagePath(path string, query url.Values, names pageNames) []pagePath {
	segments, ok := pageSegments(path)
	if !ok {
		return nil
	}
	base := pagePath{}
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
	if query.Has(paramFeed) && feedFormats[query.Get(paramFeed)] == "" && slices.ContainsFunc(readings, pagePath.isListing) {
		return []pagePath{{Language: base.Language, View: viewNone}} // a feed of a format that does not exist
	}
	return readings
}

// isListing reports whether the page is a list of events, with or without dates.
func (p pagePath) isListing() bool { return p.View == viewDefault || p.View == viewList }

// IsPagePath reports whether a path below the base URL begins like that of a page, and is not a feed. The page
// need not exist.
func (h *Handlers) IsPagePath(path string) bool {
	if _, isFeed := h.LocateFeed(path, ""); isFeed {
		return false
	}
	_, below := cutLanguage(path)
	first, _, _ := strings.Cut(strings.TrimPrefix(below, "/"), "/")
	first, err := url.PathUnescape(first)
	return err == nil && h.names.begin(first)
}

// Query parameters with which WordPress and The Events Calendar name a page, besides those of pagePath.
const (
	paramPostType = "post_type"
	paramName     = "name"
	paramFeed     = "feed"
	paramCategory = "tribe_events_cat"
	paramTag      = "tag"
	postTypeEvent = "tribe_events"
)

// recordParams maps the query parameters that name a record, which are also values of post_type, to the first segment of its
// path.
var recordParams = map[string]string{postTypeEvent: "event", "tribe_venue": "venue", "tribe_organizer": "organizer"}

// namedInPath returns the parameters that pathOfQuery replaces by a path. Several terms stay a filter.
func namedInPath(values map[string]any) []string {
	names := []string{paramPostType, paramName, postTypeEvent, "tribe_venue", "tribe_organizer"}
	for _, name := range []string{paramCategory, paramTag} {
		if !strings.Contains(sentText(values[name]), ",") {
			names = append(names, name)
		}
	}
	return names
}

// renamedParams maps parameters of The Events Calendar to those of Almanac. Those sent under their own name have precedence.
var renamedParams = [][2]string{
	{"tribe-bar-search", "search"}, {paramDate, "tribe-bar-date"}, {"tribe_paged", "page"}, {"paged", "page"}, {paramCategory, "categories"}, {paramTag, "tags"},
}

// renameParams renames the parameters of The Events Calendar that filter a page or feed. It returns a fault for a filter that
// Almanac lacks: without it, the page would show more than was asked for.
func renameParams(values map[string]any) *param.Fault {
	for _, names := range renamedParams {
		if sent, ok := values[names[0]]; ok {
			if values[names[1]] == nil {
				values[names[1]] = sent
			}
			delete(values, names[0])
		}
	}
	if values["tribe-bar-geoloc"] != nil {
		fault := *param.Bad()
		fault.Param = "tribe-bar-geoloc"
		return &fault
	}
	return nil
}

// pathOfQuery returns the path of a page that the query names, as in WordPress without pretty permalinks:
// /?tribe_events=jazz-night is /event/jazz-night/, and /events/list/?tribe_events_cat=jazz is
// /events/category/jazz/list/. It returns false if the path alone names the page.
func pathOfQuery(segments []string, query url.Values) (path []string, ok bool) {
	home := len(segments) == 0 || len(segments) == 1 && segments[0] == segmentFeed && query.Get(paramPostType) == postTypeEvent
	switch {
	case home && isDigits(query.Get(paramRecord)):
		return nil, false
	case home:
		for _, param := range []string{postTypeEvent, "tribe_venue", "tribe_organizer"} {
			if slug := query.Get(param); slug != "" {
				return withDay(recordParams[param], slug, query), true
			}
		}
		postType := query.Get(paramPostType)
		if slug := query.Get(paramName); slug != "" && recordParams[postType] != "" {
			return withDay(recordParams[postType], slug, query), true
		}
		switch {
		case postType == postTypeEvent, query.Get(paramCategory) != "", query.Has(paramFeed):
			path = []string{segmentEvents}
		case recordParams[postType] != "":
			return []string{string(viewNone)}, true // there is no list of venues or organizers
		default:
			return nil, false
		}
	case segments[0] != segmentEvents, len(segments) > 1 && (segments[1] == segmentCategory || segments[1] == segmentTag):
		return nil, false
	}
	rest := slices.Clone(segments)
	if !home {
		rest = rest[1:] // what follows /events/
	}
	for _, named := range [][2]string{{paramCategory, segmentCategory}, {paramTag, segmentTag}} {
		if slug := query.Get(named[0]); slug != "" && !strings.Contains(slug, ",") {
			return slices.Concat([]string{segmentEvents, named[1], slug}, rest), true
		}
	}
	if path == nil {
		return nil, false
	}
	return append(path, rest...), true
}

// withDay returns the path of a record, with the day of an occurrence if the query names one.
func withDay(first, slug string, query url.Values) []string {
	path := []string{first, calendar.DecodedSlug(slug)}
	if day := query.Get(paramDate); first == recordParams[postTypeEvent] && day != "" {
		path = append(path, day)
	}
	return path
}

// displayOf returns the view that a query names.
func displayOf(query url.Values) string {
	return cmp.Or(query.Get(paramDisplay), query.Get(paramDisplayOld))
}

// pageSegments splits a path into decoded segments. It ignores a trailing slash.
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

// readings returns the readings of a path. It uses only the parameter p of the query, and leaves the others to
// applyQuery.
func (p pagePath) readings(segments []string, query url.Values) []pagePath {
	if len(segments) == 0 {
		p.View = viewHome
		if id := query.Get(paramRecord); isDigits(id) {
			p.View = viewRecord
			if n, err := strconv.ParseInt(id, 10, 64); err == nil {
				p.ID = n
			}
		}
		return []pagePath{p}
	}
	first, rest := segments[0], segments[1:]
	switch {
	case first == segmentICal && len(rest) == 0:
		p.View, p.Format = viewHome, formatICal
		return []pagePath{p}
	case first == string(viewDevelopers) && len(rest) == 0:
		p.View = viewDevelopers
		return []pagePath{p}
	case p.Redirect != 0 && first == string(viewNone):
		return []pagePath{{Language: p.Language, View: viewNone}}
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
	return []pagePath{p}
}

// record parses the segments after the first one of the page of a record.
func (p pagePath) record(view pageView, rest []string) []pagePath {
	p.View, p.Slugs = view, rest[:1]
	t := pageTail(rest[1:])
	switch view {
	case viewEvent:
		if date, ok := pageDay(t.peek()); ok {
			p.Date, t = date, t[1:]
		}
	case viewVenue, viewOrganizer:
		if !t.page(&p) {
			return nil
		}
	}
	if t.take(segmentICal) {
		p.Format = formatICal
	}
	if len(t) > 0 {
		return nil
	}
	return []pagePath{p}
}

// term parses the segments after the taxonomy in the page of a term. At most most segments are slugs.
func (p pagePath) term(taxonomy calendar.Kind, rest []string, most int) []pagePath {
	var readings []pagePath
	for n := min(most, len(rest)); n > 0 && len(rest)-n <= longestPageTail; n-- {
		reading := p
		reading.Taxonomy, reading.Slugs = taxonomy, rest[:n:n]
		if reading.tail(rest[n:]) {
			readings = append(readings, reading)
		}
	}
	return readings
}

// tail parses the view and the segments after it. It returns false if they are not valid.
func (p *pagePath) tail(rest []string) bool {
	t, moved := pageTail(rest), false
	p.View = viewDefault
	switch name := t.peek(); {
	case slices.Contains(foreignViews, name):
		// Dates and page numbers of a view that does not exist here are ignored.
		p.Redirect = 302
		if p.Taxonomy != "" {
			p.View = viewList
		}
		return true
	case t.take(string(viewList)):
		p.View = viewList
	case t.take(string(viewMonth)):
		p.View = viewMonth
		if date, ok := pageMonth(t.peek()); ok {
			p.Date, t = date, t[1:]
			moved = p.Taxonomy != ""
		}
	case t.take(segmentToday):
		p.View = viewDay
	case t.take(segmentDay):
		p.View, moved = viewDay, true
		if date, ok := pageDay(t.peek()); ok {
			p.Date, t = date, t[1:]
		}
	default:
		if date, ok := pageMonth(name); ok {
			p.View, p.Date, t = viewMonth, date, t[1:]
			moved = p.Taxonomy == ""
		} else if date, ok := pageDay(name); ok {
			p.View, p.Date, t = viewDay, date, t[1:]
		}
	}
	p.Featured = t.take(segmentFeatured)
	if listing := p.View == viewDefault || p.View == viewList; listing && !t.page(p) || !t.format(p) || len(t) > 0 {
		return false
	}
	if moved {
		p.Redirect = 301
	}
	return true
}

// applyQuery applies the query parameters that choose a page.
func (p *pagePath) applyQuery(query url.Values) {
	if p.Redirect == 302 {
		return
	}
	listing := p.isListing()
	switch display := displayOf(query); {
	case display == displayPast && (listing || p.View == viewVenue || p.View == viewOrganizer || p.View == viewSeries):
		p.Past = true
		if listing {
			p.View = viewList
		}
	case listing && slices.Contains(foreignViews, display):
		p.Redirect = 302
		if p.Taxonomy != "" {
			p.View = viewList
		}
		return
	case p.View != viewDefault:
	case display == string(viewList), display == string(viewMonth), display == string(viewDay):
		p.View = pageView(display)
	case p.Taxonomy != "":
		p.View = viewList
	}
	switch {
	case p.View == viewDevelopers, p.View == viewNone, p.isFeed():
	case query.Has(paramFeed) && p.isListing():
		p.View, p.Format = viewList, feedFormats[query.Get(paramFeed)]
	case query.Get(string(formatOutlook)) == "1":
		p.Format = formatOutlook
	case query.Get(string(formatICal)) == "1":
		p.Format = formatICal
	}
	if p.Format != formatHTML {
		p.Redirect = 0 // feeds are answered without a redirect
	}
}

// withDefault returns a copy of p. If the view of p is viewDefault, the copy has the given view instead.
func (p pagePath) withDefault(view pageView) pagePath {
	if p.View == viewDefault {
		p.View = view
	}
	return p
}

// path returns the canonical path of the reading, below the base URL and percent-encoded. Parsing it with the
// parameters of params gives the same reading without Redirect.
func (p pagePath) path(paths *calendar.Paths) string {
	var b strings.Builder
	add := func(segments ...string) {
		for _, s := range segments {
			b.WriteString(escapeSegment(s))
			b.WriteByte('/')
		}
	}
	if p.Language != "" {
		b.WriteString("/" + string(p.Language))
	}
	switch p.View {
	case viewHome, viewRecord, viewNone:
		b.WriteByte('/')
	case viewDevelopers:
		b.WriteByte('/')
		add(string(viewDevelopers))
	case viewEvent, viewSeries, viewVenue, viewOrganizer:
		b.WriteString(paths.Of(calendar.Kind(p.View)))
		add(p.Slugs[0])
		if p.View == viewEvent && !p.Date.IsZero() {
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
	case formatHTML:
	case formatICal, formatOutlook:
		if p.View != viewRecord {
			add(segmentICal)
		}
	case formatRSS:
		add(segmentFeed)
	case formatAtom:
		add(segmentFeed, string(formatAtom))
	}
	return b.String()
}

// escapeSegment percent-encodes a segment of a path. Characters beyond ASCII are in lower case, as in stored slugs.
func escapeSegment(text string) string {
	parts := strings.Split(url.PathEscape(text), "%")
	for i, part := range parts[1:] {
		if part[0] >= '8' {
			parts[i+1] = strings.ToLower(part[:2]) + part[2:]
		}
	}
	return strings.Join(parts, "%")
}

// viewSegments returns the path segments of a view and its date. A term's page without them is a list.
func (p pagePath) viewSegments() []string {
	switch {
	case p.View == viewList && p.Taxonomy == "":
		return []string{string(viewList)}
	case p.View == viewMonth && p.Date.IsZero():
		return []string{string(viewMonth)}
	case p.View == viewMonth && p.Taxonomy == "":
		return []string{string(viewMonth), p.Date.Format("2006-01")}
	case p.View == viewMonth:
		return []string{p.Date.Format("2006-01")}
	case p.View == viewDay && p.Date.IsZero():
		return []string{segmentToday}
	case p.View == viewDay:
		return []string{p.Date.Format(time.DateOnly)}
	}
	return nil
}

// params returns the query parameters of the address besides the filters, such as p and eventDisplay.
func (p pagePath) params() url.Values {
	out := url.Values{}
	if p.View == viewRecord {
		out.Set(paramRecord, strconv.FormatInt(p.ID, 10))
		if p.Format == formatICal {
			out.Set(string(formatICal), "1")
		}
	}
	if p.View == viewNone {
		out.Set(paramFeed, string(viewNone))
	}
	if p.Past {
		out.Set(paramDisplay, displayPast)
	}
	if p.Format == formatOutlook {
		out.Set(string(formatOutlook), "1")
	}
	return out
}

// canonical returns the canonical reading of the page. view is the default view of the site, whose address is
// /events/.
func (p pagePath) canonical(view pageView) pagePath {
	if p.View == view && p.Taxonomy == "" && p.Date.IsZero() && p.Page == 0 && !p.Past && !p.isFeed() {
		p.View = viewDefault
	}
	p.Redirect = 0
	return p
}

// isFeed reports whether the address is that of an RSS or Atom feed, whose page is a list.
func (p pagePath) isFeed() bool { return p.Format == formatRSS || p.Format == formatAtom }

// pageTail has the segments at the end of a path that are not parsed yet.
type pageTail []string

// peek returns the next segment, or "" if there is none.
func (t pageTail) peek() string {
	if len(t) == 0 {
		return ""
	}
	return t[0]
}

// take removes the next segment if it is the literal, and reports whether it was.
func (t *pageTail) take(literal string) bool {
	if t.peek() != literal {
		return false
	}
	*t = (*t)[1:]
	return true
}

// page parses page/{n}/ if the path has it. It returns false if that is not valid. Only the paths of lists, venues
// and organizers may have it.
func (t *pageTail) page(p *pagePath) bool {
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
	if p.View == viewDefault {
		p.View = viewList
	}
	return true
}

// format parses ical/ or feed/ with what may follow, if the path has it. featured/ may precede or follow ical/.
func (t *pageTail) format(p *pagePath) bool {
	switch {
	case t.take(segmentICal):
		p.Format = formatICal
		p.Featured = t.take(segmentFeatured) || p.Featured
	case t.take(segmentFeed):
		if p.View != viewDefault && p.View != viewList {
			return false
		}
		p.View, p.Format = viewList, formatRSS
		if len(*t) > 0 {
			p.Format = feedFormats[t.peek()]
			*t = (*t)[1:]
		}
		return p.Format != formatHTML
	}
	return true
}

// pageMonth parses a month such as 2026-12. It returns the first day of that month.
func pageMonth(text string) (calendar.Wall, bool) { return pageDate("2006-01", text) }

// pageDay parses a day such as 2026-12-05.
func pageDay(text string) (calendar.Wall, bool) { return pageDate(time.DateOnly, text) }

func pageDate(layout, text string) (calendar.Wall, bool) {
	day, err := time.Parse(layout, text)
	if err != nil || day.Year() < firstPageYear || day.Year() > lastPageYear {
		return calendar.Wall{}, false
	}
	return calendar.WallOf(day), true
}

// longestPageNumber is the largest number of digits of a page number. Longer numbers are not valid.
const longestPageNumber = 9

// pageNumber parses a page number, which is at least 1.
func pageNumber(text string) (int, bool) {
	if !isDigits(text) || len(text) > longestPageNumber {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
