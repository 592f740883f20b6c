package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// readICal decodes an iCalendar file made of the given VEVENTs.
func readICal(t testing.TB, events ...string) *Calendar {
	t.Helper()
	return readCutICal(t, append(events, "END:VCALENDAR\n")...)
}

// readCutICal decodes an iCalendar file that ends after the given VEVENTs, without END:VCALENDAR.
func readCutICal(t testing.TB, events ...string) *Calendar {
	t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n" + strings.Join(events, "")
	file := filepath.Join(t.TempDir(), "calendar.ics")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cal, err := newFastReader().Read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// vevent returns a VEVENT with a UID, a title and the given lines.
func vevent(uid string, lines ...string) string {
	return "BEGIN:VEVENT\nUID:" + uid + "\nSUMMARY:Choir\n" + strings.Join(lines, "\n") + "\nEND:VEVENT\n"
}

func checkOccurrences(t *testing.T, st *store.Store, want []string) {
	t.Helper()
	if diff := gocmp.Diff(want, occurrences(t, st)); diff != "" {
		t.Errorf("occurrences (-want +got):\n%s", diff)
	}
}

// occurrences returns a line for each stored occurrence of a series, in the order of nominal starts.
func occurrences(t testing.TB, st *store.Store) []string {
	t.Helper()
	rows, err := st.Ent.Event.Query().Where(event.SeriesIDNotNil()).Order(event.ByOriginalStart(), event.ByID()).
		WithVenueLinks(func(q *ent.EventVenueQuery) { q.Order(eventvenue.ByPosition()).WithVenue() }).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range rows {
		line := fmt.Sprintf("%s %s", e.Slug, e.Title)
		if nominal := e.OriginalStart.String(); !strings.Contains(e.Slug, nominal[:10]) ||
			!strings.HasSuffix(nominal, " 18:00:00") {
			line += " of " + nominal
		}
		if !e.StartWall.Equal(*e.OriginalStart) {
			line += " at " + e.StartWall.String()
		}
		if e.EventStatus != calendar.Scheduled {
			line += " " + string(e.EventStatus)
		}
		for _, l := range e.Edges.VenueLinks {
			line += " in " + l.Edges.Venue.Name
		}
		if e.Status != calendar.Publish {
			line += " " + string(e.Status)
		}
		if len(e.OwnFields) > 0 {
			line += fmt.Sprint(" ", e.OwnFields)
		}
		out = append(out, line)
	}
	return out
}

func TestImportMakesSeries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		cal := readICal(t,
			vevent("choir", "DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/Warsaw:20261201T200000",
				"RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE;TZID=Europe/Warsaw:20261222T180000", "LOCATION:Old hall"),
			vevent("choir", "RECURRENCE-ID;TZID=Europe/Warsaw:20261208T180000", "LOCATION:Old hall",
				"DTSTART;TZID=Europe/Warsaw:20261209T190000", "DTEND;TZID=Europe/Warsaw:20261209T210000",
				"LAST-MODIFIED:20261101T100000Z"),
			vevent("choir", "RECURRENCE-ID;TZID=Europe/Warsaw:20261229T180000", "STATUS:CANCELLED", "LOCATION:Old hall",
				"DTSTART;TZID=Europe/Warsaw:20261229T180000", "DTEND;TZID=Europe/Warsaw:20261229T200000"),
			vevent("choir", "RECURRENCE-ID;TZID=Europe/Warsaw:20261215T180000", "LOCATION:New hall",
				"DTSTART;TZID=Europe/Warsaw:20261215T180000", "DTEND;TZID=Europe/Warsaw:20261215T200000"),
		)
		report := importInto(t, st, cal)
		if got, want := counts(report), "venue create 2, series create 1"; got != want || !report.Complete() {
			t.Errorf("%s, want %s; %v", got, want, report.Problems)
		}
		want := []string{
			"choir-2026-12-01 Choir in Old hall",
			"choir-2026-12-08 Choir at 2026-12-09 19:00:00 in Old hall [start_date end_date]",
			"choir-2026-12-15 Choir in New hall [venue]",
			"choir-2026-12-29 Choir canceled in Old hall [event_status]",
		}
		checkOccurrences(t, st, want)
		again := importUnchanged(t, st, cal)
		if got, want := counts(again), "venue unchanged 2, series unchanged 1"; got != want {
			t.Errorf("second import: %s, want %s; %v", got, want, again.Problems)
		}
	})
}

func TestImportOfProgramsCalendarsIsRepeatable(t *testing.T) {
	for _, file := range []string{"google.ics", "outlook.ics", "apple.ics"} {
		t.Run(file, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				cal, err := newFastReader().Read(t.Context(), "../../testdata/calendars/"+file)
				if err != nil {
					t.Fatal(err)
				}
				first := importInto(t, st, cal)
				if strings.Contains(counts(first), "update") || first.Count(calendar.Series, Create) == 0 {
					t.Errorf("first import: %s", counts(first))
				}
				again := importUnchanged(t, st, cal)
				if got := counts(again); strings.Contains(got, "create") || strings.Contains(got, "update") {
					t.Errorf("second import: %s", got)
				}
				if len(again.Problems) != len(cal.Problems) {
					t.Errorf("problems of the second import: %v", again.Problems)
				}
			})
		})
	}
}

