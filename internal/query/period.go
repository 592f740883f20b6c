package query

import (
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
)

// Period is a range of whole days in the zone of the site. An event is in a period if it starts before its end,
// and ends after its beginning or starts exactly then. All-day events are compared by their own dates,
// protected ones by their times.
type Period struct {
	First, Last calendar.Wall // first and last second, as wall times
	From, To    time.Time     // first and last second, as instants; To is not after LastSecond
}

// PeriodOf returns the period of whole days in a zone. It begins at the midnight first and ends one second before
// the midnight after, at LastSecond at the latest.
func PeriodOf(zone calendar.Zone, first, after calendar.Wall) Period {
	to := zone.Instant(after).Add(-time.Second)
	return Period{first, after.Add(-time.Second), zone.Instant(first), earlierTime(to, LastSecond)}
}

func earlierTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// maxZoneDifference is larger than the difference between any two time zones.
const maxZoneDifference = 48 * time.Hour

// Near returns a window of instants that contains all events of the period, and few others. It helps to find
// candidates, because the database has an index on instants.
func (p Period) Near() Window {
	return Window{StartMax: new(earlierTime(p.To.Add(maxZoneDifference), LastSecond)), EndMin: new(p.From.Add(-maxZoneDifference))}
}

// predicates returns conditions for the rows in the period. They fit the tables of events and of withdrawals, which
// have these columns in common. timed selects all-day rows that are compared by their times instead of their dates.
// Nil selects no such rows.
func (p Period) predicates(timed func(*sql.Selector)) []func(*sql.Selector) {
	var where []func(*sql.Selector)
	for _, bound := range p.Near().predicates() {
		where = append(where, bound)
	}
	allDay := sql.FieldEQ(event.FieldAllDay, true)
	atTimes := sql.FieldEQ(event.FieldAllDay, false)
	if timed != nil {
		allDay = sql.AndPredicates(allDay, sql.NotPredicates(timed))
		atTimes = sql.OrPredicates(atTimes, timed)
	}
	return append(where, sql.OrPredicates(
		sql.AndPredicates(atTimes, sql.FieldLTE(event.FieldStartsAt, p.To), sql.OrPredicates(
			sql.FieldGT(event.FieldEndsAt, p.From), sql.FieldGTE(event.FieldStartsAt, p.From))),
		sql.AndPredicates(allDay, sql.FieldLTE(event.FieldStartWall, p.Last), sql.FieldGTE(event.FieldEndWall, p.First)),
	))
}
