package seed

import (
	"context"
	"fmt"
	"sync"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit/bulk"
)

// eventRange is a range of a calendar's events, ready to be written. It has the events from index from up to, but not
// including, to.
type eventRange struct {
	from, to     int
	found        map[int]int64 // ids of events that exist already, by index in the calendar
	prepared     *bulk.Batch
	translations int
	err          error
}

// events stores the events that are not stored yet. Several goroutines generate and prepare them. The calling
// goroutine writes them in the order of the calendar.
func (r *seedRun) events(ctx context.Context) error {
	n := r.cal.Len()
	r.eventIDs = make([]int64, n)
	first, err := r.findIDs(ctx, calendar.Event, r.firstSources())
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	look := len(first) > 0 // whether some events may exist already
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	// Each worker has a channel with room for one range, so that it is not far ahead of the writer. The
	// channels are in the order of the ranges.
	slots := make([]chan eventRange, r.Workers)
	for k := range slots {
		slots[k] = make(chan eventRange, 1)
		group.Go(func() {
			for from := k * batchSize; from < n; from += len(slots) * batchSize {
				p := r.prepare(ctx, from, min(from+batchSize, n), look)
				select {
				case slots[k] <- p:
				case <-ctx.Done():
					return
				}
				if p.err != nil {
					return
				}
			}
		})
	}
	for from, k := 0, 0; from < n; from, k = from+batchSize, (k+1)%len(slots) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var p eventRange
		select {
		case p = <-slots[k]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := r.writePart(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// firstSources returns the source ids of the first batchSize events of the calendar. If none of these is stored, no
// event is, because events are written in order.
func (r *seedRun) firstSources() []string {
	var out []string
	for i := range min(batchSize, r.cal.Len()) {
		out = append(out, r.Number.sourceID(r.cal.Event(i).SourceID))
	}
	return out
}

// prepare generates the events from index from up to, but not including, to. It does all work that is possible
// outside a transaction. If look is true, it looks up which events are already stored; otherwise it assumes that
// none is.
func (r *seedRun) prepare(ctx context.Context, from, to int, look bool) eventRange {
	p := eventRange{from: from, to: to}
	events := make([]bulk.Event, 0, to-from)
	parents := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		v := r.cal.Event(i)
		events = append(events, r.eventInput(&v))
		parents = append(parents, v.Parent)
	}
	if look {
		names := make([]string, len(events))
		for i := range events {
			names[i] = *events[i].SourceID
		}
		found, err := r.findIDs(ctx, calendar.Event, names)
		if err != nil {
			p.err = fmt.Errorf("event: %w", err)
			return p
		}
		p.found = make(map[int]int64, len(found))
		for i, name := range names {
			if id, ok := found[name]; ok {
				p.found[from+i] = id
			}
		}
	}
	// Indexes of new events in the batch, by index in the calendar.
	at := make(map[int]int, len(events))
	fresh := events[:0]
	for i, v := range events {
		if _, ok := p.found[from+i]; ok {
			continue
		}
		if parent := parents[i]; parent >= 0 {
			v.Parent = func(batch []int64) int64 {
				if k, ok := at[parent]; ok {
					return batch[k]
				}
				return r.eventIDs[parent]
			}
		}
		at[from+i] = len(fresh)
		p.translations += len(v.Texts)
		fresh = append(fresh, v)
	}
	p.prepared, p.err = r.loader.Events(fresh)
	return p
}

// writePart stores those events of a range that are not stored yet.
func (r *seedRun) writePart(ctx context.Context, p eventRange) error {
	for i, id := range p.found {
		r.eventIDs[i] = id
	}
	ids, err := r.loader.Write(context.WithoutCancel(ctx), p.prepared)
	if err != nil {
		return err
	}
	next := 0
	for i := p.from; i < p.to; i++ {
		if _, ok := p.found[i]; !ok {
			r.eventIDs[i] = ids[next]
			next++
		}
	}
	r.summary.Created[calendar.Event] += len(ids)
	r.summary.Found[calendar.Event] += len(p.found)
	r.summary.Translations += p.translations
	if r.Progress != nil {
		r.Progress(p.to, r.cal.Len())
	}
	return nil
}
