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

// revision is the id of the counter that stores the id of the newest change.
const revision = "revision"

// batch is the number of rows that one statement writes or reads. It is below the number of variables that
// SQLite allows.
const batch = 500

// change is an entry of the change log that is not written yet.
type change struct {
	kind   calendar.Kind
	id     int64
	action calendar.Action
	fields []string // names of changed fields; nil means all
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

// flush appends the recorded changes to the change log. It must be the last step of a transaction: until the
// commit no other transaction gets a revision. So revisions become visible in order and without gaps. A reader
// that has seen a revision has seen all changes committed up to it.
func (e *Editor) flush(ctx context.Context, tx *ent.Tx) error {
	if len(e.changes) == 0 {
		return nil
	}
	if err := addToCounter(ctx, tx, revision, int64(len(e.changes))); err != nil {
		return fmt.Errorf("next revision: %w", err)
	}
	at := e.loggedAt()
	older := int64(len(e.changes) - 1) // revisions between this change and the newest
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

// loggedAt returns the current time, which may be later than the start of a long transaction. No other
// transaction commits between the first append to the log and the commit. So dates of the log are in the order
// of commits, if the clocks agree. Without a clock it returns the time of the request.
func (e *Editor) loggedAt() time.Time {
	if e.Site.Now != nil {
		if now := e.Site.Now().UTC().Truncate(time.Second); now.After(e.Now) {
			return now
		}
	}
	return e.Now
}

// The statement takes the ids of changeRow from the counter. All writers wait once a transaction has increased
// the counter, so it is not read earlier.
const (
	changeRow = "((SELECT " + counter.FieldValue + " FROM " + counter.Table + " WHERE " + counter.FieldID + " = '" + revision +
		"') - ?, ?, ?, ?, ?, ?, ?)"
	changeRowOfID = "(?, ?, ?, ?, ?, ?, ?)"
	changeRows    = "INSERT INTO " + entchange.Table + " (" + entchange.FieldID + ", " + entchange.FieldKind + ", " + entchange.FieldRecordID +
		", " + entchange.FieldAction + ", " + entchange.FieldFields + ", " + entchange.FieldUserID + ", " + entchange.FieldAt + ") VALUES "
)

// LogAll records in the change log that any record of the given kinds may have changed. It serves caches of
// data that is derived from the records. The entries name no record: their id is 0. The transaction must not
// write anything after it.
func LogAll(ctx context.Context, tx *ent.Tx, e *Editor, kinds ...calendar.Kind) error {
	for _, kind := range kinds {
		e.log(kind, 0, calendar.Updated, nil)
	}
	return e.flush(ctx, tx)
}

// Revision returns the revision of the calendar: the id of the newest change, 0 if there is none.
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