// weeklySeries returns the VEVENT of a weekly series with four dates and the given lines.
func weeklySeries(lines ...string) string {
	return vevent("choir", append([]string{
		"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/Warsaw:20261201T200000", "RRULE:FREQ=WEEKLY;COUNT=4",
	}, lines...)...)
}

// begunSeries returns the VEVENT of a series on Tuesdays. Three of its dates are in the past for the tests.
func begunSeries(lines ...string) string {
	return vevent("choir", append([]string{"DTSTART;TZID=Europe/Warsaw:20261103T180000", "DURATION:PT2H"}, lines...)...)
}

// changedDate returns a VEVENT that changes the date of weeklySeries on a day.
func changedDate(day string, lines ...string) string {
	return vevent("choir", append([]string{"RECURRENCE-ID;TZID=Europe/Warsaw:" + day + "T180000"}, lines...)...)
}

func TestImportAgainFollowsTheCalendar(t *testing.T) {
	const times = "DTSTART;TZID=Europe/Warsaw:20261208T180000\nDTEND;TZID=Europe/Warsaw:20261208T200000"
	plain := []string{
		"choir-2026-12-01 Choir", "choir-2026-12-08 Choir", "choir-2026-12-15 Choir", "choir-2026-12-22 Choir",
	}
	with := func(at int, line string) []string {
		out := slices.Clone(plain)
		out[at] = line
		return out
	}
	tests := []struct {
		name          string
		first, second []string
		want          string // counts of the second import
		problem       string
		occurrences   []string
	}{
		{
			"a date is canceled",
			[]string{weeklySeries()},
			[]string{weeklySeries(), changedDate("20261208", times, "STATUS:CANCELLED")},
			"series update 1", "", with(1, "choir-2026-12-08 Choir canceled [event_status]"),
		},
		{
			"a date moves",
			[]string{weeklySeries()},
			[]string{weeklySeries(), changedDate("20261208", strings.ReplaceAll(times, "20261208", "20261210"))},
			"series update 1", "", with(1, "choir-2026-12-08 Choir at 2026-12-10 18:00:00 [start_date end_date]"),
		},
		{
			"a date that was canceled takes place",
			[]string{weeklySeries(), changedDate("20261208", times, "STATUS:CANCELLED")},
			[]string{weeklySeries()},
			"series update 1", "", plain,
		},
		{
			"a date is left out",
			[]string{weeklySeries()},
			[]string{weeklySeries("EXDATE;TZID=Europe/Warsaw:20261215T180000")},
			"series update 1", "", with(2, "choir-2026-12-15__trashed Choir trash"),
		},
		{
			"one date becomes several",
			[]string{strings.Replace(weeklySeries(), "RRULE:FREQ=WEEKLY;COUNT=4\n", "", 1)},
			[]string{weeklySeries()},
			"series create 1", "", with(0, "choir Choir of 2026-12-01 18:00:00"),
		},
		{
			"the title of all changes",
			[]string{weeklySeries(), changedDate("20261208", times, "STATUS:CANCELLED")},
			[]string{
				strings.ReplaceAll(weeklySeries(), "Choir", "Big choir"),
				strings.ReplaceAll(changedDate("20261208", times, "STATUS:CANCELLED"), "Choir", "Big choir"),
			},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Big choir", "choir-2026-12-08 Big choir canceled [event_status]",
				"choir-2026-12-15 Big choir", "choir-2026-12-22 Big choir",
			},
		},
		{
			"it goes on",
			[]string{weeklySeries()},
			[]string{strings.Replace(weeklySeries(), "COUNT=4", "COUNT=6", 1)},
			"series update 1", "", append(slices.Clone(plain), "choir-2026-12-29 Choir", "choir-2027-01-05 Choir"),
		},
		{
			"it ends earlier",
			[]string{weeklySeries()},
			[]string{strings.Replace(weeklySeries(), "COUNT=4", "COUNT=2", 1)},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08 Choir",
				"choir-2026-12-15__trashed Choir trash", "choir-2026-12-22__trashed Choir trash",
			},
		},
		{
			"a date is added",
			[]string{weeklySeries()},
			[]string{weeklySeries("RDATE;TZID=Europe/Warsaw:20261210T090000")},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08 Choir", "choir-2026-12-10 Choir of 2026-12-10 09:00:00",
				"choir-2026-12-15 Choir",
				"choir-2026-12-22 Choir",
			},
		},
		{
			"all move to another day and hour",
			[]string{weeklySeries()},
			[]string{strings.NewReplacer("20261201T180000", "20261202T190000", "20261201T200000", "20261202T213000").Replace(weeklySeries())},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir of 2026-12-02 19:00:00", "choir-2026-12-08 Choir of 2026-12-09 19:00:00",
				"choir-2026-12-15 Choir of 2026-12-16 19:00:00", "choir-2026-12-22 Choir of 2026-12-23 19:00:00",
			},
		},
		{
			"the zone changes",
			[]string{weeklySeries()},
			[]string{strings.ReplaceAll(weeklySeries(), "Europe/Warsaw", "Europe/London")},
			"series update 1", "", plain,
		},
		{
			"days instead of times",
			[]string{weeklySeries()},
			[]string{vevent("choir",
				"DTSTART;VALUE=DATE:20261201", "RRULE:FREQ=WEEKLY;COUNT=4")},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir of 2026-12-01 00:00:00", "choir-2026-12-08 Choir of 2026-12-08 00:00:00",
				"choir-2026-12-15 Choir of 2026-12-15 00:00:00", "choir-2026-12-22 Choir of 2026-12-22 00:00:00",
			},
		},
		{
			"it ends at its start",
			[]string{strings.Replace(weeklySeries(), "COUNT=4", "UNTIL=20261222", 1)},
			[]string{strings.Replace(weeklySeries(), ";COUNT=4", ";UNTIL=20261201", 1)},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08__trashed Choir trash", "choir-2026-12-15__trashed Choir trash",
				"choir-2026-12-22__trashed Choir trash",
			},
		},
		{
			"what has begun stays",
			[]string{begunSeries("RRULE:FREQ=WEEKLY;COUNT=6")},
			[]string{strings.ReplaceAll(begunSeries("RRULE:FREQ=WEEKLY;COUNT=6"), "T180000", "T190000")},
			"series update 1", "",
			[]string{
				"choir-2026-11-03 Choir", "choir-2026-11-10 Choir", "choir-2026-11-17 Choir",
				"choir-2026-11-24 Choir of 2026-11-24 19:00:00", "choir-2026-12-01 Choir of 2026-12-01 19:00:00",
				"choir-2026-12-08 Choir of 2026-12-08 19:00:00",
			},
		},
		{
			"the rule of what has begun changes",
			[]string{begunSeries("RRULE:FREQ=WEEKLY;COUNT=5")},
			[]string{begunSeries("RRULE:FREQ=MONTHLY;UNTIL=20270110;BYMONTHDAY=3")},
			"series update 1", "",
			[]string{
				"choir-2026-11-03 Choir", "choir-2026-11-10 Choir", "choir-2026-11-17 Choir",
				"choir-2026-11-24__trashed Choir trash", "choir-2026-12-01 Choir of 2026-12-03 18:00:00",
				"choir-2027-01-03 Choir",
			},
		},
		{
			"an endless one has ended",
			[]string{begunSeries("RRULE:FREQ=YEARLY")},
			[]string{begunSeries("RRULE:FREQ=YEARLY;UNTIL=20261110")},
			"series update 1", "",
			[]string{
				"choir-2026-11-03 Choir", "choir-2027-11-03__trashed Choir trash", "choir-2028-11-03__trashed Choir trash",
			},
		},
		{
			"one that has ended goes on",
			[]string{begunSeries("RRULE:FREQ=WEEKLY;COUNT=2")},
			[]string{begunSeries("RRULE:FREQ=WEEKLY;COUNT=4")},
			"series update 1", "",
			[]string{
				"choir-2026-11-03 Choir", "choir-2026-11-10 Choir", "choir-2026-11-24 Choir",
			},
		},
		{
			"a date in years is left out",
			[]string{begunSeries("RRULE:FREQ=YEARLY")},
			[]string{begunSeries("RRULE:FREQ=YEARLY", "EXDATE;TZID=Europe/Warsaw:20321103T180000")},
			"series update 1", "",
			[]string{"choir-2026-11-03 Choir", "choir-2027-11-03 Choir", "choir-2028-11-03 Choir"},
		},
		{
			"it takes place once now",
			[]string{begunSeries("RRULE:FREQ=WEEKLY;COUNT=5")},
			[]string{vevent("choir", "DTSTART;TZID=Europe/Warsaw:20270305T180000", "DURATION:PT2H")},
			"series update 1", "",
			[]string{
				"choir-2026-11-03 Choir", "choir-2026-11-10 Choir", "choir-2026-11-17 Choir",
				"choir-2026-11-24__trashed Choir trash", "choir-2026-12-01__trashed Choir trash", "choir-2027-03-05 Choir",
			},
		},
		{
			"it takes place at its start alone",
			[]string{weeklySeries()},
			[]string{strings.Replace(weeklySeries(), "RRULE:FREQ=WEEKLY;COUNT=4", "CLASS:PUBLIC", 1)},
			"series update 1", "",
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08__trashed Choir trash", "choir-2026-12-15__trashed Choir trash",
				"choir-2026-12-22__trashed Choir trash",
			},
		},
		{
			"the rest of the file is missing",
			[]string{weeklySeries(), changedDate("20261208", times, "STATUS:CANCELLED"), changedDate("20261209", times)},
			[]string{weeklySeries(), "BEGIN:X-BLOCK\nEND:X-BLOCK\nSUMMARY:\n"},
			"series unchanged 1", "END:VCALENDAR is missing",
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08 Choir canceled [event_status]",
				"choir-2026-12-09 Choir at 2026-12-08 18:00:00 [start_date end_date]", "choir-2026-12-15 Choir",
				"choir-2026-12-22 Choir",
			},
		},
		{
			"a changed date without the series",
			[]string{weeklySeries()},
			[]string{changedDate("20261208", times, "STATUS:CANCELLED")},
			"event update 1", "", with(1, "choir-2026-12-08 Choir canceled [event_status]"),
		},
		{
			"an alarm and a stamp are nothing",
			[]string{weeklySeries()},
			[]string{weeklySeries("DTSTAMP:20261120T101500Z\nBEGIN:VALARM\nTRIGGER:-PT5M\nDESCRIPTION:Soon\nEND:VALARM")},
			"series unchanged 1", "", plain,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				importInto(t, st, readICal(t, tt.first...))
				cal := readICal(t, tt.second...)
				if strings.HasPrefix(tt.problem, "END:VCALENDAR") {
					cal = readCutICal(t, tt.second...)
				}
				report := importInto(t, st, cal)
				if got := counts(report); got != tt.want {
					t.Errorf("%s, want %s; %v", got, tt.want, report.Problems)
				}
				if problem := fmt.Sprint(report.Problems); tt.problem == "" && !report.Complete() ||
					!strings.Contains(problem, tt.problem) {
					t.Errorf("problems %s, want %q", problem, tt.problem)
				}
				checkOccurrences(t, st, tt.occurrences)
				importUnchanged(t, st, cal)
			})
		})
	}
}

