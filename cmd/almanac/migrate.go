package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

type migrateCmds struct {
	Status   migrateStatusCmd   `cmd:"" help:"List the migrations and the version of the database. Exit status 1 if migrations are missing."`
	Plan     migratePlanCmd     `cmd:"" help:"Print the SQL that apply would run, and run nothing."`
	Apply    migrateApplyCmd    `cmd:"" help:"Apply the missing migrations. If interrupted, the next run continues."`
	Data     migrateDataCmd     `cmd:"" help:"Run the data steps of migrations, in batches. If interrupted, the next run continues."`
	Verify   migrateVerifyCmd   `cmd:"" help:"Compare the tables with the migrations, and print the SQL that repairs them. Exit status 1 if they differ."`
	Baseline migrateBaselineCmd `cmd:"" help:"Adopt a database that already has its tables: record migrations up to VERSION as applied."`
	Set      migrateSetCmd      `cmd:"" help:"Record migrations up to VERSION as applied by other means."`
	Lint     migrateLintCmd     `cmd:"" help:"Find changes in migrations that lose data or break running processes. Exit status 1 if there are any."`
	Diff     migrateDiffCmd     `cmd:"" help:"For developers: write the next migration from the schema." hidden:""`
	Seal     migrateSealCmd     `cmd:"" help:"For developers: rewrite the checksums after an edit of an unreleased migration." hidden:""`
}

type migrateStatusCmd struct {
	database `group:"Database:"`
	JSON     bool `name:"json" help:"Print JSON instead of text."`
}

func (c migrateStatusCmd) Run(ctx context.Context, s streams) error {
	return c.withReadOnly(ctx, func(st *store.Store) error {
		revs, err := migrate.Status(ctx, st)
		if err != nil {
			return err
		}
		current := migrate.CheckCurrent(ctx, st)
		if current != nil && !errors.Is(current, migrate.ErrBehind) {
			return current
		}
		data, err := migrate.DataStatus(ctx, st, dataSteps(siteSource{}))
		if err != nil {
			return err
		}
		versions, err := migrate.ReadRowVersions(ctx, st)
		if err != nil && !errors.Is(err, migrate.ErrNeedsProcess) {
			return err
		}
		if c.JSON {
			status := newMigrationStatus(st, revs, current == nil)
			status.Data = newDataJSON(data)
			if versions != nil {
				status.RowVersions = &rowVersionsJSON{Limit: versions.Limit, Tables: versions.Tables}
			}
			err = printJSON(s.Out, status)
		} else {
			unknown := err
			err = errors.Join(printRevisions(s.Out, revs), printData(s.Out, data))
			printRowVersions(s.Out, versions, unknown)
		}
		if err != nil {
			return err
		}
		return current
	})
}

func printRevisions(out io.Writer, revs []migrate.Revision) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tDESCRIPTION\tSTATEMENTS\tSTATE\tEXECUTED")
	for _, r := range revs {
		state, at := string(r.State()), ""
		if r.State() == migrate.StateFailed {
			state = "failed: " + r.Error
		}
		if !r.ExecutedAt.IsZero() {
			at = r.ExecutedAt.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%s\n", r.Version, r.Description, r.Applied, r.Total, state, at)
	}
	return w.Flush()
}

// printRowVersions prints how many row versions MySQL's tables have, or why that is unknown. A table gets one by
// each instant change of its columns. Other engines have none.
func printRowVersions(out io.Writer, versions *migrate.RowVersions, unknown error) {
	switch {
	case unknown != nil:
		fmt.Fprintf(out, "\nrow versions: %v\n", unknown)
	case versions != nil && len(versions.Tables) == 0:
		fmt.Fprintf(out, "\nrow versions: none; at most %d\n", versions.Limit)
	case versions != nil:
		used := make([]string, 0, len(versions.Tables))
		for _, table := range slices.Sorted(maps.Keys(versions.Tables)) {
			used = append(used, fmt.Sprintf("%s %d", table, versions.Tables[table]))
		}
		fmt.Fprintf(out, "\nrow versions: %s; at most %d\n", strings.Join(used, ", "), versions.Limit)
	}
}

