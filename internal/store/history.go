package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
)

// history is the migrations of a program beside what a database has recorded of them.
type history struct {
	store *Store
	files fs.FS
	dir   migrate.Dir
	all   []migrate.File
	conn  *sql.Conn
	drv   atlasDriver
	revs  []*migrate.Revision // in order
}

// history reads the migrations and their record on a connection. It changes nothing.
func (s *Store) history(ctx context.Context, conn *sql.Conn, files fs.FS) (*history, error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return nil, err
	}
	h := &history{store: s, files: files, dir: dir, conn: conn}
	if h.all, err = dir.Files(); err != nil {
		return nil, err
	}
	if h.drv, err = s.driver(conn); err != nil {
		return nil, err
	}
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// withHistory reads the history on a connection of its own for do.
func (s *Store) withHistory(ctx context.Context, files fs.FS, do func(*history) error) (err error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	h, err := s.history(ctx, conn, files)
	if err != nil {
		return err
	}
	return do(h)
}

// read reads the record, if there is one.
func (h *history) read(ctx context.Context) error {
	there, err := h.store.hasTable(ctx, h.conn, revisionTable)
	if err != nil || !there {
		h.revs = nil
		return err
	}
	h.revs, err = revisions{h.conn}.ReadRevisions(ctx)
	return err
}

