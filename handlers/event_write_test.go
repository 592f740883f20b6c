package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/proof/apitest"
)

func TestCreatedEventsLookAsTheContractShows(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		// The slugs of the example's events are wanted by new ones.
		for _, id := range []int64{16, 18, 21} {
			if _, err := e.Store.Ent.Slug.Delete().Where(slug.OwnerID(id)).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		e.stepID(t, 116)
		location := func(want string) func(t *testing.T, r apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				if got := r.Header.Get("Location"); got != apitest.BaseURL+want {
					t.Errorf("Location is %q", got)
				}
			}
		}
		e.Run(t, []apitest.Case{
			{Name: "minimal", Request: post("admin", "/events", object{
				"title": "Minimal event", "start_date": "2026-12-01 10:00:00", "end_date": "2026-12-01 12:00:00",
			}), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				apitest.Golden(t, "event_minimal.json", replaceID(r.Body, 116, 16))
				location("/cal/events/v1/events/116")(t, r)
			}},
			{Name: "two venues", Request: post("admin", "/events", object{
				"title": "Night of museums", "start_date": "2026-12-20 18:00:00", "end_date": "2026-12-21 01:00:00",
				"venue": []int{grandHall, bareVenue}, "organizer": bob,
			}), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				apitest.Golden(t, "event_two_venues.json", replaceID(r.Body, 117, 18))
			}},
			{Name: "to be deleted", Request: post("admin", "/events", object{
				"title": "To delete", "start_date": "2026-12-01 10:00:00", "end_date": "2026-12-01 12:00:00",
				"date": "2026-11-20 09:30:00",
			}), Status: 201},
			{Name: "deleted", Request: remove("admin", "/events/118"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				apitest.Golden(t, "event_deleted.json", replaceID(r.Body, 118, 21))
			}},
			{Name: "location keeps the language of the path", Request: apitest.Request{
				Method: "POST", As: "admin", Path: "/pl/cal/events/v1/events", Absolute: true, JSON: concert(nil),
			}, Status: 201, Check: location("/pl/cal/events/v1/events/119")},
			{
				Name: "no json_ld in the reply to an update", Request: patch("admin", "/events/119", object{}), Status: 200,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"json_ld": nil, "title": "Concert"}) },
			},
			{
				Name: "only the fields asked for", Request: post("admin", "/events?_fields=title,venue.id", concert(object{"venue": grandHall})),
				Status: 201, Check: func(t *testing.T, r apitest.Response) {
					if want := `{"title":"Concert","venue":{"id":10}}`; string(r.Body) != want {
						t.Errorf("got %s", r.Body)
					}
				},
			},
		})
	})
}

