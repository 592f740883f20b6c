package importer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// withTitle returns a component made by vevent, with its title replaced.
func withTitle(title, component string) string {
	return strings.Replace(component, "SUMMARY:Choir", "SUMMARY:"+title, 1)
}

// TestDatesOfImportedFiles imports one or more files, the later ones as edited versions of the first. It then compares
// the stored events: start in UTC, title, and whether they are canceled.
func TestDatesOfImportedFiles(t *testing.T) {
	t.Parallel()
	const (
		inWarsaw = "DTSTART;TZID=Europe/Warsaw:"
		start    = inWarsaw + "20270105T100000"
		weekly   = "RRULE:FREQ=WEEKLY;COUNT=3"
		replace  = "RECURRENCE-ID;TZID=Europe/Warsaw:"
		future   = "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Warsaw:"
		stamp    = "DTSTAMP:20260101T000000Z"
	)
	plain := vevent("a", start, weekly)
	split := withTitle("New", vevent("a", future+"20270112T100000", inWarsaw+"20270112T120000"))
	changed := withTitle("New", vevent("a", replace+"20270112T100000", inWarsaw+"20270112T120000"))
	custom := strings.NewReplacer("+0100", "+0145", "+0200", "+0245").Replace(strangeZone("Custom"))
	far := strings.NewReplacer("+0100", "+1245", "+0200", "+1345").Replace(strangeZone("Far"))
	own := func(time string) string { return "DTSTART;TZID=Custom:" + time }
	three := []string{"2027-01-05 09:00 Choir", "2027-01-12 09:00 Choir", "2027-01-19 09:00 Choir"}
	divided := []string{"2027-01-05 09:00 Choir", "2027-01-12 11:00 New", "2027-01-19 11:00 New"}
	for _, tt := range []struct {
		name  string
		files []string
		want  []string
	}{
		// Changes of all following dates.
		{"split", []string{plain + split}, divided},
		{"split, then plain", []string{plain + split, plain}, three},
		{"split, plain, split", []string{plain + split, plain, plain + split}, divided},
		{"split, then at a later date", []string{
			plain + split, plain + withTitle("New", vevent("a", future+"20270119T100000", inWarsaw+"20270119T120000")),
		}, []string{three[0], three[1], "2027-01-19 11:00 New"}},
		{"split, then one date changed", []string{plain + split, plain + changed}, []string{three[0], "2027-01-12 11:00 New", three[2]}},
		{"split, then a single event", []string{plain + split, vevent("a", start)}, three[:1]},
		{
			"split, then canceled",
			[]string{plain + split, vevent("a", start, weekly, "STATUS:CANCELLED")},
			[]string{three[0] + " canceled", three[1] + " canceled", three[2] + " canceled"},
		},
		{"the change alone, then the file", []string{split, plain + split}, divided},
		{"of a rule that cannot be kept", []string{vevent("a", start, "RRULE:FREQ=SECONDLY;COUNT=5") + split}, []string{three[0], "2027-01-12 11:00 New"}},
		{"to other days of the week", []string{
			vevent("a", start, "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4") + withTitle("New", vevent("a", future+"20270112T100000", inWarsaw+"20270113T120000")),
		}, []string{three[0], "2027-01-07 09:00 Choir", "2027-01-13 11:00 New", "2027-01-15 11:00 New"}},
		{"the same time in another zone", []string{
			vevent("a", "DTSTART;TZID=America/New_York:20270105T200000", "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4") +
				withTitle("New", vevent("a", "RECURRENCE-ID;RANGE=THISANDFUTURE:20270113T010000Z", inWarsaw+"20270113T020000")),
		}, []string{"2027-01-06 01:00 Choir", "2027-01-08 01:00 Choir", "2027-01-13 01:00 New", "2027-01-15 01:00 New"}},
		{"after the last date", []string{
			plain + withTitle("New", vevent("a", future+"20270301T100000", inWarsaw+"20270301T120000")),
		}, append(three[:3:3], "2027-03-01 11:00 New")},

		// A clock that no IANA zone has.
		{"an end and a count", []string{custom + vevent("a", own("20270720T100000"), "RRULE:FREQ=WEEKLY;COUNT=4;UNTIL=20271231T000000Z")}, []string{
			"2027-07-20 07:15 Choir", "2027-07-27 07:15 Choir", "2027-08-03 08:15 Choir", "2027-08-10 08:15 Choir",
		}},
		{"two rules", []string{
			custom + vevent("a", own("20270720T100000"), "RRULE:FREQ=WEEKLY;UNTIL=20270803T081500Z", "RRULE:FREQ=DAILY;COUNT=2"),
		}, []string{"2027-07-20 07:15 Choir", "2027-07-21 07:15 Choir", "2027-07-27 07:15 Choir", "2027-08-03 08:15 Choir"}},
		{"a day as one more date", []string{
			custom + vevent("a", own("20270720T100000"), "RDATE;VALUE=DATE:20270901"),
		}, []string{"2027-07-20 07:15 Choir", "2027-09-01 08:15 Choir"}},
		{"a day that is left out", []string{
			custom + vevent("a", own("20270727T233000"), "RRULE:FREQ=WEEKLY;COUNT=3", "EXDATE;VALUE=DATE:20270803"),
		}, []string{"2027-07-27 20:45 Choir", "2027-08-10 21:45 Choir"}},
		{"a day that changes", []string{
			custom + vevent("a", own("20270727T233000"), "RRULE:FREQ=WEEKLY;COUNT=2") +
				withTitle("New", vevent("a", "RECURRENCE-ID;VALUE=DATE:20270803", own("20270803T120000"))),
		}, []string{"2027-07-27 20:45 Choir", "2027-08-03 10:15 New"}},
		{"days in the zone of the file", []string{
			"X-WR-TIMEZONE:Far\n" + far + vevent("a", "DTSTART;VALUE=DATE:20270705", "RRULE:FREQ=DAILY;UNTIL=20270707T101500Z", "EXDATE:20270705T101500Z"),
		}, []string{"2027-07-05 00:00 Choir", "2027-07-07 00:00 Choir", "2027-07-08 00:00 Choir"}},
		{"times of no zone", []string{"X-WR-TIMEZONE:Custom\n" + custom + vevent("a", "DTSTART:20270705T100000")}, []string{"2027-07-05 07:15 Choir"}},

		// UNTIL.
		{"an end with punctuation", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=2027-01-19T09:00:00Z")}, three},
		{"an end with an offset", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=20270119T100000+0100")}, three},
		{"an end without seconds", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=20270119T1000")}, three},
		{"an end at 24:00", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=20270119T240000")}, three},
		{"an end at second 60", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=20270119T235960Z")}, three},
		{"an end with a space", []string{vevent("a", start, "RRULE:FREQ=WEEKLY;UNTIL=20270119 T100000")}, three},
		{"the last year", []string{vevent("a", start, "RRULE:FREQ=YEARLY;INTERVAL=3;UNTIL=99991231T235959Z")}, three[:1]},
		{
			"the last year, days",
			[]string{vevent("a", "DTSTART;VALUE=DATE:20270105", "RRULE:FREQ=YEARLY;INTERVAL=3;UNTIL=99991231T230000Z")},
			[]string{"2027-01-05 00:00 Choir"},
		},

		// RECURRENCE-ID and UID.
		{"an empty RECURRENCE-ID", []string{vevent("a", start, weekly, "RECURRENCE-ID:")}, three},
		{"a RECURRENCE-ID beside the rule", []string{vevent("a", start, weekly, replace+"20270105T100000")}, three},
		{
			"a canceled date without a start",
			[]string{plain + vevent("a", replace+"20270112T100000", "STATUS:CANCELLED")},
			[]string{three[0], three[1] + " canceled", three[2]},
		},
		{
			"a changed date without a start",
			[]string{plain + withTitle("New", vevent("a", replace+"20270112T100000"))},
			[]string{three[0], "2027-01-12 09:00 New", three[2]},
		},
		{
			"a change of the only date",
			[]string{vevent("a", start) + withTitle("New", vevent("a", replace+"20270105T100000", inWarsaw+"20270112T100000"))},
			[]string{"2027-01-12 09:00 New"},
		},
		{
			"a series and a single event of one UID",
			[]string{vevent("a", start, weekly, stamp) + withTitle("New", vevent("a", inWarsaw+"20270301T100000", stamp))},
			append(three[:3:3], "2027-03-01 09:00 New"),
		},
		{"two events of one UID in another order", []string{
			vevent("a", start, stamp) + withTitle("New", vevent("a", inWarsaw+"20270301T100000", stamp)),
			withTitle("New", vevent("a", inWarsaw+"20270301T100000", stamp)) + vevent("a", start, stamp),
		}, []string{three[0], "2027-03-01 09:00 New"}},
		{"all dates are left out later", []string{
			plain, vevent("a", start, weekly, "EXDATE;TZID=Europe/Warsaw:20270105T100000,20270112T100000,20270119T100000"),
		}, nil},
		{"of a single event", []string{
			vevent("a", start), vevent("a", start, weekly, "EXDATE;TZID=Europe/Warsaw:20270105T100000,20270112T100000,20270119T100000"),
		}, nil},
		{"dates with semicolons", []string{vevent("a", start, weekly, "EXDATE;TZID=Europe/Warsaw:20270112T100000;20270119T100000")}, three[:1]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				for _, file := range tt.files {
					importInto(t, st, readICal(t, file))
				}
				if diff := cmp.Diff(tt.want, datesIn(t, st)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				importInto(t, st, readICal(t, tt.files[len(tt.files)-1]))
				if diff := cmp.Diff(tt.want, datesIn(t, st)); diff != "" {
					t.Errorf("again (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFilesThatEndEarlyRemoveNoDates imports a file that ends before END:VCALENDAR. Stored dates must remain,
// because the missing part may have them.
func TestFilesThatEndEarlyRemoveNoDates(t *testing.T) {
	t.Parallel()
	const start, weekly = "DTSTART;TZID=Europe/Warsaw:20270105T100000", "RRULE:FREQ=WEEKLY;COUNT=3"
	for _, second := range []string{
		vevent("a", start),
		vevent("a", start) + vevent("b", start),
		vevent("a", start, "RRULE:FREQ=WEEKLY;COUNT=2"),
		vevent("a", start, weekly, "EXDATE;TZID=Europe/Warsaw:20270105T100000,20270112T100000,20270119T100000"),
	} {
		storetest.Each(t, func(t *testing.T, st *store.Store) {
			importInto(t, st, readICal(t, vevent("a", start, weekly)))
			before := datesIn(t, st)
			importInto(t, st, readCutICal(t, second))
			for _, date := range before {
				if after := datesIn(t, st); !slices.Contains(after, date) {
					t.Errorf("%s: %v", second, after)
				}
			}
		})
	}
}

// datesIn returns a line for each event outside the trash: start in UTC, title, and whether it is canceled.
func datesIn(t *testing.T, st *store.Store) (out []string) {
	t.Helper()
	rows, err := st.Ent.Event.Query().Where(event.StatusNEQ(calendar.Trash)).Order(event.ByStartsAt(), event.ByID()).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rows {
		text := e.StartsAt.UTC().Format("2006-01-02 15:04 ") + e.Title
		if e.EventStatus == calendar.Canceled {
			text += " canceled"
		}
		out = append(out, text)
	}
	return out
}
