package index

import (
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// flagColumn has the slots of the events for which a boolean database column is true.
type flagColumn struct {
	field    string // name of the database column
	position int    // index of its value in document.values
	slots    slotSet
}

func (c *flagColumn) answers(asked *query.Column) bool {
	return asked.Kind == query.FlagKind && asked.Table == event.Table && asked.Field == c.field
}

func (c *flagColumn) scan(to *eventScan) {
	var isSet bool
	to.addField(c.field, &isSet, func() any { return isSet })
}

func (c *flagColumn) add(slot uint32, d *document) {
	if isSet, ok := d.values[c.position].(bool); ok && isSet {
		c.slots.add(slot)
	}
}

func (c *flagColumn) restrict(found slotSet, asked query.Condition, _ *scratchSets) {
	if asked.Flag {
		found.and(c.slots)
	} else {
		found.without(c.slots)
	}
}

func (c *flagColumn) code(to *codec, size uint32) { to.slots(&c.slots, size) }
