package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Withdrawal is the entry that feeds show for an event that is no longer public. It has none of the event's texts.
type Withdrawal struct{ ent.Schema }

// Fields declares the columns of a Withdrawal.
func (Withdrawal) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()).Comment("of the event"),
		field.Time("at").SchemaType(datetime),
		field.Bool("listed").Comment("the event was not hidden from listings"),
		field.Time("starts_at").SchemaType(datetime),
		field.Time("ends_at").SchemaType(datetime),
		field.Other("start_wall", calendar.Wall{}).SchemaType(datetime),
		field.Other("end_wall", calendar.Wall{}).SchemaType(datetime),
		field.String("timezone").MaxRuneLen(64),
		field.Bool("all_day"),
	}
}

// Edges declares the relations of a Withdrawal to rows of other tables.
func (Withdrawal) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("keys", WithdrawalKey.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of a Withdrawal.
func (Withdrawal) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("starts_at", "id"), // for a page of a feed
		index.Fields("at"),              // for the removal of old rows
	}
}

// WithdrawalKey is a value by which feeds select withdrawn events. It is a slug of the event, a record that was
// linked to it, or an ancestor of its category.
type WithdrawalKey struct{ ent.Schema }

// Fields declares the columns of a WithdrawalKey.
func (WithdrawalKey) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Int64("withdrawal_id").Immutable(),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable().
			Comment("of the linked record; event for a slug"),
		field.String("value").MaxRuneLen(maxSlug).Immutable().Comment("the slug, or the id in decimal digits"),
	}
}

// Edges declares the relations of a WithdrawalKey to rows of other tables.
func (WithdrawalKey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("withdrawal", Withdrawal.Type).Ref("keys").Field("withdrawal_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of a WithdrawalKey.
func (WithdrawalKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("withdrawal_id", "kind", "value").Unique(), // for the foreign key and the filters of a list
		index.Fields("kind", "value"),                           // for an event by its slug
	}
}
