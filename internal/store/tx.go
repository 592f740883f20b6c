package store

import (
	"context"
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

// ErrConflict is returned by the function given to Tx to ask for another attempt: somebody else took in the
// meantime what the transaction was about to take.
var ErrConflict = errors.New("lost a race")

// attempts bounds the retries of Tx. With waits that double from 5 ms the last comes after about 1.3 s.
const attempts = 8

// Tx runs do in a transaction and commits it, or rolls everything back when do returns an error or panics.
// A deadlock, a lock that took too long and ErrConflict run it again from the start, so do must not keep
// anything from an attempt that failed. After the last attempt the error wraps ErrConflict.
func Tx(ctx context.Context, db *ent.Client, do func(tx *ent.Tx) error) error {
	return Again(ctx, func() error { return once(ctx, db, do) })
}

// Again runs one statement, as Tx does a transaction: again if it lost a race, whatever was in its way.
func Again(ctx context.Context, do func() error) error {
	for try := 0; ; try++ {
		err := do()
		if err == nil || !retryable(err) {
			return err
		}
		if try+1 == attempts {
			if errors.Is(err, ErrConflict) {
				return err
			}
			return fmt.Errorf("%w: %w", ErrConflict, err)
		}
		// Full jitter: racers that met once do not meet again.
		wait := time.Duration(rand.Int64N(int64(10*time.Millisecond) << try)) //nolint:gosec // nobody gains by guessing it
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

func once(ctx context.Context, db *ent.Client, do func(tx *ent.Tx) error) (err error) {
	tx, err := db.Tx(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// Also on panic. A rollback after the context ended finds the transaction gone already.
		if rollbackErr := tx.Rollback(); rollbackErr != nil && err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w (rollback: %w)", err, rollbackErr)
		}
	}()
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

// retryable reports whether the same transaction may succeed when it is run again.
func retryable(err error) bool {
	if errors.Is(err, ErrConflict) {
		return true
	}
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		switch my.Number {
		case 1205, // lock wait timeout
			1213, // deadlock
			1020, // record has changed since last read (MariaDB)
			8028, // TiDB: schema changed
			9007: // TiDB: write conflict
			return true
		}
		return false
	}
	return isBusy(err)
}

// isBusy reports whether err is SQLite refusing to wait for another writer.
func isBusy(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY
}

// isLockTimeout reports whether MySQL gave up waiting for a lock.
func isLockTimeout(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == 1205
}

// AsConflict turns the refusal of a write by a unique index or a foreign key into ErrConflict: a row that was looked up
// before has changed, and the next attempt of Tx will see it. It returns other errors as they are.
func AsConflict(err error) error {
	if IsDuplicate(err) || sqlgraph.IsForeignKeyConstraintError(err) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// IsDuplicate reports whether err is a unique index refusing a row.
func IsDuplicate(err error) bool {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number == 1062
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}
