package handlers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
)

// seriesQuery is the input of GET /series.
type seriesQuery struct {
	paging
	Search *string
	Status []calendar.Status

	text search.Query // parsed form of Search
}

func (r *request) declareSeriesQuery(p *param.Set, q *seriesQuery) {
	r.declarePaging(p, &q.paging, "Series")
	declareSearch(p, &q.Search, "Text in title, excerpt or description", func(text string) (ok bool) {
		q.text, ok = search.ParseEvents(text)
		return ok
	})
	r.declareStatuses(p, &q.Status)
	r.declareLanguage(p)
}

// listSeries answers GET /series. Its cached reply expires at each revision, because the numbers of occurrences
// change with events (decision 032).
func (r *request) listSeries(q *seriesQuery) (*reply, error) {
	page, err := q.find(r)
	if err != nil {
		return nil, err
	}
	rows, err := r.seriesRows(page.IDs)
	if err != nil {
		return nil, err
	}
	shown, err := r.representSeries(rows)
	if err != nil {
		return nil, err
	}
	items, err := encodeAll(r, shown)
	if err != nil {
		return nil, err
	}
	return r.listReply(calendar.Series, q.paging, items, page.Total)
}

// find returns the ids of the series on the page, and the number on all pages. It asks the index, or the database if the
// index cannot answer.
func (q *seriesQuery) find(r *request) (query.Page, error) {
	list := &query.SeriesList{
		Now: r.now, Language: r.lang, Visible: visibleTo(r.caller, q.Status), Readable: r.readableEvents(nil),
	}
	if q.Search != nil {
		list.Search = &q.text
	}
	offset, limit := q.span()
	return byIndex(r, func(x *index.Index, revision int64) (query.Page, error) {
		list.Revision = revision
		return x.FindSeries(r.ctx, list, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindSeries(r.ctx, list, offset, limit) })
}

func (r *request) declareSeriesByID(p *param.Set, q *target) {
	p.PathID(&q.ID, "id", "ID of the series")
	p.OptString(&q.Password, "password", "Access password of the series")
	r.declareLanguage(p)
}

func (r *request) declareSeriesBySlug(p *param.Set, q *target) {
	p.PathString(&q.Slug, "slug", "Slug of the series")
	// The password is accepted for a slug as well, but not published.
	p.OptString(&q.Password, "password", "Access password of the series").Hide()
	r.declareLanguage(p)
}

// getSeries answers GET of one series, by id or slug.
func (r *request) getSeries(q *target) (*reply, error) {
	s, err := r.findSeries(q)
	if err != nil {
		return nil, err
	}
	status := s.Status.Shown(r.now, s.PublishedAt)
	switch {
	case status == calendar.Trash:
		return nil, &calendar.Error{Code: "series-no-longer-available", Key: "series-no-longer-available"}
	case !auth.May(r.caller, auth.Read, auth.RecordOf(calendar.Series, s.AuthorID, status, "")):
		return nil, notAccessible(calendar.Series)
	}
	e, err := seriesEvent(s)
	if err != nil {
		return nil, err
	}
	r.setPassword(q.Password)
	if err := r.tryPassword(e); err != nil {
		return nil, err
	}
	if r.isProtected(e) {
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
	rows, err := r.seriesRows([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, noSeries()
	}
	return rows[0], nil
}

func noSeries() error { return &calendar.Error{Code: "series-not-found", Key: "series-not-found"} }

func (r *request) seriesReply(s *ent.Series) (*reply, error) {
	shown, err := r.representSeries([]*ent.Series{s})
	if err != nil {
		return nil, err
	}
	e, err := seriesEvent(s)
	if err != nil {
		return nil, err
	}
	_, version := r.view().LastWrite(e.Core(), edit.HasPassword(e) && !r.isProtected(e))
	return &reply{status: 200, body: shown[0], version: version}, nil
}

// seriesRows loads series with their phases, in the order of the ids. It leaves out series that do not exist.
func (r *request) seriesRows(ids []int64) ([]*ent.Series, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := r.db.Series.Query().Where(entseries.IDIn(ids...)).
		WithPhases(func(q *ent.SeriesPhaseQuery) { q.Order(seriesphase.ByPosition()) }).All(r.ctx)
	if err != nil {
		return nil, err
	}
	// A series that is deleted while it is read has lost its phases.
	rows = slices.DeleteFunc(rows, func(s *ent.Series) bool { return len(s.Edges.Phases) == 0 })
	slices.SortFunc(rows, func(a, b *ent.Series) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return rows, nil
}

// seriesEvent returns the event that the last phase of a series describes (series.EventOf).
func seriesEvent(s *ent.Series) (*ent.Event, error) {
	last := s.Edges.Phases[len(s.Edges.Phases)-1]
	schedule, err := edit.ScheduleOf(last)
	if err != nil {
		return nil, err
	}
	template, err := ent.DecodeTemplate(last.Template)
	if err != nil {
		return nil, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	return series.EventOf(s, schedule, template), nil
}

// representSeries returns the representations of series with their phases. The number of SQL statements is the
// same for any number of series.
func (r *request) representSeries(rows []*ent.Series) ([]*represent.Series, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	events := make([]*ent.Event, len(rows))
	loaded := make([]*represent.LoadedSeries, len(rows))
	ids := make([]int64, len(rows))
	for i, s := range rows {
		e, err := seriesEvent(s)
		if err != nil {
			return nil, err
		}
		ids[i], events[i] = s.ID, e
		loaded[i] = &represent.LoadedSeries{Event: e, GeneratedUntil: s.GeneratedUntil, Redacted: r.isProtected(e)}
		for _, phase := range s.Edges.Phases {
			schedule, err := edit.ScheduleOf(phase)
			if err != nil {
				return nil, err
			}
			loaded[i].Schedules = append(loaded[i].Schedules, schedule)
		}
	}
	if err := r.readTemplateLinks(events); err != nil {
		return nil, err
	}
	occurrences, err := r.countOccurrences(ids)
	if err != nil {
		return nil, err
	}
	v := r.view()
	out := make([]*represent.Series, len(rows))
	for i, s := range loaded {
		o := occurrences[ids[i]]
		s.Published = o.Published
		if o.Next != nil {
			s.Next = o.Next.ID
			r.expireBy(o.Next.StartsAt)
		}
		out[i] = v.Series(s)
	}
	return out, nil
}

// countOccurrences returns the data of series that depends on their occurrences. It asks the index, or the database if the
// index cannot answer.
func (r *request) countOccurrences(ids []int64) (map[int64]query.Occurrences, error) {
	seen := visibleTo(r.caller, nil)
	return byIndex(r, func(x *index.Index, revision int64) (map[int64]query.Occurrences, error) {
		return x.CountOccurrences(r.ctx, ids, seen, r.now, revision)
	}, func(db query.Database) (map[int64]query.Occurrences, error) {
		return db.CountOccurrences(r.ctx, ids, seen, r.now)
	})
}

// readTemplateLinks loads what the events of series are linked to. Before, their edges have the ids alone.
func (r *request) readTemplateLinks(events []*ent.Event) error {
	var images, venues, organizers, terms []int64
	for _, t := range events {
		if t.ImageID != nil {
			images = append(images, *t.ImageID)
		}
		venues, organizers = append(venues, t.VenueIDs()...), append(organizers, t.OrganizerIDs()...)
		terms = append(terms, termIDs(t)...)
	}
	imageByID, err := readUnique(images, func(row *ent.Image) int64 { return row.ID }, func(ids []int64) ([]*ent.Image, error) {
		return r.db.Image.Query().Where(image.IDIn(ids...)).All(r.ctx)
	})
	if err != nil {
		return err
	}
	venueByID, err := readUnique(venues, func(row *ent.Venue) int64 { return row.ID }, func(ids []int64) ([]*ent.Venue, error) {
		return r.db.Venue.Query().Where(venue.IDIn(ids...)).WithImage().All(r.ctx)
	})
	if err != nil {
		return err
	}
	idOfOrganizer := func(row *ent.Organizer) int64 { return row.ID }
	organizerByID, err := readUnique(organizers, idOfOrganizer, func(ids []int64) ([]*ent.Organizer, error) {
		return r.db.Organizer.Query().Where(organizer.IDIn(ids...)).WithImage().All(r.ctx)
	})
	if err != nil {
		return err
	}
	termByID, err := readUnique(terms, func(row *ent.Term) int64 { return row.ID }, func(ids []int64) ([]*ent.Term, error) {
		return r.db.Term.Query().Where(term.IDIn(ids...)).All(r.ctx)
	})
	if err != nil {
		return err
	}
	var page ent.Page
	for _, t := range events {
		if t.ImageID != nil {
			t.Edges.Image = imageByID[*t.ImageID]
		}
		t.Edges.Venues, t.Edges.Organizers = recordsByIDs(venueByID, t.VenueIDs()), recordsByIDs(organizerByID, t.OrganizerIDs())
		t.Edges.Terms = recordsByIDs(termByID, termIDs(t))
	}
	for _, row := range venueByID {
		page.Venues = append(page.Venues, row)
	}
	for _, row := range organizerByID {
		page.Organizers = append(page.Organizers, row)
	}
	for _, row := range termByID {
		page.Terms = append(page.Terms, row)
	}
	return r.translate(page)
}

// termIDs returns the ids of the terms of an event, categories first.
func termIDs(e *ent.Event) []int64 {
	return append(e.TermIDs(calendar.Category), e.TermIDs(calendar.Tag)...)
}

// maxLinksRead is the largest number of records that one SQL statement reads.
const maxLinksRead = 500

// readUnique loads records by id. It loads each record once, even if ids has its id several times.
func readUnique[R any](ids []int64, idOf func(R) int64, find func(ids []int64) ([]R, error)) (map[int64]R, error) {
	slices.Sort(ids)
	out := make(map[int64]R, len(ids))
	for part := range slices.Chunk(slices.Compact(ids), maxLinksRead) {
		rows, err := find(part)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[idOf(row)] = row
		}
	}
	return out, nil
}

// recordsByIDs returns the records with the given ids, in the order of ids. It leaves out ids without a record.
func recordsByIDs[R any](byID map[int64]R, ids []int64) []R {
	out := make([]R, 0, len(ids))
	for _, id := range ids {
		if row, ok := byID[id]; ok {
			out = append(out, row)
		}
	}
	return out
}

func (r *request) declareSeriesUpdate(p *param.Set, in *eventInput) {
	in.series = true
	p.PathID(&in.ID, "id", "ID of the series")
	r.declareEvent(fields{p: p, r: r}, in)
}

func (r *request) declareSeriesUpdateBySlug(p *param.Set, in *eventInput) {
	in.series = true
	// the slug in the path is optional here, because it is also a field of the series
	p.PathString(&in.target.Slug, "slug", "Slug of the series").Optional()
	r.declareEvent(fields{p: p, r: r}, in)
}

func (r *request) declareSeriesDelete(p *param.Set, in *eventInput) {
	in.series = true
	p.PathID(&in.ID, "id", "ID of the series")
	r.declareScope(p, in)
	r.declareLanguage(p)
}

func (r *request) declareSeriesDeleteBySlug(p *param.Set, in *eventInput) {
	in.series = true
	p.PathString(&in.target.Slug, "slug", "Slug of the series")
	r.declareScope(p, in)
	r.declareLanguage(p)
}

// findSeriesEvent returns the event that the last phase of a series describes.
func (r *request) findSeriesEvent(q *target) (*ent.Event, error) {
	s, err := r.findSeries(q)
	if err != nil {
		return nil, err
	}
	e, err := seriesEvent(s)
	if err != nil {
		return nil, err
	}
	e.SeriesID = &s.ID
	return e, nil
}

// updateSeries answers POST, PUT and PATCH of one series.
func (r *request) updateSeries(in *eventInput) (*reply, error) {
	s, err := r.seriesForWrite(&in.target, auth.Edit)
	if err != nil {
		return nil, err
	}
	if err := r.resolvePictures(in); err != nil {
		return nil, err
	}
	if err := r.waitForSeries(); err != nil { // it sanitises before in is copied
		return nil, err
	}
	for {
		err := r.writeOverSeries(s, in.EventInput)
		if err == nil {
			break
		}
		if !errors.Is(err, errOutdated) {
			return nil, err
		}
		if s, err = r.seriesForWrite(&target{ID: s.ID}, auth.Edit); err != nil {
			return nil, err
		}
	}
	return r.writtenSeries(s.ID)
}

// writeOverSeries stores an update of the series s. It returns errOutdated and stores nothing if s was changed
// meanwhile.
func (r *request) writeOverSeries(s *ent.Series, in edit.EventInput) error {
	if err := r.omitStoredOfSeries(s, &in); err != nil {
		return err
	}
	return r.change(&s.ID, func(tx *entTx, e *edit.Editor) error {
		row, err := edit.LockSeries(r.ctx, tx, s.ID)
		if ent.IsNotFound(err) || err == nil && row.Version != s.Version {
			return errOutdated
		}
		if err != nil {
			return err
		}
		return series.Update(r.ctx, tx, e, s.ID, &in)
	})
}

// deleteSeries answers DELETE of one series. It moves the series and its occurrences to the trash.
func (r *request) deleteSeries(in *eventInput) (*reply, error) {
	s, err := r.seriesForWrite(&in.target, auth.Delete)
	if err != nil {
		return nil, err
	}
	if err := r.waitForSeries(); err != nil {
		return nil, err
	}
	err = r.change(&s.ID, func(tx *entTx, e *edit.Editor) error { return series.Trash(r.ctx, tx, e, s.ID) })
	if ent.IsNotFound(err) {
		return nil, noSeries()
	}
	if err != nil {
		return nil, err
	}
	return r.writtenSeries(s.ID)
}

// seriesForWrite finds the series of an update or delete, and checks that the caller may do that.
func (r *request) seriesForWrite(q *target, op auth.Operation) (*ent.Series, error) {
	s, err := r.findSeries(q)
	var unknown *calendar.Error
	if errors.As(err, &unknown) && !auth.May(r.caller, auth.Create, auth.Record{Kind: calendar.Series}) {
		return nil, edit.Forbidden()
	}
	if err != nil {
		return nil, err
	}
	status := s.Status.Shown(r.now, s.PublishedAt)
	if !r.mayWrite(op, auth.RecordOf(calendar.Series, s.AuthorID, status, s.StatusBeforeTrash)) {
		return nil, edit.Forbidden()
	}
	r.changes = calendar.Version{All: s.Version, Hidden: s.HiddenChanges}
	return s, nil
}

// writtenSeries returns the reply to a write: the series as the caller sees it.
func (r *request) writtenSeries(id int64) (*reply, error) {
	s, err := r.findSeries(&target{ID: id})
	if err != nil {
		return nil, err
	}
	return r.seriesReply(s)
}

// previewInput is the input of POST /series/preview: the fields of a new event, and limit.
type previewInput struct {
	eventInput
	limit int64
}

func (r *request) declareSeriesPreview(p *param.Set, in *previewInput) {
	r.declareEvent(fields{p: p, r: r, create: true, preview: true}, &in.eventInput)
	param.Default(p.Int(&in.limit, "limit", "Number of starts in the reply"), &in.limit, 10).Between(1, 100)
}

// previewSeries answers POST /series/preview. It stores nothing.
func (r *request) previewSeries(in *previewInput) (*reply, error) {
	if !auth.May(r.caller, auth.Create, auth.Record{Kind: calendar.Event}) {
		return nil, edit.Forbidden()
	}
	s, err := r.expandSchedule(&in.eventInput)
	if err != nil {
		return nil, err
	}
	if s.fault != nil {
		return nil, param.Invalid{Faults: []param.Fault{*s.fault}}
	}
	return &reply{status: 200, body: r.view().SeriesPreview(s.Schedule, s.found, int(in.limit))}, nil
}
