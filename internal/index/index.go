// Package index finds the events of a list in memory. A list costs the same in a calendar of a thousand events as in one
// of a million. The index is derived from the database and follows its change log. It decides which events are on a page
// and how many there are; the events themselves come from the database.
//
// A reader sees every change that was committed before it asked, by whichever process. While the index is being made,
// or far behind, it says so with ErrNotReady, and lists have to be asked of the database.
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
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// ErrNotReady says that the index cannot answer now.
var ErrNotReady = errors.New("the index is not ready")

// maxBehind is how many changed events a reader takes over before it answers. More of them are left to Run.
const maxBehind = 2000

// Index is the index of one database. It is for concurrent use.
type Index struct {
	// Moves returns another number whenever the database is read from another of several servers, which may be behind the
	// one before (store.Store.Moves). Nil means one server. It is set before the index is loaded.
	Moves func() int64

	db   reader
	log  *slog.Logger
	pool scratchSets

	// applying is held by whoever changes the state; mu as well while it does, and for reading by readers.
	applying chan struct{}
	mu       sync.RWMutex
	state    *state // nil until it is loaded
	made     time.Time

	// checked is the result of Moves for which the server is known to have the revision of the state.
	checked atomic.Int64

	running    bool          // under mu: Run does what takes long
	wake       chan struct{} // tells Run that there is something to do
	mustReload bool          // under mu: it is wrong and must be reloaded
	untidy     bool          // under mu: it is right, but should be reloaded
}

