package series

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
)

// storedStart is the nominal start of a stored occurrence and its state, as input of matchStarts.
type storedStart struct {
	nominal      calendar.Wall
	earlier      bool // true if the occurrence is before the changed part of the series
	begun        bool // the occurrence has begun, so its dates stay, though its nominal start may change
	hasOwnFields bool // the occurrence has fields that were written for it alone
	trashed      bool
	excluded     bool // a client trashed the occurrence, so its start is an exdate
}

// matchedStart is the result of matchStarts for a stored occurrence: its new nominal start, and whether it goes to
// the trash or returns.
type matchedStart struct {
	nominal     calendar.Wall
	removed     bool // true if the occurrence goes to the trash, because the schedule lacks or excludes its start
	restored    bool // true if the occurrence leaves the trash, because the schedule has its start again
	offSchedule bool // the occurrence is in the trash, and the schedule lacks its start
}

// newStart is a start in a changed schedule for which an occurrence will be created. The field phase is the index of
// the part of the series.
type newStart struct {
	phase int
	recur.Occurrence
}

// tooManyOccurrences returns the error for a write that would create more than most occurrences.
func tooManyOccurrences(most int) error {
	return &recur.Error{Param: "rrule", Reason: recur.TooManyOccurrences, Data: map[string]any{"maximum": most}}
}

// matchStarts assigns the starts of a changed schedule to the stored occurrences of a series. The phases, parts with
// one schedule, are changed from index k on. The list stored is in the order of the starts. Occurrences are created
// up to the nominal start until.
//
// It returns the result for each stored occurrence, and the starts for which a new occurrence is created. An
// occurrence that has begun or has own fields keeps its start if it fits none. That start becomes an rdate of its
// phase. It returns an error if there is no start at all, or if more than most occurrences would be new.
func matchStarts(
	stored []storedStart, phases []seriesPhase, k int, until calendar.Wall, most int,
) ([]matchedStart, []newStart, error) {
	var starts, excluded []newStart
	for i := k; i < len(phases); i++ {
		last := recur.LastStart()
		if i == len(phases)-1 {
			last = until
		}
		for o := range phases[i].Occurrences(calendar.Wall{}, last) {
			if len(starts) == len(stored)+most {
				return nil, nil, tooManyOccurrences(most)
			}
			starts = append(starts, newStart{i, o})
		}
		for _, w := range phases[i].ExDate {
			excluded = append(excluded, newStart{i, recur.Occurrence{Nominal: w}})
		}
	}
	if len(starts) == 0 {
		return nil, nil, &recur.Error{Param: "rrule", Reason: recur.NoOccurrences, Data: map[string]any{}}
	}
	m := matching{stored, phases, k, make(map[calendar.Wall]int), make([]bool, len(stored))}
	out := make([]matchedStart, len(stored))
	var live, gone []int
	for i, s := range stored {
		out[i].offSchedule = s.trashed && !s.excluded
		switch {
		case s.earlier:
		case s.excluded:
			gone = append(gone, i)
		case s.trashed:
		case !slices.ContainsFunc(excluded, func(n newStart) bool { return n.Nominal.Equal(s.nominal) }):
			live = append(live, i)
		case s.begun:
			m.keep(i)
		default:
			m.place(i, s.nominal)
			out[i].removed = true
		}
	}
	var left []int
	for _, i := range m.match(live, starts) {
		switch {
		case stored[i].begun, stored[i].hasOwnFields:
			m.keep(i)
		default:
			left = append(left, i)
		}
	}
	for _, i := range m.match(gone, excluded) {
		out[i].offSchedule = true
	}
	for _, i := range left {
		out[i].removed = true
	}
	for _, i := range m.match(left, excluded) {
		out[i].offSchedule = true
	}
	trashed := make(map[calendar.Wall]int)
	for i, s := range stored {
		if s.trashed && !m.placed[i] {
			trashed[s.nominal] = i
		}
	}
	var fresh []newStart
	for _, n := range starts {
		if _, taken := m.taken[n.Nominal]; taken {
			continue
		}
		i, ok := trashed[n.Nominal]
		if !ok {
			fresh = append(fresh, n)
			continue
		}
		m.place(i, n.Nominal)
		out[i].restored, out[i].offSchedule = true, false
	}
	if len(fresh) > most {
		return nil, nil, tooManyOccurrences(most)
	}
	for start, i := range m.taken {
		out[i].nominal = start
	}
	for i, s := range stored {
		if !m.placed[i] {
			out[i].nominal = m.freedStart(s.nominal)
		}
	}
	return out, fresh, nil
}

// matching is the state of matchStarts while it assigns starts to stored occurrences.
type matching struct {
	stored []storedStart
	phases []seriesPhase
	k      int
	taken  map[calendar.Wall]int // index of the stored occurrence at each new start
	placed []bool                // true if the stored occurrence got a new start
}

func (m *matching) place(i int, start calendar.Wall) { m.taken[start], m.placed[i] = i, true }

// match assigns starts to those stored occurrences whose indexes are in list. It prefers a start at the same time,
// then on the same day, then in the rule's same period. It returns the indexes of the occurrences that get no start.
func (m *matching) match(list []int, starts []newStart) []int {
	nominal := func(_ int, w calendar.Wall) calendar.Wall { return w }
	day := func(_ int, w calendar.Wall) calendar.Wall { return w.StartOfDay() }
	period := func(phase int, w calendar.Wall) calendar.Wall { return m.phases[phase].Rule.Period(w) }
	for _, key := range []func(phase int, w calendar.Wall) calendar.Wall{nominal, day, period} {
		for p := m.k; p < len(m.phases); p++ {
			left := make(map[calendar.Wall][]int)
			for _, i := range list {
				if !m.placed[i] {
					at := key(p, m.stored[i].nominal)
					left[at] = append(left[at], i)
				}
			}
			for _, n := range starts {
				if _, taken := m.taken[n.Nominal]; taken || n.phase != p {
					continue
				}
				if at := key(p, n.Nominal); len(left[at]) > 0 {
					m.place(left[at][0], n.Nominal)
					left[at] = left[at][1:]
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(i int) bool { return m.placed[i] })
}

// keep assigns its old start to the stored occurrence with index i. The start is removed from the exdates of its
// phase. If the schedule lacks it, it becomes an rdate.
func (m *matching) keep(i int) {
	w := m.stored[i].nominal
	p := &m.phases[max(m.k, phaseOf(m.phases, w))]
	if excluded := slices.DeleteFunc(slices.Clone(p.ExDate), w.Equal); len(excluded) < len(p.ExDate) {
		p.ExDate = excluded
	} else if !p.Has(w) {
		p.RDate = edit.InsertStart(slices.Clone(p.RDate), w)
	}
	m.place(i, w)
}

// freedStart returns a free nominal start for an occurrence in the trash, whose old one is start. If another
// occurrence took that, it returns the start that the other one left, and so on.
func (m *matching) freedStart(start calendar.Wall) calendar.Wall {
	for {
		i, taken := m.taken[start]
		if !taken || m.stored[i].nominal.Equal(start) {
			return start
		}
		start = m.stored[i].nominal
	}
}
