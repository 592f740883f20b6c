package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"

	"github.com/almanac-cal/almanac/calendar"
)

// Record is the id sequence shared by events, venues, organizers and images: inserting a row draws an id.
// The row stays for ever, so an id is never reused and says of which kind it is. A table of rows rather than
// one counter lets many writers draw ids without waiting for each other.
type Record struct{ ent.Schema }

// Fields of a Record.
func (Record) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("kind").GoType(calendar.Kind("")).MaxRuneLen(10).Immutable(),
	}
}
