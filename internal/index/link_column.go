package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
)

// linkColumn has, for each linked record of a kind, the slots of the events that are linked to it. Links to
// categories and tags share a table, so they share the column with the kind category.
type linkColumn struct {
	kind     calendar.Kind // of the linked records
	position int           // index of their ids in document.links
	slots    postings[int64]
}

// linkKinds are the kinds of records that have a link column. Their order is that of document.links.
var linkKinds = [...]calendar.Kind{calendar.Venue, calendar.Organizer, calendar.Category}

func (c *linkColumn) answers(asked *query.Column) bool {
	return (asked.Kind == query.LinkKind || asked.Kind == query.TermKind) && asked.Table == ent.LinkTables[c.kind].Table
}

func (c *linkColumn) scan(to *eventScan) { to.links = append(to.links, c.kind) }

// add adds the links of an event to the column. A load of all events reads events without links and adds these
// later, with loadLinks.
func (c *linkColumn) add(slot uint32, d *document) {
	for _, id := range d.links[c.position] {
		c.slots.add(id, slot)
	}
}

func (c *linkColumn) restrict(found slotSet, asked query.Condition, pool *scratchSets) {
	keepOneOf(found, c.slots, asked.IDs, pool)
}

func (c *linkColumn) code(to *codec, size uint32) { codePostings(to, c.slots, size, to.int64) }

// linkPostings returns the slots of linkColumns by the kind of the linked records. Categories and tags have the
// same map.
func linkPostings(columns []column) map[calendar.Kind]postings[int64] {
	links := map[calendar.Kind]postings[int64]{}
	for _, c := range columns {
		if c, ok := c.(*linkColumn); ok {
			links[c.kind] = c.slots
		}
	}
	links[calendar.Tag] = links[calendar.Category]
	return links
}

// keepOneOf removes from found the slots that have none of the given values. The map slots has the slots of each
// value.
func keepOneOf[V comparable](found slotSet, slots postings[V], values []V, pool *scratchSets) {
	some := pool.take(uint32(64 * len(found)))
	slots.into(some, values)
	found.and(some)
	pool.give(some)
}

// links reads rows of the table of links from events to records of the kind to. It calls each for every row. The
// text where is a WHERE clause.
func (r reader) links(ctx context.Context, to calendar.Kind, where string, each func(event, record int64)) error {
	var event, record int64
	table := ent.LinkTables[to]
	return r.rows(ctx, table.Table, []field{{table.Event, &event}, {table.Record, &record}}, where, func() error {
		each(event, record)
		return nil
	})
}

// loadLinks reads all links to records of a kind and adds them to the columns of a state after seal. It reads the
// events in the given ranges of ids, one range at a time.
func (r reader) loadLinks(ctx context.Context, s *state, to calendar.Kind, events []idRange) error {
	found := map[int64][]uint32{}
	for _, part := range events {
		where := fmt.Sprintf(" WHERE %s > %d AND %[1]s <= %[3]d", ent.LinkTables[to].Event, part.after, part.upTo)
		err := r.links(ctx, to, where, func(event, record int64) {
			if slot, known := s.slot(event); known {
				found[record] = append(found[record], slot)
			}
		})
		if err != nil {
			return err
		}
	}
	slots := s.links[to]
	for record, some := range found {
		slices.Sort(some)
		for _, slot := range some {
			slots.add(record, slot)
		}
		delete(found, record)
	}
	return nil
}
