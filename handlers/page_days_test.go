package handlers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// inWarsaw runs a test of the pages of a site in Warsaw. The function add adds an event in a zone and returns its
// id.
func inWarsaw(t *testing.T, test func(t *testing.T, api *apitest.API, add func(title, start, end, zone string, changes ...func(*ent.EventCreate)) int64)) {
	t.Helper()
	warsaw, err := calendar.ParseZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		test(t, api, func(title, start, end, zone string, changes ...func(*ent.EventCreate)) int64 {
			return api.AddEvent(t, title, start, end, append(changes, func(c *ent.EventCreate) { c.SetTimezone(zone) })...)
		})
	}, func(c *handlers.Config) { c.Site.Zone = warsaw })
}

func allDay(c *ent.EventCreate) { c.SetAllDay(true) }

func TestDaysOfOtherZones(t *testing.T) {
	inWarsaw(t, func(t *testing.T, api *apitest.API, add func(title, start, end, zone string, changes ...func(*ent.EventCreate)) int64) {
		add("Tokyo day", "2027-05-05 00:00:00", "2027-05-05 23:59:59", "Asia/Tokyo", allDay)
		add("Evening before", "2027-05-04 20:00:00", "2027-05-04 21:00:00", "Europe/Warsaw")
		add("New York evening", "2027-05-10 19:00:00", "2027-05-10 20:00:00", "America/New_York")
		add("Midnight", "2027-06-18 00:00:00", "2027-06-18 00:00:00", "Europe/Warsaw")
		add("Up to midnight", "2027-06-16 22:00:00", "2027-06-17 00:00:00", "Europe/Warsaw")
		add("Long ago", "2026-03-07 00:00:00", "2026-03-07 23:59:59", "Asia/Tokyo", allDay)
		add("Honolulu", "2027-08-01 00:00:00", "2027-08-01 23:59:59", "Pacific/Honolulu", allDay)
		add("After Honolulu", "2027-08-02 05:00:00", "2027-08-02 06:00:00", "Europe/Warsaw")
		api.Reindex(t)
		api.Run(t, []apitest.Case{
			{Name: "heading", Request: page("/events/list/?start_date=2027-05-01"), Status: 200, Check: inOrder("Tuesday, May 4, 2027", "Evening before", "Wednesday, May 5, 2027", "Tokyo day", "August 1, 2027", "Honolulu", "August 2, 2027", "After Honolulu")},
			{Name: "heading in the past", Request: page("/events/?eventDisplay=past"), Status: 200, Check: contains("Saturday, March 7, 2026")},
			{Name: "neighbour before is a day with events", Request: page("/events/2027-05-08/"), Status: 200, Check: neighbours("/events/2027-05-05/", "/events/2027-05-11/")},
			{Name: "neighbours of the day", Request: page("/events/2027-05-05/"), Status: 200, Check: neighbours("/events/2027-05-04/", "/events/2027-05-11/")},
			{Name: "neighbour after is a day with events", Request: page("/events/2027-05-04/"), Status: 200, Check: neighbours("/events/2026-03-07/", "/events/2027-05-05/")},
			{Name: "moment at midnight", Request: page("/events/2027-06-17/"), Status: 200, Check: neighbours("/events/2027-06-16/", "/events/2027-06-18/")},
			{Name: "what ends at midnight", Request: page("/events/2027-06-16/"), Status: 200, Check: neighbours("/events/2027-05-11/", "/events/2027-06-18/")},
			{Name: "day after Honolulu's", Request: page("/events/2027-08-02/"), Status: 200, Check: neighbours("/events/2027-08-01/", "")},
			{Name: "month names zone and day", Request: page("/events/month/2027-05/"), Status: 200, Check: contains("Mon, May 10, 7:00\u202fPM</time>", "<small>EDT (America/New York)</small>")},
		})
	})
}

