package handlers_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// linkedTest is a service with the example calendar, for tests that apply to both venues and organizers.
type linkedTest struct {
	*eventTest

	kind       string // venue; the name's field too
	collection string // /venues
	example    int64  // grand-hall, alice-co
}

// eachLinkedTest runs a test on every engine, for venues and for organizers.
func eachLinkedTest(t *testing.T, test func(t *testing.T, e *linkedTest)) {
	t.Helper()
	for kind, example := range map[string]int64{"venue": grandHall, "organizer": alice} {
		t.Run(kind, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) {
				test(t, &linkedTest{e, kind, "/" + kind + "s", example})
			})
		})
	}
}

func (e *linkedTest) path(id int64) string { return fmt.Sprintf("%s/%d", e.collection, id) }

// named returns the body of a create. more has further fields.
func (e *linkedTest) named(name string, more object) object {
	body := object{e.kind: name}
	maps.Copy(body, more)
	return body
}

// add creates a record as the user as, and returns its id.
func (e *linkedTest) add(t *testing.T, as, name string, more object) int64 {
	t.Helper()
	return e.mustPost(t, as, e.collection, e.named(name, more))
}

// hasRecord reads a record as the administrator and fails unless it has the wanted values.
func (e *linkedTest) hasRecord(t *testing.T, id int64, want object) {
	t.Helper()
	hasValues(t, e.mustSucceed(t, apitest.Request{As: "admin", Path: e.path(id)}), want)
}

// keeps returns a check that a reply has the wanted values, and that a later read of the same record has them too.
func (e *linkedTest) keeps(want object) func(t *testing.T, r apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		hasValues(t, r, want)
		e.hasRecord(t, int64(r.Get(t, "id").(float64)), want)
	}
}

func TestCreatedVenueHasDefaults(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		r := e.mustSucceed(t, post("author", "/venues", object{"venue": "Small Hall"}))
		id := int64(r.Get(t, "id").(float64))
		want := object{
			"id": id, "author": fmt.Sprint(e.user["author"]), "status": "publish",
			"date": "2026-11-21 12:00:00", "date_utc": "2026-11-21 12:00:00",
			"modified": "2026-11-21 12:00:00", "modified_utc": "2026-11-21 12:00:00",
			"url": apitest.BaseURL + "/venue/small-hall/", "venue": "Small Hall", "slug": "small-hall",
			"show_map": true, "show_map_link": true,
			"global_id": fmt.Sprintf("127.0.0.1?id=%d", id), "global_id_lineage": []string{fmt.Sprintf("127.0.0.1?id=%d", id)},
			"language": "en", "translations": []string{"en"},
		}
		hasValues(t, r, want)
		if got := len(r.JSON(t).(object)); got != len(want) {
			t.Errorf("%d members, want %d: %s", got, len(want), r.Body)
		}
		header("Location", fmt.Sprintf("%s/cal/events/v1/venues/%d", apitest.BaseURL, id))(t, r)
	})
}

func TestCreatedOrganizerHasDefaults(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		r := e.mustSucceed(t, post("contributor", "/organizers", object{"organizer": "Club & Co"}))
		id := int64(r.Get(t, "id").(float64))
		want := object{
			"id": id, "author": fmt.Sprint(e.user["contributor"]), "status": "draft",
			"date": "2026-11-21 12:00:00", "date_utc": "2026-11-21 12:00:00",
			"modified": "2026-11-21 12:00:00", "modified_utc": "2026-11-21 12:00:00",
			"url": fmt.Sprintf("%s/?p=%d", apitest.BaseURL, id), "organizer": "Club &amp; Co", "slug": "club-co",
			"global_id": fmt.Sprintf("127.0.0.1?id=%d", id), "global_id_lineage": []string{fmt.Sprintf("127.0.0.1?id=%d", id)},
			"language": "en", "translations": []string{"en"},
		}
		hasValues(t, r, want)
		if got := len(r.JSON(t).(object)); got != len(want) {
			t.Errorf("%d members, want %d: %s", got, len(want), r.Body)
		}
		header("Location", fmt.Sprintf("%s/cal/events/v1/organizers/%d", apitest.BaseURL, id))(t, r)
	})
}

