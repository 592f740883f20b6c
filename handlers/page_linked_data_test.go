package handlers_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var linkedScript = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

// linkedData returns the JSON-LD of a page: the objects of its lists, and the other ones.
func linkedData(t *testing.T, r apitest.Response) (events, others []map[string]any) {
	t.Helper()
	for _, script := range linkedScript.FindAllSubmatch(r.Body, -1) {
		if bytes.ContainsAny(script[1], "<>\u2028\u2029") {
			t.Errorf("not escaped: %s", script[1])
		}
		if script[1][0] == '[' {
			if events != nil {
				t.Errorf("several lists: %s", r.Body)
			}
			if err := json.Unmarshal(script[1], &events); err != nil || len(events) == 0 {
				t.Fatalf("%v: %s", err, script[1])
			}
			continue
		}
		var one map[string]any
		if err := json.Unmarshal(script[1], &one); err != nil {
			t.Fatalf("%v: %s", err, script[1])
		}
		others = append(others, one)
	}
	return events, others
}

// linkedPaths returns the paths of events in JSON-LD.
func linkedPaths(events []map[string]any) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = strings.TrimPrefix(fmt.Sprint(e["url"]), apitest.BaseURL)
	}
	return out
}

// shownPaths returns the paths of the events that the main part of a page links to, each once.
func shownPaths(r apitest.Response) (out []string) {
	_, main, _ := bytes.Cut(r.Body, []byte("<main"))
	for _, match := range regexp.MustCompile(`href="((?:/pl)?/event/[^"]+/)"`).FindAllSubmatch(main, -1) {
		if path := string(match[1]); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

func TestListsHaveTheLinkedDataOfTheirEvents(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		api.Example(t)
		addCourse(t, api)
		api.Do(t, post("admin", "/events", concert(object{
			"title": "&lt;/script&amp;&gt;&lt;!--", "slug": "hostile", "description": "a\u2028b</script>&", "start_date": "2026-12-02 10:00", "end_date": "2026-12-04 12:00",
			"venue":       []object{{"venue": "&lt;/script&gt; Hall"}, {"venue": "Second Hall"}, {"venue": "Draft Hall", "status": "draft"}},
			"virtual_url": "https://example.org/a", "attendance": "mixed", "event_status": "postponed",
		})))
		moved := api.Do(t, apitest.Request{Path: "/events/by-slug/weekly-course-2026-12-08", As: "admin"})
		api.Do(t, patch("admin", "/events/"+fmt.Sprint(moved.Get(t, "id")), object{"start_date": "2026-12-09 18:00", "end_date": "2026-12-09 19:00"}))
		const protected = "/event/members-only/"
		own := map[string]map[string]any{}
		var all []string
		for _, test := range []struct {
			path   string
			others int // scripts besides that of the list
			none   bool
		}{
			{path: "/events/"},
			{path: "/pl/events/"},
			{path: "/events/list/page/2/"},
			{path: "/events/list/?eventDisplay=past"},
			{path: "/events/list/?search=jazz"},
			{path: "/events/featured/"},
			{path: "/events/month/2026-12/"},
			{path: "/pl/events/month/2026-12/"},
			{path: "/events/2026-12-03/"},
			{path: "/events/2026-12-09/"},
			{path: "/events/today/", none: true},
			{path: "/events/category/music/"},
			{path: "/events/category/music/2026-12/"},
			{path: "/tag/free-entry/"},
			{path: "/venue/grand-hall/", others: 1},
			{path: "/organizer/alice-co/", others: 1},
			{path: "/series/weekly-course/"},
			{path: "/events/1999-12-01/", none: true},
			{path: "/events/month/1999-12/", none: true},
			{path: "/events/list/?start_date=x", none: true},
			{path: "/", none: true},
		} {
			r := api.Do(t, page(test.path))
			events, others := linkedData(t, r)
			if len(others) != test.others || (events == nil) != test.none {
				t.Errorf("%s: %d %v, %d others", test.path, r.Status, linkedPaths(events), len(others))
			}
			if test.none {
				continue
			}
			shown := slices.DeleteFunc(shownPaths(r), func(path string) bool { return strings.HasSuffix(path, protected) })
			if diff := cmp.Diff(shown, linkedPaths(events)); diff != "" {
				t.Errorf("%s (-shown +linked):\n%s", test.path, diff)
			}
			all = append(all, shown...)
			for i, path := range linkedPaths(events) {
				if own[path] == nil {
					_, objects := linkedData(t, api.Do(t, page(path)))
					if len(objects) != 1 {
						t.Fatalf("%s: %d objects", path, len(objects))
					}
					own[path] = objects[0]
				}
				if diff := cmp.Diff(own[path], events[i]); diff != "" {
					t.Errorf("%s on %s (-own +list):\n%s", path, test.path, diff)
				}
			}
		}
		for _, path := range []string{"/event/hostile/", "/event/weekly-course-2026-12-08/", "/event/winter-jazz-blues/", "/pl/event/zimowy-jazz/"} {
			if !slices.Contains(all, path) {
				t.Errorf("no list has %s", path)
			}
		}
		hostile := own["/event/hostile/"]
		if hostile["name"] != "</script&><!--" || len(hostile["location"].([]any)) != 3 || hostile["eventStatus"] != "https://schema.org/EventPostponed" {
			t.Errorf("got %v", hostile)
		}
		if got := own["/event/weekly-course-2026-12-08/"]["eventStatus"]; got != "https://schema.org/EventRescheduled" {
			t.Errorf("the moved event is %v", got)
		}
	})
}

