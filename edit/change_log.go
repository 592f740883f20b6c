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

// revision is the id of a row in table counters. Its value is the id of the newest entry in the change log.
const revision = "revision"

// BatchSize is the number of rows that one statement writes or reads. It keeps the number of placeholders below the
// limit of SQLite.
const BatchSize = 500

// change is a new entry for the change log. The transaction stores it at its end.
type change struct {
	kind   calendar.Kind
	id     int64
	action calendar.Action
	fields []string // names of changed fields; nil means all
	hidden bool     // true means that no feed shows the change
}

// LogChange adds an entry to the change log. It is stored at the end of the transaction, by flush. Nil fields mean
// all fields for actions that create or delete a record, and no field for other actions.
func (e *Editor) LogChange(kind calendar.Kind, id int64, action calendar.Action, fields []string, i Impact) {
	if fields == nil && action != calendar.Created && action != calendar.Deleted {
		fields = []string{}
	}
	e.changes = append(e.changes, change{kind, id, action, fields, !i.Visible})
}

// FieldsInLanguages returns names of changed fields as the change log has them. A text that changed in a translation has
// the language in its name, as in title:pl. The list inLanguages has such names; it may lack fields.
func FieldsInLanguages(fields, inLanguages []string) []string {
	var out []string
	for _, name := range fields {
		found := false
		for _, in := range inLanguages {
			if field, _ := calendar.CutField(in); field == name {
				out, found = append(out, in), true
			}
		}
		if !found {
			out = append(out, name)
		}
	}
	return out
}

// LogLoaded adds one entry to the change log for many new records, and none for no ids. The ids must be in ascending
// order. The parameter public reports whether the public sees any of the records.
func (e *Editor) LogLoaded(kind calendar.Kind, ids []int64, public bool) {
	if len(ids) > 0 {
		e.LogChange(kind, ids[0], calendar.Loaded, []string{strconv.FormatInt(ids[len(ids)-1], 10)}, Impact{Visible: public})
	}
}

// flush appends the recorded changes to the change log. It must be the last step of a transaction: until the
// commit no other transaction gets a revision. So revisions become visible in order and without gaps. A reader
// that has seen a revision has seen all changes committed up to it.
func (e *Editor) flush(ctx context.Context, tx *ent.Tx) error {
	if len(e.changes) == 0 {
		if !e.derived {
			return nil
		}
		return e.requireSite(ctx, tx)
	}
	if err := addToCounter(ctx, tx, revision, int64(len(e.changes))); err != nil {
		return fmt.Errorf("next revision: %w", err)
	}
	if err := e.requireSite(ctx, tx); err != nil {
		return err
	}
	at := e.loggedAt()
	older := int64(len(e.changes) - 1) // revisions between this change and the newest
	row, id := changeRow, func() int64 { return older }
	if len(e.changes) > BatchSize {
		// One more round trip takes less time than a subquery in each of many rows.
		newest, err := tx.Counter.Get(ctx, revision)
		if err != nil {
			return fmt.Errorf("next revision: %w", err)
		}
		row, id = changeRowOfID, func() int64 { return newest.Value - older }
	}
	for part := range slices.Chunk(e.changes, BatchSize) {
		args := make([]any, 0, 8*len(part))
		for _, c := range part {
			var fields any
			if c.fields != nil {
				data, err := json.Marshal(c.fields)
				if err != nil {
					return fmt.Errorf("change log: %w", err)
				}
				fields = json.RawMessage(data)
			}
			args = append(args, id(), string(c.kind), c.id, string(c.action), fields, e.author(), at, c.hidden)
			older--
		}
		if _, err := tx.ExecContext(ctx, changeRows+row+strings.Repeat(","+row, len(part)-1), args...); err != nil {
			return fmt.Errorf("change log: %w", err)
		}
	}
	e.changes = nil
	return nil
}

// loggedAt returns the current time, because a long transaction may end much later than it started. No other
// transaction commits between the first append to the log and the commit. So the dates in the log are in the
// order of commits, if the clocks of the processes agree. If the site has no clock, loggedAt returns the time
// of the request.
func (e *Editor) loggedAt() time.Time {
	if e.Site.Now != nil {
		if now := e.Site.Now().UTC().Truncate(time.Second); now.After(e.Now) {
			return now
		}
	}
	return e.Now
}

// changeRow has the values of one inserted change, with the id computed from the counter in the statement. All
// other writers wait once a transaction has increased the counter, so the counter has its final value. In
// changeRowOfID the id is a placeholder. The statement without its rows is changeRows.
const (
	changeRow = "((SELECT " + counter.FieldValue + " FROM " + counter.Table + " WHERE " + counter.FieldID + " = '" + revision +
		"') - ?, ?, ?, ?, ?, ?, ?, ?)"
	changeRowOfID = "(?, ?, ?, ?, ?, ?, ?, ?)"
	changeRows    = "INSERT INTO " + entchange.Table + " (" + entchange.FieldID + ", " + entchange.FieldKind + ", " + entchange.FieldRecordID +
		", " + entchange.FieldAction + ", " + entchange.FieldFields + ", " + entchange.FieldUserID + ", " + entchange.FieldAt +
		", " + entchange.FieldHidden + ") VALUES "
)

// LogAll adds one entry per kind to the change log, meaning that any record of the kind may have changed. Caches
// of data derived from the records then expire. The record id of these entries is 0. The transaction must not
// write anything after LogAll.
func LogAll(ctx context.Context, tx *ent.Tx, e *Editor, kinds ...calendar.Kind) error {
	for _, kind := range kinds {
		e.LogChange(kind, 0, calendar.Updated, nil, Impact{Visible: true})
	}
	return e.flush(ctx, tx)
}

// Revision returns the revision of the calendar, which is the id of the newest change. It returns 0 before the
// first change.
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
