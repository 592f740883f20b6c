package series

import (
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
)

// seriesPhase is a part of a series with one schedule and one template. The template has the fields that occurrences
// in this part share. Its methods use no database.
type seriesPhase struct {
	recur.Schedule
	template ent.Event
}

// phaseOf returns the index of the phase, a part of a series, that contains a nominal start. It is the last phase
// that does not begin later than nominal. A nominal start before all phases belongs to the first one.
func phaseOf(phases []seriesPhase, nominal calendar.Wall) int {
	return recur.PhaseAt(phases, func(p seriesPhase) calendar.Wall { return p.First() }, nominal)
}

// splitPhases splits the part of a series that contains the nominal start at. The first half has the starts before
// at. A phase is not split if one half would have no start. It returns all phases, and the index of the first one
// that has no starts before at. The index is the number of phases if all have some.
func splitPhases(phases []seriesPhase, at calendar.Wall) ([]seriesPhase, int) {
	k := phaseOf(phases, at)
	before, hasBefore, rest, hasRest := phases[k].Split(at)
	switch {
	case !hasBefore:
		return phases, k
	case !hasRest:
		return phases, k + 1
	}
	split := slices.Insert(slices.Clone(phases), k, phases[k])
	split[k].Schedule, split[k+1].Schedule = before, rest
	return split, k + 1
}

// haveOccurrence reports whether the schedules in phases have any occurrence that is not excluded.
func haveOccurrence(phases []seriesPhase) bool {
	for _, p := range phases {
		for range p.Occurrences(calendar.Wall{}, recur.LastStart()) {
			return true
		}
	}
	return false
}

// firstAfter returns the first nominal start of a series whose occurrence begins after now by the schedules in
// phases. It ignores nominal starts before from. The result false means none.
func firstAfter(phases []seriesPhase, from calendar.Wall, now time.Time) (calendar.Wall, bool) {
	for _, p := range phases {
		for o := range p.Occurrences(calendar.Wall{}, recur.LastStart()) {
			if !o.Nominal.Before(from) && o.StartsAt().After(now) {
				return o.Nominal, true
			}
		}
	}
	return calendar.Wall{}, false
}

// withoutExDates returns copies of the phases without their exdates. So the excluded starts count as starts.
func withoutExDates(phases []seriesPhase) []seriesPhase {
	all := slices.Clone(phases)
	for i := range all {
		all[i].ExDate = nil
	}
	return all
}

// sameSchedules reports whether two lists of phases have equal schedules in the same order.
func sameSchedules(a, b []seriesPhase) bool {
	return slices.EqualFunc(a, b, func(p, q seriesPhase) bool { return p.scheduleText() == q.scheduleText() })
}

// scheduleText returns a text that identifies the schedule of p. Equal schedules have the same text.
func (p *seriesPhase) scheduleText() string {
	return fmt.Sprint(p.Start, p.End, p.Zone, p.AllDay, p.Rule, p.RDate, p.ExDate)
}
