package address

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/settings"
)

// programNames are the names of a site that has none of its own.
var programNames = NewNames(calendar.Paths{}, nil)

// describePage returns a parsed page in words, such as "302 month 2026-12-01 category:music/jazz featured page=2
// past ical".
func describePage(p Page) string {
	var words []string
	if p.Redirect != 0 {
		words = append(words, strconv.Itoa(p.Redirect))
	}
	words = append(words, string(p.View))
	if !p.Date.IsZero() {
		words = append(words, p.Date.Format("2006-01-02"))
	}
	if len(p.Slugs) > 0 {
		words = append(words, string(p.Taxonomy)+":"+strings.Join(p.Slugs, "/"))
	}
	if p.View == ViewRecord {
		words = append(words, strconv.FormatInt(p.ID, 10))
	}
	if p.Featured {
		words = append(words, "featured")
	}
	if p.Page != 0 {
		words = append(words, "page="+strconv.Itoa(p.Page))
	}
	if p.Past {
		words = append(words, "past")
	}
	if p.Format != FormatHTML {
		words = append(words, string(p.Format))
	}
	return strings.Join(words, " ")
}

// addressOf returns the canonical address of a parsed page.
func addressOf(p Page) string {
	if params := p.Params().Encode(); params != "" {
		return p.Path(&calendar.Paths{}) + "?" + params
	}
	return p.Path(&calendar.Paths{})
}

// splitAddress cuts an address into its path and its parameters.
func splitAddress(t *testing.T, address string) (string, url.Values) {
	t.Helper()
	path, text, _ := strings.Cut(address, "?")
	query, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return path, query
}

// pageForm is a test case for Parse. It expects that describePage describes the preferred page of address as want.
// The canonical address of that page is leads, or address if leads is "".
type pageForm struct{ address, want, leads string }

