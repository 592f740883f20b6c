package importer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// checkICal decodes a file and checks the invariants of every decoded calendar. It returns nil if the file is
// refused.
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

// manyZones returns n VTIMEZONE components with different names, and an event in each zone at each of the starts.
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

// days returns n successive dates in UTC from first on, at the same time of day, separated by commas.
func days(first string, n int) string {
	at, err := time.Parse("20060102T150405Z", first)
	if err != nil {
		return ""
	}
	dates := make([]string, n)
	for i := range dates {
		dates[i] = at.AddDate(0, 0, i).Format("20060102T150405Z")
	}
	return strings.Join(dates, ",")
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

// manyRules returns n lines of RRULE, all different.
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

// FuzzZoneOfICal checks that an event keeps its start, whatever its VTIMEZONE says.
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
		_, isRead := parseProperty(splitName(lines[0]))
		year, _, _ := d.wall.Date()
		if ok && isRead && rule == "" && cal != nil && len(cal.Events) == 0 && year > 1000 && year < 9999 {
			t.Errorf("lost: %s", describeCalendar(cal))
		}
	})
}

// sizeOf returns the total length of all texts of a calendar, in bytes.
func sizeOf(cal *Calendar) (n int) {
	text := func(texts ...*string) {
		for _, s := range texts {
			if s != nil {
				n += len(*s)
			}
		}
	}
	var add func(e *Event)
	add = func(e *Event) {
		text(&e.Key, &e.Where, &e.Title, e.Description, e.VirtualURL)
		for _, v := range e.Venues {
			text(&v.Name, &v.Address)
		}
		for _, o := range e.Organizers {
			text(&o.Name, &o.Email)
		}
		for _, t := range e.Terms {
			text(&t.Name)
		}
		if e.Series == nil {
			return
		}
		n += 24 * (len(e.Series.Schedule.RDate) + len(e.Series.Schedule.ExDate))
		for _, o := range e.Series.Changed {
			if o.Where != e.Where { // dates with their own end share the fields of the series
				add(o)
			}
		}
	}
	for _, e := range cal.Events {
		add(e)
	}
	for _, s := range cal.Notices {
		text(&s)
	}
	for _, p := range cal.Problems {
		text(&p.Title, &p.Where, &p.Reason)
	}
	return n
}

// brokenValues are values that programs write into properties where they do not belong.
var brokenValues = []string{
	"", " ", "None", "null", "-1", "0", ",", ";", ",,;", "20270101", "20270132", "20270101T", "20270101T240000", "20270101T235960Z",
	"2027-01-01 10:00", "99991231T235959Z", "10000101T000000", "20270328T023000", "P", "PT", "-PT1H", "P9999999W", "FREQ=", "FREQ=DAILY",
	"FREQ=HOURLY;COUNT=1000000", "FREQ=DAILY;UNTIL=20260101", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=0", "W1 MO #3",
	"VEVENT", "VCALENDAR", "1.0", "<b>", "\\", "\\n", "\"", "\x00", "\xff", "\r", "=", "=C3", "https://", "mailto:", "geo:", "90;180", "1e999;0",
}

// alteredICal returns a file in which lines are doubled, removed, moved, emptied, cut or replaced. Each change is three
// bytes of steps: its kind, its line and its argument.
func alteredICal(file string, steps []byte) string {
	const most = 40 // changes
	lines := strings.Split(file, "\n")
	for i := 0; i+2 < len(steps) && i < 3*most && len(lines) > 0; i += 3 {
		at, argument := int(steps[i+1])%len(lines), int(steps[i+2])
		line := lines[at]
		name, rest := line, ""
		if cut := strings.IndexAny(line, ":;"); cut >= 0 {
			name, rest = line[:cut], line[cut:]
		}
		switch steps[i] % 12 {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, line)
		case 2:
			other := argument % len(lines)
			lines[at], lines[other] = lines[other], line
		case 3:
			lines[at] = name + ":" + brokenValues[argument%len(brokenValues)]
		case 4:
			lines[at] = line[:min(len(line), argument)]
		case 5:
			lines[at] = name + ";" + []string{"VALUE=DATE", "TZID=Mars", "TZID=", "X=\"", "ENCODING=QUOTED-PRINTABLE", "RANGE=THISANDFUTURE"}[argument%6] + rest
		case 6:
			other, _, _ := strings.Cut(lines[argument%len(lines)], ":")
			lines[at] = other + rest
		case 7:
			lines[at] = line + "\r" + line
		case 8:
			lines[at] = " " + line
		case 9:
			lines = lines[:at]
		case 10:
			lines = slices.Insert(lines, at, "BEGIN:VEVENT", "UID:u"+string(rune('a'+argument%3)), "DTSTART;VALUE=DATE:20270105")
		case 11:
			lines = slices.Insert(lines, at, []string{"END:VEVENT", "BEGIN:VALARM", "END:VCALENDAR", "BEGIN:VCALENDAR", "VERSION:1.0"}[argument%5])
		}
	}
	return strings.Join(lines, "\n")
}

