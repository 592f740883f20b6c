package server_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// ask returns a request below the API.
func ask(method, path string) apitest.Request { return apitest.Request{Method: method, Path: path} }

// site returns a request whose path is not below the API.
func site(method, path string) apitest.Request {
	return apitest.Request{Method: method, Path: path, Absolute: true}
}

func withHeaders(r apitest.Request, header ...string) apitest.Request {
	r.Header = map[string]string{}
	for i := 0; i < len(header); i += 2 {
		r.Header[header[i]] = header[i+1]
	}
	return r
}

func header(want ...string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		for i := 0; i < len(want); i += 2 {
			if got := r.Header.Get(want[i]); got != want[i+1] {
				t.Errorf("%s is %q, want %q", want[i], got, want[i+1])
			}
		}
	}
}

const noRoute = "rest_no_route"

func TestRoutes(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		allow := func(want string) func(*testing.T, apitest.Response) { return header("Allow", want) }
		const (
			collection = "GET, POST, HEAD, OPTIONS"
			single     = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"
		)
		cases := []apitest.Case{
			{Name: "index", Request: ask("", ""), Status: 200},
			{Name: "index, trailing slash", Request: ask("", "/"), Status: 200},
			{Name: "index, language", Request: site("", "/pl/cal/events/v1"), Status: 200},
			{Name: "index, two slashes", Request: ask("", "//"), Status: 200},
			{Name: "two slashes inside", Request: ask("", "//events"), Status: 200, Check: header("X-TEC-Total", "12")},
			{Name: "three slashes before the API", Request: site("", "/es///cal//events/v1/events/16"), Status: 200, Check: header("Content-Language", "es")},
			{Name: "an escaped slash is none", Request: ask("", "%2F/events"), Status: 404, Code: noRoute},
			{Name: "a route in the query without a mount for it", Request: site("", "/?rest_route=/tribe/events/v1/events"), Status: 404, Code: noRoute},
			{Name: "no route in the query", Request: site("", "/?rest_route="), Status: 404, Code: noRoute},
			{Name: "the REST root without a mount below it", Request: site("", "/wp-json/"), Status: 404, Code: noRoute},
			{Name: "unknown language", Request: site("", "/de/cal/events/v1/events"), Status: 404, Code: noRoute},
			{Name: "two languages", Request: site("", "/pl/en/cal/events/v1/events"), Status: 404, Code: noRoute},
			{Name: "another version", Request: site("", "/cal/events/v2/events"), Status: 404, Code: noRoute},
			{Name: "the start page", Request: site("", "/"), Status: 200},
			{Name: "nothing", Request: site("", "/nothing"), Status: 404, Code: noRoute},
			{Name: "no such resource", Request: ask("", "/posts"), Status: 404, Code: noRoute, Check: allow("")},
			{Name: "percent-encoded letters", Request: ask("", "/%65vents"), Status: 200},
			{Name: "upper case", Request: ask("", "/Events"), Status: 404, Code: noRoute},
			{Name: "dots are not resolved", Request: ask("", "/venues/../events"), Status: 404, Code: noRoute},
			{Name: "events, two trailing slashes", Request: ask("", "/events//"), Status: 200},
			{Name: "words are no ids", Request: ask("", "/events/abc"), Status: 404, Code: noRoute, Check: allow("")},
			{Name: "negative numbers are no ids", Request: ask("", "/events/-1"), Status: 404, Code: noRoute},
			{Name: "fractions are no ids", Request: ask("", "/venues/10.0"), Status: 404, Code: noRoute},
			{Name: "other digits are no ids", Request: ask("", "/events/%D9%A1"), Status: 404, Code: noRoute},
			{Name: "no slug", Request: ask("", "/events/by-slug/"), Status: 404, Code: noRoute},
			{Name: "no slug, no slash", Request: ask("", "/events/by-slug"), Status: 404, Code: noRoute},
			{Name: "two slugs", Request: ask("", "/events/by-slug/a/b"), Status: 404, Code: noRoute},
			{Name: "below an event", Request: ask("", "/events/15/venue"), Status: 404, Code: noRoute},
			{Name: "terms have no slugs", Request: ask("", "/categories/by-slug/jazz"), Status: 404, Code: noRoute},
			{Name: "images have no slugs", Request: ask("", "/images/by-slug/pic"), Status: 404, Code: noRoute},

			{Name: "PUT on a collection", Request: ask("PUT", "/events"), Status: 404, Code: noRoute, Check: allow(collection)},
			{Name: "PATCH on a collection", Request: ask("PATCH", "/tags/"), Status: 404, Code: noRoute, Check: allow(collection)},
			{Name: "DELETE on a collection", Request: ask("DELETE", "/venues"), Status: 404, Code: noRoute, Check: allow(collection)},
			{Name: "POST on the index", Request: ask("POST", "/"), Status: 404, Code: noRoute, Check: allow("GET, HEAD, OPTIONS")},
			{Name: "POST on an image", Request: ask("POST", "/images/14"), Status: 404, Code: noRoute, Check: allow("GET, DELETE, HEAD, OPTIONS")},
			{Name: "TRACE", Request: ask("TRACE", "/events/15"), Status: 404, Code: noRoute, Check: allow(single)},
			{Name: "a method of another protocol", Request: ask("PROPFIND", "/events/by-slug/x"), Status: 404, Code: noRoute, Check: allow(single)},
			{Name: "a method nobody knows, nowhere", Request: site("BREW", "/coffee"), Status: 404, Code: noRoute, Check: allow("")},
			{Name: "the route comes before the credentials", Request: withHeaders(ask("PUT", "/events"), "Authorization", "Bearer x"), Status: 404, Code: noRoute},

			{Name: "a POST that means PUT", Request: withHeaders(ask("POST", "/events"), "X-HTTP-Method-Override", "put"), Status: 404, Code: noRoute},
			{Name: "a POST that means DELETE", Request: ask("POST", "/events?_method=DELETE"), Status: 404, Code: noRoute},
			{Name: "a POST that means PATCH of one", Request: withHeaders(ask("POST", "/events/16"), "X-HTTP-Method-Override", "PATCH"), Status: 401, Code: "rest_forbidden"},
			{Name: "a POST that means DELETE of one", Request: withHeaders(ask("POST", "/images/14"), "X-HTTP-Method-Override", "DELETE"), Status: 401, Code: "rest_forbidden"},
			{Name: "the header before the query", Request: withHeaders(ask("POST", "/images/14?_method=PUT"), "X-HTTP-Method-Override", "DELETE"), Status: 401, Code: "rest_forbidden"},
			{Name: "a header that means nothing leaves it to the query", Request: withHeaders(ask("POST", "/images/14?_method=DELETE"), "X-HTTP-Method-Override", "GET"), Status: 401, Code: "rest_forbidden"},
			{Name: "a POST that means GET stays one", Request: withHeaders(ask("POST", "/events"), "X-HTTP-Method-Override", "GET"), Status: 400, Code: "rest_missing_callback_param"},
			{Name: "a POST that means OPTIONS stays one", Request: ask("POST", "/events?_method=OPTIONS"), Status: 400, Code: "rest_missing_callback_param"},
			{Name: "only a POST means others", Request: withHeaders(ask("GET", "/events/16?_method=DELETE"), "X-HTTP-Method-Override", "DELETE"), Status: 200},
		}
		for _, path := range []string{"/events", "/venues", "/organizers", "/categories", "/tags", "/events/16", "/events/by-slug/choir", "/venues/10", "/venues/by-slug/grand-hall", "/organizers/12", "/organizers/by-slug/bob", "/categories/2", "/tags/4", "/images/14"} {
			cases = append(cases,
				apitest.Case{Name: path, Request: ask("", path), Status: 200},
				apitest.Case{Name: path + ", trailing slash", Request: ask("", path+"/"), Status: 200},
				apitest.Case{Name: path + ", language", Request: site("", "/es/cal/events/v1"+path), Status: 200, Check: header("Content-Language", "es")},
				apitest.Case{Name: path + ", language and trailing slash", Request: site("", "/es/cal/events/v1"+path+"/"), Status: 200},
			)
		}
		api.Run(t, cases)
	})
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, path := range []string{"", "/events", "/events/15", "/events/by-slug/nothing", "/events/22", "/events/abc", "/venues?page=0", "/tags?page=7", "/events?page=99"} {
			got, want := api.Do(t, ask("HEAD", path)), api.Do(t, ask("GET", path))
			if len(got.Body) != 0 {
				t.Errorf("%s: a body of %d bytes", path, len(got.Body))
			}
			if got.Status != want.Status {
				t.Errorf("%s: got %d, want %d", path, got.Status, want.Status)
			}
			for _, h := range []http.Header{got.Header, want.Header} {
				h.Del("X-Request-Id")
				h.Del("Date")
			}
			if diff := cmp.Diff(want.Header, got.Header); diff != "" {
				t.Errorf("%s: headers (-GET +HEAD):\n%s", path, diff)
			}
		}
	})
}

