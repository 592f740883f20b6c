package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// stuckStore is a media store whose Open blocks until the channel leave is closed.
type stuckStore struct {
	media.Store
	entered, leave chan struct{}
}

func newStuckStore() *stuckStore {
	return &stuckStore{entered: make(chan struct{}, 100), leave: make(chan struct{})}
}

func (s *stuckStore) Open(ctx context.Context, _ string) (io.ReadSeekCloser, media.Info, error) {
	s.entered <- struct{}{}
	select {
	case <-s.leave:
		return picture{strings.NewReader("picture")}, media.Info{Size: 7, MIMEType: "image/png"}, nil
	case <-ctx.Done():
		return nil, media.Info{}, ctx.Err()
	}
}

type picture struct{ *strings.Reader }

func (picture) Close() error { return nil }

// runningServer is a server that listens on a real address until the test ends.
type runningServer struct {
	*server.Server
	url   string
	stop  context.CancelFunc
	ended chan error
}

func serve(t *testing.T, s *server.Server) *runningServer {
	t.Helper()
	ln := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := &runningServer{s, "http://" + ln.Addr().String(), cancel, make(chan error, 1)}
	go func() { out.ended <- s.Serve(ctx, ln) }()
	t.Cleanup(cancel)
	return out
}

func get(t *testing.T, url string, header ...string) apitest.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.Succeed(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	// A connection of its own, so that none is kept that is about to be closed.
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Error(err)
		return apitest.Response{Body: []byte("{}")}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	reply := apitest.Response{Status: res.StatusCode, Header: res.Header, Body: body}
	if control := reply.Header.Get("Cache-Control"); reply.Status >= 400 && !strings.Contains(control, "no-store") {
		t.Errorf("%s: %d with Cache-Control %q", url, reply.Status, control)
	}
	return reply
}

func TestBusyIsRefusedEarly(t *testing.T) {
	t.Parallel()
	files := newStuckStore()
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Media, c.Concurrent = files, 1 }))
	first := make(chan apitest.Response, 1)
	go func() { first <- get(t, s.url+"/media/a.png") }()
	<-files.entered
	busy := get(t, s.url+"/pl/cal/events/v1", "Accept", "application/json")
	if busy.Status != 503 || busy.Get(t, "code") != "rest_unavailable" || busy.Get(t, "data", "status") != float64(503) {
		t.Errorf("got %d %s", busy.Status, busy.Body)
	}
	header("Retry-After", "1", "Content-Language", "pl", "X-Content-Type-Options", "nosniff")(t, busy)
	if alive := get(t, s.url+"/healthz"); alive.Status != 200 {
		t.Errorf("health waits for room: %d", alive.Status)
	}
	close(files.leave)
	if res := <-first; res.Status != 200 || string(res.Body) != "picture" {
		t.Errorf("the one that was worked on: %d %s", res.Status, res.Body)
	}
	if res := get(t, s.url+"/cal/events/v1"); res.Status != 200 {
		t.Errorf("then there is room: %d", res.Status)
	}
}

func TestRepliesThatNobodyTakesAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Sending = 20 << 10 }))
	doc := s.url + "/cal/events/v1/doc"
	large := get(t, doc, "Accept", "application/json")
	if large.Status != 503 || large.Get(t, "code") != "rest_unavailable" {
		t.Errorf("got %d and %d bytes", large.Status, len(large.Body))
	}
	header("Retry-After", "1", "ETag", "", "Content-Encoding", "", "X-Content-Type-Options", "nosniff")(t, large)
	if large.Header.Get("X-Request-ID") == "" {
		t.Error("the refusal has no id")
	}
	for range 3 {
		if res := get(t, s.url+"/cal/events/v1/nowhere"); res.Status != 404 {
			t.Errorf("a small reply: %d", res.Status)
		}
	}
	ample := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Sending = 4 << 20 }))
	for range 20 {
		// What was taken counts no more.
		if res := get(t, ample.url+"/cal/events/v1/doc"); res.Status != 200 {
			t.Errorf("with room: %d", res.Status)
		}
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newBrokenServer(t, &log, func(_ *handlers.Config, c *server.Config) {
		c.Media, c.Timeout, c.UploadTimeout = newStuckStore(), time.Second, time.Hour
	})
	if res := do(t, s, "GET", "/../../../media/a.png"); res.Status == 200 {
		t.Error(res.Status)
	}
	res := do(t, s, "GET", "", "Accept", "application/problem+json")
	if res.Status != 200 {
		t.Errorf("index: %d", res.Status)
	}
	on := serve(t, s)
	late := get(t, on.url+"/media/a.png", "Accept", "application/problem+json")
	if late.Status != 503 || late.Get(t, "code") != "rest_unavailable" {
		t.Errorf("got %d %s", late.Status, late.Body)
	}
	header("Retry-After", "5", "Content-Type", "application/problem+json")(t, late)
}

