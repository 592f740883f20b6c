// Package seed fills a database with a made-up calendar. It also removes that calendar, without touching other records.
//
// What it writes is told apart from everything else by its source ids, which begin with "seed:" and the name of
// the scenario. They also let a Writer that was interrupted go on, and write a record once only.
package seed

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// mark begins the source id of everything that is made up.
const mark = "seed:"

// Kinds are those of seeded records, in the order in which they are written.
var Kinds = []calendar.Kind{
	calendar.Category, calendar.Tag, calendar.Image, calendar.Venue, calendar.Organizer, calendar.Event,
}

// Series numbers the calendars of one scenario in a database, from 1. Those after the first have their number in
// the source ids: seed:city:event:7, and seed:city.2:event:7 of the second.
type Series int

// sourceID is the source id of a record of the series; the scenario calls it by that of the first.
func (s Series) sourceID(id string) string {
	if s <= 1 {
		return id
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(id, mark), ":")
	return mark + name + "." + strconv.Itoa(int(s)) + ":" + rest
}

// prefix begins all source ids of the series.
func (s Series) prefix(scenario string) string { return s.sourceID(mark + scenario + ":") }

// seeded selects the rows of a table that are of a scenario, in any series; "" is of all.
func seeded(scenario string) func(*sql.Selector) {
	const column = event.FieldSourceID // as in all tables
	if scenario == "" {
		return sql.FieldHasPrefix(column, mark)
	}
	return sql.OrPredicates(sql.FieldHasPrefix(column, mark+scenario+":"), sql.FieldHasPrefix(column, mark+scenario+"."))
}

// foreign selects the rows of a table that are not made up.
func foreign(s *sql.Selector) {
	sql.OrPredicates(
		sql.FieldIsNull(event.FieldSourceID), sql.NotPredicates(sql.FieldHasPrefix(event.FieldSourceID, mark)),
	)(s)
}

// Counts are numbers of records by kind.
type Counts map[calendar.Kind]int

// Sum is the number of records of all kinds.
func (c Counts) Sum() int {
	n := 0
	for _, v := range c {
		n += v
	}
	return n
}

// Foreign counts the records of a database that are not made up, those in the trash included.
func Foreign(ctx context.Context, db *ent.Client) (Counts, error) { return count(ctx, db, foreign) }

// Seeded counts the records of a scenario that are in a database, whatever the series; "" is of all scenarios.
func Seeded(ctx context.Context, db *ent.Client, scenario string) (Counts, error) {
	return count(ctx, db, seeded(scenario))
}

func count(ctx context.Context, db *ent.Client, where func(*sql.Selector)) (Counts, error) {
	out := make(Counts, len(Kinds))
	for _, kind := range Kinds {
		var found []int
		err := db.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
			where(s)
			s.Select(sql.Count("*"))
		})
		if err != nil {
			return nil, fmt.Errorf("count records of kind %s: %w", kind, err)
		}
		out[kind] = found[0]
	}
	return out, nil
}
