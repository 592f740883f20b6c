package pages

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/internal/represent"
)

// maxMoves and mostMoves limit how many entries of the change log startsMovedAt reads, for each event and in
// all.
const (
	maxMoves  = 200
	mostMoves = 2000
)

// rescheduledAt returns when the starts of rescheduled events last changed, by event id. It runs one SQL
// statement, or none if no event is rescheduled.
func (r *request) rescheduledAt(v *represent.View, events []*ent.Event) (map[int64]time.Time, error) {
	var ids []int64
	for _, e := range events {
		if v.IsRescheduled(e) {
			ids = append(ids, e.ID)
		}
	}
	if ids == nil {
		return nil, nil
	}
	return r.startsMovedAt(ids...)
}

// startsMovedAt returns when the starts of events last changed, by event id. It leaves out events whose change
// is unknown, or longer ago than represent.RescheduledFor.
func (r *request) startsMovedAt(ids ...int64) (map[int64]time.Time, error) {
	rows, err := r.DB.Change.Query().
		Where(change.KindEQ(calendar.Event), change.RecordIDIn(ids...), change.AtGT(r.Now.Add(-represent.RescheduledFor))).
		Order(ent.Desc(change.FieldID)).Limit(min(maxMoves*len(ids), mostMoves)).All(r.Ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]time.Time, len(ids))
	for _, row := range rows {
		if out[row.RecordID].IsZero() && slices.Contains(row.Fields, "start_date") {
			out[row.RecordID] = row.At
		}
	}
	return out, nil
}
