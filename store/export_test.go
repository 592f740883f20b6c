package store

import (
	"context"
	"io/fs"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What tests reach that others do not.

func (s *Store) MigrateFiles(ctx context.Context, files fs.FS) ([]Revision, error) {
	return s.migrate(ctx, files, "test")
}

func (s *Store) StatusFiles(ctx context.Context, files fs.FS) ([]Revision, error) {
	return s.status(ctx, files)
}

func (s *Store) CurrentFiles(ctx context.Context, files fs.FS) error { return s.current(ctx, files) }

func (s *Store) SetLockWait(d time.Duration) { s.lockWait = d }

const LockName = lockName

func ParseURL(text string) (config *mysql.Config, shown string, err error) {
	l, err := parseURL(text)
	return l.mysql, l.String(), err
}
