package index

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/query"
)

// reader reads rows from the database. Its SQL is valid on every supported engine.
type reader struct {
	db       querier
	declared []*query.Column // columns of filters
	columns  []column        // of the declared ones, without slots
}

// newReader returns a reader of the values of columns of filters, as far as the index supports these.
func newReader(db querier, declared []*query.Column) reader {
	return reader{db: db, declared: declared, columns: newColumns(declared)}
}

// querier runs a statement. Ent's client implements it, and so do tests that record statements.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// field is the name of a database column to select, and the pointer that its value is scanned into.
type field struct {
	name string
	dst  any
}

// rows selects fields from a table, with the given end of the statement (such as a WHERE clause). It calls
// each after scanning a row.
func (r reader) rows(ctx context.Context, table string, fields []field, rest string, each func() error) (err error) {
	names, dst := make([]string, len(fields)), make([]any, len(fields))
	for i, f := range fields {
		names[i], dst[i] = f.name, f.dst
	}
	rows, err := r.db.QueryContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+table+rest)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", table, err)
		}
	}()
	for rows.Next() {
		if err := rows.Scan(dst...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RevisionQuery selects the revision of the calendar. It returns no row before the first write.
const RevisionQuery = "SELECT " + counter.FieldValue + " FROM " + counter.Table + revisionWhere

const revisionWhere = " WHERE " + counter.FieldID + " = 'revision'"

// revision returns the revision of the calendar. 0 means that nothing was ever written.
func (r reader) revision(ctx context.Context) (value int64, err error) {
	err = r.rows(ctx, counter.Table, []field{{counter.FieldValue, &value}}, revisionWhere, func() error { return nil })
	return value, err
}

// statusNumber returns the index of a status in calendar.Statuses. It allocates no memory, because a load calls
// it for every row.
func statusNumber(status sql.RawBytes) (uint8, error) {
	for i, s := range calendar.Statuses {
		if string(status) == string(s) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("has the status %q", status)
}

// isDraft reports whether a status is draft or pending.
func isDraft(status sql.RawBytes) bool {
	return string(status) == string(calendar.Draft) || string(status) == string(calendar.Pending)
}

// events calls each with a document for every selected event, in no particular order. The parameter where is a
// WHERE clause that begins with a space, or "" for all events. The documents lack their links and texts.
func (r reader) events(ctx context.Context, where string, each func(*document)) error {
	var row document
	var status, before, firstDay, lastDay sql.RawBytes
	var starts, ends, published, modified time.Time
	var author, image, seriesID sql.NullInt64
	scan := newScan(r.columns)
	fields := append([]field{
		{event.FieldID, &row.id},
		{event.FieldStatus, &status},
		{event.FieldStatusBeforeTrash, &before},
		{event.FieldHideFromListings, &row.hidden},
		{event.FieldPasswordHash + " IS NOT NULL", &row.locked},
		{event.FieldStartsAt, &starts},
		{event.FieldEndsAt, &ends},
		{event.FieldPublishedAt, &published},
		{event.FieldModifiedAt, &modified},
		{dayOfAllDay(event.FieldStartWall), &firstDay},
		{dayOfAllDay(event.FieldEndWall), &lastDay},
		{event.FieldAuthorID, &author},
		{event.FieldImageID, &image},
		{event.FieldSeriesID, &seriesID},
	}, scan.fields...)
	return r.rows(ctx, event.Table, fields, where, func() (err error) {
		d := row
		d.values = scan.rowValues()
		if d.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", d.id, err)
		}
		if d.status == statusTrash {
			status = before
		}
		d.draft = isDraft(status)
		d.author, d.image, d.series = author.Int64, image.Int64, seriesID.Int64
		d.starts, d.ends, d.published, d.modified = starts.Unix(), ends.Unix(), published.Unix(), modified.Unix()
		if d.allDay = len(firstDay) > 0 && !d.locked; d.allDay {
			if d.firstDay, err = dayNumber(firstDay); err == nil {
				d.lastDay, err = dayNumber(lastDay)
			}
			if err != nil {
				return fmt.Errorf("%d: %w", d.id, err)
			}
		}
		each(&d)
		return nil
	})
}

// dayOfAllDay returns an SQL expression for the date in a wall-time field. It is NULL for an event with times,
// which spares reading the field: few events are all-day.
func dayOfAllDay(field string) string {
	return "CASE WHEN " + event.FieldAllDay + " THEN SUBSTR(" + field + ", 1, 10) END"
}

// dayNumber parses a date such as 2026-11-23 and returns it as days since 1970.
func dayNumber(text []byte) (int32, error) {
	day, err := time.Parse(time.DateOnly, string(text))
	return int32(day.Unix() / (24 * 60 * 60)), err
}

// texts calls each for the search texts of the records with the given ids. The database index of search texts
// begins with the owner, so a query without owners would read the texts of all kinds.
func (r reader) texts(ctx context.Context, kind calendar.Kind, owners []int64, each func(owner int64, t text)) error {
	var owner int64
	var t text
	fields := []field{
		{searchtext.FieldOwnerID, &owner}, {searchtext.FieldLanguages, &t.languages}, {searchtext.FieldText, &t.text},
	}
	for part := range slices.Chunk(owners, partSize) {
		where := " WHERE " + searchtext.FieldKind + " = '" + string(kind) + "' AND " + searchtext.FieldOwnerID + " IN " + query.IDList(part)
		err := r.rows(ctx, searchtext.Table, fields, where, func() error {
			each(owner, t)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// places calls each for the selected venues that have a position.
func (r reader) places(ctx context.Context, where string, each func(place)) error {
	var at place
	var cell sql.NullInt64
	var longitude sql.NullFloat64
	var status sql.RawBytes
	return r.rows(ctx, venue.Table, []field{
		{venue.FieldID, &at.venue},
		{venue.FieldCell, &cell},
		{venue.FieldLatitude, &at.latitude},
		{venue.FieldLongitude, &longitude},
		{venue.FieldStatus, &status},
	}, " WHERE "+venue.FieldLatitude+" IS NOT NULL"+where, func() (err error) {
		if at.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", at.venue, err)
		}
		at.cell, at.longitude = cell.Int64, longitude.Float64
		at.complete = cell.Valid && longitude.Valid
		each(at)
		return nil
	})
}

// logEntry is an entry of the change log. It is about the records with ids from first to last. 0 in first means
// all records of the kind.
type logEntry struct {
	historyEntry
	kind        calendar.Kind
	action      calendar.Action
	first, last int64
	recounts    bool // the event counts of terms may change
}

// countedFields are the names, in the change log, of the fields that decide which terms count an event.
var countedFields = [][]byte{[]byte(`"status"`), []byte(`"date"`), []byte(`"categories"`), []byte(`"tags"`)}

// changesCounts reports whether a log entry about an event may change event counts of terms. Only entries of
// updates name fields.
func changesCounts(action calendar.Action, fields []byte) bool {
	return action != calendar.Updated || len(fields) == 0 ||
		slices.ContainsFunc(countedFields, func(name []byte) bool { return bytes.Contains(fields, name) })
}

// changes returns the log entries after a revision and the revision of the last one. It stops after limit
// records, or after the block that exceeds it. If entries are missing from the log, it returns one entry for
// all records.
func (r reader) changes(ctx context.Context, after int64, limit int) (out []logEntry, revision int64, err error) {
	revision = after
	records := int64(0)
	where := fmt.Sprintf(" WHERE %s > %d ORDER BY %[1]s LIMIT %[3]d", entchange.FieldID, after, limit)
	err = r.logRows(ctx, where, func(row *logRow) error {
		if records >= int64(limit) {
			return nil
		}
		c := logEntry{
			kind: row.kind, action: row.action, first: row.record, last: row.record,
			recounts: row.kind == calendar.Event && changesCounts(row.action, row.fields),
		}
		if row.id != revision+1 {
			c = logEntry{}
		}
		c.historyEntry = historyEntry{row.id, row.hash()}
		revision = row.id
		if c.action == calendar.Loaded {
			// A bulk load writes one entry for a block of new records. Its record is the first id, and its
			// fields column has the last id.
			last, err := strconv.ParseInt(strings.Trim(string(row.fields), `[" ]`), 10, 64)
			if err != nil {
				return fmt.Errorf("%d: %w", revision, err)
			}
			c.last = last
		}
		records += c.last - c.first + 1
		out = append(out, c)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return out, revision, nil
}

// partSize is the number of records that one statement asks for.
const partSize = 1000

// documents reads events with their links, and with their search texts if withTexts is set. Events that do not
// exist are missing from the map.
func (r reader) documents(ctx context.Context, ids []int64, withTexts bool) (map[int64]*document, error) {
	out := make(map[int64]*document, len(ids))
	for part := range slices.Chunk(ids, partSize) {
		in := query.IDList(part)
		if err := r.events(ctx, " WHERE "+event.FieldID+" IN "+in, func(d *document) { out[d.id] = d }); err != nil {
			return nil, err
		}
		for _, kind := range newScan(r.columns).links {
			err := r.links(ctx, kind, " WHERE "+ent.LinkTables[kind].Event+" IN "+in, func(event, record int64) {
				if d := out[event]; d != nil {
					d.link(kind, record)
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if !withTexts {
			continue
		}
		err := r.texts(ctx, calendar.Event, part, func(event int64, t text) {
			if d := out[event]; d != nil {
				d.texts = append(d.texts, t)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
