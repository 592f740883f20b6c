package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// indexedAndPlain runs a test twice: once with lists found by the index, once by the database.
func indexedAndPlain(t *testing.T, test func(t *testing.T, api *apitest.API)) {
	t.Helper()
	t.Parallel()
	eachFinder(t, func(t *testing.T, st *store.Store, options []apitest.Option) { test(t, apitest.New(t, st, options...)) })
}

// eachFinder runs a test with the index and without it. The test must pass options to apitest.New. If
// storetest.IsBrief, it runs on SQLite with the index and on MySQL without it.
func eachFinder(t *testing.T, test func(t *testing.T, st *store.Store, options []apitest.Option)) {
	t.Helper()
	for name, options := range map[string][]apitest.Option{"indexed": nil, "plain": {apitest.Unindexed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if storetest.IsBrief(st) && (name == "indexed") != (st.Engine() == "sqlite") {
					t.Skip("the other engine runs it")
				}
				test(t, st, options)
			})
		})
	}
}

func TestProbingByDistanceDoesNotLocateAPrivateVenue(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		concert := api.AddEvent(t, "Concert", "2026-12-01 10:00:00", "2026-12-01 12:00:00")
		venue := api.AddVenue(t, "House of a member", func(v *ent.VenueCreate) {
			v.SetStatus(calendar.Private).SetLatitude(52.2297).SetLongitude(21.0122)
		})
		api.LinkVenues(t, concert, venue)
		api.Reindex(t)
		// probe shortens the radius again and again around the centres that find the concert.
		probe := func() (lat, lng, radius float64, found int) {
			lat, lng, radius = 52, 20.5, 60
			finds := func(lat, lng, radius float64) bool {
				r := api.Do(t, apitest.Request{
					Path: fmt.Sprintf("/events?geoloc_lat=%.5f&geoloc_lng=%.5f&geoloc_radius=%.5f&_fields=total", lat, lng, radius),
				})
				return r.Get(t, "total") == 1.0
			}
			for radius > 0.01 {
				next := false
				step := radius / 2 / 111.2 // degrees of latitude
				for i := range 25 {
					y, x := lat+step*float64(i/5-2), lng+step*float64(i%5-2)*1.7
					if next = finds(y, x, radius*0.75); next {
						lat, lng, found = y, x, found+1
						break
					}
				}
				if !next {
					return lat, lng, radius, found
				}
				radius *= 0.75
			}
			return lat, lng, radius, found
		}
		if lat, lng, radius, found := probe(); found > 0 {
			t.Errorf("%d probes lead to %.4f, %.4f within %.3f km", found, lat, lng, radius)
		}
		for path, total := range map[string]float64{"/events?geoloc=1": 0, "/events?geoloc=0": 1} {
			if got := api.Do(t, apitest.Request{Path: path}).Get(t, "total"); got != total {
				t.Errorf("%s: total %v, want %v", path, got, total)
			}
		}
		// The same probes locate a venue that every caller may read.
		must.Succeed(t, api.Store.Ent.Venue.UpdateOneID(venue).SetStatus(calendar.Publish).Exec(t.Context()))
		if lat, lng, radius, _ := probe(); radius > 0.01 {
			t.Errorf("the probes end at %.4f, %.4f within %.3f km", lat, lng, radius)
		}
	})
}

