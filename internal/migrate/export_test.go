package migrate

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/internal/store"
)

// ApplyFiles to CheckCurrentFiles take the migrations from a parameter instead of the embedded files.
var (
	ApplyFiles        = apply
	PlanFiles         = plan
	VerifyFiles       = verify
	BaselineFiles     = baseline
	SetVersionFiles   = setVersion
	StatusFiles       = status
	CheckCurrentFiles = checkCurrent
)

// DiffTables compares the given tables, instead of the generated ones, with the migrations in a folder. It
// writes a new migration if they differ.
var DiffTables = diff

var (
	RevisionDDL     = revisionDDL
	RisksReferences = risksReferences
	SplitByLock     = splitByLock
	RowVersionLimit = rowVersionLimit
	InnodbName      = innodbName
)

const LockName = lockName

// PendingAfter reads the record of migrations and then calls do. It returns the number of migrations that are then
// found to be pending.
func PendingAfter(ctx context.Context, st *store.Store, files fs.FS, do func() error) (n int, err error) {
	err = withHistory(ctx, st, files, func(h *history) error {
		if err := do(); err != nil {
			return err
		}
		pending, err := h.pending(ctx, "")
		n = len(pending)
		return err
	})
	return n, err
}

// CheckStates returns an error if a statement of the migration file migrations/mysql/name has no entry in
// migrations/states.
func CheckStates(files fs.FS, name string) error {
	text, err := fs.ReadFile(files, "mysql/"+name)
	if err != nil {
		return err
	}
	dir := &atlas.MemDir{}
	if err := dir.WriteFile(name, text); err != nil {
		return err
	}
	version, _, _ := strings.Cut(name, "_")
	_, err = recordedTables(files, dir, historyPoint{version, allStatements})
	return err
}

// Inspect returns the tables of the database, except for the revision table.
func Inspect(ctx context.Context, st *store.Store) (found *schema.Schema, err error) {
	conn, err := st.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	drv, err := newDriver(ctx, st, conn)
	if err != nil {
		return nil, err
	}
	return inspectSchema(ctx, drv)
}

// OpenDriver opens Atlas's driver for a connection and returns its error.
func OpenDriver(ctx context.Context, st *store.Store, conn *sql.Conn) error {
	_, err := newDriver(ctx, st, conn)
	return err
}
