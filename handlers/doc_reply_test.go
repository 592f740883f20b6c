package handlers_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestRepliesAreAsDescribed requests a reply of each form and status. Package apitest compares each reply with the
// interface description.
func TestRepliesAreAsDescribed(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	api.SignIn(t, "subscriber", calendar.Subscriber)
	problem := map[string]string{"Accept": "application/problem+json"}
	concert := object{"title": "Concert", "start_date": "2026-12-20 18:00", "end_date": "2026-12-20 20:00"}
	for _, c := range []struct {
		status int
		apitest.Request
	}{
		{200, get("")},
		{200, get("/doc")},
		{200, get("/events")},
		{200, get("/events?per_page=3&page=2&categories={music},{jazz}")},
		{200, get("/events?include={membersOnly}")},
		{200, get("/events?search=nothing")},
		{200, get("/events?status=publish&ml_language=pl")},
		{404, get("/events?page=99")},
		{400, get("/events?page=0&featured=maybe")},
		{401, apitest.Request{Path: "/events", Header: map[string]string{"Authorization": "Bearer wrong"}}},
		{201, post("admin", "/events", concert)},
		{201, post("admin", "/events", object{
			"title": "Two halls", "start_date": "2026-12-21", "end_date": "2026-12-22", "all_day": true, "cost": []any{5, "€8"},
			"venue": []any{grandHall, object{"venue": "Annex", "geo_lat": 0, "geo_lng": 1.5}}, "organizer": bob, "tags": "new, 4",
		})},
		{400, post("", "/events", object{})},
		{400, post("", "/events", `{"title":`)},
		{400, post("admin", "/events", object{"title": "", "start_date": "not a date", "end_date": "2026-12-01", "venue": []int{grandHall, 999}})},
		{401, post("", "/events", concert)},
		{403, post("subscriber", "/events", concert)},
		{200, get("/events/{jazzNight}")},
		{200, get("/events/{musicWalk}")},
		{200, get("/events/{museumNight}")},
		{200, apitest.Request{Path: "/events/{secretPlans}", As: "admin"}},
		{403, get("/events/{membersOnly}")},
		{403, apitest.Request{Path: "/events/{membersOnly}", Header: problem}},
		{404, get("/events/999999")},
		{400, apitest.Request{Path: "/events/10", Header: problem}},
		{200, apitest.Request{Method: "PATCH", Path: "/events/{musicWalk}", As: "admin", JSON: object{"cost": nil, "venue": grandHall}}},
		{400, apitest.Request{
			Method: "PUT", Path: "/events/{musicWalk}", As: "admin", Header: problem,
			JSON: object{"end_date": "2001-01-01"},
		}},
		{200, apitest.Request{Method: "DELETE", Path: "/events/{minimalEvent}", As: "admin"}},
		{410, apitest.Request{Method: "DELETE", Path: "/events/{trashedEvent}", As: "admin"}},
		{200, get("/events/by-slug/winter-jazz-blues")},
		{200, get("/events/by-slug/zimowy-jazz?ml_language=pl")},
		{400, get("/events/by-slug/nobody")},
		{200, get("/venues")},
		{201, post("admin", "/venues", object{"venue": "Loft"})},
		{200, get("/venues/{grandHall}")},
		{200, get("/venues/{bareVenue}")},
		{400, get("/venues/999999")},
		{200, get("/venues/by-slug/grand-hall")},
		{200, get("/organizers")},
		{404, get("/organizers?page=9")},
		{201, post("admin", "/organizers", object{"organizer": "Carol"})},
		{200, get("/organizers/{alice}")},
		{200, get("/organizers/by-slug/bob")},
		{200, get("/categories?hide_empty=0")},
		{201, post("admin", "/categories", object{"name": "Blues", "parent": 2})},
		{400, post("admin", "/categories", object{"name": "music"})},
		{200, get("/categories/{jazz}")},
		{200, get("/tags")},
		{200, get("/tags/{freeEntry}")},
		{200, apitest.Request{Method: "DELETE", Path: "/tags/{freeEntry}", As: "admin"}},
		{200, apitest.Request{Path: "/images", As: "admin"}},
		{401, get("/images")},
		{400, post("admin", "/images", object{})},
		{200, get("/images/{poster}")},
		{404, get("/images/99")},
	} {
		method := c.Method
		if method == "" {
			method = http.MethodGet
		}
		t.Run(method+" "+c.Path+" "+strconv.Itoa(c.status), func(t *testing.T) {
			res := api.Do(t, c.Request)
			if res.Status != c.status {
				t.Fatalf("got %d, want %d: %s", res.Status, c.status, res.Body)
			}
		})
	}
}
