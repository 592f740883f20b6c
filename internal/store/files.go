package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrFilesReplaced is returned for writes to an SQLite database if one of its files was removed or replaced
// while this process had it open. Other processes would never see such writes (decision 026). New connections
// return it too.
var ErrFilesReplaced = errors.New("a file of the SQLite database was removed or replaced while it was open; " +
	"writes are refused until all processes on it are restarted")

// sqliteFiles compares the files that a pool of SQLite connections has open with the files at their paths. The
// files are the database, its write-ahead log and the index of the log. SQLite does not notice a removed or
// replaced file, and continues to write to files that other processes cannot open. A nil sqliteFiles checks
// nothing. It is safe for concurrent use.
type sqliteFiles struct {
	path string // path of the database file, as in the URL

	mu    sync.Mutex
	conns int          // number of open connections; while there is one, SQLite removes no file
	known [3]knownFile // the files as they were when opened; valid while conns > 0
	lost  error        // wraps ErrFilesReplaced once a replaced file was detected; never reset
	saved bool         // true after all commits were written to the database file
}

// knownFile identifies a file as it was when this process opened it. If info is nil, the file is not checked, because
// the database has no write-ahead log.
type knownFile struct {
	path string
	info os.FileInfo
}

// create creates the database file if it is missing, readable by its owner only. SQLite would leave the mode to the
// umask, and gives the log files the mode of the database file. An existing file keeps its mode. If a file cannot be
// created, create returns nil, because SQLite then reports the reason.
func (f *sqliteFiles) create() error {
	if f == nil {
		return nil
	}
	made, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.As(err, new(*fs.PathError)) {
		return nil
	}
	return errors.Join(err, made.Close())
}

// check returns an error that wraps ErrFilesReplaced if a file differs from the opened one, now or at an
// earlier check. Other errors mean that the file system does not respond.
func (f *sqliteFiles) check() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked()
}

func (f *sqliteFiles) checkLocked() error {
	if f.lost != nil || f.conns == 0 {
		return f.lost
	}
	for _, k := range f.known {
		if k.info == nil {
			continue
		}
		is, err := os.Stat(k.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.lost = fmt.Errorf("%w: %s was removed", ErrFilesReplaced, k.path)
		case err != nil:
			return fmt.Errorf("files of the database: %w", err)
		case !os.SameFile(k.info, is):
			f.lost = fmt.Errorf("%w: %s was replaced", ErrFilesReplaced, k.path)
		default:
			continue
		}
		return f.lost
	}
	return nil
}

// add counts a new connection, which must have read from the database already. If wal is true, the database has a
// write-ahead log. The first connection records the files; later ones compare them.
func (f *sqliteFiles) add(wal bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns > 0 || f.lost != nil {
		if err := f.checkLocked(); err != nil {
			return err
		}
		f.conns++
		return nil
	}
	// SQLite follows symbolic links to the database file and creates the other files beside the target.
	at, err := filepath.EvalSymlinks(f.path)
	if err == nil {
		at, err = filepath.Abs(at)
	}
	if err != nil {
		return fmt.Errorf("files of the database: %w", err)
	}
	f.known = [3]knownFile{{path: f.path}, {path: at + "-wal"}, {path: at + "-shm"}}
	for i := range f.known {
		if i > 0 && !wal {
			continue
		}
		if f.known[i].info, err = os.Stat(f.known[i].path); err != nil {
			return fmt.Errorf("files of the database: %w", err)
		}
	}
	f.conns++
	return nil
}

// remove counts a connection that is about to close. It returns true if the caller must leave the SQLite connection
// open because a file was replaced. Closing it would make SQLite remove the new files.
func (f *sqliteFiles) remove() (abandon bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// If the file system does not respond, the next connection checks again.
	_ = f.checkLocked()
	f.conns--
	return f.lost != nil
}

