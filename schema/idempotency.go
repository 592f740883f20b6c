package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey is a key that a client sent with a request, so that a repeated request is carried out only
// once. The row is inserted before the request is handled. The transaction of the request sets record_id, and
// the reply is stored last. A row after expires_at is ignored.
type IdempotencyKey struct{ ent.Schema }

// Fields declares the columns of an IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Bytes("hash").MaxLen(32).SchemaType(hash32).Unique().Immutable().Comment("SHA-256 of user and key"),
		field.Int64("user_id").Immutable().Comment("whose key it is; no foreign key, for the row goes by itself"),
		field.Bytes("fingerprint").MaxLen(32).SchemaType(hash32).Comment("SHA-256 of the request"),
		field.Int("attempt").Default(1).Comment("grows with each that takes the key over; only the newest may write"),
		field.Time("lease_until").SchemaType(datetime).Comment("until then an attempt without a heartbeat may be at work"),
		field.Int64("beat").Default(0).Comment("last heartbeat of the attempt, in milliseconds of the database's clock"),
		field.Int("beat_attempt").Default(0).Comment("the attempt that has the heartbeat; another one has none"),
		field.Time("expires_at").SchemaType(datetime),
		field.Int64("record_id").Default(0).Comment("of what the request wrote; 0: nothing is committed"),
		field.Int("status").Default(0).Comment("of the answer; 0: it is not stored"),
		field.JSON("header", [][2]string{}).Optional(),
		field.Bytes("body").SchemaType(mediumBlob).Optional(),
	}
}

// Indexes declares the database indexes of an IdempotencyKey.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("expires_at")} // for the removal of expired rows
}
