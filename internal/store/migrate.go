package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
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

	pending bool // something of it is left to run
	set     bool // recorded as applied by SetVersion or `atlas migrate set`
}

// State is where a migration stands.
type State string

// The states of a migration.
const (
	Pending     State = "pending"
	Applied     State = "applied"
	Baseline    State = "baseline"
	Set         State = "set"         // recorded as applied, because its statements were run by other means
	Interrupted State = "interrupted" // between two statements, or with its process; Migrate goes on there
	Failed      State = "failed"
)

// State tells where the migration stands.
func (r Revision) State() State {
	switch {
	case r.Baseline:
		return Baseline
	case !r.pending && (r.set || r.Applied < r.Total): // a later one may have been set over it
		return Set
	case !r.pending:
		return Applied
	case r.Error == errInterrupted.Error():
		return Interrupted
	case r.Error != "":
		return Failed
	case r.ExecutedAt.IsZero():
		return Pending
	}
	return Interrupted
}

// Done reports whether nothing is left to run.
func (r Revision) Done() bool { return !r.pending }

var (
	// ErrBehind is returned by Current for a schema that misses migrations.
	ErrBehind = errors.New("the schema is behind")

	// ErrVersion is returned where a version is asked for that no migration has.
	ErrVersion = errors.New("no such version")

	// ErrNotEmpty is returned for a database with tables and without a record of migrations.
	ErrNotEmpty = errors.New("want an empty database, or one that was taken over with a baseline")

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
// Without anything to apply it only reads, and takes no lock.
// Migrations whose checksum does not match atlas.sum are refused.
//
// On MySQL a statement that fails leaves those before it applied: the next call resumes at it. So does the end
// of ctx, which is heeded between statements and not within one, because the server may well finish a statement
// that nobody waits for. A process, connection or server that goes away may leave one statement that has taken effect
// and is not recorded. The next call finds that by comparing tables, records it and goes on; see Step.Found.
// On SQLite a call applies everything or nothing.
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
	// One connection carries the lock, the table and the statements.
	err = s.withHistory(ctx, files, func(h *history) error {
		if err := h.isVersion(o.To); err != nil {
			return err
		}
		pending, err := h.pending(ctx, o.To)
		if err != nil || len(pending) == 0 {
			return err
		}
		done, err = h.apply(ctx, o)
		return err
	})
	return done, err
}

// apply runs what is pending under the lock.
func (h *history) apply(ctx context.Context, o MigrateOptions) (done []Revision, err error) {
	s := h.store
	end, err := s.lock(ctx, h.conn, s.waitFor(o.LockWait))
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
	// Another process may have applied it meanwhile.
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	pending, err := h.pending(ctx, o.To)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	if _, err := h.conn.ExecContext(ctx, revisionDDL[s.Engine()]); err != nil {
		return nil, fmt.Errorf("revision table: %w", err)
	}
	runCtx := ctx
	if s.Engine() == "mysql" {
		runCtx = context.WithoutCancel(ctx)
	}
	run := &runner{atlasDriver: h.drv, h: h, ctx: ctx, progress: o.Progress}
	revs := revisions{h.conn}
	defer func() {
		if run.touched {
			ended = applied
		}
	}()
	if err := run.execute(runCtx, revs, o.Operator, len(pending)); err != nil {
		return nil, err
	}
	for _, f := range pending {
		rev, err := revs.ReadRevision(runCtx, f.Version())
		if err != nil {
			return nil, fmt.Errorf("revision %s: %w", f.Version(), err)
		}
		done = append(done, revisionOf(rev, false))
	}
	return done, nil
}

// waitFor is how long to wait for a lock: the default for 0, not at all for a negative time.
func (s *Store) waitFor(wait time.Duration) time.Duration {
	if wait == 0 {
		return s.lockWait
	}
	return max(wait, 0)
}

// runner is a driver that stops between two statements when ctx ends, and knows which one is next.
type runner struct {
	atlasDriver
	h        *history
	ctx      context.Context
	progress func(Step)
	dry      bool // statements are not run
	step     Step
	failure  error
	touched  bool // a statement ran that rows with foreign keys could suffer from
}

