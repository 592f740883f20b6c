package edit_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestSpanFaults(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		tests := []struct {
			name string
			by   calendar.Role
			in   edit.EventInput
			want string
		}{
			{"end before the stored start", calendar.Editor, edit.EventInput{End: edittest.Wall("2026-07-01 17:59:59")}, "end_date:end-before-start"},
			{"end at the start", calendar.Editor, edit.EventInput{End: edittest.Wall("2026-07-01 18:00:00")}, ""},
			{"both, in the wrong order", calendar.Editor, edit.EventInput{Start: edittest.Wall("2026-07-01 20:00:00"), End: edittest.Wall("2026-07-01 19:00:00")}, "end_date:end-before-start"},
			{"both, in the wrong order, come before the permission", calendar.Subscriber, edit.EventInput{Start: edittest.Wall("2026-07-01 20:00:00"), End: edittest.Wall("2026-07-01 19:00:00")}, "end_date:end-before-start"},
			{"one alone comes after the permission", calendar.Subscriber, edit.EventInput{End: edittest.Wall("2026-07-01 17:59:59")}, "rest_forbidden"},
			{"moved beyond the last year", calendar.Editor, edit.EventInput{Start: edittest.Wall("9999-12-31 23:30:00")}, "end_date"},
			{"all-day in the wrong order", calendar.Editor, edit.EventInput{AllDay: new(true), Start: edittest.Wall("2026-07-02 00:00:00"), End: edittest.Wall("2026-07-01 23:00:00")}, "end_date:end-before-start"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				id := w.Event(e, &edit.EventInput{}).ID // 2026-07-01 18:00 to 20:00
				_, err := w.UpdateEvent(w.As(tt.by), id, &tt.in)
				edittest.Refused(t, err, tt.want)
			})
		}
		t.Run("create", func(t *testing.T) {
			_, err := w.CreateEvent(e, &edit.EventInput{Start: edittest.Wall("2026-07-01 20:00:00"), End: edittest.Wall("2026-07-01 19:00:00")})
			edittest.Refused(t, err, "end_date:end-before-start")
		})
	})
}

func TestEventSpanIsStored(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		row := w.Event(e, &edit.EventInput{})
		row = w.ChangeEvent(e, row.ID, &edit.EventInput{Zone: new(calendar.UTC())})
		if got := row.StartsAt.UTC().Format(calendar.Layout); got != "2026-07-01 18:00:00" || row.Timezone != "UTC" {
			t.Errorf("starts at %s in %s", got, row.Timezone)
		}
		row = w.ChangeEvent(e, row.ID, &edit.EventInput{AllDay: new(true), Zone: new(e.Site.Zone)})
		if got := row.EndsAt.UTC().Format(calendar.Layout); got != "2026-07-01 21:59:59" || !row.AllDay {
			t.Errorf("ends at %s", got)
		}
		if row.EndWall.String() != "2026-07-01 23:59:59" {
			t.Errorf("ends at %s on the wall", row.EndWall)
		}
	})
}
