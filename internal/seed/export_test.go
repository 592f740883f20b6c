package seed_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// fixedCalendar is a calendar with a venue and the given events.
type fixedCalendar struct{ events []scenario.Event }

func (fixedCalendar) Options() scenario.Options {
	return scenario.Options{Languages: calendar.Languages, Now: apitest.Now}
}

func (fixedCalendar) Categories() []scenario.Term {
	return []scenario.Term{{Name: scenario.Text{"en": "Food, drink; more"}}, {Name: scenario.Text{"en": "Music"}}}
}
func (fixedCalendar) Tags() []scenario.Term { return nil }
func (fixedCalendar) Venues() []scenario.Venue {
	return []scenario.Venue{{
		Name: scenario.Text{"en": "Hall"}, Address: "High Street 1", City: "Łódź", Located: true, Latitude: 51.5, Longitude: -0.25,
	}}
}
func (fixedCalendar) Organizers() []scenario.Organizer { return nil }
func (fixedCalendar) Pictures() []scenario.Picture     { return nil }
func (fixedCalendar) Series() []scenario.Series        { return nil }
func (o fixedCalendar) Len() int                       { return len(o.events) }
func (o fixedCalendar) Event(i int) scenario.Event     { return o.events[i] }

func span(t *testing.T, zone, start, end string) calendar.Span {
	t.Helper()
	z, err := calendar.ParseZone(zone)
	must.Succeed(t, err)
	s, err := calendar.ParseWall(start)
	must.Succeed(t, err)
	e, err := calendar.ParseWall(end)
	must.Succeed(t, err)
	return calendar.Span{Start: s, End: e, Zone: z}
}

// icsLines writes a calendar and returns its lines, unfolded.
func icsLines(t *testing.T, c seed.Calendar) []string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, seed.ICS(&b, c))
	text, ok := strings.CutSuffix(b.String(), "\r\n")
	if !ok {
		t.Fatal("the last line has no end")
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n") {
			t.Fatalf("%d bytes in the line %q", len(line), line)
		}
	}
	return strings.Split(strings.ReplaceAll(text, "\r\n ", ""), "\r\n")
}

