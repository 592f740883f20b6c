package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
)

// OccurrencesAt returns the occurrences that a write makes of a schedule: all of one that ends, else those up to the horizon.
// Row is the stored event, nil for a new one. The error is a *recur.Error for none, or for more than one write may store.
func OccurrencesAt(s recur.Schedule, row *ent.Event, in *EventInput, now time.Time) ([]recur.Occurrence, error) {
	last := recur.LastStart()
	if !s.Ends() {
		last = horizon(s.Zone, now)
	}
	if row == nil {
		row = &ent.Event{}
	}
	size := len(apply(row.Title, in.Title)) + len(apply(row.Description, in.Description)) +
		len(apply(row.Excerpt, in.Excerpt)) + len(apply(row.EventStatusReason, in.EventStatusReason))
	links := len(apply(nil, in.Categories)) + len(apply(nil, in.Tags)) +
		len(apply(nil, in.Venues)) + len(apply(nil, in.Organizers))
	return s.Expand(last, mostOccurrences(size, links))
}
