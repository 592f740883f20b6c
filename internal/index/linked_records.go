package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// record is the data of a venue, organizer or series that the index needs for lists.
type record struct {
	id, author          int64 // author 0 means none
	published, modified int64 // seconds since 1970; modified is 0 for a series
	image               int64 // image id; 0 means none
	changed             int64 // revision of the last known change
	status              uint8 // index into calendar.Statuses
	slot                uint32
	texts               []text
	series              *seriesData // nil for a record with a name
}

// records are all records of one kind in the index: all venues, all organizers or all series.
type records struct {
	byID map[int64]*record
	// orders has the records once for each order of lists.
	orders []recordOrder
	// unpublished are the records whose status is not publish, by id.
	unpublished map[int64]*record
	// slots has the record of each slot number in words. Nil means that the record was replaced or deleted.
	slots []*record
	words *vocabulary
}

// recordOrder is a list of records that is sorted by the function compare.
type recordOrder struct {
	compare func(a, b *record) int
	records []*record
}

// newRecords returns an empty set of records. Each of orders is a comparison by which lists of the kind can be
// sorted.
func newRecords(orders ...func(a, b *record) int) *records {
	rs := &records{}
	for _, compare := range orders {
		rs.orders = append(rs.orders, recordOrder{compare: compare})
	}
	return rs
}

// compareNewest compares records in the order of lists of venues and organizers, the newest first.
func compareNewest(a, b *record) int {
	return cmp.Or(cmp.Compare(b.published, a.published), cmp.Compare(b.id, a.id))
}

func (rs *records) fill(all map[int64]*record) {
	rs.byID, rs.unpublished = all, map[int64]*record{}
	for i := range rs.orders {
		rs.orders[i].records = slices.SortedFunc(maps.Values(all), rs.orders[i].compare)
	}
	rs.slots, rs.words = nil, newVocabulary()
	for _, r := range rs.orders[0].records {
		rs.addSlot(r)
		if r.status != statusPublished {
			rs.unpublished[r.id] = r
		}
	}
}

// addSlot gives a record the next slot and adds its words to the vocabulary.
func (rs *records) addSlot(r *record) {
	r.slot = uint32(len(rs.slots))
	rs.slots = append(rs.slots, r)
	for _, t := range r.texts {
		rs.words.add(r.slot, t.languages, t.text)
	}
}

// put adds or replaces the record with the given id. If now is nil, it deletes the record.
func (rs *records) put(id int64, now *record) {
	if before := rs.byID[id]; before != nil {
		for i := range rs.orders {
			o := &rs.orders[i]
			at, _ := slices.BinarySearchFunc(o.records, before, o.compare)
			o.records = slices.Delete(o.records, at, at+1)
		}
		delete(rs.byID, id)
		delete(rs.unpublished, id)
		rs.slots[before.slot] = nil
	}
	if now != nil {
		for i := range rs.orders {
			o := &rs.orders[i]
			at, _ := slices.BinarySearchFunc(o.records, now, o.compare)
			o.records = slices.Insert(o.records, at, now)
		}
		rs.byID[id] = now
		if now.status != statusPublished {
			rs.unpublished[id] = now
		}
		rs.addSlot(now)
	}
	if len(rs.slots) > 2*len(rs.byID)+1000 {
		rs.fill(rs.byID)
	}
}

// allRecords reads all records of a kind. Each statement reads loadSize of them at most.
func (r reader) allRecords(ctx context.Context, kind calendar.Kind) (map[int64]*record, error) {
	all := map[int64]*record{}
	for last := int64(0); ; {
		some, err := r.findRecords(ctx, kind, fmt.Sprintf(" WHERE %s > %d ORDER BY %[1]s LIMIT %[3]d", venue.FieldID, last, loadSize))
		if err != nil {
			return nil, err
		}
		for id, is := range some {
			all[id], last = is, max(last, id)
		}
		if len(some) < loadSize {
			return all, nil
		}
	}
}

// records reads the records of a kind with the given ids.
func (r reader) records(ctx context.Context, kind calendar.Kind, ids []int64) (map[int64]*record, error) {
	return r.findRecords(ctx, kind, " WHERE "+venue.FieldID+" IN "+query.IDList(ids))
}

