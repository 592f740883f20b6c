package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestSeriesThatFailsIsTriedOnceAMinute(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		row := w.Event(w.As(calendar.Editor), &edit.EventInput{Rule: new("FREQ=YEARLY")})
		phase := w.DB.SeriesPhase.Query().Where(seriesphase.SeriesID(*row.SeriesID)).OnlyX(t.Context())
		phase.Update().SetTimezone("Nowhere").ExecX(t.Context())
		var log bytes.Buffer
		j := &horizonJob{log: slog.New(slog.NewTextHandler(&log, nil)), db: w.DB, site: func() calendar.Site { return edittest.Site(t) }}
		due := edittest.Now.AddDate(1, 0, 0)
		for _, tt := range []struct {
			after time.Duration
			lines int
			zone  string // from then on
		}{
			{0, 1, "Nowhere"},
			{time.Second, 1, "Nowhere"},
			{59 * time.Second, 1, "Nowhere"},
			{60 * time.Second, 2, phase.Timezone},
			{119 * time.Second, 2, phase.Timezone},
			{120 * time.Second, 3, phase.Timezone},
			{121 * time.Second, 3, phase.Timezone},
		} {
			j.run(t.Context(), due.Add(tt.after))
			if n := strings.Count(log.String(), "\n"); n != tt.lines {
				t.Errorf("after %s: %d lines, want %d:\n%s", tt.after, n, tt.lines, &log)
			}
			phase.Update().SetTimezone(tt.zone).ExecX(t.Context())
		}
		if !strings.Contains(log.String(), `level=INFO msg="occurrences of series" events=1`) {
			t.Errorf("log:\n%s", &log)
		}
		if n, err := series.CountOverdue(t.Context(), w.DB, due); n != 0 || err != nil {
			t.Errorf("%d series are overdue at the end: %v", n, err)
		}
	})
}
