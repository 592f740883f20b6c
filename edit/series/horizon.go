package series

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/auth"
)

// dueSeries is the number of series that ExtendDue loads at once.
const dueSeries = 100

// reportedSeries is the maximum number of failed series whose errors ExtendDue returns.
const reportedSeries = 10

// ExtendDue creates the next occurrences of each series whose stored occurrences end too early at now. It returns
// the number of new occurrences. Any number of processes can call it at any time. One of them extends a series, and
// the others find that it is no longer due. Each series has its own transaction, so a process that is killed leaves
// no series half extended. If a series fails, ExtendDue continues with the others. It returns the joined errors of
// the first ones.
func ExtendDue(ctx context.Context, db *ent.Client, site calendar.Site, now time.Time) (made int, err error) {
	e := &edit.Editor{Site: site, Now: now.UTC().Truncate(time.Second), By: auth.System()}
	var faults []error
	next := isOverdue(e.Now)
	for {
		due, err := db.Series.Query().Where(next).Order(series.ByExtendAt(), series.ByID()).Limit(dueSeries).
			Select(series.FieldID, series.FieldExtendAt).All(ctx)
		if err != nil {
			return made, errors.Join(append(faults, fmt.Errorf("series to extend: %w", err))...)
		}
		if len(due) == 0 {
			return made, errors.Join(faults...)
		}
		last := due[len(due)-1]
		next = series.And(isOverdue(e.Now), series.Or(series.ExtendAtGT(*last.ExtendAt),
			series.And(series.ExtendAtEQ(*last.ExtendAt), series.IDGT(last.ID))))
		// Without the shuffle, processes that found the same series would wait for each other at each of them.
		rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] }) //nolint:gosec // no secret
		for _, s := range due {
			n, err := extendDue(ctx, db, e, s.ID)
			made += n
			if ctx.Err() != nil {
				return made, errors.Join(append(faults, ctx.Err())...)
			}
			if err != nil && len(faults) < reportedSeries {
				faults = append(faults, fmt.Errorf("extend series %d: %w", s.ID, err))
			}
		}
	}
}

// CountOverdue returns the number of series for which ExtendDue would create occurrences at now.
func CountOverdue(ctx context.Context, db *ent.Client, now time.Time) (int, error) {
	n, err := db.Series.Query().Where(isOverdue(now)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("series to extend: %w", err)
	}
	return n, nil
}

// isOverdue returns a predicate for series whose next occurrences are due to be created at now. Series in the trash
// are not due.
func isOverdue(now time.Time) predicate.Series {
	return series.And(series.ExtendAtLTE(now), series.StatusNEQ(calendar.Trash))
}

// extendDue creates the next occurrences of a series and returns their number. It returns 0 if the series is not due
// at e.Now. It waits for other writers of the series. SKIP LOCKED is no alternative, because TiDB accepts it and
// takes no lock.
func extendDue(ctx context.Context, db *ent.Client, e *edit.Editor, id int64) (made int, err error) {
	err = edit.Write(ctx, db, e, func(tx *ent.Tx) error {
		made = 0
		s, err := tx.Series.Query().Where(series.ID(id), isOverdue(e.Now)).Modify(edit.ForUpdate).Only(ctx)
		if ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		made, err = extendSeries(ctx, tx, e, s)
		return err
	})
	if err != nil {
		return 0, err
	}
	return made, nil
}

