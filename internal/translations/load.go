package translations

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
)

// pageSize is the number of records in memory at a time.
const pageSize = 50

// selection selects records of a kind. Unless ids is set, it leaves out the trash.
type selection struct {
	after int64   // only greater ids; 0 means all
	since *int64  // only records that changed after this revision; nil means all
	ids   []int64 // only these records, even in the trash; nil means all
}

// where returns the selection as a predicate on the table of a kind.
func (q selection) where(kind calendar.Kind) func(*sql.Selector) {
	return func(s *sql.Selector) {
		if isTerm(kind) {
			s.Where(sql.EQ(s.C(term.FieldTaxonomy), kind))
		} else if q.ids == nil {
			s.Where(sql.NEQ(s.C(event.FieldStatus), calendar.Trash))
		}
		if q.ids != nil {
			ids := make([]any, len(q.ids))
			for i, id := range q.ids {
				ids[i] = id
			}
			s.Where(sql.In(s.C(event.FieldID), ids...))
		}
		if q.after > 0 {
			s.Where(sql.GT(s.C(event.FieldID), q.after))
		}
		if q.since != nil {
			t := sql.Table(change.Table)
			s.Where(sql.In(s.C(event.FieldID), sql.Select(t.C(change.FieldRecordID)).From(t).Where(sql.And(
				sql.EQ(t.C(change.FieldKind), kind), sql.GT(t.C(change.FieldID), *q.since),
			))))
		}
	}
}

// forEachRecord calls do for the selected records of a kind in ascending order of ids. It loads a page at a
// time.
func forEachRecord(ctx context.Context, db *ent.Client, kind calendar.Kind, q selection, do func(*record) error) error {
	for {
		page, err := loadRecords(ctx, db, kind, q, pageSize)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := do(r); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		q.after = page[len(page)-1].id
	}
}

// loadRecords loads up to limit selected records of a kind with their translations, in ascending order of ids.
func loadRecords(ctx context.Context, db *ent.Client, kind calendar.Kind, q selection, limit int) ([]*record, error) {
	out, err := loadKind(ctx, db, kind, q.where(kind), limit)
	if err != nil {
		return nil, fmt.Errorf("texts of kind %s: %w", kind, err)
	}
	return out, nil
}

func loadKind(
	ctx context.Context, db *ent.Client, kind calendar.Kind, where func(*sql.Selector), limit int,
) ([]*record, error) {
	switch kind {
	case calendar.Event:
		rows, err := db.Event.Query().Where(predicate.Event(where)).Order(event.ByID()).Limit(limit).
			WithTranslations().All(ctx)
		return asRecords(rows, err)
	case calendar.Venue:
		rows, err := db.Venue.Query().Where(predicate.Venue(where)).Order(venue.ByID()).Limit(limit).
			WithTranslations().All(ctx)
		return asRecords(rows, err)
	case calendar.Organizer:
		rows, err := db.Organizer.Query().Where(predicate.Organizer(where)).Order(organizer.ByID()).Limit(limit).
			WithTranslations().All(ctx)
		return asRecords(rows, err)
	default:
		rows, err := db.Term.Query().Where(predicate.Term(where)).Order(term.ByID()).Limit(limit).
			WithTranslations().All(ctx)
		return asRecords(rows, err)
	}
}

func asRecords[R ent.Row](rows []R, err error) ([]*record, error) {
	out := make([]*record, len(rows))
	for i, row := range rows {
		out[i] = recordOf(row)
	}
	return out, err
}

// recordOf returns the record of a row whose translations are loaded.
func recordOf(row ent.Row) *record {
	c := row.Core()
	return &record{
		kind: c.Kind, id: c.ID, trashed: c.Status == calendar.Trash, original: row.Text(), others: row.Translated(),
	}
}
