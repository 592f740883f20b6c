package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/almanac-cal/almanac/calendar"
)

// Slug is a slug and the record that has it. Slugs are unique per kind across all languages, including
// translations. No index on the tables of records could ensure that.
type Slug struct{ ent.Schema }

// Fields declares the columns of a Slug.
func (Slug) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
		field.String("slug").MaxRuneLen(maxSlug),
		field.Int64("owner_id").Immutable().Comment("id of the record, or of the term for categories and tags"),
		field.String("language").GoType(calendar.Language("")).MaxRuneLen(2),
		field.Int64("trashed_id").Default(0).
			Comment("owner_id while the owner is in the trash, else 0: a slug in the trash blocks nobody"),
	}
}

// Indexes declares the database indexes of a Slug.
func (Slug) Indexes() []ent.Index {
	return []ent.Index{
		// Ensures that slugs are unique, and finds the record of a slug.
		index.Fields("kind", "slug", "trashed_id").Unique(),
		// For the slugs of one owner when it is renamed, trashed or restored.
		index.Fields("owner_id", "kind"),
	}
}
