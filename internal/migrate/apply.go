package migrate

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

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

// ApplyOptions configures Apply. The zero value applies all pending migrations.
type ApplyOptions struct {
	Operator string // program name and version, recorded with each revision
	To       string // last version to apply; "" means all
	// LockWait is the time to wait for another migrating process, and on MySQL for transactions that use a
	// table. 0 means one minute. A negative value means no wait.
	LockWait time.Duration
	Progress func(Step) // called before each statement
}

// Apply applies the pending migrations in order and returns them. Several processes may call it at the same
// time: one applies, the others wait and then find nothing to do. A process that waited for LockWait fails with
// store.ErrLocked. If nothing is pending, Apply takes no lock. It rejects migrations whose checksum does not
// match atlas.sum. For an unknown version the error wraps ErrVersion.
//
// On MySQL a statement that fails leaves the statements before it applied: the next call resumes at it. The end
// of ctx stops Apply between two statements and not within one, because the server may finish a statement that
// no client waits for. If the process, the connection or the server ends, one statement may have run without
// its record. The next call finds that by comparing tables, records the statement and continues; see
// Step.Found. On TiDB a statement that waits for a transaction cannot be stopped. After LockWait, or when ctx
// ends, Apply closes its connection. The server runs the statement when the transaction has ended, and keeps
// the lock until then. On SQLite a call applies everything or nothing.
func Apply(ctx context.Context, st *store.Store, o ApplyOptions) ([]Revision, error) {
	return apply(ctx, st, migrations.FS, o)
}

func apply(ctx context.Context, st *store.Store, files fs.FS, o ApplyOptions) (done []Revision, err error) {
	// A single connection is used for the lock, the revision table and the statements.
	err = withHistory(ctx, st, files, func(h *history) error {
		if err := h.checkVersion(o.To); err != nil {
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

// apply runs the pending migrations under the lock.
func (h *history) apply(ctx context.Context, o ApplyOptions) (done []Revision, err error) {
	end, err := lockHistory(ctx, h.store, h.conn, o.LockWait)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	ended := runUnchanged
	defer func() {
		if err != nil {
			ended = runFailed
		}
		err = errors.Join(err, end(ended))
	}()
	// Another process may have applied the migrations while this one waited.
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	pending, err := h.pending(ctx, o.To)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	if err := h.createRevisionTable(ctx); err != nil {
		return nil, err
	}
	runCtx := ctx
	if h.store.Engine() == "mysql" {
		runCtx = context.WithoutCancel(ctx)
	}
	run := &statementRunner{atlasDriver: h.drv, h: h, ctx: ctx, progress: o.Progress}
	if h.store.Engine() == "mysql" {
		isTiDB, err := store.IsTiDB(ctx, h.conn)
		if err != nil {
			return nil, err
		}
		if isTiDB {
			run.tables = &tableWatch{db: h.store.DB, wait: tableWait(o.LockWait)}
		}
	}
	revs := revisionTable{h.conn}
	defer func() {
		if run.riskedReferences {
			ended = runRiskedReferences
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
		done = append(done, newRevision(rev, false))
	}
	return done, nil
}

// statementRunner is an Atlas driver that stops between two statements when ctx ends. It tracks the next statement.
type statementRunner struct {
	atlasDriver
	h        *history
	ctx      context.Context
	progress func(Step)
	dry      bool // true if statements are recorded as steps and not run
	step     Step
	failure  error
	tables   *tableWatch // limits waiting for tables on TiDB; nil means that the server does it

	riskedReferences bool // true if a statement that ran may have broken references between rows
}

// execute runs the first count pending migrations with Atlas's Executor.
func (r *statementRunner) execute(ctx context.Context, revs atlas.RevisionReadWriter, operator string, count int) error {
	ex, err := atlas.NewExecutor(r, r.h.dir, correctedRevisions{revs, r.h},
		atlas.WithOperatorVersion(operator), atlas.WithLogger(r))
	if err != nil {
		return err
	}
	err = ex.ExecuteN(ctx, count)
	var failed *atlas.StmtExecError
	var unwritten *atlas.WriteRevisionError
	var waits *tableInUseError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errInterrupted):
		return fmt.Errorf("migrate: %w before statement %d of %d of %s %s: %w",
			errInterrupted, r.step.Number, r.step.Total, r.step.Version, r.step.Description, context.Cause(r.ctx))
	case errors.As(err, &waits):
		return fmt.Errorf("migrate: %w: statement %d of %d of %s %s: %w",
			store.ErrLocked, r.step.Number, r.step.Total, r.step.Version, r.step.Description, waits)
	case isLockTimeout(err):
		return fmt.Errorf("migrate: %w: a transaction that uses the table did not end in time: %w; the table is %s",
			store.ErrLocked, err, tableUsers(ctx, r.h.conn, r.step.SQL))
	case !errors.As(err, &failed) && errors.As(err, &unwritten) && unwritten.Revision.Applied > 0:
		rev := unwritten.Revision
		return fmt.Errorf("migrate: statement %d of %d of %s %s ran and could not be recorded; apply again when the "+
			"database can be written: %w", rev.Applied, rev.Total, rev.Version, rev.Description, err)
	}
	return fmt.Errorf("migrate: %w", err)
}

// isLockTimeout reports whether err means that MySQL stopped waiting for a lock.
func isLockTimeout(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == 1205
}

// additiveStatement matches statements that change no row and no reference between rows.
var additiveStatement = regexp.MustCompile(
	`(?is)^\s*(CREATE\s+TABLE|CREATE\s+(UNIQUE\s+)?INDEX|DROP\s+INDEX|ALTER\s+TABLE\s+\S+\s+ADD\s+COLUMN)\s`)

// risksReferences reports whether a statement may break references between rows: it is not additive, or it adds
// a reference to a table that may have rows.
func risksReferences(statement string) bool {
	upper := strings.ToUpper(strings.TrimSpace(statement))
	return !additiveStatement.MatchString(statement) ||
		strings.HasPrefix(upper, "ALTER") && strings.Contains(upper, "REFERENCES")
}

// Log implements Atlas's Logger.
func (r *statementRunner) Log(entry atlas.LogEntry) {
	switch e := entry.(type) {
	case atlas.LogFile:
		stmts, err := atlas.FileStmtDecls(r.atlasDriver, e.File)
		r.failure = err
		r.step = Step{Version: e.File.Version(), Description: e.File.Desc(), Number: e.Skip, Total: len(stmts)}
	case atlas.LogStmt:
		r.step.Number++
		r.step.SQL, r.step.Comments, r.step.Found = e.Stmt.Text, e.Stmt.Comments, false
	}
}

// ExecContext reports progress and runs a statement of a migration. It does not run the statement in a dry run, or if
// the statement already ran before an interruption.
func (r *statementRunner) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if r.failure != nil {
		return nil, r.failure
	}
	// Each statement is recorded before the next one runs. So at most one statement has run without a record:
	// the one after the recorded statements.
	rev := r.h.revision(r.step.Version)
	if rev != nil && rev.Applied < rev.Total && r.step.Number == rev.Applied+1 {
		live, err := inspectSchema(ctx, r.atlasDriver)
		if err != nil {
			return nil, err
		}
		found, err := r.h.hasRun(ctx, live, r.step.Version, r.step.Number)
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
	r.riskedReferences = r.riskedReferences || risksReferences(query)
	if r.tables != nil {
		return r.tables.exec(ctx, r.ctx, query, func(ctx context.Context) (sql.Result, error) {
			return r.atlasDriver.ExecContext(ctx, query, args...)
		})
	}
	return r.atlasDriver.ExecContext(ctx, query, args...)
}
