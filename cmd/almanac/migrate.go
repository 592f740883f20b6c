package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/almanac-cal/almanac/store"
)

// database is the flag that every command with a database has.
type database struct {
	DB string `name:"db" default:"sqlite://almanac.db" placeholder:"URL" help:"Database: sqlite://FILE, or mysql://USER:PASSWORD@HOST:PORT/NAME. Default ${default}."`
}

// with opens the database for do and closes it afterwards.
func (d database) with(ctx context.Context, do func(*store.Store) error) (err error) {
	st, err := store.Open(ctx, d.DB)
	if errors.Is(err, store.ErrURL) {
		return usageError{fmt.Errorf("--db: %w", err)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

type migrateCmds struct {
	Status migrateStatusCmd `cmd:"" help:"List the migrations and where the database stands. Exit status 1 when it is behind."`
	Apply  migrateApplyCmd  `cmd:"" help:"Apply the migrations that the database misses."`
	Diff   migrateDiffCmd   `cmd:"" help:"For developers: write the next migration from the schema." hidden:""`
}

type migrateStatusCmd struct{ database }

func (c migrateStatusCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, func(st *store.Store) error {
		revs, err := st.Status(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "VERSION\tDESCRIPTION\tSTATEMENTS\tSTATE\tEXECUTED")
		for _, r := range revs {
			state, at := "pending", ""
			switch {
			case r.Error != "":
				state = "failed: " + r.Error
			case r.Done():
				state = "applied"
			case !r.ExecutedAt.IsZero():
				state = "interrupted"
			}
			if !r.ExecutedAt.IsZero() {
				at = r.ExecutedAt.Format(time.RFC3339)
			}
			fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%s\n", r.Version, r.Description, r.Applied, r.Total, state, at)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return st.Current(ctx)
	})
}

type migrateApplyCmd struct{ database }

func (c migrateApplyCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, func(st *store.Store) error {
		done, err := st.Migrate(ctx, version())
		for _, r := range done {
			fmt.Fprintf(s.Out, "applied %s %s (%d statements)\n", r.Version, r.Description, r.Applied)
		}
		if err != nil {
			return err
		}
		if len(done) == 0 {
			fmt.Fprintln(s.Out, "nothing to apply: the schema is current")
		}
		return nil
	})
}

type migrateDiffCmd struct {
	Name  string `arg:"" help:"What the migration does, in snake_case."`
	Dir   string `default:"." type:"existingdir" help:"Root of the source tree."`
	Dev   string `placeholder:"URL" help:"An empty MySQL database to plan in; without it only SQLite's files are written."`
	Check bool   `help:"Write nothing; fail when anything would be written."`
}

// Run writes migrations/{engine} and schema.{engine}.sql.
func (c migrateDiffCmd) Run(ctx context.Context, s streams) error {
	engines := map[string]string{"sqlite": "sqlite://:memory:"}
	if c.Dev != "" {
		engines["mysql"] = c.Dev
	}
	now := time.Now()
	var stale []string
	for engine, url := range engines {
		written, err := c.diff(ctx, engine, url, now)
		if err != nil {
			return err
		}
		for _, file := range written {
			fmt.Fprintln(s.Out, file)
		}
		stale = append(stale, written...)
	}
	if c.Check && len(stale) > 0 {
		return fmt.Errorf("%d files are out of step with package schema", len(stale))
	}
	return nil
}

// diff brings one engine's files up to date, or names those that would change.
func (c migrateDiffCmd) diff(ctx context.Context, engine, url string, now time.Time) (written []string, err error) {
	st, err := store.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if st.Engine() != engine {
		return nil, fmt.Errorf("%s is not a %s database", st, engine)
	}
	ddl, err := st.DDL(ctx)
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
	if c.Check {
		// Planned in a copy, so that nothing of the tree changes.
		temp, err := os.MkdirTemp("", "almanac-migrations-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
		if err := os.CopyFS(temp, os.DirFS(folder)); err != nil {
			return nil, err
		}
		folder = temp
	}
	changed, err := st.Diff(ctx, folder, c.Name, now)
	if err != nil {
		return nil, err
	}
	if changed {
		written = append(written, filepath.Join(c.Dir, "migrations", engine))
	}
	return written, nil
}
