package edit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// counted reports whether events of the stored status count for their terms.
func counted(s calendar.Status) bool { return s == calendar.Publish }

// recount changes the number of published events of terms by what is given for each. One statement locks the
// terms in the order of their ids. A term that is gone is store.ErrConflict.
func recount(ctx context.Context, tx *ent.Tx, by map[int64]int) error {
	ids := slices.Sorted(maps.Keys(by))
	ids = slices.DeleteFunc(ids, func(id int64) bool { return by[id] == 0 })
	for part := range slices.Chunk(ids, batch) {
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

// Recount counts the published events of terms anew, of all terms when none is named. Writes keep the numbers
// right; this is for whoever puts rows into the tables in another way.
func Recount(ctx context.Context, tx *ent.Tx, termIDs ...int64) error {
	query := tx.Term.Query().Order(ent.Asc(term.FieldID)).Modify(forUpdate)
	if len(termIDs) > 0 {
		query.Where(term.IDIn(termIDs...))
	}
	terms, err := query.Select(term.FieldID, term.FieldEventCount).All(ctx)
	if err != nil {
		return fmt.Errorf("terms to count: %w", err)
	}
	for part := range slices.Chunk(terms, batch) {
		by := make(map[int64]int, len(part))
		ids := make([]int64, len(part))
		for i, t := range part {
			ids[i] = t.ID
			by[t.ID] = -t.EventCount
		}
		var counts []struct {
			TermID int64 `json:"term_id"`
			Count  int   `json:"count"`
		}
		err := tx.EventTerm.Query().
			Where(eventterm.TermIDIn(ids...), eventterm.HasEventWith(event.StatusEQ(calendar.Publish))).
			GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
		if err != nil {
			return fmt.Errorf("count events of terms: %w", err)
		}
		for _, c := range counts {
			by[c.TermID] += c.Count
		}
		if err := recount(ctx, tx, by); err != nil {
			return err
		}
	}
	return nil
}
