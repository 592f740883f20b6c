package seed_test

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var updateHashes = flag.Bool("update-hashes", false, "write testdata/hashes.txt instead of comparing with it")

// calendarOf generates the calendar of a scenario in all languages. first is the first of them.
func calendarOf(t *testing.T, name string, first calendar.Language, events int) *scenario.Calendar {
	t.Helper()
	languages := []calendar.Language{first}
	for _, l := range calendar.Languages {
		if l != first {
			languages = append(languages, l)
		}
	}
	c, err := scenario.New(scenario.Options{
		Scenario: name, Seed: 7, Events: events, From: calendar.WallAt(2026, 9, 1, 0, 0, 0), Months: 12,
		Languages: languages, Now: apitest.Now, Nasty: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recordsOfScenario writes a calendar to a database and returns a service for it.
func recordsOfScenario(t *testing.T, st *store.Store, c seed.Calendar, workers int) *apitest.API {
	t.Helper()
	api := apitest.New(t, st)
	api.Serve(api.Uncached()) // tests of handlers compare what caches reply
	api.SignIn(t, "admin", calendar.Administrator)
	_, err := seed.Writer{
		Store: st, Workers: workers, Verify: true,
		Editor: &edit.Editor{Site: api.Site, Now: apitest.Now, By: auth.System(), PasswordKey: api.Key},
	}.Write(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// allReplies returns the responses for all records in a language, requested by an administrator.
func allReplies(t *testing.T, api *apitest.API, l calendar.Language) []byte {
	t.Helper()
	var out []byte
	for _, list := range []string{
		"/events?start_date=1000-01-01&end_date=9999-12-31&status=publish,future,draft,pending,private", "/series?",
		"/venues?", "/organizers?", "/categories?hide_empty=0", "/tags?hide_empty=0",
	} {
		for page, total := 1, 1; page <= total; page++ {
			res := api.Do(t, apitest.Request{
				Path: fmt.Sprintf("%s&per_page=50&page=%d&ml_language=%s", list, page, l), As: "admin",
			})
			if res.Status != 200 {
				t.Fatalf("%s: %d %s", list, res.Status, res.Body)
			}
			var reply struct {
				TotalPages int `json:"total_pages"`
			}
			res.Into(t, &reply)
			total = reply.TotalPages
			out = append(out, res.Body...)
		}
	}
	return out
}

// TestHashes notices any change of the records that a seed generates. They must not depend on the engine or the number
// of workers. It tests each scenario in one language. TestCalendarsAreTheSameAsEver tests the others. Short mode: one
// scenario.
func TestHashes(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "hashes.txt")
	known, err := os.ReadFile(file)
	if err != nil && !*updateHashes {
		t.Fatal(err)
	}
	var lines []string
	for i, name := range scenario.Scenarios {
		for j, l := range calendar.Languages {
			if (i+j)%len(calendar.Languages) != 0 || testing.Short() && !*updateHashes && i > 0 {
				continue
			}
			c := calendarOf(t, name, l, 150)
			hash := func(st *store.Store, workers int) string {
				return fmt.Sprintf("%s %s %x", name, l, sha256.Sum256(allReplies(t, recordsOfScenario(t, st, c, workers), l)))
			}
			got := hash(storetest.Migrated(t, storetest.SQLite(t)), 1+len(lines)%3)
			lines = append(lines, got)
			if !*updateHashes && !strings.Contains(string(known), got+"\n") {
				t.Errorf("another hash: %s", got)
			}
			if l == calendar.Polish {
				t.Run(name+" on MySQL", func(t *testing.T) {
					if os.Getenv(storetest.Variable) == "" {
						t.Skipf("%s names no server", storetest.Variable)
					}
					if mysql := hash(storetest.Open(t, storetest.Lent(t)), 2); mysql != got {
						t.Errorf("on MySQL it is %s", mysql)
					}
				})
			}
		}
	}
	if *updateHashes {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutSeries is a calendar from which the series are left out.
type withoutSeries struct{ seed.Calendar }

func (withoutSeries) Series() []scenario.Series { return nil }

// withoutEvents is a calendar from which the events and series are left out.
type withoutEvents struct{ withoutSeries }

func (withoutEvents) Len() int { return 0 }

// TestTheAPIWouldHaveAnsweredTheSame sends seeded events to the API of a second service. Both services must then
// send equal responses.
func TestTheAPIWouldHaveAnsweredTheSame(t *testing.T) {
	t.Parallel()
	events, sample := 150, 20
	if testing.Short() {
		events, sample = 40, 5
	}
	for _, name := range scenario.Scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := calendarOf(t, name, calendar.English, events)
			one := recordsOfScenario(t, storetest.Migrated(t, storetest.SQLite(t)), withoutSeries{c}, 2)
			other := recordsOfScenario(t, storetest.Migrated(t, storetest.SQLite(t)), withoutEvents{withoutSeries{c}}, 1)
			rows, err := one.Store.Ent.Event.Query().IDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(rows)
			posted := 0
			for i := 0; i < len(rows) && posted < sample; i += 7 {
				if c.Event(i).Password != "" {
					continue // not in the representation
				}
				posted++
				compareEvents(t, one, other, rows[i])
			}
			if posted < sample {
				t.Errorf("only %d events were compared", posted)
			}
		})
	}
}

// compareEvents reads an event from one service and sends it to the other. Both must send equal responses in all
// languages.
func compareEvents(t *testing.T, one, other *apitest.API, id int64) {
	t.Helper()
	read := func(api *apitest.API, id any, l calendar.Language) map[string]any {
		t.Helper()
		res := api.Do(t, apitest.Request{Path: fmt.Sprintf("/events/%v?ml_language=%s", id, l), As: "admin"})
		if res.Status != 200 {
			t.Fatalf("event %v: %d %s", id, res.Status, res.Body)
		}
		event, ok := res.JSON(t).(map[string]any)
		if !ok {
			t.Fatalf("event %v: %s", id, res.Body)
		}
		return event
	}
	want := read(one, id, calendar.English)
	body := map[string]any{}
	for _, key := range []string{
		"title", "description", "excerpt", "slug", "status", "date", "all_day", "start_date", "end_date",
		"timezone", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured", "ticketed", "venue",
		"organizer", "event_status", "event_status_reason", "attendance", "virtual_url",
	} {
		body[key] = want[key]
	}
	for _, key := range []string{"categories", "tags"} {
		var ids []any
		for _, term := range want[key].([]any) {
			ids = append(ids, term.(map[string]any)["id"])
		}
		body[key] = ids
	}
	if want["website"] != want["url"] {
		body["website"] = want["website"]
	}
	if want["cost"] != "" {
		body["cost"] = costSent(t, want)
	}
	if body["slug"] == "" {
		delete(body, "slug")
	}
	res := other.Do(t, apitest.Request{Method: "POST", Path: "/events?ml_language=en", As: "admin", JSON: body})
	if res.Status != 201 {
		t.Fatalf("event %d: %d %s\n%v", id, res.Status, res.Body, body)
	}
	created := fmt.Sprintf("%.0f", res.Get(t, "id"))
	for _, l := range calendar.Languages[1:] {
		text := read(one, id, l)
		if text["language"] != string(l) {
			continue // not translated
		}
		res := other.Do(t, apitest.Request{
			Method: "PATCH", Path: "/events/" + created + "?ml_language=" + string(l), As: "admin",
			JSON: map[string]any{
				"title": text["title"], "description": text["description"], "excerpt": text["excerpt"],
				"event_status_reason": text["event_status_reason"],
			},
		})
		if res.Status != 200 {
			t.Fatalf("event %d in %s: %d %s", id, l, res.Status, res.Body)
		}
	}
	for _, l := range calendar.Languages {
		if diff := cmp.Diff(comparableEvent(t, read(one, id, l)), comparableEvent(t, read(other, created, l))); diff != "" {
			t.Errorf("event %d in %s (-seeded +posted):\n%s", id, l, diff)
		}
	}
}

// costSent converts the cost in a response to the form in which clients send it.
func costSent(t *testing.T, event map[string]any) any {
	t.Helper()
	details := event["cost_details"].(map[string]any)
	var sent []any
	for _, v := range details["values"].([]any) {
		text := v.(string)
		if details["currency_position"] == "prefix" {
			sent = append(sent, details["currency_symbol"].(string)+text)
		} else {
			sent = append(sent, text+details["currency_symbol"].(string))
		}
	}
	return sent
}

// comparableEvent returns a response without what differs between two equal events: ids, URLs, and times of writing.
func comparableEvent(t *testing.T, event map[string]any) map[string]any {
	t.Helper()
	data, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	// The address of an event without a slug has its id, wherever it stands.
	data = []byte(strings.ReplaceAll(string(data), fmt.Sprint(event["url"]), "URL"))
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"id", "global_id", "global_id_lineage", "author", "url", "rest_url", "modified", "modified_utc",
		"post_parent", // not in the other database
	} {
		delete(out, key)
	}
	for _, key := range []string{"categories", "tags"} {
		for _, term := range out[key].([]any) {
			delete(term.(map[string]any), "count")
		}
	}
	return out
}

// TestSeriesOfScenarios checks the responses for the series of each scenario in each language. No text may be missing
// in a language. Only moved or canceled occurrences may have fields of their own.
func TestSeriesOfScenarios(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		exceptions := 0
		var api *apitest.API
		for i, name := range scenario.Scenarios {
			c := calendarOf(t, name, calendar.Languages[i%len(calendar.Languages)], 10)
			if api == nil {
				api = apitest.New(t, st)
			}
			w := seed.Writer{Store: st, Editor: &edit.Editor{
				Site: api.Site, Now: apitest.Now, By: auth.System(), PasswordKey: api.Key,
			}}
			if _, err := w.Write(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.Series() {
				id := st.Ent.Series.Query().Where(series.SourceID(s.SourceID)).OnlyIDX(t.Context())
				for _, l := range calendar.Languages {
					res := api.Do(t, apitest.Request{Path: fmt.Sprintf("/series/%d?ml_language=%s", id, l)})
					if res.Status != 200 {
						t.Fatalf("%s: %d %s", s.SourceID, res.Status, res.Body)
					}
					if res.Get(t, "title") != s.Title[l] || res.Get(t, "language") != string(l) || res.Get(t, "rrule") == "" {
						t.Errorf("%s in %s: %s", s.SourceID, l, res.Body)
					}
				}
				own := st.Ent.Event.Query().Where(event.SeriesID(id), event.OwnFieldsNotNil()).CountX(t.Context())
				if own != len(s.Exceptions) {
					t.Errorf("%s has %d exceptions, want %d", s.SourceID, own, len(s.Exceptions))
				}
				exceptions += own
			}
		}
		if exceptions != 2*4 {
			t.Errorf("%d exceptions", exceptions)
		}
	})
}
