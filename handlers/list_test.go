package handlers_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// getAs returns a GET request of a signed-in user.
func getAs(login, path string) apitest.Request { return apitest.Request{As: login, Path: path} }

// listedIDs returns the ids of a list in its order. key is the member with the list, such as "events".
func listedIDs(t *testing.T, r apitest.Response, key string) []int64 {
	t.Helper()
	items, ok := r.Get(t, key).([]any)
	if !ok {
		t.Fatalf("no list %s in %s", key, r.Body)
	}
	ids := make([]int64, len(items))
	for i, item := range items {
		id, ok := valueAt(item, "id").(float64)
		if !ok {
			t.Fatalf("%s %d has no id in %s", key, i, r.Body)
		}
		ids[i] = int64(id)
	}
	return ids
}

// listsExactly returns a check that a page has exactly these ids, in this order.
func listsExactly(key string, want ...int64) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		if diff := cmp.Diff(append([]int64{}, want...), listedIDs(t, r, key)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// hasInvalid returns a check that a 400 names exactly these parameters. A parameter may be followed by its reason.
func hasInvalid(want ...string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		details, _ := r.Get(t, "data", "details").(map[string]any)
		params, ok := r.Get(t, "data", "params").(map[string]any)
		if !ok {
			t.Fatalf("no params in %s", r.Body)
		}
		got := make([]string, 0, len(params))
		for name := range params {
			if d, ok := details[name].(map[string]any); ok {
				name += " " + fmt.Sprint(d["code"])
			}
			got = append(got, name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("invalid parameters (-want +got):\n%s in %s", diff, r.Body)
		}
	}
}

func inZone(t *testing.T, name string) apitest.Option {
	t.Helper()
	zone, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	return func(c *handlers.Config) { c.Site.Zone = zone }
}

func TestEventListOfTheExample(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		all := []int64{16, 1, 2, 3, 22, 15, 19, 17, 4, 5, 6, 18}
		api.Run(t, []apitest.Case{
			{Name: "by start, then id; not past, hidden, trashed or drafts", Request: get("/events?per_page=50"), Status: 200, Check: listsExactly("events", all...)},
			{Name: "page size of the site", Request: get("/events"), Status: 200, Check: listsExactly("events", all[:10]...)},
			{Name: "second page", Request: get("/events?page=2"), Status: 200, Check: listsExactly("events", all[10:]...)},
			{Name: "editors see drafts", Request: getAs("admin", "/events?per_page=50"), Status: 200, Check: listsExactly("events", append(slices.Clone(all), 20)...)},
			{Name: "hidden for editors too, include as well", Request: getAs("admin", "/events?include={hiddenEvent},{minimalEvent}"), Status: 200, Check: listsExactly("events", minimalEvent)},
			{Name: "trash only when asked for", Request: getAs("admin", "/events?status=trash&per_page=50"), Status: 200, Check: listsExactly("events", trashedEvent)},

			{Name: "include ignores the window, by publication then id", Request: get("/events?include={minimalEvent},{jazzNight},{longGone},{longGone},999999"), Status: 200, Check: listsExactly("events", longGone, jazzNight, minimalEvent)},
			{Name: "include ignores date filters", Request: get("/events?include={longGone}&starts_after=2030-01-01&start_date=2030-01-01&end_date=2020-01-01&strict_dates=1"), Status: 200, Check: listsExactly("events", longGone)},
			{Name: "include with another filter", Request: get("/events?include={jazzNight},{musicWalk}&featured=1"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "include, repeated key", Request: get("/events?include[]={jazzNight}&include[]={musicWalk}"), Status: 200, Check: listsExactly("events", jazzNight, musicWalk)},
			{Name: "include, CSV with spaces and empty items", Request: get("/events?include={jazzNight},%2017,,"), Status: 200, Check: listsExactly("events", jazzNight, musicWalk)},
			{Name: "include beyond int64", Request: get("/events?include=99999999999999999999"), Status: 200, Check: listsExactly("events")},

			{Name: "category and its descendants", Request: get("/events?categories={music}&per_page=50"), Status: 200, Check: listsExactly("events", morningSong, eveningSong, choir, jazzNight, jazzFestival, musicWalk, organHour, openStage)},
			{Name: "category without parents", Request: get("/events?categories={jazz}"), Status: 200, Check: listsExactly("events", jazzNight, jazzFestival)},
			{Name: "category by slug, any case", Request: get("/events?categories=JAZZ"), Status: 200, Check: listsExactly("events", jazzNight, jazzFestival)},
			{Name: "categories are alternatives, ids and slugs mixed", Request: get("/events?categories=jazz,{sport}"), Status: 200, Check: listsExactly("events", jazzNight, jazzFestival, cityRun)},
			{Name: "tag", Request: get("/events?tags=free-entry"), Status: 200, Check: listsExactly("events", jazzNight, cityRun)},
			{Name: "filters are combined", Request: get("/events?tags={freeEntry}&categories=sport"), Status: 200, Check: listsExactly("events", cityRun)},
			{Name: "venue", Request: get("/events?venue={grandHall}"), Status: 200, Check: listsExactly("events", jazzNight, museumNight)},
			{Name: "venues are alternatives and repeat nothing", Request: get("/events?venue={grandHall},{bareVenue}"), Status: 200, Check: listsExactly("events", jazzNight, jazzFestival, museumNight)},
			{Name: "organizer", Request: get("/events?organizer[]={bob}&organizer[]={alice}"), Status: 200, Check: listsExactly("events", jazzNight, museumNight)},
			{Name: "featured", Request: get("/events?featured=yes"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "not featured", Request: get("/events?featured=off&venue={grandHall}"), Status: 200, Check: listsExactly("events", museumNight)},
			{Name: "ticketed, but not a protected one", Request: get("/events?ticketed=TRUE"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "ticketed, with the password", Request: get("/events?ticketed=TRUE&password=sesame"), Status: 200, Check: listsExactly("events", membersOnly, jazzNight)},
			{Name: "with a located venue", Request: get("/events?geoloc=1"), Status: 200, Check: listsExactly("events", jazzNight, museumNight)},
			{Name: "without a located venue", Request: get("/events?geoloc=0&organizer={bob}&per_page=50"), Status: 200, Check: listsExactly("events")},
			{Name: "without any venue is not located", Request: get("/events?geoloc=0&categories={jazz}"), Status: 200, Check: listsExactly("events", jazzFestival)},

			{Name: "contradicting dates", Request: get("/events?start_date=2026-12-10&end_date=2026-12-01"), Status: 200, Check: listsExactly("events")},
			{Name: "the past, explicitly", Request: get("/events?start_date=2026-09-01&end_date=2026-11-01"), Status: 200, Check: listsExactly("events", longGone)},
			{Name: "the past, by the end of it", Request: get("/events?ends_before=2026-11-01"), Status: 200, Check: listsExactly("events", longGone)},
			{Name: "one default stays without the other", Request: get("/events?end_date=2026-12-01"), Status: 200, Check: listsExactly("events", minimalEvent)},
			{Name: "the defaults vanish, explicit dates stay", Request: get("/events?starts_before=2026-12-02&start_date=2026-12-01"), Status: 200, Check: listsExactly("events", minimalEvent, morningSong, eveningSong)},
			{Name: "all that has begun", Request: get("/events?starts_before=2026-12-01"), Status: 200, Check: listsExactly("events", longGone, minimalEvent)},
			{Name: "seconds since 1970", Request: get("/events?start_date=1796223600&end_date=2026-12-03"), Status: 200, Check: listsExactly("events", morningSong, eveningSong, choir)},
			{Name: "words", Request: get("/events?per_page=50&start_date=first+wednesday+of+december+2026&end_date=next+month"), Status: 200, Check: listsExactly("events", morningSong, eveningSong, choir, membersOnly, jazzNight, jazzFestival, musicWalk, organHour, openStage, cityRun, museumNight)},
			{Name: "Polish words", Request: get("/events?start_date=za+10+dni&end_date=" + url.QueryEscape("2 december 2026")), Status: 200, Check: listsExactly("events", minimalEvent, morningSong, eveningSong)},

			{Name: "unknown parameters are ignored", Request: get("/events?venue_id=x&_envelope=1&_embed&context=edit&_locale=user&_jsonp=f&include={jazzNight}"), Status: 200, Check: listsExactly("events", jazzNight)},
			{Name: "the last of a repeated scalar", Request: get("/events?per_page=x&per_page=1"), Status: 200, Check: listsExactly("events", minimalEvent)},
			{Name: "a body on a read carries nothing", Request: apitest.Request{Path: "/events?per_page=1", JSON: "{"}, Status: 200, Check: listsExactly("events", minimalEvent)},
		})
	})
}

// Codes of refused parameters, as hasInvalid takes them after the name of the parameter.
const (
	invalidType = " rest_invalid_type"
	invalidDate = " rest_invalid_date"
	outOfBounds = " rest_out_of_bounds"
	unknownIDs  = " unknown-ids"
)

// refusals are cases of list requests with invalid parameters.
type refusals []apitest.Case

// add adds a path that must be refused with the faults in want (see hasInvalid).
func (c *refusals) add(login, path string, want ...string) {
	*c = append(*c, apitest.Case{
		Name: strings.TrimSpace(login + " " + path), Request: getAs(login, path),
		Status: 400, Code: "rest_invalid_param", Check: hasInvalid(want...),
	})
}

// addOfEveryList adds refusals of the parameters that all lists have.
func (c *refusals) addOfEveryList() {
	for _, collection := range []string{"events", "venues", "organizers", "categories", "tags"} {
		for _, name := range []string{"page", "per_page"} {
			for _, value := range []string{"0", "-1", "-99999999999999999999"} {
				c.add("", "/"+collection+"?"+name+"="+value, name+outOfBounds)
			}
			for _, value := range []string{"1.5", "", "abc", "1e1", "0x1", "+1", "%201", "1,2"} {
				c.add("", "/"+collection+"?"+name+"="+value, name+invalidType)
			}
			c.add("", "/"+collection+"?"+name+"[a]=1", name+invalidType)
		}
		c.add("", "/"+collection+"?search=%20", "search")
		c.add("", "/"+collection+"?search[]=a", "search"+invalidType)
		c.add("", "/"+collection+"?search="+strings.Repeat("x", 401), "search"+outOfBounds)
		c.add("", "/"+collection+"?search=%00", "search")
		c.add("", "/"+collection+"?ml_language=de", "ml_language rest_not_in_enum")
		c.add("", "/"+collection+"?ml_language=", "ml_language rest_not_in_enum")
		c.add("", "/"+collection+"?ml_language=EN", "ml_language rest_not_in_enum")
	}
}

// addOfEvents adds refusals of the parameters of lists of events.
func (c *refusals) addOfEvents() {
	for _, name := range []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"} {
		for _, value := range []string{"", "soon", "2026-02-30", "2026-13-01", "10000-01-01", "1.5", "99999999999999999"} {
			c.add("", "/events?"+name+"="+value, name+invalidDate)
		}
		c.add("", "/events?"+name+"[]=2026-12-01", name+invalidDate)
	}
	for _, name := range []string{"strict_dates", "featured", "ticketed", "geoloc"} {
		for _, value := range []string{"", "maybe", "2", "-1"} {
			c.add("", "/events?"+name+"="+value, name+invalidType)
		}
	}
	for _, name := range []string{"categories", "tags", "venue", "organizer", "include", "status"} {
		c.add("", "/events?"+name+"=", name)
		c.add("", "/events?"+name+"=,%20,", name)
	}
	c.add("", "/events?categories=nothing", "categories")
	c.add("", "/events?categories=2,nothing", "categories")
	c.add("", "/events?categories=4", "categories"+unknownIDs)
	c.add("", "/events?tags=2,4,99", "tags"+unknownIDs)
	c.add("", "/events?tags[a]=4", "tags"+invalidType)
	c.add("", "/events?venue=abc", "venue"+invalidType)
	c.add("", "/events?venue=grand-hall", "venue"+invalidType)
	c.add("", "/events?venue=12", "venue"+unknownIDs)
	c.add("", "/events?venue=10,0", "venue"+unknownIDs)
	c.add("", "/events?organizer=10,999999", "organizer"+unknownIDs)
	c.add("", "/events?include=0", "include"+outOfBounds)
	c.add("", "/events?include=15,-3", "include"+outOfBounds)
	c.add("", "/events?include=15,x", "include"+invalidType)
	c.add("", "/events?post_parent=0", "post_parent"+unknownIDs)
	c.add("", "/events?post_parent=10", "post_parent"+unknownIDs)
	c.add("", "/events?post_parent=20", "post_parent"+unknownIDs)
	c.add("admin", "/events?post_parent=21", "post_parent"+unknownIDs)
	c.add("", "/events?post_parent=x", "post_parent"+invalidType)
	c.add("", "/events?geoloc_lat=10", "geoloc_lng")
	c.add("", "/events?geoloc_lng=10", "geoloc_lat")
	c.add("", "/events?geoloc_lat=90.5&geoloc_lng=-180.5", "geoloc_lat"+outOfBounds, "geoloc_lng"+outOfBounds)
	c.add("", "/events?geoloc_lat=x&geoloc_lng=1", "geoloc_lat"+invalidType)
	c.add("", "/events?geoloc=0&geoloc_lat=1&geoloc_lng=1", "geoloc")
	c.add("", "/events?geoloc_radius=0", "geoloc_radius"+outOfBounds)
	c.add("", "/events?geoloc_radius=500.1", "geoloc_radius"+outOfBounds)
	c.add("", "/events?geoloc_radius=NaN", "geoloc_radius"+invalidType)
	c.add("", "/events?password[]=x", "password"+invalidType)
}

// addOfStatuses adds refusals of statuses, and of the parameters of lists of venues and organizers.
func (c *refusals) addOfStatuses() {
	for _, collection := range []string{"events", "venues", "organizers"} {
		for _, login := range []string{"", "subscriber"} {
			c.add(login, "/"+collection+"?status=draft", "status")
			c.add(login, "/"+collection+"?status=publish,private", "status")
		}
		for _, login := range []string{"", "contributor", "admin"} {
			c.add(login, "/"+collection+"?status=any", "status")
			c.add(login, "/"+collection+"?status=published", "status")
			c.add(login, "/"+collection+"?status=Publish", "status")
		}
	}
	for _, collection := range []string{"venues", "organizers"} {
		for _, value := range []string{"0", "999999", "20", "21", "10", "-1"} {
			c.add("", "/"+collection+"?event="+value, "event"+unknownIDs)
		}
		c.add("", "/"+collection+"?event=", "event"+invalidType)
		c.add("", "/"+collection+"?has_events=", "has_events"+invalidType)
		c.add("", "/"+collection+"?only_with_upcoming=perhaps", "only_with_upcoming"+invalidType)
	}
}

// addOfTerms adds refusals of the parameters of lists of terms.
func (c *refusals) addOfTerms() {
	for _, name := range []string{"include", "exclude"} {
		c.add("", "/categories?"+name+"=", name)
		c.add("", "/categories?"+name+"=2,4", name+unknownIDs)
		c.add("", "/tags?"+name+"=2", name+unknownIDs)
		c.add("", "/tags?"+name+"=free-entry", name+invalidType)
	}
	for _, name := range []string{"order", "orderby", "slug"} {
		c.add("", "/tags?"+name+"=", name)
	}
	for _, name := range []string{"post", "event"} {
		c.add("", "/tags?"+name+"=20", name+unknownIDs)
		c.add("", "/categories?"+name+"=0", name+unknownIDs)
	}
	c.add("", "/categories?parent=0", "parent"+unknownIDs)
	c.add("", "/categories?parent=4", "parent"+unknownIDs)
	c.add("", "/categories?parent=999999", "parent"+unknownIDs)
	c.add("", "/tags?hide_empty=", "hide_empty"+invalidType)
}

func TestListParametersAreChecked(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "contributor", calendar.Contributor)
		api.SignIn(t, "subscriber", calendar.Subscriber)
		var cases refusals
		cases.addOfEveryList()
		cases.addOfEvents()
		cases.addOfStatuses()
		cases.addOfTerms()
		cases.add("admin", "/images?page=0", "page"+outOfBounds)
		cases.add("", "/images?page=0", "page"+outOfBounds) // before the permission
		cases.add("", "/events?page=0&start_date=x&featured=maybe&venue=999", "page"+outOfBounds, "start_date"+invalidDate, "featured"+invalidType, "venue"+unknownIDs)
		api.Run(t, cases)

		t.Run("faults come in the order of declaration", func(t *testing.T) {
			res := api.Do(t, get("/events?ml_language=x&ticketed=x&venue=x&tags=x&start_date=x&per_page=x"))
			const want = `"params":{"per_page":"per_page is not of type integer.","start_date":"“x” is not a date. Examples: 2026-12-05 18:00, 2026-12-05T18:00:00+01:00, tomorrow 9am, first day of next month.",` +
				`"tags":"There is no record with the slug x.","venue":"venue is not of type integer.","ticketed":"ticketed is not of type boolean.",` +
				`"ml_language":"ml_language is not one of en, pl, es."}`
			if !strings.Contains(string(res.Body), want) {
				t.Errorf("got %s, want in it %s", res.Body, want)
			}
		})
	})
}

