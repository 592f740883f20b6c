package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/internal/store"
)

// schemaAt returns the tables as they are at a point of the history. It replays the migrations in dev, an empty
// database. If dev is nil, it reads migrations/states for MySQL, and replays in memory for SQLite.
func (h *history) schemaAt(ctx context.Context, at historyPoint, dev *store.Store) (_ *schema.Schema, err error) {
	switch {
	case dev != nil:
		return h.replay(ctx, dev, at)
	case h.store.Engine() == "mysql":
		return recordedSchema(h.files, h.dir, at)
	}
	if dev, err = store.Open(ctx, "sqlite://:memory:"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	return h.replay(ctx, dev, at)
}

// recordedPoint returns the point of the history at which the database is according to the record.
func (h *history) recordedPoint(pending []atlas.File) historyPoint {
	next := len(h.all)
	if len(pending) > 0 {
		first := pending[0].Version()
		if r := h.revision(first); r != nil {
			return historyPoint{version: first, statements: r.Applied}
		}
		next = slices.IndexFunc(h.all, func(f atlas.File) bool { return f.Version() == first })
	}
	if next <= 0 {
		return historyPoint{}
	}
	return historyPoint{version: h.all[next-1].Version(), statements: allStatements}
}

// replay creates the tables of a point in the empty database dev, inspects them, and empties dev again.
func (h *history) replay(ctx context.Context, dev *store.Store, at historyPoint) (_ *schema.Schema, err error) {
	if dev.Engine() != h.store.Engine() {
		return nil, fmt.Errorf("%s is not a %s database", dev, h.store.Engine())
	}
	conn, err := dev.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := newDriver(ctx, dev, conn)
	if err != nil {
		return nil, err
	}
	dir, err := h.migrationsUntil(at)
	if err != nil {
		return nil, err
	}
	ex, err := atlas.NewExecutor(restoringDriver{drv}, dir, atlas.NopRevisionReadWriter{})
	if err != nil {
		return nil, err
	}
	var found *schema.Schema
	_, err = ex.Replay(ctx, atlas.StateReaderFunc(func(ctx context.Context) (*schema.Realm, error) {
		var err error
		if found, err = inspectSchema(ctx, drv); err != nil {
			return nil, err
		}
		return schema.NewRealm(found), nil
	}))
	if errors.As(err, new(*atlas.NotCleanError)) {
		err = fmt.Errorf("%s is to be empty: %w", dev, err)
	}
	return found, err
}

// restoringDriver is an Atlas driver that empties its database after a replay, even if ctx has ended.
type restoringDriver struct{ atlasDriver }

// Snapshot implements Atlas's Snapshoter.
func (d restoringDriver) Snapshot(ctx context.Context) (atlas.RestoreFunc, error) {
	restore, err := d.atlasDriver.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return restore(context.WithoutCancel(ctx)) }, nil
}

// migrationsUntil returns the migrations up to a point. If the point is inside a migration, it cuts that one.
func (h *history) migrationsUntil(at historyPoint) (atlas.Dir, error) {
	var files []atlas.File
	for _, f := range h.all {
		if f.Version() > at.version {
			break
		}
		if f.Version() == at.version {
			stmts, err := atlas.FileStmtDecls(h.drv, f)
			if err != nil {
				return nil, err
			}
			if at.statements < len(stmts) {
				var b strings.Builder
				for _, stmt := range stmts[:at.statements] {
					b.WriteString(withSemicolon(stmt.Text) + "\n")
				}
				f = atlas.NewLocalFile(f.Name(), []byte(b.String()))
			}
		}
		files = append(files, f)
	}
	dir := &atlas.MemDir{}
	if err := dir.CopyFiles(files); err != nil {
		return nil, err
	}
	return dir, nil
}
