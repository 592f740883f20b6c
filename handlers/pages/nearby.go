package pages

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/web"
)

// anonymousEvents returns the query for all events that visitors see in lists.
func (r *request) anonymousEvents() *query.Events {
	seen := read.VisibleTo(r.Caller, nil)
	out := &query.Events{Now: r.Now, Language: r.Language, Visible: seen, Places: seen, Readable: r.ReadableEvents(nil)}
	out.Series.Visible = seen
	return out
}

// addNear adds coming events near another one in time and place. They are at venues within nearKilometres of its
// venue. If its venue has no position, they are at the same venue. Without a venue, they have the same category.
func (r *request) addNear(m *web.EventPage, e *ent.Event) error {
	m.NearTitle = r.words.NearTitle
	from := e.StartsAt.Add(-nearBefore)
	if from.Before(r.Now) {
		from = r.Now
	}
	to := e.StartsAt.Add(nearAfter)
	if to.Before(from) {
		to = from.Add(nearAfter)
	}
	one := r.anonymousEvents()
	one.Window, one.OnlyReadable = query.Window{StartMin: &from, StartMax: &to}, true
	one.Series.First, one.Spans = true, true
	for _, v := range e.Edges.Venues {
		if v.Latitude != nil && v.Longitude != nil && r.isPublicRecord(v.Core()) {
			one.Near = &query.Circle{Latitude: *v.Latitude, Longitude: *v.Longitude, Kilometres: nearKilometres}
			break
		}
	}
	if one.Near == nil {
		var ids []int64
		name := "venue"
		for _, v := range e.Edges.Venues {
			if r.isPublicRecord(v.Core()) {
				ids = append(ids, v.ID)
			}
		}
		if ids == nil {
			name = "categories"
			for _, t := range e.Edges.Terms {
				if t.Taxonomy == calendar.Category {
					ids = append(ids, t.ID)
				}
			}
		}
		if ids == nil {
			return nil
		}
		column, err := columnNamed(name)
		if err != nil {
			return err
		}
		one.Conditions = []query.Condition{{Column: column, IDs: ids}}
	}
	page, err := r.FindEvents(one, 0, nearEvents+2)
	if err != nil {
		return err
	}
	if from.Equal(r.Now) {
		r.ExpireBy(r.Tomorrow()) // The window may move with the time, so the list is renewed daily.
	}
	if err := r.expireByStart(page); err != nil {
		return err
	}
	items, err := r.items(withoutField(page, map[int64]bool{e.ID: true}, nearEvents), cardItem, noLinkedData)
	m.Near = itemBodies(items)
	return err
}

// nearKilometres to nearEvents define which events are near another one, and how many are shown.
const (
	nearKilometres = 25
	nearBefore     = 2 * 24 * time.Hour
	nearAfter      = 14 * 24 * time.Hour
	nearEvents     = 3
)
