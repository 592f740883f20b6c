package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// SearchText is a text of a record in which searches look for words. It is folded, so that case and diacritics do
// not matter. The program folds it, because the database engines disagree. The table is derived from the records
// and can be rebuilt at any time.
type SearchText struct{ ent.Schema }

// Fields declares the columns of a SearchText.
func (SearchText) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.Int64("owner_id").Immutable().Comment("id of the record, or of the term for categories and tags"),
		field.Int("languages").Immutable().
			Comment("bits of the request languages the text is served in: 1 en, 2 pl, 4 es"),
		field.Text("text").Immutable().
			Comment("an event's texts in one row, by lines; of others, one row for each field"),
	}
}

// Indexes declares the database indexes of a SearchText.
func (SearchText) Indexes() []ent.Index {
	return []ent.Index{index.Fields("owner_id", "kind")} // for the texts of one record
}