func TestDatesThatAnImportTrashedComeBack(t *testing.T) {
	const excluded = "EXDATE;TZID=Europe/Warsaw:20261208T180000"
	fewer := strings.Replace(weeklySeries(), "COUNT=4", "COUNT=2", 1)
	canceled := changedDate("20261222", "DTSTART;TZID=Europe/Warsaw:20261222T180000", "DTEND;TZID=Europe/Warsaw:20261222T200000",
		"STATUS:CANCELLED")
	moved := changedDate("20261208", "DTSTART;TZID=Europe/Warsaw:20261209T180000", "DTEND;TZID=Europe/Warsaw:20261209T200000")
	tests := []struct {
		name              string
		first, away, back []string
		live              int // dates that are not in the trash, after the second import
		want              []string
	}{
		{
			"a date was left out",
			[]string{weeklySeries()},
			[]string{weeklySeries(excluded)},
			[]string{weeklySeries()},
			3,
			[]string{"choir-2026-12-01 Choir", "choir-2026-12-08 Choir", "choir-2026-12-15 Choir", "choir-2026-12-22 Choir"},
		},
		{
			"there were fewer",
			[]string{weeklySeries()},
			[]string{fewer},
			[]string{weeklySeries()},
			2,
			[]string{"choir-2026-12-01 Choir", "choir-2026-12-08 Choir", "choir-2026-12-15 Choir", "choir-2026-12-22 Choir"},
		},
		{
			"it comes back changed",
			[]string{weeklySeries(), moved},
			[]string{weeklySeries(excluded)},
			[]string{weeklySeries(), moved},
			3,
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08 Choir at 2026-12-09 18:00:00 [start_date end_date]",
				"choir-2026-12-15 Choir", "choir-2026-12-22 Choir",
			},
		},
		{
			"a changed one was left out by another rule",
			[]string{weeklySeries(), canceled},
			[]string{strings.ReplaceAll(fewer, "T200000", "T210000")},
			[]string{weeklySeries(), canceled},
			2,
			[]string{
				"choir-2026-12-01 Choir", "choir-2026-12-08 Choir", "choir-2026-12-15 Choir",
				"choir-2026-12-22 Choir canceled [event_status]",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				for i, events := range [][]string{tt.first, tt.away, tt.back} {
					report := importInto(t, st, readICal(t, events...))
					if !report.Complete() || strings.Contains(strings.Join(report.Notices, ""), "not here") {
						t.Errorf("import %d: %v %v", i+1, report.Problems, report.Notices)
					}
					live := st.Ent.Event.Query().Where(event.StatusNEQ(calendar.Trash)).CountX(t.Context())
					if i == 1 && live != tt.live {
						t.Errorf("%d dates after the second import, want %d", live, tt.live)
					}
				}
				checkOccurrences(t, st, tt.want)
			})
		})
	}
}