// FuzzImportOfICal imports altered files, first into an empty calendar and then again. Nothing may panic. Texts may not
// grow faster than the file. The second import must create nothing.
func FuzzImportOfICal(f *testing.F) {
	var files []string
	for _, name := range []string{"google.ics", "outlook.ics", "apple.ics"} {
		data, err := os.ReadFile("../../testdata/calendars/" + name)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, strings.ReplaceAll(string(data), "\r\n", "\n"))
	}
	files = append(files, "BEGIN:VCALENDAR\n"+vevent("a", "DTSTART;VALUE=DATE:20270105", "RRULE:FREQ=WEEKLY;UNTIL=20270119T000000Z",
		"EXDATE:20270112T000000Z", "RDATE:20270109T000000Z")+vevent("a", "RECURRENCE-ID:20270119T000000Z", "DTSTART;VALUE=DATE:20270120")+"END:VCALENDAR")
	for i := range files {
		f.Add(uint8(i), []byte{})
		for kind := range byte(12) {
			f.Add(uint8(i), []byte{kind, 20, kind, kind, 40, 3 * kind, kind, 9, 7 * kind})
		}
	}
	for line := range byte(10) {
		f.Add(uint8(3), []byte{3, line, 0, 3, line + 1, line}) // empty values
	}
	f.Fuzz(func(t *testing.T, file uint8, steps []byte) {
		text := alteredICal(files[int(file)%len(files)], steps)
		cal := checkICal(t, []byte(text))
		if cal == nil {
			return
		}
		if n := sizeOf(cal); n > 20*len(text)+1000 {
			t.Errorf("%d bytes of texts from %d", n, len(text))
		}
		st := storetest.Migrated(t, storetest.SQLite(t))
		im := &Importer{DB: st.Ent, Site: testSite()}
		if _, err := im.Run(t.Context(), cal); err != nil {
			t.Fatal(err)
		}
		again, err := im.Run(t.Context(), checkICal(t, []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range again.Items {
			if i.Action == Create {
				t.Errorf("created again: %s %s", i.Kind, i.Source)
			}
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
		{"too many blocks", strings.Repeat("BEGIN:VEVENT\n", maxComponents+1), errManyBlocks.Error()},
		{"too many lines", "BEGIN:VEVENT\n" + strings.Repeat("UID\n", maxProperties+1), errManyLines.Error()},
		{"many ends", strings.Repeat("END:VEVENT\nEND:STANDARD\nEND:X\n", many/4), ""},
		{"many categories", vevent("a", "DTSTART:20261201T180000Z", "CATEGORIES:"+strings.Repeat("a,b\\,", many/4)), ""},
		{"many zones", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nEND:STANDARD\nEND:VTIMEZONE\n", 30_000), ""},
		{"a zone of many observances", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nDTSTART:00010101T000000\nTZOFFSETFROM:+0100\n"+
			"TZOFFSETTO:+0200\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\n", 10_000) + vevent("a", "DTSTART;TZID=a:20261201T180000"), ""},
		{"a zone of many changes", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0100\n"+
			"TZOFFSETTO:+0200\nRRULE:FREQ=DAILY\nEND:STANDARD\nEND:VTIMEZONE\n", 10_000) + vevent("a", "DTSTART;TZID=a:20261201T180000"), "more changes of its clock"},
		{"zones with many changes each", strings.Repeat("BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0100\n"+
			"TZOFFSETTO:+0200\nRRULE:FREQ=DAILY;COUNT=100000\nEND:STANDARD\nEND:VTIMEZONE\n", 20_000) + vevent("a", "DTSTART;TZID=a:20261201T180000"), "is unknown"},
		{"coming dates that are all excluded", vevent("a", "DTSTART:20300101T180000Z", "RRULE:FREQ=DAILY;COUNT=1000",
			"EXDATE:"+days("20300101T180000Z", 1000), "RDATE:"+days("20150101T180000Z", 1000)) +
			vevent("a", "RECURRENCE-ID:20140101T180000Z", "DTSTART:20140101T180000Z"), "more than 1000 dates"},
		{"zones of many names", manyZones(3000, "20261201T180000"), "is unknown"},
		{"zones of many names and years", manyZones(1000, "10010101T000000", "99980101T000000"), "is unknown"},
		{"a zone of many dates", "BEGIN:VTIMEZONE\nTZID:a\nBEGIN:STANDARD\nTZOFFSETTO:+0200\nRDATE:" + strings.Repeat("20260101T000000,", many/4) +
			"\nEND:STANDARD\nEND:VTIMEZONE\n" + strings.Repeat(vevent("a", "DTSTART;TZID=a:20261201T180000"), 20_000), "a later version"},
		{"many long series in a zone", strangeZone("a") + manyEvents(100, "DTSTART;TZID=a:10100101T000000", "RRULE:FREQ=DAILY"), "1000 listed dates"},
		{"an unknown zone many times", strings.Repeat(vevent("a", "DTSTART;TZID=Mars:20261201T180000"), 20_000), `"Mars" is unknown`},
		{"a long duration", vevent("a", "DTSTART:90001201T180000Z", "DURATION:P99999W999999DT9999999H"), "DURATION: end outside"},
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
