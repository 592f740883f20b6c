package handlers_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// linkHeader is one link of a Link header.
var linkHeader = regexp.MustCompile(`<([^>]+)>; rel="(\w+)"`)

// followLink requests a URL from a reply, without changing it.
func followLink(t *testing.T, api *apitest.API, address any, header map[string]string) apitest.Response {
	t.Helper()
	path, ok := strings.CutPrefix(fmt.Sprint(address), apitest.BaseURL)
	if !ok {
		t.Fatalf("%v is no address of ours", address)
	}
	return api.Do(t, apitest.Request{Absolute: true, Path: path, Header: header})
}

// languageStyle is a way in which a client asks for Polish and then follows links.
type languageStyle struct {
	name, root, query string
	header            map[string]string // sent with every request
	items             bool              // the links of the items keep the language too
}

func TestLinksKeepTheLanguage(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		for i := range 3 {
			event := api.AddEvent(t, fmt.Sprint("Event ", i), "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
				c.SetCost(calendar.Cost{Prices: []string{"0"}})
			})
			category := api.AddTerm(t, calendar.Category, fmt.Sprint("Category ", i))
			tag := api.AddTerm(t, calendar.Tag, fmt.Sprint("Tag ", i))
			api.LinkVenues(t, event, api.AddVenue(t, fmt.Sprint("Venue ", i)))
			api.LinkOrganizers(t, event, api.AddOrganizer(t, fmt.Sprint("Organizer ", i)))
			api.LinkTerms(t, event, category, tag)
		}
		for _, style := range []languageStyle{
			{name: "parameter", query: "&ml_language=pl"},
			{name: "segment", root: "/pl", items: true},
			{name: "parameter over segment", root: "/es", query: "&ml_language=pl"},
			{name: "segment over header", root: "/pl", header: map[string]string{"Accept-Language": "es"}, items: true},
			{name: "parameter over header", query: "&ml_language=pl", header: map[string]string{"Accept-Language": "es"}},
			{name: "header", header: map[string]string{"Accept-Language": "pl-PL"}, items: true},
		} {
			for _, kind := range []string{"events", "venues", "organizers", "categories", "tags"} {
				t.Run(style.name+" "+kind, func(t *testing.T) { style.followPages(t, api, kind) })
			}
		}
	})
}

// followPages reads the three pages of a list by their links. It checks that these and the other links lead to Polish replies.
func (s languageStyle) followPages(t *testing.T, api *apitest.API, kind string) {
	t.Helper()
	address := any(apitest.BaseURL + s.root + "/cal/events/v1/" + kind + "?per_page=1" + s.query)
	var pages []any // their rest_url
	for address != nil {
		if len(pages) == 3 {
			t.Fatalf("there is a page after the third: %v", address)
		}
		res := followLink(t, api, address, s.header)
		if res.Status != 200 {
			t.Fatalf("page %d, %v: %d: %s", len(pages)+1, address, res.Status, res.Body)
		}
		pages = append(pages, res.Get(t, "rest_url"))
		s.checkPage(t, api, kind, res, pages)
		address = res.Get(t, "next_rest_url")
	}
	if len(pages) != 3 {
		t.Errorf("read %d pages, want 3: %v", len(pages), pages)
	}
}

