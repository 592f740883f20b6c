package feeds

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/origin"
	"github.com/almanac-cal/almanac/internal/feed"
)

// feedID identifies an event in feeds. It never changes.
type feedID struct {
	uid  string // in iCalendar
	guid string // in RSS, Atom and JSON Feed; "" means one that derives from the id
}

// feedIDs returns the feed identifiers of events by event id. An imported event keeps those of its source's feeds.
// Other identifiers are derived from the event id.
func (r *request) feedIDs(ids []int64) (map[int64]feedID, error) {
	out := make(map[int64]feedID, len(ids))
	for _, id := range ids {
		out[id] = feedID{uid: feed.UID(r.FeedKey, id)}
	}
	for some := range slices.Chunk(ids, ent.MaxRead) {
		rows, err := r.DB.Origin.Query().
			Where(origin.RecordIDIn(some...), origin.KindEQ(calendar.Event), origin.Or(origin.UIDNotNil(), origin.GUIDNotNil())).
			Select(origin.FieldRecordID, origin.FieldUID, origin.FieldGUID).All(r.Ctx)
		if err != nil {
			return nil, fmt.Errorf("UIDs of events: %w", err)
		}
		for _, row := range rows {
			one := out[row.RecordID]
			if row.UID != nil {
				one.uid = *row.UID
			}
			if row.GUID != nil {
				one.guid = *row.GUID
			}
			out[row.RecordID] = one
		}
	}
	return out, nil
}

// newsID returns the id of an event in RSS, Atom and JSON Feed.
func (r *request) newsID(id int64, of feedID) string {
	if of.guid != "" {
		return of.guid
	}
	return "urn:uuid:" + feed.UID(r.FeedKey, id)
}
