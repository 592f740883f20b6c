package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Event is an event of the calendar: its original text, dates, state and links.
type Event struct{ ent.Schema }

// Mixin adds the columns that an Event shares with other tables.
func (Event) Mixin() []ent.Mixin { return []ent.Mixin{publishedMixin{}, tracked{}} }

// Fields declares the columns of an Event.
func (Event) Fields() []ent.Field {
	return []ent.Field{
		field.String("title").MaxRuneLen(maxTitle).Annotations(api{Ruled: true}),
		field.Text("description").Default("").Comment("sanitised HTML").Annotations(api{Ruled: true, Guarded: true}),
		field.Text("excerpt").Default("").Comment("sanitised HTML").Annotations(api{Ruled: true, Guarded: true}),
		field.String("slug").MaxRuneLen(maxSlug).Default(""),

		field.Time("starts_at").SchemaType(datetime),
		field.Time("ends_at").SchemaType(datetime),
		field.Other("start_wall", calendar.Wall{}).SchemaType(datetime).Comment("starts_at on a clock in timezone"),
		field.Other("end_wall", calendar.Wall{}).SchemaType(datetime).Comment("ends_at on a clock in timezone"),
		field.String("timezone").MaxRuneLen(64),
		field.Bool("all_day").Default(false),

		field.JSON("cost", calendar.Cost{}).Optional().Annotations(api{Ruled: true, Guarded: true}),
		field.String("website").MaxRuneLen(maxURL).Optional().Nillable().Comment("null: never set, answered as url").
			Annotations(api{Ruled: true, Guarded: true}),
		field.Bytes("password_hash").MaxLen(32).SchemaType(hash32).Optional().Nillable().Sensitive().
			Annotations(api{Key: "password", Ruled: true, Guarded: true}),
		field.Int64("password_id").Optional().Nillable().
			Comment("the event whose id password_hash is keyed with; null: this one").
			Annotations(api{Key: "password", Ruled: true, Guarded: true}),
		field.Bool("show_map").Default(false).Annotations(api{Doc: "Show a map", Placed: true, Guarded: true}),
		field.Bool("show_map_link").Default(false).Annotations(api{Doc: "Show a map link", Placed: true, Guarded: true}),
		field.Bool("hide_from_listings").Default(false).Annotations(api{Doc: "Leave out of lists", Placed: true}),
		field.Bool("sticky").Default(false).Annotations(api{Doc: "Pin in calendar views", Placed: true, Guarded: true}),
		field.Bool("featured").Default(false).Annotations(api{Doc: "Featured", Placed: true, Guarded: true}),
		field.Bool("ticketed").Default(false).Annotations(api{Doc: "With tickets", Placed: true, Guarded: true}),
		field.String("event_status").GoType(calendar.EventStatus("")).MaxRuneLen(10).
			Default(string(calendar.Scheduled)).Comment("whether it takes place as planned").
			Annotations(api{Doc: "Whether the event takes place as planned", Placed: true, Sample: "canceled"}),
		field.String("event_status_reason").MaxRuneLen(maxText).Default("").Annotations(api{Ruled: true}),
		field.String("attendance").GoType(calendar.Attendance("")).MaxRuneLen(10).Default(string(calendar.Offline)).
			Annotations(api{Doc: "Where people attend", Placed: true, Sample: "mixed"}),
		field.String("virtual_url").MaxRuneLen(maxURL).Default("").
			Annotations(api{Doc: "URL to attend online", Address: true, Placed: true, Guarded: true, Sample: "https://meet.example.org/jazz"}),
		field.Int64("parent_id").Optional().Nillable().Annotations(api{Key: "post_parent", Ruled: true}),

		field.Int64("series_id").Optional().Nillable().Comment("the series that it is an occurrence of"),
		field.Other("original_start", calendar.Wall{}).SchemaType(datetime).Optional().Nillable().
			Comment("nominal start of an occurrence: what the schedule says, wherever it was moved"),
		field.JSON("own_fields", []string{}).Optional().
			Comment("fields written to this occurrence alone; those of a translation with its language, as title:pl"),
		field.Int64("sequence").Default(0).
			Comment("how often calendar applications were told of another time, a withdrawal or a return; SEQUENCE of feeds"),
		field.Bool("off_schedule").Default(false).Annotations(unread{}).
			Comment("an occurrence that a change of the schedule took to the trash"),
	}
}

