package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/store"
)

// lockHistory prevents other processes from migrating until the caller calls end. wait is the time limit for getting
// the lock. 0 means defaultLockWait, a negative value means no wait.
func lockHistory(
	ctx context.Context, st *store.Store, conn *sql.Conn, wait time.Duration,
) (end func(runOutcome) error, err error) {
	if wait == 0 {
		wait = defaultLockWait
	}
	wait = max(wait, 0)
	if st.Engine() == "sqlite" {
		return lockSQLite(ctx, conn, wait)
	}
	drv, err := newDriver(ctx, st, conn)
	if err != nil {
		return nil, err
	}
	return lockMySQL(ctx, drv, conn, wait)
}

// whileLocked calls do while holding the lock, after reading the record of migrations again. The function do
// must not change rows or references between them; see runRiskedReferences.
func (h *history) whileLocked(ctx context.Context, wait time.Duration, do func() error) (err error) {
	end, err := lockHistory(ctx, h.store, h.conn, wait)
	if err != nil {
		return err
	}
	defer func() {
		ended := runUnchanged
		if err != nil {
			ended = runFailed
		}
		err = errors.Join(err, end(ended))
	}()
	if err := h.read(ctx); err != nil {
		return err
	}
	return do()
}

// lockName is the name of the MySQL lock that the Atlas CLI takes too, so that only one of the programs
// migrates at a time.
const lockName = "atlas_migrate_execute"

// defaultLockWait is the default time to wait for another migrating process.
const defaultLockWait = time.Minute

// runOutcome is the result of applying migrations under the lock. It decides how the lock is released. Foreign keys
// are checked only after runRiskedReferences, because the check reads all rows while writers wait.
type runOutcome int

const (
	runFailed runOutcome = iota
	runUnchanged
	runRiskedReferences
)

// lockMySQL takes a named lock, which belongs to the connection and ends with it. It also sets the time for
// which the statements of the connection wait for tables.
//
// A statement may continue at the server after its process has ended. The connection keeps the lock until then.
// So no statement of an interrupted run is still running when the next run gets the lock.
func lockMySQL(
	ctx context.Context, drv atlasDriver, conn *sql.Conn, wait time.Duration,
) (end func(runOutcome) error, err error) {
	// The server accepts whole seconds only.
	seconds := time.Duration(math.Ceil(wait.Seconds())) * time.Second
	unlock, err := acquireLock(ctx, drv, seconds)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(fmt.Errorf("waiting for %s: %w", lockName, ctx.Err()), discardConnection(conn))
	case errors.Is(err, schema.ErrLocked):
		return nil, fmt.Errorf("%w, for more than %s: %s", store.ErrLocked, wait, lockHolder(ctx, conn))
	case err != nil:
		return nil, err
	}
	// A statement that changes a table waits for transactions that use it, and all later statements wait behind
	// it. MySQL's default limit is a year.
	err = setTableWait(ctx, conn, max(seconds, time.Second))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock_wait_timeout: %w", err), discardConnection(conn))
	}
	return func(runOutcome) error {
		// This runs even if ctx has ended: a pooled connection must not keep the lock or the time limit.
		err := setTableWait(context.WithoutCancel(ctx), conn, store.TableLockWait)
		if err == nil {
			err = unlock()
		}
		if err != nil {
			return discardConnection(conn)
		}
		return nil
	}, nil
}

// errUnknown is MySQL's error number for errors without their own number. TiDB returns it if too many
// connections wait for a lock.
const errUnknown = 1105

// acquireLock takes the migration lock. It returns schema.ErrLocked after waiting for wait, a number of whole
// seconds.
func acquireLock(ctx context.Context, drv atlasDriver, wait time.Duration) (schema.UnlockFunc, error) {
	const pause = 200 * time.Millisecond
	began, left := time.Now(), wait
	for {
		unlock, err := drv.Lock(ctx, lockName, left)
		if my, ok := errors.AsType[*mysql.MySQLError](err); !ok || my.Number != errUnknown {
			return unlock, err
		}
		left = (wait - time.Since(began)).Round(time.Second)
		if left <= 0 {
			return nil, fmt.Errorf("%w: %w", schema.ErrLocked, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// setTableWait sets the time for which the statements of a connection wait for a table.
func setTableWait(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(wait.Seconds())))
	return err
}

// lockSQLite takes SQLite's write lock for the whole run, in a transaction that end commits or rolls back. It
// disables foreign keys first, because the pragma has no effect in a transaction. With foreign keys enabled,
// dropping a rebuilt table would delete the rows that refer to it. They are checked before the commit instead.
//
// Atlas's own lock for SQLite is one file for all databases of a machine, and does not wait.
func lockSQLite(ctx context.Context, conn *sql.Conn, wait time.Duration) (end func(runOutcome) error, err error) {
	// The connection returns to the pool, so its settings are restored even if ctx has ended.
	cleanUp := context.WithoutCancel(ctx)
	restore := func() error {
		if _, err := conn.ExecContext(cleanUp, "PRAGMA foreign_keys = on"); err != nil {
			return discardConnection(conn)
		}
		return nil
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = off"); err != nil {
		return nil, errors.Join(fmt.Errorf("foreign keys: %w", err), restore())
	}
	if err := store.BeginImmediate(ctx, conn, wait); err != nil {
		return nil, errors.Join(err, restore())
	}
	return func(o runOutcome) (err error) {
		defer func() { err = errors.Join(err, restore()) }()
		if o != runFailed {
			if o == runRiskedReferences {
				err = store.CheckForeignKeys(cleanUp, conn)
			}
			if err == nil {
				if _, err = conn.ExecContext(cleanUp, "COMMIT"); err == nil {
					return nil
				}
			}
		}
		if _, rollbackErr := conn.ExecContext(cleanUp, "ROLLBACK"); rollbackErr != nil {
			// An interrupted statement may already have rolled back. Closing the connection rolls back in any
			// case.
			return errors.Join(err, discardConnection(conn))
		}
		return err
	}, nil
}

// discardConnection closes the connection instead of returning it to the pool.
func discardConnection(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}
