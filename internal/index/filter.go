package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// scratchSets are sets for intermediate results.
type scratchSets struct {
	pool sync.Pool
}

// take returns an empty set with room for a number of slots.
func (p *scratchSets) take(slots uint32) slotSet {
	n := int(slots+63) / 64
	if have, ok := p.pool.Get().(*slotSet); ok && cap(*have) >= n {
		b := (*have)[:n]
		clear(b)
		return b
	}
	return make(slotSet, n, n+n/8)
}

func (p *scratchSets) give(b slotSet) { p.pool.Put(&b) }

// find evaluates all of a query that the index can decide, but for Series.First. The caller gives the set back. Terms of the
// search that are left have to be compared with the texts. The index supports the query.
func (s *state) find(f *query.Events, pool *scratchSets) (found slotSet, left search.Query) {
	found = s.visible(f, pool)
	if !f.Hidden {
		found.without(s.hidden)
	}
	s.within(found, f.Window)
	if f.Include != nil {
		these := pool.take(s.size())
		for _, id := range f.Include {
			if slot, ok := s.slot(id); ok {
				these.add(slot)
			}
		}
		found.and(these)
		pool.give(these)
	}
	for _, c := range f.Conditions {
		s.restrict(found, c, pool)
	}
	if f.Series.None {
		some := s.occurrencesFor(f, pool)
		found.without(some)
		pool.give(some)
	}
	if f.Series.IDs != nil {
		keepOneOf(s, found, s.series, f.Series.IDs, pool)
	}
	switch {
	case f.Near != nil && (f.Located == nil || *f.Located):
		keepOneOf(s, found, s.venues, s.places.near(*f.Near, s.counting(f)), pool)
	case f.Located != nil:
		located := s.locatedFor(f, pool)
		if *f.Located {
			found.and(located)
		} else {
			found.without(located)
		}
		pool.give(located)
	}
	if f.Guarded() {
		s.readable(found, f.Readable, pool)
	}
	if f.Search != nil {
		left = s.search(found, *f.Search, f.Language, pool)
	}
	return found, left
}

// supports returns query.ErrUnsupported if the index does not have a column of a query.
func (x *Index) supports(f *query.Events) error {
	if len(f.Periods) > 0 {
		return fmt.Errorf("index: periods: %w", query.ErrUnsupported)
	}
	for _, c := range f.Conditions {
		known := false
		switch c.Column.Kind {
		case query.FlagKind:
			known = c.Column.Table == event.Table && slices.Contains(x.db.columns.flags, c.Column.Field)
		case query.WordKind:
			known = c.Column.Table == event.Table && slices.Contains(x.db.columns.words, c.Column.Field)
		case query.LinkKind, query.TermKind:
			known = linksOf(c.Column) >= 0
		}
		if !known {
			return fmt.Errorf("index: column %q: %w", c.Column.Name, query.ErrUnsupported)
		}
	}
	return nil
}

// linksOf returns where the links of a column are in linkTables, -1 if they are not.
func linksOf(c *query.Column) int {
	return slices.IndexFunc(linkTables, func(l linkTable) bool { return l.table == c.Table })
}

// restrict leaves the slots that meet a condition.
func (s *state) restrict(found slotSet, c query.Condition, pool *scratchSets) {
	switch c.Column.Kind {
	case query.FlagKind:
		with := s.flags[slices.Index(s.columns.flags, c.Column.Field)]
		if c.Flag {
			found.and(with)
		} else {
			found.without(with)
		}
	case query.WordKind:
		keepOneOf(s, found, s.stored[slices.Index(s.columns.words, c.Column.Field)], c.Words, pool)
	default:
		keepOneOf(s, found, linkTables[linksOf(c.Column)].state(s), c.IDs, pool)
	}
}

// keepOneOf leaves the slots that have one of some values.
func keepOneOf[V comparable](s *state, found slotSet, of postings[V], values []V, pool *scratchSets) {
	any := pool.take(s.size())
	of.into(any, values)
	found.and(any)
	pool.give(any)
}

// counting returns which places count for the caller of a filter.
func (s *state) counting(f *query.Events) func(place) bool {
	sees, venues := compileVisible(f.Places), s.records[calendar.Venue].byID
	publishedOnly := sees.anyone|sees.own == 1<<statusPublished
	return func(at place) bool {
		if at.status == statusPublished {
			return true
		}
		if publishedOnly && at.status != statusFuture {
			return false
		}
		r := venues[at.venue]
		return r != nil && sees.sees(r, f.Now)
	}
}

// locatedFor returns the slots of the events that have a venue with a position, as far as it counts for the caller.
func (s *state) locatedFor(f *query.Events, pool *scratchSets) slotSet {
	all, counts := pool.take(s.size()), s.counting(f)
	all.or(s.located)
	for _, at := range s.places.unpublished {
		if p := s.venues[at.venue]; p != nil && counts(at) {
			p.into(all)
		}
	}
	return all
}

