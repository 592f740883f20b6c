package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Series is a recurring event. Its occurrences are rows of Event.
type Series struct{ ent.Schema }

// Mixin adds the columns that a Series shares with other tables.
func (Series) Mixin() []ent.Mixin { return []ent.Mixin{tracked{}} }

// Annotations declares how Ent maps a Series to its table.
func (Series) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Table("series")}
}

// Fields declares the columns of a Series.
func (Series) Fields() []ent.Field {
	fields := []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()),
		field.Int64("author_id").Optional().Nillable(),
		field.String("status").GoType(calendar.Status("")).MaxRuneLen(10),
		field.String("status_before_trash").GoType(calendar.Status("")).MaxRuneLen(10).Default(""),
		field.Time("published_at").SchemaType(datetime),
		field.Bool("dated").Default(false).Comment("published_at was given by a client"),
		field.String("slug").MaxRuneLen(maxSlug).Default("").Comment("of the last phase, in the original language"),
		field.Bool("hide_from_listings").Default(false).Comment("of the last phase"),
		field.Bool("protected").Default(false).Comment("the last phase has a password"),
		field.Other("generated_until", calendar.Wall{}).SchemaType(datetime).Optional().Nillable().
			Comment("nominal starts up to here have their occurrences; null: all have"),
		field.Time("extend_at").SchemaType(datetime).Optional().Nillable().
			Comment("when later occurrences are to be made; null: never"),
	}
	for _, l := range calendar.Languages {
		fields = append(fields, field.Bytes("sort_"+string(l)).Optional().SchemaType(upTo(calendar.NameKeySize)).
			Comment("calendar.SortKey of the title as it is served in the language"))
	}
	return fields
}

// Edges declares the relations of a Series to rows of other tables.
func (Series) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("author", User.Type).Ref("series").Field("author_id").Unique(),
		edge.To("phases", SeriesPhase.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of a Series.
func (Series) Indexes() []ent.Index {
	indexes := []ent.Index{
		// For the series that are due for extension.
		index.Fields("extend_at"),
		// For the foreign key.
		index.Fields("author_id"),
	}
	for _, l := range calendar.Languages {
		// For the list in each language.
		indexes = append(indexes, index.Fields("status", "sort_"+string(l), "id"))
	}
	return indexes
}

// SeriesPhase is a part of a series with one schedule and one template. A phase ends before the next one
// starts.
type SeriesPhase struct{ ent.Schema }

// Fields declares the columns of a SeriesPhase.
func (SeriesPhase) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Int64("series_id").Immutable(),
		field.Int("position").Comment("from 0"),
		field.Other("start_wall", calendar.Wall{}).SchemaType(datetime).Comment("the first nominal start"),
		field.Other("end_wall", calendar.Wall{}).SchemaType(datetime),
		field.String("timezone").MaxRuneLen(64),
		field.Bool("all_day").Default(false),
		field.String("rrule").MaxRuneLen(maxText * 2).Default("").Comment("canonical"),
		field.JSON("rdate", []calendar.Wall{}).Optional(),
		field.JSON("exdate", []calendar.Wall{}).Optional(),
		field.JSON("template", json.RawMessage{}).
			Comment("the fields of an event that the occurrences share: ent.StoreTemplate"),
	}
}

// Edges declares the relations of a SeriesPhase to rows of other tables.
func (SeriesPhase) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("series", Series.Type).Ref("phases").Field("series_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of a SeriesPhase.
func (SeriesPhase) Indexes() []ent.Index {
	return []ent.Index{index.Fields("series_id", "position").Unique()}
}
