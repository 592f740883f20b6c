package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

func TestStateOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		planned := object{"event_status": "scheduled", "event_status_reason": "", "attendance": "offline", "virtual_url": ""}
		const meeting = "https://meet.example/jazz?a=b&c=d"
		canceled := object{"event_status": "canceled", "event_status_reason": "The hall is flooded", "attendance": "mixed", "virtual_url": meeting}
		update := func(body object) apitest.Request { return patch("admin", "/events/{jazzNight}", body) }
		create := func(body object) apitest.Request { return post("admin", "/events", concert(body)) }
		e.Run(t, []apitest.Case{
			{Name: "never sent", Request: create(nil), Status: 201, Check: e.keeps(planned)},
			{Name: "null on create", Request: create(object{
				"event_status": nil, "event_status_reason": nil, "attendance": nil, "virtual_url": nil,
			}), Status: 201, Check: e.keeps(planned)},
			{Name: "empty on create", Request: create(object{
				"event_status": "", "event_status_reason": "", "attendance": "", "virtual_url": "",
			}), Status: 201, Check: e.keeps(planned)},
			{Name: "sent on create", Request: create(canceled), Status: 201, Check: e.keeps(canceled)},
			{Name: "sent on update", Request: update(canceled), Status: 200, Check: e.keeps(canceled)},
			{Name: "not sent", Request: update(object{"title": "Jazz"}), Status: 200, Check: e.keeps(canceled)},
			{Name: "postponed", Request: update(object{"event_status": "postponed"}), Status: 200, Check: e.keeps(object{"event_status": "postponed", "attendance": "mixed"})},
			{Name: "online", Request: update(object{"attendance": "online"}), Status: 200, Check: e.keeps(object{"attendance": "online", "event_status": "postponed"})},
			{Name: "null takes it back", Request: update(object{"event_status": nil, "event_status_reason": nil, "attendance": nil, "virtual_url": nil}), Status: 200, Check: e.keeps(planned)},
			{Name: "again", Request: update(canceled), Status: 200, Check: e.keeps(canceled)},
			{Name: "empty takes it back", Request: update(object{"event_status": "", "event_status_reason": "", "attendance": "", "virtual_url": ""}), Status: 200, Check: e.keeps(planned)},

			{Name: "a reason without markup", Request: update(object{"event_status_reason": " <b>Flood</b> &amp; fire, 1 < 2 <script>x</script>"}), Status: 200, Check: e.keeps(object{"event_status_reason": "Flood & fire, 1 < 2"})},
			{Name: "the longest reason", Request: update(object{"event_status_reason": strings.Repeat("ż", 255)}), Status: 200, Check: e.keeps(object{"event_status_reason": strings.Repeat("ż", 255)})},
			{Name: "a longer one", Request: update(object{"event_status_reason": strings.Repeat("ż", 256)}), Status: 400, Check: namesExactly("event_status_reason rest_out_of_bounds")},
			{Name: "a number for a reason", Request: update(object{"event_status_reason": 5}), Status: 400, Check: namesExactly("event_status_reason rest_invalid_type")},
			{Name: "another word", Request: update(object{"event_status": "cancelled"}), Status: 400, Check: namesExactly("event_status")},
			{Name: "another case", Request: update(object{"event_status": "Canceled"}), Status: 400, Check: namesExactly("event_status")},
			{Name: "a blank", Request: update(object{"event_status": " "}), Status: 400, Check: namesExactly("event_status")},
			{Name: "a flag", Request: update(object{"event_status": true}), Status: 400, Check: namesExactly("event_status rest_invalid_type")},
			{Name: "a list", Request: update(object{"attendance": []string{"online", "offline"}}), Status: 400, Check: namesExactly("attendance rest_invalid_type")},
			{Name: "another way to attend", Request: update(object{"attendance": "virtual"}), Status: 400, Check: namesExactly("attendance")},
			{Name: "another scheme", Request: update(object{"virtual_url": "javascript:alert(1)"}), Status: 400, Check: namesExactly("virtual_url")},
			{Name: "no host", Request: update(object{"virtual_url": "/room"}), Status: 400, Check: namesExactly("virtual_url")},
			{Name: "every fault in its order", Request: create(object{
				"virtual_url": 5, "attendance": "x", "event_status_reason": object{}, "event_status": "x", "post_parent": "x",
			}), Status: 400, Check: namesExactly(
				"post_parent rest_invalid_type", "event_status", "event_status_reason rest_invalid_type", "attendance", "virtual_url rest_invalid_type",
			)},
			{Name: "unchanged by what failed", Request: get("/events/{jazzNight}"), Status: 200, Check: e.keeps(object{
				"event_status": "scheduled", "attendance": "offline", "virtual_url": "",
			})},
			{Name: "by form", Request: apitest.Request{
				Method: "POST", As: "admin", Path: "/events/{jazzNight}", Form: "event_status=postponed&attendance=online",
			}, Status: 200, Check: e.keeps(object{"event_status": "postponed", "attendance": "online"})},
		})
	})
}

func TestStateInLinkedData(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, one := range []struct{ status, attendance, eventStatus, mode string }{
			{"scheduled", "offline", "EventScheduled", "Offline"},
			{"canceled", "online", "EventCancelled", "Online"},
			{"postponed", "mixed", "EventPostponed", "Mixed"},
		} {
			e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"event_status": one.status, "attendance": one.attendance}))
			hasValues(t, e.mustSucceed(t, get("/events/{jazzNight}")), object{
				"json_ld.eventStatus":         "https://schema.org/" + one.eventStatus,
				"json_ld.eventAttendanceMode": "https://schema.org/" + one.mode + "EventAttendanceMode",
			})
		}
	})
}