// checkPage checks the language, the content and the links of the last of the pages.
func (s languageStyle) checkPage(t *testing.T, api *apitest.API, kind string, res apitest.Response, pages []any) {
	t.Helper()
	page := len(pages)
	speaks(t, res, calendar.Polish)
	if kind == "events" {
		showsMember(`"Bezpłatnie"`, "events", 0, "cost")(t, res)
	}
	if len(listedIDs(t, res, kind)) != 1 {
		t.Fatalf("page %d: %s", page, res.Body)
	}
	links := []any{pages[page-1]}
	if previous := res.Get(t, "previous_rest_url"); page > 1 {
		if previous != pages[page-2] {
			t.Errorf("page %d: previous is %v, want %v", page, previous, pages[page-2])
		}
		links = append(links, previous)
	}
	var relations []string
	for _, link := range linkHeader.FindAllStringSubmatch(res.Header.Get("Link"), -1) {
		links, relations = append(links, link[1]), append(relations, link[2])
	}
	want := [][]string{{"first", "next", "last"}, {"first", "prev", "next", "last"}, {"first", "prev", "last"}}[page-1]
	if !slices.Equal(relations, want) {
		t.Errorf("page %d: links to %q, want %q", page, relations, want)
	}
	if s.items {
		links = append(links, linksOfItem(t, res, kind)...)
	}
	for _, link := range links {
		speaks(t, followLink(t, api, link, s.header), calendar.Polish)
		keepsStyle(t, link, s.root, s.query, slices.Contains(pages, link))
	}
}

// linksOfItem returns the URLs in the first record of a list that lead back to the API.
func linksOfItem(t *testing.T, res apitest.Response, kind string) []any {
	t.Helper()
	if kind == "events" {
		return []any{
			res.Get(t, kind, 0, "rest_url"),
			res.Get(t, kind, 0, "categories", 0, "urls", "self"),
			res.Get(t, kind, 0, "tags", 0, "urls", "collection"),
		}
	}
	if kind == "categories" || kind == "tags" {
		return []any{res.Get(t, kind, 0, "urls", "self"), res.Get(t, kind, 0, "urls", "collection")}
	}
	return nil
}

// keepsStyle checks that a link chooses the language in the same way as the request, and in no other way.
func keepsStyle(t *testing.T, link any, root, query string, page bool) {
	t.Helper()
	u, err := url.Parse(fmt.Sprint(link))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(u.Path, root+"/cal/events/v1/") {
		t.Errorf("%v is not below %s", link, root)
	}
	want := []string{}
	if _, lang, ok := strings.Cut(query, "ml_language="); ok {
		want = append(want, lang)
	}
	if got := u.Query()["ml_language"]; page && !slices.Equal(got, want) {
		t.Errorf("%v has the languages %q, want %q", link, got, want)
	}
}

func TestLinksOfTheIndexKeepTheSegment(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	res := api.Do(t, apitest.Request{Absolute: true, Path: "/pl/cal/events/v1"})
	var index struct {
		Routes map[string]struct {
			Links struct {
				Self []struct{ Href string } `json:"self"`
			} `json:"_links"`
		} `json:"routes"`
	}
	res.Into(t, &index)
	found := 0
	for path, route := range index.Routes {
		for _, self := range route.Links.Self {
			found++
			if res := followLink(t, api, self.Href, nil); !strings.HasSuffix(path, "/images") && res.Status != 200 {
				t.Errorf("%s: %d", self.Href, res.Status)
			} else {
				speaks(t, res, calendar.Polish)
			}
		}
	}
	if want := 7 + len(calendar.NamedKinds); found != want {
		t.Errorf("%d links, want %d", found, want)
	}
}

func TestLocationOfANewRecordKeepsTheSegment(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "editor", calendar.Editor)
	for kind, body := range map[string]object{
		"events": concert(nil), "venues": {"venue": "Sala"}, "organizers": {"organizer": "Ola"},
		"categories": {"name": "Muzyka"}, "tags": {"name": "jazz"},
	} {
		made := api.Do(t, apitest.Request{Method: "POST", As: "editor", Absolute: true, Path: "/pl/cal/events/v1/" + kind, JSON: body})
		if made.Status != 201 {
			t.Fatalf("%s: %d: %s", kind, made.Status, made.Body)
		}
		speaks(t, made, calendar.Polish)
		res := followLink(t, api, made.Header.Get("Location"), nil)
		if res.Status != 200 {
			t.Errorf("%s: %d: %s", kind, res.Status, res.Body)
		}
		speaks(t, res, calendar.Polish)
	}
}
