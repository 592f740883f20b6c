// Package translations exchanges texts with translators. It lists what is missing in a language, exports a file for their
// tools and imports that file.
//
// A text is named by kind, id and field, such as event/123/title. What is written goes through package edit, as
// the writes of the API do. The original of a record is never changed here, only what it says in other languages.
// Records in the trash are left out.
//
// Files are JSON or XLIFF 2.0. Each text is a unit with its source, its translation if there is one,
// and a note. Names and titles are plain text: "&" is a character. Descriptions and excerpts of events, venues and
// organizers are HTML; they stand in the files as text, with the tags as characters (&lt;p&gt; in XML), because
// they may be changed as the language requires. They come back through the sanitiser of the API. A unit is taken
// if its source still is what it was; white space apart, which tools rearrange.
package translations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Kinds lists the kinds that have texts, in the order in which they are listed and exported.
var Kinds = []calendar.Kind{
	calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag,
}

// Field is a text of a record that can be translated.
type Field string

// The fields. Events have a title, an excerpt and a reason of their state, all else a name. Only descriptions and
// excerpts of records, not of terms, are HTML.
const (
	Title       Field = "title"
	Name        Field = "name"
	Description Field = "description"
	Excerpt     Field = "excerpt"
	Slug        Field = "slug"
	Reason      Field = "event_status_reason"
)

// Fields lists what is translated of a kind (contract, section 14). The slug is last: a translation may do without
// one, so it is never missing.
func Fields(kind calendar.Kind) []Field {
	if kind == calendar.Event {
		return []Field{Title, Description, Excerpt, Reason, Slug}
	}
	return []Field{Name, Description, Slug}
}

// ID names a text, whatever the language.
type ID struct {
	Kind   calendar.Kind
	Record int64
	Field  Field
}

// String returns the ID as it stands in files: event/123/title.
func (id ID) String() string { return id.joined("/") }

func (id ID) joined(by string) string {
	return string(id.Kind) + by + strconv.FormatInt(id.Record, 10) + by + string(id.Field)
}

// ParseID reads what String wrote. Dots may stand for the slashes, because the ids of XLIFF 2.0 have no slashes.
func ParseID(s string) (ID, error) {
	parts := strings.Split(strings.ReplaceAll(s, ".", "/"), "/")
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

// shorten keeps what a file quotes from filling a screen.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// isTerm reports whether a kind is that of a term: never in the trash, its description plain text.
func isTerm(k calendar.Kind) bool { return k == calendar.Category || k == calendar.Tag }

// isHTML reports whether a field is sanitised HTML.
func isHTML(kind calendar.Kind, f Field) bool {
	return !isTerm(kind) && (f == Description || f == Excerpt)
}

// record has the texts of a record in its languages. A name is in the field of the title.
type record struct {
	kind     calendar.Kind
	id       int64
	trashed  bool
	original calendar.Text
	others   []calendar.Text
}

// textIn returns the text in a language, nil when there is none.
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

// text returns one field in a language, "" when there is none.
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

// missing lists the fields, without the slug, that the original has and a language has not.
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
