package store

import (
	"context"
	"io/fs"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What tests reach that others do not.

func (s *Store) MigrateFiles(ctx context.Context, files fs.FS) ([]Revision, error) {
	return s.migrate(ctx, files, MigrateOptions{Operator: "test"})
}

func (s *Store) MigrateFilesWith(ctx context.Context, files fs.FS, o MigrateOptions) ([]Revision, error) {
	return s.migrate(ctx, files, o)
}

func (s *Store) PlanFiles(ctx context.Context, files fs.FS, to string) (Plan, error) {
	return s.plan(ctx, files, to)
}

func (s *Store) VerifyFiles(ctx context.Context, files fs.FS, dev *Store) (Drift, error) {
	return s.verify(ctx, files, dev)
}

func (s *Store) BaselineFiles(ctx context.Context, files fs.FS, version string, o BaselineOptions) error {
	return s.baseline(ctx, files, version, o)
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
