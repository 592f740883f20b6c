package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Organizer is a person or group that organizes events.
type Organizer struct{ ent.Schema }

// Mixin adds the columns that an Organizer shares with other tables.
func (Organizer) Mixin() []ent.Mixin { return []ent.Mixin{publishedMixin{}, tracked{}, namedMixin{}} }

// Annotations declares how Ent maps an Organizer to its table.
func (Organizer) Annotations() []schema.Annotation {
	return []schema.Annotation{representation{Doc: "People and groups that organize events", SchemaOrg: "Person"}}
}

// Fields declares the columns of an Organizer.
func (Organizer) Fields() []ent.Field {
	return []ent.Field{
		field.String("phone").MaxRuneLen(maxText).Default("").
			Annotations(api{Doc: "Phone number", Sample: "+48 42 111 11 11", Placed: true}),
		field.String("website").MaxRuneLen(maxURL).Default("").
			Annotations(api{Doc: "URL of the organizer", Address: true, Placed: true}),
		field.String("email").MaxRuneLen(maxText).Default("").
			Annotations(api{Doc: "E-mail address", Sample: "club@example.org", Placed: true}),
	}
}

// Edges declares the relations of an Organizer to rows of other tables.
func (Organizer) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("author", User.Type).Ref("organizers").Field("author_id").Unique(),
		edge.From("image", Image.Type).Ref("organizers").Field("image_id").Unique(),
		edge.From("events", Event.Type).Ref("organizers").Through("event_links", EventOrganizer.Type),
		edge.To("translations", OrganizerTranslation.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// OrganizerTranslation is an organizer's text in a language other than its original.
type OrganizerTranslation struct{ ent.Schema }

// Mixin adds the columns that an OrganizerTranslation shares with other tables.
func (OrganizerTranslation) Mixin() []ent.Mixin { return []ent.Mixin{translation{}, translatedName{}} }

// Fields declares the columns of an OrganizerTranslation.
func (OrganizerTranslation) Fields() []ent.Field {
	return []ent.Field{field.Int64("organizer_id").Immutable()}
}

// Edges declares the relations of an OrganizerTranslation to rows of other tables.
func (OrganizerTranslation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("organizer", Organizer.Type).Ref("translations").Field("organizer_id").
			Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of an OrganizerTranslation.
func (OrganizerTranslation) Indexes() []ent.Index {
	// Foreign key, and one text per language.
	return []ent.Index{index.Fields("organizer_id", "language").Unique()}
}
