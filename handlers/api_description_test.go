package handlers_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// openAPI is the part of the interface description that these tests read.
type openAPI struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Version, Title, Description string
	} `json:"info"`
	Servers    []apiServer             `json:"servers"`
	Tags       []struct{ Name string } `json:"tags"`
	Paths      map[string]apiPath      `json:"paths"`
	Components struct {
		Schemas    map[string]apiSchema    `json:"schemas"`
		Parameters map[string]apiParameter `json:"parameters"`
	} `json:"components"`
}

type apiServer struct{ URL string }

// apiPath has the operations of a path by their methods.
type apiPath struct {
	servers    []apiServer // of a feed
	operations map[string]apiOperation
}

// UnmarshalJSON separates the operations of a path from its other members.
func (p *apiPath) UnmarshalJSON(data []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if servers, ok := parts["servers"]; ok {
		if err := json.Unmarshal(servers, &p.servers); err != nil {
			return err
		}
		delete(parts, "servers")
	}
	p.operations = make(map[string]apiOperation, len(parts))
	for method, part := range parts {
		var op apiOperation
		if err := json.Unmarshal(part, &op); err != nil {
			return err
		}
		p.operations[method] = op
	}
	return nil
}

type apiOperation struct {
	Tags        []string                `json:"tags"`
	OperationID string                  `json:"operationId"`
	Parameters  []apiParameter          `json:"parameters"`
	RequestBody *apiBody                `json:"requestBody"`
	Responses   map[string]apiBody      `json:"responses"`
	Security    []map[string][]struct{} `json:"security"`
}

type apiParameter struct {
	Ref, Name, In string
	Required      bool
	Schema        apiSchema
}

// UnmarshalJSON reads a parameter or a reference to one.
func (p *apiParameter) UnmarshalJSON(data []byte) error {
	var v struct {
		Ref      string    `json:"$ref"`
		Name     string    `json:"name"`
		In       string    `json:"in"`
		Required bool      `json:"required"`
		Schema   apiSchema `json:"schema"`
	}
	err := json.Unmarshal(data, &v)
	*p = apiParameter{v.Ref, v.Name, v.In, v.Required, v.Schema}
	return err
}

type apiBody struct {
	Required bool                       `json:"required"`
	Headers  map[string]json.RawMessage `json:"headers"`
	Content  map[string]struct {
		Schema apiSchema `json:"schema"`
	} `json:"content"`
}

type apiSchema struct {
	Ref        string               `json:"$ref"`
	Type       string               `json:"type"`
	Format     string               `json:"format"`
	Nullable   bool                 `json:"nullable"`
	Required   []string             `json:"required"`
	Properties map[string]apiSchema `json:"properties"`
	AnyOf      []apiSchema          `json:"anyOf"`
}

// takesNull reports whether the schema allows null.
func (s apiSchema) takesNull() bool {
	return s.Nullable || slices.ContainsFunc(s.AnyOf, apiSchema.takesNull)
}

// describe fetches the OpenAPI description of the API.
func describe(t *testing.T, api *apitest.API) *openAPI {
	t.Helper()
	res := api.Do(t, get("/doc"))
	if res.Status != 200 {
		t.Fatalf("got %d: %s", res.Status, res.Body)
	}
	var d openAPI
	res.Into(t, &d)
	return &d
}

func TestInterfaceDescriptionIsPublished(t *testing.T) {
	t.Parallel()
	comparePublished(t, "openapi.json", onSQLite(t).Do(t, get("/doc")).Body)
}

func TestInterfaceDescriptionHasItsParts(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	if d.OpenAPI != "3.0.0" || d.Info.Version == "" || d.Info.Title == "" || d.Info.Description == "" {
		t.Errorf("got openapi %q, info %+v", d.OpenAPI, d.Info)
	}
	want := []apiServer{{apitest.BaseURL + "/cal/events/v1"}}
	if diff := cmp.Diff(want, d.Servers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for _, name := range []string{
		"ImageSize", "CostDetails", "Term", "Image", "DateDetails", "Event", "Venue", "Organizer", "Error", "Problem",
	} {
		if s := d.Components.Schemas[name]; s.Type != "object" || len(s.Properties) == 0 {
			t.Errorf("no schema %s", name)
		}
	}
}

func TestInterfaceDescriptionFollowsItsRoot(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
		c.Mounts = []string{"/wp-json/tribe/events/v1"}
	})
	for path, want := range map[string]string{
		"/cal/events/v1/doc":              "/cal/events/v1",
		"/pl/cal/events/v1/doc":           "/pl/cal/events/v1",
		"/wp-json/tribe/events/v1/doc":    "/wp-json/tribe/events/v1",
		"/es/wp-json/tribe/events/v1/doc": "/es/wp-json/tribe/events/v1",
	} {
		// Twice, for the second is the one that was kept.
		for range 2 {
			res := api.Do(t, apitest.Request{Path: path, Absolute: true})
			if got := res.Get(t, "servers", 0, "url"); got != apitest.BaseURL+want {
				t.Errorf("%s: got %v, want %s", path, got, apitest.BaseURL+want)
			}
		}
	}
}

