package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestExamplesAreRecorded records example replies for the interface description that no other test records.
func TestExamplesAreRecorded(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.FeedKey = feed.Key{1} })
	api.Example(t)
	addPolishCourse(t, api)
	api.SignIn(t, "author", calendar.Author)
	secret := api.AddSeries(t, apitest.SeriesRow{
		Title: "Members only", Slug: "members-only", Start: "2026-12-04 10:00:00", End: "2026-12-04 11:00:00",
		RRule: "FREQ=WEEKLY;COUNT=3", Template: ent.Event{PasswordHash: new([]byte("x")), HideFromListings: true},
	})
	as := func(method, path string, body any) apitest.Request {
		return apitest.Request{Method: method, Path: path, As: "admin", JSON: body}
	}
	event := object{
		"title": "Open-air cinema", "start_date": "2026-12-18 18:00", "end_date": "2026-12-18 20:00",
		"timezone": "Europe/Warsaw", "cost": "15 zł", "categories": []any{music}, "tags": []any{"Cinema"},
		"venue": []any{grandHall}, "organizer": []any{bob},
	}
	venue := object{"venue": "Old Mill", "address": "3 River Rd", "city": "Łódź", "country": "Poland", "geo_lat": 51.77, "geo_lng": 19.46}
	organizer := object{"organizer": "Film Club", "email": "film@example.org", "website": "https://film.example.org"}
	api.Run(t, []apitest.Case{
		{Request: get("/events?per_page=2"), Status: 200, Golden: "event_list.json"},
		{Request: get("/series"), Status: 200, Golden: "series_list.json"},
		{Request: get("/series/25"), Status: 200, Golden: "series_full.json"},
		{Request: get("/events/27"), Status: 200, Golden: "event_occurrence.json"},
		{Request: as("POST", "/series/preview", object{
			"start_date": "2026-11-24 18:00", "end_date": "2026-11-24 19:30", "timezone": "Europe/Warsaw",
			"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303", "exdate": []string{"2026-12-22"}, "limit": 3,
		}), Status: 200, Golden: "series_preview.json"},
		{Request: get("/series/999"), Status: 404, Golden: "error_series_not_found_404.json"},
		{Request: get("/series?page=9"), Status: 404, Golden: "error_series_page_not_found_404.json"},
		{Request: get(fmt.Sprint("/series/", secret)), Status: 403, Golden: "error_series_password_403.json"},
		{Request: get("/venues"), Status: 200, Golden: "venue_list.json"},
		{Request: get("/organizers"), Status: 200, Golden: "organizer_list.json"},
		{Request: get("/tags"), Status: 200, Golden: "tag_list.json"},
		{Request: as("GET", "/images", nil), Status: 200, Golden: "image_list.json"},
		{Request: as("POST", "/events", event), Status: 201, Golden: "event_created.json"},
		{Request: as("PATCH", "/events/17", object{"title": "Long walk with music", "end_date": "2026-12-12 13:00"}), Status: 200, Golden: "event_updated.json"},
		{Request: as("PATCH", "/series/25", object{"cost": "30 zł"}), Status: 200, Golden: "series_updated.json"},
		{Request: as("DELETE", "/series/25", nil), Status: 200, Golden: "series_deleted.json"},
		{Request: as("DELETE", "/series/25", nil), Status: 410, Golden: "error_series_in_trash_410.json"},
		{Request: as("POST", "/venues", venue), Status: 201, Golden: "venue_created.json"},
		{Request: as("PATCH", "/venues/11", object{"phone": "+48 22 111 11 11"}), Status: 200, Golden: "venue_updated.json"},
		{Request: as("DELETE", "/venues/11", nil), Status: 200, Golden: "venue_deleted.json"},
		{Request: as("DELETE", "/venues/11", nil), Status: 410, Golden: "error_venue_in_trash_410.json"},
		{Request: as("POST", "/organizers", organizer), Status: 201, Golden: "organizer_created.json"},
		{Request: as("PATCH", "/organizers/13", object{"phone": "+48 22 222 22 22"}), Status: 200, Golden: "organizer_updated.json"},
		{Request: as("DELETE", "/organizers/13", nil), Status: 200, Golden: "organizer_deleted.json"},
		{Request: as("DELETE", "/organizers/13", nil), Status: 410, Golden: "error_organizer_in_trash_410.json"},
		{Request: get("/venues/{bareVenue}"), Status: 403, Golden: "error_venue_not_accessible_403.json"},
		{Request: get("/organizers/{bob}"), Status: 403, Golden: "error_organizer_not_accessible_403.json"},
		{Request: get("/venues?page=9"), Status: 404, Golden: "error_venue_page_not_found_404.json"},
		{Request: get("/organizers?page=9"), Status: 404, Golden: "error_organizer_page_not_found_404.json"},
		{Request: get("/images/99"), Status: 404, Golden: "error_image_not_found_404.json"},
		{Request: ifMatch(`"9-0123456789abcdef"`, as("PATCH", "/events/17", object{"cost": "7"})), Status: 412, Golden: "error_precondition_failed_412.json"},
		{Request: as("POST", "/events", object{"title": strings.Repeat("x", 1<<20)}), Status: 413, Golden: "error_too_large_413.json"},
		{
			Request: apitest.Request{Method: "POST", Path: "/events", Form: "<event/>", Header: map[string]string{"Content-Type": "text/xml"}},
			Status:  415, Golden: "error_media_type_415.json",
		},
	})
	for _, kind := range calendar.NamedKinds {
		if kind != calendar.Venue && kind != calendar.Organizer { // these are above
			recordNamed(t, api, kind)
		}
	}
	for path, golden := range map[string]string{
		"/events.ics?include={jazzNight}": "events_ics.json", "/event/winter-jazz-blues.ics": "event_ics.json",
		"/events.atom?include={jazzNight}": "events_atom.json", "/events.rss?include={jazzNight}": "events_rss.json",
		"/events.json?include={jazzNight}": "events_json.json",
	} {
		res := api.Do(t, apitest.Request{Path: path, Absolute: true})
		body := res.Body
		if !strings.HasPrefix(res.Header.Get("Content-Type"), "application/feed+json") {
			var err error
			if body, err = json.Marshal(string(body)); err != nil { // text, as the description shows it
				t.Fatal(err)
			}
		}
		apitest.Golden(t, golden, body)
	}
	for collection, golden := range map[string]string{
		"events?include={jazzNight}&": "event_list_csv.json", "venues?": "venue_list_csv.json", "organizers?": "organizer_list_csv.json",
		"categories?": "category_list_csv.json", "tags?": "tag_list_csv.json",
	} {
		body, err := json.Marshal(string(api.Do(t, get("/"+collection+"format=csv&per_page=3")).Body))
		must.Succeed(t, err)
		apitest.Golden(t, golden, body)
	}
	var d struct {
		OpenAPI, Info, Servers json.RawMessage
	}
	api.Do(t, get("/doc")).Into(t, &d)
	excerpt, err := json.Marshal(struct {
		OpenAPI json.RawMessage `json:"openapi"`
		Info    json.RawMessage `json:"info"`
		Servers json.RawMessage `json:"servers"`
		Paths   struct{}        `json:"paths"`
	}{d.OpenAPI, d.Info, d.Servers, struct{}{}})
	must.Succeed(t, err)
	apitest.Golden(t, "doc_excerpt.json", excerpt)

	var cause error
	api.Store.Ent.Use(func(ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(context.Context, ent.Mutation) (ent.Value, error) { return nil, cause })
	})
	for _, c := range []struct {
		cause  error
		status int
		golden string
	}{
		{errors.New("no space left on device"), 500, "error_internal_500.json"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, 503, "error_unavailable_503.json"},
	} {
		cause = c.cause
		broken := as("POST", "/tags", object{"name": "Never"})
		broken.Fails = true
		api.Run(t, []apitest.Case{{Name: c.golden, Request: broken, Status: c.status, Golden: c.golden}})
	}

	limited := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	limited.SignIn(t, "admin", calendar.Administrator)
	limited.Limit(1)
	limited.Run(t, []apitest.Case{
		{Name: "within the rate", Request: as("GET", "/tags", nil), Status: 200},
		{Name: "beyond the rate", Request: as("GET", "/tags", nil), Status: 429, Golden: "error_too_many_429.json"},
	})
}

