package handlers_test

import (
	"encoding/json"
	"html"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestARealCalendarIsServedAsItsSourceServedIt imports a city's calendar and compares each member of each event
// with the source. It lists the allowed differences with their reasons.
func TestARealCalendarIsServedAsItsSourceServedIt(t *testing.T) {
	const variable = "ALMANAC_REAL_CALENDAR"
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s names no file: the test with a real city's calendar is left out", variable)
	}
	data, err := os.ReadFile(path)
	must.Succeed(t, err)
	var source struct{ Events []map[string]any }
	must.Succeed(t, json.Unmarshal(data, &source))
	zone, err := calendar.ParseZone("America/New_York")
	must.Succeed(t, err)
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		reader := &importer.Reader{Site: api.Site}
		read, err := reader.Read(t.Context(), path)
		must.Succeed(t, err)
		report, err := (&importer.Importer{DB: api.Store.Ent, Site: api.Site}).Run(t.Context(), read)
		if err != nil || !report.Complete() {
			t.Fatalf("import: %v, %+v", err, report)
		}
		res := api.Do(t, get("/events?starts_after=2022-01-01&per_page=50"))
		served := make(map[string]map[string]any)
		items, ok := res.Get(t, "events").([]any)
		if !ok {
			t.Fatalf("no list: %s", res.Body)
		}
		for _, item := range items {
			e := item.(map[string]any)
			served[e["slug"].(string)] = e
		}
		if len(served) != len(source.Events) || res.Get(t, "total") != float64(len(source.Events)) {
			t.Errorf("%d events are listed, the source has %d", len(served), len(source.Events))
		}
		for _, want := range source.Events {
			slug := want["slug"].(string)
			got := served[slug]
			if got == nil {
				t.Errorf("%s is not listed", slug)
				continue
			}
			if diff := cmp.Diff(expectedEvent(t, want), withoutOurs(got, want)); diff != "" {
				t.Errorf("%s (-source +served):\n%s", slug, diff)
			}
		}
	}, func(c *handlers.Config) { c.Site.Zone = zone })
}

// sourceMembers are members that say where a record lives, who wrote it and how often something is used there.
var sourceMembers = []string{
	"id", "global_id", "global_id_lineage", "author", "url", "rest_url", "urls", "count", "term_taxonomy_id", "parent",
}

// addedMembers are members that the source does not have.
var addedMembers = append(laterFields(), "ticketed", "post_parent", "language", "translations", "event_status",
	"event_status_reason", "attendance", "virtual_url", "series")

// expectedEvent returns the representation that the service must have for an event of the source (contract,
// section 6.1).
func expectedEvent(t *testing.T, e map[string]any) map[string]any {
	t.Helper()
	out := expectedMember(t, e, "title")
	// Members of the source's add-ons.
	for name := range out {
		if strings.HasPrefix(name, "is_virtual") || strings.HasPrefix(name, "virtual_") {
			delete(out, name)
		}
	}
	// A site without a cost answers where its symbol would stand; we answer nothing (contract, section 7).
	if details, ok := out["cost_details"].(map[string]any); ok && len(details["values"].([]any)) == 0 {
		details["currency_position"] = ""
	}
	// The source leaves the abbreviation out where it was never computed; ours is derived (contract, section 5).
	if out["timezone_abbr"] == "" {
		out["timezone_abbr"] = "EDT"
		if offset, _ := out["timezone"].(string); strings.HasPrefix(offset, "UTC+") {
			out["timezone_abbr"] = offset
		}
	}
	if out["website"] == e["url"] {
		out["website"] = "its own page"
	}
	for _, name := range []string{"categories", "tags", "organizer"} {
		list, _ := e[name].([]any)
		items := make([]any, len(list))
		for i, item := range list {
			items[i] = expectedMember(t, item.(map[string]any), "organizer")
		}
		out[name] = items
	}
	if venue, ok := e["venue"].(map[string]any); ok {
		out["venue"] = expectedMember(t, venue, "venue")
	}
	if _, ok := e["custom_fields"]; !ok {
		out["custom_fields"] = []any{}
	}
	return out
}

// expectedMember returns an event or linked record of the source as the service must show it. It drops
// sourceMembers. title is the member with the name.
func expectedMember(t *testing.T, e map[string]any, title string) map[string]any {
	t.Helper()
	out := make(map[string]any, len(e))
	for name, v := range e {
		out[name] = v
	}
	for _, name := range sourceMembers {
		delete(out, name)
	}
	for name, v := range out {
		text, ok := v.(string)
		if !ok {
			continue
		}
		switch name {
		case title, "name":
			out[name] = calendar.Escape(strings.TrimSpace(html.UnescapeString(text)))
		case "description", "excerpt":
			if e["taxonomy"] != nil {
				continue
			}
			clean, err := markup.HTML(text)
			must.Succeed(t, err)
			out[name] = markup.Paragraphs(clean)
		default:
			out[name] = strings.TrimSpace(html.UnescapeString(text))
		}
	}
	// An image is a reference: the same address and dimensions under an id of ours.
	if image, ok := e["image"].(map[string]any); ok {
		out["image"] = map[string]any{"url": image["url"], "width": image["width"], "height": image["height"]}
	}
	return out
}

// withoutOurs returns an event or linked record of the service without sourceMembers and addedMembers. It reduces
// an image to its URL and dimensions.
func withoutOurs(e, source map[string]any) map[string]any {
	out := make(map[string]any, len(e))
	for name, v := range e {
		out[name] = v
	}
	for _, name := range append(sourceMembers[:len(sourceMembers):len(sourceMembers)], addedMembers...) {
		delete(out, name)
	}
	if e["website"] == e["url"] && e["url"] != nil && source["website"] == source["url"] {
		out["website"] = "its own page"
	}
	if image, ok := e["image"].(map[string]any); ok {
		out["image"] = map[string]any{"url": image["url"], "width": image["width"], "height": image["height"]}
	}
	for _, name := range []string{"categories", "tags", "organizer"} {
		list, ok := e[name].([]any)
		if !ok {
			continue
		}
		items := make([]any, len(list))
		for i, item := range list {
			items[i] = withoutOurs(item.(map[string]any), nil)
		}
		out[name] = items
	}
	if venue, ok := e["venue"].(map[string]any); ok {
		out["venue"] = withoutOurs(venue, nil)
	}
	return out
}
