package index_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestUnchanged writes through the API. After each write it checks which replies Unchanged reports as still right:
// replies about one record, and replies about all records of a kind. In the sample calendar, events 15, 18 and 19
// have venues and events 15 and 18 organizers. Events 15 and 1 share a category.
func TestUnchanged(t *testing.T) {
	event := func(id int64) query.Dependency { return query.Dependency{Kind: calendar.Event, ID: id} }
	venue := func(id int64) query.Dependency { return query.Dependency{Kind: calendar.Venue, ID: id} }
	organizer := func(id int64) query.Dependency { return query.Dependency{Kind: calendar.Organizer, ID: id} }
	kind := func(kind calendar.Kind) query.Dependency { return query.Dependency{Kind: kind} }
	counts := query.Dependency{Kind: calendar.Category, Counts: true}
	all := []query.Dependency{
		event(1), event(6), event(15), event(16), event(18), event(19), venue(10), venue(11), organizer(12), organizer(13),
		kind(calendar.Event), kind(calendar.Venue), kind(calendar.Category), kind(calendar.Tag), kind(calendar.Image), counts,
	}
	body := object{}
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		x := index.New(api.Store.Ent, nil, slog.New(slog.DiscardHandler))
		must.Succeed(t, x.Load(t.Context()))
		for _, c := range []struct {
			name, method, path string
			body               any
			changed            []query.Dependency
		}{
			{"title", "PUT", "/events/{minimalEvent}", object{"title": "Other"}, []query.Dependency{event(16), kind(calendar.Event)}},
			{
				"venue of two events", "PUT", "/venues/{grandHall}",
				object{"venue": "Other hall"},
				[]query.Dependency{event(15), event(18), venue(10), kind(calendar.Venue)},
			},
			{"organizer", "PUT", "/organizers/{alice}", object{"organizer": "Alice"}, []query.Dependency{event(15), organizer(12)}},
			{
				"image of a venue", "PUT", "/venues/{bareVenue}",
				object{"image": 14},
				[]query.Dependency{event(18), event(19), venue(11), kind(calendar.Venue)},
			},
			{
				"category", "PUT", "/categories/{music}",
				object{"description": "All of it"},
				[]query.Dependency{event(1), event(15), kind(calendar.Category), counts},
			},
			{
				"event that leaves its category", "PUT", "/events/{jazzFestival}",
				object{"categories": []string{}},
				[]query.Dependency{event(15), event(19), kind(calendar.Event), counts},
			},
			{
				"event that counts no more", "PUT", "/events/{openStage}",
				object{"status": "draft"},
				[]query.Dependency{event(1), event(15), kind(calendar.Event), counts},
			},
			{
				"event that did not count", "PUT", "/events/{openStage}",
				object{"categories": "sport"},
				[]query.Dependency{kind(calendar.Event)},
			},
			{
				"new event of a tag", "POST", "/events",
				object{"title": "New", "start_date": "2026-12-20", "end_date": "2026-12-21", "tags": "free-entry"},
				[]query.Dependency{event(6), event(15), kind(calendar.Event), counts},
			},
			{
				"image", "DELETE", "/images/{poster}", body,
				[]query.Dependency{event(15), event(18), event(19), venue(11), kind(calendar.Event), kind(calendar.Venue), kind(calendar.Image)},
			},
			{"event to the trash", "DELETE", "/events/{cityRun}", body, []query.Dependency{event(6), event(15), kind(calendar.Event), counts}},
		} {
			before := api.Revision(t)
			if r := api.Do(t, apitest.Request{Method: c.method, As: "admin", Path: c.path, JSON: c.body}); r.Status >= 300 {
				t.Fatalf("%s: %d %s", c.name, r.Status, r.Body)
			}
			after := api.Revision(t)
			for _, d := range all {
				same, err := x.Unchanged(t.Context(), before, after, []query.Dependency{d})
				must.Succeed(t, err)
				if want := !slices.Contains(c.changed, d); same != want {
					t.Errorf("%s: %+v is unchanged: %t, want %t", c.name, d, same, want)
				}
			}
		}
	}, apitest.Unindexed)
}

