package handlers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/openapi"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// The tests of this file ask every operation the same, so that what the interface description has of each is true
// of all: whatever the document describes, they find there.

// describedOperations returns the operations of the interface description below the API, with their names in
// order.
func describedOperations(t *testing.T) (names []string, operations map[string]apitest.Operation) {
	t.Helper()
	return operationsOf(t, func(o apitest.Operation) bool { return !o.Feed })
}

// describedFeeds returns the operations of the interface description outside the API, with their names in order.
func describedFeeds(t *testing.T) (names []string, operations map[string]apitest.Operation) {
	t.Helper()
	return operationsOf(t, func(o apitest.Operation) bool { return o.Feed })
}

func operationsOf(t *testing.T, some func(apitest.Operation) bool) ([]string, map[string]apitest.Operation) {
	t.Helper()
	operations, err := apitest.Described()
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(operations, func(_ string, o apitest.Operation) bool { return !some(o) })
	return slices.Sorted(maps.Keys(operations)), operations
}

// newSweepAPI returns a service with the example calendar, an administrator and a subscriber.
func newSweepAPI(t *testing.T) *apitest.API {
	t.Helper()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	addPolishCourse(t, api)
	api.SignIn(t, "subscriber", calendar.Subscriber)
	return api
}

// targets are records of the example by the path that has them.
var targets = func() *strings.Replacer {
	out := []string{
		"/events/{id}", "/events/17", "/events/by-slug/{slug}", "/events/by-slug/walk-with-music",
		"/venues/{id}", "/venues/11", "/venues/by-slug/{slug}", "/venues/by-slug/bare-venue",
		"/organizers/{id}", "/organizers/13", "/organizers/by-slug/{slug}", "/organizers/by-slug/bob",
		"/categories/{id}", "/categories/5", "/tags/{id}", "/tags/4", "/images/{id}", "/images/14",
		"/event/{slug}.ics", "/event/walk-with-music.ics",
		"/series/{id}", "/series/25", "/series/by-slug/{slug}", "/series/by-slug/polish-for-beginners",
	}
	for _, kind := range calendar.NamedKinds { // those above come first
		at := "/" + kind.Plural()
		out = append(out, at+"/{id}", at+"/9", at+"/by-slug/{slug}", at+"/by-slug/blue-door")
	}
	return strings.NewReplacer(out...)
}()

// minimalBody returns a body with only the required fields of an operation.
func minimalBody(method, path string) any {
	if method != "POST" || strings.Contains(path, "{") {
		return nil
	}
	body, known := map[string]object{
		"/events":     {"title": "Fair", "start_date": "2026-12-20", "end_date": "2026-12-21"},
		"/venues":     {"venue": "Loft"},
		"/organizers": {"organizer": "Carol"},
		"/categories": {"name": "Blues"},
		"/tags":       {"name": "Outdoor"},
		"/images":     {"url": "https://example.org/a.png"},

		"/series/preview": {"start_date": "2026-12-20", "end_date": "2026-12-21", "rrule": "FREQ=DAILY;COUNT=2"},
	}[path]
	if !known {
		for _, kind := range calendar.NamedKinds {
			if path == "/"+kind.Plural() {
				return object{string(kind): "Loft"}
			}
		}
	}
	return body
}

