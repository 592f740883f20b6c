package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// mountWordPress mounts the API at the path where The Events Calendar has it.
func mountWordPress(c *handlers.Config) { c.Mounts = []string{"/wp-json/tribe/events/v1"} }

// TestRESTRoot finds the API as clients of WordPress do, from the REST root. The links of replies must name the
// mount that the client used.
func TestRESTRoot(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), mountWordPress)
	api.Example(t)
	const rootLink = "<" + apitest.BaseURL + `/wp-json/>; rel="https://api.w.org/"`
	named := func(path string) func(*testing.T, apitest.Response) {
		return func(t *testing.T, r apitest.Response) {
			if got := r.Get(t, "rest_url"); got != apitest.BaseURL+path {
				t.Errorf("rest_url is %v", got)
			}
		}
	}
	linked := func(t *testing.T, r apitest.Response) {
		if links := r.Header.Values("Link"); len(links) == 0 || links[len(links)-1] != rootLink {
			t.Errorf("links %q", links)
		}
	}
	api.Run(t, []apitest.Case{
		{Name: "root", Request: site("", "/wp-json/"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
			linked(t, r)
			if got := fmt.Sprint(r.Get(t, "namespaces"), r.Get(t, "url"), r.Get(t, "home")); got != "[tribe/events/v1]"+apitest.BaseURL+apitest.BaseURL {
				t.Errorf("got %s", got)
			}
			if got := r.Get(t, "routes", "/tribe/events/v1/events", "_links", "self", 0, "href"); got != apitest.BaseURL+"/wp-json/tribe/events/v1/events" {
				t.Errorf("the list is at %v", got)
			}
		}},
		{Name: "root without a slash, in Polish", Request: site("", "/pl/wp-json"), Status: 200, Check: header("Content-Language", "pl")},
		{Name: "POST to the root", Request: site("POST", "/wp-json/"), Status: 404, Code: noRoute, Check: header("Allow", "GET, HEAD, OPTIONS")},
		{Name: "another namespace", Request: site("", "/wp-json/wp/v2/posts"), Status: 404, Code: noRoute},
		{
			Name: "list by query", Request: site("", "/?rest_route=/tribe/events/v1/events&per_page=1"), Status: 200,
			Check: named("/wp-json/tribe/events/v1/events/?per_page=1&start_date=2026-11-21+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59"),
		},
		{Name: "one by query, escaped", Request: site("", "/?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents%2F16"), Status: 200, Check: named("/wp-json/tribe/events/v1/events/16")},
		{Name: "one by slug by query", Request: site("", "/?rest_route=tribe/events/v1//events/by-slug/choir/"), Status: 200},
		{Name: "by query, in Spanish", Request: site("", "/es/?rest_route=/tribe/events/v1/events/16"), Status: 200, Check: header("Content-Language", "es")},
		{Name: "an escape in the value is decoded once", Request: site("", "/?rest_route=/tribe/events/v1/events/by-slug/ch%256Fir"), Status: 400, Code: "rest_invalid_param"},
		{Name: "list by query of the index file", Request: site("", "/index.php?rest_route=/tribe/events/v1/events/16"), Status: 200, Check: named("/wp-json/tribe/events/v1/events/16")},
		{Name: "below the index file", Request: site("", "/index.php/wp-json/tribe/events/v1/events/16"), Status: 200, Check: named("/wp-json/tribe/events/v1/events/16")},
		{Name: "a page below the index file", Request: site("", "/index.php/events/list/"), Status: 200},
		{Name: "the index file", Request: site("", "/index.php"), Status: 200},
		{Name: "a file whose name begins like it", Request: site("", "/index.phpx"), Status: 404, Code: noRoute},
		{Name: "the root by query", Request: site("", "/?rest_route=/"), Status: 200, Check: linked},
		{Name: "unknown by query", Request: site("", "/?rest_route=/tribe/events/v1/nothing"), Status: 404, Code: noRoute},
		{Name: "out of the root by query", Request: site("", "/?rest_route=/../docs"), Status: 404, Code: noRoute},
		{Name: "writes by query keep their rights", Request: site("POST", "/?rest_route=/tribe/events/v1/tags&name=x"), Status: 401, Code: "rest_forbidden"},
		{Name: "below the API it is a parameter like any other", Request: ask("", "/events/16?rest_route=/tribe/events/v1/tags"), Status: 200, Check: named("/cal/events/v1/events/16")},
		{Name: "a list links to its pages and to the root", Request: site("", "/wp-json/tribe/events/v1/events"), Status: 200, Check: linked},
		{Name: "a refusal links to the root", Request: ask("", "/nothing"), Status: 404, Code: noRoute, Check: linked},
		{Name: "a page links to the root", Request: site("", "/"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
			linked(t, r)
			header("X-TEC-API-ROOT", apitest.BaseURL+"/wp-json/tribe/events/v1/")(t, r)
		}},
	})
	without := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	without.Example(t)
	for path, status := range map[string]int{
		"/": 200, "/pl/": 200, "/events/": 200, "/event/choir/": 200, "/events/month/": 200, "/developers/": 200, "/docs": 200, "/event/nothing/": 404,
	} {
		const element = `<link rel="https://api.w.org/" href="` + apitest.BaseURL + `/wp-json/">`
		if r := api.Do(t, site("", path)); r.Status != status || bytes.Count(r.Body, []byte(element)) != 1 {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
		if r := without.Do(t, site("", path)); r.Status != status || bytes.Contains(r.Body, []byte("api.w.org")) {
			t.Errorf("%s without such a mount: %d %s", path, r.Status, r.Body)
		}
	}
}