// visible are the slots of the events that may be in a list.
func (s *state) visible(f *query.Events, pool *scratchSets) slotSet {
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
func (s *state) withStatus(found slotSet, statuses []calendar.Status, now time.Time) {
	for i, status := range calendar.Statuses {
		if status != calendar.Future && slices.Contains(statuses, status) {
			found.or(s.statuses[i])
		}
	}
	due, later := slices.Contains(statuses, calendar.Publish), slices.Contains(statuses, calendar.Future)
	if now.Unix() < s.nextDue {
		if later {
			found.or(s.statuses[statusFuture])
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
func (s *state) within(found slotSet, w query.Window) {
	first, last := secondBounds(w.StartMin, w.StartMax)
	from, _ := slices.BinarySearch(s.starts[:s.base], first)
	to := len(s.starts[:s.base])
	if w.StartMax != nil {
		to, _ = slices.BinarySearch(s.starts[:s.base], last+1)
	}
	found.between(uint32(from), uint32(to), s.base)
	earliest, latest := secondBounds(w.EndMin, w.EndMax)
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
	if w == (query.Window{}) {
		return
	}
	found.each(s.base, s.size(), func(slot uint32) bool {
		if s.starts[slot] < first || s.starts[slot] > last || s.ends[slot] < earliest || s.ends[slot] > latest {
			found.remove(slot)
		}
		return true
	})
}

// secondBounds are the seconds of two bounds; what is not bounded is so far away that nothing is beyond.
func secondBounds(from, to *time.Time) (first, last int64) {
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
func (s *state) readable(found slotSet, r query.Readable, pool *scratchSets) {
	if r.All || s.locked.empty() {
		return
	}
	if len(r.IDs) == 0 && r.Author == 0 {
		found.without(s.locked)
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
		if r.DraftsOnly {
			own.and(s.drafts)
		}
		secret.without(own)
		pool.give(own)
	}
	found.without(secret)
}

// search leaves the slots whose words allow that the terms are in their texts, and returns the terms for which that
// is not certain.
func (s *state) search(found slotSet, q search.Query, language calendar.Language, pool *scratchSets) (left search.Query) {
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

// occurrencesFor returns the slots of the occurrences of the series that the caller sees.
func (s *state) occurrencesFor(f *query.Events, pool *scratchSets) slotSet {
	all, seen := pool.take(s.size()), compileVisible(f.Series.Visible)
	all.or(s.occurrences)
	for id, r := range s.unpublishedSeries {
		if p := s.series[id]; p != nil && !seen.sees(r, f.Now) {
			for slot := range p.all() {
				all.remove(slot)
			}
		}
	}
	return all
}

// firstOfSeries leaves the earliest of the occurrences of each series.
func (s *state) firstOfSeries(found slotSet, f *query.Events, pool *scratchSets) {
	some := s.occurrencesFor(f, pool)
	defer pool.give(some)
	some.and(found)
	found.without(some)
	first := make([]uint32, len(s.seriesNumbers)+1) // by number: the slot after the earliest, 0 means none
	some.each(0, s.base, func(slot uint32) bool {
		if number := s.seriesOf[slot]; first[number] == 0 {
			first[number] = slot + 1
		}
		return true
	})
	for _, slot := range s.tail {
		if !some.has(slot) {
			continue
		}
		number := s.seriesOf[slot]
		if earliest := first[number]; earliest == 0 || s.compare(slot, earliest-1) < 0 {
			first[number] = slot + 1
		}
	}
	for _, after := range first {
		if after != 0 {
			found.add(after - 1)
		}
	}
}

// addTo adds the event of a slot to a page, with its span if that is asked for.
func (s *state) addTo(page *query.Page, slot uint32, spans bool) {
	page.IDs = append(page.IDs, s.ids[slot])
	page.Changed = append(page.Changed, max(s.changed.slots[slot], s.changed.before))
	if spans {
		days, allDay := s.allDays[slot]
		page.Spans = append(page.Spans, query.Span{
			Starts: s.starts[slot], Ends: s.ends[slot], AllDay: allDay, FirstDay: days.first, LastDay: days.last,
		})
	}
}

// page returns the events of the slots of a set, in the order of lists, from an offset on; all of them for a limit below
// 0. It does not count them.
func (s *state) page(found slotSet, offset, limit int, spans bool) (out query.Page) {
	full := func() bool { return limit >= 0 && len(out.IDs) == limit }
	at := uint32(0) // everything before it in the base is behind us
	// upTo takes the slots of the base before to.
	upTo := func(to uint32) {
		at, offset = found.skip(at, to, offset)
		found.each(at, to, func(slot uint32) bool {
			if full() {
				return false
			}
			s.addTo(&out, slot, spans)
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
			return out
		}
		if offset > 0 {
			offset--
			continue
		}
		s.addTo(&out, slot, spans)
	}
	upTo(max(at, s.base))
	return out
}

// pageByEnd is page in the descending order of ends. Words of the base that end before all of the page are passed over, so
// that the first pages of a long list cost little.
func (s *state) pageByEnd(found slotSet, offset, limit int, spans bool) (out query.Page) {
	want := offset + limit
	switch {
	case limit == 0:
		return out
	case limit < 0:
		want = math.MaxInt32
	}
	const least = 64 // slots that are sorted at once
	var best []uint32
	bound := int64(math.MinInt64) // the end of the last one, once there are as many as wanted
	sorted := func() {
		slices.SortFunc(best, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(s.ends[b], s.ends[a]), cmp.Compare(s.ids[b], s.ids[a]))
		})
		if len(best) >= want {
			best = best[:want]
			bound = s.ends[best[want-1]]
		}
	}
	take := func(slot uint32) bool {
		if s.ends[slot] >= bound {
			if best = append(best, slot); len(best) >= max(2*want, least) {
				sorted()
			}
		}
		return true
	}
	found.each(s.base, s.size(), take)
	for w := min(len(found), len(s.latest)) - 1; w >= 0; w-- {
		if found[w] != 0 && s.latest[w] >= bound {
			from := uint32(w) * 64
			found.each(from, min(from+64, s.base), take)
		}
	}
	sorted()
	for _, slot := range best[min(offset, len(best)):] {
		s.addTo(&out, slot, spans)
	}
	return out
}
