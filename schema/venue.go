package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Venue is a place where events happen.
type Venue struct{ ent.Schema }

// Mixin adds the columns that a Venue shares with other tables.
func (Venue) Mixin() []ent.Mixin { return []ent.Mixin{publishedMixin{}, tracked{}, namedMixin{}} }

// Fields declares the columns of a Venue.
func (Venue) Fields() []ent.Field {
	text := func(name, doc, sample string) ent.Field {
		return field.String(name).MaxRuneLen(maxText).Default("").Annotations(api{Doc: doc, Sample: sample, Placed: true})
	}
	return []ent.Field{
		text("address", "Street address", "3 River Rd"),
		text("city", "City", "Łódź"),
		text("country", "Country", "Poland"),
		text("province", "Province", "Łódzkie"),
		text("state", "State", "ŁD"),
		text("zip", "Postal code", "90-001"),
		text("phone", "Phone number", "+48 42 111 11 11"),
		field.String("stateprovince").MaxRuneLen(maxText).Default("").Comment("as written; empty: derived when read").
			Annotations(api{Doc: "State or province", Sample: "Łódzkie", Placed: true}),
		field.String("website").MaxRuneLen(maxURL).Default("").
			Annotations(api{Doc: "URL of the venue", Address: true, Placed: true}),
		field.Bool("show_map").Default(true).Annotations(api{Doc: "Show a map", Placed: true}),
		field.Bool("show_map_link").Default(true).Annotations(api{Doc: "Show a map link", Placed: true}),
		field.Float("latitude").Optional().Nillable().Comment("degrees north; null together with longitude").
			Annotations(api{Key: "geo_lat", Ruled: true}),
		field.Float("longitude").Optional().Nillable().Comment("degrees east").Annotations(api{Key: "geo_lng", Ruled: true}),
		field.Int64("cell").Optional().Nillable().Annotations(unread{}).
			Comment("the position on one line that keeps neighbours together: calendar.Cell; null without coordinates"),
	}
}

// Edges declares the relations of a Venue to rows of other tables.
func (Venue) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("author", User.Type).Ref("venues").Field("author_id").Unique(),
		edge.From("image", Image.Type).Ref("venues").Field("image_id").Unique(),
		edge.From("events", Event.Type).Ref("venues").Through("event_links", EventVenue.Type),
		edge.To("translations", VenueTranslation.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of a Venue.
func (Venue) Indexes() []ent.Index {
	return []ent.Index{index.Fields("cell")} // for venues within a distance
}

// VenueTranslation is a venue's text in a language other than its original.
type VenueTranslation struct{ ent.Schema }

// Mixin adds the columns that a VenueTranslation shares with other tables.
func (VenueTranslation) Mixin() []ent.Mixin { return []ent.Mixin{translation{}, translatedName{}} }

// Fields declares the columns of a VenueTranslation.
func (VenueTranslation) Fields() []ent.Field {
	return []ent.Field{field.Int64("venue_id").Immutable()}
}

// Edges declares the relations of a VenueTranslation to rows of other tables.
func (VenueTranslation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("venue", Venue.Type).Ref("translations").Field("venue_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of a VenueTranslation.
func (VenueTranslation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("venue_id", "language").Unique()} // for the foreign key; one text per language
}
