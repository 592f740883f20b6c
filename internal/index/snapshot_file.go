package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/internal/wholefile"
)

// snapshotEvery is the least time between two snapshots without a full load between them.
const snapshotEvery = 5 * time.Minute

// savePatience is the maximum time that a process waits for running changes of the index before it stops.
const savePatience = 5 * time.Second

// KeepSnapshot writes the snapshot after each full load, every few minutes if it has changed, and when ctx ends. It
// logs errors, the first one of several in a row. It returns nil when ctx ends.
func (x *Index) KeepSnapshot(ctx context.Context) error {
	wholefile.RemoveAbandoned(x.Snapshot.File, time.Now())
	tick := time.NewTicker(snapshotEvery)
	defer tick.Stop()
	failed := false
	save := func(ctx context.Context) {
		started := time.Now()
		size, err := x.SaveSnapshot(ctx)
		switch {
		case err == nil && size > 0:
			x.log.Info("index snapshot", "did", "written", "bytes", size, "seconds", time.Since(started).Seconds())
			failed = false
		case err != nil && ctx.Err() == nil && !failed:
			x.log.Warn("the index snapshot cannot be written; the next start reads the whole calendar", "error", err)
			failed = true
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), savePatience)
			if !x.isSaved() {
				save(last)
			}
			stop()
			return nil
		case <-x.loaded:
			save(ctx)
		case <-tick.C:
			if !x.isSaved() {
				save(ctx)
			}
		}
	}
}

// tryRestore restores the index, and reports whether it succeeded. It logs the reason if not, unless there is no
// snapshot or ctx ended.
func (x *Index) tryRestore(ctx context.Context) bool {
	if x.Snapshot == nil {
		return false
	}
	err := x.Restore(ctx)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil:
	case errors.Is(err, ErrNoSnapshot):
		x.log.Info("index snapshot", "did", "not used", "reason", err.Error())
	default:
		x.log.Warn("the index snapshot cannot be read; the whole calendar is read instead", "error", err)
	}
	return false
}

// SaveSnapshot writes the index to its snapshot and returns the size of the file in bytes. It does nothing and returns
// 0 if the index is empty, not loaded, or has to be loaded again.
func (x *Index) SaveSnapshot(ctx context.Context) (size int64, err error) {
	data, revision, err := x.encode(ctx)
	if err != nil || data == nil {
		return 0, err
	}
	err = wholefile.Write(x.Snapshot.File, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("snapshot of the index: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.saved = revision
	return int64(len(data)), nil
}

// encode returns the content of a snapshot of the present state, and the revision of that state. It returns nil if the
// index is empty, not loaded, or has to be loaded again. Searches do not wait for it; changes are applied after it.
func (x *Index) encode(ctx context.Context) (data []byte, revision int64, err error) {
	if err := x.lock(ctx); err != nil {
		return nil, 0, err
	}
	defer x.unlock()
	x.mu.RLock()
	s := x.state
	if s == nil || s.words == nil || x.mustReload || s.revision == 0 {
		x.mu.RUnlock()
		return nil, 0, nil
	}
	compared := s.compared.clone() // searches add to it without the lock for changes
	x.mu.RUnlock()
	return encodeSnapshot(x.headerFor(s), s, &compared), s.revision, nil
}

// isSaved reports whether no snapshot has to be written. Either the index is not loaded, or this or another process
// wrote the present state to the file.
func (x *Index) isSaved() bool {
	x.mu.RLock()
	if x.state == nil || x.state.revision == x.saved {
		x.mu.RUnlock()
		return true
	}
	want := x.headerFor(x.state)
	want.history.entries = slices.Clone(want.history.entries)
	x.mu.RUnlock()
	header, err := readHeader(x.Snapshot.File)
	return err == nil && header.format == want.format && slices.Equal(header.database, want.database) &&
		header.schema == want.schema && header.revision == want.revision &&
		slices.Equal(header.history.entries, want.history.entries)
}

// headerSize is larger than any header, in bytes.
const headerSize = 8 << 10

// readHeader reads the header of a file without the rest.
func readHeader(file string) (header snapshotHeader, err error) {
	f, err := os.Open(file)
	if err != nil {
		return header, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := io.ReadAll(io.LimitReader(f, headerSize))
	if err != nil {
		return header, err
	}
	rest, ok := strings.CutPrefix(string(data), snapshotMagic)
	if !ok {
		return header, ErrDamagedSnapshot
	}
	c := &codec{reading: true, data: []byte(rest)}
	header.code(c)
	return header, c.err
}
