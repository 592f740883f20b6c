package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// hasIDs returns a check that a reply has exactly these ids in a list field, and that a later read of the event
// has them too.
func (e *eventTest) hasIDs(field string, want ...int64) func(t *testing.T, r apitest.Response) {
	return func(t *testing.T, r apitest.Response) {
		t.Helper()
		again := e.mustSucceed(t, apitest.Request{As: "admin", Path: eventPath(int64(r.Get(t, "id").(float64)))})
		for _, reply := range []apitest.Response{r, again} {
			var got []int64
			switch v := reply.Get(t, field).(type) {
			case map[string]any:
				got = append(got, int64(v["id"].(float64)))
			case []any:
				for _, one := range v {
					got = append(got, int64(valueAt(one, "id").(float64)))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", field, diff)
			}
		}
	}
}

func TestVenuesAndOrganizersAreLinkedInAllForms(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		for _, c := range []struct {
			name string
			sent any
			want []int64 // of 10 and 11, or of organizers 12 and 13
		}{
			{"id", 10, []int64{10}},
			{"id as a number with a point", json.Number("10.0"), []int64{10}},
			{"id as text", "10", []int64{10}},
			{"ids in a text", "11, 10", []int64{11, 10}},
			{"ids in a text with gaps", ",11,,10,", []int64{11, 10}},
			{"list", []any{11, "10"}, []int64{11, 10}},
			{"list with a text of ids", []any{"11,10"}, []int64{11, 10}},
			{"object", object{"id": 10}, []int64{10}},
			{"object with a text for id", object{"id": "10"}, []int64{10}},
			{"representation", object{"id": 10, "venue": 5, "organizer": false, "json_ld": nil}, []int64{10}},
			{"mixed", []any{object{"id": 11}, "10"}, []int64{11, 10}},
			{"repeats", []any{11, 10, "11", object{"id": 10}}, []int64{11, 10}},
			{"zeros and empties", []any{0, "", nil, "0", object{}, []any{}, object{"venue": "", "organizer": nil, "city": []any{}}, 10}, []int64{10}},
			{"empty text", "", nil},
			{"zero", 0, nil},
			{"zero as text", "0", nil},
			{"null", nil, nil},
			{"empty list", []any{}, nil},
			{"empty object", object{}, nil},
			{"object of empties", object{"venue": "", "organizer": "  ", "address": nil}, nil},
		} {
			for _, field := range []string{"venue", "organizer"} {
				sent, want := c.sent, c.want
				if field == "organizer" { // the same with 12 for 10 and 13 for 11
					data, err := json.Marshal(sent)
					must.Succeed(t, err)
					sent = json.RawMessage(strings.NewReplacer("10", "12", "11", "13").Replace(string(data)))
					want = make([]int64, len(c.want))
					for i, id := range c.want {
						want[i] = id + 2
					}
					if c.want == nil {
						want = nil
					}
				}
				t.Run(field+" "+c.name, func(t *testing.T) {
					e.hasIDs(field, want...)(t, e.mustSucceed(t, post("admin", "/events", concert(object{field: sent}))))
					id := e.mustCreate(t, "admin", object{"venue": []int{bareVenue, grandHall}, "organizer": []int{bob, alice}})
					e.hasIDs(field, want...)(t, e.mustSucceed(t, patch("admin", eventPath(id), object{field: sent})))
				})
			}
		}
		id := e.mustCreate(t, "admin", object{"venue": []int{bareVenue, grandHall}, "organizer": []int{bob, alice}})
		e.hasIDs("venue", 11, 10)(t, e.mustSucceed(t, patch("admin", eventPath(id), object{"organizer": nil})))
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(id), object{"venue": bareVenue})), object{"venue.id": 11, "organizer": []any{}})
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(id), object{"venue": ""})), object{"venue": []any{}})
	})
}