// pending returns the migrations that are not applied, or in part, up to and including version to unless that is empty.
// Atlas's Executor decides, here and for every command and check (decision 027).
func (h *history) pending(ctx context.Context, to string) ([]migrate.File, error) {
	files, err := h.pendingOf(ctx, h.revs)
	var missing *migrate.MissingMigrationError
	if errors.As(err, &missing) && len(h.all) > 0 && missing.Version > h.all[len(h.all)-1].Version() {
		// A newer program is migrating, or was interrupted. Its migrations only add to those of this one.
		known := slices.DeleteFunc(slices.Clone(h.revs), func(r *migrate.Revision) bool {
			return r.Version > h.all[len(h.all)-1].Version()
		})
		if len(known) > 0 {
			if older, err := h.pendingOf(ctx, known); err == nil && len(older) == 0 {
				return nil, nil
			}
		}
	}
	switch {
	case errors.As(err, new(*migrate.NotCleanError)):
		return nil, fmt.Errorf("migrate: %s has tables, and no record of migrations: %w", h.store, ErrNotEmpty)
	case err != nil:
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if to != "" {
		files = slices.DeleteFunc(files, func(f migrate.File) bool { return f.Version() > to })
	}
	return files, nil
}

func (h *history) pendingOf(ctx context.Context, revs []*migrate.Revision) ([]migrate.File, error) {
	ex, err := migrate.NewExecutor(h.drv, h.dir, recorded{revs: revs})
	if err != nil {
		return nil, err
	}
	files, err := ex.Pending(ctx)
	if errors.Is(err, migrate.ErrNoPendingFiles) {
		return nil, nil
	}
	return files, err
}

// recorded is a revision table that was read before. Nothing is written.
type recorded struct {
	migrate.NopRevisionReadWriter
	revs []*migrate.Revision
}

func (recorded) Ident() *migrate.TableIdent { return revisions{}.Ident() }

func (r recorded) ReadRevisions(context.Context) ([]*migrate.Revision, error) { return r.revs, nil }

func (r recorded) ReadRevision(_ context.Context, version string) (*migrate.Revision, error) {
	for _, rev := range r.revs {
		if rev.Version == version {
			return new(*rev), nil
		}
	}
	return nil, migrate.ErrRevisionNotExist
}

// revision returns the record of a migration, nil when there is none.
func (h *history) revision(version string) *migrate.Revision {
	i := slices.IndexFunc(h.revs, func(r *migrate.Revision) bool { return r.Version == version })
	if i < 0 {
		return nil
	}
	return h.revs[i]
}

// file returns a migration, nil when the program has no such version.
func (h *history) file(version string) migrate.File {
	i := slices.IndexFunc(h.all, func(f migrate.File) bool { return f.Version() == version })
	if i < 0 {
		return nil
	}
	return h.all[i]
}

// isVersion checks that a migration has the version, unless it is empty.
func (h *history) isVersion(version string) error {
	switch {
	case version == "" || h.file(version) != nil:
		return nil
	case len(h.all) == 0:
		return fmt.Errorf("%w: %s; there are no migrations", ErrVersion, version)
	}
	return fmt.Errorf("%w: %s; the last one is %s", ErrVersion, version, h.all[len(h.all)-1].Version())
}

// unknown returns an error when the record has migrations that the program does not.
func (h *history) unknown() error {
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

// resuming is a revision table for the Executor. A migration that failed may have been corrected since: its record gets
// the checksum and the number of statements of the file as it is now. Atlas keeps those of the first attempt, and would
// find a migration unfinished for ever that has fewer statements now.
type resuming struct {
	migrate.RevisionReadWriter
	h *history
}

func (r resuming) ReadRevision(ctx context.Context, version string) (*migrate.Revision, error) {
	rev, err := r.RevisionReadWriter.ReadRevision(ctx, version)
	if err != nil || rev.Applied == rev.Total {
		return rev, err
	}
	f := r.h.file(version)
	if f == nil {
		return rev, nil
	}
	stmts, err := migrate.FileStmtDecls(r.h.drv, f)
	if err != nil {
		return nil, err
	}
	// The Executor compares as many statements as were applied, and expects them to be there.
	if most := min(len(stmts), len(rev.PartialHashes)); rev.Applied > most {
		return nil, migrate.HistoryChangedError{File: f.Name(), Stmt: most + 1}
	}
	sums, err := r.h.dir.Checksum()
	if err != nil {
		return nil, err
	}
	rev.Total = len(stmts)
	rev.Hash, err = sums.SumByName(f.Name())
	return rev, err
}

// whole stands for all statements of a migration in a point.
const whole = math.MaxInt

// recordedPoint is where the record says that the database is.
func (h *history) recordedPoint(pending []migrate.File) point {
	next := len(h.all)
	if len(pending) > 0 {
		first := pending[0].Version()
		if r := h.revision(first); r != nil {
			return point{version: first, statements: r.Applied}
		}
		next = slices.IndexFunc(h.all, func(f migrate.File) bool { return f.Version() == first })
	}
	if next <= 0 {
		return point{}
	}
	return point{version: h.all[next-1].Version(), statements: whole}
}

// schemaAt returns the tables at a point of the history. They are made in dev, unless it is nil.
func (h *history) schemaAt(ctx context.Context, at point, dev *Store) (_ *schema.Schema, err error) {
	switch {
	case dev != nil:
		return h.replay(ctx, dev, at)
	case h.store.Engine() == "mysql":
		return recordedState(h.files, h.dir, at)
	}
	if dev, err = Open(ctx, "sqlite://:memory:"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	return h.replay(ctx, dev, at)
}

// replay makes the tables of a point in an empty database, inspects them and empties the database again.
func (h *history) replay(ctx context.Context, dev *Store, at point) (_ *schema.Schema, err error) {
	if dev.Engine() != h.store.Engine() {
		return nil, fmt.Errorf("%s is not a %s database", dev, h.store.Engine())
	}
	conn, err := dev.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := dev.driver(conn)
	if err != nil {
		return nil, err
	}
	dir, err := h.upTo(at)
	if err != nil {
		return nil, err
	}
	ex, err := migrate.NewExecutor(emptied{drv}, dir, migrate.NopRevisionReadWriter{})
	if err != nil {
		return nil, err
	}
	var found *schema.Schema
	var options []migrate.ReplayOption
	if at.version != "" {
		options = append(options, migrate.ReplayToVersion(at.version))
	}
	_, err = ex.Replay(ctx, migrate.StateReaderFunc(func(ctx context.Context) (*schema.Realm, error) {
		var err error
		if found, err = inspect(ctx, drv); err != nil {
			return nil, err
		}
		return schema.NewRealm(found), nil
	}), options...)
	if errors.As(err, new(*migrate.NotCleanError)) {
		err = fmt.Errorf("%s is to be empty: %w", dev, err)
	}
	return found, err
}

// emptied is a driver that empties its database after a replay also when ctx has ended.
type emptied struct{ atlasDriver }

func (e emptied) Snapshot(ctx context.Context) (migrate.RestoreFunc, error) {
	restore, err := e.atlasDriver.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return restore(context.WithoutCancel(ctx)) }, nil
}

// upTo returns the migrations up to a point. The last one is shortened if the point lies within it.
func (h *history) upTo(at point) (migrate.Dir, error) {
	var files []migrate.File
	for _, f := range h.all {
		if f.Version() > at.version {
			break
		}
		if f.Version() == at.version {
			stmts, err := migrate.FileStmtDecls(h.drv, f)
			if err != nil {
				return nil, err
			}
			if at.statements < len(stmts) {
				var b strings.Builder
				for _, stmt := range stmts[:at.statements] {
					b.WriteString(terminated(stmt.Text) + "\n")
				}
				f = migrate.NewLocalFile(f.Name(), []byte(b.String()))
			}
		}
		files = append(files, f)
	}
	dir := &migrate.MemDir{}
	if err := dir.CopyFiles(files); err != nil {
		return nil, err
	}
	return dir, nil
}

// errDiffers is returned for a statement that may have run, when what it makes is there and differs.
var errDiffers = errors.New("another definition is there")

// tookEffect reports whether a statement whose record may be missing has run: whether the tables are, in what it
// changes, as they are after it. It compares with the tables before it too. When they are as at neither time, the error
// wraps errDiffers and says how they differ.
//
// A statement that changes nothing in the tables counts as not run. Lint refuses those on MySQL.
func (h *history) tookEffect(ctx context.Context, live *schema.Schema, version string, number int) (bool, error) {
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
	if missing = overlapping(missing, effect); len(missing) == 0 {
		return true, nil
	}
	tooMuch, err := changesBetween(h.drv, live, before)
	if err != nil {
		return false, err
	}
	if len(overlapping(tooMuch, effect)) == 0 {
		return false, nil
	}
	mend, err := planned(ctx, h.drv, missing)
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

// changesBetween lists what changes from one schema to another, whatever their names and defaults.
func changesBetween(drv migrate.Driver, from, to *schema.Schema) ([]schema.Change, error) {
	from.Name, from.Attrs = to.Name, to.Attrs
	return drv.SchemaDiff(from, to)
}

// part is something that a statement changes: a table, or something in a table.
type part struct {
	table string
	name  string // empty for the whole table
}

// partsOf returns what a change is about.
func partsOf(change schema.Change) []part {
	switch c := change.(type) {
	case *schema.AddTable:
		return []part{{table: c.T.Name}}
	case *schema.DropTable:
		return []part{{table: c.T.Name}}
	case *schema.ModifyTable:
		out := make([]part, len(c.Changes))
		for i, inner := range c.Changes {
			out[i] = part{table: c.T.Name, name: partName(inner)}
		}
		return out
	}
	// Nothing else is in the tables of one schema. It is taken for all of them, so that nothing is overlooked.
	return []part{{}}
}

// partName names what a change of a table is about, by kind and name.
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

// overlapping returns those of the changes that are about what the others are about.
func overlapping(changes, others []schema.Change) (out []schema.Change) {
	theirs := map[part]bool{}
	tables := map[string]bool{}
	for _, c := range others {
		for _, p := range partsOf(c) {
			theirs[p], tables[p.table] = true, true
		}
	}
	concerned := func(p part) bool {
		return p.table == "" || theirs[part{}] || theirs[p] || theirs[part{table: p.table}] || p.name == "" && tables[p.table]
	}
	for _, c := range changes {
		parts := partsOf(c)
		modify, ok := c.(*schema.ModifyTable)
		if !ok {
			if concerned(parts[0]) {
				out = append(out, c)
			}
			continue
		}
		var inner []schema.Change
		for i, p := range parts {
			if concerned(p) {
				inner = append(inner, modify.Changes[i])
			}
		}
		if len(inner) > 0 {
			out = append(out, &schema.ModifyTable{T: modify.T, Changes: inner})
		}
	}
	return out
}

// list returns all migrations of the program and of the record.
func (h *history) list(ctx context.Context) ([]Revision, error) {
	pending, err := h.pending(ctx, "")
	var outOfOrder *migrate.HistoryNonLinearError
	switch {
	case errors.Is(err, ErrNotEmpty):
		pending = h.all
	case errors.As(err, &outOfOrder):
		pending = slices.Concat(outOfOrder.OutOfOrder, outOfOrder.Pending)
	case errors.As(err, new(*migrate.MissingMigrationError)):
		// Listed below as far as it is recorded.
	case err != nil:
		return nil, err
	}
	open := make(map[string]bool, len(pending))
	for _, f := range pending {
		open[f.Version()] = true
	}
	rest := make(map[string]*migrate.Revision, len(h.revs))
	for _, r := range h.revs {
		rest[r.Version] = r
	}
	out := make([]Revision, 0, len(h.all))
	for _, f := range h.all {
		if r := rest[f.Version()]; r != nil {
			out = append(out, revisionOf(r, open[f.Version()]))
			delete(rest, f.Version())
			continue
		}
		stmts, err := migrate.FileStmtDecls(h.drv, f)
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
		out = append(out, revisionOf(rest[version], rest[version].Applied < rest[version].Total))
	}
	return out, nil
}
