package feeds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
)

// news is a feed of new and changed events.
type news struct {
	about   *feed.Feed
	entries []feed.Entry
}

// listNews returns the handler of the feed of new and changed events at a path.
func listNews(path string) func(*request, *feedQuery) (*endpoint.Reply, error) {
	return func(r *request, q *feedQuery) (*endpoint.Reply, error) { return r.listNews(q, path) }
}

func (r *request) listNews(q *feedQuery, path string) (*endpoint.Reply, error) {
	e, err := q.periodOf(r)
	if err != nil {
		return nil, err
	}
	ending, deleted := !q.asksForDates(), *e
	if ending {
		e.Window.EndMin = new(r.Now.Add(time.Second))
	}
	if e.Series.IDs == nil && !e.Series.None {
		e.Series.First = true
	}
	latest, err := r.latestEvents(e)
	if err != nil {
		return nil, fmt.Errorf("latest events: %w", err)
	}
	// When an event ends, it leaves the list. If it belongs to a series, the next occurrence may take its place.
	if ending && !latest.Next.IsZero() {
		r.ExpireBy(latest.Next)
	}
	out := &news{}
	if out.entries, err = r.latestEntries(latest); err != nil {
		return nil, err
	}
	if path == eventsAtom {
		withdrawn, err := r.findWithdrawn(&deleted, query.WithdrawnPart{Upcoming: ending, Limit: newsSize})
		if err != nil {
			return nil, err
		}
		gone, err := r.withdrawnEntries(withdrawn...)
		if err != nil {
			return nil, err
		}
		out.entries = append(out.entries, gone...)
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

// latestEvents finds the most recently changed events among those that q selects.
func (r *request) latestEvents(q *query.Events) (query.Latest, error) {
	return read.ByIndex(r.Reader, func(x *index.Index, revision int64) (query.Latest, error) {
		q.Revision = revision
		latest, err := x.LatestEvents(r.Ctx, q, nil, newsSize)
		if err != nil || latest.Since.IsZero() {
			return latest, err
		}
		terms, err := query.Database{Ent: r.DB}.NewerTerms(r.Ctx, latest.Since, r.Now)
		if err != nil || terms == nil {
			return latest, err
		}
		return x.LatestEvents(r.Ctx, q, terms, newsSize)
	}, func(db query.Database) (query.Latest, error) {
		page, err := db.FindEvents(r.Ctx, q, 0, query.FewEvents)
		if err != nil {
			return query.Latest{}, fmt.Errorf("events: %w", err)
		}
		if page.Total == 0 {
			page.IDs = []int64{}
		} else if page.Total > query.FewEvents {
			page.IDs = nil
		}
		return db.LatestEvents(r.Ctx, q, page.IDs, newsSize)
	})
}

// latestEntries returns the entries of the given events, newest change first, as many as a feed has. Entries come
// from the record cache or from the events' rows. It keeps only these entries and one batch in memory.
func (r *request) latestEntries(latest query.Latest) ([]feed.Entry, error) {
	list := r.entryRenderer(func(one *feedEvent) any { return &one.entry })
	list.Media, list.Encode = entryCodec.MediaType, entryCodec.EncodeRecord // the three formats share their entries
	var out []feed.Entry
	for first := 0; first < len(latest.IDs); first += ent.MaxRead {
		page := query.Page{IDs: latest.IDs[first:min(first+ent.MaxRead, len(latest.IDs))]}
		if latest.Changed != nil {
			page.Changed = latest.Changed[first:][:len(page.IDs)]
		}
		bodies, err := reply.Render(r.Ctx, r.Rendering(), page, list)
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