// execute has Atlas's Executor run the first of the pending migrations, so many.
func (r *runner) execute(ctx context.Context, revs migrate.RevisionReadWriter, operator string, count int) error {
	ex, err := migrate.NewExecutor(r, r.h.dir, resuming{revs, r.h},
		migrate.WithOperatorVersion(operator), migrate.WithLogger(r))
	if err != nil {
		return err
	}
	err = ex.ExecuteN(ctx, count)
	var failed *migrate.StmtExecError
	var unwritten *migrate.WriteRevisionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errInterrupted):
		return fmt.Errorf("migrate: %w before statement %d of %d of %s %s: %w",
			errInterrupted, r.step.Number, r.step.Total, r.step.Version, r.step.Description, context.Cause(r.ctx))
	case isLockTimeout(err):
		return fmt.Errorf("migrate: %w: a transaction that uses the table did not end in time: %w; the table is %s",
			ErrLocked, err, tableUsers(ctx, r.h.conn, r.step.SQL))
	case !errors.As(err, &failed) && errors.As(err, &unwritten) && unwritten.Revision.Applied > 0:
		rev := unwritten.Revision
		return fmt.Errorf("migrate: statement %d of %d of %s %s ran and could not be recorded; apply again when the "+
			"database can be written: %w", rev.Applied, rev.Total, rev.Version, rev.Description, err)
	}
	return fmt.Errorf("migrate: %w", err)
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
		r.step.SQL, r.step.Comments, r.step.Found = e.Stmt.Text, e.Stmt.Comments, false
	}
}

// ExecContext runs a statement of a migration, unless it has run before an interruption.
func (r *runner) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	// The record is written after each statement, so at most the one after the recorded ones has run without it.
	rev := r.h.revision(r.step.Version)
	if rev != nil && rev.Applied < rev.Total && r.step.Number == rev.Applied+1 {
		live, err := inspect(ctx, r.atlasDriver)
		if err != nil {
			return nil, err
		}
		found, err := r.h.tookEffect(ctx, live, r.step.Version, r.step.Number)
		if err != nil && !errors.Is(err, errNoState) {
			return nil, err
		}
		r.step.Found = found
	}
	if r.progress != nil {
		r.progress(r.step)
	}
	if r.ctx.Err() != nil {
		return nil, errInterrupted
	}
	if r.dry || r.step.Found {
		return driver.RowsAffected(0), nil
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

// Status lists all migrations in order: those of the binary, and those of the database the binary does not
// know. It changes nothing; a database without a revision table has applied none.
func (s *Store) Status(ctx context.Context) ([]Revision, error) {
	return s.status(ctx, migrations.FS)
}

func (s *Store) status(ctx context.Context, files fs.FS) (revs []Revision, err error) {
	err = s.withHistory(ctx, files, func(h *history) error {
		revs, err = h.list(ctx)
		return err
	})
	return revs, err
}

// Current returns nil when the database has every migration of the binary, and an error wrapping ErrBehind
// that says what is missing when it has not. A database that is ahead is fine: migrations only add, so an
// older binary can serve it during a rolling deployment.
func (s *Store) Current(ctx context.Context) error {
	return s.current(ctx, migrations.FS)
}

func (s *Store) current(ctx context.Context, files fs.FS) error {
	return s.withHistory(ctx, files, func(h *history) error {
		pending, err := h.pending(ctx, "")
		if errors.Is(err, ErrNotEmpty) || errors.As(err, new(*migrate.HistoryNonLinearError)) ||
			errors.As(err, new(*migrate.MissingMigrationError)) {
			return fmt.Errorf("%w: %w", ErrBehind, err)
		}
		if err != nil || len(pending) == 0 {
			return err
		}
		if rev := h.revision(pending[0].Version()); rev != nil {
			r := revisionOf(rev, true)
			if r.State() == Failed {
				return fmt.Errorf("%w: migration %s stopped at statement %d of %d: %s",
					ErrBehind, r.Version, r.Applied+1, r.Total, r.Error)
			}
			return fmt.Errorf("%w: migration %s was interrupted at statement %d of %d",
				ErrBehind, r.Version, r.Applied+1, r.Total)
		}
		return fmt.Errorf("%w: %d of %d migrations are not applied", ErrBehind, len(pending), len(h.all))
	})
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

func revisionOf(r *migrate.Revision, pending bool) Revision {
	return Revision{
		Version: r.Version, Description: r.Description, Applied: r.Applied, Total: r.Total,
		ExecutedAt: r.ExecutedAt.UTC(), Error: r.Error, Baseline: r.Type.Has(migrate.RevisionTypeBaseline),
		pending: pending, set: r.Type.Has(migrate.RevisionTypeResolved),
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
		if e.IsDir() {
			continue
		}
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
