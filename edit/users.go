package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/auth"
)

// RemoveUser deletes a user and the tokens of the user for good. Records of the user remain without an author,
// and get a new version. The caller checks the permission. If there is no such user, RemoveUser returns
// auth.ErrNoUser.
func (e *Editor) RemoveUser(ctx context.Context, tx *ent.Tx, userID int64) error {
	// A transaction that creates a record of the user waits for this lock, and then finds no user.
	if _, err := tx.User.Query().Where(user.ID(userID)).Modify(ForUpdate).IDs(ctx); err != nil {
		return fmt.Errorf("user %d: %w", userID, err)
	}
	err := e.clearReferences(ctx, tx, event.FieldAuthorID, userID, "author",
		slices.Concat(calendar.PublishedKinds, []calendar.Kind{calendar.Image})...)
	if err != nil {
		return err
	}
	return auth.RemoveUser(ctx, tx.Client(), userID)
}
