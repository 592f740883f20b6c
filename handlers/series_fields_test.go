package handlers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// occurrenceMembers are the members of a representation that differ between the occurrences of a series, and between an occurrence
// and its series.
var occurrenceMembers = []string{
	"id", "global_id", "global_id_lineage", "slug", "url", "rest_url", "website", "date", "date_utc", "modified", "modified_utc",
	"start_date", "start_date_details", "end_date", "end_date_details", "utc_start_date", "utc_start_date_details",
	"utc_end_date", "utc_end_date_details", "timezone_abbr", "utc_timezone", "series",
}

// notOfSeries are the other members that an event has and a series has not (contract, section 19.6).
var notOfSeries = []string{"post_parent", "event_status", "event_status_reason"}

// TestSeriesHaveEveryFieldOfAnEvent creates a series with the sample of each field that an event takes. All its occurrences
// have the field, and so has the series. A write of a series gives its occurrences the field, and a write of an occurrence
// alone makes it an own field.
func TestSeriesHaveEveryFieldOfAnEvent(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	asked := 0
	for _, route := range explainedRoutes(t, offlineAPI(t)) {
		if route.Operation != "POST /events" {
			continue
		}
		for _, p := range route.Parameters {
			if p.In != "body" || slices.Contains([]string{"rrule", "rdate", "exdate", "slug"}, p.Name) {
				continue
			}
			var body object
			if err := json.Unmarshal([]byte(p.Sample.Body), &body); err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			asked++
			overlayBody(body, object{"title": fmt.Sprint("Fair ", asked), "rrule": "FREQ=WEEKLY;COUNT=2"})
			var created struct{ Series struct{ ID int64 } }
			first := api.Do(t, post("admin", "/events", body))
			first.Into(t, &created)
			if first.Status != 201 {
				t.Fatalf("%s: got %d: %s", p.Name, first.Status, first.Body)
			}
			ids, err := api.Store.Ent.Event.Query().Where(event.SeriesID(created.Series.ID)).Order(event.ByID()).IDs(t.Context())
			if err != nil || len(ids) != 2 {
				t.Fatalf("%s: got occurrences %v: %v", p.Name, ids, err)
			}
			events := make([]map[string]any, len(ids))
			for i, id := range ids {
				api.Do(t, apitest.Request{As: "admin", Path: fmt.Sprint("/events/", id)}).Into(t, &events[i])
				withoutJSONLD(events[i])
			}
			var series map[string]any
			api.Do(t, apitest.Request{As: "admin", Path: fmt.Sprint("/series/", created.Series.ID)}).Into(t, &series)
			shared := func(o map[string]any, but ...string) map[string]any {
				out := maps.Clone(o)
				maps.DeleteFunc(out, func(name string, _ any) bool {
					return slices.Contains(occurrenceMembers, name) || slices.Contains(but, name)
				})
				return out
			}
			if diff := cmp.Diff(shared(events[0]), shared(events[1])); diff != "" {
				t.Errorf("%s (-first occurrence +second):\n%s", p.Name, diff)
			}
			own := []string{"rrule", "rdate", "exdate", "text", "phases", "generated_until", "total", "next"}
			if diff := cmp.Diff(shared(events[1], notOfSeries...), shared(series, own...)); diff != "" {
				t.Errorf("%s (-second occurrence +series):\n%s", p.Name, diff)
			}
			if website := events[1]["website"]; p.Name == "website" && website != series["website"] {
				t.Errorf("website of the second occurrence is %v", website)
			}
			api.Do(t, apitest.Request{Method: "DELETE", As: "admin", Path: fmt.Sprint("/series/", created.Series.ID)})
			if !slices.Contains([]string{"start_date", "end_date", "timezone", "all_day", "date_utc"}, p.Name) {
				later := object{p.Name: body[p.Name]}
				base := object{"start_date": body["start_date"], "end_date": body["end_date"], "rrule": body["rrule"]}
				writeLater(t, api, base, later, shared(events[0], "title"), shared)
			}
		}
	}
	if asked < 20 {
		t.Errorf("asked for %d fields only", asked)
	}
}

// writeLater creates a series without a field, and then writes the field to all occurrences and to one alone. The
// result want has the values that they then share, besides their titles.
func writeLater(
	t *testing.T, api *apitest.API, base, later object, want map[string]any, shared func(map[string]any, ...string) map[string]any,
) {
	t.Helper()
	for _, scope := range []string{"all", "this"} {
		base["title"] = fmt.Sprint("Plain ", later)
		first := api.Do(t, post("admin", "/events", base))
		id := int64(first.Get(t, "series", "id").(float64))
		ids, err := api.Store.Ent.Event.Query().Where(event.SeriesID(id)).Order(event.ByID()).IDs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var was, is map[string]any
		api.Do(t, apitest.Request{As: "admin", Path: fmt.Sprint("/events/", ids[1])}).Into(t, &was)
		r := api.Do(t, patch("admin", fmt.Sprintf("/events/%d?scope=%s", ids[0], scope), later))
		if r.Status != 200 {
			t.Errorf("%v, %s: got %d: %s", later, scope, r.Status, r.Body)
			continue
		}
		if scope == "all" {
			api.Do(t, apitest.Request{As: "admin", Path: fmt.Sprint("/events/", ids[1])}).Into(t, &is)
			withoutJSONLD(is)
			if diff := cmp.Diff(want, shared(is, "title")); diff != "" {
				t.Errorf("%v: second occurrence after a write to all (-want +got):\n%s", later, diff)
			}
		} else {
			r.Into(t, &is)
			own := is["series"].(object)["own_fields"].([]any)
			for name := range later {
				if cmp.Equal(was[name], is[name]) && name != "password" {
					continue // the sample is the default
				}
				if !slices.Contains(own, any(name)) {
					t.Errorf("%s is written to one occurrence alone, whose own fields are %v", name, own)
				}
			}
		}
		api.Do(t, apitest.Request{Method: "DELETE", As: "admin", Path: fmt.Sprint("/series/", id)})
	}
}

// withoutJSONLD removes json_ld from a representation and its embedded records, because series have none.
func withoutJSONLD(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "json_ld")
		for _, member := range v {
			withoutJSONLD(member)
		}
	case []any:
		for _, item := range v {
			withoutJSONLD(item)
		}
	}
}
