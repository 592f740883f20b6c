// Package index is an in-memory index of events that answers queries for lists. Its time for a page hardly
// depends on the size of the calendar. The index is built from the database and follows its change log. It
// returns the ids on a page and the length of the list; the caller loads the events from the database.
//
// A reader sees every change that any process committed before the query. While the index is loading or far
// behind, it returns ErrNotReady, and the caller must query the database.
package index

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
)

// ErrNotReady is returned while the index is loading, reloading, or behind the database. The caller must query
// the database instead.
var ErrNotReady = errors.New("the index is not ready")

// maxBehind is the largest number of changed events that a reading request applies itself. Run applies longer
// backlogs.
const maxBehind = 2000

// Index is the in-memory index of one database. It is safe for concurrent use.
type Index struct {
	// Moves is about the servers of the database. It is set before the index is loaded.
	Moves query.Moves
	// Snapshot is the file for Restore, SaveSnapshot and Run. It is set before the index is loaded. Nil disables it.
	Snapshot *Snapshot

	db   reader
	log  *slog.Logger
	pool scratchSets

	// applying is a lock: the goroutine that changes the state has the one element in it. While it changes the state,
	// it also holds mu for writing. Readers hold mu for reading.
	applying chan struct{}
	mu       sync.RWMutex
	state    *state    // nil until the first load
	made     time.Time // time of the last full load or Restore; zero means none
	saved    int64     // guarded by mu; revision of the snapshot that was read or written last

	// checked is the result of Moves for which the server is known to have the revision of the state.
	checked atomic.Int64

	running    bool          // guarded by mu; Run is active and does the long work
	wake       chan struct{} // wakes Run
	madeAnew   chan struct{} // wakes KeepSnapshot after a full load
	mustReload bool          // guarded by mu; the state is wrong, and reads wait for a reload
	untidy     bool          // guarded by mu; the state is right, but a reload would make it smaller
}

