package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"ariga.io/atlas/sql/schema"
)

// ErrLocked is returned by Open and Migrate when another process did not let go of the database, or
// of a table, in time.
var ErrLocked = errors.New("the database is locked by another process")

// lockName is the lock the Atlas CLI takes on MySQL, so that the two exclude each other.
const lockName = "atlas_migrate_execute"

// lockWait is how long Migrate waits for another process.
const lockWait = time.Minute

// outcome is how a run under the lock ended. Only when rows may have suffered are foreign keys looked at, which reads
// all rows while writers wait.
type outcome int

const (
	failed outcome = iota
	untouched
	applied
)

// lock keeps other processes from migrating until end is called, with whether all went well.
// wait is how long it may take to get there.
func (s *Store) lock(ctx context.Context, conn *sql.Conn, wait time.Duration) (end func(outcome) error, err error) {
	if s.Engine() == "sqlite" {
		return lockSQLite(ctx, conn, wait)
	}
	return s.lockMySQL(ctx, conn, wait)
}

// lockMySQL takes a named lock, which belongs to the connection and ends with it. Its statements wait no longer
// for tables either.
//
// A statement goes on at the server when the process that sent it ends, and the lock with it. So nothing of an
// interrupted run goes on when the next one has the lock.
func (s *Store) lockMySQL(ctx context.Context, conn *sql.Conn, wait time.Duration) (end func(outcome) error, err error) {
	drv, err := s.driver(conn)
	if err != nil {
		return nil, err
	}
	// The server counts in seconds.
	seconds := time.Duration(math.Ceil(wait.Seconds())) * time.Second
	unlock, err := drv.Lock(ctx, lockName, seconds)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(fmt.Errorf("waiting for %s: %w", lockName, ctx.Err()), discard(conn))
	case errors.Is(err, schema.ErrLocked):
		return nil, fmt.Errorf("%w, for more than %s: %s", ErrLocked, wait, lockHolder(ctx, conn))
	case err != nil:
		return nil, err
	}
	// A statement that changes a table waits for transactions that use it, and whoever comes later waits behind it:
	// by MySQL's default for a year.
	err = tableWait(ctx, conn, max(seconds, time.Second))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock_wait_timeout: %w", err), discard(conn))
	}
	return func(outcome) error {
		// Also when ctx has ended: in the pool the connection would keep the lock and its time to wait.
		err := tableWait(context.WithoutCancel(ctx), conn, tableLockWait*time.Second)
		if err == nil {
			err = unlock()
		}
		if err != nil {
			return discard(conn)
		}
		return nil
	}, nil
}

// tableWait sets how long the statements of a connection wait for a table.
func tableWait(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(wait.Seconds())))
	return err
}

// lockSQLite takes SQLite's own write lock for the whole run, in a transaction that end commits or rolls back.
// Foreign keys go off before it begins, where the pragma still works: rebuilding a table would otherwise
// cascade its DROP to the rows that refer to it. They are checked before the commit instead.
//
// The lock Atlas offers here is one file for all databases of a machine, and does not wait.
func lockSQLite(ctx context.Context, conn *sql.Conn, wait time.Duration) (end func(outcome) error, err error) {
	// The connection goes back to the pool, so it must be left as it was, whatever happened to ctx.
	cleanUp := context.WithoutCancel(ctx)
	restore := func() error {
		if _, err := conn.ExecContext(cleanUp, "PRAGMA foreign_keys = on"); err != nil {
			return discard(conn)
		}
		return nil
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = off"); err != nil {
		return nil, errors.Join(fmt.Errorf("foreign keys: %w", err), restore())
	}
	if err := beginImmediate(ctx, conn, wait); err != nil {
		return nil, errors.Join(err, restore())
	}
	return func(o outcome) (err error) {
		defer func() { err = errors.Join(err, restore()) }()
		if o != failed {
			if o == applied {
				err = checkForeignKeys(cleanUp, conn)
			}
			if err == nil {
				if _, err = conn.ExecContext(cleanUp, "COMMIT"); err == nil {
					return nil
				}
			}
		}
		if _, rollbackErr := conn.ExecContext(cleanUp, "ROLLBACK"); rollbackErr != nil {
			// An interrupted statement may have rolled back already; closing the connection does in any case.
			return errors.Join(err, discard(conn))
		}
		return err
	}, nil
}

// beginImmediate begins a transaction that writes, as soon as no other process does. It waits as long as it is told here,
// and not as connections wait at other times.
func beginImmediate(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	return whenFree(ctx, wait, func() error {
		return conn.Raw(func(raw any) error {
			k, ok := raw.(*keeper)
			if !ok {
				return fmt.Errorf("%T is no connection to SQLite", raw)
			}
			_, err := k.exec(ctx, "BEGIN IMMEDIATE", nil)
			return err
		})
	})
}

// whenFree repeats do while another process keeps SQLite busy.
func whenFree(ctx context.Context, wait time.Duration, do func() error) error {
	_, err := patiently(ctx, wait, func() (struct{}, error) { return struct{}{}, do() })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the database: %w", ctx.Err())
	case !isBusy(err):
		return err
	}
	return fmt.Errorf("%w, for more than %s", ErrLocked, wait)
}

// discard closes the connection itself instead of giving it back to the pool.
func discard(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

func checkForeignKeys(ctx context.Context, conn *sql.Conn) error {
	var table, parent string
	var row, key sql.NullInt64
	err := conn.QueryRowContext(ctx, "PRAGMA foreign_key_check").Scan(&table, &row, &parent, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("foreign keys: %w", err)
	}
	return fmt.Errorf("row %d of %s refers to a missing row of %s", row.Int64, table, parent)
}
