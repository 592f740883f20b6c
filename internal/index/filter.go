package index

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
)

// Filter is what a list of events is restricted to. The zero value of a field, other than Visible, restricts
// nothing.
type Filter struct {
	Since   int64     // the revision that has to be known, besides what the database of the index knows
	Now     time.Time // decides which scheduled events count as published
	Visible Visible
	Hidden  bool // with those that are hidden from listings
	// Window is in whole seconds.
	Window Window
	// Each of these is a condition if it is not nil: one of the values. IDs are those of the events themselves.
	IDs, Categories, Tags, Venues, Organizers []int64
	Featured, Ticketed                        *bool
	// Located is whether an event has a venue with a position; Near, a venue within a distance.
	Located *bool
	Near    *Circle
	// Search is what the texts served in the language have to hold. Of protected events, only those Readable
	// are searched.
	Search   *search.Query
	Language calendar.Language
	Readable Readable
}

// Visible is whose events of which effective status are in a list.
type Visible struct {
	Anyone []calendar.Status
	Author int64
	Own    []calendar.Status // of the author
}

// Readable is which protected events a caller may read.
type Readable struct {
	All       bool
	IDs       []int64           // opened by a password
	Author    int64             // the author's own, 0 for nobody's
	OwnStatus []calendar.Status // stored ones; nil for all
}

// Window is bounds of start and end, inclusive; nil is none.
type Window struct{ StartMin, StartMax, EndMin, EndMax *time.Time }

// Circle is a distance around a position in degrees north and east.
type Circle struct{ Latitude, Longitude, Kilometres float64 }

// scratch are sets for intermediate results.
type scratch struct {
	pool sync.Pool
}

// take returns an empty set with room for a number of slots.
func (p *scratch) take(slots uint32) set {
	n := int(slots+63) / 64
	if have, ok := p.pool.Get().(*set); ok && cap(*have) >= n {
		b := (*have)[:n]
		clear(b)
		return b
	}
	return make(set, n, n+n/8)
}

func (p *scratch) give(b set) { p.pool.Put(&b) }

// find evaluates all of a filter that the index can decide. The caller gives the set back. Terms of the search that
// are left have to be compared with the texts.
func (s *state) find(f *Filter, pool *scratch) (found set, left search.Query) {
	found = s.visible(f, pool)
	if !f.Hidden {
		found.without(s.hidden)
	}
	s.within(found, f.Window)
	if f.IDs != nil {
		these := pool.take(s.size())
		for _, id := range f.IDs {
			if slot, ok := s.slot(id); ok {
				these.add(slot)
			}
		}
		found.and(these)
		pool.give(these)
	}
	for _, any := range []struct {
		of     postings
		values []int64
	}{{s.terms, f.Categories}, {s.terms, f.Tags}, {s.venues, f.Venues}, {s.organizers, f.Organizers}} {
		if any.values != nil {
			s.oneOf(found, any.of, any.values, pool)
		}
	}
	for _, flag := range []struct {
		want *bool
		in   set
	}{{f.Featured, s.featured}, {f.Ticketed, s.ticketed}} {
		switch {
		case flag.want == nil:
		case *flag.want:
			found.and(flag.in)
		default:
			found.without(flag.in)
		}
	}
	switch {
	case f.Near != nil && (f.Located == nil || *f.Located):
		s.oneOf(found, s.venues, s.places.near(*f.Near), pool)
	case f.Located != nil && *f.Located:
		found.and(s.located)
	case f.Located != nil:
		found.without(s.located)
	}
	if f.Search != nil {
		s.readable(found, f.Readable, pool)
		left = s.search(found, *f.Search, f.Language, pool)
	}
	return found, left
}

// oneOf leaves the slots that have one of some values.
func (s *state) oneOf(found set, of postings, values []int64, pool *scratch) {
	any := pool.take(s.size())
	of.into(any, values)
	found.and(any)
	pool.give(any)
}

// visible are the slots of the events that may be in a list.
func (s *state) visible(f *Filter, pool *scratch) set {
	found := pool.take(s.size())
	s.withStatus(found, f.Visible.Anyone, f.Now)
	if p := s.authors[f.Visible.Author]; p != nil && len(f.Visible.Own) > 0 {
		own, status := pool.take(s.size()), pool.take(s.size())
		p.into(own)
		s.withStatus(status, f.Visible.Own, f.Now)
		own.and(status)
		found.or(own)
		pool.give(own)
		pool.give(status)
	}
	return found
}

