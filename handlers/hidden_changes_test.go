package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// readAt is when the public replies of these tests are read. Changes are written before.
var readAt = apitest.Now.Add(3 * time.Hour)

// hiddenWorld is a calendar of public records, and of records linked to them that the public cannot see.
type hiddenWorld struct {
	*feedTest
	hall, annex, vault, ghost, band       int64
	open, secret, draft, later, withdrawn int64
	class, closed, shadow                 int64   // series: public, protected, hidden
	classes, closedOnes, shadows          []int64 // their occurrences; only the first of shadows is public
	paths                                 []string
	n                                     int // makes values that were never written before
}

func newHiddenWorld(f *feedTest) *hiddenWorld {
	f.Helper()
	w := &hiddenWorld{feedTest: f}
	add := func(collection string, body object) int64 { return f.write("POST", "/"+collection, body) }
	w.hall = add("venues", object{"venue": "Hall"})
	w.annex = add("venues", object{"venue": "Annex"})
	w.vault = add("venues", object{"venue": "Vault", "status": "draft", "geo_lat": 50.0, "geo_lng": 20.0})
	w.ghost = add("organizers", object{"organizer": "Ghost", "status": "private"})
	w.band = add("organizers", object{"organizer": "Band"})
	text := object{"description": "<p>Text</p>", "categories": []string{"music"}, "venue": []int64{w.hall, w.vault}}
	with := func(more object) object {
		out := object{}
		for _, m := range []object{text, more} {
			for name, v := range m {
				out[name] = v
			}
		}
		return out
	}
	w.open = f.event("Open", "2026-12-01 18:00:00", with(object{"organizer": []int64{w.band, w.ghost}}))
	w.secret = f.event("Secret", "2026-12-02 00:00:00", with(object{"password": "sesame", "end_date": "2026-12-02 23:59:59"}))
	w.draft = f.event("Draft", "2026-12-03 18:00:00", with(object{"status": "draft"}))
	w.later = f.event("Later", "2026-12-04 18:00:00", with(object{"status": "publish", "date": "2031-01-01 00:00:00"}))
	w.withdrawn = f.event("Gone", "2026-12-05 18:00:00", text)
	f.write("PATCH", fmt.Sprint("/events/", w.withdrawn), object{"status": "private"})
	series := func(title, start string, more object) (int64, []int64) {
		first := f.event(title, start, with(more))
		row := f.Store.Ent.Event.GetX(f.Context(), first)
		return *row.SeriesID, f.Store.Ent.Event.Query().Where(event.SeriesID(*row.SeriesID)).Order(event.ByOriginalStart()).IDsX(f.Context())
	}
	w.class, w.classes = series("Class", "2026-12-07 18:00:00", object{"rrule": "FREQ=DAILY;COUNT=3"})
	w.closed, w.closedOnes = series("Closed", "2026-12-14 18:00:00", object{"rrule": "FREQ=DAILY;COUNT=3", "password": "sesame"})
	w.shadow, w.shadows = series("Shadow", "2026-12-21 18:00:00", object{"rrule": "FREQ=WEEKLY", "status": "draft"})
	f.write("PATCH", fmt.Sprint("/events/", w.shadows[0]), object{"status": "publish", "title": "Shadow play"})

	for _, list := range []string{"events", "series", "venues", "organizers", "categories?hide_empty=0", "tags?hide_empty=0"} {
		w.paths = append(w.paths, "/wp-json/tribe/events/v1/"+list)
	}
	for _, id := range []int64{w.open, w.secret, w.classes[0], w.closedOnes[0], w.shadows[0]} {
		slug := f.Store.Ent.Event.GetX(f.Context(), id).Slug
		w.paths = append(w.paths, fmt.Sprint("/wp-json/tribe/events/v1/events/", id), "/wp-json/tribe/events/v1/events/by-slug/"+slug,
			"/event/"+slug+"/", "/event/"+slug+".ics")
	}
	for _, id := range []int64{w.class, w.closed} {
		slug := f.Store.Ent.Series.GetX(f.Context(), id).Slug
		w.paths = append(w.paths, fmt.Sprint("/wp-json/tribe/events/v1/series/", id), "/wp-json/tribe/events/v1/series/by-slug/"+slug)
	}
	w.paths = append(w.paths, fmt.Sprint("/wp-json/tribe/events/v1/venues/", w.hall),
		"/wp-json/tribe/events/v1/events?search=text", "/wp-json/tribe/events/v1/events?series=next", "/wp-json/tribe/events/v1/events?geoloc=1",
		fmt.Sprint("/wp-json/tribe/events/v1/events?venue=", w.hall),
		"/events.ics", "/events.ics?start_date=2026-12-01&end_date=2026-12-31", "/pl/events.ics?categories=music",
		"/events.atom", "/events.rss", "/events.json", "/events.atom?start_date=2026-12-01&end_date=2026-12-31",
		"/events.json?start_date=2026-12-01&end_date=2026-12-31", "/events.rss?start_date=2026-12-01&end_date=2026-12-31",
		"/event/gone.ics", "/events/", "/events/month/2026-12/", "/events/2026-12-01/", "/venue/hall/", "/sitemap.xml", "/sitemap-1.xml")
	return w
}

