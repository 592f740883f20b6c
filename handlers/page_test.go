package handlers_test

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// page returns a GET request for a page.
func page(path string) apitest.Request { return apitest.Request{Path: path, Absolute: true} }

// contains returns a check that a page contains each text. A text after "!" must be missing.
func contains(texts ...string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		for _, text := range texts {
			wanted, unwanted := strings.CutPrefix(text, "!")
			if bytes.Contains(r.Body, []byte(wanted)) == unwanted {
				t.Errorf("%q, wanted: %t, in %s", wanted, !unwanted, r.Body)
			}
		}
	}
}

// leadsTo returns a check that a reply redirects to a URL.
func leadsTo(location string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		if got := r.Header.Get("Location"); got != location {
			t.Errorf("leads to %q, want %q", got, location)
		}
	}
}

// addCourse adds a weekly course through the API.
func addCourse(t *testing.T, api *apitest.API) {
	t.Helper()
	reply := api.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
		"title": "Weekly course", "slug": "weekly-course", "start_date": "2026-11-24 18:00", "end_date": "2026-11-24 19:30",
		"timezone": "UTC", "rrule": "FREQ=WEEKLY;COUNT=5", "categories": []int64{music},
	}})
	if reply.Status != http.StatusCreated {
		t.Fatalf("%d: %s", reply.Status, reply.Body)
	}
}