func TestHeadersOfEveryReply(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		json := []string{
			"Content-Type", "application/json; charset=UTF-8", "X-Content-Type-Options", "nosniff",
			"Access-Control-Allow-Origin", "*", "Access-Control-Allow-Credentials", "",
			"Access-Control-Expose-Headers", "X-TEC-Total, X-TEC-TotalPages, Link, Location, Allow, Content-Language, ETag, Retry-After, RateLimit, " +
				"RateLimit-Policy, X-Request-ID, Idempotency-Replayed, Preference-Applied, Deprecation, Sunset, X-Almanac-Ignored",
			"Vary", "Accept, Accept-Language, Authorization", "Content-Language", "en",
		}
		api.Run(t, []apitest.Case{
			{Name: "read", Request: ask("", "/events/15"), Status: 200, Check: header(append(slices.Clone(json), "Cache-Control", "public, max-age=0")...)},
			{Name: "list", Request: ask("", "/events"), Status: 200, Check: header(append(slices.Clone(json), "X-TEC-Total", "12", "X-TEC-TotalPages", "2")...)},
			{Name: "index", Request: ask("", ""), Status: 200, Check: header(json...)},
			{Name: "invalid", Request: ask("", "/events?page=0"), Status: 400, Check: header(json...)},
			{Name: "no route", Request: ask("", "/nothing"), Status: 404, Check: header(json...)},
			{Name: "outside the API", Request: site("", "/favicon.ico"), Status: 404, Check: header(json...)},
			{Name: "signed in", Request: apitest.Request{As: "admin", Path: "/events/20"}, Status: 200, Check: header(append(slices.Clone(json), "Cache-Control", "no-store, private")...)},
			{Name: "signed in and refused", Request: apitest.Request{As: "admin", Path: "/events/21"}, Status: 403, Check: header("Cache-Control", "no-store, private")},
			{Name: "OPTIONS", Request: ask("OPTIONS", "/events"), Status: 200, Check: header(append(slices.Clone(json), "Allow", "GET, POST, HEAD, OPTIONS",
				"Access-Control-Allow-Headers", "Authorization, Content-Type, Accept-Language, X-HTTP-Method-Override")...)},
			{Name: "preflight", Request: withHeaders(ask("OPTIONS", "/events/15/"), "Origin", "https://example.org", "Access-Control-Request-Method", "DELETE"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
					if !strings.Contains(r.Header.Get("Access-Control-Allow-Methods"), method) {
						t.Errorf("%s is not allowed", method)
					}
				}
			}},
			{Name: "OPTIONS nowhere", Request: ask("OPTIONS", "/nothing"), Status: 404, Code: noRoute},
		})
	})
}

