package apitest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// This file compares two processes on one database. The process under test caches nothing, the warm one what it can.
// For an eighth of the reads, the warm process has to reply like the other. If storetest.IsBrief, it is a sixteenth.

// configureCaching stores the configuration from which Another makes processes with caches.
func (a *API) configureCaching(c handlers.Config, config server.Config) {
	reads := c.Primary
	if c.Replica != nil {
		reads = c.Replica
	}
	a.revision = func(ctx context.Context) (int64, error) { return edit.Revision(ctx, reads) }
	config.Log = slog.New(slog.DiscardHandler)
	config.Caching = reply.Caching{
		Size: 16 << 20, Revision: a.revision,
		NextDue: func(ctx context.Context, now time.Time) (time.Time, error) { return edit.NextDue(ctx, reads, now) },
	}
	a.handlers, a.config = c, config
}

// Another returns a second process on the same database. It has caches unless change disables them. Nil changes
// nothing. Its caches are empty and separate, while the index and the verifier of credentials are shared.
func (a *API) Another(t testing.TB, change func(*server.Config)) *server.Server {
	t.Helper()
	config := a.config
	if change != nil {
		change(&config)
	}
	c := a.handlers
	var err error
	if c.RecordCache, err = reply.NewRecordCache(16 << 20); err != nil {
		t.Fatal(err)
	}
	if config.API, err = handlers.New(c); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(config)
	must.Succeed(t, err)
	return s
}

// Cached returns a second process with caches. Its replies let clients cache them for maxAge, and use them stale for
// a further time.
func (a *API) Cached(t testing.TB, maxAge, stale time.Duration) *server.Server {
	t.Helper()
	return a.Another(t, func(c *server.Config) { c.MaxAge, c.Stale = maxAge, stale })
}

// Process is a process of the service that replies to requests in a test.
type Process struct {
	server  *server.Server
	metrics *server.Metrics // nil counts nothing
}

// Uncached returns the process under test, which has no caches. After Serve it returns the process that Serve
// selected.
func (a *API) Uncached() *Process { return &Process{server: a.server} }

// Caching returns a second process with caches, which reads the calendar's revision with the query of the real
// program. Its replies let clients cache them for maxAge.
func (a *API) Caching(t testing.TB, maxAge time.Duration) *Process {
	t.Helper()
	revision := a.Store.NewQuestion(index.RevisionQuery)
	t.Cleanup(func() {
		if err := revision.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &Process{metrics: server.NewMetrics("test")}
	p.server = a.Another(t, func(c *server.Config) {
		c.Metrics, c.MaxAge = p.metrics, maxAge
		c.Caching.Revision = revision.Ask
	})
	return p
}

// Serve makes Do send requests to the process p from now on. Do no longer compares its replies with those of a
// caching process.
func (a *API) Serve(p *Process) { a.server, a.alone = p.server, true }

// Send passes a request to the process, without a network, and returns the reply.
func (p *Process) Send(t testing.TB, req *http.Request) Response {
	t.Helper()
	return Send(t, p.server, req)
}

// Hits returns how many replies came from the cache of replies, and how many records in lists from the cache of
// records. The process must be one that Caching returned.
func (p *Process) Hits(t testing.TB) (replies, records int) {
	t.Helper()
	w := httptest.NewRecorder()
	p.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	count := func(series string) int {
		_, rest, _ := strings.Cut(w.Body.String(), "\n"+series+" ")
		value, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(value)
		must.Succeed(t, err)
		return n
	}
	for _, result := range []string{"hit", "unchanged"} {
		replies += count(`almanac_cache_requests_total{result="` + result + `"}`)
	}
	return replies, count(`almanac_record_cache_requests_total{result="hit"}`)
}

// Send passes a request to a server, without a network, and returns the reply. The goroutine of the caller serves it,
// because its stack has grown already.
func Send(t testing.TB, s *server.Server, req *http.Request) Response {
	t.Helper()
	if req.Body != http.NoBody && req.Header.Get("Content-Length") == "" {
		req.Header.Set("Content-Length", strconv.FormatInt(req.ContentLength, 10))
	}
	req.RequestURI = strings.TrimPrefix(req.RequestURI, BaseURL) // DumpRequest writes no Host beside an absolute URL
	sent, err := httputil.DumpRequest(req, true)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	c := &memoryConn{received: *bytes.NewReader(sent)}
	s.App().Handler() // prepares the routes
	if err := s.App().Server().ServeConn(c); err != nil && !errors.Is(err, fasthttp.ErrGetOnly) {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	res, err := http.ReadResponse(bufio.NewReader(&c.sent), req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return Response{Status: res.StatusCode, Header: res.Header, Body: data}
}

// memoryConn is the server's side of a connection in memory. The client has sent its whole request already.
type memoryConn struct {
	received bytes.Reader
	sent     bytes.Buffer
}

func (c *memoryConn) Read(b []byte) (int, error)       { return c.received.Read(b) }
func (c *memoryConn) Write(b []byte) (int, error)      { return c.sent.Write(b) }
func (c *memoryConn) Close() error                     { return nil }
func (c *memoryConn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4zero} }
func (c *memoryConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4zero} }
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// noteUnlogged is an Ent hook that calls Rewritten after writes outside a transaction, which only tests make. The
// change log lacks such writes, so the index and the caches are reset. Writes of users, tokens and idempotency keys
// do not matter.
func (a *API) noteUnlogged(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		switch m.(type) {
		case *ent.TokenMutation, *ent.UserMutation, *ent.IdempotencyKeyMutation:
			return next.Mutate(ctx, m)
		}
		if in, ok := m.(interface{ Tx() (*ent.Tx, error) }); ok {
			if _, err := in.Tx(); err != nil {
				defer a.Rewritten()
			}
		}
		return next.Mutate(ctx, m)
	})
}

