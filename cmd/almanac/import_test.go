package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

func TestImportExitStatus(t *testing.T) {
	pages := "../../testdata/calendars/"
	service := httptest.NewServer(http.NotFoundHandler())
	defer service.Close()
	tests := []struct {
		name     string
		args     []string
		want     int
		out, err string // what is printed
	}{
		{"all is well", []string{pages + "paged-2.json"}, 0, "event  2        0        0           0          0", ""},
		{
			"a record is lost",
			[]string{pages + "shapes.json"},
			1, "event      4        0        0           0          3",
			"not imported: page 1, event 4: not an object",
		},
		{
			"a dry run that would lose one",
			[]string{"--dry-run", "-v", pages + "shapes.json"},
			1,
			"create  tag        calendar.example.org?term=31  Indoors", "almanac: not everything was imported",
		},
		{"an iCalendar file", []string{pages + "google.ics"}, 0, "series     1        0        0           0          0", ""},
		{
			"an iCalendar file with an unknown zone",
			[]string{pages + "outlook.ics"},
			0, "event      3        0        0           0          0",
			`note: time zone "Mars Standard Time" is unknown; its times are taken as those of UTC`,
		},
		{"a dry run of an iCalendar file", []string{"--dry-run", "-v", pages + "apple.ics"}, 1, "create  series  ical:B7B2C1D0-0001", ""},
		{"no file", []string{pages + "none.json"}, 1, "", "no such file"},
		{"no page", []string{pages + "../../go.mod"}, 1, "", "neither a calendar file"},
		{"no service", []string{service.URL}, 1, "", "status 404 Not Found"},
		{"no such author", []string{"--author", "nobody", pages + "paged-2.json"}, 1, "", "--author: user nobody: no such user"},
		{"no source", nil, 2, "", `expected "<source>"`},
		{"no rate", []string{"--rate", "0", pages + "paged-2.json"}, 2, "", "--rate 0"},
		{"no network", []string{"--fetch-allow", "here", pages + "paged-2.json"}, 2, "", "--fetch-allow"},
		{"no zone", []string{"--timezone", "Mars", pages + "paged-2.json"}, 2, "", "--timezone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "test.db")
			var stdout, stderr bytes.Buffer
			args := append([]string{"import", "--db", "sqlite://" + db, "--media", t.TempDir()}, tt.args...)
			if got := run(t.Context(), args, noEnvironment, streams{Out: &stdout, Err: &stderr}); got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
			if !strings.Contains(stdout.String(), tt.out) {
				t.Errorf("printed %s\nwant %s", &stdout, tt.out)
			}
			if !strings.Contains(stderr.String(), tt.err) {
				t.Errorf("reported %s\nwant %s", &stderr, tt.err)
			}
			if _, err := os.Stat(db); strings.Contains(tt.name, "dry") != (err != nil) && tt.want < 2 {
				t.Errorf("database file: %v", err)
			}
		})
	}
}

func TestImportReadsOneLanguageAtATime(t *testing.T) {
	folder := t.TempDir()
	page := func(name, title string) string {
		file := filepath.Join(folder, name)
		body := `{"events": [{"id": 7, "global_id": "calendar.example.org?id=7", "title": "` + title + `",
			"start_date": "2026-12-05 18:00:00", "end_date": "2026-12-05 19:00:00"}]}`
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	english, polish := page("en.json", "Meeting"), page("pl.json", "Zebranie")
	db := "sqlite://" + filepath.Join(folder, "test.db")
	for _, step := range []struct {
		args []string
		want string // after the kind, in the line of the events
	}{
		{[]string{english}, "1 0 0 0 0"},
		{[]string{"--language", "pl", "--dry-run", polish}, "0 0 1 0 0"},
		{[]string{"--language", "pl", "--verbose", polish}, "0 0 1 0 0"},
		{[]string{"--language", "pl", polish}, "0 0 0 1 0"},
		{[]string{"--language", "en", english}, "0 0 0 1 0"},
		{[]string{"--language", "es", "--site-language", "pl", english}, "0 0 1 0 0"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"import", "--db", db, "--media", folder}, step.args...)
		if got := run(t.Context(), args, noEnvironment, streams{Out: &stdout, Err: &stderr}); got != 0 {
			t.Fatalf("%v: status %d: %s", step.args, got, &stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		numbers := ""
		for _, line := range lines {
			if rest, ok := strings.CutPrefix(line, "event "); ok {
				numbers = strings.Join(strings.Fields(rest), " ")
			}
		}
		if numbers != step.want {
			t.Errorf("%v: %s, want %s in\n%s", step.args, numbers, step.want, &stdout)
		}
	}
	var stdout, stderr bytes.Buffer
	args := []string{"import", "--db", db, "--language", "de", english}
	if got := run(t.Context(), args, noEnvironment, streams{Out: &stdout, Err: &stderr}); got != 2 {
		t.Errorf("an unknown language: status %d: %s", got, &stderr)
	}
}

func TestImportTakesOverIDsAndPaths(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "test.db")
	almanac := func(want int, args ...string) (out, errs string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), append(args, "--db", db), noEnvironment, streams{Out: &stdout, Err: &stderr}); got != want {
			t.Errorf("%v: status %d, want %d: %s", args, got, want, &stderr)
		}
		return stdout.String(), stderr.String()
	}
	list := func(options wptest.Options) string {
		return wptest.NewSite(t, options).API + "/events?start_date=2000-01-01&end_date=2040-12-31&per_page=50"
	}
	polish := list(wptest.Options{Host: "calendar.example.org", Paths: wptest.Paths{Events: "wydarzenia", Event: "wydarzenie"}})
	other := list(wptest.Options{Host: "other.example.org"})

	almanac(0, "import", "--rate", "1000", polish)
	if out, _ := almanac(0, "site", "show"); !strings.Contains(out, `"events":"wydarzenia"`) || !strings.Contains(out, `"event":"wydarzenie"`) {
		t.Errorf("settings:\n%s", out)
	}
	for _, dry := range []string{"--dry-run", "--rate=1000"} {
		_, errs := almanac(1, "import", "--rate", "1000", dry, other)
		for _, want := range []string{
			"belong to other records here, so nothing was imported",
			`24: event "Old fair" there, event "Old fair" here`, "--new-ids gives new ids",
		} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: %s\nwant %s", dry, errs, want)
			}
		}
	}
	almanac(0, "import", "--rate", "1000", "--new-ids", other)
	almanac(0, "import", "--rate", "1000", other)
	almanac(0, "check")
}

