package handlers_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// tableOf parses a CSV reply into a map of cells for each row, with the apostrophes before formulas removed.
func tableOf(t *testing.T, r apitest.Response) (rows []map[string]string) {
	t.Helper()
	if kind := r.Header.Get("Content-Type"); r.Status != 200 || kind != "text/csv; charset=utf-8; header=present" {
		t.Fatalf("got %d %s: %s", r.Status, kind, r.Body)
	}
	text, marked := bytes.CutPrefix(r.Body, []byte("\ufeff"))
	if !marked {
		t.Fatalf("no byte order mark: %q", r.Body)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	if len(records) == 0 {
		t.Fatalf("no header line: %q", r.Body)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, cell := range record {
			row[records[0][i]] = readCell(cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// readCell removes the apostrophe that the service put before a cell.
func readCell(cell string) string {
	if rest := strings.TrimLeft(cell, "'"); rest != cell && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return cell[1:]
	}
	return cell
}

// tableIDs returns the column id of a CSV reply.
func tableIDs(t *testing.T, r apitest.Response) (ids []int64) {
	t.Helper()
	for _, row := range tableOf(t, r) {
		id, err := strconv.ParseInt(row["id"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestClientsChooseTheFormOfAList(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Example(t)
	const csvType, jsonType = "text/csv; charset=utf-8; header=present", "application/json; charset=UTF-8"
	for _, test := range []struct{ path, accept, want string }{
		{"/events", "", jsonType},
		{"/events", "*/*", jsonType},
		{"/events", "application/json, text/plain, */*", jsonType},
		{"/events", "text/csv", csvType},
		{"/events", "TEXT/CSV;header=present", csvType},
		{"/events", "text/csv, application/json", jsonType},
		{"/events", "text/csv, */*;q=0.8", csvType},
		{"/events", "text/csv;q=0.9, application/json;q=0.8", csvType},
		{"/events", "text/csv;q=0.8, application/json;q=0.9", jsonType},
		{"/events", "text/csv;q=0, */*", jsonType},
		{"/events", "text/*, application/json;q=0.5", csvType},
		{"/events", "application/json;q=0.1, */*", csvType},
		{"/events", "text/csv;q=2", jsonType},
		{"/events", "text/csv;q=nan", jsonType},
		{"/events", "image/png", jsonType},
		{"/events", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", jsonType},
		{"/events?format=csv", "", csvType},
		{"/events?format=csv", "application/json", csvType},
		{"/events?format=json", "text/csv", jsonType},
		{"/venues?format=csv", "", csvType},
		{"/organizers?format=csv", "", csvType},
		{"/categories?format=csv", "", csvType},
		{"/tags?format=csv", "", csvType},
		{"/tags", "text/csv", csvType},
		{"/events/{jazzNight}", "text/csv", jsonType},
		{"/series", "text/csv", jsonType},
		{"/series?format=csv", "", jsonType},
	} {
		t.Run(test.path+" "+test.accept, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				res := api.Do(t, apitest.Request{Method: method, Path: test.path, Header: map[string]string{"Accept": test.accept}})
				if got := res.Header.Get("Content-Type"); res.Status != 200 || got != test.want {
					t.Errorf("%s: got %d %s", method, res.Status, got)
				}
				if vary := res.Header.Get("Vary"); !strings.Contains(vary, "Accept,") {
					t.Errorf("%s: Vary is %q", method, vary)
				}
			}
		})
	}
	for _, path := range []string{"/events?format=xml", "/events?format=", "/tags?format=CSV", "/venues?format[]=csv"} {
		res := api.Do(t, withHeader("Accept", "text/csv", get(path)))
		if res.Status != 400 || res.Header.Get("Content-Type") != jsonType {
			t.Errorf("%s: got %d %s", path, res.Status, res.Header.Get("Content-Type"))
		}
		if res.Get(t, "data", "params", "format") == nil {
			t.Errorf("%s: got %s", path, res.Body)
		}
	}
}

func TestLargeRowsAreRefused(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "admin", calendar.Administrator)
	long := "<p>" + strings.Repeat("ą", 300_000) + "</p>"
	for range 30 {
		api.Do(t, post("admin", "/events", concert(object{"description": long, "status": "publish"})))
	}
	for range 2 { // the second time the record cache has rows
		res := api.Do(t, get("/events?format=csv&per_page=2000"))
		if text := res.Get(t, "data", "params", "per_page"); res.Status != 400 || text != "The rows take more than 16 MiB. Ask for fewer of them." {
			t.Errorf("got %d %v", res.Status, text)
		}
		for _, path := range []string{"/events?format=csv&per_page=20", "/events?format=csv&per_page=2000&_fields=id,title"} {
			if res := api.Do(t, get(path)); res.Status != 200 {
				t.Errorf("%s: got %d", path, res.Status)
			}
		}
	}
}

// TestLinksOfTablesLeadToTables checks that the page links of a CSV list return CSV without an Accept header.
// Otherwise per_page would have the other limit of JSON.
func TestLinksOfTablesLeadToTables(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Example(t)
	for _, request := range []apitest.Request{
		withHeader("Accept", "text/csv", get("/venues?per_page=1")), get("/venues?per_page=1&format=csv"), withHeader("Accept", "text/csv", get("/tags?per_page=1")),
	} {
		links := api.Do(t, request).Header.Get("Link")
		_, rest, ok := strings.Cut(links, "<"+apitest.BaseURL+"/cal/events/v1")
		next, _, _ := strings.Cut(rest, ">")
		if res := api.Do(t, get(next)); !ok || res.Status != 200 || res.Header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
			t.Errorf("%s leads from %s to %d %s", next, request.Path, res.Status, res.Header.Get("Content-Type"))
		}
		if strings.Count(links, "format=csv") != strings.Count(links, "rel=") {
			t.Errorf("%s: %s", request.Path, links)
		}
	}
}

func TestErrorsOfTablesAreJSON(t *testing.T) {
	t.Parallel()
	strict := func(path string) apitest.Request { return withHeader("Prefer", "handling=strict", get(path)) }
	api := onSQLite(t)
	api.Example(t)
	api.Run(t, []apitest.Case{
		{Name: "later page", Request: get("/events?format=csv&page=99"), Status: 404, Code: "event-archive-page-not-found"},
		{Name: "bad filter", Request: withHeader("Accept", "text/csv", get("/events?venue=99999")), Status: 400, Code: "rest_invalid_param"},
		{Name: "strict", Request: strict("/events?format=csv"), Status: 200},
		{Name: "strict elsewhere", Request: strict("/series?format=csv"), Status: 400, Code: "rest_invalid_param"},
	})
}

func TestTablesHaveTheColumnsOfWrites(t *testing.T) {
	t.Parallel()
	routes := routesOf(t)
	for kind, left := range map[calendar.Kind][]string{
		calendar.Event:     {"date_utc", "password", "rrule", "rdate", "exdate", "scope", "ml_language"},
		calendar.Venue:     {"date_utc", "ml_language"},
		calendar.Organizer: {"date_utc", "ml_language"},
		calendar.Category:  {"ml_language"},
		calendar.Tag:       {"ml_language"},
	} {
		args := argsOf(t, routes, "/"+kind.Plural(), "POST")
		want := []string{"id", "url"}
		for name := range args {
			if !slices.Contains(left, name) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(represent.Columns[kind]))); diff != "" {
			t.Errorf("%s (-fields of a write +columns):\n%s", kind, diff)
		}
	}
}

func TestTablesListWhatJSONLists(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		for _, as := range []string{"", "admin"} {
			for _, path := range []string{
				"/events?per_page=50", "/events?per_page=3&page=2&categories={music},{jazz}", "/events?search=jazz", "/events?search=nothing",
				"/events?venue=10&featured=1", "/events?include={jazzNight},{membersOnly}", "/events?ml_language=pl&start_date=2026-12-05",
				"/events?status=publish&strict_dates=1&ends_before=2026-12-12", "/venues?search=hall", "/venues?has_events=1&per_page=1",
				"/organizers?only_with_upcoming=1", "/categories?hide_empty=0&orderby=id&order=desc", "/tags?post={jazzNight}", "/tags?page=9",
			} {
				collection, _, _ := strings.Cut(path[1:], "?")
				want := api.Do(t, apitest.Request{Path: path, As: as})
				got := api.Do(t, apitest.Request{Path: path + "&format=csv", As: as})
				if diff := cmp.Diff(listedIDs(t, want, collection), append([]int64{}, tableIDs(t, got)...)); diff != "" {
					t.Errorf("%s as %q (-JSON +CSV):\n%s", path, as, diff)
				}
				for _, name := range []string{"X-TEC-Total", "X-TEC-TotalPages"} {
					if got.Header.Get(name) != want.Header.Get(name) {
						t.Errorf("%s: %s is %s, want %s", path, name, got.Header.Get(name), want.Header.Get(name))
					}
				}
				if link := got.Header.Get("Link"); !strings.Contains(link, "format=csv") {
					t.Errorf("%s: Link is %s", path, link)
				}
				if name := got.Header.Get("Content-Disposition"); name != `attachment; filename="`+collection+`.csv"` {
					t.Errorf("%s: Content-Disposition is %s", path, name)
				}
			}
		}
	})
}

// TestTablesShowWhatJSONShows compares the cells with the members of JSON that have the same form.
func TestTablesShowWhatJSONShows(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Example(t)
	same := []string{
		"url", "author", "date", "description", "slug", "excerpt", "status", "timezone", "start_date", "end_date", "website",
		"event_status", "event_status_reason", "attendance", "virtual_url",
	}
	flags := []string{"all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured", "ticketed"}
	for _, as := range []string{"", "admin"} {
		query := "/events?per_page=50"
		if as == "admin" {
			query += "&status=publish,draft"
		}
		rows := tableOf(t, api.Do(t, apitest.Request{Path: query + "&format=csv", As: as}))
		list, ok := api.Do(t, apitest.Request{Path: query, As: as}).Get(t, "events").([]any)
		if !ok || len(rows) != len(list) || len(rows) == 0 {
			t.Fatalf("%d rows, %d events", len(rows), len(list))
		}
		for i, row := range rows {
			event, ok := list[i].(map[string]any)
			if !ok {
				t.Fatalf("%T", list[i])
			}
			for _, name := range same {
				if row[name] != event[name] {
					t.Errorf("%s of %s as %q: got %q, want %q", name, row["id"], as, row[name], event[name])
				}
			}
			for _, name := range flags {
				want := ""
				if b, ok := event[name].(bool); ok {
					want = strconv.FormatBool(b)
				}
				if row[name] != want {
					t.Errorf("%s of %s as %q: got %q, want %q", name, row["id"], as, row[name], want)
				}
			}
			if hidden := event["all_day"] == nil; hidden != (row["image"] == "") || hidden && row["cost"]+row["categories"]+row["tags"]+row["venue"]+row["organizer"] != "" {
				t.Errorf("%s as %q: %v", row["id"], as, row)
			}
		}
	}
}

// addRowsToSendBack adds records whose cells need care, and returns the event among them.
func addRowsToSendBack(t *testing.T, api *apitest.API) apitest.Response {
	t.Helper()
	year := api.AddTerm(t, calendar.Tag, "2026")
	venue := api.Do(t, post("admin", "/venues", object{
		"venue": "=Hall & <Bar>", "description": "<p>A, \"b\"\nc</p>", "address": "-1 Main St", "state": "NY", "phone": "+1 555",
		"geo_lat": -1.25, "geo_lng": 1e-7, "show_map": false,
	}))
	organizer := api.Do(t, post("admin", "/organizers", object{"organizer": "'+Club", "email": "@club", "phone": "+48"}))
	category := api.Do(t, post("admin", "/categories", object{"name": "@Fun", "description": "a, b", "parent": music}))
	event := api.Do(t, post("admin", "/events", object{
		"title": "=1+1 &lt;b&gt; &amp;amp; AT&T", "description": "<p>Long,\n\"quoted\"</p>", "excerpt": "<p>-x</p>",
		"date": "2026-11-01 08:00", "timezone": "Europe/Warsaw", "start_date": "2027-10-31T02:30:00+01:00", "end_date": "2027-10-31 05:00",
		"image": 14, "cost": []any{"Donation", "€5", "€12.50", "€8"}, "website": "https://example.org/?a=1&b=2", "show_map": true,
		"sticky": true, "featured": true, "categories": []any{music, category.Get(t, "id")}, "tags": []any{"new", year},
		"venue": []any{venue.Get(t, "id"), grandHall}, "organizer": []any{organizer.Get(t, "id"), bob}, "ticketed": true, "post_parent": 15,
		"event_status": "postponed", "event_status_reason": "Snow & ice", "attendance": "mixed", "virtual_url": "https://meet.example.org/a",
	}))
	if event.Status != 201 {
		t.Fatalf("create: %d %s", event.Status, event.Body)
	}
	api.AddEvent(t, "Costs nothing", "2027-01-01 10:00:00", "2027-01-01 11:00:00", func(c *ent.EventCreate) {
		c.SetWebsite("").SetCost(calendar.Cost{Prices: []string{"0", "3"}, Symbol: "zł", Position: calendar.Postfix})
	})
	return event
}

// formOfRow returns the row as form fields for a write. It removes the paragraphs that replies add to texts.
func formOfRow(collection string, row map[string]string) url.Values {
	withoutParagraphs := []string{"Hello <b>world</b>", "Short", "A big hall", "Concert agency"}
	fields := url.Values{}
	for name, cell := range row {
		isAbsent := name == "author" && cell == "0" || cell == "" && collection == "categories"
		if name != "id" && name != "url" && !isAbsent {
			fields.Set(name, cell)
		}
	}
	for _, name := range []string{"description", "excerpt"} {
		if text := strings.TrimSuffix(strings.TrimPrefix(row[name], "<p>"), "</p>"); slices.Contains(withoutParagraphs, text) {
			fields.Set(name, text)
		}
	}
	return fields
}

// sendBackRow writes a CSV row to its record. The record must not change.
func sendBackRow(t *testing.T, api *apitest.API, collection string, row map[string]string) {
	t.Helper()
	path := "/" + collection + "/" + row["id"]
	before := api.Do(t, get(path)) // a caller who may edit sees every write
	res := api.Do(t, apitest.Request{Method: http.MethodPost, Path: path, As: "admin", Form: formOfRow(collection, row).Encode()})
	if res.Status != 200 {
		t.Errorf("%s: got %d: %s", path, res.Status, res.Body)
	}
	after := api.Do(t, get(path))
	if diff := cmp.Diff(string(before.Body), string(after.Body)); diff != "" || before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Errorf("%s changed (-before +after):\n%s", path, diff)
	}
}

// rowOf returns the row of an event in a table.
func rowOf(t *testing.T, api *apitest.API, event apitest.Response) map[string]string {
	t.Helper()
	id := int64(event.Get(t, "id").(float64)) //nolint:forcetypeassert // an id is a number
	return tableOf(t, api.Do(t, get(fmt.Sprint("/events?format=csv&include=", id))))[0]
}

// copyRow creates an event from the CSV row of another event. The two may differ only in members such as id and
// slug.
func copyRow(t *testing.T, api *apitest.API, event apitest.Response) {
	t.Helper()
	source := rowOf(t, api, event)
	cells := object{}
	for name, cell := range source {
		if !slices.Contains([]string{"id", "url", "slug"}, name) {
			cells[name] = cell
		}
	}
	created := api.Do(t, post("admin", "/events", cells))
	if created.Status != 201 {
		t.Fatalf("create: %d %s", created.Status, created.Body)
	}
	want, got := event.JSON(t).(map[string]any), created.JSON(t).(map[string]any) //nolint:forcetypeassert // records are objects
	for _, name := range []string{"id", "global_id", "global_id_lineage", "url", "rest_url", "slug", "modified", "modified_utc", "categories", "tags", "venue", "organizer"} {
		delete(want, name)
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("created event (-source +copy):\n%s", diff)
	}
	copied := rowOf(t, api, created)
	for _, name := range []string{"cost", "categories", "tags", "venue", "organizer"} {
		if copied[name] != source[name] {
			t.Errorf("%s: got %q, want %q", name, copied[name], source[name])
		}
	}
}

func TestRowsMayBeSentBack(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		event := addRowsToSendBack(t, api)
		for _, path := range []string{
			"/venues?format=csv&per_page=2000", "/organizers?format=csv&per_page=2000", "/categories?format=csv&hide_empty=0&per_page=2000",
			"/events?format=csv&starts_after=2026-12-31", "/events?format=csv&include={jazzNight}",
		} {
			collection, _, _ := strings.Cut(path[1:], "?")
			for _, row := range tableOf(t, api.Do(t, apitest.Request{Path: path, As: "admin"})) {
				sendBackRow(t, api, collection, row)
			}
		}
		copyRow(t, api, event)
	})
}

