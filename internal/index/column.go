package index

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// column is the part of the index that answers one filter of events. Its types are flagColumn, wordColumn and
// linkColumn. For each value, a column has the slots of the events with that value. Slots of changed and deleted
// events stay in it. They do no harm, because no list contains an unused slot.
//
// A new kind of column is a type that implements column, in a file of its own, and a case of newColumns.
type column interface {
	// answers reports whether the column can evaluate conditions on a filter's column.
	answers(asked *query.Column) bool
	// scan adds the database column to the fields that a load reads. It does not use the slots.
	scan(to *eventScan)
	// add adds the value of an event to a slot. The slot must not be smaller than the one added last.
	add(slot uint32, d *document)
	// restrict removes the slots that do not meet a condition from found.
	restrict(found slotSet, c query.Condition, pool *scratchSets)
	// code writes the slots to a snapshot, or reads them from one into an empty column. All slots are below size.
	code(c *codec, size uint32)
}

// newColumns returns empty columns: one for each flag or word column of events in declared, and one per link kind.
// Snapshots store columns in this order.
func newColumns(declared []*query.Column) (columns []column) {
	for _, c := range declared {
		position := len(columns)
		switch {
		case c.Table != event.Table:
		case c.Kind == query.FlagKind:
			columns = append(columns, &flagColumn{field: c.Field, position: position})
		case c.Kind == query.WordKind:
			columns = append(columns, &wordColumn{field: c.Field, position: position, slots: postings[string]{}})
		}
	}
	for position, kind := range linkKinds {
		columns = append(columns, &linkColumn{kind: kind, position: position, slots: postings[int64]{}})
	}
	return columns
}

// columnFor returns the column of the index that can answer a filter. Nil means that the index does not support the
// filter.
func columnFor(columns []column, asked *query.Column) column {
	for _, c := range columns {
		if c.answers(asked) {
			return c
		}
	}
	return nil
}

// eventScan states which fields of the table of events the columns need, and how their values are scanned.
type eventScan struct {
	fields []field         // of the table of events
	values []func() any    // value of each field after a row was scanned: document.values
	links  []calendar.Kind // kinds of records to which links are read: document.links
}

// newScan returns an eventScan to which each column has added its fields.
func newScan(columns []column) *eventScan {
	scan := &eventScan{}
	for _, c := range columns {
		c.scan(scan)
	}
	return scan
}

// addField adds a field of the table of events. Rows are scanned into dst. The function value then returns the
// value for document.values.
func (s *eventScan) addField(name string, dst any, value func() any) {
	s.fields, s.values = append(s.fields, field{name, dst}), append(s.values, value)
}

// rowValues returns the values of the row that was scanned last.
func (s *eventScan) rowValues() []any {
	values := make([]any, len(s.values))
	for i, value := range s.values {
		values[i] = value()
	}
	return values
}
