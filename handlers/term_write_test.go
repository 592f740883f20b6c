package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

func termPath(collection string, id int64) string { return fmt.Sprintf("/%s/%d", collection, id) }

// termTest is an eventTest with helpers for tests of terms.
type termTest struct{ *eventTest }

// eachTermTest runs a test on every engine, for categories and for tags.
func eachTermTest(t *testing.T, test func(t *testing.T, e *termTest, collection string)) {
	t.Helper()
	for _, collection := range []string{"categories", "tags"} {
		t.Run(collection, func(t *testing.T) {
			eachEventTest(t, func(t *testing.T, e *eventTest) { test(t, &termTest{e}, collection) })
		})
	}
}

// term reads a term anonymously and fails unless it has the wanted values.
func (e *termTest) term(t *testing.T, collection string, id int64, want object) {
	t.Helper()
	hasValues(t, e.mustSucceed(t, get(termPath(collection, id))), want)
}

func TestTermsAreCreated(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		taxonomy, segment := "tribe_events_cat", "/events/category/"
		var parent any = 0
		if collection == "tags" {
			taxonomy, segment, parent = "post_tag", "/tag/", nil
		}
		r := e.mustSucceed(t, post("author", "/"+collection, object{"name": " Rock <b>&amp;</b> <script>x</script>Roll ", "id": 2, "count": 9}))
		id := int64(r.Get(t, "id").(float64))
		hasValues(t, r, object{
			"name": "Rock &amp; Roll", "slug": "rock-roll", "description": "", "count": 0, "taxonomy": taxonomy,
			"parent": parent, "meta": []string{}, "url": apitest.BaseURL + segment + "rock-roll/",
			"urls.self": apitest.BaseURL + "/cal/events/v1" + termPath(collection, id), "urls.up": nil,
			"language": "en", "translations": []string{"en"}, "json_ld": nil,
		})
		header("Location", apitest.BaseURL+"/cal/events/v1"+termPath(collection, id))(t, r)
		e.term(t, collection, id, object{"name": "Rock &amp; Roll", "description": ""})

		long := strings.Repeat("ż", 500)
		e.Run(t, []apitest.Case{
			{
				Name: "everything", Request: post("admin", "/"+collection, object{"name": "Folk", "description": "<p>Songs &amp; dances</p>", "slug": "Ludowa Muzyka"}),
				Status: 201, Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"name": "Folk", "description": "Songs & dances", "slug": "ludowa-muzyka"})
				},
			},
			{
				Name: "as a form", Request: apitest.Request{Method: "POST", As: "admin", Path: "/" + collection, Form: "name=Punk&description=Loud"},
				Status: 201, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"name": "Punk", "description": "Loud"}) },
			},
			{
				Name: "nulls are not sent", Request: post("admin", "/"+collection, object{"name": "Ska", "description": nil, "slug": nil, "parent": nil}),
				Status: 201, Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"slug": "ska", "description": ""}) },
			},
			{
				Name: "no letters for a slug", Request: post("admin", "/"+collection, object{"name": "!!!"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) {
					kind := map[string]string{"categories": "category", "tags": "tag"}[collection]
					hasValues(t, r, object{"name": "!!!", "slug": fmt.Sprintf("%s-%v", kind, r.Get(t, "id"))})
				},
			},
			{
				Name: "longest name", Request: post("admin", "/"+collection, object{"name": long}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"name": long, "slug": strings.Repeat("z", 200)})
				},
			},

			{Name: "name is required", Request: post("admin", "/"+collection, object{}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("name")},
			{Name: "null is no name", Request: post("admin", "/"+collection, object{"name": nil}), Status: 400, Code: "rest_missing_callback_param", Check: namesExactly("name")},
			{Name: "empty name", Request: post("admin", "/"+collection, object{"name": ""}), Status: 400, Check: namesExactly("name")},
			{Name: "nothing left of the name", Request: post("admin", "/"+collection, object{"name": "<b> </b>"}), Status: 400, Check: namesExactly("name")},
			{Name: "name too long", Request: post("admin", "/"+collection, object{"name": long + "x"}), Status: 400, Check: namesExactly("name rest_out_of_bounds")},
			{Name: "name of another type", Request: post("admin", "/"+collection, object{"name": 5}), Status: 400, Check: namesExactly("name rest_invalid_type")},
			{Name: "name with a NUL", Request: post("admin", "/"+collection, object{"name": "a\x00b"}), Status: 400, Check: namesExactly("name")},
			{Name: "empty description", Request: post("admin", "/"+collection, object{"name": "Disco", "description": ""}), Status: 400, Check: namesExactly("description")},
			{Name: "blank description", Request: post("admin", "/"+collection, object{"name": "Disco", "description": " <i></i>"}), Status: 400, Check: namesExactly("description")},
			{Name: "description too long", Request: post("admin", "/"+collection, object{"name": "Disco", "description": strings.Repeat("d", 256)}), Status: 400, Check: namesExactly("description rest_out_of_bounds")},
			{Name: "empty slug", Request: post("admin", "/"+collection, object{"name": "Disco", "slug": ""}), Status: 400, Check: namesExactly("slug")},
			{Name: "slug too long", Request: post("admin", "/"+collection, object{"name": "Disco", "slug": strings.Repeat("s", 201)}), Status: 400, Check: namesExactly("slug rest_out_of_bounds")},
			{
				Name: "all faults in order", Request: post("", "/"+collection, object{"ml_language": "de", "slug": "", "description": "", "name": ""}),
				Status: 400, Check: namesExactly("name", "description", "slug", "ml_language rest_not_in_enum"),
			},
			{Name: "no deletion of a collection", Request: remove("admin", "/"+collection), Status: 404, Code: "rest_no_route"},
			{Name: "none by slug", Request: get("/" + collection + "/by-slug/folk"), Status: 404, Code: "rest_no_route"},
		})
	})
}

