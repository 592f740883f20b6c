package handlers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/openapi"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// offlineAPI returns the API without a database, as commands that only describe it use it.
func offlineAPI(t testing.TB, mounts ...string) *handlers.Handlers {
	t.Helper()
	words, err := locale.Load()
	must.Succeed(t, err)
	h, err := handlers.New(handlers.Config{Calendar: read.Calendar{Words: words, Site: onSQLite(t).Site}, Mounts: mounts})
	must.Succeed(t, err)
	return h
}

var usualRoot = read.Root{Mount: "/" + handlers.Namespace}

// explainedRoutes returns the explanations of all operations with all their parameters.
func explainedRoutes(t *testing.T, h *handlers.Handlers) []openapi.RouteExplanation {
	t.Helper()
	var out []openapi.RouteExplanation
	for _, name := range h.Describe(apitest.Now, usualRoot, calendar.English).Explainable() {
		if strings.HasPrefix(name, "/") {
			out = append(out, h.Describe(apitest.Now, usualRoot, calendar.English).ExplainRoute("", name)...)
		}
	}
	return out
}

func TestExplanationsAreOfWhatTheDescriptionHas(t *testing.T) {
	t.Parallel()
	_, want := operationsOf(t, func(apitest.Operation) bool { return true })
	got := make(map[string][]string)
	for _, route := range explainedRoutes(t, offlineAPI(t)) {
		names := map[string]bool{}
		for _, p := range route.Parameters {
			names[p.Name] = true
		}
		got[route.Operation] = slices.Sorted(maps.Keys(names))
	}
	if len(got) != len(want) {
		t.Errorf("%d operations are explained, %d described", len(got), len(want))
	}
	for name, operation := range want {
		want := slices.Sorted(slices.Values(slices.Concat(operation.Parameters, operation.Headers)))
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-described +explained):\n%s", name, diff)
		}
	}
}

// TestSamplesAreAnsweredWithSuccess sends the sample value of every parameter of every operation. Each must
// succeed. With -short, it sends a third of them.
func TestSamplesAreAnsweredWithSuccess(t *testing.T) {
	t.Parallel()
	api, samples := newSweepAPI(t), 0
	for _, route := range explainedRoutes(t, offlineAPI(t)) {
		method, path, _ := strings.Cut(route.Operation, " ")
		for _, p := range route.Parameters {
			s := p.Sample
			if p.In == "query" && s.Query == "" || p.In == "body" && s.Body == "" || p.In == "header" && s.Header == "" || strings.Contains(s.Path, "{") {
				t.Errorf("%s: %s %s has no sample", route.Operation, p.In, p.Name)
			}
			samples++
			switch {
			case testing.Short() && samples%3 != 0:
				continue
			case path == "/images" && method == "POST": // takes a file, or an address of the world outside
				continue
			case strings.Contains(path, "{") && (method == "POST" || method == "PUT"): // as PATCH
				continue
			case method == "DELETE" && p.In != "path": // nothing is left to delete
				continue
			}
			r := apitest.Request{Method: s.Method, Path: s.Path, As: "admin", Absolute: s.Server != ""}
			if s.Query != "" {
				r.Path += "?" + strings.NewReplacer(" ", "%20", "+", "%2B").Replace(s.Query)
			}
			if s.Body != "" {
				r.JSON = s.Body
			}
			if name, value, ok := strings.Cut(s.Header, ": "); ok {
				if name == "Idempotency-Key" { // one of its own for each operation
					value = strings.TrimSuffix(value, `"`) + path + `"`
				}
				r.Header = map[string]string{name: value}
			}
			res := api.Do(t, r)
			if res.Status >= 300 {
				t.Errorf("%s %s %s, for %s: got %d: %s", s.Method, r.Path, s.Body, p.Name, res.Status, res.Body)
			}
			switch {
			case res.Status == 201: // so that the next one of its name can be created
				api.Do(t, apitest.Request{
					Method: "DELETE", As: "admin", Absolute: true,
					Path: strings.TrimPrefix(res.Header.Get("Location"), apitest.BaseURL),
				})
			case method == "DELETE", method == "PATCH" && slices.Contains([]string{"slug", "rrule", "rdate"}, p.Name) && p.In == "body":
				api = newSweepAPI(t) // the path has nothing any more, or a series
			}
		}
	}
}

