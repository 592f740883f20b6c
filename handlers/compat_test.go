package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestMessagesSayWhatIsWrong checks the message about an invalid parameter in each language.
func TestMessagesSayWhatIsWrong(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, test := range []struct {
			request apitest.Request
			param   string
			want    string
		}{
			{get("/events?venue=99999"), "venue", "There is no venue with ID 99999."},
			{get("/events?venue=99999,88888"), "venue", "There are no venues with the IDs 99999, 88888."},
			{get("/events?venue=99999&ml_language=pl"), "venue", "Nie ma miejsca o ID 99999."},
			{get("/events?organizer=99999,88888&ml_language=es"), "organizer", "No hay organizadores con los ID 99999, 88888."},
			{get("/events?categories=99999"), "categories", "There is no category with ID 99999."},
			{get("/events?tags=nothing"), "tags", "There is no record with the slug nothing."},
			{get("/events?post_parent=99999"), "post_parent", "There is no event with ID 99999."},
			{get("/venues/99999"), "id", "There is no venue with ID 99999."},
			{get("/tags/99999?ml_language=es"), "id", "No hay ninguna etiqueta con el ID 99999."},
			{get("/organizers/by-slug/nobody"), "slug", "There is no record with the slug nobody."},
			{get("/events?featured=maybe"), "featured", "featured is not of type boolean."},
			{get("/events?venue=hall"), "venue", "venue is not of type integer."},
			{get("/events?event_status=late"), "event_status", "This must be one of scheduled, canceled, postponed."},
			{get("/events?status=draft"), "status", "You may read published records only."},
			{get("/events?start_date=2026-02-30"), "start_date", "“2026-02-30”: there is no such day. Example: 2026-02-28."},
			{get("/events?start_date=2026-12-05+18:00+CET"), "start_date", "“2026-12-05 18:00 CET”: the time zone is unknown or ambiguous. Examples: 2026-12-05 18:00 Europe/Warsaw, 2026-12-05T18:00:00+01:00."},
			{get("/events?start_date="), "start_date", "A date must not be empty. Examples: 2026-12-05 18:00, tomorrow 9am."},
			{get("/events?start_date=99999999999999"), "start_date", "“99999999999999”: the year must be between 1000 and 9999. Example: 2026-12-05."},
			{post("admin", "/events", concert(object{"timezone": "Mars"})), "timezone", "There is no time zone Mars. Examples: Europe/Warsaw, UTC, +02:00."},
			{post("admin", "/events", concert(object{"title": " "})), "title", "This value must not be empty."},
			{post("admin", "/events", concert(object{"title": 5})), "title", "title is not of type string."},
			{post("admin", "/events", concert(object{"cost": true})), "cost", "This must be a text, a number that is not negative, or a list of them."},
			{post("admin", "/events", concert(object{"venue": "Hall"})), "venue", "This must be an ID, an object with the fields of a record, or a list of them."},
			{post("admin", "/events", concert(object{"image": "a.png"})), "image", "This must be the ID of an image, or an address that begins with http:// or https://."},
			{post("admin", "/events", concert(object{"author": 99999})), "author", "There is no user with ID 99999."},
			{post("admin", "/events", concert(object{"start_date": []int{1}})), "start_date", "A date must be a text or a number of seconds. Example: 2026-12-05 18:00."},
			{post("admin", "/events", concert(object{"venue": object{"city": "Warsaw"}})), "venue", "Record 1 of the list is invalid: venue: This parameter is required."},
		} {
			res := api.Do(t, test.request)
			if res.Status != 400 || res.Get(t, "data", "params", test.param) != test.want {
				t.Errorf("%s: got %d %s, want %q", test.request.Path, res.Status, res.Body, test.want)
			}
		}
	})
}

