package listreference

import (
	"time"
)

// Date is a date in a request: an instant, or a wall time without a zone (naive), which is stored as if in UTC. A
// naive date means the site's zone.
type Date struct {
	At    time.Time
	Naive bool
}

// moment returns the instant that a date means. A date without a zone is in the site's.
func (s Site) moment(d Date) time.Time {
	if d.Naive {
		return Instant(d.At, s.Zone)
	}
	return d.At
}

// Midnight returns the first instant of a day in the site's zone. It is the day of d plus a number of days (later).
func (s Site) Midnight(d Date, later int) time.Time {
	on := d.At
	if !d.Naive {
		on = on.In(s.Zone)
	}
	y, m, day := on.Date()
	return Instant(time.Date(y, m, day+later, 0, 0, 0, 0, time.UTC), s.Zone)
}

// Instant converts a wall time, which is stored as if in UTC, to the first instant at which clocks in the zone show
// it. If clocks skip the wall time, the offset from before the skip applies. It tries all offsets from UTC in
// quarters of an hour, to be independent of package calendar.
func Instant(wall time.Time, zone *time.Location) time.Time {
	for ahead := 15 * time.Hour; ahead >= -15*time.Hour; ahead -= 15 * time.Minute {
		t := wall.Add(-ahead)
		if _, offset := t.In(zone).Zone(); time.Duration(offset)*time.Second == ahead {
			return t
		}
	}
	const before = 3 * time.Hour
	return Instant(wall.Add(-before), zone).Add(before)
}

// Window returns the time that lists show by default: from the start of today to the end of the same day in two
// years. If that month is shorter, its last day counts. to is exclusive.
func (s Site) Window() (from, to time.Time) {
	y, m, day := s.Now.In(s.Zone).Date()
	last := min(day, time.Date(y+2, m+1, 0, 0, 0, 0, 0, time.UTC).Day())
	return s.Midnight(Date{At: s.Now}, 0),
		s.Midnight(Date{At: time.Date(y+2, m, last, 0, 0, 0, 0, time.UTC), Naive: true}, 1)
}

// inTime reports whether an event satisfies the date filters of a query (contract, section 9.1). start_date replaces
// the start of the default window, end_date its end. The other date filters replace the whole window.
func (s Site) inTime(e *Event, q EventQuery) bool {
	from, to := s.Window()
	_, startsBefore := q.Dates["starts_before"]
	_, startsAfter := q.Dates["starts_after"]
	_, endsBefore := q.Dates["ends_before"]
	_, endsAfter := q.Dates["ends_after"]
	relative := startsBefore || startsAfter || endsBefore || endsAfter
	if _, sent := q.Dates["start_date"]; !sent && !relative && e.Start.Before(from) {
		return false
	}
	if _, sent := q.Dates["end_date"]; !sent && !relative && !e.End.Before(to) {
		return false
	}
	for name, d := range q.Dates {
		if !s.matchesDate(e, name, d, q.Strict) {
			return false
		}
	}
	return true
}

// matchesDate reports whether an event satisfies the date filter with a name. If strict, d is an instant, otherwise
// it means its whole day. Unknown names return false.
func (s Site) matchesDate(e *Event, name string, d Date, strict bool) bool {
	first, end := s.Midnight(d, 0), s.Midnight(d, 1) // of the day; the end is not part of it
	if strict {
		first, end = s.moment(d), s.moment(d)
	}
	isAfter := func(t time.Time) bool { return t.After(end) || !strict && t.Equal(end) }
	switch name {
	case "start_date":
		return !e.Start.Before(first)
	case "end_date":
		return !isAfter(e.End)
	case "starts_before":
		return e.Start.Before(end)
	case "starts_after":
		return isAfter(e.Start)
	case "ends_before":
		return e.End.Before(end)
	case "ends_after":
		return isAfter(e.End)
	}
	return false
}