// TestTextsOfLinkedRecords writes each plain text of venues and organizers: a valid one, one with markup, an empty
// one and an invalid one.
func TestTextsOfLinkedRecords(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		fields := []string{"phone", "email"}
		if e.kind == "venue" {
			fields = []string{"address", "city", "country", "province", "state", "zip", "phone", "stateprovince"}
		}
		for _, field := range fields {
			// A state or province shows as stateprovince too, so each is tested on a record of its own.
			id := e.add(t, "admin", "Text "+field, object{field: " <b>Łódź</b> &amp; Co "})
			e.hasRecord(t, id, object{field: "Łódź & Co"})
			long := strings.Repeat("ż", 255)
			e.Run(t, []apitest.Case{
				{Name: field + " changed", Request: patch("admin", e.path(id), object{field: "Next"}), Status: 200, Check: e.keeps(object{field: "Next"})},
				{Name: field + " not sent", Request: patch("admin", e.path(id), object{}), Status: 200, Check: e.keeps(object{field: "Next"})},
				{Name: field + " cleared", Request: patch("admin", e.path(id), object{field: ""}), Status: 200, Check: e.keeps(object{field: nil})},
				{Name: field + " longest", Request: patch("admin", e.path(id), object{field: long}), Status: 200, Check: e.keeps(object{field: long})},
				{Name: field + " null", Request: patch("admin", e.path(id), object{field: nil}), Status: 200, Check: e.keeps(object{field: nil})},
				{Name: field + " too long", Request: patch("admin", e.path(id), object{field: long + "x"}), Status: 400, Check: namesExactly(field + " rest_out_of_bounds")},
				{Name: field + " number", Request: patch("admin", e.path(id), object{field: 5}), Status: 400, Check: namesExactly(field + " rest_invalid_type")},
				{Name: field + " list", Request: patch("admin", e.path(id), object{field: []string{"a"}}), Status: 400, Check: namesExactly(field + " rest_invalid_type")},
				{Name: field + " NUL", Request: patch("admin", e.path(id), object{field: "a\x00"}), Status: 400, Check: namesExactly(field)},
				{Name: field + " null on create", Request: post("admin", e.collection, e.named("Null "+field, object{field: nil})), Status: 201, Check: e.keeps(object{field: nil})},
			})
		}
	})
}

