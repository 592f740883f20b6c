package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

// Querier runs SQL queries: a *sql.DB, a transaction or an Ent client.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Records contains the fields of all records at one revision of the calendar. Unlogged compares two of them to check
// the change log.
type Records struct {
	revision int64
	content  map[recordKey]*recordContent
}

type recordKey struct {
	kind string
	id   int64
}

type recordContent struct {
	version int64
	own     []string // the row, its translations and its links
	texts   []string // rows of search_texts
}

// recordTables are the tables with one row for each record.
var recordTables = []struct {
	table, kind string   // a kind "" means that the column taxonomy has the kind
	derived     []string // columns computed from other rows, whose changes are not logged
}{
	{"events", string(calendar.Event), nil},
	{"venues", string(calendar.Venue), nil},
	{"organizers", string(calendar.Organizer), nil},
	{"series", string(calendar.Series), nil},
	{"images", string(calendar.Image), nil},
	{"terms", "", []string{"event_count"}},
}

// partTables are the tables whose rows belong to a record.
var partTables = []struct {
	table, owner string
	kind         string // "" means the kind of the owning term
}{
	{"event_venues", "event_id", string(calendar.Event)},
	{"event_organizers", "event_id", string(calendar.Event)},
	{"event_terms", "event_id", string(calendar.Event)},
	{"event_translations", "event_id", string(calendar.Event)},
	{"series_phases", "series_id", string(calendar.Series)},
	{"venue_translations", "venue_id", string(calendar.Venue)},
	{"organizer_translations", "organizer_id", string(calendar.Organizer)},
	{"term_translations", "term_id", ""},
}

// ReadRecords reads the fields of all records from the database, for calling Unlogged later.
func ReadRecords(t testing.TB, db Querier) Records {
	t.Helper()
	r := Records{content: map[recordKey]*recordContent{}}
	scanRows(t, db, "SELECT value FROM counters WHERE name = 'revision'", func(row tableRow) {
		r.revision = row.number("value")
	})
	termKinds := map[int64]string{}
	for _, from := range recordTables {
		scanRows(t, db, "SELECT * FROM "+from.table, func(row tableRow) {
			kind, id := from.kind, row.number("id")
			if kind == "" {
				kind = row.text("taxonomy")
				termKinds[id] = kind
			}
			r.content[recordKey{kind, id}] = &recordContent{
				version: row.number("version"),
				own:     []string{row.without(append(from.derived, "version")...)},
			}
		})
	}
	for _, from := range partTables {
		scanRows(t, db, "SELECT * FROM "+from.table, func(row tableRow) {
			kind, id := from.kind, row.number(from.owner)
			if kind == "" {
				kind = termKinds[id]
			}
			if c := r.content[recordKey{kind, id}]; c != nil {
				c.own = append(c.own, from.table+row.without("id"))
			}
		})
	}
	scanRows(t, db, "SELECT * FROM search_texts", func(row tableRow) {
		if c := r.content[recordKey{row.text("kind"), row.number("owner_id")}]; c != nil {
			c.texts = append(c.texts, row.without("id"))
		}
	})
	for _, c := range r.content {
		slices.Sort(c.own)
		slices.Sort(c.texts)
	}
	return r
}

// Unlogged describes records that changed since an earlier reading without an entry in the change log or without a
// new version. It returns nil if all changes were logged. db must contain the log.
func (r Records) Unlogged(t testing.TB, db Querier, earlier Records) []string {
	t.Helper()
	logged := map[recordKey]bool{}
	scanRows(t, db, fmt.Sprint("SELECT * FROM changes WHERE id > ", earlier.revision), func(row tableRow) {
		first := row.number("record_id")
		last := first
		if row.text("action") == string(calendar.Loaded) {
			var err error
			if last, err = strconv.ParseInt(strings.Trim(row.text("fields"), `[" ]`), 10, 64); err != nil {
				t.Fatalf("change %d: %v", row.number("id"), err)
			}
		}
		for id := first; id <= last; id++ {
			logged[recordKey{row.text("kind"), id}] = true
		}
	})
	var out []string
	for key, was := range earlier.content {
		is := r.content[key]
		if is != nil && slices.Equal(is.own, was.own) && slices.Equal(is.texts, was.texts) {
			continue
		}
		if !logged[key] && !logged[recordKey{key.kind, 0}] {
			out = append(out, fmt.Sprintf("%s %d changed without an entry in the change log", key.kind, key.id))
		}
		if is != nil && !slices.Equal(is.own, was.own) && is.version <= was.version {
			out = append(out, fmt.Sprintf("%s %d changed and has version %d still", key.kind, key.id, is.version))
		}
	}
	for key := range r.content {
		if earlier.content[key] == nil && !logged[key] && !logged[recordKey{key.kind, 0}] {
			out = append(out, fmt.Sprintf("%s %d is new without an entry in the change log", key.kind, key.id))
		}
	}
	slices.Sort(out)
	return out
}

// tableRow is a row of any table, with a text for each value, nil for NULL. Reading the next row overwrites it.
type tableRow struct {
	columns []string
	values  []sql.RawBytes
}

func (r tableRow) text(column string) string {
	return string(r.values[slices.Index(r.columns, column)])
}

// number returns a column as a number. It returns 0 for NULL and for a text that is no number.
func (r tableRow) number(column string) int64 {
	n, err := strconv.ParseInt(r.text(column), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// without returns the values of all but the given columns as one text, for comparing rows. Each value is preceded by
// its length.
func (r tableRow) without(columns ...string) string {
	size := 0
	for _, v := range r.values {
		size += len(v) + len(" 100:")
	}
	b := make([]byte, 0, size)
	for i, v := range r.values {
		switch {
		case slices.Contains(columns, r.columns[i]):
		case v == nil:
			b = append(b, " NULL"...)
		default:
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(len(v)), 10)
			b = append(b, ':')
			b = append(b, v...)
		}
	}
	return string(b)
}

func scanRows(t testing.TB, db Querier, query string, each func(tableRow)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must.Succeed(t, err)
	defer rows.Close()
	row := tableRow{}
	if row.columns, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	row.values = make([]sql.RawBytes, len(row.columns))
	into := make([]any, len(row.columns))
	for i := range into {
		into[i] = &row.values[i]
	}
	for rows.Next() {
		must.Succeed(t, rows.Scan(into...))
		each(row)
	}
	must.Succeed(t, rows.Err())
}
