package handlers_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// sitemapIndex is /sitemap.xml as crawlers read it.
type sitemapIndex struct {
	XMLName  xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
	Sitemaps []struct {
		Loc string `xml:"loc"`
	} `xml:"sitemap"`
}

// sitemap is a sitemap as crawlers read it.
type sitemap struct {
	XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
		Links   []struct {
			Rel      string `xml:"rel,attr"`
			Language string `xml:"hreflang,attr"`
			Href     string `xml:"href,attr"`
		} `xml:"http://www.w3.org/1999/xhtml link"`
	} `xml:"url"`
}

// crawl reads all sitemaps, and returns their addresses below the base URL with their alternates.
func crawl(t *testing.T, api *apitest.API) map[string][]string {
	t.Helper()
	read := func(address string, into any) {
		r := api.Do(t, apitest.Request{Path: strings.TrimPrefix(address, apitest.BaseURL), Absolute: true})
		if r.Status != 200 || r.Header.Get("Content-Type") != "application/xml; charset=UTF-8" {
			t.Fatalf("%s: %d, %s: %.200s", address, r.Status, r.Header.Get("Content-Type"), r.Body)
		}
		must.Succeed(t, xml.Unmarshal(r.Body, into))
	}
	var index sitemapIndex
	read(apitest.BaseURL+"/sitemap.xml", &index)
	found := map[string][]string{}
	for _, one := range index.Sitemaps {
		var m sitemap
		read(one.Loc, &m)
		if len(m.URLs) == 0 || len(m.URLs) > 10_000 {
			t.Errorf("%s has %d addresses", one.Loc, len(m.URLs))
		}
		for _, u := range m.URLs {
			path := strings.TrimPrefix(u.Loc, apitest.BaseURL)
			if _, twice := found[path]; twice {
				t.Errorf("%s is there twice", path)
			}
			if _, err := time.Parse(time.RFC3339, u.LastMod); err != nil {
				t.Errorf("%s: lastmod %q", path, u.LastMod)
			}
			found[path] = nil
			for _, link := range u.Links {
				if link.Rel != "alternate" {
					t.Errorf("%s: a link is %q", path, link.Rel)
				}
				found[path] = append(found[path], link.Language+" "+strings.TrimPrefix(link.Href, apitest.BaseURL))
			}
		}
	}
	return found
}

// sitemapCalendar adds events of several statuses and visibilities. Each has its own venue, organizer, category and
// tag. It also adds a venue without events, and an event in a draft venue.
func sitemapCalendar(t *testing.T, api *apitest.API) {
	t.Helper()
	for name, change := range map[string]func(*ent.EventCreate){
		"listed":    func(*ent.EventCreate) {},
		"past":      func(c *ent.EventCreate) { c.SetFeatured(true) },
		"hidden":    func(c *ent.EventCreate) { c.SetHideFromListings(true) },
		"protected": func(c *ent.EventCreate) { c.SetPasswordHash([]byte("a hash")) },
		"draft":     func(c *ent.EventCreate) { c.SetStatus(calendar.Draft) },
		"private":   func(c *ent.EventCreate) { c.SetStatus(calendar.Private) },
		"trashed":   func(c *ent.EventCreate) { c.SetStatus(calendar.Trash).SetSlug("trashed__trashed") },
		"scheduled": func(c *ent.EventCreate) {
			c.SetStatus(calendar.Future).SetPublishedAt(apitest.Now.Add(time.Hour))
		},
		"due": func(c *ent.EventCreate) {
			c.SetStatus(calendar.Future).SetPublishedAt(apitest.Now.Add(-time.Hour))
		},
	} {
		start := "2026-12-01 10:00:00"
		if name == "past" {
			start = "2020-12-01 10:00:00"
		}
		id := api.AddEvent(t, name, start, start, change)
		api.LinkVenues(t, id, api.AddVenue(t, name))
		api.LinkOrganizers(t, id, api.AddOrganizer(t, name))
		api.LinkTerms(t, id, api.AddTerm(t, calendar.Category, name), api.AddTerm(t, calendar.Tag, name))
	}
	api.AddVenue(t, "without events")
	draft := api.AddVenue(t, "draft hall", func(c *ent.VenueCreate) { c.SetStatus(calendar.Draft) })
	api.LinkVenues(t, api.AddEvent(t, "in a draft hall", "2026-12-02 10:00:00", "2026-12-02 11:00:00"), draft)
}

