package read

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/origin"
	"github.com/almanac-cal/almanac/ent/venue"
)

// RecordOfNumber returns the id of the record that the number n in an address such as /?p=123 means. A record
// that had this number at its source comes first. If several sources have one, the source with the host of the
// base URL wins. If no source has one, the result is n itself, as an id of this calendar. The result 0 means
// that the number is ambiguous.
func (r *Reader) RecordOfNumber(n int64) (int64, error) {
	key := r.Host + "?id=" + strconv.FormatInt(n, 10)
	rows, err := r.DB.Origin.Query().Where(origin.Or(origin.SourceID(key), origin.Number(n)),
		origin.KindNotIn(calendar.Category, calendar.Tag)).Order(origin.ByID()).All(r.Ctx)
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
	events, err := r.DB.Event.Query().Where(event.SourceID(key)).IDs(r.Ctx)
	venues, venueErr := r.DB.Venue.Query().Where(venue.SourceID(key)).IDs(r.Ctx)
	organizers, organizerErr := r.DB.Organizer.Query().Where(organizer.SourceID(key)).IDs(r.Ctx)
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
