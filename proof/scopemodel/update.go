package scopemodel

import (
	"slices"
	"time"
)

// update is a write of fields with the scope following or all. The maps name occurrences by id.
type update struct {
	Write
	before Series  // as it was
	series *Series // as it becomes

	ids       []int64 // of the occurrences before the write, by nominal start
	addressed Event   // of a write to the series the zero value

	isReached    map[int64]bool
	sendsTitle   bool           // another title than the stored one
	losesTitle   map[int64]bool // the title is the phase's again
	followsDates map[int64]bool // the dates are the schedule's again
}

func (u *update) apply() error {
	u.ids, u.addressed = u.series.idsByStart(), u.before.Events[u.ID]
	u.isReached, u.losesTitle, u.followsDates = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	u.setPhaseTitles()
	for _, id := range u.ids {
		if u.reaches(id) {
			u.isReached[id] = true
			u.changeOwnFields(id)
		}
	}
	if slices.Contains([]Action{Move, SetRule, SetExDate, SetRDate}, u.Action) {
		if err := u.reschedule(); err != nil {
			return err
		}
	}
	for id := range u.series.Events {
		u.settle(id)
	}
	return nil
}

// reaches reports whether a write reaches an occurrence. With following, these are the addressed one and those whose nominal start
// is not earlier. With all, it is any.
func (u *update) reaches(id int64) bool {
	return u.Scope == All || id == u.ID || !u.series.Events[id].Nominal.Before(u.addressed.Nominal)
}

// setPhaseTitles is step 1 for phases: following splits the phase, unless all titles stay. A sent title that equals that
// of the addressed record counts as not sent.
func (u *update) setPhaseTitles() {
	if u.Action != SetTitle {
		return
	}
	stored := u.addressed.Title
	if u.ID == 0 {
		stored = u.series.Phases[len(u.series.Phases)-1].Title
	}
	if u.sendsTitle = u.Title != stored; !u.sendsTitle {
		return
	}
	phases, first := u.series.Phases, 0
	if u.Scope == Following {
		phases, first = splitPhases(phases, u.addressed.Nominal)
	}
	if slices.ContainsFunc(phases[first:], func(p Phase) bool { return p.Title != u.Title }) {
		for i := first; i < len(phases); i++ {
			phases[i].Title = u.Title
		}
		u.series.Phases = phases
	}
}

// changeOwnFields is steps 1 and 4 for the own fields of a reached occurrence. Drop takes them away, and the addressed
// occurrence loses those that are sent. An occurrence whose nominal start is past keeps own dates. If it is the addressed
// one and has not begun, it is moved alone.
func (u *update) changeOwnFields(id int64) {
	e, old := u.series.Events[id], u.series.Events[id]
	keepsDates := u.keepsDates(e)
	if u.Drop {
		e.removeOwn("title")
		if !keepsDates {
			e.removeOwn("start_date", "end_date")
		}
	}
	if id == u.ID && u.sendsTitle {
		e.removeOwn("title")
	}
	if id == u.ID && u.Action == Move {
		switch {
		case !keepsDates:
			e.removeOwn("start_date", "end_date")
		case !u.series.begun(e):
			e.moveBy(u.By)
		}
	}
	u.losesTitle[id] = old.owns("title") && !e.owns("title")
	u.followsDates[id] = old.owns("start_date") && !e.owns("start_date")
	u.series.Events[id] = e
}

// keepsDates reports whether the schedule does not reach the dates of an occurrence: it has begun, or its nominal start is past.
func (u *update) keepsDates(e Event) bool {
	return !e.Trashed && (u.series.begun(e) || !e.Nominal.After(u.series.Now))
}

// settle gives an occurrence the title and the dates of its phase after all steps, where they are not its own.
func (u *update) settle(id int64) {
	e := u.series.Events[id]
	if title, changes := u.titleOf(id, e); changes && !e.owns("title") {
		e.Title = title
	}
	if u.followsDates[id] && !e.owns("start_date") {
		e.Start = e.Nominal
	}
	u.series.Events[id] = e
}

// titleOf returns the title that an occurrence gets unless it has its own: the sent one, or that of its phase. It returns false
// if the title stays. That of the phase is for an occurrence that is new, loses its own title, leaves the trash, or is now in
// a phase with another title.
func (u *update) titleOf(id int64, e Event) (title string, changes bool) {
	if u.sendsTitle && u.isReached[id] {
		return u.Title, true
	}
	phase := u.series.phaseOf(e.Nominal)
	old, existed := u.before.Events[id]
	return phase.Title, !existed || u.losesTitle[id] || old.Trashed && !e.Trashed ||
		!e.OffSchedule && u.before.phaseOf(old.Nominal).Title != phase.Title
}

// reschedule is steps 2 and 3 for the schedule.
func (u *update) reschedule() error {
	if u.series.Trashed || u.addressed.OffSchedule {
		return ErrRefused
	}
	s, err := u.newSchedule()
	if err != nil || s == nil {
		return err
	}
	s.endBeforeNext()
	if k := len(s.earlier); k > 0 && slices.ContainsFunc(s.earlier[k-1].liveStarts(), startsFrom(s.phases[0].first())) {
		return ErrRefused // an occurrence of an earlier phase would start after the new one
	}
	m := &matching{update: u, schedule: s, placed: map[int64]time.Time{}}
	if err := m.apply(); err != nil {
		return err
	}
	u.series.Phases = slices.Concat(s.earlier, s.phases)
	return nil
}
