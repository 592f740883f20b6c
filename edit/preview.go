package edit

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
)

// OccurrencesAt returns the occurrences that a write creates for a schedule: those up to the horizon
// of a long schedule, else all. Row is the stored event, nil for a new one. It returns a
// *recur.Error if there are no occurrences, or more than one write may create.
func (e *Editor) OccurrencesAt(s recur.Schedule, row *ent.Event, in *EventInput) ([]recur.Occurrence, error) {
	last := recur.LastStart()
	if until := generatedUntil(s, e.Now); until != nil {
		last = *until
	}
	if row == nil {
		row = &ent.Event{}
	}
	t := new(*row)
	in.apply(t)
	t.Language, t.Edges = e.original(), ent.EventEdges{}
	t.Title, t.Description = valueOr(row.Title, in.Title), valueOr(row.Description, in.Description)
	t.Excerpt, t.EventStatusReason = valueOr(row.Excerpt, in.Excerpt), valueOr(row.EventStatusReason, in.EventStatusReason)
	t.SetTermIDs(calendar.Category, make([]int64, len(valueOr(nil, in.Categories))))
	t.SetTermIDs(calendar.Tag, make([]int64, len(valueOr(nil, in.Tags))))
	t.SetVenueIDs(make([]int64, len(valueOr(nil, in.Venues))))
	t.SetOrganizerIDs(make([]int64, len(valueOr(nil, in.Organizers))))
	return s.Expand(last, mostOccurrences(e.occurrenceSize(t)))
}
