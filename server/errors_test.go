package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must.Succeed(t, err)
	return string(data)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	var c net.ListenConfig
	ln, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	return ln
}

func body(want string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		if string(r.Body) != want {
			t.Errorf("\n got %s\nwant %s", r.Body, want)
		}
	}
}

func TestErrorsOfReadingInThreeLanguages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		venue := api.AddVenue(t, "Draft", func(c *ent.VenueCreate) { c.SetStatus(calendar.Draft) })
		organizer := api.AddOrganizer(t, "Draft", func(c *ent.OrganizerCreate) { c.SetStatus(calendar.Draft) })
		api.SignIn(t, "subscriber", calendar.Subscriber)
		for _, c := range []struct {
			code    string
			status  int
			request apitest.Request
			says    [3]string // en, pl, es
		}{
			{"rest_no_route", 404, ask("", "/events/abc"), [3]string{"No route matches this URL and method.", "Nie ma ścieżki dla tego adresu URL i tej metody.", ""}},
			{"rest_invalid_json", 400, apitest.Request{Method: "POST", Path: "/events", JSON: "{"}, [3]string{"The request body is not valid JSON.", "Treść żądania nie jest poprawnym dokumentem JSON.", ""}},
			{"rest_missing_callback_param", 400, ask("POST", "/tags"), [3]string{"Missing parameter(s): name", "Brak wymaganych parametrów: name", ""}},
			{"rest_invalid_param", 400, ask("", "/events?page=0&per_page=x"), [3]string{"Invalid parameter(s): page, per_page", "Nieprawidłowe parametry: page, per_page", ""}},
			{"rest_forbidden", 401, ask("", "/images"), [3]string{"You are not allowed to do that.", "Brak uprawnień do wykonania tej operacji.", ""}},
			{"rest_forbidden", 403, apitest.Request{As: "subscriber", Path: "/images"}, [3]string{"You are not allowed to do that.", "Brak uprawnień do wykonania tej operacji.", ""}},
			{"incorrect_password", 401, withHeaders(ask("", "/events"), "Authorization", "Basic YTpi"), [3]string{"The user name or password is wrong.", "Nieprawidłowa nazwa użytkownika lub hasło.", ""}},
			{"rest_invalid_token", 401, withHeaders(ask("", "/events"), "Authorization", "Bearer x"), [3]string{"The access token is wrong or has expired.", "Token dostępu jest nieprawidłowy lub wygasł.", ""}},
			{"rest-event-not-found", 404, ask("", "/events/999999"), [3]string{"There is no event with ID 999999.", "Nie ma wydarzenia o ID 999999.", ""}},
			{"rest-invalid-event-id", 400, ask("", "/events/10"), [3]string{"The record with ID 10 is not an event.", "Rekord o ID 10 nie jest wydarzeniem.", ""}},
			{"event-no-longer-available", 403, ask("", "/events/21"), [3]string{"The event is no longer available.", "Wydarzenie nie jest już dostępne.", ""}},
			{"event-not-accessible", 403, ask("", "/events/20"), [3]string{"You do not have access to this event.", "Brak dostępu do tego wydarzenia.", ""}},
			{"venue-not-accessible", 403, ask("", fmt.Sprint("/venues/", venue)), [3]string{"You do not have access to this venue.", "Brak dostępu do tego miejsca.", ""}},
			{"organizer-not-accessible", 403, ask("", fmt.Sprint("/organizers/", organizer)), [3]string{"You do not have access to this organizer.", "Brak dostępu do tego organizatora.", ""}},
			{"event-password-protected", 403, ask("", "/events/22"), [3]string{"This event requires a password.", "To wydarzenie wymaga hasła.", ""}},
			{"event-archive-page-not-found", 404, ask("", "/events?page=9"), [3]string{"There is no such page of events.", "Nie ma takiej strony wydarzeń.", ""}},
			{"venue-archive-page-not-found", 404, ask("", "/venues?page=9"), [3]string{"There is no such page of venues.", "Nie ma takiej strony miejsc.", ""}},
			{"organizer-archive-page-not-found", 404, ask("", "/organizers?page=9"), [3]string{"There is no such page of organizers.", "Nie ma takiej strony organizatorów.", ""}},
			{"image-not-found", 404, ask("", "/images/15"), [3]string{"There is no such image.", "Nie ma takiego obrazu.", ""}},
			{"rest_request_too_large", 413, ask("", "/events?x="+strings.Repeat("x", 9000)), [3]string{"The request is too large.", "Żądanie jest zbyt duże.", ""}},
		} {
			t.Run(fmt.Sprint(c.code, " ", c.status), func(t *testing.T) {
				seen := []string{}
				for i, lang := range []string{"en", "pl", "es"} {
					r := c.request
					header := []string{"Accept-Language", lang}
					for name, value := range r.Header {
						header = append(header, name, value)
					}
					res := api.Do(t, withHeaders(r, header...))
					message, _ := res.Get(t, "message").(string)
					if res.Status != c.status || res.Get(t, "code") != c.code || res.Get(t, "data", "status") != float64(c.status) {
						t.Errorf("%s: %d %s", lang, res.Status, res.Body)
					}
					if c.says[i] != "" && message != c.says[i] {
						t.Errorf("%s: says %q, want %q", lang, message, c.says[i])
					}
					if message == "" || slices.Contains(seen, message) || message == c.code {
						t.Errorf("%s: says %q", lang, message)
					}
					seen = append(seen, message)
					if got := res.Header.Get("Content-Language"); got != lang {
						t.Errorf("content language %q, want %q", got, lang)
					}
					if diff := cmp.Diff([]string{"code", "data", "message"}, members(t, res)); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	})
}

// members returns the member names of a JSON body, sorted.
func members(t *testing.T, r apitest.Response) []string {
	t.Helper()
	var object map[string]any
	r.Into(t, &object)
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestErrorBodies(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		problem := func(r apitest.Request, accept string) apitest.Request { return withHeaders(r, "Accept", accept) }
		const kind = "application/problem+json"
		isProblem := func(want string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				header("Content-Type", kind)(t, r)
				body(want)(t, r)
			}
		}
		isJSON := header("Content-Type", "application/json; charset=UTF-8")
		const notFound = `{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no event with ID 999.","instance":"/cal/events/v1/events/999","code":"rest-event-not-found"}`
		invalid := `{"code":"rest_invalid_param","message":"Invalid parameter(s): page, start_date, include, ml_language","data":{"status":400,` +
			`"params":{"page":"page must be at least 1.","start_date":"“x” is not a date. Examples: 2026-12-05 18:00, 2026-12-05T18:00:00+01:00, tomorrow 9am, first day of next month.","include":"include is not of type integer.","ml_language":"ml_language is not one of en, pl, es."},` +
			`"details":{"page":{"code":"rest_out_of_bounds","message":"page must be at least 1.","data":{"minimum":1}},` +
			`"start_date":{"code":"rest_invalid_date","message":"“x” is not a date. Examples: 2026-12-05 18:00, 2026-12-05T18:00:00+01:00, tomorrow 9am, first day of next month.","data":{}},` +
			`"include":{"code":"rest_invalid_type","message":"include is not of type integer.","data":{"param":"include"}},` +
			`"ml_language":{"code":"rest_not_in_enum","message":"ml_language is not one of en, pl, es.","data":{"enum":["en","pl","es"]}}}}}`
		api.Run(t, []apitest.Case{
			{Name: "invalid", Request: ask("", "/events?include=x&ml_language=x&start_date=x&page=0"), Status: 400, Check: body(invalid)},
			{Name: "invalid without reasons", Request: ask("", "/venues/999"), Status: 400, Check: body(`{"code":"rest_invalid_param","message":"Invalid parameter(s): id","data":{"status":400,"params":{"id":"There is no venue with ID 999."},"details":[]}}`)},
			{Name: "missing", Request: ask("POST", "/events"), Status: 400, Check: body(`{"code":"rest_missing_callback_param","message":"Missing parameter(s): title, start_date, end_date","data":{"status":400,"params":["title","start_date","end_date"]}}`)},
			{Name: "both bounds", Request: ask("", "/events?geoloc_lat=91&geoloc_lng=0"), Status: 400, Check: func(t *testing.T, r apitest.Response) {
				if got := encode(t, r.Get(t, "data", "details", "geoloc_lat", "data")); got != `{"maximum":90,"minimum":-90}` {
					t.Errorf("got %s", got)
				}
			}},
			{Name: "unknown ids are listed once", Request: ask("", "/events?venue=998,999,998,10"), Status: 400, Check: func(t *testing.T, r apitest.Response) {
				if got := encode(t, r.Get(t, "data", "details", "venue", "data")); got != `{"ids":[998,999]}` {
					t.Errorf("got %s", got)
				}
			}},
			{Name: "malformed JSON says where", Request: apitest.Request{Method: "POST", Path: "/events", JSON: `{"a":}`}, Status: 400, Check: func(t *testing.T, r apitest.Response) {
				if got, _ := r.Get(t, "data", "json_error_message").(string); !strings.Contains(got, "invalid character") {
					t.Errorf("got %q", got)
				}
			}},

			{Name: "problem", Request: problem(ask("", "/events/999"), kind), Status: 404, Check: isProblem(notFound)},
			{Name: "problem preferred", Request: problem(ask("", "/events/999"), kind+", application/json;q=0.9"), Status: 404, Check: isProblem(notFound)},
			{Name: "problem preferred, listed later", Request: problem(ask("", "/events/999"), "application/json;q=0.5, "+kind), Status: 404, Check: isProblem(notFound)},
			{Name: "problem before anything", Request: problem(ask("", "/events/999"), kind+", */*;q=0.1"), Status: 404, Check: isProblem(notFound)},
			{Name: "JSON preferred", Request: problem(ask("", "/events/999"), "application/json, "+kind+";q=0.9"), Status: 404, Check: isJSON},
			{Name: "anything", Request: problem(ask("", "/events/999"), "*/*"), Status: 404, Check: isJSON},
			{Name: "any application", Request: problem(ask("", "/events/999"), "application/*"), Status: 404, Check: isJSON},
			{Name: "neither", Request: problem(ask("", "/events/999"), "text/html"), Status: 404, Check: isJSON},
			{Name: "problem in capitals", Request: problem(ask("", "/events/999"), strings.ToUpper(kind)), Status: 404, Check: isProblem(notFound)},
			{Name: "problem with its encoding", Request: problem(ask("", "/events/999"), kind+"; charset=utf-8"), Status: 404, Check: isProblem(notFound)},
			{Name: "JSON with its encoding preferred", Request: problem(ask("", "/events/999"), "application/json; charset=utf-8, "+kind+";q=0.9"), Status: 404, Check: isJSON},
			{Name: "refused", Request: problem(ask("", "/events/999"), kind+";q=0"), Status: 404, Check: isJSON},
			{Name: "success stays JSON", Request: problem(ask("", "/events/16"), kind), Status: 200, Check: isJSON},
			{Name: "problem of a missing parameter", Request: problem(ask("POST", "/tags"), kind), Status: 400, Check: isProblem(
				`{"type":"about:blank","title":"Bad Request","status":400,"detail":"Missing parameter(s): name","instance":"/cal/events/v1/tags","code":"rest_missing_callback_param",` +
					`"errors":[{"parameter":"name","code":"rest_missing_callback_param","detail":"Missing parameter(s): name"}]}`)},
			{Name: "problem of invalid parameters", Request: problem(ask("", "/events?page=0&start_date=x"), kind), Status: 400, Check: isProblem(
				`{"type":"about:blank","title":"Bad Request","status":400,"detail":"Invalid parameter(s): page, start_date","instance":"/cal/events/v1/events","code":"rest_invalid_param",` +
					`"errors":[{"parameter":"page","code":"rest_out_of_bounds","detail":"page must be at least 1."},{"parameter":"start_date","code":"rest_invalid_date","detail":"“x” is not a date. Examples: 2026-12-05 18:00, 2026-12-05T18:00:00+01:00, tomorrow 9am, first day of next month."}]}`)},
		})
	})
}

