package handlers_test

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// offerLanguages returns an option that sets the languages of pages and feeds, the main one first.
func offerLanguages(languages ...calendar.Language) func(*handlers.Config) {
	return func(c *handlers.Config) {
		custom := settings.Default()
		custom.Languages = languages
		c.Site.Language, c.PageSettings = languages[0], &custom
	}
}

func TestLanguagesOfPages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		form := func(path string) apitest.Request {
			return apitest.Request{Method: "POST", Path: path, Absolute: true, Form: "password=x"}
		}
		api.Run(t, []apitest.Case{
			{Name: "the main language has no segment", Request: page("/events/"), Status: 200, Check: allChecks(
				header("Content-Language", "en"), header("Vary", "Accept-Encoding"),
				contains(`<html lang="en"`, `hreflang="pl" href="`+apitest.BaseURL+`/pl/events/"`, `!hreflang="es"`, `!"/en/`),
			)},
			{Name: "another language", Request: page("/pl/events/"), Status: 200, Check: allChecks(
				header("Content-Language", "pl"), contains(`<html lang="pl"`, `hreflang="en" href="`+apitest.BaseURL+`/events/"`),
			)},
			{Name: "whatever the visitor prefers", Request: apitest.Request{
				Path: "/events/", Absolute: true, Header: map[string]string{"Accept-Language": "pl"},
			}, Status: 200, Check: header("Content-Language", "en")},

			{Name: "home in the main language", Request: page("/en/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/")},
			{Name: "home, no slash", Request: page("/en"), Status: 301, Check: leadsTo(apitest.BaseURL + "/")},
			{Name: "list", Request: page("/en/events/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events/")},
			{Name: "list with a query", Request: page("/en/events/?search=a%26b&x=%C4%85"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events/?search=a%26b&x=%C4%85")},
			{Name: "event", Request: page("/en/event/winter-jazz-blues/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/event/winter-jazz-blues/")},
			{Name: "letters outside ASCII", Request: page("/en/venue/ko%C5%9Bci%C3%B3%C5%82/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/venue/ko%C5%9Bci%C3%B3%C5%82/")},
			{Name: "the reference", Request: page("/en/docs"), Status: 301, Check: leadsTo(apitest.BaseURL + "/docs")},
			{Name: "for developers", Request: page("/en/developers/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/developers/")},
			{Name: "a language that is not offered", Request: page("/es/events/month/2026-12/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events/month/2026-12/")},
			{Name: "home in it", Request: page("/es/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/")},
			{Name: "the reference in it", Request: page("/es/docs"), Status: 301, Check: leadsTo(apitest.BaseURL + "/docs")},
			{Name: "a feed in it", Request: page("/es/events.ics?categories=jazz"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events.ics?categories=jazz")},
			{Name: "news in it", Request: page("/es/events.rss"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events.rss")},
			{Name: "news in it as JSON", Request: page("/es/events.json"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events.json")},
			{Name: "a feed of an event in it", Request: page("/es/event/winter-jazz-blues.ics"), Status: 301, Check: leadsTo(apitest.BaseURL + "/event/winter-jazz-blues.ics")},
			{Name: "a feed in the main language", Request: page("/en/events.ics"), Status: 200, Check: header("Content-Language", "en")},
			{Name: "a feed in another", Request: page("/pl/events.ics"), Status: 200, Check: header("Content-Language", "pl")},
			{Name: "a parameter for a language that is not offered", Request: page("/events/?ml_language=es"), Status: 200, Check: header("Content-Language", "en")},
			{Name: "a form", Request: form("/en/event/winter-jazz-blues/"), Status: 308, Check: leadsTo(apitest.BaseURL + "/event/winter-jazz-blues/")},

			{Name: "a preflight of a feed", Request: apitest.Request{Method: "OPTIONS", Path: "/es/events.atom", Absolute: true}, Status: 200},
			{Name: "a form for a feed", Request: form("/es/events.atom"), Status: 404},
			{Name: "a form for a list", Request: form("/es/events/"), Status: 404},

			{Name: "no page", Request: page("/en/nowhere/"), Status: 404},
			{Name: "no language", Request: page("/de/events/"), Status: 404},
			{Name: "two languages", Request: page("/en/pl/events/"), Status: 404},
			{Name: "another host", Request: page("/en//example.org/"), Status: 404},
			{Name: "an asset", Request: page("/en/assets/calendar.css"), Status: 404},

			{Name: "the API answers in the main one", Request: page("/en/cal/events/v1/events/15"), Status: 200, Check: header("Content-Language", "en")},
			{Name: "the API answers in all", Request: page("/es/cal/events/v1/events/15"), Status: 200, Check: header("Content-Language", "es")},
			{Name: "by a parameter", Request: page("/cal/events/v1/events/15?ml_language=es"), Status: 200, Check: header("Content-Language", "es")},
		})
	}, offerLanguages(calendar.English, calendar.Polish))
}

func TestOneLanguage(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, path := range []string{"/", "/events/", "/events/month/", "/event/winter-jazz-blues/", "/docs", "/developers/"} {
			r := api.Do(t, page(path))
			if r.Status == 301 { // to the slug of the language
				r = api.Do(t, page(strings.TrimPrefix(r.Header.Get("Location"), apitest.BaseURL)))
			}
			if r.Status != 200 {
				t.Errorf("%s: %d", path, r.Status)
			}
			contains(`<html lang="pl"`, `!hreflang=`, `!class="lang"`, `!"/en/`, `!"/es/`)(t, r)
		}
		for path, alternates := range crawl(t, api) {
			if len(alternates) > 0 {
				t.Errorf("%s: %q", path, alternates)
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "the API keeps the other texts", Request: page("/cal/events/v1/events/15?ml_language=en"), Status: 200, Check: header("Content-Language", "en")},
			{Name: "other pages", Request: page("/en/events/"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events/")},
			{Name: "other feeds", Request: page("/en/events.atom"), Status: 301, Check: leadsTo(apitest.BaseURL + "/events.atom")},
		})
	}, offerLanguages(calendar.Polish))
}