func TestTermsExistOnce(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		id := e.mustPost(t, "admin", "/"+collection, object{"name": "Źródło"})
		exists := func(t *testing.T, r apitest.Response) {
			t.Helper()
			hasValues(t, r, object{"data.term_id": id, "data.status": 400})
		}
		e.Run(t, []apitest.Case{
			{Name: "same name", Request: post("admin", "/"+collection, object{"name": "Źródło"}), Status: 400, Code: "term_exists", Check: exists},
			{Name: "other case", Request: post("author", "/"+collection, object{"name": "źRÓDŁO"}), Status: 400, Code: "term_exists", Check: exists},
			{Name: "other slug", Request: post("admin", "/"+collection, object{"name": "źródło", "slug": "spring"}), Status: 400, Code: "term_exists", Check: exists},
			{Name: "permission comes first", Request: post("contributor", "/"+collection, object{"name": "Źródło"}), Status: 403, Code: "rest_forbidden"},
			{
				Name: "other letters", Request: post("admin", "/"+collection, object{"name": "Zrodlo"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"slug": "zrodlo-2"}) },
			},
			{
				Name: "a slug that is taken", Request: post("admin", "/"+collection, object{"name": "Third", "slug": "zrodlo"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"slug": "zrodlo-3"}) },
			},
			{
				Name: "renaming to a name that exists", Request: patch("admin", termPath(collection, id), object{"name": "Third"}), Status: 200,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"name": "Third", "slug": "zrodlo"}) },
			},
		})
	})
}

func TestNamesOfTaxonomiesAndParentsAreApart(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		e.Run(t, []apitest.Case{
			{
				Name: "a tag named as a category", Request: post("admin", "/tags", object{"name": "Music"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"slug": "music"}) },
			},
			{
				Name: "a category named as one elsewhere", Request: post("admin", "/categories", object{"name": "Jazz"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"slug": "jazz-2", "parent": 0}) },
			},
			{
				Name: "a category named as its sister", Request: post("admin", "/categories", object{"name": "JAZZ", "parent": 2}), Status: 400,
				Code: "term_exists", Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"data.term_id": 3}) },
			},
			{
				Name: "moving beside one of the same name", Request: patch("admin", "/categories/{jazz}", object{"parent": 0}), Status: 200,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"parent": 0, "slug": "jazz"}) },
			},
		})
	})
}