func TestWhatCannotBeLinked(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		trashed := e.mustPost(t, "admin", "/venues", object{"venue": "Gone"})
		e.mustSucceed(t, remove("admin", fmt.Sprintf("/venues/%d", trashed)))
		draft := e.mustPost(t, "admin", "/venues", object{"venue": "Unfinished", "status": "draft"})
		own := e.mustPost(t, "contributor", "/venues", object{"venue": "Mine", "status": "draft"})
		hidden := e.mustPost(t, "admin", "/organizers", object{"organizer": "Secret", "status": "private"})
		before := e.rowCounts(t)
		type row struct {
			name, as, field string
			sent            any
			reason          string // "" for none
			ids             []int64
		}
		for _, c := range []row{
			{"unknown", "admin", "venue", []int{10, 999999}, "unknown-ids", []int64{999999}},
			{"several unknown", "admin", "venue", "999999,10,888888,999999", "unknown-ids", []int64{999999, 888888}},
			{"negative", "admin", "venue", -10, "unknown-ids", []int64{-10}},
			{"of another kind", "admin", "venue", 12, "unknown-ids", []int64{12}},
			{"of an event", "admin", "organizer", 15, "unknown-ids", []int64{15}},
			{"trashed", "admin", "venue", trashed, "unknown-ids", []int64{trashed}},
			{"somebody's draft", "author", "venue", draft, "unknown-ids", []int64{draft}},
			{"somebody's private one", "contributor", "organizer", []any{12, object{"id": hidden}}, "unknown-ids", []int64{hidden}},
			{"text", "admin", "venue", "Grand Hall", "", nil},
			{"text in a list", "admin", "organizer", []any{13, "Bob"}, "", nil},
			{"fraction", "admin", "venue", 10.5, "", nil},
			{"boolean", "admin", "venue", true, "", nil},
			{"list in the list", "admin", "venue", []any{[]any{10}}, "", nil},
			{"object with a text id", "admin", "venue", object{"id": "grand-hall"}, "", nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, r := range []apitest.Response{
					e.Do(t, post(c.as, "/events", concert(object{c.field: c.sent}))),
					e.Do(t, patch("admin", "/events/{jazzNight}", object{c.field: c.sent})),
				} {
					if r.Status != 400 && c.as != "admin" { // the administrator may read it
						e.mustSucceed(t, patch("admin", "/events/{jazzNight}", object{"venue": grandHall, "organizer": []int{alice, bob}}))
						continue
					}
					namesExactly(strings.TrimSpace(c.field+" "+c.reason))(t, r)
					if c.ids != nil {
						hasValues(t, r, object{"data.details." + c.field + ".data.ids": c.ids})
					}
				}
			})
		}
		after := e.rowCounts(t)
		before["changes"], after["changes"] = 0, 0 // of the administrator's updates
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("stored rows (-before +after):\n%s", diff)
		}
		e.Run(t, []apitest.Case{
			{Name: "one's own draft", Request: post("contributor", "/events", concert(object{"venue": own})), Status: 201, Check: e.hasIDs("venue", own)},
			{Name: "a draft, by an editor", Request: post("editor", "/events", concert(object{"venue": []int64{draft, grandHall}})), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				e.hasIDs("venue", draft, 10)(t, r)
				hasValues(t, e.mustSucceed(t, get(eventPath(int64(r.Get(t, "id").(float64))))), object{"venue.id": 10})
			}},
		})
	})
}

