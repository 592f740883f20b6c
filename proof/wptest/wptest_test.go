package wptest

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

// fetch sends a request to a site. It returns the status, the media type and the body of the last reply.
func fetch(t *testing.T, s *Site, path string) (status int, kind, text string) {
	t.Helper()
	root := strings.TrimSuffix(s.URL, s.options.Home)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, root+path, nil)
	must.Succeed(t, err)
	resp, err := http.DefaultClient.Do(req)
	must.Succeed(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must.Succeed(t, err)
	if kind, _, err = mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode, kind, string(body)
}

func TestAddressesLeadToTheirRecords(t *testing.T) {
	for name, options := range map[string]Options{
		"defaults":        {},
		"a sub-directory": {Home: "/calendar", FirstPost: 400},
		"Polish paths":    {Paths: Paths{Events: "wydarzenia", Event: "wydarzenie", Venue: "miejsce", Organizer: "organizator", Category: "kategoria"}},
		"Greek paths":     {Paths: Paths{Events: encodeSegment("εκδηλώσεις"), Event: encodeSegment("εκδήλωση")}},
		"a language":      {Language: "en", Host: "calendar.example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSite(t, options)
			for _, a := range s.Addresses() {
				status, kind, body := fetch(t, s, a.Path)
				if status != a.Status || kind != a.Type {
					t.Errorf("%s, %s: status %d, type %s", a.For, a.Path, status, kind)
				}
				for _, title := range a.Titles {
					if a.Record.Title == "" && a.Type == typeCalendar {
						title = strings.ReplaceAll(title, ",", `\,`)
					}
					if !strings.Contains(html.UnescapeString(strings.ReplaceAll(body, `\u0026`, "&")), title) {
						t.Errorf("%s, %s: %q is not shown", a.For, a.Path, title)
					}
				}
			}
		})
	}
}

func TestListsHavePages(t *testing.T) {
	s := NewSite(t, Options{})
	var titles []string
	next := strings.TrimPrefix(s.API, strings.TrimSuffix(s.URL, s.options.Home)) + "/events?per_page=7&start_date=2020-01-01&end_date=2040-01-01"
	for pages := 0; next != "" && pages < 10; pages++ {
		_, _, body := fetch(t, s, next)
		var page struct {
			Events []struct{ Title string }
			Next   string `json:"next_rest_url"`
			Total  int
		}
		must.Succeed(t, json.Unmarshal([]byte(body), &page))
		for _, e := range page.Events {
			titles = append(titles, html.UnescapeString(e.Title))
		}
		if page.Total != 19 {
			t.Errorf("total %d", page.Total)
		}
		next = strings.TrimPrefix(page.Next, strings.TrimSuffix(s.URL, s.options.Home))
	}
	var want []string
	for _, e := range s.Events() {
		if !e.Hidden {
			want = append(want, e.Title)
		}
	}
	if len(titles) != len(want) {
		t.Errorf("%d events in the lists, want %d: %s", len(titles), len(want), cmp.Diff(want, titles))
	}
}

func TestIDsOfTermsOverlapThoseOfPosts(t *testing.T) {
	s := NewSite(t, Options{})
	posts, shared := map[int64]bool{}, 0
	for _, a := range s.Addresses() {
		switch a.Record.Kind {
		case "event", "venue", "organizer":
			posts[a.Record.ID] = true
		}
	}
	for _, a := range s.Addresses() {
		if (a.Record.Kind == "category" || a.Record.Kind == "tag") && posts[a.Record.ID] {
			shared++
		}
	}
	if shared == 0 {
		t.Error("no term has the id of a post")
	}
}

func TestOptionsRemoveWhatASiteHas(t *testing.T) {
	s := NewSite(t, Options{
		NoCoreAPI: true, NoSitemap: true, NoCalendarFiles: true,
		Replace: map[string]http.HandlerFunc{"/feed": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "replaced") }},
	})
	for path, want := range map[string]string{
		"/wp-json/wp/v2/tribe_events": "404 application/json", "/wp-sitemap.xml": "404 text/plain", "/events/?ical=1": "200 text/html",
		"/event/members-evening/": "200 text/html", "/wp-json/tribe/events/v1/events/0": "404 application/json",
	} {
		status, kind, _ := fetch(t, s, path)
		if got := fmt.Sprint(status, " ", kind); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, _, body := fetch(t, s, "/feed"); body != "replaced" {
		t.Errorf("the replacement is not served: %q", body)
	}
	if asked := s.Requests(); len(asked) != 6 {
		t.Errorf("requests %q", asked)
	}
}