func TestPaging(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		totals := func(total, pages string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				got := []string{
					r.Header.Get("X-TEC-Total"), r.Header.Get("X-TEC-TotalPages"),
					fmt.Sprint(r.Get(t, "total")), fmt.Sprint(r.Get(t, "total_pages")),
				}
				if diff := cmp.Diff([]string{total, pages, total, pages}, got); diff != "" {
					t.Error(diff)
				}
			}
		}
		none := func(key string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				listsExactly(key)(t, r)
				totals("0", "0")(t, r)
				for _, name := range []string{"next_rest_url", "previous_rest_url"} {
					if strings.Contains(string(r.Body), name) {
						t.Errorf("%s in %s", name, r.Body)
					}
				}
			}
		}
		beyond := func(key, prev string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				listsExactly(key)(t, r)
				if got := r.Get(t, "previous_rest_url"); got != apitest.BaseURL+"/cal/events/v1/"+prev {
					t.Errorf("previous is %v, want %s", got, prev)
				}
				if strings.Contains(string(r.Body), "next_rest_url") {
					t.Errorf("next in %s", r.Body)
				}
				if r.Header.Get("X-TEC-Total") == "0" {
					t.Error("the total is that of all pages")
				}
			}
		}
		api.Run(t, []apitest.Case{
			{Name: "totals", Request: get("/events"), Status: 200, Check: totals("12", "2")},
			{Name: "a page of one", Request: get("/events?per_page=1"), Status: 200, Check: totals("12", "12")},
			{Name: "a page that fits", Request: get("/events?per_page=6"), Status: 200, Check: totals("12", "2")},
			{Name: "at most fifty", Request: get("/events?per_page=51"), Status: 200, Check: totals("12", "1")},
			{Name: "at most fifty of very many", Request: get("/events?per_page=99999999999999999999"), Status: 200, Check: totals("12", "1")},
			{Name: "venues", Request: get("/venues"), Status: 200, Check: totals("2", "1")},
			{Name: "images", Request: getAs("admin", "/images"), Status: 200, Check: totals("1", "1")},
			{Name: "no events", Request: get("/events?start_date=2030-01-01"), Status: 200, Check: none("events")},
			{Name: "no events, first page", Request: get("/events?start_date=2030-01-01&page=1"), Status: 200, Check: none("events")},
			{Name: "no venues", Request: get("/venues?event={minimalEvent}"), Status: 200, Check: none("venues")},
			{Name: "no tags", Request: get("/tags?slug=nothing"), Status: 200, Check: none("tags")},
			{Name: "beyond the events", Request: get("/events?page=3"), Status: 404, Code: "event-archive-page-not-found"},
			{Name: "far beyond the events", Request: get("/events?page=99999999999999999999"), Status: 404, Code: "event-archive-page-not-found"},
			{Name: "beyond no events", Request: get("/events?start_date=2030-01-01&page=2"), Status: 404, Code: "event-archive-page-not-found"},
			{Name: "beyond the venues", Request: get("/venues?page=2"), Status: 404, Code: "venue-archive-page-not-found"},
			{Name: "beyond the organizers", Request: get("/organizers?page=2"), Status: 404, Code: "organizer-archive-page-not-found"},
			{Name: "beyond the categories", Request: get("/categories?page=2"), Status: 200, Check: beyond("categories", "categories/")},
			{Name: "far beyond the tags", Request: get("/tags?page=9&per_page=1"), Status: 200, Check: beyond("tags", "tags/?per_page=1&page=8")},
			{Name: "beyond the images", Request: getAs("admin", "/images?page=3"), Status: 200, Check: beyond("images", "images/?page=2")},
			{Name: "beyond all numbers", Request: get("/tags?page=9223372036854775807"), Status: 200, Check: beyond("tags", "tags/?page=9223372036854775806")},
			{Name: "images are listed for who may upload", Request: get("/images"), Status: 401, Code: "rest_forbidden"},
		})
	})
}