// TestUnchangedSurvivesLoading reloads the index after a write. Unchanged must still know which records changed.
func TestUnchangedSurvivesLoading(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		x := index.New(api.Store.Ent, nil, slog.New(slog.DiscardHandler))
		load := func() int64 {
			t.Helper()
			must.Succeed(t, x.Load(t.Context()))
			return api.Revision(t)
		}
		made := load()
		for _, path := range []string{"/events/{minimalEvent}", "/venues/{bareVenue}"} {
			if r := api.Do(t, apitest.Request{Method: "PUT", As: "admin", Path: path, JSON: object{"website": "https://new.example.org"}}); r.Status != 200 {
				t.Fatalf("%s: %d %s", path, r.Status, r.Body)
			}
		}
		if _, err := x.FindEvents(t.Context(), publishedQuery(), 0, 1); err != nil {
			t.Fatal(err)
		}
		now := load()
		for _, c := range []struct {
			kind calendar.Kind
			id   int64
			same bool
		}{
			{calendar.Event, 15, true},
			{calendar.Event, 16, false},
			{calendar.Event, 18, false},
			{calendar.Venue, 10, true},
			{calendar.Venue, 11, false},
			{calendar.Organizer, 0, true},
			{calendar.Venue, 0, false},
		} {
			same, err := x.Unchanged(t.Context(), made, now, []query.Dependency{{Kind: c.kind, ID: c.id}})
			if err != nil || same != c.same {
				t.Errorf("%s %d is unchanged: %t, %v, want %t", c.kind, c.id, same, err, c.same)
			}
		}
	}, apitest.Unindexed)
}

// TestUnchangedSeries writes one of two series. Only replies about that one must count as changed.
func TestUnchangedSeries(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		do := func(method, path string, body object) apitest.Response {
			t.Helper()
			r := api.Do(t, apitest.Request{Method: method, As: "admin", Path: path, JSON: body})
			if r.Status >= 300 {
				t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
			}
			return r
		}
		series := func(title string) query.Dependency {
			r := do("POST", "/events", object{"title": title, "start_date": "2026-12-20", "end_date": "2026-12-20", "rrule": "FREQ=DAILY;COUNT=3"})
			return query.Dependency{Kind: calendar.Series, ID: int64(r.Get(t, "series", "id").(float64))}
		}
		written, other := series("Course"), series("Choir")
		x := index.New(api.Store.Ent, nil, slog.New(slog.DiscardHandler))
		must.Succeed(t, x.Load(t.Context()))
		before := api.Revision(t)
		do("PATCH", fmt.Sprint("/series/", written.ID), object{"rrule": "FREQ=DAILY;COUNT=4"})
		after := api.Revision(t)
		for d, want := range map[query.Dependency]bool{written: false, other: true} {
			if same, err := x.Unchanged(t.Context(), before, after, []query.Dependency{d}); err != nil || same != want {
				t.Errorf("series %d is unchanged: %t, %v, want %t", d.ID, same, err, want)
			}
		}
	}, apitest.Unindexed)
}

// TestUnchangedAfterSeveralWrites applies two writes to the index at once. The second one replaces the first. A
// reply made between them must count as changed if an event count was different then.
func TestUnchangedAfterSeveralWrites(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		x := index.New(api.Store.Ent, nil, slog.New(slog.DiscardHandler))
		must.Succeed(t, x.Load(t.Context()))
		write := func(body object) {
			t.Helper()
			if r := api.Do(t, apitest.Request{Method: "PUT", As: "admin", Path: "/events/{minimalEvent}", JSON: body}); r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Body)
			}
		}
		for _, c := range []struct {
			name    string
			between []object
			same    bool
		}{
			{"a category for a while", []object{{"categories": "jazz"}, {"categories": []string{}}}, false},
			{"not published for a while", []object{{"status": "draft"}, {"status": "publish"}}, false},
			{"two titles", []object{{"title": "One"}, {"title": "Two"}}, true},
		} {
			write(c.between[0])
			made := api.Revision(t)
			write(c.between[1])
			same, err := x.Unchanged(t.Context(), made, api.Revision(t), []query.Dependency{{Kind: calendar.Event, ID: 19}})
			if err != nil || same != c.same {
				t.Errorf("%s: an event of the category is unchanged: %t, %v, want %t", c.name, same, err, c.same)
			}
		}
	}, apitest.Unindexed)
}
