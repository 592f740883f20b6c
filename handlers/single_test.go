package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// keys returns the member names of a JSON object in their order.
func keys(t *testing.T, body []byte) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(body)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		must.Succeed(t, err)
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		must.Succeed(t, dec.Decode(&value))
	}
	return names
}

// hasKeys returns a check of the members of a body and their order. Members that were added after the contract's
// example may be anywhere.
func hasKeys(want string) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		got := slices.DeleteFunc(keys(t, r.Body), func(key string) bool { return slices.Contains(laterFields(), key) })
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
	}
}

// showsMember returns a check that the member at a path equals want, compared as JSON.
func showsMember(want string, path ...any) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		must.Succeed(t, enc.Encode(r.Get(t, path...)))
		if got := strings.TrimSpace(b.String()); got != want {
			t.Errorf("%v is %s, want %s", path, got, want)
		}
	}
}

// allChecks returns a check that runs all the given checks.
func allChecks(checks ...func(*testing.T, apitest.Response)) func(*testing.T, apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		for _, check := range checks {
			check(t, r)
		}
	}
}

var eventKeys = "id global_id global_id_lineage author status date date_utc modified modified_utc url rest_url " +
	"title description excerpt slug image all_day start_date start_date_details end_date end_date_details " +
	"utc_start_date utc_start_date_details utc_end_date utc_end_date_details timezone timezone_abbr cost " +
	"cost_details website show_map show_map_link hide_from_listings sticky featured event_status event_status_reason attendance virtual_url categories tags venue " +
	"organizer custom_fields ticketed post_parent language translations series"