// findRecords reads the records of a kind that a WHERE clause selects, with their search texts.
func (r reader) findRecords(ctx context.Context, kind calendar.Kind, where string) (map[int64]*record, error) {
	out := make(map[int64]*record)
	read := r.linkedRecords
	if kind == calendar.Series {
		read = r.seriesRecords
	}
	if err := read(ctx, kind, where, out); err != nil {
		return nil, err
	}
	err := r.texts(ctx, kind, slices.Sorted(maps.Keys(out)), func(id int64, t text) {
		out[id].texts = append(out[id].texts, t)
	})
	return out, err
}

// linkedRecords reads the venues or organizers that a WHERE clause selects. It adds them by id to the map to.
func (r reader) linkedRecords(ctx context.Context, kind calendar.Kind, where string, to map[int64]*record) error {
	var is record
	var status sql.RawBytes
	var published, modified time.Time
	var author, image sql.NullInt64
	return r.rows(ctx, ent.Tables[kind], []field{
		{venue.FieldID, &is.id},
		{venue.FieldStatus, &status},
		{venue.FieldPublishedAt, &published},
		{venue.FieldModifiedAt, &modified},
		{venue.FieldAuthorID, &author},
		{venue.FieldImageID, &image},
	}, where, func() (err error) {
		is := is
		if is.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", is.id, err)
		}
		is.published, is.modified, is.author, is.image = published.Unix(), modified.Unix(), author.Int64, image.Int64
		to[is.id] = &is
		return nil
	})
}

// FindLinked returns a page of up to limit records of a kind after the first offset ones, and the length of
// the whole list. If the error is ErrNotReady or query.ErrUnsupported, the caller must query the database.
func (x *Index) FindLinked(ctx context.Context, kind calendar.Kind, f *query.Linked, offset, limit int) (query.Page, error) {
	if f.Event != nil || f.Where != nil || !kind.IsNamed() {
		return query.Page{}, fmt.Errorf("index: %s of an event, or by a column: %w", kind, query.ErrUnsupported)
	}
	s, err := x.upToDate(ctx, f.Revision)
	if err != nil {
		return query.Page{}, err
	}
	defer x.mu.RUnlock()
	var candidates slotSet
	if f.Pieces != nil {
		candidates = s.records[kind].candidates(f.Pieces, f.Language, &x.pool)
		defer x.pool.give(candidates)
	}
	visible := compileVisible(f.Visible)
	return s.pageOfRecords(x.withEvents(s, kind, f), offset, limit, func(r *record) bool {
		return visible.sees(r, f.Now) && (f.Pieces == nil || candidates.has(r.slot) && r.matchesText(f.Language, func(text string) bool {
			return search.MatchLinked(f.Pieces, text)
		}))
	}), nil
}

// pageOfRecords returns a page of the records that matches accepts, in the order of all. It skips the first offset
// ones and returns up to limit. The total is the number of accepted records.
func (s *state) pageOfRecords(all []*record, offset, limit int, matches func(*record) bool) (out query.Page) {
	for _, r := range all {
		if !matches(r) {
			continue
		}
		if out.Total >= offset && len(out.IDs) < limit {
			out.IDs = append(out.IDs, r.id)
			out.Changed = append(out.Changed, max(r.changed, s.changed.before))
		}
		out.Total++
	}
	return out
}

// candidates returns the slots of the records whose words allow that their text contains all pieces of text. The
// caller must still compare the texts.
func (rs *records) candidates(pieces []string, language calendar.Language, pool *scratchSets) slotSet {
	slots := uint32(len(rs.slots))
	all := pool.take(slots)
	for i := range all {
		all[i] = ^uint64(0)
	}
	for _, piece := range pieces {
		parts, _ := search.Term{Text: piece}.Pieces()
		for _, part := range parts {
			with := pool.take(slots)
			rs.words.into(with, part, uint8(language.Bit()))
			all.and(with)
			pool.give(with)
		}
	}
	return all
}

