package index

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
)

// maxBehind is the largest number of changed events that a reading request applies itself. Run applies longer
// backlogs.
const maxBehind = 2000

// follow applies all changes since the revision of the state, however many there are. Run calls it.
func (x *Index) follow(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	return x.followLocked(ctx)
}

func (x *Index) followLocked(ctx context.Context) error {
	for {
		moves := x.ServerChanges.Number()
		changes, revision, err := x.db.changes(ctx, x.state.revision, maxBehind)
		if err != nil || len(changes) == 0 {
			return err
		}
		if err := x.apply(ctx, changes, revision, moves); err != nil {
			return err
		}
	}
}

// upToDate returns the state after applying all changes up to a revision. Revision 0 means the newest one in the
// database. Unless it returns an error, it locks x.mu for reading, and the caller unlocks it. The error is ErrNotReady
// if the index is not loaded, or the database does not have the revision yet.
func (x *Index) upToDate(ctx context.Context, revision int64) (_ *state, err error) {
	x.mu.RLock()
	ready := x.state != nil
	x.mu.RUnlock()
	if !ready {
		return nil, ErrNotReady
	}
	if err := x.checkServer(ctx); err != nil {
		return nil, err
	}
	if revision == 0 {
		if revision, err = x.db.revision(ctx); err != nil {
			return nil, err
		}
	}
	for {
		x.mu.RLock()
		if x.state.revision >= revision && !x.mustReload {
			return x.state, nil
		}
		x.mu.RUnlock()
		if err := x.catchUp(ctx, revision); err != nil {
			return nil, err
		}
	}
}

// checkServer returns ErrNotReady if the database server lacks changes that the index already has. This can happen
// after reads switch to a replica that lags behind. Rows from it would be older than the index.
func (x *Index) checkServer(ctx context.Context) error {
	moves := x.ServerChanges.Number()
	if x.checked.Load() == moves {
		return nil
	}
	known, err := x.db.revision(ctx)
	if err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state.revision > known || x.ServerChanges.Number() != moves {
		return ErrNotReady
	}
	x.checked.Store(moves)
	return nil
}

// catchUp applies the changes up to a revision, or reloads the index if its state is wrong. While Run is active, it
// leaves a reload, or more than maxBehind changes, to Run and returns ErrNotReady.
func (x *Index) catchUp(ctx context.Context, revision int64) error {
	x.mu.RLock()
	running, reload := x.running, x.mustReload
	x.mu.RUnlock()
	if reload {
		if running {
			return ErrNotReady
		}
		return x.Load(ctx)
	}
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	if x.state.revision >= revision {
		return nil // another goroutine applied the changes
	}
	moves := x.ServerChanges.Number()
	changes, newest, err := x.db.changes(ctx, x.state.revision, maxBehind)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		known, err := x.db.revision(ctx)
		if err != nil {
			return err
		}
		if known < revision {
			return ErrNotReady // the database is a replica that lags behind
		}
		// The revision is in the database, but its log entries are missing, so another program deleted them.
		x.mu.Lock()
		x.mustReload = true
		x.mu.Unlock()
		x.wakeRun()
		return nil
	}
	if running && newest < revision {
		x.wakeRun()
		return ErrNotReady
	}
	return x.apply(ctx, changes, newest, moves)
}

// wakeRun wakes Run without waiting for it.
func (x *Index) wakeRun() {
	select {
	case x.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// maxRereads is the number of times that apply reads changes that were committed while it read records.
const maxRereads = 5

// apply reads the changed records and updates the state. The parameter moves is a result of ServerChanges from
// before the changes were read. If reads have switched to another server since then, apply returns ErrNotReady,
// because the rows may be older than the changes. The caller holds the lock for changes of the state.
func (x *Index) apply(ctx context.Context, changes []logEntry, revision, moves int64) error {
	found := newChangeSet()
	if err := found.read(ctx, x.db, changes, x.state.words != nil); err != nil {
		return err
	}
	// A record may have been read after a later change. So apply also reads the later entries about it, and the
	// revision noted for the record is the right one.
	exact := false
	for range maxRereads {
		more, newest, err := x.db.changes(ctx, revision, maxBehind)
		if err != nil {
			return err
		}
		if exact = len(more) == 0; exact {
			break
		}
		if err := found.read(ctx, x.db, more, x.state.words != nil); err != nil {
			return err
		}
		changes, revision = append(changes, more...), newest
	}
	s := x.state
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ServerChanges.Number() != moves {
		return ErrNotReady
	}
	s.revision = revision
	s.history.note(changes)
	for kind, ids := range found.linked {
		for _, id := range ids {
			now := found.records[kind][id]
			if now != nil {
				now.changed = revision
			}
			s.records[kind].put(id, now)
		}
	}
	for _, id := range found.linked[calendar.Venue] {
		s.places.change(id, found.places)
	}
	recounted := map[int64]bool{}
	for _, id := range found.events {
		before := s.countedTerms(id)
		if d := found.documents[id]; d != nil {
			s.put(d)
		} else {
			s.drop(id)
		}
		addDifferent(recounted, before, s.countedTerms(id))
	}
	s.noteRecounted(recounted)
	s.noteChanges(changes)
	if !exact || found.recountedTwice() {
		s.changed.before = revision // a term may have counted an event for a moment, and which term is unknown
	}
	for _, id := range found.terms {
		delete(s.links[calendar.Category], id)
	}
	if s.places.byCell == nil {
		s.locate()
	}
	x.mustReload = x.mustReload || found.mustReload
	x.fragmented = x.fragmented || s.isFragmented()
	if x.mustReload || x.fragmented {
		x.wakeRun()
	}
	return nil
}
