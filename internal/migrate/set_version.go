package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	atlas "ariga.io/atlas/sql/migrate"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

// SetOptions configures SetVersion. The zero value compares the tables first.
type SetOptions struct {
	Operator string        // program name and version, recorded with each revision
	Force    bool          // true skips the comparison of the tables
	LockWait time.Duration // time to wait for the lock, as in ApplyOptions
}

// RecordChange is a change that SetVersion made in the record of migrations.
type RecordChange struct {
	Revision
	Removed bool // true if the revision was removed, so that the migration is pending again
}

// SetVersion records that the database has the migrations up to and including version, and none after it,
// because their statements were run or reverted by other means. For a database with a record, an empty version
// is the last one. It runs no statement of a migration. It returns the changes of the record.
//
// Like `atlas migrate set` it writes a row for each migration that has none, and removes the rows after
// version. It also completes the row of a migration that was applied in part. Atlas marks that row as set and
// leaves its number of statements, so that both programs still count the migration as pending.
//
// Unless forced it refuses, with a *DriftError, a database in which a table differs from the changed record. It
// compares only what the change of the record covers. An unknown version is an error that wraps ErrVersion.
func SetVersion(ctx context.Context, st *store.Store, version string, o SetOptions) ([]RecordChange, error) {
	return setVersion(ctx, st, migrations.FS, version, o)
}

func setVersion(
	ctx context.Context, st *store.Store, files fs.FS, version string, o SetOptions,
) (out []RecordChange, err error) {
	err = withHistory(ctx, st, files, func(h *history) error {
		if version == "" && len(h.all) > 0 && len(h.revs) > 0 {
			version = h.all[len(h.all)-1].Version()
		}
		if version == "" {
			return fmt.Errorf("%w: name one, %s has no record of migrations", ErrVersion, st)
		}
		if err := h.checkVersion(version); err != nil {
			return err
		}
		err := h.whileLocked(ctx, o.LockWait, func() (err error) {
			out, err = h.set(ctx, version, o)
			return err
		})
		if err != nil {
			return fmt.Errorf("set: %w", err)
		}
		return nil
	})
	return out, err
}

// set writes and removes revisions so that the record ends with version, and returns these changes. The caller
// holds the lock.
func (h *history) set(ctx context.Context, version string, o SetOptions) (out []RecordChange, err error) {
	written, removed, err := h.setRows(version)
	if err != nil || len(written)+len(removed) == 0 {
		return nil, err
	}
	if !o.Force {
		if err := h.checkKnown(); err != nil {
			return nil, err
		}
		if err := h.checkEffect(ctx, version); err != nil {
			return nil, err
		}
	}
	if err := h.createRevisionTable(ctx); err != nil {
		return nil, err
	}
	if err := h.write(ctx, o.Operator, written, removed); err != nil {
		return nil, err
	}
	for _, r := range removed {
		out = append(out, RecordChange{Revision: newRevision(r, true), Removed: true})
	}
	for _, r := range written {
		out = append(out, RecordChange{Revision: newRevision(r, false)})
	}
	return out, nil
}

// setRows returns the revisions to write and to remove so that the record ends with the given version.
func (h *history) setRows(version string) (written, removed []*atlas.Revision, err error) {
	sums, err := h.dir.Checksum()
	if err != nil {
		return nil, nil, err
	}
	for _, r := range h.revs {
		if r.Version > version {
			removed = append(removed, r)
		}
	}
	for _, f := range h.all {
		r := h.revision(f.Version())
		switch {
		case f.Version() > version:
			continue
		case r != nil && r.Applied == r.Total && r.Error == "":
			continue
		case r != nil:
			stmts, err := atlas.FileStmtDecls(h.drv, f)
			if err != nil {
				return nil, nil, err
			}
			r = new(*r)
			r.Type = atlas.RevisionTypeExecute | atlas.RevisionTypeResolved
			r.Applied, r.Total = len(stmts), len(stmts)
			r.Error, r.ErrorStmt, r.PartialHashes = "", "", nil
		case len(h.revs) > 0 && f.Version() < h.revs[0].Version && h.revs[0].Version <= version:
			continue // it precedes the first record, as migrations before a baseline do
		default:
			r = &atlas.Revision{Version: f.Version(), Description: f.Desc(), Type: atlas.RevisionTypeResolved}
		}
		if r.Hash, err = sums.SumByName(f.Name()); err != nil {
			return nil, nil, err
		}
		written = append(written, r)
	}
	return written, removed, nil
}

// checkEffect returns a *DriftError if the tables differ from those that the migrations up to version create. It
// compares only the parts that the migrations between the record and version change.
func (h *history) checkEffect(ctx context.Context, version string) error {
	from := historyPoint{}
	pending, err := h.pending(ctx, "")
	switch {
	case err == nil:
		from = h.recordedPoint(pending)
	case !errors.Is(err, ErrNotEmpty) && !errors.As(err, new(*atlas.HistoryNonLinearError)):
		return err
	}
	before, err := h.schemaAt(ctx, from, nil)
	if err != nil {
		return err
	}
	after, err := h.schemaAt(ctx, historyPoint{version, allStatements}, nil)
	if err != nil {
		return err
	}
	live, err := inspectSchema(ctx, h.drv)
	if err != nil {
		return err
	}
	effect, err := changesBetween(h.drv, before, after)
	if err != nil {
		return err
	}
	missing, err := changesBetween(h.drv, live, after)
	if err != nil {
		return err
	}
	drift := Drift{Database: h.store.String(), Version: version}
	drift.Mend, err = planStatements(ctx, h.drv, overlappingChanges(missing, effect))
	if err != nil || len(drift.Mend) == 0 {
		return err
	}
	return &DriftError{drift}
}

// write writes and removes revisions in one transaction.
func (h *history) write(ctx context.Context, operator string, written, removed []*atlas.Revision) error {
	if h.store.Engine() == "sqlite" { // the lock is a transaction already
		return writeRows(ctx, revisionTable{h.conn}, operator, written, removed)
	}
	tx, err := h.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := writeRows(ctx, revisionTable{tx}, operator, written, removed); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func writeRows(ctx context.Context, revs revisionTable, operator string, written, removed []*atlas.Revision) error {
	for _, r := range removed {
		if err := revs.DeleteRevision(ctx, r.Version); err != nil {
			return err
		}
	}
	for _, r := range written {
		r.ExecutedAt, r.OperatorVersion = time.Now(), operator
		if err := revs.WriteRevision(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