func TestPagesShowWhatTheyAreAbout(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		addCourse(t, api)
		api.Run(t, []apitest.Case{
			{Name: "home", Request: page("/"), Status: 200, Check: contains("Almanac", "Grand Hall", "Find your thing", "/developers/")},
			{Name: "home in Polish", Request: page("/pl/"), Status: 200, Check: contains(`<html lang="pl"`, "Wkrótce", "/pl/event/")},
			{Name: "list", Request: page("/events/"), Status: 200, Check: contains("Upcoming events", "/event/winter-jazz-blues/", "Members only", "Protected", "!Handshake")},
			{Name: "list without slash", Request: page("/events"), Status: 200, Check: contains("Upcoming events")},
			{Name: "second page", Request: page("/events/page/2/"), Status: 200, Check: contains("Page 2 of", `rel="prev"`)},
			{Name: "page past the end", Request: page("/events/page/99/"), Status: 404, Check: contains("This page does not exist")},
			{Name: "past", Request: page("/events/?eventDisplay=past"), Status: 200, Check: contains("Past events", "!/event/winter-jazz-blues/")},
			{Name: "month", Request: page("/events/month/2026-12/"), Status: 200, Check: contains("<caption", "December 2026", `<th scope="col">`)},
			{Name: "month without events", Request: page("/events/month/1999-12/"), Status: 200, Check: contains("noindex", `rel="next"`, `!rel="prev"`)},
			{Name: "month of a category", Request: page("/events/category/music/2026-12/"), Status: 200, Check: contains("Music, December 2026")},
			{Name: "this month of a category", Request: page("/events/category/music/month/"), Status: 200, Check: contains("Music, November 2026")},
			{Name: "month of the original", Request: page("/events/2026-12/?search=jazz"), Status: 301, Check: leadsTo("/events/month/2026-12/?search=jazz")},
			{Name: "month that there is none", Request: page("/events/month/0999-12/"), Status: 404},
			{Name: "day", Request: page("/events/2026-11-24/"), Status: 200, Check: contains("Weekly course", "Tuesday, November 24, 2026")},
			{Name: "day of the original", Request: page("/events/category/music/day/2026-11-24/"), Status: 301, Check: leadsTo("/events/category/music/2026-11-24/")},
			{Name: "category", Request: page("/events/category/music/"), Status: 200, Check: contains("<h1>Music</h1>", "Music events", "/event/winter-jazz-blues/")},
			{Name: "category below another", Request: page("/events/category/music/jazz/"), Status: 200, Check: contains("<h1>Jazz</h1>", "/events/category/music/")},
			{Name: "category without its ancestor", Request: page("/events/category/jazz/?page=1"), Status: 301, Check: leadsTo("/events/category/music/jazz/?page=1")},
			{Name: "category in another spelling", Request: page("/events/category/Music/"), Status: 301, Check: leadsTo("/events/category/music/")},
			{Name: "unknown category", Request: page("/events/category/nothing/"), Status: 404},
			{Name: "tag", Request: page("/tag/free-entry/"), Status: 200, Check: contains("#Free entry")},
			{Name: "featured", Request: page("/events/featured/"), Status: 200},
			{Name: "event", Request: page("/event/winter-jazz-blues/"), Status: 200, Check: contains("Grand Hall", "application/ld+json", "Add to calendar", "tel:&#43;48220000000")},
			{Name: "event in Polish", Request: page("/pl/event/zimowy-jazz/"), Status: 200, Check: contains("Zimowy jazz i blues", "5 grudnia 2026")},
			{Name: "slug of another language", Request: page("/pl/event/winter-jazz-blues/"), Status: 301, Check: leadsTo("/pl/event/zimowy-jazz/")},
			{Name: "slug of another language in the main one", Request: page("/event/zimowy-jazz/"), Status: 301, Check: leadsTo("/event/winter-jazz-blues/")},
			{Name: "slug in another spelling", Request: page("/event/Winter-Jazz-Blues"), Status: 301, Check: leadsTo("/event/winter-jazz-blues/")},
			{Name: "unknown event", Request: page("/event/nothing/"), Status: 404, Check: contains("<h1>This page does not exist</h1>")},
			{Name: "series", Request: page("/series/weekly-course/"), Status: 200, Check: contains("every Tuesday", "/event/weekly-course-2026-11-24/")},
			{Name: "next of a series", Request: page("/event/weekly-course/"), Status: 302, Check: leadsTo("/event/weekly-course-2026-11-24/")},
			{Name: "day of a series", Request: page("/event/weekly-course/2026-12-08/"), Status: 302, Check: leadsTo("/event/weekly-course-2026-12-08/")},
			{Name: "no day of a series", Request: page("/event/weekly-course/2026-12-09/"), Status: 404},
			{Name: "venue", Request: page("/venue/grand-hall/"), Status: 200, Check: contains("A big hall", "1 Main St", "/event/winter-jazz-blues/")},
			{Name: "venue, past", Request: page("/venue/grand-hall/?eventDisplay=past"), Status: 200, Check: contains("noindex")},
			{Name: "organizer", Request: page("/organizer/alice-co/"), Status: 200, Check: contains("Alice &amp; Co", "Concert agency")},
			{Name: "e-mail address of an organizer", Request: page("/organizer/alice-co/"), Status: 200, Check: contains(
				`<a href="&#109;&#97;&#105;&#108;&#116;&#111;&#58;&#97;&#108;&#105;&#99;&#101;&#64;&#101;&#120;&#97;&#109;&#112;&#108;&#101;&#46;&#111;&#114;&#103;">`+
					`&#97;&#108;&#105;&#99;&#101;&#64;&#101;&#120;&#97;&#109;&#112;&#108;&#101;&#46;&#111;&#114;&#103;</a>`,
				"!alice@example.org", "!mailto:",
			)},
			{Name: "e-mail address of an event's organizer", Request: page("/event/winter-jazz-blues/"), Status: 200, Check: contains("Alice &amp; Co", `"@type":"Person"`, "!alice@example.org")},
			{Name: "e-mail addresses in a list", Request: page("/events/"), Status: 200, Check: contains(`"@type":"Person"`, "!alice@example.org")},
			{Name: "record by id", Request: page("/?p={jazzNight}"), Status: 301, Check: leadsTo("/event/winter-jazz-blues/")},
			{Name: "venue by id", Request: page("/pl/?p={grandHall}"), Status: 301, Check: leadsTo("/pl/venue/grand-hall/")},
			{Name: "trashed by id", Request: page("/?p={trashedEvent}"), Status: 404},
			{Name: "view of the original", Request: page("/events/week/"), Status: 302, Check: leadsTo("/events/")},
			{Name: "list by query", Request: page("/?post_type=tribe_events&utm_source=x"), Status: 301, Check: leadsTo("/events/?utm_source=x")},
			{Name: "category by query", Request: page("/pl/?tribe_events_cat=music&eventDisplay=month"), Status: 301, Check: leadsTo("/pl/events/category/music/month/?eventDisplay=month")},
			{Name: "unknown category by query", Request: page("/?tribe_events_cat=nothing"), Status: 404},
			{Name: "event by query", Request: page("/?tribe_events=winter-jazz-blues"), Status: 301, Check: leadsTo("/event/winter-jazz-blues/")},
			{Name: "venue by query", Request: page("/?post_type=tribe_venue&name=grand-hall"), Status: 301, Check: leadsTo("/venue/grand-hall/")},
			{Name: "list of venues by query", Request: page("/?post_type=tribe_venue"), Status: 404},
			{Name: "unknown feed by query", Request: page("/?feed=comments-rss2"), Status: 404},
			{Name: "view of the original by query", Request: page("/events/?eventDisplay=photo"), Status: 302, Check: leadsTo("/events/?eventDisplay=photo")},
			{Name: "month by query", Request: page("/events/?eventDisplay=month&eventDate=2026-12"), Status: 200, Check: contains("December 2026")},
			{Name: "past page by query", Request: page("/events/list/?tribe_event_display=past&tribe_paged=99"), Status: 404},
			{Name: "several categories", Request: page("/events/list/?tribe_events_cat=music,sport"), Status: 200, Check: contains("noindex")},
			{Name: "place", Request: page("/events/list/?tribe-bar-geoloc=Krakow"), Status: 400},
			{Name: "another method", Request: apitest.Request{Method: "DELETE", Path: "/events/", Absolute: true}, Status: 404},
		})
	})
}

