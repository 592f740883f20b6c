package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

type migratePlanCmd struct {
	database `group:"Database:"`
	To       string `placeholder:"VERSION" help:"Last version to print. Default all."`
}

func (c migratePlanCmd) Run(ctx context.Context, s streams) error {
	return c.withReadOnly(ctx, func(st *store.Store) error {
		plan, err := migrate.Plan(ctx, st, c.To)
		if err != nil {
			return wrongVersion("--to", err)
		}
		_, err = io.WriteString(s.Out, plan.String())
		return err
	})
}

// wrongVersion turns the error about an unknown migration version into a usageError.
func wrongVersion(name string, err error) error {
	if errors.Is(err, migrate.ErrVersion) {
		return usageError{fmt.Errorf("%s: %w", name, err)}
	}
	return err
}

// lockWait has the flag for how long to wait for another process that migrates.
type lockWait struct {
	LockTimeout time.Duration `default:"1m" help:"Longest wait for another process that migrates, or for a table in use. Default ${default}."`
}

// wait returns the flag's value for package migrate. There 0 means the default, so a wait of 0 becomes -1.
func (l lockWait) wait() time.Duration {
	if l.LockTimeout <= 0 {
		return -1
	}
	return l.LockTimeout
}

// devFlag has the flag of commands that can replay migrations in another database.
type devFlag struct {
	Dev string `placeholder:"URL" help:"Empty MySQL database to replay migrations in. A missing one is created, and dropped at the end."`
}

// withDev opens the dev database and runs do with it. Without --dev, do receives nil.
func (d devFlag) withDev(ctx context.Context, do func(*store.Store) error) error {
	if d.Dev == "" {
		return do(nil)
	}
	return runWithStore(ctx, "--dev", d.Dev, store.OpenScratch, do)
}

type migrateVerifyCmd struct {
	database `group:"Database:"`
	devFlag
}

// errDrift means that the schema of a database differs from what its migrations make.
var errDrift = errors.New("the schema has drifted")

func (c migrateVerifyCmd) Run(ctx context.Context, s streams) error {
	return c.withDev(ctx, func(dev *store.Store) error {
		return c.withReadOnly(ctx, func(st *store.Store) error {
			drift, err := migrate.Verify(ctx, st, dev)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(s.Out, drift.String()); err != nil {
				return err
			}
			if len(drift.Mend) > 0 {
				return fmt.Errorf("%w: %d statements would repair it", errDrift, len(drift.Mend))
			}
			return nil
		})
	})
}

type migrateBaselineCmd struct {
	Version  string `arg:"" help:"Last migration whose tables exist."`
	database `group:"Database:"`
	devFlag
	lockWait
	Force bool `help:"Do not compare the tables with those of the migrations."`
}

func (c migrateBaselineCmd) Run(ctx context.Context, s streams) error {
	return c.withDev(ctx, func(dev *store.Store) error {
		return c.withExisting(ctx, func(st *store.Store) error {
			err := migrate.Baseline(ctx, st, c.Version, migrate.BaselineOptions{
				Operator: version(), Dev: dev, Force: c.Force, LockWait: c.wait(),
			})
			if err != nil {
				return errors.Join(printDrift(s.Out, err), wrongVersion("VERSION", err))
			}
			fmt.Fprintf(s.Out, "%s is at version %s; nothing was run\n", st, c.Version)
			return nil
		})
	})
}

type migrateSetCmd struct {
	Version  string `arg:"" optional:"" help:"Last migration that the database has. Default the last of this program."`
	database `group:"Database:"`
	lockWait
	Force bool `help:"Do not compare the tables with those of the migrations."`
}

func (c migrateSetCmd) Run(ctx context.Context, s streams) error {
	return c.withExisting(ctx, func(st *store.Store) error {
		changes, err := migrate.SetVersion(ctx, st, c.Version, migrate.SetOptions{
			Operator: version(), Force: c.Force, LockWait: c.wait(),
		})
		if err != nil {
			return errors.Join(printDrift(s.Out, err), wrongVersion("VERSION", err))
		}
		for _, r := range changes {
			if r.Removed {
				fmt.Fprintf(s.Out, "removed %s %s from the record: it is pending again\n", r.Version, r.Description)
			} else {
				fmt.Fprintf(s.Out, "set %s %s: recorded as applied, nothing was run\n", r.Version, r.Description)
			}
		}
		if len(changes) == 0 {
			fmt.Fprintln(s.Out, "nothing to set: the record is as it should be")
		}
		return nil
	})
}

// printDrift prints the differences if err is a DriftError.
func printDrift(out io.Writer, err error) error {
	var differs *migrate.DriftError
	if !errors.As(err, &differs) {
		return nil
	}
	_, err = io.WriteString(out, differs.Drift.String())
	return err
}

type migrateLintCmd struct {
	Dir    string `placeholder:"FOLDER" type:"existingdir" help:"Root of a source tree to check. Default this program's migrations."`
	Latest int    `placeholder:"N" help:"Check only the last N migrations. Default all."`
	JSON   bool   `name:"json" help:"Print JSON instead of text."`
	devFlag
}

// errLint means that "migrate lint" has found errors.
var errLint = errors.New("the migrations have errors")

func (c migrateLintCmd) Run(ctx context.Context, s streams) error {
	if c.Latest < 0 {
		return usageError{errors.New("--latest: want a number from 1")}
	}
	var files fs.FS = migrations.FS
	options := migrate.LintOptions{Latest: c.Latest}
	if c.Dir != "" {
		files, options.Released = os.DirFS(filepath.Join(c.Dir, "migrations")), migrations.FS
	}
	var findings []migrate.Finding
	// The dev database is opened first, so that a wrong --dev is reported at once.
	err := c.withDev(ctx, func(dev *store.Store) error {
		if dev != nil && dev.Engine() != "mysql" {
			return usageError{fmt.Errorf("--dev: %s is not a MySQL database", dev)}
		}
		var err error
		if findings, err = migrate.LintLocks(files, c.Latest); err != nil {
			return err
		}
		lint := func(st *store.Store) error {
			more, err := migrate.Lint(ctx, st, files, options)
			findings = append(findings, more...)
			return err
		}
		if err := (database{DB: "sqlite://:memory:"}).withStore(ctx, lint); err != nil || dev == nil {
			return err
		}
		return lint(dev)
	})
	if err != nil {
		return err
	}
	if findings == nil {
		findings = []migrate.Finding{} // an empty list in JSON, not null
	}
	failures := 0
	for _, f := range findings {
		if f.Error {
			failures++
		}
		if !c.JSON {
			fmt.Fprintf(s.Out, "migrations/%s\n", f)
		}
	}
	if c.JSON {
		if err := printJSON(s.Out, findings); err != nil {
			return err
		}
	}
	if failures > 0 {
		return fmt.Errorf("%w: %d, and %d warnings", errLint, failures, len(findings)-failures)
	}
	return nil
}