func TestLinkedRecordsAreCreatedInline(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		venueOf := func(t *testing.T, r apitest.Response, path string) apitest.Response {
			t.Helper()
			return e.mustSucceed(t, apitest.Request{As: "admin", Path: fmt.Sprintf("/venues/%v", valueAt(r.JSON(t), path))})
		}
		e.Run(t, []apitest.Case{
			{Name: "by the rules of its resource", Request: post("admin", "/events", concert(object{
				"venue": object{
					"venue": "<b>Café</b> &amp; Bar", "description": "<script>x</script>Nice", "city": "Łódź", "show_map": "", "geo_lat": "51.7", "geo_lng": 19.4,
					"country": "Poland", "province": "Łódzkie", "image": poster, "website": "https://cafe.example/", "slug": "The Café",
				},
				"organizer": object{"organizer": "Zoë", "email": "zoe at home", "phone": "1"},
			})), Status: 201, Check: func(t *testing.T, r apitest.Response) {
				e.keeps(object{
					"venue.venue": "Café &amp; Bar", "venue.description": "<p>Nice</p>", "venue.city": "Łódź", "venue.show_map": false,
					"venue.show_map_link": true, "venue.geo_lat": 51.7, "venue.geo_lng": 19.4, "venue.stateprovince": "Łódzkie",
					"venue.image.id": 14, "venue.slug": "the-cafe", "venue.status": "publish", "venue.author": "1", "venue.date": "2026-11-21 12:00:00",
					"organizer.0.organizer": "Zoë", "organizer.0.email": "zoe at home", "organizer.0.slug": "zoe", "organizer.0.language": "en",
				})(t, r)
				hasValues(t, venueOf(t, r, "venue.id"), object{"venue": "Café &amp; Bar", "geo_lat": 51.7})
			}},
			{Name: "in the order sent, among ids", Request: post("admin", "/events", concert(object{
				"venue": []any{object{"venue": "First"}, 10, object{"venue": "Last"}},
			})), Status: 201, Check: e.keeps(object{"venue.0.venue": "First", "venue.1.id": 10, "venue.2.venue": "Last"})},
			{
				Name: "with an update", Request: patch("admin", "/events/{cityRun}", object{"organizer": []any{object{"organizer": "Club"}, 13}}),
				Status: 200, Check: e.keeps(object{"organizer.0.organizer": "Club", "organizer.1.id": 13}),
			},
			{
				Name: "by a contributor as a draft", Request: post("contributor", "/events", concert(object{"venue": object{"venue": "Shed"}})),
				Status: 201, Check: e.keeps(object{"venue.status": "draft", "venue.author": fmt.Sprint(e.user["contributor"])}),
			},
			{
				Name: "by a contributor as pending", Request: post("contributor", "/events", concert(object{"venue": object{"venue": "Barn", "status": "publish"}})),
				Status: 201, Check: e.keeps(object{"venue.status": "pending"}),
			},
			{
				Name: "with a status", Request: post("admin", "/events", concert(object{"venue": object{"venue": "Cellar", "status": "private"}})),
				Status: 201, Check: func(t *testing.T, r apitest.Response) {
					e.keeps(object{"venue.status": "private"})(t, r)
					hasValues(t, e.mustSucceed(t, get(eventPath(int64(r.Get(t, "id").(float64))))), object{"venue": []any{}})
				},
			},
			{Name: "the author is that of the event", Request: post("admin", "/events", concert(object{
				"author": e.user["author"], "venue": object{"venue": "Loft", "author": 1},
			})), Status: 201, Check: e.keeps(object{"author": fmt.Sprint(e.user["author"]), "venue.author": fmt.Sprint(e.user["author"])})},
			{
				Name: "that of the updated event", Request: patch("admin", eventPath(e.mustCreate(t, "author", nil)), object{"organizer": object{"organizer": "Guest"}}),
				Status: 200, Check: e.keeps(object{"organizer.0.author": fmt.Sprint(e.user["author"])}),
			},
			{
				Name: "in the language of the request", Request: post("admin", "/events?ml_language=pl", concert(object{"venue": object{"venue": "Strych"}})),
				Status: 201, Check: e.keeps(object{"venue.language": "pl", "venue.translations": []string{"pl"}}),
			},
			{Name: "a name twice is one record", Request: post("admin", "/events", concert(object{
				"venue": []any{object{"venue": "Twice"}, object{"venue": "TWICE"}},
			})), Status: 201, Check: e.keeps(object{"venue.venue": "Twice"})},
			{Name: "a duplicate is changed by who may edit it", Request: post("admin", "/events", concert(object{
				"venue": object{"venue": "bare venue", "city": "Gdynia"},
			})), Status: 201, Check: e.keeps(object{"venue.id": 11, "venue.venue": "Bare Venue", "venue.city": "Gdynia"})},
			{Name: "a duplicate is left alone otherwise", Request: post("author", "/events", concert(object{
				"venue": object{"venue": "Bare Venue", "city": "Hel"},
			})), Status: 201, Check: e.keeps(object{"venue.id": 11, "venue.city": "Gdynia"})},
			{Name: "another description is no duplicate", Request: post("admin", "/events", concert(object{
				"venue": object{"venue": "Grand Hall", "description": "Another hall"},
			})), Status: 201, Check: e.keeps(object{"venue.slug": "grand-hall-2"})},
			{Name: "the same description is", Request: post("admin", "/events", concert(object{
				"venue": object{"venue": "grand hall", "description": "a BIG hall"},
			})), Status: 201, Check: e.keeps(object{"venue.id": 10})},
		})
	})
}

