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

// pauses are those between attempts to get a lock of SQLite, the same as its own. The last one goes on.
var pauses = [...]time.Duration{
	1 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond,
	20 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond,
}

// patiently does what may need a lock of SQLite, again and again while another connection has it, for at most so long.
// The error is SQLite's then, and with that of ctx when it ends first. SQLite's own waiting (busy_timeout) would not
// listen to ctx; connections have it off.
func patiently[T any](ctx context.Context, most time.Duration, do func() (T, error)) (T, error) {
	got, err := do()
	if err == nil {
		return got, nil
	}
	began := time.Now()
	for try := 0; isHeld(err); try++ {
		pause := min(pauses[min(try, len(pauses)-1)], most-time.Since(began))
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

// isHeld reports whether err is that of a lock which its holder will give back. A transaction that has read before
// others wrote is busy too, for as long as it goes on.
func isHeld(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_BUSY && lite.Code() != sqlite3.SQLITE_BUSY_SNAPSHOT
}

// BeginImmediate begins a write transaction on a connection to SQLite as soon as no other process writes. It waits for at
// most so long, whatever the URL says. After that its error wraps ErrLocked.
func BeginImmediate(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
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