// TestPagePathsAreRead parses each pageForm with and without a language, and with and without a slash at the end.
func TestPagePathsAreRead(t *testing.T) {
	t.Parallel()
	forms := []pageForm{
		{"/", "home", ""},
		{"/ical/", "home ical", ""},
		{"/?ical=1", "home ical", "/ical/"},
		{"/?outlook-ical=1", "home outlook-ical", "/ical/?outlook-ical=1"},
		{"/?ical=0", "home", "/"},
		{"/?p=12", "record 12", ""},
		{"/?p=12&ical=1", "record 12 ical", "/?ical=1&p=12"},
		{"/?p=99999999999999999999", "record 0", "/?p=0"},
		{"/?p=jazz", "home", "/"},
		{"/?p=-1", "home", "/"},
		{"/developers/", "developers", ""},
		{"/developers/?ical=1", "developers", "/developers/"},

		{"/events/", "default", ""},
		{"/events/?eventDisplay=list", "list", "/events/list/"},
		{"/events/?eventDisplay=month", "month", "/events/month/"},
		{"/events/?eventDisplay=day", "day", "/events/today/"},
		{"/events/?eventDisplay=past", "list past", "/events/list/?eventDisplay=past"},
		{"/events/?eventDisplay=week", "302 default", "/events/"},
		{"/events/?p=12", "default", "/events/"},
		{"/events/page/2/", "list page=2", "/events/list/page/2/"},
		{"/events/page/1/", "list", "/events/list/"},
		{"/events/page/2/?eventDisplay=past", "list page=2 past", "/events/list/page/2/?eventDisplay=past"},
		{"/events/list/?eventDisplay=month", "list", "/events/list/"},
		{"/events/list/page/007/", "list page=7", "/events/list/page/7/"},
		{"/events/month/?eventDisplay=past", "month", "/events/month/"},
		{"/events/month/2026-12/", "month 2026-12-01", ""},
		{"/events/month/1000-01/", "month 1000-01-01", ""},
		{"/events/month/9999-12/", "month 9999-12-01", ""},
		{"/events/2024-02-29/", "day 2024-02-29", ""},
		{"/events/2026-12/", "301 month 2026-12-01", "/events/month/2026-12/"},
		{"/events/2026-12/featured/", "301 month 2026-12-01 featured", "/events/month/2026-12/featured/"},
		{"/events/2026-12/ical/", "month 2026-12-01 ical", "/events/month/2026-12/ical/"},
		{"/events/2026-12/?ical=1", "month 2026-12-01 ical", "/events/month/2026-12/ical/"},
		{"/events/day/2026-12-05/", "301 day 2026-12-05", "/events/2026-12-05/"},
		{"/events/day/2026-12-05/featured/", "301 day 2026-12-05 featured", "/events/2026-12-05/featured/"},
		{"/events/day/", "301 day", "/events/today/"},
		{"/events/2026-12-05/ical/featured/", "day 2026-12-05 featured ical", "/events/2026-12-05/featured/ical/"},
		{"/events/week/", "302 default", "/events/"},
		{"/events/week/2026-12-05/", "302 default", "/events/"},
		{"/events/photo/page/3/", "302 default", "/events/"},
		{"/events/map/?ical=1", "302 default", "/events/"},
		{"/events/summary/2026-12/", "302 default", "/events/"},
		{"/events/summary/?eventDisplay=past", "302 default", "/events/"},
		{"/events/list/feed/", "list rss", ""},
		{"/events/feed/rss/", "list rss", "/events/list/feed/"},
		{"/events/feed/rss2/", "list rss", "/events/list/feed/"},
		{"/events/feed/rdf/", "list rss", "/events/list/feed/"},
		{"/events/feed/atom/", "list atom", "/events/list/feed/atom/"},
		{"/events/feed/?ical=1", "list rss", "/events/list/feed/"},

		{"/events/?feed=rss2", "list rss", "/events/list/feed/"},
		{"/events/list/?feed=atom", "list atom", "/events/list/feed/atom/"},
		{"/events/month/?feed=rss2", "month", "/events/month/"},
		{"/events/?tribe_event_display=past&tribe_paged=2", "list past", "/events/list/?eventDisplay=past"},
		{"/events/list/?tribe_events_cat=jazz", "301 list category:jazz", "/events/category/jazz/"},
		{"/events/month/2026-12/?tribe_events_cat=jazz", "301 month 2026-12-01 category:jazz", "/events/category/jazz/2026-12/"},
		{"/events/list/?tribe_events_cat=jazz,film", "list", "/events/list/"},
		{"/events/category/film/?tribe_events_cat=jazz", "list category:film", "/events/category/film/"},

		{"/?post_type=tribe_events", "301 default", "/events/"},
		{"/?post_type=tribe_events&ical=1&eventDisplay=list", "list ical", "/events/list/ical/"},
		{"/?post_type=tribe_events&tribe_events_cat=jazz&ical=1&eventDisplay=list", "list category:jazz ical", "/events/category/jazz/ical/"},
		{"/?post_type=tribe_events&tribe_events_cat=a,b&ical=1", "default ical", "/events/ical/"},
		{"/?post_type=tribe_events&outlook-ical=1&eventDisplay=past", "list past outlook-ical", "/events/list/ical/?eventDisplay=past&outlook-ical=1"},
		{"/?post_type=tribe_events&eventDisplay=month&tag=jazz", "301 month tag:jazz", "/tag/jazz/month/"},
		{"/?tribe_events_cat=jazz", "301 list category:jazz", "/events/category/jazz/"},
		{"/?tribe_events=jazz-night", "301 event :jazz-night", "/event/jazz-night/"},
		{"/?post_type=tribe_events&name=jazz-night&ical=1", "event :jazz-night ical", "/event/jazz-night/ical/"},
		{"/?tribe_events=lessons&eventDate=2026-12-05", "301 event 2026-12-05 :lessons", "/event/lessons/2026-12-05/"},
		{"/?tribe_venue=hall", "301 venue :hall", "/venue/hall/"},
		{"/?tribe_organizer=club&post_type=tribe_organizer", "301 organizer :club", "/organizer/club/"},
		{"/?post_type=tribe_events&p=12", "record 12", "/?p=12"},
		{"/?feed=rss2", "list rss", "/events/list/feed/"},
		{"/?feed=rss2&post_type=tribe_events&tribe_events_cat=jazz", "list category:jazz rss", "/events/category/jazz/feed/"},
		{"/feed/?post_type=tribe_events", "list rss", "/events/list/feed/"},
		{"/?post_type=post", "home", "/"},
		{"/?name=jazz-night", "home", "/"},
		{"/?utm_source=x&fbclid=y", "home", "/"},

		{"/events/category/jazz/", "list category:jazz", ""},
		{"/events/category/music/jazz/", "list category:music/jazz", ""},
		{"/events/category/jazz/?eventDisplay=month", "month category:jazz", "/events/category/jazz/month/"},
		{"/events/category/jazz/?eventDisplay=past", "list category:jazz past", ""},
		{"/events/category/J%C3%A1zz/", "list category:Jázz", "/events/category/J%c3%a1zz/"},
		{"/events/category/a%2Fb/", "list category:a/b", ""},
		{"/events/category/list/", "list category:list", ""},
		{"/events/tag/jazz/", "list tag:jazz", "/tag/jazz/"},
		{"/events/tag/list/", "list tag:list", "/tag/list/"},
		{"/tag/jazz/", "list tag:jazz", ""},
		{"/tag/jazz/list/", "list tag:jazz", "/tag/jazz/"},
		{"/tag/jazz/list/page/2/", "list tag:jazz page=2", "/tag/jazz/page/2/"},
		{"/tag/jazz/month/2026-12/", "301 month 2026-12-01 tag:jazz", "/tag/jazz/2026-12/"},
		{"/tag/jazz/day/2026-12-05/", "301 day 2026-12-05 tag:jazz", "/tag/jazz/2026-12-05/"},
		{"/tag/jazz/week/", "302 list tag:jazz", "/tag/jazz/"},
		{"/events/tag/jazz/photo/2026-12/", "302 list tag:jazz", "/tag/jazz/"},

		{"/event/jazz-night/", "event :jazz-night", ""},
		{"/event/jazz-night/ical/", "event :jazz-night ical", ""},
		{"/event/jazz-night/?ical=1", "event :jazz-night ical", "/event/jazz-night/ical/"},
		{"/event/jazz-night/?eventDisplay=past", "event :jazz-night", "/event/jazz-night/"},
		{"/event/lessons/2026-12-05/", "event 2026-12-05 :lessons", ""},
		{"/event/lessons/2026-12-05/ical/", "event 2026-12-05 :lessons ical", ""},
		{"/event/ical/", "event :ical", ""},
		{"/series/lessons/", "series :lessons", ""},
		{"/series/lessons/ical/", "series :lessons ical", ""},
		{"/venue/hall/", "venue :hall", ""},
		{"/venue/hall/page/2/", "venue :hall page=2", ""},
		{"/venue/hall/?eventDisplay=past", "venue :hall past", ""},
		{"/venue/hall/page/2/?eventDisplay=past", "venue :hall page=2 past", ""},
		{"/venue/hall/ical/", "venue :hall ical", ""},
		{"/organizer/club/", "organizer :club", ""},
		{"/organizer/club/page/1/", "organizer :club", "/organizer/club/"},
		{"/organizer/club/page/3/ical/", "organizer :club page=3 ical", ""},
	}
	for _, form := range append(forms, viewForms()...) {
		for _, language := range append([]calendar.Language{""}, calendar.Languages...) {
			segment := ""
			if language != "" {
				segment = "/" + string(language)
			}
			for _, slash := range []string{"/", ""} {
				path, query := splitAddress(t, form.address)
				path = strings.TrimSuffix(segment+path, "/") + slash
				if path == "" {
					continue // no request has an empty path
				}
				readings := Parse(path, query, programNames)
				if len(readings) == 0 {
					t.Errorf("%s is the address of no page", path)
					continue
				}
				got := readings[0]
				if describePage(got) != form.want || got.Language != language {
					t.Errorf("%s?%s is %q in %q, want %q", path, query.Encode(), describePage(got), got.Language, form.want)
				}
				leads := form.leads
				if leads == "" {
					leads = form.address
				}
				if leads = segment + leads; addressOf(got) != leads {
					t.Errorf("%s?%s leads to %s, want %s", path, query.Encode(), addressOf(got), leads)
				}
			}
		}
	}
}