func TestInvalidLinkedRecordsStoreNothing(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		before := e.rowCounts(t)
		nested := func(field string, index int, params ...string) func(t *testing.T, r apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				namesExactly(field+" invalid-linked-record")(t, r)
				detail := "data.details." + field + ".data."
				hasValues(t, r, object{detail + "index": index})
				got, _ := valueAt(r.JSON(t), detail+"params").(object)
				for _, name := range params {
					if text, _ := got[name].(string); text == "" {
						t.Errorf("no sentence about %s in %v", name, got)
					}
				}
				if len(got) != len(params) {
					t.Errorf("got %v, want sentences about %v", got, params)
				}
			}
		}
		create := func(as string, over object) apitest.Request { return post(as, "/events", concert(over)) }
		good := object{"venue": "New place"}
		e.Run(t, []apitest.Case{
			{Name: "without a name", Request: create("admin", object{"venue": object{"city": "Kyiv"}}), Status: 400, Check: nested("venue", 0, "venue")},
			{
				Name: "with an empty name", Request: create("admin", object{"organizer": []any{alice, object{"organizer": "<i></i>", "phone": "1"}}}),
				Status: 400, Check: nested("organizer", 1, "organizer"),
			},
			{
				Name: "with several faults", Request: create("", object{"venue": []any{good, object{"venue": "X", "website": "x", "geo_lat": 91, "show_map": "?"}}}),
				Status: 400, Check: nested("venue", 1, "show_map", "website", "geo_lat"),
			},
			{
				Name: "with half a position", Request: create("admin", object{"venue": []any{grandHall, good, object{"venue": "X", "geo_lat": 5}}}),
				Status: 400, Check: nested("venue", 2, "geo_lng"),
			},
			{
				Name: "with an unknown image", Request: create("admin", object{"venue": object{"venue": "X", "image": 999999}}),
				Status: 400, Check: nested("venue", 0, "image"),
			},
			{
				Name: "with an image nobody serves", Request: create("admin", object{"venue": []any{good, grandHall, object{"venue": "X", "image": "http://127.0.0.1:1/x.png"}}}),
				Status: 400, Check: nested("venue", 2, "image"),
			},
			{
				Name: "with an image its sender may not upload", Request: create("contributor", object{"organizer": object{"organizer": "X", "image": "https://example.org/x.png"}}),
				Status: 400, Check: nested("organizer", 0, "image"),
			},
			{Name: "with an unknown author", Request: create("admin", object{"venue": object{"venue": "X", "author": 999999}}), Status: 400, Check: nested("venue", 0, "author")},
			{
				Name: "a good one beside a bad one", Request: create("admin", object{"venue": good, "organizer": object{"organizer": 5}}),
				Status: 400, Check: nested("organizer", 0, "organizer"),
			},
			{
				Name: "a good one beside a forbidden name", Request: create("contributor", object{"venue": good, "tags": []string{"brand new"}}),
				Status: 400, Check: namesExactly("tags unknown-terms"),
			},
			{
				Name: "new terms beside a fault of the work", Request: create("admin", object{"tags": "brand new", "categories": "other new", "venue": object{"venue": "X", "geo_lat": 5}}),
				Status: 400, Check: nested("venue", 0, "geo_lng"),
			},
			{Name: "a good one for who may not write", Request: create("subscriber", object{"venue": good, "tags": "brand new"}), Status: 403},
			{Name: "an update that fails", Request: patch("admin", "/events/{jazzNight}", object{"venue": good, "tags": "brand new", "end_date": "2000-01-01"}), Status: 400},
		})
		if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
			t.Errorf("stored rows (-before +after):\n%s", diff)
		}
	})
}

func TestTermsOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		e.mustSucceed(t, patch("admin", "/categories/{sport}?ml_language=pl", object{"name": "Zawody"}))
		number := e.mustPost(t, "admin", "/tags", object{"name": "2026"})
		for _, c := range []struct {
			name, field string
			sent        any
			want        []int64
		}{
			{"ids", "categories", []int{3, 2}, []int64{3, 2}}, // Jazz, Music: by name
			{"id", "categories", 5, []int64{5}},
			{"ids as texts", "categories", []string{"2", "5"}, []int64{2, 5}},
			{"ids in a text", "categories", "5, 2,", []int64{2, 5}},
			{"name", "categories", "Music", []int64{2}},
			{"name in another case", "categories", []string{"MUSIC"}, []int64{2}},
			{"name in another language", "categories", []string{"zawody"}, []int64{5}},
			{"slug", "tags", []string{"free-entry"}, []int64{4}},
			{"mixed, with repeats", "categories", []any{"music", 2, "Jazz", "2", "jazz"}, []int64{3, 2}},
			{"names in a text", "categories", "sport,Music", []int64{2, 5}},
			{"cleaned names", "categories", []string{" <b>Music</b> "}, []int64{2}},
			{"representations", "categories", []any{object{"id": 2, "name": "Renamed", "slug": "x"}}, []int64{2}},
			{"empty items", "categories", []any{"", nil, 2}, []int64{2}},
			{"empty text", "categories", "", nil},
			{"empty list", "categories", []int{}, nil},
			{"null", "tags", nil, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				e.hasIDs(c.field, c.want...)(t, e.mustSucceed(t, post("contributor", "/events", concert(object{c.field: c.sent}))))
				id := e.mustCreate(t, "admin", object{"categories": []int{music, jazz, sport}, "tags": []int{freeEntry}})
				e.hasIDs(c.field, c.want...)(t, e.mustSucceed(t, patch("admin", eventPath(id), object{c.field: c.sent})))
			})
		}
		before := e.rowCounts(t)
		for _, c := range []struct {
			name, as, field string
			sent            any
			fault           string
			detail          object
		}{
			{"unknown id", "admin", "categories", []int{2, 999999}, "unknown-ids", object{"ids": []int{999999}}},
			{"id of a tag", "admin", "categories", []int{4}, "unknown-ids", object{"ids": []int{4}}},
			{"id of a category", "admin", "tags", "2", "unknown-ids", object{"ids": []int{2}}},
			{"zero", "admin", "tags", 0, "unknown-ids", object{"ids": []int{0}}},
			{"digits are an id, whatever tags are called", "admin", "tags", []string{"2026"}, "unknown-ids", object{"ids": []int{2026}}},
			{"new names without the right", "contributor", "tags", []string{"Free entry", "one", "Two", "ONE"}, "unknown-terms", object{"names": []string{"one", "Two"}}},
			{"boolean", "admin", "tags", []any{true}, "rest_invalid_type", nil},
			{"fraction", "admin", "tags", []any{1.5}, "rest_invalid_type", nil},
			{"object without an id", "admin", "tags", []any{object{"name": "x"}}, "rest_invalid_type", nil},
			{"object", "admin", "tags", object{"id": 4}, "rest_invalid_type", nil},
			{"too long a name", "admin", "tags", []string{strings.Repeat("x", 501)}, "rest_out_of_bounds", object{"maximum": 500}},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := e.Do(t, post(c.as, "/events", concert(object{c.field: c.sent})))
				namesExactly(c.field+" "+c.fault)(t, r)
				if c.detail != nil {
					hasValues(t, r, object{"data.details." + c.field + ".data": c.detail})
				}
			})
		}
		if diff := cmp.Diff(before, e.rowCounts(t)); diff != "" {
			t.Errorf("stored rows (-before +after):\n%s", diff)
		}
		e.Run(t, []apitest.Case{
			{
				Name: "new names", Request: post("author", "/events?ml_language=pl", concert(object{"categories": []string{"Poezja śpiewana", "a,b"}, "tags": "nowy,NOWY"})),
				Status: 201, Check: e.keeps(object{
					"categories.0.name": "a,b", "categories.1.slug": "poezja-spiewana", "categories.1.parent": 0, "categories.1.count": 1,
					"tags.0.name": "nowy", "tags.1": nil,
				}),
			},
			{
				Name: "which are found the next time", Request: post("contributor", "/events", concert(object{"categories": "poezja ŚPIEWANA", "tags": []string{"nowy"}})),
				Status: 201, Check: e.keeps(object{"categories.0.slug": "poezja-spiewana", "tags.0.name": "nowy"}),
			},
			{Name: "a tag called by digits, by its id", Request: post("contributor", "/events", concert(object{"tags": number})), Status: 201, Check: e.hasIDs("tags", number)},
			{Name: "more ids than a statement takes", Request: post("admin", "/events", concert(object{"tags": strings.Repeat("4,", param.MaxItems)})), Status: 201, Check: e.hasIDs("tags", 4)},
			{Name: "more venues than a statement takes", Request: post("admin", "/events", concert(object{"venue": manyIDs(param.MaxItems)})), Status: 400, Check: namesExactly("venue unknown-ids")},
			{Name: "more unknown ids than a statement takes", Request: post("admin", "/events", concert(object{"categories": manyIDs(param.MaxItems)})), Status: 400, Check: namesExactly("categories unknown-ids")},
		})
	})
}

