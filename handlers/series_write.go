package handlers

import (
	"errors"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

func (r *writing) declareSeriesDelete(p *param.Set, in *eventInput) {
	in.series = true
	p.PathID(&in.ID, "id", "ID of the series")
	r.declareScope(p, in)
	read.DeclareLanguage(p)
}

func (r *writing) declareSeriesDeleteBySlug(p *param.Set, in *eventInput) {
	in.series = true
	p.PathString(&in.target.Slug, "slug", "Slug of the series")
	r.declareScope(p, in)
	read.DeclareLanguage(p)
}

// findSeriesEvent returns a series in the form of an event, with the fields of its last occurrences.
func (r *writing) findSeriesEvent(q *target) (*ent.Event, error) {
	s, err := r.findSeries(q)
	if err != nil {
		return nil, err
	}
	e, err := read.SeriesEvent(s)
	if err != nil {
		return nil, err
	}
	e.SeriesID = &s.ID
	return e, nil
}

// updateSeries answers POST, PUT and PATCH of one series.
func (r *writing) updateSeries(in *eventInput) (*endpoint.Reply, error) {
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
		if err = r.writeOverSeries(s, in.EventInput); err == nil {
			return r.writtenSeries(s.ID)
		}
		if errors.Is(err, errOutdated) {
			s, err = r.seriesForWrite(&target{ID: s.ID}, auth.Edit)
		}
		if err != nil {
			return nil, err
		}
	}
}

// writeOverSeries stores an update of the series s. It returns errOutdated and stores nothing if s was changed
// meanwhile.
func (r *writing) writeOverSeries(s *ent.Series, in edit.EventInput) error {
	if err := r.omitStoredOfSeries(s, &in); err != nil {
		return err
	}
	return r.change(&s.ID, func(tx *entTx, e *edit.Editor) error {
		row, err := edit.LockSeries(r.Ctx, tx, s.ID)
		if ent.IsNotFound(err) || err == nil && row.Version != s.Version {
			return errOutdated
		}
		if err != nil {
			return err
		}
		return series.Update(r.Ctx, tx, e, s.ID, &in)
	})
}

// deleteSeries answers DELETE of one series. It moves the series and its occurrences to the trash.
func (r *writing) deleteSeries(in *eventInput) (*endpoint.Reply, error) {
	s, err := r.seriesForWrite(&in.target, auth.Delete)
	if err != nil {
		return nil, err
	}
	if err := r.waitForSeries(); err != nil {
		return nil, err
	}
	err = r.change(&s.ID, func(tx *entTx, e *edit.Editor) error { return series.Trash(r.Ctx, tx, e, s.ID) })
	if ent.IsNotFound(err) {
		return nil, noSeries()
	}
	if err != nil {
		return nil, err
	}
	return r.writtenSeries(s.ID)
}

// seriesForWrite finds the series of an update or delete. It returns an error if the caller may not do op on it.
func (r *writing) seriesForWrite(q *target, op auth.Operation) (*ent.Series, error) {
	s, err := r.findSeries(q)
	var unknown *calendar.Error
	if errors.As(err, &unknown) && !auth.May(r.Caller, auth.Create, auth.Record{Kind: calendar.Series}) {
		return nil, edit.Forbidden()
	}
	if err != nil {
		return nil, err
	}
	status := s.Status.Shown(r.Now, s.PublishedAt)
	if !r.mayWrite(op, auth.RecordOf(calendar.Series, s.AuthorID, status, s.StatusBeforeTrash)) {
		return nil, edit.Forbidden()
	}
	r.changes = calendar.Version{All: s.Version, Hidden: s.HiddenChanges}
	return s, nil
}

// previewInput is the input of POST /series/preview: the fields of a new event, and limit.
type previewInput struct {
	eventInput
	limit int64
}

func (r *writing) declareSeriesPreview(p *param.Set, in *previewInput) {
	r.declareEvent(fields{p: p, r: r, create: true, preview: true}, &in.eventInput)
	param.Default(p.Int(&in.limit, "limit", "Number of starts in the response"), &in.limit, 10).Between(1, 100)
}

// previewSeries answers POST /series/preview. It stores nothing.
func (r *writing) previewSeries(in *previewInput) (*endpoint.Reply, error) {
	if !auth.May(r.Caller, auth.Create, auth.Record{Kind: calendar.Event}) {
		return nil, edit.Forbidden()
	}
	s, err := r.expandSchedule(&in.eventInput)
	if err != nil {
		return nil, err
	}
	if s.fault != nil {
		return nil, param.Invalid{Faults: []param.Fault{*s.fault}}
	}
	return &endpoint.Reply{Status: 200, Body: r.View().SeriesPreview(s.Schedule, s.found, int(in.limit))}, nil
}