// recordNamed records the replies about venues, organizers or terms as golden files. It uses the record with id 9
// of the example calendar.
func recordNamed(t *testing.T, api *apitest.API, kind calendar.Kind) {
	t.Helper()
	name, list := string(kind), "/"+kind.Plural()
	as := func(method, path string, body any) apitest.Request {
		return apitest.Request{Method: method, Path: list + path, As: "admin", JSON: body}
	}
	var draft struct {
		ID int64 `json:"id"`
	}
	api.Do(t, as("POST", "", object{name: "Secret Mill", "status": "draft"})).Into(t, &draft)
	table, err := json.Marshal(string(api.Do(t, get(list+"?format=csv")).Body))
	must.Succeed(t, err)
	apitest.Golden(t, name+"_list_csv.json", table)
	api.Run(t, []apitest.Case{
		{Request: get(list), Status: 200, Golden: name + "_list.json"},
		{Request: get(list + "/9"), Status: 200, Golden: name + "_full.json"},
		{Request: get(list + "?page=9"), Status: 404, Golden: "error_" + name + "_page_not_found_404.json"},
		{Request: get(fmt.Sprint(list, "/", draft.ID)), Status: 403, Golden: "error_" + name + "_not_accessible_403.json"},
		{Request: as("POST", "", object{name: "Film Club", "description": "<p>Films on the river</p>"}), Status: 201, Golden: name + "_created.json"},
		{Request: as("PATCH", "/9", object{name: "New Mill"}), Status: 200, Golden: name + "_updated.json"},
		{Request: as("DELETE", "/9", nil), Status: 200, Golden: name + "_deleted.json"},
		{Request: as("DELETE", "/9", nil), Status: 410, Golden: "error_" + name + "_in_trash_410.json"},
	})
}

