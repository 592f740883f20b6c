package reply

import (
	"context"
	"time"
)

// publicationSchedule caches the time at which the next scheduled record will be published. The cached time is for
// one revision of the calendar.
type publicationSchedule struct {
	// scheduledReplies is a lock for the other fields, with room for one element. A request sends one to take
	// the lock.
	scheduledReplies chan struct{}
	revision         int64
	// asked is when the database was last queried. Zero means never.
	asked time.Time
	// due is when the next scheduled record will be published. Zero means that no record is scheduled.
	due time.Time
}

// next returns when the next scheduled record will be published. It queries the database if the revision has
// changed or the known time has passed.
func (d *publicationSchedule) next(
	ctx context.Context, ask func(context.Context, time.Time) (time.Time, error), revision int64, now time.Time,
) (time.Time, error) {
	select {
	case d.scheduledReplies <- struct{}{}:
		defer func() { <-d.scheduledReplies }()
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	known := d.revision == revision && !d.asked.IsZero() && !now.Before(d.asked) && (d.due.IsZero() || now.Before(d.due))
	if known {
		return d.due, nil
	}
	due, err := ask(ctx, now)
	if err != nil {
		return time.Time{}, err
	}
	d.revision, d.asked, d.due = revision, now, due
	return due, nil
}
