package occurrencemodel

import (
	"maps"
	"slices"
	"time"
)

// Rule is a recurrence rule with at most one start a day. All starts have the time of day of the first one.
type Rule struct {
	Text  string                          // as clients send it
	Has   func(start, day time.Time) bool // reports whether a day has a start
	Count int                             // 0 means no limit
	Until time.Time                       // zero means no limit
}

// isEndless reports whether the rule has no last start. It is false for a nil rule.
func (r *Rule) isEndless() bool { return r != nil && r.Count == 0 && r.Until.IsZero() }

// Rules are recurrence rules without a limit. Each gives a start on the day on which its series begins.
var Rules = []Rule{
	{Text: "FREQ=DAILY;INTERVAL=9", Has: func(start, day time.Time) bool { return daysBetween(start, day)%9 == 0 }},
	{Text: "FREQ=WEEKLY", Has: func(start, day time.Time) bool { return daysBetween(start, day)%7 == 0 }},
	{Text: "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR,SA,SU,TU,TH", Has: func(start, day time.Time) bool {
		sinceMonday := (int(start.Weekday()) + 6) % 7
		return (daysBetween(start, day)+sinceMonday)/7%2 == 0
	}},
	{Text: "FREQ=MONTHLY", Has: func(start, day time.Time) bool { return start.Day() == day.Day() }},
	{Text: "FREQ=YEARLY", Has: func(start, day time.Time) bool {
		return start.Day() == day.Day() && start.Month() == day.Month()
	}},
}

func daysBetween(start, day time.Time) int { return int(day.Sub(start).Hours()) / 24 }

// Series is a series with one schedule. Wall times are stored as if in UTC. ExDate has the nominal starts without an
// occurrence, in the form of time.DateTime. Occurrences up to GeneratedUntil are stored.
type Series struct {
	Title          string
	Start          time.Time
	Rule           *Rule // nil for a series of Start and RDate
	RDate          []time.Time
	ExDate         map[string]bool
	GeneratedUntil time.Time
	Version        int64
}

// Starts returns the nominal starts in the period (after, last] that have an occurrence. It tries each day, to be
// independent of package recur. Starts in ExDate are left out but count for COUNT.
func (s *Series) Starts(after, last time.Time) []string {
	all := append(s.ruleStarts(last), s.RDate...)
	found := map[string]bool{}
	for _, at := range all {
		nominal := at.Format(time.DateTime)
		if at.After(after) && !at.After(last) && !s.ExDate[nominal] {
			found[nominal] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ruleStarts returns the starts of the rule up to last, inclusive. Without a rule it returns the start of the
// series.
func (s *Series) ruleStarts(last time.Time) (starts []time.Time) {
	if s.Rule == nil {
		return []time.Time{s.Start}
	}
	if until := s.Rule.Until; !until.IsZero() && until.Before(last) {
		last = until
	}
	for at := s.Start; !at.After(last); at = at.AddDate(0, 0, 1) {
		if s.Rule.Count > 0 && len(starts) == s.Rule.Count {
			break
		}
		if s.Rule.Has(s.Start, at) {
			starts = append(starts, at)
		}
	}
	return starts
}

// AllStarts returns all nominal starts for which a write at Now stores occurrences.
func (c *Calendar) AllStarts(s *Series) []string { return s.Starts(time.Time{}, c.horizon(s)) }

// horizon returns the wall time up to which a write stores occurrences (contract, section 19.4). It is 25 months from
// Now in the site's zone, or the year 9999 for a series that ends.
func (c *Calendar) horizon(s *Series) time.Time {
	if !s.Rule.isEndless() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	local := c.Now.In(c.Zone)
	y, month, day := local.Date()
	return time.Date(y, month+25, day, local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
}

// isDue reports whether Extend adds occurrences to a series now. That is so from 24 months and 15 days before its
// GeneratedUntil. The id spreads the series over the week before that.
func (c *Calendar) isDue(id int64, s *Series) bool {
	if !s.Rule.isEndless() {
		return false
	}
	// Two hours, or one in winter, are the distance of Warsaw from UTC: too little to matter, by the choice of dates.
	return !c.Now.Before(s.GeneratedUntil.AddDate(0, -24, -15-int(id%7)).Add(-2 * time.Hour))
}
