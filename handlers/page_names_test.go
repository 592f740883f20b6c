package handlers_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// namedPaths has another name for each segment, one of them percent-encoded.
var namedPaths = calendar.Paths{
	Events: "wydarzenia", Event: "%d1%81%d0%be%d0%b1%d1%8b%d1%82%d0%b8%d0%b5", Venue: "miejsce", Organizer: "organizator", Series: "cykl",
	Tag: "temat", Category: "kategoria", EventsTag: "znacznik",
}

// ownAddress matches the addresses of this service in replies of all formats: absolute ones, and those of attributes.
var ownAddress = regexp.MustCompile(`(?:` + regexp.QuoteMeta(apitest.BaseURL) + `|(?:href|action|src)=")(/[^"'<>\s\\),]*)`)

// linksIn returns the paths below the base URL of all links to this service in a reply, including its Link and
// Content-Location headers.
func linksIn(r apitest.Response) []string {
	text := string(r.Body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/calendar") {
		text = strings.ReplaceAll(text, "\r\n ", "")
	}
	var out []string
	for _, found := range ownAddress.FindAllStringSubmatch(text+"\n"+r.Header.Get("Link")+"\n"+r.Header.Get("Content-Location"), -1) {
		address, _, _ := strings.Cut(html.UnescapeString(found[1]), "#")
		address, _, _ = strings.Cut(address, "'") // in a command for a shell
		out = append(out, address)
	}
	return out
}

// readAll requests the first addresses, follows all links, and returns every reply by its address.
func readAll(t *testing.T, api *apitest.API, from ...string) map[string]apitest.Response {
	t.Helper()
	const most = 4000
	read := map[string]apitest.Response{}
	for queue := from; len(queue) > 0 && len(read) < most; queue = queue[1:] {
		address := queue[0]
		if _, known := read[address]; known || strings.HasPrefix(address, "/media/") || strings.Contains(address, "/doc") {
			continue // the description has examples of another site
		}
		r := api.Do(t, page(address))
		read[address] = r
		refused := r.Status == http.StatusForbidden || r.Status == http.StatusUnauthorized
		if r.Status != http.StatusOK && (!refused || !strings.Contains(address, "/cal/events/v1/")) {
			t.Errorf("%s: %d, leads to %q", address, r.Status, r.Header.Get("Location"))
		}
		for _, link := range linksIn(r) {
			if _, known := read[link]; !known {
				queue = append(queue, link)
			}
		}
	}
	if len(read) == most {
		t.Fatalf("there are more than %d addresses", most)
	}
	return read
}

// withNames returns the API of a site with custom names in page paths, and with records of all kinds.
func withNames(t *testing.T, st *store.Store, aliases map[string]string) *apitest.API {
	t.Helper()
	custom := settings.Default()
	custom.Languages = []calendar.Language{calendar.English, calendar.Polish}
	custom.Paths, custom.PathAliases = namedPaths, aliases
	api := apitest.New(t, st, func(c *handlers.Config) { c.PageSettings = &custom })
	api.Example(t)
	addCourse(t, api)
	api.Reindex(t)
	return api
}

// programPath replaces the custom names in a path by the default ones of the program.
func programPath(address string) string {
	path, query, _ := strings.Cut(address, "?")
	segments := strings.Split(path, "/")
	at := 1
	if segments[1] == "pl" {
		at = 2
	}
	for _, name := range namedPaths.Names() {
		if i := at + map[bool]int{true: 1}[name.Below]; i < len(segments) && segments[i] == *name.Site && (!name.Below || segments[at] == "events") {
			segments[i] = name.Program
		}
	}
	if path = strings.Join(segments, "/"); query != "" {
		path += "?" + query
	}
	return path
}

// TestNamesOfASiteAreInAllAddresses checks that each link of a site with custom page names has those names and
// needs no redirect. With the default names, a page redirects to that link and a feed is served.
func TestNamesOfASiteAreInAllAddresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := withNames(t, st, nil)
		read := readAll(t, api, "/", "/sitemap.xml", "/events.ics", "/events.atom", "/events.rss", "/events.json", "/pl/events.ics?per_page=5",
			"/cal/events/v1/events", "/cal/events/v1/venues", "/cal/events/v1/organizers", "/cal/events/v1/categories", "/cal/events/v1/tags",
			"/cal/events/v1/series", "/pl/cal/events/v1/events", "/cal/events/v1/events?format=csv", "/wydarzenia/znacznik/free-entry/")
		program := regexp.MustCompile(`^(/pl)?/(events|event|venue|organizer|series|tag|[^/]*/category)(/|$)`)
		kinds := map[string]int{}
		for address, r := range read {
			if program.MatchString(address) {
				t.Errorf("an address has a name of the program: %s", address)
			}
			old := programPath(address)
			if old == address {
				continue
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(old, "/pl"), "/"), "/")
			kinds[kind]++
			again := api.Do(t, page(old))
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				if got := again.Header.Get("Location"); again.Status != http.StatusMovedPermanently || got != address && address != "/wydarzenia/znacznik/free-entry/" {
					t.Errorf("%s: %d to %s, want 301 to %s", old, again.Status, got, address)
				}
			} else if again.Status != http.StatusOK || string(again.Body) != string(r.Body) {
				t.Errorf("%s: %d, and other bytes than %s", old, again.Status, address)
			}
		}
		for _, name := range namedPaths.Names() {
			if !name.Below && kinds[name.Program] == 0 {
				t.Errorf("no address of %s was read", name.Program)
			}
		}
	})
}

