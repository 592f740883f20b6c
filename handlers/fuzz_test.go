package handlers

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
)

// newFuzzHandlers returns the API without a database, which only parses requests.
func newFuzzHandlers(f *testing.F) *Handlers {
	f.Helper()
	words, err := locale.Load()
	if err != nil {
		f.Fatal(err)
	}
	h, err := New(Config{Calendar: read.Calendar{Words: words, Site: calendar.Site{
		BaseURL: "http://127.0.0.1:8080/base", Language: calendar.English, PerPage: 10,
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}}})
	if err != nil {
		f.Fatal(err)
	}
	return h
}

// FuzzRoute checks that a path has one meaning: what was taken from it, put into the route's template again, is a path
// of the same route with the same parts.
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

// FuzzFeedAddress checks that the address of a feed has one route, a known language, and no formats but its own.
func FuzzFeedAddress(f *testing.F) {
	h := newFuzzHandlers(f)
	for _, address := range [][2]string{
		{"/events.ics", ""},
		{"/pl/events.atom", "page=2"},
		{"/event/jazz.ics", ""},
		{"/event/%2F.ics", ""},
		{"/event/.ics", ""},
		{"/events/", "ical=1"},
		{"/events/category/a/b/ical/", ""},
		{"/events/feed/atom/", "ical=1"},
		{"/es/venue/hall/", "outlook-ical=1"},
		{"/events/month/2026-12/ical/", "ical=1&outlook-ical=1"},
		{"/events/%zz/ical/", "%zz"},
	} {
		f.Add(address[0], address[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		root, ok := h.Feeds.Locate(path, query)
		m := h.Feeds.Match("GET", path, query)
		if ok != (m != nil) {
			t.Fatalf("%q?%q: located %t, matched %+v", path, query, ok, m)
		}
		if !ok {
			return
		}
		if !root.IsFeed() || !m.Found() || !strings.HasPrefix(path, root.Segment) || root.Language() != "" && !root.Language().Known() {
			t.Fatalf("%q?%q: %+v %+v", path, query, root, m)
		}
		if h.Feeds.Match("POST", path, query).Found() {
			t.Fatalf("%q?%q takes POST", path, query)
		}
		var readings []address.Page
		if m.Input != nil {
			_, readings = h.Feeds.matchPage(path, query)
		}
		for _, p := range readings {
			if p.Format == address.FormatHTML || p.IsFeed() && m.Endpoint.Codec.MediaType == calendarCodec.MediaType {
				t.Fatalf("%q?%q: %+v as %s", path, query, p, m.Endpoint.Codec.MediaType)
			}
		}
	})
}

// FuzzLinkDate checks that the date that a link of a page repeats is the instant that was asked for.
func FuzzLinkDate(f *testing.F) {
	for _, text := range []string{"1792891800", "2026-10-25 02:30", "2026-10-25T02:30+01:00", "2026-10-25 00:30Z", "tomorrow 9am", "9999-12-31", "1000-01-01"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
	}
	var zones []calendar.Zone
	for _, name := range []string{"Europe/Warsaw", "Australia/Lord_Howe", "UTC-3.5", "America/New_York", "Africa/Monrovia", "Asia/Kathmandu"} {
		zone, err := calendar.ParseZone(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, zone)
	}
	now := time.Date(2026, 10, 25, 1, 15, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string, of uint8) {
		zone := zones[int(of)%len(zones)]
		parse := read.ParseDate(now, zone)
		d, fault := parse(text)
		if fault != nil {
			return
		}
		at := d.Instant(zone)
		if year := zone.Wall(at).String(); len(year) != len(calendar.Layout) || year < "1000" {
			return // beyond what links of pages reach: the zone moves it out of the years there are
		}
		link := represent.DateText(at, zone)
		again, fault := parse(link)
		if fault != nil {
			t.Fatalf("%q is repeated as %q, which is no date", text, link)
		}
		if !again.Instant(zone).Equal(at) {
			t.Errorf("%q is %s, and %q is %s", text, at, link, again.Instant(zone))
		}
	})
}
