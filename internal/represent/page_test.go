package represent

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/proof/must"
)

// page returns a view, and an event with three venues as if it had been loaded from the database.
func page(t *testing.T) (*View, *ent.Event) {
	t.Helper()
	words, err := locale.Load()
	must.Succeed(t, err)
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	v := &View{
		Site:  calendar.Site{BaseURL: "https://example.org", Zone: zone, Language: calendar.English},
		Words: words, Now: now, Language: calendar.Polish, Base: "https://example.org/pl", API: "https://example.org/pl/cal/events/v1",
	}
	start := calendar.WallAt(2026, 12, 5, 19, 0, 0)
	e := &ent.Event{
		ID: 7, Title: "Jazz </script> night", Slug: "jazz", Language: calendar.English, Languages: "en", Status: calendar.Publish,
		PublishedAt: now.AddDate(0, 0, -9), StartWall: start, EndWall: start.Add(2 * time.Hour), Timezone: "Europe/Warsaw",
		StartsAt: zone.Instant(start), EndsAt: zone.Instant(start.Add(2 * time.Hour)),
		EventStatus: calendar.Scheduled, Attendance: calendar.Offline,
	}
	for i, status := range []calendar.Status{calendar.Publish, calendar.Draft, calendar.Publish} {
		e.Edges.Venues = append(e.Edges.Venues, &ent.Venue{
			ID: int64(20 + i), Name: "Hall", Slug: "hall", Language: calendar.English, Languages: "en", Status: status,
			PublishedAt: now.AddDate(0, 0, -9),
		})
	}
	return v, e
}

// decodeLinkedData encodes linked data as JSON, as on a page, and decodes the JSON into a map.
func decodeLinkedData(t *testing.T, ld any) map[string]any {
	t.Helper()
	body, err := json.Marshal(ld) // as html/template does
	must.Succeed(t, err)
	if bytes.IndexByte(body, '<') >= 0 {
		t.Errorf("a text may end the script element: %s", body)
	}
	var out map[string]any
	must.Succeed(t, json.Unmarshal(body, &out))
	return out
}

func TestLinkedDataOfEventPages(t *testing.T) {
	t.Parallel()
	hall := map[string]any{"@type": "Place", "name": "Hall", "url": "https://example.org/pl/venue/hall/"}
	const scheduled, rescheduled = "https://schema.org/EventScheduled", "https://schema.org/EventRescheduled"
	moved := func(v *View, e *ent.Event) {
		nominal := calendar.WallAt(2026, 12, 4, 18, 0, 0)
		e.SeriesID, e.OriginalStart = new(int64(3)), &nominal
		v.Recurrences = map[int64]*Recurrence{3: {
			ID: 3, Status: calendar.Publish, Phases: []RecurrencePhase{{First: nominal, Schedule: recur.Schedule{Span: calendar.Span{Zone: v.Site.Zone, Start: nominal, End: nominal}}}},
		}}
	}
	for _, test := range []struct {
		name    string
		change  func(*View, *ent.Event)
		movedAt time.Duration // before now; 0 means not known
		want    map[string]any
	}{
		{"an event", func(*View, *ent.Event) {}, 0, map[string]any{
			"@context": "http://schema.org", "@type": "Event", "name": "Jazz </script> night", "inLanguage": "en",
			"url": "https://example.org/pl/event/jazz/", "startDate": "2026-12-05T19:00:00+01:00", "endDate": "2026-12-05T21:00:00+01:00",
			"eventStatus": scheduled, "image": nil, "previousStartDate": nil, "offers": nil,
			"location": []any{hall, hall},
		}},
		{"all day", func(_ *View, e *ent.Event) {
			e.AllDay = true
			e.StartWall, e.EndWall = e.StartWall.StartOfDay(), e.StartWall.AddDate(0, 0, 1).EndOfDay()
		}, 0, map[string]any{"startDate": "2026-12-05", "endDate": "2026-12-06"}},
		{"online too", func(_ *View, e *ent.Event) {
			e.VirtualURL, e.Attendance, e.Edges.Venues = "https://meet.example.org/a", calendar.Mixed, e.Edges.Venues[:1]
		}, 0, map[string]any{
			"location":            []any{hall, map[string]any{"@type": "VirtualLocation", "url": "https://meet.example.org/a"}},
			"eventAttendanceMode": "https://schema.org/MixedEventAttendanceMode",
		}},
		{"nowhere", func(_ *View, e *ent.Event) { e.Edges.Venues = nil }, 0, map[string]any{"location": nil}},
		{"with a picture", func(_ *View, e *ent.Event) {
			e.Edges.Image = &ent.Image{ID: 9, Path: "a.png", Sizes: map[string]calendar.ImageSize{"large": {Path: "a-large.png"}}}
		}, 0, map[string]any{"image": []any{"https://example.org/media/a.png", "https://example.org/media/a-large.png"}}},
		{"canceled", func(_ *View, e *ent.Event) { e.EventStatus = calendar.Canceled }, time.Hour, map[string]any{
			"eventStatus": "https://schema.org/EventCancelled", "previousStartDate": nil,
		}},
		{"moved an hour ago", moved, time.Hour, map[string]any{
			"eventStatus": rescheduled, "previousStartDate": "2026-12-04T18:00:00+01:00",
		}},
		{"moved long ago", moved, RescheduledFor, map[string]any{"eventStatus": scheduled, "previousStartDate": nil}},
		{"moved, and nobody knows when", moved, 0, map[string]any{"eventStatus": scheduled, "previousStartDate": nil}},
		{"a whole day that was moved", func(v *View, e *ent.Event) {
			moved(v, e)
			e.AllDay = true
		}, time.Hour, map[string]any{"eventStatus": rescheduled, "previousStartDate": "2026-12-04"}},
		{"moved and canceled", func(v *View, e *ent.Event) {
			moved(v, e)
			e.EventStatus = calendar.Canceled
		}, time.Hour, map[string]any{"eventStatus": "https://schema.org/EventCancelled", "previousStartDate": nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v, e := page(t)
			test.change(v, e)
			var at time.Time
			if test.movedAt > 0 {
				at = v.Now.Add(-test.movedAt)
			}
			got := decodeLinkedData(t, v.EventPageLD(e, at))
			for key, want := range test.want {
				if diff := cmp.Diff(want, got[key]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
		})
	}
}

func TestLinkedDataOfPlacesAndOrganizers(t *testing.T) {
	t.Parallel()
	v, e := page(t)
	want := map[string]any{
		"@context": "http://schema.org", "@type": "Place", "name": "Hall", "url": "https://example.org/pl/venue/hall/",
	}
	if diff := cmp.Diff(want, decodeLinkedData(t, v.PlacePageLD(e.Edges.Venues[0]))); diff != "" {
		t.Error(diff)
	}
	club := &ent.Organizer{ID: 9, Name: "Club", Slug: "club", Language: calendar.English, Languages: "en", Status: calendar.Publish, Email: "a@b.example"}
	want = map[string]any{
		"@context": "http://schema.org", "@type": "Person", "name": "Club", "url": "https://example.org/pl/organizer/club/",
	}
	if diff := cmp.Diff(want, decodeLinkedData(t, v.OrganizerPageLD(club))); diff != "" {
		t.Error(diff)
	}
}
