package edit

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/internal/auth"
)

// PublishDue publishes all scheduled records that are due at the time now, and returns their number. Any
// number of processes can call it at the same time, and one of them publishes each record. Readers do not depend on
// it, because a scheduled record counts as published from its date on. PublishDue updates the counts of the terms
// and the change log.
func PublishDue(ctx context.Context, db *ent.Client, now time.Time) (int, error) {
	e := &Editor{Now: now.UTC().Truncate(time.Second), By: auth.System()}
	total := 0
	for {
		due, err := e.anyDue(ctx, db)
		if err != nil || !due {
			return total, err
		}
		published := 0
		err = Write(ctx, db, e, func(tx *ent.Tx) error {
			published, err = e.PublishDue(ctx, tx)
			return err
		})
		if err != nil {
			return total, err
		}
		total += published
	}
}

// anyDue reports whether any record is due for publication. PublishDue calls it first, because usually none is
// due, and then no transaction is needed.
func (e *Editor) anyDue(ctx context.Context, db *ent.Client) (bool, error) {
	for _, kind := range calendar.PublishedKinds {
		due, err := db.HasRecord(ctx, kind, isDue(e.Now))
		if err != nil {
			return false, fmt.Errorf("scheduled records of kind %s: %w", kind, err)
		}
		if due {
			return true, nil
		}
	}
	return false, nil
}

// NextDue returns the time at which the next scheduled record after now is published, in UTC. The zero time means
// that no record is scheduled. Responses change at that time although no request writes.
func NextDue(ctx context.Context, db *ent.Client, now time.Time) (next time.Time, err error) {
	for _, kind := range calendar.PublishedKinds {
		var found []struct {
			PublishedAt time.Time `sql:"published_at"`
		}
		err := db.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
			s.Select(s.C(event.FieldPublishedAt)).OrderBy(s.C(event.FieldPublishedAt)).Limit(1)
			isLater(now)(s)
		})
		if err != nil {
			return time.Time{}, fmt.Errorf("scheduled records of kind %s: %w", kind, err)
		}
		if len(found) > 0 && (next.IsZero() || found[0].PublishedAt.Before(next)) {
			next = found[0].PublishedAt
		}
	}
	return next, nil
}

// isLater returns a predicate for scheduled records whose publication date is after now. It works for all record
// tables.
func isLater(now time.Time) func(*sql.Selector) {
	return sql.AndPredicates(sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldGT(event.FieldPublishedAt, now))
}

// isDue returns a predicate for scheduled records whose publication date is not after now. It works for all record
// tables.
func isDue(now time.Time) func(*sql.Selector) {
	return sql.AndPredicates(sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldLTE(event.FieldPublishedAt, now))
}

// PublishDue publishes scheduled records that are due at e.Now, at most BatchSize of each kind.
// It returns their number. It does not change the modification date.
func (e *Editor) PublishDue(ctx context.Context, tx *ent.Tx) (int, error) {
	published := 0
	for _, kind := range calendar.PublishedKinds {
		// The tables of events, venues and organizers have an index in this order, so the statement locks one
		// batch only. No index of series has the publication date, so the statement locks all scheduled series.
		ids, err := lockRecords(ctx, tx, kind, func(s *sql.Selector) {
			isDue(e.Now)(s)
			s.OrderBy(s.C(event.FieldPublishedAt))
		}, BatchSize)
		if err != nil {
			return 0, fmt.Errorf("scheduled records of kind %s: %w", kind, err)
		}
		if len(ids) == 0 {
			continue
		}
		err = tx.Client().ChangeRecords(ctx, kind, ids, func(u *sql.UpdateBuilder) {
			// The public has seen the record since its date.
			u.Set(event.FieldStatus, calendar.Publish).Set(event.FieldDated, true).Add(event.FieldHiddenChanges, 1)
			if kind == calendar.Event {
				raiseSequence(u)
			}
		})
		if err != nil {
			return 0, fmt.Errorf("publish records of kind %s: %w", kind, err)
		}
		if kind == calendar.Event {
			if err := countPublished(ctx, tx, ids); err != nil {
				return 0, err
			}
			if err := dropWithdrawals(ctx, tx, ids); err != nil {
				return 0, err
			}
		}
		for _, id := range ids {
			e.LogChange(kind, id, calendar.Published, []string{"status"}, Impact{Visible: true})
		}
		published += len(ids)
	}
	return published, nil
}

// countPublished adds events that were just published to the counts of their terms.
func countPublished(ctx context.Context, tx *ent.Tx, events []int64) error {
	var counts []struct {
		TermID int64 `json:"term_id"`
		Count  int   `json:"count"`
	}
	err := tx.EventTerm.Query().Where(eventterm.EventIDIn(events...)).
		GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return fmt.Errorf("terms of published events: %w", err)
	}
	by := make(map[int64]int, len(counts))
	for _, c := range counts {
		by[c.TermID] = c.Count
	}
	return CountEvents(ctx, tx, by)
}
