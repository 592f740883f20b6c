package scopemodel

import (
	"slices"
	"time"
)

// update applies a write of a field with the scope following or all. The keys of its maps are ids of occurrences.
type update struct {
	Write
	before Series  // as it was
	series *Series // as it becomes

	ids       []int64 // of the occurrences before the write, by nominal start
	addressed Event   // of a write to the series the zero value

	isReached    map[int64]bool // in the scope of the write
	sendsTitle   bool           // another title than the stored one
	losesTitle   map[int64]bool // these take the phase's title again
	followsDates map[int64]bool // these take the schedule's dates again
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

// reaches reports whether an occurrence is in the scope of the write. Scope all selects every occurrence. Scope
// following selects the addressed one and those with the same or a later nominal start.
func (u *update) reaches(id int64) bool {
	return u.Scope == All || id == u.ID || !u.series.Events[id].Nominal.Before(u.addressed.Nominal)
}

// setPhaseTitles writes a sent title to the phases in the scope (step 1). With following it first splits the phase,
// unless all titles stay. A title equal to the addressed record's counts as not sent.
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

// changeOwnFields decides which fields of an occurrence in the scope keep values of their own (steps 1 and 4). Drop
// removes such fields, and so does sending a field to the addressed occurrence. Own dates stay if keepsDates is true.
// A move then changes only the addressed occurrence, if it has not begun.
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

// keepsDates reports whether changes of the schedule leave an occurrence's dates alone, because it has begun or its
// nominal start is past. It is false in the trash.
func (u *update) keepsDates(e Event) bool {
	return !e.Trashed && (u.series.begun(e) || !e.Nominal.After(u.series.Now))
}

// settle copies title and dates from the schedule to an occurrence after all steps, except fields of its own.
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

// titleOf returns the new title of an occurrence without an own one, and whether its title changes. It is the title
// that was sent to it, or else its phase's. The latter applies if it is new, leaves the trash, loses its own title,
// or changes to a phase with another title.
func (u *update) titleOf(id int64, e Event) (title string, changes bool) {
	if u.sendsTitle && u.isReached[id] {
		return u.Title, true
	}
	phase := u.series.phaseOf(e.Nominal)
	old, existed := u.before.Events[id]
	return phase.Title, !existed || u.losesTitle[id] || old.Trashed && !e.Trashed ||
		!e.OffSchedule && u.before.phaseOf(old.Nominal).Title != phase.Title
}

// reschedule computes the new schedule and matches the occurrences with it (steps 2 and 3). It returns ErrRefused for
// a series in the trash. It does so too if an occurrence of an earlier phase would start after the new schedule.
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
