package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/origin"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/feed"
)

// feedID identifies an event in feeds. It never changes.
type feedID struct {
	uid  string // in iCalendar
	guid string // in RSS, Atom and JSON Feed; "" means one that derives from the id
}

// feedIDs returns what identifies events in feeds: what an import has taken from the feeds of its source, else what derives
// from the ids.
func (r *request) feedIDs(ids []int64) (map[int64]feedID, error) {
	out := make(map[int64]feedID, len(ids))
	for _, id := range ids {
		out[id] = feedID{uid: feed.UID(r.h.FeedKey, id)}
	}
	for some := range slices.Chunk(ids, ent.MaxRead) {
		rows, err := r.db.Origin.Query().
			Where(origin.RecordIDIn(some...), origin.KindEQ(calendar.Event), origin.Or(origin.UIDNotNil(), origin.GUIDNotNil())).
			Select(origin.FieldRecordID, origin.FieldUID, origin.FieldGUID).All(r.ctx)
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
	return "urn:uuid:" + feed.UID(r.h.FeedKey, id)
}

// recordOfNumber returns the id of the record that an address with the number n means. An imported record that has this
// number at its source comes first. If several sources have such a record, the source with the host of the base URL wins.
// 0 means that no source has that host.
func (r *request) recordOfNumber(n int64) (int64, error) {
	key := r.h.host + "?id=" + strconv.FormatInt(n, 10)
	rows, err := r.db.Origin.Query().Where(origin.Or(origin.SourceID(key), origin.Number(n)),
		origin.KindNotIn(calendar.Category, calendar.Tag)).Order(origin.ByID()).All(r.ctx)
	if err != nil {
		return 0, fmt.Errorf("records with the number %d at their source: %w", n, err)
	}
	var all []int64
	for _, row := range rows {
		if row.SourceID == key {
			return row.RecordID, nil
		}
		all = append(all, row.RecordID)
	}
	// Earlier versions stored no origins.
	events, err := r.db.Event.Query().Where(event.SourceID(key)).IDs(r.ctx)
	venues, venueErr := r.db.Venue.Query().Where(venue.SourceID(key)).IDs(r.ctx)
	organizers, organizerErr := r.db.Organizer.Query().Where(organizer.SourceID(key)).IDs(r.ctx)
	if err := cmp.Or(err, venueErr, organizerErr); err != nil {
		return 0, fmt.Errorf("records by source: %w", err)
	}
	switch own := slices.Concat(events, venues, organizers); {
	case len(own) > 0:
		return own[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0 || slices.Contains(all, n):
		return n, nil
	}
	return 0, nil
}
