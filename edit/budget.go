package edit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// unitBytes, drafterBudget and publisherBudget limit what one user stores per hour by writes of series. A
// budget of n allows n units at once after a pause, and n units an hour after that.
const (
	unitBytes       = 16 << 10 // a unit is an occurrence that a write creates, or this many bytes that it stores
	drafterBudget   = 2_000    // budget of users who may not publish
	publisherBudget = 20_000
)

// BudgetPrefix begins the names of the counters with the budgets of users. The id of the user follows.
const BudgetPrefix = "series_budget:"

// budgetCounter returns the id of the counter row for the budget of the caller. Its value is the time at which the
// budget is full again, in Unix milliseconds. This is the generic cell rate algorithm of internal/limit. All
// processes share the counter.
func (e *Editor) budgetCounter() string { return BudgetPrefix + strconv.FormatInt(e.By.UserID, 10) }

// SpendBudget charges the user's hourly budget for a write that creates made occurrences and stores size bytes. A
// write of no occurrence and at most unitBytes is free, and so are callers that are no users. It only reads the
// counter. storeBudget updates it at the end, because other transactions of the user would wait for the row. If the
// budget is used up, the error is *calendar.Error rest_too_many_requests.
func (e *Editor) SpendBudget(ctx context.Context, tx *ent.Tx, made, size int) error {
	if e.By.UserID == 0 || made == 0 && size <= unitBytes {
		return nil
	}
	e.units += int64(max(made, size/unitBytes))
	due, err := tx.Counter.Query().Where(counter.ID(e.budgetCounter())).All(ctx)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	_, err = e.takeUnits(due)
	return err
}

// takeUnits returns the new value of the caller's budget counter after this transaction. The parameter rows has
// the stored counter. It is empty if none is stored. The error is *calendar.Error rest_too_many_requests if the
// budget is too small.
func (e *Editor) takeUnits(rows []*ent.Counter) (int64, error) {
	budget := int64(drafterBudget)
	if auth.May(e.By, auth.Publish, auth.Record{Kind: calendar.Event, AuthorID: e.By.UserID, Status: calendar.Draft}) {
		budget = publisherBudget
	}
	interval := time.Hour.Milliseconds() / budget
	now := e.Now.UnixMilli()
	due := now
	if len(rows) > 0 {
		due = max(due, rows[0].Value)
	}
	due += e.units * interval
	if wait := due - now - time.Hour.Milliseconds(); wait > 0 {
		return 0, &calendar.Error{
			Code: "rest_too_many_requests", Key: "series-budget", Args: map[string]any{"Minutes": (wait + 59_999) / 60_000},
			Retry: time.Duration(wait) * time.Millisecond,
		}
	}
	return due, nil
}

// storeBudget charges the caller's budget counter with the units that SpendBudget collected in this transaction.
func (e *Editor) storeBudget(ctx context.Context, tx *ent.Tx) error {
	if e.units == 0 {
		return nil
	}
	id := e.budgetCounter()
	rows, err := tx.Counter.Query().Where(counter.ID(id)).Modify(ForUpdate).All(ctx)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	due, err := e.takeUnits(rows)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		err = tx.Counter.Create().SetID(id).SetValue(due).Exec(ctx)
	} else {
		err = tx.Counter.UpdateOneID(id).SetValue(due).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("budget: %w", store.AsConflict(err))
	}
	return nil
}
