// Package feeds answers requests for feeds of events, at their own URLs or those of calendar pages (contract,
// section 20). A withdrawn event was public and no longer is. Feeds list it for query.WithdrawalTime, so that
// subscribers learn of the change.
package feeds

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
)

// eventsICS to eventPath are paths of feeds below the base URL. A language segment, such as /pl, may precede
// them.
const (
	eventsICS  = "/events" + endpoint.SuffixICal
	eventsAtom = "/events.atom"
	eventsRSS  = "/events.rss"
	eventsJSON = "/events.json"
	eventPath  = "/event/"
)

// Feeds matches URLs with the feeds of a site.
type Feeds struct {
	table feedTable
	names address.Names
}

// New returns the feeds of a site. names are the segments in the paths of its pages. If enabled is false, no path is
// a feed.
func New(names address.Names, enabled bool) *Feeds {
	f := &Feeds{names: names}
	if enabled {
		f.table = newFeedTable()
	}
	return f
}

// Patterns returns the routes of feeds in the order of the API description.
func (f *Feeds) Patterns() []*endpoint.Pattern { return f.table.patterns() }

// BeginsPath reports whether first is the first segment of a feed's path.
func BeginsPath(first string) bool { return slices.Contains(feedPaths, "/"+first) }

// FirstSegments returns the segments with which paths of feeds begin.
func FirstSegments() []string {
	out := make([]string, len(feedPaths))
	for i, path := range feedPaths {
		out[i] = strings.Trim(path, "/")
	}
	return out
}

// request is a request for a feed.
type request struct {
	*endpoint.Request
}

func newRequest(r *endpoint.Request) *request { return &request{r} }

// feedTable has the routes of feeds by their paths. eventPath is the key for the feed of one event. A nil table
// has no feeds.
type feedTable map[string]*endpoint.Pattern

func newFeedTable() feedTable {
	calendarFeed := func(e *endpoint.Endpoint) *endpoint.Endpoint { return e.InFormat(calendarCodec) }
	news := func(path string, as endpoint.Codec) *endpoint.Pattern {
		return endpoint.NewPattern(path, endpoint.For(newRequest, "Subscribe to what is new or changed", endpoint.MethodsRead, http.StatusOK, (*request).declareNews, listNews(path)).
			InFormat(as))
	}
	one := endpoint.NewPattern(eventPath+"{slug}"+endpoint.SuffixICal, calendarFeed(endpoint.For(newRequest, "Save an event to a calendar", endpoint.MethodsRead, http.StatusOK,
		(*request).declareOneCalendar, (*request).oneCalendar)))
	return feedTable{
		eventsICS: endpoint.NewPattern(eventsICS, calendarFeed(endpoint.For(newRequest, "Subscribe to events", endpoint.MethodsRead, http.StatusOK,
			(*request).declareFeed, (*request).listCalendar))),
		eventsAtom: news(eventsAtom, atomCodec),
		eventsRSS:  news(eventsRSS, rssCodec),
		eventsJSON: news(eventsJSON, jsonFeedCodec),
		eventPath:  one,
	}
}

// feedPaths lists the paths of feeds in the order of the API description.
var feedPaths = []string{eventsICS, eventPath, eventsAtom, eventsRSS, eventsJSON}

// patterns returns the routes of feeds in the order of feedPaths.
func (t feedTable) patterns() []*endpoint.Pattern {
	if t == nil {
		return nil
	}
	var out []*endpoint.Pattern
	for _, path := range feedPaths {
		out = append(out, t[path])
	}
	return out
}

// Match returns the match of a request for a feed, or for a page in a feed format. It returns nil for other
// requests. The argument path is below the base URL and percent-encoded.
func (f *Feeds) Match(method, path, query string) *endpoint.Match {
	if f.table == nil {
		return nil
	}
	_, below := address.CutLanguage(path)
	if name, isEvent := f.cutEventPath(below); isEvent {
		captures, ok := f.table[eventPath].MatchPath([]string{string(calendar.Event), name})
		if ok && !strings.Contains(captures["slug"], "/") {
			return endpoint.NewMatch(f.table[eventPath], method, captures)
		}
	} else if p := f.table[below]; p != nil {
		return endpoint.NewMatch(p, method, nil)
	}
	p, readings := f.matchPage(path, query)
	if p == nil {
		return nil
	}
	m := endpoint.NewMatch(p, method, nil)
	m.Input = func(r *endpoint.Request, sent map[string]any) (map[string]string, map[string]any, error) {
		return newRequest(r).pageInput(readings, sent)
	}
	return m
}

// cutEventPath removes the first segment from the path of an event's page, by any name of that segment, and returns
// the rest. ok is false for other paths.
func (f *Feeds) cutEventPath(path string) (rest string, ok bool) {
	first, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return "", false
	}
	first, err := url.PathUnescape(first)
	return rest, err == nil && f.names.First[first].Program == string(calendar.Event)
}