func TestDaysOfLongEvents(t *testing.T) {
	inWarsaw(t, func(t *testing.T, api *apitest.API, add func(title, start, end, zone string, changes ...func(*ent.EventCreate)) int64) {
		const zone = "Europe/Warsaw"
		add("Hack", "2027-05-12 05:00:00", "2027-05-13 06:00:00", zone)
		add("From midnight to midnight", "2027-05-20 00:00:00", "2027-05-21 00:00:00", zone)
		add("Night", "2027-05-25 22:00:00", "2027-05-26 04:00:00", zone)
		add("Festival", "2027-08-30 10:00:00", "2027-09-02 18:00:00", zone)
		add("Fair", "2027-10-01 00:00:00", "2027-10-03 23:59:59", zone, allDay)
		add("Long past", "2026-11-10 10:00:00", "2026-11-20 18:00:00", zone)
		add("Short past", "2026-11-15 10:00:00", "2026-11-15 18:00:00", zone)
		add("Late past", "2026-11-17 22:00:00", "2026-11-18 02:00:00", zone)
		api.Reindex(t)
		api.Run(t, []apitest.Case{
			{Name: "25 hours", Request: page("/events/2027-05-12/"), Status: 200, Check: contains("until May 13", "!6:00\u202fAM")},
			{Name: "25 hours on the second day", Request: page("/events/2027-05-13/"), Status: 200, Check: contains("since May 12, 5:00", "until May 13")},
			{Name: "page of 25 hours", Request: page("/event/hack/"), Status: 200, Check: contains("May 13, 2027")},
			{Name: "24 hours", Request: page("/events/2027-05-20/"), Status: 200, Check: contains("until May 21")},
			{Name: "night", Request: page("/events/2027-05-25/"), Status: 200, Check: contains("4:00", "!until")},
			{Name: "night on the second day", Request: page("/events/2027-05-26/"), Status: 200, Check: contains("since May 25, 10:00")},
			{Name: "days", Request: page("/events/2027-09-01/"), Status: 200, Check: contains("since August 30, 10:00", "until September 2")},
			{Name: "days in a month", Request: page("/events/month/2027-09/"), Status: 200, Check: contains("since August 30</time>")},
			{Name: "whole days", Request: page("/events/2027-10-02/"), Status: 200, Check: contains("since October 1</time>", "!All day")},
			{Name: "days in Polish", Request: page("/pl/events/2027-09-01/"), Status: 200, Check: contains("od 30 sierpnia, 10:00", "do 2 września")},
			{Name: "past, by end", Request: page("/events/?eventDisplay=past"), Status: 200, Check: inOrder("November 20, 2026", "Long past", "November 17, 2026", "Late past", "November 15, 2026", "Short past")},
		})
	})
}

// inOrder returns a check that a page contains these texts in this order.
func inOrder(texts ...string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		rest := string(r.Body)
		for _, text := range texts {
			_, after, found := strings.Cut(rest, text)
			if !found {
				t.Errorf("%q is not in its place in %s", text, r.Body)
				return
			}
			rest = after
		}
	}
}

// neighbours returns a check of the links to the previous and the next page. "" means no link.
func neighbours(before, after string) func(*testing.T, apitest.Response) {
	link := func(rel, path string) string {
		if path == "" {
			return `!<link rel="` + rel + `"`
		}
		return `<link rel="` + rel + `" href="http://127.0.0.1:8080` + path + `">`
	}
	return contains(link("prev", before), link("next", after))
}