// Rewritten makes the next request reload the index and empty the caches. Tests must call it after they write with
// their own SQL.
func (a *API) Rewritten() { a.unlogged.Store(true) }

// forget reloads the index and drops the caching process, if Rewritten was called since the previous request.
func (a *API) forget(t testing.TB) {
	t.Helper()
	if !a.unlogged.Swap(false) {
		return
	}
	a.warm.Store(nil)
	if a.index == nil {
		return
	}
	must.Succeed(t, a.index.Load(t.Context()))
}

// revisionBefore returns the calendar's newest revision before a request that compareWarm sends again. It returns -1
// for requests that are not compared. These are writes, paths that the service does not have, those outside the
// sample, and all after Serve or Limit.
func (a *API) revisionBefore(t testing.TB, req *http.Request) int64 {
	t.Helper()
	_, _, served := a.routes.Locate(req.URL.EscapedPath())
	isFeed := a.routes.Feeds.Match(http.MethodGet, req.URL.EscapedPath(), req.URL.RawQuery) != nil
	served = served || isFeed || a.routes.Pages.Match(req.URL.EscapedPath(), []byte(req.URL.RawQuery)) != nil
	share := uint32(8)
	if storetest.IsBrief(a.Store) {
		share = 16
	}
	if a.alone || !served || !isSampled(t, req, share) || req.Method != http.MethodGet && req.Method != http.MethodHead || req.Body != nil && req.Body != http.NoBody {
		return -1
	}
	return a.newest(t)
}

// isSampled reports whether a request belongs to the sample that is compared, which is about one in share requests.
// The sample is the same in every run.
func isSampled(t testing.TB, req *http.Request, share uint32) bool {
	return crc32.ChecksumIEEE([]byte(t.Name()+req.URL.RequestURI()))%share == 0
}

// compareWarm sends a request twice to a process with caches and fails the test if a reply differs from want. The
// second reply comes from the caches. It skips server errors, wrong credentials, whose verification is slow, and
// requests that revisionBefore excludes. Errors are sent once.
func (a *API) compareWarm(t testing.TB, req *http.Request, before int64, want Response) {
	t.Helper()
	if req.Header.Get("If-Modified-Since") != "" && req.Header.Get("If-None-Match") == "" {
		return // a process that began later answers in full
	}
	if before < 0 || want.Status >= http.StatusInternalServerError || want.Status == http.StatusUnauthorized {
		return
	}
	warm := a.warm.Load()
	if warm == nil {
		warm = a.Another(t, func(c *server.Config) { c.NoPages = true }) // pages take longer to make than all else
		a.warm.Store(warm)
	}
	for _, which := range [...]string{"first", "second"} {
		got := Send(t, warm, req.Clone(t.Context()))
		diff := Difference(want, got)
		if diff == nil {
			if want.Status == http.StatusNotFound || want.Status == http.StatusBadRequest || want.Status == http.StatusForbidden {
				return // errors are not cached
			}
			continue
		}
		if a.newest(t) != before || a.unlogged.Load() {
			return // another goroutine has written since
		}
		t.Errorf("%s %s: the %s reply with caches differs from the reply without (-without +with): %v",
			req.Method, req.URL, which, diff)
	}
}

// newest returns the calendar's newest revision, or -1 if it cannot be read.
func (a *API) newest(t testing.TB) int64 {
	t.Helper()
	revision, err := a.revision(t.Context())
	if err != nil {
		return -1 // the request reports it
	}
	return revision
}

// Difference returns an error that shows how two replies differ, or nil if they are equal. It ignores X-Request-Id
// and Date, which belong to one exchange, and Last-Modified, which a cache may repeat. It ignores Vary after its
// first line, because only a process with a cache compresses bodies.
func Difference(a, b Response) error {
	if a.Status != b.Status {
		return errors.New(cmp.Diff(a.Status, b.Status))
	}
	h, k := a.Header.Clone(), b.Header.Clone()
	for _, header := range []http.Header{h, k} {
		header.Del("X-Request-Id")
		header.Del("Date")
		header.Del("Last-Modified")
		if len(header["Vary"]) > 1 {
			header["Vary"] = header["Vary"][:1]
		}
	}
	if maps.EqualFunc(h, k, slices.Equal) && bytes.Equal(a.Body, b.Body) {
		return nil
	}
	return errors.New(cmp.Diff(h, k) + cmp.Diff(string(a.Body), string(b.Body)))
}
