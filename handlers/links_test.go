package handlers_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// defaultWindow is the default window of all links, today being 2026-11-21.
const defaultWindow = "start_date=2026-11-21+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59"

func TestLinksRepeatTheRequestAsItWasApplied(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, c := range []struct {
			name, asked, want string // below the API; want is rest_url
		}{
			{"nothing asked", "/venues", "/venues/"},
			{"nothing asked, trailing slash", "/venues/?", "/venues/"},
			{"default window", "/events", "/events/?" + defaultWindow},
			{"page one is left out", "/events?page=1", "/events/?" + defaultWindow},
			{"page comes last", "/events?page=2&per_page=5", "/events/?per_page=5&" + defaultWindow + "&page=2"},
			{"words", "/events?event_status=canceled&event_status=postponed&ticketed=1", "/events/?" + defaultWindow + "&ticketed=1&event_status=canceled%2Cpostponed"},
			{"the order of declaration, whatever the order sent", "/events?ticketed=0&categories=2,jazz&featured=false&per_page=5", "/events/?per_page=5&" + defaultWindow + "&categories=2%2Cjazz&featured=0&ticketed=0"},
			{"language and fields before the page", "/events?_fields=rest_url,events.id&ml_language=pl&per_page=5&page=2", "/events/?per_page=5&" + defaultWindow + "&ml_language=pl&_fields=rest_url%2Cevents.id&page=2"},
			{"fields in another form", "/venues?_fields[]=rest_url&_fields[]=total", "/venues/?_fields=rest_url%2Ctotal"},
			{"booleans as digits", "/venues?has_events=YES&only_with_upcoming=off", "/venues/?has_events=1&only_with_upcoming=0"},
			{"per_page as applied", "/venues?per_page=0099", "/venues/?per_page=50"},
			{"lists in the order sent", "/events?include[]=17&include[]=15", "/events/?include=17%2C15"},
			{"include leaves the dates out", "/events?include=15&start_date=2026-12-01&ends_after=now&strict_dates=0", "/events/?strict_dates=0&include=15"},
			{"encoded as a form", "/tags?hide_empty=0&slug=" + url.QueryEscape("free entry&ł/?"), "/tags/?hide_empty=0&slug=free+entry%26%C5%82%2F%3F"},
			{"whole days", "/events?start_date=2026-12-01+15:00&end_date=2026-12-31", "/events/?start_date=2026-12-01+00%3A00%3A00&end_date=2026-12-31+23%3A59%3A59"},
			{"one date and one default", "/events?end_date=2026-12-31", "/events/?start_date=2026-11-21+00%3A00%3A00&end_date=2026-12-31+23%3A59%3A59"},
			{"other dates at the end of their day, without window", "/events?starts_before=2027-01-01&starts_after=yesterday&ends_before=2027-01-02&ends_after=0", "/events/?starts_before=2027-01-01+23%3A59%3A59&starts_after=2026-11-20+23%3A59%3A59&ends_before=2027-01-02+23%3A59%3A59&ends_after=1970-01-01+23%3A59%3A59"},
			{"exact in strict mode", "/events?strict_dates=true&start_date=2026-12-01T12:00:00%2B02:00&ends_after=now", "/events/?start_date=2026-12-01+10%3A00%3A00&ends_after=2026-11-21+12%3A00%3A00&strict_dates=1"},
			{"the default window in strict mode", "/events?strict_dates=1", "/events/?" + defaultWindow + "&strict_dates=1"},
			{"status only when sent", "/events?status=publish", "/events/?" + defaultWindow + "&status=publish"},
			{"numbers", "/events?geoloc_lat=52.50&geoloc_lng=-21", "/events/?" + defaultWindow + "&geoloc_lat=52.5&geoloc_lng=-21"},
			{"never the password", "/events?password=sesame&per_page=50", "/events/?per_page=50&" + defaultWindow},
			{"no undeclared parameter", "/organizers?context=edit&foo=bar&_method=PUT", "/organizers/"},
			{"terms", "/categories?parent=2&hide_empty=on&orderby=COUNT&order=Desc&exclude=5,6", "/categories/?exclude=5%2C6&order=Desc&orderby=COUNT&hide_empty=1&parent=2"},
		} {
			t.Run(c.name, func(t *testing.T) {
				res := api.Do(t, get(c.asked))
				if res.Status != 200 {
					t.Fatalf("%d: %s", res.Status, res.Body)
				}
				got, _ := res.Get(t, "rest_url").(string)
				if want := apitest.BaseURL + "/cal/events/v1" + c.want; got != want {
					t.Errorf("rest_url\n got %s\nwant %s", got, want)
				}
				// The address leads to the same page, and is its own address.
				again := api.Do(t, apitest.Request{Path: strings.TrimPrefix(got, apitest.BaseURL), Absolute: true})
				if again.Status != 200 {
					t.Fatalf("followed: %d: %s", again.Status, again.Body)
				}
				if next := again.Get(t, "rest_url"); next != got {
					t.Errorf("followed\n got %s\nwant %s", next, got)
				}
			})
		}
	})
}

