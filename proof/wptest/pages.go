package wptest

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// listViews are path segments that select a view of the list of events. All show the same events here.
var listViews = []string{"list", "month", "today", "day"}

// servePage replies to a path that is a page, a feed or an iCalendar file. Other paths are 404.
func (s *Site) servePage(w http.ResponseWriter, r *http.Request, path []string) {
	if len(path) == 0 {
		s.serveHome(w, r)
		return
	}
	if e := s.eventAt(path); e != nil {
		s.serveEventPage(w, r, e)
		return
	}
	asked := s.pagePath(encodePath(path)...)
	for _, p := range slices.Concat(s.venues, s.organizers) {
		if s.placePath(p) == asked {
			has := func(e *event) bool { return e.venue == p || slices.Contains(e.organizers, p) }
			s.serveListPage(w, r, p.name, s.upcoming(has))
			return
		}
	}
	for _, t := range slices.Concat(s.categories, s.tags) {
		if s.termPath(t) == asked || t.kind == calendar.Tag && s.corePath(t) == asked {
			s.serveListPage(w, r, t.name, s.upcoming(func(e *event) bool { return e.hasTerm(t) }))
			return
		}
	}
	if len(path) == 1 && path[0] == "feed" && r.URL.Query().Get("post_type") == "tribe_events" {
		s.writeFeed(w)
		return
	}
	if path[0] != strings.ToLower(decodeSegment(s.options.Paths.Events)) || len(path) > 2 {
		http.NotFound(w, r)
		return
	}
	view := strings.Join(path[1:], "")
	from, until, isDate := dateRange(view)
	switch {
	case isDate:
		s.serveListPage(w, r, "Events", s.listing(from, until, nil))
	case view == "feed":
		s.writeFeed(w)
	case view == "" || slices.Contains(listViews, view):
		s.serveListPage(w, r, "Events", s.upcoming(nil))
	default:
		http.NotFound(w, r)
	}
}

// corePath returns the path of a tag's archive page in WordPress itself, outside the plugin.
func (s *Site) corePath(t *term) string { return s.pagePath(s.options.Paths.Tag, t.slug) }

// encodePath percent-encodes the segments of a path.
func encodePath(path []string) []string {
	out := make([]string, len(path))
	for i, segment := range path {
		out[i] = encodeSegment(segment)
	}
	return out
}

// dateRange returns the first and last second of a month (2006-01) or a day (2006-01-02) as wall times. ok is false
// if text is neither.
func dateRange(text string) (from, until string, ok bool) {
	start, err := time.Parse("2006-01", text)
	end := start.AddDate(0, 1, 0)
	if err != nil {
		start, err = time.Parse(time.DateOnly, text)
		end = start.AddDate(0, 0, 1)
	}
	return start.Format(calendar.Layout), end.Add(-time.Second).Format(calendar.Layout), err == nil
}

// eventAt returns the event whose page is at a path, nil if there is none.
func (s *Site) eventAt(path []string) *event {
	asked := s.pagePath(encodePath(path)...)
	i := slices.IndexFunc(s.events, func(e *event) bool { return s.eventPath(e) == asked })
	if i < 0 {
		return nil
	}
	return s.events[i]
}

// serveHome replies to requests for the home page. With ?p=ID it redirects to that record's page. Other queries
// select the list of events, its feed or its iCalendar file.
func (s *Site) serveHome(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	plugin := query.Get("post_type") == "tribe_events"
	id, err := strconv.ParseInt(query.Get("p"), 10, 64)
	switch {
	case err == nil:
		for path, post := range s.postPaths() {
			if post == id {
				http.Redirect(w, r, s.URL+path, http.StatusMovedPermanently)
				return
			}
		}
		http.NotFound(w, r)
	case plugin && (query.Has("ical") || query.Has("outlook-ical")):
		s.writeCalendar(w, r, s.upcoming(nil))
	case plugin && query.Get("feed") == "rss2":
		s.writeFeed(w)
	case plugin:
		s.serveListPage(w, r, "Events", s.upcoming(nil))
	default:
		s.writePage(w, "Home", s.shown+"/", "", "<p>Welcome</p>")
	}
}

// postPaths maps the paths of pages to the ids of their events, venues and organizers.
func (s *Site) postPaths() map[string]int64 {
	out := make(map[string]int64)
	for _, e := range s.events {
		out[s.eventPath(e)] = e.id
	}
	for _, p := range slices.Concat(s.venues, s.organizers) {
		out[s.placePath(p)] = p.id
	}
	return out
}

func (s *Site) serveEventPage(w http.ResponseWriter, r *http.Request, e *event) {
	if isCalendarFile(r) {
		s.writeCalendar(w, r, []*event{e})
		return
	}
	list := s.page(s.options.Paths.Events)
	head := fmt.Sprintf(`<link rel="shortlink" href="%s/?p=%d">`, s.shown, e.id)
	body := `<p class="tribe-events-back"><a href="` + list + `"> &laquo; All Events</a></p>`
	if e.password != "" {
		s.writePage(
			w, "Protected: "+e.title, s.eventPage(e), head, body+"<form><input type=password name=post_password></form>",
		)
		return
	}
	for _, t := range e.categories {
		body += `<a href="` + s.shown + s.termPath(t) + `" rel="tag">` + t.name + "</a>"
	}
	for _, t := range e.tags {
		body += `<a href="` + s.shown + s.corePath(t) + `" rel="tag">` + t.name + "</a>"
	}
	s.writePage(w, e.title, s.eventPage(e), head, body+e.description)
}

