package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Change is one entry of the change log: written in the transaction that makes the change, never changed
// afterwards. Its id is the revision of the calendar. Revisions become visible in their order, without gaps:
// who has read up to one has seen everything committed up to it.
type Change struct{ ent.Schema }

// Fields of a Change.
func (Change) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.Int64("record_id").Immutable(),
		field.String("action").GoType(calendar.Action("")).MaxRuneLen(10).Immutable(),
		field.Int64("user_id").Optional().Nillable().Immutable().Comment("who; null: the service itself"),
		field.Time("at").SchemaType(datetime).Immutable(),
		field.JSON("fields", []string{}).Optional().Immutable().Comment("names of the fields that changed"),
	}
}

// Indexes of a Change.
func (Change) Indexes() []ent.Index {
	return []ent.Index{index.Fields("kind", "record_id", "id")} // the history of one record
}

// Counter is a number that grows under a row lock. "revision" is the id of the newest Change.
type Counter struct{ ent.Schema }

// Annotations of a Counter.
func (Counter) Annotations() []schema.Annotation { return []schema.Annotation{upserted{}} }

// Fields of a Counter.
func (Counter) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").MaxRuneLen(50).Immutable(),
		field.Int64("value").Default(0),
	}
}

// Setting is what the processes on one database share and no operator chooses, such as the key that event
// passwords are hashed with.
type Setting struct{ ent.Schema }

// Annotations of a Setting.
func (Setting) Annotations() []schema.Annotation { return []schema.Annotation{upserted{}} }

// Fields of a Setting.
func (Setting) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").MaxRuneLen(50).Immutable(),
		field.Bytes("value").Sensitive(),
	}
}
