package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestFollowingOfTheContract replays the second example of the contract, section 19.9: a write with
// scope=following.
func TestFollowingOfTheContract(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		first := e.mustSucceed(t, post("admin", "/events", course(nil)))
		series := int64(first.Get(t, "series", "id").(float64))
		ids := e.occurrences(t, series)
		e.mustSucceed(t, patch("admin", eventPath(ids[1]), object{"start_date": "2026-12-09 17:00"}))
		slugs := make([]any, len(ids))
		for i, id := range ids {
			slugs[i] = e.mustSucceed(t, get(eventPath(id))).Get(t, "slug")
		}
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(ids[2])+"?scope=following", object{"start_date": "2027-01-05 18:30"})), object{
			"start_date": "2027-01-05 18:30:00", "end_date": "2027-01-05 20:00:00", "series.is_exception": false,
			"series.original_start_date": "2027-01-05 18:30:00", "series.text": "every second Tuesday until 3 March 2027",
		})
		shown := e.mustSucceed(t, get(fmt.Sprint("/series/", series)))
		hasValues(t, shown, object{"total": 7, "next": ids[0], "start_date": "2027-01-05 18:30:00"})
		var got struct {
			Phases []struct {
				Start string `json:"start_date"`
				End   string `json:"end_date"`
				Rule  string `json:"rrule"`
			}
		}
		shown.Into(t, &got)
		want := got
		want.Phases = slices.Clone(got.Phases)[:0]
		for _, p := range [][3]string{
			{"2026-11-24 18:00:00", "2026-11-24 19:30:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270104;BYDAY=TU"},
			{"2027-01-05 18:30:00", "2027-01-05 20:00:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU"},
		} {
			want.Phases = append(want.Phases, struct {
				Start string `json:"start_date"`
				End   string `json:"end_date"`
				Rule  string `json:"rrule"`
			}{p[0], p[1], p[2]})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
		hasValues(t, e.mustSucceed(t, get(eventPath(ids[1]))), object{"start_date": "2026-12-09 17:00:00", "series.is_exception": true})
		for i, id := range ids {
			if slug := e.mustSucceed(t, get(eventPath(id))).Get(t, "slug"); slug != slugs[i] {
				t.Errorf("slug %v, before %v", slug, slugs[i])
			}
		}
	})
}

