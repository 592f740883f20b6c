package read

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// PartsOfEvent returns an event with its venues, organizers and series. Scheduled ones among them limit how long
// its representation is right.
func (r *Reader) PartsOfEvent(e *ent.Event) []ent.Core {
	out := []ent.Core{e.Core()}
	for _, v := range e.Edges.Venues {
		out = append(out, v.Core())
	}
	for _, o := range e.Edges.Organizers {
		out = append(out, o.Core())
	}
	if e.SeriesID == nil {
		return out
	}
	if s := r.recurrences[*e.SeriesID]; s != nil {
		out = append(out, ent.Core{ID: s.ID, Kind: calendar.Series, Status: s.Status, PublishedAt: s.PublishedAt})
	}
	return out
}

// Events loads events by id, with all records that their representations show. The order of the result is
// undefined.
func (r *Reader) Events(ids []int64) ([]*ent.Event, error) {
	rows, err := r.DB.ReadEvents(r.Ctx, ids)
	if err != nil {
		return nil, err
	}
	return rows, r.LoadRelated(rows, false)
}

// LoadRelated loads the records that representations of events show. If full is true, it also loads those that
// only JSON-LD shows.
func (r *Reader) LoadRelated(events []*ent.Event, full bool) error {
	page, err := r.DB.ReadEventLinks(r.Ctx, events)
	if err != nil {
		return err
	}
	if err := r.readSeries(events, full); err != nil {
		return err
	}
	page.Events = events
	return r.Translate(page)
}