// indexOfRoutes is the API index, with its routes by their patterns.
type indexOfRoutes struct {
	response  apitest.Response
	Namespace string
	Routes    map[string]map[string]any
}

// args returns the parameters of an endpoint. pattern is that of its path below the namespace, and endpoint its
// position there.
func (x *indexOfRoutes) args(t *testing.T, pattern string, endpoint int) map[string]any {
	t.Helper()
	args, _ := x.response.Get(t, "routes", "/cal/events/v1"+pattern, "endpoints", endpoint, "args").(map[string]any)
	return args
}

// matchesOptions compares a route of the index with the reply to OPTIONS for it, apart from links.
func matchesOptions(t *testing.T, api *apitest.API, pattern string, route map[string]any) {
	t.Helper()
	concrete := strings.NewReplacer(`(?P<id>\d+)`, "15", `(?P<slug>[^/]+)`, "some-slug")
	path := strings.TrimPrefix(concrete.Replace(pattern), "/cal/events/v1")
	res := api.Do(t, ask("OPTIONS", path))
	if res.Status != 200 {
		t.Errorf("OPTIONS %s: %d", path, res.Status)
		return
	}
	links, linked := route["_links"]
	methods, _ := route["methods"].([]any)
	if linked != (!strings.Contains(pattern, "(") && slices.Contains(methods, any("GET"))) {
		t.Errorf("%s: links %v", pattern, links)
	}
	delete(route, "_links")
	if diff := cmp.Diff(any(route), res.JSON(t)); diff != "" {
		t.Errorf("%s (-index +OPTIONS):\n%s", pattern, diff)
	}
}