func TestFieldsSelectColumns(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Example(t)
	for _, test := range []struct{ path, want string }{
		{"/events?include={jazzNight}&_fields=title,id", "id,title\r\n15,Winter Jazz & Blues\r\n"},
		{"/events?include={jazzNight}&_fields=title&ml_language=pl", "title\r\nZimowy jazz i blues\r\n"},
		{"/events?include={jazzNight}&_fields=categories,tags,nothing", "categories,tags\r\n\"jazz,music\",free-entry\r\n"},
		{"/events?include={jazzNight}&_fields=event_status_reason", "event_status_reason\r\n\"\"\r\n"},
		{"/events?include={jazzNight}&_fields=event_status_reason,virtual_url", "event_status_reason,virtual_url\r\n\"\",\r\n"},
		{"/events?include={jazzNight}&_fields=nothing", ""},
		{"/events?search=nothing&_fields=id", "id\r\n"},
	} {
		res := api.Do(t, get(test.path+"&format=csv"))
		if got := string(res.Body); got != "\ufeff"+test.want {
			t.Errorf("%s: got %q, want %q", test.path, got, test.want)
		}
	}
}

func TestTablesHaveLargerPages(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	for i := range 120 {
		name := "Filler " + strconv.Itoa(i)
		parent := api.AddTerm(t, calendar.Category, name)
		api.AddTerm(t, calendar.Category, name+" below", func(c *ent.TermCreate) { c.SetParentID(parent) })
		api.AddVenue(t, name)
	}
	for _, test := range []struct {
		path string
		want int
	}{
		{"/venues?format=csv&per_page=2000", 120},
		{"/venues?format=csv&per_page=9999", 120},
		{"/venues?format=csv&per_page=110", 110},
		{"/venues?format=csv", 10},
		{"/categories?hide_empty=0&format=csv&per_page=2000", 240},
	} {
		if got := len(tableOf(t, api.Do(t, get(test.path)))); got != test.want {
			t.Errorf("%s: %d rows, want %d", test.path, got, test.want)
		}
	}
	if got := len(listedIDs(t, api.Do(t, get("/venues?per_page=2000")), "venues")); got != 50 {
		t.Errorf("JSON has %d venues", got)
	}
	if link := api.Do(t, get("/venues?format=csv&per_page=9999")).Header.Get("Link"); !strings.Contains(link, "per_page=2000") {
		t.Errorf("Link is %s", link)
	}
}