func TestOtherNamesLeadToThoseOfASite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := withNames(t, st, map[string]string{"kalendarz": "events", "koncert": "event"})
		event := "/" + namedPaths.Event
		form := func(path, password string) apitest.Request {
			return apitest.Request{Method: "POST", Path: path, Absolute: true, Form: "password=" + password}
		}
		api.Run(t, []apitest.Case{
			{Name: "program", Request: page("/event/winter-jazz-blues/?utm_source=x"), Status: 301, Check: leadsTo(event + "/winter-jazz-blues/?utm_source=x")},
			{Name: "program in a language", Request: page("/pl/event/zimowy-jazz"), Status: 301, Check: leadsTo("/pl" + event + "/zimowy-jazz/")},
			{Name: "program in the main language", Request: page("/en/event/winter-jazz-blues/"), Status: 301, Check: leadsTo(event + "/winter-jazz-blues/")},
			{Name: "language that is not offered", Request: page("/es/venue/grand-hall/"), Status: 301, Check: leadsTo("/miejsce/grand-hall/")},
			{Name: "alias", Request: page("/koncert/winter-jazz-blues/"), Status: 301, Check: leadsTo(event + "/winter-jazz-blues/")},
			{Name: "alias with a name", Request: page("/pl/kalendarz/category/music/2026-12/"), Status: 301, Check: leadsTo("/pl/wydarzenia/kategoria/music/2026-12/")},
			{Name: "category without its ancestor", Request: page("/events/category/jazz/?page=1"), Status: 301, Check: leadsTo("/wydarzenia/kategoria/music/jazz/?page=1")},
			{Name: "filter by query", Request: page("/events/category/music/?tag=free-entry"), Status: 301, Check: leadsTo("/wydarzenia/kategoria/music/?tag=free-entry")},
			{Name: "tag below events", Request: page("/events/tag/free-entry/"), Status: 301, Check: leadsTo("/temat/free-entry/")},
			{Name: "month of the original", Request: page("/events/2026-12/"), Status: 301, Check: leadsTo("/wydarzenia/month/2026-12/")},
			{Name: "view of the original", Request: page("/events/week/"), Status: 302, Check: leadsTo("/wydarzenia/")},
			{Name: "event by query", Request: page("/?tribe_events=winter-jazz-blues"), Status: 301, Check: leadsTo(event + "/winter-jazz-blues/")},
			{Name: "category by query", Request: page("/en/?post_type=tribe_events&tribe_events_cat=jazz"), Status: 301, Check: leadsTo("/wydarzenia/kategoria/music/jazz/")},
			{Name: "tag by query", Request: page("/events/list/?tag=free-entry&search=a"), Status: 301, Check: leadsTo("/temat/free-entry/?search=a")},
			{Name: "record by id", Request: page("/?p={grandHall}"), Status: 301, Check: leadsTo("/miejsce/grand-hall/")},
			{Name: "capital hexadecimal digits", Request: page(strings.ToUpper(event) + "/winter-jazz-blues/"), Status: 200},
			{Name: "name without encoding", Request: page("/событие/winter-jazz-blues/"), Status: 200},
			{Name: "form", Request: form("/event/members-only/", "sesame"), Status: 308, Check: leadsTo(event + "/members-only/")},
			{Name: "form at an alias", Request: form("/en/koncert/members-only/", "sesame"), Status: 308, Check: leadsTo(event + "/members-only/")},
			{Name: "form of the site", Request: form(event+"/members-only/", "sesame"), Status: 200, Check: contains("Handshake")},
			{Name: "wrong password", Request: form(event+"/members-only/", "simsim"), Status: 403, Check: contains(`action="` + event + `/members-only/"`)},
			{Name: "unknown event", Request: page(event + "/nothing/"), Status: 404, Check: contains("<h1>This page does not exist</h1>", `href="/wydarzenia/"`)},
			{Name: "feed of the list by its name", Request: page("/wydarzenia.ics"), Status: 404},
			{Name: "robots", Request: page("/robots.txt"), Status: 200},
		})
		var feeds []string
		for _, path := range []string{"/event/winter-jazz-blues.ics", "/koncert/winter-jazz-blues.ics", event + "/winter-jazz-blues.ics", "/event/winter-jazz-blues/?ical=1"} {
			r := api.Do(t, page(path))
			if r.Status != http.StatusOK {
				t.Errorf("%s: %d", path, r.Status)
			}
			feeds = append(feeds, string(r.Body))
		}
		if len(slices.Compact(feeds)) != 1 || !strings.Contains(strings.ReplaceAll(feeds[0], "\r\n ", ""), "SOURCE;VALUE=URI:"+apitest.BaseURL+event+"/winter-jazz-blues.ics\r\n") {
			t.Errorf("files of an event: %q", feeds)
		}
	})
}

// TestMountsBelowNamesOfASite checks that an API mount below a custom or default page name is refused, because it
// would hide pages.
func TestMountsBelowNamesOfASite(t *testing.T) {
	t.Parallel()
	custom := settings.Default()
	custom.Paths = namedPaths
	site := custom.Calendar(nil)
	site.BaseURL = apitest.BaseURL
	for _, first := range []string{"wydarzenia", "событие", "temat", "event", "events"} {
		_, err := handlers.New(handlers.Config{Calendar: read.Calendar{Site: site, PageSettings: &custom}, Mounts: []string{"/" + first + "/v1"}, NoPages: true})
		if want := fmt.Sprintf("/%s is where pages or feeds of the calendar are", first); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", first, err)
		}
	}
}