func TestASeriesTakesThePlaceOfItsDates(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		date := changedDate("20261208", "DTSTART;TZID=Europe/Warsaw:20261209T180000", "DTEND;TZID=Europe/Warsaw:20261209T200000")
		if got, want := counts(importInto(t, st, readICal(t, date))), "event create 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		cal := readICal(t, weeklySeries(), date)
		importInto(t, st, cal)
		if got, want := counts(importInto(t, st, cal)), "series unchanged 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		live := st.Ent.Event.Query().Where(event.StatusNEQ(calendar.Trash), event.SeriesIDIsNil()).CountX(t.Context())
		if n := st.Ent.Event.Query().CountX(t.Context()); live != 0 || n != 5 {
			t.Errorf("%d events, %d of them single ones", n, live)
		}
	})
}

func TestImportLeavesTrashedOccurrencesAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		cal := readICal(t, weeklySeries())
		importInto(t, st, cal)
		second := st.Ent.Event.Query().Order(event.ByOriginalStart()).Offset(1).FirstX(t.Context())
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			row, err := edit.LockEvent(t.Context(), tx, second.ID)
			if err == nil {
				_, err = e.TrashEvent(t.Context(), tx, row)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if report := importUnchanged(t, st, cal); counts(report) != "series unchanged 1" || !report.Complete() {
			t.Errorf("%s; %v", counts(report), report.Problems)
		}
	})
}

// datedEvent returns a date of a recurring event in JSON, as the plugin sends it. Its URL ends with the day.
func datedEvent(id int, day, slug string, members ...string) string {
	return fmt.Sprintf(`{"id": %d, "global_id": "calendar.example.org?id=%d", "title": "Yoga", "slug": %q,
		"url": "https://calendar.example.org/event/yoga/%s/", "start_date": "%s 18:00:00", "end_date": "%s 19:00:00",
		"timezone": "Europe/Warsaw"%s}`, id, id, slug, day, day, day, strings.Join(append([]string{""}, members...), ", "))
}