func TestFormsOfPages(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		field := `aria-invalid="true" aria-describedby="e-start_date"`
		api.Run(t, []apitest.Case{
			{Name: "search", Request: page("/events/list/?search=jazz"), Status: 200, Check: contains(`value="jazz"`, "/event/winter-jazz-blues/", "!/event/city-run/", "noindex")},
			{Name: "empty fields are not sent", Request: page("/events/list/?search=&start_date=&end_date=&categories=&featured="), Status: 200, Check: contains("!noindex", "!Clear filters")},
			{Name: "the search of the original", Request: page("/events/?tribe-bar-search=jazz"), Status: 200, Check: contains(`value="jazz"`)},
			{Name: "the day of the original", Request: page("/events/today/?tribe-bar-date=2026-11-24"), Status: 200, Check: contains("Tuesday, November 24, 2026", `rel="canonical" href="http://127.0.0.1:8080/events/2026-11-24/"`)},
			{Name: "the month of the original", Request: page("/events/month/?tribe-bar-date=2026-12-05"), Status: 200, Check: contains("December 2026", `rel="canonical" href="http://127.0.0.1:8080/events/month/2026-12/"`)},
			{Name: "the month of the form", Request: page("/events/month/?tribe-bar-date=2027-02&search=jazz"), Status: 200, Check: contains("February 2027", `value="jazz"`)},
			{Name: "the date of the original in a list", Request: page("/events/list/?tribe-bar-date=2026-12-01"), Status: 200, Check: contains(`value="2026-12-01"`)},
			{Name: "no date", Request: page("/events/list/?start_date=soon-ish&search=jazz"), Status: 400, Check: contains(field, `value="soon-ish"`, `value="jazz"`, `action="/events/list/"`, "!/event/winter-jazz-blues/")},
			{Name: "no date of a month", Request: page("/events/month/?tribe-bar-date=nope"), Status: 400, Check: contains("<table", `action="/events/month/"`)},
			{Name: "unknown category", Request: page("/events/list/?categories=nothing"), Status: 400, Check: contains(`aria-describedby="e-categories"`)},
			{Name: "page that is none", Request: page("/events/list/?page=x"), Status: 400, Check: contains(`role="alert"`)},
			{Name: "unknown language", Request: page("/events/list/?ml_language=xx"), Status: 400},
			{Name: "language by parameter", Request: page("/events/list/?ml_language=es"), Status: 200, Check: contains(`<html lang="es"`, `href="/es/event/`)},
			{Name: "status is no parameter of pages", Request: page("/events/list/?status=draft&password=x&per_page=1"), Status: 200, Check: contains("/event/winter-jazz-blues/")},
			{Name: "markup stays text", Request: page("/events/list/?search=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"), Status: 200, Check: contains("!<script>alert")},
			{Name: "unknown parameters are in no link", Request: page("/events/list/?utm_source=x"), Status: 200, Check: contains("!utm_source")},
		})
	})
}