// declaresLanguage checks that every endpoint of a pattern declares the language, and not the parameter _fields.
func (x *indexOfRoutes) declaresLanguage(t *testing.T, pattern string) {
	t.Helper()
	route, ok := x.Routes["/cal/events/v1"+pattern]
	if !ok {
		t.Errorf("%q is missing", pattern)
		return
	}
	for i := range route["endpoints"].([]any) {
		args := x.args(t, pattern, i)
		language, _ := args["ml_language"].(map[string]any)
		if language["type"] != "string" || language["required"] != false || len(language["enum"].([]any)) != 3 {
			t.Errorf("%s: ml_language is %v", pattern, language)
		}
		if _, ok := args["_fields"]; ok {
			t.Errorf("%s: _fields is declared", pattern)
		}
	}
}

// describesParameters checks some parameters of lists in the index. It also checks which routes of a record have a
// password parameter.
func (x *indexOfRoutes) describesParameters(t *testing.T) {
	t.Helper()
	list := x.args(t, "/events", 0)
	for name, want := range map[string]string{
		"start_date": `{"default":"2026-11-21 00:00:00","description":"","required":false}`,
		"end_date":   `{"default":"2028-11-21 23:59:59","description":"","required":false}`,
		"per_page":   `{"default":10,"description":"","required":false,"type":"integer"}`,
		"categories": `{"description":"","items":{"type":"integer"},"required":false,"type":"array"}`,
		"geoloc_lat": `{"description":"","format":"double","required":false,"type":"number"}`,
		"status":     `{"description":"","required":false,"type":"string"}`,
	} {
		arg, _ := list[name].(map[string]any)
		if arg["description"] == "" {
			t.Errorf("%s is not described", name)
		}
		arg["description"] = ""
		if got := encode(t, arg); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if strict := list["strict_dates"].(map[string]any); strict["type"] != nil || strict["default"] != false {
		t.Errorf("strict_dates is %v", strict)
	}
	if hide := x.args(t, "/tags", 0)["hide_empty"].(map[string]any); hide["type"] != "boolean" || hide["default"] != float64(1) {
		t.Errorf("hide_empty is %v", hide)
	}
	if _, ok := x.args(t, "/events/by-slug/(?P<slug>[^/]+)", 0)["password"]; ok {
		t.Error("the by-slug route declares a password")
	}
	if _, ok := x.args(t, `/events/(?P<id>\d+)`, 0)["password"]; !ok {
		t.Error("the by-ID route declares no password")
	}
}

func TestIndexAndOptionsDescribeTheSame(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		index := &indexOfRoutes{response: api.Do(t, ask("", "?namespace=other&context=edit"))}
		if index.response.Status != 200 {
			t.Fatal(index.response.Status)
		}
		index.response.Into(t, index)
		if index.Namespace != "cal/events/v1" {
			t.Errorf("namespace %q", index.Namespace)
		}
		for pattern, route := range index.Routes {
			matchesOptions(t, api, pattern, route)
		}
		for _, pattern := range []string{
			"", "/events", `/events/(?P<id>\d+)`, "/events/by-slug/(?P<slug>[^/]+)", "/venues", `/venues/(?P<id>\d+)`,
			"/venues/by-slug/(?P<slug>[^/]+)", "/organizers", `/organizers/(?P<id>\d+)`,
			"/organizers/by-slug/(?P<slug>[^/]+)", "/categories", `/categories/(?P<id>\d+)`, "/tags", `/tags/(?P<id>\d+)`,
			"/images", `/images/(?P<id>\d+)`,
		} {
			index.declaresLanguage(t, pattern)
		}
		index.describesParameters(t)
	})
}