// migrationStatus is the JSON that "migrate status --json" prints.
type migrationStatus struct {
	Database   string          `json:"database"`
	Engine     string          `json:"engine"`
	Current    bool            `json:"current"`
	Version    *string         `json:"version"` // last migration applied; null means none
	Migrations []migrationJSON `json:"migrations"`
	Data       []dataJSON      `json:"data"`
	// null on engines without row versions, and if the user may not see them
	RowVersions *rowVersionsJSON `json:"row_versions"`
}

// rowVersionsJSON has the row versions of tables of MySQL. A table that it does not name has none.
type rowVersionsJSON struct {
	Limit  int            `json:"limit"`
	Tables map[string]int `json:"tables"`
}

type migrationJSON struct {
	Version     string        `json:"version"`
	Description string        `json:"description"`
	State       migrate.State `json:"state"`
	Applied     int           `json:"applied"`
	Total       int           `json:"total"`
	ExecutedAt  *time.Time    `json:"executed_at"`
	Error       *string       `json:"error"` // set if State is failed
}

func newMigrationStatus(st *store.Store, revs []migrate.Revision, current bool) migrationStatus {
	out := migrationStatus{
		Database: st.String(), Engine: st.Engine(), Current: current, Migrations: make([]migrationJSON, len(revs)),
	}
	for i, r := range revs {
		m := migrationJSON{
			Version: r.Version, Description: r.Description, State: r.State(), Applied: r.Applied, Total: r.Total,
		}
		if !r.ExecutedAt.IsZero() {
			m.ExecutedAt = &r.ExecutedAt
		}
		if r.State() == migrate.StateFailed {
			m.Error = &r.Error
		}
		if r.Done() {
			out.Version = &r.Version
		}
		out.Migrations[i] = m
	}
	return out
}

type migrateApplyCmd struct {
	database `group:"Database:"`
	lockWait
	siteFlags `group:"Site:"`
	To        string `placeholder:"VERSION" help:"Last version to apply. Default all."`
	DryRun    bool   `help:"Print the SQL, and run nothing."`
	Data      bool   `default:"true" negatable:"" help:"Run the data steps afterwards. On by default."`
}

func (c migrateApplyCmd) Run(ctx context.Context, s streams) error {
	if c.DryRun {
		return migratePlanCmd{database: c.database, To: c.To}.Run(ctx, s)
	}
	source, err := c.source()
	if err != nil {
		return err
	}
	return c.withStore(ctx, func(st *store.Store) error {
		file := ""
		done, err := migrate.Apply(ctx, st, migrate.ApplyOptions{
			Operator: version(), To: c.To, LockWait: c.wait(),
			Progress: func(step migrate.Step) {
				if step.Version != file {
					file = step.Version
					fmt.Fprintf(s.Err, "applying %s %s from statement %d of %d\n",
						step.Version, step.Description, step.Number, step.Total)
				}
				if step.Found {
					fmt.Fprintf(s.Err, "statement %d of %d ran before an interruption: recorded, and not run again\n",
						step.Number, step.Total)
				}
			},
		})
		if err != nil {
			return wrongVersion("--to", err)
		}
		for _, r := range done {
			fmt.Fprintf(s.Out, "applied %s %s (%d statements)\n", r.Version, r.Description, r.Applied)
		}
		switch {
		case len(done) > 0:
		case c.To != "":
			fmt.Fprintln(s.Out, "nothing to apply: the schema has version", c.To)
		default:
			fmt.Fprintln(s.Out, "nothing to apply: the schema is current")
		}
		if !c.Data {
			return nil
		}
		return runData(ctx, s, st, stepsUpTo(source, c.To), false)
	})
}

type migrateDiffCmd struct {
	Name  string `arg:"" help:"What the migration does, in snake_case."`
	Dir   string `default:"." type:"existingdir" help:"Root of the source tree."`
	Dev   string `placeholder:"URL" help:"An empty MySQL database to plan in. One that does not exist is created, and dropped at the end. Without it only SQLite's files are written."`
	Check bool   `help:"Write nothing, and fail if a file would change."`
}

