package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entschema "entgo.io/ent/dialect/sql/schema"

	entmigrate "github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/migrations"
)

// Drift is how a database differs from what its migrations make.
type Drift struct {
	Database string // its URL without password
	Version  string // of the last migration that it has
	Mend     []Statement
}

// Statement is one statement and what it does.
type Statement struct {
	SQL     string
	Comment string // without mark, may be empty
}

// ErrNoRecord is returned by Verify for a database that no migration was applied to.
var ErrNoRecord = errors.New("no record of migrations")

// Verify compares the tables of the database with those that the migrations in its revision table make, and
// returns the statements that would mend the difference: none when there is none. The revision table itself is
// left out, and so are views and triggers, of which migrations have none. It changes nothing.
//
// The migrations are replayed in dev, an empty database of the same engine that is emptied again. For MySQL it
// should be of the same version too. For SQLite it may be nil: a database in memory serves.
//
// On MySQL without dev the tables are compared with the generated schema instead, which is what the migrations
// of this binary make together. That needs all of them to be applied, and none that the binary does not know.
func (s *Store) Verify(ctx context.Context, dev *Store) (Drift, error) {
	return s.verify(ctx, migrations.FS, dev)
}

func (s *Store) verify(ctx context.Context, files fs.FS, dev *Store) (drift Drift, err error) {
	dir, err := loadDir(files, s.Engine())
	if err != nil {
		return Drift{}, err
	}
	applied, err := s.applied(ctx)
	if err != nil {
		return Drift{}, err
	}
	if len(applied) == 0 {
		return Drift{}, fmt.Errorf("verify: %s has %w", s, ErrNoRecord)
	}
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return Drift{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return s.compare(ctx, conn, dir, applied, dev)
}

// compare is Verify for the revisions given, on a connection of the receiver.
func (s *Store) compare(
	ctx context.Context, conn *sql.Conn, dir migrate.Dir, applied []*migrate.Revision, dev *Store,
) (drift Drift, err error) {
	drv, err := s.driver(conn)
	if err != nil {
		return Drift{}, err
	}
	replay, complete, err := replayOf(drv, dir, applied)
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	live, err := inspect(ctx, drv)
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	drift = Drift{Database: s.String(), Version: applied[len(applied)-1].Version}
	if dev == nil && s.Engine() == "mysql" {
		if !complete {
			return Drift{}, errors.New("verify: not every migration of this program is applied, " +
				"so an empty database is needed to replay those that are")
		}
		drift.Mend, err = s.fromGenerated(ctx, live)
		return drift, err
	}
	if dev == nil {
		if dev, err = Open(ctx, "sqlite://:memory:"); err != nil {
			return Drift{}, err
		}
		defer func() { err = errors.Join(err, dev.Close()) }()
	}
	if dev.Engine() != s.Engine() {
		return Drift{}, fmt.Errorf("verify: %s is not a %s database", dev, s.Engine())
	}
	var want *schema.Schema
	err = dev.borrow(ctx, func(drv atlasDriver) (err error) {
		for _, step := range replay {
			if _, err := drv.ExecContext(ctx, step.SQL); err != nil {
				return fmt.Errorf("replay of %s, statement %d: %w", step.Version, step.Number, err)
			}
		}
		want, err = inspect(ctx, drv)
		return err
	})
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	drift.Mend, err = between(ctx, drv, live, want)
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	return drift, nil
}

// replayOf is the statements that the recorded revisions ran, or stand for, and whether that is all there are.
func replayOf(drv atlasDriver, dir migrate.Dir, applied []*migrate.Revision) (ran []Step, complete bool, err error) {
	files, err := dir.Files()
	if err != nil {
		return nil, false, err
	}
	byVersion := make(map[string]*migrate.Revision, len(applied))
	for _, r := range applied {
		byVersion[r.Version] = r
	}
	complete = true
	for _, f := range files {
		steps, err := steps(drv, f)
		if err != nil {
			return nil, false, err
		}
		r := byVersion[f.Version()]
		delete(byVersion, f.Version())
		switch {
		case isBaseline(applied) && f.Version() <= applied[0].Version: // all of it
		case r == nil:
			steps = nil
			complete = false
		case r.Applied < len(steps):
			steps = steps[:r.Applied]
			complete = false
		}
		ran = append(ran, steps...)
	}
	if len(byVersion) > 0 {
		unknown := slices.Sorted(maps.Keys(byVersion))
		return nil, false, fmt.Errorf("the database is ahead of this program, which does not know %s",
			strings.Join(unknown, ", "))
	}
	return ran, complete, nil
}

// borrow lends do an empty database and empties it again. Anything in it is an error.
func (s *Store) borrow(ctx context.Context, do func(atlasDriver) error) (err error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := s.driver(conn)
	if err != nil {
		return err
	}
	restore, err := drv.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("%s is to be empty: %w", s, err)
	}
	defer func() { err = errors.Join(err, restore(context.WithoutCancel(ctx))) }()
	return do(drv)
}

