package importer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/wptest"
)

// allEvents is the URL path of a list without a limited period.
const allEvents = "/events?start_date=2000-01-01&end_date=2040-12-31&per_page=50"

// greekEvents and greekEvent are percent-encoded bases of a Greek site.
const (
	greekEvents = "%ce%b5%ce%ba%ce%b4%ce%b7%ce%bb%cf%8e%cf%83%ce%b5%ce%b9%cf%82"
	greekEvent  = "%ce%b5%ce%ba%ce%b4%ce%ae%ce%bb%cf%89%cf%83%ce%b7"
)

// polish are bases of a Polish site.
var polish = wptest.Paths{
	Events: "wydarzenia", Event: "wydarzenie", Venue: "miejsce", Organizer: "organizator", Category: "kategoria", Tag: "etykieta",
}

// readSite reads the calendar of a test site from the URL of its list. It also returns all events and dates of
// series by source id.
func readSite(t *testing.T, s *wptest.Site, list string) (*Calendar, map[string]*Event) {
	t.Helper()
	cal, err := newFastReader().Read(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if len(cal.Problems) > 0 {
		t.Errorf("problems %v", cal.Problems)
	}
	byKey := make(map[string]*Event)
	for _, e := range cal.Events {
		all := []*Event{e}
		if e.Series != nil {
			all = e.Series.Single
			if e.UID != "" || e.GUID != "" || e.Page != "" {
				t.Errorf("the series has the identifiers of one date: %q, %q, %q", e.UID, e.GUID, e.Page)
			}
		}
		for _, one := range all {
			byKey[one.Key] = one
		}
	}
	return cal, byKey
}

// checkIdentifiers compares the guids, UIDs and hidden events that were read with those of the test site. Each flag
// is true if the site offers them.
func checkIdentifiers(t *testing.T, s *wptest.Site, byKey map[string]*Event, withUIDs, withGUIDs, withHidden bool) {
	t.Helper()
	shared := make(map[string]int)
	for _, want := range s.Events() {
		shared[want.GUID]++
	}
	first := make(map[string]bool)
	for _, want := range s.Events() {
		e := byKey[s.GlobalID(want.ID)]
		if e == nil {
			if withHidden || !want.Hidden {
				t.Errorf("%s was not read", want.Title)
			}
			continue
		}
		if !withUIDs {
			want.UID = ""
		}
		if !withGUIDs || shared[want.GUID] > 1 && first[want.GUID] {
			want.GUID = ""
		}
		first[want.GUID] = true
		if e.UID != want.UID || e.GUID != want.GUID {
			t.Errorf("%s: UID %q, guid %q, want %q, %q", want.Title, e.UID, e.GUID, want.UID, want.GUID)
		}
	}
}

func TestIdentifiersAndPathsOfASite(t *testing.T) {
	polishPaths := map[string]string{
		"events": "wydarzenia", "event": "wydarzenie", "venue": "miejsce", "organizer": "organizator", "category": "kategoria", "tag": "etykieta",
	}
	tests := []struct {
		name    string
		options wptest.Options
		list    string // after the address of the API, or after that of the site if it begins with "/?"
		// missing says what the site lacks: hidden, uids or guids.
		missing string
		paths   map[string]string
		notices []string
	}{
		{"defaults", wptest.Options{}, allEvents, "", nil, nil},
		{
			"a list with a slash and an index",
			wptest.Options{},
			"/events/?start_date=2000-01-01&end_date=2040-12-31", "",
			nil, nil,
		},
		{
			"a parameter with the route",
			wptest.Options{},
			"/?rest_route=/tribe/events/v1/events&start_date=2000-01-01&end_date=2040-12-31", "", nil, nil,
		},
		{"a sub-directory", wptest.Options{Home: "/calendar"}, allEvents, "", nil, nil},
		{"another host in records", wptest.Options{Host: "calendar.example.org"}, allEvents, "", nil, nil},
		{"a language segment", wptest.Options{Language: "en"}, allEvents, "", nil, nil},
		{
			"a language segment and other paths",
			wptest.Options{Language: "pl", Paths: polish},
			allEvents, "", polishPaths,
			nil,
		},
		{
			"a language and a sub-directory",
			wptest.Options{Language: "en", Home: "/calendar", Host: "www.example.org"},
			allEvents, "", nil, nil,
		},
		{"other paths", wptest.Options{Paths: polish}, allEvents, "", polishPaths, nil},
		{
			"Greek paths",
			wptest.Options{Paths: wptest.Paths{Events: greekEvents, Event: greekEvent}, Home: "/a"},
			allEvents, "",
			map[string]string{"events": greekEvents, "event": greekEvent},
			nil,
		},
		{
			"no API of WordPress itself, so the guids are those of the feed",
			wptest.Options{NoCoreAPI: true, Paths: polish},
			allEvents, "guids",
			polishPaths, nil,
		},
		{
			"no sitemap",
			wptest.Options{NoSitemap: true},
			allEvents, "hidden", nil,
			[]string{"events that the list hides: the site has no sitemap; such events are not imported"},
		},
		{
			"pages without links",
			wptest.Options{NoCoreAPI: true, Paths: polish, Replace: map[string]http.HandlerFunc{
				"/wydarzenie/jazz-night/": http.NotFound, "/wydarzenie/open-day/": http.NotFound, "/wydarzenie/winter-festival/": http.NotFound,
			}},
			allEvents, "guids",
			map[string]string{"event": "wydarzenie", "venue": "miejsce", "organizer": "organizator"},
			[]string{"paths: pages of events are below /wydarzenie/ at the source, and the path of their list is unknown"},
		},
		{"no iCalendar files", wptest.Options{NoCalendarFiles: true}, allEvents, "uids", nil, nil},
		{
			"nothing but the API and pages",
			wptest.Options{NoCoreAPI: true, NoSitemap: true, NoCalendarFiles: true, Paths: polish},
			allEvents,
			"hidden guids uids", polishPaths,
			[]string{"events that the list hides: the site has no sitemap; such events are not imported"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := wptest.NewSite(t, tt.options)
			list := s.API + tt.list
			if strings.HasPrefix(tt.list, "/?") {
				list = s.URL + tt.list
			}
			cal, byKey := readSite(t, s, list)
			has := func(what string) bool { return !strings.Contains(tt.missing, what) }
			if has("guids") {
				checkIdentifiers(t, s, byKey, has("uids"), true, has("hidden"))
			}
			if diff := cmp.Diff(tt.paths, cal.Paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notices, cal.Notices); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFeedHasTheGUIDsOfTheNextEvents(t *testing.T) {
	for name, replace := range map[string]map[string]http.HandlerFunc{
		"by a query":         {},
		"at its own address": {"/": http.NotFound},
	} {
		s := wptest.NewSite(t, wptest.Options{NoCoreAPI: true, Replace: replace})
		_, byKey := readSite(t, s, s.API+allEvents)
		var got []string
		for _, want := range s.Events() {
			if e := byKey[s.GlobalID(want.ID)]; e.GUID != "" {
				got = append(got, want.Title)
				if e.GUID != want.GUID {
					t.Errorf("%s: %s has the guid %q, want %q", name, want.Title, e.GUID, want.GUID)
				}
			}
		}
		next := []string{
			"Jazz night – the trio", "Open day", "Winter festival", "Exhibition", "Board meeting", "日本語のイベント", "Film evening", "Yoga",
			"Talk from New York", "Running exhibition",
		}
		if diff := cmp.Diff(next, got); diff != "" {
			t.Errorf("%s: events with a guid (-want +got):\n%s", name, diff)
		}
	}
}

func TestAFilteredListBringsNoHiddenEvents(t *testing.T) {
	s := wptest.NewSite(t, wptest.Options{})
	_, byKey := readSite(t, s, s.API+"/events?categories=jazz")
	if len(byKey) != 1 || byKey[s.GlobalID(15)].GUID == "" || byKey[s.GlobalID(15)].UID == "" {
		t.Errorf("read %v", byKey)
	}
	for _, request := range s.Requests() {
		if strings.Contains(request, "sitemap") || strings.Contains(request, "by-slug") {
			t.Errorf("asked for %s", request)
		}
	}
}

func TestOtherServicesAreNotAskedForASite(t *testing.T) {
	for _, path := range []string{"/api/events", "/wp-json/tribe/events/v1/event", "/wp-json/other/v1/events", "/?rest_route=/wp/v2/posts"} {
		s := serve(t, func(http.ResponseWriter, *http.Request, int) string { return publicPage })
		if _, err := newFastReader().Read(t.Context(), s.URL+path); err != nil {
			t.Fatal(err)
		}
		for _, asked := range s.asked {
			if strings.Contains(asked, "sitemap") || strings.Contains(asked, "wp/v2/tribe_events") || strings.Contains(asked, "ical=1") {
				t.Errorf("%s: asked for %s", path, asked)
			}
		}
	}
}

// largeSite is a fake WordPress site with many events. All are upcoming, unless they are hidden or past.
type largeSite struct {
	upcoming, past, hidden int
	uid                    func(id int) string // UID in iCalendar files; nil means that of The Events Calendar
	listed                 int                 // number of events in the iCalendar file of the list
}

// answer replies to requests as a WordPress site does.
func (l largeSite) answer(w http.ResponseWriter, r *http.Request, _ int) string {
	page := func(id int) string { return fmt.Sprintf("https://calendar.example.org/event/e%d/", id) }
	record := func(id int) string {
		return fmt.Sprintf(`{"id":%d,"global_id":"calendar.example.org?id=%d","title":"E%d","slug":"e%d","url":%q,"status":"publish",
			"start_date":"2026-12-05 18:00:00","end_date":"2026-12-05 19:00:00","timezone":"Europe/Warsaw","hide_from_listings":%t}`,
			id, id, id, id, page(id), id > l.upcoming+l.past)
	}
	uid := l.uid
	if uid == nil {
		uid = func(id int) string { return fmt.Sprintf("%d-1796493600-1796497200@calendar.example.org", id) }
	}
	file := func(ids ...int) string {
		text := "BEGIN:VCALENDAR\r\n"
		for _, id := range ids {
			text += fmt.Sprintf("BEGIN:VEVENT\r\nUID:%s\r\nURL:%s\r\nEND:VEVENT\r\n", uid(id), page(id))
		}
		return text + "END:VCALENDAR"
	}
	ids := func(n int) (out []int) {
		for id := range n {
			out = append(out, id+1)
		}
		return out
	}
	one, isOne := strings.CutPrefix(r.URL.Path, "/event/e")
	slug, isSlug := strings.CutPrefix(r.URL.Path, "/wp-json/tribe/events/v1/events/by-slug/e")
	switch {
	case isOne:
		id, err := strconv.Atoi(strings.TrimSuffix(one, "/"))
		if err != nil {
			return err.Error()
		}
		return file(id)
	case isSlug:
		id, err := strconv.Atoi(slug)
		if err != nil {
			return err.Error()
		}
		return record(id)
	case r.URL.Path == "/wp-json/tribe/events/v1/events":
		all := l.upcoming
		if r.URL.Query().Get("start_date") != "" {
			all += l.past
		}
		var records []string
		for _, id := range ids(all) {
			records = append(records, record(id))
		}
		return `{"events":[` + strings.Join(records, ",") + `]}`
	case r.URL.Path == "/wp-sitemap.xml":
		var out strings.Builder
		out.WriteString("<urlset>")
		for _, id := range ids(l.upcoming + l.past + l.hidden) {
			fmt.Fprintf(&out, "<url><loc>%s</loc></url>", page(id))
		}
		return out.String() + "</urlset>"
	case r.URL.Query().Has("ical"):
		return file(ids(l.listed)...)
	}
	w.WriteHeader(http.StatusNotFound)
	return "{}"
}

// countRequests returns the number of requests that match a pattern.
func (s *service) countRequests(pattern string) (n int) {
	for _, asked := range s.asked {
		if regexp.MustCompile(pattern).MatchString(asked) {
			n++
		}
	}
	return n
}

func TestRequestsToASiteAreBounded(t *testing.T) {
	foreign := func(id int) string { return fmt.Sprintf("event%d@example.org", id) }
	shared := func(int) string { return "same@example.org" }
	tests := []struct {
		name          string
		site          largeSite
		bySlug, files int // requests
		lists         int
		hidden, uids  int // events
		notice        string
	}{
		{"some hidden events", largeSite{upcoming: 30, hidden: 4, listed: 30}, 4, 0, 1, 4, 34, ""},
		{"many past events", largeSite{upcoming: 30, past: 300, hidden: 4, listed: 30}, 4, 0, 2, 4, 34, ""},
		{
			"many hidden events",
			largeSite{upcoming: 5, hidden: 10_000, listed: 5},
			500, 0, 2, 500, 505,
			"events that the list hides: the sitemaps have 10000 events that are in no list; only 500 are read",
		},
		{"UIDs of another kind", largeSite{upcoming: 50, listed: 30, uid: foreign}, 0, 20, 1, 0, 50, ""},
		{
			"many UIDs of another kind",
			largeSite{upcoming: 260, listed: 30, uid: foreign},
			0, 200, 1, 0, 230,
			"UIDs of iCalendar files: unknown for 30 of 260 events; programs that have their files will show them twice",
		},
		{"few events in the file", largeSite{upcoming: 7, listed: 2}, 0, 5, 1, 0, 7, ""},
		{"one UID for all", largeSite{upcoming: 7, listed: 7, uid: shared}, 0, 0, 1, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.site.answer)
			r := newFastReader()
			r.Rate = 100_000
			cal, err := r.Read(t.Context(), s.URL+"/wp-json/tribe/events/v1/events")
			if err != nil || len(cal.Problems) > 0 {
				t.Fatal(err, cal.Problems)
			}
			if n := s.countRequests("by-slug"); n != tt.bySlug {
				t.Errorf("%d requests by slug, want %d", n, tt.bySlug)
			}
			if n := s.countRequests(`/event/e.*ical=1`); n != tt.files {
				t.Errorf("%d requests for files, want %d", n, tt.files)
			}
			if n := s.countRequests(`/v1/events($|\?)`); n != tt.lists {
				t.Errorf("%d requests for the list, want %d", n, tt.lists)
			}
			hidden, uids := 0, 0
			for _, e := range cal.Events {
				if e.HideFromListings != nil && *e.HideFromListings {
					hidden++
				}
				if e.UID != "" {
					uids++
				}
			}
			if hidden != tt.hidden || uids != tt.uids {
				t.Errorf("%d hidden events, %d UIDs, want %d and %d", hidden, uids, tt.hidden, tt.uids)
			}
			notices := slices.DeleteFunc(
				cal.Notices, func(n string) bool { return strings.Contains(n, "that no listed event has") },
			)
			if got := strings.Join(notices, "\n"); got != tt.notice {
				t.Errorf("notices %q, want %q", got, tt.notice)
			}
		})
	}
}

func TestHostileAnswersOfASite(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked for %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	const hides = "events that the list hides: "
	none := hides + "the site has no sitemap of its events; such events are not imported"
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	index := func(addresses ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i, a := range addresses {
				addresses[i] = strings.ReplaceAll(a, "HOST", "http://"+r.Host)
			}
			wptest.WriteSitemap(w, "sitemapindex", "sitemap", addresses)
		}
	}
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	const events = "/wp-sitemap-posts-tribe_events-1.xml"
	var many []string
	files := map[string]http.HandlerFunc{}
	for i := range 2 * maxSitemaps {
		name := fmt.Sprintf("/tribe_events-sitemap%d.xml", i)
		many = append(many, "HOST"+name)
		files[name] = func(w http.ResponseWriter, r *http.Request) {
			wptest.WriteSitemap(w, "urlset", "url", []string{"http://" + r.Host + "/event/members-evening/"})
		}
	}
	files["/wp-sitemap.xml"] = index(many...)
	tests := []struct {
		name    string
		replace map[string]http.HandlerFunc
		hidden  int // hidden events that are read
		notice  string
	}{
		{
			"sitemaps on another host",
			map[string]http.HandlerFunc{"/wp-sitemap.xml": index(elsewhere.URL + events)},
			0,
			none,
		},
		{"pages on another host", map[string]http.HandlerFunc{events: func(w http.ResponseWriter, _ *http.Request) {
			wptest.WriteSitemap(w, "urlset", "url", []string{elsewhere.URL + "/event/members-evening/"})
		}}, 0, none},
		{
			"a loop",
			map[string]http.HandlerFunc{"/wp-sitemap.xml": index("HOST/wp-sitemap.xml", "HOST/other.xml"), "/other.xml": index("HOST/wp-sitemap.xml", "HOST"+events)},
			2, "",
		},
		{
			"many sitemaps", files, 1,
			hides + "the sitemaps have more than 50 files or 50000 addresses; the rest are not read",
		},
		{
			"a sitemap that goes on for ever",
			map[string]http.HandlerFunc{events: text(strings.Repeat(" ", maxBody+1))},
			0,
			hides + "the sitemap URL" + events + ": over 32 MiB\n" + none,
		},
		{
			"a sitemap that is no XML",
			map[string]http.HandlerFunc{events: text("<html><p>")},
			0,
			hides + "the sitemap URL" + events + ": not a sitemap\n" + none,
		},
		{"a sitemap that is cut", map[string]http.HandlerFunc{events: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/event/members-evening/</loc></url><url><lo", r.Host)
		}}, 1, hides + "the sitemap URL" + events + ": cut or invalid: XML syntax error on line 1: unexpected EOF"},
		{
			"an index that redirects to another host",
			map[string]http.HandlerFunc{"/wp-sitemap.xml": redirect},
			0,
			hides + "URL/wp-sitemap.xml: redirect to ELSEWHERE; if that is the service you mean, import it from there; such events are not imported",
		},
		{
			"an index that is broken",
			map[string]http.HandlerFunc{"/wp-sitemap.xml": broken},
			0,
			hides + "URL/wp-sitemap.xml: status 500 Internal Server Error; such events are not imported",
		},
		{"an index that is cut", map[string]http.HandlerFunc{"/wp-sitemap.xml": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<sitemapindex><sitemap><loc>http://%s%s</loc></sitemap><sit", r.Host, events)
		}}, 2, hides + "the sitemap wp-sitemap.xml: cut or invalid: XML syntax error on line 1: unexpected EOF"},
		{
			"another index",
			map[string]http.HandlerFunc{"/wp-sitemap.xml": http.NotFound, "/sitemap_index.xml": index("HOST/tribe_events_cat-sitemap.xml", "HOST"+events)},
			2, "",
		},
		{
			"an event by another slug",
			map[string]http.HandlerFunc{"/wp-json/tribe/events/v1/events/by-slug/members-evening": text(`{"id":15,"hide_from_listings":true,"global_id":"x?id=15"}`)},
			1, "hidden event 1 (id 15): title: missing; start_date: missing; left out",
		},
		{"a hidden event with a password", map[string]http.HandlerFunc{"/wp-json/tribe/events/v1/events/by-slug/members-evening": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
		}}, 1, hides + "not imported, because they need a password: 1"},
		{
			"another JSON from WordPress itself",
			map[string]http.HandlerFunc{"/wp-json/wp/v2/tribe_events": text(`{"posts":[]}`), "/wp-json/wp/v2/tribe_events_cat": text("[1,null,{}]")},
			2, "",
		},
		{"links to another host", map[string]http.HandlerFunc{
			"/wp-json/wp/v2/tribe_events_cat": text(`[{"id":1,"link":"` + elsewhere.URL + `/x/y/z/"}]`),
			"/wp-json/wp/v2/tags":             text(`[{"id":1,"link":"` + elsewhere.URL + `/x/y/"}]`),
			"/event/jazz-night/":              text(`<a rel="tag" href="` + elsewhere.URL + `/x/y/jazz/">x</a>`),
			"/":                               redirect, "/events/": redirect,
		}, 2, "UIDs of iCalendar files: unknown for 1 of 21 events; programs that have their files will show them twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := wptest.NewSite(t, wptest.Options{Replace: tt.replace})
			cal, byKey := readSite(t, s, s.API+allEvents)
			hidden := 0
			for _, want := range s.Events() {
				if e := byKey[s.GlobalID(want.ID)]; e != nil && want.Hidden {
					hidden++
				} else if e == nil && !want.Hidden {
					t.Errorf("%s was not read", want.Title)
				}
			}
			if hidden != tt.hidden || cal.Paths != nil {
				t.Errorf("%d hidden events, want %d; paths %v", hidden, tt.hidden, cal.Paths)
			}
			notices := strings.NewReplacer(
				s.URL, "URL", elsewhere.URL, "ELSEWHERE").Replace(strings.Join(cal.Notices, "\n"))
			if diff := cmp.Diff(tt.notice, notices); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			if n := len(s.Requests()); n > 80 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestReadingASiteEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := wptest.NewSite(t, wptest.Options{Replace: map[string]http.HandlerFunc{
		"/wp-sitemap.xml": func(http.ResponseWriter, *http.Request) { cancel() },
	}})
	if _, err := newFastReader().Read(ctx, s.API+"/events"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// wordPress returns a siteReader for a site with the given list of events.
func wordPress(t *testing.T, list string, cal *Calendar) *siteReader {
	t.Helper()
	base, err := url.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	w := &webReader{Reader: newFastReader(), base: base}
	return w.newSiteReader(cal)
}

func TestBasesAreThoseOfMostRecords(t *testing.T) {
	const root = "https://calendar.example.org"
	tests := []struct {
		name  string
		list  string
		pages []string // of events
		want  map[string]string
	}{
		{"that of this program", "/wp-json/tribe/events/v1/events", []string{"/event/a/"}, nil},
		{
			"another one", "/wp-json/tribe/events/v1/events",
			[]string{"/gig/a/", "/gig/b"},
			map[string]string{"event": "gig"},
		},
		{
			"dates of recurring events", "/wp-json/tribe/events/v1/events/",
			[]string{"/gig/a/2026-12-05/", "/gig/a/2026-12-05/2/"},
			map[string]string{"event": "gig"},
		},
		{
			"a few others", "/wp-json/tribe/events/v1/events",
			[]string{"/gig/a/", "/gig/b/", "/x/y/z/w/"},
			map[string]string{"event": "gig"},
		},
		{"no majority", "/wp-json/tribe/events/v1/events", []string{"/gig/a/", "/event/b/"}, nil},
		{"addresses with parameters", "/wp-json/tribe/events/v1/events", []string{"/?tribe_events=a", "/?p=7"}, nil},
		{
			"pages elsewhere", "/wp-json/tribe/events/v1/events",
			[]string{"https://tickets.example.net/gig/a/", "/event/b/", "/event/c/"},
			nil,
		},
		{
			"a site below a folder", "/town/wp-json/tribe/events/v1/events",
			[]string{"/town/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{"pages outside of the folder", "/town/wp-json/tribe/events/v1/events", []string{"/gig/a/"}, nil},
		{
			"an API in a language", "/en/wp-json/tribe/events/v1/events",
			[]string{"/en/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{
			"pages above the language", "/en/wp-json/tribe/events/v1/events",
			[]string{"/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{
			"pages in a language", "/wp-json/tribe/events/v1/events?lang=pt-br",
			[]string{"/pt-br/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{
			"an index in the path", "/index.php/wp-json/tribe/events/v1/events",
			[]string{"/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{
			"a route in a parameter", "/town/index.php?rest_route=/tribe/events/v1/events/",
			[]string{"/town/gig/a/"},
			map[string]string{"event": "gig"},
		},
		{
			"upper-case escapes", "/wp-json/tribe/events/v1/events",
			[]string{"/%CE%B1/a/"},
			map[string]string{"event": "%ce%b1"},
		},
		{
			"letters without escapes", "/wp-json/tribe/events/v1/events",
			[]string{"/wydarzenie-ł/a/"},
			map[string]string{"event": "wydarzenie-%c5%82"},
		},
		{"no text", "/wp-json/tribe/events/v1/events", []string{"/%ff/a/", "/%2e%2e%20/b/"}, nil},
	}
	for _, tt := range tests {
		cal := &Calendar{}
		for _, page := range tt.pages {
			if strings.HasPrefix(page, "/") {
				page = root + page
			}
			cal.Events = append(cal.Events, &Event{Page: page})
		}
		s := wordPress(t, root+tt.list, cal)
		if s == nil {
			t.Errorf("%s: not read as a WordPress site", tt.name)
			continue
		}
		s.learnBases()
		if diff := cmp.Diff(tt.want, s.paths()); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestUIDsFollowAFormula(t *testing.T) {
	warsaw, err := calendar.ParseZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	event := func(id, uid string) *Event {
		start := calendar.WallAt(2026, 12, 5, 18, 0, 0)
		return &Event{
			Origin: Origin{Key: "h?id=" + id}, Span: calendar.Span{Start: start, End: start.Add(time.Hour), Zone: warsaw},
			UID: uid,
		}
	}
	tests := []struct {
		name string
		uids []string // of the events 1, 2, ...
		want string   // UID of event 9 by the formula; "" means that there is none
	}{
		{"wall times", []string{"1-1796493600-1796497200@h", "2-1796493600-1796497200@h"}, "9-1796493600-1796497200@h"},
		{"instants", []string{"1-1796490000-1796493600@h:8080", ""}, "9-1796490000-1796493600@h:8080"},
		{"both", []string{"1-1796493600-1796497200@h", "2-1796490000-1796493600@h"}, ""},
		{"several hosts", []string{"1-1796493600-1796497200@h", "2-1796493600-1796497200@i"}, ""},
		{"one exception", []string{"1-1796493600-1796497200@h", "f3f1"}, ""},
		{"no host", []string{"1-1796493600-1796497200@"}, ""},
		{"no UID", []string{""}, ""},
	}
	for _, tt := range tests {
		cal := &Calendar{}
		for i, uid := range tt.uids {
			cal.Events = append(cal.Events, event(strconv.Itoa(i+1), uid))
		}
		got := ""
		if formula := (&siteReader{cal: cal}).uidFormula(); formula != nil {
			got = formula(event("9", ""))
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(`<urlset><url><loc>https://calendar.example.org/event/a/</loc></url></urlset>`))
	f.Add([]byte(`<?xml version="1.0"?><sitemapindex><sitemap><loc> a </loc></sitemap><sitemap><loc>b</loc>`))
	f.Add([]byte(`<urlset xmlns:i="` + imageNamespace + `"><url><loc>a</loc><i:image><i:loc>b</i:loc></i:image></url></urlset>`))
	f.Add([]byte(`<rss><channel><item><link>a</link><guid>b</guid></item></channel></rss>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, pages, err := parseSitemap(data)
		if errors.Is(err, errNoSitemap) && len(files)+len(pages) > 0 {
			t.Error("addresses of something else than a sitemap")
		}
		for _, address := range slices.Concat(files, pages) {
			if address == "" || len(address) > maxURL || address != strings.TrimSpace(address) {
				t.Errorf("address %q", address)
			}
		}
		checkPosts(t, parseFeed(data))
	})
}

func FuzzPosts(f *testing.F) {
	f.Add([]byte(`[{"id":7,"link":"https://calendar.example.org/event/a/","guid":{"rendered":"https://calendar.example.org/?post_type=tribe_events&#038;p=7"}}]`))
	f.Add([]byte(`[{"id":"7","guid":"urn:x"},null,[],{"id":-1,"guid":{"rendered":["x"]},"link":{}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		posts, err := parsePosts(data)
		if err != nil && posts != nil {
			t.Error("records beside an error")
		}
		checkPosts(t, posts)
	})
}

// checkPosts checks that ids and guids have a valid form. Fuzz tests call it.
func checkPosts(t *testing.T, posts []sitePost) {
	t.Helper()
	for _, p := range posts {
		if _, err := strconv.ParseUint(p.id, 10, 63); p.id != "" && err != nil {
			t.Errorf("id %q", p.id)
		}
		if p.guid != "" && (!isIdentifier(p.guid) || p.guid != strings.TrimSpace(p.guid)) {
			t.Errorf("guid %q", p.guid)
		}
	}
}
