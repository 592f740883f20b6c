package edit

import (
	"errors"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/when"
)

// StoredSpan returns the start, the end and the zone of a stored event. The error means that the row has
// impossible dates.
func StoredSpan(row *ent.Event) (calendar.Span, error) {
	zone, err := calendar.ParseZone(row.Timezone)
	if err != nil {
		return calendar.Span{}, fmt.Errorf("event %d: %w %q", row.ID, err, row.Timezone)
	}
	return calendar.Span{Start: row.StartWall, End: row.EndWall, Zone: zone, AllDay: row.AllDay}, nil
}

// sentSpan returns the span that a stored event has after a write. The result early is an error in the sent dates
// alone. The result late is an error that depends on the stored dates. It must be reported after a missing
// permission.
func sentSpan(row *ent.Event, in *EventInput) (span calendar.Span, early *param.Fault, late error, err error) {
	if span, err = StoredSpan(row); err != nil || in.Start == nil && in.End == nil && in.Zone == nil && in.AllDay == nil {
		return span, nil, nil, err
	}
	span = ChangedSpan(span, in)
	if fault := CheckSpan(span, in); in.Start != nil && in.End != nil {
		early = fault
	} else {
		late = InvalidInput(fault)
	}
	return span, early, late, nil
}

// ChangedSpan returns the span s with the dates that the input sends. If only a zone is sent, the wall times stay.
// If only a start is sent, the event keeps its duration. If only an end is sent, the start stays. The dates of an
// all-day event are rounded to whole days.
func ChangedSpan(s calendar.Span, in *EventInput) calendar.Span {
	s = movedSpan(s, in, when.Date.Wall)
	if !s.AllDay {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	return s
}

// NominalSpan returns the first span of a schedule, which was s, with the dates that the input sends. Unlike
// ChangedSpan it keeps sent wall times that the clock of the zone skips.
func NominalSpan(s calendar.Span, in *EventInput) calendar.Span {
	return movedSpan(s, in, when.Date.Nominal)
}

// movedSpan returns the span s with the dates that the input sends, for ChangedSpan and NominalSpan. The
// function wall converts a sent date to a wall time.
func movedSpan(s calendar.Span, in *EventInput, wall func(when.Date, calendar.Zone) calendar.Wall) calendar.Span {
	s.Zone = ValueOr(s.Zone, in.Zone)
	s.AllDay = ValueOr(s.AllDay, in.AllDay)
	s = s.Rounded()
	if in.Start != nil {
		start := wall(*in.Start, s.Zone)
		switch {
		case in.End != nil:
			s.Start = start
		case s.AllDay: // otherwise the time of day would move the end too
			s = s.MoveStart(start.StartOfDay())
		default:
			s = s.MoveStart(start)
		}
	}
	if in.End != nil {
		s.End = wall(*in.End, s.Zone)
	}
	return s.Rounded()
}

// SpanFault returns the parameter error of the sent dates of an event, or nil if they are valid. The row is the
// stored event, or nil for a new one. A new event is in the zone of the site unless the input has a zone.
func SpanFault(site calendar.Zone, row *ent.Event, in *EventInput) (*param.Fault, error) {
	span := calendar.Span{Zone: site}
	if row != nil {
		var err error
		if span, err = StoredSpan(row); err != nil {
			return nil, err
		}
	}
	return CheckSpan(ChangedSpan(span, in), in), nil
}

// CheckSpan returns the parameter error of an invalid span, or nil if it is valid. The error names the parameter of
// the input that causes it.
func CheckSpan(s calendar.Span, in *EventInput) *param.Fault {
	blame := func(name string, sent bool) *param.Fault {
		if !sent && in.Zone != nil {
			name = "timezone"
		}
		return faultOf(name, param.Bad())
	}
	err := s.Check()
	switch {
	case errors.Is(err, calendar.ErrEndBeforeStart):
		return &param.Fault{
			Param: "end_date", Reason: "end-before-start", Key: "end-before-start", Data: map[string]any{},
		}
	case errors.Is(err, calendar.ErrStartOutOfRange):
		return blame("start_date", in.Start != nil)
	case errors.Is(err, calendar.ErrEndOutOfRange):
		return blame("end_date", in.End != nil || in.Start != nil)
	}
	return nil
}