// listForm is a list of events in test cases. It has its path, its canonical path, and the words of describePage
// for its term.
type listForm struct{ path, canonical, term string }

// viewForm is a view of a list in test cases. It has its path below the list, the words of describePage for it, and
// its canonical path.
type viewForm struct{ path, words, canonical string }

// ofList returns the view as it is described for a list. On the page of a term, the default view is a list. Months
// need a segment of their own only on the page of all events.
func (v viewForm) ofList(list listForm) viewForm {
	switch {
	case list.term == "" && v.path == "2026-12/":
		v.path, v.canonical = "month/2026-12/", "month/2026-12/"
	case list.term != "" && v.hasPages():
		v.words, v.canonical = "list", ""
	}
	return v
}

// hasPages reports whether the view has pages and feeds.
func (v viewForm) hasPages() bool { return v.words == "default" || v.words == "list" }

// forms returns test cases for a view of a list, with all combinations of featured/, page/ and the formats.
func (v viewForm) forms(list listForm) (forms []pageForm) {
	formats := map[string]string{"": "", "ical/": " ical"}
	pages := map[string]string{"": ""}
	if v.hasPages() {
		formats = map[string]string{"": "", "ical/": " ical", "feed/": " rss", "feed/atom/": " atom"}
		pages = map[string]string{"": "", "page/2/": " page=2"}
	}
	for featured, featuredWords := range map[string]string{"": "", "featured/": " featured"} {
		for page, pageWords := range pages {
			for format, formatWords := range formats {
				words, canonical := v.words, v.canonical
				if words == "default" && (page != "" || strings.HasPrefix(format, "feed")) {
					words, canonical = "list", "list/"
				}
				forms = append(forms, pageForm{
					address: list.path + v.path + featured + page + format,
					want:    words + list.term + featuredWords + pageWords + formatWords,
					leads:   list.canonical + canonical + featured + page + format,
				})
			}
		}
	}
	return forms
}