// Edges declares the relations of an Event to rows of other tables.
func (Event) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("author", User.Type).Ref("events").Field("author_id").Unique(),
		edge.From("image", Image.Type).Ref("events").Field("image_id").Unique(),
		edge.To("children", Event.Type).From("parent").Field("parent_id").Unique(),
		edge.To("venues", Venue.Type).Through("venue_links", EventVenue.Type),
		edge.To("organizers", Organizer.Type).Through("organizer_links", EventOrganizer.Type),
		edge.To("terms", Term.Type).Through("term_links", EventTerm.Type),
		edge.To("translations", EventTranslation.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of an Event.
func (Event) Indexes() []ent.Index {
	return []ent.Index{
		// For the list of events: visibility first, then the start. With ends_at at the end, a count of a
		// period reads no rows.
		index.Fields("status", "hide_from_listings", "starts_at", "id", "ends_at"),
		// For feeds, in the order of the last change.
		index.Fields("status", "hide_from_listings", "modified_at", "id", "ends_at"),
		// For the foreign key, and for the filter post_parent in the order of the list.
		index.Fields("parent_id", "starts_at"),
		// Each occurrence of a series is stored once, even if two processes create it.
		index.Fields("series_id", "original_start").Unique(),
	}
}

// EventTranslation is an event's text in a language other than its original.
type EventTranslation struct{ ent.Schema }

// Mixin adds the columns that an EventTranslation shares with other tables.
func (EventTranslation) Mixin() []ent.Mixin { return []ent.Mixin{translation{}} }

// Fields declares the columns of an EventTranslation.
func (EventTranslation) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("event_id").Immutable(),
		field.String("title").MaxRuneLen(maxTitle).Default(""),
		field.Text("excerpt").Default(""),
		field.String("event_status_reason").MaxRuneLen(maxText).Default(""),
	}
}

// Edges declares the relations of an EventTranslation to rows of other tables.
func (EventTranslation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("event", Event.Type).Ref("translations").Field("event_id").Unique().Required().Immutable(),
	}
}

// Indexes declares the database indexes of an EventTranslation.
func (EventTranslation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("event_id", "language").Unique()} // for the foreign key; one text per language
}

// EventVenue links an event to a venue. Position is the place in the list that the client sent, from 0.
type EventVenue struct{ ent.Schema }

// Annotations declares how Ent maps an EventVenue to its table.
func (EventVenue) Annotations() []schema.Annotation {
	return []schema.Annotation{field.ID("event_id", "venue_id")}
}

// Fields declares the columns of an EventVenue.
func (EventVenue) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("event_id"),
		field.Int64("venue_id"),
		field.Int("position").Default(0),
	}
}

// Edges declares the relations of an EventVenue to rows of other tables.
func (EventVenue) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("event", Event.Type).Field("event_id").Unique().Required(),
		edge.To("venue", Venue.Type).Field("venue_id").Unique().Required(),
	}
}

// Indexes declares the database indexes of an EventVenue.
func (EventVenue) Indexes() []ent.Index {
	return []ent.Index{index.Fields("venue_id", "event_id")} // for the foreign key and the events of a venue
}

// EventOrganizer links an event to an organizer. Position is the place in the list that the client sent, from
// 0.
type EventOrganizer struct{ ent.Schema }

// Annotations declares how Ent maps an EventOrganizer to its table.
func (EventOrganizer) Annotations() []schema.Annotation {
	return []schema.Annotation{field.ID("event_id", "organizer_id")}
}

// Fields declares the columns of an EventOrganizer.
func (EventOrganizer) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("event_id"),
		field.Int64("organizer_id"),
		field.Int("position").Default(0),
	}
}

// Edges declares the relations of an EventOrganizer to rows of other tables.
func (EventOrganizer) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("event", Event.Type).Field("event_id").Unique().Required(),
		edge.To("organizer", Organizer.Type).Field("organizer_id").Unique().Required(),
	}
}

// Indexes declares the database indexes of an EventOrganizer.
func (EventOrganizer) Indexes() []ent.Index {
	return []ent.Index{index.Fields("organizer_id", "event_id")} // for the foreign key and the events of an organizer
}

// EventTerm links an event to a category or tag.
type EventTerm struct{ ent.Schema }

// Annotations declares how Ent maps an EventTerm to its table.
func (EventTerm) Annotations() []schema.Annotation {
	return []schema.Annotation{field.ID("event_id", "term_id")}
}

// Fields declares the columns of an EventTerm.
func (EventTerm) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("event_id"),
		field.Int64("term_id"),
	}
}

// Edges declares the relations of an EventTerm to rows of other tables.
func (EventTerm) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("event", Event.Type).Field("event_id").Unique().Required().
			Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("term", Term.Type).Field("term_id").Unique().Required().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes declares the database indexes of an EventTerm.
func (EventTerm) Indexes() []ent.Index {
	return []ent.Index{index.Fields("term_id", "event_id")} // for the foreign key and the events of a term
}
