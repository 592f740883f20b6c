package series

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// planRecurrence decides how an update of a stored event changes its series. If the event becomes a series, the
// result made is that series. If it leaves its series, the result leaves is true.
//
// If the schedule of one occurrence is sent, it must equal the stored schedule. Otherwise the error is
// scope-required. A caller who cannot read the series gets the errors of a single event. These do not depend on the
// stored schedule.
func planRecurrence(ctx context.Context, tx *ent.Tx, e *edit.Editor, row *ent.Event, in *edit.EventInput) (
	made *newSeries, leaves bool, err error,
) {
	if in.Rule == nil && in.RDate == nil && in.ExDate == nil {
		return nil, false, nil
	}
	var phases []*ent.SeriesPhase
	if row.SeriesID != nil {
		s, err := edit.LockSeries(ctx, tx, *row.SeriesID)
		if err != nil {
			return nil, false, fmt.Errorf("series %d: %w", *row.SeriesID, err)
		}
		if edit.MayReadSeries(e.By, s, e.Now) {
			if phases, err = edit.LockPhases(ctx, tx, s.ID); err != nil {
				return nil, false, err
			}
		}
	}
	if phases == nil {
		made, err = planSeriesOf(e, row, in)
		if fault := ScheduleFault(err); fault != nil {
			return nil, false, edit.InvalidInput(fault)
		}
		switch {
		case err != nil || made == nil:
			return nil, false, err
		case row.SeriesID != nil:
			return nil, false, edit.InvalidInput(scopeRequired())
		}
		return made, false, requireSeries(ctx, tx)
	}
	leaves = in.Rule != nil && *in.Rule == ""
	same, err := sameSchedule(edit.PhaseAt(phases, *row.OriginalStart), in, leaves)
	if err == nil && !same {
		err = edit.InvalidInput(scopeRequired())
	}
	return nil, leaves, err
}

// planSeriesOf returns the series that a stored event becomes, or nil if the input does not recur. The event
// becomes the occurrence at the start of the schedule, so an exdate on that start is an error.
func planSeriesOf(e *edit.Editor, row *ent.Event, in *edit.EventInput) (*newSeries, error) {
	made, err := planSeries(e, row, in)
	if err != nil || made == nil {
		return nil, err
	}
	start := made.schedule.Start
	if !slices.ContainsFunc(made.occurrences, func(o recur.Occurrence) bool { return o.Nominal.Equal(start) }) {
		return nil, notInSchedule(recur.Date{Wall: start})
	}
	return made, nil
}

// scopeRequired returns the parameter error for a change of the schedule in a request for one occurrence only.
func scopeRequired() *param.Fault {
	return &param.Fault{Param: "scope", Reason: "scope-required", Key: "scope-required", Data: map[string]any{}}
}

// sameSchedule reports whether the sent rule, rdate and exdate equal those of a stored phase. Fields that were not
// sent count as equal. If leaves is true, the occurrence leaves the series. Then any rule and empty lists also count
// as equal.
func sameSchedule(phase *ent.SeriesPhase, in *edit.EventInput, leaves bool) (bool, error) {
	stored, err := edit.ScheduleOf(phase)
	if err != nil {
		return false, err
	}
	if in.Rule != nil && !leaves {
		rule, err := recur.Parse(*in.Rule, stored.Zone)
		if err != nil || rule.String() != phase.Rrule {
			return false, nil //nolint:nilerr // another rule than the stored one
		}
	}
	rdate, exdate := edit.ValueOr(nil, in.RDate), edit.ValueOr(nil, in.ExDate)
	sent, err := recur.New(stored.Span, stored.Rule, rdate, nil)
	if err != nil {
		return false, err
	}
	if cleared := leaves && len(rdate) == 0; in.RDate != nil && !cleared && !slices.Equal(sent.RDate, stored.RDate) {
		return false, nil
	}
	if cleared := leaves && len(exdate) == 0; in.ExDate == nil || cleared {
		return true, nil
	}
	dates := make([]recur.Date, len(stored.RDate))
	for i, w := range stored.RDate {
		dates[i] = recur.Date{Wall: w}
	}
	sent, err = recur.New(stored.Span, stored.Rule, dates, exdate)
	var refused *recur.Error
	if errors.As(err, &refused) {
		return false, nil
	}
	return slices.Equal(sent.ExDate, stored.ExDate), err
}
