package edit

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
)

// RemoveUser deletes a user and their tokens for good. The records that the user wrote stay and lose their author,
// which is a change of each of them. Permission is the caller's to check. Errors: auth.ErrNoUser.
func (e *Editor) RemoveUser(ctx context.Context, tx *ent.Tx, userID int64) error {
	for _, t := range []struct {
		kind  calendar.Kind
		wrote func(context.Context) ([]int64, error)
		clear func(context.Context, []int64) error
	}{
		{calendar.Event, tx.Event.Query().Where(wroteBy[predicate.Event](userID)).
			Order(event.ByID()).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Event.Update().Where(event.IDIn(ids...)).ClearAuthorID().AddVersion(1).SetModifiedAt(e.Now).Exec(ctx)
		}},
		{calendar.Venue, tx.Venue.Query().Where(wroteBy[predicate.Venue](userID)).
			Order(venue.ByID()).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Venue.Update().Where(venue.IDIn(ids...)).ClearAuthorID().AddVersion(1).SetModifiedAt(e.Now).Exec(ctx)
		}},
		{calendar.Organizer, tx.Organizer.Query().Where(wroteBy[predicate.Organizer](userID)).
			Order(organizer.ByID()).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Organizer.Update().Where(organizer.IDIn(ids...)).ClearAuthorID().AddVersion(1).
				SetModifiedAt(e.Now).Exec(ctx)
		}},
		{calendar.Image, tx.Image.Query().Where(wroteBy[predicate.Image](userID)).
			Order(image.ByID()).Modify(forUpdate).IDs, func(ctx context.Context, ids []int64) error {
			return tx.Image.Update().Where(image.IDIn(ids...)).ClearAuthorID().AddVersion(1).Exec(ctx)
		}},
	} {
		ids, err := t.wrote(ctx)
		if err != nil {
			return fmt.Errorf("%ss of user %d: %w", t.kind, userID, err)
		}
		for part := range slices.Chunk(ids, batch) {
			if err := t.clear(ctx, part); err != nil {
				return fmt.Errorf("%ss of user %d: %w", t.kind, userID, err)
			}
		}
		for _, id := range ids {
			e.log(t.kind, id, calendar.Updated, []string{"author"})
		}
	}
	return auth.RemoveUser(ctx, tx.Client(), userID)
}

// wroteBy selects the records of an author. The tables share the column.
func wroteBy[P ~func(*sql.Selector)](userID int64) P {
	return P(sql.FieldEQ(event.FieldAuthorID, userID))
}