func readEvents(t testing.TB, events ...string) *Calendar {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.json")
	if err := os.WriteFile(file, []byte(`{"events": [`+strings.Join(events, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cal, err := newFastReader().Read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

func TestImportJoinsTheDatesOfARecurringEvent(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		want   string // counts
		series []string
		single []string
	}{
		{
			"they share a slug",
			[]string{datedEvent(2, "2026-12-08", "yoga"), datedEvent(1, "2026-12-01", "yoga"), datedEvent(3, "2026-12-24", "yoga")},
			"series create 1",
			[]string{"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga", "yoga-2026-12-24 Yoga"},
			nil,
		},
		{
			"each has a slug",
			[]string{datedEvent(1, "2026-12-01", "yoga"), datedEvent(2, "2026-12-08", "yoga-2026-12-08")},
			"series create 1",
			[]string{"yoga Yoga of 2026-12-01 18:00:00 [slug]", "yoga-2026-12-08 Yoga"},
			nil,
		},
		{
			"one differs",
			[]string{
				datedEvent(1, "2026-12-01", "yoga"),
				strings.Replace(datedEvent(2, "2026-12-08", "yoga"), `"end_date": "2026-12-08 19:00:00"`,
					`"end_date": "2026-12-08 20:00:00", "event_status": "canceled"`, 1),
			},
			"series create 1",
			[]string{"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga canceled [end_date event_status]"},
			nil,
		},
		{"a date alone", []string{datedEvent(1, "2026-12-01", "yoga")}, "event create 1", nil, []string{"yoga"}},
		{
			"dates of two events", []string{
				datedEvent(1, "2026-12-01", "yoga"),
				strings.Replace(datedEvent(2, "2026-12-08", "dance"), "event/yoga", "event/dance", 1),
			}, "event create 2", nil, []string{"yoga", "dance"},
		},
		{
			"the address has no day", []string{
				strings.Replace(datedEvent(1, "2026-12-01", "yoga"), "/2026-12-01/", "/", 1),
				strings.Replace(datedEvent(2, "2026-12-08", "yoga-2"), "/2026-12-08/", "/", 1),
			}, "event create 2", nil, []string{"yoga", "yoga-2"},
		},
		{
			"two at once", []string{
				datedEvent(1, "2026-12-01", "yoga"), datedEvent(2, "2026-12-01", "yoga-2"), datedEvent(3, "2026-12-08", "yoga-3"),
			}, "series create 1, event create 1", []string{"yoga Yoga of 2026-12-01 18:00:00 [slug]", "yoga-3 Yoga of 2026-12-08 18:00:00 [slug]"}, []string{"yoga-2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				cal := readEvents(t, tt.events...)
				report := importInto(t, st, cal)
				if got := counts(report); got != tt.want || !report.Complete() {
					t.Errorf("%s, want %s; %v", got, tt.want, report.Problems)
				}
				checkOccurrences(t, st, tt.series)
				single := st.Ent.Event.Query().Where(event.SeriesIDIsNil()).Order(event.ByID()).
					Select(event.FieldSlug).StringsX(t.Context())
				if !slices.Equal(tt.single, single) {
					t.Errorf("events of their own: %v, want %v", single, tt.single)
				}
				if got := counts(importUnchanged(t, st, cal)); strings.Contains(got, "create") || strings.Contains(got, "update") {
					t.Errorf("second import: %s", got)
				}
			})
		})
	}
}

func TestImportKeepsDatesThatAreEvents(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		first, second := datedEvent(1, "2026-12-01", "yoga"), datedEvent(2, "2026-12-08", "yoga-2")
		importInto(t, st, readEvents(t, first))
		report := importInto(t, st, readEvents(t, first, second))
		if got, want := counts(report), "event create 1, event unchanged 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if n := st.Ent.Series.Query().CountX(t.Context()); n != 0 {
			t.Errorf("%d series", n)
		}
	})
}

func TestImportOfPartOfTheDatesTakesNoneAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		all := []string{
			datedEvent(1, "2026-12-01", "a"), datedEvent(2, "2026-12-08", "b"), datedEvent(3, "2026-12-15", "c"),
		}
		importInto(t, st, readEvents(t, all...))
		report := importUnchanged(t, st, readEvents(t, all[1:]...))
		if got, want := counts(report), "series unchanged 1"; got != want || !report.Complete() {
			t.Errorf("%s, want %s; %v", got, want, report.Problems)
		}
	})
}

func TestImportSaysWhenSeriesAreSwitchedOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		storetest.DisableSeries(t, st.Ent)
		report := importInto(t, st, readICal(t, weeklySeries(), vevent("once", "DTSTART:20261205T100000Z")))
		if got, want := counts(report), "series fail 1, event create 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Reason, "almanac migrate data") {
			t.Errorf("problems: %v", report.Problems)
		}
	})
}