// matchPage matches the URL of a calendar page that requests a feed. It returns the feed's pattern, or nil if the URL
// requests no feed. An ambiguous URL has several interpretations. readings lists those that request this feed.
func (f *Feeds) matchPage(path, query string) (found *endpoint.Pattern, readings []address.Page) {
	inPath := strings.Contains(path, "/"+address.SegmentICal) || strings.Contains(path, "/"+address.SegmentFeed)
	if !inPath && !strings.Contains(query, string(address.FormatICal)+"=1") && !strings.Contains(query, address.ParamFeed+"=") {
		return nil, nil // most requests are not for feeds
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, nil
	}
	asked := [2]bool{values.Get(string(address.FormatICal)) == "1", values.Get(string(address.FormatOutlook)) == "1"}
	for _, p := range address.Parse(strings.Clone(path), values, f.names) {
		both := asked[0] && asked[1] || p.IsFeed() && (asked[0] || asked[1])
		if p.Format == address.FormatHTML || both {
			continue
		}
		pattern := f.table[eventsICS]
		switch {
		case p.Format == address.FormatRSS:
			pattern = f.table[eventsRSS]
		case p.Format == address.FormatAtom:
			pattern = f.table[eventsAtom]
		case p.View == address.ViewEvent || p.View == address.ViewRecord:
			pattern = f.table[eventPath]
		}
		if found == nil {
			found = pattern
		}
		if found == pattern { // readings as another feed are left out
			readings = append(readings, p)
		}
	}
	return found, readings
}

// periodParams are the parameters of feeds that limit the dates.
var periodParams = []string{
	"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after", string(address.ViewMonth), string(address.ViewDay),
}

// pageInput returns the path parameters and the parameters for the feed of a calendar page. It adds the filters
// that the page's URL implies to the sent parameters. readings are the interpretations of the URL (see matchPage).
func (r *request) pageInput(readings []address.Page, sent map[string]any) (path map[string]string, values map[string]any, err error) {
	values = maps.Clone(sent)
	for name, v := range sent {
		if v == "" {
			delete(values, name) // an empty field of a form
		}
	}
	p, id, err := r.chooseReading(readings)
	if err != nil {
		return nil, nil, err
	}
	r.Page = &p
	if p.Featured {
		values["featured"] = "1"
	}
	if fault := address.RenameParams(values); fault != nil {
		return nil, nil, param.Invalid{Faults: []param.Fault{*fault}}
	}
	if p.Past {
		r.limitToPast(values)
	}
	day, _ := param.String(values["tribe-bar-date"])
	switch p.View {
	case address.ViewEvent, address.ViewRecord:
		text, err := r.eventSlug(p)
		return map[string]string{"slug": text}, values, err
	case address.ViewMonth, address.ViewDay:
		for _, name := range periodParams {
			delete(values, name) // dates of the page have precedence
		}
		values[string(p.View)] = r.periodText(p, day)
	case address.ViewVenue, address.ViewOrganizer, address.ViewSeries:
		values[string(p.View)] = strconv.FormatInt(id, 10)
	default:
		if day != "" && values["start_date"] == nil {
			values["start_date"] = day
		}
	}
	if p.Taxonomy != "" {
		values[p.Taxonomy.Plural()] = strconv.FormatInt(id, 10)
	}
	return nil, values, nil
}

// limitToPast adds parameters that limit a feed to events that ended before today. A sent ends_before stays.
// Without other sent dates, it also leaves out events that ended more than a year before today.
func (r *request) limitToPast(values map[string]any) {
	today := r.Zone().Wall(r.Now).StartOfDay()
	r.ExpireBy(r.Tomorrow())
	if values["ends_before"] == nil {
		values["ends_before"] = today.String()
	}
	if values["ends_after"] == nil && values["start_date"] == nil && values["starts_after"] == nil {
		values["ends_after"] = today.AddDate(-1, 0, 0).String()
	}
}

// periodText returns the month or day that a page shows. It is that of the path, else of the parameter sent, else
// the present one.
func (r *request) periodText(p address.Page, sent string) string {
	layout := time.DateOnly
	if p.View == address.ViewMonth {
		layout = "2006-01"
	}
	if !p.Date.IsZero() {
		return p.Date.Format(layout)
	}
	if sent != "" {
		if p.View == address.ViewMonth && len(sent) > len(layout) {
			sent = sent[:len(layout)]
		}
		return sent // the parameter of the feed refuses an invalid date
	}
	r.ExpireBy(r.Tomorrow())
	return r.Zone().Wall(r.Now).Format(layout)
}

