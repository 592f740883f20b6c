package edit

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/auth"
)

// RemoveUser deletes a user and their tokens for good. The records that the user wrote stay and lose their author,
// which is a change of each of them. The caller checks the permission. Errors: auth.ErrNoUser.
func (e *Editor) RemoveUser(ctx context.Context, tx *ent.Tx, userID int64) error {
	// Writers of new records of the user wait for this lock, and then find no user.
	if _, err := tx.User.Query().Where(user.ID(userID)).Modify(forUpdate).IDs(ctx); err != nil {
		return fmt.Errorf("user %d: %w", userID, err)
	}
	err := e.clearReferences(ctx, tx, event.FieldAuthorID, userID, "author",
		calendar.Series, calendar.Event, calendar.Venue, calendar.Organizer, calendar.Image)
	if err != nil {
		return err
	}
	return auth.RemoveUser(ctx, tx.Client(), userID)
}
