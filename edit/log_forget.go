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

// ForgetChanges removes up to forgetBatch of the oldest entries of the change log, if they are older than a time. It returns their
// number. The newest entry stays, and the log has no gaps.
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
		public := func(s *sql.Selector) { s.Where(sql.ExprP(s.C(entchange.FieldHidden)+" = ?", false)) }
		newest, err := tx.Change.Query().Where(public, entchange.IDLTE(last)).Order(entchange.ByID(sql.OrderDesc())).Limit(1).All(ctx)
		if err != nil {
			return err
		}
		for _, c := range newest {
			err := tx.Counter.Update().Where(counter.ID(forgottenPublic), counter.ValueLT(c.At.Unix())).SetValue(c.At.Unix()).Exec(ctx)
			if err != nil {
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

// lastForgotten returns the id of the last entry that ForgetChanges removes, or 0. The log is in the order of dates, as far as the
// clocks of the processes agree.
func lastForgotten(ctx context.Context, db *ent.Client, before time.Time) (int64, error) {
	oldest, err := FirstChange(ctx, db)
	if err != nil || oldest == 0 {
		return 0, err
	}
	newest, err := Revision(ctx, db)
	if err != nil {
		return 0, err
	}
	for n := int64(forgetBatch); n > 0; n /= 2 {
		last := min(oldest+n, newest) - 1
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

// FirstChange returns the revision of the oldest entry of the change log. It is 0 before the first write.
func FirstChange(ctx context.Context, db *ent.Client) (int64, error) {
	ids, err := db.Change.Query().Order(entchange.ByID()).Limit(1).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// ForgottenPublic returns when the newest forgotten change was made that feeds show. It is zero if there is none.
func ForgottenPublic(ctx context.Context, db *ent.Client) (time.Time, error) {
	c, err := db.Counter.Get(ctx, forgottenPublic)
	switch {
	case ent.IsNotFound(err):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("old changes: %w", err)
	case c.Value == 0:
		return time.Time{}, nil
	}
	return time.Unix(c.Value, 0).UTC(), nil
}