func TestImportAddsDatesOfARecurringEvent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		all := []string{
			datedEvent(1, "2026-12-01", "a"), datedEvent(2, "2026-12-08", "b"), datedEvent(3, "2026-12-15", "c"),
			datedEvent(4, "2026-12-22", "d"),
		}
		importInto(t, st, readEvents(t, all[:3]...))
		cal := readEvents(t, all[1:]...)
		report := importInto(t, st, cal)
		if got, want := counts(report), "series update 1"; got != want || !report.Complete() {
			t.Errorf("%s, want %s; %v", got, want, report.Problems)
		}
		want := []string{
			"a Yoga of 2026-12-01 18:00:00 [slug]", "b Yoga of 2026-12-08 18:00:00 [slug]",
			"c Yoga of 2026-12-15 18:00:00 [slug]", "d Yoga of 2026-12-22 18:00:00 [slug]",
		}
		checkOccurrences(t, st, want)
		importUnchanged(t, st, cal)
	})
}

func TestImportFollowsTheDatesOfASite(t *testing.T) {
	days := []string{"2026-12-01", "2026-12-08", "2026-12-15", "2026-12-22"}
	dates := func(change func(events []string) []string) []string {
		var events []string
		for i, day := range days {
			events = append(events, datedEvent(i+1, day, "yoga"))
		}
		return change(events)
	}
	same := func(events []string) []string { return events }
	retitled := func(events []string) []string {
		for i := range events {
			events[i] = strings.Replace(events[i], `"Yoga"`, `"Dance"`, 1)
		}
		return events
	}
	ownPage := regexp.MustCompile(`"url": ("[^"]+")`)
	onOwnPages := func(events []string) []string {
		for i := range events {
			events[i] = ownPage.ReplaceAllString(events[i], `$0, "website": $1`)
		}
		return events
	}
	moved := func(id int, day string) string { // the slug and the address go with the day
		return datedEvent(id, day, "yoga")
	}
	tests := []struct {
		name          string
		first, second []string
		occurrences   []string
		template      string // title of the series
	}{
		{
			"a date moves", dates(same),
			dates(func(e []string) []string { e[1] = moved(2, "2026-12-09"); return e }),
			[]string{
				"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga at 2026-12-09 18:00:00 [start_date end_date]",
				"yoga-2026-12-15 Yoga", "yoga-2026-12-22 Yoga",
			},
			"Yoga",
		},
		{
			"a date moves and another one takes its day", dates(same),
			dates(func(e []string) []string { e[1] = moved(2, "2026-12-09"); return append(e, moved(9, "2026-12-08")) }),
			[]string{
				"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga at 2026-12-09 18:00:00 [start_date end_date]",
				"yoga-2026-12-09 Yoga at 2026-12-08 18:00:00 [start_date end_date]", "yoga-2026-12-15 Yoga", "yoga-2026-12-22 Yoga",
			},
			"Yoga",
		},
		{
			"two dates change places", dates(same),
			dates(func(e []string) []string { e[1], e[2] = moved(2, "2026-12-15"), moved(3, "2026-12-08"); return e }),
			[]string{
				"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga at 2026-12-15 18:00:00 [start_date end_date]",
				"yoga-2026-12-15 Yoga at 2026-12-08 18:00:00 [start_date end_date]", "yoga-2026-12-22 Yoga",
			},
			"Yoga",
		},
		{
			"the first date moves", dates(same),
			dates(func(e []string) []string { e[0] = moved(1, "2026-12-02"); return e }),
			[]string{
				"yoga-2026-12-01 Yoga at 2026-12-02 18:00:00 [start_date end_date]", "yoga-2026-12-08 Yoga",
				"yoga-2026-12-15 Yoga", "yoga-2026-12-22 Yoga",
			},
			"Yoga",
		},
		{
			"all but one get another title", dates(same), dates(func(e []string) []string {
				special := e[2]
				e = retitled(e)
				e[2] = special
				return e
			}),
			[]string{
				"yoga-2026-12-01 Dance", "yoga-2026-12-08 Dance", "yoga-2026-12-15 Yoga [title]", "yoga-2026-12-22 Dance",
			},
			"Dance",
		},
		{
			"all get the title of one", dates(func(e []string) []string {
				special := e[2]
				e = retitled(e)
				e[2] = special
				return e
			}), dates(same),
			[]string{"yoga-2026-12-01 Yoga", "yoga-2026-12-08 Yoga", "yoga-2026-12-15 Yoga", "yoga-2026-12-22 Yoga"},
			"Yoga",
		},
		{
			"the website of each is its own page, and all get another title", dates(onOwnPages),
			dates(func(e []string) []string { return onOwnPages(retitled(e)) }),
			[]string{"yoga-2026-12-01 Dance", "yoga-2026-12-08 Dance", "yoga-2026-12-15 Dance", "yoga-2026-12-22 Dance"},
			"Dance",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				importInto(t, st, readEvents(t, tt.first...))
				cal := readEvents(t, tt.second...)
				if report := importInto(t, st, cal); counts(report) != "series update 1" || !report.Complete() {
					t.Errorf("%s; %v", counts(report), report.Problems)
				}
				checkOccurrences(t, st, tt.occurrences)
				phase := st.Ent.SeriesPhase.Query().Order(seriesphase.ByPosition(sql.OrderDesc())).FirstX(t.Context())
				if got, err := ent.DecodeTemplate(phase.Template); err != nil || got.Title != tt.template {
					t.Errorf("the series is called %v, want %s: %v", got, tt.template, err)
				}
				if got := counts(importUnchanged(t, st, cal)); got != "series unchanged 1" {
					t.Errorf("third import: %s", got)
				}
			})
		})
	}
}

func TestImportOfOneChangedDateChangesNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		var all []string
		for i, day := range []string{"2026-12-01", "2026-12-08", "2026-12-15", "2026-12-22"} {
			all = append(all, datedEvent(i+1, day, "yoga"))
		}
		importInto(t, st, readEvents(t, all...))
		all[1] = strings.Replace(datedEvent(2, "2026-12-08", "yoga", `"event_status": "canceled"`), "Yoga", "No yoga", 1)
		cal := readEvents(t, all[1:]...) // it is the first of the dates that the reply lists
		if got, want := counts(importInto(t, st, cal)), "series update 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		want := []string{
			"yoga-2026-12-01 Yoga", "yoga-2026-12-08 No yoga canceled [title event_status]", "yoga-2026-12-15 Yoga",
			"yoga-2026-12-22 Yoga",
		}
		checkOccurrences(t, st, want)
		importUnchanged(t, st, cal)
	})
}

func TestImportMovesASeriesWithoutItsTrash(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importInto(t, st, readICal(t, weeklySeries()))
		second := st.Ent.Event.Query().Order(event.ByOriginalStart()).Offset(1).FirstX(t.Context())
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			_, err := e.TrashEvent(t.Context(), tx, second)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		cal := readICal(t, strings.Replace(weeklySeries(), "COUNT=4", "COUNT=5", 1))
		report := importInto(t, st, cal)
		if got, want := counts(report), "series update 1"; got != want || !report.Complete() {
			t.Errorf("%s, want %s; %v", got, want, report.Problems)
		}
		want := []string{
			"choir-2026-12-01 Choir", "choir-2026-12-08__trashed Choir trash", "choir-2026-12-15 Choir", "choir-2026-12-22 Choir",
			"choir-2026-12-29 Choir",
		}
		checkOccurrences(t, st, want)
		importUnchanged(t, st, cal)
	})
}

func TestImportTranslatesSeries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importInto(t, st, readICal(t, weeklySeries()))
		polish := readICal(t, strings.ReplaceAll(weeklySeries(), "Choir", "Chór"))
		inPolish := func(im *Importer) { im.Language = calendar.Polish }
		if got, want := counts(importInto(t, st, polish, inPolish)), "series translate 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		rows := st.Ent.Event.Query().WithTranslations().AllX(t.Context())
		for _, row := range rows {
			if row.Title != "Choir" || len(row.Edges.Translations) != 1 || row.Edges.Translations[0].Title != "Chór" {
				t.Errorf("event %d: %s, %v", row.ID, row.Title, row.Edges.Translations)
			}
		}
		before := storedRecords(t, st)
		if got, want := counts(importInto(t, st, polish, inPolish)), "series unchanged 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := counts(importInto(t, st, readICal(t, weeklySeries()))), "series unchanged 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if diff := gocmp.Diff(before, storedRecords(t, st)); diff != "" {
			t.Errorf("again (-before +after):\n%s", diff)
		}
	})
}

func TestACalendarInAnotherLanguageChangesTextsAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		english := []string{
			weeklySeries("LOCATION:Hall", "CATEGORIES:Music"),
			vevent("once", "DTSTART:20261201T180000Z", "LOCATION:Hall", "CATEGORIES:Music"),
		}
		importInto(t, st, readICal(t, english...))
		var polish []string
		for _, text := range english {
			polish = append(polish, strings.NewReplacer("Choir", "Chór", "Hall", "Sala", "Music", "Muzyka").Replace(text))
		}
		report := importInto(t, st, readICal(t, polish...), func(im *Importer) { im.Language = calendar.Polish })
		if got, want := counts(report), "series translate 1, event translate 1"; got != want || !report.Complete() {
			t.Errorf("%s, want %s; %v", got, want, report.Problems)
		}
		for _, line := range occurrences(t, st) {
			if !strings.Contains(line, "in Hall") {
				t.Errorf("occurrence %s", line)
			}
		}
		if venues, terms := st.Ent.Venue.Query().CountX(t.Context()), st.Ent.Term.Query().CountX(t.Context()); venues != 1 || terms != 1 {
			t.Errorf("%d venues, %d categories", venues, terms)
		}
	})
}

// TestUnknownClassIsPrivateAtTheNextImport imports public events. It then imports them again with an unknown CLASS,
// which hides them.
func TestUnknownClassIsPrivateAtTheNextImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		times := "DTSTART;TZID=Europe/Warsaw:20261208T190000"
		single := func(lines ...string) string {
			return strings.ReplaceAll(vevent("talk", append([]string{times}, lines...)...), "Choir", "Talk")
		}
		statuses := func() string {
			rows := st.Ent.Event.Query().Order(ent.Asc(event.FieldTitle, event.FieldStartsAt)).AllX(t.Context())
			var out []string
			for _, row := range rows {
				out = append(out, row.Title+" "+string(row.Status))
			}
			return strings.Join(out, ", ")
		}
		for _, tt := range []struct {
			events []string
			want   string
		}{
			{
				[]string{weeklySeries("CLASS:PUBLIC"), single()},
				"Choir publish, Choir publish, Choir publish, Choir publish, Talk publish",
			},
			{
				[]string{weeklySeries("CLASS:PUBLIC"), changedDate("20261208", times, "CLASS:X-SECRET"), single("CLASS:X-SECRET")},
				"Choir publish, Choir private, Choir publish, Choir publish, Talk private",
			},
			{
				[]string{weeklySeries("CLASS:PUBLIC", "CLASS:X-SECRET"), single("CLASS:PUBLIC", "CLASS:CONFIDENTIAL")},
				"Choir private, Choir private, Choir private, Choir private, Talk private",
			},
		} {
			importInto(t, st, readICal(t, tt.events...))
			if got := statuses(); got != tt.want {
				t.Errorf("%q: got %s, want %s", tt.events, got, tt.want)
			}
		}
	})
}

