package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Change is an entry of the change log. The transaction of the change writes it, and it never changes. Its id
// is the revision of the calendar. Revisions become visible in order and without gaps: a reader that has seen
// one has seen all changes committed up to it.
type Change struct{ ent.Schema }

// Fields declares the columns of a Change.
func (Change) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.Int64("record_id").Immutable(),
		field.String("action").GoType(calendar.Action("")).MaxRuneLen(10).Immutable(),
		field.Int64("user_id").Optional().Nillable().Immutable().Comment("who; null: the service itself"),
		field.Time("at").SchemaType(datetime).Immutable(),
		field.JSON("fields", []string{}).Optional().Immutable().Comment("names of the fields that changed"),
		field.Bool("hidden").Default(false).Immutable().Comment("no feed shows the change"),
	}
}

// Indexes declares the database indexes of a Change.
func (Change) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("kind", "record_id", "id"), // the history of one record
		index.Fields("hidden", "id"),            // the newest change that a feed shows
	}
}

// Counter is a named number that only grows. A writer locks its row until the transaction ends. The value of
// "revision" is the id of the newest Change.
type Counter struct{ ent.Schema }

// Annotations declares how Ent maps a Counter to its table.
func (Counter) Annotations() []schema.Annotation { return []schema.Annotation{upserted{}} }

// Fields declares the columns of a Counter.
func (Counter) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").MaxRuneLen(50).Immutable(),
		field.Int64("value").Default(0),
	}
}

// Setting is a value that all processes on one database share, such as the key for hashes of event passwords. The
// operator does not configure it.
type Setting struct{ ent.Schema }

// Annotations declares how Ent maps a Setting to its table.
func (Setting) Annotations() []schema.Annotation { return []schema.Annotation{upserted{}} }

// Fields declares the columns of a Setting.
func (Setting) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").MaxRuneLen(50).Immutable(),
		field.Bytes("value").Sensitive(),
	}
}
