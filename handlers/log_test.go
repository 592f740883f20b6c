package handlers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// changesAfter returns the change log after a revision, one line for each change: "update event 15 by 1: title
// cost". Lines and fields are sorted. It fails if revisions have a gap.
func (e *eventTest) changesAfter(t *testing.T, revision int64) (lines []string, newest int64) {
	t.Helper()
	rows, err := e.Store.Ent.Change.Query().Where(change.IDGT(revision)).Order(ent.Asc(change.FieldID)).All(t.Context())
	must.Succeed(t, err)
	newest = revision
	for _, row := range rows {
		if newest++; row.ID != newest {
			t.Errorf("revision %d after %d", row.ID, newest-1)
		}
		if !row.At.Equal(apitest.Now) {
			t.Errorf("revision %d was at %s", row.ID, row.At)
		}
		user := "nobody"
		if row.UserID != nil {
			user = fmt.Sprint(*row.UserID)
		}
		if row.RecordID == 0 {
			continue // the fixture made all of a kind findable
		}
		slices.Sort(row.Fields)
		fields := strings.Join(row.Fields, " ")
		if row.Fields == nil {
			fields = "all"
		}
		lines = append(lines, fmt.Sprintf("%s %s %d by %s: %s", row.Action, row.Kind, row.RecordID, user, fields))
	}
	slices.Sort(lines)
	return lines, newest
}

func TestEveryWriteIsLoggedOnce(t *testing.T) {
	source := pictures(t)
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		author := e.user["author"]
		by := func(user int64, lines ...string) []string {
			var out []string
			for _, line := range lines {
				what, fields, _ := strings.Cut(line, ": ")
				out = append(out, fmt.Sprintf("%s by %d: %s", what, user, fields))
			}
			slices.Sort(out)
			return out
		}
		byAuthor := func(lines ...string) []string { return by(author, lines...) }
		byAdmin := func(lines ...string) []string { return by(1, lines...) }
		revision := int64(0)
		step := func(name string, request apitest.Request, status int, want []string) {
			t.Helper()
			r := e.Do(t, request)
			if r.Status != status {
				t.Fatalf("%s: %d %s", name, r.Status, r.Body)
			}
			got, newest := e.changesAfter(t, revision)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			revision = newest
		}
		// Records get the ids from 25 on, terms from 7 on.
		step("event with all that is new", post("author", "/events", concert(object{
			"categories": []string{"First", "second"}, "tags": "third",
			"venue": object{"venue": "Hall"}, "organizer": []any{object{"organizer": "Club"}, 12},
		})), 201, byAuthor("create category 7: all", "create category 8: all", "create tag 9: all",
			"create venue 25: all", "create organizer 26: all", "create event 27: all"))
		step("nothing new", patch("author", "/events/27", object{}), 200, byAuthor("update event 27: "))
		step("the same again", patch("author", "/events/27", object{"title": "Concert", "venue": 25, "categories": []int{8, 7}}), 200,
			byAuthor("update event 27: "))
		step("some fields", patch("admin", "/events/27", object{
			"title": "Recital", "excerpt": "x", "featured": true, "cost": "5", "image": poster, "password": "p", "timezone": "Europe/Warsaw",
		}), 200, byAdmin("update event 27: cost excerpt featured image password timezone title"))
		step("canceled", patch("author", "/events/27", object{
			"event_status": "canceled", "event_status_reason": "Ill", "attendance": "mixed", "virtual_url": "https://meet.example/",
		}), 200, byAuthor("update event 27: attendance event_status event_status_reason virtual_url"))
		step("as before", patch("author", "/events/27", object{"event_status": "canceled", "attendance": "mixed"}), 200, byAuthor("update event 27: "))
		step("moved", patch("author", "/events/27", object{"start_date": "2026-12-07 18:00"}), 200, byAuthor("update event 27: end_date start_date"))
		step("links", patch("author", "/events/27", object{"organizer": nil, "categories": []string{"Fourth"}, "tags": ""}), 200,
			byAuthor("create category 10: all", "update event 27: categories organizer tags"))
		step("in another language", patch("author", "/events/27?ml_language=pl", object{"title": "Koncert", "slug": "koncert"}), 200,
			byAuthor("update event 27: slug:pl title:pl"))
		step("another author", patch("admin", "/events/27", object{"author": 1, "date": "2026-01-01"}), 200, byAdmin("update event 27: author date"))
		step("to the trash", remove("admin", "/events/27"), 200, byAdmin("trash event 27: slug status"))
		step("changed there", patch("admin", "/events/27", object{"sticky": true}), 200, byAdmin("update event 27: sticky"))
		step("restored", patch("admin", "/events/27", object{"status": "draft", "sticky": false}), 200, byAdmin("restore event 27: slug status sticky"))
		step("to the trash by status", patch("admin", "/events/27", object{"status": "trash"}), 200, byAdmin("trash event 27: slug status"))

		step("venue of an event to the trash", remove("author", "/venues/25"), 200,
			byAuthor("trash venue 25: slug status", "update event 27: venue"))
		step("venue", post("author", "/venues", object{"venue": "Barn"}), 201, byAuthor("create venue 28: all"))
		step("duplicate without more", post("author", "/venues", object{"venue": "barn"}), 201, nil)
		step("duplicate of another's", post("author", "/venues", object{"venue": "grand hall", "phone": "1"}), 201, nil)
		step("duplicate with more", post("author", "/venues", object{"venue": "barn", "phone": "1"}), 201, byAuthor("update venue 28: phone"))
		step("venue changed", patch("author", "/venues/28", object{"city": "Łódź", "geo_lat": 1, "geo_lng": 2, "show_map": false}), 200,
			byAuthor("update venue 28: city geo_lat geo_lng show_map"))
		step("venue to the trash", remove("author", "/venues/28"), 200, byAuthor("trash venue 28: slug status"))
		step("venue restored", patch("author", "/venues/28", object{"status": "publish"}), 200, byAuthor("restore venue 28: slug status"))
		step("organizer", post("author", "/organizers", object{"organizer": "Band"}), 201, byAuthor("create organizer 29: all"))
		step("organizer changed", patch("author", "/organizers/29", object{"email": "a@b", "organizer": "The Band"}), 200, byAuthor("update organizer 29: email organizer"))
		step("organizer to the trash", remove("author", "/organizers/29"), 200, byAuthor("trash organizer 29: slug status"))

		step("category", post("author", "/categories", object{"name": "Child", "parent": 3}), 201, byAuthor("create category 11: all"))
		step("category changed", patch("author", "/categories/11", object{"name": "Kid", "description": "x", "slug": "kid"}), 200,
			byAuthor("update category 11: description name slug"))
		step("category deleted, child moves up", remove("author", "/categories/{jazz}"), 200, byAuthor("delete category 3: all", "update category 11: parent", "update event 15: categories", "update event 19: categories"))
		step("tag deleted", remove("author", "/tags/{freeEntry}"), 200, byAuthor("delete tag 4: all", "update event 15: tags", "update event 6: tags"))

		step("image", upload("author", "a.png", picture(t, 2, 2)), 201, byAuthor("create image 30: all"))
		step("image by address", post("author", "/organizers", object{"organizer": "Seen", "image": source + "/ok.png"}), 201,
			byAuthor("create image 31: all", "create organizer 32: all"))
		step("image deleted", remove("admin", "/images/{poster}"), 200, byAdmin("delete image 14: all", "update event 15: image", "update event 27: image"))

		for name, r := range map[string]apitest.Request{
			"invalid":          post("author", "/events", object{"title": ""}),
			"forbidden":        patch("contributor", "/events/{jazzNight}", object{"title": "X"}),
			"anonymous":        remove("", "/events/{jazzNight}"),
			"in the trash":     remove("admin", "/events/27"),
			"unknown":          patch("admin", "/events/999999", object{}),
			"refused late":     patch("admin", "/events/{jazzNight}", object{"title": "X", "end_date": "2020-01-01", "tags": "Lost"}),
			"existing term":    post("author", "/categories", object{"name": "music"}),
			"slug of another":  patch("author", "/categories/{music}", object{"slug": "sport"}),
			"half coordinates": post("author", "/venues", object{"venue": "X", "geo_lat": 1}),
		} {
			if r := e.Do(t, r); r.Status < 400 {
				t.Errorf("%s: %d", name, r.Status)
			}
			if got, _ := e.changesAfter(t, revision); got != nil {
				t.Errorf("%s is logged: %q", name, got)
			}
		}

		id := e.mustCreate(t, "admin", object{"date": "2026-11-22"})
		_, revision = e.changesAfter(t, revision)
		if _, err := edit.PublishDue(t.Context(), e.Store.Ent, apitest.Now.AddDate(0, 0, 2)); err != nil {
			t.Fatal(err)
		}
		rows, err := e.Store.Ent.Change.Query().Where(change.IDGT(revision)).All(t.Context())
		must.Succeed(t, err)
		if len(rows) != 1 || rows[0].RecordID != id || rows[0].Action != calendar.Published || rows[0].UserID != nil {
			t.Errorf("published by the clock: %v", rows)
		}
	})
}

