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
	// ErrNoBackup is returned by Backup for a database that it cannot copy: only files of SQLite can be.
	ErrNoBackup = errors.New("only SQLite files are backed up this way")

	// ErrExists is returned by Backup for a file that is there and is not to be replaced.
	ErrExists = errors.New("there is such a file already")
)

// BackupReport is what Backup made.
type BackupReport struct {
	File    string
	Bytes   int64
	Version string // of the last migration in the copy, empty when it has none
	Drift   int    // statements that would mend the tables of the copy, as Verify's
}

// Backup copies the database to a file as it is at one moment, while others read and write. The copy is made
// in a folder beside the file, checked, and renamed when it is whole: at no time is there half a file.
// It is readable by its owner only. An existing file is replaced with force, and is an ErrExists otherwise.
// The folder is removed at the end. One that a killed process left is removed by the next backup to the same place.
//
// The copy is compact and in one file. Writers do not wait for it; what they write meanwhile stays in the
// write-ahead log until it is done.
func (s *Store) Backup(ctx context.Context, file string, force bool) (report BackupReport, err error) {
	if s.url.dialect != dialect.SQLite || s.url.memory {
		return BackupReport{}, fmt.Errorf("backup of %s: %w", s, ErrNoBackup)
	}
	if err := s.mayWrite(file, force); err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	temp, err := newTempFolder(filepath.Dir(file))
	if err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, temp.remove()) }()
	name := temp.file()
	empty, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	if err := empty.Close(); err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	// SQLite writes into an empty file that is there.
	if _, err := s.DB.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return BackupReport{}, fmt.Errorf("backup of %s: %w", s, err)
	}
	report, err = examine(ctx, name)
	if err != nil {
		return BackupReport{}, fmt.Errorf("backup of %s: the copy: %w", s, err)
	}
	report.File = file
	if err := flushed(name); err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	if err := place(name, file, force); err != nil {
		return BackupReport{}, fmt.Errorf("backup: %w", err)
	}
	return report, flushed(filepath.Dir(file))
}

// mayWrite checks what is at the place of the copy, before the work is done.
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

// examine checks a copy, page by page and against its own record of migrations.
func examine(ctx context.Context, file string) (report BackupReport, err error) {
	st, err := OpenReading(ctx, "sqlite://"+file)
	if err != nil {
		return BackupReport{}, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var found string
	if err := st.DB.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return BackupReport{}, err
	}
	if found != "ok" {
		return BackupReport{}, fmt.Errorf("integrity: %s", found)
	}
	conn, err := st.DB.Conn(ctx)
	if err != nil {
		return BackupReport{}, err
	}
	err = errors.Join(checkForeignKeys(ctx, conn), conn.Close())
	if err != nil {
		return BackupReport{}, err
	}
	drift, err := st.Verify(ctx, nil)
	if err != nil && !errors.Is(err, ErrNoRecord) {
		return BackupReport{}, err
	}
	at, err := os.Stat(file)
	if err != nil {
		return BackupReport{}, err
	}
	return BackupReport{Bytes: at.Size(), Version: drift.Version, Drift: len(drift.Mend)}, nil
}

// place gives the copy its name. Without force a file that somebody else made meanwhile is not replaced.
func place(temp, file string, force bool) error {
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

// flushed makes sure that a file, or the names in a folder, are there after a loss of power.
func flushed(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