// Run writes migrations/{engine}, schema.{engine}.sql and migrations/states.
func (c migrateDiffCmd) Run(ctx context.Context, s streams) error {
	now := time.Now()
	var stale []string
	plan := func(engine, url string) error {
		return runWithStore(ctx, "--dev", url, store.OpenScratch, func(st *store.Store) error {
			written, err := c.diff(ctx, engine, st, now)
			for _, file := range written {
				fmt.Fprintln(s.Out, file)
			}
			stale = append(stale, written...)
			return err
		})
	}
	if c.Dev != "" {
		if err := plan("mysql", c.Dev); err != nil {
			return err
		}
	}
	if err := plan("sqlite", "sqlite://:memory:"); err != nil {
		return err
	}
	if c.Check && len(stale) > 0 {
		return fmt.Errorf("%d files are out of step with package schema", len(stale))
	}
	return nil
}

type migrateSealCmd struct {
	Dir string `default:"." type:"existingdir" help:"Root of the source tree."`
	Dev string `placeholder:"URL" help:"An empty MySQL database to replay the migrations in. One that does not exist is created, and dropped at the end. Without it migrations/states stays as it is."`
}

// Run writes migrations/{engine}/atlas.sum and migrations/states.
func (c migrateSealCmd) Run(ctx context.Context, s streams) error {
	for _, engine := range []string{"mysql", "sqlite"} {
		if err := migrate.Seal(filepath.Join(c.Dir, "migrations", engine)); err != nil {
			return err
		}
	}
	if c.Dev == "" {
		return nil
	}
	return runWithStore(ctx, "--dev", c.Dev, store.OpenScratch, func(dev *store.Store) error {
		_, err := writeStates(ctx, dev, filepath.Join(c.Dir, "migrations"), false)
		return err
	})
}

// writeStates writes the files of migrations/states that are missing or outdated, and removes superfluous ones.
// It returns the names of these files. If check is true, it changes nothing.
func writeStates(ctx context.Context, dev *store.Store, folder string, check bool) (written []string, err error) {
	files, err := migrate.States(ctx, dev, os.DirFS(folder))
	if err != nil {
		return nil, err
	}
	states := filepath.Join(folder, migrate.StatesFolder)
	entries, err := os.ReadDir(states)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; ok {
			continue
		}
		written = append(written, filepath.Join(states, e.Name()))
		if !check {
			if err := os.Remove(filepath.Join(states, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(states, name)
		have, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if bytes.Equal(have, files[name]) {
			continue
		}
		written = append(written, file)
		if check {
			continue
		}
		if err := os.MkdirAll(states, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// diff writes an engine's changed migration files, and returns their names. With --check it writes nothing.
func (c migrateDiffCmd) diff(
	ctx context.Context, engine string, st *store.Store, now time.Time,
) (written []string, err error) {
	if st.Engine() != engine {
		return nil, usageError{fmt.Errorf("--dev: %s is not a %s database", st, engine)}
	}
	// Nothing is written if the migration cannot be planned.
	if err := migrate.CheckEmpty(ctx, st); err != nil {
		return nil, err
	}
	ddl, err := migrate.DDL(ctx, st)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.Dir, "schema."+engine+".sql")
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if string(have) != ddl {
		written = append(written, file)
		if !c.Check {
			if err := os.WriteFile(file, []byte(ddl), 0o644); err != nil {
				return nil, err
			}
		}
	}
	folder := filepath.Join(c.Dir, "migrations", engine)
	planned := folder
	if c.Check {
		// The migration is planned in a copy, so that the source tree stays unchanged.
		temp, err := os.MkdirTemp("", "almanac-migrations-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
		if err := os.CopyFS(temp, os.DirFS(folder)); err != nil {
			return nil, err
		}
		planned = temp
	}
	changed, err := migrate.Diff(ctx, st, planned, c.Name, now)
	if err != nil {
		return nil, err
	}
	if changed {
		written = append(written, folder)
	}
	if engine != "mysql" {
		return written, nil
	}
	states, err := writeStates(ctx, st, filepath.Dir(folder), c.Check)
	return append(written, states...), err
}