// TestInterfaceDescriptionIsTheSameEachDay reads the description on two days. Clients store it and generate code
// from it, so it must not change.
func TestInterfaceDescriptionIsTheSameEachDay(t *testing.T) {
	t.Parallel()
	describeAt := func(now time.Time) []byte {
		api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
			c.Site.Now = func() time.Time { return now }
		})
		return api.Do(t, get("/doc")).Body
	}
	if !bytes.Equal(describeAt(apitest.Now), describeAt(apitest.Now.AddDate(1, 1, 1))) {
		t.Error("another description on another day")
	}
}

// TestInterfaceDescriptionIsInTheOrderOfReading checks the order of the operations. Those of events come first,
// and those that describe the API come last. PATCH is first among the methods of an update.
func TestInterfaceDescriptionIsInTheOrderOfReading(t *testing.T) {
	t.Parallel()
	body := string(onSQLite(t).Do(t, get("/doc")).Body)
	at := 0
	for _, id := range []string{
		"listEvents", "createEvent", "getEvent", "updateEvent", "updateEventWithPut", "deleteEvent", "listVenues", "listOrganizers",
		"listCategories", "listTags", "listImages", "listSeries", "previewSeries", "getEventsIcs", "getIndex", "getDoc",
	} {
		next := strings.Index(body, `"operationId":"`+id+`"`)
		if next < at {
			t.Errorf("%s is at %d, what comes before it at %d", id, next, at)
		}
		at = next
	}
}