// withEvents returns the records of a kind whose events meet the conditions of a query. The search is slow, so the
// result is cached. The cached result expires with the next write, or when an event starts or is published.
func (x *Index) withEvents(s *state, kind calendar.Kind, f *query.Linked) []*record {
	if f.HasEvents == nil && !f.Upcoming {
		return s.records[kind].orders[0].records
	}
	key := askedEvents{kind: kind, upcoming: f.Upcoming, visible: fmt.Sprint(f.Events, f.Readable)}
	if f.HasEvents != nil {
		key.has, key.hasSent = *f.HasEvents, true
	}
	now := f.Now.Unix()
	// A caller who also sees own events gets another result than the public, so it is not cached.
	keep := f.Events.Author == 0
	if kept, ok := s.cached.Load(key); ok && keep {
		if k, ok := kept.(cachedRecords); ok && k.from <= now && now <= k.until && k.revision == s.revision {
			return k.records
		}
	}
	of := s.links[kind]
	out := cachedRecords{revision: s.revision, from: now, until: s.publishesUntil(now)}
	events := query.Events{Now: f.Now, Visible: f.Events, Hidden: true, Readable: f.Readable, OnlyReadable: true}
	var counted, upcoming slotSet
	if f.HasEvents != nil {
		counted, _ = s.find(&events, &x.pool)
		defer x.pool.give(counted)
	}
	if f.Upcoming {
		events.Window.StartMin = &f.Now
		upcoming, _ = s.find(&events, &x.pool)
		defer x.pool.give(upcoming)
		out.until = min(out.until, s.startsUntil(now))
	}
	for _, r := range s.records[kind].orders[0].records {
		if f.HasEvents != nil && of.meets(r.id, counted) != *f.HasEvents || f.Upcoming && !of.meets(r.id, upcoming) {
			continue
		}
		out.records = append(out.records, r)
	}
	if keep {
		s.cached.Store(key, out)
	}
	return out.records
}

// askedEvents is the cache key of withEvents: what a filter requires of the events of a record.
type askedEvents struct {
	kind         calendar.Kind
	hasSent, has bool
	upcoming     bool
	visible      string // the visibility rules of the caller, as text
}

// cachedRecords is a cached result of withEvents. It is valid at its revision, from one second to another, both
// since 1970.
type cachedRecords struct {
	records     []*record
	revision    int64
	from, until int64
}

// startsUntil returns the last second, since 1970, at which the same events are still to start as at now.
func (s *state) startsUntil(now int64) int64 {
	until := int64(maxTime)
	at, _ := slices.BinarySearch(s.starts[:s.base], now)
	if at < int(s.base) {
		until = s.starts[at]
	}
	at = sort.Search(len(s.tail), func(i int) bool { return s.starts[s.tail[i]] >= now })
	if at < len(s.tail) {
		until = min(until, s.starts[s.tail[at]])
	}
	return until
}

// publishesUntil returns the last second, since 1970, at which the same scheduled events are published as at
// now.
func (s *state) publishesUntil(now int64) int64 {
	until := int64(maxTime)
	for _, published := range s.scheduled {
		if published > now {
			until = min(until, published-1)
		}
	}
	return until
}

// compiledVisible is a query.Visible with statuses as bits, by index into calendar.Statuses. Author 0 means
// that the caller has no own records.
type compiledVisible struct {
	anyone, own uint
	author      int64
}

func compileVisible(v query.Visible) compiledVisible {
	c := compiledVisible{author: v.Author}
	for i, status := range calendar.Statuses {
		if slices.Contains(v.Anyone, status) {
			c.anyone |= 1 << i
		}
		if slices.Contains(v.Own, status) {
			c.own |= 1 << i
		}
	}
	return c
}

func (c compiledVisible) sees(r *record, now time.Time) bool {
	status := r.status
	if status == statusFuture && r.published <= now.Unix() {
		status = statusPublished
	}
	return c.anyone>>status&1 != 0 || r.author != 0 && r.author == c.author && c.own>>status&1 != 0
}

// matchesText reports whether a search matches one text of the record that is served in the given language.
func (r *record) matchesText(language calendar.Language, matches func(text string) bool) bool {
	bit := uint8(language.Bit())
	return slices.ContainsFunc(r.texts, func(t text) bool { return t.languages&bit != 0 && matches(t.text) })
}

// meets reports whether at least one slot of the given value is in a set.
func (ps postings[V]) meets(value V, in slotSet) bool {
	p := ps[value]
	return p != nil && p.meets(in)
}
