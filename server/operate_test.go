package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

func jsonLog(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }

func TestHealth(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
		c.Checks = []server.Check{
			{Name: "database", Do: func(ctx context.Context) error {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("a check has no deadline")
				}
				if away.Load() {
					return errors.New("dial tcp 10.1.2.3:3306: refused")
				}
				return nil
			}},
			{Name: "schema", Do: func(context.Context) error { return nil }},
		}
		// Neither limits nor rates hold up who asks for health.
		c.Rates.Address = limit.Rate{Interval: time.Hour, Burst: 1}
	}))
	for range 3 {
		res := get(t, s.url+"/healthz")
		if res.Status != 200 || string(res.Body) != `{"status":"ok"}` {
			t.Errorf("alive: %d %s", res.Status, res.Body)
		}
		header("Cache-Control", "no-store", "Content-Type", "application/json; charset=UTF-8")(t, res)
	}
	ready := func(status int, body string) {
		t.Helper()
		var res apitest.Response
		for range 100 { // what was found holds for a moment
			if res = get(t, s.url+"/readyz"); res.Status == status {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if res.Status != status || string(res.Body) != body {
			t.Errorf("got %d %s, want %d %s", res.Status, res.Body, status, body)
		}
	}
	ready(200, `{"status":"ready","checks":{"accepting":"ok","database":"ok","schema":"ok"}}`)
	away.Store(true)
	ready(503, `{"status":"unavailable","checks":{"accepting":"ok","database":"failed","schema":"ok"}}`)
	away.Store(false)
	ready(200, `{"status":"ready","checks":{"accepting":"ok","database":"ok","schema":"ok"}}`)
	for _, path := range []string{"/healthz/", "/readyz/x", "/pl/healthz"} {
		if res := get(t, s.url+path); res.Status != 429 && res.Status != 404 {
			t.Errorf("%s: %d", path, res.Status)
		}
	}
}

// TestReadinessWaitsForTheIndex checks that a new process is ready when its index is loaded, or when it has waited
// for IndexWait.
func TestReadinessWaitsForTheIndex(t *testing.T) {
	t.Parallel()
	never := func() time.Time { return time.Time{} }
	for _, test := range []struct {
		name   string
		index  server.IndexState
		wait   time.Duration
		status int
		want   string // of /readyz?verbose
	}{
		{
			"no index", nil, time.Hour, 200,
			`{"status":"ready","checks":{"accepting":"ok"},"index":{"state":"off"}}`,
		},
		{
			"loading",
			loadedIndex{loadedAt: never},
			time.Hour, 503,
			`{"status":"unavailable","checks":{"accepting":"ok","index":"loading"},"index":{"state":"loading"}}`,
		},
		{
			"loading for too long",
			loadedIndex{loadedAt: never},
			time.Nanosecond, 200,
			`{"status":"ready","checks":{"accepting":"ok","index":"loading"},"index":{"state":"loading"}}`,
		},
		{
			"loading, which is not waited for",
			loadedIndex{loadedAt: never},
			0, 200,
			`{"status":"ready","checks":{"accepting":"ok","index":"loading"},"index":{"state":"loading"}}`,
		},
		{
			"loaded",
			loadedIndex{ready: true, loadedAt: hourAgo},
			time.Hour, 200,
			`{"status":"ready","checks":{"accepting":"ok","index":"ok"},` +
				`"index":{"state":"loaded","revision":9,"age_seconds":3600}}`,
		},
		{
			"made anew",
			loadedIndex{loadedAt: hourAgo},
			time.Hour, 200,
			`{"status":"ready","checks":{"accepting":"ok","index":"ok"},` +
				`"index":{"state":"loading","revision":9,"age_seconds":3600}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
				c.Index, c.IndexWait = test.index, test.wait
			})
			brief := test.want[:strings.LastIndex(test.want, `,"index":{`)] + "}"
			private := func(path string) apitest.Response {
				res := httptest.NewRecorder()
				s.Private(false).ServeHTTP(res, httptest.NewRequest("GET", path, nil))
				return apitest.Response{Status: res.Code, Body: res.Body.Bytes()}
			}
			public := serve(t, s)
			for path, want := range map[string]string{"/readyz": brief, "/readyz?verbose": test.want} {
				for of, res := range map[string]apitest.Response{"private": private(path), "public": get(t, public.url+path)} {
					if res.Status != test.status || string(res.Body) != want {
						t.Errorf("%s %s: got %d %s\nwant %d %s", of, path, res.Status, res.Body, test.status, want)
					}
				}
			}
			if res := get(t, public.url+"/healthz?verbose"); res.Status != 200 || string(res.Body) != `{"status":"ok"}` {
				t.Errorf("alive: %d %s", res.Status, res.Body)
			}
		})
	}
}

// TestReadinessToWrite checks that a process which cannot write stays ready for reads, but /readyz/write fails.
func TestReadinessToWrite(t *testing.T) {
	t.Parallel()
	well := func(context.Context) error { return nil }
	broken := func(context.Context) error { return errors.New("x") }
	// Three connections of the pool are lost.
	lost := func() func(context.Context) error {
		calls := 0
		return func(context.Context) error {
			if calls++; calls <= 3 {
				return errors.New("the connection is lost")
			}
			return nil
		}
	}
	for _, test := range []struct {
		name        string
		read, write func(context.Context) error
		ready       int
		readyWrite  int
		want        string // of /readyz/write
	}{
		{"both", well, well, 200, 200, `{"status":"ready","checks":{"accepting":"ok","database":"ok","write":"ok"}}`},
		{"reads alone", well, broken, 200, 503, `{"status":"unavailable","checks":{"accepting":"ok","database":"ok","write":"failed"}}`},
		{"writes alone", broken, well, 503, 503, `{"status":"unavailable","checks":{"accepting":"ok","database":"failed","write":"ok"}}`},
		{"lost connections", lost(), lost(), 200, 200, `{"status":"ready","checks":{"accepting":"ok","database":"ok","write":"ok"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
				c.Metrics = server.NewMetrics("test")
				c.Checks = []server.Check{{Name: "database", Do: test.read}, {Name: "write", Do: test.write, Write: true}}
			})
			public := serve(t, s)
			if res := get(t, public.url+"/readyz/write"); res.Status != test.readyWrite || string(res.Body) != test.want {
				t.Errorf("/readyz/write: got %d %s, want %d %s", res.Status, res.Body, test.readyWrite, test.want)
			}
			if res := get(t, public.url+"/readyz"); res.Status != test.ready || strings.Contains(string(res.Body), "write") {
				t.Errorf("/readyz: got %d %s, want %d", res.Status, res.Body, test.ready)
			}
			private := httptest.NewRecorder()
			s.Private(false).ServeHTTP(private, httptest.NewRequest("GET", "/readyz/write", nil))
			if private.Code != test.readyWrite {
				t.Errorf("private: got %d, want %d", private.Code, test.readyWrite)
			}
			for name, status := range map[string]int{"almanac_ready": test.ready, "almanac_ready_write": test.readyWrite} {
				want := "\n" + name + " 0\n"
				if status == 200 {
					want = "\n" + name + " 1\n"
				}
				if !strings.Contains(scrape(t, s), want) {
					t.Errorf("the metrics lack %q", want)
				}
			}
		})
	}
}

// hourAgo returns the time an hour ago, for ages that are reported in whole seconds.
func hourAgo() time.Time { return time.Now().Add(-time.Hour) }

// loadedIndex is a fake index at revision 9. loadedAt returns when it was first loaded, or zero if it never was.
type loadedIndex struct {
	ready    bool
	loadedAt func() time.Time
}

func (x loadedIndex) Stats() (bool, int, int64) { return x.ready, 7, 9 }
func (x loadedIndex) LoadedAt() time.Time       { return x.loadedAt() }

func TestHeadersForBrowsers(t *testing.T) {
	t.Parallel()
	for base, want := range map[string][3]string{
		apitest.BaseURL:                     {},
		"https://calendar.example.org/rest": {"max-age=31536000", "no-referrer", "default-src 'none'; frame-ancestors 'none'"},
	} {
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) { h.Site.BaseURL, c.Site.BaseURL = base, base })
		for _, path := range []string{"", "/nothing", "/events"} { // well, not found, and broken
			header(
				"Strict-Transport-Security", want[0], "Referrer-Policy", want[1], "Content-Security-Policy", want[2],
				"X-Content-Type-Options", "nosniff",
			)(t, do(t, s, "GET", path))
		}
	}
}

func TestStoppingFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	files := newStuckStore()
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
		c.Media, c.DrainWait = files, 300*time.Millisecond
	}))
	working := make(chan apitest.Response, 1)
	go func() { working <- get(t, s.url+"/media/a.png") }()
	<-files.entered
	s.stop()
	for { // it is noticed before the listener is closed
		res := get(t, s.url+"/readyz")
		if res.Status == 503 {
			if want := `{"status":"unavailable","checks":{"accepting":"draining"}}`; string(res.Body) != want {
				t.Errorf("got %s, want %s", res.Body, want)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	if res := get(t, s.url+"/cal/events/v1"); res.Status != 200 {
		t.Errorf("while it drains: %d", res.Status)
	}
	select {
	case err := <-s.ended:
		t.Fatalf("ended with a request under way: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	close(files.leave)
	if res := <-working; res.Status != 200 || string(res.Body) != "picture" {
		t.Errorf("under way: %d %s", res.Status, res.Body)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// TestMetrics checks the metrics and their names, on which dashboards and alerts may rely.
func TestMetrics(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		m := server.NewMetrics("almanac test")
		must.Succeed(t, errors.Join(m.Pool("main", st.DB), m.Index(fixedIndex{})))
		st.Watch(m.SQL)
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, c.Metrics = st.Ent, m
			c.Rates.Address = limit.Rate{Interval: time.Hour, Burst: 5}
		})
		for range 2 {
			do(t, s, "GET", "/tags")
		}
		do(t, s, "GET", "/nothing")
		do(t, s, "BREW", "/tags")
		do(t, s, "HEAD", "")
		do(t, s, "GET", "/tags")
		text := scrape(t, s)
		for _, want := range []string{
			`almanac_http_requests_total{method="GET",route="/tags",status="200"} 2`,
			`almanac_http_requests_total{method="GET",route="none",status="404"} 1`,
			`almanac_http_requests_total{method="HEAD",route="index",status="200"} 1`,
			`almanac_http_response_bytes_total{route="index"} 0`,
			`almanac_http_requests_total{method="TRACE",route="/tags",status="404"} 1`,
			`almanac_http_requests_total{method="GET",route="none",status="429"} 1`,
			`almanac_http_request_duration_seconds_count{class="2xx",method="GET",route="/tags"} 2`,
			`almanac_http_requests_refused_total{reason="rate_address"} 1`,
			`almanac_http_requests_refused_total{reason="busy"} 0`,
			`almanac_http_requests_in_flight 0`,
			`almanac_sql_duration_seconds_count{operation="query"}`,
			`go_sql_open_connections{db_name="main"}`,
			`almanac_index_ready 1`,
			`almanac_index_events 7`,
			`almanac_ready 1`,
			`almanac_build_info{goversion="go`,
			`go_goroutines`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
	})
}

type fixedIndex struct{}

func (fixedIndex) Stats() (bool, int, int64) { return true, 7, 9 }

func scrape(t *testing.T, s *server.Server) string {
	t.Helper()
	res := httptest.NewRecorder()
	s.Private(false).ServeHTTP(res, httptest.NewRequest("GET", "/metrics", nil))
	if res.Code != 200 {
		t.Fatalf("%d %s", res.Code, res.Body)
	}
	return res.Body.String()
}

func TestPrivatePaths(t *testing.T) {
	t.Parallel()
	s := newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) { c.Metrics = server.NewMetrics("test") })
	for _, test := range []struct {
		path           string
		plain, profile int
	}{
		{"/metrics", 200, 200},
		{"/healthz", 200, 200},
		{"/readyz", 200, 200},
		{"/debug/pprof/", 404, 200},
		{"/debug/pprof/goroutine?debug=1", 404, 200},
		{"/cal/events/v1", 404, 404},
	} {
		for profiles, want := range map[bool]int{false: test.plain, true: test.profile} {
			res := httptest.NewRecorder()
			s.Private(profiles).ServeHTTP(res, httptest.NewRequest("GET", test.path, nil))
			if got := res.Header().Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("%s: X-Content-Type-Options is %q", test.path, got)
			}
			if res.Code != want {
				t.Errorf("%s, profiles %v: got %d, want %d", test.path, profiles, res.Code, want)
			}
		}
		if res := do(t, s, "GET", "/../../.."+test.path); res.Status == 200 && strings.Contains(string(res.Body), "go_") {
			t.Errorf("%s is public", test.path)
		}
	}
	ln := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.ServePrivate(ctx, ln, s.Private(false)) }()
	if res := get(t, "http://"+ln.Addr().String()+"/metrics"); res.Status != 200 {
		t.Errorf("got %d", res.Status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var log strings.Builder
		seen := tracetest.NewSpanRecorder()
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen)).Tracer("test")
		st.Watch(server.SQLSpans(tracer, st.Engine()))
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, c.Tracer, c.Log = st.Ent, tracer, jsonLog(&log)
		})
		const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		if res := do(t, s, "GET", "/tags?search=hunter2", "traceparent", parent); res.Status != 200 {
			t.Fatalf("%d %s", res.Status, res.Body)
		}
		spans := seen.Ended()
		if len(spans) < 2 {
			t.Fatalf("%d spans", len(spans))
		}
		root := spans[len(spans)-1]
		if root.Name() != "GET /tags" || root.Parent().SpanID().String() != "b7ad6b7169203331" {
			t.Errorf("span %q of %v", root.Name(), root.Parent())
		}
		for _, span := range spans {
			if span.SpanContext().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
				t.Errorf("%s is of another trace", span.Name())
			}
			for _, a := range span.Attributes() {
				if strings.Contains(a.Value.String(), "hunter2") {
					t.Errorf("%s tells what is asked: %v", span.Name(), a)
				}
			}
			if span != root && span.Parent().SpanID() != root.SpanContext().SpanID() {
				t.Errorf("%s is not below the request", span.Name())
			}
		}
		var line map[string]any
		must.Succeed(t, json.Unmarshal([]byte(log.String()), &line))
		if diff := cmp.Diff("0af7651916cd43dd8448eb211c80319c", line["trace"]); diff != "" {
			t.Error(diff)
		}
		// A request without a trace begins one.
		do(t, s, "GET", "/nothing")
		last := seen.Ended()[len(seen.Ended())-1]
		if last.Parent().IsValid() || !last.SpanContext().IsValid() || last.Status().Code == codes.Error {
			t.Errorf("%v", last)
		}
	})
}

// TestServeStopsBeforeItHasBegun stops servers immediately, so that some have not begun to listen yet.
func TestServeStopsBeforeItHasBegun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		must.Succeed(t, err)
		ended := make(chan error, 1)
		s := newBrokenServer(t, io.Discard, nil)
		go func() { ended <- s.Serve(ctx, ln) }()
		select {
		case err := <-ended:
			must.Succeed(t, err)
		case <-time.After(30 * time.Second):
			t.Fatal("it serves on")
		}
	}
}
