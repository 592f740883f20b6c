package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
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
	Baseline    bool      // never ran: the database had its tables when it was taken over
}

// State is where a migration stands.
type State string

// The states of a migration.
const (
	Pending     State = "pending"
	Applied     State = "applied"
	Baseline    State = "baseline"
	Interrupted State = "interrupted" // between two statements, or with its process; Migrate goes on there
	Failed      State = "failed"
)

// State tells where the migration stands.
func (r Revision) State() State {
	switch {
	case r.Baseline:
		return Baseline
	case r.Error == errInterrupted.Error():
		return Interrupted
	case r.Error != "":
		return Failed
	case r.ExecutedAt.IsZero():
		return Pending
	case r.Applied == r.Total:
		return Applied
	}
	return Interrupted
}

// Done reports whether nothing is left to run.
func (r Revision) Done() bool { return r.State() == Applied || r.State() == Baseline }

var (
	// ErrBehind is returned by Current for a schema that misses migrations.
	ErrBehind = errors.New("the schema is behind")

	// ErrVersion is returned where a version is asked for that no migration has.
	ErrVersion = errors.New("no such version")

	errNotEmpty    = errors.New("want an empty database, or one that was taken over with a baseline")
	errInterrupted = errors.New("interrupted")
)

// MigrateOptions is how MigrateWith goes about it. The zero value applies everything.
type MigrateOptions struct {
	Operator string // recorded with each revision: the program and its version
	To       string // the last version to apply; empty for all
	// LockWait is how long to wait for another process that migrates, and on MySQL for transactions that use a
	// table: 0 for a minute, negative for not at all.
	LockWait time.Duration
	Progress func(Step) // called before each statement
}

// Migrate applies the migrations that the database misses, in order, and returns them. Several processes may
// call it at once: one applies, the others wait and find nothing to do, or fail with ErrLocked after a minute.
// Migrations whose checksum does not match atlas.sum are refused.
//
// On MySQL a statement that fails leaves those before it applied: the next call resumes at it. So does the end
// of ctx, which is heeded between statements and not within one, because the server may well finish a statement
// that nobody waits for. Only a process or connection that dies within a statement can leave one that ran and
// is not recorded; Verify shows it. On SQLite a call applies everything or nothing.
//
// operator is recorded with each revision: the program and its version.
func (s *Store) Migrate(ctx context.Context, operator string) ([]Revision, error) {
	return s.MigrateWith(ctx, MigrateOptions{Operator: operator})
}

// MigrateWith is Migrate with options. An unknown version is an error wrapping ErrVersion.
func (s *Store) MigrateWith(ctx context.Context, o MigrateOptions) ([]Revision, error) {
	return s.migrate(ctx, migrations.FS, o)
}

func (s *Store) migrate(ctx context.Context, files fs.FS, o MigrateOptions) (done []Revision, err error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return nil, err
	}
	if err := isVersion(dir, o.To); err != nil {
		return nil, err
	}
	// One connection carries the lock, the table and the statements.
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	wait := s.lockWait
	if o.LockWait != 0 {
		wait = max(o.LockWait, 0)
	}
	end, err := s.lock(ctx, conn, wait)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	ended := untouched
	defer func() {
		if err != nil {
			ended = failed
		}
		err = errors.Join(err, end(ended))
	}()
	if _, err := conn.ExecContext(ctx, revisionDDL[s.Engine()]); err != nil {
		return nil, fmt.Errorf("revision table: %w", err)
	}
	drv, err := s.driver(conn)
	if err != nil {
		return nil, err
	}

	revs := revisions{conn}
	run := &runner{atlasDriver: drv, ctx: ctx, progress: o.Progress}
	ex, err := migrate.NewExecutor(run, dir, revs, migrate.WithOperatorVersion(o.Operator), migrate.WithLogger(run))
	if err != nil {
		return nil, err
	}
	pending, err := s.pending(ctx, ex, o.To)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	defer func() {
		if run.touched {
			ended = applied
		}
	}()
	runCtx := ctx
	if s.Engine() == "mysql" {
		runCtx = context.WithoutCancel(ctx)
	}
	if err := ex.ExecuteN(runCtx, len(pending)); err != nil {
		if errors.Is(err, errInterrupted) {
			return nil, fmt.Errorf("migrate: %w before statement %d of %d of %s %s: %w",
				errInterrupted, run.step.Number, run.step.Total, run.step.Version, run.step.Description, context.Cause(ctx))
		}
		if isLockTimeout(err) {
			err = fmt.Errorf("%w: a transaction that uses the table did not end in time: %w", ErrLocked, err)
		}
		return nil, fmt.Errorf("migrate: %w", err)
	}
	for _, f := range pending {
		rev, err := revs.ReadRevision(runCtx, f.Version())
		if err != nil {
			return nil, fmt.Errorf("revision %s: %w", f.Version(), err)
		}
		done = append(done, revisionOf(rev))
	}
	return done, nil
}