// New returns an empty index; Load or Run fills it. It supports the flag and word columns of events among
// columns, and all link columns. Queries with another column return query.ErrUnsupported.
func New(db *ent.Client, columns []*query.Column, log *slog.Logger) *Index {
	return &Index{
		db: newReader(db, columns), log: log,
		applying: make(chan struct{}, 1), wake: make(chan struct{}, 1), madeAnew: make(chan struct{}, 1),
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
	return s.words != nil && !x.mustReload, int(s.base) - s.gone + len(s.moved), s.revision
}

// Made returns the time at which the index was last loaded in full or restored. Zero means that it has not been.
func (x *Index) Made() time.Time {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.made
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

// maintain reloads the index if necessary, else applies all new changes. It returns a description for the log.
func (x *Index) maintain(ctx context.Context) (string, error) {
	x.mu.RLock()
	first := x.state == nil
	anew := x.mustReload || x.untidy || first
	x.mu.RUnlock()
	if first && x.tryRestore(ctx) {
		return "read from its snapshot", nil
	}
	if anew {
		return "made anew", x.Load(ctx)
	}
	return "caught up", x.follow(ctx)
}

// Load reloads the index and waits until it is complete. During the first load, filters work before the text
// search does. Later loads do not interrupt reads, unless the present state is wrong.
func (x *Index) Load(ctx context.Context) error {
	moves := x.Moves.Number()
	s, err := x.db.load(ctx)
	if err != nil {
		return err
	}
	// The words are read for the present slots only. Events that change from here on get slots in the tail.
	ids := s.ids
	x.mu.Lock()
	if x.Moves.Number() != moves {
		x.mu.Unlock()
		return ErrNotReady
	}
	first := x.state == nil
	if first {
		x.state, x.mustReload, x.untidy = s, false, false
	}
	x.mu.Unlock()
	words, err := x.db.read(ctx, ids)
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
	if x.Moves.Number() != moves {
		x.mustReload = true
		x.mu.Unlock()
		return ErrNotReady
	}
	s.words, x.made = words, time.Now()
	if !first {
		if !x.mustReload && x.state.revision >= s.changed.before {
			s.inherit(x.state)
		}
		x.state, x.mustReload, x.untidy = s, false, false
	}
	x.mu.Unlock()
	if err := x.followLocked(ctx); err != nil {
		return err
	}
	select {
	case x.madeAnew <- struct{}{}:
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

// follow applies all changes since the revision of the state, however many.
func (x *Index) follow(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	return x.followLocked(ctx)
}

func (x *Index) followLocked(ctx context.Context) error {
	for {
		moves := x.Moves.Number()
		changes, revision, err := x.db.changes(ctx, x.state.revision, maxBehind)
		if err != nil || len(changes) == 0 {
			return err
		}
		if err := x.apply(ctx, changes, revision, moves); err != nil {
			return err
		}
	}
}

// fresh returns the state after applying all changes up to a revision, with x.mu locked for reading; the caller
// unlocks it. Revision 0 means the newest revision in the database. The error is ErrNotReady if the database
// itself does not have the revision yet.
func (x *Index) fresh(ctx context.Context, revision int64) (_ *state, err error) {
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

// checkServer returns ErrNotReady while the server that is read lacks changes that the index has. Its rows would be older than
// what the index knows of them.
func (x *Index) checkServer(ctx context.Context) error {
	moves := x.Moves.Number()
	if x.checked.Load() == moves {
		return nil
	}
	known, err := x.db.revision(ctx)
	if err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state.revision > known || x.Moves.Number() != moves {
		return ErrNotReady
	}
	x.checked.Store(moves)
	return nil
}

// catchUp applies the changes up to a revision. If Run is active and they are more than maxBehind, it wakes Run
// and returns ErrNotReady.
func (x *Index) catchUp(ctx context.Context, revision int64) error {
	x.mu.RLock()
	running, anew := x.running, x.mustReload
	x.mu.RUnlock()
	if anew {
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
	moves := x.Moves.Number()
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
		x.awaken()
		return nil
	}
	if running && newest < revision {
		x.awaken()
		return ErrNotReady
	}
	return x.apply(ctx, changes, newest, moves)
}

// awaken wakes Run without waiting for it.
func (x *Index) awaken() {
	select {
	case x.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// maxRereads is the number of times that apply reads changes that were committed while it read records.
const maxRereads = 5

// apply takes over changes that were read after moves had the given result. If another server is read by the end, it
// returns ErrNotReady: the rows may be older than the changes. The caller holds the lock for changes of the state.
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
	if x.Moves.Number() != moves {
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
	x.untidy = x.untidy || s.untidy()
	if x.mustReload || x.untidy {
		x.awaken()
	}
	return nil
}

// FindEvents returns a page of up to limit events after the first offset ones, and the length of the whole
// list. A limit below 0 means all. Without f.ByEnd the order is by start, then id, even if f.Include is set. If the
// error is ErrNotReady or query.ErrUnsupported, the caller must query the database.
func (x *Index) FindEvents(ctx context.Context, f *query.Events, offset, limit int) (query.Page, error) {
	var page query.Page
	err := x.evaluate(ctx, f, func(s *state, found slotSet) {
		if f.Series.First {
			s.firstOfSeries(found, f, &x.pool)
		}
		if f.ByEnd {
			page = s.pageByEnd(found, offset, limit, f.Spans)
		} else {
			page = s.page(found, offset, limit, f.Spans)
		}
		page.Total = found.count()
	})
	return page, err
}

// evaluate calls use with the state and the slots that match a filter, except for Series.First. use may change the slots, and
// must not keep them. The errors are those of FindEvents.
func (x *Index) evaluate(ctx context.Context, f *query.Events, use func(s *state, found slotSet)) error {
	if err := x.supports(f); err != nil {
		return err
	}
	// Two rounds are enough, unless a concurrent write changes texts that have to be read.
	for range 3 {
		moves := x.Moves.Number()
		s, err := x.fresh(ctx, f.Revision)
		if err != nil {
			return err
		}
		unread, err := x.find(s, f, use)
		if err != nil || unread == nil {
			return err
		}
		if err := x.compare(ctx, s, unread, f, moves); err != nil {
			return err
		}
	}
	return ErrNotReady
}

// find evaluates a filter and unlocks x.mu. If texts must first be compared with a phrase, find returns the
// slots of those texts and does not call use.
func (x *Index) find(s *state, f *query.Events, use func(*state, slotSet)) (unread []uint32, err error) {
	defer x.mu.RUnlock()
	if f.Search != nil && s.words == nil {
		return nil, ErrNotReady
	}
	found, left := s.find(f, &x.pool)
	defer x.pool.give(found)
	for _, t := range left.Terms {
		unread = s.compared.unread(found, t, f.Language, unread, &x.pool)
	}
	if unread != nil {
		return unread, nil
	}
	for _, t := range left.Terms {
		s.compared.restrict(found, t, f.Language)
	}
	use(s, found)
	return nil, nil
}

// compare reads the texts of slots from the database, and records which of them contain the terms of the search. It
// returns ErrNotReady if another server is read than when moves had the given result.
func (x *Index) compare(ctx context.Context, s *state, slots []uint32, f *query.Events, moves int64) error {
	slices.Sort(slots)
	slots = slices.Compact(slots)
	// The texts are read in the order of ids, as the database stores them. A slot never changes its event, so
	// byID may be read without the lock.
	x.mu.RLock()
	byID := s.ids
	x.mu.RUnlock()
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Compare(byID[a], byID[b]) })
	bit := uint8(f.Language.Bit())
	for part := range slices.Chunk(slots, partSize) {
		ids := make([]int64, len(part))
		for i, slot := range part {
			ids[i] = byID[slot]
		}
		texts := make(map[int64]string, len(part))
		err := x.db.texts(ctx, calendar.Event, ids, func(event int64, t text) {
			if t.languages&bit != 0 {
				texts[event] = t.text
			}
		})
		if err != nil {
			return err
		}
		x.mu.Lock()
		if x.Moves.Number() != moves {
			x.mu.Unlock()
			return ErrNotReady
		}
		for _, t := range f.Search.Terms {
			if _, exact := t.Pieces(); exact {
				continue
			}
			s.compared.note(t, f.Language, part, func(i int) bool { return strings.Contains(texts[ids[i]], t.Text) })
		}
		x.mu.Unlock()
	}
	return nil
}
