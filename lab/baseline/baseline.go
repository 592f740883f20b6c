// Package baseline implements GET /events and GET /events/{id} by hand. It uses fasthttp, prepared statements of just
// the necessary columns, and JSON appended to a buffer. It replies with the same bytes as the service, whose speed is
// compared with it.
//
// It has no parameters, no signed-in users and no series. Calendars must be in the language of the site, like those of
// package fill. A record in another language is an error, since it could need a translation.
package baseline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/query"
)

// Way is the method by which a list finds its events and their total: Count, Keep or Index.
type Way int

const (
	// Count makes SQL find and count the events for every reply.
	Count Way = iota
	// Keep stores the total and counts again when the revision of the calendar or the day has changed.
	Keep
	// Index uses the service's index in memory.
	Index
)

func (w Way) String() string {
	return [...]string{"counts each time", "keeps the total", "with the index"}[w]
}

// Config is the configuration of a Server.
type Config struct {
	DB    *sql.DB
	Site  calendar.Site
	Way   Way
	Index *index.Index // for the way Index, else nil
}

// Server is a minimal calendar server for comparing the service's speed. It answers GET /events and GET /events/{id}.
type Server struct {
	Config
	api  string // base URL and path of the API
	host string // host in global ids

	statements

	mu   sync.Mutex
	kept map[string]total // totals of the way Keep, by first day
}

// total is a number of events with the calendar's revision at which it was counted.
type total struct{ revision, events int64 }

