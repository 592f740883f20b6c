package series_test

import (
	"errors"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestSeriesAreRefusedWhileTheyAreSwitchedOff(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		storetest.DisableSeries(t, w.DB)
		single := w.Event(e, &edit.EventInput{})
		weekly := func() *edit.EventInput { return &edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=3")} }
		_, created := w.CreateEvent(e, weekly())
		_, changed := w.UpdateEvent(e, single.ID, weekly())
		for what, err := range map[string]error{"create": created, "update": changed} {
			var refused *calendar.Error
			if !errors.As(err, &refused) || refused.Code != "rest_unavailable" || refused.Key != "series-disabled" {
				t.Errorf("%s: %v", what, err)
			}
		}
		w.ChangeEvent(e, single.ID, &edit.EventInput{Title: new("Recital")})
		if n := w.DB.Event.Query().CountX(t.Context()) + w.DB.Series.Query().CountX(t.Context()); n != 1 {
			t.Errorf("%d events and series, want the single one", n)
		}
	})
}
