package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// LatestEvents returns from memory what query.Database.LatestEvents returns. The index does not know when terms
// change. So the caller calls it without terms first. If terms changed after Since of the result, the caller calls
// it again with the lists of their ids, the last change first. The errors are those of FindEvents.
func (x *Index) LatestEvents(ctx context.Context, f *query.Events, terms [][]int64, number int) (out query.Latest, err error) {
	err = x.evaluate(ctx, f, func(s *state, found slotSet) {
		l := latestSearch{state: s, now: f.Now.Unix(), number: number, next: maxTime, shown: found}
		if f.Series.First {
			l.later = x.pool.take(s.size())
			defer x.pool.give(l.later)
			l.later.or(found)
			l.first = s.firstOfSeries(found, f, &x.pool)
			l.later.without(found)
		}
		out = l.find(terms)
	})
	return out, err
}

// latestSearch is the state of one LatestEvents call.
type latestSearch struct {
	*state
	now    int64 // seconds since 1970
	number int
	shown  slotSet  // the list
	later  slotSet  // occurrences that are not in the list, because the list has the first one of their series
	first  []uint32 // result of state.firstOfSeries
	taken  []int64  // ids of the result
	next   int64    // query.Latest.Next in seconds since 1970
}

func (l *latestSearch) find(terms [][]int64) (out query.Latest) {
	since := int64(math.MinInt64)
	own := l.latest(l.time)
	if len(own) == l.number && l.number > 0 {
		modified := func(slot uint32) int64 { return l.modified[slot] }
		since = modified(l.latest(modified)[l.number-1])
		out.Since = time.Unix(since, 0).UTC()
	}
	for _, slot := range own {
		l.take(slot)
	}
	l.later.each(0, l.size(), func(slot uint32) bool {
		if l.time(slot) >= since {
			l.leave(slot)
		}
		return true
	})
	if !out.Since.IsZero() { // otherwise the list has no other events
		for _, kind := range calendar.LinkedKinds {
			l.linked(l.links[kind], l.records[kind].newer(since, l.now))
		}
		for _, ids := range terms {
			l.linked(l.links[calendar.Category], ids)
		}
	}
	slices.Sort(l.taken)
	out.IDs = slices.Compact(l.taken)
	for _, id := range out.IDs {
		slot, _ := l.slot(id)
		out.Changed = append(out.Changed, max(l.changed.slots[slot], l.changed.before))
	}
	if l.next < maxTime {
		out.Next = time.Unix(l.next, 0).UTC()
	}
	return out
}

// time returns when the event of a slot last changed, in seconds since 1970. Its publication counts as a change,
// but changes of linked records do not.
func (l *latestSearch) time(slot uint32) int64 {
	if at := l.published[slot]; at > l.modified[slot] && at <= l.now {
		return at
	}
	return l.modified[slot]
}

// latest returns the slots of the list's events with the latest times, the latest first. There are at most l.number.
// The function at returns the time of a slot. It scans slots backwards, because many events may have the same time.
// Those with the highest ids then come early, and the others need no sorting.
func (l *latestSearch) latest(at func(slot uint32) int64) (best []uint32) {
	const least = 64 // fewest slots that are sorted at once
	later := func(a, b uint32) int { return cmp.Or(cmp.Compare(at(b), at(a)), cmp.Compare(l.ids[b], l.ids[a])) }
	full := false // best[l.number-1] is the last one that counts
	cut := func() {
		slices.SortFunc(best, later)
		if full = len(best) >= l.number && l.number > 0; full {
			best = best[:l.number]
		}
	}
	for w := len(l.shown) - 1; w >= 0; w-- {
		if l.shown[w] == 0 {
			continue
		}
		first := uint32(w) * 64
		l.shown.each(first, first+64, func(slot uint32) bool {
			if full && later(slot, best[l.number-1]) > 0 {
				return true
			}
			if best = append(best, slot); len(best) >= max(2*l.number, least) {
				cut()
			}
			return true
		})
	}
	cut()
	return best
}

// linked adds to the result events of the list that are linked to the given records. The records have changed after
// Since of the result. It skips events with a password, and stops after l.number events.
func (l *latestSearch) linked(of postings[int64], records []int64) {
	left := l.number
	for _, id := range records {
		p := of[id]
		if p == nil {
			continue
		}
		var some []uint32
		for slot := range p.all() {
			switch {
			case l.locked.has(slot):
			case l.shown.has(slot):
				some = append(some, slot)
			case l.later.has(slot):
				l.leave(slot)
			}
		}
		slices.SortFunc(some, func(a, b uint32) int { return cmp.Compare(l.ids[b], l.ids[a]) })
		for _, slot := range some[:min(left, len(some))] {
			l.take(slot)
		}
		if left -= len(some); left <= 0 {
			return
		}
	}
}

// take adds the event of a slot to the result. Its end limits how long the result is valid.
func (l *latestSearch) take(slot uint32) {
	l.taken = append(l.taken, l.ids[slot])
	l.expire(slot)
}

// leave skips an occurrence that the list lacks because it has an earlier one of the series. When that earlier one
// ends, the result is no longer valid.
func (l *latestSearch) leave(slot uint32) { l.expire(l.first[l.seriesOf[slot]] - 1) }

// expire limits the validity of the result to the end of the event in a slot, unless the event has ended.
func (l *latestSearch) expire(slot uint32) {
	if at := l.ends[slot]; at >= l.now {
		l.next = min(l.next, at)
	}
}

// newer returns the ids of the published records that changed or were published after since and not after now. Both
// are seconds since 1970. The latest one is first.
func (rs *records) newer(since, now int64) (ids []int64) {
	changed := func(r *record) int64 {
		last := int64(math.MinInt64)
		for _, at := range []int64{r.published, r.modified} {
			if at <= now {
				last = max(last, at)
			}
		}
		return last
	}
	anyone := compiledVisible{anyone: 1 << statusPublished}
	var some []*record
	for _, r := range rs.byID {
		if changed(r) > since && anyone.sees(r, time.Unix(now, 0)) {
			some = append(some, r)
		}
	}
	slices.SortFunc(some, func(a, b *record) int { return cmp.Or(cmp.Compare(changed(b), changed(a)), cmp.Compare(b.id, a.id)) })
	for _, r := range some {
		ids = append(ids, r.id)
	}
	return ids
}