// manyIDs returns n ids that no record has.
func manyIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = 1_000_000 + i
	}
	return ids
}

func TestParentOfAnEvent(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		parent := e.mustCreate(t, "admin", nil)
		child := e.mustCreate(t, "admin", object{"post_parent": parent})
		grandchild := e.mustCreate(t, "admin", object{"post_parent": fmt.Sprint(child)})
		e.isStored(t, grandchild, object{"post_parent": child})
		unknown, loop := namesExactly("post_parent unknown-ids"), namesExactly("post_parent")
		e.Run(t, []apitest.Case{
			{Name: "none", Request: post("admin", "/events", concert(object{"post_parent": nil})), Status: 201, Check: e.keeps(object{"post_parent": 0})},
			{Name: "zero", Request: post("admin", "/events", concert(object{"post_parent": "0"})), Status: 201, Check: e.keeps(object{"post_parent": 0})},
			{Name: "itself", Request: patch("admin", eventPath(parent), object{"post_parent": parent}), Status: 400, Check: loop},
			{Name: "its child", Request: patch("admin", eventPath(parent), object{"post_parent": child}), Status: 400, Check: loop},
			{Name: "its grandchild", Request: patch("admin", eventPath(parent), object{"post_parent": grandchild}), Status: 400, Check: loop},
			{Name: "unknown", Request: post("admin", "/events", concert(object{"post_parent": 999999})), Status: 400, Check: unknown},
			{Name: "a venue", Request: post("admin", "/events", concert(object{"post_parent": 10})), Status: 400, Check: unknown},
			{Name: "in the trash", Request: post("admin", "/events", concert(object{"post_parent": trashedEvent})), Status: 400, Check: unknown},
			{Name: "a draft of somebody", Request: post("author", "/events", concert(object{"post_parent": secretPlans})), Status: 400, Check: unknown},
			{Name: "a draft, for an editor", Request: post("editor", "/events", concert(object{"post_parent": secretPlans})), Status: 201, Check: e.keeps(object{"post_parent": secretPlans})},
			{Name: "empty", Request: post("admin", "/events", concert(object{"post_parent": ""})), Status: 400, Check: namesExactly("post_parent rest_invalid_type")},
			{Name: "cleared by null", Request: patch("admin", eventPath(grandchild), object{"post_parent": nil}), Status: 200, Check: e.keeps(object{"post_parent": 0})},
			{Name: "cleared by zero", Request: patch("admin", eventPath(child), object{"post_parent": 0}), Status: 200, Check: e.keeps(object{"post_parent": 0})},
			{Name: "no loop any more", Request: patch("admin", eventPath(parent), object{"post_parent": child}), Status: 200, Check: e.keeps(object{"post_parent": child})},
		})
	})
}

