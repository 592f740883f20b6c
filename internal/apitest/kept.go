package apitest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/server"
)

// keep makes a second server on the same database, one that keeps replies. What it answers has to be what the first
// one does, for every request of every test.
func (a *API) keep(t testing.TB, c handlers.Config, config server.Config) {
	t.Helper()
	reads := c.DB
	if c.Replica != nil {
		reads = c.Replica
	}
	a.now = func(ctx context.Context) (int64, error) {
		revision, err := edit.Revision(ctx, reads)
		// What tests write past package edit is in no revision.
		return revision + a.unlogged.Load()<<32, err
	}
	config.Log = slog.New(slog.DiscardHandler)
	config.Caching = server.Caching{
		Size: 16 << 20, Revision: a.now,
		NextDue: func(ctx context.Context, now time.Time) (time.Time, error) { return edit.NextDue(ctx, reads, now) },
	}
	a.config = config
	a.keeping = a.Another(t, nil)
}

// Another is a further process on the same database: one that keeps replies, unless change says otherwise.
func (a *API) Another(t testing.TB, change func(*server.Config)) *server.Server {
	t.Helper()
	config := a.config
	if change != nil {
		change(&config)
	}
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Cached is a further process that keeps replies. Caches may keep its replies for maxAge, and use them for stale more.
func (a *API) Cached(t testing.TB, maxAge, stale time.Duration) *server.Server {
	t.Helper()
	return a.Another(t, func(c *server.Config) { c.MaxAge, c.Stale = maxAge, stale })
}

// Send has a server answer a request, without a network.
func Send(t testing.TB, s *server.Server, req *http.Request) Response {
	t.Helper()
	res, err := s.App().Test(req, -1)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return Response{res.StatusCode, res.Header, data}
}

// noteAny is a hook that notes what is written without a transaction, as only tests do.
func (a *API) noteAny(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if in, ok := m.(interface{ Tx() (*ent.Tx, error) }); ok {
			if _, err := in.Tx(); err != nil {
				defer a.unlogged.Add(1)
			}
		}
		return next.Mutate(ctx, m)
	})
}

// Rewritten is for tests that write with SQL of their own: replies that were kept are forgotten.
func (a *API) Rewritten() { a.unlogged.Add(1) }

// revision is the newest one before a request that could be answered by a kept reply, -1 for others.
func (a *API) revision(t testing.TB, req *http.Request) int64 {
	t.Helper()
	if a.keeping == nil || req.Method != http.MethodGet && req.Method != http.MethodHead || req.Header.Get("Authorization") != "" ||
		req.Body != nil && req.Body != http.NoBody {
		return -1
	}
	revision, err := a.now(t.Context())
	if err != nil {
		return -1 // the request will say so
	}
	return revision
}

// asKept asks the server that keeps replies twice, for one that is made and one that was kept, and compares.
func (a *API) asKept(t testing.TB, req *http.Request, revision int64, want Response) {
	t.Helper()
	if revision < 0 || want.Status >= http.StatusInternalServerError {
		return
	}
	for _, which := range []string{"made to be kept", "kept"} {
		got := Send(t, a.keeping, req.Clone(t.Context()))
		diff := different(want, got)
		if diff == nil {
			continue
		}
		if now, err := a.now(t.Context()); err == nil && now != revision {
			return // somebody wrote meanwhile
		}
		t.Errorf("%s %s: the reply that is %s is another one than without a cache: %v", req.Method, req.URL, which, diff)
	}
}

// different tells what differs between replies beyond what belongs to one exchange.
func different(a, b Response) error {
	if a.Status != b.Status {
		return errors.New(cmp.Diff(a.Status, b.Status))
	}
	h, k := a.Header.Clone(), b.Header.Clone()
	for _, header := range []http.Header{h, k} {
		header.Del("X-Request-Id")
		header.Del("Date")
		if len(header["Vary"]) > 1 {
			header["Vary"] = header["Vary"][:1] // without Accept-Encoding, which makes no difference without a cache
		}
	}
	if diff := cmp.Diff(h, k); diff != "" {
		return errors.New(diff)
	}
	if !bytes.Equal(a.Body, b.Body) {
		return errors.New(cmp.Diff(string(a.Body), string(b.Body)))
	}
	return nil
}