func TestFirstFailingStepAnswers(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		before := e.rowCounts(t)
		backwards := object{"start_date": "2026-12-05 18:00", "end_date": "2026-12-05 17:00"}
		wrong := map[string]string{"Authorization": "Bearer wrong"}
		e.Run(t, []apitest.Case{
			{
				Name: "route before credentials", Request: apitest.Request{Method: "POST", Path: "/nothing", Header: wrong, JSON: "{"},
				Status: 404, Code: "rest_no_route",
			},
			{
				Name: "credentials before body", Request: apitest.Request{Method: "POST", Path: "/events", Header: wrong, JSON: "{"},
				Status: 401, Code: "rest_invalid_token",
			},
			{Name: "body before missing", Request: post("", "/events", `{"title":`), Status: 400, Code: "rest_invalid_json"},
			{
				Name: "too large a body", Request: post("admin", "/events", concert(object{"description": strings.Repeat("x", 1<<20)})),
				Status: 413, Code: "rest_request_too_large",
			},
			{
				Name: "missing before invalid", Request: post("", "/events", object{"featured": "maybe", "end_date": "x"}),
				Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("title", "start_date"),
			},
			{
				Name: "null is missing", Request: post("", "/events", concert(object{"title": nil, "end_date": nil})),
				Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("title", "end_date"),
			},
			{
				Name: "empty is not missing", Request: post("", "/events", concert(object{"title": "", "start_date": ""})),
				Status: 400, Code: "rest_invalid_param", Check: namesExactly("title", "start_date rest_invalid_date"),
			},

			{
				Name: "invalid before permission", Request: post("", "/events", concert(object{"featured": "maybe"})),
				Status: 400, Check: namesExactly("featured rest_invalid_type"),
			},
			{
				Name: "unknown venue before permission", Request: post("", "/events", concert(object{"venue": 999999})),
				Status: 400, Check: namesExactly("venue unknown-ids"),
			},
			{
				Name: "unknown category before permission", Request: post("", "/events", concert(object{"categories": []int{999999}})),
				Status: 400, Check: namesExactly("categories unknown-ids"),
			},
			{
				Name: "unknown author before permission", Request: post("", "/events", concert(object{"author": 999999})),
				Status: 400, Check: namesExactly("author unknown-ids"),
			},
			{
				Name: "unknown image before permission", Request: post("", "/events", concert(object{"image": 999999})),
				Status: 400, Check: namesExactly("image unknown-ids"),
			},
			{
				Name: "end before start before permission", Request: post("", "/events", concert(backwards)),
				Status: 400, Check: namesExactly("end_date end-before-start"),
			},
			{
				Name: "end before start of an update before permission", Request: patch("", "/events/{jazzNight}", backwards),
				Status: 400, Check: namesExactly("end_date end-before-start"),
			},
			{
				Name: "end before start among other faults", Request: post("admin", "/events",
					concert(object{"start_date": "2026-12-05 18:00", "end_date": "2026-12-05 17:00", "slug": 1, "cost": true})),
				Status: 400, Check: namesExactly("slug rest_invalid_type", "end_date end-before-start", "cost"),
			},

			{
				Name: "permission before a new category, anonymous", Request: post("", "/events", concert(object{"categories": "New"})),
				Status: 401, Code: "rest_forbidden",
			},
			{
				Name: "permission before a new category, subscriber", Request: post("subscriber", "/events", concert(object{"categories": "New"})),
				Status: 403, Code: "rest_forbidden",
			},
			{
				Name: "permission before an end against the stored start, anonymous", Request: patch("", "/events/{jazzNight}", object{"end_date": "2020-01-01"}),
				Status: 401, Code: "rest_forbidden",
			},
			{
				Name: "permission before an end against the stored start, author", Request: patch("author", "/events/{jazzNight}", object{"end_date": "2020-01-01"}),
				Status: 403, Code: "rest_forbidden",
			},
			{
				Name: "end against the stored start", Request: patch("admin", "/events/{jazzNight}", object{"end_date": "2020-01-01"}),
				Status: 400, Check: namesExactly("end_date end-before-start"),
			},
			{
				Name: "permission before a parent loop", Request: patch("subscriber", "/events/{jazzNight}", object{"post_parent": jazzNight}),
				Status: 403, Code: "rest_forbidden",
			},
			{
				Name: "permission before a download", Request: post("subscriber", "/events", concert(object{"image": "http://127.0.0.1:1/x.png"})),
				Status: 403, Code: "rest_forbidden",
			},

			{Name: "every fault at once, in the order of the table", Request: post("", "/events", object{
				"ml_language": "de", "post_parent": "x", "ticketed": "maybe", "password": 5, "organizer": "Bob", "venue": 12,
				"tags": []int{2}, "categories": []int{4}, "featured": "", "sticky": "perhaps", "hide_from_listings": 2,
				"show_map_link": []int{}, "show_map": object{}, "website": "ftp://x", "cost": true, "image": "", "end_date": "?",
				"start_date": "2026-02-30", "all_day": "x", "timezone": "Mars/Phobos", "status": "any", "excerpt": 5, "slug": 5,
				"virtual_url": "x", "attendance": "remote", "event_status_reason": 5, "event_status": "moved",
				"description": 5, "title": "<p></p>", "date_utc": "x", "date": true, "author": "me",
			}), Status: 400, Check: namesExactly(
				"author rest_invalid_type", "date rest_invalid_date", "date_utc rest_invalid_date", "title", "description rest_invalid_type",
				"slug rest_invalid_type", "excerpt rest_invalid_type", "status", "timezone", "all_day rest_invalid_type",
				"start_date rest_invalid_date", "end_date rest_invalid_date", "image", "cost", "website", "show_map rest_invalid_type",
				"show_map_link rest_invalid_type", "hide_from_listings rest_invalid_type", "sticky rest_invalid_type",
				"featured rest_invalid_type", "categories unknown-ids", "tags unknown-ids", "venue unknown-ids", "organizer",
				"password rest_invalid_type", "ticketed rest_invalid_type", "post_parent rest_invalid_type",
				"event_status", "event_status_reason rest_invalid_type", "attendance", "virtual_url",
				"ml_language rest_not_in_enum",
			)},
		})
		if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
			t.Errorf("stored rows (-before +after):\n%s", diff)
		}
	})
}