// chooseReading returns the first valid one of the interpretations of a URL (see matchPage). It is valid if its
// term, venue, organizer or series exists and is public. The second result is the id of that record, or 0 if the
// URL names none. Without a valid interpretation, the error is 404.
func (r *request) chooseReading(readings []address.Page) (address.Page, int64, error) {
	for _, p := range readings {
		kind := p.Taxonomy
		switch p.View {
		case address.ViewVenue:
			kind = calendar.Venue
		case address.ViewOrganizer:
			kind = calendar.Organizer
		case address.ViewSeries:
			kind = calendar.Series
		}
		if kind == "" {
			return p, 0, nil
		}
		id, err := r.OwnerBySlug(kind, p.Slugs[len(p.Slugs)-1])
		if err != nil {
			return p, 0, err
		}
		if kind.IsTerm() {
			r.DependsOnKind(kind)
		} else if id != 0 {
			r.DependsOn(kind, id)
		}
		public, err := r.isPublic(kind, id)
		if err != nil || public {
			return p, id, err
		}
	}
	return address.Page{}, 0, address.ErrNoPage
}

// isPublic reports whether anonymous callers may see the term, venue, organizer or series with an id.
func (r *request) isPublic(kind calendar.Kind, id int64) (bool, error) {
	if id == 0 {
		return false, nil
	}
	if kind.IsTerm() {
		return r.DB.HasRecord(r.Ctx, kind, sql.FieldEQ(event.FieldID, id))
	}
	var rows []struct {
		Status      calendar.Status `sql:"status"`
		PublishedAt time.Time       `sql:"published_at"`
	}
	err := r.DB.ScanKind(r.Ctx, kind, &rows, func(s *sql.Selector) {
		s.Select(s.C(event.FieldStatus), s.C(event.FieldPublishedAt))
		sql.FieldEQ(event.FieldID, id)(s)
	})
	return len(rows) > 0 && rows[0].Status.Shown(r.Now, rows[0].PublishedAt) == calendar.Publish, err
}

// eventSlug returns the slug for the feed of one event from the path of its page. It does not check a slug that
// comes without a date. For a path with an id or a date, the event must be public or withdrawn. Only withdrawn
// occurrences count if their series is not public. Otherwise the error is 404.
func (r *request) eventSlug(p address.Page) (string, error) {
	switch {
	case p.View == address.ViewRecord:
		notFound := eventNotFound(strconv.FormatInt(p.ID, 10))
		id, err := r.RecordOfNumber(p.ID)
		if err != nil {
			return "", err
		}
		row, err := r.DB.Event.Query().Where(event.ID(id)).Only(r.Ctx)
		if ent.IsNotFound(err) {
			return "", notFound
		}
		if err != nil {
			return "", fmt.Errorf("event %d: %w", id, err)
		}
		r.DependsOn(calendar.Event, id)
		return r.shownSlug([]*ent.Event{row}, notFound)
	case p.Date.IsZero():
		return p.Slugs[0], nil
	}
	notFound := eventNotFound(p.Slugs[0] + "/" + p.Date.Format(time.DateOnly))
	id, err := r.OwnerBySlug(calendar.Series, p.Slugs[0])
	if id == 0 && err == nil {
		id, err = r.OwnerBySlug(calendar.Series, calendar.TrashedSlug(p.Slugs[0]))
	}
	if err != nil || id == 0 {
		return "", cmp.Or(err, notFound)
	}
	public, err := r.isPublic(calendar.Series, id)
	if err != nil {
		return "", err
	}
	r.DependsOn(calendar.Series, id)
	rows, err := r.DB.Event.Query().Where(event.SeriesID(id), event.OriginalStartGTE(p.Date),
		event.OriginalStartLTE(p.Date.EndOfDay())).Order(event.ByOriginalStart()).All(r.Ctx)
	if err != nil {
		return "", fmt.Errorf("occurrences of series %d: %w", id, err)
	}
	if !public {
		rows = slices.DeleteFunc(rows, r.isShown)
	}
	return r.shownSlug(rows, notFound)
}

// isShown reports whether anonymous callers may see an event.
func (r *request) isShown(e *ent.Event) bool {
	return e.Status.Shown(r.Now, e.PublishedAt) == calendar.Publish
}

// shownSlug returns the slug of the first public event of rows. If none is public, it returns a slug that one
// had when it was withdrawn. Without either, it returns the error notFound.
func (r *request) shownSlug(rows []*ent.Event, notFound error) (string, error) {
	if i := slices.IndexFunc(rows, r.isShown); i >= 0 {
		return rows[i].Slug, nil
	}
	for _, row := range rows {
		slugs, err := query.Database{Ent: r.DB}.WithdrawnSlugs(r.Ctx, row.ID)
		if err != nil {
			return "", fmt.Errorf("withdrawn event %d: %w", row.ID, err)
		}
		for _, slug := range slugs {
			one, w, err := r.eventBySlug(slug)
			if err != nil {
				return "", err
			}
			if one == nil && w != nil && w.ID == row.ID {
				return slug, nil
			}
		}
	}
	return "", notFound
}
