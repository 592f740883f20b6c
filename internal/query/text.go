package query

import (
	"strconv"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/search"
)

// HasText returns a predicate for records of a kind by their search text in a language. The text must contain every
// string in all and no string in none. These strings must have the form of search.Fold. Both databases compare byte
// by byte.
func HasText[P predicateOf](kind calendar.Kind, language calendar.Language, all, none []string) P {
	return func(s *sql.Selector) {
		t := sql.Table(searchtext.Table)
		where := []*sql.Predicate{
			sql.ColumnsEQ(t.C(searchtext.FieldOwnerID), s.C(event.FieldID)),
			sql.EQ(t.C(searchtext.FieldKind), kind),
			sql.P(func(b *sql.Builder) {
				b.Ident(t.C(searchtext.FieldLanguages)).WriteString(" & " + strconv.Itoa(language.Bit()) + " <> 0")
			}),
		}
		contains := func(text, comparison string) *sql.Predicate {
			return sql.P(func(b *sql.Builder) {
				b.WriteString("INSTR(").Ident(t.C(searchtext.FieldText)).Comma().Arg(text).WriteString(") " + comparison + " 0")
			})
		}
		for _, text := range all {
			where = append(where, contains(text, ">"))
		}
		for _, text := range none {
			where = append(where, contains(text, "="))
		}
		s.Where(sql.Exists(sql.Select(t.C(searchtext.FieldID)).From(t).Where(sql.And(where...))))
	}
}

// splitQuery returns the texts that a search requires, and the texts that it excludes.
func splitQuery(q search.Query) (all, none []string) {
	for _, t := range q.Terms {
		if t.Exclude {
			none = append(none, t.Text)
		} else {
			all = append(all, t.Text)
		}
	}
	return all, none
}
