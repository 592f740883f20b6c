package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// Slugs as WordPress stores them.
const (
	japaneseSlug = "%e6%97%a5%e6%9c%ac%e8%aa%9e" // 日本語
	primeSlug    = "7%e2%80%b2-%f0%9f%8e%89"     // 7′-🎉
	jazzSlug     = "%cf%84%ce%b6%ce%b1%ce%b6"    // τζαζ
)

// postTo creates a record as an administrator and returns the reply.
func postTo(t *testing.T, api *apitest.API, path string, fields map[string]any) apitest.Response {
	t.Helper()
	reply := api.Do(t, apitest.Request{Method: "POST", Path: path, As: "admin", JSON: fields})
	if reply.Status != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, reply.Status, reply.Body)
	}
	return reply
}

// addEncodedSlugs adds records whose slugs are percent-encoded, such as Japanese ones. All of the events are in
// one Japanese category.
func addEncodedSlugs(t *testing.T, api *apitest.API) {
	t.Helper()
	postTo(t, api, "/categories", map[string]any{"name": "Language", "slug": japaneseSlug})
	parent := api.Do(t, get("/categories?hide_empty=false&slug="+url.QueryEscape(japaneseSlug)+"&_fields=categories.id")).Get(t, "categories", 0, "id")
	postTo(t, api, "/categories", map[string]any{"name": "Jazz in Greek", "slug": jazzSlug, "parent": parent})
	postTo(t, api, "/tags", map[string]any{"name": "Language", "slug": strings.ToUpper(japaneseSlug)})
	postTo(t, api, "/venues", map[string]any{"venue": "Language hall", "slug": japaneseSlug})
	postTo(t, api, "/organizers", map[string]any{"organizer": "Language club", "slug": japaneseSlug})
	event := map[string]any{
		"title": "Language evening", "slug": japaneseSlug, "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00",
		"categories": []any{japaneseSlug, "ΤΖΑΖ"}, "tags": []any{"日本語"},
	}
	postTo(t, api, "/events", event)
	event["slug"], event["title"] = primeSlug, "Seven minutes"
	postTo(t, api, "/events", event)
	event["slug"], event["title"], event["password"] = "%d1%82%d0%b0%d0%b9%d0%bd%d0%b0", "Secret", "sesame"
	postTo(t, api, "/events", event)
	delete(event, "password")
	event["slug"], event["title"], event["rrule"] = jazzSlug, "Course", "FREQ=WEEKLY;COUNT=2"
	postTo(t, api, "/events", event)
}

func TestRecordsAreFoundByEverySpellingOfTheirSlugs(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		addEncodedSlugs(t, api)
		once, upper, twice := japaneseSlug, strings.ToUpper(japaneseSlug), url.PathEscape(japaneseSlug)
		slug := showsMember(fmt.Sprintf("%q", japaneseSlug), "slug")
		for _, spelling := range []string{once, upper, twice, strings.ToUpper(twice)} {
			for _, kind := range []string{"events", "venues", "organizers"} {
				api.Run(t, []apitest.Case{
					{Name: kind + " by slug " + spelling, Request: get("/" + kind + "/by-slug/" + spelling), Status: 200, Check: slug},
				})
			}
			api.Run(t, []apitest.Case{
				{Name: "series " + spelling, Request: get("/series/by-slug/" + strings.ReplaceAll(spelling, japaneseSlug, jazzSlug)), Status: map[bool]int{true: 200, false: 404}[spelling == once]},
				{Name: "categories of " + spelling, Request: get("/events?categories=jazz," + spelling), Status: 200, Check: contains(`"slug":"` + japaneseSlug)},
				{Name: "tags of " + spelling, Request: get("/events?tags=" + spelling), Status: 200, Check: contains(`"slug":"` + japaneseSlug)},
				{Name: "category " + spelling, Request: get("/categories?slug=" + spelling), Status: 200, Check: contains(`"slug":"`+japaneseSlug, `events/category/`+japaneseSlug+`/"`, "!jazz")},
				{Name: "tag " + spelling, Request: get("/tags?slug=" + spelling), Status: 200, Check: contains(`/tag/` + japaneseSlug + `/"`)},
				{Name: "file of " + spelling, Request: page("/event/" + spelling + ".ics"), Status: 200, Check: contains("SUMMARY:Language evening", "URL:http://127.0.0.1:8080/event/"+japaneseSlug+"/")},
				{Name: "calendar of " + spelling, Request: page("/event/" + spelling + "/?ical=1"), Status: 200, Check: contains("SUMMARY:Language evening")},
				{Name: "calendar of the venue " + spelling, Request: page("/venue/" + spelling + "/ical/"), Status: 200},
				{Name: "feed of the category " + spelling, Request: page("/events/category/" + spelling + "/feed/"), Status: 200, Check: contains("<link>http://127.0.0.1:8080/event/"+japaneseSlug+"/</link>", "!%25")},
				{Name: "update by " + spelling, Request: apitest.Request{Method: "PATCH", Path: "/events/by-slug/" + spelling, As: "admin", JSON: `{"excerpt":"Changed"}`}, Status: 200, Check: slug},
			})
			status, check := 200, contains(`rel="canonical" href="http://127.0.0.1:8080`, japaneseSlug)
			if !strings.EqualFold(spelling, once) {
				status, check = 301, func(t *testing.T, r apitest.Response) {
					t.Helper()
					if to := r.Header.Get("Location"); !strings.Contains(to, "/"+japaneseSlug+"/") {
						t.Errorf("leads to %s", to)
					}
				}
			}
			for _, path := range []string{"/event/", "/venue/", "/organizer/", "/events/category/", "/tag/"} {
				api.Run(t, []apitest.Case{{Name: "page " + path + spelling, Request: page(path + spelling + "/"), Status: status, Check: check}})
			}
		}
	})
}