func TestEveryOperationAnswersItsErrors(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	unknown := strings.NewReplacer("{id}", "999999", "{slug}", "nobody")
	long := strings.Repeat("x", 9<<10)
	names, operations := describedOperations(t)
	for _, name := range names {
		method, path, _ := strings.Cut(name, " ")
		statuses := operations[name].Statuses
		missing := 400
		if slices.Contains(statuses, "404") {
			missing = 404
		}
		body := minimalBody(method, path)
		at := targets.Replace(path)
		cases := []apitest.Case{
			{Name: "wrong credentials", Status: 401, Request: apitest.Request{Path: at, Header: map[string]string{"Authorization": "Bearer wrong"}}},
			{Name: "unknown language", Status: 400, Request: apitest.Request{Path: at + "?ml_language=xx", As: "admin", JSON: body}},
			{Name: "long address", Status: 413, Request: apitest.Request{Path: at + "?x=" + long, JSON: body}},
		}
		if strings.Contains(path, "{") {
			cases = append(cases, apitest.Case{
				Name: "unknown target", Status: missing, Request: apitest.Request{Path: unknown.Replace(path), As: "admin"},
			})
		}
		if method != "GET" || path == "/images" {
			cases = append(cases,
				apitest.Case{Name: "without rights", Status: 403, Request: apitest.Request{Path: at, As: "subscriber", JSON: body}},
				apitest.Case{Name: "anonymous", Status: 401, Request: apitest.Request{Path: at, JSON: body}})
		}
		if method != "GET" {
			cases = append(cases, apitest.Case{Name: "another media type", Status: 415, Request: apitest.Request{
				Path: at, As: "admin", Form: "<event/>", Header: map[string]string{"Content-Type": "text/xml"},
			}})
		}
		for i := range cases {
			cases[i].Name, cases[i].Method = name+" "+cases[i].Name, method
			if method == "GET" {
				cases[i].JSON = nil
			}
		}
		api.Run(t, cases)
	}
	api.AddVenue(t, "Cellar", func(c *ent.VenueCreate) { c.SetStatus(calendar.Draft) })
	api.AddOrganizer(t, "Nobody yet", func(c *ent.OrganizerCreate) { c.SetStatus(calendar.Draft) })
	api.Run(t, []apitest.Case{
		{Name: "a draft of a venue", Request: get("/venues/by-slug/cellar"), Status: 403},
		{Name: "a draft of an organizer", Request: get("/organizers/by-slug/nobody-yet"), Status: 403},
	})
}

// fullBodies returns, for each resource, a body with every field.
func fullBodies(t *testing.T, api *apitest.API) map[string]object {
	picture := addImage(t, api, nil)
	parent := api.AddEvent(t, "Season", "2026-12-01 10:00:00", "2026-12-30 10:00:00")
	linked := object{
		"author": 1, "date": "2026-11-01 10:00", "date_utc": "2026-11-01 10:00", "description": "<p>Text</p>",
		"status": "publish", "image": picture, "phone": "+48 22 333 33 33", "website": "https://example.org",
	}
	with := func(more object) object {
		body := maps.Clone(linked)
		maps.Copy(body, more)
		return body
	}
	bodies := map[string]object{
		"events": {
			"author": 1, "date": "2026-11-01 10:00", "date_utc": "2026-11-01 10:00", "title": "Fair", "slug": "fair",
			"description": "<p>Text</p>", "excerpt": "<p>Short</p>", "status": "publish", "timezone": "Europe/Warsaw",
			"all_day": false, "start_date": "2026-12-20 10:00", "end_date": "2026-12-20 12:00", "image": picture, "cost": "10 zł",
			"website": "https://example.org", "show_map": true, "show_map_link": true, "hide_from_listings": false,
			"sticky": true, "featured": true, "categories": []any{2, "Jazz"}, "tags": []any{4, "Outdoor"},
			"venue": []any{10, object{"venue": "Annex"}}, "organizer": []any{object{"id": 12}}, "password": nil,
			"ticketed": true, "post_parent": parent, "event_status": "postponed", "event_status_reason": "Rain", "attendance": "mixed",
			"virtual_url": "https://meet.example/fair",
		},
		"venues": with(object{
			"venue": "Loft", "slug": "loft", "show_map": true, "show_map_link": "0", "address": "2 Side St", "city": "Łódź",
			"country": "Poland", "province": "Łódzkie", "state": "ŁD", "zip": "90-001", "stateprovince": "Łódzkie",
			"geo_lat": 51.77, "geo_lng": 19.46,
		}),
		"organizers": with(object{"organizer": "Carol", "slug": "carol", "email": "carol@example.org"}),
		"categories": {"name": "Blues", "slug": "blues", "description": "Slow and fast", "parent": 2},
		"tags":       {"name": "Rainproof", "slug": "rainproof", "description": "Under a roof"},
	}
	for _, f := range new(ent.EventValues).Plain() {
		if _, ok := bodies["events"][f.Name]; !ok {
			bodies["events"][f.Name] = true
			if f.Sample != nil {
				bodies["events"][f.Name] = f.Sample
			}
		}
	}
	for _, route := range explainedRoutes(t, offlineAPI(t)) {
		kind, ok := createdKind(route.Operation)
		if !ok || bodies[kind.Plural()] != nil {
			continue
		}
		body := object{}
		for _, p := range route.Parameters {
			if p.In == "body" {
				body[p.Name] = linked[p.Name]
				if _, ok := linked[p.Name]; !ok {
					body[p.Name] = sampleValue(t, p)
				}
			}
		}
		bodies[kind.Plural()] = body
	}
	return bodies
}