// viewForms returns test cases for the views of all events and of tags, with all combinations of featured/, page/
// and the formats. Paths of categories are ambiguous, and TestPagePathsOfCategories has their cases.
func viewForms() (forms []pageForm) {
	for _, list := range []listForm{
		{"/events/", "/events/", ""},
		{"/tag/jazz/", "/tag/jazz/", " tag:jazz"},
		{"/events/tag/jazz/", "/tag/jazz/", " tag:jazz"},
	} {
		for _, view := range []viewForm{
			{"", "default", ""},
			{"list/", "list", "list/"},
			{"month/", "month", "month/"},
			{"2026-12/", "month 2026-12-01", "2026-12/"},
			{"today/", "day", "today/"},
			{"2026-12-05/", "day 2026-12-05", "2026-12-05/"},
		} {
			forms = append(forms, view.ofList(list).forms(list)...)
		}
	}
	return forms
}

func TestPagePathsOfCategories(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"/events/category/jazz/":            {"list category:jazz"},
		"/events/category/list/list/":       {"list category:list/list", "list category:list"},
		"/events/category/jazz/page/2/":     {"list category:jazz/page/2", "list category:jazz page=2"},
		"/events/category/jazz/month/":      {"list category:jazz/month", "month category:jazz"},
		"/events/category/jazz/2026-12/":    {"list category:jazz/2026-12", "month 2026-12-01 category:jazz"},
		"/events/category/jazz/today/":      {"list category:jazz/today", "day category:jazz"},
		"/events/category/jazz/2026-12-05/": {"list category:jazz/2026-12-05", "day 2026-12-05 category:jazz"},
		"/events/category/jazz/day/2026-12-05/": {
			"list category:jazz/day/2026-12-05", "day 2026-12-05 category:jazz/day", "301 day 2026-12-05 category:jazz",
		},
		"/events/category/jazz/featured/": {"list category:jazz/featured", "list category:jazz featured"},
		"/events/category/jazz/ical/":     {"list category:jazz/ical", "list category:jazz ical"},
		"/events/category/jazz/feed/":     {"list category:jazz/feed", "list category:jazz rss"},
		"/events/category/jazz/feed/atom/": {
			"list category:jazz/feed/atom", "list category:jazz atom",
		},
		"/events/category/jazz/week/":   {"list category:jazz/week", "302 list category:jazz"},
		"/events/category/a/b/c/":       {"list category:a/b/c"},
		"/events/category/a/month/b/":   {"list category:a/month/b"},
		"/events/category/jazz/page/0/": {"list category:jazz/page/0"},
		"/events/category/jazz/list/featured/page/2/feed/atom/": {
			"list category:jazz/list/featured/page/2/feed/atom", "list category:jazz/list/featured/page/2 atom",
			"list category:jazz/list/featured page=2 atom", "list category:jazz/list featured page=2 atom",
			"list category:jazz featured page=2 atom",
		},
	} {
		path, query := splitAddress(t, address)
		var got []string
		for _, p := range Parse(path, query, programNames) {
			got = append(got, describePage(p))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

func TestOtherPathsAreNoPages(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "events", "//", "/events//", "//events/", "/event/", "/venue/", "/tag/", "/events/tag/", "/events/category/",
		"/Events/", "/de/events/", "/pl/es/events/", "/player/", "/docs/", "/developers/ical/", "/feed/", "/list/",
		"/events/month/2026-13/", "/events/month/2026-00/", "/events/month/0999-12/", "/events/month/10000-01/",
		"/events/month/2026-1/", "/events/month/+026-12/", "/events/2026-13/", "/events/2026-02-29/", "/events/0999-12-31/",
		"/events/day/2026-02-30/", "/events/list/page/0/", "/events/list/page/", "/events/page/-1/", "/events/page/1.5/",
		"/events/page/1234567890/", "/events/page/99999999999999999999/", "/events/month/page/2/", "/events/today/page/2/",
		"/events/month/2026-12/page/2/", "/events/month/feed/", "/events/2026-12-05/feed/", "/events/feed/json/",
		"/events/featured/list/", "/events/page/2/featured/", "/events/featured/featured/", "/events/ical/ical/",
		"/events/ical/feed/", "/events/feed/featured/", "/events/list/2026-12/", "/events/today/2026-12-05/", "/events/jazz/",
		"/tag/jazz/blues/", "/events/tag/jazz/blues/", "/event/jazz/featured/", "/event/jazz/page/2/", "/event/jazz/feed/",
		"/event/jazz/2026-13-01/", "/series/jazz/page/2/", "/series/jazz/2026-12-05/", "/venue/hall/feed/",
		"/venue/hall/featured/", "/venue/hall/page/0/", "/venue/hall/month/", "/organizer/club/ical/page/2/",
		"/event/%zz/", "/events/category/%/", "/embed/events/",
	} {
		for _, p := range Parse(path, url.Values{}, programNames) {
			t.Errorf("%s is the page %q", path, describePage(p))
		}
	}
}

func TestAliasesOfFirstSegments(t *testing.T) {
	t.Parallel()
	names := NewNames(calendar.Paths{}, map[string]string{"wydarzenia": "events", "miejsce": "venue"})
	for address, want := range map[string]string{
		"/wydarzenia/":                 "/events/",
		"/pl/wydarzenia/":              "/pl/events/",
		"/wydarzenia/2026-12/":         "/events/month/2026-12/",
		"/pl/miejsce/hala/page/2/":     "/pl/venue/hala/page/2/",
		"/wydarzenia/category/a/list/": "/events/category/a/list/",
	} {
		readings := Parse(address, nil, names)
		if len(readings) == 0 || readings[0].Redirect != 301 || addressOf(readings[0]) != want {
			t.Errorf("%s: %+v, want 301 to %s", address, readings, want)
		}
	}
	if readings := Parse("/wydarzenia/ical/", nil, names); len(readings) == 0 || readings[0].Redirect != 0 {
		t.Errorf("a subscription is not answered where it is: %+v", readings)
	}
	if readings := Parse("/events/wydarzenia/", nil, names); readings != nil {
		t.Errorf("the second segment is an alias: %+v", readings)
	}
}

// TestNamesOfASite parses paths of a site that has its own names for some segments. The other segments have the
// names of the program.
func TestNamesOfASite(t *testing.T) {
	t.Parallel()
	paths := calendar.Paths{
		Events: "%ce%b5%ce%ba%ce%b4%ce%b7%ce%bb%cf%8e%cf%83%ce%b5%ce%b9%cf%82", Event: "wydarzenie", Venue: "miejsce", Category: "event", Tag: "temat",
	}
	const greek = "/%ce%b5%ce%ba%ce%b4%ce%b7%ce%bb%cf%8e%cf%83%ce%b5%ce%b9%cf%82/"
	names := NewNames(paths, map[string]string{"kalendarz": "events", "koncert": "event", "temat": "venue"})
	for _, test := range []struct {
		address, leads string
		redirect       int
	}{
		{"/εκδηλώσεις/", greek, 0},
		{strings.ToUpper(greek), greek, 0},
		{"/pl" + greek + "list/page/2/", "/pl" + greek + "list/page/2/", 0},
		{greek + "event/a/b/month/", greek + "event/a/b/month/", 0},
		{greek + "2026-12/", greek + "month/2026-12/", 301},
		{greek + "temat/a/", "/temat/a/", 0},
		{greek + "tag/a/2026-12/", "/temat/a/2026-12/", 301},
		{greek + "category/a/", greek + "event/a/", 301},
		{"/events/", greek, 301},
		{"/events/week/", greek, 302},
		{"/pl/events/category/a/2026-12/", "/pl" + greek + "event/a/2026-12/", 301},
		{"/kalendarz/event/a/", greek + "event/a/", 301},
		{"/koncert/a/", "/wydarzenie/a/", 301},
		{"/temat/a/", "/temat/a/", 0}, // a name wins over an alias
		{"/event/a/2026-12-05/", "/wydarzenie/a/2026-12-05/", 301},
		{"/wydarzenie/a/", "/wydarzenie/a/", 0},
		{"/organizer/a/", "/organizer/a/", 0},
		{"/?tribe_events=a", "/wydarzenie/a/", 301},
		{"/?post_type=tribe_events&tribe_events_cat=a", greek + "event/a/", 301},
		{"/events/list/?tribe_events_cat=a", greek + "event/a/", 301},
		{greek + "list/?tag=a", "/temat/a/", 301},
		{"/event/a/?ical=1", "/wydarzenie/a/ical/", 0},
		{"/events/list/feed/atom/", greek + "list/feed/atom/", 0},
	} {
		path, query := splitAddress(t, test.address)
		readings := Parse(path, query, names)
		if len(readings) == 0 {
			t.Errorf("%s is the address of no page", test.address)
			continue
		}
		p := readings[slices.IndexFunc(readings, func(p Page) bool { return len(p.Slugs) != 2 || p.Slugs[1] != "month" && p.Slugs[1] != "2026-12" })]
		if got := p.Path(&paths); got != test.leads || p.Redirect != test.redirect {
			t.Errorf("%s: %d, %s, want %d, %s", test.address, p.Redirect, got, test.redirect, test.leads)
		}
	}
	for _, path := range []string{"/wydarzenia/", "/events/event/", greek + "wydarzenie/a/", "/wydarzenie/", "/event/", "/%ce%b5/a/"} {
		for _, p := range Parse(path, nil, names) {
			t.Errorf("%s is the page %q", path, describePage(p))
		}
	}
}

// TestWordsOfPathsAreNoNames sets words that have a meaning below /events/, such as the name of a view, as the name
// for categories. The settings must refuse them.
func TestWordsOfPathsAreNoNames(t *testing.T) {
	t.Parallel()
	words := append([]string{
		string(ViewList), string(ViewMonth), segmentToday, segmentDay, segmentPage, segmentFeatured, SegmentICal, SegmentFeed, segmentTag, "2026-12", "2026-12-05",
	}, foreignViews...)
	for _, word := range words {
		if err := (settings.Layer{}).Set("paths", `{"category": "`+word+`"}`); err == nil {
			t.Errorf("%s is a name of categories", word)
		}
	}
}

// TestCanonicalPagesOfTheDefaultView checks that the canonical address of the site's default view is /events/.
func TestCanonicalPagesOfTheDefaultView(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		address string
		view    View
		want    string
	}{
		{"/events/", ViewList, "/events/"},
		{"/events/", ViewMonth, "/events/"},
		{"/events/list/", ViewList, "/events/"},
		{"/events/list/", ViewMonth, "/events/list/"},
		{"/events/month/", ViewMonth, "/events/"},
		{"/events/month/2026-12/", ViewMonth, "/events/month/2026-12/"},
		{"/events/list/featured/", ViewList, "/events/featured/"},
		{"/events/page/1/", ViewList, "/events/"},
		{"/events/page/2/", ViewList, "/events/list/page/2/"},
		{"/events/?eventDisplay=past", ViewList, "/events/list/?eventDisplay=past"},
		{"/events/feed/", ViewList, "/events/list/feed/"},
		{"/events/2026-12/", ViewList, "/events/month/2026-12/"},
		{"/tag/jazz/list/", ViewMonth, "/tag/jazz/"},
		{"/tag/jazz/month/", ViewMonth, "/tag/jazz/month/"},
	} {
		path, query := splitAddress(t, test.address)
		p := Parse(path, query, programNames)[0]
		if got := addressOf(p.Canonical(test.view)); got != test.want {
			t.Errorf("%s with the default view %s: %s, want %s", test.address, test.view, got, test.want)
		}
		if got := p.WithDefault(test.view); got.View == ViewDefault || p.View != ViewDefault && got.View != p.View {
			t.Errorf("%s with the default view %s shows %s", test.address, test.view, got.View)
		}
	}
}

