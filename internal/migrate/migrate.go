// Package migrate changes the schema of a database by versioned migrations. It uses Atlas's packages, the
// revision table of the Atlas CLI and its lock, so that both tools can be used on one database.
//
// Functions without a parameter for files use the migrations that are embedded in the program.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	atlas "ariga.io/atlas/sql/migrate"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

// Revision is a migration and its state in a database.
type Revision struct {
	Version     string    // sorts in the order of application, such as 20261121103000
	Description string    // part of the file name after the version
	Applied     int       // number of statements that ran
	Total       int       // number of statements in the file
	ExecutedAt  time.Time // UTC; zero means never
	Error       string    // error of the last attempt; "" means none
	Baseline    bool      // true if it never ran, because Baseline recorded its tables as existing

	pending bool // true if at least one statement has not run
	set     bool // true if SetVersion or `atlas migrate set` recorded it as applied
}

// State is the state of a migration in a database.
type State string

// StatePending to StateFailed are the values of State.
const (
	StatePending     State = "pending"
	StateApplied     State = "applied"
	StateBaseline    State = "baseline"
	StateSet         State = "set"         // recorded as applied; other tools ran its statements
	StateInterrupted State = "interrupted" // stopped between two statements, or its process ended; Apply resumes it
	StateFailed      State = "failed"
)

// State returns the state of the migration.
func (r Revision) State() State {
	switch {
	case r.Baseline:
		return StateBaseline
	case !r.pending && (r.set || r.Applied < r.Total): // SetVersion may have recorded a later migration
		return StateSet
	case !r.pending:
		return StateApplied
	case r.Error == errInterrupted.Error():
		return StateInterrupted
	case r.Error != "":
		return StateFailed
	case r.ExecutedAt.IsZero():
		return StatePending
	}
	return StateInterrupted
}

// Done reports whether no statement is left to run.
func (r Revision) Done() bool { return !r.pending }

var (
	// ErrBehind is returned by CheckCurrent and RunData if the database lacks migrations.
	ErrBehind = errors.New("the schema is behind")

	// ErrVersion is returned for a version without a migration.
	ErrVersion = errors.New("no such version")

	// ErrNotEmpty is returned for a database with tables but without a record of migrations.
	ErrNotEmpty = errors.New("want an empty database, or one that was taken over with a baseline")

	errInterrupted = errors.New("interrupted")
)

// Status returns all migrations in order: those of the program, and those in the database that the program does
// not have. It changes nothing. A database without a revision table has applied none.
func Status(ctx context.Context, st *store.Store) ([]Revision, error) {
	return status(ctx, st, migrations.FS)
}

func status(ctx context.Context, st *store.Store, files fs.FS) (revs []Revision, err error) {
	err = withHistory(ctx, st, files, func(h *history) error {
		revs, err = h.list(ctx)
		return err
	})
	return revs, err
}

// Newest returns the version of the newest migration of the program for an engine (store.Store.Engine).
func Newest(engine string) (string, error) {
	files, err := fs.Glob(migrations.FS, engine+"/*.sql")
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("migrations of %s: %w", engine, errors.Join(err, ErrVersion))
	}
	version, _, _ := strings.Cut(path.Base(slices.Max(files)), "_")
	return version, nil
}

// CheckCurrent returns nil if the database has all migrations of the program. If it lacks some, the error wraps
// ErrBehind. It usually has their number, or the statement at which one stopped. The database may have more:
// migrations only add, so an older program can use it during a rolling deployment.
func CheckCurrent(ctx context.Context, st *store.Store) error {
	return checkCurrent(ctx, st, migrations.FS)
}

func checkCurrent(ctx context.Context, st *store.Store, files fs.FS) error {
	return withHistory(ctx, st, files, func(h *history) error {
		pending, err := h.pending(ctx, "")
		if errors.Is(err, ErrNotEmpty) || errors.As(err, new(*atlas.HistoryNonLinearError)) ||
			errors.As(err, new(*atlas.MissingMigrationError)) {
			return fmt.Errorf("%w: %w", ErrBehind, err)
		}
		if err != nil || len(pending) == 0 {
			return err
		}
		if rev := h.revision(pending[0].Version()); rev != nil {
			r := newRevision(rev, true)
			if r.State() == StateFailed {
				return fmt.Errorf("%w: migration %s stopped at statement %d of %d: %s",
					ErrBehind, r.Version, r.Applied+1, r.Total, r.Error)
			}
			return fmt.Errorf("%w: migration %s was interrupted at statement %d of %d",
				ErrBehind, r.Version, r.Applied+1, r.Total)
		}
		return fmt.Errorf("%w: %d of %d migrations are not applied", ErrBehind, len(pending), len(h.all))
	})
}

func newRevision(r *atlas.Revision, pending bool) Revision {
	return Revision{
		Version: r.Version, Description: r.Description, Applied: r.Applied, Total: r.Total,
		ExecutedAt: r.ExecutedAt.UTC(), Error: r.Error, Baseline: r.Type.Has(atlas.RevisionTypeBaseline),
		pending: pending, set: r.Type.Has(atlas.RevisionTypeResolved),
	}
}
