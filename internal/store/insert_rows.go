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

// maxVariables and the other constants limit one INSERT. SQLite allows 32,766 variables. MySQL's largest packet is
// at least one MiB in practice, and quoting can double the size of values.
const (
	maxVariables      = 32_000
	maxStatementBytes = 400 << 10
	maxStatementRows  = 500
)

// Rows collects new rows of one table for a batch of records. Insert then writes them in a few multi-row INSERT
// statements.
type Rows struct {
	Table   string
	Columns []string
	Owner   int // index of the column for the id of the record that a row belongs to

	owners []int // index in the batch of each row's record
	values []any // values of all rows, row by row
	sizes  []int // approximate size of each row in bytes
}

// Add appends a row for the batch's record with index i. values are in the order of Columns. Insert replaces the
// value of the column Owner by the record's id.
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

// Set replaces the value in a column of a row that Add appended. row and column are indexes.
func (r *Rows) Set(row, column int, value any) { r.values[row*len(r.Columns)+column] = value }

// Insert writes all collected rows. ids has the id of each record of the batch. Rows refer to these records by index.
func (r *Rows) Insert(ctx context.Context, tx *ent.Tx, ids []int64) error {
	for i, owner := range r.owners {
		r.Set(i, r.Owner, ids[owner])
	}
	most := min(maxStatementRows, maxVariables/len(r.Columns))
	statement := insertTextFor(r.Table, r.Columns, min(most, len(r.owners)))
	for from := 0; from < len(r.owners); {
		to, size := from, 0
		for to < len(r.owners) && to-from < most && (to == from || size+r.sizes[to] <= maxStatementBytes) {
			size += r.sizes[to]
			to++
		}
		text := statement.prefix(to - from)
		if _, err := tx.ExecContext(ctx, text, r.values[from*len(r.Columns):to*len(r.Columns)]...); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// insertText is the text of an INSERT statement with placeholders for many rows.
type insertText struct {
	text      string
	head, row int // bytes before the first row; bytes of a row with its comma
}

// insertTextFor builds an INSERT of the given number of rows. SQLite and MySQL both quote names with grave accents.
func insertTextFor(table string, columns []string, rows int) insertText {
	var b strings.Builder
	b.WriteString("INSERT INTO `" + table + "` (`" + strings.Join(columns, "`,`") + "`) VALUES ")
	row := "(" + strings.Repeat("?,", len(columns)-1) + "?),"
	s := insertText{head: b.Len(), row: len(row)}
	for range rows {
		b.WriteString(row)
	}
	s.text = b.String()
	return s
}

// prefix returns the INSERT of n rows, which is the start of the text. At most the text's number of rows is allowed.
func (s insertText) prefix(n int) string { return s.text[:s.head+n*s.row-1] }

// markedIDs selects the ids of records with a random mark, starting at a given id. The statement setKind replaces
// the mark by the kind.
const (
	markedIDs = "SELECT " + entrecord.FieldID + " FROM " + entrecord.Table + " WHERE " + entrecord.FieldID + " >= ? AND " +
		entrecord.FieldKind + " = ? ORDER BY " + entrecord.FieldID
	setKind = "UPDATE " + entrecord.Table + " SET " + entrecord.FieldKind + " = ? WHERE " + entrecord.FieldID +
		" BETWEEN ? AND ? AND " + entrecord.FieldKind + " = ?"
)

// DrawIDs allocates ids for n new records, in ascending order. It inserts rows into the table records, whose ids the
// database generates. The ids need not be consecutive. A random mark in the column kind identifies the transaction's
// own rows. Then the kind replaces the mark.
func DrawIDs(ctx context.Context, tx *ent.Tx, kind calendar.Kind, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	mark := "+" + rand.Text()[:9]
	raised := false
	for len(ids) < n {
		part := min(maxStatementRows, n-len(ids))
		text := insertTextFor(entrecord.Table, []string{entrecord.FieldKind}, part).prefix(part)
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

// RaiseRecordIDs makes the database continue above the highest id of a record. It is needed after an import that kept
// its ids, if a generated id exists already. On a distributed database, each server generates ids from its own range.
// To this end it inserts an id that no record uses.
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

// RowOf returns the fields of a mutation as column values, in the order of columns. Columns that the mutation does
// not set are nil.
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

// asStored converts a field value of Ent to the value that Ent would pass to the database driver.
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
