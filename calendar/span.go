package calendar

import (
	"errors"
	"time"
)

// ErrEndBeforeStart, ErrStartOutOfRange and ErrEndOutOfRange are the errors of Span.Check.
var (
	ErrEndBeforeStart  = errors.New("end before start")
	ErrStartOutOfRange = errors.New("start outside the years 1000 to 9999")
	ErrEndOutOfRange   = errors.New("end outside the years 1000 to 9999")
)

// Span is the time of an event on the clock of its zone. Its instants are computed from the wall times, and the
// database stores both. So a wall time in a repeated hour always means the first pass. The order of two wall
// times can differ from that of their instants, around a gap (02:45 becomes 03:45, which is after 03:15) and in
// a repeated hour. To compare times, compare instants.
type Span struct {
	Start, End Wall
	Zone       Zone
	AllDay     bool
}

// StartsAt returns the instant of the start, in UTC.
func (s Span) StartsAt() time.Time { return s.Zone.Instant(s.Start) }

// EndsAt returns the instant of the end, in UTC.
func (s Span) EndsAt() time.Time { return s.Zone.Instant(s.End) }

// Rounded returns the span, widened to whole days (00:00:00 to 23:59:59) if it is an all-day span.
func (s Span) Rounded() Span {
	if s.AllDay {
		s.Start, s.End = s.Start.StartOfDay(), s.End.EndOfDay()
	}
	return s
}

// MoveStart returns the span with another start and the same duration on the clock: 18:00 to 20:00 remains two
// hours on the clock on a day with a clock change.
func (s Span) MoveStart(w Wall) Span {
	// A time.Duration would overflow at 292 years, so this does not use Sub and Add.
	distance := s.End.t.Unix() - s.Start.t.Unix()
	s.End = Wall{time.Unix(w.t.Unix()+distance, 0).UTC()}
	s.Start = w
	return s
}

// Check returns ErrStartOutOfRange or ErrEndOutOfRange if one of the dates, in the zone or in UTC, is outside
// the years 1000 to 9999. Other years lack four digits, or a database may refuse them. It returns
// ErrEndBeforeStart if the instant of the end is before that of the start. Both instants may be equal.
func (s Span) Check() error {
	start, end := s.StartsAt(), s.EndsAt()
	switch {
	case !inRange(s.Start.t) || !inRange(start):
		return ErrStartOutOfRange
	case !inRange(s.End.t) || !inRange(end):
		return ErrEndOutOfRange
	case end.Before(start):
		return ErrEndBeforeStart
	}
	return nil
}

// Over reports whether the end is before now.
func (s Span) Over(now time.Time) bool { return s.EndsAt().Before(now) }

func inRange(t time.Time) bool { return t.Year() >= 1000 && t.Year() <= 9999 }