func TestAHiddenIDIsAnsweredAsOneThatNeverExisted(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		other := api.SignIn(t, "other", calendar.Author)
		for _, role := range []calendar.Role{calendar.Subscriber, calendar.Contributor, calendar.Author} {
			api.SignIn(t, string(role), role)
		}
		// Ids have as many digits as the unknown one.
		records := make([]*ent.RecordCreate, 1000)
		for i := range records {
			records[i] = api.Store.Ent.Record.Create().SetKind(calendar.Image)
		}
		must.Succeed(t, api.Store.Ent.Record.CreateBulk(records...).Exec(t.Context()))
		const unknown = int64(9999)
		hidden := map[string][]int64{}
		for _, status := range []calendar.Status{calendar.Draft, calendar.Pending, calendar.Private, calendar.Future, calendar.Trash} {
			name, published := "Hidden "+string(status), apitest.Now.AddDate(1, 0, 0)
			hidden["venue"] = append(hidden["venue"], api.AddVenue(t, name, func(v *ent.VenueCreate) {
				v.SetStatus(status).SetPublishedAt(published).SetAuthorID(other)
			}))
			hidden["organizer"] = append(hidden["organizer"], api.AddOrganizer(t, name, func(o *ent.OrganizerCreate) {
				o.SetStatus(status).SetPublishedAt(published).SetAuthorID(other)
			}))
			hidden["event"] = append(hidden["event"], api.AddEvent(t, name, "2026-12-01 10:00:00", "2026-12-01 12:00:00", func(e *ent.EventCreate) {
				e.SetStatus(status).SetPublishedAt(published).SetAuthorID(other)
			}))
		}
		same := func(as string, ask func(id int64) apitest.Request, id int64) {
			t.Helper()
			answer := func(id int64) string {
				req := ask(id)
				req.As = as
				r := api.Do(t, req)
				r.Header.Del("X-Request-Id")
				r.Header.Del("Date")
				r.Header.Del("Etag")
				return strings.ReplaceAll(fmt.Sprint(r.Status, r.Header, string(r.Body)), fmt.Sprint(id), "ID")
			}
			got, want := answer(id), answer(unknown)
			if !strings.HasPrefix(want, "400 ") {
				t.Errorf("as %q, %s %s: %s", as, ask(unknown).Method, ask(unknown).Path, want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("as %q, %s %s (-unknown +hidden): %s", as, ask(id).Method, ask(id).Path, diff)
			}
		}
		get := func(path string) func(int64) apitest.Request {
			return func(id int64) apitest.Request { return apitest.Request{Path: fmt.Sprint(path, id)} }
		}
		create := func(field string, value func(int64) any) func(int64) apitest.Request {
			return func(id int64) apitest.Request {
				return apitest.Request{Method: "POST", Path: "/events", JSON: map[string]any{
					"title": "New", "start_date": "2026-12-01", "end_date": "2026-12-01", field: value(id),
				}}
			}
		}
		plain := func(id int64) any { return id }
		object := func(id int64) any { return []any{map[string]any{"id": id}} }
		for kind, asks := range map[string][]func(int64) apitest.Request{
			"venue": {get("/events?venue="), create("venue", plain), create("venue", object)},
			"organizer": {
				get("/events?organizer="), create("organizer", plain), create("organizer", object),
			},
			"event": {
				get("/events?post_parent="), get("/venues?event="), get("/organizers?event="), get("/categories?event="),
				get("/categories?post="), get("/tags?event="), get("/tags?post="), create("post_parent", plain),
			},
		} {
			for _, id := range hidden[kind] {
				for _, ask := range asks {
					for _, as := range []string{"", "subscriber", "contributor", "author"} {
						same(as, ask, id)
					}
				}
			}
		}
	})
}

// unguardedParameters are the parameters of GET /events, besides columns, that a password does not guard.
var unguardedParameters = []string{
	"format", "page", "per_page", "start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after", "strict_dates",
	"status", "include", "series", "password", "ml_language",
}

// guardedValues returns, for each parameter that could reveal a protected event, values that match the event of
// addGuardedEvent. A flag has both values. public lists the parameters that reveal nothing.
func guardedValues() (values map[string][]string, public []string) {
	values = map[string][]string{
		"search": {"quartet", "-drums"}, "geoloc": {"1", "0"}, "geoloc_lat": {"52.5&geoloc_lng=13.4"}, "geoloc_lng": {"13.4&geoloc_lat=52.5"},
		"geoloc_radius": {"30&geoloc_lat=52.5&geoloc_lng=13.4"},
	}
	public = slices.Clone(unguardedParameters)
	for _, c := range read.EventColumns() {
		switch {
		case c.Public:
			public = append(public, c.Name)
		case c.Kind == query.FlagKind:
			values[c.Name] = []string{"1", "0"}
		case c.Kind == query.WordKind:
			values[c.Name] = []string{wordOf(c)}
		default:
			values[c.Name] = []string{strings.ToUpper(string(c.LinksTo))}
		}
	}
	return values, public
}