func TestRates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		hour := func(burst int) limit.Rate { return limit.Rate{Interval: time.Hour, Burst: burst} }
		proxies, err := limit.ParseProxies([]string{"0.0.0.0"}) // what a request without a network comes from
		must.Succeed(t, err)
		guesses := func(source, target, trusted int) limit.GuessRates {
			return limit.GuessRates{Source: hour(source), Target: hour(target), Trusted: hour(trusted)}
		}
		const password = "correct horse"
		if _, err := auth.AddUser(t.Context(), st.Ent, apitest.Now, "admin", "", calendar.Administrator, password); err != nil {
			t.Fatal(err)
		}
		one, other := "Bearer "+secret(t, st), "Bearer "+secret(t, st)
		type ask struct {
			from, authorization string
			status              int
			rate                string // the header RateLimit; without its time for logins, which take long
		}
		for _, test := range []struct {
			name   string
			limits server.Limits
			asks   []ask
		}{
			{"none", server.Limits{}, []ask{{"203.0.113.1", "", 200, ""}, {"203.0.113.1", one, 200, ""}}},
			{"by address", server.Limits{Rates: server.Rates{Address: hour(2)}}, []ask{
				{"203.0.113.1", "", 200, `"address";r=1;t=3600`},
				{"203.0.113.1", "", 200, `"address";r=0;t=7200`},
				{"203.0.113.1", "", 429, `"address";r=0;t=7200`},
				{"203.0.113.2", "", 200, `"address";r=1;t=3600`},
				{"10.0.0.1", "", 200, `"address";r=1;t=3600`},
				{"203.0.113.1", one, 200, ""},
			}},
			{"by network of 64 bits", server.Limits{Rates: server.Rates{Address: hour(1)}}, []ask{
				{"2001:db8::1", "", 200, `"address";r=0;t=3600`},
				{"2001:db8::2", "", 429, `"address";r=0;t=3600`},
				{"2001:db8:0:1::2", "", 200, `"address";r=0;t=3600`},
			}},
			{"far ones only", server.Limits{Rates: server.Rates{Address: hour(1), AddressFar: true}}, []ask{
				{"10.0.0.1", "", 200, ""},
				{"10.0.0.1", "", 200, ""},
				{"203.0.113.1", "", 200, `"address";r=0;t=3600`},
				{"203.0.113.1", "", 429, `"address";r=0;t=3600`},
			}},
			{"by token, wherever it comes from", server.Limits{Rates: server.Rates{Token: hour(2)}}, []ask{
				{"203.0.113.1", one, 200, `"token";r=1;t=3600`},
				{"203.0.113.2", one, 200, `"token";r=0;t=7200`},
				{"203.0.113.3", one, 429, `"token";r=0;t=7200`},
				{"203.0.113.3", other, 200, `"token";r=1;t=3600`},
				{"203.0.113.3", "", 200, ""},
			}},
			{"wrong credentials", server.Limits{Rates: server.Rates{Address: hour(2), Guesses: guesses(2, 100, 3)}}, []ask{
				{"203.0.113.1", one, 200, ""},
				{"203.0.113.1", "Bearer x", 401, ""},
				{"203.0.113.1", "Basic x", 401, ""},
				{"203.0.113.1", "Bearer x", 429, `"guesses";r=0`},
				{"203.0.113.1", other, 429, `"guesses";r=0`},
				{"203.0.113.1", basicAuth("admin", password), 429, `"guesses";r=0`},
				{"203.0.113.1", one, 200, ""}, // it was verified before, and a token cannot be guessed
				{"203.0.113.2", "Bearer x", 401, ""},
				{"203.0.113.2", other, 200, ""},
				{"203.0.113.1", "", 200, `"address";r=1;t=3600`},
			}},
			{"wrong credentials, without a rate", server.Limits{Rates: server.Rates{Guesses: guesses(1, 100, 3)}}, []ask{
				{"203.0.113.1", "Bearer x", 401, ""},
				{"203.0.113.1", "Bearer x", 429, `"guesses";r=0`},
				{"10.0.0.1", "Bearer x", 401, ""},
				{"10.0.0.1", "Bearer x", 401, ""},
			}},
			{"wrong passwords of a login", server.Limits{Rates: server.Rates{Guesses: guesses(2, 3, 1)}}, []ask{
				{"203.0.113.1", basicAuth("admin", "wrong-1"), 401, ""},
				{"203.0.113.1", basicAuth("ADMIN", "wrong-2"), 401, ""},
				{"203.0.113.2", basicAuth("admin", "wrong-3"), 401, ""},
				{"203.0.113.2", basicAuth("admin", password), 429, `"guesses";r=0`},
				{"203.0.113.2", basicAuth("nobody", "wrong-3"), 401, ""},
				{"203.0.113.3", basicAuth("admin", password), 200, ""},
				{"203.0.113.3", basicAuth("admin", password), 200, ""},
				{"10.0.0.1", basicAuth("admin", password), 200, ""},
				{"10.0.0.1", basicAuth("admin", "wrong-4"), 401, ""},
				{"10.0.0.1", basicAuth("admin", password), 429, `"guesses";r=0`},
			}},
		} {
			t.Run(test.name, func(t *testing.T) {
				test.limits.Proxies = proxies
				s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
					h.Primary, c.Limits, c.Metrics = st.Ent, test.limits, server.NewMetrics("test")
				})
				for i, a := range test.asks {
					res := do(t, s, "GET", "/tags", "X-Forwarded-For", a.from, "Authorization", a.authorization)
					got := res.Header.Get("RateLimit")
					if strings.HasPrefix(got, `"guesses"`) {
						got, _, _ = strings.Cut(got, ";t=")
					}
					if res.Status != a.status || got != a.rate {
						t.Errorf("request %d: got %d and %q, want %v; %s", i, res.Status, got, a, res.Body)
					}
					if (a.rate != "") != (res.Header.Get("RateLimit-Policy") != "") {
						t.Errorf("request %d: policy %q", i, res.Header.Get("RateLimit-Policy"))
					}
					retry := res.Header.Get("Retry-After")
					if strings.HasPrefix(a.rate, `"guesses"`) && retry != "" {
						retry = "3600"
					}
					if a.status == 429 && (res.Get(t, "code") != "rest_too_many_requests" || retry != "3600") {
						t.Errorf("request %d: retry after %q, %s", i, res.Header.Get("Retry-After"), res.Body)
					}
				}
			})
		}
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Connections = 1 }))
	address := strings.TrimPrefix(s.url, "http://")
	first, err := net.Dial("tcp", address)
	must.Succeed(t, err)
	if res := exchange(t, first, "GET /cal/events/v1 HTTP/1.1\r\nHost: x\r\n\r\n"); res.Status != 200 {
		t.Fatal(res.Status)
	}
	second, err := net.Dial("tcp", address)
	must.Succeed(t, err)
	res := exchange(t, second, "")
	if res.Status != 503 || res.Get(t, "code") != "rest_unavailable" || res.Get(t, "data", "status") != float64(503) {
		t.Errorf("got %d %s", res.Status, res.Body)
	}
	header("Retry-After", "1", "Content-Type", "application/json; charset=UTF-8", "Connection", "close")(t, res)
	for _, c := range []net.Conn{first, second} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// exchange writes a request to a connection and reads one reply.
