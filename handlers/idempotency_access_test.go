package handlers_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// replayCase describes a change of a record between a POST with an idempotency key and its repetition.
type replayCase struct {
	name   string
	role   calendar.Role // of the author
	send   object        // more of the first request
	change object        // by an administrator; nil means none
	trash  bool
	demote bool
	reads  bool
	events string // code for events, where it is not that of the others
}

// replayedRecord is a record that a POST with an idempotency key created.
type replayedRecord struct {
	request apitest.Request
	first   apitest.Response
	login   string // its author
	path    string
}

// create sends the first POST as a new author. number makes the names of the author and the record unique.
func (c replayCase) create(t *testing.T, k *keyTest, collection string, number int) (r replayedRecord, author int64) {
	t.Helper()
	bodies := map[string]object{
		"/events": concert(nil), "/venues": {"venue": fmt.Sprint("Hall", number)}, "/organizers": {"organizer": fmt.Sprint("Choir", number)},
	}
	r.login = fmt.Sprint("someone", number)
	author = k.SignIn(t, r.login, c.role)
	sent := bodies[collection]
	maps.Copy(sent, c.send)
	r.request = withKey(post(r.login, collection, sent), `"one"`)
	r.first = k.Do(t, r.request)
	equal(t, "status", 201, r.first.Status)
	r.path = fmt.Sprint(collection, "/", r.first.Get(t, "id"))
	return r, author
}

// applyChanges makes the changes of the case: it updates or trashes the record, or demotes its author. number is
// the one passed to create.
func (c replayCase) applyChanges(t *testing.T, k *keyTest, r replayedRecord, author int64, number int) {
	t.Helper()
	other := k.SignIn(t, r.login+"-other", calendar.Author)
	if c.change != nil {
		change := maps.Clone(c.change)
		if _, ok := change["author"]; ok {
			change["author"] = other
		}
		equal(t, "changed", 200, k.Do(t, post("admin", r.path, change)).Status)
	}
	if c.trash {
		equal(t, "trashed", 200, k.Do(t, apitest.Request{Method: "DELETE", Path: r.path, As: "admin"}).Status)
	}
	if c.demote {
		k.Store.Ent.User.UpdateOneID(author).SetRole(calendar.Subscriber).ExecX(t.Context())
		k.after(time.Duration(number) * time.Minute) // roles are believed for some seconds
	}
}

// TestReplaysAnswerWhoMayReadTheRecord sends a POST with a key, changes the readers of the record, and repeats the
// POST. The caller gets the first reply again, or the error that GET of the record would return.
func TestReplaysAnswerWhoMayReadTheRecord(t *testing.T) {
	t.Parallel()
	eachKeyTest(t, func(t *testing.T, k *keyTest) {
		refused := map[string]string{
			"/events": "event-not-accessible", "/venues": "venue-not-accessible", "/organizers": "organizer-not-accessible",
		}
		people := 0
		for _, c := range []replayCase{
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
			for collection, code := range refused {
				reads := c.reads
				if collection == "/events" && c.events != "" {
					code, reads = c.events, false
				}
				for suffix, isKept := range map[string]bool{"": true, ", made anew": false} {
					t.Run(fmt.Sprint(c.name, collection, suffix), func(t *testing.T) {
						people++
						record, author := c.create(t, k, collection, people)
						c.applyChanges(t, k, record, author, people)
						if !isKept {
							k.keys().Update().SetStatus(0).ClearHeader().ClearBody().ExecX(t.Context())
						}
						if reads {
							isReplayed(t, k, record)
						} else {
							isRefused(t, k, record, code)
						}
					})
				}
			}
		}
	})
}

// isReplayed repeats the POST, and checks that the reply is a replay of the first.
func isReplayed(t *testing.T, k *keyTest, r replayedRecord) {
	t.Helper()
	again := k.Do(t, r.request)
	equal(t, "status", 201, again.Status)
	equal(t, "replayed", "true", again.Header.Get("Idempotency-Replayed"))
	equal(t, "id", fmt.Sprint(r.first.Get(t, "id")), fmt.Sprint(again.Get(t, "id")))
}

// isRefused repeats the POST. It checks that the error equals that of a read, and that nothing is written a second
// time.
func isRefused(t *testing.T, k *keyTest, r replayedRecord, code string) {
	t.Helper()
	again := k.Do(t, r.request)
	equal(t, "status", 403, again.Status)
	equal(t, "code", code, fmt.Sprint(again.Get(t, "code")))
	read := k.Do(t, apitest.Request{Path: r.path, As: r.login})
	equal(t, "code of GET", fmt.Sprint(read.Get(t, "code")), code)
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