func TestFields(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, c := range []struct {
			path   string
			status int
			want   string
		}{
			{"/events/16?_fields=id", 200, `{"id":16}`},
			{"/events/16?_fields=title,id", 200, `{"id":16,"title":"Minimal event"}`},
			{"/events/16?_fields=%20title%20,,id,", 200, `{"id":16,"title":"Minimal event"}`},
			{"/events/16?_fields[]=title&_fields[]=id", 200, `{"id":16,"title":"Minimal event"}`},
			{"/events/16?_fields=nothing", 200, `{}`},
			{"/events/16?_fields=id.x", 200, `{"id":16}`},
			{"/events/16?_fields=ID", 200, `{}`},
			{"/events/15?_fields=venue.venue,organizer.id,start_date_details.year", 200, `{"start_date_details":{"year":"2026"},"venue":{"venue":"Grand Hall"},"organizer":[{"id":12},{"id":13}]}`},
			{"/events/18?_fields=venue.id", 200, `{"venue":[{"id":10},{"id":11}]}`},
			{"/events/16?_fields=venue.id,image.url", 200, `{"image":false,"venue":[]}`},
			{"/events/15?_fields=json_ld.location,json_ld.location.name", 200, `{"json_ld":{"location":{"@type":"Place","name":"Grand Hall","description":"A big hall","url":"http://127.0.0.1:8080/venue/grand-hall/","address":{"@type":"PostalAddress","streetAddress":"1 Main St","addressLocality":"Warsaw","addressRegion":"Mazowieckie","postalCode":"00-001","addressCountry":"Poland"},"geo":{"@type":"GeoCoordinates","latitude":52.2318,"longitude":21.0067},"telephone":"+48 22 000 00 00","sameAs":"https://hall.example.org"}}}`},
			{"/events/15?_fields=image.sizes.medium.mime-type", 200, `{"image":{"sizes":{"medium":{"mime-type":"image/png"}}}}`},
			{"/events?include=15,16&_fields=events.id,total", 200, `{"events":[{"id":15},{"id":16}],"total":2}`},
			{"/events?include=15&_fields=events.title", 200, `{"events":[{"title":"Winter Jazz &amp; Blues"}]}`},
			{"/events?include=15&_fields=id", 200, `{}`},
			{"?_fields=namespace,_links.up.href", 200, `{"namespace":"cal/events/v1","_links":{"up":[{"href":"http://127.0.0.1:8080/"}]}}`},
			{"/events/21?_fields=code", 403, `{"code":"event-no-longer-available","message":"The event is no longer available.","data":{"status":403}}`},
		} {
			res := api.Do(t, ask("", c.path))
			if res.Status != c.status || string(res.Body) != c.want {
				t.Errorf("%s\n got %d %s\nwant %d %s", c.path, res.Status, res.Body, c.status, c.want)
			}
		}
		if res := api.Do(t, ask("", "/events/16?_fields=")); !strings.Contains(string(res.Body), `"timezone"`) {
			t.Errorf("empty _fields keeps all, got %s", res.Body)
		}
	})
}