func TestCommonFieldsOfLinkedRecords(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "admin", "Common", nil)
		path, name := e.path(id), e.kind
		update := func(body object) apitest.Request { return patch("admin", path, body) }
		e.Run(t, []apitest.Case{
			{Name: "name is required", Request: post("admin", e.collection, object{}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly(name)},
			{Name: "null is no name", Request: post("admin", e.collection, object{name: nil}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly(name)},
			{Name: "empty name", Request: post("admin", e.collection, object{name: "<p></p>"}), Status: 400, Check: namesExactly(name)},
			{Name: "name of another type", Request: update(object{name: true}), Status: 400, Check: namesExactly(name + " rest_invalid_type")},
			{Name: "name too long", Request: update(object{name: strings.Repeat("n", 501)}), Status: 400, Check: namesExactly(name + " rest_out_of_bounds")},
			{Name: "name emptied", Request: update(object{name: " "}), Status: 400, Check: namesExactly(name)},
			{Name: "null leaves the name", Request: update(object{name: nil}), Status: 200, Check: e.keeps(object{name: "Common"})},
			{Name: "renamed, slug stays", Request: update(object{name: "Renamed <i>x</i> & y"}), Status: 200, Check: e.keeps(object{name: "Renamed x &amp; y", "slug": "common"})},

			{
				Name: "description", Request: update(object{"description": "One<script>x</script>\n\nTwo <b onclick=x>three</b>"}), Status: 200,
				Check: e.keeps(object{"description": "<p>One</p>\n<p>Two <b>three</b></p>"}),
			},
			{Name: "description cleared", Request: update(object{"description": ""}), Status: 200, Check: e.keeps(object{"description": nil})},
			{Name: "description of nothing", Request: update(object{"description": " <script>x</script> "}), Status: 200, Check: e.keeps(object{"description": nil})},
			{Name: "description null", Request: update(object{"description": nil}), Status: 200, Check: e.keeps(object{"description": nil})},
			{Name: "description of another type", Request: update(object{"description": 1}), Status: 400, Check: namesExactly("description rest_invalid_type")},

			{Name: "slug", Request: update(object{"slug": "Żółw & Co"}), Status: 200, Check: e.keeps(object{"slug": "zolw-co", "url": apitest.BaseURL + "/" + name + "/zolw-co/"})},
			{Name: "empty slug is not sent", Request: update(object{"slug": ""}), Status: 200, Check: e.keeps(object{"slug": "zolw-co"})},
			{
				Name: "slug of another", Request: update(object{"slug": map[string]string{"venue": "grand-hall", "organizer": "alice-co"}[name]}), Status: 200,
				Check: e.keeps(object{"slug": map[string]string{"venue": "grand-hall-2", "organizer": "alice-co-2"}[name]}),
			},
			{Name: "slug of nothing", Request: update(object{"slug": "!!!"}), Status: 200, Check: e.keeps(object{"slug": fmt.Sprintf("%s-%d", name, id)})},
			{Name: "slug too long", Request: update(object{"slug": strings.Repeat("s", 201)}), Status: 400, Check: namesExactly("slug rest_out_of_bounds")},
			{Name: "name without letters", Request: post("admin", e.collection, object{name: "!?"}), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"slug": fmt.Sprintf("%s-%v", name, r.Get(t, "id"))})
			}},

			{Name: "website", Request: update(object{"website": "https://example.org/a?b=c"}), Status: 200, Check: e.keeps(object{"website": "https://example.org/a?b=c"})},
			{Name: "website of another scheme", Request: update(object{"website": "ftp://example.org"}), Status: 400, Check: namesExactly("website")},
			{Name: "website without host", Request: update(object{"website": "http:///x"}), Status: 400, Check: namesExactly("website")},
			{Name: "website without scheme", Request: update(object{"website": "example.org"}), Status: 400, Check: namesExactly("website")},
			{Name: "website with a space", Request: update(object{"website": "http://example.org/a b"}), Status: 400, Check: namesExactly("website")},
			{Name: "website too long", Request: update(object{"website": "http://example.org/" + strings.Repeat("x", 2030)}), Status: 400, Check: namesExactly("website")},
			{Name: "website of another type", Request: update(object{"website": 5}), Status: 400, Check: namesExactly("website rest_invalid_type")},
			{Name: "website cleared", Request: update(object{"website": ""}), Status: 200, Check: e.keeps(object{"website": nil})},
			{Name: "website null", Request: update(object{"website": nil}), Status: 200, Check: e.keeps(object{"website": nil})},

			{Name: "date", Request: update(object{"date": "2026-01-02 03:04:05"}), Status: 200, Check: e.keeps(object{"date": "2026-01-02 03:04:05", "date_utc": "2026-01-02 03:04:05"})},
			{Name: "date wins", Request: update(object{"date": "2026-01-02", "date_utc": "2026-01-03"}), Status: 200, Check: e.keeps(object{"date": "2026-01-02 00:00:00"})},
			{Name: "date with an offset", Request: update(object{"date_utc": "2026-01-02T03:00:00+02:00"}), Status: 200, Check: e.keeps(object{"date_utc": "2026-01-02 01:00:00"})},
			{Name: "date to come", Request: update(object{"date": 1800000000}), Status: 200, Check: e.keeps(object{"date_utc": "2027-01-15 08:00:00", "status": "future"})},
			{Name: "date that is none", Request: update(object{"date": "2026-02-30", "date_utc": ""}), Status: 400, Check: namesExactly("date rest_invalid_date", "date_utc rest_invalid_date")},
			{Name: "past again", Request: update(object{"date": "2026-01-02"}), Status: 200, Check: e.keeps(object{"status": "publish"})},

			{Name: "status", Request: update(object{"status": "private"}), Status: 200, Check: e.keeps(object{"status": "private"})},
			{Name: "empty status", Request: update(object{"status": ""}), Status: 400, Check: namesExactly("status")},
			{Name: "unknown status", Request: update(object{"status": "any"}), Status: 400, Check: namesExactly("status")},
			{Name: "author", Request: update(object{"author": e.user["author"]}), Status: 200, Check: e.keeps(object{"author": fmt.Sprint(e.user["author"])})},
			{Name: "unknown author", Request: update(object{"author": 999999}), Status: 400, Check: namesExactly("author unknown-ids")},
			{Name: "author of another type", Request: update(object{"author": "admin"}), Status: 400, Check: namesExactly("author rest_invalid_type")},
			{Name: "own record, author sent back", Request: patch("author", path, object{"author": e.user["author"], "status": "publish"}), Status: 200, Check: e.keeps(object{"status": "publish"})},
			{Name: "own record given away", Request: patch("author", path, object{"author": e.user["editor"]}), Status: 403, Code: "rest_forbidden"},

			{Name: "read-only and unknown members are ignored", Request: update(object{
				"id": e.example, "url": 5, "modified": "x", "global_id": 1, "translations": "x", "json_ld": 5, "excerpt": "x", "nothing": 1,
			}), Status: 200, Check: e.keeps(object{"id": id, "excerpt": nil})},
		})
	})
}

