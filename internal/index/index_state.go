package index

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// document is the data of one event that goes into the index. Times are seconds since 1970, UTC.
type document struct {
	id                    int64
	starts, ends          int64
	published, modified   int64
	allDay                bool  // false for a locked event
	firstDay, lastDay     int32 // first and last day of an all-day event, as in query.Span
	status                uint8 // index into calendar.Statuses
	hidden, locked        bool
	draft                 bool  // draft or pending, or trashed from one of these
	values                []any // values of fields that columns read: eventScan
	author, image, series int64 // record ids; 0 means none
	// links has the ids of the linked records, by index into linkKinds.
	links [len(linkKinds)][]int64
	texts []text
}

// link records that the event is linked to a record of one of linkKinds.
func (d *document) link(kind calendar.Kind, record int64) {
	ids := &d.links[slices.Index(linkKinds[:], kind)]
	*ids = append(*ids, record)
}

// linked returns the ids of the records of a kind to which the event is linked. The kind is one of linkKinds.
func (d *document) linked(kind calendar.Kind) []int64 {
	return d.links[slices.Index(linkKinds[:], kind)]
}

// text is a search text, and the bits of the languages in which it is served.
type text struct {
	languages uint8
	text      string
}

// state is the content of the index. Each event has a slot: its number in the index, like a row number. Slots below
// base are sorted by start, then id. A changed event leaves its slot and gets a new one in the tail, after the
// others. So postings only grow.
type state struct {
	revision int64 // revision of the calendar up to which changes are applied
	history  history

	base         uint32
	ids          []int64 // event ids, by slot
	starts, ends []int64 // seconds since 1970, by slot
	// published and modified are the times of the last changes that the public could see, in seconds since 1970, by slot.
	published, modified []int64
	allDays             map[uint32]dayRange // days of the all-day events, by slot
	// earliest and latest are the first and last end of each 64 slots of the base, in seconds since 1970.
	earliest, latest []int64
	tail             []uint32 // slots from base on, sorted by start, then id
	byID             []uint32 // slots of the base, sorted by event id
	moved            map[int64]uint32
	unused           int // number of slots of the base that are no longer used

	statuses               []slotSet // by index into calendar.Statuses; a slot that is no longer used is in none
	hidden, locked, drafts slotSet
	columns                []column // by which lists are filtered
	// links are the slots of columns of links, by the kind of the linked records.
	links           map[calendar.Kind]postings[int64]
	scheduled       map[uint32]int64 // publication times of events with status future, by slot
	nextDue         int64            // earliest publication time in scheduled
	authors, images postings[int64]
	series          postings[int64]  // slots of the occurrences of each series, by series id
	occurrences     slotSet          // slots of all occurrences
	seriesNumbers   map[int64]uint32 // numbers of the series, from 1 on, by series id
	seriesOf        []uint32         // series numbers by slot, up to the last occurrence; 0 means none
	termsOf         slotLists
	changed         changeRevisions
	places          places
	located         slotSet     // slots of events with a published, positioned venue
	words           *vocabulary // nil until the texts are loaded

	compared comparisons
	records  map[calendar.Kind]*records // records with a name, and series
	cached   sync.Map                   // results of withEvents: askedEvents to cachedRecords
}

// dayRange is the first and last day of an all-day event, as in query.Span.
type dayRange struct{ first, last int32 }

// maxTime is later than any event, in seconds since 1970.
const maxTime = math.MaxInt64

// statusTrash, statusFuture and statusPublished are the indexes of these statuses in calendar.Statuses.
var (
	statusTrash     = uint8(slices.Index(calendar.Statuses, calendar.Trash))
	statusFuture    = uint8(slices.Index(calendar.Statuses, calendar.Future))
	statusPublished = uint8(slices.Index(calendar.Statuses, calendar.Publish))
)

// newState returns an empty state with a column for each filter column in declared that the index supports.
func newState(declared []*query.Column) *state {
	columns := newColumns(declared)
	s := &state{
		columns: columns, links: linkPostings(columns), moved: map[int64]uint32{}, statuses: make([]slotSet, len(calendar.Statuses)), scheduled: map[uint32]int64{},
		authors: postings[int64]{}, images: postings[int64]{}, series: postings[int64]{}, seriesNumbers: map[int64]uint32{},
		nextDue: maxTime, allDays: map[uint32]dayRange{},
		changed: changeRevisions{kinds: map[calendar.Kind]int64{}, series: map[int64]int64{}},
		records: map[calendar.Kind]*records{calendar.Series: newRecords(seriesOrders()...)},
	}
	for _, kind := range calendar.NamedKinds {
		s.records[kind] = newRecords(compareNewest)
	}
	return s
}

// size returns the number of slots.
func (s *state) size() uint32 { return uint32(len(s.ids)) }

// compare compares two slots in the order of lists: by start, then event id.
func (s *state) compare(a, b uint32) int {
	return cmp.Or(cmp.Compare(s.starts[a], s.starts[b]), cmp.Compare(s.ids[a], s.ids[b]))
}

