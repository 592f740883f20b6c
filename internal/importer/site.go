package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// siteReader reads what a WordPress site's list of events lacks: hidden events, guids of feeds, UIDs of iCalendar
// files and the paths of pages. Each step is optional. All requests go to the list's host.
type siteReader struct {
	*webReader
	cal *Calendar
	// home is the URL of the home page, with a path that ends in a slash.
	home *url.URL
	// above is home without its language segment, if it has one.
	above *url.URL
	// routed is true if the parameter rest_route has the API's route, not the path.
	routed bool
	// hosts are the hosts in the URLs of the source's records.
	hosts map[string]bool
	// prefix is the language segment between the home page and the base of most event pages. "" means none.
	prefix string
	// bases has the path segment of event pages, venue pages and so on, keyed like Calendar.Paths.
	bases map[string]string
}

// maxFailures is the number of failed requests after which a step ends. Most steps count only successive failures.
const maxFailures = 3

// pluginRoute is the route of the event list in The Events Calendar's REST API.
const pluginRoute = "/tribe/events/v1/events"

// site adds to a calendar what a WordPress site's list of events lacks, such as guids and UIDs. For other sources it
// does nothing. It returns an error only if ctx ended.
func (w *webReader) site(ctx context.Context, cal *Calendar, source string) error {
	s := w.newSiteReader(cal)
	if s == nil {
		return nil
	}
	s.readIdentity(ctx)
	s.learnCurrency()
	s.learnBases()
	steps := []func(context.Context){s.readPageSize, s.readTermBases, s.readGUIDs, s.readUIDs}
	if !isFiltered(source) {
		// Hidden events need guids and UIDs too.
		steps = slices.Insert(steps, 0, s.readHidden)
	}
	for _, step := range steps {
		step(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.dropShared()
	cal.Paths = s.paths()
	return nil
}

// newSiteReader returns a siteReader, or nil if the source is not The Events Calendar's list of events.
func (w *webReader) newSiteReader(cal *Calendar) *siteReader {
	s := &siteReader{webReader: w, cal: cal, hosts: make(map[string]bool), bases: make(map[string]string)}
	path := strings.TrimRight(w.base.Path, "/")
	before, route, ok := strings.Cut(path, "/wp-json/")
	if !ok {
		before, route, s.routed = path, w.base.Query().Get("rest_route"), true
	}
	if "/"+strings.Trim(route, "/") != pluginRoute {
		return nil
	}
	before = strings.TrimSuffix(before, "/index.php")
	s.home = w.address(before + "/")
	s.above = s.home
	if up, last := cutLast(before); isLanguage(last) {
		s.above = w.address(up + "/")
	}
	s.hosts[strings.ToLower(w.base.Host)] = true
	// Plugins may replace the address of an event by its website, which is elsewhere.
	hosts := make(baseCounts)
	for _, e := range cal.Events {
		if u, err := url.Parse(e.Page); err == nil {
			hosts[strings.ToLower(u.Host)]++
		}
	}
	if host := hosts.most(); host != "" {
		s.hosts[host] = true
	}
	return s
}

// cutLast splits a path before its last segment.
func cutLast(path string) (before, last string) {
	i := strings.LastIndex(path, "/")
	return path[:max(i, 0)], path[i+1:]
}

// address returns the URL of a path on the host of the list of events.
func (w *webReader) address(path string) *url.URL {
	return &url.URL{Scheme: w.base.Scheme, User: w.base.User, Host: w.base.Host, Path: path}
}

// windowParameters are the query parameters that select a page, an order or a period of a list.
var windowParameters = []string{
	"page", "per_page", "start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after",
	"strict_dates", "order", "orderby", "offset", "_fields",
}

// api returns the URL of a route of the site's REST API. It keeps parameters of the event list, such as its language,
// except windowParameters.
func (s *siteReader) api(route string, parameters url.Values) *url.URL {
	query := s.base.Query()
	for _, name := range windowParameters {
		query.Del(name)
	}
	maps.Copy(query, parameters)
	u := *s.base
	if s.routed {
		query.Set("rest_route", route)
	} else {
		before, _, _ := strings.Cut(s.base.Path, "/wp-json/")
		u.Path, u.RawPath = before+"/wp-json"+route, ""
	}
	u.RawQuery = query.Encode()
	return &u
}

// onSite returns the URL of a link, with the host of the list of events. It returns false if the link is invalid, has
// another scheme than http and https, or leads to another site.
func (s *siteReader) onSite(link string) (*url.URL, bool) {
	u, err := s.base.Parse(strings.TrimSpace(link))
	if err != nil || !s.hosts[strings.ToLower(u.Host)] || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	u.Scheme, u.Host, u.User, u.Fragment = s.base.Scheme, s.base.Host, s.base.User, ""
	return u, true
}

// pageKey returns a page's path in lower case and its query, without the host, for comparison. It returns "" for an
// invalid URL.
func pageKey(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.Trim(u.Path, "/")) + "?" + u.RawQuery
}

// segments returns the path segments of a page below the home page. They have the form of Calendar.Paths. Nil means
// that the URL has a query, or leads elsewhere.
func (s *siteReader) segments(link string) []string {
	u, ok := s.onSite(link)
	if !ok || u.RawQuery != "" {
		return nil
	}
	for _, home := range []*url.URL{s.home, s.above} {
		if below, ok := strings.CutPrefix(u.EscapedPath(), home.EscapedPath()); ok {
			return strings.FieldsFunc(baseForm(below), func(r rune) bool { return r == '/' })
		}
	}
	return nil
}

// isLanguage reports whether a path segment looks like a language, such as en or pt-br.
func isLanguage(segment string) bool { return languageSegment.MatchString(segment) }

var languageSegment = regexp.MustCompile(`^(?i)[a-z]{2,3}([-_][a-z]{2,4})?$`)

// isMissing reports whether an error means that the service has no such resource, or does not show it.
func isMissing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code < http.StatusInternalServerError && status.code != http.StatusTooManyRequests
}

func (s *siteReader) notice(format string, args ...any) {
	s.cal.Notices = append(s.cal.Notices, fmt.Sprintf(format, args...))
}

// idOf returns the id of an event at the source. "" means unknown.
func idOf(e *Event) string {
	_, id, _ := strings.Cut(e.Key, "?id=")
	return id
}

// EventIDs returns the ids of the events at the source. It leaves out events without a number as their id.
func (c *Calendar) EventIDs() (ids []int64) {
	for _, e := range c.Events {
		if id, err := strconv.ParseInt(idOf(e), 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// identifierLength is the maximum length of a guid or UID in bytes.
const identifierLength = maxText

// isIdentifier reports whether a text can be a guid or UID.
func isIdentifier(text string) bool {
	return text != "" && len(text) <= identifierLength && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// dropShared clears guids and UIDs that several events share. On some sites all dates of a recurring event have the
// same ones.
func (s *siteReader) dropShared() {
	count := make(map[string]int)
	for _, e := range s.cal.Events {
		count["guid "+e.GUID]++
		count["UID "+e.UID]++
	}
	for _, e := range s.cal.Events {
		if count["guid "+e.GUID] > 1 {
			e.GUID = ""
		}
		if count["UID "+e.UID] > 1 {
			e.UID = ""
		}
	}
}