func TestUnknownEventsAreAnsweredByRoute(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		type answer struct {
			status int
			code   string
		}
		forbidden := map[string]answer{"": {401, "rest_forbidden"}, "subscriber": {403, "rest_forbidden"}}
		for _, c := range []struct {
			name, path, method string
			known              answer // for callers who may write events
			all                bool   // for every caller
		}{
			{"update by id", "/events/999999", "PUT", answer{404, "rest-event-not-found"}, false},
			{"delete by id", "/events/999999", "DELETE", answer{404, "rest-event-not-found"}, false},
			{"update by an id beyond int64", "/events/99999999999999999999999", "POST", answer{404, "rest-event-not-found"}, false},
			{"update by the id of a venue", "/events/10", "PATCH", answer{400, "rest-invalid-event-id"}, false},
			{"delete by the id of an image", "/events/14", "DELETE", answer{400, "rest-invalid-event-id"}, false},
			{"update by slug", "/events/by-slug/nowhere", "PATCH", answer{404, "rest-event-not-found"}, false},
			{"update by the slug of a venue", "/events/by-slug/grand-hall", "PATCH", answer{404, "rest-event-not-found"}, false},
			{"update by a slug of nothing", "/events/by-slug/%21%21", "PATCH", answer{404, "rest-event-not-found"}, false},
			{"delete by slug", "/events/by-slug/nowhere", "DELETE", answer{400, "rest_invalid_param"}, true},
			{"delete by a slug of nothing", "/events/by-slug/%21%21", "DELETE", answer{400, "rest_invalid_param"}, true},
			{"delete by no number", "/events/abc", "DELETE", answer{404, "rest_no_route"}, true},
		} {
			for _, as := range []string{"", "subscriber", "contributor", "editor"} {
				want, refused := forbidden[as]
				if !refused || c.all {
					want = c.known
				}
				t.Run(c.name+" as "+as, func(t *testing.T) {
					r := e.Do(t, apitest.Request{Method: c.method, As: as, Path: c.path, JSON: object{}})
					if got := (answer{r.Status, r.Get(t, "code").(string)}); got != want {
						t.Errorf("got %v, want %v", got, want)
					}
				})
			}
		}
		e.Run(t, []apitest.Case{
			{
				Name: "invalid fields come before the unknown target", Request: patch("", "/events/999999", object{"cost": true}),
				Status: 400, Check: namesExactly("cost"),
			},
			{Name: "a fault of the slug alone", Request: remove("", "/events/by-slug/nowhere"), Status: 400, Check: namesExactly("slug")},
		})
	})
}

