package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
)

// Drift is the difference between the tables of a database and those that its migrations create.
type Drift struct {
	Database string // URL of the database without its password
	Version  string // version of the last migration that was compared; Verify compares the applied ones
	Mend     []Statement
	Others   []string // objects that Verify does not compare, such as "trigger audit of events"
}

// Statement is an SQL statement with a comment on its effect. Verify returns such statements.
type Statement struct {
	SQL     string
	Comment string // text without the comment mark; "" means none
}

// ErrNoRecord is returned by Verify for a database to which no migration was applied.
var ErrNoRecord = errors.New("no record of migrations")

// Verify compares the tables of the database with those that its recorded migrations create. It returns the
// statements that would remove the difference; none means that there is no difference. Pending migrations are
// ignored. For a partly applied migration the applied statements count. Verify changes nothing.
//
// It does not compare the revision table. It lists triggers, views, partitions, invisible indexes, events and
// routines, because migrations create none.
//
// dev is an empty database of the same engine, which Verify empties again. It replays the migrations there,
// which shows their effect on that server. If dev is nil, a MySQL database is compared with migrations/states,
// and SQLite migrations are replayed in memory.
func Verify(ctx context.Context, st, dev *store.Store) (Drift, error) {
	return verify(ctx, st, migrations.FS, dev)
}

func verify(ctx context.Context, st *store.Store, files fs.FS, dev *store.Store) (drift Drift, err error) {
	err = withHistory(ctx, st, files, func(h *history) error {
		if len(h.revs) == 0 {
			return fmt.Errorf("%s has %w", st, ErrNoRecord)
		}
		if err := h.checkKnown(); err != nil {
			return err
		}
		pending, err := h.pending(ctx, "")
		if err != nil {
			return err
		}
		live, err := inspectSchema(ctx, h.drv)
		if err != nil {
			return err
		}
		at := h.recordedPoint(pending)
		if at.statements != allStatements && at.version != "" {
			found, err := h.hasRun(ctx, live, at.version, at.statements+1)
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
		drift.Others, err = otherObjects(ctx, h.conn, st.Engine())
		return err
	})
	if err != nil {
		return Drift{}, fmt.Errorf("verify: %w", err)
	}
	return drift, nil
}

// splitAllByLock applies splitByLock to statements with comments. The comment of a statement that may lock a
// table says that it blocks writers.
func splitAllByLock(planned []Statement) (out []Statement) {
	for _, p := range planned {
		for _, sql := range splitByLock(p.SQL) {
			comment := p.Comment
			if alterTable.MatchString(sql) && !isLockFree(stripText(sql)) {
				comment += "; this keeps programs from writing meanwhile"
			}
			out = append(out, Statement{SQL: sql, Comment: comment})
		}
	}
	return out
}

// compare compares the live tables with those at a point of the history.
func (h *history) compare(ctx context.Context, live *schema.Schema, at historyPoint, dev *store.Store) (Drift, error) {
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
	drift.Mend, err = planStatements(ctx, h.drv, changes)
	return drift, err
}

// withEmpty calls do with the database dev and empties it again. It rejects a database that is not empty.
func withEmpty(ctx context.Context, dev *store.Store, do func(atlasDriver) error) (err error) {
	conn, err := dev.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := newDriver(ctx, dev, conn)
	if err != nil {
		return err
	}
	restore, err := drv.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("%s is to be empty: %w", dev, err)
	}
	defer func() { err = errors.Join(err, restore(context.WithoutCancel(ctx))) }()
	return do(drv)
}

// inspectSchema reads the tables of the connection's database, except for the revision table.
func inspectSchema(ctx context.Context, drv atlas.Driver) (*schema.Schema, error) {
	return drv.InspectSchema(ctx, "", &schema.InspectOptions{
		Mode: schema.InspectSchemas | schema.InspectTables, Exclude: []string{revisionTableName},
	})
}

// planStatements returns the SQL statements that perform the given schema changes. On MySQL they lock as little as
// possible.
func planStatements(ctx context.Context, drv atlas.Driver, changes []schema.Change) (out []Statement, err error) {
	parts := [][]schema.Change{changes}
	onMySQL := isMySQL(drv)
	if onMySQL {
		parts = planParts(drv, changes)
	}
	unqualified := ""
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		plan, err := drv.PlanChanges(ctx, "mend", part, func(o *atlas.PlanOptions) { o.SchemaQualifier = &unqualified })
		if err != nil {
			return nil, err
		}
		for _, c := range plan.Changes {
			planned := []Statement{{SQL: c.Cmd, Comment: c.Comment}}
			if onMySQL {
				planned = splitAllByLock(planned)
			}
			if onMySQL && changesReferenced(c.Source) {
				planned = withoutKeyChecks(planned)
			}
			out = append(out, planned...)
		}
	}
	return out, nil
}

// withoutKeyChecks turns foreign key checks off for the statements that change columns. They keep the columns' values.
func withoutKeyChecks(planned []Statement) (out []Statement) {
	for _, p := range planned {
		if !strings.Contains(stripText(p.SQL), " MODIFY COLUMN ") {
			out = append(out, p)
			continue
		}
		out = append(out, Statement{SQL: "SET foreign_key_checks = 0", Comment: "foreign keys refer to the column"},
			p, Statement{SQL: "SET foreign_key_checks = 1"})
	}
	return out
}

// String formats the difference as SQL with comments.
func (d Drift) String() string {
	var b strings.Builder
	if len(d.Mend) == 0 {
		fmt.Fprintf(&b, "-- No drift: %s is what its migrations make, up to version %s.\n", d.Database, d.Version)
		b.WriteString(d.otherComments())
		return b.String()
	}
	fmt.Fprintf(&b, "-- Drift: %s is not what its migrations make, up to version %s.\n", d.Database, d.Version)
	b.WriteString(d.otherComments())
	b.WriteString("-- These statements would repair it. Those that drop something lose what it holds.\n")
	for _, s := range d.Mend {
		b.WriteByte('\n')
		if s.Comment != "" {
			b.WriteString("-- " + s.Comment + "\n")
		}
		b.WriteString(withSemicolon(s.SQL) + "\n")
	}
	return b.String()
}

// otherComments lists the objects that were not compared, as SQL comments.
func (d Drift) otherComments() string {
	var b strings.Builder
	for _, o := range d.Others {
		fmt.Fprintf(&b, "-- Not compared, and not made by a migration: %s.\n", o)
	}
	return b.String()
}