// New returns a server with prepared statements. The caller must close it. The base URL of the site needs a port.
func New(ctx context.Context, c Config) (*Server, error) {
	host, _, err := net.SplitHostPort(strings.TrimPrefix(c.Site.BaseURL, "http://"))
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	s := &Server{Config: c, api: c.Site.BaseURL + "/" + handlers.Namespace, host: host, kept: make(map[string]total)}
	if err := s.prepare(ctx, c.DB, c.Site.PerPage); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the prepared statements.
func (s *Server) Close() error { return s.close() }

// Handle replies to a request for the list or an event. Other paths and events that are not public are 404, other
// errors 500.
func (s *Server) Handle(c *fasthttp.RequestCtx) {
	body, err := []byte(nil), errUnknown
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	path := string(c.Path())
	switch rest, ok := strings.CutPrefix(path, "/"+handlers.Namespace+"/events"); {
	case ok && rest == "":
		body, err = s.list(ctx, c)
	case ok && strings.HasPrefix(rest, "/"):
		var id int64
		if id, err = strconv.ParseInt(rest[1:], 10, 64); err == nil {
			body, err = s.singleEvent(ctx, id)
		}
	}
	if err != nil {
		status := fasthttp.StatusInternalServerError
		if errors.Is(err, errUnknown) || errors.Is(err, strconv.ErrSyntax) {
			status = fasthttp.StatusNotFound
		}
		c.Error(err.Error(), status)
		return
	}
	c.SetContentType("application/json; charset=UTF-8")
	c.SetBody(body)
}

var errUnknown = errors.New("not found")

// list returns the body of the reply to GET /events, and sets the headers with totals and links.
func (s *Server) list(ctx context.Context, c *fasthttp.RequestCtx) ([]byte, error) {
	now := s.Site.Now()
	w := windowOf(now, s.Site.Zone)
	events, n, err := s.page(ctx, now, w)
	if err != nil {
		return nil, err
	}
	if err := s.complete(ctx, events); err != nil {
		return nil, err
	}
	v := view{s, now}
	b := make([]byte, 0, 4096*(len(events)+1))
	b = append(b, `{"events":[`...)
	for i, e := range events {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = v.event(b, e, false); err != nil {
			return nil, err
		}
	}
	query := "start_date=" + escape(w.first.String()) + "&end_date=" + escape(w.last.String())
	link := s.api + "/events/?" + query
	pages := (n + s.Site.PerPage - 1) / s.Site.PerPage
	b = jsonwrite.String(append(b, `],"rest_url":`...), link)
	links := "<" + link + `>; rel="first"`
	if pages > 1 {
		b = jsonwrite.String(append(b, `,"next_rest_url":`...), link+"&page=2")
		links += ", <" + link + `&page=2>; rel="next"`
	}
	if last := link; n > 0 {
		if pages > 1 {
			last += "&page=" + strconv.Itoa(pages)
		}
		links += ", <" + last + `>; rel="last"`
	}
	b = strconv.AppendInt(append(b, `,"total":`...), int64(n), 10)
	b = strconv.AppendInt(append(b, `,"total_pages":`...), int64(pages), 10)
	c.Response.Header.Set("X-TEC-Total", strconv.Itoa(n))
	c.Response.Header.Set("X-TEC-TotalPages", strconv.Itoa(pages))
	c.Response.Header.Set("Link", links)
	return append(b, '}'), nil
}

// escape encodes the characters of a date and time for a query: spaces as +, colons as %3A.
func escape(date string) string {
	return strings.NewReplacer(" ", "+", ":", "%3A").Replace(date)
}

// singleEvent returns the body of the reply to GET /events/{id}. It returns errUnknown for an event that is not
// public.
func (s *Server) singleEvent(ctx context.Context, id int64) ([]byte, error) {
	events, err := s.byIDs(ctx, s.single, []any{id})
	if err != nil {
		return nil, err
	}
	now := s.Site.Now()
	if len(events) == 0 || events[0].status.Shown(now, events[0].published) != calendar.Publish || events[0].locked {
		return nil, errUnknown
	}
	if err := s.complete(ctx, events); err != nil {
		return nil, err
	}
	return view{s, now}.event(make([]byte, 0, 8192), events[0], true)
}

// window is the default period of a list: first and last second as wall times, and the same as instants.
type window struct {
	first, last calendar.Wall
	from, to    time.Time
}

func windowOf(now time.Time, zone calendar.Zone) window {
	first := zone.Wall(now).StartOfDay()
	year, month, day := first.Date()
	last := calendar.WallAt(year+2, month, day, 23, 59, 59)
	if _, m, _ := last.Date(); m != month { // 29 February
		last = calendar.WallAt(year+2, month+1, 0, 23, 59, 59)
	}
	return window{first, last, zone.Instant(first), zone.Instant(last)}
}

// page returns the events of the first page of a window and the total number of events in it.
func (s *Server) page(ctx context.Context, now time.Time, w window) (events []*event, n int, err error) {
	if s.Way == Index {
		found, err := s.Index.FindEvents(ctx, &query.Events{
			Now: now, Visible: query.Visible{Anyone: []calendar.Status{calendar.Publish}},
			Window: query.Window{StartMin: &w.from, EndMax: &w.to},
		}, 0, s.Site.PerPage)
		if err != nil || len(found.IDs) == 0 {
			return nil, found.Total, err
		}
		ids := make([]any, s.Site.PerPage)
		for i := range ids {
			ids[i] = found.IDs[min(i, len(found.IDs)-1)]
		}
		events, err = s.byIDs(ctx, s.several, ids)
		return events, found.Total, err
	}
	if n, err = s.total(ctx, now, w); err != nil || n == 0 {
		return nil, n, err
	}
	most := s.Site.PerPage
	events, err = s.byIDs(ctx, s.first, []any{w.from, w.to, most, now, w.from, w.to, most, most})
	return events, n, err
}

func (s *Server) total(ctx context.Context, now time.Time, w window) (int, error) {
	count := func() (n int64, err error) {
		err = s.counted.QueryRowContext(ctx, w.from, w.to, now, w.from, w.to).Scan(&n)
		return n, err
	}
	if s.Way == Count {
		n, err := count()
		return int(n), err
	}
	// A scheduled event that becomes due between two revisions is counted at the next one: the service publishes
	// it within a second, which makes a revision.
	var revision int64
	if err := s.revision.QueryRowContext(ctx).Scan(&revision); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := w.first.String()
	if t, ok := s.kept[key]; ok && t.revision == revision {
		return int(t.events), nil
	}
	n, err := count()
	if err == nil {
		clear(s.kept)
		s.kept[key] = total{revision, n}
	}
	return int(n), err
}