// TestSitemapsNameWhatIsListed checks that a sitemap has a venue, organizer or term only if lists show one of its
// events.
func TestSitemapsNameWhatIsListed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		sitemapCalendar(t, api)
		want := map[string][]string{}
		add := func(path string) { want[path] = []string{"en " + path, "x-default " + path} }
		add("/event/in-a-draft-hall/")
		for _, name := range []string{"listed", "past", "due"} {
			for _, path := range []string{"/event/%s/", "/venue/%s/", "/organizer/%s/", "/events/category/%s/", "/tag/%s/"} {
				add(fmt.Sprintf(path, name))
			}
		}
		if diff := cmp.Diff(want, crawl(t, api)); diff != "" {
			t.Errorf("addresses (-want +got):\n%s", diff)
		}
	})
}

func TestSitemapsNameTheLanguagesOfARecord(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		created := api.Do(t, post("admin", "/categories?ml_language=pl", object{"name": "Muzyka"}))
		music := created.Get(t, "id")
		jazz := api.Do(t, post("admin", "/categories?ml_language=pl", object{"name": "Dżez", "parent": music})).Get(t, "id")
		api.Do(t, post("admin", fmt.Sprintf("/categories/%v?ml_language=en", jazz), object{"name": "Jazz", "slug": "jazz"}))
		event := api.Do(t, post("admin", "/events?ml_language=pl", object{
			"title": "Koncert", "start_date": "2026-12-01 10:00", "end_date": "2026-12-01 11:00", "categories": []any{jazz},
		}))
		if event.Status != 201 {
			t.Fatalf("%d: %s", event.Status, event.Body)
		}
		api.Do(t, patch("admin", fmt.Sprintf("/events/%v?ml_language=en", event.Get(t, "id")), object{"title": "Concert", "slug": "concert"}))
		want := map[string][]string{
			"/pl/event/koncert/":               {"en /event/concert/", "pl /pl/event/koncert/", "x-default /event/concert/"},
			"/event/concert/":                  {"en /event/concert/", "pl /pl/event/koncert/", "x-default /event/concert/"},
			"/pl/events/category/muzyka/dzez/": {"en /events/category/muzyka/jazz/", "pl /pl/events/category/muzyka/dzez/", "x-default /events/category/muzyka/jazz/"},
			"/events/category/muzyka/jazz/":    {"en /events/category/muzyka/jazz/", "pl /pl/events/category/muzyka/dzez/", "x-default /events/category/muzyka/jazz/"},
		}
		if diff := cmp.Diff(want, crawl(t, api)); diff != "" {
			t.Errorf("addresses (-want +got):\n%s", diff)
		}
	})
}

