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

// BaselineOptions configures Baseline.
type BaselineOptions struct {
	Operator string        // program name and version, recorded with the revision
	Dev      *store.Store  // empty database to replay migrations in, as for Verify; may be nil
	Force    bool          // true skips the comparison of the tables
	LockWait time.Duration // time to wait for the lock, as in ApplyOptions
}

// ErrDrift is wrapped by DriftError.
var ErrDrift = errors.New("the schema is not what the migrations make")

// Baseline records that the migrations up to version need not run, because other tools created the tables. Like
// the Atlas CLI's --baseline it writes one revision, for that version. It rejects a database that has a record
// of migrations. Unless Force is set, it also rejects a database whose tables differ, with a *DriftError. For
// an unknown version the error wraps ErrVersion.
func Baseline(ctx context.Context, st *store.Store, version string, o BaselineOptions) error {
	return baseline(ctx, st, migrations.FS, version, o)
}

// DriftError reports how the tables of a database differ from those that the migrations create. It wraps
// ErrDrift.
type DriftError struct{ Drift Drift }

// Error implements error.
func (e *DriftError) Error() string {
	return fmt.Sprintf("%s: %d statements would repair it", ErrDrift, len(e.Drift.Mend))
}

// Unwrap returns ErrDrift.
func (*DriftError) Unwrap() error { return ErrDrift }

func baseline(ctx context.Context, st *store.Store, files fs.FS, version string, o BaselineOptions) error {
	if version == "" {
		return fmt.Errorf("%w: it is empty", ErrVersion)
	}
	return withHistory(ctx, st, files, func(h *history) error {
		if err := h.checkVersion(version); err != nil {
			return err
		}
		if err := h.whileLocked(ctx, o.LockWait, func() error { return h.baseline(ctx, version, o) }); err != nil {
			return fmt.Errorf("baseline: %w", err)
		}
		return nil
	})
}

// baseline records the version. The caller holds the lock.
func (h *history) baseline(ctx context.Context, version string, o BaselineOptions) error {
	if len(h.revs) > 0 {
		return fmt.Errorf("%s has a record of migrations already, up to %s", h.store, h.revs[len(h.revs)-1].Version)
	}
	if !o.Force {
		live, err := inspectSchema(ctx, h.drv)
		if err != nil {
			return err
		}
		drift, err := h.compare(ctx, live, historyPoint{version, allStatements}, o.Dev)
		if err != nil {
			return err
		}
		if len(drift.Mend) > 0 {
			return &DriftError{drift}
		}
	}
	if err := h.createRevisionTable(ctx); err != nil {
		return err
	}
	ex, err := atlas.NewExecutor(h.drv, h.dir, revisionTable{h.conn},
		atlas.WithBaselineVersion(version), atlas.WithOperatorVersion(o.Operator))
	if err != nil {
		return err
	}
	// Executor.Pending writes the baseline revision.
	if _, err := ex.Pending(ctx); err != nil && !errors.Is(err, atlas.ErrNoPendingFiles) {
		return err
	}
	return nil
}
