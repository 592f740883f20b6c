package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/query"
)

// seriesData has the properties that a series has in addition to those of other records.
type seriesData struct {
	hidden, protected bool
	draft             bool     // draft or pending, or trashed from one of these
	titles            []string // sort keys of the title, by index into calendar.Languages
}

// titleColumns are the columns with the sort keys of the title, by index into calendar.Languages.
var titleColumns = []string{series.FieldSortEn, series.FieldSortPl, series.FieldSortEs}

// titleKey returns a stored sort key as a string to compare. Both databases compare keys byte by byte, and sort a
// missing key before an empty one. So do the results of titleKey.
func titleKey(stored sql.NullString) string {
	if !stored.Valid {
		return ""
	}
	return "=" + stored.String
}

// seriesOrders returns the orders of lists of series, by index into calendar.Languages. Lists are sorted by title, then id.
func seriesOrders() []func(a, b *record) int {
	orders := make([]func(a, b *record) int, len(calendar.Languages))
	for i := range orders {
		orders[i] = func(a, b *record) int {
			return cmp.Or(cmp.Compare(a.series.titles[i], b.series.titles[i]), cmp.Compare(a.id, b.id))
		}
	}
	return orders
}

// seriesRecords adds the series that a WHERE clause selects to a map by id.
func (r reader) seriesRecords(ctx context.Context, _ calendar.Kind, where string, to map[int64]*record) error {
	var is record
	var data seriesData
	var status, before sql.RawBytes
	var published time.Time
	var author sql.NullInt64
	titles := make([]sql.NullString, len(titleColumns))
	fields := []field{
		{series.FieldID, &is.id},
		{series.FieldStatus, &status},
		{series.FieldStatusBeforeTrash, &before},
		{series.FieldPublishedAt, &published},
		{series.FieldAuthorID, &author},
		{series.FieldHideFromListings, &data.hidden},
		{series.FieldProtected, &data.protected},
	}
	for i, name := range titleColumns {
		fields = append(fields, field{name, &titles[i]})
	}
	return r.rows(ctx, series.Table, fields, where, func() (err error) {
		is, data := is, data
		if is.status, err = statusNumber(status); err != nil {
			return fmt.Errorf("%d %w", is.id, err)
		}
		if is.status == statusTrash {
			status = before
		}
		data.draft = isDraft(status)
		for _, title := range titles {
			data.titles = append(data.titles, titleKey(title))
		}
		is.published, is.author, is.series = published.Unix(), author.Int64, &data
		to[is.id] = &is
		return nil
	})
}

// FindSeries returns a page of up to limit series after the first offset ones, and the length of the whole list. If the
// error is ErrNotReady, the caller must query the database.
func (x *Index) FindSeries(ctx context.Context, q *query.SeriesList, offset, limit int) (query.Page, error) {
	s, err := x.upToDate(ctx, q.Revision)
	if err != nil {
		return query.Page{}, err
	}
	defer x.mu.RUnlock()
	all := s.records[calendar.Series]
	matches := func(*record) bool { return true }
	if q.Search != nil {
		var pieces []string
		for _, t := range q.Search.Terms {
			if !t.Exclude {
				pieces = append(pieces, t.Text)
			}
		}
		candidates := all.candidates(pieces, q.Language, &x.pool)
		defer x.pool.give(candidates)
		matches = func(r *record) bool {
			return candidates.has(r.slot) && r.isReadable(q.Readable) &&
				r.matchesText(q.Language, func(text string) bool { return q.Search.Match(text) })
		}
	}
	visible, order := compileVisible(q.Visible), all.orders[slices.Index(calendar.Languages, q.Language)]
	page := s.pageOfRecords(order.records, offset, limit, func(r *record) bool {
		return !r.series.hidden && visible.sees(r, q.Now) && matches(r)
	})
	page.Changed = nil // a series also shows records that its template names, and the index does not know them
	return page, nil
}

// isReadable reports whether a series has no password, or the caller may read it nevertheless.
func (r *record) isReadable(may query.Readable) bool {
	return may.All || !r.series.protected || slices.Contains(may.IDs, r.id) ||
		may.Author != 0 && r.author == may.Author && (r.series.draft || !may.DraftsOnly)
}

// CountOccurrences returns, from memory, the counts of query.Database.CountOccurrences. It first applies all changes
// up to the given revision; 0 means the newest. If the error is ErrNotReady, the caller must query the database.
func (x *Index) CountOccurrences(
	ctx context.Context, ids []int64, seen query.Visible, now time.Time, revision int64,
) (map[int64]query.Occurrences, error) {
	s, err := x.upToDate(ctx, revision)
	if err != nil {
		return nil, err
	}
	defer x.mu.RUnlock()
	published := x.pool.take(s.size())
	defer x.pool.give(published)
	s.withStatus(published, []calendar.Status{calendar.Publish}, now)
	listed := s.visible(&query.Events{Now: now, Visible: seen}, &x.pool)
	defer x.pool.give(listed)
	listed.without(s.hidden)
	out := make(map[int64]query.Occurrences, len(ids))
	for _, id := range ids {
		slots := s.series[id]
		if slots == nil {
			continue
		}
		var o query.Occurrences
		var next uint32
		for slot := range slots.all() {
			if published.has(slot) {
				o.Published++
			}
			if listed.has(slot) && s.starts[slot] > now.Unix() && (o.Next == nil || s.compare(slot, next) < 0) {
				next, o.Next = slot, &ent.Event{ID: s.ids[slot], SeriesID: &id, StartsAt: time.Unix(s.starts[slot], 0).UTC()}
			}
		}
		out[id] = o
	}
	return out, nil
}
