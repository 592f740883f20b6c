package edit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// CountsForTerms reports whether the event counts of terms include an event with the stored status s.
func CountsForTerms(s calendar.Status) bool { return s == calendar.Publish }

// CountEvents adds to the stored numbers of published events of terms. The map by has the number to add, by
// term id. It may be negative. Each statement locks its terms in the order of their ids, until the transaction
// ends. If a term was deleted, CountEvents returns store.ErrConflict.
func CountEvents(ctx context.Context, tx *ent.Tx, by map[int64]int) error {
	ids := slices.Sorted(maps.Keys(by))
	ids = slices.DeleteFunc(ids, func(id int64) bool { return by[id] == 0 })
	for part := range slices.Chunk(ids, BatchSize) {
		rows, err := tx.Term.Update().Where(term.IDIn(part...)).Modify(func(u *sql.UpdateBuilder) {
			u.Set(term.FieldEventCount, sql.ExprFunc(func(b *sql.Builder) {
				b.Ident(term.FieldEventCount).WriteString(" + CASE ").Ident(term.FieldID)
				for _, id := range part {
					b.WriteString(" WHEN ").Arg(id).WriteString(" THEN ").Arg(by[id])
				}
				b.WriteString(" ELSE 0 END")
			}))
		}).Save(ctx)
		if err != nil {
			return fmt.Errorf("events of terms: %w", err)
		}
		if rows != len(part) {
			return fmt.Errorf("%w: a term is gone", store.ErrConflict)
		}
	}
	return nil
}
