package feeds

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/withdrawal"
	"github.com/almanac-cal/almanac/internal/query"
)

// commitTime bounds the time from the date of a change to its commit. It includes the difference between the
// clocks of processes.
const commitTime = time.Minute

// lastModified returns the Last-Modified of a feed, or zero for none. It is the latest of the times at, the last
// public change, due publication and expired withdrawal. It is zero if that time is less than commitTime and a second
// ago, or if a replica answers. In both cases, a change with the same date may still be missing from the feed. So two
// feeds with the same date have the same content.
func (r *request) lastModified(at ...time.Time) (time.Time, error) {
	if r.Replica != nil && r.Replica != r.Primary {
		return time.Time{}, nil
	}
	last := func(when time.Time) { at = append(at, when) }
	changed, err := edit.LastPublicChange(r.Ctx, r.DB)
	if err != nil {
		return time.Time{}, err
	}
	last(changed)
	// Scheduled records whose date has passed count as published, even if the database does not say so yet.
	due := func(s *sql.Selector) {
		s.Select(s.C(event.FieldPublishedAt)).Where(sql.And(
			sql.EQ(s.C(event.FieldStatus), calendar.Future), sql.LTE(s.C(event.FieldPublishedAt), r.Now))).
			OrderBy(sql.Desc(s.C(event.FieldPublishedAt))).Limit(1)
	}
	for _, scan := range []func(context.Context, any) error{
		r.DB.Event.Query().Modify(due).Scan, r.DB.Venue.Query().Modify(due).Scan,
		r.DB.Organizer.Query().Modify(due).Scan, r.DB.Series.Query().Modify(due).Scan,
	} {
		var rows []struct {
			PublishedAt time.Time `sql:"published_at"`
		}
		if err := scan(r.Ctx, &rows); err != nil {
			return time.Time{}, fmt.Errorf("last publication: %w", err)
		}
		for _, row := range rows {
			last(row.PublishedAt)
		}
	}
	gone, err := r.DB.Withdrawal.Query().Where(withdrawal.AtLTE(r.Now.Add(-query.WithdrawalTime))).
		Order(withdrawal.ByAt(sql.OrderDesc())).Limit(1).All(r.Ctx)
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
	if dated := out.Add(commitTime + time.Second); r.Now.Before(dated) {
		r.ExpireBy(dated) // caches ask again when the feed can have its date
		return time.Time{}, nil
	}
	return out, nil
}

// year returns the current year in the zone of the site.
func (r *request) year() int {
	year, _, _ := r.Zone().Wall(r.Now).Date()
	return year
}

// ruleYearStart returns the instant from which feeds use the current rules of time zones: the start of the year.
func (r *request) ruleYearStart() time.Time {
	return r.Zone().Instant(calendar.WallAt(r.year(), 1, 1, 0, 0, 0))
}
