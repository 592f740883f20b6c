package translations

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/term"
)

// pageSize is the number of records in memory at a time.
const pageSize = 50

// selection selects records of a kind. Unless ids is set, it leaves out the trash.
type selection struct {
	after int64   // only greater ids; 0 means all
	since *int64  // only records that changed after this revision; nil means all
	ids   []int64 // only these records, even in the trash; nil means all
}

// where returns the condition for the selected records in the table of a kind.
func (q selection) where(kind calendar.Kind) func(*sql.Selector) {
	return func(s *sql.Selector) {
		if kind.IsTerm() {
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
	rows, err := db.LoadRows(ctx, kind, limit, true, q.where(kind))
	if err != nil {
		return nil, fmt.Errorf("texts of kind %s: %w", kind, err)
	}
	out := make([]*record, len(rows))
	for i, row := range rows {
		out[i] = recordOf(row)
	}
	return out, nil
}

// recordOf returns the record of a row whose translations are loaded.
func recordOf(row ent.Row) *record {
	c := row.Core()
	return &record{
		kind: c.Kind, id: c.ID, trashed: c.Status == calendar.Trash, original: row.Text(), others: row.Translated(),
	}
}
