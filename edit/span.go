package edit

import (
	"errors"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/when"
)

// storedSpan returns when a stored event takes place.
func storedSpan(row *ent.Event) (calendar.Span, error) {
	zone, err := calendar.ParseZone(row.Timezone)
	if err != nil {
		return calendar.Span{}, fmt.Errorf("event %d: %w %q", row.ID, err, row.Timezone)
	}
	return calendar.Span{Start: row.StartWall, End: row.EndWall, Zone: zone, AllDay: row.AllDay}, nil
}

// sentSpan returns when a stored event takes place after a write. Early is a fault that the dates have by themselves. Late is
// the error of one that takes the stored dates to see: a missing permission comes before it.
func sentSpan(row *ent.Event, in *EventInput) (span calendar.Span, early *param.Fault, late error, err error) {
	if span, err = storedSpan(row); err != nil || in.Start == nil && in.End == nil && in.Zone == nil && in.AllDay == nil {
		return span, nil, nil, err
	}
	span = changedSpan(span, in)
	if fault := spanFault(span, in); in.Start != nil && in.End != nil {
		early = fault
	} else {
		late = invalidInput(fault)
	}
	return span, early, late, nil
}

// changedSpan applies what is sent to a span. A zone alone keeps the wall times, a start alone moves the event, an
// end alone changes its length. An all-day event is rounded to whole days, whether its dates were stored or
// sent.
func changedSpan(s calendar.Span, in *EventInput) calendar.Span {
	s = movedSpan(s, in, when.Date.Wall)
	if !s.AllDay {
		// A time that the clock of the zone skips is answered as the one that it stands for.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	return s
}

// nominalSpan is like changedSpan, for a schedule. It keeps times as sent, even if the clock of the zone skips them.
func nominalSpan(s calendar.Span, in *EventInput) calendar.Span {
	return movedSpan(s, in, when.Date.Nominal)
}

// movedSpan is like changedSpan, without replacing times that the clock skips. Wall reads a date of the input.
func movedSpan(s calendar.Span, in *EventInput, wall func(when.Date, calendar.Zone) calendar.Wall) calendar.Span {
	s.Zone = valueOr(s.Zone, in.Zone)
	s.AllDay = valueOr(s.AllDay, in.AllDay)
	s = s.Rounded()
	if in.Start != nil {
		start := wall(*in.Start, s.Zone)
		switch {
		case in.End != nil:
			s.Start = start
		case s.AllDay: // or the time of day would move the end as well
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

// SpanFault returns what is wrong with the dates that are sent of an event, nil if nothing is. Row is the stored event,
// nil for a new one, which takes place in the zone of the site unless another is sent.
func SpanFault(site calendar.Zone, row *ent.Event, in *EventInput) (*param.Fault, error) {
	span := calendar.Span{Zone: site}
	if row != nil {
		var err error
		if span, err = storedSpan(row); err != nil {
			return nil, err
		}
	}
	return spanFault(changedSpan(span, in), in), nil
}

// spanFault returns what is wrong with a span: nothing, or a fault of the parameter that is to blame.
func spanFault(s calendar.Span, in *EventInput) *param.Fault {
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
