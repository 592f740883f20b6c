package index

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// recorder passes statements to a database and records the queries of a reader.
type recorder struct {
	*ent.Client
	mu      sync.Mutex
	queries []string
}

func (r *recorder) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.mu.Lock()
	r.queries = append(r.queries, query)
	r.mu.Unlock()
	return r.Client.QueryContext(ctx, query, args...)
}

// TestLoadingReadsNoRowsInVain counts the rows that the database reads for each statement of a load. They must not
// be many more than the rows that the statement returns. Event texts are most rows of their table. A statement that
// reads them to find texts of another kind would read the whole calendar.
func TestLoadingReadsNoRowsInVain(t *testing.T) {
	t.Parallel()
	const events, venues, organizers, series = 3000, 40, 20, 30
	storetest.EachURL(t, func(t *testing.T, url string) {
		separator := "?"
		if strings.Contains(url, "?") {
			separator = "&"
		}
		// The server counts rows for each connection.
		st := storetest.Migrated(t, url+separator+"max-open=1")
		fillTables(t, st.Ent, events, venues, organizers, series)
		analyze := "ANALYZE"
		if st.Engine() == "mysql" {
			analyze = "ANALYZE TABLE events, venues, organizers, series, search_texts, event_venues, event_organizers"
		}
		if _, err := st.DB.ExecContext(t.Context(), analyze); err != nil {
			t.Fatal(err)
		}
		db := &recorder{Client: st.Ent}
		r := newReader(db, nil)
		s, err := r.load(t.Context())
		must.Succeed(t, err)
		if _, err := r.loadVocabulary(t.Context(), s.ids); err != nil {
			t.Fatal(err)
		}
		// What apply reads of records that were written.
		written := s.ids[:50]
		if _, err := r.documents(t.Context(), written, true); err != nil {
			t.Fatal(err)
		}
		for kind, rs := range s.records {
			if len(rs.byID) == 0 { // a kind that fillTables does not fill
				continue
			}
			if _, err := r.records(t.Context(), kind, []int64{rs.orders[0].records[0].id}); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.ids) != events || len(s.records[calendar.Venue].byID) != venues ||
			len(s.records[calendar.Organizer].byID) != organizers || len(s.records[calendar.Series].byID) != series || len(db.queries) < 10 {
			t.Fatalf("%d events, %d queries", len(s.ids), len(db.queries))
		}
		// A planner may well read a table from end to end for an eighth of its rows.
		const most, slack = 8, 100
		for _, query := range db.queries {
			read := rowsOfPlan
			if st.Engine() == "mysql" {
				read = rowsRead
			}
			if n, returned := read(t, st, query), countRows(t, st, query); n > most*returned+slack {
				t.Errorf("%d rows are read to return %d: %.150s", n, returned, query)
			}
		}
	})
}

