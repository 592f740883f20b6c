package handlers_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/origin"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

// movedURL is the address of the site, before its move and after.
const movedURL = "https://calendar.example.org"

// move is a calendar that was imported from a WordPress site and replaces that site.
type move struct {
	*apitest.API
	t   *testing.T
	old *wptest.Site
}

// moveSite imports a WordPress site and serves it under its old mount and paths. keep states whether its records
// keep their ids.
func moveSite(t *testing.T, st *store.Store, old *wptest.Site, keep bool) *move {
	t.Helper()
	cal := importSite(t, st, old, keep)
	text, err := json.Marshal(cal.Paths)
	must.Succeed(t, err)
	var paths calendar.Paths
	must.Succeed(t, json.Unmarshal(text, &paths))
	api := apitest.New(t, st, func(c *handlers.Config) {
		site := settings.Default()
		site.Paths = paths
		c.PageSettings = &site
		c.Mounts = []string{"/wp-json/tribe/events/v1"}
		zone, err := calendar.ParseZone(wptest.Zone)
		must.Succeed(t, err)
		c.Site.Zone, c.Site.BaseURL, c.Site.PerPage = zone, movedURL, 50
	})
	api.SignIn(t, "admin", calendar.Administrator)
	return &move{api, t, old}
}

func importSite(t *testing.T, st *store.Store, old *wptest.Site, keep bool) *importer.Calendar {
	t.Helper()
	site := apitest.New(t, st).Site
	reader := &importer.Reader{Site: site, Rate: 1e6}
	cal, err := reader.Read(t.Context(), old.API+"/events?start_date=2000-01-01&end_date=2040-12-31&per_page=50")
	must.Succeed(t, err)
	report, err := (&importer.Importer{DB: st.Ent, Site: site, NewIDs: !keep}).Run(t.Context(), cal)
	if err != nil || !report.Complete() {
		t.Fatalf("import: %v, %v", err, report.Problems)
	}
	return cal
}

// follow requests a path of the old site and follows redirects. It returns the last path and reply.
func (m *move) follow(path string) (last string, redirects int, reply apitest.Response) {
	m.t.Helper()
	for {
		reply = m.Do(m.t, apitest.Request{Method: "GET", Path: path, Absolute: true})
		to := reply.Header.Get("Location")
		if reply.Status < 300 || reply.Status >= 400 || redirects == 5 {
			return path, redirects, reply
		}
		redirects++
		path = strings.TrimPrefix(to, movedURL)
	}
}

// outcome describes what an old URL leads to after the move: "same", "redirected", or why it is lost.
func (m *move) outcome(a wptest.Address) string {
	m.t.Helper()
	last, redirects, reply := m.follow(a.Path)
	kind := strings.SplitN(reply.Header.Get("Content-Type"), ";", 2)[0]
	switch {
	case reply.Status != a.Status:
		return fmt.Sprintf("status %d", reply.Status)
	case a.Status == http.StatusOK && kind != a.Type:
		return kind
	}
	text := plainReply(m.t, kind, reply.Body)
	for _, title := range a.Titles {
		if !strings.Contains(text, title) {
			return fmt.Sprintf("without %q", title)
		}
	}
	if a.Record.ID != 0 && kind == "application/json" && a.Status == http.StatusOK {
		if id := reply.Get(m.t, "id"); id != float64(m.id(a.Record)) {
			return fmt.Sprintf("the record %v", id)
		}
	}
	if a.Record.Kind == calendar.Event && kind == "text/html" {
		if want := m.pageOf(a.Record); last != want {
			return "the page " + last + ", not " + want
		}
	}
	if redirects > 1 {
		return fmt.Sprintf("%d redirects", redirects)
	}
	return [...]string{"same", "redirected"}[redirects]
}

// id returns the id that a record of the old site has after the import.
func (m *move) id(of wptest.Record) int64 {
	m.t.Helper()
	key := fmt.Sprintf("calendar.example.org?id=%d", of.ID)
	if of.Kind.IsTerm() {
		return of.ID
	}
	row, err := m.Store.Ent.Origin.Query().Where(origin.SourceID(key)).Only(m.t.Context())
	if err != nil {
		m.t.Fatalf("%s: %v", key, err)
	}
	return row.RecordID
}

