package handlers

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/withdrawal"
	"github.com/almanac-cal/almanac/internal/query"
)

// lastModified returns the Last-Modified of a feed: no earlier than the last change of anything in the calendar, and than the
// given times, at which the feed became another one. So what was sent with the same date was the same, whatever left the feed.
// It is before the present second, in which more may change.
func (r *request) lastModified(at ...time.Time) (time.Time, error) {
	last := func(when time.Time) { at = append(at, when) }
	newest, err := r.db.Change.Query().Order(change.ByID(sql.OrderDesc())).Limit(1).All(r.ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("last change: %w", err)
	}
	for _, c := range newest {
		last(c.At)
	}
	// What is published by its date may not be written yet.
	due := func(s *sql.Selector) {
		s.Select(s.C(event.FieldPublishedAt)).Where(sql.And(
			sql.EQ(s.C(event.FieldStatus), calendar.Future), sql.LTE(s.C(event.FieldPublishedAt), r.now))).
			OrderBy(sql.Desc(s.C(event.FieldPublishedAt))).Limit(1)
	}
	for _, scan := range []func(context.Context, any) error{
		r.db.Event.Query().Modify(due).Scan, r.db.Venue.Query().Modify(due).Scan,
		r.db.Organizer.Query().Modify(due).Scan, r.db.Series.Query().Modify(due).Scan,
	} {
		var rows []struct {
			PublishedAt time.Time `sql:"published_at"`
		}
		if err := scan(r.ctx, &rows); err != nil {
			return time.Time{}, fmt.Errorf("last publication: %w", err)
		}
		for _, row := range rows {
			last(row.PublishedAt)
		}
	}
	gone, err := r.db.Withdrawal.Query().Where(withdrawal.AtLTE(r.now.Add(-query.WithdrawalTime))).
		Order(withdrawal.ByAt(sql.OrderDesc())).Limit(1).All(r.ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("last withdrawal: %w", err)
	}
	for _, w := range gone {
		last(w.At.Add(query.WithdrawalTime))
	}
	var out time.Time
	for _, when := range at {
		if when.After(out) {
			out = when
		}
	}
	if before := r.now.Add(-time.Second); out.After(before) {
		out = before
	}
	return out, nil
}

// yearBegan returns since when the rules of zones are what they are.
func (r *request) yearBegan() time.Time {
	year, _, _ := r.zone().Wall(r.now).Date()
	return r.zone().Instant(calendar.WallAt(year, 1, 1, 0, 0, 0))
}
