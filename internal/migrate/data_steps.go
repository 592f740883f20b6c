package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/internal/store"
)

// DataStep updates rows after a migration was applied. Use it for changes that take too long for a statement of
// a migration, or that need code.
//
// Run works in batches, each in its own transaction, while the service runs. It finds the remaining rows
// itself, so it resumes after an interruption and does nothing if no row is left. It calls progress with the
// number of rows that it has updated in this run.
type DataStep struct {
	Name    string // kebab-case, at most 40 characters; never reused
	Version string // migration whose rows the step updates
	Run     func(ctx context.Context, db *ent.Client, progress func(rows int)) error
}

// DataState is the state of a data step in a database, as DataStatus returns it.
type DataState struct {
	Name    string
	Version string
	DoneAt  time.Time // UTC, in whole seconds; zero means pending
}

// DataOptions configures RunData. The zero value runs the pending steps.
type DataOptions struct {
	Again    bool                        // true also runs steps that are recorded as done
	Progress func(step string, rows int) // called with 0 before each step, and after each batch
}

// settingID returns the id of the setting that records the time at which the step was done.
func (d DataStep) settingID() string { return "data:" + d.Name }

// DataStatus returns the state of each step, in order. It changes nothing. If the table of settings does not
// exist, all steps are pending.
func DataStatus(ctx context.Context, st *store.Store, steps []DataStep) ([]DataState, error) {
	out := make([]DataState, len(steps))
	names := make([]string, len(steps))
	for i, step := range steps {
		out[i] = DataState{Name: step.Name, Version: step.Version}
		names[i] = step.settingID()
	}
	exists, err := hasTable(ctx, st.DB, st.Engine(), setting.Table)
	if err != nil || !exists {
		return out, err
	}
	rows, err := st.Ent.Setting.Query().Where(setting.IDIn(names...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("data steps: %w", err)
	}
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, string(row.Value))
		if err != nil {
			return nil, fmt.Errorf("setting %s: %w", row.ID, err)
		}
		out[slices.Index(names, row.ID)].DoneAt = at
	}
	return out, nil
}

// RunData runs the steps that are not recorded as done, in order, and records each. It returns the steps that
// it ran, even with an error. The error wraps ErrBehind if the migration of a step is not applied.
//
// It takes no lock: if two processes run a step at the same time, each skips the rows that the other has updated.
func RunData(ctx context.Context, st *store.Store, steps []DataStep, o DataOptions) (done []DataState, err error) {
	states, err := DataStatus(ctx, st, steps)
	if err != nil {
		return nil, err
	}
	revs, err := Status(ctx, st)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if !states[i].DoneAt.IsZero() && !o.Again {
			continue
		}
		applied := slices.ContainsFunc(revs, func(r Revision) bool { return r.Version == step.Version && r.Done() })
		if !applied {
			return done, fmt.Errorf("data step %s: %w: it needs migration %s", step.Name, ErrBehind, step.Version)
		}
		progress := func(rows int) {
			if o.Progress != nil {
				o.Progress(step.Name, rows)
			}
		}
		progress(0)
		if err := step.Run(ctx, st.Ent, progress); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", errInterrupted, ctx.Err())
			}
			return done, fmt.Errorf("data step %s: %w", step.Name, err)
		}
		states[i].DoneAt = time.Now().UTC().Truncate(time.Second)
		if err := RecordData(ctx, st, step, states[i].DoneAt); err != nil {
			return done, fmt.Errorf("data step %s: %w", step.Name, err)
		}
		done = append(done, states[i])
	}
	return done, nil
}

// RecordData records that a step was done at a time. It replaces a record that another process wrote.
func RecordData(ctx context.Context, st *store.Store, step DataStep, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(errInterrupted, err)
	}
	return st.Ent.Setting.Create().SetID(step.settingID()).SetValue([]byte(at.Format(time.RFC3339))).
		OnConflict(sql.ConflictColumns(setting.FieldID)).UpdateNewValues().Exec(ctx)
}
