package edit

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// claimRows is the number of counter rows that lockName locks. If two names share a row, one writer waits for the
// other without need.
const claimRows = 256

// lockName locks a name within scope until the transaction ends. Meanwhile no other transaction can create a
// record of that name. A unique index cannot do this, because a calendar may have two venues of one name. There
// is no row to lock while the name is free, so lockName locks a counter row.
func lockName(ctx context.Context, tx *ent.Tx, scope calendar.Kind, name string) error {
	h := fnv.New32a()
	h.Write([]byte(scope))
	h.Write([]byte{0})
	h.Write([]byte(name))
	id := fmt.Sprintf("claim:%02x", h.Sum32()%claimRows)
	if err := addToCounter(ctx, tx, id, 1); err != nil {
		return fmt.Errorf("claim on a name: %w", err)
	}
	return nil
}

// addToCounter adds a number to a counter and locks its row until the transaction ends. It creates a missing
// counter.
func addToCounter(ctx context.Context, tx *ent.Tx, id string, by int64) error {
	return tx.Counter.Create().SetID(id).SetValue(by).
		OnConflict(sql.ConflictColumns(counter.FieldID)).AddValue(by).Exec(ctx)
}

// ForShare modifies a query so that the rows it finds cannot change until the transaction ends. It changes
// nothing for SQLite, which has one writer at a time. It adds LOCK IN SHARE MODE, which MySQL and MariaDB
// understand. For TiDB, package store replaces that with FOR UPDATE.
func ForShare(s *sql.Selector) {
	if s.Dialect() != dialect.SQLite {
		s.ForShare(sql.WithLockClause("LOCK IN SHARE MODE"))
	}
}

// ForUpdate modifies a query so that no other transaction can lock or change its rows until this one ends. Use it
// for rows that the transaction will change. It changes nothing for SQLite, which has one writer at a time.
func ForUpdate(s *sql.Selector) {
	if s.Dialect() != dialect.SQLite {
		s.ForUpdate()
	}
}

// LockEvent loads an event for UpdateEvent or TrashEvent, and locks it until the transaction ends. Other
// writers wait, instead of failing with a conflict and retrying. LockEvent first locks the series of an
// occurrence. It returns *ent.NotFoundError, or store.ErrConflict if the event became an occurrence meanwhile.
func LockEvent(ctx context.Context, tx *ent.Tx, id int64) (*ent.Event, error) {
	rows, err := LockEvents(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("event %d: %w", id, &ent.NotFoundError{})
	}
	return rows[0], nil
}

// LockSeriesOf loads an event and locks its series but not the event. It is for writes of several occurrences,
// which lock the events themselves.
func LockSeriesOf(ctx context.Context, tx *ent.Tx, id int64) (*ent.Event, error) {
	seen, err := tx.Event.Get(ctx, id)
	if err != nil || seen.SeriesID == nil {
		return seen, err
	}
	if _, err := LockSeries(ctx, tx, *seen.SeriesID); ent.IsNotFound(err) {
		return nil, fmt.Errorf("%w: series %d was removed", store.ErrConflict, *seen.SeriesID)
	} else if err != nil {
		return nil, err
	}
	row, err := tx.Event.Get(ctx, id)
	if err == nil && (row.SeriesID == nil || *row.SeriesID != *seen.SeriesID) {
		return nil, fmt.Errorf("%w: event %d left its series", store.ErrConflict, id)
	}
	return row, err
}

// LockEvents loads and locks events until the transaction ends, at most some hundreds. It first locks all their
// series, then the events, both in the order of the ids. The result lacks events that do not exist. If one became an
// occurrence meanwhile, it returns store.ErrConflict.
func LockEvents(ctx context.Context, tx *ent.Tx, ids ...int64) ([]*ent.Event, error) {
	load := func(lock func(*sql.Selector)) ([]*ent.Event, error) {
		return tx.Event.Query().Where(event.IDIn(ids...)).Order(event.ByID()).Modify(lock).All(ctx)
	}
	locks := false
	seen, err := load(func(s *sql.Selector) { locks = s.Dialect() != dialect.SQLite })
	if err != nil || !locks {
		return seen, err
	}
	locked := seriesOf(seen)
	if len(locked) > 0 {
		if _, err := lockRecords(ctx, tx, calendar.Series, sql.FieldIn(series.FieldID, locked...), noLimit); err != nil {
			return nil, err
		}
	}
	rows, err := load(ForUpdate)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.SeriesID != nil && !slices.Contains(locked, *row.SeriesID) {
			return nil, fmt.Errorf("%w: event %d became an occurrence", store.ErrConflict, row.ID)
		}
	}
	return rows, nil
}

// seriesOf returns the ids of the series of the events, without repeats and in ascending order.
func seriesOf(rows []*ent.Event) (ids []int64) {
	for _, row := range rows {
		if row.SeriesID != nil {
			ids = append(ids, *row.SeriesID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// LockSeries loads a series and locks it. Other writers of the series and of its occurrences wait until the
// transaction ends.
func LockSeries(ctx context.Context, tx *ent.Tx, id int64) (*ent.Series, error) {
	return tx.Series.Query().Where(series.ID(id)).Modify(ForUpdate).Only(ctx)
}

// LockTerm loads a category or tag and locks it. Other writers of the term wait until the transaction ends.
func LockTerm(ctx context.Context, tx *ent.Tx, id int64) (*ent.Term, error) {
	return tx.Term.Query().Where(term.ID(id)).Modify(ForUpdate).Only(ctx)
}

// LockTerms loads and locks the terms with the given ids, in ascending order. Other writers of these terms wait
// until the transaction ends.
func LockTerms(ctx context.Context, tx *ent.Tx, ids ...int64) ([]*ent.Term, error) {
	return tx.Term.Query().Where(term.IDIn(ids...)).Order(term.ByID()).Modify(ForUpdate).All(ctx)
}

// LockAllTerms loads and locks all terms in the order of their ids. Other writers of terms wait until the
// transaction ends.
func LockAllTerms(ctx context.Context, tx *ent.Tx) ([]*ent.Term, error) {
	return tx.Term.Query().Order(term.ByID()).Modify(ForUpdate).All(ctx)
}

// noLimit makes lockRecords lock all selected records.
const noLimit = 1<<31 - 1

// lockRecords locks the records of a kind that the function where selects, at most limit, and returns their ids.
// They are in the order that where sets, then in ascending order. The columns in where must have the same name in
// all record tables.
func lockRecords(ctx context.Context, tx *ent.Tx, kind calendar.Kind, where func(*sql.Selector), limit int) ([]int64, error) {
	return tx.Client().RecordIDs(ctx, kind, limit, where, ForUpdate)
}
