package index

import (
	"context"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/query"
)

// changeSet is a batch of change log entries, with the current database rows of the records that they name.
type changeSet struct {
	mustReload bool          // an entry covers all records of a kind
	events     []int64       // ids of changed events, sorted, without duplicates
	recounts   map[int64]int // number of entries that may change term counts, by event id
	documents  map[int64]*document
	linked     map[calendar.Kind][]int64
	records    map[calendar.Kind]map[int64]*record
	places     map[int64]place
	terms      []int64 // ids of deleted terms
}

func newChangeSet() *changeSet {
	return &changeSet{
		recounts: map[int64]int{}, documents: map[int64]*document{}, linked: map[calendar.Kind][]int64{},
		records: map[calendar.Kind]map[int64]*record{}, places: map[int64]place{},
	}
}

// recountedTwice reports whether the set has several entries about the same event that may have changed the event
// counts of terms.
func (c *changeSet) recountedTwice() bool {
	for _, n := range c.recounts {
		if n > 1 {
			return true
		}
	}
	return false
}

// read adds log entries to the set, and reads the records that they name from the database. If withTexts is set, it
// also reads the search texts of events.
func (c *changeSet) read(ctx context.Context, db reader, entries []logEntry, withTexts bool) error {
	var events []int64
	linked := map[calendar.Kind][]int64{}
	for _, e := range entries {
		switch {
		case e.first == 0:
			c.mustReload = true
		case e.kind == calendar.Event:
			for id := e.first; id <= e.last; id++ {
				events = append(events, id)
				if e.recounts {
					c.recounts[id]++
				}
			}
		case e.kind.IsNamed() || e.kind == calendar.Series:
			for id := e.first; id <= e.last; id++ {
				linked[e.kind] = append(linked[e.kind], id)
			}
		case e.action == calendar.Deleted && e.kind.IsTerm():
			c.terms = append(c.terms, e.first)
		}
	}
	events = sortUnique(events)
	documents, err := db.documents(ctx, events, withTexts)
	if err != nil {
		return err
	}
	for _, id := range events {
		delete(c.documents, id)
	}
	maps.Copy(c.documents, documents)
	c.events = sortUnique(append(c.events, events...))
	for kind, ids := range linked {
		ids = sortUnique(ids)
		if c.records[kind] == nil {
			c.records[kind] = map[int64]*record{}
		}
		for _, id := range ids {
			delete(c.records[kind], id)
		}
		for part := range slices.Chunk(ids, partSize) {
			some, err := db.records(ctx, kind, part)
			if err != nil {
				return err
			}
			maps.Copy(c.records[kind], some)
		}
		c.linked[kind] = sortUnique(append(c.linked[kind], ids...))
	}
	venues := sortUnique(linked[calendar.Venue])
	for _, id := range venues {
		delete(c.places, id)
	}
	for part := range slices.Chunk(venues, partSize) {
		err := db.places(ctx, " AND "+venue.FieldID+" IN "+query.IDList(part), func(at place) { c.places[at.venue] = at })
		if err != nil {
			return err
		}
	}
	return nil
}

// sortUnique sorts ids in place and returns them without duplicates.
func sortUnique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
