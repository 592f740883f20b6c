package importer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/wptest"
)

func TestIdentityOfASite(t *testing.T) {
	money := SourceSite{CurrencySymbol: "€", CurrencyCode: "EUR", CurrencyPosition: calendar.Prefix, PerPage: 10}
	all := money
	all.Title, all.Tagline, all.Zone, all.Language, all.ThemeColour = wptest.Name, wptest.Tagline, wptest.Zone, calendar.English, wptest.ThemeColour
	reply := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	tests := []struct {
		name    string
		options wptest.Options
		change  func(*SourceSite)
		notice  string
	}{
		{"all that a site says", wptest.Options{}, nil, ""},
		{"a sub-directory", wptest.Options{Home: "/calendar"}, nil, ""},
		{"a regional language", wptest.Options{HTMLLanguage: "pl_PL"}, func(s *SourceSite) { s.Language = calendar.Polish }, ""},
		{
			"a language without pages",
			wptest.Options{HTMLLanguage: "de-DE"},
			func(s *SourceSite) { s.Language = "" }, `the home page of the source is in the language "de-DE"`,
		},
		{"nothing", wptest.Options{NoIdentity: true}, func(s *SourceSite) { *s = money }, ""},
		{
			"an offset, and a tagline with a line break",
			wptest.Options{Replace: map[string]http.HandlerFunc{
				"/wp-json/": reply(`{"name": "A", "description": "B\nC", "timezone_string": "", "gmt_offset": 5.5}`),
			}},
			func(s *SourceSite) { s.Title, s.Tagline, s.Zone = "A", "B C", "UTC+5:30" }, "",
		},
		{
			"an unknown zone",
			wptest.Options{Replace: map[string]http.HandlerFunc{"/wp-json/": reply(`{"timezone_string": "Mars"}`)}},
			func(s *SourceSite) { s.Title, s.Tagline, s.Zone = "", "", "" }, `the time zone "Mars" of the source is unknown`,
		},
		{
			"no home page and no root",
			wptest.Options{Replace: map[string]http.HandlerFunc{"/": http.NotFound, "/wp-json/": http.NotFound}},
			func(s *SourceSite) { *s = money }, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := wptest.NewSite(t, tt.options)
			cal, _ := readSite(t, s, s.API+allEvents)
			want := all
			if tt.change != nil {
				tt.change(&want)
			}
			got := *cal.Site
			if says := want.Title != "" || want.Language != "" || tt.options.HTMLLanguage != ""; says != (got.Icon == s.URL+wptest.Icon) {
				t.Errorf("icon %q", got.Icon)
			}
			got.Icon = ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if notices := strings.Join(cal.Notices, "\n"); !strings.Contains(notices, tt.notice) {
				t.Errorf("notices %s\nwant %s", notices, tt.notice)
			}
		})
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte(`<!DOCTYPE html><html lang="en-US"><head><link rel="shortcut icon" href=/i.png><meta name=theme-color content="#AbC">`))
	f.Add([]byte(`<svg><html lang=pl><meta name="theme-color" content="red"><link rel=icon href>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if head := readHead(data); head.colour != "" && colourOf(head.colour) != head.colour {
			t.Errorf("colour %q", head.colour)
		}
	})
}
