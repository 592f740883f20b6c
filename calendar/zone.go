package calendar

import (
	"errors"
	"time"
)

// ErrZone is the error for a text that is not the name of a time zone.
var ErrZone = errors.New("unknown time zone")

// Zone is a time zone, with the name that replies show. The zero value is UTC.
type Zone struct {
	name string
	loc  *time.Location
}

// UTC returns the zone UTC.
func UTC() Zone { return Zone{"UTC", time.UTC} }

func (z Zone) String() string {
	if z.loc == nil {
		return "UTC"
	}
	return z.name
}

// IsOffset reports whether the zone is a fixed offset from UTC, such as UTC+2 or +02:00. It is false for UTC
// itself.
func (z Zone) IsOffset() bool {
	_, ok := parseOffset(z.name)
	return ok
}

// Location returns the zone as a time.Location.
func (z Zone) Location() *time.Location {
	if z.loc == nil {
		return time.UTC
	}
	return z.loc
}

// Wall returns the wall time in the zone at the instant t.
func (z Zone) Wall(t time.Time) Wall { return WallOf(t.In(z.Location())) }

// Instant returns the instant, in UTC, at which a clock in the zone shows w. A wall time in a gap (spring)
// moves forward by the gap. A wall time that occurs twice (autumn) is the first pass. In both cases time.Date
// guarantees only "one of the two", so Instant computes from the offsets around w.
func (z Zone) Instant(w Wall) time.Time {
	loc := z.Location()
	// The offsets one day before and after w surround any single change of the clock near w.
	_, before := w.t.Add(-24 * time.Hour).In(loc).Zone()
	_, after := w.t.Add(24 * time.Hour).In(loc).Zone()
	early := w.t.Add(-time.Duration(max(before, after)) * time.Second)
	late := w.t.Add(-time.Duration(min(before, after)) * time.Second)
	for _, t := range [2]time.Time{early, late} {
		if WallOf(t.In(loc)).Equal(w) {
			return t.UTC()
		}
	}
	// Neither offset gives w. If the clock skips w, the offset before the change moves it forward by the gap.
	// Otherwise the zone changed more than once within two days, and time.Date has to decide.
	t := w.t.Add(-time.Duration(before) * time.Second)
	if !WallOf(t.In(loc)).Before(w) {
		return t.UTC()
	}
	y, m, d := w.t.Date()
	h, mi, s := w.t.Clock()
	return time.Date(y, m, d, h, mi, s, 0, loc).UTC()
}

// Abbreviation returns the short name of the zone at t, such as CET, or -03 if the zone has no letters. For an
// offset it returns the offset.
func (z Zone) Abbreviation(t time.Time) string {
	name, _ := t.In(z.Location()).Zone()
	return name
}
