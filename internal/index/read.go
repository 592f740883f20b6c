package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
)

// reader asks the database. Its statements mean the same to every engine.
type reader struct {
	db    querier
	flags []string // columns of events
}

// querier is a database, or one that notes what it is asked.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// rows calls each for every row of a query, which scans it.
func (r reader) rows(ctx context.Context, query string, each func(*sql.Rows) error) (err error) {
	rows, err := r.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RevisionQuery asks for the revision of the calendar: no row if nothing was ever written.
const RevisionQuery = "SELECT value FROM counters WHERE name = 'revision'"

// revision is that of the calendar: 0 if nothing was ever written.
func (r reader) revision(ctx context.Context) (value int64, err error) {
	err = r.db.QueryRowContext(ctx, RevisionQuery).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("revision: %w", err)
	}
	return value, nil
}

// list is ids as they stand in a statement, in parentheses.
func list(ids []int64) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	b.WriteByte(')')
	return b.String()
}

// statusNumber finds a status in calendar.Statuses. It allocates nothing: the whole calendar passes here.
func statusNumber(status sql.RawBytes) (uint8, error) {
	for i, s := range calendar.Statuses {
		if string(status) == string(s) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("has the status %q", status)
}

// events calls each for the rows of events, in no order. Links and texts are not in them.
func (r reader) events(ctx context.Context, where string, each func(*document)) error {
	columns := append([]string{
		"id", "status", "status_before_trash", "hide_from_listings", "password_hash IS NOT NULL",
		"starts_at", "ends_at", "published_at", "author_id",
	}, r.flags...)
	var row document
	var status, before sql.RawBytes
	var starts, ends, published time.Time
	var author sql.NullInt64
	flags := make([]bool, len(r.flags))
	to := []any{&row.id, &status, &before, &row.hidden, &row.locked, &starts, &ends, &published, &author}
	for i := range flags {
		to = append(to, &flags[i])
	}
	err := r.rows(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+event.Table+where, func(rows *sql.Rows) error {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		d := row
		d.flags = slices.Clone(flags)
		var err error
		if d.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("event %d %w", d.id, err)
		}
		if d.status == trash {
			status = before
		}
		d.draft = string(status) == string(calendar.Draft) || string(status) == string(calendar.Pending)
		d.author = author.Int64
		d.starts, d.ends, d.published = starts.Unix(), ends.Unix(), published.Unix()
		each(&d)
		return nil
	})
	if err != nil {
		return fmt.Errorf("events: %w", err)
	}
	return nil
}

// links calls each for the links between events and one kind of what they are linked to.
func (r reader) links(ctx context.Context, table, column, where string, each func(event, to int64)) error {
	err := r.rows(ctx, "SELECT event_id, "+column+" FROM "+table+where, func(rows *sql.Rows) error {
		var event, to int64
		if err := rows.Scan(&event, &to); err != nil {
			return err
		}
		each(event, to)
		return nil
	})
	if err != nil {
		return fmt.Errorf("links in %s: %w", table, err)
	}
	return nil
}

// texts calls each for the search texts of some records of a kind. The database index of search texts begins with their
// owners, so a query that names no owners would read the texts of all kinds.
func (r reader) texts(ctx context.Context, kind calendar.Kind, owners []int64, each func(owner int64, t text)) error {
	for part := range slices.Chunk(owners, partSize) {
		query := "SELECT owner_id, languages, text FROM search_texts WHERE kind = '" + string(kind) +
			"' AND owner_id IN " + list(part)
		err := r.rows(ctx, query, func(rows *sql.Rows) error {
			var owner int64
			var t text
			if err := rows.Scan(&owner, &t.languages, &t.text); err != nil {
				return err
			}
			each(owner, t)
			return nil
		})
		if err != nil {
			return fmt.Errorf("search texts of kind %s: %w", kind, err)
		}
	}
	return nil
}

// places calls each for the venues with positions.
func (r reader) places(ctx context.Context, where string, each func(place)) error {
	err := r.rows(ctx, "SELECT id, cell, latitude, longitude, status FROM venues WHERE latitude IS NOT NULL"+where,
		func(rows *sql.Rows) error {
			var at place
			var cell sql.NullInt64
			var longitude sql.NullFloat64
			var status sql.RawBytes
			if err := rows.Scan(&at.venue, &cell, &at.latitude, &longitude, &status); err != nil {
				return err
			}
			var err error
			if at.status, err = statusNumber(status); err != nil {
				return fmt.Errorf("%d %w", at.venue, err)
			}
			at.cell, at.longitude = cell.Int64, longitude.Float64
			at.complete = cell.Valid && longitude.Valid
			each(at)
			return nil
		})
	if err != nil {
		return fmt.Errorf("venues: %w", err)
	}
	return nil
}

// change is an entry of the change log: of one record, or of all with ids from one to another.
type change struct {
	kind        calendar.Kind
	action      calendar.Action
	first, last int64
}

// changes are the entries after a revision, of up to a number of records or a block of them, and the revision of the
// last. A log with a gap, which somebody took entries out of, is one change of everything.
func (r reader) changes(ctx context.Context, after int64, limit int) (out []change, revision int64, err error) {
	revision = after
	records := int64(0)
	err = r.rows(ctx, fmt.Sprintf("SELECT id, kind, record_id, action, fields FROM changes WHERE id > %d ORDER BY id LIMIT %d",
		after, limit), func(rows *sql.Rows) error {
		if records >= int64(limit) {
			return nil
		}
		var c change
		var id int64
		var fields sql.RawBytes
		if err := rows.Scan(&id, &c.kind, &c.first, &c.action, &fields); err != nil {
			return err
		}
		if id != revision+1 {
			c = change{}
		}
		revision = id
		c.last = c.first
		if c.action == calendar.Loaded {
			// Of a block of new records the log names the first, and as its field the last.
			last, err := strconv.ParseInt(strings.Trim(string(fields), `[" ]`), 10, 64)
			if err != nil {
				return fmt.Errorf("change %d: %w", revision, err)
			}
			c.last = last
		}
		records += c.last - c.first + 1
		out = append(out, c)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("change log: %w", err)
	}
	return out, revision, nil
}

// partSize is how many records one statement asks for.
const partSize = 1000

// documents are all that there is to know of some events; those that do not exist are left out.
func (r reader) documents(ctx context.Context, ids []int64, withTexts bool) (map[int64]*document, error) {
	out := make(map[int64]*document, len(ids))
	for part := range slices.Chunk(ids, partSize) {
		in := list(part)
		if err := r.events(ctx, " WHERE id IN "+in, func(d *document) { out[d.id] = d }); err != nil {
			return nil, err
		}
		for _, l := range linkTables {
			err := r.links(ctx, l.table, l.column, " WHERE event_id IN "+in, func(event, to int64) {
				if d := out[event]; d != nil {
					of := l.document(d)
					*of = append(*of, to)
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

// linkTable is a table of links, and where their values are kept.
type linkTable struct {
	table, column string
	document      func(*document) *[]int64
	state         func(*state) postings
}

// linkTables are the links of events that the index has.
var linkTables = []linkTable{
	{
		event.VenuesTable, event.VenuesPrimaryKey[1],
		func(d *document) *[]int64 { return &d.venues },
		func(s *state) postings { return s.venues },
	},
	{
		event.OrganizersTable, event.OrganizersPrimaryKey[1],
		func(d *document) *[]int64 { return &d.organizers },
		func(s *state) postings { return s.organizers },
	},
	{
		event.TermsTable, event.TermsPrimaryKey[1],
		func(d *document) *[]int64 { return &d.terms },
		func(s *state) postings { return s.terms },
	},
}