func TestImportOfEveryShapeOfARuleIsRepeatable(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string // the first starts
		dates int
	}{
		{"a rule that cannot be kept", []string{"RRULE:RSCALE=HEBREW;FREQ=YEARLY"}, []string{"2026-12-01 18:00:00"}, 1},
		{"an end before the start", []string{"RRULE:FREQ=WEEKLY;UNTIL=20261101"}, []string{"2026-12-01 18:00:00"}, 1},
		{"a week of the year", []string{"RRULE:FREQ=YEARLY;BYWEEKNO=49;BYDAY=TU;COUNT=2"}, []string{"2026-12-01 18:00:00", "2027-12-07 18:00:00"}, 2},
		{"days of the year", []string{"RRULE:FREQ=YEARLY;BYYEARDAY=335,336;COUNT=3"}, []string{"2026-12-01 18:00:00", "2026-12-02 18:00:00"}, 3},
		{"a day that months lack", []string{"RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=2"}, []string{"2026-12-01 18:00:00", "2027-01-01 18:00:00"}, 2},
		{"two rules", []string{"RRULE:FREQ=WEEKLY;COUNT=3", "RRULE:FREQ=DAILY;COUNT=2"}, []string{"2026-12-01 18:00:00", "2026-12-02 18:00:00"}, 4},
		{"hours", []string{"RRULE:FREQ=HOURLY;INTERVAL=2;COUNT=3"}, []string{"2026-12-01 18:00:00", "2026-12-01 20:00:00"}, 3},
		{"an end far ahead", []string{"RRULE:FREQ=DAILY;UNTIL=20301231T170000Z"}, []string{"2026-12-01 18:00:00", "2026-12-02 18:00:00"}, 751},
		{"no end", []string{"RRULE:FREQ=WEEKLY", "EXDATE:20261208T170000Z"}, []string{"2026-12-01 18:00:00", "2026-12-15 18:00:00"}, 107},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				cal := readICal(t, vevent("choir", append([]string{
					"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/Warsaw:20261201T200000",
				}, tt.lines...)...))
				kind := "series"
				if tt.dates == 1 {
					kind = "event"
				}
				if report := importInto(t, st, cal); counts(report) != kind+" create 1" || !report.Complete() {
					t.Fatalf("first import: %s %v", counts(report), report.Problems)
				}
				starts := startsOf(t, st)
				if diff := gocmp.Diff(tt.want, starts[:len(tt.want)]); diff != "" || len(starts) != tt.dates {
					t.Errorf("%d dates, want %d (-want +got):\n%s", len(starts), tt.dates, diff)
				}
				if report := importUnchanged(t, st, cal); counts(report) != kind+" unchanged 1" {
					t.Errorf("second import: %s %v", counts(report), report.Problems)
				}
			})
		})
	}
}

// startsOf returns the starts of all stored events.
func startsOf(t testing.TB, st *store.Store) []string {
	t.Helper()
	rows, err := st.Ent.Event.Query().Where(event.StatusNEQ(calendar.Trash)).Order(event.ByStartsAt(), event.ByID()).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(rows))
	for i, e := range rows {
		out[i] = e.StartWall.String()
	}
	return out
}

func TestImportSplitsASeriesAtAChangeOfAllFollowingDates(t *testing.T) {
	const change = "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Warsaw:20261215T180000"
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		whole := weeklySeries()
		moved := vevent("choir", change, "DTSTART;TZID=Europe/Warsaw:20261216T190000", "DTEND;TZID=Europe/Warsaw:20261216T210000")
		for _, step := range []struct {
			file   []string
			counts string
			want   []string
		}{
			{[]string{whole}, "series create 1", []string{"2026-12-01 18:00:00", "2026-12-08 18:00:00", "2026-12-15 18:00:00", "2026-12-22 18:00:00"}},
			{[]string{whole, moved}, "series create 1, series update 1", []string{"2026-12-01 18:00:00", "2026-12-08 18:00:00", "2026-12-16 19:00:00", "2026-12-23 19:00:00"}},
			{[]string{whole, moved}, "series unchanged 2", []string{"2026-12-01 18:00:00", "2026-12-08 18:00:00", "2026-12-16 19:00:00", "2026-12-23 19:00:00"}},
		} {
			report := importInto(t, st, readICal(t, step.file...))
			if got := counts(report); got != step.counts || !report.Complete() {
				t.Errorf("%s, want %s; %v", got, step.counts, report.Problems)
			}
			if diff := gocmp.Diff(step.want, startsOf(t, st)); diff != "" {
				t.Errorf("starts (-want +got):\n%s", diff)
			}
		}
	})
}
