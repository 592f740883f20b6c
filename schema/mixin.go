package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"entgo.io/ent/schema/mixin"

	"github.com/almanac-cal/almanac/calendar"
)

// tracked has the columns that events, series, venues, organizers and terms share: languages, dates, version and
// source. During an upgrade, a process of the previous version dates all changes with modified_at (decision 056).
type tracked struct{ mixin.Schema }

func (tracked) Fields() []ent.Field {
	return []ent.Field{
		field.String("language").GoType(calendar.Language("")).MaxRuneLen(2).
			Comment("original language, that of the texts in this row"),
		field.String("languages").GoType(calendar.LanguageSet("")).MaxRuneLen(8).
			Comment("languages with text, the original included: a read that needs no translation asks for none"),
		field.Time("created_at").SchemaType(datetime).Immutable().Annotations(unread{}),
		field.Time("modified_at").SchemaType(datetime).Comment("the last change that the public could see"),
		field.Time("hidden_at").SchemaType(datetime).Optional().Nillable().
			Comment("the last change, if the public could not see it; null: modified_at"),
		field.Int64("version").Default(1).Comment("grows by one with each write"),
		field.Int64("hidden_changes").Default(0).Comment("how many of these writes the public could not see"),
		field.String("source_id").MaxRuneLen(maxSource).Optional().Nillable().Unique().
			Comment("global_id of the record it was imported from"),
	}
}

// publishedMixin has the columns that events, venues and organizers share, such as status and publication date.
type publishedMixin struct{ mixin.Schema }

func (publishedMixin) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").Immutable().Annotations(assigned()),
		field.Int64("author_id").Optional().Nillable(),
		field.String("status").GoType(calendar.Status("")).MaxRuneLen(10),
		field.String("status_before_trash").GoType(calendar.Status("")).MaxRuneLen(10).Default(""),
		field.Time("published_at").SchemaType(datetime),
		field.Bool("dated").Default(false).Annotations(unread{}).Comment("published_at was given by a client"),
		field.Int64("image_id").Optional().Nillable().
			Annotations(unread{}, api{Key: "image", Ruled: true, Guarded: true}), // pages are read with the image itself
	}
}

func (publishedMixin) Indexes() []ent.Index {
	return []ent.Index{
		// For lists of venues and organizers (newest first), for the filter include, and for scheduled records
		// that are due.
		index.Fields("status", "published_at", "id"),
		index.Fields("author_id"), // for the foreign key and lists of own records
		index.Fields("image_id"),  // for the foreign key
	}
}

// translation has the columns that the tables of translations share. They have one row per record and language,
// without the original language. If a text is empty, readers get that of another language.
type translation struct{ mixin.Schema }

func (translation) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("language").GoType(calendar.Language("")).MaxRuneLen(2).Immutable(),
		field.Text("description").Default(""),
		field.String("slug").MaxRuneLen(maxSlug).Default(""),
	}
}

// namedMixin has the columns that venues, organizers and terms share. The column name_key is the name folded for
// comparison. The program folds it, because the database engines disagree on case and accents.
type namedMixin struct{ mixin.Schema }

func (namedMixin) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(maxTitle),
		field.String("name_key").MaxRuneLen(maxTitle).Annotations(unread{}).Comment("calendar.FoldName(name)"),
		field.Text("description").Default(""),
		field.String("slug").MaxRuneLen(maxSlug).Default(""),
	}
}

func (namedMixin) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name_key")} // for duplicates and terms by name
}

// translatedName has the columns of translations of venues, organizers and terms. Its name_key is folded like
// in namedMixin.
type translatedName struct{ mixin.Schema }

func (translatedName) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(maxTitle).Default(""),
		field.String("name_key").MaxRuneLen(maxTitle).Default("").Annotations(unread{}),
	}
}

func (translatedName) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name_key")} // for duplicates and terms by name in any language
}
