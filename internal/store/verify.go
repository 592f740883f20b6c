package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/migrations"
)

// Drift is how a database differs from what its migrations make.
type Drift struct {
	Database string // its URL without password
	Version  string // of the last migration that it has
	Mend     []Statement
	Others   []string // what is there and not compared: "trigger audit of events"
}

// Statement is one statement and what it does.
type Statement struct {
	SQL     string
	Comment string // without mark, may be empty
}

// ErrNoRecord is returned by Verify for a database that no migration was applied to.
var ErrNoRecord = errors.New("no record of migrations")

// Verify compares the tables of the database with those that the migrations in its record make, and
// returns the statements that would mend the difference: none when there is none. Migrations that are not applied yet
// are none; of one that was applied in part its statements so far count. The revision table itself is
// left out. Triggers, views, partitions, indexes that are invisible, events and routines are listed, because migrations
// make none. It changes nothing.
//
// Without dev, MySQL is compared with what is recorded in migrations/states, and migrations of SQLite are replayed in
// memory. With dev, an empty database of the same engine that is emptied again, they are replayed there: to see what
// this very server makes of them.
func (s *Store) Verify(ctx context.Context, dev *Store) (Drift, error) {
	return s.verify(ctx, migrations.FS, dev)
}

func (s *Store) verify(ctx context.Context, files fs.FS, dev *Store) (drift Drift, err error) {
	err = s.withHistory(ctx, files, func(h *history) error {
		if len(h.revs) == 0 {
			return fmt.Errorf("%s has %w", s, ErrNoRecord)
		}
		if err := h.unknown(); err != nil {
			return err
		}
		pending, err := h.pending(ctx, "")
		if err != nil {
			return err
		}
		live, err := inspect(ctx, h.drv)
		if err != nil {
			return err
		}
		at := h.recordedPoint(pending)
		if at.statements != whole && at.version != "" {
			found, err := h.tookEffect(ctx, live, at.version, at.statements+1)
			if err != nil && !errors.Is(err, errDiffers) && !errors.Is(err, errNoState) {
				return err
			}
			if found {
				at.statements++
			}
		}
		if drift, err = h.compare(ctx, live, at, dev); err != nil {
			return err
		}
		if s.Engine() == "mysql" {
			drift.Mend = sayLocks(drift.Mend)
		}
		drift.Others, err = s.others(ctx, h.conn)
		return err
	})
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	return drift, nil
}

// sayLocks makes statements say that they lock nothing, where the server can do it so. The comment of another one that
// changes a table says that programs wait.
func sayLocks(planned []Statement) (out []Statement) {
	for _, p := range planned {
		for _, sql := range withLocks(p.SQL) {
			comment := p.Comment
			if alterTable.MatchString(sql) && !lockFree(bare(sql)) {
				comment += "; this keeps programs from writing meanwhile"
			}
			out = append(out, Statement{SQL: sql, Comment: comment})
		}
	}
	return out
}

// compare is Verify for a point of the history and the tables that there are.
func (h *history) compare(ctx context.Context, live *schema.Schema, at point, dev *Store) (Drift, error) {
	want, err := h.schemaAt(ctx, at, dev)
	if errors.Is(err, errNoState) {
		err = fmt.Errorf("an empty database is needed to replay migrations in: %w", err)
	}
	if err != nil {
		return Drift{}, err
	}
	changes, err := changesBetween(h.drv, live, want)
	if err != nil {
		return Drift{}, err
	}
	drift := Drift{Database: h.store.String(), Version: at.version}
	drift.Mend, err = planned(ctx, h.drv, changes)
	return drift, err
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

// planned lists the statements that make changes.
func planned(ctx context.Context, drv migrate.Driver, changes []schema.Change) ([]Statement, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	unqualified := ""
	plan, err := drv.PlanChanges(ctx, "mend", changes, func(o *migrate.PlanOptions) { o.SchemaQualifier = &unqualified })
	if err != nil {
		return nil, err
	}
	out := make([]Statement, len(plan.Changes))
	for i, c := range plan.Changes {
		out[i] = Statement{SQL: c.Cmd, Comment: c.Comment}
	}
	return out, nil
}

// String is the difference as SQL with comments.
func (d Drift) String() string {
	var b strings.Builder
	if len(d.Mend) == 0 {
		fmt.Fprintf(&b, "-- No drift: %s is what its migrations make, up to version %s.\n", d.Database, d.Version)
		b.WriteString(d.others())
		return b.String()
	}
	fmt.Fprintf(&b, "-- Drift: %s is not what its migrations make, up to version %s.\n", d.Database, d.Version)
	b.WriteString(d.others())
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

// others names what was not compared, as comments.
func (d Drift) others() string {
	var b strings.Builder
	for _, o := range d.Others {
		fmt.Fprintf(&b, "-- Not compared, and not made by a migration: %s.\n", o)
	}
	return b.String()
}
