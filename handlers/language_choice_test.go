package handlers_test

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// siteSpeaks returns an option that sets the main language of the site.
func siteSpeaks(lang calendar.Language) apitest.Option {
	return func(c *handlers.Config) { c.Site.Language = lang }
}

func TestAcceptLanguage(t *testing.T) {
	t.Parallel()
	const site = calendar.Spanish
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), siteSpeaks(site))
	for _, c := range []struct {
		header string
		want   calendar.Language
	}{
		{"pl", "pl"},
		{"PL", "pl"},
		{"pl-PL", "pl"},
		{"pl-pl", "pl"},
		{"en-GB", "en"},
		{"en-Latn-GB-oxendict", "en"},
		{"es-419", "es"},

		{"de, en-GB;q=0.8, pl;q=0.7", "en"},
		{"pl;q=0.3, en;q=0.7", "en"},
		{"pl;q=0.7, en;q=0.7", "pl"},
		{"en;q=0.001", "en"},
		{"pl;q=1.000, en;q=0.999", "pl"},
		{"en;q=0.9,pl", "pl"},
		{"fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "en"},
		{"en-US;q=0.5, en;q=0.4, pl-PL;q=0.45", "en"},
		{" pl ; q=0.5 ,\ten;q=0.1", "pl"},
		{",,pl,", "pl"},

		{"*", site},
		{"*;q=0.1", site},
		{"de, *;q=0.5", site},
		{"*, pl;q=0.1", "pl"},
		{"es;q=0, *", "en"},
		{"es;q=0, en;q=0, *;q=0.1", "pl"},

		{"pl;q=0", site},
		{"pl;q=0, pl-PL", site},
		{"pl-PL;q=0, pl", "pl"},

		{"de", site},
		{"de, fr, i-klingon, x-whatever", site},
		{"english", site},
		{"p", site},
		{"plk", site},

		{"pl_PL", site},
		{"pl;q=2", site},
		{"pl;q=-1", site},
		{"pl;q=0.0001", site},
		{"pl;q=", site},
		{"pl;level=1", site},
		{"pl en", site},
		{"pl-", site},
		{"pl, \"en\"", site},
		{";q=1", site},
		{strings.Repeat("de, ", 300) + "pl", site},
	} {
		res := api.Do(t, apitest.Request{Path: "/tags", Header: map[string]string{"Accept-Language": c.header}})
		if got := res.Header.Get("Content-Language"); res.Status != 200 || got != string(c.want) {
			t.Errorf("%.60q: %d in %q, want 200 in %q", c.header, res.Status, got, c.want)
		}
	}
}

// TestRegionsFindTheirLanguage checks that a range of Accept-Language such as es-MX matches Spanish before the
// next range is tried.
func TestRegionsFindTheirLanguage(t *testing.T) {
	t.Parallel()
	api := onSQLite(t) // in English
	for header, want := range map[string]calendar.Language{
		"es-MX":                            calendar.Spanish,
		"es-MX, en;q=0.9":                  calendar.Spanish,
		"pt-BR, es-MX;q=0.9, en;q=0.8":     calendar.Spanish,
		"szl-PL, pl-PL;q=0.5":              calendar.Polish,
		"zh-Hant-TW, de-AT;q=0.9, *;q=0.1": calendar.English,
	} {
		speaks(t, api.Do(t, apitest.Request{Path: "/tags", Header: map[string]string{"Accept-Language": header}}), want)
	}
}