// FuzzPagePath parses paths. It parses the canonical address of each result again and expects the same page.
func FuzzPagePath(f *testing.F) {
	for _, form := range viewForms() {
		f.Add(form.address, "")
	}
	for _, seed := range [][2]string{
		{"/", "p=12"},
		{"/pl", "ical=1"},
		{"/events/", "eventDisplay=past&outlook-ical=1"},
		{"/events/2026-12/", "ical=1"},
		{"/events/category/a/b/list/page/2/feed/atom/", ""},
		{"/events/week/x", "eventDisplay=past"},
		{"/event/lessons/2026-12-05/", ""},
		{"/venue/%C5%81%2f/page/2", "eventDisplay=past"},
		{"/wydarzenia/day/", ""},
		{"/pl/kalendarz/kategoria/a/b/temat/", ""},
		{"/kalendarz/znacznik/a/feed/", ""},
		{"/%CE%B5%CE%BA%CE%B4%ce%ae/a", "ical=1"},
	} {
		f.Add(seed[0], seed[1])
	}
	paths := calendar.Paths{Events: "kalendarz", Event: "%ce%b5%ce%ba%ce%b4%ce%ae", Category: "kategoria", Tag: "temat", EventsTag: "znacznik"}
	names := NewNames(paths, map[string]string{"wydarzenia": "events"})
	f.Fuzz(func(t *testing.T, path, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		readings := Parse(path, query, names)
		if len(readings) > longestPageTail+1 {
			t.Errorf("%d readings", len(readings))
		}
		for _, p := range readings {
			want := p
			want.Redirect, want.ByQuery = 0, false
			again := Parse(p.Path(&paths), p.Params(), names)
			if !slices.ContainsFunc(again, func(q Page) bool { return reflect.DeepEqual(q, want) }) {
				t.Errorf("%q?%s is %+v, whose address %s?%s is %+v", path, text, want, p.Path(&paths), p.Params().Encode(), again)
			}
		}
	})
}