// createdKind returns the kind of record that an operation creates. It reports false unless that is a kind with
// names, such as venues.
func createdKind(operation string) (calendar.Kind, bool) {
	at := slices.IndexFunc(calendar.NamedKinds, func(k calendar.Kind) bool { return operation == "POST /"+k.Plural() })
	if at < 0 {
		return "", false
	}
	return calendar.NamedKinds[at], true
}

// sampleValue returns the value of a field in the sample of its explanation.
func sampleValue(t *testing.T, p openapi.Explanation) any {
	t.Helper()
	var body object
	if err := json.Unmarshal([]byte(p.Sample.Body), &body); err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return body[p.Name]
}

// TestEveryFieldIsWrittenByEveryMethod creates and updates records with all fields at once. An update by any
// method, by id or slug, must give the same record.
func TestEveryFieldIsWrittenByEveryMethod(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	bodies := fullBodies(t, api)
	names, operations := describedOperations(t)
	const ask = "?ml_language=en&_fields=id,slug,status,title,venue,organizer,name,description,phone,cost,parent,event_status,virtual_url"
	want := make(map[string]string)
	address := make(map[string]string)
	var annex any // the venue that the event brought with it
	for _, collection := range slices.Sorted(maps.Keys(bodies)) {
		for _, field := range operations["POST /"+collection].Parameters {
			if slices.Contains([]string{"rrule", "rdate", "exdate", "scope"}, field) {
				continue // they make a series, which has tests of its own
			}
			if _, ok := bodies[collection][field]; !ok && field != "ml_language" && field != "_fields" {
				t.Errorf("%s has no %s", collection, field)
			}
		}
		res := api.Do(t, apitest.Request{Method: "POST", Path: "/" + collection + ask, As: "admin", JSON: bodies[collection]})
		if res.Status != 201 {
			t.Fatalf("%s: %d: %s", collection, res.Status, res.Body)
		}
		address[collection] = fmt.Sprintf("/%s/%v", collection, res.Get(t, "id"))
		want[collection] = string(res.Body)
		if collection == "events" {
			annex = res.Get(t, "venue", 1, "id")
		}
	}
	for _, name := range names {
		method, path, _ := strings.Cut(name, " ")
		collection := strings.Split(path, "/")[1]
		body := maps.Clone(bodies[collection])
		if method == "GET" || method == "DELETE" || !strings.Contains(path, "{") || collection == "series" {
			continue // series are not created, and have tests of their own
		}
		at := address[collection]
		if strings.HasSuffix(path, "{slug}") {
			at = fmt.Sprintf("/%s/by-slug/%v", collection, bodies[collection]["slug"])
		}
		if collection == "events" {
			body["venue"] = []any{10, object{"id": annex}} // that which the create made
		}
		t.Run(name, func(t *testing.T) {
			res := api.Do(t, apitest.Request{Method: method, Path: at + ask, As: "admin", JSON: body})
			if res.Status != 200 {
				t.Fatalf("got %d: %s", res.Status, res.Body)
			}
			if string(res.Body) != want[collection] {
				t.Errorf("got %s, want what was created: %s", res.Body, want[collection])
			}
		})
	}
}