func TestTermsAreUpdated(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		id := e.mustPost(t, "admin", "/"+collection, object{"name": "One", "description": "First", "slug": "one"})
		other := e.mustPost(t, "admin", "/"+collection, object{"name": "Two"})
		path := termPath(collection, id)
		shows := func(want object) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				hasValues(t, r, want)
				e.term(t, collection, id, want)
			}
		}
		e.Run(t, []apitest.Case{
			{Name: "nothing", Request: patch("admin", path, object{}), Status: 200, Check: shows(object{"name": "One", "description": "First", "slug": "one"})},
			{Name: "by POST", Request: post("author", path, object{"name": "Uno"}), Status: 200, Check: shows(object{"name": "Uno", "description": "First", "slug": "one"})},
			{
				Name: "by PUT", Request: apitest.Request{Method: "PUT", As: "editor", Path: path, JSON: object{"description": "Only"}}, Status: 200,
				Check: shows(object{"name": "Uno", "description": "Only", "slug": "one"}),
			},
			{Name: "nulls that cannot clear", Request: patch("admin", path, object{"name": nil, "slug": nil}), Status: 200, Check: shows(object{"name": "Uno", "slug": "one"})},
			{Name: "null clears the description", Request: patch("admin", path, object{"description": nil}), Status: 200, Check: shows(object{"description": ""})},
			{Name: "a new slug", Request: patch("admin", path, object{"slug": "Ein's"}), Status: 200, Check: shows(object{"slug": "eins"})},
			{Name: "its own slug", Request: patch("admin", path, object{"slug": "eins"}), Status: 200, Check: shows(object{"slug": "eins"})},
			{Name: "empty name", Request: patch("admin", path, object{"name": " "}), Status: 400, Check: namesExactly("name")},
			{Name: "empty description", Request: patch("admin", path, object{"description": ""}), Status: 400, Check: namesExactly("description")},
			{Name: "empty slug", Request: patch("admin", path, object{"slug": ""}), Status: 400, Check: namesExactly("slug")},
			{
				Name: "slug of another", Request: patch("admin", path, object{"slug": "TWO", "name": "Lost"}), Status: 400, Code: "duplicate_term_slug",
				Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"data.term_id": other})
					e.term(t, collection, id, object{"name": "Uno", "slug": "eins"})
				},
			},
			{Name: "unknown", Request: patch("admin", termPath(collection, 999999), object{}), Status: 400, Code: "rest_invalid_param", Check: namesExactly("id")},
			{Name: "beyond all ids", Request: patch("admin", "/"+collection+"/99999999999999999999", object{}), Status: 400, Check: namesExactly("id")},
			{Name: "the id of the body is ignored", Request: patch("admin", path, object{"id": other, "name": "Still"}), Status: 200, Check: shows(object{"id": id, "name": "Still"})},
			{Name: "anonymous", Request: patch("", path, object{"name": "X"}), Status: 401, Code: "rest_forbidden"},
			{Name: "faults before permission", Request: patch("", path, object{"name": ""}), Status: 400, Check: namesExactly("name")},
		})
		taken, err := e.Store.Ent.Slug.Query().Where(slug.OwnerID(id), slug.KindIn(calendar.Category, calendar.Tag)).
			Select(slug.FieldSlug).Strings(t.Context())
		must.Succeed(t, err)
		if !slices.Contains(taken, "eins") || slices.Contains(taken, "one") {
			t.Errorf("slugs %v", taken)
		}
		// The description it shows is refused only while it is empty.
		e.mustSucceed(t, patch("admin", path, object{"description": "Text"}))
		was := e.mustSucceed(t, get(path))
		if r := e.mustSucceed(t, patch("admin", path, was.JSON(t))); string(r.Body) != string(was.Body) {
			t.Errorf("sent back: %s, want %s", r.Body, was.Body)
		}
		otherTaxonomy := map[string]string{"categories": "/tags/4", "tags": "/categories/2"}[collection]
		foreign := "/" + collection + otherTaxonomy[strings.LastIndex(otherTaxonomy, "/"):]
		if r := e.Do(t, patch("admin", foreign, object{"name": "X"})); r.Status != 400 {
			t.Errorf("%s is a term of the other taxonomy: %d", foreign, r.Status)
		}
	})
}

