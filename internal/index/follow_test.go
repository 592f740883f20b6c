package index_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

type object = map[string]any

// follower is a test with a service and an index that follows the writes of the service.
type follower struct {
	*testing.T
	api   *apitest.API
	index *index.Index
}

func eachFollower(t *testing.T, test func(f *follower)) {
	t.Helper()
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		test(&follower{t, api, index.New(api.Store.Ent, []*query.Column{&sticky, &attendance}, slog.New(slog.DiscardHandler))})
	}, apitest.Unindexed)
}

func (f *follower) do(method, path string, body any) apitest.Response {
	f.Helper()
	r := f.api.Do(f.T, apitest.Request{Method: method, As: "admin", Path: path, JSON: body})
	if r.Status >= 300 {
		f.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
	}
	return r
}

// sticky is a stored flag that no filter of the service asks for.
var sticky = query.Flag("sticky", event.FieldSticky, event.Sticky, "")

// attendance is a stored word that no filter of the service asks for.
var attendance = query.Word("attendance", event.FieldAttendance, event.AttendanceIn, "")

// publishedQuery returns a query for all published events.
func publishedQuery() *query.Events {
	return &query.Events{Now: apitest.Now, Visible: query.Visible{Anyone: []calendar.Status{calendar.Publish}}}
}

func searchQuery(t *testing.T, text string) *query.Events {
	t.Helper()
	q, ok := search.ParseEvents(text)
	if !ok {
		t.Fatal(text)
	}
	f := publishedQuery()
	f.Search, f.Language = &q, calendar.English
	return f
}

func (f *follower) find(filter *query.Events) []int64 {
	f.Helper()
	found, err := f.index.FindEvents(f.Context(), filter, 0, 1000)
	must.Succeed(f, err)
	if found.Total != len(found.IDs) {
		f.Errorf("total %d of %d", found.Total, len(found.IDs))
	}
	return found.IDs
}

func (f *follower) finds(what string, filter *query.Events, id int64, want bool) {
	f.Helper()
	if got := slices.Contains(f.find(filter), id); got != want {
		f.Errorf("%s: found is %t, want %t", what, got, want)
	}
}

func TestFindSeesEveryWrite(t *testing.T) {
	eachFollower(t, func(f *follower) {
		if _, err := f.index.FindEvents(f.Context(), publishedQuery(), 0, 10); !errors.Is(err, index.ErrNotReady) {
			f.Errorf("before it is loaded: %v", err)
		}
		if loaded := f.index.LoadedAt(); !loaded.IsZero() {
			f.Errorf("before it is loaded: loaded at %s", loaded)
		}
		must.Succeed(f, f.index.Load(f.Context()))
		r := f.do("POST", "/events", object{
			"title": "Moonlight walk", "start_date": "2027-03-01 20:00:00", "end_date": "2027-03-01 22:00:00",
			"tags": []string{"night"}, "venue": object{"venue": "Old gate"},
		})
		id := int64(r.Get(f.T, "id").(float64))
		path := fmt.Sprint("/events/", id)
		tag := int64(r.Get(f.T, "tags", 0, "id").(float64))
		venue := int64(r.Get(f.T, "venue", "id").(float64))
		tagged, located := publishedQuery(), publishedQuery()
		tags := query.Terms("tags", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Tag, "")
		tagged.Conditions, located.Located = []query.Condition{{Column: &tags, IDs: []int64{tag}}}, new(true)
		near := publishedQuery()
		near.Near = &query.Circle{Latitude: 50.06, Longitude: 19.94, Kilometres: 5}
		late := publishedQuery()
		late.Window.StartMin = new(time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC))
		moon, phrase := searchQuery(f.T, "moonl"), searchQuery(f.T, `"light walk"`)

		f.finds("created", publishedQuery(), id, true)
		f.finds("created, by tag", tagged, id, true)
		f.finds("created, by a part of a word", moon, id, true)
		f.finds("created, by a phrase", phrase, id, true)
		f.finds("created, located", located, id, false)
		f.finds("created, late", late, id, false)

		f.do("PUT", fmt.Sprint("/venues/", venue), object{"geo_lat": 50.06, "geo_lng": 19.94})
		f.finds("the venue has a position", located, id, true)
		f.finds("the venue is near", near, id, true)
		f.do("PUT", fmt.Sprint("/venues/", venue), object{"geo_lat": 40, "geo_lng": 19.94})
		f.finds("the venue has moved", near, id, false)

		f.do("PUT", path, object{"title": "Sunrise walk", "start_date": "2027-07-01 04:00:00", "end_date": "2027-07-01 06:00:00"})
		f.finds("renamed, by the old word", moon, id, false)
		f.finds("renamed, by the old phrase", phrase, id, false)
		f.finds("moved, late", late, id, true)
		f.finds("renamed, by the new phrase", searchQuery(f.T, `"sunrise w"`), id, true)

		f.do("DELETE", fmt.Sprint("/tags/", tag), nil)
		f.finds("the tag is gone", tagged, id, false)
		f.do("PUT", path, object{"status": "draft"})
		f.finds("a draft", publishedQuery(), id, false)
		f.do("PUT", path, object{"status": "publish"})
		f.finds("published", publishedQuery(), id, true)
		f.do("DELETE", path, nil)
		f.finds("in the trash", publishedQuery(), id, false)
		if f.index.LoadedAt().IsZero() {
			f.Error("loaded, and without the time")
		}
		ready, events, revision := f.index.Stats()
		if n := f.api.Store.Ent.Event.Query().CountX(f.Context()); !ready || events != n || revision == 0 {
			f.Errorf("%d events of %d at revision %d, ready is %t", events, n, revision, ready)
		}
	})
}

