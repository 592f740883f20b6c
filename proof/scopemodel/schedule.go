package scopemodel

import (
	"fmt"
	"slices"
	"time"
)

// schedule is the list of phases of a series after a change. The phases in earlier stay unchanged. The others begin
// at the nominal start cut, which is zero if all nominal starts in the scope are past.
type schedule struct {
	earlier []Phase
	phases  []Phase
	cut     time.Time
}

// newSchedule computes the phases of a series after an update (step 2). It returns nil if the update does not change
// them.
func (u *update) newSchedule() (*schedule, error) {
	cut := u.findCut()
	if cut.IsZero() {
		return u.extendSchedule()
	}
	phases := u.series.Phases
	at, addressed := PhaseOf(phases, cut), len(phases)-1
	if u.ID != 0 {
		addressed = PhaseOf(phases, u.addressed.Nominal)
	}
	parts, k := splitPhases(phases, cut)
	gone := startsBeforePhase(parts, k)
	if isSplit := len(parts) > len(phases); isSplit {
		gone = startsBeforePhase(phases, at)
		for _, start := range phases[at].RuleStarts() {
			if start.Before(cut) {
				gone++
			}
		}
		if addressed >= at {
			addressed++
		}
	}
	reached := parts[k:]
	if u.Action == SetRule { // replaces later phases
		reached, addressed = parts[k:k+1], k
	}
	changed, err := u.changePhases(reached, max(addressed-k, -1), parts[:k], gone)
	if err != nil || fmt.Sprint(changed) == fmt.Sprint(parts[k:]) {
		return nil, err
	}
	return &schedule{parts[:k], changed, cut}, nil
}

// findCut returns the nominal start from which the schedule changes, zero if there is none. For scope following it is
// the addressed occurrence's nominal start, if that is in the future and the occurrence has not begun. Otherwise it
// is the first future start in the scope.
func (u *update) findCut() time.Time {
	s := u.series
	if u.Scope == Following && !s.begun(u.addressed) && u.addressed.Nominal.After(s.Now) {
		return u.addressed.Nominal
	}
	for _, p := range s.Phases {
		for _, at := range p.Starts() {
			if at.After(s.Now) && (u.Scope == All || !at.Before(u.addressed.Nominal)) {
				return at
			}
		}
	}
	return time.Time{}
}

// extendSchedule computes the schedule of a series whose starts in the scope are all past. It adds a phase with the
// future starts of the changed last phase. It returns nil if nothing changes, and ErrRefused without a future start.
func (u *update) extendSchedule() (*schedule, error) {
	phases, now := u.series.Phases, u.series.Now
	last := len(phases) - 1
	list, err := u.changePhases(phases[last:], 0, phases, startsBeforePhase(phases, last))
	if err != nil {
		return nil, err
	}
	p := list[0]
	switch {
	case u.Action == SetRDate && len(p.RDate) == 0:
		return nil, nil
	case u.Action == SetExDate && !hasOtherExDates(&p, &phases[last]):
		return nil, nil
	}
	isNewRule := u.Action == SetRule && u.Scope == Following
	if isNewRule {
		p.Count = 500 // the first start that is not past is among them; COUNT begins there
	}
	i := slices.IndexFunc(p.liveStarts(), func(at time.Time) bool { return at.After(now) })
	if i < 0 {
		return nil, ErrRefused
	}
	p, _ = p.part(startsFrom(p.liveStarts()[i]))
	if isNewRule {
		p.Count = u.Rule.Count
		p = p.withoutStrayExDates()
	}
	return &schedule{earlier: phases, phases: []Phase{p}}, nil
}

// hasOtherExDates reports whether p has an exdate that other lacks.
func hasOtherExDates(p, other *Phase) bool {
	for at := range p.ExDate {
		if !other.ExDate[at] {
			return true
		}
	}
	return false
}

// changePhases applies the sent field to phases and returns the result. reached are those in the scope. The write was
// sent to the one with the index addressed, -1 if that is an earlier one. With scope all, the sent COUNT includes the
// given number of gone starts.
func (u *update) changePhases(reached []Phase, addressed int, earlier []Phase, gone int) ([]Phase, error) {
	phases := slices.Clone(reached)
	switch u.Action {
	case Move:
		for i := range phases {
			phases[i] = phases[i].movedBy(u.By)
		}
	case SetRule:
		p := &phases[0]
		p.Rule = u.Rule
		if u.Scope == All {
			if p.Count -= gone; p.Count <= 0 {
				return nil, ErrRefused
			}
		}
		*p = p.withoutStrayExDates()
	case SetRDate:
		u.sendRDates(phases, addressed, earlier)
	case SetExDate:
		return phases, u.sendExDates(phases, addressed, earlier)
	}
	return phases, nil
}

// sendRDates replaces RDate of the phase with the index addressed, none if -1. Dates that fall into other given
// phases are added to their RDate. Dates that are starts of earlier phases are ignored.
func (u *update) sendRDates(phases []Phase, addressed int, earlier []Phase) {
	bounds := slices.Clone(phases) // of the time that each phase covers
	if addressed >= 0 {
		phases[addressed].RDate = nil
	}
	for _, at := range u.Dates {
		if !slices.ContainsFunc(earlier, func(p Phase) bool { return p.has(at) }) {
			phases[PhaseOf(bounds, at)].addRDate(at)
		}
	}
	for i := range phases {
		phases[i] = phases[i].withoutStrayExDates()
	}
}

// sendExDates replaces ExDate of the phase with the index addressed, none if -1. Dates that are starts of other given
// phases are added to their ExDate. Dates that are neither such starts nor exdates of earlier phases return
// ErrRefused.
func (u *update) sendExDates(phases []Phase, addressed int, earlier []Phase) error {
	if addressed >= 0 {
		phases[addressed].ExDate = map[time.Time]bool{}
	}
	for _, at := range u.Dates {
		isKnown := slices.ContainsFunc(earlier, func(p Phase) bool { return p.ExDate[at] })
		for i := range phases {
			if phases[i].has(at) {
				phases[i].addExDate(at)
				isKnown = true
			}
		}
		if !isKnown {
			return ErrRefused
		}
	}
	return nil
}

// endBeforeNext shortens phases so that they end before the next one starts. It drops phases without starts.
func (s *schedule) endBeforeNext() {
	for i := 0; i+1 < len(s.phases); {
		p, hasStarts := s.phases[i].part(startsBefore(s.phases[i+1].first()))
		if !hasStarts {
			s.phases = slices.Delete(s.phases, i, i+1)
			continue
		}
		s.phases[i] = p
		i++
	}
}
