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
	"github.com/almanac-cal/almanac/ent/series"
)

// mark begins the source id of everything that is made up.
const mark = "seed:"

// Kinds are the kinds of seeded records, in the order of the reports.
var Kinds = []calendar.Kind{
	calendar.Event, calendar.Series, calendar.Organizer, calendar.Venue, calendar.Image, calendar.Tag, calendar.Category,
}

// Number counts the calendars of one scenario in a database, from 1. Those after the first have their number in
// the source ids: seed:city:event:7, and seed:city.2:event:7 of the second.
type Number int

// sourceID returns the source id of a record of the calendar; the scenario calls it by that of the first.
func (n Number) sourceID(id string) string {
	if n <= 1 {
		return id
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(id, mark), ":")
	return mark + name + "." + strconv.Itoa(int(n)) + ":" + rest
}

// prefix begins all source ids of the calendar.
func (n Number) prefix(scenario string) string { return n.sourceID(mark + scenario + ":") }

// sourceIDOf selects the rows whose source ids are of a scenario, in any of its calendars; "" is of all.
func sourceIDOf(scenario string) func(*sql.Selector) {
	const column = event.FieldSourceID // as in all tables
	if scenario == "" {
		return sql.FieldHasPrefix(column, mark)
	}
	return sql.OrPredicates(sql.FieldHasPrefix(column, mark+scenario+":"), sql.FieldHasPrefix(column, mark+scenario+"."))
}

// recordsOfScenario selects the rows of the table of a kind that are of a scenario; "" is of all. The occurrences of its series are,
// whether or not they have a source id.
func recordsOfScenario(kind calendar.Kind, scenario string) func(*sql.Selector) {
	if kind != calendar.Event {
		return sourceIDOf(scenario)
	}
	return sql.OrPredicates(sourceIDOf(scenario), func(s *sql.Selector) {
		made := sql.Dialect(s.Dialect()).Select(series.FieldID).From(sql.Table(series.Table))
		sourceIDOf(scenario)(made)
		s.Where(sql.In(s.C(event.FieldSeriesID), made))
	})
}

// notSeeded selects the rows of the table of a kind that are not made up.
func notSeeded(kind calendar.Kind) func(*sql.Selector) {
	return func(s *sql.Selector) {
		made := sql.Dialect(s.Dialect()).Select(event.FieldID).From(sql.Table(s.TableName()))
		recordsOfScenario(kind, "")(made)
		s.Where(sql.NotIn(s.C(event.FieldID), made))
	}
}

// scan scans rows of the table of a kind, as ent.Client.ScanKind does.
func scan(ctx context.Context, db *ent.Client, kind calendar.Kind, into any, modify func(*sql.Selector)) error {
	if kind == calendar.Series {
		return db.Series.Query().Modify(modify).Scan(ctx, into)
	}
	return db.ScanKind(ctx, kind, into, modify)
}

// Counts are numbers of records by kind.
type Counts map[calendar.Kind]int

// Sum returns the number of records of all kinds.
func (c Counts) Sum() int {
	n := 0
	for _, v := range c {
		n += v
	}
	return n
}

// Foreign counts the records of a database that are not made up, those in the trash included.
func Foreign(ctx context.Context, db *ent.Client) (Counts, error) { return count(ctx, db, notSeeded) }

// Seeded counts the records of a scenario that are in a database, in all of its calendars; "" is of all scenarios. The
// events include the occurrences of the series.
func Seeded(ctx context.Context, db *ent.Client, scenario string) (Counts, error) {
	return count(ctx, db, func(kind calendar.Kind) func(*sql.Selector) { return recordsOfScenario(kind, scenario) })
}

func count(ctx context.Context, db *ent.Client, where func(calendar.Kind) func(*sql.Selector)) (Counts, error) {
	out := make(Counts, len(Kinds))
	for _, kind := range Kinds {
		n, err := countKind(ctx, db, kind, where(kind))
		if err != nil {
			return nil, err
		}
		out[kind] = n
	}
	return out, nil
}

func countKind(ctx context.Context, db *ent.Client, kind calendar.Kind, where func(*sql.Selector)) (int, error) {
	var found []int
	err := scan(ctx, db, kind, &found, func(s *sql.Selector) {
		where(s)
		s.Select(sql.Count("*"))
	})
	if err != nil {
		return 0, fmt.Errorf("count records of kind %s: %w", kind, err)
	}
	return found[0], nil
}
