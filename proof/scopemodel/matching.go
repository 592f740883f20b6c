package scopemodel

import (
	"maps"
	"slices"
	"time"
)

// matching assigns the occurrences of a series to the starts of its new schedule (step 3 of an update).
type matching struct {
	*update
	*schedule
	placed map[int64]time.Time // the starts that occurrences get or keep, by id

	live    []int64 // occurrences to match with starts
	deleted []int64 // occurrences to match with excluded starts
	trashed []int64 // occurrences in the trash before this step, restored if the schedule has their start
}

// target is a start in the new schedule, with the phase of the series that it belongs to.
type target struct {
	phase *Phase
	at    time.Time
}

func (m *matching) apply() error {
	starts, exdates := m.targets()
	if len(starts) == 0 {
		return ErrRefused
	}
	m.sortOccurrences(exdates)
	rest := slices.DeleteFunc(m.match(m.live, starts), m.staysException)
	m.removeFromSchedule(m.match(m.deleted, exdates))
	for _, id := range rest {
		m.series.change(id, func(e *Event) { e.Trashed = true })
	}
	m.removeFromSchedule(m.match(rest, exdates))
	m.fillStarts(starts)
	m.setNominalStarts()
	return nil
}

// targets returns all starts of the new schedule. exdates are the excluded ones, which get no occurrence.
func (m *matching) targets() (starts, exdates []target) {
	for i := range m.phases {
		p := &m.phases[i]
		for _, at := range p.Starts() {
			if p.ExDate[at] {
				exdates = append(exdates, target{p, at})
			} else {
				starts = append(starts, target{p, at})
			}
		}
	}
	return starts, exdates
}

// sortOccurrences adds occurrences to the lists live, deleted and trashed. All that are in the trash get into
// trashed. The schedule changes from the nominal start cut. Occurrences before it get into no other list, and a zero
// cut is after all. The others go to the trash if the new schedule excludes their start. If such a one has begun, it keeps its
// start as an rdate instead.
func (m *matching) sortOccurrences(exdates []target) {
	for _, id := range m.ids {
		e := m.series.Events[id]
		isBeforeCut := m.cut.IsZero() || e.Nominal.Before(m.cut)
		if e.Trashed {
			m.trashed = append(m.trashed, id)
		}
		switch {
		case isBeforeCut:
		case m.series.isDeleted(e):
			m.deleted = append(m.deleted, id)
		case e.Trashed:
		case !slices.ContainsFunc(exdates, func(t target) bool { return t.at.Equal(e.Nominal) }):
			m.live = append(m.live, id)
		case m.series.begun(e):
			m.keepStart(id)
		default:
			m.placed[id] = e.Nominal
			m.series.change(id, func(e *Event) { e.Trashed = true })
		}
	}
}

// match assigns starts to occurrences by their old starts, each at most once. It first pairs equal starts, then those
// on the same day, then those in the same period of the rule. It returns the ids that got no start.
func (m *matching) match(ids []int64, to []target) (rest []int64) {
	steps := []func(p *Phase, a, b time.Time) bool{
		func(_ *Phase, a, b time.Time) bool { return a.Equal(b) },
		func(_ *Phase, a, b time.Time) bool { return isSameDay(a, b) },
		(*Phase).isSamePeriod,
	}
	for _, isSame := range steps {
		for _, t := range to {
			i := slices.IndexFunc(ids, func(id int64) bool {
				return !m.isPlaced(id) && isSame(t.phase, m.series.Events[id].Nominal, t.at)
			})
			if i >= 0 && !m.isTaken(t.at) {
				m.placed[ids[i]] = t.at
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), m.isPlaced)
}

func (m *matching) isPlaced(id int64) bool {
	_, placed := m.placed[id]
	return placed
}

// isTaken reports whether an occurrence has been assigned the start.
func (m *matching) isTaken(at time.Time) bool {
	return slices.Contains(slices.Collect(maps.Values(m.placed)), at)
}

// staysException reports whether an occurrence without a new start stays: it has begun, or has fields of its own. The
// new schedule then gets its old start as an rdate, unless it has it.
func (m *matching) staysException(id int64) bool {
	e := m.series.Events[id]
	if e.Own == "" && !m.series.begun(e) {
		return false
	}
	m.keepStart(id)
	return true
}

// keepStart assigns an occurrence its old start. If the new schedule lacks this start, it becomes an rdate. An
// exclusion of it is removed.
func (m *matching) keepStart(id int64) {
	at := m.series.Events[id].Nominal
	m.placed[id] = at
	phase := &m.phases[PhaseOf(m.phases, at)]
	if !phase.has(at) {
		phase.addRDate(at)
	}
	delete(phase.ExDate, at)
}

// removeFromSchedule marks occurrences as removed by a change of the schedule, rather than by a user.
func (m *matching) removeFromSchedule(ids []int64) {
	for _, id := range ids {
		m.series.change(id, func(e *Event) { e.OffSchedule = true })
	}
}

// fillStarts gives each start without an occurrence one. It restores the occurrence in the trash with the same
// nominal start, or adds a new one.
func (m *matching) fillStarts(starts []target) {
	newID := int64(0)
	for _, t := range starts {
		if m.isTaken(t.at) {
			continue
		}
		i := slices.IndexFunc(m.trashed, func(id int64) bool { return !m.isPlaced(id) && m.series.Events[id].Nominal.Equal(t.at) })
		if i < 0 {
			newID--
			m.series.Events[newID] = Event{Nominal: t.at, Start: t.at}
			continue
		}
		id := m.trashed[i]
		m.series.change(id, func(e *Event) { e.Trashed, e.OffSchedule = false, false })
		m.placed[id], m.followsDates[id] = t.at, true
	}
}

// setNominalStarts stores the assigned starts as nominal starts. If another occurrence got the start of one in the
// trash, that one gets the start that became free. It then marks occurrences whose dates follow the schedule. Those
// that have begun keep their dates.
func (m *matching) setNominalStarts() {
	nominal := maps.Clone(m.placed)
	for id, e := range m.series.Events {
		if !m.isPlaced(id) {
			nominal[id] = m.freeStart(e.Nominal)
		}
	}
	for id, at := range nominal {
		m.series.change(id, func(e *Event) {
			isNew, wasTrashed := id < 0, slices.Contains(m.trashed, id)
			keepsDates := m.series.begun(*e) && !wasTrashed && !isNew
			if !keepsDates && (m.isPlaced(id) || !e.Nominal.Equal(at)) {
				m.followsDates[id] = true
			}
			e.Nominal = at
		})
	}
}

// freeStart returns a nominal start for an occurrence in the trash. It is at, unless another occurrence got that.
// Then it is the other one's old start, found recursively.
func (m *matching) freeStart(at time.Time) time.Time {
	for id, given := range m.placed {
		if old := m.series.Events[id].Nominal; given.Equal(at) && !old.Equal(at) {
			return m.freeStart(old)
		}
	}
	return at
}