func TestProtectedEventsHaveAForm(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		const path = "/event/members-only/"
		send := func(password string) apitest.Request {
			return apitest.Request{Method: "POST", Path: path, Absolute: true, Form: "password=" + password}
		}
		private := func(texts ...string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				contains(texts...)(t, r)
				if got := r.Header.Get("Cache-Control"); got != "private, no-store" {
					t.Errorf("Cache-Control is %q", got)
				}
				if r.Header.Get("Set-Cookie") != "" {
					t.Error("a cookie was set")
				}
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "asked", Request: page(path), Status: 200, Check: private("Members only", `type="password"`, "!Handshake", "!ld+json", "noindex")},
			{Name: "password in the query", Request: page(path + "?password=sesame"), Status: 200, Check: private(`type="password"`, "!Handshake")},
			{Name: "right", Request: send("sesame"), Status: 200, Check: private("Handshake", `!type="password"`)},
			{Name: "wrong", Request: send("simsim"), Status: 403, Check: private("The password is wrong.", `aria-invalid="true"`, "!Handshake")},
			{Name: "nothing", Request: send(""), Status: 200, Check: private("!Handshake", "!The password is wrong.")},
			{Name: "of an event without", Request: apitest.Request{Method: "POST", Path: "/event/winter-jazz-blues/", Absolute: true, Form: "password=x"}, Status: 200},
			{Name: "credentials are not looked at", Request: apitest.Request{Path: path, Absolute: true, As: "admin"}, Status: 200, Check: contains("!Handshake")},
		})
	})
}

// TestPagesLeakNothing searches all pages for the texts of events that visitors may not see.
func TestPagesLeakNothing(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		secret := func(title string, change func(*ent.EventCreate)) {
			id := api.AddEvent(t, title, "2028-05-05 10:00:00", "2028-05-06 12:00:00", change)
			api.LinkVenues(t, id, grandHall)
			api.LinkTerms(t, id, music)
		}
		secret("Zebra draft", func(c *ent.EventCreate) { c.SetStatus(calendar.Draft) })
		secret("Zebra private", func(c *ent.EventCreate) { c.SetStatus(calendar.Private) })
		secret("Zebra hidden", func(c *ent.EventCreate) { c.SetHideFromListings(true) })
		secret("Zebra scheduled", func(c *ent.EventCreate) {
			c.SetStatus(calendar.Future).SetPublishedAt(apitest.Now.Add(time.Hour))
		})
		api.Reindex(t)
		for _, path := range []string{
			"/", "/events/page/2/", "/events/list/?start_date=2028-01-01", "/events/month/2028-05/", "/events/2028-05-05/",
			"/events/2028-05-06/", "/events/category/music/2028-05/", "/venue/grand-hall/", "/event/winter-jazz-blues/",
			"/events/list/?search=zebra", "/events/list/?include=1,2,3,4,5,30,31,32,33,34",
		} {
			contains("!Zebra")(t, api.Do(t, page(path)))
		}
		// The last month with events has no link to a month with hidden events only.
		for _, path := range []string{"/events/month/2027-12/", "/events/month/2028-05/", "/events/2028-05-01/", "/events/2028-05-05/"} {
			contains(`!rel="next"`, `rel="prev"`)(t, api.Do(t, page(path)))
		}
		api.Run(t, []apitest.Case{
			{Name: "a hidden event has a page", Request: page("/event/zebra-hidden/"), Status: 200, Check: contains("Zebra hidden", "noindex")},
			{Name: "a draft has none", Request: page("/event/zebra-draft/"), Status: 404, Check: contains("!Zebra")},
			{Name: "a private one has none", Request: page("/event/zebra-private/"), Status: 404, Check: contains("!Zebra")},
			{Name: "a scheduled one has none", Request: page("/event/zebra-scheduled/"), Status: 404, Check: contains("!Zebra")},
			{Name: "a protected one is found by nothing that is secret", Request: page("/events/list/?search=handshake"), Status: 200, Check: contains("!Members only")},
		})
	})
}

