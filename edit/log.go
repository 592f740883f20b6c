package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/counter"
)

// revision is the counter that holds the id of the newest change.
const revision = "revision"

// batch is how many rows one statement writes or asks for: below the variables that SQLite allows.
const batch = 500

// change is an entry of the change log that is not written yet.
type change struct {
	kind   calendar.Kind
	id     int64
	action calendar.Action
	fields []string // names that changed; nil: all
}

// log notes what was done, for flush. Only what creates or deletes a record is about all of its fields.
func (e *Editor) log(kind calendar.Kind, id int64, action calendar.Action, fields []string) {
	if fields == nil && action != calendar.Created && action != calendar.Deleted {
		fields = []string{}
	}
	e.changes = append(e.changes, change{kind, id, action, fields})
}

// LogLoaded notes new records, whose ids are in ascending order, in one entry.
func (e *Editor) LogLoaded(kind calendar.Kind, ids []int64) {
	if len(ids) > 0 {
		e.log(kind, ids[0], calendar.Loaded, []string{strconv.FormatInt(ids[len(ids)-1], 10)})
	}
}

// flush appends the noted changes to the change log. It must be the last that happens in a transaction: from
// here to the commit nobody else gets a revision, so revisions become visible in their order and without
// gaps. Whoever has read up to one has seen everything committed up to it.
func (e *Editor) flush(ctx context.Context, tx *ent.Tx) error {
	if len(e.changes) == 0 {
		return nil
	}
	if err := addToCounter(ctx, tx, revision, int64(len(e.changes))); err != nil {
		return fmt.Errorf("next revision: %w", err)
	}
	at := e.loggedAt()
	older := int64(len(e.changes) - 1) // by how much the next one is older than the newest
	row, id := changeRow, func() int64 { return older }
	if len(e.changes) > batch {
		// One more round trip takes less time than a subquery in each of many rows.
		newest, err := tx.Counter.Get(ctx, revision)
		if err != nil {
			return fmt.Errorf("next revision: %w", err)
		}
		row, id = changeRowOfID, func() int64 { return newest.Value - older }
	}
	for part := range slices.Chunk(e.changes, batch) {
		args := make([]any, 0, 7*len(part))
		for _, c := range part {
			var fields any
			if c.fields != nil {
				data, err := json.Marshal(c.fields)
				if err != nil {
					return fmt.Errorf("change log: %w", err)
				}
				fields = json.RawMessage(data)
			}
			args = append(args, id(), string(c.kind), c.id, string(c.action), fields, e.author(), at)
			older--
		}
		if _, err := tx.ExecContext(ctx, changeRows+row+strings.Repeat(","+row, len(part)-1), args...); err != nil {
			return fmt.Errorf("change log: %w", err)
		}
	}
	e.changes = nil
	return nil
}

// loggedAt returns the present time, to which a long transaction has come since it began. While a transaction may append to the
// log no other one commits, so dates of the log are in the order of commits, as far as clocks agree. Without a clock it is the
// time of the request.
func (e *Editor) loggedAt() time.Time {
	if e.Site.Now != nil {
		if now := e.Site.Now().UTC().Truncate(time.Second); now.After(e.Now) {
			return now
		}
	}
	return e.Now
}

// The ids of changeRow come from the counter in the statement itself. All writers wait from the moment that the counter
// grows, so it is not read before.
const (
	changeRow = "((SELECT " + counter.FieldValue + " FROM " + counter.Table + " WHERE " + counter.FieldID + " = '" + revision +
		"') - ?, ?, ?, ?, ?, ?, ?)"
	changeRowOfID = "(?, ?, ?, ?, ?, ?, ?)"
	changeRows    = "INSERT INTO " + entchange.Table + " (" + entchange.FieldID + ", " + entchange.FieldKind + ", " + entchange.FieldRecordID +
		", " + entchange.FieldAction + ", " + entchange.FieldFields + ", " + entchange.FieldUserID + ", " + entchange.FieldAt + ") VALUES "
)

// LogAll notes in the change log that any record of some kinds may have changed, for those who keep something that is
// derived from the records: the entries name no record, their id is 0. Nothing else is to be written in the transaction
// afterwards.
func LogAll(ctx context.Context, tx *ent.Tx, e *Editor, kinds ...calendar.Kind) error {
	for _, kind := range kinds {
		e.log(kind, 0, calendar.Updated, nil)
	}
	return e.flush(ctx, tx)
}

// Revision is that of the calendar: the id of the newest change, 0 if there was none.
func Revision(ctx context.Context, db *ent.Client) (int64, error) {
	newest, err := db.Counter.Get(ctx, revision)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("revision: %w", err)
	}
	return newest.Value, nil
}