func TestLinksLeadThroughAllPages(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		path, seen := "/pl/cal/events/v1/events?per_page=5&categories[]=music&categories[]=5&ml_language=es", []int64{}
		base := apitest.BaseURL + "/pl/cal/events/v1/events/?per_page=5&" + defaultWindow + "&categories=music%2C5&ml_language=es"
		for page := 1; path != ""; page++ {
			res := api.Do(t, apitest.Request{Path: path, Absolute: true})
			if res.Status != 200 {
				t.Fatalf("%s: %d: %s", path, res.Status, res.Body)
			}
			seen = append(seen, listedIDs(t, res, "events")...)
			at := func(page int) string {
				if page == 1 {
					return base
				}
				return fmt.Sprint(base, "&page=", page)
			}
			want := []string{"<" + at(1) + `>; rel="first"`}
			previous, _ := res.Get(t, "previous_rest_url").(string)
			next, _ := res.Get(t, "next_rest_url").(string)
			if page > 1 {
				want = append(want, "<"+at(page-1)+`>; rel="prev"`)
				if previous != at(page-1) {
					t.Errorf("previous of %d is %s", page, previous)
				}
			}
			if page < 2 {
				want = append(want, "<"+at(page+1)+`>; rel="next"`)
				if next != at(page+1) {
					t.Errorf("next of %d is %s", page, next)
				}
			}
			want = append(want, "<"+at(2)+`>; rel="last"`)
			if got := res.Header.Get("Link"); got != strings.Join(want, ", ") {
				t.Errorf("Link of page %d\n got %s\nwant %s", page, got, strings.Join(want, ", "))
			}
			path = strings.TrimPrefix(next, apitest.BaseURL)
		}
		if want := []int64{1, 2, 3, 15, 19, 17, 4, 5, 6}; !slices.Equal(seen, want) {
			t.Errorf("got %v, want %v", seen, want)
		}
		t.Run("an empty list has a first page and no last", func(t *testing.T) {
			res := api.Do(t, get("/venues?event={minimalEvent}"))
			if got, want := res.Header.Get("Link"), "<"+apitest.BaseURL+`/cal/events/v1/venues/?event=16>; rel="first"`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
		t.Run("beyond the end of terms", func(t *testing.T) {
			res := api.Do(t, get("/tags?page=3"))
			base := "<" + apitest.BaseURL + "/cal/events/v1/tags/"
			want := base + `>; rel="first", ` + base + `?page=2>; rel="prev", ` + base + `>; rel="last"`
			if got := res.Header.Get("Link"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	})
}

func TestLinksSpeakTheTimeOfTheSite(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		first := api.AddEvent(t, "First pass", "2027-10-31 00:15:00", "2027-10-31 00:45:00")
		second := api.AddEvent(t, "Second pass", "2027-10-31 01:15:00", "2027-10-31 01:45:00")
		for _, c := range []struct {
			name, asked, want string
			ids               []int64
		}{
			{"instants in the zone of the site", "start_date=2027-03-27T23:30:00Z", "start_date=2027-03-28+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59", []int64{first, second}},
			{"the second pass with its offset", "strict_dates=1&starts_after=2027-10-31T01:00:00Z", "starts_after=2027-10-31+02%3A00%3A00%2B01%3A00&strict_dates=1", []int64{second}},
			{"the first pass without", "strict_dates=1&starts_after=2027-10-31T00:00:00Z", "starts_after=2027-10-31+02%3A00%3A00&strict_dates=1", []int64{first, second}},
			{"a time in the gap as it was applied", "strict_dates=1&starts_after=2027-03-28+02:30", "starts_after=2027-03-28+03%3A30%3A00&strict_dates=1", []int64{first, second}},
		} {
			path := "/events?" + c.asked
			for range 2 { // as asked, and as linked
				res := api.Do(t, get(path))
				if got, want := res.Get(t, "rest_url"), apitest.BaseURL+"/cal/events/v1/events/?"+c.want; got != want {
					t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
				}
				listsExactly("events", c.ids...)(t, res)
				path = "/events/?" + c.want
			}
		}
	}, inZone(t, "Europe/Warsaw"))
}

func TestLinksFollowTheMountAndTheBaseURL(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const host = "https://calendar.example.org"
		api := apitest.New(t, st, func(c *handlers.Config) {
			c.Site.BaseURL = host + "/rest"
			c.Mounts = []string{"/wp-json/tribe/events/v1"}
		})
		id := api.AddEvent(t, "Event", "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		for _, c := range []struct{ name, path, base, mount string }{
			{"with the path of the base URL", "/rest/cal/events/v1", "/rest", "/cal/events/v1"},
			{"with the path of the base URL stripped", "/cal/events/v1", "/rest", "/cal/events/v1"},
			{"with a language", "/rest/es/cal/events/v1", "/rest/es", "/cal/events/v1"},
			{"stripped, with a language", "/es/cal/events/v1", "/rest/es", "/cal/events/v1"},
			{"another mount", "/rest/wp-json/tribe/events/v1", "/rest", "/wp-json/tribe/events/v1"},
			{"another mount, stripped, with a language", "/pl/wp-json/tribe/events/v1", "/rest/pl", "/wp-json/tribe/events/v1"},
		} {
			t.Run(c.name, func(t *testing.T) {
				res := api.Do(t, apitest.Request{Absolute: true, Path: c.path + "/events?per_page=1"})
				if res.Status != 200 {
					t.Fatalf("%d: %s", res.Status, res.Body)
				}
				allChecks(
					showsMember(fmt.Sprintf(`"%s%s%s/events/?per_page=1&%s"`, host, c.base, c.mount, defaultWindow), "rest_url"),
					showsMember(fmt.Sprintf(`"%s%s%s/events/%d"`, host, c.base, c.mount, id), "events", 0, "rest_url"),
					showsMember(fmt.Sprintf(`"%s%s/event/event/"`, host, c.base), "events", 0, "url"),
					showsMember(fmt.Sprintf(`"calendar.example.org/rest?id=%d"`, id), "events", 0, "global_id"),
				)(t, res)
				index := api.Do(t, apitest.Request{Absolute: true, Path: c.path})
				namespace := strings.TrimPrefix(strings.TrimPrefix(c.mount, "/wp-json"), "/")
				allChecks(
					showsMember(fmt.Sprintf("%q", namespace), "namespace"),
					showsMember(fmt.Sprintf("%q", host+c.base+"/"), "_links", "up", 0, "href"),
					showsMember(fmt.Sprintf("%q", host+c.base+c.mount+"/events"), "routes", "/"+namespace+"/events", "_links", "self", 0, "href"),
				)(t, index)
			})
		}
		for _, path := range []string{"/restful/cal/events/v1", "/rest/rest/cal/events/v1", "/rest/cal/events/v2", "/tribe/events/v1", "/es/rest/cal/events/v1", "/es/pl/cal/events/v1", "/de/cal/events/v1", "/ES/cal/events/v1", "/cal/events/v1x/events"} {
			if res := api.Do(t, apitest.Request{Absolute: true, Path: path}); res.Status != 404 {
				t.Errorf("%s: got %d, want 404", path, res.Status)
			}
		}
	})
}