func TestImageOfAnEvent(t *testing.T) {
	var picture bytes.Buffer
	must.Succeed(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))))
	pictures := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pic.png" {
			http.NotFound(w, r)
			return
		}
		if _, err := w.Write(picture.Bytes()); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(pictures.Close)
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		create := func(as string, image any) apitest.Request {
			return post(as, "/events", concert(object{"image": image}))
		}
		update := func(image any) apitest.Request { return patch("admin", "/events/{jazzNight}", object{"image": image}) }
		none, there := object{"image": false}, object{"image.id": 14, "image.width": 640}
		e.Run(t, []apitest.Case{
			{Name: "id", Request: create("contributor", 14), Status: 201, Check: e.keeps(there)},
			{Name: "id as text", Request: create("admin", "14"), Status: 201, Check: e.keeps(there)},
			{Name: "our own address", Request: create("contributor", apitest.BaseURL+"/media/2026/11/pic.png"), Status: 201, Check: e.keeps(there)},
			{Name: "none", Request: create("admin", nil), Status: 201, Check: e.keeps(none)},
			{Name: "an address", Request: create("author", pictures.URL+"/pic.png"), Status: 201, Check: e.keeps(object{
				"image.width": 200, "image.height": 100, "image.extension": "png", "image.sizes.thumbnail.width": 150,
			})},
			{
				Name: "an address in an inline venue", Request: post("author", "/events", concert(object{"venue": object{"venue": "Seen", "image": pictures.URL + "/pic.png"}})),
				Status: 201, Check: e.keeps(object{"image": false, "venue.image.width": 200}),
			},

			{Name: "unknown id", Request: create("admin", 10), Status: 400, Check: namesExactly("image unknown-ids")},
			{Name: "empty text", Request: create("admin", ""), Status: 400, Check: namesExactly("image")},
			{Name: "other text", Request: create("admin", "pic.png"), Status: 400, Check: namesExactly("image")},
			{Name: "other scheme", Request: create("admin", "ftp://example.org/pic.png"), Status: 400, Check: namesExactly("image")},
			{Name: "true", Request: create("admin", true), Status: 400, Check: namesExactly("image")},
			{Name: "negative", Request: create("admin", -14), Status: 400, Check: namesExactly("image")},
			{Name: "fraction", Request: create("admin", 14.5), Status: 400, Check: namesExactly("image")},
			{Name: "list", Request: create("admin", []int{14}), Status: 400, Check: namesExactly("image")},
			{Name: "object", Request: create("admin", object{}), Status: 400, Check: namesExactly("image")},
			{Name: "nothing of ours", Request: create("admin", apitest.BaseURL+"/media/2026/11/no.png"), Status: 400, Check: namesExactly("image image-not-usable")},
			{Name: "an address with nothing", Request: create("admin", pictures.URL+"/no.png"), Status: 400, Check: namesExactly("image image-not-usable")},
			{Name: "an address, by a contributor", Request: create("contributor", pictures.URL+"/pic.png"), Status: 400, Check: namesExactly("image upload-not-allowed")},
			{Name: "an address, by a subscriber", Request: create("subscriber", pictures.URL+"/pic.png"), Status: 403},

			{Name: "not sent", Request: patch("admin", "/events/{jazzNight}", object{"excerpt": "x"}), Status: 200, Check: e.keeps(there)},
			{Name: "removed by null", Request: update(nil), Status: 200, Check: e.keeps(none)},
			{Name: "set again", Request: update(14), Status: 200, Check: e.keeps(there)},
			{Name: "removed by false", Request: update(false), Status: 200, Check: e.keeps(none)},
			{Name: "set by address", Request: update(apitest.BaseURL + "/media/2026/11/pic.png"), Status: 200, Check: e.keeps(there)},
			{Name: "removed by zero", Request: update(0), Status: 200, Check: e.keeps(none)},
			{Name: "set by text", Request: update("14"), Status: 200, Check: e.keeps(there)},
			{Name: "removed by zero as text", Request: update("0"), Status: 200, Check: e.keeps(none)},
		})
	})
}
