package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/almanac-cal/almanac/ent"
)

// ErrConflict makes Tx retry its function. It means that another transaction inserted a row that this one
// needed to insert. It may also have changed a row that this one had read.
var ErrConflict = errors.New("lost a race")

// maxAttempts is the number of attempts of Tx. The waits between them double from at most 10 ms to a total of
// at most 1.3 s.
const maxAttempts = 8

// Tx runs do in a transaction and commits it. If do returns an error or panics, Tx rolls back. After a
// deadlock, a lock timeout or ErrConflict, Tx calls do again from the start, so do must not keep results of a
// failed attempt. After the last attempt the error wraps ErrConflict.
//
// Tx also retries if the server is lost or became read-only before the commit was sent: another server may take
// over. A commit without an answer may have happened, so Tx returns its error.
func Tx(ctx context.Context, db *ent.Client, do func(tx *ent.Tx) error) error {
	return retry(ctx, func() error { return runTx(ctx, db, do) }, isServerLostBeforeCommit)
}

func isServerLostBeforeCommit(err error) bool {
	return isServerLost(err) && !errors.As(err, new(commitError))
}

// Retry runs do, which must run a single statement. After a deadlock, a lock timeout or ErrConflict, it calls do
// again, up to maxAttempts times with growing waits. The last error then wraps ErrConflict.
func Retry(ctx context.Context, do func() error) error {
	return retry(ctx, do, func(error) bool { return false })
}

// maxServersLost is how often Tx retries after a lost server. The waits before these retries total at most 1.12 s.
// After maxLosing, Tx does not retry, because each attempt at an unresponsive server takes seconds.
const (
	maxServersLost = 3
	maxLosing      = 2 * time.Second
)

func retry(ctx context.Context, do func() error, serverLost func(error) bool) error {
	lost, began := 0, time.Now()
	for try := 0; ; try++ {
		err := do()
		most := 10 * time.Millisecond << try
		switch {
		case err == nil:
			return nil
		case serverLost(err):
			if lost == maxServersLost || time.Since(began) > maxLosing {
				return err
			}
			most = 160 * time.Millisecond << lost
			lost++
		case !isRetryable(err):
			return err
		}
		if try+1 == maxAttempts {
			if errors.Is(err, ErrConflict) {
				return err
			}
			return fmt.Errorf("%w: %w", ErrConflict, err)
		}
		// A random wait keeps transactions that conflicted from conflicting again.
		wait := time.Duration(rand.Int64N(int64(most))) //nolint:gosec // nobody gains by guessing it
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// commitError marks an error of a commit. Tx must not retry after it if the server was lost.
type commitError struct{ error }

func (e commitError) Unwrap() error { return e.error }

func runTx(ctx context.Context, db *ent.Client, do func(tx *ent.Tx) error) (err error) {
	tx, err := db.Tx(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// This runs after a panic too. If the context has ended, the transaction is already rolled back.
		if rollbackErr := tx.Rollback(); rollbackErr != nil && err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w (rollback: %w)", err, rollbackErr)
		}
	}()
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return commitError{fmt.Errorf("commit: %w", err)}
	}
	committed = true
	return nil
}

// isRetryable reports whether a transaction that failed with err may succeed on a retry.
func isRetryable(err error) bool {
	if errors.Is(err, ErrConflict) {
		return true
	}
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch my.Number {
		case 1205, // lock wait timeout
			1213, // deadlock
			1020: // record has changed since last read (MariaDB)
			return true
		}
		return retryableTiDB[my.Number]
	}
	return isBusy(err)
}

// isBusy reports whether err is SQLite's error for a lock that another connection holds.
func isBusy(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY
}

// AsConflict wraps an error of a unique index or a foreign key in ErrConflict. A row that was read before has
// then changed, and the next attempt of Tx sees the change. Other errors are returned unchanged.
func AsConflict(err error) error {
	if IsDuplicate(err) || sqlgraph.IsForeignKeyConstraintError(err) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// IsDuplicate reports whether err means that a unique index rejected a row.
func IsDuplicate(err error) bool {
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return my.Number == 1062
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// CheckForeignKeys returns an error with the first row of an SQLite database that refers to a missing row. It
// reads all rows.
func CheckForeignKeys(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) error {
	var table, parent string
	var row, key sql.NullInt64
	err := db.QueryRowContext(ctx, "PRAGMA foreign_key_check").Scan(&table, &row, &parent, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("foreign keys: %w", err)
	}
	return fmt.Errorf("row %d of %s refers to a missing row of %s", row.Int64, table, parent)
}
