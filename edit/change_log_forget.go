package edit

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/internal/store"
)

// LeastKept is the shortest time for which the change log is kept. Processes read the log more often than that.
const LeastKept = 24 * time.Hour

// forgottenPublic is the id of the counter that has the time of the newest forgotten change that feeds show, in seconds
// since 1970. Its row is also the lock for removals from the log.
const forgottenPublic = "forgotten-public"

// forgetBatch is the number of entries that one transaction removes. It is small, because other writers wait.
const forgetBatch = 200

// ForgetChanges deletes the oldest entries of the change log, if they were made before the given time. One call
// deletes at most forgetBatch of them and returns their number. The newest entry stays, and the log has no gaps.
func ForgetChanges(ctx context.Context, db *ent.Client, before time.Time) (int, error) {
	last, err := lastForgotten(ctx, db, before)
	if err != nil || last == 0 {
		return 0, err
	}
	removed := 0
	err = store.Tx(ctx, db, func(tx *ent.Tx) error {
		if err := addToCounter(ctx, tx, forgottenPublic, 0); err != nil { // other processes wait for this row
			return err
		}
		newest, err := newestPublic(ctx, tx.Change.Query().Where(entchange.IDLTE(last)))
		if err != nil {
			return err
		}
		if newest != nil {
			at := newest.At.Unix()
			if err := tx.Counter.Update().Where(counter.ID(forgottenPublic), counter.ValueLT(at)).SetValue(at).Exec(ctx); err != nil {
				return err
			}
		}
		removed, err = tx.Change.Delete().Where(entchange.IDLTE(last)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("old changes: %w", err)
	}
	return removed, nil
}

// lastForgotten returns the id up to which ForgetChanges deletes entries in one call, or 0 if none are old enough. It
// assumes that the log is in the order of dates, as far as the clocks of the processes agree.
func lastForgotten(ctx context.Context, db *ent.Client, before time.Time) (int64, error) {
	oldest, err := db.Change.Query().Order(entchange.ByID()).Limit(1).All(ctx)
	if err != nil || len(oldest) == 0 || !oldest[0].At.Before(before) {
		return 0, err
	}
	newest, err := Revision(ctx, db)
	if err != nil {
		return 0, err
	}
	for n := int64(forgetBatch); n > 0; n /= 2 {
		last := min(oldest[0].ID+n, newest) - 1
		old, err := db.Change.Query().Where(entchange.ID(last), entchange.AtLT(before)).Exist(ctx)
		if err != nil {
			return 0, fmt.Errorf("old changes: %w", err)
		}
		if old {
			return last, nil
		}
	}
	return 0, nil
}

// FirstChange returns the revision, the id in the change log, of the oldest entry. It is 0 if the log is empty.
func FirstChange(ctx context.Context, db *ent.Client) (int64, error) {
	ids, err := db.Change.Query().Order(entchange.ByID()).Limit(1).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// LastPublicChange returns the time of the newest change that feeds show, even if it is
// no longer in the log. It returns the zero time if there is none.
func LastPublicChange(ctx context.Context, db *ent.Client) (time.Time, error) {
	newest, err := newestPublic(ctx, db.Change.Query())
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("last change: %w", err)
	case newest != nil:
		return newest.At, nil
	}
	c, err := db.Counter.Get(ctx, forgottenPublic)
	switch {
	case ent.IsNotFound(err):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("last change: %w", err)
	case c.Value == 0:
		return time.Time{}, nil
	}
	return time.Unix(c.Value, 0).UTC(), nil
}

// newestPublic returns the newest of the selected changes that the public can see. It returns nil if there is
// none.
func newestPublic(ctx context.Context, selected *ent.ChangeQuery) (*ent.Change, error) {
	// The predicate of Ent is NOT hidden, for which SQLite uses no index.
	public := func(s *sql.Selector) { s.Where(sql.ExprP(s.C(entchange.FieldHidden)+" = ?", false)) }
	found, err := selected.Where(public).Order(entchange.ByID(sql.OrderDesc())).Limit(1).All(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}
