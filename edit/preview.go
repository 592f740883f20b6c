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
	t := calendar.Template{
		Original: calendar.Text{
			Language: e.original(), Title: valueOr(row.Title, in.Title), Description: valueOr(row.Description, in.Description),
			Excerpt: valueOr(row.Excerpt, in.Excerpt), EventStatusReason: valueOr(row.EventStatusReason, in.EventStatusReason),
		},
		Website: row.Website, VirtualURL: valueOr(row.VirtualURL, in.VirtualURL),
		Categories: make([]int64, len(valueOr(nil, in.Categories))), Tags: make([]int64, len(valueOr(nil, in.Tags))),
		Venues: make([]int64, len(valueOr(nil, in.Venues))), Organizers: make([]int64, len(valueOr(nil, in.Organizers))),
	}
	if in.Website != nil {
		t.Website = &in.Website.URL
	}
	return s.Expand(last, mostOccurrences(e.occurrenceSize(&t)))
}