// TestWhatWasReadMayBeSentBack updates an event with the members of its own representation.
func TestWhatWasReadMayBeSentBack(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, sent := range []object{
			{"cost": []string{"Donation", "10"}},
			{"cost": []string{"10", "20", "30"}},
			{"cost": []string{"0", "20"}},
			{"cost": []string{"€5", "€8"}},
			{"cost": "<b>Tom & Jerry</b>"},
			{"description": "one\ntwo\n\nthree"},
			{"description": "<b>one\n\ntwo</b>"},
			{"description": "<menu><li>one</li><li>two</li></menu>"},
			{"description": "<li>one"},
			{"description": "a < b & c"},
		} {
			for _, lang := range []string{"en", "pl"} {
				first := api.Do(t, post("admin", "/events?ml_language="+lang, concert(sent)))
				path := "/events/" + encodedMembers(t, first.Get(t, "id")) + "?ml_language=" + lang
				again := api.Do(t, patch("admin", path, object{
					"cost": first.Get(t, "cost"), "description": first.Get(t, "description"),
				}))
				for _, key := range []string{"cost", "cost_details", "description", "modified"} {
					if a, b := encodedMembers(t, first.Get(t, key)), encodedMembers(t, again.Get(t, key)); a != b {
						t.Errorf("%v in %s: %s was %s and is %s", sent, lang, key, a, b)
					}
				}
			}
		}
	})
}

func TestHTMLIsValidWhenItIsRead(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "admin", calendar.Administrator)
	for sent, want := range map[string]string{
		"<menu><li>one</li></menu>": "<ul><li>one</li></ul>",
		"<b>one\n\ntwo</b>":         "<p><b>one<br />\n<br />\ntwo</b></p>",
		"<li>one":                   "<li>one</li>",
		"<p>one<ul><li>two</ul>":    "<p>one</p><ul><li>two</li></ul>",
	} {
		res := api.Do(t, post("admin", "/events", concert(object{"description": sent})))
		if got := res.Get(t, "description"); got != want {
			t.Errorf("%q: got %q, want %q", sent, got, want)
		}
	}
}

// TestApostrophesAreInNoSlug compares slugs with those that The Events Calendar makes.
func TestApostrophesAreInNoSlug(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "admin", calendar.Administrator)
	for name, want := range map[string]string{
		"Queen's Hall": "queens-hall", "King’s Arms": "kings-arms", `The "Old" Mill`: "the-old-mill", "«Łódź» Club": "lodz-club",
	} {
		res := api.Do(t, post("admin", "/venues", object{"venue": name}))
		if got := res.Get(t, "slug"); got != want {
			t.Errorf("%s: got %v, want %s", name, got, want)
		}
		if res := api.Do(t, get("/venues/by-slug/"+strings.ReplaceAll(name, " ", "%20"))); res.Status != 200 {
			t.Errorf("%s: %d by its name", name, res.Status)
		}
	}
}

func TestWeekendsLastUntilSunday(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "admin", calendar.Administrator)
	res := api.Do(t, post("admin", "/events", concert(object{
		"start_date": "next weekend", "end_date": "next weekend", "all_day": true, "timezone": "UTC",
	})))
	if got := encodedMembers(t, []any{res.Get(t, "start_date"), res.Get(t, "end_date")}); got != `["2026-11-28 00:00:00","2026-11-29 23:59:59"]` {
		t.Errorf("got %s", got)
	}
	for query, want := range map[string]float64{
		"start_date=next+weekend&end_date=next+weekend":                                     1,
		"start_date=this+weekend&end_date=this+weekend":                                     0,
		"start_date=first+day+of+december&end_date=last+day+of+december":                    0,
		"start_date=2026-W48&end_date=2026-W48-7":                                           1,
		"start_date=Sat,+28+Nov+2026+00:00:00+GMT&end_date=20261129T235959Z&strict_dates=1": 1,
	} {
		if got := api.Do(t, get("/events?"+query)).Get(t, "total"); encodedMembers(t, got) != encodedMembers(t, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}

func encodedMembers(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