// inspect reads the tables of the connection's database, without the record of migrations.
func inspect(ctx context.Context, drv migrate.Driver) (*schema.Schema, error) {
	return drv.InspectSchema(ctx, "", &schema.InspectOptions{
		Mode: schema.InspectSchemas | schema.InspectTables, Exclude: []string{revisionTable},
	})
}

// between plans the statements from one schema to another.
func between(ctx context.Context, drv migrate.Driver, from, to *schema.Schema) ([]Statement, error) {
	// The databases may have different names, and different defaults for tables that are to come.
	from.Name, from.Attrs = to.Name, to.Attrs
	changes, err := drv.SchemaDiff(from, to)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	unqualified := ""
	plan, err := drv.PlanChanges(ctx, "mend", changes, func(o *migrate.PlanOptions) { o.SchemaQualifier = &unqualified })
	if err != nil {
		return nil, err
	}
	return statementsOf(plan), nil
}

func statementsOf(plan *migrate.Plan) []Statement {
	out := make([]Statement, len(plan.Changes))
	for i, c := range plan.Changes {
		out[i] = Statement{SQL: c.Cmd, Comment: c.Comment}
	}
	return out
}

// entTables is held while Ent plans: it changes its tables then, which are the same for all databases of the process.
var entTables sync.Mutex

// fromGenerated plans the statements from the live tables to the generated schema. Ent looks at tables that it
// knows only, so others are found by their names.
func (s *Store) fromGenerated(ctx context.Context, live *schema.Schema) (mend []Statement, err error) {
	entTables.Lock()
	defer entTables.Unlock()
	err = s.Ent.Schema.WriteTo(ctx, io.Discard,
		entschema.WithDropColumn(true), entschema.WithDropIndex(true),
		entschema.WithDiffHook(func(next entschema.Differ) entschema.Differ {
			return entschema.DiffFunc(func(from, to *schema.Schema) ([]schema.Change, error) {
				changes, err := next.Diff(from, to)
				return withoutTextDefaults(changes), err
			})
		}),
		// Takes the plan and applies nothing of it.
		entschema.WithApplyHook(func(entschema.Applier) entschema.Applier {
			return entschema.ApplyFunc(func(_ context.Context, _ dialect.ExecQuerier, plan *migrate.Plan) error {
				mend = statementsOf(plan)
				return nil
			})
		}))
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	for _, table := range live.Tables {
		known := slices.ContainsFunc(entmigrate.Tables, func(t *entschema.Table) bool { return t.Name == table.Name })
		if !known {
			mend = append(mend, Statement{
				SQL: "DROP TABLE `" + strings.ReplaceAll(table.Name, "`", "``") + "`", Comment: fmt.Sprintf("drop %q table", table.Name),
			})
		}
	}
	return mend, nil
}

// withoutTextDefaults leaves out that long texts have no default. MySQL knows none, so the migrations have none;
// for MariaDB, Ent would add them.
func withoutTextDefaults(changes []schema.Change) []schema.Change {
	return slices.DeleteFunc(changes, func(c schema.Change) bool {
		table, ok := c.(*schema.ModifyTable)
		if !ok {
			return false
		}
		table.Changes = slices.DeleteFunc(table.Changes, func(c schema.Change) bool {
			column, ok := c.(*schema.ModifyColumn)
			if !ok || column.Change != schema.ChangeDefault || column.From.Default != nil {
				return false
			}
			text, ok := column.To.Type.Type.(*schema.StringType)
			return ok && strings.HasSuffix(text.T, "text")
		})
		return len(table.Changes) == 0
	})
}

// String is the difference as SQL with comments.
func (d Drift) String() string {
	var b strings.Builder
	if len(d.Mend) == 0 {
		fmt.Fprintf(&b, "-- No drift: %s is what its migrations make, up to version %s.\n", d.Database, d.Version)
		return b.String()
	}
	fmt.Fprintf(&b, "-- Drift: %s is not what its migrations make, up to version %s.\n", d.Database, d.Version)
	b.WriteString("-- These statements would mend it. Those that drop something lose what it holds.\n")
	for _, s := range d.Mend {
		b.WriteByte('\n')
		if s.Comment != "" {
			b.WriteString("-- " + s.Comment + "\n")
		}
		b.WriteString(terminated(s.SQL) + "\n")
	}
	return b.String()
}