func TestPagesOfRecordsWithEncodedSlugs(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		addEncodedSlugs(t, api)
		const base = "http://127.0.0.1:8080"
		event, child := "/event/"+japaneseSlug+"/", "/events/category/"+japaneseSlug+"/"+jazzSlug+"/"
		secret := "/event/%d1%82%d0%b0%d0%b9%d0%bd%d0%b0/"
		api.Run(t, []apitest.Case{
			{Name: "event", Request: page(event), Status: 200, Check: contains(
				`rel="canonical" href="`+base+event+`"`, `hreflang="x-default" href="`+base+event+`"`, `"url":"`+base+event+`"`,
				`href="/event/`+japaneseSlug+`.ics"`, `href="`+child+`"`, `/tag/`+japaneseSlug+`/"`, "!/%25e6", "!%E6",
			)},
			{Name: "emoji and prime", Request: page("/event/7%E2%80%B2-%F0%9F%8E%89/"), Status: 200, Check: contains(`rel="canonical" href="` + base + "/event/" + primeSlug + `/"`)},
			{Name: "list", Request: page("/events/list/?search=language"), Status: 200, Check: contains(`href="`+event+`"`, "!%25e6", "!%E6")},
			{Name: "chosen category", Request: page("/events/list/?categories=" + url.QueryEscape(japaneseSlug)), Status: 200, Check: contains(`value="` + japaneseSlug + `" selected`)},
			{Name: "chosen category in its letters", Request: page("/events/list/?categories=" + japaneseSlug), Status: 200, Check: contains(`value="` + japaneseSlug + `" selected`)},
			{Name: "home", Request: page("/"), Status: 200, Check: contains("!%25e6", `href="/events/category/`+japaneseSlug+`/"`)},
			{Name: "category", Request: page("/events/category/" + japaneseSlug + "/"), Status: 200, Check: contains(`href="`+child+`"`, `href="`+base+`/events/category/`+japaneseSlug+`/"`)},
			{Name: "category below it", Request: page(strings.ToUpper(child[len("/events/category"):])), Status: 404},
			{Name: "month of a category", Request: page(child + "2026-12/"), Status: 200, Check: contains(`href="`+base+child+`2026-12/"`, `href="`+event+`"`)},
			{Name: "category without its ancestor", Request: page("/events/category/" + strings.ToUpper(jazzSlug) + "/"), Status: 301, Check: leadsTo(child)},
			{Name: "capital letters", Request: page("/events/category/" + japaneseSlug + "/%CE%A4%CE%96%CE%91%CE%96/"), Status: 301, Check: leadsTo(child)},
			{Name: "event by query", Request: page("/?tribe_events=" + japaneseSlug), Status: 301, Check: leadsTo(event)},
			{Name: "event by query, encoded twice", Request: page("/?tribe_events=" + url.QueryEscape(japaneseSlug)), Status: 301, Check: leadsTo(event)},
			{Name: "event by name, encoded twice", Request: page("/?post_type=tribe_events&name=" + url.QueryEscape(japaneseSlug)), Status: 301, Check: leadsTo(event)},
			{Name: "venue by query", Request: page("/?tribe_venue=" + japaneseSlug), Status: 301, Check: leadsTo("/venue/" + japaneseSlug + "/")},
			{Name: "category by query", Request: page("/?tribe_events_cat=" + url.QueryEscape(jazzSlug)), Status: 301, Check: leadsTo(child)},
			{Name: "several categories by query", Request: page("/events/list/?tribe_events_cat=jazz," + url.QueryEscape(jazzSlug)), Status: 200, Check: contains(event)},
			{Name: "file", Request: page("/event/" + japaneseSlug + ".ics"), Status: 200, Check: header("Content-Disposition", `attachment; filename="ri-ben-yu.ics"`)},
			{Name: "file of an emoji", Request: page("/event/" + primeSlug + ".ics"), Status: 200, Check: header("Content-Disposition", `attachment; filename="7.ics"`)},
			{Name: "series", Request: page("/series/" + strings.ToUpper(jazzSlug) + "/"), Status: 200, Check: contains(`href="/event/` + jazzSlug + `-2026-12-05/"`)},
			{Name: "next of a series", Request: page("/event/" + jazzSlug + "/"), Status: 302, Check: leadsTo("/event/" + jazzSlug + "-2026-12-05/")},
			{Name: "day of a series", Request: page("/event/" + strings.ToUpper(jazzSlug) + "/2026-12-12/"), Status: 302, Check: leadsTo("/event/" + jazzSlug + "-2026-12-12/")},
			{Name: "protected", Request: page(strings.ToUpper(secret[:7]) + secret[7:]), Status: 404},
			{Name: "form for the password", Request: page(secret), Status: 200, Check: contains(`action="` + secret + `"`)},
			{Name: "password", Request: apitest.Request{Method: "POST", Path: secret, Absolute: true, Form: "password=sesame"}, Status: 200, Check: contains("!<form method=\"post\"")},
			{Name: "sitemap", Request: page("/sitemap-1.xml"), Status: 200, Check: contains("<loc>"+base+event+"</loc>", "!%25", "!%E6")},
			{Name: "sitemap of categories", Request: page("/sitemap-2.xml"), Status: 200, Check: contains("<loc>"+base+child+"</loc>", "!%25")},
			{Name: "transliteration is another slug", Request: page("/event/ri-ben-yu/"), Status: 404},
			{Name: "half a character", Request: page("/event/%e6%97/"), Status: 404},
			{Name: "withdrawn", Request: apitest.Request{Method: "DELETE", Path: "/events/by-slug/" + japaneseSlug, As: "admin"}, Status: 200, Check: showsMember(`"`+japaneseSlug+`__trashed"`, "slug")},
			{Name: "page of a withdrawn event", Request: page(strings.Replace(event, japaneseSlug, strings.ToUpper(japaneseSlug), 1)), Status: 410},
			{Name: "file of a withdrawn event", Request: page("/event/" + japaneseSlug + ".ics"), Status: 200, Check: contains("STATUS:CANCELLED")},
		})
	})
}

