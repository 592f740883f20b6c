package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
)

// PublishDue publishes all scheduled records whose date has come at now, and returns how many they were. Any
// number of processes may call it at any time: each record is published by one of them. Readers do not depend
// on it, because a scheduled record counts as published from its date on; it keeps the numbers of the terms
// and the change log right.
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

// anyDue looks without a transaction, because mostly there is nothing to do.
func (e *Editor) anyDue(ctx context.Context, db *ent.Client) (bool, error) {
	due, err := db.Event.Query().Where(isDue[predicate.Event](e.Now)).Exist(ctx)
	if err == nil && !due {
		due, err = db.Venue.Query().Where(isDue[predicate.Venue](e.Now)).Exist(ctx)
	}
	if err == nil && !due {
		due, err = db.Organizer.Query().Where(isDue[predicate.Organizer](e.Now)).Exist(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("scheduled records: %w", err)
	}
	return due, nil
}

// NextDue is when the first scheduled record after now is published: UTC, zero if none is. Until then replies do not
// change unless somebody writes.
func NextDue(ctx context.Context, db *ent.Client, now time.Time) (next time.Time, err error) {
	var found []time.Time
	e, err := db.Event.Query().Where(isLater[predicate.Event](now)).Order(event.ByPublishedAt()).Limit(1).All(ctx)
	for _, row := range e {
		found = append(found, row.PublishedAt)
	}
	var v []*ent.Venue
	if err == nil {
		v, err = db.Venue.Query().Where(isLater[predicate.Venue](now)).Order(venue.ByPublishedAt()).Limit(1).All(ctx)
	}
	for _, row := range v {
		found = append(found, row.PublishedAt)
	}
	var o []*ent.Organizer
	if err == nil {
		o, err = db.Organizer.Query().Where(isLater[predicate.Organizer](now)).Order(organizer.ByPublishedAt()).Limit(1).All(ctx)
	}
	for _, row := range o {
		found = append(found, row.PublishedAt)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("scheduled records: %w", err)
	}
	if len(found) > 0 {
		next = slices.MinFunc(found, time.Time.Compare)
	}
	return next, nil
}

// isLater selects scheduled records whose date has not come.
func isLater[P ~func(*sql.Selector)](now time.Time) P {
	return P(sql.AndPredicates(
		sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldGT(event.FieldPublishedAt, now)))
}

// isDue selects scheduled records whose date has come. The tables share the columns.
func isDue[P ~func(*sql.Selector)](now time.Time) P {
	return P(sql.AndPredicates(
		sql.FieldEQ(event.FieldStatus, calendar.Future), sql.FieldLTE(event.FieldPublishedAt, now)))
}

// PublishDue publishes some hundreds of the scheduled events, venues and organizers whose date has come, and
// returns how many. Their modification date stays, since nobody changed them.
func (e *Editor) PublishDue(ctx context.Context, tx *ent.Tx) (int, error) {
	events, err := tx.Event.Query().Where(isDue[predicate.Event](e.Now)).
		Order(ent.Asc(event.FieldPublishedAt, event.FieldID)).Limit(batch).Modify(forUpdate).IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("scheduled events: %w", err)
	}
	if len(events) > 0 {
		err := tx.Event.Update().Where(event.IDIn(events...)).
			SetStatus(calendar.Publish).SetDated(true).AddVersion(1).Exec(ctx)
		if err != nil {
			return 0, fmt.Errorf("publish events: %w", err)
		}
		if err := countPublished(ctx, tx, events); err != nil {
			return 0, err
		}
	}
	venues, err := tx.Venue.Query().Where(isDue[predicate.Venue](e.Now)).
		Order(ent.Asc(venue.FieldPublishedAt, venue.FieldID)).Limit(batch).Modify(forUpdate).IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("scheduled venues: %w", err)
	}
	if len(venues) > 0 {
		err := tx.Venue.Update().Where(venue.IDIn(venues...)).
			SetStatus(calendar.Publish).SetDated(true).AddVersion(1).Exec(ctx)
		if err != nil {
			return 0, fmt.Errorf("publish venues: %w", err)
		}
	}
	organizers, err := tx.Organizer.Query().Where(isDue[predicate.Organizer](e.Now)).
		Order(ent.Asc(organizer.FieldPublishedAt, organizer.FieldID)).Limit(batch).Modify(forUpdate).IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("scheduled organizers: %w", err)
	}
	if len(organizers) > 0 {
		err := tx.Organizer.Update().Where(organizer.IDIn(organizers...)).
			SetStatus(calendar.Publish).SetDated(true).AddVersion(1).Exec(ctx)
		if err != nil {
			return 0, fmt.Errorf("publish organizers: %w", err)
		}
	}
	e.logPublished(calendar.Event, events)
	e.logPublished(calendar.Venue, venues)
	e.logPublished(calendar.Organizer, organizers)
	return len(events) + len(venues) + len(organizers), nil
}

func (e *Editor) logPublished(kind calendar.Kind, ids []int64) {
	for _, id := range ids {
		e.log(kind, id, calendar.Published, []string{"status"})
	}
}

// countPublished counts events that were just published for their terms.
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
