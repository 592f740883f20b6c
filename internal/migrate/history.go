package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/internal/store"
)

// history is the migrations of the program, and the database's record of those applied.
type history struct {
	store *store.Store
	files fs.FS
	dir   atlas.Dir
	all   []atlas.File
	conn  *sql.Conn
	drv   atlasDriver
	revs  []*atlas.Revision // the record, sorted by version
}

// readHistory reads the migrations and the database's record of them. It changes nothing.
func readHistory(ctx context.Context, st *store.Store, conn *sql.Conn, files fs.FS) (*history, error) {
	dir, err := loadDir(files, st.Engine())
	if err != nil {
		return nil, err
	}
	h := &history{store: st, files: files, dir: dir, conn: conn}
	if h.all, err = dir.Files(); err != nil {
		return nil, err
	}
	if h.drv, err = newDriver(ctx, st, conn); err != nil {
		return nil, err
	}
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// withHistory reads the history on a connection and calls do with it. The connection is closed afterwards.
func withHistory(ctx context.Context, st *store.Store, files fs.FS, do func(*history) error) (err error) {
	conn, err := st.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) { // the lock may have discarded the connection
			err = errors.Join(err, closed)
		}
	}()
	h, err := readHistory(ctx, st, conn, files)
	if err != nil {
		return err
	}
	return do(h)
}

// read reads the record of applied migrations. Without a revision table it is empty.
func (h *history) read(ctx context.Context) error {
	exists, err := hasTable(ctx, h.conn, h.store.Engine(), revisionTableName)
	if err != nil || !exists {
		h.revs = nil
		return err
	}
	h.revs, err = revisionTable{h.conn}.ReadRevisions(ctx)
	return err
}