// TestWishesAreTakenInTheirOrder requests languages by parameter, path segment and header, each in every language
// or absent. The first of these that is present decides.
func TestWishesAreTakenInTheirOrder(t *testing.T) {
	t.Parallel()
	type wishes struct{ parameter, segment, header calendar.Language }
	var combinations []wishes
	languages := append([]calendar.Language{""}, calendar.Languages...)
	for _, parameter := range languages {
		for _, segment := range languages {
			for _, header := range languages {
				combinations = append(combinations, wishes{parameter, segment, header})
			}
		}
	}
	for _, site := range calendar.Languages {
		api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), siteSpeaks(site))
		for _, asked := range combinations {
			r := apitest.Request{Absolute: true, Path: "/cal/events/v1/tags", Header: map[string]string{}}
			if asked.header != "" {
				r.Header["Accept-Language"] = string(asked.header)
			}
			if asked.segment != "" {
				r.Path = "/" + string(asked.segment) + r.Path
			}
			if asked.parameter != "" {
				r.Path += "?ml_language=" + string(asked.parameter)
			}
			want := cmp.Or(asked.parameter, asked.segment, asked.header, site)
			vary := "Accept, Accept-Language, Authorization"
			if asked.parameter != "" || asked.segment != "" {
				vary = "Accept, Authorization"
			}
			res := api.Do(t, r)
			if got := res.Header.Get("Content-Language"); got != string(want) {
				t.Errorf("site %s, %s with Accept-Language %q: in %q, want %q", site, r.Path, asked.header, got, want)
			}
			if got := res.Header.Get("Vary"); got != vary {
				t.Errorf("site %s, %s with Accept-Language %q: Vary is %q, want %q", site, r.Path, asked.header, got, vary)
			}
		}
	}
}

func TestLanguageParameterOfABody(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "editor", calendar.Editor)
	tag := func(path string, body object) apitest.Request { return post("editor", path, body) }
	form := func(path, form string) apitest.Request {
		return apitest.Request{Method: "POST", As: "editor", Path: path, Form: form}
	}
	api.Run(t, []apitest.Case{
		{Name: "JSON", Request: tag("/tags", object{"name": "a", "ml_language": "pl"}), Status: 201, Check: header("Content-Language", "pl")},
		{Name: "JSON over query", Request: tag("/tags?ml_language=es", object{"name": "b", "ml_language": "pl"}), Status: 201, Check: header("Content-Language", "pl")},
		{Name: "form", Request: form("/tags", "name=c&ml_language=es"), Status: 201, Check: header("Content-Language", "es")},
		{Name: "form over query", Request: form("/tags?ml_language=pl", "name=d&ml_language=es"), Status: 201, Check: header("Content-Language", "es")},
		{Name: "form over segment", Request: apitest.Request{
			Method: "POST", As: "editor", Absolute: true, Path: "/pl/cal/events/v1/tags", Form: "name=e&ml_language=es",
		}, Status: 201, Check: header("Content-Language", "es")},
		{Name: "faults", Request: tag("/tags", object{"ml_language": "es"}), Status: 400, Code: "rest_missing_callback_param", Check: allChecks(
			header("Content-Language", "es"), showsMember(`"Faltan parámetros obligatorios: name"`, "message"),
		)},
		{Name: "null is no wish", Request: tag("/tags", object{"name": "f", "ml_language": nil}), Status: 201, Check: header("Content-Language", "en")},
		{Name: "unknown", Request: tag("/tags", object{"name": "g", "ml_language": "de"}), Status: 400, Check: hasInvalid("ml_language rest_not_in_enum")},
		{Name: "no text", Request: tag("/tags", object{"name": "h", "ml_language": 7}), Status: 400, Check: hasInvalid("ml_language rest_invalid_type")},
	})
}

