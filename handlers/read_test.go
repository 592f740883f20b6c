package handlers_test

import (
	"net/http"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// get returns an anonymous GET request.
func get(path string) apitest.Request { return apitest.Request{Path: path} }

func TestRepresentationsAreThoseOfTheContract(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.Run(t, []apitest.Case{
			{Name: "event with everything", Request: get("/events/{jazzNight}"), Status: 200, Golden: "event_full.json"},
			{Name: "event without links", Request: get("/events/{musicWalk}"), Status: 200, Golden: "event_no_venue.json"},
			{Name: "page of a filtered list", Request: get("/events?per_page=3&page=2&categories={music},{jazz}"), Status: 200, Golden: "event_list_page2.json"},
			{Name: "nothing found", Request: get("/events?search=zzzz"), Status: 200, Golden: "event_list_empty.json"},
			{Name: "protected event in a list", Request: get("/events?include={membersOnly}"), Status: 200, Golden: "event_list_protected.json"},
			{Name: "venue", Request: get("/venues/{grandHall}"), Status: 200, Golden: "venue_full.json"},
			{Name: "organizer", Request: get("/organizers/{alice}"), Status: 200, Golden: "organizer_full.json"},
			{Name: "category", Request: get("/categories/{jazz}"), Status: 200, Golden: "category.json"},
			{Name: "tag", Request: get("/tags/{freeEntry}"), Status: 200, Golden: "tag.json"},
			{Name: "categories", Request: get("/categories"), Status: 200, Golden: "category_list.json"},
			{Name: "image", Request: get("/images/{poster}"), Status: 200, Golden: "image.json"},

			{Name: "unknown event", Request: get("/events/999999"), Status: 404, Golden: "error_event_not_found_404.json"},
			{Name: "unknown venue", Request: get("/venues/999999"), Status: 400, Golden: "error_venue_unknown.json"},
			{Name: "protected event", Request: get("/events/{membersOnly}"), Status: 403, Golden: "error_event_password_403.json"},
			{Name: "page past the end", Request: get("/events?page=99"), Status: 404, Golden: "error_page_not_found_404.json"},
			{Name: "no such path", Request: get("/events/abc"), Status: 404, Golden: "error_no_route_404.json"},
			{Name: "no such method", Request: apitest.Request{Method: "PUT", Path: "/events"}, Status: 404, Golden: "error_no_route_404.json"},
			{Name: "wrong password of a user", Request: apitest.Request{
				Path: "/events", Header: map[string]string{"Authorization": "Basic YWRtaW46d3Jvbmc="},
			}, Status: http.StatusUnauthorized, Golden: "error_bad_credentials_401.json"},
		})
	})
}