// TestWritesOfSeries updates, deletes and restores a series by id and by slug.
func TestWritesOfSeries(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		first := e.mustSucceed(t, post("admin", "/events", course(nil)))
		series := int64(first.Get(t, "series", "id").(float64))
		ids := e.occurrences(t, series)
		path := fmt.Sprint("/series/", series)
		bySlug := "/series/by-slug/polish-for-beginners"
		titles := func(want string) {
			t.Helper()
			for _, id := range ids {
				hasValues(t, e.mustSucceed(t, get(eventPath(id))), object{"title": want})
			}
		}
		hasValues(t, e.mustSucceed(t, patch("admin", path, object{"title": "Polish", "scope": "all"})), object{"title": "Polish", "total": 7})
		titles("Polish")
		hasValues(t, e.mustSucceed(t, apitest.Request{Method: "PUT", As: "admin", Path: bySlug, JSON: object{"title": "Polski", "cost": "10"}}), object{
			"id": series, "title": "Polski", "cost": "$10",
		})
		titles("Polski")
		e.mustSucceed(t, patch("admin", eventPath(ids[4]), object{"title": "Own"}))
		hasValues(t, e.mustSucceed(t, patch("admin", path, object{"slug": "polski"})), object{"slug": "polski"})
		hasValues(t, e.mustSucceed(t, patch("admin", path+"?exceptions=drop", object{"title": "All"})), object{"title": "All"})
		titles("All")

		hasValues(t, e.mustSucceed(t, patch("admin", path, object{"description": "<b onclick=x>Bold</b><script>x</script>"})), object{"description": "<p><b>Bold</b></p>"})
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(ids[5])+"?scope=all", object{"excerpt": "<i onclick=x>Slow</i>"})), object{"excerpt": "<p><i>Slow</i></p>"})
		hasValues(t, e.mustSucceed(t, patch("admin", eventPath(ids[5]), object{"excerpt": "<u onclick=x>Own</u>"})), object{"excerpt": "<p><u>Own</u></p>"})

		// What is read and sent back changes nothing.
		before := e.mustSucceed(t, apitest.Request{As: "admin", Path: path})
		body := before.JSON(t).(object)
		rows := e.rowCounts(t)
		after := e.mustSucceed(t, apitest.Request{Method: "PUT", As: "admin", Path: path, JSON: body})
		if diff := cmp.Diff(body, after.JSON(t).(object)); diff != "" {
			t.Errorf("what was read and sent back (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(rows, e.rowCounts(t)); diff != "" {
			t.Errorf("rows (-before +after):\n%s", diff)
		}

		old := e.mustSucceed(t, apitest.Request{As: "admin", Path: path}).Header.Get("ETag")
		e.mustSucceed(t, patch("admin", path, object{"title": "Newer"}))
		e.Run(t, []apitest.Case{
			{Name: "an old version", Request: ifMatch(old, patch("admin", path, object{"title": "x"})), Status: 412, Code: "rest_precondition_failed"},
			{Name: "an old version of a deletion", Request: ifMatch(old, remove("admin", path)), Status: 412, Code: "rest_precondition_failed"},
			{Name: "anonymous", Request: patch("", path, object{"title": "x"}), Status: 401, Code: "rest_forbidden"},
			{Name: "no rights", Request: patch("author", path, object{"title": "x"}), Status: 403, Code: "rest_forbidden"},
			{Name: "no rights to delete", Request: remove("author", path), Status: 403, Code: "rest_forbidden"},
			{Name: "an event", Request: patch("admin", fmt.Sprint("/series/", ids[0]), object{"title": "x"}), Status: 404, Code: "series-not-found"},
			{Name: "an unknown slug", Request: remove("admin", "/series/by-slug/nothing"), Status: 404, Code: "series-not-found"},
			{Name: "another scope", Request: patch("admin", path+"?scope=following", object{"title": "x"}), Status: 400, Check: namesExactly("scope rest_not_in_enum")},
			{Name: "no choice", Request: patch("admin", path, object{"exceptions": "some"}), Status: 400, Check: namesExactly("exceptions rest_not_in_enum")},
			{Name: "a rule without the start", Request: patch("admin", path, object{"rrule": "FREQ=WEEKLY;BYDAY=MO"}), Status: 400, Check: namesExactly("rrule start-not-in-rule")},
			{Name: "delete", Request: remove("admin", "/series/by-slug/polski"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"id": series, "status": "trash", "slug": "polski", "total": 0, "next": nil})
			}},
			{Name: "delete again", Request: remove("admin", path), Status: 410, Code: "series-is-in-trash"},
			{Name: "in the trash", Request: get(path), Status: 403, Code: "series-no-longer-available"},
			{Name: "its occurrence too", Request: get(eventPath(ids[3])), Status: 403, Code: "event-no-longer-available"},
			{Name: "another schedule in the trash", Request: patch("admin", path, object{"rrule": "FREQ=DAILY;COUNT=2"}), Status: 410, Code: "series-is-in-trash"},
			{Name: "by an occurrence, which shows no series", Request: patch("admin", eventPath(ids[3])+"?scope=all", object{"status": "publish"}), Status: 400, Check: namesExactly("scope not-recurring")},
			{Name: "restore", Request: patch("admin", path, object{"status": "publish"}), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"status": "publish", "total": 7, "slug": "polski"})
			}},
			{Name: "all", Request: remove("admin", eventPath(ids[2])+"?scope=all"), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"id": ids[2], "status": "trash"})
			}},
			{Name: "the series went along", Request: get(path), Status: 403, Code: "series-no-longer-available"},
			{Name: "restore by POST", Request: post("admin", path, object{"status": "publish"}), Status: 200},
			{Name: "following", Request: remove("admin", eventPath(ids[2])+"?scope=following"), Status: 200},
			{Name: "what is left", Request: get(path), Status: 200, Check: func(t *testing.T, r apitest.Response) {
				hasValues(t, r, object{"total": 2, "rrule": "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270104;BYDAY=TU"})
			}},
		})
	})
}