func TestCachesKeepTheFormsApart(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Example(t)
	for _, path := range []string{"/events?include={jazzNight}", "/venues", "/tags"} {
		for _, accepts := range [][]string{{"text/csv", "*/*", "text/csv", "*/*"}, {"*/*", "text/csv", "*/*", "text/csv"}} {
			process, tags, bodies := api.Caching(t, 0), map[string]string{}, map[string]string{}
			for _, accept := range accepts {
				request := withHeader("Accept", accept, get(path))
				res := process.Send(t, api.NewRequest(t, request))
				if kind := res.Header.Get("Content-Type"); res.Status != 200 || strings.HasPrefix(kind, "text/csv") != (accept == "text/csv") {
					t.Errorf("%s %s: got %d %s", path, accept, res.Status, kind)
				}
				if body, known := bodies[accept]; known && body != string(res.Body) {
					t.Errorf("%s %s: the second reply differs", path, accept)
				}
				bodies[accept], tags[accept] = string(res.Body), res.Header.Get("ETag")
			}
			if tags["text/csv"] == tags["*/*"] {
				t.Errorf("%s: both forms have the ETag %s", path, tags["*/*"])
			}
			for accept, tag := range tags {
				for other, want := range map[string]int{accept: 304, accepts[0]: 200, accepts[1]: 200} {
					if other == accept {
						want = 304
					}
					request := withHeader("Accept", other, ifNoneMatch(tag, get(path)))
					if res := process.Send(t, api.NewRequest(t, request)); res.Status != want {
						t.Errorf("%s %s with the tag of %s: got %d, want %d", path, other, accept, res.Status, want)
					}
				}
			}
		}
	}
}
