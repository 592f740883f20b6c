package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
)

// DatabaseIDSetting is the id of the setting with the database's random id. Backups lack it.
const DatabaseIDSetting = "database_id"

var (
	// ErrNoBackup is returned by Backup for a database that is not an SQLite file.
	ErrNoBackup = errors.New("only SQLite files are backed up this way")

	// ErrExists is returned by Backup if the target file exists and force is not set.
	ErrExists = errors.New("there is such a file already")
)

// Backup copies an SQLite database to a file, as it was at one moment, while other processes read and write. It
// returns the size of the copy in bytes. The copy is one compact file that only its owner can read. An existing
// file is replaced if force is set; otherwise the error wraps ErrExists.
//
// Backup writes the copy in a temporary folder beside the file, checks its pages and foreign keys, and renames
// it. So the file is never incomplete. If check is not nil, it may reject the copy with an error. A folder that
// a killed process left is removed by the next backup to the same place.
//
// The copy lacks DatabaseIDSetting, so that what was derived from the database is not taken for that of the copy.
//
// Writers do not wait for a backup. Their commits stay in the write-ahead log until it is done.
func (s *Store) Backup(
	ctx context.Context, file string, force bool, check func(ctx context.Context, copied *Store) error,
) (size int64, err error) {
	if s.url.dialect != dialect.SQLite || s.url.memory {
		return 0, fmt.Errorf("backup of %s: %w", s, ErrNoBackup)
	}
	if err := s.checkTarget(file, force); err != nil {
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
	// SQLite accepts an existing empty file as target.
	if _, err := s.DB.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return 0, fmt.Errorf("backup of %s: %w", s, err)
	}
	if err := removeDatabaseID(ctx, name); err != nil {
		return 0, fmt.Errorf("backup of %s: the copy: %w", s, err)
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

// checkTarget returns an error if Backup must not write to file: it is a folder or the database itself. If file
// exists and force is false, the error wraps ErrExists.
func (s *Store) checkTarget(file string, force bool) error {
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

// removeDatabaseID removes DatabaseIDSetting from an SQLite file. The file may lack the tables of Almanac.
func removeDatabaseID(ctx context.Context, file string) (err error) {
	db, err := sql.Open("sqlite", filePath(file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	const count = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if err := db.QueryRowContext(ctx, count, setting.Table).Scan(&tables); err != nil || tables == 0 {
		return err
	}
	_, err = ent.NewClient(ent.Driver(entsql.OpenDB(dialect.SQLite, db))).Setting.Delete().Where(setting.ID(DatabaseIDSetting)).Exec(ctx)
	return err
}

// checkCopy checks the pages and foreign keys of a copy, and calls check. It returns the size of the copy in
// bytes.
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

// renameCopy renames the finished copy to file. If force is false, it does not replace a file that another process
// has just created. That takes a file system with hard links.
func renameCopy(temp, file string, force bool) error {
	if force {
		return os.Rename(temp, file)
	}
	err := os.Link(temp, file)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", file, ErrExists)
	case err != nil: // the file system has no hard links
		return os.Rename(temp, file)
	}
	return nil
}

// syncFile flushes a file, or the names in a folder, to disk, so that they survive a power failure.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