func TestLanguagesThereAreNotAreRefused(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		paths := []string{
			"", "/doc", "/events", "/events/15", "/events/by-slug/winter-jazz-blues", "/venues", "/venues/10",
			"/venues/by-slug/grand-hall", "/organizers", "/organizers/12", "/organizers/by-slug/bob", "/categories",
			"/categories/3", "/tags", "/tags/4", "/images/14",
		}
		for _, path := range paths {
			for _, lang := range []string{"", "de", "PL", "pl-PL", "pl_PL", " pl", "pl,en", "polski", "*", "0"} {
				r := apitest.Request{
					Absolute: true, Path: "/pl/cal/events/v1" + path + "?ml_language=" + url.QueryEscape(lang),
					Header: map[string]string{"Accept-Language": "es"},
				}
				res := api.Do(t, r)
				if res.Status != 400 || res.Get(t, "code") != "rest_invalid_param" {
					t.Errorf("%s in %q: %d: %s", path, lang, res.Status, res.Body)
					continue
				}
				// The error is in the next preferred language.
				speaks(t, res, calendar.Polish)
				hasInvalid("ml_language rest_not_in_enum")(t, res)
				showsMember(`["en","pl","es"]`, "data", "details", "ml_language", "data", "enum")(t, res)
				showsMember(`"Parametr ml_language może przyjmować tylko jedną z wartości: en, pl, es."`, "data", "params", "ml_language")(t, res)
			}
		}
		for name, r := range map[string]apitest.Request{
			"POST":   post("admin", "/events?ml_language=de", concert(nil)),
			"PUT":    {Method: "PUT", As: "admin", Path: "/venues/{grandHall}?ml_language=de", JSON: object{"city": "X"}},
			"PATCH":  patch("admin", "/organizers/{alice}?ml_language=de", object{"phone": "1"}),
			"DELETE": remove("admin", "/events/{jazzNight}?ml_language=de"),
		} {
			if res := api.Do(t, r); res.Status != 400 {
				t.Errorf("%s: %d: %s", name, res.Status, res.Body)
			}
		}
		if res := api.Do(t, get("/events/{jazzNight}")); res.Status != 200 {
			t.Errorf("it was deleted all the same: %d", res.Status)
		}
	})
}

func TestSegmentsThatNameNoLanguageAreNoPaths(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	for _, path := range []string{
		"/de/cal/events/v1/tags", "/PL/cal/events/v1/tags", "/pl-PL/cal/events/v1/tags", "/pl/en/cal/events/v1/tags",
		"/cal/pl/events/v1/tags", "/cal/events/v1/pl/tags", "/de/", "/PL", "//de/cal/events/v1/tags",
	} {
		res := api.Do(t, apitest.Request{Absolute: true, Path: path, Header: map[string]string{"Accept-Language": "es"}})
		if res.Status != 404 || res.Get(t, "code") != "rest_no_route" {
			t.Errorf("%s: %d: %s", path, res.Status, res.Body)
		}
		speaks(t, res, calendar.Spanish)
	}
}

