package index

import (
	"context"
	"fmt"
	"slices"

	entchange "github.com/almanac-cal/almanac/ent/change"
)

// historyLength is the number of log entries that a state remembers.
const historyLength = 100

// history has the last log entries that a state has applied, in rising order. It shows whether a backup was
// restored: the log then has other entries with the same revisions.
type history struct{ entries []historyEntry }

// historyEntry is the revision of a log entry and a hash of its content, with its date.
type historyEntry struct {
	revision int64
	hash     uint64
}

// note adds log entries that the state has applied, and drops the oldest ones.
func (h *history) note(changes []logEntry) {
	for _, c := range changes {
		h.entries = append(h.entries, c.historyEntry)
	}
	if over := len(h.entries) - historyLength; over > 0 {
		h.entries = slices.Delete(h.entries, 0, over)
	}
}

// isPartOf reports whether a log is the one whose entries the state has applied. The log must have the newest entry
// of h. It may lack older ones, because old entries are removed from logs.
func (h *history) isPartOf(log []historyEntry) bool {
	if len(h.entries) == 0 || len(log) == 0 || log[len(log)-1] != h.entries[len(h.entries)-1] {
		return false
	}
	return !slices.ContainsFunc(log, func(e historyEntry) bool {
		return e.revision >= h.entries[0].revision && !slices.Contains(h.entries, e)
	})
}

func (h *history) code(c *codec) {
	codeList(c, &h.entries, 2, func(e *historyEntry) {
		c.int64(&e.revision)
		c.uint64(&e.hash)
	})
}

// historyUpTo reads the last entries of the log up to a revision, in rising order.
func (r reader) historyUpTo(ctx context.Context, revision int64) (out []historyEntry, err error) {
	where := fmt.Sprintf(" WHERE %s > %d AND %[1]s <= %[3]d ORDER BY %[1]s", entchange.FieldID, revision-historyLength, revision)
	err = r.logRows(ctx, where, func(row *logRow) error {
		out = append(out, historyEntry{row.id, row.hash()})
		return nil
	})
	return out, err
}
