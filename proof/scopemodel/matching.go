package scopemodel

import (
	"maps"
	"slices"
	"time"
)

// matching is step 3: it matches the occurrences with the starts of a new schedule.
type matching struct {
	*update
	*schedule
	placed map[int64]time.Time // the starts that occurrences get or keep, by id

	live    []int64 // have a start to be matched
	deleted []int64 // are matched with the exdates
	trashed []int64 // were in the trash before this step, and come back where their start does
}

// target is a start of a phase of the new schedule.
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

// targets returns the starts with an occurrence, and those of exdates.
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

// sortOccurrences decides how each occurrence takes part. One before the cut does not, unless it is in the trash. One whose
// start is a sent exdate goes to the trash as after DELETE, but one that has begun stays.
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

// match gives the starts to occurrences, each step on what is left: the same nominal start, the same day, the same week,
// month or day of the rule, in order. It returns the occurrences that get none.
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

// isTaken reports whether an occurrence has a start.
func (m *matching) isTaken(at time.Time) bool {
	return slices.Contains(slices.Collect(maps.Values(m.placed)), at)
}

// staysException reports whether an unmatched occurrence stays: it has own fields or has begun. Its start becomes an rdate.
func (m *matching) staysException(id int64) bool {
	e := m.series.Events[id]
	if e.Own == "" && !m.series.begun(e) {
		return false
	}
	m.keepStart(id)
	return true
}

// keepStart leaves an occurrence its start, which the new schedule gets.
func (m *matching) keepStart(id int64) {
	at := m.series.Events[id].Nominal
	m.placed[id] = at
	phase := &m.phases[PhaseOf(m.phases, at)]
	if !phase.has(at) {
		phase.addRDate(at)
	}
	delete(phase.ExDate, at)
}

// removeFromSchedule marks occurrences in the trash as removed by a change of the schedule.
func (m *matching) removeFromSchedule(ids []int64) {
	for _, id := range ids {
		m.series.change(id, func(e *Event) { e.OffSchedule = true })
	}
}

// fillStarts gives each unmatched start the occurrence in the trash that had it, else a new one.
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

// setNominalStarts gives all occurrences their nominal starts. What stays in the trash leaves its start to the occurrence that
// was given it, and gets the start that became free. An occurrence that has begun keeps its dates.
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

// freeStart returns the start that became free where another occurrence was given a start. It is the one that this occurrence
// had, or the one that became free for that, and so on. A start that no occurrence was given stays.
func (m *matching) freeStart(at time.Time) time.Time {
	for id, given := range m.placed {
		if old := m.series.Events[id].Nominal; given.Equal(at) && !old.Equal(at) {
			return m.freeStart(old)
		}
	}
	return at
}
