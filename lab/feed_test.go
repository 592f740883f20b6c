package lab

import (
	"bytes"
	"compress/gzip"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

var feedEvents = flag.Int("feed-events", 10_000, "events of the calendar of BenchmarkFeed")

// BenchmarkFeed measures the feeds of a calendar without a network. The feed of 750 events is made from rows (cold), from
// rendered records, and taken from the cache of replies, in which a poller finds that nothing has changed. The feed of news
// is made from rows. A page of 50 events in JSON is what to compare them with:
//
//	ALMANAC_TEST_MYSQL=mysql://root@127.0.0.1:3306/ go -C lab test -run '^$' -bench Feed -feed-events 100000 .
func BenchmarkFeed(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchFeed(b, storetest.SQLite) })
	if os.Getenv(storetest.Variable) != "" {
		b.Run("mysql", func(b *testing.B) { benchFeed(b, storetest.MySQL) })
	}
}

func benchFeed(b *testing.B, database func(testing.TB) string) {
	st := storetest.Migrated(b, database(b))
	c, err := scenario.New(scenario.Options{
		Seed: 7, Events: *feedEvents, From: calendar.WallAt(2026, 9, 1, 0, 0, 0), Now: apitest.Now,
	})
	must.Succeed(b, err)
	w := seed.Writer{Store: st, Editor: &edit.Editor{
		Site: calendar.Site{Language: calendar.English}, Now: apitest.Now, By: auth.System(),
	}}
	if _, err := w.Write(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	lists := index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
	must.Succeed(b, lists.Load(b.Context()))
	api := apitest.New(b, st, func(c *handlers.Config) { c.Index = lists })
	uncached := func(c *server.Config) { c.Caching = reply.Caching{} }
	rendered, cached := api.Another(b, uncached), api.Cached(b, time.Minute, 0)
	ask := func(b *testing.B, s *server.Server, path string, want int, header ...string) apitest.Response {
		b.Helper()
		req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, apitest.BaseURL+path, nil)
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res := apitest.Send(b, s, req)
		if res.Status != want {
			b.Fatalf("%s: %d %s", path, res.Status, res.Body)
		}
		return res
	}
	const ics = "/events.ics"
	first := ask(b, rendered, ics, http.StatusOK)
	tag := first.Header.Get("ETag")
	ask(b, cached, ics, http.StatusOK)
	ask(b, rendered, "/"+handlers.Namespace+"/events?per_page=50", http.StatusOK)
	for _, bench := range []struct {
		name, path string
		server     func() *server.Server
		want       int
		header     []string
	}{
		// Each process begins with empty caches, and is made before the clock runs.
		{"cold", ics, func() *server.Server { return api.Another(b, uncached) }, http.StatusOK, nil},
		{"rendered", ics, func() *server.Server { return rendered }, http.StatusOK, nil},
		{"cached", ics, func() *server.Server { return cached }, http.StatusOK, nil},
		{"poller", ics, func() *server.Server { return cached }, http.StatusNotModified, []string{"If-None-Match", tag}},
		{"news", "/events.atom", func() *server.Server { return rendered }, http.StatusOK, nil},
		// For comparison: a page of 50 events in JSON, from rendered records too.
		{"list", "/" + handlers.Namespace + "/events?per_page=50", func() *server.Server { return rendered }, http.StatusOK, nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var body []byte
			var used time.Duration // of the processor: other programs do not count
			for range b.N {
				b.StopTimer()
				s := bench.server()
				before := cpuTime(b)
				b.StartTimer()
				body = ask(b, s, bench.path, bench.want, bench.header...).Body
				used += cpuTime(b) - before
			}
			b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
			if entries := bytes.Count(body, []byte("BEGIN:VEVENT")); entries > 0 {
				b.ReportMetric(float64(entries), "entries")
				b.ReportMetric(float64(len(body)/entries), "B/entry")
				b.ReportMetric(float64(compressed(b, body)/entries), "gzip-B/entry")
			}
		})
	}
}

func compressed(b *testing.B, body []byte) int {
	b.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		b.Fatal(err)
	}
	must.Succeed(b, w.Close())
	return out.Len()
}