func TestDaysOfEvents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		warsaw, err := calendar.ParseZone("Europe/Warsaw")
		must.Succeed(t, err)
		api := apitest.New(t, st, func(c *handlers.Config) { c.Site.Zone = warsaw })
		zone := func(name string) func(*ent.EventCreate) { return func(c *ent.EventCreate) { c.SetTimezone(name) } }
		api.AddEvent(t, "Three days", "2027-01-10 20:00:00", "2027-01-12 10:00:00", zone("Europe/Warsaw"))
		api.AddEvent(t, "Ends at midnight", "2027-01-10 20:00:00", "2027-01-11 00:00:00", zone("Europe/Warsaw"))
		api.AddEvent(t, "Moment at midnight", "2027-01-11 00:00:00", "2027-01-11 00:00:00", zone("Europe/Warsaw"))
		api.AddEvent(t, "Tokyo all day", "2027-01-12 00:00:00", "2027-01-12 23:59:59", zone("Asia/Tokyo"), func(c *ent.EventCreate) { c.SetAllDay(true) })
		api.AddEvent(t, "Tokyo evening", "2027-01-12 05:00:00", "2027-01-12 07:00:00", zone("Asia/Tokyo"))
		api.AddEvent(t, "Protected all day", "2027-01-12 00:00:00", "2027-01-12 23:59:59", zone("Asia/Tokyo"), func(c *ent.EventCreate) {
			c.SetAllDay(true).SetPasswordHash([]byte("01234567890123456789012345678901"))
		})
		api.Reindex(t)
		for day, want := range map[string][]string{
			"2027-01-09": {},
			"2027-01-10": {"Three days", "Ends at midnight"},
			"2027-01-11": {"Three days", "Moment at midnight", "Tokyo evening", "Protected all day"},
			"2027-01-12": {"Three days", "Tokyo all day", "Protected all day"},
			"2027-01-13": {},
		} {
			var texts []string
			for _, title := range []string{"Three days", "Ends at midnight", "Moment at midnight", "Tokyo all day", "Tokyo evening", "Protected all day"} {
				if !slices.Contains(want, title) {
					title = "!" + title
				}
				texts = append(texts, title)
			}
			contains(texts...)(t, api.Do(t, page("/events/"+day+"/")))
		}
		contains("JST")(t, api.Do(t, page("/event/tokyo-evening/")))
		contains("2027-01-10/\"", `rel="next"`, `!rel="prev"`)(t, api.Do(t, page("/events/2027-01-09/")))
		contains("2027-01-12/\"", `rel="prev"`, `!rel="next"`)(t, api.Do(t, page("/events/2027-01-13/")))
	})
}

func TestMonthsWithManyEvents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		const events = 2100
		rows := make([]*ent.EventCreate, 0, events)
		records := make([]*ent.RecordCreate, 0, events)
		for i := range events {
			id := int64(1000 + i)
			records = append(records, api.Store.Ent.Record.Create().SetID(id).SetKind(calendar.Event))
			start := calendar.WallAt(2027, 3, 1+i%31, 10, 0, 0)
			rows = append(rows, api.Store.Ent.Event.Create().SetID(id).SetStatus(calendar.Publish).SetPublishedAt(apitest.Now).
				SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(apitest.Now).SetModifiedAt(apitest.Now).
				SetTitle(fmt.Sprintf("Event %d", i)).SetSlug(fmt.Sprintf("event-%d", i)).SetTimezone("UTC").
				SetStartWall(start).SetEndWall(start).SetStartsAt(calendar.UTC().Instant(start)).SetEndsAt(calendar.UTC().Instant(start)))
		}
		for i := 0; i < events; i += 300 {
			must.Succeed(t, api.Store.Ent.Record.CreateBulk(records[i:min(i+300, events)]...).Exec(t.Context()))
			must.Succeed(t, api.Store.Ent.Event.CreateBulk(rows[i:min(i+300, events)]...).Exec(t.Context()))
		}
		r := api.Do(t, page("/events/month/2027-03/"))
		contains("2,100 events", "63 more on March 1", "62 more on March 31")(t, r)
		if n := bytes.Count(r.Body, []byte(`href="/event/`)); n != 5*31 {
			t.Errorf("%d events in the month", n)
		}
		contains("68 events", "Event 0<", "?page=2")(t, api.Do(t, page("/events/2027-03-01/")))
	})
}