func TestPagesSayWhatTheyShow(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		cancelled := api.AddEvent(t, "Called off", "2026-11-01 10:00:00", "2026-11-01 12:00:00", func(c *ent.EventCreate) { c.SetEventStatus(calendar.Canceled) })
		api.LinkVenues(t, cancelled, grandHall)
		api.LinkTerms(t, cancelled, music)
		poetry := api.AddTerm(t, calendar.Category, "Poezja", func(c *ent.TermCreate) { c.SetLanguage(calendar.Polish).SetLanguages("pl") })
		reading := api.AddEvent(t, "Reading", "2027-04-05 10:00:00", "2027-04-05 12:00:00")
		api.LinkTerms(t, reading, poetry)
		api.AddEvent(t, "Last of all years", "9999-12-30 10:00:00", "9999-12-30 12:00:00")
		api.Reindex(t)
		root := func(path string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				if got := r.Header.Get("X-TEC-API-ROOT"); got != "http://127.0.0.1:8080/cal/events/v1"+path {
					t.Errorf("X-TEC-API-ROOT is %q", got)
				}
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "month keeps the filters", Request: page("/events/month/2026-12/?search=jazz&categories=music&featured=1&venue=10"), Status: 200, Check: inOrder(`class="goto"`, `name="categories" value="music"`, `name="tribe-bar-date"`)},
			{Name: "month keeps the search", Request: page("/events/month/2026-12/?search=jazz&categories=music"), Status: 200, Check: inOrder(`class="goto"`, `name="search" value="jazz"`, `name="tribe-bar-date"`)},
			{Name: "cancelled events do not end", Request: page("/event/called-off/"), Status: 200, Check: contains(`class="mark canceled"`, "!This event has ended")},
			{Name: "path before category", Request: page("/events/category/music/?categories=nothing"), Status: 200, Check: contains("!nothing", "!Clear filters")},
			{Name: "path before date", Request: page("/events/2026-12-05/?start_date=2027-01-01"), Status: 200, Check: contains("!2027-01-01", "!Clear filters")},
			{Name: "chip of another year", Request: page("/events/list/?start_date=2027-01-01"), Status: 200, Check: contains("From: Jan 1, 2027")},
			{Name: "chip of this year", Request: page("/events/list/?start_date=2026-12-01"), Status: 200, Check: contains("From: Tue, Dec 1 ")},
			{Name: "neighbour of another year", Request: page("/events/2031-01-01/"), Status: 200, Check: contains("</span> Apr 5, 2027</a>", "Dec 30, 9999 <")},
			{Name: "past of a category", Request: page("/events/category/music/?eventDisplay=past"), Status: 200, Check: contains("<title>Music – Past events – ", "<h1>Music – Past events</h1>", `content="Music – Past events"`, "ends_before=now")},
			{Name: "past of a venue", Request: page("/venue/grand-hall/?eventDisplay=past"), Status: 200, Check: contains("<title>Grand Hall – Past events – ", "ends_before=now")},
			{Name: "featured", Request: page("/events/featured/"), Status: 200, Check: contains("<h1>Upcoming events – Featured</h1>", `<span class="hide">Remove`, " checked", `<details class="filter" open>`)},
			{Name: "month of featured ones", Request: page("/events/month/featured/"), Status: 200, Check: root("/events/?featured=1")},
			{Name: "featured ones of a category", Request: page("/events/category/music/featured/"), Status: 200, Check: root("/events/?categories=music&featured=1")},
			{Name: "page as parameter", Request: page("/events/list/?page=2"), Status: 200, Check: contains("page 2", "/events/list/page/2/\"")},
			{Name: "subscription of a day", Request: page("/events/2026-12-05/"), Status: 200, Check: contains("<summary>Subscribe: All events</summary>")},
			{Name: "subscription of the month of a category", Request: page("/events/category/music/2026-12/"), Status: 200, Check: contains("<summary>Subscribe: Music</summary>")},
			{Name: "language of a category", Request: page("/events/2027-04-05/"), Status: 200, Check: contains(`<span class="cat" lang="pl">Poezja</span>`)},
			{Name: "heading of the day of a category", Request: page("/events/category/poezja/2027-04-05/"), Status: 200, Check: contains(`<h1 lang="pl">Poezja</h1>`)},
			{Name: "heading of the month of a category", Request: page("/events/category/poezja/2027-04/"), Status: 200, Check: contains(`<h1><span lang="pl">Poezja</span>, April 2027</h1>`)},
			{Name: "last month", Request: page("/events/month/9999-12/"), Status: 200, Check: contains("Last of all years", `!"10000-`)},
			{Name: "first month", Request: page("/events/month/1000-01/"), Status: 200, Check: contains("!0999", "starts_before=1000-01-31")},
			{Name: "a repeated key", Request: page("/events/list/?categories=music&categories=sport"), Status: 200, Check: contains("events.ics?categories=music%2Csport")},
			{Name: "featured in another word", Request: page("/events/list/?featured=true"), Status: 200, Check: contains(` name="featured" value="1" checked`)},
			{Name: "names of parameters are not shown", Request: page("/events/month/?tribe-bar-date=garbage"), Status: 400, Check: contains(`role="alert">Enter a date.<`)},
			{Name: "page that is none", Request: page("/pl/events/?page=abc"), Status: 400, Check: contains(`role="alert">Prosimy sprawdzić adres albo wrócić do kalendarza.<`)},
		})
	})
}

func TestPagesHoldUntilWhatIsNextBegins(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		hall := api.AddVenue(t, "Hall")
		past := api.AddEvent(t, "Over", "2026-11-01 10:00:00", "2026-11-01 12:00:00")
		soon := api.AddEvent(t, "Soon", "2026-11-21 12:10:00", "2026-11-21 20:00:00", func(c *ent.EventCreate) { c.SetFeatured(true) })
		api.LinkVenues(t, past, hall)
		api.LinkVenues(t, soon, hall)
		api.Reindex(t)
		api.Serve(api.Caching(t, 24*time.Hour))
		for _, path := range []string{"/", "/events/list/?search=nothing", "/event/over/"} {
			r := api.Do(t, page(path))
			if got := r.Header.Get("Cache-Control"); r.Status != 200 || got != "public, max-age=600" {
				t.Errorf("%s: %d, Cache-Control is %q", path, r.Status, got)
			}
		}
	})
}
