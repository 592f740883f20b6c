package seed

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/store"
)

// Remover removes the records of generated calendars from a database, and no others. Store and Editor must be set,
// and Editor must act as an administrator.
type Remover struct {
	Store  *store.Store
	Editor *edit.Editor
	// Files is the store of the image files. Nil means that these files are not deleted.
	Files media.Store
	// Scenario is the scenario whose records are removed. "" means all scenarios.
	Scenario string
	// Progress is called with the number of removed records and the total. Nil disables it.
	Progress func(done, total int)
}

// Remove permanently deletes the records, one kind after another, and the newest of a kind first. Finally it deletes
// the plans. A transaction deletes up to batchSize records. If ctx ends, Remove returns the error of ctx between two
// transactions. Another call continues. The counts are those of the removed records, even with an error.
func (r Remover) Remove(ctx context.Context) (Counts, error) {
	done := Counts{}
	there, err := CountSeeded(ctx, r.Store.Ent, r.Scenario)
	if err != nil {
		return done, err
	}
	editor := *r.Editor
	r.Editor = &editor
	for _, kind := range []calendar.Kind{
		calendar.Event, calendar.Series, calendar.Venue, calendar.Organizer, calendar.Tag, calendar.Category, calendar.Image,
	} {
		for {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			ids, err := newestIDs(ctx, r.Store.Ent, recordsOfScenario(kind, r.Scenario), kind)
			if err != nil {
				return done, fmt.Errorf("remove seeded records of kind %s: %w", kind, err)
			}
			if len(ids) == 0 {
				break
			}
			if err := r.remove(context.WithoutCancel(ctx), kind, ids); err != nil {
				return done, fmt.Errorf("remove seeded records of kind %s: %w", kind, err)
			}
			done[kind] += len(ids)
			if kind == calendar.Event && there[calendar.Series] > 0 { // a series is removed with its last occurrence
				left, err := countKind(ctx, r.Store.Ent, calendar.Series, sourceIDOf(r.Scenario))
				if err != nil {
					return done, err
				}
				done[calendar.Series] = max(there[calendar.Series]-left, 0)
			}
			if r.Progress != nil {
				r.Progress(done.Sum(), max(there.Sum(), done.Sum()))
			}
		}
	}
	return done, forgetPlans(ctx, r.Store.Ent, r.Scenario)
}

// newestIDs returns the ids of up to batchSize selected rows, the highest first. So parts of an event are removed
// before the event, and subcategories before their parents.
func newestIDs(ctx context.Context, db *ent.Client, where func(*sql.Selector), kind calendar.Kind) (ids []int64, err error) {
	err = db.ScanKind(ctx, kind, &ids, func(s *sql.Selector) {
		where(s)
		s.Select(s.C(event.FieldID)).OrderBy(sql.Desc(s.C(event.FieldID))).Limit(batchSize)
	})
	return ids, err
}

func (r Remover) remove(ctx context.Context, kind calendar.Kind, ids []int64) error {
	var files []media.Image
	err := edit.Write(ctx, r.Store.Ent, r.Editor, func(tx *ent.Tx) error {
		files = files[:0]
		switch kind {
		case calendar.Image:
			for _, id := range ids {
				row, err := tx.Image.Get(ctx, id)
				if ent.IsNotFound(err) {
					continue
				}
				if err != nil {
					return err
				}
				if err := r.Editor.DeleteImage(ctx, tx, row); err != nil {
					return err
				}
				files = append(files, media.Image{Path: row.Path, Sizes: row.Sizes})
			}
			return nil
		case calendar.Category, calendar.Tag:
			for _, id := range ids {
				row, err := edit.LockTerm(ctx, tx, id)
				if ent.IsNotFound(err) {
					continue
				}
				if err != nil {
					return err
				}
				if err := r.Editor.DeleteTerm(ctx, tx, row); err != nil {
					return err
				}
			}
			return nil
		}
		return r.Editor.RemoveAll(ctx, tx, kind, ids)
	})
	if err != nil || r.Files == nil {
		return err
	}
	var errs []error
	for _, img := range files {
		errs = append(errs, media.Remove(ctx, r.Files, img))
	}
	return errors.Join(errs...)
}
