package importer

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// protectedPage is a list with a protected event, as a source sends it to clients without the password.
const protectedPage = `{"events":[{"id":5,"global_id":"calendar.example.org?id=5","title":"Members' night","status":"publish",
	"slug":"%F0%9F%8E%89","description":"","excerpt":"","image":false,"all_day":null,"show_map":null,"show_map_link":null,
	"hide_from_listings":null,"sticky":null,"featured":null,"cost":"","cost_details":{"values":[]},"website":"",
	"start_date":"2026-12-05 00:00:00","end_date":"2026-12-05 23:59:59","timezone":"Europe/Warsaw",
	"categories":[],"tags":[],"venue":[],"organizer":[]}]}`

// publicPage is a list with the same event without a password.
const publicPage = `{"events":[{"id":5,"global_id":"calendar.example.org?id=5","title":"Members' night","status":"publish",
	"slug":"%F0%9F%8E%89","description":"Bring a cake","all_day":true,"show_map":true,"cost":"$5","cost_details":{"values":["5"]},
	"start_date":"2026-12-05 00:00:00","end_date":"2026-12-05 23:59:59","timezone":"Europe/Warsaw"}]}`

func TestAProtectedEventDoesNotBecomePublic(t *testing.T) {
	for _, test := range []struct {
		name   string
		how    Protection
		pages  []string // imported one after the other
		want   string   // status, whether it has a password, description
		notice string
	}{
		{"by default", "", []string{protectedPage}, "publish true ", "random password"},
		{"with a password", WithPassword, []string{protectedPage, protectedPage}, "publish true ", "random password"},
		{"as a draft", AsDraft, []string{protectedPage, protectedPage}, "draft false ", "a draft here"},
		{"was public before", WithPassword, []string{publicPage, protectedPage}, "publish true Bring a cake", "random password"},
		{"public again", WithPassword, []string{protectedPage, publicPage}, "publish true Bring a cake", "its password here stays"},
		{"was public before, now a draft", AsDraft, []string{publicPage, protectedPage}, "draft false Bring a cake", "a draft here"},
	} {
		storetest.Each(t, func(t *testing.T, st *store.Store) {
			var report *Report
			for _, page := range test.pages {
				p, err := decode([]byte(page), 1, testSite())
				if err != nil || len(p.Problems) > 0 {
					t.Fatal(err, p.Problems)
				}
				im := &Importer{DB: st.Ent, Site: testSite(), Protected: test.how}
				if report, err = im.Run(t.Context(), &Calendar{Events: p.Events}); err != nil || len(report.Problems) > 0 {
					t.Fatal(err, report.Problems)
				}
			}
			row := st.Ent.Event.Query().Where(event.SourceID("calendar.example.org?id=5")).OnlyX(t.Context())
			if got := fmt.Sprintf("%s %t %s", row.Status, edit.HasPassword(row), row.Description); got != test.want {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
			if !row.AllDay {
				t.Errorf("%s: not all day", test.name)
			}
			if len(report.Notices) != 1 || !strings.Contains(report.Notices[0], test.notice) {
				t.Errorf("%s: notices %q", test.name, report.Notices)
			}
			again := len(test.pages) > 1 && test.pages[0] == test.pages[1]
			if got := report.Count(calendar.Event, Unchanged) == 1; got != again {
				t.Errorf("%s: unchanged %v, want %v", test.name, got, again)
			}
			if slug := slugOf(t, st.Ent, row.ID); slug != "%f0%9f%8e%89" && row.Status != calendar.Draft {
				t.Errorf("%s: slug %q", test.name, slug)
			}
		})
	}
}

func slugOf(t *testing.T, db *ent.Client, id int64) string {
	t.Helper()
	for _, s := range db.Slug.Query().AllX(t.Context()) {
		if s.OwnerID == id {
			return s.Slug
		}
	}
	return ""
}

func TestAListOfSomeEventsBringsNoOtherRecords(t *testing.T) {
	for _, query := range []string{
		"categories=music", "categories[]=music", "categories%5B%5D=music", "venue[]=1", "tags[0]=jazz",
	} {
		s := serve(t, func(http.ResponseWriter, *http.Request, int) string { return publicPage })
		if _, err := newFastReader().Read(t.Context(), s.URL+"/api/events?"+query); err != nil {
			t.Fatal(err)
		}
		if len(s.asked) != 1 {
			t.Errorf("%s: asked %q", query, s.asked)
		}
	}
}

func TestAFileOfAnySizeIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 33 MiB")
	}
	name := filepath.Join(t.TempDir(), "events.json")
	one := strings.TrimSuffix(strings.TrimPrefix(publicPage, `{"events":[`), "]}")
	padded := "\xef\xbb\xbf" + `{"filler":"` + strings.Repeat("x", maxBody+1) + `","events":[` + one + "]}"
	if err := os.WriteFile(name, []byte(padded), 0o600); err != nil {
		t.Fatal(err)
	}
	cal, err := newFastReader().Read(t.Context(), name)
	if err != nil || len(cal.Events) != 1 {
		t.Errorf("%v, %v", cal, err)
	}
}

func TestASeriesDoesNotStayPublicWhenItsDatesAreProtected(t *testing.T) {
	public := func(id int, day string) string {
		return datedEvent(id, day, "yoga", `"description": "The door code is 1234"`)
	}
	protected := func(id int, day string) string {
		return datedEvent(id, day, "yoga", `"description": "", "cost": "", "all_day": null, "show_map": null,
			"show_map_link": null, "hide_from_listings": null, "sticky": null, "featured": null`)
	}
	days := []string{"2026-12-01", "2026-12-08", "2026-12-24"}
	for _, how := range []Protection{WithPassword, AsDraft} {
		t.Run(string(how), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				for _, of := range []func(int, string) string{public, protected, protected} {
					var events []string
					for i, day := range days {
						events = append(events, of(i+1, day))
					}
					im := &Importer{DB: st.Ent, Site: testSite(), Protected: how}
					if report, err := im.Run(t.Context(), readEvents(t, events...)); err != nil || len(report.Problems) > 0 {
						t.Fatal(err, report.Problems)
					}
				}
				s := st.Ent.Series.Query().OnlyX(t.Context())
				if how == AsDraft {
					if s.Status != calendar.Draft {
						t.Errorf("the series is %s", s.Status)
					}
				} else if !s.Protected {
					t.Error("the series has no password")
				}
				for _, e := range st.Ent.Event.Query().AllX(t.Context()) {
					if e.Status == calendar.Publish && !edit.HasPassword(e) {
						t.Errorf("event %d is public", e.ID)
					}
				}
			})
		})
	}
}
