package handlers_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestReplaysAnswerWhoMayReadTheRecord sends a request with a key, changes the readers of the record, and repeats the
// request. The caller gets the first reply, or the error that GET of the record would return.
func TestReplaysAnswerWhoMayReadTheRecord(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		bodies := map[string]object{
			"/events": concert(nil), "/venues": {"venue": "Hall"}, "/organizers": {"organizer": "Choir"},
		}
		refused := map[string]string{
			"/events": "event-not-accessible", "/venues": "venue-not-accessible", "/organizers": "organizer-not-accessible",
		}
		people := 0
		for _, c := range []struct {
			name   string
			role   calendar.Role // of the author
			send   object        // more of the first request
			change object        // by an administrator; nil means none
			trash  bool
			demote bool
			reads  bool
			events string // code for events, where it is not that of the others
		}{
			{name: "nothing", role: calendar.Author, reads: true},
			{name: "a draft", role: calendar.Author, send: object{"status": "draft"}, reads: true},
			{name: "private, of another", role: calendar.Author, change: object{"status": "private", "author": 0}},
			{name: "private, their own", role: calendar.Author, change: object{"status": "private"}, reads: true},
			{name: "a draft of another", role: calendar.Contributor, change: object{"author": 0}},
			{name: "published, of another", role: calendar.Author, change: object{"author": 0}, reads: true},
			{name: "trash", role: calendar.Author, trash: true, reads: true, events: "event-no-longer-available"},
			{name: "trash, of another", role: calendar.Author, change: object{"author": 0}, trash: true, events: "event-no-longer-available"},
			{name: "a reader's draft", role: calendar.Author, send: object{"status": "draft"}, demote: true},
			{name: "a reader's private one", role: calendar.Editor, send: object{"status": "private"}, demote: true},
			{name: "a reader's published one", role: calendar.Author, demote: true, reads: true},
			{name: "an editor who reads no longer", role: calendar.Editor, change: object{"status": "private", "author": 0}, demote: true},
		} {
			for collection, body := range bodies {
				for _, kept := range []bool{true, false} {
					t.Run(fmt.Sprint(c.name, collection, map[bool]string{true: "", false: ", made anew"}[kept]), func(t *testing.T) {
						people++
						login := fmt.Sprint("someone", people)
						id := k.SignIn(t, login, c.role)
						other := k.SignIn(t, login+"-other", calendar.Author)
						sent := maps.Clone(body)
						maps.Copy(sent, c.send)
						for _, name := range []string{"venue", "organizer"} {
							if text, ok := sent[name].(string); ok {
								sent[name] = fmt.Sprint(text, people) // a second of the same name would be the first
							}
						}
						request := withKey(post(login, collection, sent), `"one"`)
						first := k.Do(t, request)
						equal(t, "status", 201, first.Status)
						record := fmt.Sprint(collection, "/", first.Get(t, "id"))
						if c.change != nil {
							change := maps.Clone(c.change)
							if _, ok := change["author"]; ok {
								change["author"] = other
							}
							equal(t, "changed", 200, k.Do(t, post("admin", record, change)).Status)
						}
						if c.trash {
							equal(t, "trashed", 200, k.Do(t, apitest.Request{Method: "DELETE", Path: record, As: "admin"}).Status)
						}
						if c.demote {
							k.Store.Ent.User.UpdateOneID(id).SetRole(calendar.Subscriber).ExecX(t.Context())
							k.after(time.Duration(people) * time.Minute) // roles are believed for some seconds
						}
						if !kept {
							k.keys().Update().SetStatus(0).ClearHeader().ClearBody().ExecX(t.Context())
						}
						code := refused[collection]
						if collection == "/events" && c.events != "" {
							code = c.events
						}
						again := k.Do(t, request)
						if c.reads && code != c.events {
							equal(t, "status", 201, again.Status)
							equal(t, "replayed", "true", again.Header.Get("Idempotency-Replayed"))
							equal(t, "id", fmt.Sprint(first.Get(t, "id")), fmt.Sprint(again.Get(t, "id")))
							return
						}
						equal(t, "status", 403, again.Status)
						equal(t, "code", code, fmt.Sprint(again.Get(t, "code")))
						// The error equals that of a read, and nothing is written a second time.
						read := k.Do(t, apitest.Request{Path: record, As: login})
						equal(t, "code of GET", fmt.Sprint(read.Get(t, "code")), code)
					})
				}
			}
		}
	})
}

// TestReplaysShowNoLinkedRecordThatIsHidden has an editor create an event with a private venue, and lose their role.
func TestReplaysShowNoLinkedRecordThatIsHidden(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		id := k.SignIn(t, "editor", calendar.Editor)
		venue := k.Do(t, post("admin", "/venues", object{"venue": "Bunker", "status": "private"})).Get(t, "id")
		request := withKey(post("editor", "/events", concert(object{"venue": venue})), `"one"`)
		first := k.Do(t, request)
		showsMember(`"Bunker"`, "venue", "venue")(t, first)
		k.Store.Ent.User.UpdateOneID(id).SetRole(calendar.Subscriber).ExecX(t.Context())
		k.after(time.Minute)
		again := k.Do(t, request)
		equal(t, "status", 201, again.Status)
		equal(t, "replayed", "true", again.Header.Get("Idempotency-Replayed"))
		showsMember(`[]`, "venue")(t, again)
	})
}
