package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"

	"github.com/almanac-cal/almanac/calendar"
)

// Record is the sequence of ids of events, series, venues, organizers and images: an insert returns a new id.
// Rows are never deleted, so an id is never reused and belongs to one kind for ever. With rows instead of one
// counter, concurrent writers do not wait for each other.
type Record struct{ ent.Schema }

// Fields declares the columns of a Record.
func (Record) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
	}
}
