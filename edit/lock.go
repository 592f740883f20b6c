package edit

import (
	"context"
	"fmt"
	"hash/fnv"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// claims bounds the rows that claim locks. Two names share one by chance; then one writer waits for the other
// without need, which harms nobody.
const claims = 256

// claim makes the transaction the only one that may create what is called name within scope, until it ends.
// No index can forbid two venues of the same name, because some are wanted; and a look-up finds nothing to
// lock as long as the name is free. So the lock is on a row of its own.
func claim(ctx context.Context, tx *ent.Tx, scope calendar.Kind, name string) error {
	h := fnv.New32a()
	h.Write([]byte(scope))
	h.Write([]byte{0})
	h.Write([]byte(name))
	id := fmt.Sprintf("claim:%02x", h.Sum32()%claims)
	if err := grow(ctx, tx, id, 1); err != nil {
		return fmt.Errorf("claim on a name: %w", err)
	}
	return nil
}

// grow adds to a counter and locks its row until the transaction ends.
func grow(ctx context.Context, tx *ent.Tx, id string, by int64) error {
	return tx.Counter.Create().SetID(id).SetValue(by).
		OnConflict(sql.ConflictColumns(counter.FieldID)).AddValue(by).Exec(ctx)
}

// forShare locks the rows a query finds against changes until the transaction ends. SQLite has one writer at
// a time anyway. The older clause is understood by MySQL and MariaDB alike.
func forShare(s *sql.Selector) {
	if s.Dialect() != dialect.SQLite {
		s.ForShare(sql.WithLockClause("LOCK IN SHARE MODE"))
	}
}

// forUpdate is forShare for rows that the transaction is about to change.
func forUpdate(s *sql.Selector) {
	if s.Dialect() != dialect.SQLite {
		s.ForUpdate()
	}
}

// LockEvent loads an event for UpdateEvent or TrashEvent. Others who want to change it wait until the transaction
// ends, instead of losing a race and starting again. Errors are those of Ent.
func LockEvent(ctx context.Context, tx *ent.Tx, id int64) (*ent.Event, error) {
	return tx.Event.Query().Where(event.ID(id)).Modify(forUpdate).Only(ctx)
}

// LockVenue is LockEvent for a venue.
func LockVenue(ctx context.Context, tx *ent.Tx, id int64) (*ent.Venue, error) {
	return tx.Venue.Query().Where(venue.ID(id)).Modify(forUpdate).Only(ctx)
}

// LockOrganizer is LockEvent for an organizer.
func LockOrganizer(ctx context.Context, tx *ent.Tx, id int64) (*ent.Organizer, error) {
	return tx.Organizer.Query().Where(organizer.ID(id)).Modify(forUpdate).Only(ctx)
}

// LockTerm is LockEvent for a category or tag.
func LockTerm(ctx context.Context, tx *ent.Tx, id int64) (*ent.Term, error) {
	return tx.Term.Query().Where(term.ID(id)).Modify(forUpdate).Only(ctx)
}

// LockTerms loads the terms with the ids, in the order of their ids. Other writers of these terms wait until the
// transaction ends.
func LockTerms(ctx context.Context, tx *ent.Tx, ids ...int64) ([]*ent.Term, error) {
	return tx.Term.Query().Where(term.IDIn(ids...)).Order(term.ByID()).Modify(forUpdate).All(ctx)
}

// LockAllTerms is LockTerms for all terms.
func LockAllTerms(ctx context.Context, tx *ent.Tx) ([]*ent.Term, error) {
	return tx.Term.Query().Order(term.ByID()).Modify(forUpdate).All(ctx)
}