// addGuardedEvent adds an event with the password "sesame", and a linked record of every kind. In a text, ids
// replaces the name of a kind by the id of its record.
func addGuardedEvent(t *testing.T, api *apitest.API, owner int64) (ids *strings.Replacer) {
	t.Helper()
	event := api.AddEvent(t, "Quartet", "2026-12-01 10:00:00", "2026-12-01 12:00:00", func(e *ent.EventCreate) {
		e.SetDescription("drumless").SetAuthorID(owner)
	})
	hash := edit.HashPassword(api.Key, event, "sesame")
	must.Succeed(t, api.Store.Ent.Event.UpdateOneID(event).SetPasswordHash(hash).Exec(t.Context()))
	for _, c := range read.EventColumns() {
		if c.Kind == query.WordKind {
			storetest.Exec(t, api.Store, "UPDATE events SET "+c.Field+" = '"+wordOf(c)+"'")
		}
	}
	venue := api.AddVenue(t, "Cellar", func(v *ent.VenueCreate) { v.SetLatitude(52.5).SetLongitude(13.4) })
	organizer := api.AddOrganizer(t, "Society")
	api.LinkVenues(t, event, venue)
	api.LinkOrganizers(t, event, organizer)
	jazz, late := api.AddTerm(t, calendar.Category, "Jazz"), api.AddTerm(t, calendar.Tag, "Late")
	api.LinkTerms(t, event, jazz, late)
	api.Reindex(t)
	return strings.NewReplacer("VENUE", fmt.Sprint(venue), "ORGANIZER", fmt.Sprint(organizer),
		"CATEGORY", fmt.Sprint(jazz), "TAG", fmt.Sprint(late))
}

// totalAs returns the total of the list at path, as the user as sees it.
func totalAs(t *testing.T, api *apitest.API, as, path string) float64 {
	t.Helper()
	total, _ := api.Do(t, apitest.Request{Path: path, As: as}).Get(t, "total").(float64)
	return total
}

// foundWithPassword returns the total of a list that is requested with the event's password. It also checks that
// only the owner and editors find events without it. A wrong password must find none.
func foundWithPassword(t *testing.T, api *apitest.API, path string) float64 {
	t.Helper()
	for _, as := range []string{"", "subscriber", "contributor", "author"} {
		if got := totalAs(t, api, as, path); got != 0 {
			t.Errorf("as %q: %s finds %v", as, path, got)
		}
	}
	if got := totalAs(t, api, "", path+"&password=mistaken"); got != 0 {
		t.Errorf("%s finds %v with another password", path, got)
	}
	opened := totalAs(t, api, "", path+"&password=sesame")
	for _, as := range []string{"owner", "editor"} {
		if got := totalAs(t, api, as, path); got != opened {
			t.Errorf("as %q: %s finds %v, and %v with the password", as, path, got, opened)
		}
	}
	return opened
}

func TestNoFilterFindsWhatAPasswordGuards(t *testing.T) {
	values, public := guardedValues()
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		owner := api.SignIn(t, "owner", calendar.Author)
		for _, role := range []calendar.Role{calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor} {
			api.SignIn(t, string(role), role)
		}
		ids := addGuardedEvent(t, api, owner)
		described := api.Do(t, apitest.Request{}).Get(t, "routes", "/cal/events/v1/events", "endpoints", 0, "args").(map[string]any)
		for name := range described {
			if slices.Contains(public, name) {
				continue
			}
			if values[name] == nil {
				t.Errorf("%s: say whether a password guards what it filters by", name)
			}
			found := 0.0
			for _, value := range values[name] {
				found += foundWithPassword(t, api, "/events?"+name+"="+ids.Replace(value))
			}
			if found != 1 && name != "search" || found == 0 {
				t.Errorf("%s finds %v with the password", name, found)
			}
		}
		for as, want := range map[string]float64{"": 0, "subscriber": 0, "contributor": 0, "author": 0, "owner": 1, "editor": 1} {
			for path, total := range map[string]float64{
				"/venues?has_events=1&password=sesame": want, "/venues?only_with_upcoming=1&password=sesame": want,
				"/organizers?has_events=1&password=sesame": want, "/organizers?only_with_upcoming=1&password=sesame": want,
				"/venues?has_events=0": 1 - want, "/events": 1,
			} {
				if got := totalAs(t, api, as, path); got != total {
					t.Errorf("as %q: %s finds %v, want %v", as, path, got, total)
				}
			}
		}
		// Terms keep their public count.
		if got := totalAs(t, api, "", "/categories"); got != 1 {
			t.Errorf("%v categories", got)
		}
	})
}