func exchange(t *testing.T, c net.Conn, request string) apitest.Response {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	must.Succeed(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.Succeed(t, err)
	if res.Close {
		res.Header.Set("Connection", "close")
	}
	return apitest.Response{Status: res.StatusCode, Header: res.Header, Body: body}
}

// TestRefusedBodyInTheLanguageOfTheRequest checks that errors of the HTTP library use the language from the part
// of the request that was already read.
func TestRefusedBodyInTheLanguageOfTheRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, newBrokenServer(t, io.Discard, nil))
	for _, test := range []struct{ name, path, header, want string }{
		{"site", "/cal/events/v1/events", "", "en"},
		{"header", "/cal/events/v1/events", "Accept-Language: es\r\n", "es"},
		{"path", "/pl/cal/events/v1/events", "Accept-Language: es\r\n", "pl"},
		{"parameter", "/pl/cal/events/v1/events?ml_language=es", "", "es"},
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		must.Succeed(t, err)
		res := exchange(t, c, "POST "+test.path+" HTTP/1.1\r\nHost: x\r\nX-Request-ID: mine-1\r\n"+test.header+
			"Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
		if res.Status != 413 || res.Get(t, "code") != "rest_request_too_large" {
			t.Errorf("%s: got %d %s", test.name, res.Status, res.Body)
		}
		header("Content-Language", test.want, "X-Request-Id", "mine-1")(t, res)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSlowClient checks that the timeout of a slow client is counted and logged as slow_client, not as an error.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := server.NewMetrics("test")
	s := newBrokenServer(t, &log, func(_ *handlers.Config, c *server.Config) { c.Metrics = m })
	c := s.App().AcquireCtx(&fasthttp.RequestCtx{})
	defer s.App().ReleaseCtx(c)
	must.Succeed(t, s.App().Config().ErrorHandler(c, fiber.ErrRequestTimeout))
	want := `"data":{"status":408}}`
	if got := string(c.Response().Body()); c.Response().StatusCode() != 408 || !strings.HasSuffix(got, want) {
		t.Errorf("got %d %s, want %s", c.Response().StatusCode(), got, want)
	}
	if strings.Contains(log.String(), "ERROR") || !strings.Contains(log.String(), "reason=slow_client") {
		t.Errorf("the log says %s", log.String())
	}
	if text := scrape(t, s); !strings.Contains(text, `almanac_http_requests_refused_total{reason="slow_client"} 1`) {
		t.Error("not counted")
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newBrokenServer(t, &log, nil)
	for _, test := range []struct {
		given string
		kept  bool
	}{
		{"0af7651916cd43dd8448eb211c80319c", true},
		{"a-b_c.d:e/f+g=h@i~j", true},
		{strings.Repeat("x", 128), true},
		{strings.Repeat("x", 129), false},
		{"", false},
		{"two words", false},
		{`quote"`, false},
		{"łódź", false},
	} {
		res := do(t, s, "GET", "", "X-Request-ID", test.given)
		got := res.Header.Get("X-Request-Id")
		if got == "" || (got == test.given) != test.kept {
			t.Errorf("%q: got %q", test.given, got)
		}
		if test.kept && !strings.Contains(log.String(), test.given) {
			t.Errorf("%q is not in the log", test.given)
		}
	}
}

func TestLogLinesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var log bytes.Buffer
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) { h.Primary, c.Log = st.Ent, jsonLog(&log) })
		token := secret(t, st)
		do(t, s, "GET", "/events/15?password=hunter2&token="+token, "Authorization", "Bearer "+token, "Cookie", "hunter2")
		do(t, s, "GET", "/nothing/hunter2", "Authorization", "Basic aHVudGVyMjpodW50ZXIy")
		do(t, s, "POST", "/events?password=hunter2", "Authorization", "Basic aHVudGVyMjpodW50ZXIy")
		for _, bad := range []string{"hunter2", token, "aHVudGVyMjpodW50ZXIy"} {
			if strings.Contains(log.String(), bad) {
				t.Errorf("the log has %s: %s", bad, log.String())
			}
		}
		var first map[string]any
		must.Succeed(t, json.NewDecoder(&log).Decode(&first))
		if first["user"] == "" || first["id"] == "" {
			t.Errorf("%v", first)
		}
		for _, name := range []string{"time", "level", "msg", "id", "user", "took"} {
			if first[name] == nil {
				t.Errorf("no %s", name)
			}
			delete(first, name)
		}
		want := map[string]any{
			"method": "GET", "route": `/events/(?P<id>\d+)`, "status": float64(404), "bytes": first["bytes"], "client": "0.0.0.0",
		}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	})
}

