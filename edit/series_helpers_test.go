package edit_test

import (
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// The models of series call the following functions.

func changeSeries(w *edittest.World, e *edit.Editor, id int64, in *edit.EventInput) error {
	w.T.Helper()
	return w.UpdateSeries(e, id, in)
}

func trashOccurrences(w *edittest.World, e *edit.Editor, id int64, scope edit.Scope) error {
	w.T.Helper()
	return w.TrashOccurrences(e, id, scope)
}

func trashSeries(w *edittest.World, e *edit.Editor, id int64) error {
	w.T.Helper()
	return w.TrashSeries(e, id)
}

func removeEvents(w *edittest.World, e *edit.Editor, ids ...int64) {
	w.T.Helper()
	w.RemoveEvents(e, ids...)
}

func phasesOf(t *testing.T, w *edittest.World, series int64) []string {
	t.Helper()
	return w.Phases(series)
}

func onlyPhase(t *testing.T, w *edittest.World, series int64) *ent.SeriesPhase {
	t.Helper()
	return w.OnlyPhase(series)
}

func templateOf(t *testing.T, p *ent.SeriesPhase) *ent.Event {
	t.Helper()
	template, err := ent.DecodeTemplate(p.Template)
	if err != nil {
		t.Fatal(err)
	}
	return template
}