func TestParentsOfCategories(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		child := e.mustPost(t, "admin", "/categories", object{"name": "Bebop", "parent": 3})
		path := termPath("categories", child)
		parent := func(id int64) func(*testing.T, apitest.Response) {
			return func(t *testing.T, r apitest.Response) {
				t.Helper()
				hasValues(t, r, object{"parent": id})
			}
		}
		hasValues(t, e.mustSucceed(t, get(path)), object{
			"parent": 3, "url": apitest.BaseURL + "/events/category/music/jazz/bebop/",
			"urls.up": apitest.BaseURL + "/cal/events/v1/categories/3",
		})
		e.Run(t, []apitest.Case{
			{Name: "0 is the top", Request: patch("admin", path, object{"parent": 0}), Status: 200, Check: parent(0)},
			{Name: "digits", Request: patch("admin", path, object{"parent": "5"}), Status: 200, Check: parent(5)},
			{Name: "null is the top", Request: patch("admin", path, object{"parent": nil}), Status: 200, Check: parent(0)},
			{Name: "unchanged when not sent", Request: patch("admin", "/categories/{jazz}", object{"name": "Jazz"}), Status: 200, Check: parent(2)},
			{Name: "empty", Request: patch("admin", path, object{"parent": ""}), Status: 400, Check: namesExactly("parent rest_invalid_type")},
			{Name: "text", Request: patch("admin", path, object{"parent": "music"}), Status: 400, Check: namesExactly("parent rest_invalid_type")},
			{Name: "fraction", Request: patch("admin", path, object{"parent": 1.5}), Status: 400, Check: namesExactly("parent rest_invalid_type")},
			{Name: "unknown", Request: patch("admin", path, object{"parent": 999999}), Status: 400, Code: "rest_invalid_param"},
			{Name: "negative", Request: patch("admin", path, object{"parent": -2}), Status: 400, Code: "rest_invalid_param"},
			{Name: "a tag", Request: patch("admin", path, object{"parent": 4}), Status: 400, Code: "rest_invalid_param"},
			{Name: "unknown on create", Request: post("admin", "/categories", object{"name": "X", "parent": 999999}), Status: 400, Code: "rest_invalid_param"},
			{Name: "below the one that was at the top", Request: patch("admin", path, object{"parent": 3}), Status: 200, Check: parent(3)},
			{Name: "itself", Request: patch("admin", path, object{"parent": child}), Status: 400, Code: "rest_invalid_param", Check: namesExactly("parent")},
			{Name: "its child", Request: patch("admin", "/categories/{jazz}", object{"parent": child}), Status: 400, Code: "rest_invalid_param", Check: namesExactly("parent")},
			{Name: "its grandchild", Request: patch("admin", "/categories/{music}", object{"parent": child, "name": "Lost"}), Status: 400, Check: namesExactly("parent")},
			{
				Name: "nothing of a refused update is stored", Request: get("/categories/{music}"), Status: 200,
				Check: func(t *testing.T, r apitest.Response) { hasValues(t, r, object{"name": "Music", "parent": 0}) },
			},
			{Name: "permission before the loop", Request: patch("contributor", "/categories/{music}", object{"parent": child}), Status: 403, Code: "rest_forbidden"},
			{Name: "tags have none", Request: patch("admin", "/tags/{freeEntry}", object{"parent": "nonsense"}), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"parent": nil})
			}},
		})
	})
}

