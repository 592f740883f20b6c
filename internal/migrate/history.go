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

	"github.com/almanac-cal/almanac/internal/store"
)

// history has the migrations of the program, and the database's record of those applied.
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
