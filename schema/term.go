package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Term is a category or a tag. Both share the id sequence of this table.
type Term struct{ ent.Schema }

// Mixin adds the columns that a Term shares with other tables.
func (Term) Mixin() []ent.Mixin { return []ent.Mixin{tracked{}, namedMixin{}} }

// Fields declares the columns of a Term.
func (Term) Fields() []ent.Field {
	fields := []ent.Field{
		field.Int64("id"),
		field.String("taxonomy").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.Int64("parent_id").Optional().Nillable().Comment("categories only"),
		field.Int("event_count").Default(0).
			Comment("published events that carry the term; changed in the transaction that changes them"),
	}
	// The engines sort texts differently, and not by the rules of each language. So Go computes these keys from
	// the texts. They are null until then.
	for _, l := range calendar.Languages {
		fields = append(fields, field.Bytes("sort_"+string(l)).Optional().SchemaType(upTo(calendar.NameKeySize)).
			Annotations(unread{}).
			Comment("calendar.SortKey of the name as it is served in the language"))
	}
	for _, l := range calendar.Languages {
		fields = append(fields, field.Bytes("description_sort_"+string(l)).Optional().
			SchemaType(upTo(calendar.DescriptionKeySize)).Annotations(unread{}).
			Comment("calendar.SortKey of the description as it is served in the language"))
	}
	return fields
}

// Edges declares the relations of a Term to rows of other tables.
func (Term) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("children", Term.Type).From("parent").Field("parent_id").Unique(),
		edge.From("events", Event.Type).Ref("terms").Through("event_links", EventTerm.Type),
		edge.To("translations", TermTranslation.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of a Term.
func (Term) Indexes() []ent.Index {
	indexes := []ent.Index{
		// For a name under a parent.
		index.Fields("taxonomy", "name_key", "id"),
		// For the foreign key and the children of a category.
		index.Fields("parent_id"),
	}
	for _, l := range calendar.Languages {
		// For the lists of terms in their default order, and for terms without a key.
		indexes = append(indexes, index.Fields("taxonomy", "sort_"+string(l), "id"))
	}
	return indexes
}

// TermTranslation is a term's text in a language other than its original.
type TermTranslation struct{ ent.Schema }

// Mixin adds the columns that a TermTranslation shares with other tables.
func (TermTranslation) Mixin() []ent.Mixin { return []ent.Mixin{translation{}, translatedName{}} }

// Fields declares the columns of a TermTranslation.
func (TermTranslation) Fields() []ent.Field {
	return []ent.Field{field.Int64("term_id").Immutable()}
}

// Edges declares the relations of a TermTranslation to rows of other tables.
func (TermTranslation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("term", Term.Type).Ref("translations").Field("term_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of a TermTranslation.
func (TermTranslation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("term_id", "language").Unique()} // for the foreign key; one text per language
}