// TestLinkedDataOfFullPages checks that the largest possible pages stay below 30 kB when compressed.
func TestLinkedDataOfFullPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes hundreds of events")
	}
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.Site.PerPage = ent.MaxRead })
	api.SignIn(t, "admin", calendar.Administrator)
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 1500)
	for i := range vocabulary {
		word := make([]byte, 3+random.IntN(7))
		for k := range word {
			word[k] = "aaeeiioourstnlkm"[random.IntN(16)]
		}
		vocabulary[i] = string(word)
	}
	text := func(words int) string {
		out := make([]string, words)
		for i := range out {
			out[i] = vocabulary[int(random.ExpFloat64()*200)%len(vocabulary)]
		}
		return strings.Join(out, " ")
	}
	var places, hosts []int64
	for range 30 {
		places = append(places, api.AddVenue(t, text(2), func(c *ent.VenueCreate) {
			c.SetAddress(text(2)).SetCity(text(1)).SetZip("00-001").SetPhone("+48 22 000 00 00").SetDescription(text(80))
		}))
	}
	for range 30 {
		hosts = append(hosts, api.AddOrganizer(t, text(2), func(c *ent.OrganizerCreate) {
			c.SetPhone("+48 22 000 00 00").SetEmail("a@example.org").SetDescription(text(80))
		}))
	}
	first := time.Date(2027, 4, 26, 0, 0, 0, 0, time.UTC) // the month page of May begins with this Monday
	for i := range 7 * 42 {
		day := first.AddDate(0, 0, i/7).Format(time.DateOnly)
		id := api.AddEvent(t, text(5), day+" 10:00:00", day+" 11:00:00", func(c *ent.EventCreate) {
			c.SetDescription("<p>" + text(250) + "</p>").SetCost(calendar.Cost{Prices: []string{fmt.Sprint(i)}})
		})
		api.LinkVenues(t, id, places[random.IntN(len(places))])
		api.LinkOrganizers(t, id, hosts[random.IntN(len(hosts))])
	}
	api.Reindex(t)
	for path, want := range map[string]int{"/events/": 50, "/events/month/2027-05/": 210, "/events/2027-05-31/": 7} {
		r := api.Do(t, page(path))
		events, _ := linkedData(t, r)
		if len(events) != want {
			t.Errorf("%s: %d events, want %d", path, len(events), want)
		}
		for _, e := range events {
			if text, _ := e["description"].(string); strings.HasSuffix(text, "…") != (want <= 50) {
				t.Fatalf("%s: the description is %q", path, text)
			}
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(r.Body); err != nil || w.Close() != nil {
			t.Fatal("gzip")
		}
		t.Logf("%s: %d bytes, %d compressed", path, len(r.Body), b.Len())
		if b.Len() > 30<<10 {
			t.Errorf("%s: %d bytes compressed", path, b.Len())
		}
	}
}