// TestASlashTooMany sends requests with double slashes, as clients do whose base URL ends with a slash.
func TestASlashTooMany(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), mountWordPress)
	api.Example(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	s := api.Another(t, func(*server.Config) {})
	go func() { _ = s.App().Listener(listener) }()
	t.Cleanup(func() {
		if err := s.App().Shutdown(); err != nil {
			t.Error(err)
		}
	})
	for target, status := range map[string]int{
		"//cal/events/v1/events":                          200,
		"///wp-json//tribe/events/v1/events/?per_page=1":  200,
		"//wp-json/tribe/events/v1/events/by-slug//choir": 200,
		"//?rest_route=/tribe/events/v1/events":           200,
		"//docs":                                          200,
		"//nowhere/cal/events/v1/events":                  404,
	} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		must.Succeed(t, err)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must.Succeed(t, err)
		if res.StatusCode != status {
			t.Errorf("%s: got %d, want %d", target, res.StatusCode, status)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUndeclaredParameters(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	strict := func(r apitest.Request) apitest.Request {
		return withHeaders(r, "Prefer", `respond-async, Handling="strict"; x=1`)
	}
	write := func(method, path string, body any) apitest.Request {
		return apitest.Request{Method: method, Path: path, As: "admin", JSON: body}
	}
	ignored := func(want string) func(*testing.T, apitest.Response) {
		return header("X-Almanac-Ignored", want, "Preference-Applied", "")
	}
	applied := header("X-Almanac-Ignored", "", "Preference-Applied", "handling=strict")
	detail := func(name string, meant any) func(*testing.T, apitest.Response) {
		return func(t *testing.T, r apitest.Response) {
			applied(t, r)
			if r.Get(t, "data", "details", name, "code") != "unknown-parameter" || r.Get(t, "data", "details", name, "data", "did_you_mean") != meant {
				t.Errorf("got %s", r.Body)
			}
		}
	}
	event := func(more string) string {
		return `{"title":"A","start_date":"2026-12-05","end_date":"2026-12-05",` + more + `}`
	}
	cases := []apitest.Case{
		{Name: "nothing unknown", Request: ask("", "/events?per_page=2&_fields=id&_locale=pl&context=view"), Status: 200, Check: ignored("")},
		{Name: "mistyped filter", Request: ask("", "/events?category=jazz"), Status: 200, Check: ignored("category; did-you-mean=categories")},
		{Name: "several, by name", Request: ask("", "/events?venues=10&q=jazz&startdate=today"), Status: 200, Check: ignored("q, startdate; did-you-mean=start_date, venues; did-you-mean=venue")},
		{Name: "name that is no token", Request: ask("", "/events?x%0d%0aEvil:%201=1"), Status: 200, Check: ignored("x%0D%0AEvil%3A+1")},
		{Name: "a key of the representation filters nothing", Request: ask("", "/venues?city=Warsaw"), Status: 200, Check: ignored("city")},
		{Name: "in a write", Request: write("POST", "/events", event(`"titel":"B","json_ld":{}`)), Status: 201, Check: ignored("titel; did-you-mean=title")},
		{Name: "a representation may be sent back", Request: write("PATCH", "/events/16", `{"global_id":"x","start_date_details":{},"custom_fields":[],"id":16}`), Status: 200, Check: ignored("")},
		{Name: "strict, nothing unknown", Request: strict(ask("", "/events")), Status: 200, Check: applied},
		{Name: "strict, mistyped filter", Request: strict(ask("", "/events?category=jazz")), Status: 400, Code: "rest_invalid_param", Check: detail("category", "categories")},
		{Name: "strict, nothing like it", Request: strict(ask("", "/events?q=jazz")), Status: 400, Code: "rest_invalid_param", Check: detail("q", nil)},
		{Name: "strict, with another fault", Request: strict(ask("", "/events?page=0&category=x")), Status: 400, Code: "rest_invalid_param", Check: func(t *testing.T, r apitest.Response) {
			if got := r.Get(t, "message"); got != "Invalid parameter(s): page, category" {
				t.Errorf("got %v", got)
			}
		}},
		{Name: "lenient", Request: withHeaders(ask("", "/events?category=jazz"), "Prefer", "handling=lenient, handling=strict"), Status: 200, Check: ignored("category; did-you-mean=categories")},
	}
	api.Run(t, cases)
	// The cache has a reply for strict clients of its own.
	s := api.Cached(t, 0, 0)
	for range 2 {
		for prefer, status := range map[string]int{"": 200, "handling=strict": 400} {
			req := api.NewRequest(t, withHeaders(ask("", "/events?category=jazz"), "Prefer", prefer))
			res := apitest.Send(t, s, req)
			if res.Status != status {
				t.Errorf("%q: got %d", prefer, res.Status)
			}
			if vary := strings.Join(res.Header.Values("Vary"), ", "); !strings.Contains(vary, "Prefer") {
				t.Errorf("%q: Vary is %q", prefer, vary)
			}
		}
	}
}

func TestIgnoredParametersAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	s := api.Another(t, func(c *server.Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	apitest.Send(t, s, api.NewRequest(t, ask("", "/events?category=secret")))
	var line struct{ Ignored string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Ignored != "category; did-you-mean=categories" {
		t.Errorf("%v: %s", err, &log)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("a value is in the log: %s", &log)
	}
}

func TestRobotsAreKeptOffTheAPI(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Run(t, []apitest.Case{
		{Name: "list", Request: ask("", "/events"), Status: 200, Check: header("X-Robots-Tag", "noindex")},
		{Name: "refusal", Request: ask("", "/nothing"), Status: 404, Code: noRoute, Check: header("X-Robots-Tag", "noindex")},
		{Name: "page", Request: site("", "/docs"), Status: 200, Check: header("X-Robots-Tag", "")},
	})
}
