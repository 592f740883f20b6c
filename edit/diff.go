package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// diff writes values into a mutation and notes the names of those that changed. For a new row it writes all.
type diff struct {
	fresh  bool
	fields []string // names as in the API
	own    []string // the same, those of a translation with its language, as title:pl
}

func (d *diff) note(name string) { d.noteIn("", name) }

// noteIn is note for a text that is written in a language other than the original; "" is the original.
func (d *diff) noteIn(l calendar.Language, name string) {
	d.fields = append(d.fields, name)
	if l != "" {
		name += ":" + string(l)
	}
	d.own = append(d.own, name)
}

// put writes value with set if it is new. An empty name is not noted.
func put[T comparable](d *diff, name string, old, value T, set func(T)) {
	if !d.fresh && old == value {
		return
	}
	set(value)
	if name != "" {
		d.note(name)
	}
}

// putTime is put for instants, which are the same in every location.
func putTime(d *diff, name string, old, value time.Time, set func(time.Time)) {
	put(d, name, old.Unix(), value.Unix(), func(int64) { set(value) })
}

// putOptional is put for a column that may be null.
func putOptional[T comparable](d *diff, name string, old, value *T, set func(T), clear func()) {
	switch {
	case value == nil && old == nil:
		return
	case value == nil:
		clear()
	case old != nil && *old == *value:
		return
	default:
		set(*value)
	}
	if name != "" {
		d.note(name)
	}
}

// valueOr returns the value sent, or else the one stored.
func valueOr[T any](old T, sent *T) T {
	if sent != nil {
		return *sent
	}
	return old
}

// applyID is like valueOr for an id that is null when it is 0.
func applyID(old, sent *int64) *int64 {
	switch {
	case sent == nil:
		return old
	case *sent == 0:
		return nil
	}
	return new(*sent)
}
