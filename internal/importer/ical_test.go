package importer

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

// describeEvent returns the fields of an event as lines of text, for comparison.
func describeEvent(e *Event) []string {
	span := e.Span
	if e.Series != nil {
		span = e.Series.Schedule.Span
	}
	lines := []string{fmt.Sprintf("%s | %s | %s – %s %s%s", e.Key, e.Title, span.Start, span.End, span.Zone,
		map[bool]string{true: " all day"}[span.AllDay])}
	add := func(name string, value any) { lines = append(lines, fmt.Sprintf("  %s: %v", name, value)) }
	if s := e.Description; s != nil && *s != "" {
		add("description", strings.ReplaceAll(*s, "\n", "⏎"))
	}
	if s := e.EventStatus; s != nil && *s != calendar.Scheduled {
		add("event status", *s)
	}
	if e.Status != nil {
		add("status", *e.Status)
	}
	if e.Website != nil {
		add("website", e.Website.URL)
	}
	if e.VirtualURL != nil {
		add(string(*e.Attendance), *e.VirtualURL)
	}
	if e.Published != nil {
		add("published", e.Published.Format(calendar.Layout))
	}
	for _, v := range e.Venues {
		at := ""
		if v.Latitude != nil {
			at = fmt.Sprintf(" at %v %v", *v.Latitude, *v.Longitude)
		}
		add("venue", v.Name+" / "+v.Address+at)
	}
	for _, o := range e.Organizers {
		add("organizer", o.Name+" <"+o.Email+">")
	}
	for _, t := range e.Terms {
		add(string(t.Kind), t.Name)
	}
	if e.Series != nil {
		s := e.Series.Schedule
		add("rule", s.Rule)
		for _, w := range s.RDate {
			add("also", w)
		}
		for _, w := range s.ExDate {
			add("not", w)
		}
		for _, o := range e.Series.Changed {
			for i, line := range describeEvent(o) {
				if i == 0 {
					line = "on " + o.Nominal.String() + ": " + line
				}
				lines = append(lines, "  "+line)
			}
		}
	}
	return lines
}

// lineNumber matches "line 12: " in a notice or problem.
var lineNumber = regexp.MustCompile(`\bline \d+: `)

// describeCalendar returns the events, problems and notices of a calendar as text, for comparison. It leaves out line
// numbers.
func describeCalendar(cal *Calendar) string {
	var lines []string
	for _, e := range cal.Events {
		lines = append(lines, describeEvent(e)...)
	}
	for _, p := range cal.Problems {
		lines = append(lines, "not imported: "+p.String())
	}
	for _, n := range cal.Notices {
		lines = append(lines, "note: "+n)
	}
	text := lineNumber.ReplaceAllString(strings.Join(lines, "\n"), "")
	return strings.ReplaceAll(text, " \n", "\n")
}

func TestReadsCalendarsOfPrograms(t *testing.T) {
	tests := []struct{ file, want string }{
		{"google.ics", `
			ical:course@google.com | Polish for beginners | 2026-11-24 18:00:00 – 2026-11-24 19:30:00 Europe/Warsaw
			  description: Bring a pencil.⏎⏎Beginners are <b>welcome</b>: <a href="https://house.example.org/polish">more</a>
			  published: 2026-09-01 08:00:00
			  venue: Neighbourhood house / Long Street 5, 80-001 Gdańsk, Poland
			  organizer: Neighbourhood house <>
			  rule: FREQ=WEEKLY;INTERVAL=2;UNTIL=20270302;BYDAY=TU
			  not: 2026-12-22 18:00:00
			  on 2026-12-08 18:00:00:  | Polish for beginners: numbers | 2026-12-09 17:00:00 – 2026-12-09 18:30:00 Europe/Warsaw
			    description: Bring a pencil.⏎⏎Beginners are <b>welcome</b>: <a href="https://house.example.org/polish">more</a>
			    published: 2026-09-01 08:00:00
			    venue: Neighbourhood house / Long Street 5, 80-001 Gdańsk, Poland
			    organizer: Neighbourhood house <>
			ical:film@google.com | Film evening | 2026-12-05 18:00:00 – 2026-12-05 20:00:00 Europe/Warsaw
			  online: https://meet.google.com/abc-defg-hij
			ical:closed@google.com | Closed for the holidays | 2026-12-24 00:00:00 – 2026-12-26 23:59:59 Europe/Warsaw all day
			  event status: canceled
			  status: private
		`},
		{"outlook.ics", `
			ical:040000008200E00074C5B7101A82E00800000000 | Concert on the last Friday | 2026-11-27 19:00:00 – 2026-11-27 21:00:00 Europe/Warsaw
			  description: <p>Doors open at <b>18:30</b>.</p>
			  published: 2026-10-01 09:00:00
			  venue: Great hall /
			  organizer: Nowak, Ewa <ewa.nowak@museum.example.org>
			  category: Concert
			  category: Early music, period instruments
			  rule: FREQ=MONTHLY;COUNT=4;BYDAY=-1FR
			  on 2026-12-25 19:00:00:  | Concert on the last Friday | 2026-12-25 19:00:00 – 2026-12-25 21:00:00 Europe/Warsaw
			    description: <p>Doors open at <b>18:30</b>.</p>
			    event status: canceled
			    venue: Great hall /
			    organizer: Nowak, Ewa <ewa.nowak@museum.example.org>
			    category: Concert
			    category: Early music, period instruments
			ical:040000008200E00074C5B7101A82E00800000001 | Talk from New York | 2026-12-10 14:00:00 – 2026-12-10 15:30:00 America/New_York
			  online: https://talks.example.org/room/7
			ical:040000008200E00074C5B7101A82E00800000002 | Last day of the exhibition | 2026-12-31 00:00:00 – 2026-12-31 23:59:59 UTC all day
			ical:040000008200E00074C5B7101A82E00800000003 | On Mars | 2026-12-31 10:00:00 – 2026-12-31 10:00:00 UTC
			note: time zone "Customized Time Zone" is unknown; its clock is that of America/New_York, which is taken
			note: time zone "Mars Standard Time" is unknown; its times are taken as those of UTC
			note: tasks are left out: 1
		`},
		{"apple.ics", `
			ical:B7B2C1D0-0001 | Weekly market | 2026-11-07 08:00:00 – 2026-11-07 13:00:00 Europe/Warsaw
			  website: https://market.example.org/
			  published: 2026-10-10 10:00:00
			  venue: Market square / Coal Market 1, 80-831 Gdańsk at 54.352 18.6466
			  rule: FREQ=WEEKLY
			  also: 2026-11-11 09:00:00
			  not: 2026-12-26 08:00:00
			  not: 2027-01-02 08:00:00
			ical:B7B2C1D0-0002 | Guided tour | 2026-11-15 11:00:00 – 2026-11-15 13:00:00 UTC
			  venue: Town hall /  at 54.348 18.653
			ical:B7B2C1D0-0003 | Festival | 2026-07-04 00:00:00 – 2026-07-06 23:59:59 UTC all day
			  rule: FREQ=YEARLY
			ical:B7B2C1D0-0004 | Feeding of the swans | 2026-12-01 09:00:00 – 2026-12-01 09:30:00 Europe/Warsaw
			  rule:
			  also: 2026-12-01 09:00:00
			  also: 2026-12-01 10:00:00
			  also: 2026-12-01 11:00:00
			not imported: event 5 (UID B7B2C1D0-0005): DTSTART: missing
			note: event 4 (UID B7B2C1D0-0004): RRULE: taken as a list of 3 dates, from 2026-12-01 09:00:00 to 2026-12-01 11:00:00
			note: events with times of no zone: 1; their times are taken as those of UTC
			note: events that are tentative: 1; they are taken as scheduled
		`},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			cal, err := newFastReader().Read(t.Context(), "../../testdata/calendars/"+tt.file)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(strings.ReplaceAll(tt.want, "\t", ""))
			if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(describeCalendar(cal), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, describeCalendar(cal))
			}
		})
	}
}