// TestChangeLogGrowsInTheOrderOfCommits reads the change log while requests write. No change may appear before one
// that was already read, and each named record must exist.
func TestChangeLogGrowsInTheOrderOfCommits(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		db := e.Store.Ent
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		watched := make(chan error, 1)
		go func() { watched <- watchLog(ctx, db) }()
		const each = 4
		_, before := e.changesAfter(t, 0)
		for i := range each {
			replies := sendTogether(t, e.API, func(n int) apitest.Request {
				if n == 0 {
					return patch("admin", "/events/{jazzNight}", object{"title": fmt.Sprint("Round ", i)})
				}
				return post("author", "/events", concert(object{
					"title": fmt.Sprint(i, " ", n), "tags": []string{fmt.Sprint("tag ", i), fmt.Sprint("own ", i, n)},
				}))
			})
			equal(t, "replies", map[string]int{"200": 1, "201": racers - 1}, statuses(t, replies))
		}
		stop()
		if err := <-watched; err != nil {
			t.Error(err)
		}
		// One per event, one per tag of its own, one for the tag they share.
		lines, newest := e.changesAfter(t, before)
		if want := each * (1 + 2*(racers-1) + 1); len(lines) != want || newest != before+int64(want) {
			t.Errorf("%d changes, want %d", len(lines), want)
		}
	})
}

// watchLog reads the change log repeatedly until ctx ends. It returns an error if the log is inconsistent.
func watchLog(ctx context.Context, db *ent.Client) error {
	last := int64(0)
	for ctx.Err() == nil {
		rows, err := db.Change.Query().Order(ent.Asc(change.FieldID)).All(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		for i, row := range rows {
			if row.ID != int64(i+1) {
				return fmt.Errorf("revision %d is the %dth that can be read", row.ID, i+1)
			}
		}
		if n := int64(len(rows)); n < last {
			return fmt.Errorf("%d revisions after %d", n, last)
		}
		for _, row := range rows[last:] {
			if row.Kind != calendar.Event || row.RecordID == 0 {
				continue
			}
			there, err := db.Event.Query().Where(event.ID(row.RecordID)).Exist(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("revision %d speaks of event %d, which cannot be read", row.ID, row.RecordID)
			}
		}
		last = int64(len(rows))
		time.Sleep(time.Millisecond)
	}
	return nil
}