// restored are the paths of records that have a slug and a trash.
var restored = func() *regexp.Regexp {
	collections := []string{calendar.Series.Plural()}
	for _, kind := range calendar.NamedKinds {
		collections = append(collections, kind.Plural())
	}
	return regexp.MustCompile(`^/(` + strings.Join(collections, "|") + `)/\{id\}$`)
}()

// TestEveryReadAndDeleteTakesTheSharedParameters sends ml_language and _fields to every read and delete.
func TestEveryReadAndDeleteTakesTheSharedParameters(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	file := upload("admin", "a.png", picture(t, 40, 30))
	file.Path += "?ml_language=pl&_fields=id"
	api.Run(t, []apitest.Case{{Name: "POST /images", Request: file, Status: 201}})
	names, _ := describedOperations(t)
	for _, method := range []string{"GET", "DELETE"} {
		for _, name := range names {
			path, ok := strings.CutPrefix(name, method+" ")
			if !ok {
				continue
			}
			at := targets.Replace(path)
			if method == "DELETE" && strings.HasSuffix(path, "{slug}") {
				at = strings.NewReplacer("walk-with-music", "minimal-event", "bare-venue", "grand-hall", "bob", "alice-co").Replace(at)
			}
			if path == "/images/{id}" && method == "DELETE" {
				at = imagePath(addImage(t, api, nil))
			}
			if method == "DELETE" && restored.MatchString(path) { // it was deleted by slug
				api.Do(t, apitest.Request{Method: "PATCH", Path: at, As: "admin", JSON: object{"status": "publish"}})
			}
			shared := "?ml_language=pl&_fields=id,total"
			if name == "DELETE /events/{id}" {
				shared += "&password=sesame"
			}
			t.Run(name, func(t *testing.T) {
				res := api.Do(t, apitest.Request{Method: method, Path: at + shared, As: "admin"})
				if res.Status != 200 {
					t.Fatalf("got %d: %s", res.Status, res.Body)
				}
			})
		}
	}
}

// TestEveryFeedAnswersAsDescribed provokes every status that the description has for each feed.
func TestEveryFeedAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	names, operations := describedFeeds(t)
	if len(names) != 5 {
		t.Errorf("described: %v", names)
	}
	for _, name := range names {
		path := strings.TrimPrefix(name, "GET ")
		at := targets.Replace(path)
		first := api.Do(t, apitest.Request{Path: at, Absolute: true})
		missing := "?page=99"
		if strings.Contains(path, "{") {
			at, missing = "/event/nobody.ics", ""
		}
		cases := []apitest.Case{
			{Name: "in another language", Status: 200, Request: apitest.Request{Path: targets.Replace(path) + "?ml_language=pl"}},
			{Name: "not changed", Status: 304, Request: ifNoneMatch(first.Header.Get("ETag"), apitest.Request{Path: targets.Replace(path)})},
			{Name: "another state", Status: 412, Request: ifMatch(`"x"`, apitest.Request{Path: targets.Replace(path)})},
			{Name: "unknown language", Status: 400, Request: apitest.Request{Path: targets.Replace(path) + "?ml_language=xx"}},
			{Name: "long address", Status: 413, Request: apitest.Request{Path: targets.Replace(path) + "?x=" + strings.Repeat("x", 9<<10)}},
		}
		if slices.Contains(operations[name].Statuses, "404") {
			cases = append(cases, apitest.Case{Name: "missing", Status: 404, Request: apitest.Request{Path: at + missing}})
		}
		for i := range cases {
			cases[i].Name, cases[i].Absolute = name+" "+cases[i].Name, true
		}
		api.Run(t, cases)
	}
}