func TestDefaultsFollowTheSiteAndTheDay(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	for _, c := range []struct{ name, zone, now, window string }{
		{"leap day", "UTC", "2028-02-29 12:00:00", "start_date=2028-02-29+00%3A00%3A00&end_date=2030-02-28+23%3A59%3A59"},
		{"tomorrow already in the zone of the site", "Asia/Tokyo", "2026-12-31 15:00:00", "start_date=2027-01-01+00%3A00%3A00&end_date=2029-01-01+23%3A59%3A59"},
		{"yesterday still", "America/New_York", "2027-01-01 04:59:59", "start_date=2026-12-31+00%3A00%3A00&end_date=2028-12-31+23%3A59%3A59"},
	} {
		now, err := time.Parse(calendar.Layout, c.now)
		must.Succeed(t, err)
		api := apitest.New(t, st, inZone(t, c.zone), func(h *handlers.Config) {
			h.Site.PerPage = 3
			h.Site.Now = func() time.Time { return now }
		})
		res := api.Do(t, get("/events"))
		if got, want := res.Get(t, "rest_url"), apitest.BaseURL+"/cal/events/v1/events/?"+c.window; got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
		args, _ := api.Do(t, get("")).Get(t, "routes", "/cal/events/v1/events", "endpoints", 0, "args").(map[string]any)
		for name, want := range map[string]any{"per_page": 3.0, "start_date": strings.NewReplacer("+", " ", "%3A", ":").Replace(c.window[len("start_date="):strings.Index(c.window, "&")])} {
			if arg, _ := args[name].(map[string]any); arg["default"] != want {
				t.Errorf("%s: default of %s is %v, want %v", c.name, name, arg["default"], want)
			}
		}
	}
	api := apitest.New(t, st, func(h *handlers.Config) { h.Site.PerPage = 3 })
	api.Example(t)
	listsExactly("events", minimalEvent, morningSong, eveningSong)(t, api.Do(t, get("/events")))
	listsExactly("events", minimalEvent, morningSong, eveningSong, choir)(t, api.Do(t, get("/events?per_page=4")))
}

