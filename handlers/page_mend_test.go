package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestNearEventsDoNotDiscloseADraftVenue(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		draft := api.AddVenue(t, "draft hall", func(c *ent.VenueCreate) { c.SetStatus(calendar.Draft) })
		for _, title := range []string{"One there", "Another there"} {
			api.LinkVenues(t, api.AddEvent(t, title, "2026-12-02 10:00:00", "2026-12-02 11:00:00"), draft)
		}
		api.Reindex(t)
		contains("One there", "!Another there")(t, api.Do(t, page("/event/one-there/")))
	})
}

func TestDatesOfASeriesLeadToItsEvents(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		single := api.Do(t, post("admin", "/events", object{
			"title": "Weekly talk", "start_date": "2026-12-01 18:00", "end_date": "2026-12-01 19:00", "timezone": "UTC",
		}))
		api.Do(t, patch("admin", "/events/"+fmt.Sprint(single.Get(t, "id")), object{"rrule": "FREQ=WEEKLY;COUNT=3"}))
		moved := api.Do(t, apitest.Request{Path: "/events/by-slug/weekly-talk-2026-12-08", As: "admin"})
		api.Do(t, patch("admin", "/events/"+fmt.Sprint(moved.Get(t, "id")), object{
			"start_date": "2027-03-20 18:00", "end_date": "2027-03-20 19:00",
		}))
		api.Run(t, []apitest.Case{
			{Name: "an event of the same slug", Request: page("/event/weekly-talk/2026-12-15/"), Status: 302, Check: leadsTo("/event/weekly-talk-2026-12-15/")},
			{Name: "moved to another day", Request: page("/event/weekly-talk/2026-12-08/"), Status: 302, Check: leadsTo("/event/weekly-talk-2026-12-08/")},
			{Name: "the day it was moved to", Request: page("/event/weekly-talk/2027-03-20/"), Status: 404},
			{Name: "its past", Request: page("/series/weekly-talk/?eventDisplay=past"), Status: 200, Check: contains("noindex", "!/page/2/")},
			{Name: "link to its past", Request: page("/series/weekly-talk/"), Status: 200, Check: contains("/series/weekly-talk/?eventDisplay=past")},
		})
	})
}

func TestRedirectsOfPages(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		for path, location := range map[string]string{
			"/?p={jazzNight}&utm=x":     "/event/winter-jazz-blues/?utm=x",
			"/events/2026-12/":          "/events/month/2026-12/",
			"/event/Winter-Jazz-Blues/": "/event/winter-jazz-blues/",
		} {
			r := api.Do(t, page(apitest.Named(path)))
			leadsTo(location)(t, r)
			if got := r.Header.Get("Cache-Control"); got != "no-cache" {
				t.Errorf("%s: Cache-Control %q", path, got)
			}
		}
		deep := "/events/category" + strings.Repeat("/music", 33) + "/"
		if r := api.Do(t, page(deep)); r.Status != 404 {
			t.Errorf("33 categories: %d", r.Status)
		}
	})
}

func TestAnUnlockedPageIsNotForMachines(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		send := func(form string) apitest.Request {
			return apitest.Request{Method: "POST", Path: "/event/members-only/", Absolute: true, Form: form}
		}
		api.Run(t, []apitest.Case{
			{Name: "unlocked", Request: send("password=sesame"), Status: 200, Check: contains("Handshake", "noindex", "!ld+json", "!hreflang=\"pl\" href=\"http", "!application/json")},
			{Name: "form that is too large", Request: send("password=" + strings.Repeat("x", 9<<10)), Status: 413},
			{Name: "no form", Request: apitest.Request{Method: "POST", Path: "/event/members-only/", Absolute: true, JSON: object{"password": "sesame"}}, Status: 400, Check: contains("<html", "!Handshake")},
		})
	})
}

func TestPagesThatAreOffAreNotNamed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		custom := settings.Default()
		custom.Pages.List, custom.Pages.Venue, custom.Pages.Tag, custom.Pages.Docs = false, false, false, false
		api := apitest.New(t, st, func(c *handlers.Config) { c.PageSettings = &custom })
		api.Example(t)
		for path := range crawl(t, api) {
			if strings.Contains(path, "/venue/") || strings.Contains(path, "/tag/") {
				t.Errorf("the sitemap names %s", path)
			}
			if r := api.Do(t, page(path)); r.Status != 200 {
				t.Errorf("the sitemap names %s: %d", path, r.Status)
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "category", Request: page("/events/category/music/"), Status: 200, Check: contains("<table")},
			{Name: "past of a category", Request: page("/events/category/music/?eventDisplay=past&search=jazz"), Status: 302, Check: leadsTo("/events/category/music/?search=jazz")},
			{Name: "second page of a category", Request: page("/events/category/music/page/2/?page=2"), Status: 302, Check: leadsTo("/events/category/music/")},
			{Name: "venue by id", Request: page("/?p={grandHall}"), Status: 404},
			{Name: "for developers", Request: page("/developers/"), Status: 404},
			{Name: "reference", Request: page("/docs"), Status: 404},
		})
	})
}