func TestRepresentationSentBackChangesNothing(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		before := e.mustSucceed(t, get(e.path(e.example)))
		var body object
		before.Into(t, &body)
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			e.mustSucceed(t, apitest.Request{Method: method, As: "admin", Path: e.path(e.example), JSON: body})
		}
		var after object
		e.mustSucceed(t, get(e.path(e.example))).Into(t, &after)
		for _, changing := range []string{"modified", "modified_utc"} {
			delete(after, changing)
			delete(body, changing)
		}
		// An escaped name is decoded on its way back.
		if fmt.Sprint(after) != fmt.Sprint(body) {
			t.Errorf("got %v\nwant %v", after, body)
		}
	})
}

func TestMapOfAVenue(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		v := &linkedTest{e, "venue", "/venues", 10}
		update := func(body object) apitest.Request { return patch("admin", "/venues/{grandHall}", body) }
		e.Run(t, []apitest.Case{
			{Name: "hidden", Request: update(object{"show_map": false, "show_map_link": "no"}), Status: 200, Check: v.keeps(object{"show_map": false, "show_map_link": false})},
			{Name: "shown", Request: update(object{"show_map": "1", "show_map_link": "TRUE"}), Status: 200, Check: v.keeps(object{"show_map": true, "show_map_link": true})},
			{Name: "empty is false", Request: update(object{"show_map": ""}), Status: 200, Check: v.keeps(object{"show_map": false, "show_map_link": true})},
			{Name: "null is not sent", Request: update(object{"show_map": nil, "show_map_link": nil}), Status: 200, Check: v.keeps(object{"show_map": false, "show_map_link": true})},
			{Name: "neither", Request: update(object{"show_map": "maybe", "show_map_link": 2}), Status: 400, Check: namesExactly("show_map rest_invalid_type", "show_map_link rest_invalid_type")},
			{
				Name: "empty is false in a form", Request: apitest.Request{Method: "POST", As: "admin", Path: "/venues", Form: "venue=Form&show_map=&show_map_link=0"},
				Status: 201, Check: v.keeps(object{"show_map": false, "show_map_link": false}),
			},

			{Name: "moved", Request: update(object{"geo_lat": "-33.5", "geo_lng": 0}), Status: 200, Check: v.keeps(object{"geo_lat": -33.5, "geo_lng": 0})},
			{Name: "one of them", Request: update(object{"geo_lat": 90}), Status: 200, Check: v.keeps(object{"geo_lat": 90, "geo_lng": 0})},
			{Name: "one removed", Request: update(object{"geo_lng": nil}), Status: 400, Check: namesExactly("geo_lng")},
			{Name: "the other removed", Request: update(object{"geo_lat": ""}), Status: 400, Check: namesExactly("geo_lat")},
			{Name: "a refused removal changes nothing", Request: get("/venues/{grandHall}"), Status: 200, Check: v.keeps(object{"geo_lat": 90, "geo_lng": 0})},
			{Name: "both removed", Request: update(object{"geo_lat": nil, "geo_lng": ""}), Status: 200, Check: v.keeps(object{"geo_lat": nil, "geo_lng": nil})},
			{Name: "one of none", Request: update(object{"geo_lat": 1}), Status: 400, Check: namesExactly("geo_lng")},
			{Name: "one on create", Request: post("admin", "/venues", object{"venue": "Half", "geo_lng": 1}), Status: 400, Check: namesExactly("geo_lat")},
			{Name: "empty on create", Request: post("admin", "/venues", object{"venue": "None", "geo_lng": "", "geo_lat": nil}), Status: 201, Check: v.keeps(object{"geo_lat": nil, "geo_lng": nil})},
			{Name: "permission before the pair", Request: patch("author", "/venues/{grandHall}", object{"geo_lat": 1}), Status: 403, Code: "rest_forbidden"},
			{Name: "out of range", Request: update(object{"geo_lat": 90.01, "geo_lng": "-180.01"}), Status: 400, Check: namesExactly("geo_lat rest_out_of_bounds", "geo_lng rest_out_of_bounds")},
			{Name: "not numbers", Request: update(object{"geo_lat": "north", "geo_lng": []int{1}}), Status: 400, Check: namesExactly("geo_lat rest_invalid_type", "geo_lng rest_invalid_type")},
			{Name: "not finite", Request: update(object{"geo_lat": "NaN", "geo_lng": "Inf"}), Status: 400, Check: namesExactly("geo_lat rest_invalid_type", "geo_lng rest_invalid_type")},
		})
	})
}

