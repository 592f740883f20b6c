package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
)

// OccurrencesAt returns the occurrences that a write creates for a schedule: all occurrences of a finite
// schedule, otherwise those up to the horizon. Row is the stored event, nil for a new one. It returns a
// *recur.Error if there are no occurrences, or more than one write may create.
func OccurrencesAt(s recur.Schedule, row *ent.Event, in *EventInput, now time.Time) ([]recur.Occurrence, error) {
	last := recur.LastStart()
	if !s.Ends() {
		last = horizon(s.Zone, now)
	}
	if row == nil {
		row = &ent.Event{}
	}
	size := len(valueOr(row.Title, in.Title)) + len(valueOr(row.Description, in.Description)) +
		len(valueOr(row.Excerpt, in.Excerpt)) + len(valueOr(row.EventStatusReason, in.EventStatusReason))
	links := len(valueOr(nil, in.Categories)) + len(valueOr(nil, in.Tags)) +
		len(valueOr(nil, in.Venues)) + len(valueOr(nil, in.Organizers))
	return s.Expand(last, mostOccurrences(size, links))
}
