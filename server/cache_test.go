package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// cacheResults returns the counters of the reply cache by result, such as "hit".
func cacheResults(t *testing.T, m *server.Metrics) map[string]int {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	out := map[string]int{}
	for line := range strings.Lines(w.Body.String()) {
		if rest, ok := strings.CutPrefix(line, `almanac_cache_requests_total{result="`); ok {
			name, value, _ := strings.Cut(rest, `"} `)
			n, err := strconv.Atoi(strings.TrimSpace(value))
			must.Succeed(t, err)
			out[name] = n
		}
	}
	return out
}

// startCaching returns a server with a cache, and its metrics.
func startCaching(t *testing.T, api *apitest.API, change func(*server.Config)) (*server.Server, *server.Metrics) {
	t.Helper()
	m := server.NewMetrics("test")
	return api.Another(t, func(c *server.Config) {
		c.Metrics = m
		if change != nil {
			change(c)
		}
	}), m
}

func request(t *testing.T, method, path string, header ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, apitest.BaseURL+"/cal/events/v1"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	tests := []struct {
		name   string
		first  *http.Request
		second *http.Request
		hits   int
	}{
		{"a list", request(t, "GET", "/events"), request(t, "GET", "/events"), 1},
		{"a record", request(t, "GET", "/events/15"), request(t, "GET", "/events/15"), 1},
		{"the index", request(t, "GET", ""), request(t, "GET", ""), 1},
		{"the description", request(t, "GET", "/doc"), request(t, "GET", "/doc"), 1},
		{"HEAD by what GET made", request(t, "GET", "/venues"), request(t, "HEAD", "/venues"), 1},
		{"GET by what HEAD made", request(t, "HEAD", "/venues"), request(t, "GET", "/venues"), 1},
		{
			"the same language, said in other ways", request(t, "GET", "/tags", "Accept-Language", "pl"),
			request(t, "GET", "/tags", "Accept-Language", "fr, pl;q=0.5"), 1,
		},
		{"another language", request(t, "GET", "/tags"), request(t, "GET", "/tags", "Accept-Language", "es"), 0},
		{"another page", request(t, "GET", "/events?page=1"), request(t, "GET", "/events?page=2"), 0},
		{"a slash more is another path", request(t, "GET", "/events"), request(t, "GET", "/events//"), 0},
		{"who signed in", request(t, "GET", "/events"), request(t, "GET", "/events", "Authorization", "Bearer "+api.Token("admin")), 0},
		{"wrong credentials", request(t, "GET", "/events"), request(t, "GET", "/events", "Authorization", "Bearer x"), 0},
		{"a password", request(t, "GET", "/events?password=x"), request(t, "GET", "/events?password=x"), 0},
		{"a password, encoded", request(t, "GET", "/events?p%61ssword=x"), request(t, "GET", "/events?p%61ssword=x"), 0},
		{"errors", request(t, "GET", "/events/999999"), request(t, "GET", "/events/999999"), 0},
		{"OPTIONS", request(t, "OPTIONS", "/events"), request(t, "OPTIONS", "/events"), 0},
		{"POST", request(t, "POST", "/events"), request(t, "POST", "/events"), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, m := startCaching(t, api, nil)
			apitest.Send(t, s, tt.first)
			apitest.Send(t, s, tt.second)
			if got := cacheResults(t, m)["hit"]; got != tt.hits {
				t.Errorf("%d hits, want %d: %v", got, tt.hits, cacheResults(t, m))
			}
		})
	}
}

// TestKeptRepliesAreThoseOfTheTime compares cached replies with fresh ones while the clock moves and scheduled
// records are published without a write.
func TestKeptRepliesAreThoseOfTheTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var clock atomic.Int64
		clock.Store(apitest.Now.Unix())
		api := apitest.New(t, st, func(c *handlers.Config) {
			zone, err := calendar.ParseZone("Europe/Warsaw")
			must.Succeed(t, err)
			c.Site.Zone = zone
			c.Site.Now = func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
		})
		api.SignIn(t, "editor", calendar.Editor)
		r := rand.New(rand.NewPCG(7, 7))
		for i := range 24 {
			at := apitest.Now.Add(time.Duration(r.IntN(4*24*3600)) * time.Second)
			event := map[string]any{
				"title": fmt.Sprintf("Event %d", i), "start_date": at.Unix(), "end_date": at.Add(time.Hour).Unix(),
				"venue": map[string]any{"venue": fmt.Sprintf("Venue %d", i%5)}, "tags": "walk",
			}
			if i%3 == 0 {
				event["date_utc"] = apitest.Now.Add(time.Duration(r.IntN(3*24*3600)) * time.Second).Format(calendar.Layout)
			}
			if res := api.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "editor", JSON: event}); res.Status != 201 {
				t.Fatalf("%d %s", res.Status, res.Body)
			}
		}
		paths := []string{
			"", "/doc", "/events", "/events?page=2", "/events?start_date=today&end_date=tomorrow", "/events?start_date=now",
			"/events?start_date=now&strict_dates=1&end_date=2027-01-01", "/events?starts_after=%2B3+hours",
			"/events?ends_before=next+monday", "/events?start_date=2026-11-01&end_date=2027-11-01", "/events?search=event",
			"/venues?only_with_upcoming=1", "/venues?has_events=1", "/tags", "/organizers", "/events?tags=walk&per_page=50",
			"/events?starts_before=jutro&ends_after=yesterday+6pm&strict_dates=1",
		}
		kept, m := startCaching(t, api, nil)
		plain := api.Another(t, func(c *server.Config) { c.Caching = reply.Caching{} })
		for range 250 {
			path := paths[r.IntN(len(paths))]
			want := apitest.Send(t, plain, request(t, "GET", path))
			got := apitest.Send(t, kept, request(t, "GET", path))
			if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) || got.Header.Get("Link") != want.Header.Get("Link") {
				t.Fatalf("%s at %s:\n got %d %s\nwant %d %s", path, time.Unix(clock.Load(), 0).UTC(), got.Status, got.Body, want.Status, want.Body)
			}
			if r.IntN(3) == 0 {
				clock.Add(int64(1 << r.IntN(13)))
			}
		}
		if got := cacheResults(t, m); got["hit"] < 25 || got["miss"] < 25 {
			t.Errorf("nothing was compared: %v", got)
		}
	})
}

func TestConcurrentMissesAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	const clients = 40
	var began sync.WaitGroup
	began.Add(clients)
	s, m := startCaching(t, api, func(c *server.Config) {
		read := c.Caching.Revision
		var once atomic.Bool
		c.Caching.Revision = func(ctx context.Context) (int64, error) {
			if once.CompareAndSwap(false, true) {
				began.Wait() // until all are there
			}
			return read(ctx)
		}
	})
	var wg sync.WaitGroup
	for range clients {
		req := request(t, "GET", "/events?per_page=50")
		wg.Go(func() {
			began.Done()
			if res := apitest.Send(t, s, req); res.Status != 200 {
				t.Errorf("%d %s", res.Status, res.Body)
			}
		})
	}
	wg.Wait()
	if got := cacheResults(t, m); got["miss"] != 1 || got["hit"]+got["joined"] != clients-1 {
		t.Errorf("%v, want one miss", got)
	}
}

func TestEncodingsOfKeptReplies(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	s, _ := startCaching(t, api, nil)
	plain := apitest.Send(t, s, request(t, "GET", "/events"))
	if plain.Header.Get("Content-Encoding") != "" || len(plain.Header["Vary"]) != 2 || plain.Header["Vary"][1] != "Accept-Encoding" {
		t.Errorf("%v", plain.Header)
	}
	unpack := map[string]func(io.Reader) (io.Reader, error){
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	}
	tests := []struct{ accept, want string }{
		{"gzip", "gzip"},
		{"gzip, deflate, br", "br"},
		{"gzip;q=1.0, br;q=0.5", "gzip"},
		{"br;q=0, gzip", "gzip"},
		{"gzip;q=0", ""},
		{"deflate", ""},
		{"identity", ""},
		{"*", "br"},
		{"*;q=0.1, br;q=0", "gzip"},
		{"GZIP", "gzip"},
		{"x-gzip", "gzip"},
		{"br;q=2", ""},
		{"br;x=1", ""},
		{"", ""},
		{";;,,=", ""},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			res := apitest.Send(t, s, request(t, "GET", "/events", "Accept-Encoding", tt.accept))
			if got := res.Header.Get("Content-Encoding"); got != tt.want {
				t.Fatalf("in %q, want %q", got, tt.want)
			}
			r, err := unpack[tt.want](bytes.NewReader(res.Body))
			must.Succeed(t, err)
			body, err := io.ReadAll(r)
			must.Succeed(t, err)
			if !bytes.Equal(body, plain.Body) {
				t.Errorf("another body: %s", body)
			}
			if tt.want != "" && len(res.Body) >= len(plain.Body)/2 {
				t.Errorf("%d bytes of %d", len(res.Body), len(plain.Body))
			}
		})
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	const size = 200_000
	s, m := startCaching(t, api, func(c *server.Config) { c.Caching.Size = size })
	for i := range 300 {
		if res := apitest.Send(t, s, request(t, "GET", "/events/15?x="+strconv.Itoa(i))); res.Status != 200 {
			t.Fatalf("%d %s", res.Status, res.Body)
		}
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, "almanac_cache_bytes "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || n == 0 || n > 1.2*size {
				t.Errorf("%s bytes are kept, of %d", value, size)
			}
			return
		}
	}
	t.Error("no size is told")
}

