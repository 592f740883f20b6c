package handlers

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/proof/must"
)

// newFuzzHandlers returns the API without a database, which only parses requests.
func newFuzzHandlers(f *testing.F) *Handlers {
	f.Helper()
	words, err := locale.Load()
	must.Succeed(f, err)
	h, err := New(Config{Calendar: read.Calendar{Words: words, Site: calendar.Site{
		BaseURL: "http://127.0.0.1:8080/base", Language: calendar.English, PerPage: 10,
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}}})
	must.Succeed(f, err)
	return h
}

// FuzzRoute checks that a path has one meaning. The parameters of a matched path, put into the route's template,
// give a path that matches the same route with the same parameters.
func FuzzRoute(f *testing.F) {
	h := newFuzzHandlers(f)
	for _, path := range []string{
		"", "/", "/cal/events/v1", "/base/cal/events/v1/", "/pl/cal/events/v1/events/15/", "/base/es/cal/events/v1/doc",
		"/cal/events/v1/events/by-slug/%C5%BB%C3%B3%C5%82w%2F", "/cal/events/v1/events/by-slug/", "/cal/events/v1/events/0015",
		"/cal/events/v1/events/%31", "/cal/events/v1//events", "/cal/events/v1/%65vents", "/cal/events/v10", "/de/cal/events/v1", "/base", "/%zz",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		root, rest, ok := h.Locate(path)
		if !ok {
			return
		}
		if !strings.HasSuffix(path, root.Segment+root.Mount+rest) {
			t.Fatalf("%q is %+v and %q", path, root, rest)
		}
		if l := root.Language(); l != "" && !l.Known() {
			t.Fatalf("%q is in the language %q", path, l)
		}
		m := h.Match("GET", root, rest)
		if m == nil {
			return
		}
		again := m.Template()
		if again == "/" {
			again = ""
		}
		for name, value := range m.Path {
			if value == "" || name == "id" && strings.Trim(value, "0123456789") != "" {
				t.Fatalf("%q has the %s %q", path, name, value)
			}
			again = strings.ReplaceAll(again, "{"+name+"}", url.PathEscape(value))
		}
		other := h.Match("GET", root, again)
		if other == nil || other.Route != m.Route || !reflect.DeepEqual(other.Path, m.Path) {
			t.Fatalf("%q is %s of %v, and %q is not", path, m.Route, m.Path, again)
		}
	})
}