func TestHeadsOfPages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		const base = "http://127.0.0.1:8080"
		canonical := func(path string) string { return `<link rel="canonical" href="` + base + path + `">` }
		other := func(language, path string) string {
			return `<link rel="alternate" hreflang="` + language + `" href="` + base + path + `">`
		}
		root := func(path string, more ...string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				if got := r.Header.Get("X-TEC-API-ROOT"); got != base+"/cal/events/v1"+path {
					t.Errorf("X-TEC-API-ROOT is %q", got)
				}
				contains(more...)(t, r)
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "home", Request: page("/"), Status: 200, Check: root("/", canonical("/"), other("pl", "/pl/"), other("x-default", "/"))},
			{Name: "list", Request: page("/pl/events/list/"), Status: 200, Check: root("/", canonical("/pl/events/"), other("en", "/events/"))},
			{Name: "page of a list", Request: page("/events/page/2/"), Status: 200, Check: root("/", canonical("/events/list/page/2/"), `<link rel="prev" href="`+base+`/events/list/">`)},
			{Name: "event", Request: page("/event/winter-jazz-blues/"), Status: 200, Check: root("/events/15", canonical("/event/winter-jazz-blues/"), other("pl", "/pl/event/zimowy-jazz/"), other("x-default", "/event/winter-jazz-blues/"), "!"+`hreflang="es" href="`+base, `property="og:image" content="`+base+`/media/`)},
			{Name: "event without text in the language", Request: page("/es/event/winter-jazz-blues/"), Status: 200, Check: root("/events/15", canonical("/event/winter-jazz-blues/"))},
			{Name: "term without text in the language", Request: page("/es/events/category/music/"), Status: 200, Check: root("/events/?categories=music", canonical("/events/category/music/"), "!"+`hreflang="es" href="`+base)},
			{Name: "tag", Request: page("/tag/free-entry/"), Status: 200, Check: root("/events/?tags=free-entry")},
			{Name: "venue", Request: page("/venue/grand-hall/"), Status: 200, Check: root("/events/?venue=10", `type="text/calendar"`, "/events.ics?venue=10")},
			{Name: "organizer", Request: page("/organizer/bob/"), Status: 200, Check: root("/events/?organizer=13")},
			{Name: "featured", Request: page("/events/featured/"), Status: 200, Check: root("/events/?featured=1", canonical("/events/featured/"))},
			{Name: "feeds of a filter", Request: page("/events/list/?search=jazz"), Status: 200, Check: root("/", "/events.ics?search=jazz", "/events.atom?search=jazz", canonical("/events/?search=jazz"))},
		})
		r := api.Do(t, page("/events/month/2026-12/"))
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=UTF-8", "Content-Language": "en", "Referrer-Policy": "strict-origin-when-cross-origin",
			"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "", "X-TEC-API-ORIGIN": base, "X-TEC-API-VERSION": "v1",
			"Vary": "Accept-Encoding",
			"Content-Security-Policy": "default-src 'none'; script-src 'self' " + base + "; style-src 'self' " + base + "; img-src 'self' " + base +
				" data:; connect-src 'self' " + base + "; form-action 'self' " + base + "; base-uri 'none'; frame-ancestors 'none'",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if r.Header.Get("ETag") == "" || !strings.Contains(r.Header.Get("Link"), `rel="alternate"`) {
			t.Errorf("ETag %q, Link %q", r.Header.Get("ETag"), r.Header.Get("Link"))
		}
		again := page("/events/month/2026-12/")
		again.Header = map[string]string{"If-None-Match": r.Header.Get("ETag")}
		if got := api.Do(t, again); got.Status != http.StatusNotModified {
			t.Errorf("the same page again: %d", got.Status)
		}
	})
}

func TestDescriptionsArePartsOfPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.AddEvent(t, "Text", "2026-12-01 10:00:00", "2026-12-01 12:00:00", func(c *ent.EventCreate) {
			c.SetDescription(`<h1>Big</h1><p>x</p><h3>Small</h3><img src="https://other.example/a.png" alt="A picture">` +
				`<img src="` + apitest.BaseURL + `/media/2026/11/b.png"><script>alert(1)</script><p onclick="x()">y</p>`)
		})
		contains("<h2>Big</h2>", "<h3>Small</h3>", `<a href="https://other.example/a.png" rel="noreferrer">A picture</a>`,
			`<img src="/media/2026/11/b.png" alt="" loading="lazy">`, "!alert(1)", "!onclick", `!<img src="https:`,
		)(t, api.Do(t, page("/event/text/")))
	})
}

func TestPagesThatAreOff(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		custom := settings.Default()
		custom.Pages = settings.Pages{List: true, Event: true}
		custom.Title = settings.Text{"": "Harbour"}
		custom.Tagline = settings.Text{calendar.Polish: "Nad wodą"}
		api := apitest.New(t, st, func(c *handlers.Config) { c.PageSettings = &custom })
		api.Example(t)
		for _, path := range []string{
			"/events/month/", "/events/today/", "/venue/grand-hall/", "/organizer/bob/", "/events/category/music/", "/tag/free-entry/",
		} {
			if r := api.Do(t, page(path)); r.Status != http.StatusNotFound {
				t.Errorf("%s: %d", path, r.Status)
			}
		}
		link := regexp.MustCompile(`href="([^"]*)"`)
		for _, path := range []string{"/", "/pl/events/", "/event/winter-jazz-blues/", "/events/list/?categories=music"} {
			r := api.Do(t, page(path))
			for _, match := range link.FindAllSubmatch(r.Body, -1) {
				href := html.UnescapeString(string(match[1]))
				for _, off := range []string{"/month/", "/today/", "/venue/", "/organizer/", "/category/", "/tag/", "/events.ics", "/developers"} {
					if strings.Contains(href, off) {
						t.Errorf("%s links %s", path, href)
					}
				}
			}
			contains("Harbour")(t, r)
		}
	})
}

// TestDatesAreThoseOfALanguage searches pages of other languages for English names of days and months.
func TestDatesAreThoseOfALanguage(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		english := regexp.MustCompile(`>[^<]*\b(November|December|Monday|Saturday|AM|PM|Nov|Sat)\b`)
		for _, path := range []string{"/pl/", "/es/", "/pl/events/", "/es/events/", "/pl/events/month/", "/es/events/month/", "/pl/event/zimowy-jazz/", "/es/event/winter-jazz-blues/", "/pl/events/2026-11-24/"} {
			if found := english.Find(api.Do(t, page(path)).Body); found != nil {
				t.Errorf("%s: %s", path, found)
			}
		}
	})
}

func TestPagesOfWithdrawnEvents(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		add := func(slug string, status calendar.Status) int64 {
			reply := api.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
				"title": "Secret party", "slug": slug, "status": status, "start_date": "2026-12-24 18:00", "end_date": "2026-12-24 19:30",
			}})
			if reply.Status != http.StatusCreated {
				t.Fatalf("%d: %s", reply.Status, reply.Body)
			}
			return int64(reply.Get(t, "id").(float64))
		}
		change := func(id int64, method string, body map[string]any) {
			if reply := api.Do(t, apitest.Request{Method: method, Path: fmt.Sprintf("/events/%d", id), As: "admin", JSON: body}); reply.Status != http.StatusOK {
				t.Fatalf("%d: %s", reply.Status, reply.Body)
			}
		}
		change(add("trashed", calendar.Publish), "DELETE", nil)
		back := add("back", calendar.Publish)
		change(back, "PATCH", map[string]any{"status": "draft"})
		change(back, "PATCH", map[string]any{"status": "publish"})
		change(add("renamed", calendar.Publish), "PATCH", map[string]any{"status": "draft", "slug": "other"})
		change(add("never", calendar.Draft), "DELETE", nil)
		for _, row := range []struct {
			path   string
			status int
		}{
			{"/event/trashed/", http.StatusGone},
			{"/pl/event/trashed/", http.StatusGone},
			{"/event/renamed/", http.StatusGone},
			{"/event/other/", http.StatusNotFound},
			{"/event/back/", http.StatusOK},
			{"/event/never/", http.StatusNotFound},
			{"/event/trashed/2026-12-24/", http.StatusNotFound},
		} {
			reply := api.Do(t, page(row.path))
			if reply.Status != row.status {
				t.Errorf("%s: %d, want %d", row.path, reply.Status, row.status)
			}
			if row.status != http.StatusOK && bytes.Contains(reply.Body, []byte("Secret")) {
				t.Errorf("%s has a text of the event: %s", row.path, reply.Body)
			}
		}
	})
}