func TestReadsDatesOfICal(t *testing.T) {
	warsaw := func(lines ...string) []string {
		return append([]string{"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/Warsaw:20261201T200000"}, lines...)
	}
	const start = "choir | 2026-12-01 18:00:00 – 2026-12-01 20:00:00 Europe/Warsaw"
	const note = "note: event 1 (UID choir): RRULE: "
	const once = start + "\n"
	// list describes a series on dates of December 2026, given as "03 18" or "03 18:30" (day and time).
	list := func(dates ...string) string {
		text := start + "\n  rule:\n"
		for _, d := range dates {
			if len(d) < len("2006-01-02 15") {
				d = "2026-12-" + d
			}
			text += "  also: " + d + ":00:00"[3*strings.Count(d, ":"):] + "\n"
		}
		return text
	}
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"no end", []string{"DTSTART:20261201T180000Z"}, "choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 UTC"},
		{
			"a duration",
			[]string{"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DURATION:P1DT2H"},
			"choir | 2026-12-01 18:00:00 – 2026-12-02 20:00:00 Europe/Warsaw",
		},
		{
			"hours over a change of the clock",
			[]string{"DTSTART;TZID=Europe/Warsaw:20270327T220000", "DURATION:PT8H"},
			"choir | 2027-03-27 22:00:00 – 2027-03-28 07:00:00 Europe/Warsaw",
		},
		{
			"a day over a change of the clock",
			[]string{"DTSTART;TZID=Europe/Warsaw:20270327T220000", "DURATION:P1D"},
			"choir | 2027-03-27 22:00:00 – 2027-03-28 22:00:00 Europe/Warsaw",
		},
		{
			"a time that the clock skips",
			[]string{"DTSTART;TZID=Europe/Warsaw:20270328T023000"},
			"choir | 2027-03-28 03:30:00 – 2027-03-28 03:30:00 Europe/Warsaw",
		},
		{
			"an end in another zone",
			[]string{"DTSTART;TZID=Europe/Warsaw:20261201T180000", "DTEND;TZID=Europe/London:20261201T200000"},
			"choir | 2026-12-01 18:00:00 – 2026-12-01 21:00:00 Europe/Warsaw",
		},
		{"a day", []string{"DTSTART;VALUE=DATE:20261201"}, "choir | 2026-12-01 00:00:00 – 2026-12-01 23:59:59 UTC all day"},
		{
			"days",
			[]string{"DTSTART;VALUE=DATE:20261201", "DURATION:P3D"},
			"choir | 2026-12-01 00:00:00 – 2026-12-03 23:59:59 UTC all day",
		},
		{
			"a day that ends when it begins",
			[]string{"DTSTART;VALUE=DATE:20261201", "DTEND;VALUE=DATE:20261201"},
			"choir | 2026-12-01 00:00:00 – 2026-12-01 23:59:59 UTC all day",
		},
		{
			"a rule in UTC stays in UTC",
			[]string{"DTSTART:20261201T233000Z", "RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=2"},
			"choir | 2026-12-01 23:30:00 – 2026-12-01 23:30:00 UTC\n  rule: FREQ=WEEKLY;COUNT=2;BYDAY=TU",
		},
		{
			"a day of Outlook that recurs, in UTC",
			[]string{
				"DTSTART:20261130T230000Z", "DTEND:20261201T230000Z", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE", "RRULE:FREQ=DAILY;COUNT=2",
				"X-COMMENT:x\nEND:VEVENT\nEND:VCALENDAR\nBEGIN:VCALENDAR\nX-WR-TIMEZONE:Europe/Warsaw\nBEGIN:VEVENT\nUID:choir\n" +
					"SEQUENCE:1\nSUMMARY:Choir\nDTSTART:20261130T230000Z\nDTEND:20261201T230000Z\n" +
					"X-MICROSOFT-CDO-ALLDAYEVENT:TRUE\nRRULE:FREQ=DAILY;COUNT=2",
			},
			"choir | 2026-12-01 00:00:00 – 2026-12-01 23:59:59 Europe/Warsaw all day\n  rule: FREQ=DAILY;COUNT=2\n" +
				"note: event 1 (UID choir): left out, because event 2 (UID choir) is a later version of it",
		},
		{
			"dates without an occurrence of an event that does not recur", warsaw("EXDATE:20261202T170000Z"),
			start + "\nnote: event 1 (UID choir): EXDATE: of an event that does not recur; left out",
		},
		{
			"two starts", warsaw("DTSTART:20261202T170000Z"),
			start + "\nnote: event 1 (UID choir): DTSTART: more than one; the first that can be used is taken",
		},
		{
			"an organizer without a name", warsaw("ORGANIZER:tel:1"),
			start + "\nnote: event 1 (UID choir): ORGANIZER: without a name and an address; left out",
		},
		{
			"a zone of Windows",
			[]string{"DTSTART;TZID=W. Europe Standard Time:20261201T180000"},
			"choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 Europe/Berlin",
		},
		{
			"a zone in quotes",
			[]string{`DTSTART;TZID="/x.org/2026/America/Argentina/Salta":20261201T180000`},
			"choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 America/Argentina/Salta",
		},

		{
			"the start is not of the rule", warsaw("RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3"),
			"choir | 2026-12-02 18:00:00 – 2026-12-02 20:00:00 Europe/Warsaw\n  rule: FREQ=WEEKLY;COUNT=2;BYDAY=WE\n" +
				"  also: 2026-12-01 18:00:00\n" +
				"note: event 1 (UID choir): RRULE: the start is none of its dates; it is taken as one more",
		},
		{
			"a rule that names no day", warsaw("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
			start + "\nnote: event 1 (UID choir): RRULE: names no date but the start",
		},
		{
			"dates without an occurrence that are none", warsaw("RRULE:FREQ=DAILY;COUNT=3", "EXDATE;TZID=Europe/Warsaw:20261202T180000",
				"EXDATE;TZID=Europe/Warsaw:20261203T120000,20270101T180000"),
			start + "\n  rule: FREQ=DAILY;COUNT=3\n  not: 2026-12-02 18:00:00\n" +
				"note: event 1 (UID choir): EXDATE: dates that are none of the event, left out: 2",
		},
		{
			"a day without an occurrence", warsaw("RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20261202"),
			start + "\n  rule: FREQ=DAILY;COUNT=3\n  not: 2026-12-02 18:00:00",
		},
		{
			"in UTC", warsaw("RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20261202T170000Z"),
			start + "\n  rule: FREQ=DAILY;COUNT=3\n  not: 2026-12-02 18:00:00",
		},
		{
			"a period", warsaw("RDATE;VALUE=PERIOD;TZID=Europe/Warsaw:20261205T100000/PT30M"),
			start + "\n  rule:\n  also: 2026-12-05 10:00:00\n" +
				"  on 2026-12-05 10:00:00:  | Choir | 2026-12-05 10:00:00 – 2026-12-05 10:30:00 Europe/Warsaw",
		},
		{"a rule of one date", warsaw("RRULE:FREQ=DAILY;COUNT=1"), start + "\n  rule: FREQ=DAILY;COUNT=1"},
		{"a semicolon at the end", warsaw("RRULE:FREQ=DAILY;COUNT=2;"), start + "\n  rule: FREQ=DAILY;COUNT=2"},
		{"more dates than there may be begin later", []string{
			"DTSTART;TZID=Europe/Warsaw:20050104T180000", "RRULE:FREQ=WEEKLY;BYDAY=TU",
		}, "choir | 2009-11-24 18:00:00 – 2009-11-24 18:00:00 Europe/Warsaw\n  rule: FREQ=WEEKLY;BYDAY=TU\n" +
			"note: event 1 (UID choir): RRULE: more than 1000 dates; those before 2009-11-24 18:00:00 are left out"},

		{"one date more than there may be", []string{
			"DTSTART;TZID=Europe/Warsaw:20070508T180000", "RRULE:FREQ=WEEKLY;BYDAY=TU", "RDATE;TZID=Europe/Warsaw:20201120T100000,20201121T100000",
		}, "choir | 2009-12-08 18:00:00 – 2009-12-08 18:00:00 Europe/Warsaw\n  rule: FREQ=WEEKLY;BYDAY=TU\n" +
			"  also: 2020-11-20 10:00:00\n  also: 2020-11-21 10:00:00\n" +
			"note: event 1 (UID choir): RRULE: more than 1000 dates; those before 2009-12-08 18:00:00 are left out"},

		{"no start", []string{"DTEND:20261201T180000Z"}, "not imported: event 1 (UID choir): DTSTART: missing"},
		{
			"no date",
			[]string{"DTSTART:20260230T180000Z"},
			`not imported: event 1 (UID choir): DTSTART: "20260230T180000Z" is no date`,
		},
		{
			"an end before the start",
			[]string{"DTSTART:20261201T180000Z", "DTEND:20261201T170000Z"},
			"choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 UTC\nnote: event 1 (UID choir): DTEND: end before start; left out",
		},
		{
			"a line that is cut",
			[]string{"DTSTART:20261201T180000Z", "DTEND;TZID"},
			"choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 UTC\nnote: event 1 (UID choir): DTEND: cannot be read; left out",
		},
		{
			"too many", warsaw("RRULE:FREQ=DAILY;COUNT=100000000000"),
			start + "\n  rule: FREQ=DAILY\n" + note + "COUNT=100000000000 is taken as no end",
		},
		{"too many to come", warsaw("RRULE:FREQ=DAILY;UNTIL=20991231"), start + "\n  rule: FREQ=DAILY;UNTIL=20991231"},
		{"more than a count of the API", warsaw("RRULE:FREQ=DAILY;COUNT=2000"), start + "\n  rule: FREQ=DAILY;UNTIL=20320522T180000"},
		{
			"count and until", warsaw("RRULE:FREQ=DAILY;COUNT=9;UNTIL=20261203T170000Z"),
			start + "\n  rule: FREQ=DAILY;UNTIL=20261203T180000\n" + note + "COUNT and UNTIL; the earlier end counts",
		},
		{
			"count before until", warsaw("RRULE:FREQ=DAILY;COUNT=2;UNTIL=20261231T170000Z"),
			start + "\n  rule: FREQ=DAILY;UNTIL=20261202T180000\n" + note + "COUNT and UNTIL; the earlier end counts",
		},
		{"interval 0", warsaw("RRULE:FREQ=DAILY;INTERVAL=0;COUNT=3"), start + "\n  rule: FREQ=DAILY;COUNT=3\n" + note + "INTERVAL=0 is taken as 1"},
		{"spaces, lower case and semicolons", warsaw("RRULE: freq=weekly; byday=TU, TH ;count=3;;"), start + "\n  rule: FREQ=WEEKLY;COUNT=3;BYDAY=TU,TH"},
		{"a prefix twice", warsaw("RRULE:RRULE:FREQ=DAILY;COUNT=3"), start + "\n  rule: FREQ=DAILY;COUNT=3"},
		{
			"parts without a value, and of programs", warsaw("RRULE:FREQ=DAILY;BYDAY=;X-LIST=1;COUNT=3"),
			start + "\n  rule: FREQ=DAILY;COUNT=3\n" + note + "BYDAY= is left out\n" + note + "X-LIST=1 is left out",
		},
		{"a part twice", warsaw("RRULE:FREQ=DAILY;BYMONTH=12;BYMONTH=12;COUNT=3"), start + "\n  rule: FREQ=DAILY;COUNT=3;BYMONTH=12"},
		{"a rule twice", warsaw("RRULE:FREQ=DAILY;COUNT=3", "RRULE:COUNT=3;FREQ=DAILY;INTERVAL=1"), start + "\n  rule: FREQ=DAILY;COUNT=3"},
		{
			"two rules", warsaw("RRULE:FREQ=WEEKLY;COUNT=3", "RRULE:FREQ=DAILY;UNTIL=20261203"),
			list("01 18", "02 18", "03 18", "08 18", "15 18") + note + "2 different rules; taken as a list of 5 dates, from 2026-12-01 18:00:00 to 2026-12-15 18:00:00",
		},
		{
			"a rule without the start, and one with an end far ahead",
			warsaw("RRULE:FREQ=YEARLY;BYMONTHDAY=3;BYMONTH=12;COUNT=3", "RRULE:FREQ=YEARLY;UNTIL=20271231"),
			list("01 18", "03 18", "2027-12-01 18", "2027-12-03 18") + note +
				"2 different rules; taken as a list of 4 dates, from 2026-12-01 18:00:00 to 2027-12-03 18:00:00",
		},
		{
			"two rules without end", warsaw("RRULE:FREQ=YEARLY;INTERVAL=4", "RRULE:FREQ=YEARLY;INTERVAL=5"),
			list("01 18", "2030-12-01 18", "2031-12-01 18", "2034-12-01 18", "2036-12-01 18") + note +
				"2 different rules; taken as a list of 5 dates, from 2026-12-01 18:00:00 to 2036-12-01 18:00:00; the others are left out",
		},
		{
			"hours in a rule", warsaw("RRULE:FREQ=DAILY;BYHOUR=9,18;COUNT=4"),
			list("01 18", "02 09", "02 18", "03 09") + note + "taken as a list of 4 dates, from 2026-12-01 18:00:00 to 2026-12-03 09:00:00",
		},
		{
			"by the hour until a time", warsaw("RRULE:FREQ=HOURLY;INTERVAL=3;UNTIL=20261202T020000Z"),
			list("01 18", "01 21", "02 00", "02 03") + note + "taken as a list of 4 dates, from 2026-12-01 18:00:00 to 2026-12-02 03:00:00",
		},
		{
			"by the hour on some weekdays", warsaw("RRULE:FREQ=HOURLY;BYDAY=TU;BYHOUR=18,19;BYMONTHDAY=1,8;BYMONTH=12;COUNT=4"),
			list("01 18", "01 19", "08 18", "08 19") + note + "taken as a list of 4 dates, from 2026-12-01 18:00:00 to 2026-12-08 19:00:00",
		},
		{
			"by the hour through a gap of the clock",
			[]string{"DTSTART;TZID=Europe/Warsaw:20270328T010000", "RRULE:FREQ=HOURLY;COUNT=3"},
			"choir | 2027-03-28 01:00:00 – 2027-03-28 01:00:00 Europe/Warsaw\n  rule:\n  also: 2027-03-28 01:00:00\n" +
				"  also: 2027-03-28 03:00:00\n  also: 2027-03-28 04:00:00\n" + note +
				"taken as a list of 3 dates, from 2027-03-28 01:00:00 to 2027-03-28 04:00:00",
		},
		{
			"every 90 minutes", warsaw("RRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=4"),
			list("01 18", "01 19:30", "01 21", "01 22:30") + note + "taken as a list of 4 dates, from 2026-12-01 18:00:00 to 2026-12-01 22:30:00",
		},
		{"by the hour without end", warsaw("RRULE:FREQ=HOURLY", "RDATE:20261205T170000Z"), list("05 18") + note + "it has too many times of day" + ruleLeftOut},
		{"by the second", warsaw("RRULE:FREQ=SECONDLY;COUNT=3"), once + note + "FREQ=SECONDLY is not supported" + ruleLeftOut},
		{"no rule at all", warsaw("RRULE:every Tuesday"), once + note + "RRULE=EVERYTUESDAY is not supported" + ruleLeftOut},
		{"another calendar", warsaw("RRULE:RSCALE=HEBREW;FREQ=YEARLY", "EXDATE:20271201T170000Z"), once + note + "RSCALE=HEBREW is not supported" + ruleLeftOut},
		{"one of two rules is none", warsaw("RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=NEVER"), once + note + "FREQ=NEVER is not supported" + ruleLeftOut},
		{
			"places of times of day", warsaw("RRULE:FREQ=MONTHLY;BYDAY=TU;BYHOUR=9,18;BYSETPOS=1"),
			once + note + "BYSETPOS with times of day is not supported" + ruleLeftOut,
		},
		{
			"times of day of whole days",
			[]string{"DTSTART;VALUE=DATE:20261201", "RRULE:FREQ=DAILY;BYHOUR=9;COUNT=2"},
			"choir | 2026-12-01 00:00:00 – 2026-12-01 23:59:59 UTC all day\n  rule: FREQ=DAILY;COUNT=2\n" + note +
				"its times of day are left out, as the event lasts all day",
		},
		{
			"the way to skip of RFC 7529", warsaw("RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;COUNT=3"),
			start + "\n  rule: FREQ=YEARLY;COUNT=3;SKIP=BACKWARD",
		},
		{"a week of the year", warsaw("RRULE:FREQ=YEARLY;BYWEEKNO=49;BYDAY=TU;COUNT=3"), start + "\n  rule: FREQ=YEARLY;COUNT=3;BYWEEKNO=49;BYDAY=TU"},
		{"a day of the year", warsaw("RRULE:FREQ=YEARLY;BYYEARDAY=335;COUNT=3"), start + "\n  rule: FREQ=YEARLY;COUNT=3;BYYEARDAY=335"},
		{
			"it ends before it begins", warsaw("RRULE:FREQ=DAILY;UNTIL=20251231"),
			once + note + "UNTIL is before the start; the start alone is taken",
		},
		{"values that are empty", warsaw("RRULE:", "RDATE: ", "EXDATE:,", "RRULE:FREQ=DAILY;COUNT=2"), start + "\n  rule: FREQ=DAILY;COUNT=2"},
		{"no rule and no dates", []string{"DTSTART:20261201T180000Z", "RRULE:", "RDATE:"}, "choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 UTC"},
		{
			"a date that is none", warsaw("RDATE:20261205T170000Z,soon", "RRULE:FREQ=DAILY;COUNT=1"),
			start + "\n  rule: FREQ=DAILY;COUNT=1\n  also: 2026-12-05 18:00:00\n" + strings.ReplaceAll(note, "RRULE", "RDATE") + "\"soon\" is no date; left out",
		},
		{
			"dates by another rule", warsaw("RRULE:FREQ=DAILY;COUNT=5", "EXRULE:FREQ=DAILY;INTERVAL=2"),
			"choir | 2026-12-02 18:00:00 – 2026-12-02 20:00:00 Europe/Warsaw\n  rule:\n  also: 2026-12-02 18:00:00\n  also: 2026-12-04 18:00:00\n" +
				note + "taken as a list of 2 dates, from 2026-12-02 18:00:00 to 2026-12-04 18:00:00",
		},
		{
			"nothing is left", warsaw("RRULE:FREQ=DAILY;COUNT=1", "EXDATE:20261201T170000Z"),
			"not imported: event 1 (UID choir): RRULE: none of its dates is left",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := describeCalendar(readICal(t, vevent("choir", tt.lines...)))
			got = strings.Replace(got, "ical:choir | Choir", "choir", 1)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadsChangedDatesOfICal(t *testing.T) {
	const day = "DTSTART;TZID=Europe/Warsaw:20261208T190000"
	const master = "ical:choir | Choir | 2026-12-01 18:00:00 – 2026-12-01 20:00:00 Europe/Warsaw\n" +
		"  rule: FREQ=WEEKLY;COUNT=4\n"
	const moved = " | Choir | 2026-12-08 19:00:00 – 2026-12-08 19:00:00 Europe/Warsaw"
	following := func(date string, lines ...string) string {
		return strings.Replace(changedDate(date, lines...), "RECURRENCE-ID", "RECURRENCE-ID;RANGE=THISANDFUTURE", 1)
	}
	becomes := func(event, from string) string {
		return "note: event " + event + " (UID choir): RECURRENCE-ID: the dates from " + from + " on become a series of their own"
	}
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"before the series", []string{changedDate("20261208", day), weeklySeries()}, master + "  on 2026-12-08 18:00:00: " + moved},
		{
			"the later version counts",
			[]string{weeklySeries(), changedDate("20261208", day, "SEQUENCE:2"), changedDate("20261208", "DTSTART:20261208T100000Z", "SEQUENCE:1")},
			master + "  on 2026-12-08 18:00:00: " + moved +
				"\nnote: event 3 (UID choir): left out, because event 2 (UID choir) is a later version of it",
		},
		{
			"in another zone it is the same date",
			[]string{
				weeklySeries(), vevent("choir", "RECURRENCE-ID:20261208T170000Z", "DTSTART:20261208T100000Z"),
				changedDate("20261208", day),
			},
			master + "  on 2026-12-08 18:00:00: " + moved +
				"\nnote: event 2 (UID choir): left out, because event 3 (UID choir) is a later version of it",
		},
		{
			"two series of a UID",
			[]string{weeklySeries("SEQUENCE:1"), vevent("choir", day, "RRULE:FREQ=DAILY;COUNT=9")},
			strings.TrimSpace(master) + "\nnote: event 2 (UID choir): left out, because event 1 (UID choir) is a later version of it",
		},
		{
			"this and following of a series that is not in the file",
			[]string{vevent("choir", "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Warsaw:20261208T180000", day)},
			"ical:choir?recurrence=20261208T170000Z" + moved + "\nnote: event 1 (UID choir): RECURRENCE-ID: " +
				"the following dates stay as they are, because the series is not in the file",
		},
		{
			"of a date that is none",
			[]string{vevent("choir", "RECURRENCE-ID:tomorrow", day)},
			"ical:choir?recurrence=20261208T180000Z" + moved +
				"\nnote: event 1 (UID choir): RECURRENCE-ID: \"tomorrow\" is no date; DTSTART is taken",
		},
		{
			"of a series that is not in the file",
			[]string{changedDate("20261208", day)},
			"ical:choir?recurrence=20261208T170000Z" + moved,
		},
		{
			"a date that the rule does not have",
			[]string{weeklySeries(), changedDate("20261209", day)},
			master + "  also: 2026-12-09 18:00:00\n  on 2026-12-09 18:00:00: " + moved + "\n" +
				"note: event 1 (UID choir): RECURRENCE-ID: 2026-12-09 18:00:00 is no date of the rule; it is taken as one more",
		},
		{
			"one that is canceled",
			[]string{weeklySeries(), changedDate("20261209", day, "STATUS:CANCELLED")},
			strings.TrimSpace(master) +
				"\nnote: event 1 (UID choir): RECURRENCE-ID: 2026-12-09 18:00:00 is no date of the rule, and canceled; left out",
		},
		{
			"a date that is left out as well",
			[]string{weeklySeries("EXDATE;TZID=Europe/Warsaw:20261208T180000"), changedDate("20261208", day)},
			master + "  on 2026-12-08 18:00:00: " + moved,
		},
		{"this and earlier", []string{
			weeklySeries(), vevent("choir", "RECURRENCE-ID;RANGE=thisandprior;TZID=Europe/Warsaw:20261208T180000", day),
		}, master + "not imported: event 2 (UID choir): a change of this and all earlier dates is not supported; " +
			"they stay as the series has them"},
		{"an unknown range is the date alone", []string{
			weeklySeries(), vevent("choir", "RECURRENCE-ID;RANGE=X-ALL;TZID=Europe/Warsaw:20261208T180000", day),
		}, master + "  on 2026-12-08 18:00:00: " + moved},
		{
			"this and following",
			[]string{weeklySeries(), following("20261208", day)},
			strings.Replace(master, "COUNT=4", "COUNT=1", 1) + "ical:choir?recurrence=20261208T170000Z" + moved +
				"\n  rule: FREQ=WEEKLY;COUNT=3\n" + becomes("2", "2026-12-08 19:00:00"),
		},
		{
			"this and following twice, with a date of its own",
			[]string{
				weeklySeries("EXDATE;TZID=Europe/Warsaw:20261215T180000"), following("20261222", "DTSTART;TZID=Europe/Warsaw:20261223T200000"),
				following("20261208", day), changedDate("20261222", "DTSTART;TZID=Europe/Warsaw:20261224T100000"),
			},
			strings.Replace(master, "COUNT=4", "COUNT=1", 1) + "ical:choir?recurrence=20261208T170000Z" + moved +
				"\n  rule: FREQ=WEEKLY;COUNT=2\n  not: 2026-12-15 19:00:00\n" +
				"ical:choir?recurrence=20261222T170000Z | Choir | 2026-12-23 20:00:00 – 2026-12-23 20:00:00 Europe/Warsaw\n" +
				"  rule: FREQ=WEEKLY;COUNT=1\n" +
				"  on 2026-12-23 20:00:00:  | Choir | 2026-12-24 10:00:00 – 2026-12-24 10:00:00 Europe/Warsaw\n" +
				becomes("3", "2026-12-08 19:00:00") + "\n" + becomes("2", "2026-12-23 20:00:00"),
		},
		{
			"this and following from the first date on",
			[]string{weeklySeries(), following("20261201", "DTSTART;TZID=Europe/Warsaw:20261201T190000")},
			"ical:choir | Choir | 2026-12-01 19:00:00 – 2026-12-01 19:00:00 Europe/Warsaw\n  rule: FREQ=WEEKLY;COUNT=4",
		},
		{
			"this and following after the end",
			[]string{weeklySeries(), following("20270301", day)},
			master + "  also: 2027-03-01 18:00:00\n  on 2027-03-01 18:00:00: " + moved + "\n" +
				"note: event 2 (UID choir): RECURRENCE-ID: the change of this and all following dates counts for this date alone\n" +
				"note: event 2 (UID choir): RECURRENCE-ID: 2027-03-01 18:00:00 is no date of the rule; it is taken as one more",
		},
		{
			"this and following of a series without a date",
			[]string{weeklySeries("EXDATE;TZID=Europe/Warsaw:20261201T180000,20261208T180000,20261215T180000,20261222T180000"), following("20261208", day)},
			"not imported: event 1 (UID choir): RRULE: none of its dates is left",
		},
		{
			"this and following of a rule without end",
			[]string{vevent("a", "DTSTART;TZID=Europe/Warsaw:20261201T180000", "RRULE:FREQ=WEEKLY"), strings.Replace(following("20261208", day), "choir", "a", 1)},
			"ical:a | Choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 Europe/Warsaw\n  rule: FREQ=WEEKLY;UNTIL=20261207\n" +
				"ical:a?recurrence=20261208T170000Z" + moved + "\n  rule: FREQ=WEEKLY\n" + strings.Replace(becomes("2", "2026-12-08 19:00:00"), "choir", "a", 1),
		},
		{
			"without a start",
			[]string{weeklySeries(), changedDate("20261208")},
			master + "  on 2026-12-08 18:00:00:  | Choir | 2026-12-08 18:00:00 – 2026-12-08 20:00:00 Europe/Warsaw\n" +
				"note: event 2 (UID choir): DTSTART: missing; RECURRENCE-ID is taken",
		},
		{
			"two events of a UID",
			[]string{vevent("a", day, "DTSTAMP:20261101T000000Z"), strings.Replace(
				vevent("a", day, "DTSTAMP:20261102T000000Z"), "Choir", "Orchestra", 1)},
			"ical:a | Orchestra | 2026-12-08 19:00:00 – 2026-12-08 19:00:00 Europe/Warsaw\n" +
				"note: event 1 (UID a): left out, because event 2 (UID a) is a later version of it",
		},
		{
			"two events of a UID of the same time",
			[]string{vevent("a", day), strings.Replace(vevent("a", day), "Choir", "Orchestra", 1)},
			"ical:a | Orchestra | 2026-12-08 19:00:00 – 2026-12-08 19:00:00 Europe/Warsaw\n" +
				"note: event 1 (UID a): left out, because event 2 (UID a) is a later version of it",
		},
		{
			"two calendars in a file",
			[]string{
				"METHOD:CANCEL\nX-WR-TIMEZONE:Europe/Warsaw\n", vevent("a", "DTSTART:20261208T190000"),
				"END:VCALENDAR\nBEGIN:VCALENDAR\nX-WR-TIMEZONE:Europe/London\n", vevent("b", "DTSTART:20261208T190000"),
			},
			"ical:a" + moved + "\n  event status: canceled\nical:b" + strings.ReplaceAll(moved, "Warsaw", "London") +
				"\nnote: events with times of no zone: 2; their times are taken as those of Europe/Warsaw, Europe/London",
		},
		{
			"no UID",
			[]string{"BEGIN:VEVENT\n" + day + "\nSUMMARY:x\nEND:VEVENT\n"},
			"ical:without-uid-ce7119ce9a20027a71e56f9fed69d569 | x" + strings.TrimPrefix(moved, " | Choir") +
				"\nnote: event 1: UID: missing; the event is known by its start and title",
		},
		{"no title", []string{"BEGIN:VEVENT\nUID:x\n" + day + "\nEND:VEVENT\n"}, "ical:x | Event" +
			strings.TrimPrefix(moved, " | Choir") + "\nnote: event 1 (UID x): SUMMARY: missing; the title is \"Event\""},
		{
			"the file is cut",
			[]string{vevent("a", day), "BEGIN:VEVENT\nUID:b\n" + day + "\n"},
			"ical:a" + moved + "\nical:b | Event" + strings.TrimPrefix(moved, " | Choir") +
				"\nnot imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as it is here" +
				"\nnote: event 2 (UID b): SUMMARY: missing; the title is \"Event\"" +
				"\nnote: event 2 (UID b): END: the file ends within the event; what it has of it is taken",
		},
		{
			"the file is cut in a changed date",
			[]string{weeklySeries(), "BEGIN:VEVENT\nUID:choir\nRECURRENCE-ID;TZID=Europe/Warsaw:20261208T180000\nSUMMARY:Choir\n" + day + "\n"},
			master + "  on 2026-12-08 18:00:00: " + moved +
				"\nnot imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as it is here" +
				"\nnote: event 2 (UID choir): END: the file ends within the event; what it has of it is taken",
		},
		{
			"the file is cut between events",
			[]string{vevent("a", day), "BEGIN:X-BLOCK\n"},
			"ical:a" + moved + "\nnot imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as " +
				"it is here",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "BEGIN:VCALENDAR\n" + strings.Join(tt.events, "")
			if !strings.HasPrefix(tt.name, "the file is cut") {
				text += "END:VCALENDAR\n"
			}
			cal, err := decodeICal([]byte(text), testSite())
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, strings.TrimSpace(describeCalendar(cal))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadsLinesOfICal(t *testing.T) {
	tests := []struct {
		line, name string
		want       property
		ok         bool
	}{
		{`SUMMARY:A: b`, "SUMMARY", property{value: "A: b"}, true},
		{` Summary :A`, "SUMMARY", property{value: "A"}, true},
		{`summary;language=en:A`, "SUMMARY", property{parameters: map[string]string{"LANGUAGE": "en"}, value: "A"}, true},
		{
			`ORGANIZER;CN="Nowak, Ewa: ^'E^'":mailto:e@example.org`, "ORGANIZER",
			property{parameters: map[string]string{"CN": `Nowak, Ewa: "E"`}, value: "mailto:e@example.org"},
			true,
		},
		{`DTSTART;TZID=Europe/Warsaw;VALUE=DATE-TIME:20261201T180000`, "DTSTART", property{parameters: map[string]string{
			"TZID": "Europe/Warsaw", "VALUE": "DATE-TIME",
		}, value: "20261201T180000"}, true},
		{`DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin: 20261201T180000`, "DTSTART", property{parameters: map[string]string{
			"TZID": "(UTC+01:00) Amsterdam, Berlin",
		}, value: " 20261201T180000"}, true},
		{`DTSTART:2026-12-01T18:00:00`, "DTSTART", property{value: "2026-12-01T18:00:00"}, true},
		{`DTSTART;;VALUE=DATE;:20261201`, "DTSTART", property{parameters: map[string]string{"VALUE": "DATE"}, value: "20261201"}, true},
		{`DTEND;TZID:None`, "DTEND", property{parameters: map[string]string{"TZID": ""}, value: "None"}, true},
		{`SUMMARY;X="a:b`, "SUMMARY", property{parameters: map[string]string{"X": "a"}, value: "b"}, true},
		{`SUMMARY;QUOTED-PRINTABLE:a`, "SUMMARY", property{parameters: map[string]string{"ENCODING": quotedPrintable}, value: "a"}, true},
		{`X-OTHER:1`, "X-OTHER", property{value: "1"}, true},
		{`SUMMARY`, "SUMMARY", property{}, false},
		{`SUMMARY;`, "SUMMARY", property{}, false},
		{`SUMMARY;X=` + strings.Repeat("a", maxLineHead) + ":b", "SUMMARY", property{}, false},
		{"", "", property{}, false},
	}
	for _, tt := range tests {
		name, rest := splitName(tt.line)
		p, ok := parseProperty(name, rest)
		if name != tt.name || ok != tt.ok || gocmp.Diff(tt.want, p, gocmp.AllowUnexported(property{})) != "" {
			t.Errorf("%.40s: %q, %v, %t", tt.line, name, p, ok)
		}
	}
}

func TestFindsZonesOfICal(t *testing.T) {
	for windows, iana := range windowsZones() {
		if _, err := calendar.ParseZone(iana); err != nil {
			t.Errorf("%s: %s: %v", windows, iana, err)
		}
	}
	clock := func(kind, from, to, start string, more ...string) string {
		return "BEGIN:" + kind + "\nTZOFFSETFROM:" + from + "\nTZOFFSETTO:" + to + "\nDTSTART:" + start + "\n" +
			strings.Join(append(more, ""), "\n") + "END:" + kind + "\n"
	}
	for _, tt := range []struct{ name, zone, want string }{
		{
			"rules that have ended",
			clock("DAYLIGHT", "+0300", "+0400", "19930328T020000", "RRULE:FREQ=YEARLY;UNTIL=20100327T230000Z;BYDAY=-1SU;BYMONTH=3") +
				clock("STANDARD", "+0400", "+0300", "19961027T030000", "RRULE:FREQ=YEARLY;UNTIL=20101030T230000Z;BYDAY=-1SU;BYMONTH=10") +
				clock("STANDARD", "+0300", "+0400", "20110327T020000") + clock("STANDARD", "+0400", "+0300", "20141026T020000"),
			"Europe/Moscow",
		},
		{
			"two rules and one offset",
			clock("STANDARD", "+0800", "+0800", "16010101T000000") + clock("DAYLIGHT", "+0800", "+0800", "16010101T000000"),
			"UTC+8:00",
		},
		{
			"rules that go on",
			clock("STANDARD", "+0200", "+0100", "16011028T030000", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10") +
				clock("DAYLIGHT", "+0100", "+0200", "16010325T020000", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3"),
			"Europe/Budapest",
		},
	} {
		cal := readICal(t, "BEGIN:VTIMEZONE\nTZID:Office\n"+tt.zone+"END:VTIMEZONE\n"+
			vevent("choir", "DTSTART;TZID=Office:20261201T180000"))
		if len(cal.Events) != 1 || cal.Events[0].Span.Zone.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, describeCalendar(cal), tt.want)
		}
	}
}

func TestReadsTextsAndAddressesOfICal(t *testing.T) {
	const start = "DTSTART;TZID=Europe/Warsaw:20261201T180000"
	const choir = "ical:choir | Choir | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 Europe/Warsaw"
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"an empty description as HTML",
			[]string{start, "DESCRIPTION:Bring a pencil.", "X-ALT-DESC;FMTTYPE=text/html:<html><body></body></html>"},
			choir + "\n  description: Bring a pencil.",
		},
		{
			"the first address of several meetings",
			[]string{
				start, "CONFERENCE;VALUE=URI:tel:+48123", "CONFERENCE;VALUE=URI:https://meet.example.org/1",
				"CONFERENCE;VALUE=URI:https://meet.example.org/2",
			},
			choir + "\n  online: https://meet.example.org/1",
		},
		{
			"the address of a meeting for its hosts",
			[]string{
				start, "CONFERENCE;VALUE=URI;FEATURE=VIDEO,moderator:https://meet.example.org/host",
				"CONFERENCE;VALUE=URI;FEATURE=X-NEW:https://meet.example.org/1",
			},
			choir + "\n  online: https://meet.example.org/1",
		},
		{
			"quoted-printable",
			[]string{start, "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:Caf=C3=A9"},
			choir + "\n  description: Café",
		},
		{
			"other bytes than UTF-8",
			[]string{start, "DESCRIPTION:Caf\xe9"},
			choir + "\n  description: Café\nnote: lines that are not UTF-8: 1; they are read as Windows 1252",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := gocmp.Diff(tt.want, describeCalendar(readICal(t, vevent("choir", tt.lines...)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadsFilesOfOldPrograms(t *testing.T) {
	const file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:A\nDTSTART:20261201T180000Z\nEND:VEVENT\nEND:VCALENDAR\n"
	const event = "ical:a | A | 2026-12-01 18:00:00 – 2026-12-01 18:00:00 UTC"
	wide := func(s string) string {
		return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00"
	}
	for _, tt := range []struct{ name, data, want string }{
		{"lines end with CR", strings.ReplaceAll(file, "\n", "\r"), event},
		{"lines end with CR LF", strings.ReplaceAll(file, "\n", "\r\n"), event},
		{"no events", "BEGIN:VCALENDAR\nEND:VCALENDAR\n", "note: it has no events"},
		{"UTF-16", wide(file), event + "\nnote: the file is in UTF-16; it is converted to UTF-8"},
		{"UTF-16 without a mark", wide(file)[2:], event + "\nnote: the file is in UTF-16; it is converted to UTF-8"},
		{"vCalendar", strings.Replace(file, "\n", "\nVERSION:1.0\n", 1), event},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cal, err := decodeICal([]byte(tt.data), testSite())
			got := fmt.Sprint(err)
			if err == nil {
				got = describeCalendar(cal)
			}
			if got != tt.want || !isICal([]byte(tt.data)) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestUnknownValuesOfICal checks that properties with a fixed set of values are read in any case and with white
// space. An unknown value has the meaning that the RFC gives to it.
func TestUnknownValuesOfICal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines   []string
		private bool
		status  calendar.EventStatus
	}{
		{nil, false, calendar.Scheduled},
		{[]string{"CLASS:PUBLIC"}, false, calendar.Scheduled},
		{[]string{"CLASS: public "}, false, calendar.Scheduled},
		{[]string{"CLASS;X-A=b:Public"}, false, calendar.Scheduled},
		{[]string{"CLASS:private"}, true, calendar.Scheduled},
		{[]string{"CLASS:CONFIDENTIAL"}, true, calendar.Scheduled},
		{[]string{"CLASS:X-INTERNAL"}, true, calendar.Scheduled},
		{[]string{"CLASS:PUBLIC,PRIVATE"}, true, calendar.Scheduled},
		{[]string{"CLASS:\"PUBLIC\""}, true, calendar.Scheduled},
		{[]string{"CLASS:"}, true, calendar.Scheduled},
		{[]string{"CLASS"}, true, calendar.Scheduled}, // cannot be read
		{[]string{"CLASS:PUBLIC", "CLASS:PRIVATE"}, true, calendar.Scheduled},
		{[]string{"CLASS:PRIVATE", "CLASS:PUBLIC"}, true, calendar.Scheduled},
		{[]string{"CLASS:PUBLIC", "CLASS:PUBLIC"}, false, calendar.Scheduled},
		{[]string{"STATUS:CONFIRMED"}, false, calendar.Scheduled},
		{[]string{"STATUS:X-MAYBE"}, false, calendar.Scheduled},
		{[]string{"STATUS: cancelled "}, false, calendar.Canceled},
		{[]string{"STATUS:CONFIRMED", "STATUS:CANCELLED"}, false, calendar.Canceled},
	} {
		t.Run(strings.Join(tt.lines, " "), func(t *testing.T) {
			t.Parallel()
			cal := readICal(t, vevent("choir", append([]string{"DTSTART:20261201T180000Z"}, tt.lines...)...))
			if len(cal.Events) != 1 {
				t.Fatalf("got %s", describeCalendar(cal))
			}
			e := cal.Events[0]
			if private := e.Status != nil && *e.Status == calendar.Private; private != tt.private || *e.EventStatus != tt.status {
				t.Errorf("private %t, %s; want %t, %s", private, *e.EventStatus, tt.private, tt.status)
			}
		})
	}
}
