package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
)

// loadSize is the number of events that one statement of a load reads, so that the time limit of statements does not end
// it. Rows may be newer than those of the statement before, as load allows.
const loadSize = 10_000

// idRange is a range of ids above after and up to upTo.
type idRange struct{ after, upTo int64 }

// load reads the calendar from the database, without the search texts of events. If records change meanwhile, it
// may read rows newer than the revision of the state. This does no harm, because their changes are applied again.
func (r reader) load(ctx context.Context) (*state, error) {
	s := newState(r.declared)
	var err error
	if s.revision, err = r.revision(ctx); err != nil {
		return nil, err
	}
	if s.history.entries, err = r.historyUpTo(ctx, s.revision); err != nil {
		return nil, err
	}
	if err := r.places(ctx, "", s.places.put); err != nil {
		return nil, err
	}
	for kind, rs := range s.records {
		all, err := r.allRecords(ctx, kind)
		if err != nil {
			return nil, err
		}
		rs.fill(all)
	}
	var all []document
	var bounds []idRange
	for last := int64(0); ; {
		first, read := last, 0
		end := fmt.Sprintf(" WHERE %s > %d ORDER BY %[1]s LIMIT %[3]d", event.FieldID, first, loadSize)
		if err := r.events(ctx, end, func(d *document) { all, read, last = append(all, *d), read+1, d.id }); err != nil {
			return nil, err
		}
		if read > 0 {
			bounds = append(bounds, idRange{first, last})
		}
		if read < loadSize {
			break
		}
	}
	slices.SortFunc(all, func(a, b document) int {
		return cmp.Or(cmp.Compare(a.starts, b.starts), cmp.Compare(a.id, b.id))
	})
	for i := range all {
		s.append(&all[i])
	}
	s.seal()
	all = nil
	for _, kind := range newScan(r.columns).links {
		if err := r.loadLinks(ctx, s, kind, bounds); err != nil {
			return nil, err
		}
	}
	s.termsOf = bySlot(s.links[calendar.Category], s.size())
	// Rows that were written during the load may be newer than s.revision.
	if s.changed.before, err = r.revision(ctx); err != nil {
		return nil, err
	}
	s.locate()
	return s, nil
}

// loadVocabulary reads the search texts of events and builds their vocabulary. The event ids[i] has the slot i. It
// reads the next batch of texts while it parses the current one.
func (r reader) loadVocabulary(ctx context.Context, ids []int64) (*vocabulary, error) {
	v := newVocabulary()
	group, ctx := errgroup.WithContext(ctx)
	parts := make(chan []slotTexts, 1)
	group.Go(func() error {
		defer close(parts)
		for part := range slices.Chunk(ids, partSize) {
			all := make([]slotTexts, len(part))
			at := make(map[int64]int, len(part))
			for i, id := range part {
				at[id] = i
			}
			err := r.texts(ctx, calendar.Event, part, func(event int64, t text) { all[at[event]] = append(all[at[event]], t) })
			if err != nil {
				return err
			}
			select {
			case parts <- all:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		slot := uint32(0)
		for part := range parts {
			for _, texts := range part {
				for _, t := range texts {
					v.add(slot, t.languages, t.text)
				}
				slot++
			}
		}
		return nil
	})
	err := group.Wait()
	v.pack()
	return v, err
}

// slotTexts are the search texts of the event in one slot.
type slotTexts []text
