package feeds

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/read"
)

// FuzzFeedAddress checks that the address of a feed has one route, a known language, and no formats but its own.
func FuzzFeedAddress(f *testing.F) {
	h := New(address.NewNames(calendar.Paths{}, nil), true)
	for _, seed := range [][2]string{
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
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		m := h.Match("GET", path, query)
		if m == nil {
			return
		}
		segment, below := address.CutLanguage(path)
		root := read.Root{Segment: segment}
		if segment+below != path || !root.IsFeed() || !m.Found() || !strings.HasPrefix(path, root.Segment) || root.Language() != "" && !root.Language().Known() {
			t.Fatalf("%q?%q: %+v %+v", path, query, root, m)
		}
		if h.Match("POST", path, query).Found() {
			t.Fatalf("%q?%q takes POST", path, query)
		}
		var readings []address.Page
		if m.Input != nil {
			_, readings = h.matchPage(path, query)
		}
		for _, p := range readings {
			if p.Format == address.FormatHTML || p.IsFeed() && m.Endpoint.Codec.MediaType == calendarCodec.MediaType {
				t.Fatalf("%q?%q: %+v as %s", path, query, p, m.Endpoint.Codec.MediaType)
			}
		}
	})
}
