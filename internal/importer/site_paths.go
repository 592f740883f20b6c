package importer

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/almanac-cal/almanac/calendar"
)

// paths returns the bases that differ from Almanac's, keyed like Calendar.Paths; nil means none. A base is the path
// segment before a slug, such as "event".
func (s *siteReader) paths() map[string]string {
	out := make(map[string]string)
	for name, base := range s.bases {
		if base != defaultBases[name] && isBase(base) {
			out[name] = base
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// learnBases finds the bases (path segments before the slug) of events, venues and organizers from the URLs of their
// pages.
func (s *siteReader) learnBases() {
	prefixes := make(baseCounts)
	counts := map[string]baseCounts{"event": {}, "venue": {}, "organizer": {}}
	seen := make(map[string]bool)
	add := func(kind, page string) {
		if page == "" || seen[page] {
			return
		}
		seen[page] = true
		prefix, base := s.pageBase(page)
		counts[kind][base]++
		if kind == "event" {
			prefixes[prefix]++
		}
	}
	for _, e := range s.cal.Events {
		add("event", e.Page)
		for _, v := range e.Venues {
			add("venue", v.Page)
		}
		for _, o := range e.Organizers {
			add("organizer", o.Page)
		}
	}
	for _, v := range s.cal.Venues {
		add("venue", v.Page)
	}
	for _, o := range s.cal.Organizers {
		add("organizer", o.Page)
	}
	s.prefix = prefixes.most()
	for kind, count := range counts {
		s.bases[kind] = count.most()
	}
}

// defaultBases are the path segments before the slug in Almanac's own URLs, keyed like Calendar.Paths.
var defaultBases = map[string]string{
	"events": "events", "event": "event", "venue": "venue", "organizer": "organizer", "category": "category", "tag": "tag",
}

// baseCounts counts for how many records each base was found. A base is the path segment before the slug in a URL.
type baseCounts map[string]int

// most returns the base that more than half of the records have, or "" if there is none.
func (c baseCounts) most() string {
	total := 0
	for _, n := range c {
		total += n
	}
	for base, n := range c {
		if 2*n > total {
			return base
		}
	}
	return ""
}

// dateSegment matches the day at the end of the URL of a recurring event's date.
var dateSegment = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// pageBase returns the base in the URL of a record's page: the path segment before the slug. The result prefix is the
// language segment before the base, or "". For other URLs both are "".
func (s *siteReader) pageBase(page string) (prefix, base string) {
	path := withoutDate(s.segments(page))
	if len(path) == 3 && isLanguage(path[0]) {
		prefix, path = path[0], path[1:]
	}
	if len(path) != 2 {
		return "", ""
	}
	return prefix, path[0]
}

// withoutDate removes the day at the end of a path, with a number after it. The URLs of a recurring event's dates
// end so.
func withoutDate(path []string) []string {
	n := len(path)
	if n > 3 && dateSegment.MatchString(path[n-2]) && strings.Trim(path[n-1], "0123456789") == "" {
		return path[:n-2]
	}
	if n > 2 && dateSegment.MatchString(path[n-1]) {
		return path[:n-1]
	}
	return path
}

// readTermBases finds the bases of the list of events, of categories and of tags. It reads lists of the WordPress core
// REST API. If that fails, it reads the page of an event.
func (s *siteReader) readTermBases(ctx context.Context) {
	events, categories, tags := make(baseCounts), make(baseCounts), make(baseCounts)
	list, err := s.posts(ctx, "tribe_events_cat", 1)
	if err == nil {
		for _, p := range list {
			s.countCategory(p.link, events, categories)
		}
		list, err = s.posts(ctx, "tags", 1)
	}
	if err == nil {
		for _, p := range list {
			s.countTag(p.link, tags)
		}
	}
	if ctx.Err() != nil {
		return
	}
	if events.most() == "" {
		s.readEventPage(ctx, events, categories, tags)
	}
	s.bases["events"], s.bases["category"], s.bases["tag"] = events.most(), categories.most(), tags.most()
	if s.bases["events"] == "" && s.bases["event"] != "" && s.bases["event"] != defaultBases["event"] {
		s.notice(
			"paths: pages of events are below /%s/ at the source, and the path of their list is unknown", s.bases["event"],
		)
	}
}

// inPrefix returns the path segments of a page after the language segment. Nil means that the page is in another
// language.
func (s *siteReader) inPrefix(link string) []string {
	path := s.segments(link)
	if s.prefix != "" {
		if len(path) == 0 || path[0] != s.prefix {
			return nil
		}
		path = path[1:]
	}
	return path
}

// countCategory counts the bases in a category's URL: list, base, ancestors and slug.
func (s *siteReader) countCategory(link string, events, categories baseCounts) {
	if path := s.inPrefix(link); len(path) > 2 {
		events[path[0]]++
		categories[path[1]]++
	}
}

// countTag counts the path segment before the slug in the URL of a tag's page.
func (s *siteReader) countTag(link string, tags baseCounts) {
	if path := s.inPrefix(link); len(path) == 2 {
		tags[path[0]]++
	}
}

// readEventPage finds path segments of URLs (bases) in the links of an event's page. It tries up to three events, until
// one shows the path of the event list.
func (s *siteReader) readEventPage(ctx context.Context, events, categories, tags baseCounts) {
	// An event with terms has the most links.
	byTerms := slices.Clone(s.cal.Events)
	slices.SortStableFunc(byTerms, func(a, b *Event) int { return len(b.Terms) - len(a.Terms) })
	const pages = 3 // pages to try
	tried := 0
	for _, e := range byTerms {
		at, ok := s.onSite(e.Page)
		if !ok || e.Protected {
			continue
		}
		if tried++; tried > pages || ctx.Err() != nil {
			return
		}
		data, _, err := s.get(ctx, at)
		if err != nil {
			continue
		}
		page, err := html.Parse(bytes.NewReader(data))
		if err != nil {
			continue
		}
		s.countLinks(page, e, events, categories, tags)
		if len(events) > 0 {
			return
		}
	}
}

// countLinks counts the bases in an event page's links: those to feeds, the list of events and the event's terms.
func (s *siteReader) countLinks(page *html.Node, e *Event, events, categories, tags baseCounts) {
	for n := range page.Descendants() {
		link := attribute(n, "href")
		if n.Type != html.ElementNode || link == "" {
			continue
		}
		switch {
		case n.Data == "link" && strings.EqualFold(attribute(n, "rel"), "alternate"):
			s.countFeed(link, events)
		case n.Data != "a":
		case n.Parent != nil && isBackLink(n) && len(s.inPrefix(link)) == 1:
			events[s.inPrefix(link)[0]]++
		case slices.Contains(strings.Fields(attribute(n, "rel")), "tag"):
			path := s.inPrefix(link)
			for _, t := range e.Terms {
				switch {
				case len(path) == 0 || !isSameSlug(path[len(path)-1], t.Slug):
				case t.Kind.IsHierarchical():
					s.countCategory(link, events, categories)
				default:
					s.countTag(link, tags)
				}
			}
		}
	}
}

// isSameSlug reports whether a path segment equals a slug, ignoring percent-encoding and transliteration.
func isSameSlug(segment, slug string) bool {
	text := unescapePath(segment)
	return strings.EqualFold(text, unescapePath(slug)) || calendar.Slug(text) == slug
}

// countFeed counts the path segment of the event list in the URL of its RSS feed or iCalendar file.
func (s *siteReader) countFeed(link string, events baseCounts) {
	u, err := url.Parse(link)
	if err != nil {
		return
	}
	isFile := u.Query().Has("ical")
	u.RawQuery = ""
	path := s.inPrefix(u.String())
	if isFile && len(path) == 1 || len(path) == 2 && path[1] == "feed" && path[0] != "comments" {
		events[path[0]]++
	}
}

// isBackLink reports whether a link in an event's page leads back to the list of all events.
func isBackLink(n *html.Node) bool {
	for up := n; up != nil; up = up.Parent {
		if slices.Contains(strings.Fields(attribute(up, "class")), "tribe-events-back") {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// plainBase matches path segments in the form of Calendar.Paths.
var plainBase = regexp.MustCompile(`^(?:[a-z0-9._~-]|%[0-9a-f]{2})+$`)

// isBase reports whether a path segment has the form of Calendar.Paths.
func isBase(segment string) bool {
	return len(segment) <= maxText && plainBase.MatchString(segment) && utf8.ValidString(unescapePath(segment))
}

// unescapePath percent-decodes a path segment. It returns an invalid one unchanged.
func unescapePath(segment string) string {
	text, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return text
}

// baseForm returns a path segment in the form of Calendar.Paths: spaces, letters beyond ASCII and some signs are
// percent-encoded in lower case.
func baseForm(segment string) string {
	var out strings.Builder
	for _, b := range []byte(unescapePath(segment)) {
		if b >= utf8.RuneSelf || b <= ' ' || strings.IndexByte(`?#%"<>\^{|}`+"`\x7f", b) >= 0 {
			fmt.Fprintf(&out, "%%%02x", b)
			continue
		}
		out.WriteByte(b)
	}
	return out.String()
}