// TestBaseURLThatLooksLikeTheAPI serves the API below a base URL whose path ends like the beginning of the API's
// paths.
func TestBaseURLThatLooksLikeTheAPI(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	api := apitest.New(t, st, func(c *handlers.Config) { c.Site.BaseURL = "https://host/cal/" })
	for _, path := range []string{"/cal/events/v1/venues", "/cal/cal/events/v1/venues", "/pl/cal/events/v1/venues", "/cal/pl/cal/events/v1/venues"} {
		res := api.Do(t, apitest.Request{Absolute: true, Path: path})
		if res.Status != 200 {
			t.Errorf("%s: got %d", path, res.Status)
			continue
		}
		if got, _ := res.Get(t, "rest_url").(string); !strings.HasPrefix(got, "https://host/cal/") || !strings.HasSuffix(got, "/cal/events/v1/venues/") {
			t.Errorf("%s: rest_url is %s", path, got)
		}
	}
}

func TestListsCostNoStatementPerRow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var statements atomic.Int64
		name := map[string]string{"mysql": dialect.MySQL, "sqlite": dialect.SQLite}[st.Engine()]
		counting := dialect.DebugWithContext(entsql.OpenDB(name, st.DB), func(context.Context, ...any) { statements.Add(1) })
		api := apitest.New(t, st, func(c *handlers.Config) { c.Primary = ent.NewClient(ent.Driver(counting)) })
		api.Serve(api.Uncached()) // no other process sends statements
		api.Example(t)            // for its image
		api.SignIn(t, "editor", calendar.Editor)
		fill(t, api)
		for _, path := range []string{
			"/events?start_date=2027-01-01", "/events?ml_language=pl&start_date=2027-01-01", "/events?password=x&start_date=2027-01-01",
			"/venues?has_events=1", "/venues?ml_language=pl&has_events=1", "/organizers?has_events=1&ml_language=pl",
			"/categories?parent=2&exclude=3", "/categories?parent=2&exclude=3&ml_language=pl", "/tags?exclude=4&ml_language=pl",
		} {
			var counts []int64
			for _, perPage := range []int{1, 10, 50} {
				before := statements.Load()
				res := api.Do(t, getAs("editor", fmt.Sprintf("%s&per_page=%d", path, perPage)))
				if res.Status != 200 {
					t.Fatalf("%s: %d: %s", path, res.Status, res.Body)
				}
				collection := strings.TrimPrefix(strings.Split(path, "?")[0], "/")
				if got := len(listedIDs(t, res, collection)); got != perPage {
					t.Fatalf("%s: %d items on a page of %d", path, got, perPage)
				}
				counts = append(counts, statements.Load()-before)
			}
			if counts[0] == 0 || counts[1] != counts[0] || counts[2] != counts[0] {
				t.Errorf("%s: %v statements for 1, 10 and 50 rows", path, counts)
			}
		}
	})
}

