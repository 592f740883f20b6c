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
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// scratchSets is a pool of slot sets for intermediate results.
type scratchSets struct {
	pool sync.Pool
}

// take returns an empty slot set from the pool, with room for the given number of slots.
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

// find returns the slots of the events that match a query. It does not reduce them to one event per series
// (Series.First). The caller must return the set to the pool. The result undecided has the search terms that must still
// be compared with the texts. The index must support the query.
func (s *state) find(f *query.Events, pool *scratchSets) (found slotSet, undecided search.Query) {
	found = s.visible(f, pool)
	if !f.Hidden {
		found.without(s.hidden)
	}
	if f.Protected {
		found.and(s.locked)
	}
	s.within(found, f.Window)
	for _, p := range f.Periods {
		s.during(found, p)
	}
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
		columnFor(s.columns, c.Column).restrict(found, c, pool)
	}
	if f.Series.None {
		some := s.occurrencesFor(f, pool)
		found.without(some)
		pool.give(some)
	}
	if f.Series.IDs != nil {
		keepOneOf(found, s.series, f.Series.IDs, pool)
	}
	switch {
	case f.Near != nil && (f.Located == nil || *f.Located):
		keepOneOf(found, s.links[calendar.Venue], s.places.near(*f.Near, s.counting(f)), pool)
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
		undecided = s.search(found, *f.Search, f.Language, pool)
	}
	return found, undecided
}

// supports returns an error that wraps query.ErrUnsupported if a query has a column that the index lacks.
func (x *Index) supports(f *query.Events) error {
	for _, c := range f.Conditions {
		if columnFor(x.db.columns, c.Column) == nil {
			return fmt.Errorf("index: column %q: %w", c.Column.Name, query.ErrUnsupported)
		}
	}
	return nil
}

// counting returns a function that reports whether a filter may use a venue's position. It may if the caller may see
// the venue.
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

// locatedFor returns the slots of the events with a positioned venue that the caller of the filter may see.
func (s *state) locatedFor(f *query.Events, pool *scratchSets) slotSet {
	all, counts, venues := pool.take(s.size()), s.counting(f), s.links[calendar.Venue]
	all.or(s.located)
	for _, at := range s.places.unpublished {
		if p := venues[at.venue]; p != nil && counts(at) {
			p.into(all)
		}
	}
	return all
}

// visible returns the slots of the events whose status and author allow the caller to see them.
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

// withStatus adds to found the slots with one of the given statuses at the time now. A scheduled event counts as
// published from its publication date on.
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

// within removes from found the events that start or end outside a window.
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

// during removes from found the events that are not in a period.
func (s *state) during(found slotSet, p query.Period) {
	s.within(found, p.Near())
	from, to := p.From.Unix(), p.To.Unix()
	first, last := dayOf(p.First), dayOf(p.Last)
	found.each(0, s.size(), func(slot uint32) bool {
		inside := s.starts[slot] <= to && (s.ends[slot] > from || s.starts[slot] >= from)
		if days, allDay := s.allDays[slot]; allDay {
			inside = days.first <= last && days.last >= first
		}
		if !inside {
			found.remove(slot)
		}
		return true
	})
}

// dayOf returns the day of a wall time, in days since 1970.
func dayOf(at calendar.Wall) int32 {
	year, month, day := at.Date()
	return int32(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// secondBounds returns two bounds in seconds since 1970. Nil gives a bound that no event reaches.
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

// readable removes from found the password-protected events that the caller may not read.
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

// search removes from found the slots whose words rule out a match. Words alone cannot decide some terms, such as
// phrases. It returns these terms. Index.compare then checks them against the texts.
func (s *state) search(found slotSet, q search.Query, language calendar.Language, pool *scratchSets) (undecided search.Query) {
	bit := uint8(language.Bit())
	for _, t := range q.Terms {
		pieces, exact := t.Pieces()
		if !exact {
			undecided.Terms = append(undecided.Terms, t)
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
	return undecided
}

// occurrencesFor returns the slots of the occurrences whose series the caller of the filter may see.
func (s *state) occurrencesFor(f *query.Events, pool *scratchSets) slotSet {
	all, seen := pool.take(s.size()), compileVisible(f.Series.Visible)
	all.or(s.occurrences)
	for id, r := range s.records[calendar.Series].unpublished {
		if p := s.series[id]; p != nil && !seen.sees(r, f.Now) {
			for slot := range p.all() {
				all.remove(slot)
			}
		}
	}
	return all
}

// firstOfSeries removes from found all but the earliest occurrence of each series. The result has, by series
// number, the slot of that occurrence plus one. 0 means that found has no occurrence of the series.
func (s *state) firstOfSeries(found slotSet, f *query.Events, pool *scratchSets) (first []uint32) {
	some := s.occurrencesFor(f, pool)
	defer pool.give(some)
	some.and(found)
	found.without(some)
	first = make([]uint32, len(s.seriesNumbers)+1)
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
	return first
}

// addTo appends the event of a slot to a page, with the revision of its last change. If spans is true, it also
// appends the start and end.
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

// page returns up to limit events of a set, by start and id, and skips the first offset ones. A limit below 0 means
// all. If spans is true, the page has starts and ends. It does not set the total.
func (s *state) page(found slotSet, offset, limit int, spans bool) (out query.Page) {
	full := func() bool { return limit >= 0 && len(out.IDs) == limit }
	at := uint32(0) // slots of the base below it are already handled
	// upTo appends the slots of the base below the slot to.
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

// pageByEnd returns up to limit events of a set after the first offset ones, with the latest end first. It skips 64
// slots at once if all end before the last event on the page. So the first pages of a long list are fast.
func (s *state) pageByEnd(found slotSet, offset, limit int, spans bool) (out query.Page) {
	want := offset + limit
	switch {
	case limit == 0:
		return out
	case limit < 0:
		want = math.MaxInt32
	}
	const least = 64 // fewest slots that are sorted at once
	var best []uint32
	bound := int64(math.MinInt64) // end of the last event on the page, once there are enough
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