// TestEveryWriteOfSeriesTakesEveryField updates and deletes series and their events by each method and path, with all fields.
func TestEveryWriteOfSeriesTakesEveryField(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	fields := fullBodies(t, api)["events"]
	for i, method := range []string{"POST", "PUT", "PATCH"} {
		for j, by := range []string{"id", "slug"} {
			name := fmt.Sprintf("sweep-%d-%d", i, j)
			first := api.Do(t, post("admin", "/events", course(object{"slug": name})))
			id, event := int64(first.Get(t, "series", "id").(float64)), int64(first.Get(t, "id").(float64))
			series, occurrence := fmt.Sprint("/series/", id), fmt.Sprint("/events/", event)
			trashed := series
			alone := api.Do(t, post("admin", "/events", concert(object{"slug": name + "-alone"})))
			single := fmt.Sprint("/events/", int64(alone.Get(t, "id").(float64)))
			gone := single
			if by == "slug" {
				series, occurrence = "/series/by-slug/"+name, "/events/by-slug/"+name+"-2026-11-24"
				trashed = series + "__trashed"
				single, gone = "/events/by-slug/"+name+"-alone", "/events/by-slug/"+name+"-alone__trashed"
			}
			body := overlayBody(overlayBody(object{}, fields), object{
				"slug": nil, "post_parent": 0, "start_date": "2026-11-24 19:00", "end_date": "2026-11-24 20:00", "scope": "all",
				"exceptions": "drop", "rrule": "FREQ=WEEKLY;COUNT=4", "rdate": []string{"2026-11-27"}, "exdate": []string{"2026-12-01"},
			})
			write := func(path string, body object) apitest.Request {
				return apitest.Request{Method: method, As: "admin", Path: path, JSON: body}
			}
			old := `"9-0123456789abcdef"`
			api.Run(t, []apitest.Case{
				{Request: ifMatch("*", write(series+"?_fields=id,title&ml_language=en", body)), Status: 200},
				{Request: write(series, object{"password": "sesame"}), Status: 200},
				{Request: ifMatch(old, write(series, object{"title": "x"})), Status: 412, Code: "rest_precondition_failed"},
				{Request: ifMatch("*", write(occurrence, overlayBody(body, object{"rrule": "FREQ=WEEKLY;COUNT=3", "exdate": []string{}}))), Status: 200},
				{Request: ifMatch(old, remove("admin", series)), Status: 412, Code: "rest_precondition_failed"},
				{Request: ifMatch("*", remove("admin", series+"?scope=all")), Status: 200},
				{Request: remove("admin", trashed), Status: 410, Code: "series-is-in-trash"},
				{Request: write(trashed, object{"rrule": "FREQ=WEEKLY;COUNT=5"}), Status: 410, Code: "series-is-in-trash"},
				{Request: remove("admin", single), Status: 200},
				{Request: write(gone, object{"rrule": "FREQ=WEEKLY;COUNT=5"}), Status: 410, Code: "event-is-in-trash"},
				{Request: write(trashed, object{"status": "publish", "slug": name}), Status: 200},
				{Request: remove("admin", occurrence+"?scope=all"), Status: 200},
			})
		}
	}
}

// TestEveryScopeExpectsAVersion sends an old version in If-Match with writes of each scope. Each must be refused
// and change nothing.
func TestEveryScopeExpectsAVersion(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		made := e.mustSucceed(t, post("admin", "/events", course(nil)))
		id := int64(made.Get(t, "series", "id").(float64))
		ids := e.occurrences(t, id)
		series, occurrence := fmt.Sprint("/series/", id), eventPath(ids[2])
		tagOf := func(path string) string {
			return e.mustSucceed(t, apitest.Request{As: "admin", Path: path}).Header.Get("ETag")
		}
		old := map[string]string{series: tagOf(series), occurrence: tagOf(occurrence)}
		e.mustSucceed(t, patch("admin", series, object{"title": "Newer"}))
		for _, path := range []string{
			occurrence, occurrence + "?scope=this", occurrence + "?scope=following", occurrence + "?scope=all", series, series + "?scope=all",
		} {
			record, _, _ := strings.Cut(path, "?")
			before := seriesState(t, e.Store, id)
			for _, r := range []apitest.Request{
				patch("admin", path, object{"title": "x"}), patch("admin", path, object{"start_date": "2027-01-05 19:00"}),
				remove("admin", path),
			} {
				e.Run(t, []apitest.Case{{Request: ifMatch(old[record], r), Status: 412, Code: "rest_precondition_failed"}})
			}
			if diff := cmp.Diff(before, seriesState(t, e.Store, id)); diff != "" {
				t.Errorf("%s (-before +after):\n%s", path, diff)
			}
			e.mustSucceed(t, ifMatch(tagOf(record), patch("admin", path, object{"title": "By " + path})))
		}
		e.mustSucceed(t, ifMatch(tagOf(occurrence), remove("admin", occurrence+"?scope=following")))
		e.mustSucceed(t, ifMatch(tagOf(series), remove("admin", series)))
	})
}