func TestCredentials(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		const hour = time.Hour
		user, err := auth.AddUser(t.Context(), api.Store.Ent, apitest.Now, "Eva", "", calendar.Editor, "secret: é")
		must.Succeed(t, err)
		ended := apitest.Now.Add(-hour)
		old, _, err := auth.IssueToken(t.Context(), api.Store.Ent, apitest.Now.Add(-2*hour), user.ID, "old", &ended)
		must.Succeed(t, err)
		basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
		token := api.Token("admin")
		challenged := func(t *testing.T, r apitest.Response) {
			want := []string{`Basic realm="almanac", charset="UTF-8"`, "Bearer"}
			if diff := cmp.Diff(want, r.Header.Values("WWW-Authenticate")); diff != "" {
				t.Error(diff)
			}
		}
		var cases []apitest.Case
		for _, c := range []struct {
			name, authorization, code string
		}{
			{"token", "Bearer " + token, ""},
			{"token, any case of the scheme", "bEARER " + token, ""},
			{"token as password", basic("admin:" + token), ""},
			{"password", basic("eva:secret: é"), ""},
			{"wrong password", basic("eva:secret"), "incorrect_password"},
			{"unknown user", basic("nobody:s"), "incorrect_password"},
			{"token of another user", basic("eva:" + token), "incorrect_password"},
			{"no base64", "Basic !", "incorrect_password"},
			{"nothing", "Basic", "incorrect_password"},
			{"wrong token", "Bearer " + token[:len(token)-1] + "x", "rest_invalid_token"},
			{"no token", "Bearer", "rest_invalid_token"},
			{"expired token", "Bearer " + old, "rest_invalid_token"},
			{"another scheme", "Digest x", "rest_invalid_token"},
		} {
			// Both a draft and a public event refuse wrong credentials.
			for _, path := range []string{"/events/20", "/events/16", "/events?page=0"} {
				want := apitest.Case{Name: c.name + " " + path, Request: withHeaders(ask("", path), "Authorization", c.authorization), Status: 200}
				switch {
				case c.code != "":
					want.Status, want.Code, want.Check = 401, c.code, challenged
				case path == "/events?page=0":
					want.Status, want.Code = 400, "rest_invalid_param"
				}
				cases = append(cases, want)
			}
		}
		cases = append(cases,
			apitest.Case{Name: "cookies and nonces are ignored", Request: withHeaders(ask("", "/events/20"), "Cookie", "session="+token, "X-WP-Nonce", token), Status: 403, Code: "event-not-accessible"},
			apitest.Case{Name: "every 401 has a challenge", Request: ask("", "/images"), Status: 401, Code: "rest_forbidden", Check: challenged},
			apitest.Case{Name: "credentials come before the body", Request: withHeaders(apitest.Request{Method: "POST", Path: "/events", JSON: "{"}, "Authorization", "Bearer x"), Status: 401, Code: "rest_invalid_token"},
			apitest.Case{Name: "the body before what is missing", Request: apitest.Request{Method: "POST", Path: "/events", JSON: "{"}, Status: 400, Code: "rest_invalid_json"},
		)
		api.Run(t, cases)
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	api := apitest.New(t, st)
	text := func(n int) string { return `{"title":"` + strings.Repeat("x", n-len(`{"title":""}`)) + `"}` }
	const tooLarge = "rest_request_too_large"
	api.Run(t, []apitest.Case{
		{Name: "body at the limit", Request: apitest.Request{Method: "POST", Path: "/events", JSON: text(1 << 20)}, Status: 400, Code: "rest_missing_callback_param"},
		{Name: "body over the limit", Request: apitest.Request{Method: "POST", Path: "/events", JSON: text(1<<20 + 1)}, Status: 413, Code: tooLarge},
		{Name: "form over the limit", Request: apitest.Request{Method: "PUT", Path: "/venues/10", Form: "a=" + strings.Repeat("x", 1<<20)}, Status: 413, Code: tooLarge},
		{Name: "the route comes first", Request: apitest.Request{Method: "PUT", Path: "/events", JSON: text(1<<20 + 1)}, Status: 404, Code: noRoute},
		{Name: "URL at the limit", Request: ask("", "/events?x="+strings.Repeat("x", 8<<10-len("/cal/events/v1/events?x="))), Status: 200},
		{Name: "URL over the limit", Request: ask("", "/events?x="+strings.Repeat("x", 8<<10)), Status: 413, Code: tooLarge},
		{Name: "too many parameters", Request: ask("", "/events?"+strings.Repeat("x&", 2001)), Status: 413, Code: tooLarge},
		{Name: "too deep parameters", Request: ask("", "/events?a"+strings.Repeat("[a]", 9)+"=1"), Status: 413, Code: tooLarge},
	})
}