// isSavable reports whether commits in the removed write-ahead log can still be written to the database file. The
// database file must be the one that was opened, and no other process may use a new log. The result is false once the
// commits are saved.
func (f *sqliteFiles) isSavable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost == nil || f.saved || f.known[1].info == nil {
		return false
	}
	is, err := os.Stat(f.known[0].path)
	if err != nil || !os.SameFile(f.known[0].info, is) {
		return false
	}
	is, err = os.Stat(f.known[1].path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && is.Size() == 0 && f.isLogUnused()
}

// isLogUnused reports whether an empty log at the log's path is unused by other processes. If this process opened a
// connection while the log was removed, SQLite created a new log, but used the old index. Any other process creates a
// new index. The caller must hold f.mu.
func (f *sqliteFiles) isLogUnused() bool {
	index := f.known[2]
	is, err := os.Stat(index.path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(index.info, is)
}

func (f *sqliteFiles) setSaved() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved = true
	f.lost = fmt.Errorf("%w; all commits were saved to the database file", f.lost)
}

// countOpened adds a new connection to the files' count, and compares the files if it is not the first. It reads from
// the database first, because SQLite opens the log at the first read.
func (k *cachingConn) countOpened(ctx context.Context) error {
	if k.files == nil {
		return nil
	}
	if _, err := k.value(ctx, "PRAGMA schema_version"); err != nil {
		return err
	}
	mode, err := k.value(ctx, "PRAGMA journal_mode")
	if err != nil {
		return err
	}
	return k.files.add(mode == "wal")
}

// checkOrSave checks that no database file was removed or replaced. It is called before each write and after each
// commit. If a file was replaced, it returns an error that wraps ErrFilesReplaced, and tries to save earlier commits
// to the database file.
func (k *cachingConn) checkOrSave() error {
	err := k.files.check()
	if err == nil || !k.files.isSavable() {
		return err
	}
	if err := k.save(); err != nil {
		return errors.Join(k.files.check(), fmt.Errorf("saving the commits of the removed log: %w", err))
	}
	k.files.setSaved()
	return k.files.check()
}

// saveTimeout is the time for which save waits for open transactions.
const saveTimeout = 5 * time.Second

// save checkpoints the write-ahead log: it copies all commits in the log to the database file. The log was removed,
// but this process still has it open.
func (k *cachingConn) save() error {
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	for {
		row, err := k.row(ctx, "PRAGMA wal_checkpoint(FULL)", 3)
		if err != nil && !isHeld(err) {
			return err
		}
		if err == nil && row[0] == int64(0) && row[1] == row[2] {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("others are still writing: %w", ctx.Err())
		case <-time.After(lockPauses[3]):
		}
	}
}

// value runs a query and returns its single value. Nil means that there is no row. It waits for locks.
func (k *cachingConn) value(ctx context.Context, query string) (driver.Value, error) {
	row, err := retryWhileHeld(ctx, k.wait, func() ([]driver.Value, error) { return k.row(ctx, query, 1) })
	if err != nil {
		return nil, err
	}
	return row[0], nil
}

// row runs a query and returns its first row, with nil values if there is none.
func (k *cachingConn) row(ctx context.Context, query string, columns int) (row []driver.Value, err error) {
	rows, err := k.sqlConn.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row = make([]driver.Value, columns)
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return row, nil
}

// CheckFiles returns an error that wraps ErrFilesReplaced if a file of the SQLite database was removed or
// replaced while this process had it open. It tries to save earlier commits. Every write makes the same check;
// CheckFiles is for processes that are idle.
func (s *Store) CheckFiles(ctx context.Context) error {
	if s.files.check() == nil {
		return nil
	}
	if !s.files.isSavable() {
		return s.files.check()
	}
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return errors.Join(s.files.check(), err)
	}
	err = conn.Raw(func(raw any) error {
		k, ok := raw.(*cachingConn)
		if !ok {
			return fmt.Errorf("%T is no connection to SQLite", raw)
		}
		return k.checkOrSave()
	})
	return errors.Join(err, conn.Close())
}
