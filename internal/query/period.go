package query

import (
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
)

// Period is a stretch of whole days of the site. An event takes place in it that starts before its end, and ends after its
// beginning or starts at it. An all-day event is on the days of its own dates, a protected one at its times.
type Period struct {
	First, Last calendar.Wall // the first second and the last one
	From, To    time.Time     // the same as instants; To is not after LastSecond
}

// PeriodOf returns the period between two midnights of a zone. The second is exclusive.
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

// maxZoneDifference is more than the clocks of two zones differ by.
const maxZoneDifference = 48 * time.Hour

// predicates selects events, or withdrawals, whose columns have the same names. timed selects all-day rows that are
// shown at their times. Nil selects none.
func (p Period) predicates(timed func(*sql.Selector)) []func(*sql.Selector) {
	near := Window{StartMax: new(earlierTime(p.To.Add(maxZoneDifference), LastSecond)), EndMin: new(p.From.Add(-maxZoneDifference))}
	var where []func(*sql.Selector)
	for _, bound := range near.predicates() {
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
