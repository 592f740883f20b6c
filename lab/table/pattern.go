package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/lab/baseline"
)

// pattern contains the SQL statements with all rows of one event. With it, more events can be inserted without the
// service.
type pattern []patternRow

type patternRow struct {
	text   string
	values []any
	id     int // index of the value that is the event's id, -1 for none
	unique int // index of the value that must differ between events, -1 for none
}

// patternTables are the tables with rows of an event, except records, in an order that foreign keys allow. A
// condition selects events where other kinds share the table.
var patternTables = []struct{ name, owner, condition, unique string }{
	{"slugs", "owner_id", "kind = 'event'", "slug"},
	{"events", "id", "", "slug"},
	{"event_translations", "event_id", "", "slug"},
	{"event_venues", "event_id", "", ""},
	{"event_organizers", "event_id", "", ""},
	{"search_texts", "owner_id", "kind = 'event'", ""},
}

// learnPattern reads the rows of the event with an id as a pattern, with those of its terms and changes.
func learnPattern(ctx context.Context, db *sql.DB, id int64) (pattern, error) {
	var out pattern
	for _, t := range patternTables {
		query := "SELECT * FROM " + t.name + " WHERE " + t.owner + " = ?"
		if t.condition != "" {
			query += " AND " + t.condition
		}
		columns, found, err := queryRows(ctx, db, query, id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		for _, values := range found {
			// Numbers that the database gives to rows themselves.
			if at := slices.Index(columns, "id"); at >= 0 && t.owner != "id" {
				columns, values = slices.Delete(slices.Clone(columns), at, at+1), slices.Delete(values, at, at+1)
			}
			out = append(out, patternRow{
				text: "INSERT INTO " + t.name + " (`" + strings.Join(columns, "`,`") + "`) VALUES (" +
					strings.Repeat("?,", len(columns)-1) + "?)",
				values: values, id: slices.Index(columns, t.owner), unique: slices.Index(columns, t.unique),
			})
		}
	}
	_, terms, err := queryRows(ctx, db, "SELECT term_id FROM event_terms WHERE event_id = ?", id)
	if err != nil {
		return nil, err
	}
	for _, term := range terms {
		// In this order: the link's foreign key takes a shared lock on the term, which two cannot raise at once.
		out = append(out,
			patternRow{"UPDATE terms SET event_count = event_count + 1 WHERE id = ?", term, -1, -1},
			patternRow{"INSERT INTO event_terms (event_id, term_id) VALUES (?, ?)", []any{id, term[0]}, 0, -1})
	}
	columns, changes, err := queryRows(ctx, db, "SELECT kind, action, user_id, at, fields, record_id FROM changes "+
		"WHERE record_id = ? AND kind = 'event'", id)
	if err != nil {
		return nil, err
	}
	for _, values := range changes {
		out = append(out, patternRow{"UPDATE counters SET value = value + 1 WHERE name = 'revision'", nil, -1, -1}, patternRow{
			"INSERT INTO changes (id, " + strings.Join(columns, ", ") + ") SELECT value, ?, ?, ?, ?, ?, ? FROM counters " +
				"WHERE name = 'revision'", values, len(columns) - 1, -1,
		})
	}
	if len(out) < len(patternTables) {
		return nil, fmt.Errorf("event %d has %d rows only", id, len(out))
	}
	return out, nil
}

// insert inserts the rows of a further event in one transaction, without the checks of the service. n is its number.
func (p pattern) insert(ctx context.Context, db *sql.DB, n int64) error {
	return baseline.NewEvent(ctx, db, func(tx *sql.Tx, id int64) error {
		for _, row := range p {
			values := slices.Clone(row.values)
			if row.id >= 0 {
				values[row.id] = id
			}
			if row.unique >= 0 {
				values[row.unique] = fmt.Sprintf("example-number-%d", n)
			}
			if _, err := tx.ExecContext(ctx, row.text, values...); err != nil {
				return fmt.Errorf("%.60s: %w", row.text, err)
			}
		}
		return nil
	})
}

// queryRows returns the names of a query's columns and all its rows. Bytes are converted to strings.
func queryRows(ctx context.Context, db *sql.DB, query string, args ...any) (columns []string, rows [][]any, err error) {
	columns, rows, err = baseline.Rows(ctx, db, query, args...)
	for _, values := range rows {
		for i, v := range values {
			if text, ok := v.([]byte); ok {
				values[i] = string(text)
			}
		}
	}
	return columns, rows, err
}

// audit counts the posted events in the database and in the service's replies, and stores the counts in out.
func (w *eventWriter) audit(ctx context.Context, out *writing) error {
	_, rows, err := queryRows(ctx, w.st.DB, "SELECT id, title FROM events WHERE title LIKE 'Posted number %' AND id > ?", w.first)
	if err != nil {
		return err
	}
	there, titles := make(map[int64]bool, len(rows)), make(map[string]bool, len(rows))
	for _, row := range rows {
		id, isID := row[0].(int64)
		title, isText := row[1].(string)
		if !isID || !isText {
			return fmt.Errorf("event %v has the title %v", row[0], row[1])
		}
		there[id], titles[title] = true, true
	}
	told := make(map[int64]bool, len(w.ids))
	for _, id := range w.ids {
		if !there[id] || told[id] {
			out.lost++ // or two replies have the same id, so one event is lost
		}
		told[id] = true
	}
	out.events, out.titles = len(rows), len(titles)
	for id := range there {
		if !told[id] {
			out.unknown++
		}
	}
	const ours = "JOIN events e ON e.id = %s WHERE e.title LIKE 'Posted number %%' AND e.id > ?"
	for _, count := range []struct {
		into  *int
		query string
		arg   int64
	}{
		{&out.changes, "SELECT COUNT(*) FROM changes c " + fmt.Sprintf(ours, "c.record_id") + " AND c.kind = 'event'", w.first},
		{&out.slugs, "SELECT COUNT(*) FROM slugs s " + fmt.Sprintf(ours, "s.owner_id") + " AND s.kind = 'event'", w.first},
		{&out.counted, "SELECT event_count FROM terms WHERE id = ?", w.category},
	} {
		if err := w.st.DB.QueryRowContext(ctx, count.query, count.arg).Scan(count.into); err != nil {
			return errors.Join(fmt.Errorf("%.60s", count.query), err)
		}
	}
	res, err := w.service.ask(fmt.Sprintf("/events?per_page=1&start_date=2030-12-01&end_date=2030-12-31&venue=%d", w.venue))
	if err != nil {
		return err
	}
	var totals struct{ Total int }
	err = json.Unmarshal(res.Body(), &totals)
	out.listed = totals.Total
	return err
}
