package edit

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/venue"
)

// recordTable has the statements that the tables of events, series, venues, organizers and images share.
// Predicates and changes use columns that have the same name in each table that has them.
type recordTable struct {
	// lock locks the selected records and returns their ids. They are in the order that where sets, then in
	// ascending order.
	lock func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error)
	// change sets columns of the records and increases their version.
	change func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error
}

// noLimit is the limit for recordTable.lock that locks all selected records.
const noLimit = 1<<31 - 1

func recordTableOf(tx *ent.Tx, kind calendar.Kind) recordTable {
	switch kind {
	case calendar.Event:
		return recordTable{
			lock: func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error) {
				return tx.Event.Query().Where(where).Order(event.ByID()).Limit(limit).Modify(forUpdate).IDs(ctx)
			},
			change: func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error {
				return tx.Event.Update().Where(event.IDIn(ids...)).AddVersion(1).Modify(set).Exec(ctx)
			},
		}
	case calendar.Series:
		return recordTable{
			lock: func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error) {
				return tx.Series.Query().Where(where).Order(series.ByID()).Limit(limit).Modify(forUpdate).IDs(ctx)
			},
			change: func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error {
				return tx.Series.Update().Where(series.IDIn(ids...)).AddVersion(1).Modify(set).Exec(ctx)
			},
		}
	case calendar.Venue:
		return recordTable{
			lock: func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error) {
				return tx.Venue.Query().Where(where).Order(venue.ByID()).Limit(limit).Modify(forUpdate).IDs(ctx)
			},
			change: func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error {
				return tx.Venue.Update().Where(venue.IDIn(ids...)).AddVersion(1).Modify(set).Exec(ctx)
			},
		}
	case calendar.Organizer:
		return recordTable{
			lock: func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error) {
				return tx.Organizer.Query().Where(where).Order(organizer.ByID()).Limit(limit).Modify(forUpdate).IDs(ctx)
			},
			change: func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error {
				return tx.Organizer.Update().Where(organizer.IDIn(ids...)).AddVersion(1).Modify(set).Exec(ctx)
			},
		}
	}
	return recordTable{
		lock: func(ctx context.Context, where func(*sql.Selector), limit int) ([]int64, error) {
			return tx.Image.Query().Where(where).Order(image.ByID()).Limit(limit).Modify(forUpdate).IDs(ctx)
		},
		change: func(ctx context.Context, ids []int64, set func(*sql.UpdateBuilder)) error {
			return tx.Image.Update().Where(image.IDIn(ids...)).AddVersion(1).Modify(set).Exec(ctx)
		},
	}
}

// clearReferences sets a column to null in all records of the kinds in which it has the value. It increases the
// version of these records and logs field as changed.
func (e *Editor) clearReferences(
	ctx context.Context, tx *ent.Tx, column string, value int64, field string, kinds ...calendar.Kind,
) error {
	for _, kind := range kinds {
		table := recordTableOf(tx, kind)
		ids, err := table.lock(ctx, sql.FieldEQ(column, value), noLimit)
		if err != nil {
			return fmt.Errorf("records of kind %s with %s %d: %w", kind, field, value, err)
		}
		err = e.touch(ctx, tx, kind, ids, []string{field}, true, func(u *sql.UpdateBuilder) { u.SetNull(column) })
		if err != nil {
			return fmt.Errorf("%s %d: %w", field, value, err)
		}
	}
	return nil
}