// TestAWriteOfASeriesHidesItsOccurrences hides and protects a series, and asks what lists show then.
func TestAWriteOfASeriesHidesItsOccurrences(t *testing.T) {
	eachEventTest(t, func(t *testing.T, e *eventTest) {
		made := e.mustSucceed(t, post("admin", "/events", course(object{"title": "Rumba", "description": "Rumba for all"})))
		id := int64(made.Get(t, "series", "id").(float64))
		ids, path := e.occurrences(t, id), fmt.Sprint("/series/", id)
		const window = "per_page=50&starts_after=2026-11-01&starts_before=2027-12-31"
		shown := func(path string) (found []int64) {
			t.Helper()
			r := e.mustSucceed(t, get(path))
			key := "events"
			if strings.HasPrefix(path, "/series") {
				key = "series"
			}
			for _, one := range r.Get(t, key).([]any) {
				at := int64(one.(object)["id"].(float64))
				if at == id || slices.Contains(ids, at) {
					found = append(found, at)
				}
			}
			return found
		}
		for _, c := range []struct {
			name   string
			change object
			// lists, first, series and found are the ids in four lists: all events, series=next, /series, and a search
			// for a word of the description.
			lists, first, series, found []int64
			page                        int
		}{
			{"as it was made", nil, ids, ids[:1], []int64{id}, ids, 200},
			{"hidden", object{"hide_from_listings": true}, nil, nil, nil, nil, 200},
			{"shown again", object{"hide_from_listings": false}, ids, ids[:1], []int64{id}, ids, 200},
			{"protected", object{"password": "sesame"}, ids, ids[:1], []int64{id}, nil, 403},
			{"hidden and protected", object{"hide_from_listings": true}, nil, nil, nil, nil, 403},
			{"open again", object{"hide_from_listings": false, "password": ""}, ids, ids[:1], []int64{id}, ids, 200},
		} {
			if c.change != nil {
				e.mustSucceed(t, patch("admin", path, c.change))
			}
			for _, list := range []struct {
				path string
				want []int64
			}{
				{"/events?" + window, c.lists},
				{"/events?" + window + fmt.Sprint("&series=", id), c.lists},
				{"/events?" + window + "&series=none", nil},
				{"/events?" + window + "&series=next", c.first},
				{"/events?" + window + "&series=next&search=rumba", firstOfIDs(c.found)},
				{"/events?" + window + "&search=rumba", c.found},
				{"/series?per_page=50", c.series},
				{"/series?per_page=50&search=rumba", seriesIf(id, c.found)},
			} {
				if diff := cmp.Diff(list.want, shown(list.path)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", c.name, list.path, diff)
				}
			}
			for _, one := range []string{path, eventPath(ids[0])} {
				if r := e.Do(t, get(one)); r.Status != c.page {
					t.Errorf("%s: %s is %d, want %d", c.name, one, r.Status, c.page)
				}
			}
		}
	})
}

// firstOfIDs returns the first of some ids, if there are any.
func firstOfIDs(ids []int64) []int64 { return ids[:min(1, len(ids))] }

// seriesIf returns the id of a series as a list, or an empty list if no occurrences are given.
func seriesIf(id int64, occurrences []int64) []int64 {
	if len(occurrences) == 0 {
		return nil
	}
	return []int64{id}
}