// TestManyPasswordsAtOnce sends many passwords at once, which are slow to compare. Each must be answered soon.
// Those from one address are compared in turn, within its budget.
func TestManyPasswordsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		proxies, err := limit.ParseProxies([]string{"127.0.0.1"})
		must.Succeed(t, err)
		hour := limit.Rate{Interval: time.Hour, Burst: 1000}
		few := limit.Rate{Interval: time.Hour, Burst: 3}
		for _, test := range []struct {
			name      string
			addresses int
			source    limit.Rate
			want      func(seen map[int]int) bool
		}{
			{"of one address", 1, few, func(seen map[int]int) bool { return seen[401] == 3 && seen[429] == 37 }},
			{"of many addresses", 40, hour, func(seen map[int]int) bool { return seen[401] > 0 && seen[503] > 0 && seen[401]+seen[503] == 40 }},
		} {
			s := serve(t, newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
				h.Primary, c.Proxies, c.Timeout = st.Ent, proxies, time.Minute
				c.Rates.Guesses = limit.GuessRates{Source: test.source, Target: hour, Trusted: few}
			}))
			var all sync.WaitGroup
			var mu sync.Mutex
			seen := map[int]int{}
			for i := range 40 {
				all.Go(func() {
					from := fmt.Sprintf("203.0.113.%d", i%test.addresses)
					res := get(t, s.url+"/cal/events/v1/tags", "X-Forwarded-For", from, "Authorization", basicAuth("admin", fmt.Sprintf("wrong-%d", i)))
					if res.Status == 503 && (res.Header.Get("Retry-After") != "1" || res.Get(t, "code") != "rest_unavailable") {
						t.Errorf("%v %s", res.Header, res.Body)
					}
					mu.Lock()
					defer mu.Unlock()
					seen[res.Status]++
				})
			}
			all.Wait()
			if !test.want(seen) {
				t.Errorf("%s: statuses: %v", test.name, seen)
			}
		}
	})
}

