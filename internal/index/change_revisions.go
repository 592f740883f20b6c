package index

import (
	"context"
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// deletedRevision is the change revision of a deleted record. It is later than any revision, so a cached reply
// with the record is always stale.
const deletedRevision = math.MaxInt64

// changeRevisions has, for every record, the revision of the calendar at which the data that replies show of it
// last changed. A change of a venue, organizer, term, image or series counts as a change of its events. A revision
// may be too late, but never too early.
type changeRevisions struct {
	// before is the revision up to which any record may have changed. Later changes are known record by record.
	before int64
	slots  []int64                 // last change of each event, by slot
	kinds  map[calendar.Kind]int64 // last change of any record of a kind
	series map[int64]int64         // last change of each changed series, by series id
	counts int64                   // last change of the event count of any term
}

// slotLists stores a list of ids for each slot, the number of an event in the index. Slots are appended in rising
// order.
type slotLists struct {
	ends   []uint32 // end of the list in values, by slot
	values []int64
}

func (l *slotLists) append(values []int64) {
	l.values = append(l.values, values...)
	l.ends = append(l.ends, uint32(len(l.values)))
}

// of returns the list of ids that is stored for a slot.
func (l *slotLists) of(slot uint32) []int64 {
	first := uint32(0)
	if slot > 0 {
		first = l.ends[slot-1]
	}
	return l.values[first:l.ends[slot]]
}

// bySlot inverts postings, which map ids to sets of slots. The result has, for each slot, the ids whose set contains
// the slot. The number of slots is slots.
func bySlot(ps postings[int64], slots uint32) slotLists {
	next := make([]uint32, slots+1)
	for _, p := range ps {
		for slot := range p.all() {
			next[slot+1]++
		}
	}
	for slot := range slots {
		next[slot+1] += next[slot]
	}
	out := slotLists{ends: slices.Clone(next[1:]), values: make([]int64, next[slots])}
	for value, p := range ps {
		for slot := range p.all() {
			out.values[next[slot]] = value
			next[slot]++
		}
	}
	return out
}

// countedTerms returns the ids of the terms that count an event in their event counts. It returns none for an event
// that is not published.
func (s *state) countedTerms(event int64) []int64 {
	slot, known := s.slot(event)
	if !known || !s.statuses[statusPublished].has(slot) {
		return nil
	}
	return s.termsOf.of(slot)
}

// addDifferent adds to the set to all ids that are in exactly one of the lists a and b.
func addDifferent(to map[int64]bool, a, b []int64) {
	for _, lists := range [2][2][]int64{{a, b}, {b, a}} {
		for _, id := range lists[0] {
			if !slices.Contains(lists[1], id) {
				to[id] = true
			}
		}
	}
}

// noteRecounted records that the event counts of some terms changed. This is also a change of all events with one
// of these terms, because they show the counts.
func (s *state) noteRecounted(terms map[int64]bool) {
	for term := range terms {
		s.noteShown(s.links[calendar.Category][term])
		s.changed.counts = s.revision
	}
}

// noteShown records that the events of a posting changed at the revision of the state. Nil changes nothing.
func (s *state) noteShown(p *posting) {
	if p == nil {
		return
	}
	for slot := range p.all() {
		s.changed.slots[slot] = max(s.changed.slots[slot], s.revision)
	}
}

// noteChanges marks all events and other records that show a changed record as changed. The caller must first apply
// the changes to the state.
func (s *state) noteChanges(changes []logEntry) {
	images := map[int64]bool{}
	for _, c := range changes {
		s.changed.kinds[c.kind] = s.revision
		if c.first == 0 {
			s.changed.before = s.revision
			continue
		}
		if c.action == calendar.Created || c.action == calendar.Loaded {
			continue // a record that shows a new one has its own log entry
		}
		switch {
		case c.kind == calendar.Event:
		case c.kind.IsNamed() || c.kind.IsTerm():
			s.noteShown(s.links[c.kind][c.first])
		case c.kind == calendar.Series:
			s.changed.series[c.first] = s.revision
			s.noteShown(s.series[c.first])
		case c.kind == calendar.Image:
			images[c.first] = true
		default:
			s.changed.before = s.revision
		}
	}
	if len(images) > 0 {
		s.noteImages(images)
	}
}

// noteImages marks as changed the venues, organizers and events that show an image. The keys of images are the ids
// of the changed images.
func (s *state) noteImages(images map[int64]bool) {
	for id := range images {
		s.noteShown(s.images[id])
	}
	for kind, rs := range s.records {
		for id, r := range rs.byID {
			if images[r.image] {
				r.changed = s.revision
				s.noteShown(s.links[kind][id])
			}
		}
	}
}

// inherit copies change revisions from the state that s replaces after a reload. The earlier state must have
// applied all changes up to the revision at which s was loaded.
func (s *state) inherit(from *state) {
	s.changed.before = from.changed.before
	s.changed.counts = max(s.changed.counts, from.changed.counts)
	for kind, at := range from.changed.kinds {
		s.changed.kinds[kind] = max(s.changed.kinds[kind], at)
	}
	for id, at := range from.changed.series {
		s.changed.series[id] = max(s.changed.series[id], at)
	}
	for slot, at := range from.changed.slots {
		if at <= s.changed.before || at == deletedRevision {
			continue
		}
		if now, known := s.slot(from.ids[slot]); known {
			s.changed.slots[now] = max(s.changed.slots[now], at)
		}
	}
	for kind, rs := range from.records {
		for id, r := range rs.byID {
			if now := s.records[kind].byID[id]; now != nil {
				now.changed = max(now.changed, r.changed)
			}
		}
	}
}

// changedAt returns the revision at which the data that a reply depends on last changed.
func (s *state) changedAt(on query.Dependency) int64 {
	at := max(s.changed.before, s.ownChange(on))
	if on.Counts {
		at = max(at, s.changed.counts)
	}
	return at
}

// ownChange returns the revision of the last known change of a dependency. If its record is not in the index, it
// returns deletedRevision. It ignores changeRevisions.before, the lower bound that changedAt applies to all records.
func (s *state) ownChange(on query.Dependency) int64 {
	switch {
	case on.ID == 0:
		return s.changed.kinds[on.Kind]
	case on.Kind == calendar.Event:
		slot, known := s.slot(on.ID)
		if !known {
			return deletedRevision
		}
		return s.changed.slots[slot]
	case on.Kind == calendar.Series:
		return s.changed.series[on.ID]
	case s.records[on.Kind] != nil:
		r := s.records[on.Kind].byID[on.ID]
		if r == nil {
			return deletedRevision
		}
		return r.changed
	}
	return s.changed.kinds[on.Kind] // other kinds have no revision per record
}

// Unchanged reports whether none of the records in on changed in the revisions from after+1 to upTo. The reply
// cache calls it for the dependencies of a reply. It may also return false for a change after upTo. The error is
// ErrNotReady if the index cannot answer.
func (x *Index) Unchanged(ctx context.Context, after, upTo int64, on []query.Dependency) (bool, error) {
	s, err := x.upToDate(ctx, upTo)
	if err != nil {
		return false, err
	}
	defer x.mu.RUnlock()
	return !slices.ContainsFunc(on, func(d query.Dependency) bool { return s.changedAt(d) > after }), nil
}
