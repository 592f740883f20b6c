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

// BaselineOptions is how Baseline goes about it.
type BaselineOptions struct {
	Operator string        // recorded with the revision: the program and its version
	Dev      *Store        // as Verify's
	Force    bool          // do not compare the tables
	LockWait time.Duration // as Migrate's
}

// ErrDrift is returned by Baseline for a database whose tables are not those of the migrations.
var ErrDrift = errors.New("the schema is not what the migrations make")

// Baseline takes over a database that has its tables from elsewhere: it records that the migrations up to and
// including version need not run. Like the Atlas CLI's --baseline it writes one revision, of that version. It
// refuses a database that has a record of migrations, and, unless forced, one whose tables differ: with a
// *DriftError, which wraps ErrDrift. An unknown version is an error wrapping ErrVersion.
func (s *Store) Baseline(ctx context.Context, version string, o BaselineOptions) error {
	return s.baseline(ctx, migrations.FS, version, o)
}

// DriftError is an ErrDrift with the difference.
type DriftError struct{ Drift Drift }

func (e *DriftError) Error() string {
	return fmt.Sprintf("%s: %d statements would mend it", ErrDrift, len(e.Drift.Mend))
}

func (*DriftError) Unwrap() error { return ErrDrift }

func (s *Store) baseline(ctx context.Context, files fs.FS, version string, o BaselineOptions) error {
	if version == "" {
		return fmt.Errorf("%w: it is empty", ErrVersion)
	}
	return s.withHistory(ctx, files, func(h *history) error {
		if err := h.isVersion(version); err != nil {
			return err
		}
		if err := h.baseline(ctx, version, o); err != nil {
			return fmt.Errorf("baseline: %w", err)
		}
		return nil
	})
}

func (h *history) baseline(ctx context.Context, version string, o BaselineOptions) (err error) {
	s := h.store
	end, err := s.lock(ctx, h.conn, s.waitFor(o.LockWait))
	if err != nil {
		return err
	}
	defer func() {
		ended := untouched
		if err != nil {
			ended = failed
		}
		err = errors.Join(err, end(ended))
	}()
	if err := h.read(ctx); err != nil {
		return err
	}
	if len(h.revs) > 0 {
		return fmt.Errorf("%s has a record of migrations already, up to %s", s, h.revs[len(h.revs)-1].Version)
	}
	if !o.Force {
		live, err := inspect(ctx, h.drv)
		if err != nil {
			return err
		}
		drift, err := h.compare(ctx, live, point{version, whole}, o.Dev)
		if err != nil {
			return err
		}
		if len(drift.Mend) > 0 {
			return &DriftError{drift}
		}
	}
	if _, err := h.conn.ExecContext(ctx, revisionDDL[s.Engine()]); err != nil {
		return fmt.Errorf("revision table: %w", err)
	}
	ex, err := migrate.NewExecutor(h.drv, h.dir, revisions{h.conn},
		migrate.WithBaselineVersion(version), migrate.WithOperatorVersion(o.Operator))
	if err != nil {
		return err
	}
	// Looking for what is pending is what writes the baseline.
	if _, err := ex.Pending(ctx); err != nil && !errors.Is(err, migrate.ErrNoPendingFiles) {
		return err
	}
	return nil
}
