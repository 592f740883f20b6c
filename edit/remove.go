package edit

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// RemoveAll deletes events, venues or organizers for good, in or out of the trash, with their slugs, links,
// translations and search texts, in the transaction that is handed in. Their ids are never used again. There is
// no such thing in the API, which moves records to the trash; this is for records that were never real.
//
// Other events lose a parent, a venue or an organizer that goes. Records that are gone already are no error.
func (e *Editor) RemoveAll(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	if e.By.Role != calendar.Administrator || !e.may(auth.Create, &record{textOwner: textOwner{kind: kind}}) {
		return Forbidden()
	}
	ids = slices.Sorted(slices.Values(ids))
	for part := range slices.Chunk(ids, batch) {
		there, err := recordTableOf(tx, kind).lock(ctx, sql.FieldIn(event.FieldID, part...), noLimit)
		if err != nil {
			return fmt.Errorf("remove records of kind %s: %w", kind, err)
		}
		if len(there) == 0 {
			continue
		}
		if _, err := tx.Slug.Delete().Where(slug.KindEQ(kind), slug.OwnerIDIn(there...)).Exec(ctx); err != nil {
			return fmt.Errorf("remove slugs of kind %s: %w", kind, err)
		}
		// Translations go with their record, search texts when the change is noted.
		switch kind {
		case calendar.Event:
			err = e.removeEvents(ctx, tx, there)
		case calendar.Venue:
			if err = e.unlink(ctx, tx, kind, there); err == nil {
				_, err = tx.Venue.Delete().Where(venue.IDIn(there...)).Exec(ctx)
			}
		case calendar.Organizer:
			if err = e.unlink(ctx, tx, kind, there); err == nil {
				_, err = tx.Organizer.Delete().Where(organizer.IDIn(there...)).Exec(ctx)
			}
		default:
			err = fmt.Errorf("no records of kind %s are removed like this", kind)
		}
		if err != nil {
			return fmt.Errorf("remove records of kind %s: %w", kind, store.AsConflict(err))
		}
		for _, id := range there {
			e.log(kind, id, calendar.Deleted, nil)
		}
	}
	return nil
}

func (e *Editor) removeEvents(ctx context.Context, tx *ent.Tx, ids []int64) error {
	var counts []struct {
		TermID int64 `json:"term_id"`
		Count  int   `json:"count"`
	}
	err := tx.EventTerm.Query().
		Where(eventterm.EventIDIn(ids...), eventterm.HasEventWith(event.StatusEQ(calendar.Publish))).
		GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return err
	}
	by := make(map[int64]int, len(counts))
	for _, c := range counts {
		by[c.TermID] = -c.Count
	}
	if err := CountEvents(ctx, tx, by); err != nil {
		return err
	}
	children, err := tx.Event.Query().Where(event.ParentIDIn(ids...), event.IDNotIn(ids...)).
		Order(event.ByID()).Modify(forUpdate).IDs(ctx)
	if err != nil {
		return err
	}
	if len(children) > 0 {
		err := tx.Event.Update().Where(event.ParentIDIn(ids...), event.IDNotIn(ids...)).ClearParentID().AddVersion(1).
			SetModifiedAt(e.Now).Exec(ctx)
		if err != nil {
			return err
		}
	}
	for _, id := range children {
		e.log(calendar.Event, id, calendar.Updated, []string{"post_parent"})
	}
	if err := unlinkEvents(ctx, tx, ids); err != nil {
		return err
	}
	_, err = tx.Event.Delete().Where(event.IDIn(ids...)).Exec(ctx)
	return err
}