func TestICS(t *testing.T) {
	t.Parallel()
	base := scenario.Event{
		SourceID: "seed:one:event:0", Status: calendar.Publish, Parent: -1, Picture: -1,
		Title:       scenario.Text{"en": `Commas, semicolons; back\slashes`},
		Description: scenario.Text{"en": "<p>Zażółć gęślą jaźń, says the " + strings.Repeat("ł", 60) + ".</p>"},
		Span:        span(t, "Europe/Warsaw", "2026-07-01 18:00:00", "2026-07-01 20:00:00"),
		Categories:  []int{0, 1}, Venues: []int{0}, Website: "https://a.example/?a,b;c",
	}
	tests := []struct {
		name   string
		change func(v *scenario.Event)
		want   []string // lines there are
		not    []string // beginnings of lines there are not
	}{
		{"texts, place and links", func(*scenario.Event) {}, []string{
			"UID:seed:one:event:0@almanac.example", "DTSTAMP:20261121T120000Z",
			`SUMMARY:Commas\, semicolons\; back\\slashes`,
			`DESCRIPTION:Zażółć gęślą jaźń\, says the ` + strings.Repeat("ł", 60) + `.\n\nhttps://a.example/?a\,b\;c`,
			`LOCATION:Hall\, High Street 1\, Łódź`, "GEO:51.500000;-0.250000",
			`CATEGORIES:Food\, drink\; more,Music`, "URL:https://a.example/?a,b;c", "STATUS:CONFIRMED",
			"DTSTART;TZID=Europe/Warsaw:20260701T180000", "DTEND;TZID=Europe/Warsaw:20260701T200000",
			"TZID:Europe/Warsaw",
		}, nil},
		{"over a change of the clock", func(v *scenario.Event) {
			v.Span = span(t, "America/New_York", "2026-10-31 22:00:00", "2026-11-01 04:00:00")
		}, []string{"DTSTART;TZID=America/New_York:20261031T220000", "DTEND;TZID=America/New_York:20261101T040000"}, nil},
		{"whole days end the day after", func(v *scenario.Event) {
			v.Span = span(t, "Europe/Warsaw", "2026-12-31 00:00:00", "2026-12-31 23:59:59")
			v.Span.AllDay = true
		}, []string{"DTSTART;VALUE=DATE:20261231", "DTEND;VALUE=DATE:20270101"}, []string{"BEGIN:VTIMEZONE"}},
		{
			"in UTC", func(v *scenario.Event) { v.Span = span(t, "UTC", "2026-07-01 18:00:00", "2026-07-01 20:00:00") },
			[]string{"DTSTART:20260701T180000Z", "DTEND:20260701T200000Z"},
			[]string{"BEGIN:VTIMEZONE"},
		},
		{"at an offset", func(v *scenario.Event) {
			v.Span = span(t, "UTC+5:30", "2026-07-01 18:00:00", "2026-07-01 20:00:00")
		}, []string{"DTSTART:20260701T123000Z"}, []string{"BEGIN:VTIMEZONE"}},
		{
			"without length", func(v *scenario.Event) { v.Span.End = v.Span.Start },
			[]string{"DTSTART;TZID=Europe/Warsaw:20260701T180000"},
			[]string{"DTEND"},
		},
		{
			"nowhere, of no kind", func(v *scenario.Event) { v.Venues, v.Categories, v.Website = nil, nil, "" },
			[]string{"STATUS:CONFIRMED"},
			[]string{"LOCATION", "GEO", "CATEGORIES", "URL"},
		},
		{"protected", func(v *scenario.Event) { v.Password = "x" }, []string{"END:VCALENDAR"}, []string{"BEGIN:VEVENT", "BEGIN:VTIMEZONE"}},
		{"a draft", func(v *scenario.Event) { v.Status = calendar.Draft }, []string{"END:VCALENDAR"}, []string{"BEGIN:VEVENT"}},
		{"scheduled", func(v *scenario.Event) { v.Status = calendar.Future }, []string{"END:VCALENDAR"}, []string{"BEGIN:VEVENT"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := base
			tt.change(&v)
			lines := icsLines(t, fixedCalendar{[]scenario.Event{v}})
			all := "\n" + strings.Join(lines, "\n") + "\n"
			for _, want := range tt.want {
				if !strings.Contains(all, "\n"+want+"\n") {
					t.Errorf("no line %q in %s", want, all)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(all, "\n"+not) {
					t.Errorf("a line %q in %s", not, all)
				}
			}
		})
	}
}

// TestICSOfScenarios checks the start times in the iCalendar files of the scenarios.
func TestICSOfScenarios(t *testing.T) {
	t.Parallel()
	for _, name := range scenario.Scenarios {
		c := calendarOf(t, name, calendar.Polish, 200)
		starts := map[string]string{} // by UID
		uid := ""
		for _, line := range icsLines(t, c) {
			property, value, _ := strings.Cut(line, ":")
			switch {
			case property == "UID":
				uid = value
			case uid != "" && strings.HasPrefix(property, "DTSTART"):
				starts[uid] = line
			}
		}
		want := 0
		for i := range c.Len() {
			v := c.Event(i)
			if v.Status != calendar.Publish || v.Password != "" {
				continue
			}
			want++
			possible := []string{
				"DTSTART:" + v.Span.StartsAt().Format("20060102T150405Z"),
				"DTSTART;TZID=" + v.Span.Zone.String() + ":" + v.Span.Start.Format("20060102T150405"),
			}
			if v.Span.AllDay {
				possible = []string{"DTSTART;VALUE=DATE:" + v.Span.Start.Format("20060102")}
			}
			if got := starts[v.SourceID+"@almanac.example"]; !slices.Contains(possible, got) {
				t.Errorf("%s: %s has %q, want one of %q", name, v.SourceID, got, possible)
			}
		}
		for _, s := range c.Series() {
			want++
			if starts[s.SourceID+"@almanac.example"] == "" {
				t.Errorf("%s: %s is missing", name, s.SourceID)
			}
		}
		if len(starts) != want || want == 0 {
			t.Errorf("%s: %d events, want %d", name, len(starts), want)
		}
	}
}

func TestSeriesInICS(t *testing.T) {
	t.Parallel()
	all := "\n" + strings.Join(icsLines(t, calendarOf(t, "city", calendar.English, 10)), "\n") + "\n"
	for _, want := range []string{
		"RRULE:FREQ=WEEKLY;BYDAY=SA",
		"RRULE:FREQ=WEEKLY;COUNT=10;BYDAY=TU",
		"DTSTART;TZID=Europe/London:20261203T183000\nDTEND;TZID=Europe/London:20261203T203000\nRECURRENCE-ID;TZID=Europe/London:20261201T183000",
		"DTSTART;TZID=Europe/London:20261222T183000\nDTEND;TZID=Europe/London:20261222T203000\nRECURRENCE-ID;TZID=Europe/London:20261222T183000",
		"STATUS:CANCELLED",
		"RRULE:FREQ=DAILY;UNTIL=20270110T235959Z",
		"EXDATE;TZID=Europe/London:20261225T100000",
		"RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=1FR",
		"DTSTART;VALUE=DATE:20260904\nDTEND;VALUE=DATE:20260907",
	} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
}

// TestSeriesInICSWithoutRule exports a series in a zone whose clock changes follow no rule.
func TestSeriesInICSWithoutRule(t *testing.T) {
	t.Parallel()
	c, err := scenario.New(scenario.Options{
		Scenario: "city", Events: 10, From: calendar.WallAt(2026, 11, 1, 0, 0, 0), Now: apitest.Now,
		Zone:      span(t, "Africa/Casablanca", "2026-07-01 18:00:00", "2026-07-01 20:00:00").Zone,
		Languages: []calendar.Language{calendar.English},
	})
	must.Succeed(t, err)
	all := "\n" + strings.Join(icsLines(t, c), "\n") + "\n"
	for _, s := range c.Series() {
		if s.Span.AllDay {
			continue
		}
		n := 0
		for start := range s.Schedule().Starts(calendar.Wall{}, s.Span.Start.AddDate(5, 0, 0)) {
			at := start
			for _, x := range s.Exceptions {
				if x.Nominal.Equal(start) && !x.Start.IsZero() {
					at = x.Start
				}
			}
			if want := "\nDTSTART:" + s.Span.Zone.Instant(at).Format("20060102T150405Z") + "\n"; !strings.Contains(all, want) {
				t.Errorf("%s: no %q", s.SourceID, want)
			}
			n++
		}
		if got := strings.Count(all, "\nUID:"+s.SourceID+":"); got != n || n < 2 {
			t.Errorf("%s: %d events, want %d", s.SourceID, got, n)
		}
	}
}

// TestSQL writes a calendar as SQL into an empty MySQL database, and compares the responses of the API.
func TestSQL(t *testing.T) {
	t.Parallel()
	c := calendarOf(t, "city", calendar.Polish, 150)
	from := storetest.Migrated(t, storetest.SQLite(t))
	api := recordsOfScenario(t, from, c, 1)
	var b bytes.Buffer
	must.Succeed(t, seed.SQL(t.Context(), &b, from.DB))
	for _, want := range []string{"START TRANSACTION;\n", "INSERT INTO `events` (", "COMMIT;\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	to := storetest.Open(t, storetest.Lent(t))
	conn, err := to.DB.Conn(t.Context())
	must.Succeed(t, err)
	defer conn.Close() // a connection that stays open would keep the database from being removed
	for i, text := range strings.SplitAfter(b.String(), ";\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("statement %d, %.80s: %v", i, text, err)
		}
	}
	must.Succeed(t, conn.Close())
	piped := apitest.New(t, to)
	piped.SignIn(t, "admin", calendar.Administrator)
	for _, l := range calendar.Languages {
		if diff := cmp.Diff(string(allReplies(t, api, l)), string(allReplies(t, piped, l))); diff != "" {
			t.Errorf("in %s (-seeded +piped):\n%.2000s", l, diff)
		}
	}
	// The database goes on where the file ends.
	res := piped.Do(t, apitest.Request{Method: "POST", Path: "/events", As: "admin", JSON: map[string]any{
		"title": "Own", "start_date": "2027-01-01 10:00", "end_date": "2027-01-01 11:00",
	}})
	if res.Status != 201 {
		t.Errorf("a new event: %d %s", res.Status, res.Body)
	}
}