func TestEveryReplySaysItsLanguage(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "subscriber", calendar.Subscriber)
		as := func(login string) func(*apitest.Request) { return func(r *apitest.Request) { r.As = login } }
		sends := func(body any) func(*apitest.Request) { return func(r *apitest.Request) { r.JSON = body } }
		with := func(name, value string) func(*apitest.Request) {
			return func(r *apitest.Request) {
				if r.Header == nil {
					r.Header = map[string]string{}
				}
				r.Header[name] = value
			}
		}
		type changes = []func(*apitest.Request)
		large := `{"title":"` + strings.Repeat("x", 1<<20) + `"}`
		for _, c := range []struct {
			name         string
			status       int
			method, path string
			changes      changes
			not          string // ways of asking that come too late
		}{
			{"list", 200, "GET", "/events", nil, ""},
			{"record", 200, "GET", "/events/15", nil, ""},
			{"record of a signed-in caller", 200, "GET", "/events/20", changes{as("admin")}, ""},
			{"HEAD", 200, "HEAD", "/events", nil, ""},
			{"OPTIONS", 200, "OPTIONS", "/events", nil, ""},
			{"index", 200, "GET", "", nil, ""},
			{"doc", 200, "GET", "/doc", nil, ""},
			{"with _fields", 200, "GET", "/events?_fields=total", nil, ""},
			{"created", 201, "POST", "/events", changes{as("admin"), sends(concert(nil))}, ""},
			{"updated", 200, "PATCH", "/events/17", changes{as("admin"), sends(object{"sticky": true})}, ""},
			{"malformed", 400, "POST", "/events", changes{as("admin"), sends(`{"title":`)}, ""},
			{"missing", 400, "POST", "/events", changes{sends(object{})}, ""},
			{"invalid", 400, "GET", "/events?page=0", nil, ""},
			{"of another kind", 400, "GET", "/events/10", nil, ""},
			{"as a problem", 400, "GET", "/events?page=0", changes{with("Accept", "application/problem+json")}, ""},
			{"bad password", 401, "GET", "/events", changes{with("Authorization", "Basic YTpi")}, ""},
			{"bad token", 401, "POST", "/events", changes{with("Authorization", "Bearer no"), sends(concert(nil))}, ""},
			{"anonymous", 401, "POST", "/events", changes{sends(concert(nil))}, ""},
			{"subscriber", 403, "POST", "/events", changes{as("subscriber"), sends(concert(nil))}, ""},
			{"protected", 403, "GET", "/events/22", nil, ""},
			{"trashed", 403, "GET", "/events/21", nil, ""},
			{"no event", 404, "GET", "/events/999999", nil, ""},
			{"no page", 404, "GET", "/venues?page=99", nil, ""},
			{"no path", 404, "GET", "/nowhere", nil, ""},
			{"no method", 404, "PUT", "/events", nil, ""},
			{"a method nobody knows", 404, "BREW", "/events", nil, ""},
			{"OPTIONS of no path", 404, "OPTIONS", "/nowhere", nil, ""},
			{"trashed already", 410, "DELETE", "/events/21", changes{as("admin")}, ""},
			{"large body", 413, "POST", "/events", changes{as("admin"), sends(large)}, ""},
			{"long address", 413, "GET", "/events?search=" + strings.Repeat("x", 8<<10), nil, "parameter segment"},
		} {
			for way, ask := range waysToAsk() {
				if strings.HasPrefix(way, "segment of") || strings.Contains(c.not, way) {
					continue
				}
				for _, lang := range calendar.Languages {
					r := ask(c.method, c.path, lang)
					for _, change := range c.changes {
						change(&r)
					}
					t.Run(fmt.Sprint(c.name, " by ", way, " ", lang), func(t *testing.T) {
						res := api.Do(t, r)
						if res.Status != c.status {
							t.Fatalf("got %d, want %d: %.200s", res.Status, c.status, res.Body)
						}
						speaks(t, res, lang)
					})
				}
			}
		}
	})
}

// TestPicturesHaveNoLanguage checks that the headers of a picture do not depend on a language.
func TestPicturesHaveNoLanguage(t *testing.T) {
	t.Parallel()
	var files media.Store
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { files = c.Files })
	if err := files.Create(t.Context(), "2026/11/dot.png", []byte("dot"), "image/png"); err != nil {
		t.Fatal(err)
	}
	ask := func(tag string) apitest.Request {
		return apitest.Request{
			Absolute: true, Path: "/media/2026/11/dot.png",
			Header: map[string]string{"Accept-Language": "pl", "If-None-Match": tag},
		}
	}
	tag := api.Do(t, ask(`"none"`)).Header.Get("ETag")
	silent := allChecks(header("Content-Language", ""), header("Vary", ""))
	api.Run(t, []apitest.Case{
		{Name: "changed", Request: ask(`"none"`), Status: 200, Check: silent},
		{Name: "unchanged", Request: ask(tag), Status: 304, Check: silent},
		{Name: "there is none", Request: apitest.Request{
			Absolute: true, Path: "/media/none.png", Header: map[string]string{"Accept-Language": "pl"},
		}, Status: 404, Code: "rest_no_route", Check: func(t *testing.T, r apitest.Response) { speaks(t, r, calendar.Polish) }},
	})
}