// TestDateFiltersCompareInstantsInTheZoneOfTheSite lists events of a site in Warsaw around the clock changes of
// 2027-03-28 (02:00 to 03:00) and 2027-10-31 (03:00 to 02:00).
func TestDateFiltersCompareInstantsInTheZoneOfTheSite(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		warsaw := func(c *ent.EventCreate) { c.SetTimezone("Europe/Warsaw") }
		tokyo := func(c *ent.EventCreate) { c.SetTimezone("Asia/Tokyo") }
		// Today is 2026-11-21 13:00 in Warsaw.
		yesterday := api.AddEvent(t, "Yesterday", "2026-11-20 23:59:59", "2026-11-21 00:30:00", warsaw)
		today := api.AddEvent(t, "Today", "2026-11-21 00:00:00", "2026-11-21 01:00:00", warsaw)
		inTokyo := api.AddEvent(t, "In Tokyo", "2026-11-21 07:59:59", "2026-11-21 08:59:59", tokyo) // 20 November 23:59:59 here
		last := api.AddEvent(t, "Last day", "2028-11-21 23:00:00", "2028-11-21 23:59:59", warsaw)
		over := api.AddEvent(t, "Over the last day", "2028-11-21 23:00:00", "2028-11-22 00:00:00", warsaw)
		late := api.AddEvent(t, "Late on the eve", "2027-03-27 23:30:00", "2027-03-28 01:30:00", warsaw)
		early := api.AddEvent(t, "Early in spring", "2027-03-28 00:00:00", "2027-03-28 23:59:59", warsaw)
		next := api.AddEvent(t, "Day after", "2027-03-29 00:00:00", "2027-03-29 01:00:00", warsaw)
		first := api.AddEvent(t, "First pass", "2027-10-31 00:15:00", "2027-10-31 00:45:00") // 02:15 to 02:45 CEST
		second := api.AddEvent(t, "Second pass", "2027-10-31 01:15:00", "2027-10-31 01:45:00")
		midnight := api.AddEvent(t, "Midnight", "2027-11-01 00:00:00", "2027-11-01 00:00:00", warsaw)

		spring, autumn := "&end_date=2027-04-30", "start_date=2027-10-01&end_date=2027-11-30"
		query := func(q string) apitest.Request { return get("/events?per_page=50&" + q) }
		api.Run(t, []apitest.Case{
			{
				Name: "the window is today to the day 24 months later", Request: query(""), Status: 200,
				Check: listsExactly("events", today, late, early, next, first, second, midnight, last),
			},
			{
				Name: "without window", Request: query("starts_after=2020-01-01"), Status: 200,
				Check: listsExactly("events", yesterday, inTokyo, today, late, early, next, first, second, midnight, last, over),
			},

			{Name: "start_date, whole days", Request: query("start_date=2027-03-28+18:00" + spring), Status: 200, Check: listsExactly("events", early, next)},
			{Name: "start_date, strict", Request: query("start_date=2027-03-28+00:00:01&strict_dates=1" + spring), Status: 200, Check: listsExactly("events", next)},
			{Name: "start_date, strict is inclusive", Request: query("start_date=2027-03-28+00:00:00&strict_dates=1" + spring), Status: 200, Check: listsExactly("events", early, next)},
			{Name: "end_date, whole days", Request: query("start_date=2027-03-01&end_date=2027-03-28"), Status: 200, Check: listsExactly("events", late, early)},
			{Name: "end_date ends at midnight, exclusive", Request: query("start_date=2027-10-31+12:00&end_date=2027-10-31"), Status: 200, Check: listsExactly("events", first, second)},
			{Name: "end_date, strict is inclusive", Request: query("start_date=2027-03-01&end_date=2027-03-28+23:59:59&strict_dates=1"), Status: 200, Check: listsExactly("events", late, early)},
			{Name: "end_date, strict", Request: query("start_date=2027-03-01&end_date=2027-03-28+23:59:58&strict_dates=1"), Status: 200, Check: listsExactly("events", late)},
			{Name: "an instant names the day of the site", Request: query("start_date=2027-03-27T23:30:00Z" + spring), Status: 200, Check: listsExactly("events", early, next)},
			{Name: "an instant before the site's midnight", Request: query("start_date=2027-03-27T22:59:59Z" + spring), Status: 200, Check: listsExactly("events", late, early, next)},
			{Name: "a strict instant", Request: query("start_date=2027-03-27T23:00:01Z&strict_dates=1" + spring), Status: 200, Check: listsExactly("events", next)},

			{Name: "starts_before, whole days include the day", Request: query("start_date=2027-03-01&starts_before=2027-03-28"), Status: 200, Check: listsExactly("events", late, early)},
			{Name: "starts_before, strict is exclusive", Request: query("start_date=2027-03-01&starts_before=2027-03-28+00:00&strict_dates=1"), Status: 200, Check: listsExactly("events", late)},
			{Name: "starts_after, whole days exclude the day", Request: query("starts_after=2027-03-27" + spring), Status: 200, Check: listsExactly("events", early, next)},
			{Name: "starts_after, strict is exclusive", Request: query("starts_after=2027-03-28+00:00&strict_dates=1" + spring), Status: 200, Check: listsExactly("events", next)},
			{Name: "ends_before, whole days include the day", Request: query("ends_before=2027-03-28&start_date=2027-03-01"), Status: 200, Check: listsExactly("events", late, early)},
			{Name: "ends_before, strict is exclusive", Request: query("ends_before=2027-03-28+23:59:59&start_date=2027-03-01&strict_dates=1"), Status: 200, Check: listsExactly("events", late)},
			{Name: "ends_after, whole days exclude the day", Request: query("ends_after=2027-03-27" + spring), Status: 200, Check: listsExactly("events", late, early, next)},
			{Name: "ends_after, strict is exclusive", Request: query("ends_after=2027-03-28+23:59:59&strict_dates=1" + spring), Status: 200, Check: listsExactly("events", next)},
			{Name: "overlap", Request: query("ends_after=2027-03-28+01:00&starts_before=2027-03-29+00:00&strict_dates=1"), Status: 200, Check: listsExactly("events", late, early)},
			{Name: "a time in the gap moves forward", Request: query("ends_after=2027-03-28+02:30&starts_before=2027-03-28+04:00&strict_dates=1"), Status: 200, Check: listsExactly("events", early)},

			{Name: "the day of the change is 25 hours long", Request: query("start_date=2027-10-31&end_date=2027-10-31"), Status: 200, Check: listsExactly("events", first, second)},
			{Name: "a doubled hour is the first pass", Request: query(autumn + "&starts_after=2027-10-31+02:15&strict_dates=1"), Status: 200, Check: listsExactly("events", second, midnight)},
			{Name: "the second pass by its offset", Request: query(autumn + "&starts_after=" + url.QueryEscape("2027-10-31 02:15:00+01:00") + "&strict_dates=1"), Status: 200, Check: listsExactly("events", midnight)},
		})
	}, inZone(t, "Europe/Warsaw"))
}

func TestLastDayOfAllIsADay(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		soon := api.AddEvent(t, "Soon", "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		last := api.AddEvent(t, "Last second", "9999-12-31 23:59:59", "9999-12-31 23:59:59")
		query := func(q string) apitest.Request { return get("/events?" + q) }
		api.Run(t, []apitest.Case{
			{Name: "end_date", Request: query("end_date=9999-12-31"), Status: 200, Check: listsExactly("events", soon, last)},
			{Name: "starts_before", Request: query("starts_before=9999-12-31"), Status: 200, Check: listsExactly("events", soon, last)},
			{Name: "ends_before", Request: query("ends_before=9999-12-31"), Status: 200, Check: listsExactly("events", soon, last)},
			{Name: "starts_after", Request: query("starts_after=9999-12-31"), Status: 200, Check: listsExactly("events")},
			{Name: "ends_after", Request: query("ends_after=9999-12-31"), Status: 200, Check: listsExactly("events")},
			{Name: "the day before", Request: query("end_date=9999-12-30"), Status: 200, Check: listsExactly("events", soon)},
			{Name: "after the day before", Request: query("ends_after=9999-12-30"), Status: 200, Check: listsExactly("events", last)},
		})
	}, inZone(t, "America/New_York"))
}