// pageOf returns the new path of the page of an event of the old site.
func (m *move) pageOf(of wptest.Record) string {
	m.t.Helper()
	row := m.Store.Ent.Event.GetX(m.t.Context(), m.id(of))
	res := m.Do(m.t, apitest.Request{Path: fmt.Sprintf("/events/by-slug/%s?_fields=url", url.PathEscape(row.Slug)), As: "admin"})
	address, _ := res.Get(m.t, "url").(string)
	return strings.TrimPrefix(address, movedURL)
}

// plainReply returns the texts of a reply without the escapes of its format.
func plainReply(t *testing.T, kind string, body []byte) string {
	t.Helper()
	switch kind {
	case "application/json":
		var value any
		must.Succeed(t, json.Unmarshal(body, &value))
		return html.UnescapeString(fmt.Sprint(value))
	case "text/calendar":
		return strings.NewReplacer("\r\n ", "", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(string(body))
	}
	return html.UnescapeString(html.UnescapeString(string(body)))
}

// TestAMoveKeepsAddresses requests each public address of a site after its move.
func TestAMoveKeepsAddresses(t *testing.T) {
	t.Parallel()
	polish := wptest.Paths{
		Events: "wydarzenia", Event: "wydarzenie", Venue: "miejsce", Organizer: "organizator", Category: "kategoria", Tag: "etykieta",
	}
	// The slug of a recurring event belongs to its series, so no event has it.
	ofSeries := func(a wptest.Address) bool { return strings.HasSuffix(a.Path, "/events/by-slug/yoga") }
	for _, tt := range []struct {
		name  string
		paths wptest.Paths
		keep  bool
		lost  func(wptest.Address) bool // what docs/from-wordpress.md names
	}{
		{"kept ids", wptest.Paths{}, true, ofSeries},
		{"kept ids and paths in Polish", polish, true, ofSeries},
		{"new ids", polish, false, func(a wptest.Address) bool {
			return ofSeries(a) || strings.HasSuffix(a.For, "by its id")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				old := wptest.NewSite(t, wptest.Options{Host: "calendar.example.org", Paths: tt.paths})
				m := moveSite(t, st, old, tt.keep)
				lost, count := map[string]string{}, map[string]int{}
				for _, a := range old.Addresses() {
					what := m.outcome(a)
					kept := what == "same" || what == "redirected"
					if !kept {
						count["lost"]++
					} else {
						count[what]++
					}
					if kept == tt.lost(a) || !kept && !strings.HasPrefix(what, "status 4") {
						lost[a.Section+": "+a.For+" "+a.Path] = what
					}
				}
				t.Logf("%d addresses: %v", len(old.Addresses()), count)
				if diff := cmp.Diff(map[string]string{}, lost); diff != "" {
					t.Errorf("lost addresses (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestShortAddressesAreThoseOfTheSource imports two sites that use the same ids. Records of the second get new
// ids, but their old short URLs (/?p=) must lead to them.
func TestShortAddressesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importSite(t, st, wptest.NewSite(t, wptest.Options{Host: "other.example.org"}), true)
		old := wptest.NewSite(t, wptest.Options{Host: "calendar.example.org"})
		m := moveSite(t, st, old, false)
		for _, e := range old.Events() {
			for _, path := range []string{"/?p=%d", "/?post_type=tribe_events&p=%d"} {
				last, _, reply := m.follow(fmt.Sprintf(path, e.ID))
				if want := m.pageOf(e.Record); last != want || reply.Status != http.StatusOK {
					t.Errorf("%s leads to %s, not to %s", fmt.Sprintf(path, e.ID), last, want)
				}
			}
			shown := m.Do(t, apitest.Request{Path: fmt.Sprintf("/events/%d", m.id(e.Record)), As: "admin"})
			if id := shown.Get(t, "global_id"); id != old.GlobalID(e.ID) {
				t.Errorf("event %d has the global id %v, want %s", e.ID, id, old.GlobalID(e.ID))
			}
			file := m.Do(t, apitest.Request{Path: fmt.Sprintf("/?p=%d&ical=1", e.ID), Absolute: true})
			if !strings.Contains(plainReply(t, "text/calendar", file.Body), "UID:"+e.UID+"\r\n") {
				t.Errorf("the file of event %d lacks its UID %s:\n%s", e.ID, e.UID, file.Body)
			}
		}
		if _, _, reply := m.follow("/?p=999"); reply.Status != http.StatusNotFound {
			t.Errorf("an unknown number: status %d", reply.Status)
		}
	})
}
