package importer

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// checkICal reads a file and checks what every calendar that was read has to be.
func checkICal(t *testing.T, data []byte) *Calendar {
	t.Helper()
	cal, err := decodeICal(data, testSite())
	if err != nil {
		return nil
	}
	keys := make(map[string]bool)
	for _, e := range cal.Events {
		if e.Key == "" || keys[e.Key] || len([]rune(e.Key)) > maxSource {
			t.Errorf("key %q", e.Key)
		}
		keys[e.Key] = true
		checkICalEvent(t, e)
		if e.Series == nil {
			continue
		}
		s := e.Series.Schedule
		if _, err := recur.New(s.Span, s.Rule, datesOf(s.RDate), datesOf(s.ExDate)); err != nil {
			t.Errorf("%s: schedule: %v", e.Key, err)
		}
		if _, err := recur.Parse(s.Rule.String(), s.Zone); err != nil && !s.Rule.IsZero() {
			t.Errorf("%s: rule %s: %v", e.Key, s.Rule, err)
		}
		for _, o := range e.Series.Changed {
			checkICalEvent(t, o)
		}
	}
	return cal
}

// manyZones returns VTIMEZONE components of different names, each with events of the given starts.
func manyZones(n int, starts ...string) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(strangeZone(fmt.Sprint("zone ", i)))
		for j, start := range starts {
			text.WriteString(vevent(fmt.Sprint(i, "-", j), fmt.Sprintf("DTSTART;TZID=zone %d:%s", i, start)))
		}
	}
	return text.String()
}

func manyEvents(n int, lines ...string) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(vevent(fmt.Sprint(i), lines...))
	}
	return text.String()
}

func checkICalEvent(t *testing.T, e *Event) {
	t.Helper()
	if err := e.Span.Check(); err != nil || e.Title == "" || len([]rune(e.Title)) > maxTitle {
		t.Errorf("%s: title %q, dates %v", e.Key, e.Title, err)
	}
	for _, v := range e.Venues {
		if v.Name == "" || v.Latitude != nil && (*v.Latitude < -90 || *v.Latitude > 90) {
			t.Errorf("%s: venue %+v", e.Key, v)
		}
	}
}

// manyRules returns lines of n different rules.
func manyRules(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("RRULE:FREQ=YEARLY;INTERVAL=2;UNTIL=%d0101", 3000+i)
	}
	return strings.Join(lines, "\n")
}