func TestExplanationsSayTheRules(t *testing.T) {
	t.Parallel()
	h := offlineAPI(t)
	for _, c := range []struct {
		name, want string
	}{
		{"per_page", "query integer: default 10; at least 1"},
		{"geoloc_radius", "query number: default 25; more than 0, at most 500"},
		{"geoloc_lat", "query number: -90 to 90"},
		{"title", "body string: required; at most 500 characters"},
		{"ml_language", "query string: one of en, pl, es"},
		{"cost", "body string, or number, or list of string or number: "},
		{"post_parent", "query integer: "},
		{"hide_empty", "query boolean: default true"},
		{"file", "body file: "},
		{"_fields", "query list of string: "},
		{"Idempotency-Key", "header string: "},
		{"If-Match", "header string: "},
	} {
		found := h.Describe(apitest.Now, usualRoot, calendar.English).Explain(c.name)
		if len(found) == 0 {
			t.Errorf("%s is not explained", c.name)
			continue
		}
		if got := found[0].In + " " + found[0].Type + ": " + strings.Join(found[0].Rules, "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := h.Describe(apitest.Now, usualRoot, calendar.Polish).Explain("per_page")[0].Description; got != "Liczba wydarzeń na stronie, najwyżej 50" {
		t.Errorf("in Polish per_page is %q", got)
	}
	if got := h.Describe(apitest.Now, usualRoot, calendar.English).Explain("nothing"); got != nil {
		t.Errorf("got %v for a name there is not", got)
	}
}

func TestRoutesAreExplainedByPath(t *testing.T) {
	t.Parallel()
	h := offlineAPI(t)
	for _, c := range []struct{ method, path, want string }{
		{"", "/tags", "GET /tags, POST /tags"},
		{"GET", "/tags", "GET /tags"},
		{"PATCH", "/events/15", "PATCH /events/{id}"},
		{"DELETE", "/cal/events/v1/events/by-slug/{slug}", "DELETE /events/by-slug/{slug}"},
		{"", "/", "GET /"},
		{"", "/events.ics", "GET /events.ics"},
		{"GET", "/event/jazz.ics", "GET /event/{slug}.ics"},
		{"GET", "/event/{slug}.ics", "GET /event/{slug}.ics"},
		{"PUT", "/tags", ""},
		{"", "/concerts", ""},
	} {
		var got []string
		for _, route := range h.Describe(apitest.Now, usualRoot, calendar.English).ExplainRoute(c.method, h.Template(c.path)) {
			got = append(got, route.Operation)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s %s: got %v, want %s", c.method, c.path, got, c.want)
		}
	}
}

// TestPublishedBoundsAreThoseEnforced sends numbers and texts far out of bounds to every operation that has such
// parameters. The bounds in the error must equal those in the description.
func TestPublishedBoundsAreThoseEnforced(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	outOfBounds := map[string][]string{
		"integer": {"-99999", "99999"}, "number": {"-99999", "99999"}, "list of integer": {"-99999", "99999"},
		"string": {strings.Repeat("x", 600)},
	}
	for _, route := range explainedRoutes(t, offlineAPI(t)) {
		if route.Operation == "POST /images" {
			continue
		}
		for _, p := range route.Parameters {
			if p.In == "path" || p.In == "header" {
				continue
			}
			for _, value := range outOfBounds[p.Type] {
				refusalNamesPublishedBounds(t, api, route, p, value)
			}
		}
	}
}

// requestWith returns the sample request of a route with one parameter set to value. In a form it adds the other
// required fields.
func requestWith(route openapi.RouteExplanation, p openapi.Explanation, value string) apitest.Request {
	r := apitest.Request{Method: p.Sample.Method, Path: p.Sample.Path, As: "admin", Absolute: p.Sample.Server != ""}
	if p.In == "query" {
		r.Path += "?" + p.Name + "=" + value
		return r
	}
	r.Form = p.Name + "=" + value
	for _, other := range route.Parameters {
		if slices.Contains(other.Rules, "required") && other.Name != p.Name {
			r.Form += "&" + other.Name + "=2026-12-12"
		}
	}
	return r
}

// refusalNamesPublishedBounds sends a value out of bounds. If it is refused, the bounds in the error must equal
// those in the description.
func refusalNamesPublishedBounds(t *testing.T, api *apitest.API, route openapi.RouteExplanation, p openapi.Explanation, value string) {
	t.Helper()
	res := api.Do(t, requestWith(route, p, value))
	if res.Status != 400 {
		return
	}
	details, _ := res.Get(t, "data", "details").(map[string]any)
	fault, _ := details[p.Name].(map[string]any)
	said := strings.Join(p.Rules, "; ")
	if fault["code"] != "rest_out_of_bounds" {
		if strings.Contains(said, "at most") && p.Type == "string" {
			t.Errorf("%s %s: %q is said, and refused for %v", route.Operation, p.Name, said, fault)
		}
		return
	}
	data, _ := fault["data"].(map[string]any)
	for _, bound := range data {
		if text := strings.TrimSuffix(jsonText(t, bound), ".0"); !strings.Contains(said, text) {
			t.Errorf("%s %s: %s is enforced, and %q said", route.Operation, p.Name, text, said)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must.Succeed(t, err)
	return string(text)
}
