package handlers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/read"
)

// field is a row of the specification's tables, as the index publishes it.
type field struct {
	name  string
	typ   string // "" is untyped, "ids" is an array of integer, "double" a number of that format
	must  bool   // required
	deflt string // default as JSON, "" for none
}

const (
	optional = false
	required = true
)

// The fields of a create (specification, section 2). Updates require none and have no default but null.
var (
	eventFields = []field{
		{"author", "integer", optional, ""},
		{"date", "string", optional, ""},
		{"date_utc", "string", optional, ""},
		{"title", "string", required, ""},
		{"description", "string", optional, ""},
		{"slug", "string", optional, ""},
		{"excerpt", "string", optional, ""},
		{"status", "string", optional, ""},
		{"timezone", "string", optional, ""},
		{"all_day", "boolean", optional, "false"},
		{"start_date", "string", required, ""},
		{"end_date", "string", required, ""},
		{"image", "string", optional, ""},
		{"cost", "", optional, ""},
		{"website", "", optional, "null"},
		{"show_map", "boolean", optional, ""},
		{"show_map_link", "boolean", optional, ""},
		{"hide_from_listings", "boolean", optional, ""},
		{"sticky", "boolean", optional, ""},
		{"featured", "boolean", optional, ""},
		{"categories", "ids", optional, "null"},
		{"tags", "ids", optional, "null"},
		{"venue", "ids", optional, "null"},
		{"organizer", "ids", optional, "null"},
	}
	venueFields = []field{
		{"author", "integer", optional, ""},
		{"date", "string", optional, ""},
		{"date_utc", "string", optional, ""},
		{"venue", "string", required, ""},
		{"description", "string", optional, "null"},
		{"status", "string", optional, ""},
		{"show_map", "string", optional, "null"},
		{"show_map_link", "string", optional, "null"},
		{"address", "string", optional, "null"},
		{"city", "string", optional, "null"},
		{"country", "string", optional, "null"},
		{"province", "string", optional, "null"},
		{"state", "string", optional, "null"},
		{"zip", "string", optional, "null"},
		{"phone", "string", optional, "null"},
		{"stateprovince", "string", optional, "null"},
		{"website", "string", optional, "null"},
		{"image", "string", optional, "null"},
	}
	organizerFields = []field{
		{"author", "integer", optional, "null"},
		{"date", "string", optional, "null"},
		{"date_utc", "string", optional, "null"},
		{"organizer", "string", required, "null"},
		{"description", "string", optional, "null"},
		{"status", "string", optional, "null"},
		{"phone", "string", optional, "null"},
		{"website", "string", optional, "null"},
		{"email", "string", optional, "null"},
		{"image", "string", optional, "null"},
	}
	categoryFields = []field{
		{"name", "string", required, ""},
		{"description", "string", optional, ""},
		{"slug", "string", optional, ""},
		{"parent", "integer", optional, ""},
	}
	tagFields = []field{
		{"name", "string", required, ""},
		{"description", "string", optional, ""},
		{"slug", "string", optional, ""},
	}
)

// The parameters of the lists (specification, sections 4.4 to 4.6).
var (
	eventFilters = []field{
		{"page", "integer", optional, "1"},
		{"per_page", "integer", optional, "10"},
		{"start_date", "", optional, `"2026-11-21 00:00:00"`},
		{"end_date", "", optional, `"2028-11-21 23:59:59"`},
		{"starts_before", "", optional, ""},
		{"starts_after", "", optional, ""},
		{"ends_before", "", optional, ""},
		{"ends_after", "", optional, ""},
		{"strict_dates", "", optional, "false"},
		{"search", "string", optional, ""},
		{"categories", "ids", optional, ""},
		{"tags", "ids", optional, ""},
		{"venue", "ids", optional, ""},
		{"organizer", "ids", optional, ""},
		{"featured", "boolean", optional, ""},
		{"status", "string", optional, ""},
		{"geoloc", "boolean", optional, ""},
		{"geoloc_lat", "double", optional, ""},
		{"geoloc_lng", "double", optional, ""},
		{"include", "ids", optional, ""},
		{"post_parent", "integer", optional, ""},
		{"ticketed", "boolean", optional, ""},
	}
	linkedFilters = []field{
		{"page", "integer", optional, "1"},
		{"per_page", "integer", optional, "10"},
		{"search", "string", optional, ""},
		{"event", "integer", optional, ""},
		{"has_events", "", optional, ""},
		{"only_with_upcoming", "", optional, "false"},
		{"status", "string", optional, ""},
	}
	categoryFilters = []field{
		{"page", "integer", optional, "1"},
		{"per_page", "integer", optional, "10"},
		{"search", "string", optional, ""},
		{"exclude", "ids", optional, ""},
		{"include", "ids", optional, ""},
		{"order", "string", optional, ""},
		{"orderby", "string", optional, ""},
		{"hide_empty", "boolean", optional, "1"},
		{"parent", "integer", optional, ""},
		{"post", "integer", optional, ""},
		{"event", "integer", optional, ""},
		{"slug", "string", optional, ""},
	}
)

