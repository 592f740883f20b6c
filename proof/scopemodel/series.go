// Package scopemodel computes what a write with a scope does to a series. It follows the contract, section 19.5. A
// nominal start is the wall time at which the schedule says an occurrence starts, wherever that occurrence was moved.
// A write is sent to one occurrence, the addressed one, or to the series. It reaches the occurrences in its scope.
//
// It is a second, simple implementation of these rules and shares no code with package edit. Comments number the steps as that
// section does. A phase is a list of starts, and a write compares the occurrences before and after it. Tests draw writes, send
// them to both, and compare. The model has one series with one text, the title, and all schedules are short.
package scopemodel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Series is a model of a series with its phases and occurrences. Now is the time of the next write. All wall times
// are in one zone, stored as if in UTC.
type Series struct {
	Now     time.Time
	Phases  []Phase
	Events  map[int64]Event
	Trashed bool
}

// Event is an occurrence. Own lists the fields whose values differ from its phase's by a write to this occurrence.
// They are title, start_date and end_date, in this order, separated by spaces. OffSchedule means that a change of the
// schedule removed the occurrence.
type Event struct {
	Nominal, Start       time.Time
	Title                string
	Own                  string
	Trashed, OffSchedule bool
}

// Scope is the parameter of a write that selects occurrences: this, following or all.
type Scope string

// This, Following and All are the values of Scope.
const (
	This      Scope = "this"
	Following Scope = "following"
	All       Scope = "all"
)

// Action is the kind of a write: the name of the field that it sends, delete or restore.
type Action string

// SetTitle to Restore are the values of Action. SetTitle to SetRDate send one field.
const (
	SetTitle  Action = "title"
	Move      Action = "move" // a start_date
	SetRule   Action = "rule"
	SetExDate Action = "exdate"
	SetRDate  Action = "rdate"
	Delete    Action = "delete"
	Restore   Action = "restore"
)

// Write is a write to the occurrence with the ID, or to the series if ID is 0. The action decides which of Title, By,
// Rule and Dates is sent. Drop means exceptions=drop.
type Write struct {
	Action Action
	Scope  Scope
	ID     int64
	Title  string
	By     time.Duration
	Rule   Rule
	Dates  []time.Time
	Drop   bool
}

func (w Write) String() string {
	return fmt.Sprintf("%s of %s at %d (%s, %s, %s %d×%d, %v, drop %v)",
		w.Action, w.Scope, w.ID, w.Title, w.By, w.Rule.Unit, w.Rule.Count, w.Rule.Every, w.Dates, w.Drop)
}

// ErrRefused is the error of a write that the service refuses.
var ErrRefused = errors.New("refused")

// After returns the expected state of the series after a write. New occurrences have negative ids. A write that the
// service refuses returns ErrRefused.
func (s Series) After(w Write) (Series, error) {
	after := s.clone()
	var err error
	switch {
	case w.Scope == This:
		err = after.writeOccurrence(w)
	case w.Action == Delete:
		err = after.trash(w)
	case w.Action == Restore:
		after.restore()
	default:
		err = (&update{Write: w, before: s, series: &after}).apply()
	}
	return after, err
}

func (s Series) clone() Series {
	s.Phases, s.Events = slices.Clone(s.Phases), maps.Clone(s.Events)
	for i := range s.Phases {
		s.Phases[i].ExDate = maps.Clone(s.Phases[i].ExDate)
		s.Phases[i].RDate = slices.Clone(s.Phases[i].RDate)
	}
	return s
}

// begun reports whether an occurrence has begun: it starts at Now or earlier.
func (s *Series) begun(e Event) bool { return !e.Start.After(s.Now) }

// phaseOf returns the phase that a nominal start belongs to. The caller may change the phase.
func (s *Series) phaseOf(at time.Time) *Phase { return &s.Phases[PhaseOf(s.Phases, at)] }

// isDeleted reports whether a user deleted an occurrence. It is then in the trash, and the schedule excludes its
// start.
func (s *Series) isDeleted(e Event) bool {
	return e.Trashed && !e.OffSchedule && s.phaseOf(e.Nominal).ExDate[e.Nominal]
}