// publicReply is a reply to an anonymous client, with its headers.
type publicReply struct {
	Path, Body string
	Status     int
	Header     http.Header
}

// read returns all public replies as they are at the time readAt.
func (w *hiddenWorld) read() []publicReply {
	w.Helper()
	w.now = readAt
	out := make([]publicReply, len(w.paths))
	for i, path := range w.paths {
		res := w.get(path)
		res.Header.Del("X-Request-Id")
		res.Header.Del("Date")
		out[i] = publicReply{path, string(res.Body), res.Status, res.Header}
	}
	return out
}

// hiddenChange is a change that the public cannot see.
type hiddenChange struct {
	name string
	make func(*hiddenWorld)
	once bool // it cannot be made twice
}

// hiddenWrite returns a hiddenChange of one record by the API. The body gets a value that was never written before.
func hiddenWrite(name, collection string, id func(*hiddenWorld) int64, body func(value string) object) hiddenChange {
	return hiddenChange{name: name, make: func(w *hiddenWorld) {
		w.n++
		w.write("PATCH", fmt.Sprint("/", collection, "/", id(w)), body(fmt.Sprint("value ", w.n)))
	}}
}

func toText(name string) func(string) object {
	return func(value string) object { return object{name: value} }
}

func toFlag(name string) func(string) object {
	flag := false
	return func(string) object {
		flag = !flag
		return object{name: flag}
	}
}

