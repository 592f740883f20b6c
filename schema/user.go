package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// User is a person who may sign in, or the author of imported records.
type User struct{ ent.Schema }

// Fields declares the columns of a User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("login").MaxRuneLen(100).NotEmpty().Unique().Comment("lower case"),
		field.String("name").MaxRuneLen(maxText).Default(""),
		field.String("role").GoType(calendar.Role("")).MaxRuneLen(20),
		field.String("password_hash").MaxRuneLen(maxText).Optional().Nillable().Sensitive().
			Comment("argon2id in PHC format; null: signs in with tokens only"),
		field.Time("created_at").SchemaType(datetime).Immutable(),
		field.Time("disabled_at").SchemaType(datetime).Optional().Nillable(),
	}
}

// Edges declares the relations of a User to rows of other tables.
func (User) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("tokens", Token.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("events", Event.Type),
		edge.To("venues", Venue.Type),
		edge.To("organizers", Organizer.Type),
		edge.To("images", Image.Type),
		edge.To("series", Series.Type),
	}
}

// Token is an access token of a user. Only its SHA-256 is stored.
type Token struct{ ent.Schema }

// Fields declares the columns of a Token.
func (Token) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Int64("user_id").Immutable(),
		field.String("name").MaxRuneLen(maxText).Default(""),
		field.Bytes("hash").MaxLen(32).SchemaType(hash32).Unique().Immutable().Sensitive(),
		field.Time("created_at").SchemaType(datetime).Immutable(),
		field.Time("expires_at").SchemaType(datetime).Optional().Nillable(),
		field.Time("last_used_at").SchemaType(datetime).Optional().Nillable(),
		field.Time("revoked_at").SchemaType(datetime).Optional().Nillable(),
	}
}

// Edges declares the relations of a Token to rows of other tables.
func (Token) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("user", User.Type).Ref("tokens").Field("user_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of a Token.
func (Token) Indexes() []ent.Index {
	return []ent.Index{index.Fields("user_id")} // for the foreign key
}