var (
	idField       = []field{{"id", "integer", required, ""}}
	slugField     = []field{{"slug", "string", required, ""}}
	passwordField = []field{{"password", "string", optional, ""}}
	indexFields   = []field{
		{"namespace", "string", optional, `"cal/events/v1"`},
		{"context", "string", optional, `"view"`},
	}
)

// updateColumn returns the fields as a table's column for updates describes them.
func updateColumn(fields []field) []field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].must = optional
		if out[i].deflt != "null" {
			out[i].deflt = ""
		}
	}
	return out
}

func withoutField(fields []field, name string) []field {
	return slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return f.name == name })
}

// arg is a parameter in the API index.
type arg struct {
	Type   string   `json:"type"`
	Format string   `json:"format"`
	Enum   []string `json:"enum"`
	Items  struct {
		Type string `json:"type"`
	} `json:"items"`
	Default     json.RawMessage `json:"default"`
	Description string          `json:"description"`
	Required    *bool           `json:"required"`
}

// row returns the parameter as a row of the specification's tables.
func (a arg) row(name string) field {
	f := field{name: name, typ: a.Type, deflt: string(a.Default), must: a.Required != nil && *a.Required}
	switch {
	case a.Type == "array" && a.Items.Type == "integer":
		f.typ = "ids"
	case a.Format != "":
		f.typ = a.Format
	}
	return f
}

type route struct {
	Methods   []string `json:"methods"`
	Endpoints []struct {
		Methods []string       `json:"methods"`
		Args    map[string]arg `json:"args"`
	} `json:"endpoints"`
}

// routesOf returns the routes in the API index by their paths.
func routesOf(t *testing.T) map[string]route {
	t.Helper()
	var index struct {
		Routes map[string]route `json:"routes"`
	}
	onSQLite(t).Do(t, get("")).Into(t, &index)
	return index.Routes
}