func TestInterfaceDescriptionHasTheRoutesOfTheIndex(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	template := strings.NewReplacer(`(?P<id>\d+)`, "{id}", "(?P<slug>[^/]+)", "{slug}")
	want := make(map[string][]string)
	for path, r := range routesOf(t) {
		if path = template.Replace(strings.TrimPrefix(path, "/cal/events/v1")); path == "" {
			path = "/"
		}
		want[path] = slices.Sorted(slices.Values(r.Methods))
	}
	got := make(map[string][]string)
	for path, item := range d.Paths {
		if item.servers != nil {
			continue // feeds are outside the index
		}
		for method := range item.operations {
			got[path] = append(got[path], strings.ToUpper(method))
		}
		slices.Sort(got[path])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// everyOperation calls f for each operation of the description.
func (d *openAPI) everyOperation(f func(name string, op apiOperation)) {
	for path, item := range d.Paths {
		for method, op := range item.operations {
			f(strings.ToUpper(method)+" "+path, op)
		}
	}
}

func TestOperationsAreNamedAndGrouped(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	seen := make(map[string]string)
	d.everyOperation(func(name string, op apiOperation) {
		if other := seen[op.OperationID]; op.OperationID == "" || other != "" {
			t.Errorf("%s: operationId %q, also of %q", name, op.OperationID, other)
		}
		seen[op.OperationID] = name
		if len(op.Tags) != 1 || !slices.Contains(d.Tags, struct{ Name string }{op.Tags[0]}) {
			t.Errorf("%s: tags %v, want one of %v", name, op.Tags, d.Tags)
		}
	})
	for id, want := range map[string]string{
		"getIndex":                  "GET /",
		"getDoc":                    "GET /doc",
		"listEvents":                "GET /events",
		"createVenue":               "POST /venues",
		"getOrganizerBySlug":        "GET /organizers/by-slug/{slug}",
		"updateEvent":               "PATCH /events/{id}",
		"updateEventWithPut":        "PUT /events/{id}",
		"updateEventBySlugWithPost": "POST /events/by-slug/{slug}",
		"listCategories":            "GET /categories",
		"deleteTag":                 "DELETE /tags/{id}",
		"createImage":               "POST /images",
		"getEventsIcs":              "GET /events.ics",
		"getEventIcs":               "GET /event/{slug}.ics",
	} {
		if seen[id] != want {
			t.Errorf("%s is %q, want %q", id, seen[id], want)
		}
	}
}

func TestOperationsDescribeTheirParameters(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	captures := regexp.MustCompile(`{(\w+)}`)
	d.everyOperation(func(name string, op apiOperation) {
		var query, path, inPath []string
		for _, p := range op.Parameters {
			if p.Ref != "" {
				shared, ok := d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
				if !ok {
					t.Errorf("%s: %s names no parameter", name, p.Ref)
				}
				p = shared
			}
			if p.In == "path" {
				path = append(path, p.Name)
				if !p.Required {
					t.Errorf("%s: the path is optional", name)
				}
			} else {
				query = append(query, p.Name)
			}
		}
		for _, match := range captures.FindAllStringSubmatch(name, -1) {
			inPath = append(inPath, match[1])
		}
		if !slices.Equal(path, inPath) {
			t.Errorf("%s: the path's parameters are %v", name, path)
		}
		shared := []string{"ml_language", "_fields"}
		if op.Tags[0] == "Feeds" {
			shared = shared[:1]
		}
		for _, want := range shared {
			if !slices.Contains(query, want) {
				t.Errorf("%s: no %s in %v", name, want, query)
			}
		}
	})
}

// follow returns the schema that the reference in s names.
func (d *openAPI) follow(t *testing.T, s apiSchema) apiSchema {
	t.Helper()
	if s.Ref == "" {
		return s
	}
	target, ok := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	if !ok {
		t.Fatalf("%s names no schema", s.Ref)
	}
	return target
}

// bodyOf returns the schema of a request body. kind is its media type.
func (d *openAPI) bodyOf(t *testing.T, path, method, kind string) apiSchema {
	t.Helper()
	op := d.Paths[path].operations[method]
	if op.RequestBody == nil {
		t.Fatalf("%s %s has no body", method, path)
	}
	return d.follow(t, op.RequestBody.Content[kind].Schema)
}

func TestBodiesAreTheFieldsOfTheIndex(t *testing.T) {
	t.Parallel()
	d, routes := describe(t, onSQLite(t)), routesOf(t)
	template := strings.NewReplacer(`(?P<id>\d+)`, "{id}", "(?P<slug>[^/]+)", "{slug}")
	for _, op := range operations {
		for method := range strings.FieldsSeq(op.methods) {
			path, method := template.Replace(op.path), strings.ToLower(method)
			if method == "get" || method == "delete" {
				if path != "" && d.Paths[path].operations[method].RequestBody != nil {
					t.Errorf("%s %s has a body", method, path)
				}
				continue
			}
			args := argsOf(t, routes, op.path, op.methods)
			var names, needed []string
			for name, a := range args {
				captured := strings.HasSuffix(path, "{"+name+"}") && !strings.HasPrefix(path, "/events/by-slug")
				if name == "ml_language" || captured && name != "slug" {
					continue
				}
				names = append(names, name)
				if *a.Required && !captured {
					needed = append(needed, name)
				}
			}
			slices.Sort(names)
			slices.Sort(needed)
			for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
				s := d.bodyOf(t, path, method, kind)
				if diff := cmp.Diff(names, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
					t.Errorf("%s %s, %s (-index +doc):\n%s", method, path, kind, diff)
				}
				if diff := cmp.Diff(needed, slices.Sorted(slices.Values(s.Required))); diff != "" {
					t.Errorf("%s %s, %s, required (-index +doc):\n%s", method, path, kind, diff)
				}
			}
		}
	}
}

func TestNullIsDescribedWhereItClears(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	for _, c := range []struct {
		path, method string
		want         string
	}{
		{"/events", "post", "categories organizer tags venue website"},
		{"/events/{id}", "patch", "attendance categories cost description event_status event_status_reason excerpt exdate image organizer password post_parent rdate rrule tags timezone venue virtual_url website"},
		{"/venues/{id}", "put", "address city country description geo_lat geo_lng image phone province show_map show_map_link state stateprovince website zip"},
		{"/organizers", "post", "author date date_utc description email image phone status website"},
		{"/categories", "post", ""},
		{"/categories/{id}", "patch", "description parent"},
		{"/tags/{id}", "patch", "description"},
	} {
		var got []string
		for name, s := range d.bodyOf(t, c.path, c.method, "application/json").Properties {
			if s.takesNull() {
				got = append(got, name)
			}
		}
		want := strings.Fields(c.want)
		if c.path == "/events/{id}" {
			for _, f := range new(ent.EventValues).Plain() {
				if _, isFlag := f.Value.(**bool); !isFlag && !slices.Contains(want, f.Name) {
					want = append(want, f.Name)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: null is allowed for %v, want %v", c.method, c.path, got, want)
		}
	}
}

func TestFilesAreSentAsMultipart(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	file := d.bodyOf(t, "/images", "post", "multipart/form-data").Properties["file"]
	if file.Type != "string" || file.Format != "binary" {
		t.Errorf("got %+v", file)
	}
	if _, ok := d.bodyOf(t, "/images", "post", "application/json").Properties["file"]; ok {
		t.Error("JSON takes a file")
	}
	if op := d.Paths["/events"].operations["post"]; len(op.RequestBody.Content) != 2 {
		t.Errorf("an event takes %v", slices.Collect(maps.Keys(op.RequestBody.Content)))
	}
}

func TestErrorsAreDescribedByOperation(t *testing.T) {
	t.Parallel()
	d := describe(t, onSQLite(t))
	for _, c := range []struct{ operation, want string }{
		{"GET /", "200 304 400 401 412 413 429 503 default"},
		{"GET /doc", "200 304 400 401 412 413 429 503 default"},
		{"GET /events", "200 304 400 401 404 412 413 429 503 default"},
		{"POST /events", "201 400 401 403 409 413 415 422 429 503 default"},
		{"GET /events/{id}", "200 304 400 401 403 404 412 413 429 503 default"},
		{"PUT /events/{id}", "200 400 401 403 404 410 412 413 415 429 503 default"},
		{"DELETE /events/{id}", "200 400 401 403 404 410 412 413 415 429 503 default"},
		{"GET /events/by-slug/{slug}", "200 304 400 401 403 412 413 429 503 default"},
		{"PATCH /events/by-slug/{slug}", "200 400 401 403 404 410 412 413 415 429 503 default"},
		{"DELETE /events/by-slug/{slug}", "200 400 401 403 410 412 413 415 429 503 default"},
		{"POST /series/{id}", "200 400 401 403 404 409 410 412 413 415 422 429 503 default"},
		{"DELETE /series/by-slug/{slug}", "200 400 401 403 404 410 412 413 415 429 503 default"},
		{"GET /venues", "200 304 400 401 404 412 413 429 503 default"},
		{"GET /venues/{id}", "200 304 400 401 403 412 413 429 503 default"},
		{"POST /venues/{id}", "200 400 401 403 409 412 413 415 422 429 503 default"},
		{"DELETE /organizers/{id}", "200 400 401 403 410 412 413 415 429 503 default"},
		{"GET /categories", "200 304 400 401 412 413 429 503 default"},
		{"GET /tags/{id}", "200 304 400 401 412 413 429 503 default"},
		{"DELETE /categories/{id}", "200 400 401 403 412 413 415 429 503 default"},
		{"GET /images", "200 304 400 401 403 412 413 429 503 default"},
		{"GET /images/{id}", "200 304 400 401 404 412 413 429 503 default"},
		{"DELETE /images/{id}", "200 400 401 403 404 412 413 415 429 503 default"},
		{"GET /events.ics", "200 301 304 400 404 412 413 429 503 default"},
		{"GET /event/{slug}.ics", "200 301 304 400 404 412 413 429 503 default"},
		{"GET /events.atom", "200 301 304 400 412 413 429 503 default"},
	} {
		method, path, _ := strings.Cut(c.operation, " ")
		got := slices.Sorted(maps.Keys(d.Paths[path].operations[strings.ToLower(method)].Responses))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.operation, got, c.want)
		}
	}
}

func TestCredentialsAreOptionalForReads(t *testing.T) {
	t.Parallel()
	describe(t, onSQLite(t)).everyOperation(func(name string, op apiOperation) {
		var got []string
		for _, one := range op.Security {
			got = append(got, strings.Join(slices.Collect(maps.Keys(one)), "+"))
		}
		want := []string{"basic", "bearer"}
		switch {
		case op.Tags[0] == "Feeds":
			want = nil
		case strings.HasPrefix(name, "GET ") && name != "GET /images":
			want = []string{"", "basic", "bearer"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	})
}

func TestFeedsAreDescribedOutsideTheAPI(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	for segment, want := range map[string]string{"": apitest.BaseURL, "/pl": apitest.BaseURL + "/pl"} {
		var d openAPI
		api.Do(t, apitest.Request{Path: segment + "/" + handlers.Namespace + "/doc", Absolute: true}).Into(t, &d)
		for path, kind := range map[string]string{
			"/events.ics": "text/calendar", "/event/{slug}.ics": "text/calendar", "/events.atom": "application/atom+xml",
			"/events.rss": "application/rss+xml", "/events.json": "application/feed+json",
		} {
			item := d.Paths[path]
			if diff := cmp.Diff([]apiServer{{want}}, item.servers); diff != "" {
				t.Errorf("%s: servers (-want +got):\n%s", path, diff)
			}
			content := item.operations["get"].Responses["200"].Content
			if _, ok := content[kind]; !ok || len(content) != 1 {
				t.Errorf("%s: %v, want %s", path, slices.Collect(maps.Keys(content)), kind)
			}
		}
	}
	without := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
		custom := settings.Default()
		custom.Pages.Feeds = false
		c.PageSettings = &custom
	})
	if _, ok := describe(t, without).Paths["/events.ics"]; ok {
		t.Error("feeds are described, and switched off")
	}
	if res := without.Do(t, apitest.Request{Path: "/events.ics", Absolute: true}); res.Status != 404 {
		t.Errorf("feeds are switched off: %d", res.Status)
	}
}