// TestNoErrorIsStoredByCaches requests errors from the declared routes and from other paths. Each must forbid
// caching. apitest checks the same in all other tests.
func TestNoErrorIsStoredByCaches(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	var index struct{ Routes map[string]any }
	api.Do(t, ask("", "")).Into(t, &index)
	requests := []apitest.Request{
		ask("", "/none"), ask("TRACE", "/events"), ask("", "/events?page=0"), ask("", "/events/"+strings.Repeat("9", 9000)),
		withHeaders(ask("", "/events"), "Authorization", "Bearer x"), withHeaders(ask("", "/events"), "If-Match", `"1-0123456789abcdef"`),
		{Method: "POST", Path: "/tags", JSON: strings.Repeat(" ", 2<<20)},
		ask("", "/events.ics?page=0"), ask("HEAD", "/events/99999"),
		site("", "/none"), site("", "/none.ics"), site("", "/event/none/"), site("", "/event/none/ical/"), site("", "/events/feed/none/"),
		site("", "/media/none.jpg"), site("", "/docs/none"), site("", "/assets/none.js"), site("", "/sitemap-none.xml"), site("POST", "/robots.txt"),
		site("", "/?rest_route=/tribe/events/v1/none"), site("", "/wp-json/none"), site("POST", "/healthz"),
		site("POST", "/event/members-meeting/"), site("", "/?p=99999"), site("", "/?ical=1&p=99999"),
	}
	concrete := strings.NewReplacer(`(?P<id>\d+)`, "99999", `(?P<slug>[^/]+)`, "none")
	for pattern := range index.Routes {
		path := strings.TrimPrefix(concrete.Replace(pattern), "/cal/events/v1")
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			requests = append(requests, ask(method, path))
		}
	}
	failed := 0
	for _, r := range requests {
		for _, accept := range []string{"application/json", "application/problem+json", "text/html"} {
			if r.Header == nil {
				r.Header = map[string]string{}
			}
			r.Header["Accept"] = accept
			if res := api.Do(t, r); res.Status >= 400 { // Do checks the header
				failed++
			}
		}
	}
	if failed < 3*len(index.Routes) {
		t.Errorf("%d errors of %d routes", failed, len(index.Routes))
	}
}