func TestStateOrProvinceIsDerived(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		v := &linkedTest{e, "venue", "/venues", 10}
		id := v.add(t, "admin", "Somewhere", nil)
		// One step after the other on one venue.
		e.Run(t, []apitest.Case{
			{Name: "nothing", Request: patch("admin", v.path(id), object{}), Status: 200, Check: v.keeps(object{"stateprovince": nil})},
			{Name: "state without country", Request: patch("admin", v.path(id), object{"state": "TX", "province": "Kujawy"}), Status: 200, Check: v.keeps(object{"stateprovince": "TX"})},
			{Name: "state in the USA", Request: patch("admin", v.path(id), object{"country": "united STATES"}), Status: 200, Check: v.keeps(object{"stateprovince": "TX"})},
			{Name: "province elsewhere", Request: patch("admin", v.path(id), object{"country": "Poland"}), Status: 200, Check: v.keeps(object{"stateprovince": "Kujawy", "state": "TX"})},
			{Name: "written", Request: patch("admin", v.path(id), object{"stateprovince": "Own"}), Status: 200, Check: v.keeps(object{"stateprovince": "Own"})},
			{Name: "derived again", Request: patch("admin", v.path(id), object{"stateprovince": ""}), Status: 200, Check: v.keeps(object{"stateprovince": "Kujawy"})},
			{Name: "no state in the US", Request: patch("admin", v.path(id), object{"country": "us", "state": nil}), Status: 200, Check: v.keeps(object{"stateprovince": "Kujawy"})},
			{Name: "neither", Request: patch("admin", v.path(id), object{"province": nil}), Status: 200, Check: v.keeps(object{"stateprovince": nil})},
		})
	})
}

