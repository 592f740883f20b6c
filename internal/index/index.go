// Package index is an in-memory index of events that answers queries for lists. Its time for a page hardly
// depends on the size of the calendar. The index is built from the database and follows its change log. It
// returns the ids on a page and the length of the list; the caller loads the events from the database.
//
// A reader sees every change that any process committed before the query. While the index is loading or far
// behind, it returns ErrNotReady, and the caller must query the database.
//
// The comments use these words. A slot is the number of an event in the index, like a row number. A revision is the
// id of an entry in the change log. A posting is the set of slots whose events share one value.
package index

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
)

// ErrNotReady is returned while the index is loading, reloading, or behind the database. The caller must query
// the database instead.
var ErrNotReady = errors.New("the index is not ready")

// Index is the in-memory index of one database. It is safe for concurrent use.
type Index struct {
	// ServerChanges returns a number that changes when reads switch to another server. Nil means one server. Set it
	// before the index is loaded.
	ServerChanges query.ServerChanges
	// Snapshot is the file for Restore, SaveSnapshot and KeepSnapshot. Set it before the index is loaded. Nil
	// disables it.
	Snapshot *Snapshot

	db   reader
	log  *slog.Logger
	pool scratchSets

	// applying is a lock: the goroutine that changes the state has the one element in it. While it changes the state,
	// it also holds mu for writing. Readers hold mu for reading.
	applying chan struct{}
	mu       sync.RWMutex
	state    *state    // nil until the first load
	loadedAt time.Time // time of the last full load or Restore; zero means none
	saved    int64     // guarded by mu; revision of the snapshot that was read or written last

	// checked is the result of ServerChanges for which the server is known to have the revision of the state.
	checked atomic.Int64

	running    bool          // guarded by mu; Run is active and does the long work
	wake       chan struct{} // wakes Run
	loaded     chan struct{} // wakes KeepSnapshot after a full load
	mustReload bool          // guarded by mu; the state is wrong, and reads wait for a reload
	fragmented bool          // guarded by mu; the state is right, but a reload would make it smaller
}

// New returns an empty index; Load or Run fills it. It supports the flag and word columns of events among
// columns, and all link columns. Queries with another column return query.ErrUnsupported.
func New(db *ent.Client, columns []*query.Column, log *slog.Logger) *Index {
	return &Index{
		db: newReader(db, columns), log: log,
		applying: make(chan struct{}, 1), wake: make(chan struct{}, 1), loaded: make(chan struct{}, 1),
	}
}

// Stats reports whether the index can answer, the number of events in it, and the revision up to which it has
// applied changes. Stats does not query the database.
func (x *Index) Stats() (ready bool, events int, revision int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state == nil {
		return false, 0, 0
	}
	s := x.state
	return s.words != nil && !x.mustReload, int(s.base) - s.unused + len(s.moved), s.revision
}

// LoadedAt returns the time at which the index was last loaded in full or restored. Zero means that it has not been.
func (x *Index) LoadedAt() time.Time {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.loadedAt
}

// retryAfter is the time that Run waits after an error.
const retryAfter = time.Second

// Run restores or loads the index and keeps it current. It applies long backlogs and reloads the index if necessary. Run
// logs errors and tries again. It returns nil when ctx ends.
func (x *Index) Run(ctx context.Context) error {
	x.mu.Lock()
	x.running, x.mustReload = true, true
	x.mu.Unlock()
	for {
		started := time.Now()
		what, err := x.maintain(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !errors.Is(err, ErrNotReady) { // another server is read now
				x.log.Error("index", "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(retryAfter):
			}
			continue
		case what != "":
			x.log.Info("index", "did", what, "seconds", time.Since(started).Seconds())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-x.wake:
		}
	}
}

// maintain restores the index from its snapshot at first, and loads or reloads it if necessary. Otherwise it applies
// all new changes. It returns a description of the work for the log.
func (x *Index) maintain(ctx context.Context) (string, error) {
	x.mu.RLock()
	first := x.state == nil
	reload := x.mustReload || x.fragmented || first
	x.mu.RUnlock()
	if first && x.tryRestore(ctx) {
		return "read from its snapshot", nil
	}
	if reload {
		return "made anew", x.Load(ctx)
	}
	return "caught up", x.follow(ctx)
}

// Load reloads the index and waits until it is complete. During the first load, filters work before the text search
// does. Later loads do not interrupt reads, unless the present state is wrong. If reads switch to another server
// meanwhile, Load returns ErrNotReady.
func (x *Index) Load(ctx context.Context) error {
	moves := x.ServerChanges.Number()
	s, err := x.db.load(ctx)
	if err != nil {
		return err
	}
	// The words are read for the present slots only. Events that change from here on get slots in the tail.
	ids := s.ids
	x.mu.Lock()
	if x.ServerChanges.Number() != moves {
		x.mu.Unlock()
		return ErrNotReady
	}
	first := x.state == nil
	if first {
		x.state, x.mustReload, x.fragmented = s, false, false
	}
	x.mu.Unlock()
	words, err := x.db.loadVocabulary(ctx, ids)
	if err != nil {
		return err
	}
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	tail := s.ids[s.base:]
	documents, err := x.db.documents(ctx, tail, true)
	if err != nil {
		return err
	}
	for i, id := range tail {
		slot := s.base + uint32(i)
		if d := documents[id]; d != nil && s.moved[id] == slot {
			for _, t := range d.texts {
				words.add(slot, t.languages, t.text)
			}
		}
	}
	x.mu.Lock()
	if x.ServerChanges.Number() != moves {
		x.mustReload = true
		x.mu.Unlock()
		return ErrNotReady
	}
	s.words, x.loadedAt = words, time.Now()
	if !first {
		if !x.mustReload && x.state.revision >= s.changed.before {
			s.inherit(x.state)
		}
		x.state, x.mustReload, x.fragmented = s, false, false
	}
	x.mu.Unlock()
	if err := x.followLocked(ctx); err != nil {
		return err
	}
	select {
	case x.loaded <- struct{}{}:
	default: // KeepSnapshot has yet to notice an earlier load
	}
	return nil
}

func (x *Index) lock(ctx context.Context) error {
	select {
	case x.applying <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Index) unlock() { <-x.applying }