func TestAuthorsFindTheirProtectedDraftsInTheTrash(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		contributor := api.SignIn(t, "contributor", calendar.Contributor)
		for _, c := range []struct {
			title          string
			status, before calendar.Status
		}{
			{"Draft", calendar.Draft, ""},
			{"Private", calendar.Private, ""},
			{"Trashed draft", calendar.Trash, calendar.Draft},
			{"Trashed publication", calendar.Trash, calendar.Publish},
		} {
			id := api.AddEvent(t, c.title, "2026-12-01 10:00:00", "2026-12-01 12:00:00", func(e *ent.EventCreate) {
				e.SetStatus(c.status).SetStatusBeforeTrash(c.before).SetAuthorID(contributor).SetFeatured(true)
			})
			hash := edit.HashPassword(api.Key, id, "sesame")
			must.Succeed(t, api.Store.Ent.Event.UpdateOneID(id).SetPasswordHash(hash).Exec(t.Context()))
		}
		for _, c := range []struct{ path, want string }{
			{"/events?status=draft,private,trash", "Draft Private Trashed draft Trashed publication"},
			{"/events?status=draft,private,trash&featured=1", "Draft Trashed draft"},
			{"/events?status=draft,private,trash&featured=1&password=sesame", "Draft Private Trashed draft Trashed publication"},
		} {
			var titles []string
			var body struct{ Events []struct{ Title string } }
			api.Do(t, apitest.Request{Path: c.path, As: "contributor"}).Into(t, &body)
			for _, e := range body.Events {
				titles = append(titles, e.Title)
			}
			if got := strings.Join(titles, " "); got != c.want {
				t.Errorf("%s: got %s, want %s", c.path, got, c.want)
			}
		}
	})
}

func TestWhatIsInvalidInARefusedUpdateTellsNothingOfTheEvent(t *testing.T) {
	indexedAndPlain(t, func(t *testing.T, api *apitest.API) {
		other := api.SignIn(t, "other", calendar.Author)
		api.SignIn(t, "author", calendar.Author)
		add := func(title string, change func(*ent.EventCreate)) int64 {
			return api.AddEvent(t, title, "2026-12-01 10:00:00", "2026-12-01 12:00:00", func(e *ent.EventCreate) {
				change(e.SetStatus(calendar.Draft).SetAuthorID(other))
			})
		}
		ids := []int64{
			add("In UTC", func(*ent.EventCreate) {}),
			add("In New York", func(e *ent.EventCreate) { e.SetTimezone("America/New_York") }),
			add("Whole day", func(e *ent.EventCreate) { e.SetAllDay(true) }),
		}
		for _, as := range []string{"", "author"} {
			for _, dates := range []map[string]any{
				{"start_date": "2026-12-01T12:00:00Z", "end_date": "2026-12-01 11:30"},
				{"start_date": "2026-12-01T12:00:00Z", "end_date": "2026-12-01 12:30"},
				{"start_date": "2026-12-01 12:00", "end_date": "2026-12-01 10:00"},
				{"start_date": "2026-12-01 10:00", "end_date": "2026-12-01 12:00"},
			} {
				var want string
				for i, id := range ids {
					r := api.Do(t, apitest.Request{Method: "PATCH", Path: fmt.Sprint("/events/", id), As: as, JSON: dates})
					got := fmt.Sprint(r.Status, string(r.Body))
					if i == 0 {
						want = got
					} else if got != want {
						t.Errorf("as %q, %v: %s of event %d, %s of another", as, dates, got, id, want)
					}
				}
			}
		}
	})
}

// wordOf returns a value to store in a text column: an allowed one if the column has a fixed set.
func wordOf(c *query.Column) string {
	if c.Words != nil {
		return c.Words[len(c.Words)-1]
	}
	return "quartet"
}
