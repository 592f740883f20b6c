package handlers_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/manual"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// refusedMark is the cell of a table for an input that is refused.
const refusedMark = "refused"

// sentValue is code at the start of a cell, which a remark may follow.
var sentValue = regexp.MustCompile("^`([^`]*)` \\(.*\\)$")

// manualTables returns the tables of examples on a page of the manual.
func manualTables(t *testing.T, file string) []manual.Examples {
	t.Helper()
	text, err := os.ReadFile(file)
	must.Succeed(t, err)
	return manual.Tables(string(text))
}

// rows calls check with each row of the tables with a name on a page of the manual. Its argument of is the text
// after the name in the title of the table.
func rows(t *testing.T, page, name string, check func(t *testing.T, of string, cells []string)) {
	t.Helper()
	found := 0
	for _, table := range manualTables(t, filepath.Join(apitest.Root(), "docs", page)) {
		kind, of, _ := strings.Cut(table.Name, " ")
		if kind != name {
			continue
		}
		for _, row := range table.Rows {
			found++
			if m := sentValue.FindStringSubmatch(row.Cells[0]); m != nil {
				row.Cells[0] = m[1]
			}
			t.Run(row.Cells[0], func(t *testing.T) {
				if len(row.Cells) != len(table.Head) {
					t.Fatalf("%s, line %d: %d cells", page, row.Line, len(row.Cells))
				}
				check(t, of, row.Cells)
			})
		}
	}
	if found == 0 {
		t.Errorf("%s has no table of %s", page, name)
	}
	t.Logf("%d examples", found)
}

func TestManualKnowsItsTables(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(apitest.Root(), "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, file := range append(pages, filepath.Join(apitest.Root(), "README.md")) {
		for _, table := range manualTables(t, file) {
			switch kind, _, _ := strings.Cut(table.Name, " "); kind {
			case "dates", "zones", "creates", "updates", "costs", "slugs":
			default:
				t.Errorf("%s, line %d: nothing checks %q", file, table.Line, table.Name)
			}
			if len(table.Rows) == 0 {
				t.Errorf("%s, line %d: no rows", file, table.Line)
			}
		}
	}
}

func TestManualDates(t *testing.T) {
	t.Parallel()
	rows(t, "dates.md", "dates", func(t *testing.T, of string, cells []string) {
		clock, name, _ := strings.Cut(of, " ")
		now, err := time.Parse(time.RFC3339, clock)
		must.Succeed(t, err)
		zone, err := calendar.ParseZone(name)
		must.Succeed(t, err)
		d, err := when.Parse(cells[0], now, zone)
		if cells[1] == refusedMark {
			if !errors.Is(err, when.ErrDate) {
				t.Errorf("got %v and error %v", d.Wall(zone), err)
			}
			return
		}
		must.Succeed(t, err)
		got := []string{d.Wall(zone).String(), d.Instant(zone).Format(time.DateTime)}
		if diff := cmp.Diff(cells[1:], got); diff != "" {
			t.Errorf("(-manual +program):\n%s", diff)
		}
	})
}

func TestManualZones(t *testing.T) {
	t.Parallel()
	rows(t, "dates.md", "zones", func(t *testing.T, of string, cells []string) {
		at, err := time.Parse(time.RFC3339, of)
		must.Succeed(t, err)
		zone, err := calendar.ParseZone(cells[0])
		got := []string{zone.String(), zone.Abbreviation(at)}
		if err != nil {
			got = []string{refusedMark, ""}
		}
		if diff := cmp.Diff(cells[1:], got); diff != "" {
			t.Errorf("(-manual +program):\n%s", diff)
		}
	})
}

func TestManualSlugs(t *testing.T) {
	t.Parallel()
	rows(t, "writing.md", "slugs", func(t *testing.T, _ string, cells []string) {
		if got := calendar.Slug(cells[0]); got != cells[1] {
			t.Errorf("got %q, want %q", got, cells[1])
		}
	})
}

// service returns the API with a user who may write.
func service(t *testing.T, st *store.Store) *apitest.API {
	t.Helper()
	api := apitest.New(t, st)
	api.SignIn(t, "ewa", calendar.Editor)
	return api
}

// write sends a body and returns the decoded reply, or nil if the reply is 400. It adds the members of defaults
// that the body lacks.
func write(t *testing.T, api *apitest.API, method, path, body string, defaults map[string]any) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	for name, value := range defaults {
		if _, ok := fields[name]; !ok {
			fields[name] = value
		}
	}
	reply := api.Do(t, apitest.Request{Method: method, Path: path, As: "ewa", JSON: fields})
	switch reply.Status {
	case http.StatusOK, http.StatusCreated:
		return reply.JSON(t).(map[string]any)
	case http.StatusBadRequest:
		return nil
	}
	t.Fatalf("status %d: %s", reply.Status, reply.Body)
	return nil
}

// compare checks that the cells after the first equal the named fields of a reply.
func compare(t *testing.T, cells []string, reply map[string]any, names ...string) {
	t.Helper()
	if reply == nil {
		if cells[1] != refusedMark {
			t.Errorf("it is refused")
		}
		return
	}
	got := make([]string, len(names))
	for i, name := range names {
		got[i], _ = reply[name].(string)
	}
	if diff := cmp.Diff(cells[1:], got); diff != "" {
		t.Errorf("(-manual +program):\n%s", diff)
	}
}

func TestManualCreates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := service(t, st)
		rows(t, "dates.md", "creates", func(t *testing.T, _ string, cells []string) {
			reply := write(t, api, "POST", "/events", cells[0], map[string]any{"title": "x"})
			compare(t, cells, reply, "start_date", "end_date", "utc_start_date", "utc_end_date")
		})
	})
}

func TestManualUpdates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := service(t, st)
		rows(t, "dates.md", "updates", func(t *testing.T, _ string, cells []string) {
			event := write(t, api, "POST", "/events", `{"title": "x", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00",
				"timezone": "Europe/Warsaw"}`, nil)
			path := strings.TrimPrefix(event["rest_url"].(string), apitest.BaseURL+"/cal/events/v1")
			compare(t, cells, write(t, api, "PATCH", path, cells[0], nil), "start_date", "end_date", "timezone", "utc_start_date")
		})
	})
}

func TestManualCosts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := service(t, st)
		rows(t, "writing.md", "costs", func(t *testing.T, _ string, cells []string) {
			body := `{"title": "x", "start_date": "2026-12-05", "end_date": "2026-12-05", "cost": ` + cells[0] + `}`
			reply := write(t, api, "POST", "/events", body, nil)
			if reply != nil {
				details := reply["cost_details"].(map[string]any)
				values, err := json.Marshal(details["values"])
				must.Succeed(t, err)
				reply = map[string]any{
					"cost": reply["cost"], "symbol": details["currency_symbol"], "position": details["currency_position"],
					"values": string(values),
				}
			}
			compare(t, cells, reply, "cost", "symbol", "position", "values")
		})
	})
}
