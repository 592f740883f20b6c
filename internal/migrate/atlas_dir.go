package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/sqlite"

	"github.com/almanac-cal/almanac/internal/store"
)

// loadDir copies a folder of migrations into an in-memory Atlas directory and verifies its atlas.sum.
func loadDir(files fs.FS, name string) (atlas.Dir, error) {
	dir, err := copyDir(files, name)
	if err != nil {
		return nil, err
	}
	if err := atlas.Validate(dir); err != nil {
		return nil, fmt.Errorf("migrations/%s: a file was changed after it was sealed in atlas.sum: %w", name, err)
	}
	return dir, nil
}

// copyDir copies a folder of migrations into an in-memory Atlas directory without verifying it.
func copyDir(files fs.FS, name string) (atlas.Dir, error) {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, err
	}
	dir := &atlas.MemDir{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fs.ReadFile(files, name+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		if err := dir.WriteFile(e.Name(), data); err != nil {
			return nil, err
		}
	}
	return dir, nil
}

// statementScanners split migration files into statements, by engine, without a database.
var statementScanners = map[string]atlas.Driver{"mysql": &mysql.Driver{}, "sqlite": &sqlite.Driver{}}

// atlasDriver is Atlas's driver for a database, which can also split a file into statements.
type atlasDriver interface {
	atlas.Driver
	atlas.StmtScanner
}

// newDriver returns Atlas's driver for a connection of st. On MySQL it reads the server's variables.
func newDriver(ctx context.Context, st *store.Store, conn *sql.Conn) (atlasDriver, error) {
	open := func() (atlas.Driver, error) { return openMySQL(ctx, conn) }
	if st.Engine() == "sqlite" {
		open = func() (atlas.Driver, error) { return sqlite.Open(conn) } // SQLite's driver sends no query when it is opened
	}
	drv, err := open()
	if err != nil {
		return nil, err
	}
	full, ok := drv.(atlasDriver)
	if !ok {
		return nil, fmt.Errorf("%T splits no statements", drv)
	}
	return full, nil
}

// openMySQL opens Atlas's driver with ctx. Atlas reads the server's variables with a context that never ends,
// so the caller could otherwise wait for ever on a network that loses packets.
func openMySQL(ctx context.Context, conn *sql.Conn) (atlas.Driver, error) {
	drv, err := mysql.Open(boundQuerier{conn, ctx})
	if err != nil {
		return nil, err
	}
	full, ok := drv.(*mysql.Driver)
	if !ok {
		return nil, fmt.Errorf("%T is not Atlas's driver of MySQL", drv)
	}
	full.ExecQuerier = conn // later queries use the caller's context
	return full, nil
}

// boundQuerier runs all queries with one context.
type boundQuerier struct {
	*sql.Conn
	ctx context.Context
}

// QueryContext implements Atlas's ExecQuerier.
func (q boundQuerier) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	return q.Conn.QueryContext(q.ctx, query, args...)
}