// operations are the endpoints of the specification, by method and path, with all that it declares for them,
// and the names of what the service adds.
var operations = []struct {
	methods string
	path    string
	fields  [][]field
	added   string
}{
	{"GET", "", [][]field{indexFields}, ""},
	{"GET", "/doc", nil, ""},
	{"GET", "/events", [][]field{eventFilters}, "format geoloc_radius password series " + addedFilters()},
	{"POST", "/events", [][]field{eventFields}, "password ticketed post_parent " + addedEventFields},
	{"GET", `/events/(?P<id>\d+)`, [][]field{idField, passwordField}, ""},
	{"POST PUT PATCH", `/events/(?P<id>\d+)`, [][]field{idField, updateColumn(eventFields), passwordField}, "ticketed post_parent exceptions " + addedEventFields},
	{"DELETE", `/events/(?P<id>\d+)`, [][]field{idField, passwordField}, "scope"},
	{"GET", "/events/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, ""},
	// Here the slug is optional, and the field of the event too.
	{"POST PUT PATCH", "/events/by-slug/(?P<slug>[^/]+)", [][]field{updateColumn(eventFields)}, "password ticketed post_parent exceptions " + addedEventFields},
	{"DELETE", "/events/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, "scope"},

	{"GET", "/venues", [][]field{linkedFilters}, "format"},
	{"POST", "/venues", [][]field{venueFields}, "slug geo_lat geo_lng"},
	{"GET", `/venues/(?P<id>\d+)`, [][]field{idField}, ""},
	{"POST PUT PATCH", `/venues/(?P<id>\d+)`, [][]field{idField, updateColumn(venueFields)}, "slug geo_lat geo_lng"},
	{"DELETE", `/venues/(?P<id>\d+)`, [][]field{idField}, ""},
	{"GET", "/venues/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, ""},
	{"POST PUT PATCH", "/venues/by-slug/(?P<slug>[^/]+)", [][]field{slugField, updateColumn(venueFields)}, "geo_lat geo_lng"},
	{"DELETE", "/venues/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, ""},

	{"GET", "/organizers", [][]field{linkedFilters}, "format"},
	{"POST", "/organizers", [][]field{organizerFields}, "slug"},
	{"GET", `/organizers/(?P<id>\d+)`, [][]field{idField}, ""},
	{"POST PUT PATCH", `/organizers/(?P<id>\d+)`, [][]field{idField, updateColumn(organizerFields)}, "slug"},
	{"DELETE", `/organizers/(?P<id>\d+)`, [][]field{idField}, ""},
	{"GET", "/organizers/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, ""},
	{"POST PUT PATCH", "/organizers/by-slug/(?P<slug>[^/]+)", [][]field{slugField, updateColumn(organizerFields)}, ""},
	{"DELETE", "/organizers/by-slug/(?P<slug>[^/]+)", [][]field{slugField}, ""},

	{"GET", "/categories", [][]field{categoryFilters}, "format"},
	{"POST", "/categories", [][]field{categoryFields}, ""},
	{"GET", `/categories/(?P<id>\d+)`, [][]field{idField}, ""},
	{"POST PUT PATCH", `/categories/(?P<id>\d+)`, [][]field{idField, updateColumn(categoryFields)}, ""},
	{"DELETE", `/categories/(?P<id>\d+)`, [][]field{idField}, ""},

	{"GET", "/tags", [][]field{withoutField(categoryFilters, "parent")}, "format"},
	{"POST", "/tags", [][]field{tagFields}, ""},
	{"GET", `/tags/(?P<id>\d+)`, [][]field{idField}, ""},
	{"POST PUT PATCH", `/tags/(?P<id>\d+)`, [][]field{idField, updateColumn(tagFields)}, ""},
	{"DELETE", `/tags/(?P<id>\d+)`, [][]field{idField}, ""},
}

// addedEventFields are the fields of writes of events that the specification does not have (contract, sections 19.2 and 27.3),
// and those that came later.
var addedEventFields = strings.Join(append(laterFields(), "event_status", "event_status_reason", "attendance", "virtual_url",
	"rrule", "rdate", "exdate", "scope"), " ")

// laterFields returns the names of the plain fields of events that came after those of the contract's examples.
func laterFields() (names []string) {
	first := strings.Fields("show_map show_map_link hide_from_listings sticky featured ticketed event_status attendance virtual_url")
	for _, f := range new(ent.EventValues).Plain() {
		if !slices.Contains(first, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// addedFilters returns the names of the filters of events that the specification does not have, separated by
// spaces.
func addedFilters() string {
	var names []string
	for _, c := range read.EventColumns() {
		if !slices.ContainsFunc(eventFilters, func(f field) bool { return f.name == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestSpecificationIsDeclared(t *testing.T) {
	t.Parallel()
	routes := routesOf(t)
	for _, op := range operations {
		t.Run(op.methods+" "+op.path, func(t *testing.T) {
			args := argsOf(t, routes, op.path, op.methods)
			var declared []string
			for _, want := range slices.Concat(op.fields...) {
				declared = append(declared, want.name)
				got, ok := args[want.name]
				if !ok {
					t.Errorf("%s is not declared", want.name)
					continue
				}
				if diff := cmp.Diff(want, got.row(want.name), cmp.AllowUnexported(field{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", want.name, diff)
				}
			}
			declared = append(append(declared, "ml_language"), strings.Fields(op.added)...)
			slices.Sort(declared)
			if diff := cmp.Diff(declared, slices.Sorted(maps.Keys(args))); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// argsOf returns the parameters of an endpoint in the API index.
func argsOf(t *testing.T, routes map[string]route, path, methods string) map[string]arg {
	t.Helper()
	for _, e := range routes["/cal/events/v1"+path].Endpoints {
		if strings.Join(e.Methods, " ") == methods {
			return e.Args
		}
	}
	t.Fatalf("the index has no %s %s", methods, path)
	return nil
}

// isAddedRoute reports whether the service adds a route to those of the specification.
func isAddedRoute(path string) bool {
	collection, _, _ := strings.Cut(path[1:], "/")
	return collection == "images" || collection == "series" ||
		slices.ContainsFunc(calendar.NamedKinds, func(k calendar.Kind) bool {
			return k.Plural() == collection && k != calendar.Venue && k != calendar.Organizer
		})
}

func TestIndexHasTheRoutesOfTheSpecification(t *testing.T) {
	t.Parallel()
	want := make(map[string][]string)
	for _, op := range operations {
		want[op.path] = append(want[op.path], strings.Fields(op.methods)...)
	}
	got := make(map[string][]string)
	for path, r := range routesOf(t) {
		if path = strings.TrimPrefix(path, "/cal/events/v1"); path == "" || !isAddedRoute(path) {
			got[path] = r.Methods
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestEveryOperationTakesALanguage(t *testing.T) {
	t.Parallel()
	for path, r := range routesOf(t) {
		for _, e := range r.Endpoints {
			language, ok := e.Args["ml_language"]
			if !ok {
				t.Errorf("%v %s does not declare it", e.Methods, path)
				continue
			}
			if language.row("ml_language") != (field{"ml_language", "string", optional, ""}) ||
				!slices.Equal(language.Enum, []string{"en", "pl", "es"}) {
				t.Errorf("%v %s: got %+v", e.Methods, path, language)
			}
			for name, a := range e.Args {
				if a.Description == "" || a.Required == nil {
					t.Errorf("%v %s: %s has no description, or does not say whether it is required", e.Methods, path, name)
				}
			}
		}
	}
}
