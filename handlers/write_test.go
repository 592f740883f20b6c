package handlers_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// object is a JSON body.
type object = map[string]any

func post(as, path string, body any) apitest.Request {
	return apitest.Request{Method: "POST", As: as, Path: path, JSON: body}
}

func TestWritesAnswerAsTheContractShows(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "subscriber", calendar.Subscriber)
		minimal := object{"title": "Night of museums", "start_date": "2026-12-20 18:00:00", "end_date": "2026-12-21 01:00:00"}
		api.Run(t, []apitest.Case{
			{Name: "nothing sent", Request: post("", "/events", object{}), Status: 400, Golden: "error_missing_params.json"},
			{Name: "all faults at once", Request: post("", "/events", object{
				"title": "", "start_date": "not a date", "end_date": "2026-12-01 12:00:00", "featured": "maybe",
				"venue": []int{grandHall, 999999},
			}), Status: 400, Golden: "error_invalid_params.json"},
			{Name: "end before start as a problem", Request: apitest.Request{
				Method: "POST", As: "admin", Path: "/events",
				JSON:   object{"title": "X", "start_date": "2026-12-02", "end_date": "2026-12-01"},
				Header: map[string]string{"Accept": "application/problem+json"},
			}, Status: 400, Golden: "error_problem.json"},
			{Name: "anonymous", Request: post("", "/events", minimal), Status: 401, Golden: "error_forbidden_401.json"},
			{Name: "subscriber", Request: post("subscriber", "/events", minimal), Status: 403, Golden: "error_forbidden_403.json"},
			{Name: "existing category", Request: post("admin", "/categories", object{"name": "music"}), Status: 400, Golden: "error_term_exists_400.json"},
			{Name: "delete again", Request: apitest.Request{Method: "DELETE", As: "admin", Path: "/events/{trashedEvent}"}, Status: 410, Golden: "error_event_in_trash_410.json"},
			{Name: "two venues", Request: post("admin", "/events", object{
				"title": "Night of museums two", "start_date": "2026-12-20 18:00:00", "end_date": "2026-12-21 01:00:00",
				"venue": []int{grandHall, bareVenue}, "organizer": bob,
			}), Status: 201},
			{Name: "delete", Request: apitest.Request{Method: "DELETE", As: "admin", Path: "/events/{minimalEvent}"}, Status: 200},
			{Name: "update", Request: apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{musicWalk}", JSON: object{"start_date": "2026-12-12 10:00"}}, Status: 200},
		})
	})
}
