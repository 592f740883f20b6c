package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	atlas "ariga.io/atlas/sql/migrate"
)

// pending returns the migrations up to version to that are not applied, or only in part. If to is "", it considers
// all. Atlas's Executor decides this for every command and check (decision 027).
func (h *history) pending(ctx context.Context, to string) ([]atlas.File, error) {
	files, err := h.pendingAfter(ctx, h.revs)
	if errors.As(err, new(*atlas.NotCleanError)) {
		// Another process may have created tables since the record was read. It records a migration before its statements.
		if err := h.read(ctx); err != nil {
			return nil, err
		}
		files, err = h.pendingAfter(ctx, h.revs)
	}
	if missing, ok := errors.AsType[*atlas.MissingMigrationError](err); ok && len(h.all) > 0 && missing.Version > h.all[len(h.all)-1].Version() {
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

// correctedRevisions is the record of migrations as Atlas's Executor sees it. The file of a failed migration may have
// been corrected since. Its record then gets the checksum and number of statements of the present file. Atlas would
// keep the values of the first attempt, and never finish a migration that became shorter.
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
