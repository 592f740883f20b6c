package upkeep

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// batchSize is the number of records in a transaction.
const batchSize = 500

// kinds are the kinds of records, in the order in which Check and Reindex visit them.
var kinds = calendar.TranslatedKinds

// Repair computes again what the database derives from records: the event counts of terms, and all that Reindex
// writes. Occurrences of a series that does not exist become single events.
func Repair(ctx context.Context, db *ent.Client, e *edit.Editor) error {
	if err := freeStrays(ctx, db, e); err != nil {
		return err
	}
	err := edit.Write(ctx, db, e, func(tx *ent.Tx) error {
		if err := Recount(ctx, tx); err != nil {
			return err
		}
		return edit.LogAll(ctx, tx, e, calendar.Category, calendar.Tag)
	})
	if err != nil {
		return err
	}
	return Reindex(ctx, db, e, func(calendar.Kind, int) {})
}

// Recount counts the published events of each term again, and corrects the stored numbers. Without ids it does so for
// all terms. It is for writers that insert rows without package edit, which otherwise keeps the numbers correct.
func Recount(ctx context.Context, tx *ent.Tx, termIDs ...int64) error {
	lock := func() ([]*ent.Term, error) { return edit.LockTerms(ctx, tx, termIDs...) }
	if len(termIDs) == 0 {
		lock = func() ([]*ent.Term, error) { return edit.LockAllTerms(ctx, tx) }
	}
	terms, err := lock()
	if err != nil {
		return fmt.Errorf("terms to count: %w", err)
	}
	for part := range slices.Chunk(terms, batchSize) {
		ids := make([]int64, len(part))
		for i, t := range part {
			ids[i] = t.ID
		}
		by, err := publishedEvents(ctx, tx.Client(), ids)
		if err != nil {
			return err
		}
		for _, t := range part {
			by[t.ID] -= t.EventCount
		}
		if err := edit.CountEvents(ctx, tx, by); err != nil {
			return err
		}
	}
	return nil
}

// publishedEvents returns the numbers of published events by term id.
func publishedEvents(ctx context.Context, db *ent.Client, termIDs []int64) (map[int64]int, error) {
	var counts []struct {
		TermID int64 `json:"term_id"`
		Count  int   `json:"count"`
	}
	err := db.EventTerm.Query().
		Where(eventterm.TermIDIn(termIDs...), eventterm.HasEventWith(event.StatusEQ(calendar.Publish))).
		GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return nil, fmt.Errorf("count events of terms: %w", err)
	}
	events := make(map[int64]int, len(counts))
	for _, n := range counts {
		events[n.TermID] = n.Count
	}
	return events, nil
}

// Reindex computes again the values that are derived from records: search texts, instants of events, cells of venues,
// sort keys of terms and series. Call it after rows were written without package edit, or after the site's language
// or the rules of a time zone changed. Each batch is a transaction, so Reindex may run while the service writes. It
// calls step after each batch, with the number of records of the kind that are done.
func Reindex(ctx context.Context, db *ent.Client, e *edit.Editor, step func(kind calendar.Kind, records int)) error {
	return ReindexFrom(ctx, db, e, Position{}, func(at Position, records int) error {
		step(at.Kind, records)
		return nil
	})
}

// Position is the progress of Reindex. All records of the kind up to the id are done, and all kinds before it. The
// zero value is the beginning.
type Position struct {
	Kind calendar.Kind `json:"kind"`
	ID   int64         `json:"id"`
}

// ReindexFrom continues Reindex after a position. It calls step after each batch with the new position and the number
// of records of the kind that this call has done. If step returns an error, ReindexFrom returns it.
func ReindexFrom(ctx context.Context, db *ent.Client, e *edit.Editor, from Position, step func(at Position, records int) error) error {
	for _, kind := range kinds {
		after := int64(0)
		switch {
		case from.Kind == calendar.Series, from.Kind != "" && slices.Index(kinds, kind) < slices.Index(kinds, from.Kind):
			continue
		case kind == from.Kind:
			after = from.ID
		}
		err := eachBatch(ctx, db, kind, after, func(ids []int64, done int) error {
			err := edit.Write(ctx, db, e, func(tx *ent.Tx) error {
				switch {
				case kind == calendar.Event:
					if err := correctInstants(ctx, tx, ids); err != nil {
						return err
					}
				case kind == calendar.Venue:
					if err := repairCells(ctx, tx, ids); err != nil {
						return err
					}
				case kind.IsTerm():
					// The lock precedes the first read of the transaction, so that this sees the changes of
					// earlier writers.
					if _, err := edit.LockTerms(ctx, tx, ids...); err != nil {
						return err
					}
				}
				return e.ReplaceSearchTexts(ctx, tx, kind, ids)
			})
			if err != nil {
				return fmt.Errorf("search texts of %s: %w", kind, err)
			}
			return step(Position{kind, ids[len(ids)-1]}, done)
		})
		if err != nil {
			return err
		}
		err = edit.Write(ctx, db, e, func(tx *ent.Tx) error { return edit.LogAll(ctx, tx, e, kind) })
		if err != nil {
			return err
		}
	}
	after := int64(0)
	if from.Kind == calendar.Series {
		after = from.ID
	}
	return eachBatch(ctx, db, calendar.Series, after, func(ids []int64, done int) error {
		err := edit.Write(ctx, db, e, func(tx *ent.Tx) error {
			if err := series.WriteSortKeys(ctx, tx, e, ids); err != nil {
				return err
			}
			if err := e.ReplaceSearchTexts(ctx, tx, calendar.Series, ids); err != nil {
				return err
			}
			return edit.LogAll(ctx, tx, e, calendar.Series)
		})
		if err != nil {
			return fmt.Errorf("search texts of series: %w", err)
		}
		return step(Position{calendar.Series, ids[len(ids)-1]}, done)
	})
}