// idsByStart returns the ids of the occurrences in the order of their nominal starts.
func (s *Series) idsByStart() []int64 {
	ids := slices.Sorted(maps.Keys(s.Events))
	slices.SortFunc(ids, func(a, b int64) int { return s.Events[a].Nominal.Compare(s.Events[b].Nominal) })
	return ids
}

// change applies do to the occurrence with an id and stores the result.
func (s *Series) change(id int64, do func(e *Event)) {
	e := s.Events[id]
	do(&e)
	s.Events[id] = e
}

// writeOccurrence applies a write with the scope this. A changed title and a moved start become fields of the
// occurrence's own. A delete excludes its start from the schedule. A restore of an occurrence that the schedule lacks
// adds its start as an rdate. Deleting an occurrence in the trash returns ErrRefused.
func (s *Series) writeOccurrence(w Write) error {
	e := s.Events[w.ID]
	phase := s.phaseOf(e.Nominal)
	switch w.Action {
	case SetTitle:
		if e.Title != w.Title {
			e.Title = w.Title
			e.addOwn("title")
		}
	case Move:
		e.moveBy(w.By)
	case Delete:
		if e.Trashed {
			return ErrRefused
		}
		e.Trashed = true
		phase.ExDate[e.Nominal] = true
	case Restore:
		delete(phase.ExDate, e.Nominal)
		if e.OffSchedule {
			phase.addRDate(e.Nominal)
		}
		e.Trashed, e.OffSchedule = false, false
	}
	s.Events[w.ID] = e
	return nil
}

// trash applies a DELETE with the scope following or all. With following, the schedule ends before the occurrence. If
// no start is left, or with all, the whole series goes to the trash and keeps its schedule. It returns ErrRefused if
// the addressed occurrence or series is in the trash.
func (s *Series) trash(w Write) error {
	addressed, isOccurrence := s.Events[w.ID]
	if isOccurrence && addressed.Trashed || !isOccurrence && s.Trashed {
		return ErrRefused
	}
	phases, first := s.Phases, 0
	if w.Scope == Following {
		phases, first = splitPhases(s.Phases, addressed.Nominal)
	}
	s.Trashed = !slices.ContainsFunc(phases[:first], func(p Phase) bool { return len(p.liveStarts()) > 0 })
	for _, id := range s.idsByStart() {
		if s.Trashed || PhaseOf(phases, s.Events[id].Nominal) >= first {
			s.change(id, func(e *Event) {
				e.Trashed, e.OffSchedule = true, e.OffSchedule || !s.Trashed
			})
		}
	}
	if !s.Trashed {
		s.Phases = phases[:first]
	}
	return nil
}

// restore applies a status that is sent to a series in the trash. It restores the occurrences that were trashed along
// with the series. Those deleted or removed before stay in the trash.
func (s *Series) restore() {
	for id, e := range s.Events {
		if !e.OffSchedule && !s.isDeleted(e) {
			s.change(id, func(e *Event) { e.Trashed = false })
		}
	}
	s.Trashed = false
}

// moveBy moves an occurrence by a duration and makes its dates fields of its own.
func (e *Event) moveBy(by time.Duration) {
	e.Start = e.Start.Add(by)
	e.addOwn("start_date", "end_date")
}

// owns reports whether a field has a value of the occurrence's own, which may differ from its phase's.
func (e *Event) owns(name string) bool { return slices.Contains(strings.Fields(e.Own), name) }

// removeOwn makes fields of an occurrence take their values from its phase again.
func (e *Event) removeOwn(names ...string) {
	list := slices.DeleteFunc(strings.Fields(e.Own), func(name string) bool { return slices.Contains(names, name) })
	e.Own = strings.Join(list, " ")
}

// addOwn marks fields whose values are the occurrence's own.
func (e *Event) addOwn(names ...string) {
	order := []string{"title", "start_date", "end_date"}
	list := slices.DeleteFunc(order, func(name string) bool { return !e.owns(name) && !slices.Contains(names, name) })
	e.Own = strings.Join(list, " ")
}