// TestSitemapsAreStretchesOfIDs checks that records with distant ids are in different sitemaps, and that the index
// omits empty sitemaps between them.
func TestSitemapsAreStretchesOfIDs(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	var names []string
	for i, id := range []int64{3333, 3334, 100_000} {
		name := fmt.Sprintf("event-%d", i)
		start := "2026-12-01 10:00:00"
		made := api.AddEvent(t, name, start, start)
		if _, err := api.Store.DB.ExecContext(t.Context(), "UPDATE events SET id = ? WHERE id = ?", id, made); err != nil {
			t.Fatal(err)
		}
		names = append(names, "/event/"+name+"/")
	}
	var index sitemapIndex
	r := api.Do(t, apitest.Request{Path: "/sitemap.xml", Absolute: true})
	must.Succeed(t, xml.Unmarshal(r.Body, &index))
	var files []string
	for _, one := range index.Sitemaps {
		files = append(files, strings.TrimPrefix(one.Loc, apitest.BaseURL))
	}
	if want := []string{"/sitemap-1.xml", "/sitemap-3.xml", "/sitemap-61.xml"}; !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	for _, name := range names {
		if _, ok := crawl(t, api)[name]; !ok {
			t.Errorf("%s is in no sitemap", name)
		}
	}
	for _, path := range []string{
		"/sitemap-2.xml", "/sitemap-5.xml", "/sitemap-0.xml", "/sitemap-01.xml", "/sitemap-1234567890.xml", "/sitemap-999999999.xml",
		"/sitemap-.xml", "/sitemap--1.xml", "/sitemap-1.xml/", "/pl/sitemap.xml", "/sitemap-1.xm",
	} {
		if r := api.Do(t, apitest.Request{Path: path, Absolute: true}); r.Status != 404 {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	again := api.Do(t, apitest.Request{
		Path: "/sitemap-1.xml", Absolute: true,
		Header: map[string]string{"If-None-Match": api.Do(t, apitest.Request{Path: "/sitemap-1.xml", Absolute: true}).Header.Get("ETag")},
	})
	if again.Status != 304 || len(again.Body) != 0 {
		t.Errorf("asked again: %d, %d bytes", again.Status, len(again.Body))
	}
}

// TestSitemapsAreKept checks that a cached sitemap is made again only after a write that changes it.
func TestSitemapsAreKept(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		sitemapCalendar(t, api)
		api.Do(t, post("admin", "/tags", object{"name": "Indoors"})) // a calendar without a revision keeps no replies
		p := api.Caching(t, 0)
		read := func(path string) (body string, kept bool) {
			before, _ := p.Hits(t)
			r := p.Send(t, api.NewRequest(t, apitest.Request{Path: path, Absolute: true}))
			if r.Status != 200 {
				t.Fatalf("%s: %d %s", path, r.Status, r.Body)
			}
			after, _ := p.Hits(t)
			return string(r.Body), after > before
		}
		paths := []string{"/sitemap.xml", "/sitemap-1.xml", "/sitemap-2.xml"}
		for _, path := range paths {
			read(path)
		}
		event := func(title, status string) object {
			return object{"title": title, "start_date": "2026-12-03 10:00", "end_date": "2026-12-03 11:00", "status": status}
		}
		for _, test := range []struct {
			name, path string
			body       object
			kept       []bool // by path
		}{
			{"draft", "/events", event("Rehearsal", "draft"), []bool{true, true, true}},
			{"venue without events", "/venues", object{"venue": "Barn"}, []bool{true, true, true}},
			{"event", "/events", event("Premiere", "publish"), []bool{true, false, true}},
			{"tag", "/tags", object{"name": "Outdoors"}, []bool{true, true, false}},
		} {
			if r := api.Do(t, post("admin", test.path, test.body)); r.Status != 201 {
				t.Fatalf("%s: %d %s", test.name, r.Status, r.Body)
			}
			for i, path := range paths {
				body, kept := read(path)
				if kept != test.kept[i] {
					t.Errorf("%s after %s: kept %t", path, test.name, kept)
				}
				if want := api.Do(t, apitest.Request{Path: path, Absolute: true}); body != string(want.Body) {
					t.Errorf("%s after %s differs:\n%s\n%s", path, test.name, body, want.Body)
				}
			}
		}
	})
}

// TestSitemapsReadWhatTheyName checks that the index finds the records of a sitemap. SQL statements only read
// those records.
func TestSitemapsReadWhatTheyName(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var sent []string
		st.Watch(func(ctx context.Context, _, statement string) (context.Context, func(error)) {
			sent = append(sent, statement)
			return ctx, func(error) {}
		})
		api := apitest.New(t, st)
		sitemapCalendar(t, api)
		for path, most := range map[string]int{"/sitemap.xml": 5, "/sitemap-1.xml": 24} {
			api.Do(t, apitest.Request{Path: path, Absolute: true})
			sent = nil
			api.Do(t, apitest.Request{Path: path, Absolute: true})
			for _, statement := range sent {
				if strings.Contains(statement, eventvenue.Table) || strings.Contains(statement, "DISTINCT") {
					t.Errorf("%s: %s", path, statement)
				}
			}
			if len(sent) > most {
				t.Errorf("%s: %d statements", path, len(sent))
			}
		}
	})
}

func TestRobots(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		indexing bool
		want     string
	}{
		"indexed":     {true, "User-agent: *\nDisallow:\n\nSitemap: " + apitest.BaseURL + "/sitemap.xml\n"},
		"not indexed": {false, "User-agent: *\nDisallow: /\n\nSitemap: " + apitest.BaseURL + "/sitemap.xml\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			custom := settings.Default()
			custom.Indexing = test.indexing
			api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.PageSettings = &custom })
			r := api.Do(t, apitest.Request{Path: "/robots.txt", Absolute: true})
			if r.Status != 200 || string(r.Body) != test.want || r.Header.Get("Content-Type") != "text/plain; charset=UTF-8" {
				t.Errorf("%d: %s", r.Status, r.Body)
			}
		})
	}
}
