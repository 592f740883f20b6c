package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"entgo.io/ent/dialect"
)

var (
	// ErrNoBackup is returned by Backup for a database that is not a file of SQLite.
	ErrNoBackup = errors.New("only SQLite files are backed up this way")

	// ErrExists is returned by Backup if the file exists and may not be replaced.
	ErrExists = errors.New("there is such a file already")
)

// Backup copies the database to a file, as it is at one moment while other processes read and write. It returns the size of
// the copy in bytes. Backup writes the copy in a folder beside the file, checks its pages and foreign keys, passes it to
// check unless that is nil, and renames it. An error of check refuses the copy. So the file is never incomplete, and only
// its owner can read it. An existing file is replaced if force is set. Otherwise the error wraps ErrExists.
// Backup removes the folder at the end. The next backup to the same place removes a folder that a killed process left.
//
// The copy is compact and one file. Writers do not wait for it. What they write meanwhile stays in the write-ahead log
// until it is done.
func (s *Store) Backup(
	ctx context.Context, file string, force bool, check func(ctx context.Context, copied *Store) error,
) (size int64, err error) {
	if s.url.dialect != dialect.SQLite || s.url.memory {
		return 0, fmt.Errorf("backup of %s: %w", s, ErrNoBackup)
	}
	if err := s.mayWrite(file, force); err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	temp, err := newTempFolder(filepath.Dir(file))
	if err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, temp.remove()) }()
	name := temp.file()
	empty, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	if err := empty.Close(); err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	// SQLite writes into an empty file that is there.
	if _, err := s.DB.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return 0, fmt.Errorf("backup of %s: %w", s, err)
	}
	if size, err = checkCopy(ctx, name, check); err != nil {
		return 0, fmt.Errorf("backup of %s: the copy: %w", s, err)
	}
	if err := syncFile(name); err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	if err := renameCopy(name, file, force); err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	return size, syncFile(filepath.Dir(file))
}

// mayWrite checks that the copy may be written to a file.
func (s *Store) mayWrite(file string, force bool) error {
	there, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case there.IsDir():
		return fmt.Errorf("%s is a folder", file)
	case !force:
		return fmt.Errorf("%s: %w", file, ErrExists)
	}
	own, err := os.Stat(s.url.file)
	if err != nil {
		return err
	}
	if os.SameFile(own, there) {
		return fmt.Errorf("%s is the database itself", file)
	}
	return nil
}

// checkCopy checks a copy: its pages, its foreign keys and what check checks. It returns the size in bytes.
func checkCopy(
	ctx context.Context, file string, check func(ctx context.Context, copied *Store) error,
) (size int64, err error) {
	st, err := OpenReading(ctx, "sqlite://"+file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var found string
	if err := st.DB.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return 0, err
	}
	if found != "ok" {
		return 0, fmt.Errorf("integrity: %s", found)
	}
	if err := CheckForeignKeys(ctx, st.DB); err != nil {
		return 0, err
	}
	if check != nil {
		if err := check(ctx, st); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// renameCopy gives the copy its name. Without force it does not replace a file that another process made meanwhile.
func renameCopy(temp, file string, force bool) error {
	if force {
		return os.Rename(temp, file)
	}
	err := os.Link(temp, file)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", file, ErrExists)
	case err != nil: // a file system without links
		return os.Rename(temp, file)
	}
	return nil
}

// syncFile makes a file, or the names in a folder, survive a loss of power.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