// pending returns the migrations up to version to that are not, or only partly, applied. "" means all. Atlas's
// Executor decides this for every command and check (decision 027).
func (h *history) pending(ctx context.Context, to string) ([]atlas.File, error) {
	files, err := h.pendingAfter(ctx, h.revs)
	if errors.As(err, new(*atlas.NotCleanError)) {
		// Another process may have created tables since the record was read. It records a migration before its statements.
		if err := h.read(ctx); err != nil {
			return nil, err
		}
		files, err = h.pendingAfter(ctx, h.revs)
	}
	var missing *atlas.MissingMigrationError
	if errors.As(err, &missing) && len(h.all) > 0 && missing.Version > h.all[len(h.all)-1].Version() {
		// A newer program is migrating, or was interrupted. Its migrations only add to those of this program.
		known := slices.DeleteFunc(slices.Clone(h.revs), func(r *atlas.Revision) bool {
			return r.Version > h.all[len(h.all)-1].Version()
		})
		if len(known) > 0 {
			if older, err := h.pendingAfter(ctx, known); err == nil && len(older) == 0 {
				return nil, nil
			}
		}
	}
	switch {
	case errors.As(err, new(*atlas.NotCleanError)):
		return nil, fmt.Errorf("migrate: %s has tables, and no record of migrations: %w", h.store, ErrNotEmpty)
	case err != nil:
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if to != "" {
		files = slices.DeleteFunc(files, func(f atlas.File) bool { return f.Version() > to })
	}
	return files, nil
}

func (h *history) pendingAfter(ctx context.Context, revs []*atlas.Revision) ([]atlas.File, error) {
	ex, err := atlas.NewExecutor(h.drv, h.dir, fixedRevisions{revs: revs})
	if err != nil {
		return nil, err
	}
	files, err := ex.Pending(ctx)
	if errors.Is(err, atlas.ErrNoPendingFiles) {
		return nil, nil
	}
	return files, err
}

// fixedRevisions is a record of migrations in memory. It ignores writes.
type fixedRevisions struct {
	atlas.NopRevisionReadWriter
	revs []*atlas.Revision
}

// Ident implements Atlas's RevisionReadWriter.
func (fixedRevisions) Ident() *atlas.TableIdent { return revisionTable{}.Ident() }

// ReadRevisions implements Atlas's RevisionReadWriter.
func (r fixedRevisions) ReadRevisions(context.Context) ([]*atlas.Revision, error) { return r.revs, nil }

// ReadRevision implements Atlas's RevisionReadWriter.
func (r fixedRevisions) ReadRevision(_ context.Context, version string) (*atlas.Revision, error) {
	for _, rev := range r.revs {
		if rev.Version == version {
			return new(*rev), nil
		}
	}
	return nil, atlas.ErrRevisionNotExist
}

// revision returns the record of a migration. Nil means that there is none.
func (h *history) revision(version string) *atlas.Revision {
	i := slices.IndexFunc(h.revs, func(r *atlas.Revision) bool { return r.Version == version })
	if i < 0 {
		return nil
	}
	return h.revs[i]
}

// file returns the migration file of a version. Nil means that the program has no such version.
func (h *history) file(version string) atlas.File {
	i := slices.IndexFunc(h.all, func(f atlas.File) bool { return f.Version() == version })
	if i < 0 {
		return nil
	}
	return h.all[i]
}

// checkVersion returns an error that wraps ErrVersion if no migration has the version. "" is valid.
func (h *history) checkVersion(version string) error {
	switch {
	case version == "" || h.file(version) != nil:
		return nil
	case len(h.all) == 0:
		return fmt.Errorf("%w: %s; there are no migrations", ErrVersion, version)
	}
	return fmt.Errorf("%w: %s; the last one is %s", ErrVersion, version, h.all[len(h.all)-1].Version())
}

// checkKnown returns an error if the record has migrations that the program does not have.
func (h *history) checkKnown() error {
	var versions []string
	for _, r := range h.revs {
		if h.file(r.Version) == nil {
			versions = append(versions, r.Version)
		}
	}
	if len(versions) == 0 {
		return nil
	}
	return fmt.Errorf("the database is ahead of this program, which does not know %s", strings.Join(versions, ", "))
}

// correctedRevisions adapts the record for the Executor. A failed migration may have been corrected since. Its
// record then gets the checksum and number of statements of the present file. Atlas keeps those of the first
// attempt, and would never finish a migration that became shorter.
type correctedRevisions struct {
	atlas.RevisionReadWriter
	h *history
}

// ReadRevision implements Atlas's RevisionReadWriter.
func (r correctedRevisions) ReadRevision(ctx context.Context, version string) (*atlas.Revision, error) {
	rev, err := r.RevisionReadWriter.ReadRevision(ctx, version)
	if err != nil || rev.Applied == rev.Total {
		return rev, err
	}
	f := r.h.file(version)
	if f == nil {
		return rev, nil
	}
	stmts, err := atlas.FileStmtDecls(r.h.drv, f)
	if err != nil {
		return nil, err
	}
	// The Executor compares all applied statements. It panics if the file or the record has fewer.
	if most := min(len(stmts), len(rev.PartialHashes)); rev.Applied > most {
		return nil, atlas.HistoryChangedError{File: f.Name(), Stmt: most + 1}
	}
	sums, err := r.h.dir.Checksum()
	if err != nil {
		return nil, err
	}
	rev.Total = len(stmts)
	rev.Hash, err = sums.SumByName(f.Name())
	return rev, err
}

// recordedPoint returns the point of the history at which the database is according to the record.
func (h *history) recordedPoint(pending []atlas.File) point {
	next := len(h.all)
	if len(pending) > 0 {
		first := pending[0].Version()
		if r := h.revision(first); r != nil {
			return point{version: first, statements: r.Applied}
		}
		next = slices.IndexFunc(h.all, func(f atlas.File) bool { return f.Version() == first })
	}
	if next <= 0 {
		return point{}
	}
	return point{version: h.all[next-1].Version(), statements: allStatements}
}

// schemaAt returns the tables at a point of the history by replaying the migrations in dev. If dev is nil, it
// reads migrations/states for MySQL, and replays in memory for SQLite.
func (h *history) schemaAt(ctx context.Context, at point, dev *store.Store) (_ *schema.Schema, err error) {
	switch {
	case dev != nil:
		return h.replay(ctx, dev, at)
	case h.store.Engine() == "mysql":
		return recordedSchema(h.files, h.dir, at)
	}
	if dev, err = store.Open(ctx, "sqlite://:memory:"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	return h.replay(ctx, dev, at)
}

// replay creates the tables of a point in the empty database dev, inspects them, and empties dev again.
func (h *history) replay(ctx context.Context, dev *store.Store, at point) (_ *schema.Schema, err error) {
	if dev.Engine() != h.store.Engine() {
		return nil, fmt.Errorf("%s is not a %s database", dev, h.store.Engine())
	}
	conn, err := dev.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := newDriver(ctx, dev, conn)
	if err != nil {
		return nil, err
	}
	dir, err := h.migrationsUntil(at)
	if err != nil {
		return nil, err
	}
	ex, err := atlas.NewExecutor(restoringDriver{drv}, dir, atlas.NopRevisionReadWriter{})
	if err != nil {
		return nil, err
	}
	var found *schema.Schema
	_, err = ex.Replay(ctx, atlas.StateReaderFunc(func(ctx context.Context) (*schema.Realm, error) {
		var err error
		if found, err = inspect(ctx, drv); err != nil {
			return nil, err
		}
		return schema.NewRealm(found), nil
	}))
	if errors.As(err, new(*atlas.NotCleanError)) {
		err = fmt.Errorf("%s is to be empty: %w", dev, err)
	}
	return found, err
}

// restoringDriver empties its database after a replay even if ctx has ended.
type restoringDriver struct{ atlasDriver }

// Snapshot implements Atlas's Snapshoter.
func (d restoringDriver) Snapshot(ctx context.Context) (atlas.RestoreFunc, error) {
	restore, err := d.atlasDriver.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return restore(context.WithoutCancel(ctx)) }, nil
}

// migrationsUntil returns the migrations up to a point. If the point is inside a migration, it cuts that one.
func (h *history) migrationsUntil(at point) (atlas.Dir, error) {
	var files []atlas.File
	for _, f := range h.all {
		if f.Version() > at.version {
			break
		}
		if f.Version() == at.version {
			stmts, err := atlas.FileStmtDecls(h.drv, f)
			if err != nil {
				return nil, err
			}
			if at.statements < len(stmts) {
				var b strings.Builder
				for _, stmt := range stmts[:at.statements] {
					b.WriteString(withSemicolon(stmt.Text) + "\n")
				}
				f = atlas.NewLocalFile(f.Name(), []byte(b.String()))
			}
		}
		files = append(files, f)
	}
	dir := &atlas.MemDir{}
	if err := dir.CopyFiles(files); err != nil {
		return nil, err
	}
	return dir, nil
}

// errDiffers is returned for a statement that may have run, if the tables match neither the state before it nor
// the state after it.
var errDiffers = errors.New("another definition is there")

// hasRun reports whether a statement without a record has run. It compares the live tables with those before
// and after the statement, in the parts that the statement changes. If they match neither, the error wraps
// errDiffers and describes the difference.
//
// A statement that changes no table counts as not run. Lint rejects such statements on MySQL.
func (h *history) hasRun(ctx context.Context, live *schema.Schema, version string, number int) (bool, error) {
	before, err := h.schemaAt(ctx, point{version, number - 1}, nil)
	if err != nil {
		return false, err
	}
	after, err := h.schemaAt(ctx, point{version, number}, nil)
	if err != nil {
		return false, err
	}
	effect, err := changesBetween(h.drv, before, after)
	if err != nil || len(effect) == 0 {
		return false, err
	}
	missing, err := changesBetween(h.drv, live, after)
	if err != nil {
		return false, err
	}
	if missing = overlappingChanges(missing, effect); len(missing) == 0 {
		return true, nil
	}
	tooMuch, err := changesBetween(h.drv, live, before)
	if err != nil {
		return false, err
	}
	if len(overlappingChanges(tooMuch, effect)) == 0 {
		return false, nil
	}
	mend, err := planStatements(ctx, h.drv, missing)
	if err != nil {
		return false, err
	}
	var sql []string
	for _, m := range mend {
		sql = append(sql, m.SQL)
	}
	return false, fmt.Errorf("%w, which this would change into what statement %d of %s makes: %s",
		errDiffers, number, version, strings.Join(sql, "; "))
}

// tableElement is a table, or a part of one, that a statement changes.
type tableElement struct {
	table string
	name  string // kind and name of the part; "" for the whole table
}

// partsOf returns the tables and parts that a change affects.
func partsOf(change schema.Change) []tableElement {
	switch c := change.(type) {
	case *schema.AddTable:
		return []tableElement{{table: c.T.Name}}
	case *schema.DropTable:
		return []tableElement{{table: c.T.Name}}
	case *schema.ModifyTable:
		out := make([]tableElement, len(c.Changes))
		for i, inner := range c.Changes {
			out[i] = tableElement{table: c.T.Name, name: partName(inner)}
		}
		return out
	}
	// Other changes do not occur between tables of one schema. An unknown one counts for all tables, so that
	// none is missed.
	return []tableElement{{}}
}

// partName returns the kind and name of the part that a change of a table affects.
func partName(change schema.Change) string {
	switch c := change.(type) {
	case *schema.AddColumn:
		return "column " + c.C.Name
	case *schema.DropColumn:
		return "column " + c.C.Name
	case *schema.ModifyColumn:
		return "column " + c.To.Name
	case *schema.AddIndex:
		return "index " + c.I.Name
	case *schema.DropIndex:
		return "index " + c.I.Name
	case *schema.ModifyIndex:
		return "index " + c.To.Name
	case *schema.AddForeignKey:
		return "foreign key " + c.F.Symbol
	case *schema.DropForeignKey:
		return "foreign key " + c.F.Symbol
	case *schema.ModifyForeignKey:
		return "foreign key " + c.To.Symbol
	case *schema.AddCheck:
		return "check " + c.C.Name
	case *schema.DropCheck:
		return "check " + c.C.Name
	case *schema.ModifyCheck:
		return "check " + c.To.Name
	case *schema.AddPrimaryKey, *schema.DropPrimaryKey, *schema.ModifyPrimaryKey:
		return "primary key"
	}
	return fmt.Sprintf("%T", change) // an attribute of the table
}

// overlappingChanges returns the changes that affect a part which one of others also affects.
func overlappingChanges(changes, others []schema.Change) (out []schema.Change) {
	theirs := map[tableElement]bool{}
	tables := map[string]bool{}
	for _, c := range others {
		for _, p := range partsOf(c) {
			theirs[p], tables[p.table] = true, true
		}
	}
	overlaps := func(p tableElement) bool {
		return p.table == "" || theirs[tableElement{}] || theirs[p] || theirs[tableElement{table: p.table}] || p.name == "" && tables[p.table]
	}
	for _, c := range changes {
		parts := partsOf(c)
		modify, ok := c.(*schema.ModifyTable)
		if !ok {
			if overlaps(parts[0]) {
				out = append(out, c)
			}
			continue
		}
		var inner []schema.Change
		for i, p := range parts {
			if overlaps(p) {
				inner = append(inner, modify.Changes[i])
			}
		}
		if len(inner) > 0 {
			out = append(out, &schema.ModifyTable{T: modify.T, Changes: inner})
		}
	}
	return out
}

// list returns all migrations of the program, then those that only the record has. Each part is sorted by version.
func (h *history) list(ctx context.Context) ([]Revision, error) {
	pending, err := h.pending(ctx, "")
	var outOfOrder *atlas.HistoryNonLinearError
	switch {
	case errors.Is(err, ErrNotEmpty):
		pending = h.all
	case errors.As(err, &outOfOrder):
		pending = slices.Concat(outOfOrder.OutOfOrder, outOfOrder.Pending)
	case errors.As(err, new(*atlas.MissingMigrationError)):
		// The loop below lists the recorded migrations.
	case err != nil:
		return nil, err
	}
	open := make(map[string]bool, len(pending))
	for _, f := range pending {
		open[f.Version()] = true
	}
	rest := make(map[string]*atlas.Revision, len(h.revs))
	for _, r := range h.revs {
		rest[r.Version] = r
	}
	out := make([]Revision, 0, len(h.all))
	for _, f := range h.all {
		if r := rest[f.Version()]; r != nil {
			out = append(out, newRevision(r, open[f.Version()]))
			delete(rest, f.Version())
			continue
		}
		stmts, err := atlas.FileStmtDecls(h.drv, f)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		r := Revision{Version: f.Version(), Description: f.Desc(), Total: len(stmts), pending: open[f.Version()]}
		if !r.pending && len(h.revs) > 0 {
			// Only the last migration of a baseline is recorded.
			r.Baseline, r.ExecutedAt = true, h.revs[0].ExecutedAt.UTC()
		}
		out = append(out, r)
	}
	for _, version := range slices.Sorted(maps.Keys(rest)) {
		out = append(out, newRevision(rest[version], rest[version].Applied < rest[version].Total))
	}
	return out, nil
}