func hiddenChanges() []hiddenChange {
	vault := func(w *hiddenWorld) int64 { return w.vault }
	ghost := func(w *hiddenWorld) int64 { return w.ghost }
	open := func(w *hiddenWorld) int64 { return w.open }
	secret := func(w *hiddenWorld) int64 { return w.secret }
	draft := func(w *hiddenWorld) int64 { return w.draft }
	closed := func(w *hiddenWorld) int64 { return w.closed }
	links := func(collection, field string, id func(*hiddenWorld) int64, lists ...func(*hiddenWorld) []int64) hiddenChange {
		return hiddenChange{name: "links of " + collection + " by " + field, make: func(w *hiddenWorld) {
			for _, list := range lists {
				w.write("PATCH", fmt.Sprint("/", collection, "/", id(w)), object{field: list(w)})
			}
		}}
	}
	list := []hiddenChange{
		hiddenWrite("name of a draft venue", "venues", vault, toText("venue")),
		hiddenWrite("slug of a draft venue", "venues", vault, toText("slug")),
		hiddenWrite("translation of a draft venue", "venues", vault, func(value string) object {
			return object{"description": value, "ml_language": "pl"}
		}),
		hiddenWrite("status of a draft venue", "venues", vault, func(string) object { return object{"status": "pending"} }),
		hiddenWrite("phone of a private organizer", "organizers", ghost, toText("phone")),
		links("events", "venue", open, func(w *hiddenWorld) []int64 { return []int64{w.hall} },
			func(w *hiddenWorld) []int64 { return []int64{w.vault, w.hall} }),
		links("events", "organizer", open, func(w *hiddenWorld) []int64 { return []int64{w.band} },
			func(w *hiddenWorld) []int64 { return []int64{w.ghost, w.band} }),
		links("events", "venue", func(w *hiddenWorld) int64 { return w.classes[1] },
			func(w *hiddenWorld) []int64 { return []int64{w.hall} }),
		links("series", "venue", func(w *hiddenWorld) int64 { return w.class },
			func(w *hiddenWorld) []int64 { return []int64{w.hall} }, func(w *hiddenWorld) []int64 { return []int64{w.hall, w.vault} }),
		links("events", "venue", secret, func(w *hiddenWorld) []int64 { return []int64{w.annex} }),
		hiddenWrite("nothing", "events", open, func(string) object { return object{"title": "Open"} }),
		hiddenWrite("nothing of a venue", "venues", func(w *hiddenWorld) int64 { return w.hall }, func(string) object { return object{"venue": "Hall"} }),
		hiddenWrite("title of a draft", "events", draft, toText("title")),
		hiddenWrite("title of a scheduled event", "events", func(w *hiddenWorld) int64 { return w.later }, toText("title")),
		hiddenWrite("title of a withdrawn event", "events", func(w *hiddenWorld) int64 { return w.withdrawn }, toText("title")),
		hiddenWrite("title of a hidden occurrence", "events", func(w *hiddenWorld) int64 { return w.shadows[1] }, toText("title")),
		{name: "a draft", make: func(w *hiddenWorld) {
			w.n++
			id := w.write("POST", "/events", object{
				"title": fmt.Sprint("Draft ", w.n), "start_date": "2026-12-01 10:00:00", "end_date": "2026-12-01 11:00:00",
				"status": "draft", "venue": []int64{w.hall}, "categories": []string{"music"},
			})
			w.write("PATCH", fmt.Sprint("/events/", id), object{"status": "private"})
			w.write("DELETE", fmt.Sprint("/events/", id), nil)
			w.write("PATCH", fmt.Sprint("/events/", id), object{"status": "pending"})
		}},
		{name: "a draft series", make: func(w *hiddenWorld) {
			w.write("POST", "/events", object{
				"title": "Course", "start_date": "2026-12-01 10:00:00", "end_date": "2026-12-01 11:00:00", "status": "draft",
				"rrule": "FREQ=DAILY;COUNT=4",
			})
		}},
		{name: "later occurrences of a hidden series", once: true, make: func(w *hiddenWorld) {
			if n, err := series.ExtendDue(w.Context(), w.Store.Ent, w.Site, readAt.AddDate(2, 0, 0)); err != nil || n == 0 {
				w.Fatalf("%d occurrences: %v", n, err)
			}
		}},
		{name: "a user", make: func(w *hiddenWorld) {
			w.n++
			w.SignIn(w.T, fmt.Sprint("user", w.n), calendar.Author)
		}},
		{name: "a private organizer to the trash", once: true, make: func(w *hiddenWorld) {
			w.write("DELETE", fmt.Sprint("/organizers/", w.ghost), nil)
		}},
		{name: "a draft venue to the trash", once: true, make: func(w *hiddenWorld) {
			w.write("DELETE", fmt.Sprint("/venues/", w.vault), nil)
		}},
	}
	closedOne := func(w *hiddenWorld) int64 { return w.closedOnes[1] }
	var protected []hiddenChange
	for _, target := range []struct {
		collection string
		id         func(*hiddenWorld) int64
	}{{"events", secret}, {"series", closed}, {"events", closedOne}} {
		for _, name := range []string{"description", "excerpt", "cost", "password"} {
			protected = append(protected, hiddenWrite("redacted "+name, target.collection, target.id, toText(name)))
		}
		for _, name := range []string{"website", "virtual_url"} {
			protected = append(protected, hiddenWrite("redacted "+name, target.collection, target.id, func(value string) object {
				return object{name: "https://example.org/" + value[len("value "):]}
			}))
		}
		for _, name := range []string{"sticky", "featured", "show_map", "show_map_link", "ticketed"} {
			protected = append(protected, hiddenWrite("redacted "+name, target.collection, target.id, toFlag(name)))
		}
		protected = append(protected, links(target.collection, "organizer", target.id,
			func(w *hiddenWorld) []int64 { return []int64{w.band} }, func(*hiddenWorld) []int64 { return []int64{} }))
	}
	protected = append(protected, hiddenWrite("redacted all_day", "events", secret, toFlag("all_day")))
	return append(protected, list...)
}

// TestHiddenChangesChangeNoPublicReply makes all kinds of changes that the public cannot see. No byte of a public reply
// and no header may change. Half of the changes are younger than a minute when the replies are read.
func TestHiddenChangesChangeNoPublicReply(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		w := newHiddenWorld(f)
		was := w.read()
		for i, c := range hiddenChanges() {
			w.now = apitest.Now.Add(time.Hour + time.Duration(i)*time.Second)
			if i%2 == 0 {
				w.now = readAt.Add(-30 * time.Second)
			}
			c.make(w)
			for j, is := range w.read() {
				if diff := cmp.Diff(was[j], is); diff != "" {
					t.Errorf("%d, %s: %s (-before +after):\n%s", i, c.name, is.Path, diff)
				}
			}
			if t.Failed() {
				return
			}
		}
	})
}

// TestHiddenChangesInAnyOrder makes hidden changes in random orders.
func TestHiddenChangesInAnyOrder(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		w := newHiddenWorld(f)
		was := w.read()
		for _, seed := range []uint64{1, 2} {
			r := rand.New(rand.NewPCG(seed, 39))
			changes := hiddenChanges()
			r.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
			for i, c := range changes {
				if !c.once {
					w.now = readAt.Add(-time.Duration(r.IntN(3600)) * time.Second)
					c.make(w)
				}
				if i%8 != 7 {
					continue
				}
				for j, is := range w.read() {
					if diff := cmp.Diff(was[j], is); diff != "" {
						t.Fatalf("seed %d, change %d, %s: %s (-before +after):\n%s", seed, i, c.name, is.Path, diff)
					}
				}
			}
		}
	})
}