// pending is the migrations that are to run, up to and including version to unless that is empty.
func (s *Store) pending(ctx context.Context, ex *migrate.Executor, to string) ([]migrate.File, error) {
	files, err := ex.Pending(ctx)
	switch {
	case errors.Is(err, migrate.ErrNoPendingFiles):
		return nil, nil
	case errors.As(err, new(*migrate.NotCleanError)):
		return nil, fmt.Errorf("migrate: %s has tables, and no record of migrations: %w", s, errNotEmpty)
	case err != nil:
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if to != "" {
		files = slices.DeleteFunc(files, func(f migrate.File) bool { return f.Version() > to })
	}
	return files, nil
}

// runner is a driver that stops between two statements when ctx ends, and knows which one is next.
type runner struct {
	atlasDriver
	ctx      context.Context
	progress func(Step)
	step     Step
	failure  error
	touched  bool // a statement ran that rows with foreign keys could suffer from
}

// additive are the statements that leave every row as it is, and every reference.
var additive = regexp.MustCompile(`(?is)^\s*(CREATE\s+TABLE|CREATE\s+(UNIQUE\s+)?INDEX|DROP\s+INDEX|ALTER\s+TABLE\s+\S+\s+ADD\s+COLUMN)\s`)

// touches reports whether a statement is another than those, or brings a reference to rows that are there.
func touches(statement string) bool {
	return !additive.MatchString(statement) || strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "ALTER") &&
		strings.Contains(strings.ToUpper(statement), "REFERENCES")
}

// Log implements migrate.Logger.
func (r *runner) Log(entry migrate.LogEntry) {
	switch e := entry.(type) {
	case migrate.LogFile:
		stmts, err := migrate.FileStmtDecls(r.atlasDriver, e.File)
		r.failure = err
		r.step = Step{Version: e.File.Version(), Description: e.File.Desc(), Number: e.Skip, Total: len(stmts)}
	case migrate.LogStmt:
		r.step.Number++
		r.step.SQL, r.step.Comments = e.Stmt.Text, e.Stmt.Comments
		if r.progress != nil {
			r.progress(r.step)
		}
	}
}

// ExecContext runs a statement of a migration.
func (r *runner) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	if r.ctx.Err() != nil {
		return nil, errInterrupted
	}
	r.touched = r.touched || touches(query)
	return r.atlasDriver.ExecContext(ctx, query, args...)
}

// atlasDriver is Atlas's view of a database, with the rules for taking a file apart.
type atlasDriver interface {
	migrate.Driver
	migrate.StmtScanner
}

// driver is Atlas's view of a connection.
func (s *Store) driver(conn *sql.Conn) (atlasDriver, error) {
	view := mysql.Open
	if s.Engine() == "sqlite" {
		view = sqlite.Open
	}
	drv, err := view(conn)
	if err != nil {
		return nil, err
	}
	full, ok := drv.(atlasDriver)
	if !ok {
		return nil, fmt.Errorf("%T takes no statements apart", drv)
	}
	return full, nil
}

// isVersion checks that a migration has the version, unless it is empty.
func isVersion(dir migrate.Dir, version string) error {
	files, err := dir.Files()
	if err != nil || version == "" {
		return err
	}
	if slices.ContainsFunc(files, func(f migrate.File) bool { return f.Version() == version }) {
		return nil
	}
	if len(files) == 0 {
		return fmt.Errorf("%w: %s; there are no migrations", ErrVersion, version)
	}
	return fmt.Errorf("%w: %s; the last one is %s", ErrVersion, version, files[len(files)-1].Version())
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
			// Only the last migration of a baseline is recorded.
			if isBaseline(applied) && f.Version() < applied[0].Version {
				rev.Baseline, rev.ExecutedAt = true, applied[0].ExecutedAt.UTC()
			}
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

// isBaseline reports whether the first revision is one that never ran.
func isBaseline(applied []*migrate.Revision) bool {
	return len(applied) > 0 && applied[0].Type == migrate.RevisionTypeBaseline
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
		switch r.State() {
		case Failed:
			return fmt.Errorf("%w: migration %s stopped at statement %d of %d: %s",
				ErrBehind, r.Version, r.Applied+1, r.Total, r.Error)
		case Interrupted:
			return fmt.Errorf("%w: migration %s was interrupted at statement %d of %d",
				ErrBehind, r.Version, r.Applied+1, r.Total)
		case Pending:
			pending++
		}
	}
	if pending > 0 {
		return fmt.Errorf("%w: %d of %d migrations are not applied", ErrBehind, pending, len(revs))
	}
	return nil
}

// applied reads the revision table, if there is one.
func (s *Store) applied(ctx context.Context) (revs []*migrate.Revision, err error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return s.appliedOn(ctx, conn)
}

func (s *Store) appliedOn(ctx context.Context, conn *sql.Conn) ([]*migrate.Revision, error) {
	there, err := s.hasTable(ctx, conn, revisionTable)
	if err != nil || !there {
		return nil, err
	}
	return revisions{conn}.ReadRevisions(ctx)
}

// hasTable reports whether the database has a table.
func (s *Store) hasTable(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, name string,
) (bool, error) {
	q := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if s.Engine() == "mysql" {
		q = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	}
	var n int
	err := db.QueryRowContext(ctx, q, name).Scan(&n)
	return n > 0, err
}

func revisionOf(r *migrate.Revision) Revision {
	return Revision{
		Version: r.Version, Description: r.Description, Applied: r.Applied, Total: r.Total,
		ExecutedAt: r.ExecutedAt.UTC(), Error: r.Error, Baseline: r.Type == migrate.RevisionTypeBaseline,
	}
}

// loadDir copies one folder into Atlas's in-memory directory and checks it against its atlas.sum.
func loadDir(files fs.FS, name string) (migrate.Dir, error) {
	dir, err := copyDir(files, name)
	if err != nil {
		return nil, err
	}
	if err := migrate.Validate(dir); err != nil {
		return nil, fmt.Errorf("migrations/%s: a file was changed after it was sealed in atlas.sum: %w", name, err)
	}
	return dir, nil
}

// copyDir is loadDir without the check.
func copyDir(files fs.FS, name string) (migrate.Dir, error) {
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
	return dir, nil
}
