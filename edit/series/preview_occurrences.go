package series

import (
	"cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// OccurrencesOf returns the occurrences that a write would store for a schedule. For a long schedule they end 25
// months after now. The row is the stored event, or nil for a new one. The error is a *recur.Error if there are no
// occurrences, or more than one write can create.
func OccurrencesOf(e *edit.Editor, s recur.Schedule, row *ent.Event, in *edit.EventInput) ([]recur.Occurrence, error) {
	last := recur.LastStart()
	if until := generatedUntil(s, e.Now); until != nil {
		last = *until
	}
	if row == nil {
		row = &ent.Event{}
	}
	t := new(*row)
	in.ApplyFields(t)
	t.Language, t.Edges = cmp.Or(e.Write, e.Site.Language), ent.EventEdges{}
	t.Title, t.Description = edit.ValueOr(row.Title, in.Title), edit.ValueOr(row.Description, in.Description)
	t.Excerpt, t.EventStatusReason = edit.ValueOr(row.Excerpt, in.Excerpt), edit.ValueOr(row.EventStatusReason, in.EventStatusReason)
	t.SetTermIDs(calendar.Category, make([]int64, len(edit.ValueOr(nil, in.Categories))))
	t.SetTermIDs(calendar.Tag, make([]int64, len(edit.ValueOr(nil, in.Tags))))
	t.SetVenueIDs(make([]int64, len(edit.ValueOr(nil, in.Venues))))
	t.SetOrganizerIDs(make([]int64, len(edit.ValueOr(nil, in.Organizers))))
	return s.Expand(last, mostOccurrences(occurrenceSize(e, t)))
}
