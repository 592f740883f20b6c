package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/search"
)

// linkedTables are the tables of venues and of organizers.
var linkedTables = map[calendar.Kind]string{calendar.Venue: "venues", calendar.Organizer: "organizers"}

// record is what the index knows of a venue or an organizer.
type record struct {
	id, published, author int64 // published in seconds since 1970; author 0: nobody
	status                calendar.Status
	texts                 []text
}

// records are the venues, or the organizers.
type records struct {
	byID    map[int64]*record
	ordered []*record // newest first, as lists are
}

func newest(a, b *record) int {
	return cmp.Or(cmp.Compare(b.published, a.published), cmp.Compare(b.id, a.id))
}

func (rs *records) fill(all map[int64]*record) {
	rs.byID = all
	rs.ordered = make([]*record, 0, len(all))
	for _, r := range all {
		rs.ordered = append(rs.ordered, r)
	}
	slices.SortFunc(rs.ordered, newest)
}

// put takes over what became of a record; nil if it is gone.
func (rs *records) put(id int64, now *record) {
	if before := rs.byID[id]; before != nil {
		at, _ := slices.BinarySearchFunc(rs.ordered, before, newest)
		rs.ordered = slices.Delete(rs.ordered, at, at+1)
		delete(rs.byID, id)
	}
	if now != nil {
		at, _ := slices.BinarySearchFunc(rs.ordered, now, newest)
		rs.ordered = slices.Insert(rs.ordered, at, now)
		rs.byID[id] = now
	}
}

// records reads the venues or organizers, those with some ids or all for nil.
func (r reader) records(ctx context.Context, kind calendar.Kind, ids []int64) (map[int64]*record, error) {
	out := make(map[int64]*record)
	where, owners := "", ""
	if ids != nil {
		if len(ids) == 0 {
			return out, nil
		}
		where, owners = " WHERE id IN "+list(ids), " AND owner_id IN "+list(ids)
	}
	err := r.rows(ctx, "SELECT id, status, published_at, author_id FROM "+linkedTables[kind]+where, func(rows *sql.Rows) error {
		var is record
		var published time.Time
		var author sql.NullInt64
		if err := rows.Scan(&is.id, &is.status, &published, &author); err != nil {
			return err
		}
		is.published, is.author = published.Unix(), author.Int64
		out[is.id] = &is
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", linkedTables[kind], err)
	}
	err = r.rows(ctx, "SELECT owner_id, languages, text FROM search_texts WHERE kind = '"+string(kind)+"'"+owners,
		func(rows *sql.Rows) error {
			var id int64
			var t text
			if err := rows.Scan(&id, &t.languages, &t.text); err != nil {
				return err
			}
			if is := out[id]; is != nil {
				is.texts = append(is.texts, t)
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("search texts of %s: %w", linkedTables[kind], err)
	}
	return out, nil
}

// LinkedFilter is what a list of venues or organizers is restricted to.
type LinkedFilter struct {
	Since   int64 // as that of Filter
	Now     time.Time
	Visible Visible
	// HasEvents is whether there are events that are published, scheduled or private; Upcoming, that some that may
	// be seen as Events says start at Now or later.
	HasEvents *bool
	Upcoming  bool
	Events    Visible
	// Pieces are folded; one text served in the language has to hold them all.
	Pieces   []string
	Language calendar.Language
}

// FindLinked returns a page of the venues or organizers that a filter selects, newest first. The error is ErrNotReady
// when the database has to be asked.
func (x *Index) FindLinked(ctx context.Context, kind calendar.Kind, f *LinkedFilter, offset, limit int) (Found, error) {
	s, err := x.fresh(ctx, f.Since)
	if err != nil {
		return Found{}, err
	}
	defer x.mu.RUnlock()
	of := s.venues
	if kind == calendar.Organizer {
		of = s.organizers
	}
	var counted, upcoming set
	if f.HasEvents != nil {
		counted = x.pool.take(s.size())
		defer x.pool.give(counted)
		for i, status := range calendar.Statuses {
			if status == calendar.Publish || status == calendar.Future || status == calendar.Private {
				counted.or(s.statuses[i])
			}
		}
	}
	if f.Upcoming {
		upcoming, _ = s.find(&Filter{Now: f.Now, Visible: f.Events, Hidden: true, Window: Window{StartMin: &f.Now}}, &x.pool)
		defer x.pool.give(upcoming)
	}
	var out Found
	for _, r := range s.records[kind].ordered {
		switch {
		case !f.Visible.sees(r, f.Now),
			f.HasEvents != nil && of.meets(r.id, counted) != *f.HasEvents,
			f.Upcoming && !of.meets(r.id, upcoming),
			f.Pieces != nil && !r.holds(f.Pieces, uint8(f.Language.Bit())):
			continue
		}
		if out.Total >= offset && len(out.IDs) < limit {
			out.IDs = append(out.IDs, r.id)
		}
		out.Total++
	}
	return out, nil
}

func (v Visible) sees(r *record, now time.Time) bool {
	status := r.status
	if status == calendar.Future && r.published <= now.Unix() {
		status = calendar.Publish
	}
	return slices.Contains(v.Anyone, status) || r.author == v.Author && r.author != 0 && slices.Contains(v.Own, status)
}

// holds reports whether a text served in a language holds all pieces.
func (r *record) holds(pieces []string, language uint8) bool {
	for _, t := range r.texts {
		if t.languages&language != 0 && search.MatchLinked(pieces, t.text) {
			return true
		}
	}
	return false
}

// meets reports whether a value has a slot in a set.
func (ps postings) meets(value int64, in set) bool {
	p := ps[value]
	return p != nil && p.meets(in)
}