// eachBatch calls do for all ids of a kind above after, in ascending order and in batches. The argument done is the
// number of ids so far, including the batch.
func eachBatch(ctx context.Context, db *ent.Client, kind calendar.Kind, after int64, do func(ids []int64, done int) error) error {
	for done := 0; ; {
		ids, err := idsAfter(ctx, db, kind, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		done += len(ids)
		if err := do(ids, done); err != nil {
			return err
		}
	}
}

// idsAfter returns the next batch of ids of a kind above after, in ascending order.
func idsAfter(ctx context.Context, db *ent.Client, kind calendar.Kind, after int64) ([]int64, error) {
	where, limit := sql.FieldGT(event.FieldID, after), batchSize
	switch {
	case kind.IsTerm():
		where = sql.AndPredicates(where, sql.FieldEQ(term.FieldTaxonomy, kind))
	case kind == calendar.Series:
		limit = seriesBatch
	}
	return db.RecordIDs(ctx, kind, limit, where)
}

// freeStrays turns occurrences without a series into single events. They keep password_id, because their
// password hash is keyed with it.
func freeStrays(ctx context.Context, db *ent.Client, e *edit.Editor) error {
	return edit.Write(ctx, db, e, func(tx *ent.Tx) error {
		n, err := tx.Event.Update().Where(strayOccurrence()).
			ClearSeriesID().ClearOriginalStart().ClearOwnFields().SetOffSchedule(false).AddVersion(1).Save(ctx)
		if err != nil {
			return fmt.Errorf("occurrences of no series: %w", err)
		}
		if n == 0 {
			return nil
		}
		return edit.LogAll(ctx, tx, e, calendar.Event)
	})
}

// correctInstants computes the instants of events from their wall times, because the rules of their zones may
// have changed. It does not change events whose dates would become invalid.
func correctInstants(ctx context.Context, tx *ent.Tx, ids []int64) error {
	rows, err := tx.Event.Query().Where(event.IDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	var staleIDs []int64
	for _, r := range rows {
		if _, stale, err := derivedSpan(r); err == nil && stale { // Check reports an unknown zone
			staleIDs = append(staleIDs, r.ID)
		}
	}
	if len(staleIDs) == 0 {
		return nil
	}
	if rows, err = edit.LockEvents(ctx, tx, staleIDs...); err != nil {
		return err
	}
	for _, r := range rows {
		span, stale, err := derivedSpan(r)
		if err != nil || !stale || span.Check() != nil {
			continue
		}
		update := tx.Event.UpdateOne(r).SetStartsAt(span.StartsAt()).SetEndsAt(span.EndsAt()).AddVersion(1)
		if r.Status == calendar.Publish {
			update.AddSequence(1)
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// derivedSpan computes the span of a stored event from its wall times and its zone. The result stale is true if the
// stored instants differ from the span. If the zone is unknown, the error is calendar.ErrZone.
func derivedSpan(r *ent.Event) (span calendar.Span, stale bool, err error) {
	zone, err := calendar.ParseZone(r.Timezone)
	if err != nil {
		return span, false, err
	}
	span = calendar.Span{Start: r.StartWall, End: r.EndWall, Zone: zone, AllDay: r.AllDay}
	return span, !span.StartsAt().Equal(r.StartsAt) || !span.EndsAt().Equal(r.EndsAt), nil
}

// repairCells corrects the stored map cells of the venues with the given ids. Searches by place use the cells.
func repairCells(ctx context.Context, tx *ent.Tx, ids []int64) error {
	rows, err := tx.Venue.Query().Where(venue.IDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !staleCell(r) {
			continue
		}
		update := tx.Venue.UpdateOneID(r.ID)
		if cell := edit.VenueCell(r.Latitude, r.Longitude); cell == nil {
			update.ClearCell()
		} else {
			update.SetCell(*cell)
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// staleCell reports whether the stored map cell of a venue differs from the cell of its coordinates.
func staleCell(r *ent.Venue) bool {
	cell := edit.VenueCell(r.Latitude, r.Longitude)
	return (cell == nil) != (r.Cell == nil) || cell != nil && *cell != *r.Cell
}

// FillSortKeys writes the sort keys of the terms that have none. These were written before the columns existed,
// or by a process of an older version. Each batch is a transaction, so FillSortKeys may run while the service
// writes, and can be interrupted and run again. It calls step after each batch, with the number of terms that
// are done.
func FillSortKeys(ctx context.Context, db *ent.Client, e *edit.Editor, step func(terms int)) error {
	done := 0
	for _, taxonomy := range []calendar.Kind{calendar.Category, calendar.Tag} {
		for after := int64(0); ; {
			// The query is not part of the transaction, which could not lock rows that another transaction
			// inserts after its first read.
			ids, err := db.Term.Query().Where(term.TaxonomyEQ(taxonomy), term.SortEnIsNil(), term.IDGT(after)).
				Order(term.ByID()).Limit(batchSize).IDs(ctx)
			if err != nil {
				return fmt.Errorf("%s without sort keys: %w", taxonomy, err)
			}
			if len(ids) == 0 {
				break
			}
			err = edit.Write(ctx, db, e, func(tx *ent.Tx) error {
				if _, err := edit.LockTerms(ctx, tx, ids...); err != nil {
					return err
				}
				if err := e.WriteSortKeys(ctx, tx, ids); err != nil {
					return err
				}
				return edit.LogAll(ctx, tx, e, taxonomy) // the order of lists may have changed
			})
			if err != nil {
				return fmt.Errorf("%s from %d: %w", taxonomy, ids[0], err)
			}
			after = ids[len(ids)-1]
			done += len(ids)
			step(done)
		}
	}
	return nil
}
