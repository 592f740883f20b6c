package importer

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/icaltest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// occurrenceLine formats an occurrence as a line of icaltest.File.
func occurrenceLine(title string, s calendar.Span) string {
	if s.AllDay {
		return s.Start.Format("2006-01-02") + " " + s.End.Format("2006-01-02") + " " + title
	}
	return s.StartsAt().UTC().Format(time.RFC3339) + " " + s.EndsAt().UTC().Format(time.RFC3339) + " " + title
}

// occurrenceLines returns a line of text for each occurrence of a calendar, sorted.
func occurrenceLines(t *testing.T, cal *Calendar) (lines []string) {
	t.Helper()
	for _, e := range cal.Events {
		if e.Series == nil {
			lines = append(lines, occurrenceLine(e.Title, e.Span))
			continue
		}
		all, err := e.Series.Schedule.Expand(recur.LastStart(), recur.MaxOccurrences)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			one, span := e, o.Span
			if at := slices.IndexFunc(e.Series.Changed, func(c *Event) bool { return c.Nominal.Equal(o.Nominal) }); at >= 0 {
				one = e.Series.Changed[at]
				span = one.Span
			}
			lines = append(lines, occurrenceLine(one.Title, span))
		}
	}
	slices.Sort(lines)
	return lines
}

func programFiles(t *testing.T) []icaltest.File {
	t.Helper()
	files, err := icaltest.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFilesOfProgramsMeanTheSameInstants checks that events of a file have the same instants and days, whatever the
// zone of the site.
func TestFilesOfProgramsMeanTheSameInstants(t *testing.T) {
	t.Parallel()
	for _, file := range programFiles(t) {
		for _, name := range []string{"UTC", "Pacific/Auckland", "America/Los_Angeles"} {
			t.Run(file.Name+" in "+name, func(t *testing.T) {
				t.Parallel()
				zone, err := calendar.ParseZone(name)
				if err != nil {
					t.Fatal(err)
				}
				site := testSite()
				site.Zone = zone
				cal, err := decodeICal([]byte(file.Text), site)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(file.Occurrences, occurrenceLines(t, cal)); diff != "" || len(cal.Problems) > 0 {
					t.Errorf("(-want +got):\n%s\n%v", diff, cal.Problems)
				}
			})
		}
	}
}

// TestExportedFilesOfProgramsAreEqual imports a file, exports the calendar as iCalendar and imports that elsewhere.
// Both calendars must have the same events.
func TestExportedFilesOfProgramsAreEqual(t *testing.T) {
	for _, file := range programFiles(t) {
		t.Run(file.Name, func(t *testing.T) {
			here, there := storetest.Migrated(t, storetest.SQLite(t)), storetest.Migrated(t, storetest.SQLite(t))
			read := func(text string) *Calendar {
				cal, err := decodeICal([]byte(text), testSite())
				if err != nil {
					t.Fatal(err)
				}
				return cal
			}
			importInto(t, here, read(file.Text))
			reply := apitest.New(t, here).Do(t, apitest.Request{
				Absolute: true, Path: "/events.ics?start_date=2027-01-01&end_date=2027-12-31&per_page=50",
			})
			if reply.Status != http.StatusOK {
				t.Fatalf("%d %s", reply.Status, reply.Body)
			}
			report := importInto(t, there, read(string(reply.Body)))
			if !report.Complete() {
				t.Error(report.Problems)
			}
			got := storedLines(t, there.Ent)
			if diff := gocmp.Diff(storedLines(t, here.Ent), got); diff != "" {
				t.Errorf("(-here +there):\n%s", diff)
			}
			if diff := gocmp.Diff(file.Occurrences, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// storedLines returns the stored events, sorted, as lines of icaltest.File.
func storedLines(t *testing.T, db *ent.Client) (lines []string) {
	t.Helper()
	rows, err := db.Event.Query().Where(event.StatusNEQ(calendar.Trash)).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rows {
		zone, err := calendar.ParseZone(e.Timezone)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, occurrenceLine(e.Title, calendar.Span{Start: e.StartWall, End: e.EndWall, Zone: zone, AllDay: e.AllDay}))
	}
	slices.Sort(lines)
	return lines
}

// TestTextsOfICalAreTextEverywhere checks that text that looks like markup stays text in all outputs (contract,
// sections 6.1, 20 and 21).
func TestTextsOfICalAreTextEverywhere(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	importInto(t, st, readICal(t, "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:List<String> & <TBD>\nLOCATION:Hall <b>\nCATEGORIES:C<T>\n"+
		"ORGANIZER;CN=\"x<y\":mailto:a@example.org\nDESCRIPTION:Map<A> &amp;\nEND:VEVENT\n"))
	api := apitest.New(t, st)
	const query = "?start_date=2027-07-01&end_date=2027-07-31"
	for path, want := range map[string][]string{
		"/cal/events/v1/events" + query: {
			`"title":"List&lt;String&gt; &amp; &lt;TBD&gt;"`, `"venue":"Hall &lt;b&gt;"`, `"name":"C&lt;T&gt;"`, `"organizer":"x&lt;y"`, `Map&lt;A&gt; &amp;amp;`,
		},
		"/events.ics" + query:                     {`SUMMARY:List<String> & <TBD>`, `LOCATION:Hall <b>`, `CATEGORIES:C<T>`, `DESCRIPTION:Map<A> &amp\;`},
		"/events.atom" + query:                    {`List&lt;String&gt; &amp; &lt;TBD&gt;`},
		"/events.rss" + query:                     {`List&lt;String&gt; &amp; &lt;TBD&gt;`},
		"/events.json" + query:                    {`"title":"List<String> & <TBD>"`},
		"/events/list/?tribe-bar-date=2027-07-01": {`List&lt;String&gt; &amp; &lt;TBD&gt;`, `Hall &lt;b&gt;`},
		"/event/list-string-tbd/":                 {`List&lt;String&gt; &amp; &lt;TBD&gt;</h1>`, `C&lt;T&gt;`, `x&lt;y`, `Map&lt;A&gt; &amp;amp;`},
	} {
		reply := api.Do(t, apitest.Request{Absolute: true, Path: path})
		for _, text := range want {
			if !strings.Contains(strings.ReplaceAll(string(reply.Body), "\r\n ", ""), text) {
				t.Errorf("%s: %d, lacks %s:\n%.3000s", path, reply.Status, text, reply.Body)
			}
		}
	}
}
