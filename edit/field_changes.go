package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// diff records the names of the fields that a write changes. Functions such as putValue add them when they set a
// changed field. For a new row, isNew is true and putValue sets unchanged values as well.
type diff struct {
	isNew            bool
	fields           []string // names of the changed fields in the API
	namesInLanguages []string // names of the changed fields; that of a translation ends with its language, such as title:pl
}

func (d *diff) note(name string) { d.noteIn("", name) }

// noteIn records that a field changed in the language l. "" means the original language.
func (d *diff) noteIn(l calendar.Language, name string) {
	d.fields = append(d.fields, name)
	if l != "" {
		name += ":" + string(l)
	}
	d.namesInLanguages = append(d.namesInLanguages, name)
}

// putValue calls set(value) if value differs from old or the row is new, and notes the name of the field in d. The
// name "" is not noted.
func putValue[T comparable](d *diff, name string, old, value T, set func(T)) {
	if !d.isNew && old == value {
		return
	}
	set(value)
	if name != "" {
		d.note(name)
	}
}

// putTime calls set(value) and notes the field in d if value is another second than old, or if the row is new.
// It ignores the locations of the times.
func putTime(d *diff, name string, old, value time.Time, set func(time.Time)) {
	putValue(d, name, old.Unix(), value.Unix(), func(int64) { set(value) })
}

// putOptional sets a column that can be null, if value differs from old. It calls set, or clear if value is nil. It
// notes the name of the field in d, unless it is "".
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

// putFields sets those fields in m that differ between the rows old and row, and notes their names in d. For a new
// row it sets all fields. It does not note changes of texts, because their language is known only in rewrite.
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

// ValueOr returns *sent, or old if sent is nil. A nil pointer in an input means that the client did not send the
// field.
func ValueOr[T any](old T, sent *T) T {
	if sent != nil {
		return *sent
	}
	return old
}

// applyID returns the id in a column after a write. It is the sent id, nil if 0 was sent, and old if nothing was
// sent.
func applyID(old, sent *int64) *int64 {
	switch {
	case sent == nil:
		return old
	case *sent == 0:
		return nil
	}
	return new(*sent)
}
