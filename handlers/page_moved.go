package handlers

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/internal/represent"
)

// maxMoves is how many changes of an event startMovedAt reads to find a change of its start.
const maxMoves = 200

// startMovedAt returns when the start of an event last changed. It returns zero if that is unknown or longer ago
// than represent.RescheduledFor.
func (r *request) startMovedAt(id int64) (time.Time, error) {
	rows, err := r.db.Change.Query().
		Where(change.KindEQ(calendar.Event), change.RecordID(id), change.AtGT(r.now.Add(-represent.RescheduledFor))).
		Order(ent.Desc(change.FieldID)).Limit(maxMoves).All(r.ctx)
	if err != nil {
		return time.Time{}, err
	}
	for _, row := range rows {
		if slices.Contains(row.Fields, "start_date") {
			return row.At, nil
		}
	}
	return time.Time{}, nil
}