// isCalendarFile reports whether a request for a page's URL selects the page's iCalendar file by its query.
func isCalendarFile(r *http.Request) bool {
	return r.URL.Query().Has("ical") || r.URL.Query().Has("outlook-ical")
}

// serveListPage replies with a page that lists events, or with its iCalendar file.
func (s *Site) serveListPage(w http.ResponseWriter, r *http.Request, title string, events []*event) {
	if isCalendarFile(r) {
		s.writeCalendar(w, r, events)
		return
	}
	var body strings.Builder
	for _, e := range events {
		fmt.Fprintf(&body, "<h3><a href=\"%s\">%s</a></h3>\n", s.eventPage(e), e.title)
	}
	s.writePage(w, title, "", "", body.String())
}

// writePage writes an HTML page, with the links to feeds that the plugin adds. canonical is the page's URL, "" for
// none. head and body are HTML.
func (s *Site) writePage(w http.ResponseWriter, title, canonical, head, body string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Add("Link", "<"+s.shown+`/wp-json/>; rel="https://api.w.org/"`)
	if canonical != "" {
		head += `<link rel="canonical" href="` + canonical + `">`
	}
	language := ""
	if !s.options.NoIdentity {
		language = ` lang="` + s.options.HTMLLanguage + `"`
		head += `<link rel="icon" href="` + s.shown + Icon + `" sizes="192x192"><meta name="theme-color" content="` + ThemeColour + `">`
	}
	fmt.Fprintf(w, `<!DOCTYPE html><html%s><head><title>%s</title>%s
<link rel="alternate" type="application/rss+xml" title="Example &raquo; Feed" href="%s/feed/">
<link rel="alternate" type="application/rss+xml" title="Example &raquo; Events Feed" href="%sfeed/">
<link rel="alternate" type="text/calendar" title="Example &raquo; iCal Feed" href="%s?ical=1">
</head><body><h1>%s</h1>
%s
</body></html>
`, language, title, head, s.shown, s.page(s.options.Paths.Events), s.page(s.options.Paths.Events), title, body)
}

// writeCalendar writes an iCalendar file of at most 30 events, as the plugin formats it. With NoCalendarFiles it
// writes an HTML page instead.
func (s *Site) writeCalendar(w http.ResponseWriter, r *http.Request, events []*event) {
	if s.options.NoCalendarFiles {
		s.writePage(w, "Events", "", "", "<p>No such file</p>")
		return
	}
	const most = 30
	file := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example - ECPv6.17.2//NONSGML v1.0//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
		"X-WR-CALNAME:Example", "X-ORIGINAL-URL:" + s.shown, "X-WR-CALDESC:Events for Example",
	}
	for _, e := range events[:min(len(events), most)] {
		file = append(file, s.calendarLines(e)...)
	}
	w.Header().Set("Content-Type", "text/calendar; charset=UTF-8")
	w.Header().Set("Content-Disposition", `attachment; filename="example.ics"`)
	if r.Method != http.MethodHead {
		fmt.Fprint(w, strings.Join(append(file, "END:VCALENDAR"), "\r\n"))
	}
}

// calendarLines returns the lines of an event's VEVENT. Long lines are not folded, since the plugin does not fold
// them.
func (s *Site) calendarLines(e *event) []string {
	const day, clock = "20060102", "20060102T150405"
	lines := []string{"BEGIN:VEVENT"}
	if e.allDay {
		lines = append(
			lines, "DTSTART;VALUE=DATE:"+wall(e.start).Format(day),
			"DTEND;VALUE=DATE:"+wall(e.end).AddDate(0, 0, 1).Format(day),
		)
	} else {
		lines = append(
			lines, "DTSTART;TZID="+e.zone+":"+wall(e.start).Format(clock),
			"DTEND;TZID="+e.zone+":"+wall(e.end).Format(clock),
		)
	}
	escape := strings.NewReplacer(",", `\,`, "\n", `\n`)
	lines = append(lines,
		"DTSTAMP:20261121T120000", "CREATED:20260105T090000Z", "LAST-MODIFIED:20261001T100000Z", "UID:"+s.uid(e),
		"SUMMARY:"+escape.Replace(html.UnescapeString(e.title)), "URL:"+s.eventPage(e),
	)
	if len(e.categories) > 0 {
		names := make([]string, len(e.categories))
		for i, t := range e.categories {
			names[i] = html.UnescapeString(t.name)
		}
		lines = append(lines, "CATEGORIES:"+strings.Join(names, ","))
	}
	return append(lines, "END:VEVENT")
}