func TestDeletedTerms(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		id := e.mustPost(t, "admin", "/"+collection, object{"name": "Gone", "slug": "gone"})
		event := e.mustCreate(t, "admin", object{collection: []int64{id}})
		draft := e.mustCreate(t, "admin", object{collection: []int64{id}, "status": "draft"})
		path := termPath(collection, id)
		before := e.mustSucceed(t, get(path))
		hasValues(t, before, object{"count": 1})
		e.Run(t, []apitest.Case{
			{Name: "subscriber", Request: remove("subscriber", path), Status: 403, Code: "rest_forbidden"},
			{Name: "anonymous", Request: remove("", path), Status: 401, Code: "rest_forbidden"},
			{Name: "as it was", Request: remove("author", path+"?force=1"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				if string(r.Body) != string(before.Body) {
					t.Errorf("got %s, want %s", r.Body, before.Body)
				}
			}},
			{Name: "again", Request: remove("author", path), Status: 400, Code: "rest_invalid_param", Check: namesExactly("id")},
			{Name: "again, anonymous", Request: remove("", path), Status: 400, Code: "rest_invalid_param", Check: namesExactly("id")},
			{Name: "reading it", Request: get(path), Status: 400, Code: "rest_invalid_param", Check: namesExactly("id")},
			{Name: "filtering by it", Request: get("/events?" + collection + "=gone"), Status: 400, Code: "rest_invalid_param"},
			{
				Name: "its slug is free", Request: post("admin", "/"+collection, object{"name": "Gone"}), Status: 201,
				Check: func(t *testing.T, r apitest.Response) {
					hasValues(t, r, object{"slug": "gone"})
					if next := int64(r.Get(t, "id").(float64)); next <= id {
						t.Errorf("id %d was used before", next)
					}
				},
			},
		})
		for _, event := range []int64{event, draft} {
			e.isStored(t, event, object{collection: []any{}})
		}
	})
}

func TestChildrenOfADeletedCategoryMoveUp(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		one := e.mustPost(t, "admin", "/categories", object{"name": "Bebop", "parent": 3})
		two := e.mustPost(t, "admin", "/categories", object{"name": "Swing", "parent": 3})
		e.mustSucceed(t, remove("admin", "/categories/{jazz}"))
		for _, id := range []int64{one, two} {
			hasValues(t, e.mustSucceed(t, get(termPath("categories", id))), object{"parent": 2})
		}
		hasValues(t, e.mustSucceed(t, get("/categories?parent={music}&hide_empty=false")), object{"total": 2})
		e.mustSucceed(t, remove("admin", "/categories/{music}"))
		for _, id := range []int64{one, two} {
			hasValues(t, e.mustSucceed(t, get(termPath("categories", id))), object{"parent": 0, "urls.up": nil})
		}
		hasValues(t, e.mustSucceed(t, get("/events/{jazzNight}")), object{"categories": []any{}, "tags.0.id": 4})
	})
}

func TestCountsFollowTheEvents(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		a := e.mustPost(t, "admin", "/"+collection, object{"name": "Alpha"})
		b := e.mustPost(t, "admin", "/"+collection, object{"name": "Beta"})
		id := e.mustCreate(t, "admin", object{collection: []int64{a}, "status": "draft"})
		path := eventPath(id)
		for _, step := range []struct {
			name string
			do   apitest.Request
			a, b int
		}{
			{"draft", patch("admin", path, object{}), 0, 0},
			{"published", patch("admin", path, object{"status": "publish"}), 1, 0},
			{"changed otherwise", patch("admin", path, object{"title": "Again"}), 1, 0},
			{"both", patch("admin", path, object{collection: []int64{b, a, b}}), 1, 1},
			{"by name", patch("admin", path, object{collection: "BETA"}), 0, 1},
			{"private", patch("admin", path, object{"status": "private"}), 0, 0},
			{"changed while private", patch("admin", path, object{collection: []int64{a, b}}), 0, 0},
			{"published and changed", patch("admin", path, object{"status": "publish", collection: []int64{a}}), 1, 0},
			{"in the trash", remove("admin", path), 0, 0},
			{"changed in the trash", patch("admin", path, object{collection: []int64{a, b}}), 0, 0},
			{"restored", patch("admin", path, object{"status": "publish"}), 1, 1},
			{"scheduled", patch("admin", path, object{"date": "2027-01-01"}), 0, 0},
			{"no longer scheduled", patch("admin", path, object{"date": "2026-01-01"}), 1, 1},
			{"unlinked", patch("admin", path, object{collection: ""}), 0, 0},
		} {
			e.mustSucceed(t, step.do)
			e.term(t, collection, a, object{"count": step.a})
			e.term(t, collection, b, object{"count": step.b})
			if t.Failed() {
				t.Fatalf("after %q", step.name)
			}
		}
	})
}

