package index

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/query"
)

// column is a kind of value by which lists of events are filtered: flagColumn, wordColumn and linkColumn. A column has the
// slots of each value. It keeps those of changed and deleted events, because a slot that is no longer used is in no list.
//
// A new kind of column is a type that implements column, in a file of its own, and a case of newColumns.
type column interface {
	// answers reports whether the column has the values that conditions on a column of filters ask for.
	answers(asked *query.Column) bool
	// scan adds the column to what is read from the database. It does not use the slots.
	scan(to *eventScan)
	// add adds the value of an event to a slot. The slot must not be smaller than the one added last.
	add(slot uint32, d *document)
	// restrict removes the slots that do not meet a condition from found.
	restrict(found slotSet, c query.Condition, pool *scratchSets)
	// code writes the slots to a snapshot, or reads them from one into an empty column. All slots are below size.
	code(c *codec, size uint32)
}

// newColumns returns empty columns for the declared ones that the index supports, and the columns of links, which it always
// has. The order is that of the snapshot.
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

// columnFor returns the column that answers conditions on a column of filters. Nil means that the index lacks it.
func columnFor(columns []column, asked *query.Column) column {
	for _, c := range columns {
		if c.answers(asked) {
			return c
		}
	}
	return nil
}

// eventScan describes how the values of columns are read from the database.
type eventScan struct {
	fields []field         // of the table of events
	values []func() any    // value of each field after a row was scanned: document.values
	links  []calendar.Kind // kinds of records to which links are read: document.links
}

// newScan returns how the values of columns are read.
func newScan(columns []column) *eventScan {
	scan := &eventScan{}
	for _, c := range columns {
		c.scan(scan)
	}
	return scan
}

// addField adds a field of the table of events, which is scanned into dst. value returns what document.values gets.
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
