package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Origin says where an imported record or term came from. It has the ids at the source and in the feeds of the
// source. The row stays when the record is deleted, so that a later import gives the record the same id again.
type Origin struct{ ent.Schema }

// Fields declares the columns of an Origin.
func (Origin) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("source_id").MaxRuneLen(maxSource).Unique().Immutable().Comment("that of the record"),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.Int64("record_id").Immutable().Comment("id here of the record, or of the term for categories and tags"),
		field.Int64("number").Optional().Nillable().Immutable().Comment("id at the source; null if it has no ids"),
		field.String("uid").MaxRuneLen(maxText).Optional().Nillable().Unique().Immutable().
			Comment("UID in iCalendar; null: one of our own"),
		field.String("guid").MaxRuneLen(maxGUID).Optional().Nillable().Unique().Immutable().
			Comment("guid in feeds of news; null: one of our own"),
	}
}

// Indexes declares the database indexes of an Origin.
func (Origin) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("record_id", "kind"), // for the UIDs of events
		index.Fields("number"),            // for addresses with an id of the source
	}
}
