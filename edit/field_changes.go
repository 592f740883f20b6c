package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// diff sets changed values in a mutation and records the names of the changed fields. For a new row it sets all
// values.
type diff struct {
	isNew            bool
	fields           []string // names of the changed fields in the API
	namesInLanguages []string // names as in fields; for a translation with its language, as in title:pl
}

func (d *diff) note(name string) { d.noteIn("", name) }

// noteIn records that the field name changed in language l. "" means the original language.
func (d *diff) noteIn(l calendar.Language, name string) {
	d.fields = append(d.fields, name)
	if l != "" {
		name += ":" + string(l)
	}
	d.namesInLanguages = append(d.namesInLanguages, name)
}

// putValue calls set with value if value differs from old or the row is new. An empty name is not recorded.
func putValue[T comparable](d *diff, name string, old, value T, set func(T)) {
	if !d.isNew && old == value {
		return
	}
	set(value)
	if name != "" {
		d.note(name)
	}
}

// putTime is putValue for instants. It compares whole seconds, because equal instants may have different locations.
func putTime(d *diff, name string, old, value time.Time, set func(time.Time)) {
	putValue(d, name, old.Unix(), value.Unix(), func(int64) { set(value) })
}

// putOptional is putValue for a column that may be null. Nil means null.
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

// putFields sets the fields of the API in a mutation that differ between two rows. For a new row it sets all. Changes of
// texts are recorded with their language where they are rewritten.
func putFields[R, M, T any](d *diff, fields []ent.Field[R, M, T], m M, old, row R) {
	for _, f := range fields {
		same := f.Same(old, row)
		if !same || d.isNew {
			f.Set(m, row)
		}
		if !same && f.Text == nil {
			d.note(f.Name)
		}
	}
}

// ValueOr returns the sent value. If sent is nil, it returns the stored value old.
func ValueOr[T any](old T, sent *T) T {
	if sent != nil {
		return *sent
	}
	return old
}

// applyID returns the id that was sent, nil for a sent 0. If nothing was sent, it returns the stored id old.
func applyID(old, sent *int64) *int64 {
	switch {
	case sent == nil:
		return old
	case *sent == 0:
		return nil
	}
	return new(*sent)
}
