package feeds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/query"
)

// boundsOf returns the range of withdrawn events that belong on a page of a feed. The number before counts the ids
// at the start of page that belong to the previous page. If isLast is set, no page follows, and the range has no
// upper bound.
func (r *request) boundsOf(page query.Page, before int, isLast bool) (b query.WithdrawnPart, err error) {
	var ids []int64
	if before > 0 && len(page.IDs) > 0 {
		ids = append(ids, page.IDs[0])
	}
	if !isLast && len(page.IDs) > 0 {
		ids = append(ids, page.IDs[len(page.IDs)-1])
	}
	if ids == nil {
		return b, nil
	}
	rows, err := r.DB.Event.Query().Where(event.IDIn(ids...)).Select(event.FieldID, event.FieldStartsAt).All(r.Ctx)
	if err != nil {
		return b, fmt.Errorf("bounds of a page: %w", err)
	}
	for _, row := range rows {
		at := &query.Position{Start: row.StartsAt, ID: row.ID}
		if before > 0 && row.ID == page.IDs[0] {
			b.After = at
		}
		if !isLast && row.ID == page.IDs[len(page.IDs)-1] {
			b.Last = at
		}
	}
	return b, nil
}

// withdrawnParts returns the withdrawn events in the range b, as parts of the feed.
func (r *request) withdrawnParts(about *feed.Feed, e *query.Events, b query.WithdrawnPart) ([]feed.Part, error) {
	found, err := r.findWithdrawn(e, b)
	if err != nil {
		return nil, err
	}
	entries, err := r.withdrawnEntries(found...)
	if err != nil {
		return nil, err
	}
	parts := make([]feed.Part, len(found))
	for i := range entries {
		parts[i] = about.Part(&entries[i])
	}
	return parts, nil
}

// findWithdrawn finds withdrawn events, and records that the reply depends on them.
func (r *request) findWithdrawn(e *query.Events, part query.WithdrawnPart) ([]query.Withdrawal, error) {
	if !e.IncludesWithdrawn() {
		return nil, nil
	}
	engine := query.Database{Ent: r.DB}
	find := func(ctx context.Context, now time.Time) ([]query.Withdrawal, error) {
		again := *e
		again.Now = now
		return engine.FindWithdrawn(ctx, &again, part)
	}
	found, err := find(r.Ctx, r.Now)
	if err != nil {
		return nil, fmt.Errorf("withdrawn events: %w", err)
	}
	type version struct{ id, at, sequence int64 }
	versions := func(list []query.Withdrawal) (out []version) {
		for _, w := range list {
			out = append(out, version{w.ID, w.At.Unix(), w.Sequence})
		}
		return out
	}
	shown := versions(found)
	r.CheckAgain(func(ctx context.Context, now time.Time) (bool, error) {
		list, err := find(ctx, now)
		return err == nil && slices.Equal(versions(list), shown), err
	})
	for _, w := range found {
		r.ExpireBy(w.At.Add(query.WithdrawalTime))
	}
	return found, nil
}

// withdrawnEntries returns the entries of withdrawn events in feeds.
func (r *request) withdrawnEntries(list ...query.Withdrawal) ([]feed.Entry, error) {
	ids := make([]int64, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	identities, err := r.feedIDs(ids)
	if err != nil {
		return nil, err
	}
	entries := make([]feed.Entry, len(list))
	for i, w := range list {
		zone, err := calendar.ParseZone(w.Timezone)
		if err != nil {
			return nil, fmt.Errorf("withdrawn event %d: %w", w.ID, err)
		}
		is := identities[w.ID]
		entries[i] = feed.Entry{
			ID: w.ID, UID: is.uid, NewsID: r.newsID(w.ID, is), Sequence: int(w.Sequence), Stamp: w.At, Withdrawn: true,
			Start: w.StartsAt, End: w.EndsAt, StartWall: w.StartWall, EndWall: w.EndWall, Zone: zone, AllDay: w.AllDay,
		}
	}
	return entries, nil
}