func TestColumnsAreAnsweredOrRefused(t *testing.T) {
	eachFollower(t, func(f *follower) {
		must.Succeed(f, f.index.Load(f.Context()))
		body := object{"title": "Fair", "start_date": "2027-03-01 20:00:00", "end_date": "2027-03-01 22:00:00", "sticky": true}
		fair := int64(f.do("POST", "/events", body).Get(f.T, "id").(float64))
		asked := publishedQuery()
		asked.Conditions = []query.Condition{{Column: &sticky, Flag: true}}
		f.finds("sticky", asked, fair, true)
		f.do("PATCH", fmt.Sprint("/events/", fair), object{"sticky": false})
		f.finds("not sticky any more", asked, fair, false)
		asked.Conditions[0].Flag = false
		f.finds("not sticky", asked, fair, true)

		asked.Conditions = []query.Condition{{Column: &attendance, Words: []string{"online", "mixed"}}}
		f.finds("neither online nor mixed", asked, fair, false)
		f.do("PATCH", fmt.Sprint("/events/", fair), object{"attendance": "mixed"})
		f.finds("mixed", asked, fair, true)
		asked.Conditions[0].Words = []string{"offline"}
		f.finds("not offline any more", asked, fair, false)

		statuses := query.Word("event_status", event.FieldEventStatus, event.EventStatusIn, "")
		ticketed := query.Flag("ticketed", event.FieldTicketed, event.Ticketed, "")
		authors := query.Link("author", event.AuthorTable, event.HasAuthorWith, user.IDIn, "", "")
		parent := query.Record("post_parent", event.FieldParentID, event.ParentIDIn, "")
		venues := query.Link("venue", event.VenuesTable, event.HasVenuesWith, venue.IDIn, calendar.Venue, "")
		moved := venues
		moved.Table = "event_hosts"
		for name, c := range map[string]*query.Column{
			"a flag that was not declared": &ticketed, "a word that was not declared": &statuses, "another link": &authors, "an id": &parent, "a link in another table": &moved,
		} {
			asked.Conditions = []query.Condition{{Column: &sticky}, {Column: c}}
			if page, err := f.index.FindEvents(f.Context(), asked, 0, 10); !errors.Is(err, query.ErrUnsupported) {
				f.Errorf("%s: %v, %v", name, page, err)
			}
		}
		if _, err := f.index.FindLinked(f.Context(), calendar.Venue, &query.Linked{Event: &fair}, 0, 10); !errors.Is(err, query.ErrUnsupported) {
			f.Errorf("venues of an event: %v", err)
		}
	})
}

