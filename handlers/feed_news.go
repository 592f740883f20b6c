package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/query"
)

// news is a feed of new and changed events.
type news struct {
	about   *feed.Feed
	entries []feed.Entry
}

// listNews returns the handler of the feed of new and changed events at a path.
func listNews(path string) func(*request, *feedQuery) (*reply, error) {
	return func(r *request, q *feedQuery) (*reply, error) { return r.listNews(q, path) }
}

func (r *request) listNews(q *feedQuery, path string) (*reply, error) {
	e, err := q.periodOf(r)
	if err != nil {
		return nil, err
	}
	ending, deleted := !q.asksForDates(), *e
	if ending {
		e.Window.EndMin = new(r.now.Add(time.Second))
	}
	if e.Series.IDs == nil && !e.Series.None {
		e.Series.First = true
	}
	page, err := r.findEvents(e, 0, query.FewEvents)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if page.Total == 0 {
		page.IDs = []int64{}
	} else if page.Total > query.FewEvents {
		page.IDs = nil
	}
	// When an event ends, it leaves the list. If it belongs to a series, the next occurrence may take its place.
	ids, next, err := query.Database{Ent: r.db}.LatestEvents(r.ctx, e, page.IDs, newsSize)
	if err != nil {
		return nil, fmt.Errorf("latest events: %w", err)
	}
	if ending && !next.IsZero() {
		r.expireBy(next)
	}
	out := &news{}
	if out.entries, err = r.latestEntries(ids, e.Revision); err != nil {
		return nil, err
	}
	if path == eventsAtom {
		withdrawn, err := r.findWithdrawn(&deleted, query.WithdrawnPart{Upcoming: ending, Limit: newsSize})
		if err != nil {
			return nil, err
		}
		for _, w := range withdrawn {
			entry, err := r.withdrawnEntry(w)
			if err != nil {
				return nil, err
			}
			out.entries = append(out.entries, entry)
		}
	}
	var last time.Time
	if !q.moves && !ending { // the date is unknown when events have left the list
		stamps := make([]time.Time, len(out.entries))
		for i := range out.entries {
			stamps[i] = out.entries[i].Stamp
		}
		if last, err = r.lastModified(stamps...); err != nil {
			return nil, err
		}
	}
	if out.about, err = r.describeFeed(q, path, 1); err != nil {
		return nil, err
	}
	return r.feedReply(out, last, "inline", ""), nil
}

// latestEntries returns those of the given events that changed last, newest first. Entries come from the record cache or from
// their rows. Revision is that of query.Events. In memory it keeps only these entries and one batch.
func (r *request) latestEntries(ids []int64, revision int64) ([]feed.Entry, error) {
	changed, err := r.changedEvents(ids, revision)
	if err != nil {
		return nil, err
	}
	r.codec = entryCodec // the three formats share their entries
	var out []feed.Entry
	for first := 0; first < len(ids); first += ent.MaxRead {
		page := query.Page{IDs: ids[first:min(first+ent.MaxRead, len(ids))]}
		if changed != nil {
			page.Changed = changed[first:][:len(page.IDs)]
		}
		bodies, err := renderRecords(r, page, r.entryRenderer(func(one *feedEvent) any { return &one.entry }))
		if err != nil {
			return nil, err
		}
		for _, body := range bodies {
			one, err := decodeEntry(body)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		slices.SortFunc(out, func(a, b feed.Entry) int { return cmp.Or(b.Stamp.Compare(a.Stamp), cmp.Compare(b.ID, a.ID)) })
		out = slices.Clip(slices.Delete(out, min(len(out), newsSize), len(out)))
	}
	return out, nil
}

// changedEvents returns query.Page.Changed for events. It returns nil if the index does not know it.
func (r *request) changedEvents(ids []int64, revision int64) ([]int64, error) {
	if r.h.Index == nil || r.h.RecordCache == nil || len(ids) == 0 {
		return nil, nil
	}
	changed, err := r.h.Index.ChangedEvents(r.ctx, revision, ids)
	if r.needsDatabase(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("changes of events: %w", err)
	}
	return changed, nil
}
