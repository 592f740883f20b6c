package listreference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Reply is the expected reply to a list request: the ids of all pages in order, or invalid parameters by name.
type Reply struct {
	Invalid []string
	IDs     []int64
}

// fault adds a parameter to the invalid ones of the expected reply, unless it is there.
func (a *Reply) fault(name string) {
	if !slices.Contains(a.Invalid, name) {
		a.Invalid = append(a.Invalid, name)
	}
}

// statuses marks the parameter status as invalid if a requested status is unknown. Callers below contributor may only
// request publish.
func (a *Reply) statuses(c Caller, asked []calendar.Status) {
	for _, word := range asked {
		switch word {
		case calendar.Publish:
		case calendar.Future, calendar.Draft, calendar.Pending, calendar.Private, calendar.Trash:
			if c.Role < Contributor {
				a.fault("status")
			}
		default:
			a.fault("status")
		}
	}
}

// event marks the parameter with a name as invalid unless the caller may read the event with the id. It must not be
// in the trash. A nil id is valid.
func (w *Calendar) event(a *Reply, name string, s Site, c Caller, id *int64) {
	w.eventThat(a, name, id, func(e *Event) bool { return s.Shows(&e.Record, c, nil) })
}

// openEvent marks the parameter with a name as invalid unless the caller may read the event with the id. It must not
// be in the trash. If the event has a password, the caller must be allowed to edit it. A nil id is valid.
func (w *Calendar) openEvent(a *Reply, name string, s Site, c Caller, id *int64) {
	w.eventThat(a, name, id, func(e *Event) bool {
		return s.Shows(&e.Record, c, nil) && !s.Redacts(e, c)
	})
}

// eventThat marks the parameter with a name as invalid unless an event has the id and satisfies fits. A nil id is
// valid.
func (w *Calendar) eventThat(a *Reply, name string, id *int64, fits func(*Event) bool) {
	if id != nil && !slices.ContainsFunc(w.Events, func(e *Event) bool { return e.ID == *id && fits(e) }) {
		a.fault(name)
	}
}

// areTerms finds the categories or tags that a parameter names by ids or slugs in any language. A slug wins over an
// id. It returns their ids with those of all descendants. Unknown words make the parameter invalid.
func (w *Calendar) areTerms(a *Reply, name string, taxonomy calendar.Kind, words []string) []int64 {
	var ids []int64
	for _, word := range words {
		var bySlug, byID int64
		for _, t := range w.Terms[taxonomy] {
			if t.Texts.hasSlug(strings.ToLower(word)) {
				bySlug = t.ID
			}
			if strconv.FormatInt(t.ID, 10) == word {
				byID = t.ID
			}
		}
		if id := cmp.Or(bySlug, byID); id != 0 {
			ids = append(ids, id)
		} else {
			a.fault(name)
		}
	}
	for i := 0; i < len(ids); i++ { // ids grows
		for _, t := range w.Terms[taxonomy] {
			if t.Parent == ids[i] && !slices.Contains(ids, t.ID) {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

// areLinked marks the parameter with a name as invalid unless the caller may read all venues or organizers with the
// ids. They must not be in the trash.
func (w *Calendar) areLinked(a *Reply, name string, s Site, c Caller, kind calendar.Kind, ids []int64) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.Linked[kind], func(l *Linked) bool { return l.ID == id && s.Shows(&l.Record, c, nil) }) {
			a.fault(name)
		}
	}
}
