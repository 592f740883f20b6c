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

// ErrLocked is returned if another process held a lock on the database or a table for too long.
var ErrLocked = errors.New("the database is locked by another process")

// lockPauses are the pauses between attempts to get an SQLite lock. They equal SQLite's own. The last one
// repeats.
var lockPauses = [...]time.Duration{
	1 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond,
	20 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond,
}

// retryWhileHeld retries do while another connection holds the SQLite lock that it needs. After the time limit it
// returns SQLite's error. If ctx ends first, the error also wraps that of ctx. SQLite's own waiting (busy_timeout)
// ignores ctx, so it is not used.
func retryWhileHeld[T any](ctx context.Context, limit time.Duration, do func() (T, error)) (T, error) {
	got, err := do()
	if err == nil {
		return got, nil
	}
	began := time.Now()
	for try := 0; isHeld(err); try++ {
		pause := min(lockPauses[min(try, len(lockPauses)-1)], limit-time.Since(began))
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

// isHeld reports whether err means that another connection holds a lock, so that a retry may succeed. It is false for
// a transaction that read before another one wrote. A retry of its statement fails until the transaction ends.
func isHeld(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY && lite.Code() != sqlite3.SQLITE_BUSY_SNAPSHOT
}

// BeginImmediate begins a write transaction on an SQLite connection once no other process writes. It waits for
// at most wait, whatever the URL says. After that the error wraps ErrLocked.
func BeginImmediate(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	return retryWhileBusy(ctx, wait, func() error {
		return conn.Raw(func(raw any) error {
			k, ok := raw.(*cachingConn)
			if !ok {
				return fmt.Errorf("%T is no connection to SQLite", raw)
			}
			const begin = "BEGIN IMMEDIATE"
			_, err := k.exec(ctx, begin, nil)
			if err == nil {
				k.noteTransaction(begin)
			}
			return err
		})
	})
}

// retryWhileBusy calls do again while another process keeps SQLite busy. After wait the error wraps ErrLocked.
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
