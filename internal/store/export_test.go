package store

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
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

func (s *Store) SetFiles(ctx context.Context, files fs.FS, version string, o SetOptions) ([]SetChange, error) {
	return s.setVersion(ctx, files, version, o)
}

func (s *Store) StatusFiles(ctx context.Context, files fs.FS) ([]Revision, error) {
	return s.status(ctx, files)
}

func (s *Store) CurrentFiles(ctx context.Context, files fs.FS) error { return s.current(ctx, files) }

func (s *Store) SetLockWait(d time.Duration) { s.lockWait = d }

const LockName = lockName

func RevisionDDL(s *Store) string { return revisionDDL[s.Engine()] }

func ParseURL(text string) (config *mysql.Config, shown string, err error) {
	l, err := parseURL(text)
	return l.mysql, l.String(), err
}

// Limits is what the options of a URL come to.
type Limits struct {
	Open, Idle           int
	IdleTime, Age        time.Duration
	Timeout, Read, Write time.Duration
	DSN                  string
	Busy                 time.Duration
	PrepareAfter         int
}

func LimitsOf(text string) (Limits, error) {
	l, err := parseURL(text)
	if err != nil {
		return Limits{}, err
	}
	out := Limits{Open: l.pool.open, Idle: l.pool.idle, IdleTime: l.pool.idleTime, Age: l.pool.age, DSN: l.dsn, Busy: l.sqlite.busy, PrepareAfter: l.prepareAfter}
	if l.mysql != nil {
		out.Timeout, out.Read, out.Write = l.mysql.Timeout, l.mysql.ReadTimeout, l.mysql.WriteTimeout
	}
	return out, nil
}

// CheckStates is the error of a file of migrations/mysql that has no state for one of its statements.
func CheckStates(files fs.FS, name string) error {
	text, err := fs.ReadFile(files, "mysql/"+name)
	if err != nil {
		return err
	}
	dir := &migrate.MemDir{}
	if err := dir.WriteFile(name, text); err != nil {
		return err
	}
	version, _, _ := strings.Cut(name, "_")
	_, err = statesOf(files, dir, point{version, whole})
	return err
}

func WithLocks(sql string) []string { return withLocks(sql) }

// Inspect reads the tables of the database, without the record of migrations.
func (s *Store) Inspect(ctx context.Context) (found *schema.Schema, err error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := s.driver(conn)
	if err != nil {
		return nil, err
	}
	return inspect(ctx, drv)
}