// TestRateOfATokenInAnyForm checks that all forms of sending a token count against the same rate.
func TestRateOfATokenInAnyForm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		token := secret(t, st)
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, c.Rates.Token = st.Ent, limit.Rate{Interval: time.Hour, Burst: 2}
		})
		for i, authorization := range []string{"Bearer " + token, "bearer  " + token[:6] + " " + token[6:], "Bearer " + token} {
			if res := do(t, s, "GET", "/tags", "Authorization", authorization); (res.Status == 429) != (i == 2) || res.Status == 401 {
				t.Errorf("request %d: %d %s", i, res.Status, res.Body)
			}
		}
	})
}

func TestMountsThatHideSomething(t *testing.T) {
	t.Parallel()
	for _, mount := range []string{"/media", "/docs", "/docs/api", "/assets", "/healthz", "/readyz/x"} {
		words, err := locale.Load()
		must.Succeed(t, err)
		site := calendar.Site{BaseURL: apitest.BaseURL, Language: calendar.English, PerPage: 10, Now: time.Now}
		api, err := handlers.New(handlers.Config{Calendar: read.Calendar{Words: words, Site: site}, Mounts: []string{mount}})
		must.Succeed(t, err)
		if _, err := server.New(server.Config{API: api, Words: words, Site: site}); err == nil || !strings.Contains(err.Error(), "served already") {
			t.Errorf("%s: %v", mount, err)
		}
	}
}
