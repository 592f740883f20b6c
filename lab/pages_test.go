package lab

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/local"
)

// BenchmarkPages writes pages of the calendar without the cache of replies: with every record read, and with records that
// are rendered already. It reports the bytes of a page as browsers receive it.
func BenchmarkPages(b *testing.B) {
	engines(b, func(b *testing.B, st *store.Store) {
		const events = 2000
		s := serve(b, st)
		s.fill(b, events)
		lists := index.New(st.Ent, handlers.EventColumns(), slog.New(slog.DiscardHandler))
		if err := lists.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		words, err := locale.Load()
		if err != nil {
			b.Fatal(err)
		}
		key, err := edit.PasswordKey(b.Context(), st.Ent)
		if err != nil {
			b.Fatal(err)
		}
		month := time.Now().AddDate(0, 1, 0).Format("2006-01")
		for _, records := range []string{"cold", "rendered"} {
			c := handlers.Config{DB: st.Ent, Index: lists, Site: local.Site("http://127.0.0.1:8080"), Words: words, PasswordKey: key}
			if records == "rendered" {
				if c.RecordCache, err = handlers.NewRecordCache(64 << 20); err != nil {
					b.Fatal(err)
				}
			}
			api, err := handlers.New(c)
			if err != nil {
				b.Fatal(err)
			}
			revision, err := edit.Revision(b.Context(), st.Ent)
			if err != nil {
				b.Fatal(err)
			}
			for name, path := range map[string]string{
				"home": "/", "list": "/events/", "month": "/events/month/" + month + "/", "event": "/event/concert-7/",
			} {
				b.Run(fmt.Sprintf("%s/%s", name, records), func(b *testing.B) {
					page := api.MatchPage(path, nil)
					call := handlers.PageCall{Now: c.Site.Now(), Language: calendar.English, Revision: revision}
					var body []byte
					for b.Loop() {
						reply, err := api.ServePage(b.Context(), page, call)
						if err != nil {
							b.Fatal(err)
						}
						body = reply.Body
					}
					var packed bytes.Buffer
					w := brotli.NewWriterLevel(&packed, 5)
					if _, err := io.Copy(w, strings.NewReader(string(body))); err != nil {
						b.Fatal(err)
					}
					if err := w.Close(); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(packed.Len()), "bytes")
				})
			}
		}
	})
}
