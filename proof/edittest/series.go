package edittest

import (
	"context"
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/seriesphase"
)

// SomeEvent returns the input of an event titled Same on 1 July 2026, 18:00 to 20:00 in the site's zone.
func SomeEvent() *edit.EventInput {
	return &edit.EventInput{Title: new("Same"), Start: Wall("2026-07-01 18:00:00"), End: Wall("2026-07-01 20:00:00")}
}

// WeeklyEvent returns the input of an event with any recurrence rule (RRULE). It first takes place on 1 July 2026,
// 18:00 to 20:00.
func WeeklyEvent(rule string) *edit.EventInput {
	in := SomeEvent()
	in.Rule = &rule
	return in
}

// UpdateSeries writes the fields in to the series with an id, and returns the error of the write.
func (w *World) UpdateSeries(e *edit.Editor, id int64, in *edit.EventInput) error {
	w.T.Helper()
	_, err := Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, series.Update(ctx, tx, e, id, in) })
	return err
}

// TrashSeries moves a series to the trash and returns the error of the write.
func (w *World) TrashSeries(e *edit.Editor, id int64) error {
	w.T.Helper()
	_, err := Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) { return nil, series.Trash(ctx, tx, e, id) })
	return err
}

// TrashOccurrences moves occurrences of a series to the trash and returns the error of the write. The scope selects
// them, from the occurrence with the id.
func (w *World) TrashOccurrences(e *edit.Editor, id int64, scope edit.Scope) error {
	w.T.Helper()
	_, err := Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (any, error) {
		row, err := tx.Event.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, series.TrashOccurrences(ctx, tx, e, row, scope)
	})
	return err
}

// RemoveEvents deletes events permanently, without the trash. It fails the test on an error.
func (w *World) RemoveEvents(e *edit.Editor, ids ...int64) {
	w.T.Helper()
	Write(w, e, func(ctx context.Context, tx *ent.Tx) (struct{}, error) {
		return struct{}{}, e.RemoveAll(ctx, tx, calendar.Event, ids)
	})
}

// Occurrences loads the occurrences of a series, in the order of the schedule, with their links and translations.
func (w *World) Occurrences(id int64) []*ent.Event {
	w.T.Helper()
	return w.DB.Event.Query().Where(event.SeriesID(id)).Order(event.ByOriginalStart()).
		WithVenues().WithOrganizers().WithTerms().WithTranslations().AllX(w.T.Context())
}

// OnlyPhase loads the only phase of a series. A phase is a period with one schedule. It panics if there is not exactly
// one.
func (w *World) OnlyPhase(id int64) *ent.SeriesPhase {
	w.T.Helper()
	return w.DB.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).OnlyX(w.T.Context())
}

// Template decodes the template of a phase: an event with the common fields of the phase's occurrences.
func (w *World) Template(p *ent.SeriesPhase) *ent.Event {
	w.T.Helper()
	template, err := ent.DecodeTemplate(p.Template)
	if err != nil {
		w.T.Fatal(err)
	}
	return template
}

// Phases describes each phase of a series, a period with one schedule, as a text for comparing. It contains start,
// end, rule, rdates and exdates.
func (w *World) Phases(id int64) (out []string) {
	w.T.Helper()
	for _, p := range w.DB.SeriesPhase.Query().Where(seriesphase.SeriesID(id)).Order(seriesphase.ByPosition()).AllX(w.T.Context()) {
		text := p.StartWall.Format("01-02 15:04") + "–" + p.EndWall.Format("15:04") + " " + p.Rrule
		for _, date := range p.Rdate {
			text += " +" + date.Format("01-02 15:04")
		}
		for _, date := range p.Exdate {
			text += " -" + date.Format("01-02 15:04")
		}
		out = append(out, text)
	}
	return out
}

// Racers is the number of goroutines that RunConcurrently starts.
const Racers = 12

// RunConcurrently calls f in as many goroutines as Racers says, which start together. i is the number of a goroutine.
// It fails the test for each error.
func RunConcurrently(t *testing.T, f func(i int) error) {
	t.Helper()
	start := make(chan struct{})
	errs := make([]error, Racers)
	var wg sync.WaitGroup
	for i := range Racers {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("racer %d: %v", i, err)
		}
	}
}

// Run runs do in a transaction of the editor e and returns its error. It does not check the change log.
func (w *World) Run(e *edit.Editor, do func(ctx context.Context, tx *ent.Tx) error) error {
	return edit.Write(w.T.Context(), w.DB, e, func(tx *ent.Tx) error { return do(w.T.Context(), tx) })
}
