package index

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// FindEvents returns a page of up to limit events after the first offset ones, and the length of the whole list. A
// limit below 0 means all. With f.ByEnd the latest end is first. Otherwise the order is by start, then id, even if
// f.Include is set. If the error is ErrNotReady or query.ErrUnsupported, the caller must query the database.
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

// evaluate finds the slots of the events that match a filter, and calls use with them. It does not reduce them to one
// event per series (Series.First). It compares texts with the search terms first if necessary. The function use may
// change the slot set, but must not keep it. The errors are those of FindEvents.
func (x *Index) evaluate(ctx context.Context, f *query.Events, use func(s *state, found slotSet)) error {
	if err := x.supports(f); err != nil {
		return err
	}
	// Two rounds are enough, unless a concurrent write changes texts that have to be read.
	for range 3 {
		moves := x.ServerChanges.Number()
		s, err := x.upToDate(ctx, f.Revision)
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

// find is one attempt of evaluate. The caller has locked x.mu, and find unlocks it. If texts must first be compared
// with a phrase, it returns their slots, and does not call use.
func (x *Index) find(s *state, f *query.Events, use func(*state, slotSet)) (unread []uint32, err error) {
	defer x.mu.RUnlock()
	if f.Search != nil && s.words == nil {
		return nil, ErrNotReady
	}
	found, undecided := s.find(f, &x.pool)
	defer x.pool.give(found)
	for _, t := range undecided.Terms {
		unread = s.compared.unread(found, t, f.Language, unread, &x.pool)
	}
	if unread != nil {
		return unread, nil
	}
	for _, t := range undecided.Terms {
		s.compared.restrict(found, t, f.Language)
	}
	use(s, found)
	return nil, nil
}

// compare reads the texts of slots from the database, and stores which of them contain the terms of the search. The
// parameter moves is a result of ServerChanges. If reads have switched to another server since then, compare
// returns ErrNotReady.
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
		if x.ServerChanges.Number() != moves {
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
