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

	live    []int64 // have a start to be matched
	deleted []int64 // are matched with the exdates
	trashed []int64 // were in the trash before this step, and come back where their start does
}

// target is a start in the new schedule, with its phase.
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

// targets returns all starts of the new schedule, split into starts with an occurrence and excluded ones (exdates).
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

// sortOccurrences sorts the occurrences into live, deleted and trashed ones. Those before the cut stay as they are,
// unless they are in the trash. An occurrence whose start is a new exdate goes to the trash, unless it has begun.
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

// match assigns starts to occurrences by their old starts. It first pairs equal starts, then those on the same day,
// then those in the same period of the rule. It returns the ids that got no start.
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

// isTaken reports whether some occurrence has been assigned a start.
func (m *matching) isTaken(at time.Time) bool {
	return slices.Contains(slices.Collect(maps.Values(m.placed)), at)
}

// staysException reports whether an unmatched occurrence stays, because it has own fields or has begun. It makes the
// start of such an occurrence an rdate.
func (m *matching) staysException(id int64) bool {
	e := m.series.Events[id]
	if e.Own == "" && !m.series.begun(e) {
		return false
	}
	m.keepStart(id)
	return true
}

// keepStart assigns an occurrence its old start, and adds this start to the new schedule if it is missing there.
func (m *matching) keepStart(id int64) {
	at := m.series.Events[id].Nominal
	m.placed[id] = at
	phase := &m.phases[PhaseOf(m.phases, at)]
	if !phase.has(at) {
		phase.addRDate(at)
	}
	delete(phase.ExDate, at)
}

// removeFromSchedule marks occurrences as removed by a change of the schedule, rather than deleted by a user.
func (m *matching) removeFromSchedule(ids []int64) {
	for _, id := range ids {
		m.series.change(id, func(e *Event) { e.OffSchedule = true })
	}
}

// fillStarts gives each start without an occurrence one: the occurrence in the trash with the same start, or a new
// one.
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

// setNominalStarts stores the assigned starts as nominal starts. If a start of an occurrence in the trash was
// assigned to another one, it gets the start that became free. Occurrences that have begun keep their dates.
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

// freeStart returns a start that is free for an occurrence in the trash. If at was assigned to an occurrence, that is
// the occurrence's old start, found recursively. Otherwise it is at.
func (m *matching) freeStart(at time.Time) time.Time {
	for id, given := range m.placed {
		if old := m.series.Events[id].Nominal; given.Equal(at) && !old.Equal(at) {
			return m.freeStart(old)
		}
	}
	return at
}
