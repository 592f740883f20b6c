package store

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

	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entrecord "github.com/almanac-cal/almanac/ent/record"
)

// These are the limits of one INSERT. SQLite allows 32,766 variables. MySQL's largest packet is at least one
// MiB in practice, and quoting can double the size of values.
const (
	maxVariables      = 32_000
	maxStatementBytes = 400 << 10
	maxStatementRows  = 500
)

// Rows are new rows of one table. Insert writes them in few statements.
type Rows struct {
	Table   string
	Columns []string
	Owner   int // index of the column for the id of the record that a row belongs to

	owners []int // index in the batch of each row's record
	values []any // values of all rows, row by row
	sizes  []int // approximate size of each row in bytes
}

// Add appends a row that belongs to the record with index i in the batch.
func (r *Rows) Add(i int, values ...any) {
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
	r.owners = append(r.owners, i)
	r.values = append(r.values, values...)
	r.sizes = append(r.sizes, size)
}

// Set changes one value of a row.
func (r *Rows) Set(row, column int, value any) { r.values[row*len(r.Columns)+column] = value }

// Insert writes the rows. ids are the ids of the records of the batch, by index.
func (r *Rows) Insert(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for i, owner := range r.owners {
		r.Set(i, r.Owner, ids[owner])
	}
	most := min(maxStatementRows, maxVariables/len(r.Columns))
	statement := statementFor(r.Table, r.Columns, min(most, len(r.owners)))
	for from := 0; from < len(r.owners); {
		to, size := from, 0
		for to < len(r.owners) && to-from < most && (to == from || size+r.sizes[to] <= maxStatementBytes) {
			size += r.sizes[to]
			to++
		}
		text := statement.rows(to - from)
		if _, err := tx.ExecContext(ctx, text, r.values[from*len(r.Columns):to*len(r.Columns)]...); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// statement is the text of an INSERT of many rows.
type statement struct {
	text      string
	head, row int // bytes before the first row; bytes of a row with its comma
}

// statementFor builds an INSERT of the given number of rows. SQLite and MySQL both quote names with grave
// accents.
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

// rows returns the statement for n rows, as a prefix of the whole text.
func (s statement) rows(n int) string { return s.text[:s.head+n*s.row-1] }

// markedIDs selects the ids of records with a mark, from a given id on. setKind replaces the mark by the kind.
const (
	markedIDs = "SELECT " + entrecord.FieldID + " FROM " + entrecord.Table + " WHERE " + entrecord.FieldID + " >= ? AND " +
		entrecord.FieldKind + " = ? ORDER BY " + entrecord.FieldID
	setKind = "UPDATE " + entrecord.Table + " SET " + entrecord.FieldKind + " = ? WHERE " + entrecord.FieldID +
		" BETWEEN ? AND ? AND " + entrecord.FieldKind + " = ?"
)

// DrawIDs allocates ids for n new records, in ascending order. The ids are those of rows that this transaction
// inserts, however the database numbers rows. The rows have a mark in place of their kind until their ids have
// been read.
func DrawIDs(ctx context.Context, tx *ent.Tx, kind calendar.Kind, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	mark := "+" + rand.Text()[:9]
	raised := false
	for len(ids) < n {
		part := min(maxStatementRows, n-len(ids))
		text := statementFor(entrecord.Table, []string{entrecord.FieldKind}, part).rows(part)
		res, err := tx.ExecContext(ctx, text, slices.Repeat([]any{mark}, part)...)
		if IsDuplicate(err) && !raised {
			raised = true
			if err := RaiseRecordIDs(ctx, tx, kind); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		edge, err := res.LastInsertId() // id of the first row on MySQL, of the last row on SQLite
		if err != nil {
			return nil, err
		}
		drawn, err := scanIDs(tx.QueryContext(ctx, markedIDs, edge-int64(part)+1, mark))
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

// RaiseRecordIDs draws an id above all others, which no record gets. A server of a distributed database draws ids from a range
// of its own. An import that kept its ids may have taken some of that range through another server.
func RaiseRecordIDs(ctx context.Context, tx *ent.Tx, kind calendar.Kind) error {
	highest, err := tx.Record.Query().Order(entrecord.ByID(entsql.OrderDesc())).FirstID(ctx)
	if err != nil {
		return fmt.Errorf("highest id: %w", err)
	}
	return AsConflict(tx.Record.Create().SetID(highest + 1).SetKind(kind).Exec(ctx))
}

// scanIDs reads a result with one column of ids.
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

// Mutation gives access to the fields that Ent would write for a record.
type Mutation interface {
	Field(name string) (ent.Value, bool)
}

// RowOf returns the values of a mutation in the order of columns. Columns without a value are nil.
func RowOf(m Mutation, columns []string) ([]any, error) {
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

// asStored converts a value for the driver as Ent does.
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
