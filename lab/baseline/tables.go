package baseline

import (
	"context"
	"database/sql"
	"errors"
)

// Rows returns the names of a query's columns and all its rows. A row has a value for each column, as the driver
// returns it. MySQL returns texts as []byte.
func Rows(ctx context.Context, db *sql.DB, query string, args ...any) (columns []string, out [][]any, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		out = append(out, values)
	}
	return columns, out, rows.Err()
}

// Tx calls do in a transaction, and commits it. If do returns an error, it rolls back and returns the error.
func Tx(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// NewEvent reserves the id of a new event, and calls do with it in the same transaction. do must insert the event's
// rows.
func NewEvent(ctx context.Context, db *sql.DB, do func(tx *sql.Tx, id int64) error) error {
	return Tx(ctx, db, func(tx *sql.Tx) error {
		record, err := tx.ExecContext(ctx, "INSERT INTO records (kind) VALUES ('event')")
		if err != nil {
			return err
		}
		id, err := record.LastInsertId()
		if err != nil {
			return err
		}
		return do(tx, id)
	})
}