func TestLinkedRecordsBySlug(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "admin", "Łąka", nil)
		other := e.add(t, "admin", "Other", nil)
		bySlug := func(slug string) string { return e.collection + "/by-slug/" + slug }
		e.Run(t, []apitest.Case{
			{Name: "update", Request: patch("admin", bySlug("laka"), object{"phone": "1"}), Status: 200, Check: e.keeps(object{"id": id, "phone": "1"})},
			{Name: "normalised", Request: patch("admin", bySlug("%C5%81%C4%85KA"), object{"phone": "2"}), Status: 200, Check: e.keeps(object{"id": id, "phone": "2"})},
			{Name: "the id of the body is ignored", Request: patch("admin", bySlug("laka"), object{"id": other, "phone": "3"}), Status: 200, Check: e.keeps(object{"id": id, "phone": "3"})},
			{Name: "the slug of the query is ignored", Request: patch("admin", bySlug("laka")+"?slug=other&phone=4", object{}), Status: 200, Check: e.keeps(object{"id": id, "slug": "laka", "phone": "4"})},
			{Name: "the slug of the body is the new one", Request: patch("admin", bySlug("laka"), object{"slug": "meadow"}), Status: 200, Check: e.keeps(object{"id": id, "slug": "meadow"})},
			{Name: "the old slug is nobody's", Request: patch("admin", bySlug("laka"), object{}), Status: 400, Code: "rest_invalid_param", Check: namesExactly("slug")},
			{Name: "unknown before permission", Request: remove("", bySlug("laka")), Status: 400, Code: "rest_invalid_param", Check: namesExactly("slug")},
			{Name: "permission", Request: patch("author", bySlug("meadow"), object{}), Status: 403, Code: "rest_forbidden"},
			{Name: "delete", Request: remove("admin", bySlug("meadow")), Status: 200, Check: e.keeps(object{"id": id, "status": "trash", "slug": "meadow__trashed"})},
			{Name: "delete again by the old slug", Request: remove("admin", bySlug("meadow")), Status: 400, Code: "rest_invalid_param", Check: namesExactly("slug")},
			{Name: "delete again by the slug of the trash", Request: remove("admin", bySlug("meadow__trashed")), Status: 410, Code: e.kind + "-is-in-trash"},
		})
	})
}

func TestTrashOfLinkedRecords(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "author", "Barn", object{"phone": "1"})
		stays := e.add(t, "admin", "Stays", nil)
		event := e.mustCreate(t, "admin", object{e.kind: []int64{id, stays}})
		only := e.mustCreate(t, "admin", object{e.kind: id, "status": "draft"})
		hasValues(t, e.mustSucceed(t, remove("author", e.path(id)+"?force=true")), object{
			"id": id, "status": "trash", "slug": "barn__trashed", "phone": "1", "url": fmt.Sprintf("%s/?p=%d", apitest.BaseURL, id), "json_ld": nil,
		})
		after := object{"venue.id": stays}
		none := object{"venue": []any{}}
		if e.kind == "organizer" {
			after, none = object{"organizer.0.id": stays, "organizer.1": nil}, object{"organizer": []any{}}
		}
		e.isStored(t, event, after)
		e.isStored(t, only, none)
		e.Run(t, []apitest.Case{
			{Name: "again", Request: remove("author", e.path(id)), Status: 410, Code: e.kind + "-is-in-trash"},
			{Name: "again, without the right", Request: remove("contributor", e.path(id)), Status: 403, Code: "rest_forbidden"},
			{Name: "changed in the trash", Request: patch("author", e.path(id), object{"phone": "2"}), Status: 200, Check: e.keeps(object{"status": "trash", "phone": "2", "slug": "barn__trashed"})},
			{Name: "the trash sent to the trash", Request: patch("author", e.path(id), object{"status": "trash"}), Status: 200, Check: e.keeps(object{"status": "trash", "slug": "barn__trashed"})},
			{Name: "cannot be linked", Request: post("admin", "/events", concert(object{e.kind: id})), Status: 400, Check: namesExactly(e.kind + " unknown-ids")},
			{Name: "cannot be filtered by", Request: get(fmt.Sprintf("/events?%s=%d", e.kind, id)), Status: 400, Check: namesExactly(e.kind + " unknown-ids")},
			{Name: "not listed", Request: apitest.Request{As: "admin", Path: e.collection}, Status: 200, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"total": 3}) }},
			{Name: "restored", Request: patch("author", e.path(id), object{"status": "publish"}), Status: 200, Check: e.keeps(object{"status": "publish", "slug": "barn"})},
		})
		// The links are gone for good.
		e.isStored(t, event, after)
		e.isStored(t, only, none)

		e.mustSucceed(t, patch("admin", e.path(id), object{"status": "trash"}))
		if next := e.add(t, "admin", "Barn", nil); next == id {
			t.Errorf("what is in the trash is no duplicate")
		}
		e.Run(t, []apitest.Case{
			{Name: "restored when the slug is taken", Request: patch("admin", e.path(id), object{"status": "draft"}), Status: 200, Check: e.keeps(object{"status": "draft", "slug": "barn-2"})},
		})
	})
}