func TestTranslationsOfTerms(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		id := e.mustPost(t, "admin", "/"+collection, object{"name": "Theatre", "description": "Plays"})
		path := termPath(collection, id)
		in := func(lang, method string, body any) apitest.Request {
			return apitest.Request{Method: method, As: "admin", Path: path + "?ml_language=" + lang, JSON: body}
		}
		reads := func(lang string, want object) {
			t.Helper()
			hasValues(t, e.mustSucceed(t, get(path+"?ml_language="+lang)), want)
		}
		hasValues(t, e.mustSucceed(t, in("pl", "PATCH", object{"name": "Teatr"})), object{
			"name": "Teatr", "description": "Plays", "slug": "theatre", "language": "pl", "translations": []string{"en", "pl"},
		})
		reads("en", object{"name": "Theatre", "description": "Plays", "language": "en"})
		reads("es", object{"name": "Theatre", "language": "en"})
		e.mustSucceed(t, in("pl", "PATCH", object{"description": "Sztuki", "slug": "Teatr"}))
		reads("pl", object{"name": "Teatr", "description": "Sztuki", "slug": "teatr"})
		reads("en", object{"name": "Theatre", "description": "Plays", "slug": "theatre"})
		for _, word := range []string{"teatr", "theatre", "THEATRE"} {
			hasValues(t, e.mustSucceed(t, get("/"+collection+"?hide_empty=0&slug="+word)), object{"total": 1, collection + ".0.id": id})
		}
		// A slug of any language is taken.
		if r := e.Do(t, post("admin", "/"+collection, object{"name": "Stage", "slug": "teatr"})); r.Get(t, "slug") != "teatr-2" {
			t.Errorf("the slug of a translation: %d %s", r.Status, r.Body)
		}
		// So is its name.
		if r := e.Do(t, post("admin", "/"+collection, object{"name": "TEATR"})); r.Get(t, "code") != "term_exists" {
			t.Errorf("the name of a translation: %d %s", r.Status, r.Body)
		}
		// A translated name finds the term.
		event := e.mustCreate(t, "admin", object{collection: []string{"theatre"}})
		e.isStored(t, event, object{collection + ".0.id": id, collection + ".0.name": "Theatre"})
		hasValues(t, e.mustSucceed(t, apitest.Request{As: "admin", Path: eventPath(event) + "?ml_language=pl"}), object{collection + ".0.name": "Teatr"})
		// Without a write language what is served is changed, whatever the reply speaks.
		e.mustSucceed(t, apitest.Request{Method: "PATCH", As: "admin", Path: path, JSON: object{"name": "Theater"}, Header: map[string]string{"Accept-Language": "pl"}})
		reads("en", object{"name": "Theater"})
		reads("pl", object{"name": "Teatr"})
		e.mustSucceed(t, in("pl", "PATCH", object{"description": nil}))
		reads("pl", object{"name": "Teatr", "description": "Plays"})
		e.mustSucceed(t, remove("admin", path))
		left, err := e.Store.Ent.TermTranslation.Query().Count(t.Context())
		must.Succeed(t, err)
		if left != 0 {
			t.Errorf("%d texts are left of a deleted term", left)
		}
		hasValues(t, e.mustSucceed(t, get("/"+collection+"?hide_empty=0&slug=theatre")), object{"total": 0})
	})
}

func TestTermsCreatedInAnotherLanguage(t *testing.T) {
	eachTermTest(t, func(t *testing.T, e *termTest, collection string) {
		r := e.mustSucceed(t, apitest.Request{
			Method: "POST", As: "admin", Absolute: true, Path: "/pl/cal/events/v1/" + collection, JSON: object{"name": "Wystawa"},
		})
		id := int64(r.Get(t, "id").(float64))
		hasValues(t, r, object{"name": "Wystawa", "language": "pl", "translations": []string{"pl"}})
		header("Location", apitest.BaseURL+"/pl/cal/events/v1"+termPath(collection, id))(t, r)
		// Nothing English is there yet, so that text is the one to change.
		e.mustSucceed(t, patch("admin", termPath(collection, id), object{"name": "Wernisaż"}))
		e.term(t, collection, id, object{"name": "Wernisaż", "language": "pl", "translations": []string{"pl"}})
	})
}