func TestReasonIsTranslated(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustCreate(t, "admin", object{"event_status": "canceled", "event_status_reason": "Illness"})
		e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=pl", object{"event_status_reason": "Choroba"}))
		e.hasInLanguage(t, id, "en", object{"event_status_reason": "Illness", "translations": []string{"en", "pl"}})
		e.hasInLanguage(t, id, "pl", object{"event_status_reason": "Choroba", "event_status": "canceled", "title": "Concert", "language": "en"})
		e.hasInLanguage(t, id, "es", object{"event_status_reason": "Illness"})
		e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=es", object{"event_status_reason": "Enfermedad"}))
		e.hasInLanguage(t, id, "es", object{"event_status_reason": "Enfermedad", "translations": []string{"en", "pl", "es"}})
		e.mustSucceed(t, patch("admin", eventPath(id)+"?ml_language=pl", object{"event_status_reason": nil}))
		e.hasInLanguage(t, id, "pl", object{"event_status_reason": "Illness", "translations": []string{"en", "es"}})
		e.mustSucceed(t, patch("admin", eventPath(id), object{"event_status": "scheduled", "event_status_reason": ""}))
		e.hasInLanguage(t, id, "en", object{"event_status_reason": "", "event_status": "scheduled"})
		e.hasInLanguage(t, id, "es", object{"event_status_reason": "Enfermedad"})
	})
}

func TestListsByStateOfEvents(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for path, status := range map[string]string{"/events/{jazzNight}": "canceled", "/events/{musicWalk}": "postponed"} {
			e.mustSucceed(t, patch("admin", path, object{"event_status": status}))
		}
		e.Run(t, []apitest.Case{
			{Name: "a canceled event stays in lists", Request: get("/events?include={jazzNight}"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "canceled", Request: get("/events?event_status=canceled"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "two words", Request: get("/events?event_status=canceled,postponed"), Status: 200, Check: listsExactly("events", jazzNight, musicWalk)},
			{Name: "repeated", Request: get("/events?event_status[]=postponed&event_status[]=canceled"), Status: 200, Check: listsExactly("events", jazzNight, musicWalk)},
			{Name: "with another filter", Request: get("/events?event_status=canceled&include={musicWalk}"), Status: 200, Check: listsExactly("events")},
			{Name: "empty", Request: get("/events?event_status="), Status: 400, Check: namesExactly("event_status")},
			{Name: "another word", Request: get("/events?event_status=canceled,moved"), Status: 400, Check: namesExactly("event_status")},
			{Name: "another case", Request: get("/events?event_status=CANCELED"), Status: 400, Check: namesExactly("event_status")},
		})
	})
}

// TestACanceledEventSellsAndJoinsNothing compares what readers see of an event in each of its states. A canceled
// event has no cost and no link to join it.
func TestACanceledEventSellsAndJoinsNothing(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		api.SignIn(t, "editor", calendar.Editor)
		const shop, meeting, info = "https://tickets.example/1", "https://meet.example/1", "https://info.example/1"
		event := object{
			"title": "State Fair", "start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 20:00:00", "status": "publish",
			"cost": "77", "attendance": "mixed", "virtual_url": meeting,
		}
		for _, tt := range []struct {
			status, website string
			ticketed, open  bool
			shows           bool // the website
		}{
			{"scheduled", shop, true, true, true},
			{"postponed", shop, true, true, true},
			{"canceled", shop, true, false, false},
			{"canceled", info, false, false, true},
			{"scheduled", info, false, true, true},
		} {
			event["event_status"], event["website"], event["ticketed"] = tt.status, tt.website, tt.ticketed
			created := api.Do(t, apitest.Request{As: "editor", Method: "POST", Path: "/events", JSON: event})
			if created.Status != 201 {
				t.Fatalf("%d %s", created.Status, created.Body)
			}
			id, address := fmt.Sprint(created.Get(t, "id")), strings.TrimPrefix(fmt.Sprint(created.Get(t, "url")), apitest.BaseURL)
			not := map[bool]string{true: "", false: "!"}
			record := api.Do(t, get("/events/"+id))
			contains(not[tt.open]+`"offers":`, `"virtual_url":"https://meet.example/1"`, `"cost":"$77"`)(t, record)
			contains(
				not[tt.open]+meeting, not[tt.open]+`"offers":`, not[tt.open]+"VirtualLocation", not[tt.open]+"$77",
				not[tt.shows]+tt.website, not[tt.open]+"calendar.google.com", not[tt.open]+`class="add"`,
			)(t, api.Do(t, page(address)))
			contains(not[tt.open]+"CONFERENCE", "SUMMARY")(t, api.Do(t, page(address+"ical/")))
			contains(not[tt.open]+`class="cost">$77<`, "State Fair")(t, api.Do(t, page("/events/list/?tribe-bar-search=State+Fair")))
			deleted := api.Do(t, apitest.Request{As: "editor", Method: "DELETE", Path: "/events/" + id})
			if deleted.Status != 200 {
				t.Fatal(deleted.Status)
			}
		}
	})
}