// TestExamplesAreTheGoldenFiles compares the examples embedded in the program with the replies that tests record.
func TestExamplesAreTheGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(carriedExamples, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %q, %v", files, err)
	}
	var d struct {
		Components struct {
			Examples map[string]json.RawMessage `json:"examples"`
		} `json:"components"`
	}
	onSQLite(t).Do(t, get("/doc")).Into(t, &d)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		golden, err := os.ReadFile(filepath.Join(apitest.Root(), "testdata", "golden", name+".json"))
		must.Succeed(t, err)
		carried, err := os.ReadFile(file)
		must.Succeed(t, err)
		if diff := cmp.Diff(string(golden), string(carried)); diff != "" {
			t.Errorf("%s (-golden +carried); copy it with -update:\n%s", name, diff)
		}
		if _, ok := d.Components.Examples[name]; !ok {
			t.Errorf("%s is shown nowhere", name)
		}
		delete(d.Components.Examples, name)
	}
	for name := range d.Components.Examples {
		t.Errorf("%s is shown and not carried", name)
	}
}

func TestExamplesHaveTheAddressesOfTheService(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
		c.Site.BaseURL = "https://events.example.org"
		c.Mounts = []string{"/wp-json/tribe/events/v1"}
	})
	body := api.Do(t, apitest.Request{Path: "/pl/wp-json/tribe/events/v1/doc", Absolute: true}).Body
	if bytes.Contains(body, []byte(apitest.BaseURL)) {
		t.Error("the document has addresses of the tests")
	}
	if want := []byte(`"https://events.example.org/pl/wp-json/tribe/events/v1/events/15"`); !bytes.Contains(body, want) {
		t.Errorf("the document has no %s", want)
	}
}
