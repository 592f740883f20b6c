package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Image is an image with its sizes. It is a stored file, or a reference to a file at another service that was
// never downloaded.
type Image struct{ ent.Schema }

// Fields declares the columns of an Image.
func (Image) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()),
		field.Int64("author_id").Optional().Nillable().Annotations(unread{}),
		field.String("path").MaxRuneLen(maxText).Default("").Comment("below /media/; empty: source_url is served"),
		field.String("source_url").MaxRuneLen(maxURL).Default("").Comment("where it came from"),
		field.String("source_id").MaxRuneLen(maxSource).Optional().Nillable().Unique().Annotations(unread{}),
		field.String("extension").MaxRuneLen(10),
		field.String("mime_type").MaxRuneLen(50).Annotations(unread{}),
		field.Int("width"),
		field.Int("height"),
		field.Int64("filesize").Comment("bytes"),
		field.JSON("sizes", map[string]calendar.ImageSize{}).Optional(),
		field.Time("created_at").SchemaType(datetime).Immutable().Annotations(unread{}),
		field.Int64("version").Default(1).Annotations(unread{}),
	}
}

// Edges declares the relations of an Image to rows of other tables.
func (Image) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("author", User.Type).Ref("images").Field("author_id").Unique(),
		edge.To("events", Event.Type),
		edge.To("venues", Venue.Type),
		edge.To("organizers", Organizer.Type),
	}
}

// Indexes declares the database indexes of an Image.
func (Image) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("author_id"),        // for the foreign key
		index.Fields("created_at", "id"), // for the list, newest first
		index.Fields("path"),             // for URLs below /media/
	}
}
