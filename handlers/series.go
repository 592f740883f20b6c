package handlers

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/search"
)

// seriesQuery is the input of GET /series.
type seriesQuery struct {
	read.Paging
	Search *string
	Status []calendar.Status

	text search.Query // parsed form of Search
}

func (r *request) declareSeriesQuery(p *param.Set, q *seriesQuery) {
	r.DeclarePaging(p, &q.Paging, "Series", r.LargestPage())
	read.DeclareSearch(p, &q.Search, "Text in title, excerpt or description", func(text string) (ok bool) {
		q.text, ok = search.ParseEvents(text)
		return ok
	})
	r.DeclareStatuses(p, &q.Status)
	read.DeclareLanguage(p)
}

// listSeries answers GET /series. Its cached reply expires at each revision, because the numbers of occurrences
// change with events (decision 032).
func (r *request) listSeries(q *seriesQuery) (*endpoint.Reply, error) {
	page, err := q.find(r)
	if err != nil {
		return nil, err
	}
	rows, err := r.SeriesRows(page.IDs)
	if err != nil {
		return nil, err
	}
	shown, err := r.RepresentSeries(rows)
	if err != nil {
		return nil, err
	}
	items, err := endpoint.EncodeAll(r.Request, shown)
	if err != nil {
		return nil, err
	}
	return r.ListReply(calendar.Series, q.Paging, items, page.Total)
}

// find returns the ids of the series on the page, and the number on all pages. The index in memory finds them,
// or the database if the index cannot answer.
func (q *seriesQuery) find(r *request) (query.Page, error) {
	list := &query.SeriesList{
		Now: r.Now, Language: r.Language, Visible: read.VisibleTo(r.Caller, q.Status), Readable: r.ReadableEvents(nil),
	}
	if q.Search != nil {
		list.Search = &q.text
	}
	offset, limit := q.Span()
	return read.ByIndex(r.Reader, func(x *index.Index, revision int64) (query.Page, error) {
		list.Revision = revision
		return x.FindSeries(r.Ctx, list, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindSeries(r.Ctx, list, offset, limit) })
}

// getSeries answers GET of one series, by id or slug.
func (r *request) getSeries(q *target) (*endpoint.Reply, error) {
	s, err := r.findSeries(q)
	if err != nil {
		return nil, err
	}
	status := s.Status.Shown(r.Now, s.PublishedAt)
	switch {
	case status == calendar.Trash:
		return nil, &calendar.Error{Code: "series-no-longer-available", Key: "series-no-longer-available"}
	case !auth.May(r.Caller, auth.Read, auth.RecordOf(calendar.Series, s.AuthorID, status, "")):
		return nil, notAccessible(calendar.Series)
	}
	e, err := read.SeriesEvent(s)
	if err != nil {
		return nil, err
	}
	r.SetPassword(q.Password)
	if err := r.TryPassword(e); err != nil {
		return nil, err
	}
	if r.IsProtected(e) {
		return nil, &calendar.Error{Code: "series-password-protected", Key: "series-password-protected"}
	}
	return r.seriesReply(s)
}

// findSeries loads the series that a path names.
func (r *request) findSeries(q *target) (*ent.Series, error) {
	id, _, err := r.resolve(calendar.Series, q)
	if err != nil {
		return nil, err
	}
	rows, err := r.SeriesRows([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, noSeries()
	}
	return rows[0], nil
}

func noSeries() error { return &calendar.Error{Code: "series-not-found", Key: "series-not-found"} }

func (r *request) seriesReply(s *ent.Series) (*endpoint.Reply, error) {
	shown, err := r.RepresentSeries([]*ent.Series{s})
	if err != nil {
		return nil, err
	}
	e, err := read.SeriesEvent(s)
	if err != nil {
		return nil, err
	}
	_, version := r.View().LastWrite(e.Core(), edit.HasPassword(e) && !r.IsProtected(e))
	return &endpoint.Reply{Status: 200, Body: shown[0], Version: version}, nil
}

// writtenSeries returns the reply to a write: the series as the caller sees it.
func (r *request) writtenSeries(id int64) (*endpoint.Reply, error) {
	s, err := r.findSeries(&target{ID: id})
	if err != nil {
		return nil, err
	}
	return r.seriesReply(s)
}