func TestDelayIsForWhatOthersWrite(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.SignIn(t, "editor", calendar.Editor)
	s, _ := startCaching(t, api, func(c *server.Config) { c.Caching.Delay = time.Hour })
	total := func() string {
		return apitest.Send(t, s, request(t, "GET", "/tags?hide_empty=0")).Header.Get("X-TEC-Total")
	}
	if got := total(); got != "0" {
		t.Fatalf("%s tags", got)
	}
	create := func(name string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), "POST", apitest.BaseURL+"/cal/events/v1/tags", strings.NewReader("name="+name))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+api.Token("editor"))
		return r
	}
	other := api.Another(t, nil)
	if res := apitest.Send(t, other, create("a")); res.Status != 201 {
		t.Fatalf("%d %s", res.Status, res.Body)
	}
	if got := total(); got != "0" {
		t.Errorf("%s tags, before the delay is over", got)
	}
	if res := apitest.Send(t, s, create("b")); res.Status != 201 {
		t.Fatalf("%d %s", res.Status, res.Body)
	}
	if got := total(); got != "2" {
		t.Errorf("%s tags, after a write of its own", got)
	}
}

func TestNoReplyWithoutTheRevision(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	var away atomic.Bool
	s, _ := startCaching(t, api, func(c *server.Config) {
		read := c.Caching.Revision
		c.Caching.Revision = func(ctx context.Context) (int64, error) {
			if away.Load() {
				return 0, fmt.Errorf("connect: %w", errAway)
			}
			return read(ctx)
		}
	})
	if res := apitest.Send(t, s, request(t, "GET", "/events")); res.Status != 200 {
		t.Fatalf("%d %s", res.Status, res.Body)
	}
	away.Store(true)
	if res := apitest.Send(t, s, request(t, "GET", "/events")); res.Status == 200 {
		t.Errorf("a reply that may be old: %s", res.Body)
	}
	away.Store(false)
	if res := apitest.Send(t, s, request(t, "GET", "/events")); res.Status != 200 {
		t.Errorf("%d %s", res.Status, res.Body)
	}
}

var errAway = errors.New("the database is away")

// TestWritesLeaveOtherReplies requests a list, writes, and requests the list again. The cached reply must be used
// unless the write touched something that the list depends on.
func TestWritesLeaveOtherReplies(t *testing.T) {
	rename := func(path, field string) *apitest.Request {
		return &apitest.Request{Method: "PATCH", As: "admin", Path: path, JSON: map[string]any{field: "Another name"}}
	}
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, c := range []struct {
			name, path string
			write      *apitest.Request
			want       string
		}{
			{"an event of another page", "/events?per_page=3", rename("/events/{jazzFestival}", "title"), "unchanged"},
			{"an event of the page", "/events?per_page=3", rename("/events/{morningSong}", "title"), "miss"},
			{"a venue that is shown", "/events?include=15&categories=jazz", rename("/venues/{grandHall}", "venue"), "miss"},
			{"a venue that is shown in a list", "/events?categories=jazz", rename("/venues/{grandHall}", "venue"), "miss"},
			{"a venue that is not shown", "/events?categories=sport", rename("/venues/{grandHall}", "venue"), "unchanged"},
			{"a category by which is filtered", "/events?categories=sport", rename("/categories/{emptyCategory}", "name"), "miss"},
			{"a category without an effect", "/events?featured=1&tags=free-entry", rename("/categories/{emptyCategory}", "name"), "unchanged"},
			{"a venue by which is filtered", "/events?venue=11", rename("/venues/{bareVenue}", "phone"), "miss"},
			{
				"an event that comes to the list", "/events?venue=11",
				&apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{cityRun}", JSON: map[string]any{"venue": 11}}, "miss",
			},
			{"another event", "/events/{jazzNight}", rename("/events/{choir}", "title"), "unchanged"},
			{"the event itself", "/events/by-slug/choir", rename("/events/{choir}", "title"), "miss"},
			{"an event, for venues", "/venues", rename("/events/{choir}", "title"), "unchanged"},
			{"an event, for venues with events", "/venues?has_events=1", rename("/events/{choir}", "title"), "unchanged"},
			{"an event, for tags", "/tags", rename("/events/{choir}", "title"), "unchanged"},
			{
				"a number of events", "/tags",
				&apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{choir}", JSON: map[string]any{"tags": "free-entry"}}, "miss",
			},
			{"anything, for the index", "", rename("/events/{choir}", "title"), "unchanged"},
		} {
			s, m := startCaching(t, api, func(c *server.Config) {
				c.Caching.Revision = func(ctx context.Context) (int64, error) { return edit.Revision(ctx, api.Store.Ent) }
			})
			path := apitest.Named(c.path)
			apitest.Send(t, s, request(t, "GET", path))
			if r := api.Do(t, *c.write); r.Status != 200 {
				t.Fatalf("%s: %d %s", c.name, r.Status, r.Body)
			}
			before := cacheResults(t, m)
			got := apitest.Send(t, s, request(t, "GET", path))
			if after := cacheResults(t, m); after[c.want] != before[c.want]+1 {
				t.Errorf("%s: want %s, before %v, after %v", c.name, c.want, before, after)
			}
			if want := api.Do(t, apitest.Request{Path: c.path}); !bytes.Equal(got.Body, want.Body) {
				t.Errorf("%s: got %s, want %s", c.name, got.Body, want.Body)
			}
		}
	})
}