// append gives an event the next slot and returns it. It also adds the links that the document has.
func (s *state) append(d *document) uint32 {
	slot := s.size()
	s.ids, s.starts, s.ends = append(s.ids, d.id), append(s.starts, d.starts), append(s.ends, d.ends)
	s.published, s.modified = append(s.published, d.published), append(s.modified, d.modified)
	if d.allDay {
		s.allDays[slot] = dayRange{d.firstDay, d.lastDay}
	}
	s.statuses[d.status].add(slot)
	if d.status == statusFuture {
		s.scheduled[slot] = d.published
		s.nextDue = min(s.nextDue, d.published)
	}
	for _, flag := range []struct {
		on bool
		in *slotSet
	}{{d.hidden, &s.hidden}, {d.locked, &s.locked}, {d.draft, &s.drafts}} {
		if flag.on {
			flag.in.add(slot)
		}
	}
	for _, c := range s.columns {
		c.add(slot, d)
	}
	if d.author != 0 {
		s.authors.add(d.author, slot)
	}
	if d.image != 0 {
		s.images.add(d.image, slot)
	}
	if d.series != 0 {
		s.series.add(d.series, slot)
		s.occurrences.add(slot)
		number := s.seriesNumbers[d.series]
		if number == 0 {
			number = uint32(len(s.seriesNumbers)) + 1
			s.seriesNumbers[d.series] = number
		}
		for len(s.seriesOf) < int(slot) {
			s.seriesOf = append(s.seriesOf, 0)
		}
		s.seriesOf = append(s.seriesOf, number)
	}
	for _, v := range d.linked(calendar.Venue) {
		if at, known := s.places.all[v]; known && at.status == statusPublished {
			s.located.add(slot)
		}
	}
	s.termsOf.append(d.linked(calendar.Category))
	s.changed.slots = append(s.changed.slots, 0)
	if s.words != nil {
		for _, t := range d.texts {
			s.words.add(slot, t.languages, t.text)
		}
	}
	return slot
}

// seal ends a load: the present slots become the base, the part of the index that is sorted by start. They must have
// been appended in the order of start, then id.
func (s *state) seal() {
	s.base = s.size()
	s.byID = make([]uint32, s.base)
	for slot := range s.base {
		s.byID[slot] = slot
	}
	slices.SortFunc(s.byID, func(a, b uint32) int { return cmp.Compare(s.ids[a], s.ids[b]) })
	s.boundEnds()
}

// boundEnds computes the fields earliest and latest, the bounds of the ends in each group of 64 slots.
func (s *state) boundEnds() {
	words := (s.base + 63) / 64
	s.earliest, s.latest = make([]int64, words), make([]int64, words)
	for slot := range s.base {
		w := slot / 64
		if slot%64 == 0 {
			s.earliest[w], s.latest[w] = s.ends[slot], s.ends[slot]
		}
		s.earliest[w], s.latest[w] = min(s.earliest[w], s.ends[slot]), max(s.latest[w], s.ends[slot])
	}
}

// slot returns the slot of an event, or false if it has none. For a deleted event it may return a slot that is no
// longer used.
func (s *state) slot(id int64) (uint32, bool) {
	if slot, ok := s.moved[id]; ok {
		return slot, true
	}
	at, ok := slices.BinarySearchFunc(s.byID, id, func(slot uint32, id int64) int { return cmp.Compare(s.ids[slot], id) })
	if !ok {
		return 0, false
	}
	return s.byID[at], true
}

// put adds an event to a state after seal, or replaces it. The event counts as changed at the revision of the state.
func (s *state) put(d *document) {
	s.drop(d.id)
	slot := s.append(d)
	s.changed.slots[slot] = s.revision
	at, _ := slices.BinarySearchFunc(s.tail, slot, s.compare)
	s.tail = slices.Insert(s.tail, at, slot)
	s.moved[d.id] = slot
}

// drop removes an event. An unknown id changes nothing.
func (s *state) drop(id int64) {
	slot, ok := s.slot(id)
	if !ok {
		return
	}
	there := false
	for _, b := range s.statuses {
		there = there || b.has(slot)
		b.remove(slot)
	}
	if !there {
		return
	}
	if published, was := s.scheduled[slot]; was {
		delete(s.scheduled, slot)
		if published == s.nextDue {
			s.nextDue = maxTime
			for _, p := range s.scheduled {
				s.nextDue = min(s.nextDue, p)
			}
		}
	}
	delete(s.allDays, slot)
	s.changed.slots[slot] = deletedRevision
	if slot < s.base {
		s.unused++
	} else {
		delete(s.moved, id)
	}
}

// isFragmented reports whether the index should be reloaded, because too many slots are unused or outside the sorted
// part.
func (s *state) isFragmented() bool { return len(s.tail)+s.unused > max(4096, int(s.base)/8) }

// locate rebuilds the lists of places, and the set of events that have a published venue with a position.
func (s *state) locate() {
	s.located = make(slotSet, (s.size()+63)/64)
	for venue, at := range s.places.all {
		if p := s.links[calendar.Venue][venue]; p != nil && at.status == statusPublished {
			p.into(s.located)
		}
	}
	s.places.sort()
}
