package listreference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Reply is a list in full: all ids in order, or the names of the parameters that are invalid.
type Reply struct {
	Invalid []string
	IDs     []int64
}

// fault adds the name of an invalid parameter.
func (a *Reply) fault(name string) {
	if !slices.Contains(a.Invalid, name) {
		a.Invalid = append(a.Invalid, name)
	}
}

// statuses checks a filter by status.
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

// event checks a parameter that names an event: it exists, the caller may read it, and it is not in the trash.
func (w *Calendar) event(a *Reply, name string, s Site, c Caller, id *int64) {
	w.eventThat(a, name, id, func(e *Event) bool { return s.Shows(&e.Record, c, nil) })
}

// openEvent checks an event whose links are requested. A password protects them, and the request cannot send it.
func (w *Calendar) openEvent(a *Reply, name string, s Site, c Caller, id *int64) {
	w.eventThat(a, name, id, func(e *Event) bool {
		return s.Shows(&e.Record, c, nil) && !s.Redacts(e, c)
	})
}

// eventThat checks that there is an event with an id that fits.
func (w *Calendar) eventThat(a *Reply, name string, id *int64, fits func(*Event) bool) {
	if id != nil && !slices.ContainsFunc(w.Events, func(e *Event) bool { return e.ID == *id && fits(e) }) {
		a.fault(name)
	}
}

// areTerms returns the ids of categories or tags with those that are below them. A word is a slug in any language, or else an id.
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

// areLinked checks ids of venues or organizers: they exist, the caller may read them, and they are not in the trash.
func (w *Calendar) areLinked(a *Reply, name string, s Site, c Caller, kind calendar.Kind, ids []int64) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.Linked[kind], func(l *Linked) bool { return l.ID == id && s.Shows(&l.Record, c, nil) }) {
			a.fault(name)
		}
	}
}
