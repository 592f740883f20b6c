package series

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/store"
)

// storePhases replaces the stored phases of the series, from the first changed one on. A phase is a part with one
// schedule. It reports whether any phase changes.
func (w *seriesWrite) storePhases(ctx context.Context) (bool, error) {
	rows := make([]*ent.SeriesPhaseCreate, len(w.phases))
	same := len(w.storedPhases)
	for i := range w.phases {
		p := &w.phases[i]
		template, err := ent.EncodeTemplate(&p.template)
		if err != nil {
			return false, fmt.Errorf("template of series %d: %w", w.series.ID, err)
		}
		rows[i] = w.tx.SeriesPhase.Create().SetSeriesID(w.series.ID).SetPosition(i).
			SetStartWall(p.Start).SetEndWall(p.End).SetTimezone(p.Zone.String()).SetAllDay(p.AllDay).
			SetRrule(p.Rule.String()).SetRdate(p.RDate).SetExdate(p.ExDate).SetTemplate(template)
	}
	for i := range min(len(w.storedPhases), len(w.phases)) {
		was, err := w.storedPhases[i].fingerprint()
		if err != nil {
			return false, err
		}
		is, err := w.phases[i].fingerprint()
		if err != nil {
			return false, err
		}
		if was != is {
			same = i
			break
		}
	}
	same = min(same, len(w.phases))
	if same == len(w.storedPhases) && same == len(w.phases) {
		return false, nil
	}
	_, err := w.tx.SeriesPhase.Delete().
		Where(seriesphase.SeriesID(w.series.ID), seriesphase.PositionGTE(same)).Exec(ctx)
	if err == nil && same < len(rows) {
		err = w.tx.SeriesPhase.CreateBulk(rows[same:]...).Exec(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("phases of series %d: %w", w.series.ID, store.AsConflict(err))
	}
	return true, nil
}

// fingerprint returns a text that identifies the schedule and the shared fields in a part of a series. Equal parts
// have the same text.
func (p *seriesPhase) fingerprint() (string, error) {
	template, err := ent.EncodeTemplate(&p.template)
	if err != nil {
		return "", fmt.Errorf("template of a phase: %w", err)
	}
	return p.scheduleText() + string(template), nil
}