// isErrorPage returns a check that a reply is an HTML error page in a language.
func isErrorPage(language string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		contains(`<html lang="`+language+`"`, `<section class="error">`)(t, r)
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=UTF-8", "Content-Language": language, "X-Robots-Tag": "noindex, follow",
			"Access-Control-Allow-Origin": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestErrorsForVisitorsArePages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		asked := func(method, path, accept, language string) apitest.Request {
			return apitest.Request{
				Method: method, Path: path, Absolute: true,
				Header: map[string]string{"Accept": accept, "Accept-Language": language},
			}
		}
		const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
		isJSON := func(t *testing.T, r apitest.Response) {
			t.Helper()
			if code := r.Get(t, "code"); code == nil || code == "" {
				t.Errorf("no code in %s", r.Body)
			}
		}
		long := strings.Repeat("x", 8<<10)
		api.Run(t, []apitest.Case{
			{Name: "month that is none", Request: page("/events/month/2026-13/"), Status: 404, Check: isErrorPage("en")},
			{Name: "page that is none", Request: page("/events/page/0/"), Status: 404, Check: isErrorPage("en")},
			{Name: "view that is none", Request: page("/pl/events/foo/"), Status: 404, Check: isErrorPage("pl")},
			{Name: "below a tag", Request: asked("GET", "/tag/live/foo", "", "es"), Status: 404, Check: isErrorPage("en")},
			{Name: "event without a slug", Request: page("/event/?ml_language=es"), Status: 404, Check: isErrorPage("es")},
			{Name: "below the page for developers", Request: page("/developers/more/"), Status: 404, Check: isErrorPage("en")},
			{Name: "below a venue", Request: page("/venue/grand-hall/hall/"), Status: 404, Check: isErrorPage("en")},
			{Name: "long address", Request: page("/events/" + long), Status: 414, Check: isErrorPage("en")},
			{Name: "long search", Request: page("/events/list/?search=" + long), Status: 414, Check: isErrorPage("en")},
			{Name: "long form", Request: apitest.Request{Method: "POST", Path: "/event/members-only/", Absolute: true, Form: "password=" + long}, Status: 413, Check: isErrorPage("en")},
			{Name: "another method", Request: asked("PUT", "/events/", "", ""), Status: 404, Check: isErrorPage("en")},
			{Name: "unknown path of a browser", Request: asked("GET", "/kontakt", browser, "pl"), Status: 404, Check: isErrorPage("en")},
			{Name: "unknown path of a browser below a language", Request: asked("GET", "/es/contacto", strings.ToUpper(browser), "pl"), Status: 404, Check: isErrorPage("es")},
			{Name: "unknown path of a client", Request: asked("GET", "/kontakt", "*/*", ""), Status: 404, Code: "rest_no_route"},
			{Name: "unknown path that JSON is wanted of", Request: asked("GET", "/kontakt", "application/json, text/html;q=0.5", ""), Status: 404, Code: "rest_no_route"},
			{Name: "long unknown path of a client", Request: page("/" + long), Status: 413, Check: isJSON},
			{Name: "unknown path of the API of a browser", Request: asked("GET", "/cal/events/v1/nothing", browser, ""), Status: 404, Code: "rest_no_route"},
			{Name: "unknown event of the API of a browser", Request: asked("GET", "/pl/cal/events/v1/events/999999", browser, ""), Status: 404, Check: isJSON},
			{Name: "feed of a browser", Request: asked("GET", "/events.ics?start_date=x", browser, ""), Status: 400, Check: isJSON},
		})
	})
}