func TestDuplicatesOfLinkedRecords(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "author", "Żółta Sala", object{"description": "By the <b>river</b>", "phone": "1"})
		found := func(want object) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				want["id"] = id
				e.keeps(want)(t, r)
				header("Location", apitest.BaseURL+"/cal/events/v1"+e.path(id))(t, r)
			}
		}
		fresh := func(want object) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				e.keeps(want)(t, r)
				if int64(r.Get(t, "id").(float64)) == id {
					t.Errorf("no new record")
				}
			}
		}
		create := func(as string, body object) apitest.Request { return post(as, e.collection, body) }
		e.Run(t, []apitest.Case{
			{Name: "same name", Request: create("author", e.named("Żółta Sala", nil)), Status: 201, Check: found(object{"phone": "1"})},
			{
				Name: "other case, changed by the owner", Request: create("author", e.named("żółta SALA", object{"phone": "2"})), Status: 201,
				Check: found(object{"phone": "2", e.kind: "Żółta Sala"}),
			},
			{
				Name: "changed by an editor", Request: create("editor", e.named("Żółta sala", object{"phone": "3", "website": "https://example.org"})), Status: 201,
				Check: found(object{"phone": "3", "website": "https://example.org", "author": fmt.Sprint(e.user["author"])}),
			},
			{
				Name: "untouched by who may not edit it", Request: create("contributor", e.named("Żółta sala", object{"phone": "4", "status": "draft"})), Status: 201,
				Check: found(object{"phone": "3", "status": "publish"}),
			},
			{
				Name: "same description", Request: create("author", e.named("Żółta sala", object{"description": "BY THE <b>RIVER</b>"})), Status: 201,
				Check: found(object{"description": "<p>By the <b>river</b></p>"}),
			},
			{
				Name: "empty description counts for nothing", Request: create("author", e.named("Żółta sala", object{"description": " "})), Status: 201,
				Check: found(object{"description": "<p>By the <b>river</b></p>"}),
			},
			{Name: "invalid all the same", Request: create("author", e.named("Żółta sala", object{"website": "x"})), Status: 400, Check: namesExactly("website")},
			{Name: "forbidden all the same", Request: create("subscriber", e.named("Żółta sala", nil)), Status: 403, Code: "rest_forbidden"},
			{Name: "another author needs the right all the same", Request: create("author", e.named("Żółta sala", object{"author": e.user["editor"]})), Status: 403, Code: "rest_forbidden"},
			{Name: "moved to the draft", Request: create("editor", e.named("Żółta sala", object{"status": "draft"})), Status: 201, Check: found(object{"status": "draft"})},

			{Name: "not for who may not read it", Request: create("contributor", e.named("Żółta Sala", nil)), Status: 201, Check: fresh(object{"slug": "zolta-sala-2"})},
			{Name: "the oldest of several", Request: create("editor", e.named("Żółta sala", object{"status": "publish"})), Status: 201, Check: found(object{"status": "publish"})},
			{Name: "other description", Request: create("editor", e.named("Żółta sala", object{"description": "In the hills"})), Status: 201, Check: fresh(object{"slug": "zolta-sala-3"})},
			{Name: "other letters", Request: create("editor", e.named("Zolta sala", nil)), Status: 201, Check: fresh(object{"slug": "zolta-sala-4"})},
			{Name: "updates never merge", Request: patch("admin", e.path(e.example), e.named("Żółta Sala", nil)), Status: 200, Check: fresh(object{"id": e.example, e.kind: "Żółta Sala"})},
		})
	})
}

func TestDuplicatesInTheLanguageOfTheRequest(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "admin", "Castle", object{"description": "Old"})
		e.mustSucceed(t, patch("admin", e.path(id)+"?ml_language=pl", e.named("Zamek", object{"description": "Stary"})))
		create := func(lang string, body object) int64 {
			return e.mustPost(t, "admin", e.collection+"?ml_language="+lang, body)
		}
		for _, c := range []struct {
			name, lang string
			body       object
			same       bool
		}{
			{"translated name", "pl", e.named("ZAMEK", nil), true},
			{"original name", "pl", e.named("castle", nil), true},
			{"translated description", "pl", e.named("Zamek", object{"description": "stary"}), true},
			{"original description", "pl", e.named("Zamek", object{"description": "old"}), true},
			{"name of another language", "en", e.named("Zamek", nil), false},
		} {
			if got := create(c.lang, c.body); (got == id) != c.same {
				t.Errorf("%s: record %d, found %d", c.name, id, got)
			}
		}
		hasValues(t, e.mustSucceed(t, get(e.path(id)+"?ml_language=pl")), object{e.kind: "Zamek", "description": "<p>Stary</p>"})
		e.hasRecord(t, id, object{e.kind: "Castle", "description": "<p>Old</p>"})
	})
}

