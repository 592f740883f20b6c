package handlers_test

import (
	"fmt"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

func TestStatusOfANewEventByRole(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			as   string
			sent any
			want string
		}{
			{"contributor", nil, "draft"},
			{"contributor", "draft", "draft"},
			{"contributor", "pending", "pending"},
			{"contributor", "publish", "pending"},
			{"contributor", "future", "pending"},
			{"contributor", "private", "pending"},
			{"contributor", "trash", "trash"},
			{"author", nil, "publish"},
			{"author", "draft", "draft"},
			{"author", "pending", "pending"},
			{"author", "publish", "publish"},
			{"author", "private", "private"},
			{"author", "future", "publish"},
			{"editor", nil, "publish"},
			{"editor", "private", "private"},
			{"admin", "draft", "draft"},
		} {
			t.Run(fmt.Sprintf("%s sends %v", c.as, c.sent), func(t *testing.T) {
				r := e.mustSucceed(t, post(c.as, "/events", concert(object{"status": c.sent})))
				e.keeps(object{"status": c.want, "author": fmt.Sprint(e.user[c.as])})(t, r)
			})
		}
		for sent, fault := range map[any]string{
			"": "status", "any": "status", "Publish": "status", "published": "status", "draft,pending": "status", 1: "status rest_invalid_type",
		} {
			namesExactly(fault)(t, e.Do(t, post("admin", "/events", concert(object{"status": sent}))))
			namesExactly(fault)(t, e.Do(t, patch("admin", "/events/{jazzNight}", object{"status": sent})))
		}
		contributor, author := e.user["contributor"], e.user["author"]
		e.Run(t, []apitest.Case{
			{Name: "anonymous", Request: post("", "/events", concert(nil)), Status: 401, Code: "rest_forbidden", Check: func(t *testing.T, r apitest.Response) {
				if got := r.Header.Values("WWW-Authenticate"); len(got) != 2 {
					t.Errorf("WWW-Authenticate is %v", got)
				}
			}},
			{Name: "subscriber", Request: post("subscriber", "/events", concert(object{"status": "draft"})), Status: 403, Code: "rest_forbidden"},
			{
				Name: "a date to come without the right to publish", Request: post("contributor", "/events", concert(object{"status": "publish", "date": "2027-01-01"})),
				Status: 201, Check: e.keeps(object{"status": "pending", "date": "2027-01-01 00:00:00"}),
			},
			{Name: "another author, by an author", Request: post("author", "/events", concert(object{"author": contributor})), Status: 403, Code: "rest_forbidden"},
			{Name: "another author, by a contributor", Request: post("contributor", "/events", concert(object{"author": author})), Status: 403, Code: "rest_forbidden"},
			{Name: "oneself as author", Request: post("author", "/events", concert(object{"author": author})), Status: 201, Check: e.keeps(object{"author": fmt.Sprint(author)})},
			{
				Name: "another author, by an editor", Request: post("editor", "/events", concert(object{"author": contributor})), Status: 201,
				Check: e.keeps(object{"author": fmt.Sprint(contributor), "status": "publish"}),
			},
		})
	})
}

func TestEveryStatusFollowsEveryOther(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		statuses := []string{"publish", "future", "draft", "pending", "private", "trash"}
		with := func(status string) object {
			if status == "future" {
				return object{"status": status, "date": "2027-01-01"}
			}
			return object{"status": status, "date": "2026-01-01"}
		}
		for _, from := range statuses {
			for _, to := range statuses {
				t.Run(from+" to "+to, func(t *testing.T) {
					id := e.mustCreate(t, "editor", with(from))
					e.isStored(t, id, object{"status": from})
					r := e.mustSucceed(t, patch("editor", eventPath(id), with(to)))
					e.keeps(object{"status": to})(t, r)
				})
			}
		}
		id := e.mustCreate(t, "editor", object{"date": "2027-01-01"})
		e.Run(t, []apitest.Case{
			{Name: "publish with a date to come", Request: patch("editor", eventPath(id), object{"status": "publish"}), Status: 200, Check: e.keeps(object{"status": "future"})},
			{Name: "future with a past date", Request: patch("editor", eventPath(id), object{"date": "2026-01-01"}), Status: 200, Check: e.keeps(object{"status": "publish"})},
			{Name: "kept when not sent", Request: patch("editor", "/events/{secretPlans}", object{"title": "Secret"}), Status: 200, Check: e.keeps(object{"status": "draft"})},
		})
	})
}

func TestWhoMayChangeWhichEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		owned := func(owner, status string) int64 {
			t.Helper()
			body := object{"author": e.user[owner], "status": status}
			if status == "future" {
				body["date"] = "2027-01-01"
			}
			return e.mustCreate(t, "admin", body)
		}
		for _, c := range []struct {
			as, owner, status string
			may               bool
		}{
			{"contributor", "contributor", "draft", true},
			{"contributor", "contributor", "pending", true},
			{"contributor", "contributor", "publish", false},
			{"contributor", "contributor", "private", false},
			{"contributor", "contributor", "future", false},
			{"contributor", "author", "draft", false},
			{"author", "author", "draft", true},
			{"author", "author", "publish", true},
			{"author", "author", "private", true},
			{"author", "author", "future", true},
			{"author", "contributor", "draft", false},
			{"author", "admin", "publish", false},
			{"editor", "admin", "publish", true},
			{"editor", "contributor", "private", true},
			{"subscriber", "subscriber", "draft", false},
			{"", "admin", "publish", false},
		} {
			t.Run(fmt.Sprintf("%s, %s of %s", c.as, c.status, c.owner), func(t *testing.T) {
				id := owned(c.owner, c.status)
				refused := 403
				if c.as == "" {
					refused = 401
				}
				update, trash := e.Do(t, patch(c.as, eventPath(id), object{"excerpt": "x"})), e.Do(t, remove(c.as, eventPath(id)))
				if c.may {
					if update.Status != 200 || trash.Status != 200 {
						t.Errorf("update %d, delete %d", update.Status, trash.Status)
					}
					e.isStored(t, id, object{"status": "trash", "excerpt": "<p>x</p>"})
					return
				}
				if update.Status != refused || trash.Status != refused {
					t.Errorf("update %d, delete %d, want %d", update.Status, trash.Status, refused)
				}
				e.isStored(t, id, object{"status": c.status, "excerpt": ""})
			})
		}
		for _, c := range []struct {
			as, owner, status string
			status2           int
			want              string
		}{
			{"contributor", "contributor", "draft", 200, "pending"},
			{"contributor", "contributor", "publish", 403, "trash"},
			{"contributor", "contributor", "private", 403, "trash"},
			{"contributor", "author", "draft", 403, "trash"},
			{"author", "author", "publish", 200, "publish"},
			{"author", "contributor", "draft", 403, "trash"},
			{"editor", "author", "private", 200, "publish"},
		} {
			t.Run(fmt.Sprintf("%s restores a %s of %s", c.as, c.status, c.owner), func(t *testing.T) {
				id := owned(c.owner, c.status)
				e.mustSucceed(t, remove("admin", eventPath(id)))
				if r := e.Do(t, patch(c.as, eventPath(id), object{"status": "publish"})); r.Status != c.status2 {
					t.Errorf("got %d, want %d: %s", r.Status, c.status2, r.Body)
				}
				e.isStored(t, id, object{"status": c.want})
			})
		}
		mine, draft := owned("author", "publish"), owned("contributor", "draft")
		bySlug := e.mustSucceed(t, apitest.Request{As: "admin", Path: eventPath(mine)}).Get(t, "slug").(string)
		e.Run(t, []apitest.Case{
			{Name: "a contributor cannot publish", Request: patch("contributor", eventPath(draft), object{"status": "private"}), Status: 200, Check: e.keeps(object{"status": "pending"})},
			{Name: "a contributor throws away", Request: patch("contributor", eventPath(draft), object{"status": "trash"}), Status: 200, Check: e.keeps(object{"status": "trash"})},
			{Name: "rights hold by slug", Request: patch("contributor", "/events/by-slug/"+bySlug, object{"excerpt": "x"}), Status: 403, Code: "rest_forbidden"},
			{Name: "rights hold for a delete by slug", Request: remove("contributor", "/events/by-slug/"+bySlug), Status: 403, Code: "rest_forbidden"},
			{Name: "an author cannot give away", Request: patch("author", eventPath(mine), object{"author": 1}), Status: 403, Code: "rest_forbidden"},
			{Name: "the author sent back", Request: patch("author", eventPath(mine), object{"author": e.user["author"]}), Status: 200, Check: e.keeps(object{"author": fmt.Sprint(e.user["author"])})},
			{Name: "an editor gives away", Request: patch("editor", eventPath(mine), object{"author": 1}), Status: 200, Check: e.keeps(object{"author": "1"})},
			{Name: "which takes the right", Request: patch("author", eventPath(mine), object{"excerpt": "x"}), Status: 403, Code: "rest_forbidden"},
		})
	})
}