// extendSeries creates the occurrences of a locked series up to the horizon, 25 months after now. It returns their
// number. It creates at most mostOccurrences, and leaves the others to the next call.
func extendSeries(ctx context.Context, tx *ent.Tx, e *edit.Editor, s *ent.Series) (int, error) {
	phases, err := edit.LoadPhases(ctx, tx, s.ID)
	if err != nil {
		return 0, err
	}
	if len(phases) == 0 || s.GeneratedUntil == nil {
		return 0, errors.New("a long series has a phase, and a time until which its occurrences are made")
	}
	last, err := edit.ScheduleOf(phases[len(phases)-1])
	if err != nil {
		return 0, err
	}
	until := horizon(last.Zone, e.Now)
	stored, err := tx.Event.Query().Where(event.SeriesID(s.ID), event.OriginalStartGT(*s.GeneratedUntil)).
		Select(event.FieldID, event.FieldOriginalStart).All(ctx)
	if err != nil {
		return 0, fmt.Errorf("stored occurrences: %w", err)
	}
	s.Status = edit.StatusToStore(s.Status, s.PublishedAt, e.Now)
	made, newest := 0, *s.GeneratedUntil
	for i, phase := range phases {
		schedule, err := edit.ScheduleOf(phase)
		if err != nil {
			return 0, err
		}
		var list []recur.Occurrence
		template, err := ent.DecodeTemplate(phase.Template)
		if err != nil {
			return 0, fmt.Errorf("template of series %d: %w", s.ID, err)
		}
		most := mostOccurrences(occurrenceSize(e, template))
		for o := range schedule.Occurrences(*s.GeneratedUntil, until) {
			if i+1 < len(phases) && !o.Nominal.Before(phases[i+1].StartWall) {
				break
			}
			if slices.ContainsFunc(stored, func(row *ent.Event) bool { return row.OriginalStart.Equal(o.Nominal) }) {
				continue
			}
			if made+len(list) >= most {
				until = newest // later phases start after this time
				break
			}
			list, newest = append(list, o), o.Nominal
		}
		if len(list) == 0 {
			continue
		}
		t, err := withoutDeletedLinks(ctx, tx, e, template)
		if err != nil {
			return 0, err
		}
		if err := storeOccurrences(ctx, tx, e, s, t, list); err != nil {
			return 0, err
		}
		made += len(list)
	}
	u := tx.Series.Update().Where(series.ID(s.ID)).AddVersion(1)
	if last.Ends() && !last.HasAfter(until) {
		u.ClearGeneratedUntil().ClearExtendAt()
	} else {
		u.SetGeneratedUntil(until).SetExtendAt(extendAt(s.ID, last.Zone, until))
	}
	if err := u.Exec(ctx); err != nil {
		return 0, fmt.Errorf("horizon: %w", err)
	}
	e.LogChange(calendar.Series, s.ID, calendar.Updated, []string{"generated_until"}, e.ImpactOfCreated(s.Status, s.PublishedAt))
	return made, nil
}

// withoutDeletedLinks returns a copy of a template, the shared fields of a series, without links to deleted or
// trashed records. It locks the remaining venues and organizers, so that none moves to the trash before the
// transaction ends. A parent in the trash stays the parent.
func withoutDeletedLinks(ctx context.Context, tx *ent.Tx, e *edit.Editor, template *ent.Event) (*ent.Event, error) {
	t := new(*template)
	all := &edit.Editor{Now: e.Now, By: auth.System()} // system rights: the caller may lack access to linked records
	venues, err := all.LockLinkable(ctx, tx, calendar.Venue, t.VenueIDs())
	if err != nil {
		return nil, err
	}
	organizers, err := all.LockLinkable(ctx, tx, calendar.Organizer, t.OrganizerIDs())
	if err != nil {
		return nil, err
	}
	there := map[string][]int64{"venue": venues, "organizer": organizers}
	if linked := edit.LinksOf(t).Terms(); len(linked) > 0 {
		var found []int64
		for part := range slices.Chunk(linked, edit.BatchSize) {
			ids, err := tx.Term.Query().Where(term.IDIn(part...)).IDs(ctx)
			if err != nil {
				return nil, fmt.Errorf("terms: %w", err)
			}
			found = append(found, ids...)
		}
		there["categories"], there["tags"] = found, found
	}
	if t.ImageID != nil {
		if there["image"], err = tx.Image.Query().Where(image.ID(*t.ImageID)).IDs(ctx); err != nil {
			return nil, fmt.Errorf("image %d: %w", *t.ImageID, err)
		}
	}
	if t.ParentID != nil {
		if there["post_parent"], err = tx.Event.Query().Where(event.ID(*t.ParentID)).IDs(ctx); err != nil {
			return nil, fmt.Errorf("parent %d: %w", *t.ParentID, err)
		}
	}
	for field, ids := range there {
		edit.DropTemplateLinks(t, field, func(id int64) bool { return !slices.Contains(ids, id) })
	}
	return t, nil
}
