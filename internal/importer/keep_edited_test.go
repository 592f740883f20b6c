package importer

import (
	"reflect"
	"slices"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// TestEveryFieldOfAnEventIsKept sets all fields of an input, and checks for each field of the schema that keepEvent clears
// one of them.
func TestEveryFieldOfAnEventIsKept(t *testing.T) {
	t.Parallel()
	names := []string{"status", "date", "categories", "tags", "venue", "organizer", "author", "slug"}
	for _, f := range ent.EventFields {
		names = append(names, f.Name)
	}
	for _, name := range append(names, movingFields...) {
		in := &edit.EventInput{}
		fillPointers(reflect.ValueOf(in).Elem())
		text := "text"
		c := &change{differs: true, texts: textWrites{all: []translationWrite{
			{language: calendar.English, title: &text, description: &text, excerpt: &text, slug: &text, reason: &text},
			{language: calendar.Polish, title: &text, description: &text, excerpt: &text, slug: &text, reason: &text},
		}}}
		s := storedTexts{kind: calendar.Event, id: 1, original: calendar.Text{Language: calendar.English}}
		kept, err := keepEvent(c, s, in, editedFields{name: true})
		want := name
		if slices.Contains(movingFields, name) {
			want = datesField
		}
		if err != nil || !slices.Equal(kept, []string{want}) {
			t.Errorf("%s: kept %v, %v", name, kept, err)
		}
	}
}

// fillPointers sets all pointers of a struct to zero values.
func fillPointers(v reflect.Value) {
	for _, f := range v.Fields() {
		switch f.Kind() {
		case reflect.Struct:
			fillPointers(f)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
}