func TestRunTakesOverWhatReadersLeave(t *testing.T) {
	eachFollower(t, func(f *follower) {
		ctx, stop := context.WithCancel(f.Context())
		ended := make(chan error, 1)
		go func() { ended <- f.index.Run(ctx) }()
		ready := func() query.Page {
			for {
				found, err := f.index.FindEvents(ctx, searchQuery(f.T, "-absent"), 0, 3)
				if err == nil {
					return found
				}
				if !errors.Is(err, index.ErrNotReady) {
					f.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
		}
		before := ready().Total
		// These two blocks exceed the changes that a reader applies, and those that the index applies without a reload.
		const block = 2500
		first := f.load(100_000, block)
		f.load(200_000, block)
		if got := ready().Total; got != before+2*block {
			f.Errorf("%d events are found, want %d", got, before+2*block)
		}
		if found := ready(); found.IDs[0] != first {
			f.Errorf("the first is %d, want %d", found.IDs[0], first)
		}
		// Another program empties the log and adds an entry.
		db := f.api.Store.Ent
		db.Change.Delete().ExecX(ctx)
		db.Event.UpdateOneID(first).SetStatus(calendar.Draft).ExecX(ctx)
		db.Counter.UpdateOneID("revision").AddValue(5).ExecX(ctx)
		if got := ready().Total; got != before+2*block-1 {
			f.Errorf("%d events are found after the log has gone, want %d", got, before+2*block-1)
		}
		stop()
		if err := <-ended; err != nil {
			f.Errorf("ended with %v", err)
		}
	})
}

// TestChangesOfUnknownKindsAreFollowed adds log entries about a kind of record that this version does not know.
// During an upgrade, a process of the next version may write them.
func TestChangesOfUnknownKindsAreFollowed(t *testing.T) {
	eachFollower(t, func(f *follower) {
		ctx, db := f.Context(), f.api.Store.Ent
		must.Succeed(f, f.index.Load(ctx))
		for _, action := range []calendar.Action{calendar.Created, calendar.Updated, calendar.Deleted} {
			_, _, revision := f.index.Stats()
			db.Change.Create().SetID(revision + 1).SetKind("later").SetRecordID(1).SetAction(action).SetAt(apitest.Now).ExecX(ctx)
			db.Counter.UpdateOneID("revision").AddValue(1).ExecX(ctx)
			id := int64(f.do("POST", "/events", object{
				"title": "Beside " + string(action), "start_date": "2030-01-01 10:00:00", "end_date": "2030-01-01 11:00:00",
			}).Get(f.T, "id").(float64))
			f.finds("an event after it was "+string(action), publishedQuery(), id, true)
			if _, _, known := f.index.Stats(); known < revision+2 {
				f.Errorf("%s: the index knows revision %d, want %d", action, known, revision+2)
			}
		}
	})
}

// load inserts n events as a bulk load does: rows, texts, and one log entry for all of them.
func (f *follower) load(from int64, n int) (first int64) {
	f.Helper()
	ctx := f.Context()
	err := store.Tx(ctx, f.api.Store.Ent, func(tx *ent.Tx) error {
		day := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
		for part := range slices.Chunk(ids(from, n), 500) {
			var events []*ent.EventCreate
			var texts []*ent.SearchTextCreate
			for _, id := range part {
				at := day.Add(time.Duration(id) * time.Second)
				wall := calendar.UTC().Wall(at)
				events = append(events, tx.Event.Create().SetID(id).SetTitle("Loaded").SetStatus(calendar.Publish).
					SetPublishedAt(day).SetLanguage("en").SetLanguages("en").SetCreatedAt(day).SetModifiedAt(day).
					SetStartsAt(at).SetEndsAt(at).SetStartWall(wall).SetEndWall(wall).SetTimezone("UTC"))
				texts = append(texts, tx.SearchText.Create().SetKind(calendar.Event).SetOwnerID(id).SetLanguages(7).SetText("loaded"))
			}
			if err := tx.Event.CreateBulk(events...).Exec(ctx); err != nil {
				return err
			}
			if err := tx.SearchText.CreateBulk(texts...).Exec(ctx); err != nil {
				return err
			}
		}
		if err := tx.Counter.Update().Where(counter.ID("revision")).AddValue(1).Exec(ctx); err != nil {
			return err
		}
		newest, err := tx.Counter.Get(ctx, "revision")
		if err != nil {
			return err
		}
		return tx.Change.Create().SetID(newest.Value).SetKind(calendar.Event).SetRecordID(from).SetAction(calendar.Loaded).
			SetAt(day).SetFields([]string{fmt.Sprint(from + int64(n) - 1)}).Exec(ctx)
	})
	must.Succeed(f, err)
	return from
}

func ids(from int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = from + int64(i)
	}
	return out
}

func TestStatementsAreWatched(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var statements atomic.Int64
		st.Watch(func(ctx context.Context, _, _ string) (context.Context, func(error)) {
			statements.Add(1)
			return ctx, func(error) {}
		})
		lists := index.New(st.Ent, []*query.Column{&sticky, &attendance}, slog.New(slog.DiscardHandler))
		must.Succeed(t, lists.Load(t.Context()))
		if statements.Swap(0) == 0 {
			t.Error("no statement of loading is watched")
		}
		if _, err := lists.FindEvents(t.Context(), publishedQuery(), 0, 10); err != nil {
			t.Fatal(err)
		}
		if n := statements.Load(); n != 1 {
			t.Errorf("%d statements of finding are watched, want 1", n)
		}
	})
}