func FuzzICal(f *testing.F) {
	for _, name := range []string{"google.ics", "outlook.ics", "apple.ics"} {
		data, err := os.ReadFile("../../testdata/calendars/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("BEGIN:VCALENDAR\n" + weeklySeries("EXDATE:20261208T170000Z") + changedDate("20261208", "DTSTART:20261208T100000Z"))
	f.Add("BEGIN:VCALENDAR\n" + weeklySeries("RRULE:FREQ=HOURLY;COUNT=5;BYMINUTE=0,30", "EXRULE:FREQ=DAILY;INTERVAL=2") +
		vevent("choir", "RECURRENCE-ID;RANGE=THISANDFUTURE:20261208T170000Z", "DTSTART:20261208T180000Z"))
	f.Add("BEGIN:VCALENDAR\nX-WR-TIMEZONE:Pacific/Apia\n" + vevent("a", "DTSTART:20111229T100000", "RRULE:FREQ=DAILY;COUNT=5"))
	f.Fuzz(func(t *testing.T, data string) { checkICal(t, []byte(data)) })
}

// FuzzZoneOfICal checks that a VTIMEZONE costs no event its start.
func FuzzZoneOfICal(f *testing.F) {
	rules := strings.Split(strangeZone("x"), "\n")
	f.Add(strings.Join(rules[2:len(rules)-2], "\n"), "Office", "20270504T100000", "FREQ=WEEKLY;COUNT=5")
	f.Add("BEGIN:STANDARD\nDTSTART:00010101T000000\nTZOFFSETFROM:+1400\nTZOFFSETTO:-235959\nRDATE:20270101T000000\nEND:STANDARD",
		"W. Europe Standard Time 1", "99991231T235959", "")
	f.Add("BEGIN:DAYLIGHT\nDTSTART:20070101T000000\nTZOFFSETTO:0100\nRRULE:FREQ=DAILY;INTERVAL=3\nEND:DAYLIGHT",
		"(UTC+01:00) A, B", "10000101T000000", "FREQ=YEARLY")
	f.Fuzz(func(t *testing.T, zone, tzid, start, rule string) {
		if strings.ContainsAny(tzid+start+rule, "\r\n\"") || strings.Contains(strings.ToUpper(zone), ":V") || strings.Contains(zone, "\r") {
			return // another structure of the file
		}
		lines := []string{`DTSTART;TZID="` + tzid + `":` + start}
		if rule != "" {
			lines = append(lines, "RRULE:"+rule)
		}
		cal := checkICal(t, []byte("BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:"+tzid+"\n"+zone+"\nEND:VTIMEZONE\n"+vevent("a", lines...)))
		d, ok := parseICalDate(start)
		_, _, isRead := parseLine(lines[0])
		year, _, _ := d.wall.Date()
		if ok && isRead && rule == "" && cal != nil && len(cal.Events) == 0 && year > 1000 && year < 9999 {
			t.Errorf("lost: %s", describeCalendar(cal))
		}
	})
}

func TestICalIsReadWithinBounds(t *testing.T) {
	many := 1 << 20
	if testing.Short() {
		many >>= 4
	}
	long := strings.Repeat("a", 10*many)
	tests := []struct {
		name, text string
		want       string // the error, or the first problem
	}{
		{"a long line", vevent("a", "DTSTART:20261201T180000Z", "DESCRIPTION:"+long), ""},
		{"a long line of many parts", vevent("a", "DTSTART:20261201T180000Z", "DESCRIPTION:"+strings.Repeat("a\n ", many)), ""},
		{"a long name", vevent("a", "DTSTART:20261201T180000Z", long), ""},
		{"many parameters", vevent("a", "DTSTART"+strings.Repeat(";X=1", 2*many)+":20261201T180000Z"), "DTSTART: cannot be read"},
		{"many quotes", vevent("a", "DTSTART;X=\""+strings.Repeat(`","`, many)+":20261201T180000Z"), "DTSTART: cannot be read"},
		{"a long rule", vevent("a", "DTSTART:20261201T180000Z", "RRULE:FREQ=DAILY;BYDAY="+strings.Repeat("MO,", many)), "is not supported"},
		{"an endless count", vevent("a", "DTSTART:20261201T180000Z", "RRULE:FREQ=DAILY;COUNT=999999999999999999999"), "is taken as no end"},
		{"minutes that come never", vevent("a", "DTSTART:10000101T180000Z", "RRULE:FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1"), "too many times of day"},
		{"minutes without end", vevent("a", "DTSTART:20261201T180000Z", "RRULE:FREQ=MINUTELY"), "too many times of day"},
		{"many rules", vevent("a", "DTSTART:20261201T180000Z", manyRules(2000)), "more than 20 rules"},
		{"rules of all days", vevent("a", "DTSTART:10000101T180000Z", "RRULE:FREQ=DAILY;UNTIL=99991231", "RRULE:FREQ=WEEKLY"), "list of 1000 dates"},
		{"seconds", vevent("a", "DTSTART:20261201T180000Z", "RRULE:FREQ=SECONDLY"), "is not supported"},
		{"a day that comes never", vevent("a", "DTSTART:10000101T180000Z", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"), ""},
		{"many dates", vevent("a", "DTSTART:20261201T180000Z", "RDATE:"+strings.Repeat("20261201T180000Z,", many/2)), "more than 1000 dates; the others are left out"},
		{"many dates without an occurrence", vevent("a", "DTSTART:20261201T180000Z", "RRULE:FREQ=DAILY",
			"EXDATE:"+strings.Repeat("99991231T180000Z,", 999)), ""},
		{"deep nesting", strings.Repeat("BEGIN:VEVENT\nBEGIN:VALARM\n", 40_000), "UID: missing"},
		{"deep nesting of others", strings.Repeat("BEGIN:X\n", 90_000) + strings.Repeat("END:X\n", 90_000), ""},
		{"too many blocks", strings.Repeat("BEGIN:X\n", maxComponents+1), errManyBlocks.Error()},
		{"too many lines", "BEGIN:VEVENT\n" + strings.Repeat("UID\n", maxProperties+1), errManyLines.Error()},
		{"many ends", strings.Repeat("END:VEVENT\nEND:STANDARD\nEND:X\n", many/4), ""},
		{"many categories", vevent("a", "DTSTART:20261201T180000Z", "CATEGORIES:"+strings.Repeat("a,b\\,", many/4)), ""},
		{"many zones", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nEND:STANDARD\nEND:VTIMEZONE\n", 30_000), ""},
		{"a zone of many observances", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nDTSTART:00010101T000000\nTZOFFSETFROM:+0100\n"+
			"TZOFFSETTO:+0200\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\n", 10_000) + vevent("a", "DTSTART;TZID=a:20261201T180000"), ""},
		{"zones of many names", manyZones(3000, "20261201T180000"), "is unknown"},
		{"zones of many names and years", manyZones(1000, "10010101T000000", "99980101T000000"), "is unknown"},
		{"a zone of many dates", "BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nTZOFFSETTO:+0200\nRDATE:" + strings.Repeat("20260101T000000,", many/4) +
			"\nEND:STANDARD\nEND:VTIMEZONE\n" + strings.Repeat(vevent("a", "DTSTART;TZID=a:20261201T180000"), 20_000), "a later version"},
		{"many long series in a zone", strangeZone("a") + manyEvents(100, "DTSTART;TZID=a:10100101T000000", "RRULE:FREQ=DAILY"), "1000 listed dates"},
		{"an unknown zone many times", strings.Repeat(vevent("a", "DTSTART;TZID=Mars:20261201T180000"), 20_000), `"Mars" is unknown`},
		{"a long duration", vevent("a", "DTSTART:90001201T180000Z", "DURATION:P99999W999999DT9999999H"), "DTSTART, DTEND: end outside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "BEGIN:VCALENDAR\n" + tt.text
			got := ""
			if cal := checkICal(t, []byte(text)); cal == nil {
				_, err := decodeICal([]byte(text), calendar.Site{Zone: calendar.UTC(), Now: testSite().Now})
				got = err.Error()
			} else if len(cal.Problems)+len(cal.Notices) > 0 {
				got = describeCalendar(&Calendar{Problems: cal.Problems, Notices: cal.Notices})
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%.200s, want %q", got, tt.want)
			}
		})
	}
}