// withStatus adds the slots with one of some effective statuses: a scheduled event is published from its date on.
func (s *state) withStatus(found set, statuses []calendar.Status, now time.Time) {
	for i, status := range calendar.Statuses {
		if status != calendar.Future && slices.Contains(statuses, status) {
			found.or(s.statuses[i])
		}
	}
	due, later := slices.Contains(statuses, calendar.Publish), slices.Contains(statuses, calendar.Future)
	if now.Unix() < s.nextDue {
		if later {
			found.or(s.statuses[future])
		}
		return
	}
	for slot, published := range s.scheduled {
		if is := published <= now.Unix(); is && due || !is && later {
			found.add(slot)
		}
	}
}

// within takes away what is outside a window.
func (s *state) within(found set, w Window) {
	first, last := bounds(w.StartMin, w.StartMax)
	from, _ := slices.BinarySearch(s.starts[:s.base], first)
	to := len(s.starts[:s.base])
	if w.StartMax != nil {
		to, _ = slices.BinarySearch(s.starts[:s.base], last+1)
	}
	found.between(uint32(from), uint32(to), s.base)
	earliest, latest := bounds(w.EndMin, w.EndMax)
	if w.EndMin != nil || w.EndMax != nil {
		for i := from / 64; i*64 < to; i++ {
			if s.earliest[i] >= earliest && s.latest[i] <= latest {
				continue
			}
			if s.latest[i] < earliest || s.earliest[i] > latest {
				found.clear(uint32(i*64), min(uint32(i*64+64), s.base))
				continue
			}
			for slot := uint32(i * 64); slot < min(uint32(i*64+64), s.base); slot++ {
				if s.ends[slot] < earliest || s.ends[slot] > latest {
					found.remove(slot)
				}
			}
		}
	}
	if w == (Window{}) {
		return
	}
	found.each(s.base, s.size(), func(slot uint32) bool {
		if s.starts[slot] < first || s.starts[slot] > last || s.ends[slot] < earliest || s.ends[slot] > latest {
			found.remove(slot)
		}
		return true
	})
}

// bounds are the seconds of two bounds; what is not bounded is so far away that nothing is beyond.
func bounds(from, to *time.Time) (first, last int64) {
	first, last = -1<<62, 1<<62
	if from != nil {
		first = from.Unix()
	}
	if to != nil {
		last = to.Unix()
	}
	return first, last
}

// readable takes away the protected events that the caller may not read.
func (s *state) readable(found set, r Readable, pool *scratch) {
	if r.All || s.locked.empty() {
		return
	}
	secret := pool.take(s.size())
	defer pool.give(secret)
	secret.or(s.locked)
	for _, id := range r.IDs {
		if slot, ok := s.slot(id); ok {
			secret.remove(slot)
		}
	}
	if p := s.authors[r.Author]; p != nil && r.Author != 0 {
		own := pool.take(s.size())
		p.into(own)
		if r.OwnStatus != nil {
			stored := pool.take(s.size())
			for i, status := range calendar.Statuses {
				if slices.Contains(r.OwnStatus, status) {
					stored.or(s.statuses[i])
				}
			}
			own.and(stored)
			pool.give(stored)
		}
		secret.without(own)
		pool.give(own)
	}
	found.without(secret)
}

// search leaves the slots whose words allow that the terms are in their texts, and returns the terms for which that
// is not certain.
func (s *state) search(found set, q search.Query, language calendar.Language, pool *scratch) (left search.Query) {
	bit := uint8(language.Bit())
	for _, t := range q.Terms {
		pieces, exact := t.Pieces()
		if !exact {
			left.Terms = append(left.Terms, t)
		}
		if t.Exclude && !exact {
			continue
		}
		for _, piece := range pieces {
			with := pool.take(s.size())
			s.words.into(with, piece, bit)
			if t.Exclude {
				found.without(with)
			} else {
				found.and(with)
			}
			pool.give(with)
		}
	}
	return left
}

// page are the ids of the slots of a set, in the order of lists, from an offset on; all of them for a limit below 0.
func (s *state) page(found set, offset, limit int) []int64 {
	var ids []int64
	full := func() bool { return limit >= 0 && len(ids) == limit }
	at := uint32(0) // everything before it in the base is behind us
	// upTo takes the slots of the base before to.
	upTo := func(to uint32) {
		at, offset = found.skip(at, to, offset)
		found.each(at, to, func(slot uint32) bool {
			if full() {
				return false
			}
			ids = append(ids, s.ids[slot])
			return true
		})
		at = to
	}
	for _, slot := range s.tail {
		if !found.has(slot) {
			continue
		}
		before := sort.Search(int(s.base), func(i int) bool { return s.compare(uint32(i), slot) > 0 })
		upTo(max(at, uint32(before)))
		if full() {
			return ids
		}
		if offset > 0 {
			offset--
			continue
		}
		ids = append(ids, s.ids[slot])
	}
	upTo(max(at, s.base))
	return ids
}
