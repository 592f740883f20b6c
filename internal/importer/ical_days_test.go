package importer

import (
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// shownDays returns the first and last day of each occurrence of a calendar, sorted.
func shownDays(t *testing.T, cal *Calendar) string {
	t.Helper()
	var days []string
	add := func(s calendar.Span) {
		if !s.AllDay {
			t.Errorf("%s – %s has times", s.Start, s.End)
		}
		day := s.Start.Format("01-02")
		if !s.End.StartOfDay().Equal(s.Start) {
			day += "/" + s.End.Format("01-02")
		}
		days = append(days, day)
	}
	for _, e := range cal.Events {
		if e.Series == nil {
			add(e.Span)
			continue
		}
		all, err := e.Series.Schedule.Expand(recur.LastStart(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			at := slices.IndexFunc(e.Series.Changed, func(c *Event) bool { return c.Nominal.Equal(o.Nominal) })
			if at >= 0 {
				add(e.Series.Changed[at].Span)
			} else {
				add(o.Span)
			}
		}
	}
	slices.Sort(days)
	return strings.Join(days, " ")
}

// TestDaysOfICalAreDays checks that all-day events have the same days after an import, whatever the zone of the
// site.
func TestDaysOfICalAreDays(t *testing.T) {
	const (
		weekly  = "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=WEEKLY;COUNT=3"
		daily   = "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;COUNT=3"
		pacific = "X-WR-TIMEZONE:US/Pacific\n"
		warsaw  = "X-WR-TIMEZONE:Europe/Warsaw\n"
		outlook = "BEGIN:VTIMEZONE\nTZID:W. Europe Standard Time\nEND:VTIMEZONE\n"
	)
	moved := func(id string) string { return vevent("a", weekly) + vevent("a", id, "DTSTART;VALUE=DATE:20270113") }
	tests := []struct{ name, text, want string }{
		{"UNTIL is a day", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=WEEKLY;UNTIL=20270119"), "01-05 01-12 01-19"},
		{"UNTIL at midnight in UTC", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=WEEKLY;UNTIL=20270119T000000Z"), "01-05 01-12 01-19"},
		{"UNTIL at midnight of no zone", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=WEEKLY;UNTIL=20270119T000000"), "01-05 01-12 01-19"},
		{"UNTIL at midnight east", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270106T230000Z"), "01-05 01-06 01-07"},
		{"UNTIL at midnight far east", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=WEEKLY;UNTIL=20270118T110000Z"), "01-05 01-12 01-19"},
		{"UNTIL at midnight west", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270107T050000Z"), "01-05 01-06 01-07"},
		{"UNTIL at the end of a day in UTC", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270107T235959Z"), "01-05 01-06 01-07"},
		{"UNTIL at the end of a day east", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270107T225959Z"), "01-05 01-06 01-07"},
		{"UNTIL at the end of a day west", vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270108T045959Z"), "01-05 01-06 01-07"},
		{"UNTIL before the start, east", vevent("a", "DTSTART;VALUE=DATE:20271020\nRRULE:FREQ=YEARLY;UNTIL=20271019T220000Z;BYMONTHDAY=20;BYMONTH=10"), "10-20"},
		{"UNTIL in the zone of the file", pacific + vevent("a", "DTSTART;VALUE=DATE:20270105\nRRULE:FREQ=DAILY;UNTIL=20270107T080000Z"), "01-05 01-06 01-07"},
		{"UNTIL in the only zone", outlook + vevent("a", "DTSTART;VALUE=DATE:20270605\nRRULE:FREQ=DAILY;UNTIL=20270606T220000Z"), "06-05 06-06 06-07"},

		{"EXDATE is a day", vevent("a", weekly, "EXDATE;VALUE=DATE:20270112"), "01-05 01-19"},
		{"EXDATE at midnight in UTC", vevent("a", weekly, "EXDATE:20270112T000000Z"), "01-05 01-19"},
		{"EXDATE at midnight east", vevent("a", weekly, "EXDATE:20270111T230000Z,20270118T230000Z"), "01-05"},
		{"EXDATE at midnight west", vevent("a", daily, "EXDATE:20270106T080000Z"), "01-05 01-07"},
		{"EXDATE in a zone", vevent("a", daily, "EXDATE;TZID=America/New_York:20270106T000000"), "01-05 01-07"},
		{"EXDATE at a time of the day", vevent("a", weekly, "EXDATE:20270112T170000Z"), "01-05 01-19"},
		{"EXDATE in the zone of the file", warsaw + vevent("a", daily, "EXDATE:20270105T230000Z"), "01-05 01-07"},

		{"RDATE at midnight in UTC", vevent("a", "DTSTART;VALUE=DATE:20270105", "RDATE:20270109T000000Z"), "01-05 01-09"},
		{"RDATE at midnight east", vevent("a", "DTSTART;VALUE=DATE:20270105", "RDATE:20270108T230000Z"), "01-05 01-09"},
		{"RDATE with an end", vevent("a", "DTSTART;VALUE=DATE:20270105", "RDATE;VALUE=PERIOD:20270109T000000Z/P1D"), "01-05 01-09"},

		{"RECURRENCE-ID at midnight in UTC", moved("RECURRENCE-ID:20270112T000000Z"), "01-05 01-13 01-19"},
		{"RECURRENCE-ID at midnight in UTC, west", pacific + moved("RECURRENCE-ID:20270112T000000Z"), "01-05 01-13 01-19"},
		{"RECURRENCE-ID in the zone of the file", pacific + moved("RECURRENCE-ID:20270112T080000Z"), "01-05 01-13 01-19"},
		{"RECURRENCE-ID at midnight east", moved("RECURRENCE-ID:20270111T230000Z"), "01-05 01-13 01-19"},
		{"RECURRENCE-ID in a zone", moved("RECURRENCE-ID;TZID=Asia/Tokyo:20270112T000000"), "01-05 01-13 01-19"},

		{"DTSTART with a time", vevent("a", "DTSTART;VALUE=DATE:20270105T000000"), "01-05"},
		{"DTSTART with a time in UTC", vevent("a", "DTSTART;VALUE=DATE:20270104T230000Z", "DTEND;VALUE=DATE:20270106T230000Z"), "01-05/01-06"},
		{"DTEND with a time in UTC", vevent("a", "DTSTART;VALUE=DATE:20270105", "DTEND:20270106T230000Z"), "01-05/01-06"},
		{"DTEND with a time", vevent("a", "DTSTART;VALUE=DATE:20270105", "DTEND:20270106T180000"), "01-05/01-06"},
		{
			"days of Exchange, in a zone",
			vevent("a", "DTSTART;TZID=Europe/Berlin:20270105T000000", "DTEND;TZID=Europe/Berlin:20270107T000000", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE"),
			"01-05/01-06",
		},
		{
			"days of Exchange, in UTC",
			vevent("a", "DTSTART:20270104T230000Z", "DTEND:20270105T230000Z", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE"),
			"01-05",
		},
		{
			"days of Exchange over a change of the clock, in UTC",
			vevent("a", "DTSTART:20270326T230000Z", "DTEND:20270328T220000Z", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE"),
			"03-27/03-28",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"UTC", "Pacific/Auckland", "America/Los_Angeles", "Europe/Warsaw"} {
				zone, err := calendar.ParseZone(name)
				if err != nil {
					t.Fatal(err)
				}
				site := testSite()
				site.Zone = zone
				cal, err := decodeICal([]byte("BEGIN:VCALENDAR\n"+tt.text+"END:VCALENDAR\n"), site)
				if err != nil {
					t.Fatal(err)
				}
				if got := shownDays(t, cal); got != tt.want || len(cal.Problems) > 0 {
					t.Errorf("%s: %s, want %s\n%s", name, got, tt.want, describeCalendar(cal))
				}
			}
		})
	}
}
