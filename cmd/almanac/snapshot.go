package main

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// snapshot returns the snapshot of the index, or nil. It creates the folder. If no snapshot is possible, it logs
// why, and the service works without it.
func (f operateFlags) snapshot(ctx context.Context, log *slog.Logger, st *store.Store) *index.Snapshot {
	file := f.snapshotFile(st)
	if file == "" {
		return nil
	}
	version, err := migrate.Newest(st.Engine())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	var id []byte
	if err == nil {
		id, err = edit.DatabaseID(ctx, st.Ent)
	}
	if err != nil {
		log.Warn("there is no snapshot of the index; each start reads the whole calendar", "file", file, "error", err)
		return nil
	}
	return &index.Snapshot{File: file, Database: id, Schema: version}
}

// snapshotFile returns the path of the index snapshot of a database. It is "" if none is to be written.
func (f operateFlags) snapshotFile(st *store.Store) string {
	dir := f.IndexSnapshot
	switch {
	case dir == noSnapshot || dir == "":
		return ""
	case dir != autoSnapshot:
	case st.File() == "":
		return ""
	default:
		dir = filepath.Dir(st.File())
	}
	name := cmp.Or(st.DatabaseName(), "memory")
	if st.File() != "" {
		name = filepath.Base(st.File())
	}
	return filepath.Join(dir, filepath.Base(name)+snapshotSuffix)
}

// autoSnapshot and noSnapshot are values of --index-snapshot that are no folders. The value "" has the meaning
// of noSnapshot.
const (
	autoSnapshot = "auto"
	noSnapshot   = "none"
)

// snapshotSuffix follows the name of the database in the name of its snapshot.
const snapshotSuffix = ".index"
