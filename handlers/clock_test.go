package handlers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestAProcessWithASlowClockShowsWhatAnotherHasPublished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		writes := apitest.New(t, st)
		writes.SignIn(t, "admin", calendar.Administrator)
		slow := func(c *handlers.Config) { c.Site.Now = func() time.Time { return apitest.Now.Add(-time.Minute) } }
		made := writes.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
			"title": "Opening", "start_date": "2026-12-01 10:00", "end_date": "2026-12-01 12:00",
			"venue":     map[string]any{"venue": "New hall", "geo_lat": 52.5, "geo_lng": 13.4},
			"organizer": map[string]any{"organizer": "New team"},
		}})
		if made.Status != 201 {
			t.Fatalf("%d %s", made.Status, made.Body)
		}
		event, venue, organizer := made.Get(t, "id"), made.Get(t, "venue", "id"), made.Get(t, "organizer", 0, "id")
		want := func(path ...any) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				for _, key := range []string{"venue", "organizer"} {
					if diff := cmp.Diff(made.Get(t, key), r.Get(t, append(path, key)...)); diff != "" {
						t.Errorf("%s (-written +read): %s", key, diff)
					}
				}
			}
		}
		one := func(key string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				if got := r.Get(t, "total"); got != 1.0 {
					t.Errorf("total is %v", got)
				}
				if got := r.Get(t, key, 0, "status"); got != "publish" {
					t.Errorf("the status is %v", got)
				}
			}
		}
		for name, api := range map[string]*apitest.API{
			"index": apitest.New(t, st, slow), "database": apitest.New(t, st, slow, apitest.Unindexed),
		} {
			t.Run(name, func(t *testing.T) {
				api.Run(t, []apitest.Case{
					{Name: "list", Request: apitest.Request{Path: "/events"}, Status: 200, Check: want("events", 0)},
					{Name: "by venue", Request: apitest.Request{Path: fmt.Sprint("/events?venue=", venue)}, Status: 200, Check: one("events")},
					{Name: "by organizer", Request: apitest.Request{Path: fmt.Sprint("/events?organizer=", organizer)}, Status: 200, Check: one("events")},
					{Name: "located", Request: apitest.Request{Path: "/events?geoloc=1"}, Status: 200, Check: one("events")},
					{Name: "near", Request: apitest.Request{Path: "/events?geoloc_lat=52.5&geoloc_lng=13.4"}, Status: 200, Check: one("events")},
					{Name: "venues", Request: apitest.Request{Path: "/venues?has_events=1&only_with_upcoming=1"}, Status: 200, Check: one("venues")},
					{Name: "organizers", Request: apitest.Request{Path: fmt.Sprint("/organizers?event=", event)}, Status: 200, Check: one("organizers")},
					{Name: "venue", Request: apitest.Request{Path: fmt.Sprint("/venues/", venue)}, Status: 200, Check: func(t *testing.T, r apitest.Response) {
						if got := r.Get(t, "status"); got != "publish" {
							t.Errorf("the status is %v", got)
						}
					}},
				})
				r := api.Do(t, apitest.Request{Path: fmt.Sprint("/events/", event)})
				if r.Status != 200 {
					t.Fatalf("%d %s", r.Status, r.Body)
				}
				if r.Get(t, "json_ld", "location", "name") != "New hall" || r.Get(t, "json_ld", "organizer", "name") != "New team" {
					t.Errorf("json_ld is %v", r.Get(t, "json_ld"))
				}
			})
		}
	})
}

// TestAProcessKeepsNoEntryWithoutAChangeThatItShows reads feeds in a process whose clock is behind the writer's
// clock. A feed entry then shows a change that is dated later than the entry. When the clock catches up, the feeds
// must equal those of a process without a cache.
func TestAProcessKeepsNoEntryWithoutAChangeThatItShows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var behind time.Duration
		at := func(now func() time.Time, cache *reply.RecordCache) *apitest.API {
			return apitest.New(t, st, func(c *handlers.Config) {
				c.Site.Now, c.RecordCache = now, cache
				if err := c.Index.Load(t.Context()); err != nil { // otherwise nothing is kept
					t.Fatal(err)
				}
			})
		}
		first := at(func() time.Time { return apitest.Now.Add(-time.Hour) }, nil)
		first.SignIn(t, "admin", calendar.Administrator)
		made := first.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
			"title": "Opening", "start_date": "2026-12-01 10:00", "end_date": "2026-12-01 12:00", "venue": map[string]any{"venue": "Hall"},
			"categories": []string{"Music"},
		}})
		if made.Status != 201 {
			t.Fatalf("%d %s", made.Status, made.Body)
		}
		last := at(func() time.Time { return apitest.Now }, nil)
		last.ShareTokens(first)
		for _, change := range []struct {
			path string
			body map[string]any
		}{
			{fmt.Sprint("/venues/", made.Get(t, "venue", "id")), map[string]any{"venue": "New hall"}},
			{fmt.Sprint("/categories/", made.Get(t, "categories", 0, "id")), map[string]any{"name": "New music"}},
		} {
			cache, err := reply.NewRecordCache(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			r := last.Do(t, apitest.Request{Method: "PATCH", Path: change.path, As: "admin", JSON: change.body})
			if r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Body)
			}
			process := at(func() time.Time { return apitest.Now.Add(-behind) }, cache)
			paths := []string{"/events.atom", "/events.rss", "/events.json", "/events.ics"}
			behind = time.Minute
			for _, path := range paths {
				process.Do(t, apitest.Request{Path: path, Absolute: true})
			}
			behind = 0
			for _, path := range paths {
				got, want := process.Do(t, apitest.Request{Path: path, Absolute: true}), last.Do(t, apitest.Request{Path: path, Absolute: true})
				if diff := cmp.Diff(string(want.Body), string(got.Body)); diff != "" {
					t.Errorf("%s after %s (-without a cache +with):\n%s", path, change.path, diff)
				}
			}
		}
	})
}