// TestEditorsSeeHiddenChanges reads an event as an editor after a change that the public cannot see.
func TestEditorsSeeHiddenChanges(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		w := newHiddenWorld(f)
		f.SignIn(t, "subscriber", calendar.Subscriber)
		path := fmt.Sprint("/events/", w.open)
		read := func(as string) (tag string, modified any) {
			t.Helper()
			res := f.Do(t, apitest.Request{Path: path, As: as})
			return res.Header.Get("ETag"), res.Get(t, "modified")
		}
		was := map[string]string{}
		for _, as := range []string{"", "subscriber", "editor"} {
			was[as], _ = read(as)
		}
		w.now = apitest.Now.Add(time.Hour)
		w.write("PATCH", path, object{"venue": []int64{w.hall}})
		for as, modified := range map[string]string{
			"": "2026-11-21 12:00:00", "subscriber": "2026-11-21 12:00:00", "editor": "2026-11-21 13:00:00",
		} {
			tag, got := read(as)
			if got != modified || (tag == was[as]) != (as != "editor") {
				t.Errorf("as %q: modified %v, want %s; tag %s, then %s", as, got, modified, was[as], tag)
			}
		}
		write := func(tag, title string) int {
			return f.Do(t, apitest.Request{
				Method: "PATCH", Path: path, As: "editor", JSON: object{"title": title}, Header: map[string]string{"If-Match": tag},
			}).Status
		}
		if got := write(was["editor"], "Lost"); got != http.StatusPreconditionFailed {
			t.Errorf("with the tag of an editor from before the hidden change: %d", got)
		}
		if got := write(was[""], "New"); got != http.StatusOK {
			t.Errorf("with the tag of a reader, who could not see the change: %d", got)
		}
		if got := write(was[""], "Newer"); got != http.StatusPreconditionFailed {
			t.Errorf("with the tag of a reader from before a change that shows: %d", got)
		}
	})
}

// TestVisibleChangesMoveTheDates makes changes in linked and protected records. It checks which of them move the
// DTSTAMP of an event: those that the public sees.
func TestVisibleChangesMoveTheDates(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		w := newHiddenWorld(f)
		stamp := func(slug string) string {
			_, rest, _ := strings.Cut(string(f.get("/event/"+slug+".ics").Body), "\r\nDTSTAMP:")
			return rest[:len("20261121T120000Z")]
		}
		for i, c := range []struct {
			name, path   string
			body         object
			open, secret bool // whether DTSTAMP of the event moves
		}{
			{"a public venue", fmt.Sprint("/venues/", w.hall), object{"city": "Olsztyn"}, true, false},
			{"a venue is published", fmt.Sprint("/venues/", w.vault), object{"status": "publish"}, true, false},
			{"a venue is hidden", fmt.Sprint("/venues/", w.vault), object{"status": "private"}, true, false},
			{"a hidden venue", fmt.Sprint("/venues/", w.vault), object{"city": "Olsztyn"}, false, false},
			{"title", fmt.Sprint("/events/", w.secret), object{"title": "Secrets"}, false, true},
			{"event status", fmt.Sprint("/events/", w.secret), object{"event_status": "postponed"}, false, true},
			{"no password", fmt.Sprint("/events/", w.secret), object{"password": ""}, false, true},
		} {
			open, secret := stamp("open"), stamp("secret")
			w.now = apitest.Now.Add(time.Duration(i+1) * time.Hour)
			w.write("PATCH", c.path, c.body)
			if got := [2]bool{stamp("open") != open, stamp("secret") != secret}; got != [2]bool{c.open, c.secret} {
				t.Errorf("%s: moved %v, want %v and %v", c.name, got, c.open, c.secret)
			}
		}
	})
}

// TestPublicationByTheServiceIsNoChange lets the service publish a record whose date has passed. No reply may
// change, because readers have seen the record since that date.
func TestPublicationByTheServiceIsNoChange(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		id := f.event("Soon", "2026-12-01 18:00:00", object{"status": "publish", "date": "2026-11-21 13:00:00"})
		f.now = apitest.Now.Add(2 * time.Hour)
		path := fmt.Sprint("/events/", id)
		was := f.Do(t, apitest.Request{Path: path})
		if n, err := edit.PublishDue(t.Context(), f.Store.Ent, f.now); err != nil || n != 1 {
			t.Fatalf("%d published: %v", n, err)
		}
		is := f.Do(t, apitest.Request{Path: path})
		if was.Header.Get("ETag") != is.Header.Get("ETag") || string(was.Body) != string(is.Body) {
			t.Errorf("%s %s, then %s %s", was.Header.Get("ETag"), was.Body, is.Header.Get("ETag"), is.Body)
		}
	})
}