func TestAddressesOfTransliteratedSlugsStay(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		postTo(t, api, "/categories", map[string]any{"name": "日本語"})
		postTo(t, api, "/categories", map[string]any{"name": "Other", "slug": jazzSlug})
		postTo(t, api, "/categories", map[string]any{"name": "Τζαζ"})
		postTo(t, api, "/events", map[string]any{
			"title": "日本語", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00", "categories": []any{"日本語"},
		})
		api.Run(t, []apitest.Case{
			{Name: "page", Request: page("/event/" + japaneseSlug + "/"), Status: 301, Check: leadsTo("/event/ri-ben-yu/")},
			{Name: "page, encoded twice", Request: page("/event/" + url.PathEscape(japaneseSlug) + "/"), Status: 301, Check: leadsTo("/event/ri-ben-yu/")},
			{Name: "by slug", Request: get("/events/by-slug/" + japaneseSlug), Status: 200, Check: showsMember(`"ri-ben-yu"`, "slug")},
			{Name: "filter", Request: get("/events?categories=" + url.QueryEscape(japaneseSlug)), Status: 200, Check: showsMember("1", "total")},
			{Name: "category", Request: get("/categories?slug=" + url.QueryEscape(japaneseSlug)), Status: 200, Check: showsMember("1", "total")},
			{Name: "the encoded slug comes first", Request: get("/categories?hide_empty=false&slug=" + jazzSlug), Status: 200, Check: allChecks(showsMember("1", "total"), showsMember(`"Other"`, "categories", 0, "name"))},
			{Name: "the transliterated one has its own", Request: get("/categories?hide_empty=false&slug=tzaz"), Status: 200, Check: allChecks(showsMember("1", "total"), showsMember(`"Τζαζ"`, "categories", 0, "name"))},
		})
	})
}

