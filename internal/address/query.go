package address

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// ParamRecord, ParamDisplay, paramDisplayOld and paramDate are query parameters that choose a page. DisplayPast
// is a value of ParamDisplay.
const (
	ParamRecord  = "p"
	ParamDisplay = "eventDisplay"
	// paramDisplayOld and paramDate are names from older versions and from the search bar of pages.
	paramDisplayOld = "tribe_event_display"
	paramDate       = "eventDate"
	DisplayPast     = "past"
)

// ParamPostType to paramTag are query parameters with which WordPress and The Events Calendar name a page. The
// constant postTypeEvent is a value of ParamPostType.
const (
	ParamPostType = "post_type"
	paramName     = "name"
	ParamFeed     = "feed"
	paramCategory = "tribe_events_cat"
	paramTag      = "tag"
	postTypeEvent = "tribe_events"
)

// recordParams maps the query parameters that name a record, which are also values of post_type, to the first segment of its
// path.
var recordParams = map[string]string{postTypeEvent: "event", "tribe_venue": "venue", "tribe_organizer": "organizer"}

// ParamsInPath returns the names of the parameters that pathOfQuery replaces by a path. They need not be in values.
// A filter by several terms in values is not among them.
func ParamsInPath(values map[string]any) []string {
	names := []string{ParamPostType, paramName, postTypeEvent, "tribe_venue", "tribe_organizer"}
	for _, name := range []string{paramCategory, paramTag} {
		if !strings.Contains(param.SentText(values[name]), ",") {
			names = append(names, name)
		}
	}
	return names
}

// renamedParams maps parameters of The Events Calendar to those of Almanac. Those sent under their own name have precedence.
var renamedParams = [][2]string{
	{"tribe-bar-search", "search"}, {paramDate, "tribe-bar-date"}, {"tribe_paged", "page"}, {"paged", "page"}, {paramCategory, "categories"}, {paramTag, "tags"},
}

// RenameParams renames the parameters of The Events Calendar that filter a page or feed. It returns a fault for a filter that
// Almanac lacks: without it, the page would show more than was asked for.
func RenameParams(values map[string]any) *param.Fault {
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
	home := len(segments) == 0 || len(segments) == 1 && segments[0] == SegmentFeed && query.Get(ParamPostType) == postTypeEvent
	switch {
	case home && isDigits(query.Get(ParamRecord)):
		return nil, false
	case home:
		for _, param := range []string{postTypeEvent, "tribe_venue", "tribe_organizer"} {
			if slug := query.Get(param); slug != "" {
				return withDay(recordParams[param], slug, query), true
			}
		}
		postType := query.Get(ParamPostType)
		if slug := query.Get(paramName); slug != "" && recordParams[postType] != "" {
			return withDay(recordParams[postType], slug, query), true
		}
		switch {
		case postType == postTypeEvent, query.Get(paramCategory) != "", query.Has(ParamFeed):
			path = []string{segmentEvents}
		case recordParams[postType] != "":
			return []string{string(ViewNone)}, true // there is no list of venues or organizers
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

// displayOf returns the view that a query names, "" for none.
func displayOf(query url.Values) string {
	return cmp.Or(query.Get(ParamDisplay), query.Get(paramDisplayOld))
}

// applyQuery applies the query parameters that choose a page.
func (p *Page) applyQuery(query url.Values) {
	if p.Redirect == 302 {
		return
	}
	listing := p.isListing()
	switch display := displayOf(query); {
	case display == DisplayPast && (listing || p.View == ViewVenue || p.View == ViewOrganizer || p.View == ViewSeries):
		p.Past = true
		if listing {
			p.View = ViewList
		}
	case listing && slices.Contains(foreignViews, display):
		p.Redirect = 302
		if p.Taxonomy != "" {
			p.View = ViewList
		}
		return
	case p.View != ViewDefault:
	case display == string(ViewList), display == string(ViewMonth), display == string(ViewDay):
		p.View = View(display)
	case p.Taxonomy != "":
		p.View = ViewList
	}
	switch {
	case p.View == ViewDevelopers, p.View == ViewNone, p.IsFeed():
	case query.Has(ParamFeed) && p.isListing():
		p.View, p.Format = ViewList, feedFormats[query.Get(ParamFeed)]
	case query.Get(string(FormatOutlook)) == "1":
		p.Format = FormatOutlook
	case query.Get(string(FormatICal)) == "1":
		p.Format = FormatICal
	}
	if p.Format != FormatHTML {
		p.Redirect = 0 // feeds are answered without a redirect
	}
}
