// Package seed fills a database with a generated calendar. It also removes that calendar without touching other
// records.
//
// Only the source ids of generated records begin with "seed:" and the name of the scenario. So an interrupted Writer
// can continue: it finds the records that it stored before, and writes only the others.
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

// Kinds lists the kinds of records in a generated calendar, in the order in which commands report their numbers.
var Kinds = []calendar.Kind{
	calendar.Event, calendar.Series, calendar.Organizer, calendar.Venue, calendar.Image, calendar.Tag, calendar.Category,
}

// Number distinguishes the calendars of one scenario in a database: 1, 2 and so on. 0 means 1. From 2 on it is part
// of the source ids: seed:city:event:7 is in calendar 1, seed:city.2:event:7 in calendar 2.
type Number int

// sourcePrefix is the prefix of the source ids of all generated records.
const sourcePrefix = "seed:"

// sourceID returns the source id of a record in calendar n. The argument is the source id that the record has in
// calendar 1.
func (n Number) sourceID(id string) string {
	if n <= 1 {
		return id
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(id, sourcePrefix), ":")
	return sourcePrefix + name + "." + strconv.Itoa(int(n)) + ":" + rest
}

// prefix returns the beginning of all source ids in calendar n of a scenario, such as "seed:city.2:".
func (n Number) prefix(scenario string) string { return n.sourceID(sourcePrefix + scenario + ":") }

// sourceIDOf returns a condition for the rows whose source id is in any calendar of a scenario. The scenario "" means
// all scenarios.
func sourceIDOf(scenario string) func(*sql.Selector) {
	const column = event.FieldSourceID // all tables have this column
	if scenario == "" {
		return sql.FieldHasPrefix(column, sourcePrefix)
	}
	return sql.OrPredicates(sql.FieldHasPrefix(column, sourcePrefix+scenario+":"), sql.FieldHasPrefix(column, sourcePrefix+scenario+"."))
}

// recordsOfScenario returns a condition for the rows of a kind in any calendar of a scenario. The scenario "" means
// all. Events without a source id count if their series belongs to the scenario.
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

// isNotSeeded returns a condition for the rows of a kind that this package did not generate.
func isNotSeeded(kind calendar.Kind) func(*sql.Selector) {
	return func(s *sql.Selector) {
		made := sql.Dialect(s.Dialect()).Select(event.FieldID).From(sql.Table(s.TableName()))
		recordsOfScenario(kind, "")(made)
		s.Where(sql.NotIn(s.C(event.FieldID), made))
	}
}

// Counts maps kinds of records to their numbers.
type Counts map[calendar.Kind]int

// Sum returns the total number of records, over all kinds.
func (c Counts) Sum() int {
	n := 0
	for _, v := range c {
		n += v
	}
	return n
}

// CountForeign returns the numbers of records that this package did not generate, including those in the trash.
func CountForeign(ctx context.Context, db *ent.Client) (Counts, error) {
	return count(ctx, db, isNotSeeded)
}

// CountSeeded returns the numbers of records in the calendars of a scenario. The scenario "" means all scenarios.
// Occurrences of series count as events.
func CountSeeded(ctx context.Context, db *ent.Client, scenario string) (Counts, error) {
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
	err := db.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
		where(s)
		s.Select(sql.Count("*"))
	})
	if err != nil {
		return 0, fmt.Errorf("count records of kind %s: %w", kind, err)
	}
	return found[0], nil
}