func TestWritesOfEncodedSlugs(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		write := func(path string, fields any) apitest.Request {
			return apitest.Request{Method: "POST", Path: path, As: "admin", JSON: fields}
		}
		stored := showsMember(`"`+japaneseSlug+`"`, "slug")
		for _, kind := range []struct {
			path   string
			fields map[string]any
		}{
			{"/events", map[string]any{"title": "One", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00"}},
			{"/events", map[string]any{"title": "Many", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00", "rrule": "FREQ=DAILY;COUNT=2"}},
			{"/venues", map[string]any{"venue": "One"}},
			{"/organizers", map[string]any{"organizer": "One"}},
			{"/categories", map[string]any{"name": "One"}},
			{"/tags", map[string]any{"name": "One"}},
		} {
			fields := kind.fields
			fields["slug"] = "日本語"
			api.Run(t, []apitest.Case{{Name: kind.path + " in letters", Request: write(kind.path, fields), Status: 201, Check: contains(`"ri-ben-yu`)}})
			fields["slug"] = strings.ToUpper(japaneseSlug)
			if kind.path == "/categories" || kind.path == "/tags" {
				fields["name"] = "Two"
			}
			made := postTo(t, api, kind.path, fields)
			path := fmt.Sprintf("%s/%v", kind.path, made.Get(t, "id"))
			if fields["rrule"] != nil {
				series := made.Get(t, "series", "id")
				path = fmt.Sprintf("/series/%v", series)
			}
			api.Run(t, []apitest.Case{
				{Name: path + " read", Request: getAs("admin", path), Status: 200, Check: stored},
				{Name: path + " sent back", Request: write(path, map[string]any{"slug": japaneseSlug}), Status: 200, Check: stored},
				{Name: path + " sent back in letters", Request: write(path, map[string]any{"slug": "日本語"}), Status: 200, Check: stored},
				{Name: path + " other letters", Request: write(path, map[string]any{"slug": "日本"}), Status: 200, Check: contains(`"slug":"ri-ben"`)},
				{Name: path + " encoded again", Request: write(path, map[string]any{"slug": strings.ToUpper(japaneseSlug)}), Status: 200, Check: stored},
				{Name: path + " too long", Request: write(path, map[string]any{"slug": strings.Repeat(japaneseSlug, 8)}), Status: 400, Code: "rest_invalid_param"},
			})
		}
		taken := map[string]any{"venue": "Two", "slug": japaneseSlug}
		api.Run(t, []apitest.Case{
			{Name: "taken", Request: write("/venues", taken), Status: 201, Check: contains(`"slug":"` + japaneseSlug + `-2"`)},
			{Name: "a title is no slug", Request: write("/venues", map[string]any{"venue": "100" + japaneseSlug}), Status: 201, Check: contains(`"slug":"100-e6-97-a5-e6-9c-ac-e8-aa-9e"`)},
			{Name: "emoji in letters", Request: write("/venues", map[string]any{"venue": "🎉", "slug": "🎉"}), Status: 201, Check: contains(`"slug":"venue-`)},
		})
	})
}