// fillTables adds the given numbers of events, venues, organizers and series. Each event has one search text, and
// the other records have two.
func fillTables(t *testing.T, client *ent.Client, events, venues, organizers, series int) {
	t.Helper()
	ctx, day := t.Context(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var texts []*ent.SearchTextCreate
	text := func(kind calendar.Kind, id int64) {
		texts = append(texts, client.SearchText.Create().SetKind(kind).SetOwnerID(id).SetLanguages(7).
			SetText(fmt.Sprintf("%s %d", kind, id)))
	}
	var made struct {
		events     []*ent.EventCreate
		venues     []*ent.VenueCreate
		organizers []*ent.OrganizerCreate
		series     []*ent.SeriesCreate
		places     []*ent.EventVenueCreate
	}
	for id := range int64(venues) {
		id++
		made.venues = append(made.venues, client.Venue.Create().SetID(id).SetName("Hall").SetNameKey("hall").SetStatus(calendar.Publish).
			SetPublishedAt(day).SetLanguage("en").SetLanguages("en").SetCreatedAt(day).SetModifiedAt(day).
			SetNillableLatitude(new(50.0)).SetNillableLongitude(new(20.0)))
		text(calendar.Venue, id)
		text(calendar.Venue, id)
	}
	for id := range int64(organizers) {
		id++
		made.organizers = append(made.organizers, client.Organizer.Create().SetID(id).SetName("Choir").SetNameKey("choir").
			SetStatus(calendar.Publish).SetPublishedAt(day).SetLanguage("en").SetLanguages("en").SetCreatedAt(day).SetModifiedAt(day))
		text(calendar.Organizer, id)
		text(calendar.Organizer, id)
	}
	for id := range int64(series) {
		id++
		made.series = append(made.series, client.Series.Create().SetID(id).SetStatus(calendar.Publish).
			SetPublishedAt(day).SetLanguage("en").SetLanguages("en").SetCreatedAt(day).SetModifiedAt(day))
		text(calendar.Series, id)
		text(calendar.Series, id)
	}
	for id := range int64(events) {
		id++
		at := day.Add(time.Duration(id) * time.Hour)
		wall := calendar.UTC().Wall(at)
		made.events = append(made.events, client.Event.Create().SetID(id).SetTitle("Concert").SetStatus(calendar.Publish).
			SetPublishedAt(day).SetLanguage("en").SetLanguages("en").SetCreatedAt(day).SetModifiedAt(day).
			SetStartsAt(at).SetEndsAt(at).SetStartWall(wall).SetEndWall(wall).SetTimezone("UTC"))
		made.places = append(made.places, client.EventVenue.Create().SetEventID(id).SetVenueID(1+id%int64(venues)))
		text(calendar.Event, id)
	}
	client.Venue.CreateBulk(made.venues...).ExecX(ctx)
	client.Organizer.CreateBulk(made.organizers...).ExecX(ctx)
	client.Series.CreateBulk(made.series...).ExecX(ctx)
	for part := range slices.Chunk(made.events, 500) {
		client.Event.CreateBulk(part...).ExecX(ctx)
	}
	for part := range slices.Chunk(made.places, 500) {
		client.EventVenue.CreateBulk(part...).ExecX(ctx)
	}
	for part := range slices.Chunk(texts, 500) {
		client.SearchText.CreateBulk(part...).ExecX(ctx)
	}
}

// countRows returns the number of rows that a query returns.
func countRows(t *testing.T, st *store.Store, query string) (n int) {
	t.Helper()
	eachRow(t, st, query, func(*sql.Rows) error { n++; return nil })
	return n
}

// rowsOfPlan returns the number of rows in all tables that SQLite scans completely for a query. It takes the tables
// from the query plan.
func rowsOfPlan(t *testing.T, st *store.Store, query string) (n int) {
	t.Helper()
	var scanned []string
	eachRow(t, st, "EXPLAIN QUERY PLAN "+query, func(rows *sql.Rows) error {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return err
		}
		if words := strings.Fields(detail); words[0] == "SCAN" {
			scanned = append(scanned, words[1])
		}
		return nil
	})
	for _, table := range scanned {
		n += countRows(t, st, "SELECT 1 FROM "+table)
	}
	return n
}

// rowsRead returns the number of rows that MySQL reads for a query.
func rowsRead(t *testing.T, st *store.Store, query string) int {
	t.Helper()
	first := handlerReads(t, st)
	own := handlerReads(t, st) - first // asking is counted, too
	countRows(t, st, query)
	return handlerReads(t, st) - first - 2*own
}

// handlerReads returns the number of rows that MySQL has read for this connection, from its status variables
// Handler_read_*.
func handlerReads(t *testing.T, st *store.Store) (sum int) {
	t.Helper()
	eachRow(t, st, "SHOW SESSION STATUS LIKE 'Handler_read%'", func(rows *sql.Rows) error {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		sum += n
		return nil
	})
	return sum
}

func eachRow(t *testing.T, st *store.Store, query string, each func(*sql.Rows) error) {
	t.Helper()
	rows, err := st.DB.QueryContext(t.Context(), query)
	must.Succeed(t, err)
	defer rows.Close()
	for rows.Next() {
		must.Succeed(t, each(rows))
	}
	must.Succeed(t, rows.Err())
}