func TestTranslationsOfLinkedRecords(t *testing.T) {
	eachLinkedTest(t, func(t *testing.T, e *linkedTest) {
		id := e.add(t, "admin", "Museum", object{"description": "Art", "phone": "1"})
		path := e.path(id)
		reads := func(lang string, want object) {
			t.Helper()
			hasValues(t, e.mustSucceed(t, get(path+"?ml_language="+lang)), want)
		}
		hasValues(t, e.mustSucceed(t, patch("admin", path+"?ml_language=pl", e.named("Muzeum", object{"phone": "2"}))), object{
			e.kind: "Muzeum", "description": "<p>Art</p>", "slug": "museum", "phone": "2", "language": "pl", "translations": []string{"en", "pl"},
		})
		reads("en", object{e.kind: "Museum", "phone": "2", "language": "en"})
		reads("es", object{e.kind: "Museum", "language": "en"})
		e.mustSucceed(t, apitest.Request{Method: "PATCH", As: "admin", Absolute: true, Path: "/pl/cal/events/v1" + path, JSON: object{"description": "Sztuka", "slug": "Muzeum"}})
		reads("pl", object{"description": "<p>Sztuka</p>", "slug": "muzeum", "url": apitest.BaseURL + "/pl/" + e.kind + "/muzeum/"})
		reads("en", object{"description": "<p>Art</p>", "slug": "museum"})
		for _, slug := range []string{"museum", "muzeum"} {
			hasValues(t, e.mustSucceed(t, get(e.collection+"/by-slug/"+slug)), object{"id": id, e.kind: "Museum"})
		}
		// Accept-Language chooses what is answered, not what is changed.
		r := e.mustSucceed(t, apitest.Request{Method: "PATCH", As: "admin", Path: path, JSON: e.named("Gallery", nil), Header: map[string]string{"Accept-Language": "pl"}})
		hasValues(t, r, object{e.kind: "Muzeum"})
		reads("en", object{e.kind: "Gallery"})
		// The slugs of all languages go to the trash and come back.
		e.mustSucceed(t, remove("admin", path))
		if r := e.Do(t, get(e.collection+"/by-slug/muzeum")); r.Status != 400 {
			t.Errorf("a slug of the trash: %d %s", r.Status, r.Body)
		}
		e.mustSucceed(t, patch("admin", path, object{"status": "publish"}))
		hasValues(t, e.mustSucceed(t, get(e.collection+"/by-slug/muzeum?ml_language=pl")), object{"id": id, "slug": "muzeum"})
		e.mustSucceed(t, patch("admin", path+"?ml_language=pl", object{"description": nil}))
		reads("pl", object{e.kind: "Muzeum", "description": "<p>Art</p>"})
	})
}

func TestLinkedRecordsWrittenByNobody(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		id := e.AddVenue(t, "Ruin", func(c *ent.VenueCreate) { c.SetStatus(calendar.Publish) })
		v := &linkedTest{e, "venue", "/venues", id}
		// The anonymous caller has no user id either, but owns nothing.
		e.Run(t, []apitest.Case{
			{Name: "anonymous", Request: patch("", v.path(id), object{"phone": "1"}), Status: 401, Code: "rest_forbidden"},
			{Name: "author", Request: patch("author", v.path(id), object{"phone": "1"}), Status: 403, Code: "rest_forbidden"},
			{Name: "editor", Request: patch("editor", v.path(id), object{"phone": "1"}), Status: 200, Check: v.keeps(object{"phone": "1", "author": nil})},
			{Name: "given to somebody", Request: patch("editor", v.path(id), object{"author": e.user["author"]}), Status: 200, Check: v.keeps(object{"author": fmt.Sprint(e.user["author"])})},
		})
	})
}
