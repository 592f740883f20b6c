package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ariga.io/atlas/sql/migrate"

	"github.com/almanac-cal/almanac/migrations"
)

// SetOptions is how SetVersion goes about it. The zero value compares the tables first.
type SetOptions struct {
	Operator string        // recorded with each revision: the program and its version
	Force    bool          // do not compare the tables
	LockWait time.Duration // as Migrate's
}

// SetChange is a change of the record of migrations.
type SetChange struct {
	Revision
	Removed bool // from the record: the migration is pending again
}

// SetVersion records that the database has the migrations up to and including version, and none after it, because their
// statements were run or taken back by other means. An empty version is the last one, for a database with a record.
// It runs no statement of a migration, and returns what it changed in the record.
//
// Like `atlas migrate set` it writes a row for each migration that has none, and removes those after version. It also
// completes the row of a migration that was applied in part: Atlas marks that row as set and leaves its number of
// statements, so that both programs still count it as pending.
//
// Unless forced it refuses, with a *DriftError, a database in which something is not as the changed record would have
// it. Differences in other places do not matter. An unknown version is an error wrapping ErrVersion.
func (s *Store) SetVersion(ctx context.Context, version string, o SetOptions) ([]SetChange, error) {
	return s.setVersion(ctx, migrations.FS, version, o)
}

func (s *Store) setVersion(ctx context.Context, files fs.FS, version string, o SetOptions) (out []SetChange, err error) {
	err = s.withHistory(ctx, files, func(h *history) error {
		if version == "" && len(h.all) > 0 && len(h.revs) > 0 {
			version = h.all[len(h.all)-1].Version()
		}
		if version == "" {
			return fmt.Errorf("%w: name one, %s has no record of migrations", ErrVersion, s)
		}
		if err := h.isVersion(version); err != nil {
			return err
		}
		if out, err = h.set(ctx, version, o); err != nil {
			return fmt.Errorf("set: %w", err)
		}
		return nil
	})
	return out, err
}

// set does it under the lock.
func (h *history) set(ctx context.Context, version string, o SetOptions) (out []SetChange, err error) {
	s := h.store
	end, err := s.lock(ctx, h.conn, s.waitFor(o.LockWait))
	if err != nil {
		return nil, err
	}
	defer func() {
		ended := untouched
		if err != nil {
			ended = failed
		}
		err = errors.Join(err, end(ended))
	}()
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	written, removed, err := h.setRows(version)
	if err != nil || len(written)+len(removed) == 0 {
		return nil, err
	}
	if !o.Force {
		if err := h.unknown(); err != nil {
			return nil, err
		}
		if err := h.isThere(ctx, version); err != nil {
			return nil, err
		}
	}
	if _, err := h.conn.ExecContext(ctx, revisionDDL[s.Engine()]); err != nil {
		return nil, fmt.Errorf("revision table: %w", err)
	}
	if err := h.write(ctx, o.Operator, written, removed); err != nil {
		return nil, err
	}
	for _, r := range removed {
		out = append(out, SetChange{Revision: revisionOf(r, true), Removed: true})
	}
	for _, r := range written {
		out = append(out, SetChange{Revision: revisionOf(r, false)})
	}
	return out, nil
}

// setRows returns the rows to write and to remove so that the record ends with a version.
func (h *history) setRows(version string) (written, removed []*migrate.Revision, err error) {
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
			stmts, err := migrate.FileStmtDecls(h.drv, f)
			if err != nil {
				return nil, nil, err
			}
			r = new(*r)
			r.Type = migrate.RevisionTypeExecute | migrate.RevisionTypeResolved
			r.Applied, r.Total = len(stmts), len(stmts)
			r.Error, r.ErrorStmt, r.PartialHashes = "", "", nil
		case len(h.revs) > 0 && f.Version() < h.revs[0].Version && h.revs[0].Version <= version:
			continue // it came before the first record, as before a baseline
		default:
			r = &migrate.Revision{Version: f.Version(), Description: f.Desc(), Type: migrate.RevisionTypeResolved}
		}
		if r.Hash, err = sums.SumByName(f.Name()); err != nil {
			return nil, nil, err
		}
		written = append(written, r)
	}
	return written, removed, nil
}

// isThere checks that the tables are as a version leaves them, in all that changes between the record and the version.
func (h *history) isThere(ctx context.Context, version string) error {
	from := point{}
	pending, err := h.pending(ctx, "")
	switch {
	case err == nil:
		from = h.recordedPoint(pending)
	case !errors.Is(err, ErrNotEmpty) && !errors.As(err, new(*migrate.HistoryNonLinearError)):
		return err
	}
	before, err := h.schemaAt(ctx, from, nil)
	if err != nil {
		return err
	}
	after, err := h.schemaAt(ctx, point{version, whole}, nil)
	if err != nil {
		return err
	}
	live, err := inspect(ctx, h.drv)
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
	drift.Mend, err = planned(ctx, h.drv, overlapping(missing, effect))
	if err != nil || len(drift.Mend) == 0 {
		return err
	}
	return &DriftError{drift}
}

// write changes the rows together.
func (h *history) write(ctx context.Context, operator string, written, removed []*migrate.Revision) error {
	if h.store.Engine() == "sqlite" { // the lock is a transaction
		return writeRows(ctx, revisions{h.conn}, operator, written, removed)
	}
	tx, err := h.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := writeRows(ctx, revisions{tx}, operator, written, removed); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func writeRows(ctx context.Context, revs revisions, operator string, written, removed []*migrate.Revision) error {
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
