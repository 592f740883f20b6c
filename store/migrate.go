package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/sqlite"

	"github.com/almanac-cal/almanac/migrations"
)

// Revision is one migration and where it stands in a database.
type Revision struct {
	Version     string    // sorts in the order of application: 20261121103000
	Description string    // the file's name after the version
	Applied     int       // statements that ran
	Total       int       // statements in the file
	ExecutedAt  time.Time // UTC; zero when it never ran
	Error       string    // what the last attempt failed with
}

// Done reports whether every statement ran.
func (r Revision) Done() bool { return !r.ExecutedAt.IsZero() && r.Error == "" && r.Applied == r.Total }

// ErrBehind is returned by Current for a schema that misses migrations.
var ErrBehind = errors.New("the schema is behind")

var errNotEmpty = errors.New("want an empty database")

// Migrate applies the migrations that the database misses, in order, and returns them. Several processes may
// call it at once: one applies, the others wait and find nothing to do, or fail with ErrLocked after a minute.
// Migrations whose checksum does not match atlas.sum are refused.
//
// On MySQL a statement that fails leaves those before it applied: the next call resumes at it. On SQLite a
// call applies everything or nothing.
//
// operator is recorded with each revision: the program and its version.
func (s *Store) Migrate(ctx context.Context, operator string) ([]Revision, error) {
	return s.migrate(ctx, migrations.FS, operator)
}

func (s *Store) migrate(ctx context.Context, files fs.FS, operator string) (done []Revision, err error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return nil, err
	}
	// One connection carries the lock, the table and the statements.
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	end, err := s.lock(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, end(err == nil)) }()
	drv, err := s.driver(conn)
	if err != nil {
		return nil, err
	}

	if _, err := conn.ExecContext(ctx, revisionDDL[s.Engine()]); err != nil {
		return nil, fmt.Errorf("revision table: %w", err)
	}
	revs := revisions{conn}
	var began []string
	ex, err := migrate.NewExecutor(drv, dir, revs, migrate.WithOperatorVersion(operator),
		migrate.WithLogger(logFunc(func(e migrate.LogEntry) {
			if f, ok := e.(migrate.LogFile); ok {
				began = append(began, f.Version)
			}
		})))
	if err != nil {
		return nil, err
	}
	switch err := ex.ExecuteN(ctx, 0); {
	case errors.As(err, new(*migrate.NotCleanError)):
		return nil, fmt.Errorf("migrate: %s has tables, and no record of migrations: %w", s, errNotEmpty)
	case err != nil && !errors.Is(err, migrate.ErrNoPendingFiles):
		return nil, fmt.Errorf("migrate: %w", err)
	}
	for _, version := range began {
		rev, err := revs.ReadRevision(ctx, version)
		if err != nil {
			return nil, fmt.Errorf("revision %s: %w", version, err)
		}
		done = append(done, revisionOf(rev))
	}
	return done, nil
}

// driver is Atlas's view of a connection.
func (s *Store) driver(conn *sql.Conn) (migrate.Driver, error) {
	if s.Engine() == "sqlite" {
		return sqlite.Open(conn)
	}
	return mysql.Open(conn)
}

// Status lists all migrations in order: those of the binary, and those of the database the binary does not
// know. It changes nothing; a database without a revision table has applied none.
func (s *Store) Status(ctx context.Context) ([]Revision, error) {
	return s.status(ctx, migrations.FS)
}

func (s *Store) status(ctx context.Context, files fs.FS) ([]Revision, error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return nil, err
	}
	known, err := dir.Files()
	if err != nil {
		return nil, err
	}
	applied, err := s.applied(ctx)
	if err != nil {
		return nil, err
	}
	byVersion := make(map[string]Revision, len(applied))
	for _, r := range applied {
		byVersion[r.Version] = revisionOf(r)
	}
	out := make([]Revision, 0, len(known))
	for _, f := range known {
		rev, ok := byVersion[f.Version()]
		if !ok {
			stmts, err := f.Stmts()
			if err != nil {
				return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
			}
			rev = Revision{Version: f.Version(), Description: f.Desc(), Total: len(stmts)}
		}
		out = append(out, rev)
		delete(byVersion, f.Version())
	}
	for _, r := range applied {
		if rev, ok := byVersion[r.Version]; ok {
			out = append(out, rev)
		}
	}
	return out, nil
}

// Current returns nil when the database has every migration of the binary, and an error wrapping ErrBehind
// that says what is missing when it has not. A database that is ahead is fine: migrations only add, so an
// older binary can serve it during a rolling deployment.
func (s *Store) Current(ctx context.Context) error {
	return s.current(ctx, migrations.FS)
}

func (s *Store) current(ctx context.Context, files fs.FS) error {
	revs, err := s.status(ctx, files)
	if err != nil {
		return err
	}
	pending := 0
	for _, r := range revs {
		switch {
		case r.Error != "":
			return fmt.Errorf("%w: migration %s stopped at statement %d of %d: %s",
				ErrBehind, r.Version, r.Applied+1, r.Total, r.Error)
		case !r.Done():
			pending++
		}
	}
	if pending > 0 {
		return fmt.Errorf("%w: %d of %d migrations are not applied", ErrBehind, pending, len(revs))
	}
	return nil
}

// applied reads the revision table, if there is one.
func (s *Store) applied(ctx context.Context) ([]*migrate.Revision, error) {
	q := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if s.Engine() == "mysql" {
		q = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	}
	var n int
	if err := s.DB.QueryRowContext(ctx, q, revisionTable).Scan(&n); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	return revisions{s.DB}.ReadRevisions(ctx)
}

func revisionOf(r *migrate.Revision) Revision {
	return Revision{
		Version: r.Version, Description: r.Description, Applied: r.Applied, Total: r.Total,
		ExecutedAt: r.ExecutedAt.UTC(), Error: r.Error,
	}
}

// loadDir copies one folder into Atlas's in-memory directory and checks it against its atlas.sum.
func loadDir(files fs.FS, name string) (migrate.Dir, error) {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, err
	}
	dir := &migrate.MemDir{}
	for _, e := range entries {
		data, err := fs.ReadFile(files, name+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		if err := dir.WriteFile(e.Name(), data); err != nil {
			return nil, err
		}
	}
	if err := migrate.Validate(dir); err != nil {
		return nil, fmt.Errorf("migrations/%s: a file was changed after it was sealed in atlas.sum: %w", name, err)
	}
	return dir, nil
}

type logFunc func(migrate.LogEntry)

func (f logFunc) Log(e migrate.LogEntry) { f(e) }
