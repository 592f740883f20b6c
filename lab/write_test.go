package lab

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// BenchmarkCreate compares POST /events over HTTP with the bare inserts of the same rows, each in a
// transaction of its own, on the same database, and with the same requests that carry a key:
//
//	ALMANAC_TEST_MYSQL=mysql://root@127.0.0.1:3306/ go -C lab test -run '^$' -bench Create -benchtime 2s .
func BenchmarkCreate(b *testing.B) {
	engines(b, func(b *testing.B, st *store.Store) {
		s := serve(b, st)
		venue, category := s.created(b, "/venues", `{"venue":"Hall"}`), s.created(b, "/categories", `{"name":"Music"}`)
		var n atomic.Int64
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("bare/%d", clients), func(b *testing.B) {
				spread(b, clients, func() error {
					return bareCreate(b.Context(), st.DB, venue, category, n.Add(1))
				})
			})
			create := func(header ...string) error {
				body := fmt.Sprintf(`{"title":"Concert number %d","description":"<p>An evening of music.</p>",`+
					`"start_date":"2026-12-05 18:00","end_date":"2026-12-05 20:00","cost":"10","venue":%d,"categories":[%d]}`,
					n.Add(1), venue, category)
				return s.post("/events", body, header...)
			}
			b.Run(fmt.Sprintf("api/%d", clients), func(b *testing.B) {
				spread(b, clients, func() error { return create() })
			})
			b.Run(fmt.Sprintf("api with a key/%d", clients), func(b *testing.B) {
				spread(b, clients, func() error { return create("Idempotency-Key", `"`+rand.Text()+`"`) })
			})
		}
	})
}

// BenchmarkRead compares anonymous reads with reads signed in by token and by password.
func BenchmarkRead(b *testing.B) {
	engines(b, func(b *testing.B, st *store.Store) {
		s := serve(b, st)
		s.fill(b, 200)
		for _, who := range []struct{ name, authorization string }{
			{"anonymous", ""}, {"token", "Bearer " + s.token}, {"password", s.basic},
		} {
			b.Run(who.name, func(b *testing.B) {
				spread(b, 1, func() error { return s.get("/events", who.authorization) })
			})
		}
	})
}

// engines runs a benchmark on SQLite, and on MySQL if a server is configured.
func engines(b *testing.B, run func(b *testing.B, st *store.Store)) {
	b.Run("sqlite", func(b *testing.B) { run(b, storetest.Migrated(b, storetest.SQLite(b))) })
	if os.Getenv(storetest.Variable) != "" {
		b.Run("mysql", func(b *testing.B) { run(b, storetest.Migrated(b, storetest.MySQL(b))) })
	}
}

// spread calls do b.N times, from a number of concurrent clients, and reports the calls per second.
func spread(b *testing.B, clients int, do func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var group sync.WaitGroup
	b.ResetTimer()
	began := time.Now()
	for range clients {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "ops/s")
}

// bareCreate inserts the rows of the n-th event with a venue and a category in one transaction, including the change
// log. It checks nothing.
func bareCreate(ctx context.Context, db *sql.DB, venue, category, n int64) error {
	now := time.Now().UTC().Truncate(time.Second)
	start := time.Date(2026, 12, 5, 18, 0, 0, 0, time.UTC)
	slug := fmt.Sprintf("bare-concert-%d", n)
	cost, err := json.Marshal(calendar.Cost{Prices: []string{"10"}})
	if err != nil {
		return err
	}
	return baseline.NewEvent(ctx, db, func(tx *sql.Tx, id int64) error {
		return replay{
			{"INSERT INTO slugs (kind, slug, owner_id, language, trashed_id) VALUES ('event', ?, ?, 'en', 0)", []any{slug, id}},
			{"INSERT INTO events (id, author_id, status, published_at, dated, language, languages, created_at, modified_at, " +
				"version, title, description, excerpt, slug, starts_at, ends_at, start_wall, end_wall, timezone, cost) " +
				"VALUES (?, 1, 'publish', ?, ?, 'en', 'en', ?, ?, 1, ?, ?, '', ?, ?, ?, ?, ?, 'UTC', ?)", []any{
				id, now, false, now, now, fmt.Sprintf("Bare concert %d", n), "<p>An evening of music.</p>", slug,
				start, start.Add(2 * time.Hour), start, start.Add(2 * time.Hour), string(cost),
			}},
			{"INSERT INTO event_venues (event_id, venue_id, position) VALUES (?, ?, 0)", []any{id, venue}},
			// In this order: the link's foreign key takes a shared lock on the term, which two cannot raise at once.
			{"UPDATE terms SET event_count = event_count + 1 WHERE id = ?", []any{category}},
			{"INSERT INTO event_terms (event_id, term_id) VALUES (?, ?)", []any{id, category}},
			{"UPDATE counters SET value = value + 1 WHERE name = 'revision'", nil},
			{"INSERT INTO changes (id, kind, record_id, action, user_id, at) " +
				"SELECT value, 'event', ?, 'create', 1, ? FROM counters WHERE name = 'revision'", []any{id, now}},
		}.run(ctx, tx)
	})
}
