// Package wptest serves a fake WordPress site with The Events Calendar, for tests of moves from such a site.
package wptest

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Today is the day that the site treats as the current one, in its zone. The records do not depend on the clock.
const Today = "2026-11-21"

// Zone is the zone of the site.
const Zone = "Europe/Warsaw"

// Name to ThemeColour identify the site. Name and Tagline are plain texts, and Icon is a path below the home page.
const (
	Name        = "Jazz & film"
	Tagline     = "Music every night"
	Icon        = "/wp-content/uploads/2026/01/icon.png"
	ThemeColour = "#0b57d0"
)

// Options configure a fake WordPress site. The zero value is a site with the defaults of WordPress and the plugin.
type Options struct {
	// FirstPost is the id of the first event. The other events, venues, organizers and images have later ids with gaps. 0
	// means 15.
	FirstPost int64
	// FirstTerm is the id of the first category. Terms may have the same ids as posts. 0 means 14.
	FirstTerm int64
	// Paths are the path segments by which pages name the kind of their record.
	Paths Paths
	// Home is the path of the site on its host, such as "/calendar". "" means the root.
	Home string
	// Host is the host in the addresses of records, which then have https. "" means that of the server. Links to
	// the next page always have the host of the server.
	Host string
	// Language is the language segment of the pages, such as "en". "" means none.
	Language string
	// NoCoreAPI removes /wp-json/wp/v2.
	NoCoreAPI bool
	// HTMLLanguage is the language in the HTML of pages. "" means en-US.
	HTMLLanguage string
	// NoIdentity removes name, tagline, zone, language, icon and colour from replies.
	NoIdentity bool
	// NoSitemap removes the sitemaps.
	NoSitemap bool
	// NoCalendarFiles replaces the iCalendar files by HTML pages.
	NoCalendarFiles bool
	// Replace contains handlers that reply instead of the site, by path below Home.
	Replace map[string]http.HandlerFunc
}

// Paths are the segments in the paths of pages that name their kind. Letters beyond ASCII are percent-encoded in
// lower case. "" means the plugin's default.
type Paths struct {
	Events, Event, Venue, Organizer, Category, Tag string
}

// Site is a fake WordPress site with the calendar plugin, running on a local port.
type Site struct {
	// URL is the address of the home page, without a slash at its end.
	URL string
	// API is the address of the REST API of the plugin, without a slash at its end.
	API string

	options Options
	shown   string // URL in the addresses of records
	records

	mu    sync.Mutex
	asked []string
}

// NewSite starts a fake WordPress site. It stops at the end of the test.
func NewSite(t testing.TB, options Options) *Site {
	t.Helper()
	p := &options.Paths
	p.Events, p.Event = cmp.Or(p.Events, "events"), cmp.Or(p.Event, "event")
	p.Venue, p.Organizer = cmp.Or(p.Venue, "venue"), cmp.Or(p.Organizer, "organizer")
	p.Category, p.Tag = cmp.Or(p.Category, "category"), cmp.Or(p.Tag, "tag")
	options.HTMLLanguage = cmp.Or(options.HTMLLanguage, "en-US")
	options.FirstPost, options.FirstTerm = cmp.Or(options.FirstPost, 15), cmp.Or(options.FirstTerm, 14)
	s := &Site{options: options}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL + options.Home
	s.API = s.URL + "/wp-json/tribe/events/v1"
	s.shown = s.URL
	if options.Host != "" {
		s.shown = "https://" + options.Host + options.Home
	}
	s.records = s.newRecords()
	return s
}

// Requests returns the paths, with queries, of all requests to the site so far.
func (s *Site) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// ServeHTTP records a request and replies to it as a WordPress site does, or as options.Replace says.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.mu.Unlock()
	below, ok := strings.CutPrefix(r.URL.Path, s.options.Home)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if replace := s.options.Replace[below]; replace != nil {
		replace(w, r)
		return
	}
	path := strings.FieldsFunc(below, func(c rune) bool { return c == '/' })
	if len(path) > 0 && s.options.Language != "" && path[0] == s.options.Language {
		path = path[1:]
	}
	route := strings.Trim(r.URL.Query().Get("rest_route"), "/")
	switch {
	case len(path) == 0 && route != "":
		s.serveREST(w, r, strings.Split(route, "/"))
	case len(path) > 0 && path[0] == "wp-json":
		s.serveREST(w, r, path[1:])
	case len(path) == 1 && strings.HasSuffix(path[0], ".xml"):
		s.serveSitemap(w, r, path[0])
	case len(path) > 1 && path[0] == "wp-content":
		s.serveImage(w, r, path)
	default:
		s.servePage(w, r, path)
	}
}

// page returns the URL of a page as records show it. segments are percent-encoded and below the home page.
func (s *Site) page(segments ...string) string {
	return s.shown + s.pagePath(segments...)
}

// pagePath returns the path of a page. segments are below the home page.
func (s *Site) pagePath(segments ...string) string {
	if s.options.Language != "" {
		segments = append([]string{s.options.Language}, segments...)
	}
	return "/" + strings.Join(segments, "/") + "/"
}

// decodeSegment decodes a percent-encoded path segment. An invalid one is returned unchanged.
func decodeSegment(segment string) string {
	text, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return text
}

// encodeSegment percent-encodes a text in lower case, like the slugs of WordPress.
func encodeSegment(text string) string {
	return strings.ToLower(url.PathEscape(strings.ToLower(text)))
}