func TestSourcesOfParameters(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		multipart := func(fields ...string) apitest.Request {
			var b strings.Builder
			for i := 0; i < len(fields); i += 2 {
				fmt.Fprintf(&b, "--cut\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", fields[i], fields[i+1])
			}
			return apitest.Request{
				Method: "POST", As: "admin", Path: "/events", JSON: b.String() + "--cut--\r\n",
				Header: map[string]string{"Content-Type": "multipart/form-data; boundary=cut"},
			}
		}
		form := func(method, path, body string) apitest.Request {
			return apitest.Request{Method: method, As: "admin", Path: path, Form: body}
		}
		typed := func(kind, body string) apitest.Request {
			return apitest.Request{Method: "POST", As: "admin", Path: "/events", JSON: body, Header: map[string]string{"Content-Type": kind}}
		}
		dates := "&start_date=2026-12-05+18:00&end_date=2026-12-05+20:30"
		linked := object{
			"title": "Fair", "venue.venue": "Yard", "venue.city": "Kyiv", "organizer.0.organizer": "Ann", "organizer.1.organizer": "Ben",
			"tags.0.name": "outdoor", "tags.1.name": "spring", "featured": true,
		}
		whole := e.mustSucceed(t, get("/events/{musicWalk}")).JSON(t).(object)
		whole["title"], whole["cost"] = "Tea &amp; cake", "$5 – $10"
		e.Run(t, []apitest.Case{
			{
				Name: "a whole representation sent back", Request: apitest.Request{Method: "PUT", As: "admin", Path: "/events/{musicWalk}", JSON: whole},
				Status: 200, Check: func(t *testing.T, r apitest.Response) {
					after := e.mustSucceed(t, get("/events/{musicWalk}")).JSON(t).(object)
					hasValues(t, r, object{"cost_details.values": []string{"5", "10"}})
					for _, ignored := range []string{"cost_details", "modified", "modified_utc", "website", "json_ld"} {
						delete(after, ignored)
						delete(whole, ignored)
					}
					if diff := cmp.Diff(whole, after); diff != "" {
						t.Errorf("representation (-sent +stored):\n%s", diff)
					}
				},
			},
			{
				Name: "form with brackets", Request: form("POST", "/events", "title=Fair&venue[venue]=Yard&venue[city]=Kyiv"+
					"&organizer[0][organizer]=Ann&organizer[1][organizer]=Ben&tags[]=outdoor&tags[]=spring&featured=on"+dates),
				Status: 201, Check: e.keeps(linked),
			},
			{Name: "multipart with brackets", Request: multipart("title", "Fair", "venue[venue]", "Yard", "venue[city]", "Kyiv",
				"organizer[0][organizer]", "Ann", "organizer[1][organizer]", "Ben", "tags[]", "outdoor", "tags[]", "spring",
				"featured", "1", "start_date", "2026-12-05", "end_date", "2026-12-06"), Status: 201, Check: e.keeps(linked)},
			{
				Name: "query on POST", Request: apitest.Request{Method: "POST", As: "admin", Path: "/events?title=Query&tags[]=outdoor" + dates},
				Status: 201, Check: e.keeps(object{"title": "Query", "tags.0.name": "outdoor"}),
			},
			{
				Name: "body over query", Request: post("admin", "/events?title=Query&excerpt=Short", concert(nil)),
				Status: 201, Check: e.keeps(object{"title": "Concert", "excerpt": "<p>Short</p>"}),
			},
			{
				Name: "form over query", Request: form("POST", "/events?title=Query", "title=Form"+dates),
				Status: 201, Check: e.keeps(object{"title": "Form"}),
			},
			{Name: "content type with a charset", Request: typed("application/json; charset=utf-8",
				`{"title":"Typed","start_date":"2026-12-05","end_date":"2026-12-05"}`), Status: 201, Check: e.keeps(object{"title": "Typed"})},
			{Name: "content type with a broken parameter", Request: typed("application/json;;",
				`{"title":"Typed","start_date":"2026-12-05","end_date":"2026-12-05"}`), Status: 201, Check: e.keeps(object{"title": "Typed"})},
			{
				Name: "another content type", Request: typed("text/plain", `{"title":"x","start_date":"now","end_date":"now"}`),
				Status: 415, Code: "rest_unsupported_media_type",
			},
			{Name: "XML", Request: typed("text/xml; charset=utf-8", `<event/>`), Status: 415, Code: "rest_unsupported_media_type"},
			{Name: "a content type that is none", Request: typed("nonsense", `{}`), Status: 415, Code: "rest_unsupported_media_type"},
			{Name: "a picture", Request: typed("image/png", `PNG`), Status: 415, Code: "rest_unsupported_media_type"},
			{Name: "another content type without a body", Request: typed("text/plain", ""), Status: 400, Check: namesExactly("title", "start_date", "end_date")},
			{Name: "a list", Request: post("admin", "/events", `[{"title":"x"}]`), Status: 400, Code: "rest_body_not_object"},
			{Name: "null", Request: post("admin", "/events", `null`), Status: 400, Code: "rest_missing_callback_param"},
			{Name: "a text", Request: post("admin", "/events", `"title"`), Status: 400, Code: "rest_body_not_object"},
			{
				Name: "repeated keys", Request: post("admin", "/events", `{"title":"One","venue":{"venue":"Here","city":"A","city":"B"},"start_date":"2026-12-05","end_date":"2026-12-05","title":"Two"}`),
				Status: 201, Check: allChecks(e.keeps(object{"title": "Two", "venue.city": "B"}), header("X-Almanac-Ignored", "venue%5Bcity%5D; reason=duplicate-key, title; reason=duplicate-key")),
			},
			{
				Name: "repeated keys of a strict client", Request: strictly(post("admin", "/events", `{"title":"One","venue":{"venue":"Here","city":"A","city":"B"},"start_date":"2026-12-05","end_date":"2026-12-05","title":"Two"}`)),
				Status: 400, Check: namesExactly("venue[city] duplicate-key", "title duplicate-key"),
			},
			{Name: "an empty body carries nothing", Request: post("admin", "/events", ""), Status: 400, Check: namesExactly("title", "start_date", "end_date")},
			{Name: "more after the object", Request: post("admin", "/events", `{} {}`), Status: 400, Code: "rest_invalid_json"},

			{
				Name: "last of a repeated scalar", Request: form("POST", "/events", "title=One&title=Two&featured=1&featured=0"+
					"&website=https://one.example/&website=https://two.example/&timezone=UTC&timezone=Europe/Warsaw&image=0&image=14"+dates),
				Status: 201, Check: e.keeps(object{
					"title": "Two", "featured": false, "website": "https://two.example/", "timezone": "Europe/Warsaw", "image.id": 14,
				}),
			},
			{
				Name: "empty last of a repeated word or number", Request: form("POST", "/events", "title=One&event_status=canceled&event_status="+
					"&attendance=&attendance=&venue[venue]=Yard&venue[geo_lat]=&venue[geo_lat]=&venue[show_map]=1&venue[show_map]="+dates),
				Status: 201, Check: e.keeps(object{"event_status": "scheduled", "attendance": "offline", "venue.show_map": false, "venue.geo_lat": nil}),
			},
			{
				Name: "repeated language", Request: form("POST", "/events?ml_language=es&ml_language=pl", "title=Targ"+dates),
				Status: 201, Check: e.keeps(object{"language": "pl", "translations": []string{"pl"}}),
			},

			{Name: "PUT", Request: form("PUT", "/events/6", "cost=1"), Status: 200, Check: e.keeps(object{"cost": "$1", "title": "City run"})},
			{Name: "PATCH", Request: form("PATCH", "/events/6", "cost=2"), Status: 200, Check: e.keeps(object{"cost": "$2", "title": "City run"})},
			{Name: "POST", Request: form("POST", "/events/6/", "cost=3"), Status: 200, Check: e.keeps(object{"cost": "$3", "title": "City run"})},
			{
				Name: "update by query", Request: apitest.Request{Method: "PATCH", As: "admin", Path: "/events/{cityRun}?cost=4"}, Status: 200,
				Check: e.keeps(object{"cost": "$4"}),
			},
			{Name: "method in a header", Request: apitest.Request{
				Method: "POST", As: "admin", Path: "/events/{openStage}", Header: map[string]string{"X-HTTP-Method-Override": "DELETE"},
			}, Status: 200, Check: e.keeps(object{"status": "trash"})},
			{
				Name: "method in the query", Request: apitest.Request{Method: "POST", As: "admin", Path: "/events/{organHour}?_method=DELETE"},
				Status: 200, Check: e.keeps(object{"status": "trash"}),
			},

			{
				Name: "the path's id stands", Request: patch("admin", "/events/{choir}?id=2", object{"id": 1, "excerpt": "Mine"}),
				Status: 200, Check: e.keeps(object{"id": 3, "excerpt": "<p>Mine</p>"}),
			},
			{
				Name: "the path's slug stands", Request: patch("admin", "/events/by-slug/choir?slug=evening-song", object{"excerpt": "Slug"}),
				Status: 200, Check: e.keeps(object{"id": 3, "slug": "choir", "excerpt": "<p>Slug</p>"}),
			},
			{
				Name: "a slug in the body is a new one", Request: patch("admin", "/events/by-slug/choir", object{"slug": "Big choir"}),
				Status: 200, Check: e.keeps(object{"id": 3, "slug": "big-choir"}),
			},
			{Name: "rights are those on the path's event", Request: patch("author", "/events/{choir}", object{"id": 999999}), Status: 403},
			{
				Name: "id in a create", Request: post("admin", "/events", concert(object{"id": 3})), Status: 201,
				Check: func(t *testing.T, r apitest.Response) {
					if r.Get(t, "id") == 3.0 {
						t.Error("the id sent was taken")
					}
				},
			},
			{Name: "unknown and read-only fields", Request: patch("admin", "/events/{eveningSong}", object{
				"colour": "red", "global_id": "x", "modified": "2000-01-01", "url": "x", "rest_url": 1, "utc_start_date": "2000-01-01",
				"cost_details": true, "custom_fields": 5, "language": "pl", "translations": "x", "json_ld": nil, "timezone_abbr": 1,
			}), Status: 200, Check: e.keeps(object{"title": "Evening song", "start_date": "2026-12-02 18:00:00", "language": "en"})},
			{
				Name: "a password in the query means nothing", Request: post("admin", "/events?password=sesame", concert(nil)),
				Status: 201, Check: func(t *testing.T, r apitest.Response) {
					id := int64(r.Get(t, "id").(float64))
					hasValues(t, e.mustSucceed(t, get(eventPath(id))), object{"title": "Concert"})
				},
			},
		})
	})
}

func TestUpdatesChangeOnlyWhatIsSent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, method := range []string{"PUT", "POST", "PATCH"} {
			before := e.mustSucceed(t, get("/events/{jazzNight}")).JSON(t).(object)
			e.mustSucceed(t, apitest.Request{Method: method, As: "admin", Path: "/events/{jazzNight}", JSON: object{"excerpt": method}})
			before["excerpt"] = "<p>" + method + "</p>"
			before["modified"], before["modified_utc"] = "2026-11-21 12:00:00", "2026-11-21 12:00:00"
			if diff := cmp.Diff(before, e.mustSucceed(t, get("/events/{jazzNight}")).JSON(t)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", method, diff)
			}
		}
	})
}
