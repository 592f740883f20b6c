package lab

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// bulkEvents is how many events BenchmarkBulk writes at a time.
const bulkEvents = 20_000

// BenchmarkBulk compares seeding a calendar, which keeps the rules of the API and makes the events up meanwhile,
// with the bare inserts of the very same rows into another empty database, in transactions of the same size and
// statements of many rows:
//
//	ALMANAC_TEST_MYSQL=mysql://root@127.0.0.1:3306/ go -C lab test -run '^$' -bench Bulk -benchtime 3x .
func BenchmarkBulk(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { bulk(b, storetest.SQLite) })
	if os.Getenv(storetest.Variable) != "" {
		b.Run("mysql", func(b *testing.B) { bulk(b, storetest.MySQL) })
	}
}

func bulk(b *testing.B, database func(testing.TB) string) {
	var rows []replay
	b.Run("api-rules", func(b *testing.B) {
		var took time.Duration
		for range b.N {
			b.StopTimer()
			st := storetest.Migrated(b, database(b))
			b.StartTimer()
			began := time.Now()
			now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
			c, err := scenario.New(scenario.Options{
				Seed: 7, Events: bulkEvents, From: calendar.WallAt(2026, 1, 1, 0, 0, 0), Now: now,
			})
			must.Succeed(b, err)
			w := seed.Writer{Store: st, Editor: &edit.Editor{
				Site: calendar.Site{Language: calendar.English}, Now: now, By: auth.System(),
			}}
			if _, err := w.Write(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			took += time.Since(began)
			b.StopTimer()
			if rows == nil {
				rows = record(b, st)
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(b.N*bulkEvents)/took.Seconds(), "events/s")
	})
	b.Run("bare", func(b *testing.B) {
		if rows == nil {
			b.Skip("api-rules has recorded nothing")
		}
		var took time.Duration
		for range b.N {
			b.StopTimer()
			st := storetest.Migrated(b, database(b))
			b.StartTimer()
			began := time.Now()
			for _, r := range rows {
				err := baseline.Tx(b.Context(), st.DB, func(tx *sql.Tx) error { return r.run(b.Context(), tx) })
				must.Succeed(b, err)
			}
			took += time.Since(began)
		}
		b.ReportMetric(float64(b.N*bulkEvents)/took.Seconds(), "events/s")
	})
}

// replay is the INSERT statements of one transaction, for repeating them on another database.
type replay []insert

type insert struct {
	text string
	args []any
}

func (r replay) run(ctx context.Context, tx *sql.Tx) error {
	for _, i := range r {
		if _, err := tx.ExecContext(ctx, i.text, i.args...); err != nil {
			return fmt.Errorf("%.60s: %w", i.text, err)
		}
	}
	return nil
}

// bulkTables are the tables that seeding fills, in an order that the foreign keys allow, with the column that
// says which record a row belongs to. Those without one go into the first transaction.
var bulkTables = []struct{ name, owner string }{
	{"records", "id"},
	{"terms", ""},
	{"term_translations", ""},
	{"venues", "id"},
	{"venue_translations", "venue_id"},
	{"organizers", "id"},
	{"organizer_translations", "organizer_id"},
	{"slugs", "owner_id"},
	{"series", "id"},
	{"series_phases", "series_id"},
	{"events", "id"},
	{"event_translations", "event_id"},
	{"search_texts", "owner_id"},
	{"event_venues", "event_id"},
	{"event_organizers", "event_id"},
	{"event_terms", "event_id"},
	{"changes", "record_id"},
}

// record reads a database and returns the inserts that fill it, in transactions of 500 records each.
func record(b *testing.B, st *store.Store) []replay {
	b.Helper()
	const size = 500
	var out []replay
	for _, table := range bulkTables {
		columns, found, err := baseline.Rows(b.Context(), st.DB, "SELECT * FROM "+table.name+" ORDER BY 1")
		must.Succeed(b, err)
		owner := slices.Index(columns, table.owner)
		byPart := map[int][]any{}
		for _, values := range found {
			for i, v := range values {
				// MySQL gives texts as bytes; hashes and keys stay what they are.
				if text, ok := v.([]byte); ok && columns[i] != "password_hash" && !strings.Contains(columns[i], "sort_") {
					values[i] = string(text)
				}
			}
			part := 0
			if owner >= 0 {
				part = int(values[owner].(int64)) / size
			}
			byPart[part] = append(byPart[part], values...)
		}
		for part, values := range byPart {
			for len(out) <= part {
				out = append(out, nil)
			}
			head := "INSERT INTO " + table.name + " (`" + strings.Join(columns, "`,`") + "`) VALUES "
			one := "(" + strings.Repeat("?,", len(columns)-1) + "?)"
			most := min(size, 32_000/len(columns)) * len(columns)
			for chunk := range slices.Chunk(values, most) {
				text := head + one + strings.Repeat(","+one, len(chunk)/len(columns)-1)
				out[part] = append(out[part], insert{text, chunk})
			}
		}
	}
	return out
}