func TestTrashedEvents(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		gone := object{"status": "trash", "slug": "choir__trashed", "url": apitest.BaseURL + "/?p=3", "categories.0.id": 2}
		noTitle := e.mustCreate(t, "contributor", object{"title": "Draft"})
		e.Run(t, []apitest.Case{
			{Name: "deleted by slug", Request: remove("admin", "/events/by-slug/choir"), Status: 200, Check: e.keeps(gone)},
			{Name: "cannot be read", Request: apitest.Request{As: "admin", Path: "/events/{choir}"}, Status: 403, Code: "event-no-longer-available"},
			{Name: "nor by the slug in the trash", Request: get("/events/by-slug/choir__trashed"), Status: 403, Code: "event-no-longer-available"},
			{Name: "its category counts it no more", Request: get("/categories/{music}"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"count": 6})
			}},
			{Name: "again", Request: remove("admin", "/events/{choir}?force=true"), Status: 410, Code: "event-is-in-trash"},
			{Name: "again, anonymous", Request: remove("", "/events/{choir}"), Status: 401, Code: "rest_forbidden"},
			{Name: "again, author", Request: remove("author", "/events/{choir}"), Status: 403, Code: "rest_forbidden"},
			{Name: "again by the old slug", Request: remove("admin", "/events/by-slug/choir"), Status: 400, Check: namesExactly("slug")},
			{Name: "again by the new slug", Request: remove("admin", "/events/by-slug/choir__trashed"), Status: 410, Code: "event-is-in-trash"},
			{
				Name: "an update leaves it there", Request: patch("admin", "/events/{choir}", object{"title": "Chorus"}), Status: 200,
				Check: e.keeps(object{"status": "trash", "slug": "choir__trashed", "title": "Chorus"}),
			},
			{Name: "trash again", Request: patch("admin", "/events/{choir}", object{"status": "trash"}), Status: 200, Check: e.keeps(object{"status": "trash", "slug": "choir__trashed"})},
			{Name: "its slug is free", Request: post("admin", "/events", concert(object{"title": "Choir"})), Status: 201, Check: e.keeps(object{"slug": "choir"})},
			{
				Name: "restored, its slug taken", Request: patch("admin", "/events/{choir}", object{"status": "publish"}), Status: 200,
				Check: e.keeps(object{"status": "publish", "slug": "choir-2", "title": "Chorus", "url": apitest.BaseURL + "/event/choir-2/"}),
			},
			{Name: "counted again", Request: get("/categories/{music}"), Status: 200, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"count": 7}) }},
			{Name: "trashed by status", Request: patch("admin", "/events/{eveningSong}", object{"status": "trash"}), Status: 200, Check: e.keeps(object{"slug": "evening-song__trashed"})},
			{
				Name: "restored with its slug, as a draft", Request: patch("admin", "/events/by-slug/evening-song__trashed", object{"status": "draft"}), Status: 200,
				Check: e.keeps(object{"status": "draft", "slug": "evening-song"}),
			},
			{Name: "no slug, none in the trash", Request: remove("contributor", eventPath(noTitle)), Status: 200, Check: e.keeps(object{"status": "trash", "slug": ""})},
			{Name: "restored without", Request: patch("contributor", eventPath(noTitle), object{"status": "draft"}), Status: 200, Check: e.keeps(object{"status": "draft", "slug": ""})},
			{Name: "that of the example, restored", Request: patch("admin", "/events/{trashedEvent}", object{"status": "publish"}), Status: 200, Check: e.keeps(object{"slug": "to-delete"})},
			{Name: "links outlive the trash", Request: remove("admin", "/events/{jazzNight}"), Status: 200, Check: e.keeps(object{"venue.id": 10, "organizer.1.id": 13, "image.id": 14})},
		})
		e.mustSucceed(t, remove("admin", "/venues/{grandHall}"))
		e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"status": "publish"}))
		e.isStored(t, 15, object{"venue": []any{}, "organizer.0.id": 12})
	})
}

func TestPasswordOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.mustCreate(t, "author", object{
			"password": "  Zażółć & co ", "description": "Handshake", "cost": 5, "venue": grandHall, "categories": []int{music}, "featured": true, "image": poster,
		})
		at, list := eventPath(id), fmt.Sprintf("/events?include=%d", id)
		open, shut := object{"description": "<p>Handshake</p>", "venue.id": 10}, "event-password-protected"
		opens := func(t *testing.T, r apitest.Response) { hasValues(t, r, open) }
		const right = "?password=%20%20Za%C5%BC%C3%B3%C5%82%C4%87%20%26%20co%20"
		create := func(password any) apitest.Request {
			return post("author", "/events", concert(object{"password": password}))
		}
		free := func(t *testing.T, r apitest.Response) {
			hasValues(t, e.mustSucceed(t, get(eventPath(int64(r.Get(t, "id").(float64))))), object{"title": "Concert"})
		}
		e.Run(t, []apitest.Case{
			{Name: "refused without", Request: get(at), Status: 403, Code: shut},
			{Name: "refused to who may not edit", Request: apitest.Request{As: "contributor", Path: at}, Status: 403, Code: shut},
			{Name: "refused with a trimmed one", Request: get(at + "?password=Za%C5%BC%C3%B3%C5%82%C4%87%20%26%20co"), Status: 403, Code: shut},
			{Name: "opened exactly", Request: get(at + right), Status: 200, Check: opens},
			{Name: "opened by slug", Request: get("/events/by-slug/concert" + right), Status: 200, Check: opens},
			{Name: "opened to its author", Request: apitest.Request{As: "author", Path: at}, Status: 200, Check: opens},
			{Name: "opened to an editor", Request: apitest.Request{As: "editor", Path: at}, Status: 200, Check: opens},
			{Name: "redacted in lists", Request: get(list), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{
					"total": 1, "events.0.title": "Concert", "events.0.description": "", "events.0.cost": "", "events.0.venue": []any{},
					"events.0.categories": []any{}, "events.0.featured": nil, "events.0.image": false, "events.0.website": "",
				})
			}},
			{Name: "open in lists to its author", Request: apitest.Request{As: "author", Path: list}, Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"events.0.description": "<p>Handshake</p>"})
			}},
			{Name: "updated without it", Request: patch("author", at, object{"excerpt": "x"}), Status: 200, Check: opens},
			{Name: "still protected", Request: get(at), Status: 403, Code: shut},
			{Name: "not updated with it alone", Request: apitest.Request{Method: "PATCH", Path: at + right, JSON: object{"excerpt": "x"}}, Status: 401, Code: "rest_forbidden"},
			{Name: "query changes nothing", Request: patch("author", at+"?password=other", object{}), Status: 200, Check: opens},
			{Name: "the old one opens", Request: get(at + right), Status: 200, Check: opens},
			{Name: "changed by form", Request: apitest.Request{Method: "POST", As: "author", Path: at, Form: "password=new"}, Status: 200, Check: opens},
			{Name: "the old one opens no more", Request: get(at + right), Status: 403, Code: shut},
			{Name: "the new one does", Request: get(at + "?password=new"), Status: 200, Check: opens},
			{Name: "too long", Request: patch("author", at, object{"password": string(make([]byte, 256))}), Status: 400, Check: namesExactly("password")},
			{Name: "number", Request: patch("author", at, object{"password": 5}), Status: 400, Check: namesExactly("password rest_invalid_type")},
			{Name: "cleared", Request: patch("author", at, object{"password": ""}), Status: 200, Check: opens},
			{Name: "open to all", Request: get(at), Status: 200, Check: opens},
			{Name: "set by slug", Request: patch("author", "/events/by-slug/concert", object{"password": "again"}), Status: 200, Check: opens},
			{Name: "shut", Request: get(at), Status: 403, Code: shut},
			{Name: "cleared by null", Request: patch("author", at, object{"password": nil}), Status: 200, Check: opens},
			{Name: "open again", Request: get(at), Status: 200, Check: opens},
			{Name: "created with an empty one", Request: create(""), Status: 201, Check: free},
			{Name: "created with null", Request: create(nil), Status: 201, Check: free},
			{Name: "longest", Request: create(fmt.Sprintf("%0255d", 1)), Status: 201},
			{Name: "one longer", Request: create(fmt.Sprintf("%0256d", 1)), Status: 400, Check: namesExactly("password rest_out_of_bounds")},
			{Name: "trash comes before the password", Request: remove("admin", "/events/{membersOnly}"), Status: 200},
			{Name: "for who reads it", Request: get("/events/{membersOnly}"), Status: 403, Code: "event-no-longer-available"},
		})
	})
}
