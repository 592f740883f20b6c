package load

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entrecord "github.com/almanac-cal/almanac/ent/record"
)

// The limits of one statement. SQLite takes 32766 variables; MySQL's packet is never less than a mebibyte in
// practice, and values can double when they are quoted.
const (
	maxVariables      = 32_000
	maxStatementBytes = 400 << 10
	maxStatementRows  = 500
)

// rows are new rows of one table.
type rows struct {
	table   string
	columns []string
	owner   int   // the column that takes the id of the record that a row belongs to
	of      []int // for each row, the place of that record in the batch
	values  []any // row after row
	sizes   []int // of each row, about, in bytes
}

// add appends a row of the record at place i.
func (r *rows) add(i int, values ...any) {
	size := 0
	for _, v := range values {
		switch v := v.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		}
		size += 8
	}
	r.of = append(r.of, i)
	r.values = append(r.values, values...)
	r.sizes = append(r.sizes, size)
}

// set changes a value of a row.
func (r *rows) set(row, column int, value any) { r.values[row*len(r.columns)+column] = value }

// insert writes the rows, each under the id of its record.
func (r *rows) insert(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for i, of := range r.of {
		r.set(i, r.owner, ids[of])
	}
	most := min(maxStatementRows, maxVariables/len(r.columns))
	statement := statementFor(r.table, r.columns, min(most, len(r.of)))
	for from := 0; from < len(r.of); {
		to, size := from, 0
		for to < len(r.of) && to-from < most && (to == from || size+r.sizes[to] <= maxStatementBytes) {
			size += r.sizes[to]
			to++
		}
		text := statement.rows(to - from)
		if _, err := tx.ExecContext(ctx, text, r.values[from*len(r.columns):to*len(r.columns)]...); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// statement is an INSERT of up to a number of rows.
type statement struct {
	text      string
	head, row int // bytes: up to the first row; of a row with its comma
}

// statementFor builds the statement. Both engines quote names with grave accents.
func statementFor(table string, columns []string, rows int) statement {
	var b strings.Builder
	b.WriteString("INSERT INTO `" + table + "` (`" + strings.Join(columns, "`,`") + "`) VALUES ")
	row := "(" + strings.Repeat("?,", len(columns)-1) + "?),"
	s := statement{head: b.Len(), row: len(row)}
	for range rows {
		b.WriteString(row)
	}
	s.text = b.String()
	return s
}

// rows returns the statement for n rows.
func (s statement) rows(n int) string { return s.text[:s.head+n*s.row-1] }

// markedIDs selects the ids of records with a mark, from one on. setKind replaces the mark.
const (
	markedIDs = "SELECT " + entrecord.FieldID + " FROM " + entrecord.Table + " WHERE " + entrecord.FieldID + " >= ? AND " +
		entrecord.FieldKind + " = ? ORDER BY " + entrecord.FieldID
	setKind = "UPDATE " + entrecord.Table + " SET " + entrecord.FieldKind + " = ? WHERE " + entrecord.FieldID +
		" BETWEEN ? AND ? AND " + entrecord.FieldKind + " = ?"
)

// draw draws ids for new records, in ascending order. They are the ids of rows that this transaction inserted, however
// the database numbers rows. SQLite returns them. Elsewhere the rows have a mark in place of their kind until they
// have been read.
func (l *Loader) draw(ctx context.Context, tx *ent.Tx, kind calendar.Kind, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	mark := string(kind)
	sqlite := l.st.Engine() == "sqlite"
	if !sqlite {
		mark = "+" + rand.Text()[:9]
	}
	for len(ids) < n {
		part := min(maxStatementRows, n-len(ids))
		text := statementFor(entrecord.Table, []string{entrecord.FieldKind}, part).rows(part)
		marks := slices.Repeat([]any{mark}, part)
		if sqlite {
			drawn, err := scanIDs(tx.QueryContext(ctx, text+" RETURNING "+entrecord.FieldID, marks...))
			if err != nil {
				return nil, err
			}
			ids = append(ids, drawn...)
			continue
		}
		res, err := tx.ExecContext(ctx, text, marks...)
		if err != nil {
			return nil, err
		}
		first, err := res.LastInsertId() // of the first row
		if err != nil {
			return nil, err
		}
		drawn, err := scanIDs(tx.QueryContext(ctx, markedIDs, first, mark))
		if err != nil {
			return nil, err
		}
		if len(drawn) != part {
			return nil, fmt.Errorf("%d of %d new records found", len(drawn), part)
		}
		if _, err := tx.ExecContext(ctx, setKind, string(kind), drawn[0], drawn[part-1], mark); err != nil {
			return nil, err
		}
		ids = append(ids, drawn...)
	}
	slices.Sort(ids)
	return ids, nil
}

// scanIDs reads a column of ids.
func scanIDs(found *sql.Rows, err error) (ids []int64, _ error) {
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var id int64
		if err := found.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, found.Err()
}

// mutation is the fields of a record that Ent would write.
type mutation interface {
	Field(name string) (ent.Value, bool)
}

// rowOf returns the values that a mutation has set, in the order of columns. The others are null.
func rowOf(m mutation, columns []string) ([]any, error) {
	row := make([]any, len(columns))
	for i, name := range columns {
		value, ok := m.Field(name)
		if !ok {
			continue
		}
		var err error
		if row[i], err = asStored(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return row, nil
}

// asStored converts a value as Ent does for the driver.
func asStored(v any) (any, error) {
	switch v := v.(type) {
	case calendar.Cost, map[string]calendar.ImageSize:
		text, err := json.Marshal(v)
		return json.RawMessage(text), err
	case time.Time:
		return v, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}