func TestImportKeepsThePathsThatCanBeKept(t *testing.T) {
	site := wptest.NewSite(t, wptest.Options{Paths: wptest.Paths{Events: "event", Event: "wydarzenie", Venue: "assets"}})
	db := "sqlite://" + filepath.Join(t.TempDir(), "test.db")
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{"import", "--db", db, "--rate", "1000", site.API + "/events"}, noEnvironment, streams{Out: &stdout, Err: &stderr}); got != 0 {
		t.Fatalf("status %d: %s", got, &stderr)
	}
	for _, want := range []string{`paths {"event":"wydarzenie"}`, "the path /assets/ of the source is not kept"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("reported %s\nwant %s", &stderr, want)
		}
	}
}

func TestImportAdoptsTheSite(t *testing.T) {
	tests := []struct {
		name    string
		options wptest.Options
		flags   []string
		want    []string // settings, as stored
		notice  string
	}{
		{
			"what the source says",
			wptest.Options{HTMLLanguage: "pl-PL"},
			nil,
			[]string{
				`"title":"Jazz & film"`, `"tagline":"Music every night"`, `"timezone":"Europe/Warsaw"`, `"languages":["pl","en","es"]`,
				`"currency-symbol":"€"`, `"currency-code":"EUR"`, `"per-page":10`, `"accent":"#0b57d0"`,
			},
			"the icon of the source is not kept",
		},
		{
			"flags come first",
			wptest.Options{HTMLLanguage: "pl-PL"},
			[]string{"--timezone", "Asia/Tokyo", "--site-language", "es", "--currency-code", "PLN"},
			[]string{`"title":"Jazz & film"`, `"timezone":"Asia/Tokyo"`, `"languages":["es","en","pl"]`, `"currency-code":"PLN"`, `"currency-symbol":"€"`},
			"",
		},
		{
			"a source that says little",
			wptest.Options{NoIdentity: true},
			nil,
			[]string{`"timezone":"Europe/Warsaw"`, `"languages":["en","pl","es"]`},
			"set them with 'almanac site set': title, languages",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				site := wptest.NewSite(t, tt.options)
				var stdout, stderr bytes.Buffer
				args := append([]string{
					"import", "--db", st.String(), "--rate", "1000",
					site.API + "/events?start_date=2000-01-01&end_date=2040-12-31",
				}, tt.flags...)
				for range 2 { // a repeat changes nothing
					stdout.Reset()
					if got := run(t.Context(), args, noEnvironment, streams{Out: &stdout, Err: &stderr}); got != 0 {
						t.Fatalf("status %d: %s", got, &stderr)
					}
				}
				if !regexp.MustCompile(`(?m)^event +0 +0 +0 `).MatchString(stdout.String()) {
					t.Errorf("the repeat printed %s", &stdout)
				}
				_, stored, err := edit.StoredSite(t.Context(), st.Ent)
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range tt.want {
					if !strings.Contains(strings.ReplaceAll(stored, `\u0026`, "&"), want) {
						t.Errorf("settings %s\nwant %s", stored, want)
					}
				}
				if printed := stdout.String() + stderr.String(); !strings.Contains(printed, tt.notice) {
					t.Errorf("printed %s\nwant %s", printed, tt.notice)
				}
			})
		})
	}
}
