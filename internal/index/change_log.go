package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/almanac-cal/almanac/calendar"
	entchange "github.com/almanac-cal/almanac/ent/change"
)

// logEntry is an entry of the change log. It says that the records of a kind with ids from first to last changed. If
// first is 0, any record may have changed.
type logEntry struct {
	historyEntry
	kind        calendar.Kind
	action      calendar.Action
	first, last int64
	recounts    bool // the event counts of terms may change
}

// countedFields are the names, in the change log, of the fields that decide which terms count an event.
var countedFields = [][]byte{[]byte(`"status"`), []byte(`"date"`), []byte(`"categories"`), []byte(`"tags"`)}

// changesCounts reports whether a change of an event can change the event counts of terms. An update has the names
// of its changed fields in fields.
func changesCounts(action calendar.Action, fields []byte) bool {
	return action != calendar.Updated || len(fields) == 0 ||
		slices.ContainsFunc(countedFields, func(name []byte) bool { return bytes.Contains(fields, name) })
}

// changes reads the log entries after a revision. It returns them with the revision of the last one. It stops after
// entries about limit records, at the end of the block that reaches the limit. If entries are missing from the log,
// the entry after the gap is returned as one about all records.
func (r reader) changes(ctx context.Context, after int64, limit int) (out []logEntry, revision int64, err error) {
	revision = after
	records := int64(0)
	where := fmt.Sprintf(" WHERE %s > %d ORDER BY %[1]s LIMIT %[3]d", entchange.FieldID, after, limit)
	err = r.logRows(ctx, where, func(row *logRow) error {
		if records >= int64(limit) {
			return nil
		}
		c := logEntry{
			kind: row.kind, action: row.action, first: row.record, last: row.record,
			recounts: row.kind == calendar.Event && changesCounts(row.action, row.fields),
		}
		if row.id != revision+1 {
			c = logEntry{}
		}
		c.historyEntry = historyEntry{row.id, row.hash()}
		revision = row.id
		if c.action == calendar.Loaded {
			// A bulk load writes one entry for a block of new records. Its record is the first id, and its
			// fields column has the last id.
			last, err := strconv.ParseInt(strings.Trim(string(row.fields), `[" ]`), 10, 64)
			if err != nil {
				return fmt.Errorf("%d: %w", revision, err)
			}
			c.last = last
		}
		records += c.last - c.first + 1
		out = append(out, c)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return out, revision, nil
}

// logRow is a row of the change log.
type logRow struct {
	id, record int64
	kind       calendar.Kind
	action     calendar.Action
	fields     sql.RawBytes
	user       sql.NullInt64
	at         time.Time
}

// hash returns a hash of the row. It distinguishes rows with the same id from before and after a backup was
// restored. Two such rows have the same hash only if one user made the same change in the same second.
func (l *logRow) hash() uint64 {
	data := make([]byte, 0, 64)
	for _, n := range []int64{l.id, l.record, l.user.Int64, l.at.Unix()} {
		data = binary.AppendVarint(data, n)
	}
	data = append(append(data, l.kind...), 0)
	data = append(append(data, l.action...), 0)
	return xxhash.Sum64(append(data, l.fields...))
}

// logRows reads rows of the change log and calls each for every one. The text where is the end of the SELECT
// statement, such as a WHERE clause.
func (r reader) logRows(ctx context.Context, where string, each func(*logRow) error) error {
	var row logRow
	return r.rows(ctx, entchange.Table, []field{
		{entchange.FieldID, &row.id},
		{entchange.FieldKind, &row.kind},
		{entchange.FieldRecordID, &row.record},
		{entchange.FieldAction, &row.action},
		{entchange.FieldFields, &row.fields},
		{entchange.FieldUserID, &row.user},
		{entchange.FieldAt, &row.at},
	}, where, func() error { return each(&row) })
}
