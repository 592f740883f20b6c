package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

// dataSteps returns the steps that change rows after migrations, in order. A released step must not be changed. It is
// removed by the migration that drops its columns.
func dataSteps(source siteSource) []migrate.DataStep {
	return []migrate.DataStep{
		{
			Name: "term-sort-keys", Version: "20261121134820",
			Run: func(ctx context.Context, db *ent.Client, progress func(rows int)) error {
				_, site, err := source.load(ctx, db)
				if err != nil {
					return err
				}
				e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
				return upkeep.FillSortKeys(ctx, db, e, progress)
			},
		},
		{
			// This step changes no row. When it is recorded as done, series are enabled (series.IsEnabled).
			// Programs of the previous version overwrite occurrences without recording which fields are their
			// own, so they must have stopped.
			Name: series.EnablingStep, Version: "20261122161602",
			Run: func(context.Context, *ent.Client, func(rows int)) error { return nil },
		},
	}
}

// stepsUpTo returns the data steps of migrations up to a version. "" means all steps.
func stepsUpTo(source siteSource, version string) []migrate.DataStep {
	return slices.DeleteFunc(dataSteps(source), func(d migrate.DataStep) bool { return version != "" && d.Version > version })
}

type migrateDataCmd struct {
	database  `group:"Database:"`
	siteFlags `group:"Site:"`
	Again     bool `help:"Also repeat finished steps."`
}

func (c migrateDataCmd) Run(ctx context.Context, s streams) error {
	source, err := c.source()
	if err != nil {
		return err
	}
	return c.withExisting(ctx, func(st *store.Store) error {
		steps := dataSteps(source)
		states, err := migrate.DataStatus(ctx, st, steps)
		if err != nil {
			return err
		}
		if len(pendingData(states)) == 0 && !c.Again {
			fmt.Fprintln(s.Out, "no data step is pending")
			return nil
		}
		return runData(ctx, s, st, steps, c.Again)
	})
}

// runData runs data steps and prints their progress. If again is true, it repeats finished steps.
func runData(ctx context.Context, s streams, st *store.Store, steps []migrate.DataStep, again bool) error {
	done, err := migrate.RunData(ctx, st, steps, migrate.DataOptions{
		Again: again,
		Progress: func(step string, rows int) {
			fmt.Fprintf(s.Err, "data step %s: %d rows\n", step, rows)
		},
	})
	for _, d := range done {
		fmt.Fprintf(s.Out, "done data step %s\n", d.Name)
	}
	if err != nil {
		return err
	}
	return nil
}

// pendingData returns the names of the data steps not finished yet.
func pendingData(states []migrate.DataState) (names []string) {
	for _, d := range states {
		if d.DoneAt.IsZero() {
			names = append(names, d.Name)
		}
	}
	return names
}

// warnOfData logs a warning if data steps are pending. Until these have run, new series are refused, and terms
// without a sort key come last in lists. Everything else works.
func warnOfData(ctx context.Context, log *slog.Logger, st *store.Store) error {
	states, err := migrate.DataStatus(ctx, st, dataSteps(siteSource{}))
	if err != nil {
		return err
	}
	if names := pendingData(states); len(names) > 0 {
		log.Warn("data steps are pending: run 'almanac migrate data' once no older version serves",
			"steps", strings.Join(names, ","))
	}
	return nil
}

// dataJSON is a data step in the JSON output of "migrate status".
type dataJSON struct {
	Name    string     `json:"name"`
	Version string     `json:"version"`
	DoneAt  *time.Time `json:"done_at"` // null while the step is pending
}

func newDataJSON(states []migrate.DataState) []dataJSON {
	out := make([]dataJSON, len(states))
	for i, d := range states {
		out[i] = dataJSON{Name: d.Name, Version: d.Version}
		if !d.DoneAt.IsZero() {
			out[i].DoneAt = &d.DoneAt
		}
	}
	return out
}

// printData prints a table of data steps.
func printData(out io.Writer, states []migrate.DataState) error {
	if len(states) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := newTable(out, "DATA STEP", "AFTER VERSION", "STATE", "DONE")
	for _, d := range states {
		if d.DoneAt.IsZero() {
			w.row(d.Name, d.Version, "pending", (*time.Time)(nil))
		} else {
			w.row(d.Name, d.Version, "done", &d.DoneAt)
		}
	}
	return w.Flush()
}

// prepareSchema checks or, if apply is true, applies migrations and data steps. It runs data steps where no program
// of the previous version can run: on SQLite, and on a database that had no tables. Elsewhere they stay pending until
// "migrate data" runs them.
func prepareSchema(ctx context.Context, st *store.Store, source siteSource, apply bool) error {
	before, err := migrate.Status(ctx, st)
	if err != nil {
		return err
	}
	if err := requireCurrent(ctx, st, apply); err != nil {
		return err
	}
	if st.Engine() != "sqlite" && before[0].Done() {
		return nil
	}
	_, err = migrate.RunData(ctx, st, dataSteps(source), migrate.DataOptions{})
	return err
}