func TestMediaFiles(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	var files media.Store
	api := apitest.New(t, st, func(c *handlers.Config) {
		files, c.Site.BaseURL = c.Files, "http://127.0.0.1:8080/rest"
	})
	data := []byte("\x89PNG picture")
	must.Succeed(t, files.Create(t.Context(), "2026/11/pic.png", data, "image/png"))
	get := func(path string) apitest.Request { return site("", path) }
	first := api.Do(t, get("/media/2026/11/pic.png"))
	tag := first.Header.Get("ETag")
	if first.Status != 200 || !bytes.Equal(first.Body, data) || tag == "" {
		t.Fatalf("%d %q %q", first.Status, tag, first.Body)
	}
	fixed := header("Cache-Control", "public, max-age=31536000, immutable", "ETag", tag, "X-Content-Type-Options", "nosniff")
	unchanged := func(t *testing.T, r apitest.Response) {
		fixed(t, r)
		if len(r.Body) != 0 {
			t.Errorf("a body: %q", r.Body)
		}
	}
	gone := header("Cache-Control", "no-store", "ETag", "")
	api.Run(t, []apitest.Case{
		{Name: "file", Request: get("/media/2026/11/pic.png"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
			fixed(t, r)
			header("Content-Type", "image/png", "Content-Security-Policy", "default-src 'none'; sandbox", "Access-Control-Allow-Origin", "*")(t, r)
		}},
		{Name: "below the path of the base URL", Request: get("/rest/media/2026/11/pic.png"), Status: 200, Check: fixed},
		{Name: "percent-encoded", Request: get("/media/2026%2F11/p%69c.png"), Status: 200, Check: fixed},
		{Name: "HEAD", Request: site("HEAD", "/media/2026/11/pic.png"), Status: 200, Check: unchanged},
		{Name: "known", Request: withHeaders(get("/media/2026/11/pic.png"), "If-None-Match", tag), Status: 304, Check: unchanged},
		{Name: "known among others, weakly", Request: withHeaders(get("/media/2026/11/pic.png"), "If-None-Match", `"x", W/`+tag), Status: 304, Check: unchanged},
		{Name: "any", Request: withHeaders(get("/media/2026/11/pic.png"), "If-None-Match", "*"), Status: 304, Check: unchanged},
		{Name: "changed", Request: withHeaders(get("/media/2026/11/pic.png"), "If-None-Match", `"x"`), Status: 200, Check: fixed},
		{Name: "public, even with wrong credentials", Request: withHeaders(get("/media/2026/11/pic.png"), "Authorization", "Bearer x"), Status: 200, Check: fixed},
		{Name: "unknown", Request: get("/media/2026/11/other.png"), Status: 404, Code: noRoute, Check: gone},
		{Name: "folder", Request: get("/media/2026/11/"), Status: 404, Code: noRoute, Check: gone},
		{Name: "folder without slash", Request: get("/media/2026"), Status: 404, Code: noRoute, Check: gone},
		{Name: "no name", Request: get("/media/"), Status: 404, Code: noRoute, Check: gone},
		{Name: "out of the folder", Request: get("/media/../../etc/passwd"), Status: 404, Code: noRoute, Check: gone},
		{Name: "out of the folder, encoded", Request: get("/media/%2e%2e/%2e%2e/etc/passwd"), Status: 404, Code: noRoute, Check: gone},
		{Name: "no language", Request: get("/pl/media/2026/11/pic.png"), Status: 404, Code: noRoute, Check: gone},
		{Name: "written to", Request: site("PUT", "/media/2026/11/pic.png"), Status: 404, Code: noRoute, Check: gone},
	})
}
