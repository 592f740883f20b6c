// Package translations exchanges texts with translators. It lists missing translations, exports texts to a file
// for translation tools, and imports that file.
//
// A text is identified by kind, id and field, such as event/123/title. Package edit stores imported texts, by
// the same rules as for the API. An import never changes the original of a record, only its translations.
// Records in the trash are left out.
//
// Files are JSON. Each text is a unit with its source, its translation if there is one, and a note. Names and
// titles are plain text: "&" is a character. Descriptions and excerpts of events, venues and organizers are HTML.
// The import sanitises it like the API. Unless Importer.Force is set, a unit is imported only if its source text
// has not changed since the export. White space does not count, because tools rearrange it.
package translations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Kinds lists the kinds with translatable texts, in the order of lists and exports.
var Kinds = calendar.TranslatedKinds

// Field is the name of a translatable text of a record.
type Field string

// The fields. Events have a title, an excerpt and a reason of their event status. Other records have a name.
// Only descriptions and excerpts of records are HTML; those of terms are plain text.
const (
	Title       Field = "title"
	Name        Field = "name"
	Description Field = "description"
	Excerpt     Field = "excerpt"
	Slug        Field = "slug"
	Reason      Field = "event_status_reason"
)

// Fields returns the fields of a kind that can be translated (contract, section 14). The slug comes last. A translation
// does not need a slug, so a slug never counts as missing.
func Fields(kind calendar.Kind) []Field {
	if kind == calendar.Event {
		return []Field{Title, Description, Excerpt, Reason, Slug}
	}
	return []Field{Name, Description, Slug}
}

// ID identifies one text of a record, whatever its language.
type ID struct {
	Kind   calendar.Kind
	Record int64
	Field  Field
}

// String returns the ID in the form for files: event/123/title.
func (id ID) String() string {
	return string(id.Kind) + "/" + strconv.FormatInt(id.Record, 10) + "/" + string(id.Field)
}

// parseID parses the result of String.
func parseID(s string) (ID, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return ID{}, fmt.Errorf("%q: want KIND/ID/FIELD", shorten(s))
	}
	id := ID{Kind: calendar.Kind(parts[0]), Field: Field(parts[2])}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	switch {
	case !slices.Contains(Kinds, id.Kind):
		return ID{}, fmt.Errorf("%q: no kind of record is called %q", shorten(s), shorten(parts[0]))
	case err != nil || n <= 0 || strconv.FormatInt(n, 10) != parts[1]:
		return ID{}, fmt.Errorf("%q: no record has the id %q", shorten(s), shorten(parts[1]))
	case !slices.Contains(Fields(id.Kind), id.Field):
		return ID{}, fmt.Errorf("%q: a translation of this kind has no %q", shorten(s), shorten(parts[2]))
	}
	id.Record = n
	return id, nil
}

// shorten cuts a text from a file, for use in an error message.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// isHTML reports whether a field is sanitised HTML. Descriptions of terms are plain text.
func isHTML(kind calendar.Kind, f Field) bool {
	return !kind.IsTerm() && (f == Description || f == Excerpt)
}

// record has the texts of a record in all languages. The name is in the field Title.
type record struct {
	kind     calendar.Kind
	id       int64
	trashed  bool
	original calendar.Text
	others   []calendar.Text
}

// textIn returns the text in a language. Nil means that there is none.
func (r *record) textIn(l calendar.Language) *calendar.Text {
	if r.original.Language == l {
		return &r.original
	}
	for i := range r.others {
		if r.others[i].Language == l {
			return &r.others[i]
		}
	}
	return nil
}

// text returns the text of a field in a language. "" means that there is none.
func (r *record) text(l calendar.Language, f Field) string { return field(r.textIn(l), f) }

func field(t *calendar.Text, f Field) string {
	if t == nil {
		return ""
	}
	switch f {
	case Title, Name:
		return t.Title
	case Description:
		return t.Description
	case Excerpt:
		return t.Excerpt
	case Slug:
		return t.Slug
	case Reason:
		return t.EventStatusReason
	}
	return ""
}

// missing returns the fields with text in the original but not in language l. It never returns the slug.
func (r *record) missing(l calendar.Language) []Field {
	var out []Field
	if l == r.original.Language {
		return nil
	}
	for _, f := range Fields(r.kind) {
		if f != Slug && field(&r.original, f) != "" && r.text(l, f) == "" {
			out = append(out, f)
		}
	}
	return out
}
