package index

import (
	"database/sql"

	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// wordColumn has, for each value of a database column such as attendance, the slots of the events with it.
type wordColumn struct {
	field    string // name of the database column
	position int    // index of its value in document.values
	slots    postings[string]
}

func (c *wordColumn) answers(asked *query.Column) bool {
	return asked.Kind == query.WordKind && asked.Table == event.Table && asked.Field == c.field
}

// scan adds the database column to the fields that a load reads. It shares the memory of equal words, because a column
// has few different ones.
func (c *wordColumn) scan(to *eventScan) {
	var word sql.RawBytes
	known := map[string]any{}
	to.addField(c.field, &word, func() any {
		value, seen := known[string(word)]
		if !seen {
			value = string(word)
			known[string(word)] = value
		}
		return value
	})
}

func (c *wordColumn) add(slot uint32, d *document) {
	if word, ok := d.values[c.position].(string); ok {
		c.slots.add(word, slot)
	}
}

func (c *wordColumn) restrict(found slotSet, asked query.Condition, pool *scratchSets) {
	keepOneOf(found, c.slots, asked.Words, pool)
}

func (c *wordColumn) code(to *codec, size uint32) { codePostings(to, c.slots, size, to.string) }