func TestTargetOfAPath(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		const huge = "99999999999999999999999999"
		api.Run(t, []apitest.Case{
			{Name: "event", Request: get("/events/{minimalEvent}"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event, zeros in front", Request: get("/events/0016"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event, percent-encoded digits", Request: get("/events/%31%36"), Status: 200, Check: showsMember("16", "id")},
			{Name: "the query does not choose another", Request: get("/events/{minimalEvent}?id=15"), Status: 200, Check: showsMember("16", "id")},
			{Name: "the query does not choose another slug", Request: get("/events/by-slug/minimal-event?slug=choir"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event by slug", Request: get("/events/by-slug/minimal-event"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event by slug, normalised", Request: get("/events/by-slug/Minimal%20Event!"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event by slug, encoded slash", Request: get("/events/by-slug/minimal%2Fevent"), Status: 200, Check: showsMember("16", "id")},
			{Name: "event by the slug of a translation", Request: get("/events/by-slug/zimowy-jazz"), Status: 200, Check: showsMember("15", "id")},
			{Name: "unknown event", Request: get("/events/999999"), Status: 404, Code: "rest-event-not-found"},
			{Name: "event zero", Request: get("/events/0"), Status: 404, Code: "rest-event-not-found"},
			{Name: "event beyond int64", Request: get("/events/" + huge), Status: 404, Code: "rest-event-not-found"},
			{Name: "a venue is no event", Request: get("/events/10"), Status: 400, Code: "rest-invalid-event-id"},
			{Name: "an organizer is no event", Request: get("/events/12"), Status: 400, Code: "rest-invalid-event-id"},
			{Name: "an image is no event", Request: get("/events/14"), Status: 400, Code: "rest-invalid-event-id"},
			{Name: "unknown slug of an event", Request: get("/events/by-slug/nothing"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "slug of a venue", Request: get("/events/by-slug/grand-hall"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "slug of nothing", Request: get("/events/by-slug/%20"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "slug with NUL", Request: get("/events/by-slug/minimal-event%00"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "slug that is no UTF-8", Request: get("/venues/by-slug/%ff"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "trashed event", Request: get("/events/{trashedEvent}"), Status: 403, Code: "event-no-longer-available"},
			{Name: "trashed event for an administrator", Request: getAs("admin", "/events/{trashedEvent}"), Status: 403, Code: "event-no-longer-available"},
			{Name: "trashed event by its slug", Request: getAs("admin", "/events/by-slug/to-delete__trashed"), Status: 403, Code: "event-no-longer-available"},
			{Name: "trashed event by its old slug", Request: getAs("admin", "/events/by-slug/to-delete"), Status: 400, Code: "rest_invalid_param"},
			{Name: "draft", Request: get("/events/{secretPlans}"), Status: 403, Code: "event-not-accessible"},
			{Name: "draft for an administrator", Request: getAs("admin", "/events/{secretPlans}"), Status: 200, Check: allChecks(showsMember(`""`, "slug"), showsMember(`"http://127.0.0.1:8080/?p=20"`, "url"))},
			{Name: "hidden event", Request: get("/events/{hiddenEvent}"), Status: 200, Check: showsMember("true", "hide_from_listings")},
			{Name: "past event", Request: get("/events/{longGone}"), Status: 200},

			{Name: "venue by slug", Request: get("/venues/by-slug/bare-venue"), Status: 200, Check: showsMember("11", "id")},
			{Name: "venue zero", Request: get("/venues/0"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "venue beyond int64", Request: get("/venues/" + huge), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "an event is no venue", Request: get("/venues/15"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "an organizer is no venue", Request: get("/venues/12"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "unknown slug of a venue", Request: get("/venues/by-slug/bob"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "organizer by slug", Request: get("/organizers/by-slug/alice-co"), Status: 200, Check: showsMember("12", "id")},
			{Name: "unknown organizer", Request: get("/organizers/10"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "unknown slug of an organizer", Request: get("/organizers/by-slug/grand-hall"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("slug")},
			{Name: "a tag is no category", Request: get("/categories/4"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "a category is no tag", Request: get("/tags/2"), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "category beyond int64", Request: get("/categories/" + huge), Status: 400, Code: "rest_invalid_param", Check: hasInvalid("id")},
			{Name: "unknown image", Request: get("/images/15"), Status: 404, Code: "image-not-found"},
			{Name: "image beyond int64", Request: get("/images/" + huge), Status: 404, Code: "image-not-found"},
			{Name: "language is checked before the target", Request: get("/events/999999?ml_language=fr"), Status: 400, Code: "rest_invalid_param"},
		})
	})
}

func TestSingleRecordsFollowTheMatrix(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		users := map[string]int64{}
		for _, login := range []string{"subscriber", "contributor", "author", "editor", "administrator", "other"} {
			role := calendar.Role(login)
			if login == "other" {
				role = calendar.Author
			}
			users[login] = api.SignIn(t, login, role)
		}
		add := func(by string, s, before calendar.Status) [3]string {
			title := fmt.Sprint(by, " ", s, " ", before)
			published := apitest.Now.AddDate(0, 0, -1)
			if s == calendar.Future {
				published = apitest.Now.AddDate(0, 0, 1)
			}
			return [3]string{
				fmt.Sprint("/events/", api.AddEvent(t, title, "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
					c.SetAuthorID(users[by]).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before)
				})),
				fmt.Sprint("/venues/", api.AddVenue(t, title, func(c *ent.VenueCreate) {
					c.SetAuthorID(users[by]).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before)
				})),
				fmt.Sprint("/organizers/", api.AddOrganizer(t, title, func(c *ent.OrganizerCreate) {
					c.SetAuthorID(users[by]).SetStatus(s).SetPublishedAt(published).SetStatusBeforeTrash(before)
				})),
			}
		}
		readers := []string{"", "subscriber", "contributor", "author", "other", "editor", "administrator"}
		for _, c := range []struct {
			by             string
			status, before calendar.Status
			may            string
		}{
			{"author", calendar.Publish, "", " subscriber contributor author other editor administrator"},
			{"author", calendar.Draft, "", "author editor administrator"},
			{"author", calendar.Pending, "", "author editor administrator"},
			{"author", calendar.Private, "", "author editor administrator"},
			{"author", calendar.Future, "", "author editor administrator"},
			{"contributor", calendar.Private, "", "contributor editor administrator"},
			{"subscriber", calendar.Draft, "", "editor administrator"},
			{"author", calendar.Trash, calendar.Publish, "author editor administrator"},
			{"contributor", calendar.Trash, calendar.Draft, "contributor editor administrator"},
			{"contributor", calendar.Trash, calendar.Publish, "editor administrator"},
		} {
			for kind, path := range add(c.by, c.status, c.before) {
				name := [3]string{"event", "venue", "organizer"}[kind]
				for _, login := range readers {
					want, code := 403, name+"-not-accessible"
					switch {
					case kind == 0 && c.status == calendar.Trash:
						code = "event-no-longer-available"
					case slices.Contains(strings.Split(c.may, " "), login):
						want, code = 200, ""
					}
					api.Run(t, []apitest.Case{{
						Name:    fmt.Sprintf("%s %s's %s %s for %s", c.status, c.by, c.before, name, login),
						Request: getAs(login, path), Status: want, Code: code,
					}})
				}
			}
		}
	})
}

func TestRepresentationsKeepOrDropMembers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "editor", calendar.Editor)
		author := api.SignIn(t, "author", calendar.Author)
		bare := api.AddEvent(t, "1 < 2 & \"so\" 'on' > 0", "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		eventOf := func(title string, venues, organizers []int64, changes ...func(*ent.EventCreate)) string {
			id := api.AddEvent(t, title, "2026-12-01 10:00:00", "2026-12-01 11:00:00", changes...)
			api.LinkVenues(t, id, venues...)
			api.LinkOrganizers(t, id, organizers...)
			return fmt.Sprint("/events/", id)
		}
		venue := func(name string, changes ...func(*ent.VenueCreate)) int64 { return api.AddVenue(t, name, changes...) }
		trash := func(c *ent.VenueCreate) { c.SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Publish) }
		draft := func(c *ent.VenueCreate) { c.SetStatus(calendar.Draft).SetAuthorID(author) }
		a, b := venue("A"), venue("B & <b>")
		gone, mine := venue("Gone", trash), venue("Mine", draft)
		org := api.AddOrganizer(t, "Org")
		hers := api.AddOrganizer(t, "Hers", func(c *ent.OrganizerCreate) { c.SetStatus(calendar.Private).SetAuthorID(author) })
		lost := api.AddOrganizer(t, "Lost", func(c *ent.OrganizerCreate) {
			c.SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Draft).SetAuthorID(author)
		})
		place := func(country, state, province, written string) string {
			return fmt.Sprint("/venues/", venue(country+state+province+written, func(c *ent.VenueCreate) {
				c.SetCountry(country).SetState(state).SetProvince(province).SetStateprovince(written)
			}))
		}
		top := api.AddTerm(t, calendar.Category, "Top & Co")
		middle := api.AddTerm(t, calendar.Category, "Middle", func(c *ent.TermCreate) { c.SetParentID(top) })
		leaf := api.AddTerm(t, calendar.Category, "leaf", func(c *ent.TermCreate) { c.SetParentID(middle).SetDescription("a\n\nb") })
		tag := api.AddTerm(t, calendar.Tag, "Tag")
		carrying := api.AddEvent(t, "Carrying", "2026-12-01 10:00:00", "2026-12-01 11:00:00")
		api.LinkTerms(t, carrying, middle, leaf, tag)
		equator := fmt.Sprint("/venues/", venue("Null Island", func(c *ent.VenueCreate) { c.SetLatitude(0).SetLongitude(0) }))
		events := func(name string, venues, organizers []int64) string { return eventOf(name, venues, organizers) }
		names := func(want ...string) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				list, ok := r.Get(t, "venue").([]any)
				if !ok {
					t.Fatalf("venue is no list in %s", r.Body)
				}
				got := []string{}
				for i := range list {
					got = append(got, fmt.Sprint(r.Get(t, "venue", i, "venue")))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		}
		with := events("All", []int64{b, gone, mine, a}, []int64{lost, hers, org})
		only := events("Only", []int64{gone, a}, nil)
		left := events("Left", []int64{gone}, []int64{lost})
		const page = "http://127.0.0.1:8080"
		api.Run(t, []apitest.Case{
			{Name: "an event keeps everything", Request: get(fmt.Sprint("/events/", bare)), Status: 200, Check: allChecks(
				hasKeys(eventKeys+" json_ld"),
				showsMember(`"1 &lt; 2 &amp; \"so\" 'on' &gt; 0"`, "title"), showsMember(`"1 < 2 & \"so\" 'on' > 0"`, "json_ld", "name"),
				showsMember(`"0"`, "author"), showsMember("false", "image"), showsMember("[]", "venue"), showsMember("[]", "organizer"), showsMember("[]", "categories"),
				showsMember("[]", "tags"), showsMember("[]", "custom_fields"), showsMember("0", "post_parent"), showsMember(`""`, "cost"),
				showsMember(`{"currency_code":"","currency_position":"","currency_symbol":"","values":[]}`, "cost_details"),
				showsMember(fmt.Sprintf("%q", page+"/event/1-2-so-on-0/"), "website"), showsMember(`"en"`, "language"), showsMember(`["en"]`, "translations"),
				showsMember(`"2026-11-20 10:30:00"`, "date"), showsMember(`"2026-11-20 09:30:00"`, "date_utc"),
				showsMember(`"2026-12-01 10:00:00"`, "start_date"), showsMember(`"UTC"`, "timezone_abbr"),
				showsMember(`{"day":"01","hour":"10","minutes":"00","month":"12","seconds":"00","year":"2026"}`, "start_date_details"),
				showsMember(fmt.Sprintf(`["127.0.0.1?id=%d"]`, bare), "global_id_lineage"),
			)},
			{Name: "not in lists", Request: get(fmt.Sprint("/events?include=", bare)), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				var body struct{ Events []json.RawMessage }
				r.Into(t, &body)
				hasKeys(eventKeys)(t, apitest.Response{Body: body.Events[0]})
			}},
			{Name: "website sent empty", Request: get(eventOf("No site", nil, nil, func(c *ent.EventCreate) { c.SetWebsite("") })), Status: 200, Check: showsMember(`""`, "website")},
			{
				Name: "time in an offset zone", Request: get(eventOf("Far", nil, nil, func(c *ent.EventCreate) { c.SetTimezone("UTC+5.5") })), Status: 200,
				Check: allChecks(showsMember(`"UTC+5.5"`, "timezone_abbr"), showsMember(`"2026-12-01 04:30:00"`, "utc_start_date"), showsMember(`"2026-12-01T10:00:00+05:30"`, "json_ld", "startDate")),
			},
			{
				Name: "abbreviation at the start", Request: get(eventOf("Winter", nil, nil, func(c *ent.EventCreate) { c.SetTimezone("Europe/Warsaw") })), Status: 200,
				Check: allChecks(showsMember(`"CET"`, "timezone_abbr"), showsMember(`"2026-12-01 09:00:00"`, "utc_start_date")),
			},
			{
				Name: "paragraphs", Request: get(eventOf("Text", nil, nil, func(c *ent.EventCreate) { c.SetDescription("a\nb\n\nc") })), Status: 200,
				Check: showsMember(`"<p>a<br />\nb</p>\n<p>c</p>"`, "description"),
			},
			{Name: "child", Request: get(eventOf("Child", nil, nil, func(c *ent.EventCreate) { c.SetParentID(bare) })), Status: 200, Check: showsMember(fmt.Sprint(bare), "post_parent")},
			{Name: "children", Request: get(fmt.Sprint("/events?_fields=events.title&post_parent=", bare)), Status: 200, Check: showsMember(`[{"title":"Child"}]`, "events")},

			{Name: "several venues are a list in their order, without what may not be seen", Request: get(with), Status: 200, Check: allChecks(
				names("B &amp; &lt;b&gt;", "A"), showsMember(`"B & <b>"`, "json_ld", "location", "name"), showsMember(`"Org"`, "organizer", 0, "organizer"),
			)},
			{Name: "its author sees a draft", Request: getAs("author", with), Status: 200, Check: allChecks(
				names("B &amp; &lt;b&gt;", "Mine", "A"), showsMember(`"Hers"`, "organizer", 0, "organizer"), showsMember(`"Org"`, "organizer", 1, "organizer"),
			)},
			{Name: "nobody sees the trash", Request: getAs("editor", with), Status: 200, Check: names("B &amp; &lt;b&gt;", "Mine", "A")},
			{Name: "one that is left is an object", Request: get(only), Status: 200, Check: allChecks(showsMember(`"A"`, "venue", "venue"), showsMember("[]", "organizer"))},
			{Name: "none that is left", Request: getAs("author", left), Status: 200, Check: allChecks(showsMember("[]", "venue"), showsMember("[]", "organizer"), showsMember("null", "json_ld", "location"))},

			{Name: "a bare venue", Request: get(fmt.Sprint("/venues/", a)), Status: 200, Check: hasKeys("id status date date_utc modified modified_utc url venue slug json_ld show_map show_map_link global_id global_id_lineage language translations")},
			{Name: "a bare organizer", Request: get(fmt.Sprint("/organizers/", org)), Status: 200, Check: allChecks(
				hasKeys("id status date date_utc modified modified_utc url organizer slug json_ld global_id global_id_lineage language translations"),
				showsMember(fmt.Sprintf("%q", page+"/organizer/org/"), "url"),
			)},
			{Name: "coordinates of zero are values", Request: get(equator), Status: 200, Check: allChecks(showsMember("0", "geo_lat"), showsMember("0", "geo_lng"), showsMember("0", "json_ld", "geo", "latitude"))},
			{Name: "a trashed venue for an editor", Request: getAs("editor", fmt.Sprint("/venues/", gone)), Status: 200, Check: allChecks(showsMember(`"trash"`, "status"), showsMember(fmt.Sprintf(`"%s/?p=%d"`, page, gone), "url"))},
			{Name: "state of the United States", Request: get(place("usa", "Texas", "P", "")), Status: 200, Check: showsMember(`"Texas"`, "stateprovince")},
			{Name: "state without country", Request: get(place("", "Ohio", "P", "")), Status: 200, Check: showsMember(`"Ohio"`, "stateprovince")},
			{Name: "province elsewhere", Request: get(place("Canada", "Texas", "Quebec", "")), Status: 200, Check: showsMember(`"Quebec"`, "stateprovince")},
			{Name: "province without state", Request: get(place("US", "", "P2", "")), Status: 200, Check: showsMember(`"P2"`, "stateprovince")},
			{Name: "as written", Request: get(place("United States", "Texas", "P", "Both & all")), Status: 200, Check: showsMember(`"Both & all"`, "stateprovince")},
			{Name: "neither", Request: get(place("Canada", "Texas", "", "")), Status: 200, Check: showsMember("null", "stateprovince")},

			{Name: "address of a category", Request: get(fmt.Sprint("/categories/", leaf)), Status: 200, Check: allChecks(
				hasKeys("id count description name slug taxonomy parent meta url urls language translations"),
				showsMember(fmt.Sprintf("%q", page+"/events/category/top-co/middle/leaf/"), "url"),
				showsMember(fmt.Sprintf("%q", fmt.Sprint(page, "/cal/events/v1/categories/", middle)), "urls", "up"),
				showsMember(`"a\n\nb"`, "description"),
			)},
			{Name: "address of a category at the top", Request: get(fmt.Sprint("/categories/", top)), Status: 200, Check: allChecks(
				showsMember("0", "parent"), showsMember("null", "urls", "up"), showsMember(`"Top &amp; Co"`, "name"), showsMember("[]", "meta"),
			)},
			{Name: "address of a tag", Request: get(fmt.Sprint("/tags/", tag)), Status: 200, Check: allChecks(
				hasKeys("id count description name slug taxonomy meta url urls language translations"),
				showsMember(fmt.Sprintf("%q", page+"/tag/tag/"), "url"), showsMember(`"post_tag"`, "taxonomy"),
			)},
			{Name: "terms inside an event", Request: get(fmt.Sprint("/events/", carrying)), Status: 200, Check: allChecks(
				showsMember(`"leaf"`, "categories", 0, "name"), showsMember(`"Middle"`, "categories", 1, "name"),
				showsMember(fmt.Sprint(middle), "categories", 0, "parent"), showsMember(fmt.Sprint(leaf), "categories", 0, "term_taxonomy_id"),
				showsMember("0", "tags", 0, "parent"), showsMember(`"raw"`, "tags", 0, "filter"), showsMember("0", "tags", 0, "term_group"),
			)},
		})
	}, inZone(t, "Europe/Warsaw"))
}

func TestProtectedEvents(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		author := api.SignIn(t, "author", calendar.Author)
		api.SignIn(t, "contributor", calendar.Contributor)
		guard := func(id int64) []byte { return edit.HashPassword(api.Key, id, "a+b ż&") }
		image := int64(14)
		id := api.AddEvent(t, "Guarded & dear", "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			own, _ := c.Mutation().ID()
			c.SetPublishedAt(apitest.Now.AddDate(0, 0, -9)).SetPasswordHash(guard(own)).SetAuthorID(author).SetDescription("secret").SetExcerpt("secret").SetVirtualURL("https://meet.example/secret").SetEventStatus(calendar.Canceled).SetImageID(image).
				SetCost(calendar.Cost{Symbol: "$", Position: "prefix", Prices: []string{"10"}}).SetFeatured(true).SetAllDay(true)
		})
		api.LinkVenues(t, id, 10)
		api.LinkOrganizers(t, id, 12)
		api.LinkTerms(t, id, 2, 4)
		draft := api.AddEvent(t, "Guarded draft", "2026-12-01 10:00:00", "2026-12-01 11:00:00", func(c *ent.EventCreate) {
			own, _ := c.Mutation().ID()
			c.SetPasswordHash(guard(own)).SetAuthorID(author).SetStatus(calendar.Draft)
		})
		single, slug, list := fmt.Sprint("/events/", id), "/events/by-slug/guarded-dear", fmt.Sprint("/events?include=", id, ",22")
		right := "password=" + url.QueryEscape("a+b ż&")
		const refused = "event-password-protected"
		clear := allChecks(showsMember(`"<p>secret</p>"`, "description"), showsMember(`"https://meet.example/secret"`, "virtual_url"))
		redacted := allChecks(
			showsMember(`""`, "events", 0, "description"), showsMember(`""`, "events", 0, "excerpt"), showsMember(`""`, "events", 0, "cost"),
			showsMember(`""`, "events", 0, "website"), showsMember(`""`, "events", 0, "virtual_url"), showsMember(`"canceled"`, "events", 0, "event_status"), showsMember("false", "events", 0, "image"), showsMember("null", "events", 0, "all_day"),
			showsMember("null", "events", 0, "featured"), showsMember("null", "events", 0, "ticketed"), showsMember("null", "events", 0, "sticky"),
			showsMember("null", "events", 0, "show_map"), showsMember("null", "events", 0, "show_map_link"), showsMember("null", "events", 0, "hide_from_listings"),
			showsMember("[]", "events", 0, "venue"), showsMember("[]", "events", 0, "organizer"), showsMember("[]", "events", 0, "categories"),
			showsMember("[]", "events", 0, "tags"), showsMember("[]", "events", 0, "custom_fields"), showsMember(`"Guarded &amp; dear"`, "events", 0, "title"),
			showsMember(`"2026-12-01 10:00:00"`, "events", 0, "start_date"), showsMember(`"guarded-dear"`, "events", 0, "slug"),
			showsMember(`{"currency_code":"","currency_position":"","currency_symbol":"","values":[]}`, "events", 0, "cost_details"),
			func(t *testing.T, r apitest.Response) {
				var body struct{ Events []json.RawMessage }
				r.Into(t, &body)
				hasKeys(eventKeys)(t, apitest.Response{Body: body.Events[0]})
			},
		)
		api.Run(t, []apitest.Case{
			{Name: "without password", Request: get(single), Status: 403, Code: refused},
			{Name: "empty password", Request: get(single + "?password="), Status: 403, Code: refused},
			{Name: "wrong password", Request: get(single + "?password=a%2Bb"), Status: 403, Code: refused},
			{Name: "wrong case", Request: get(single + "?password=" + url.QueryEscape("A+b ż&")), Status: 403, Code: refused},
			{Name: "of another event", Request: get(single + "?password=sesame"), Status: 403, Code: refused},
			{Name: "right password", Request: get(single + "?" + right), Status: 200, Check: clear},
			{Name: "right password by slug", Request: get(slug + "?" + right), Status: 200, Check: clear},
			{Name: "wrong password by slug", Request: get(slug + "?password=x"), Status: 403, Code: refused},
			{Name: "its author", Request: getAs("author", single), Status: 200, Check: clear},
			{Name: "an administrator by slug", Request: getAs("admin", slug), Status: 200, Check: clear},
			{Name: "somebody else", Request: getAs("contributor", single), Status: 403, Code: refused},
			{Name: "a draft is not accessible first", Request: get(fmt.Sprint("/events/", draft, "?", right)), Status: 403, Code: "event-not-accessible"},

			{Name: "its venues", Request: get(fmt.Sprint("/venues?event=", id)), Status: 400, Code: "rest_invalid_param"},
			{Name: "its organizers", Request: get(fmt.Sprint("/organizers?event=", id)), Status: 400, Code: "rest_invalid_param"},
			{Name: "its categories", Request: get(fmt.Sprint("/categories?event=", id)), Status: 400, Code: "rest_invalid_param"},
			{Name: "its tags", Request: get(fmt.Sprint("/tags?post=", id)), Status: 400, Code: "rest_invalid_param"},
			{Name: "its venues, for somebody else", Request: getAs("contributor", fmt.Sprint("/venues?event=", id)), Status: 400, Code: "rest_invalid_param"},
			{Name: "its venues, for its author", Request: getAs("author", fmt.Sprint("/venues?event=", id)), Status: 200, Check: showsMember("10", "venues", 0, "id")},
			{Name: "found by what is not guarded", Request: get("/events?event_status=canceled"), Status: 200, Check: redacted},
			{Name: "its children", Request: get(fmt.Sprint("/events?post_parent=", id)), Status: 200, Check: showsMember("0", "total")},

			{Name: "redacted in lists, and counted", Request: get(list), Status: 200, Check: allChecks(redacted, showsMember("2", "total"))},
			{Name: "redacted with a wrong password", Request: get(list + "&password=sesame"), Status: 200, Check: allChecks(redacted, showsMember(`"<p>Handshake</p>"`, "events", 1, "description"))},
			{Name: "clear with the right one", Request: get(list + "&" + right), Status: 200, Check: allChecks(showsMember(`"<p>secret</p>"`, "events", 0, "description"), showsMember(`""`, "events", 1, "description"))},
			{Name: "clear for who may edit", Request: getAs("author", list), Status: 200, Check: allChecks(showsMember(`"<p>secret</p>"`, "events", 0, "description"), showsMember("10", "events", 0, "venue", "id"), showsMember(`""`, "events", 1, "description"))},
			{Name: "redacted for who may not", Request: getAs("contributor", list), Status: 200, Check: redacted},
			{Name: "the password is never repeated", Request: get(list + "&" + right), Status: 200, Check: showsMember(fmt.Sprintf(`"http://127.0.0.1:8080/cal/events/v1/events/?include=%d%%2C22"`, id), "rest_url")},
		})
	})
}
