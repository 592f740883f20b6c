package lab

import (
	"bytes"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/almanac-cal/almanac/calendar"
	entevent "github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/server"
)

var (
	pagesDB     = flag.String("pages-db", "", "URL of the database of BenchmarkPages; one of 2,000 events is made if it is empty")
	pagesEvents = flag.Int("pages-events", 2000, "events of a database that BenchmarkPages makes")
)

// BenchmarkPages writes pages of the calendar without the cache of replies, with every record read (cold) and with records
// that are rendered already. Beside them stand the JSON list of the API and the first sitemap. It reports CPU time, and the
// bytes of a page as browsers receive it. Calendars of lab/scale are read as they are:
//
//	go -C lab test -run '^$' -bench Pages -pages-db sqlite:///var/tmp/scale/scale_1m.db .
func BenchmarkPages(b *testing.B) {
	if *pagesDB == "" {
		engines(b, func(b *testing.B, st *store.Store) {
			serve(b, st).fill(b, *pagesEvents)
			benchPages(b, st)
		})
		return
	}
	st, err := store.Open(b.Context(), *pagesDB)
	must.Succeed(b, err)
	b.Cleanup(func() {
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	benchPages(b, st)
}

func benchPages(b *testing.B, st *store.Store) {
	lists := index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
	must.Succeed(b, lists.Load(b.Context()))
	now := time.Now().UTC().Truncate(time.Second)
	event, err := st.Ent.Event.Query().
		Where(entevent.StartsAtGT(now), entevent.StatusEQ(calendar.Publish), entevent.PasswordHashIsNil()).
		Order(entevent.ByStartsAt()).First(b.Context())
	must.Succeed(b, err)
	next := now.AddDate(0, 0, 33-now.Day()) // in the next month
	for _, records := range []string{"cold", "rendered"} {
		var cache *reply.RecordCache
		if records == "rendered" {
			if cache, err = reply.NewRecordCache(64 << 20); err != nil {
				b.Fatal(err)
			}
		}
		api := apitest.New(b, st, func(c *handlers.Config) {
			c.Index, c.RecordCache, c.Site.Now = lists, cache, func() time.Time { return now }
		})
		asked := api.Another(b, func(c *server.Config) {
			c.Caching, c.Site.Now = reply.Caching{}, func() time.Time { return now }
		})
		for _, page := range []struct{ name, path string }{
			{"home", "/"},
			{"list", "/events/"},
			{"past", "/events/?eventDisplay=past"},
			{"month", "/events/month/" + next.Format("2006-01") + "/"},
			{"day", "/events/" + next.Format(time.DateOnly) + "/"},
			{"event", "/event/" + event.Slug + "/"},
			{"json", "/cal/events/v1/events?per_page=10"},
			{"sitemap", "/sitemap-1.xml"},
		} {
			b.Run(page.name+"/"+records, func(b *testing.B) {
				req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, apitest.BaseURL+page.path, nil)
				var body []byte
				ask := func() {
					reply := apitest.Send(b, asked, req)
					if reply.Status != http.StatusOK {
						b.Fatalf("%s: %d %s", page.path, reply.Status, reply.Body)
					}
					body = reply.Body
				}
				ask()
				before := cpuTime(b)
				for b.Loop() {
					ask()
				}
				b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
				var packed bytes.Buffer
				w := brotli.NewWriterLevel(&packed, 5)
				_, err := w.Write(body)
				must.Succeed(b, errors.Join(err, w.Close()))
				b.ReportMetric(float64(packed.Len()), "bytes")
			})
		}
	}
}
