package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrLocked is returned if another process did not release the database, or a table, in time.
var ErrLocked = errors.New("the database is locked by another process")

// lockPauses are the pauses between attempts to get a lock of SQLite, the same as SQLite's own. The last one repeats.
var lockPauses = [...]time.Duration{
	1 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond,
	20 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond,
}

// retryWhileHeld retries do while another connection has the lock of SQLite that it needs, for at most so long. After that
// it returns SQLite's error. If ctx ends first, the error wraps that of ctx too. SQLite's own wait (busy_timeout) does not
// end with ctx, so connections do not use it.
func retryWhileHeld[T any](ctx context.Context, most time.Duration, do func() (T, error)) (T, error) {
	got, err := do()
	if err == nil {
		return got, nil
	}
	began := time.Now()
	for try := 0; isHeld(err); try++ {
		pause := min(lockPauses[min(try, len(lockPauses)-1)], most-time.Since(began))
		if pause <= 0 {
			break
		}
		select {
		case <-ctx.Done():
			return got, fmt.Errorf("waiting for another writer: %w: %w", ctx.Err(), err)
		case <-time.After(pause):
		}
		got, err = do()
	}
	return got, err
}

// isHeld reports whether err is about a lock that its holder will release. A transaction that has read before another one
// wrote is busy too, until it ends; isHeld is false for it.
func isHeld(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY && lite.Code() != sqlite3.SQLITE_BUSY_SNAPSHOT
}

// BeginImmediate begins a write transaction on a connection to SQLite as soon as no other process writes. It waits for at
// most so long, whatever the URL says. After that its error wraps ErrLocked.
func BeginImmediate(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	return retryWhileBusy(ctx, wait, func() error {
		return conn.Raw(func(raw any) error {
			k, ok := raw.(*cachingConn)
			if !ok {
				return fmt.Errorf("%T is no connection to SQLite", raw)
			}
			_, err := k.exec(ctx, "BEGIN IMMEDIATE", nil)
			return err
		})
	})
}

// retryWhileBusy retries do while another process keeps SQLite busy. After wait its error wraps ErrLocked.
func retryWhileBusy(ctx context.Context, wait time.Duration, do func() error) error {
	_, err := retryWhileHeld(ctx, wait, func() (struct{}, error) { return struct{}{}, do() })
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
