package index

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/query"
)

// reader reads rows from the database. Its SQL is valid on every supported engine.
type reader struct {
	db       querier
	declared []*query.Column // all columns of filters
	columns  []column        // the index's columns for those that it supports, without slots
}

// newReader returns a reader for an index of the filters whose columns are in declared. It reads the values of those
// that the index supports.
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

// rows runs a SELECT statement and calls each after scanning every row. It selects fields from a table. The text
// rest is the end of the statement, such as a WHERE clause.
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

// texts reads the search texts of the records with the given ids, and calls each for every text. Without ids it
// reads nothing. The database index of search texts begins with the owner, so a query without owners would read the
// texts of all kinds.
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

// partSize is the maximum number of records that one statement reads by id.
const partSize = 1000