// TestInlineImagesCostNoStatementEach sends inline venues whose images are copied from representations. It checks
// that images do not cost one SQL statement each.
func TestInlineImagesCostNoStatementEach(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var statements atomic.Int64
		name := map[string]string{"mysql": dialect.MySQL, "sqlite": dialect.SQLite}[st.Engine()]
		counting := dialect.DebugWithContext(entsql.OpenDB(name, st.DB), func(context.Context, ...any) { statements.Add(1) })
		api := apitest.New(t, st, func(c *handlers.Config) { c.Primary = ent.NewClient(ent.Driver(counting)) })
		api.Serve(api.Uncached())
		var counts []int64
		for _, n := range []int{1, 100} {
			venues := make([]object, n)
			for i := range venues {
				venues[i] = object{"venue": fmt.Sprint("Hall ", i), "image": object{"id": 14 + i}}
			}
			before := statements.Load()
			res := api.Do(t, post("", "/events", concert(object{"venue": venues})))
			if res.Status != 401 && res.Status != 400 {
				t.Fatalf("%d: %s", res.Status, res.Body)
			}
			counts = append(counts, statements.Load()-before)
		}
		if counts[0] == 0 || counts[1] != counts[0] {
			t.Errorf("%v statements for 1 and 100 venues", counts)
		}
	})
}

// fill adds sixty events. Each has its own venue, organizer, categories and tag, all with pictures and Polish
// texts.
func fill(t *testing.T, api *apitest.API) {
	t.Helper()
	db, languages := api.Store.Ent, calendar.LanguagesOf(calendar.English, calendar.Polish)
	for i := range 60 {
		name := fmt.Sprint("No ", i)
		e := api.AddEvent(t, name, "2027-01-01 10:00:00", "2027-01-01 11:00:00", func(c *ent.EventCreate) {
			c.SetImageID(14).SetLanguages(languages).SetPasswordHash(make([]byte, 32))
		})
		v := api.AddVenue(t, name, func(c *ent.VenueCreate) { c.SetImageID(14).SetLanguages(languages) })
		o := api.AddOrganizer(t, name, func(c *ent.OrganizerCreate) { c.SetImageID(14).SetLanguages(languages) })
		category := api.AddTerm(t, calendar.Category, name, func(c *ent.TermCreate) { c.SetParentID(2).SetLanguages(languages) })
		tag := api.AddTerm(t, calendar.Tag, name, func(c *ent.TermCreate) { c.SetLanguages(languages) })
		api.LinkVenues(t, e, v)
		api.LinkOrganizers(t, e, o)
		api.LinkTerms(t, e, category, tag)
		for _, err := range []error{
			db.EventTranslation.Create().SetEventID(e).SetLanguage(calendar.Polish).SetTitle("Nr").Exec(t.Context()),
			db.VenueTranslation.Create().SetVenueID(v).SetLanguage(calendar.Polish).SetName("Nr").Exec(t.Context()),
			db.OrganizerTranslation.Create().SetOrganizerID(o).SetLanguage(calendar.Polish).SetName("Nr").Exec(t.Context()),
			db.TermTranslation.Create().SetTermID(category).SetLanguage(calendar.Polish).SetName("Nr").Exec(t.Context()),
			db.TermTranslation.Create().SetTermID(tag).SetLanguage(calendar.Polish).SetName("Nr").Exec(t.Context()),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
