package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
)

// DataStep brings rows in line with a migration that was applied: the part of a change that no statement of a
// migration does, because it takes long or needs the program.
//
// Run works in batches, each in a transaction of its own, while programs serve. It finds by itself what is left
// to do, so that it goes on where it was interrupted, and does nothing when there is nothing left. It tells
// progress the rows it has done in this run.
type DataStep struct {
	Name    string // in kebab-case, at most 40 letters; never reused
	Version string // of the migration whose tables it works on
	Run     func(ctx context.Context, db *ent.Client, progress func(rows int)) error
}

// DataState is where a data step stands.
type DataState struct {
	Name    string
	Version string
	DoneAt  time.Time // UTC, whole seconds; zero while it is pending
}

// DataOptions is how RunData goes about it. The zero value runs what is pending.
type DataOptions struct {
	Again    bool                        // also the steps that are recorded as done
	Progress func(step string, rows int) // called before each step with 0, and after each of its batches
}

// recordOf is the name of the setting that says when a step was done.
func (d DataStep) recordOf() string { return "data:" + d.Name }

// DataStatus lists the steps in their order, and changes nothing. A database without the table of settings has
// done none.
func (s *Store) DataStatus(ctx context.Context, steps []DataStep) ([]DataState, error) {
	out := make([]DataState, len(steps))
	names := make([]string, len(steps))
	for i, step := range steps {
		out[i] = DataState{Name: step.Name, Version: step.Version}
		names[i] = step.recordOf()
	}
	there, err := s.hasTable(ctx, s.DB, setting.Table)
	if err != nil || !there {
		return out, err
	}
	rows, err := s.Ent.Setting.Query().Where(setting.IDIn(names...)).All(ctx)
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

// RunData runs the steps that are not recorded as done, in order, and records each. It returns what it did, also
// with an error. A step whose migration is not applied is an error wrapping ErrBehind.
//
// Nothing is locked: of two processes that do the same step at once, each finds done what the other did.
func (s *Store) RunData(ctx context.Context, steps []DataStep, o DataOptions) (done []DataState, err error) {
	states, err := s.DataStatus(ctx, steps)
	if err != nil {
		return nil, err
	}
	revs, err := s.Status(ctx)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if !states[i].DoneAt.IsZero() && !o.Again {
			continue
		}
		there := slices.ContainsFunc(revs, func(r Revision) bool { return r.Version == step.Version && r.Done() })
		if !there {
			return done, fmt.Errorf("data step %s: %w: it needs migration %s", step.Name, ErrBehind, step.Version)
		}
		progress := func(rows int) {
			if o.Progress != nil {
				o.Progress(step.Name, rows)
			}
		}
		progress(0)
		if err := step.Run(ctx, s.Ent, progress); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", errInterrupted, ctx.Err())
			}
			return done, fmt.Errorf("data step %s: %w", step.Name, err)
		}
		states[i].DoneAt = time.Now().UTC().Truncate(time.Second)
		if err := s.recordData(ctx, step, states[i].DoneAt); err != nil {
			return done, fmt.Errorf("data step %s: %w", step.Name, err)
		}
		done = append(done, states[i])
	}
	return done, nil
}

// recordData notes that a step was done, whoever else notes it too.
func (s *Store) recordData(ctx context.Context, step DataStep, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(errInterrupted, err)
	}
	return s.Ent.Setting.Create().SetID(step.recordOf()).SetValue([]byte(at.Format(time.RFC3339))).
		OnConflict(sql.ConflictColumns(setting.FieldID)).UpdateNewValues().Exec(ctx)
}
