package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// FindPublic returns the sorted ids of the records of a public query, for sitemaps. If the query has an upper
// bound, it also returns the revisions of their changes. For a category or tag query it returns the terms of both
// kinds, without revisions. If the error is ErrNotReady or query.ErrUnsupported, the caller must query the
// database.
func (x *Index) FindPublic(ctx context.Context, q query.Public) (query.Page, error) {
	if q.Kind != calendar.Event && !q.Kind.IsTerm() && !q.Kind.IsLinked() {
		return query.Page{}, fmt.Errorf("index: public records of kind %s: %w", q.Kind, query.ErrUnsupported)
	}
	s, err := x.upToDate(ctx, q.Revision)
	if err != nil {
		return query.Page{}, err
	}
	defer x.mu.RUnlock()
	asked := q.Events()
	listed, _ := s.find(asked, &x.pool)
	defer x.pool.give(listed)
	var out query.Page
	within := func(id int64) bool { return id > q.After && (q.UpTo == 0 || id <= q.UpTo) }
	switch {
	case q.Kind == calendar.Event:
		listed.each(0, s.size(), func(slot uint32) bool {
			if within(s.ids[slot]) {
				out.IDs = append(out.IDs, s.ids[slot])
			}
			return true
		})
	case q.Kind.IsTerm():
		for id, slots := range s.links[q.Kind] {
			if within(id) && slots.meets(listed) {
				out.IDs = append(out.IDs, id)
			}
		}
	default:
		of, visible := s.links[q.Kind], compileVisible(asked.Visible)
		for id, r := range s.records[q.Kind].byID {
			if within(id) && visible.sees(r, q.Now) && of.meets(id, listed) {
				out.IDs = append(out.IDs, id)
			}
		}
	}
	slices.Sort(out.IDs)
	out.Total = len(out.IDs)
	if q.Kind.IsTerm() || q.UpTo == 0 {
		return out, nil
	}
	out.Changed = make([]int64, len(out.IDs))
	for i, id := range out.IDs {
		out.Changed[i] = s.changedAt(query.Dependency{Kind: q.Kind, ID: id})
	}
	return out, nil
}
