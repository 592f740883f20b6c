package series

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
)

// storedStart is a stored occurrence, to be matched with the starts of changed schedules.
type storedStart struct {
	nominal      calendar.Wall
	earlier      bool // the phase of the occurrence does not change
	begun        bool // the occurrence has begun, so its dates stay, though its nominal start may change
	hasOwnFields bool // the occurrence has own fields
	trashed      bool
	excluded     bool // a client trashed the occurrence, so its start is an exdate
}

// matchedStart is the outcome of the match for a stored occurrence.
type matchedStart struct {
	nominal     calendar.Wall
	removed     bool // the occurrence goes to the trash: the schedule lacks or excludes its start
	restored    bool // the occurrence leaves the trash, because the schedule has its start again
	offSchedule bool // the occurrence is in the trash, and the schedule lacks its start
}

// newStart is a start in a changed schedule, with the index of its phase.
type newStart struct {
	phase int
	recur.Occurrence
}

// tooManyOccurrences returns the error for a write that would create more than most occurrences.
func tooManyOccurrences(most int) error {
	return &recur.Error{Param: "rrule", Reason: recur.TooManyOccurrences, Data: map[string]any{"maximum": most}}
}

// matchStarts matches the stored occurrences of a series with the starts of its changed phases, which are the
// phases from index k on. Stored is in the order of the starts. It returns the outcome for each stored
// occurrence, and the starts that need a new occurrence. An occurrence with own fields and without a start
// keeps its start, which becomes an rdate. Until is the last start of the last phase that gets an occurrence.
// It returns an error if there is no start at all or if more than most occurrences are new.
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
			out[i].nominal = m.vacated(s.nominal)
		}
	}
	return out, fresh, nil
}

// matching is the state of matchStarts.
type matching struct {
	stored []storedStart
	phases []seriesPhase
	k      int
	taken  map[calendar.Wall]int // index of the stored occurrence at each new start
	placed []bool                // whether each stored occurrence has a new start
}

func (m *matching) place(i int, start calendar.Wall) { m.taken[start], m.placed[i] = i, true }

// match gives stored occurrences the starts: first those of the same time, then of the same day, then of the
// same period of the rule. It returns the occurrences without a start. List has indexes of stored occurrences.
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

// keep gives the occurrence with index i its old start. If that start is an exdate of the phase, keep removes
// the exdate. If the phase lacks the start, it becomes an rdate.
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

// vacated returns the start for an occurrence in the trash. If another occurrence took its start, it returns
// the start that this one left, and so on.
func (m *matching) vacated(start calendar.Wall) calendar.Wall {
	for {
		i, taken := m.taken[start]
		if !taken || m.stored[i].nominal.Equal(start) {
			return start
		}
		start = m.stored[i].nominal
	}
}