// New returns an index that has yet to be loaded, by Load or Run. It has the flags and words among columns, and all
// links. It does not know other columns.
func New(db *ent.Client, columns []*query.Column, log *slog.Logger) *Index {
	var stored storedColumns
	for _, c := range columns {
		switch {
		case c.Table != event.Table:
		case c.Kind == query.FlagKind:
			stored.flags = append(stored.flags, c.Field)
		case c.Kind == query.WordKind:
			stored.words = append(stored.words, c.Field)
		}
	}
	return &Index{db: reader{db, stored}, log: log, applying: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// Stats tell whether the index answers, how many events it holds and up to which revision of the calendar. They are of
// the moment and ask nothing of the database.
func (x *Index) Stats() (ready bool, events int, revision int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state == nil {
		return false, 0, 0
	}
	s := x.state
	return s.words != nil && !x.mustReload, int(s.base) - s.gone + len(s.moved), s.revision
}

// Made returns the time at which the index was last loaded in full: zero until it is.
func (x *Index) Made() time.Time {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.made
}

// retryAfter is how long Run waits after an error.
const retryAfter = time.Second

// Run loads the index and keeps it current. It applies large changes and reloads the index if necessary. It returns nil
// when ctx ends. It logs errors and tries again.
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

// maintain does what there is to do, and says what it was.
func (x *Index) maintain(ctx context.Context) (string, error) {
	x.mu.RLock()
	anew := x.mustReload || x.untidy || x.state == nil
	x.mu.RUnlock()
	if anew {
		return "made anew", x.Load(ctx)
	}
	return "caught up", x.follow(ctx)
}

// Load reloads the index and waits until it is complete. During the first load, filters are ready before the search.
// Later loads do not interrupt reads, unless the index is wrong.
func (x *Index) Load(ctx context.Context) error {
	moves := x.moves()
	s, err := x.db.load(ctx)
	if err != nil {
		return err
	}
	// Only the slots that there are now are read; what changes from here on comes into the tail.
	ids := s.ids
	x.mu.Lock()
	if x.moves() != moves {
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
	if x.moves() != moves {
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
	return x.followLocked(ctx)
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

// follow takes over all changes, however many.
func (x *Index) follow(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	return x.followLocked(ctx)
}

func (x *Index) followLocked(ctx context.Context) error {
	for {
		moves := x.moves()
		changes, revision, err := x.db.changes(ctx, x.state.revision, maxBehind)
		if err != nil || len(changes) == 0 {
			return err
		}
		if err := x.apply(ctx, changes, revision, moves); err != nil {
			return err
		}
	}
}

// fresh locks the index for reading when it knows all changes up to a revision, or all of its database for 0. If its
// database does not know the revision yet, it is not ready.
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

// moves returns the number of Moves.
func (x *Index) moves() int64 {
	if x.Moves == nil {
		return 0
	}
	return x.Moves()
}

// checkServer returns ErrNotReady while the server that is read lacks changes that the index has. Its rows would be older than
// what the index knows of them.
func (x *Index) checkServer(ctx context.Context) error {
	moves := x.moves()
	if x.checked.Load() == moves {
		return nil
	}
	known, err := x.db.revision(ctx)
	if err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state.revision > known || x.moves() != moves {
		return ErrNotReady
	}
	x.checked.Store(moves)
	return nil
}

// catchUp takes over the changes up to a revision, if they are not too many.
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
		return nil // another goroutine did
	}
	moves := x.moves()
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
			return ErrNotReady // the database is a replica that is behind
		}
		// Another program removed the newest entries of the log.
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

// awaken tells Run that there is something to do.
func (x *Index) awaken() {
	select {
	case x.wake <- struct{}{}:
	default: // it knows already
	}
}

// maxRereads is how often apply reads what was written while it read.
const maxRereads = 5

// apply takes over changes that were read after moves had the given result. If another server is read by the end, it
// returns ErrNotReady: the rows may be older than the changes. The caller holds the lock for changes of the state.
func (x *Index) apply(ctx context.Context, changes []logEntry, revision, moves int64) error {
	found := newChangeSet()
	if err := found.read(ctx, x.db, changes, x.state.words != nil); err != nil {
		return err
	}
	// The records may be newer than the revision. They are taken over with all entries about them, so that what is noted of
	// them is neither earlier nor later than they are.
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
	if x.moves() != moves {
		return ErrNotReady
	}
	s.revision = revision
	for kind, ids := range found.linked {
		for _, id := range ids {
			now := found.records[kind][id]
			if now != nil {
				now.changed = revision
			}
			s.records[kind].put(id, now)
		}
	}
	for _, id := range found.series {
		if r := found.unpublishedSeries[id]; r != nil {
			s.unpublishedSeries[id] = r
		} else {
			delete(s.unpublishedSeries, id)
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
		s.changed.before = revision // terms that counted an event for a while are not known
	}
	for _, id := range found.terms {
		delete(s.terms, id)
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

// FindEvents returns a page of up to limit events from an offset on, and the total of the list. A limit below 0 means all.
// The order is that of start and id even if Include is set. The error is ErrNotReady or query.ErrUnsupported when the
// database has to be asked.
func (x *Index) FindEvents(ctx context.Context, f *query.Events, offset, limit int) (query.Page, error) {
	if err := x.supports(f); err != nil {
		return query.Page{}, err
	}
	// Once is enough, unless a concurrent write changes the texts to read.
	for range 3 {
		moves := x.moves()
		s, err := x.fresh(ctx, f.Revision)
		if err != nil {
			return query.Page{}, err
		}
		page, unread, err := x.find(s, f, offset, limit)
		if err != nil || unread == nil {
			return page, err
		}
		if err := x.compare(ctx, s, unread, f, moves); err != nil {
			return query.Page{}, err
		}
	}
	return query.Page{}, ErrNotReady
}

// find evaluates a filter and unlocks the index. Where texts have to be compared first it returns their slots, and no
// page.
func (x *Index) find(s *state, f *query.Events, offset, limit int) (page query.Page, unread []uint32, err error) {
	defer x.mu.RUnlock()
	if f.Search != nil && s.words == nil {
		return query.Page{}, nil, ErrNotReady
	}
	found, left := s.find(f, &x.pool)
	defer x.pool.give(found)
	for _, t := range left.Terms {
		unread = s.compared.unread(found, t, f.Language, unread, &x.pool)
	}
	if unread != nil {
		return query.Page{}, unread, nil
	}
	for _, t := range left.Terms {
		s.compared.restrict(found, t, f.Language)
	}
	if f.Series.First {
		s.firstOfSeries(found, f, &x.pool)
	}
	if f.ByEnd {
		page = s.pageByEnd(found, offset, limit, f.Spans)
	} else {
		page = s.page(found, offset, limit, f.Spans)
	}
	page.Total = found.count()
	return page, nil, nil
}

// compare reads the texts of slots, and notes in which the terms of a search are.
// It returns ErrNotReady if another server is read than when moves had the given result.
func (x *Index) compare(ctx context.Context, s *state, slots []uint32, f *query.Events, moves int64) error {
	slices.Sort(slots)
	slots = slices.Compact(slots)
	// In the order of ids, as they lie in the database. Slots are for ever, so this may be read without the lock.
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
		if x.moves() != moves {
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
