package when_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/must"
)

// saturday is the now of most tests.
var saturday = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func zone(t testing.TB, name string) calendar.Zone {
	t.Helper()
	z, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	return z
}

// formatDate writes a date in a form that shows its kind: an instant ends with Z.
func formatDate(d when.Date, z calendar.Zone) string {
	if d.IsInstant() {
		return d.Instant(z).Format(calendar.Layout) + "Z"
	}
	return d.Wall(z).String()
}

type row struct{ text, want string }

// checkDates parses each text at now in the zone z and compares the result with the row. An empty want means
// ErrDate.
func checkDates(t *testing.T, now time.Time, z calendar.Zone, rows []row) {
	t.Helper()
	for _, r := range rows {
		got, err := when.Parse(r.text, now, z)
		switch {
		case err != nil && !errors.Is(err, when.ErrDate):
			t.Errorf("Parse(%q): error is not ErrDate: %v", r.text, err)
		case r.want == "" && err == nil:
			t.Errorf("Parse(%q) = %s, want ErrDate", r.text, formatDate(got, z))
		case r.want != "" && err != nil:
			t.Errorf("Parse(%q): %v, want %s", r.text, err, r.want)
		case r.want != "" && formatDate(got, z) != r.want:
			t.Errorf("Parse(%q) = %s, want %s", r.text, formatDate(got, z), r.want)
		}
	}
}

func TestUnixSeconds(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, zone(t, "Europe/Warsaw"), []row{
		{"0", "1970-01-01 00:00:00Z"},
		{"-0", "1970-01-01 00:00:00Z"},
		{"1", "1970-01-01 00:00:01Z"},
		{"-1", "1969-12-31 23:59:59Z"},
		{"007", "1970-01-01 00:00:07Z"},
		{"1796428800", "2026-12-05 00:00:00Z"},
		{" 1796428800\n", "2026-12-05 00:00:00Z"},
		{"00000000000000000000000000000001796428800", "2026-12-05 00:00:00Z"},
		{"2026", "1970-01-01 00:33:46Z"},
		{"20261305", ""}, // is no day
		{"20260230", ""},
		{"@20261305", "1970-08-23 12:08:25Z"},
		{"09991231", "1970-04-26 15:20:31Z"}, // no year of ours
		{"-2026120", "1969-12-08 13:11:20Z"},
		{"4102444800", "2100-01-01 00:00:00Z"},
		{"253402297199", "9999-12-31 22:59:59Z"},
		{"253402297200", ""}, // year 10000 in Warsaw
		{"-30610224000", "1000-01-01 00:00:00Z"},
		{"-30610224001", ""},
		{"99999999999999999999", ""},
		{"-99999999999999999999", ""},
		{"9223372036854775807", ""},
		{"-9223372036854775808", ""},
		{"+5", ""},
		{"--5", ""},
		{"- 5", ""},
		{"-", ""},
		{"1.5", ""},
		{"1e9", ""},
		{"0x10", ""},
		{"1_000", ""},
		{"1 796 428 800", ""},
		{"@1796428800", "2026-12-05 00:00:00Z"},
		{"@-1", "1969-12-31 23:59:59Z"},
		{"@", ""},
		{"@1.5", ""},
		{"١٧٩٦", ""},
	})
}

func TestUnixIsBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sec  int64
		want string
	}{
		{0, "1970-01-01 00:00:00Z"},
		{-1, "1969-12-31 23:59:59Z"},
		{253402300799, "9999-12-31 23:59:59Z"},
		{253402300800, ""},
		{-30610224000, "1000-01-01 00:00:00Z"},
		{-30610224001, ""},
		{1<<63 - 1, ""},
		{-1 << 63, ""},
	}
	for _, test := range tests {
		d, err := when.Unix(test.sec)
		switch {
		case test.want == "" && !errors.Is(err, when.ErrDate):
			t.Errorf("Unix(%d): %v, want ErrDate", test.sec, err)
		case test.want != "" && err != nil:
			t.Errorf("Unix(%d): %v", test.sec, err)
		case test.want != "" && formatDate(d, calendar.UTC()) != test.want:
			t.Errorf("Unix(%d) = %s, want %s", test.sec, formatDate(d, calendar.UTC()), test.want)
		}
	}
}

func TestWrittenOutDatesAreWallTimes(t *testing.T) {
	t.Parallel()
	days := []string{
		"2026-12-05", "2026/12/05", "05.12.2026", "05-12-2026", "12/05/2026", "5 December 2026",
		"December 5, 2026",
		"2026-12-5", "2026/12/5", "5.12.2026", "5-12-2026", "12/5/2026", "05 december 2026",
		"december 05, 2026",
		"5 Dec 2026", "Dec 5, 2026", "DECEMBER 5,2026", "December 5 2026",
	}
	times := []row{
		{"", "00:00:00"},
		{" 18:00", "18:00:00"},
		{" 18:00:07", "18:00:07"},
		{" 18:00:07.999999999", "18:00:07"},
		{"   18:00", "18:00:00"},
		{"\t18:00 ", "18:00:00"},
		{"\u00a018:00", "18:00:00"},
		{" 00:00", "00:00:00"},
		{" 0:00", "00:00:00"},
		{" 9:05", "09:05:00"},
		{" 23:59:59", "23:59:59"},
		{" 6pm", "18:00:00"},
		{" 6PM", "18:00:00"},
		{" 6 pm", "18:00:00"},
		{" 06 pm", "18:00:00"},
		{" 6:30 pm", "18:30:00"},
		{" 6:30pm", "18:30:00"},
		{" 6:30\u202fPM", "18:30:00"},
		{" 6:30:15 pm", "18:30:15"},
		{" 6am", "06:00:00"},
		{" 12am", "00:00:00"},
		{" 12:01 am", "00:01:00"},
		{" 12pm", "12:00:00"},
		{" 12:59 pm", "12:59:00"},
	}
	var rows []row
	for _, day := range days {
		for _, tm := range times {
			rows = append(rows, row{day + tm.text, "2026-12-05 " + tm.want})
		}
	}
	rows = append(rows,
		row{"2026-12-05T18:00:00", "2026-12-05 18:00:00"},
		row{"2026-12-05t18:00:00", "2026-12-05 18:00:00"},
		row{"2026-12-05T18:00", "2026-12-05 18:00:00"},
		row{"2026-12-05T18:00:00.123", "2026-12-05 18:00:00"},
		row{"2026-12-05T23:59:59.999999", "2026-12-05 23:59:59"},
	)
	checkDates(t, saturday, zone(t, "America/New_York"), rows)
}

func TestOffsetMakesAnInstant(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, day := range []string{
		"2026-12-05", "2026/12/05", "05.12.2026", "05-12-2026", "12/05/2026", "5 December 2026",
		"December 5, 2026",
	} {
		rows = append(rows,
			row{day + " Z", "2026-12-05 00:00:00Z"},
			row{day + "Z", "2026-12-05 00:00:00Z"},
			row{day + " UTC", "2026-12-05 00:00:00Z"},
			row{day + " +02:00", "2026-12-04 22:00:00Z"},
			row{day + "+0200", "2026-12-04 22:00:00Z"},
			row{day + "-02:00", "2026-12-05 02:00:00Z"},
			row{day + " 18:00Z", "2026-12-05 18:00:00Z"},
			row{day + " 18:00 utc", "2026-12-05 18:00:00Z"},
			row{day + " 18:00:00+02:00", "2026-12-05 16:00:00Z"},
			row{day + " 18:00:00 +0200", "2026-12-05 16:00:00Z"},
			row{day + " 6:30 pm -05:00", "2026-12-05 23:30:00Z"},
			row{day + " 6pm-0500", "2026-12-05 23:00:00Z"},
			row{day + " 6pmZ", "2026-12-05 18:00:00Z"},
			row{day + " 6pm UTC", "2026-12-05 18:00:00Z"},
			row{day + " 18:00:00.999 -0000", "2026-12-05 18:00:00Z"},
			row{day + " 18:00 +05:45", "2026-12-05 12:15:00Z"},
			row{day + " 18:00 +14:00", "2026-12-05 04:00:00Z"},
			row{day + " 18:00 -14:00", "2026-12-06 08:00:00Z"},
			row{day + " 18:00 +14:01", ""},
			row{day + " 18:00 +15:00", ""},
			row{day + " 18:00 +02:60", ""},
			row{day + " 18:00 +2", ""},
			row{day + " 18:00 +02", ""},
			row{day + " 18:00 +2:00", ""},
			row{day + " 18:00 +02:00:00", ""},
			row{day + " 18:00 +020", ""},
			row{day + " 18:00 +02.00", ""},
			row{day + " 18:00 + 02:00", ""},
			row{day + " 18:00 02:00", ""},
			row{day + " 18:00 +", ""},
			row{day + " 18:00 UTC+2", ""},
			row{day + " 18:00 ZZ", ""},
			row{day + " 18:00 Z Z", ""},
			row{day + " 18:00 CET", ""},
			row{day + " 18:00 Europe/Warsaw", "2026-12-05 17:00:00Z"},
			row{day + " 18:00 america/new_york", "2026-12-05 23:00:00Z"},
			row{day + " 18:00 GMT", "2026-12-05 18:00:00Z"},
			row{day + " 18:00 Poland", ""},
		)
	}
	rows = append(rows,
		row{"2026-12-05T18:00:00Z", "2026-12-05 18:00:00Z"},
		row{"2026-12-05t18:00:00z", "2026-12-05 18:00:00Z"},
		row{"2026-12-05T18:00:00.123456Z", "2026-12-05 18:00:00Z"},
		row{"2026-12-05T18:00:00+02:00", "2026-12-05 16:00:00Z"},
		row{"2026-12-05T18:00:00-0330", "2026-12-05 21:30:00Z"},
		row{"1969-12-31T23:59:59.9Z", "1969-12-31 23:59:59Z"},
	)
	checkDates(t, saturday, zone(t, "Europe/Warsaw"), rows)
}

func TestImpossibleDaysAndTimesAreRefused(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, calendar.UTC(), []row{
		{"2026-02-28", "2026-02-28 00:00:00"},
		{"2026-02-29", ""},
		{"2026-02-30", ""},
		{"2024-02-29", "2024-02-29 00:00:00"},
		{"2000-02-29", "2000-02-29 00:00:00"},
		{"1900-02-29", ""},
		{"2026-04-31", ""},
		{"2026-00-10", ""},
		{"2026-13-10", ""},
		{"2026-12-00", ""},
		{"2026-12-32", ""},
		{"31.04.2026", ""},
		{"12.31.2026", ""}, // the form says day first
		{"31-04-2026", ""},
		{"13/05/2026", ""}, // the form says month first
		{"02/30/2026", ""},
		{"30 February 2026", ""},
		{"February 30, 2026", ""},
		{"0 May 2026", ""},
		{"2026-12-05 24:00", ""},
		{"2026-12-05 24:00:00", ""},
		{"2026-12-05 23:60", ""},
		{"2026-12-05 23:59:60", ""},
		{"2026-12-05 25:00", ""},
		{"2026-12-05 0am", ""},
		{"2026-12-05 0:30 pm", ""},
		{"2026-12-05 13pm", ""},
		{"2026-12-05 18:00 pm", ""},
		{"2026-12-05 18", ""},
		{"2026-12-05 1800", ""},
		{"2026-12-05 180000", ""},
		{"2026-12-05 18:0", ""},
		{"2026-12-05 18:000", ""},
		{"2026-12-05 018:00", ""},
		{"2026-12-05 18:00:0", ""},
		{"2026-12-05 18:00:", ""},
		{"2026-12-05 18:", ""},
		{"2026-12-05 18:00.5", ""},
		{"2026-12-05 18:00:00.", ""},
		{"2026-12-05 18:00:00,5", ""},
		{"2026-12-05 18.00", ""},
		{"2026-12-05 6p", ""},
		{"2026-12-05 6 p m", ""},
		{"2026-12-05 pm", ""},
		{"2026-12-05 18:00 19:00", ""},
		{"2026-12-05T", ""},
		{"2026-12-05TZ", ""},
		{"2026-12-05 T18:00", ""},
		{"2026-12-05T 18:00", ""},
		{"2026-12-05-18:00", ""}, // no clock is that far behind UTC
		{"2026/12/05T18:00", ""},
		{"05.12.2026T18:00", ""},
	})
}

func TestYearsAreFourDigits(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, calendar.UTC(), []row{
		{"1000-01-01", "1000-01-01 00:00:00"},
		{"9999-12-31 23:59:59", "9999-12-31 23:59:59"},
		{"9999-12-31T23:59:59Z", "9999-12-31 23:59:59Z"},
		{"0999-12-31", ""},
		{"0000-01-01", ""},
		{"10000-01-01", ""},
		{"999-01-01", ""},
		{"26-12-05", ""},
		{"05.12.26", ""},
		{"12/05/26", ""},
		{"5 December 26", ""},
		{"5 December 12026", ""},
		{"December 5, 26", ""},
		{"-2026-12-05", ""},
		{"+2026-12-05", ""},
		{"1000-01-01 00:00 +00:01", ""},
		{"9999-12-31 23:59 -00:01", ""},
		{"+7973 years", "9999-11-21 12:00:00"},
		{"+7974 years", ""},
		{"-1026 years", "1000-11-21 12:00:00"},
		{"-1027 years", ""},
		{"+95677 months", "9999-12-21 12:00:00"},
		{"+95678 months", ""},
		{"+999999999 seconds", "2058-07-30 13:46:39Z"},
		{"-999999999 seconds", "1995-03-15 10:13:21Z"},
		{"+999999999 minutes", "3928-03-19 22:39:00Z"},
		{"+999999999 hours", ""},
		{"+999999999 days", ""},
		{"-999999999 days", ""},
		{"+999999999 weeks", ""},
		{"+999999999 months", ""},
		{"+999999999 years", ""},
		{"-999999999 years", ""},
		{"+9999999999 seconds", ""},
		{"+18446744073709551617 days", ""},
		{"first monday of january 9999", "9999-01-04 00:00:00"},
		{"first monday of january 0999", ""},
		{"last friday of december 9999", "9999-12-31 00:00:00"},
		{"first monday of january 10000", ""},
	})
	// A day that exists in the zone but not in UTC could not be answered.
	checkDates(t, saturday, zone(t, "Europe/Warsaw"), []row{
		{"9999-12-31 23:59:59", "9999-12-31 23:59:59"},
		{"1000-01-01", ""},
	})
	checkDates(t, saturday, zone(t, "America/New_York"), []row{
		{"9999-12-31", "9999-12-31 00:00:00"},
		{"9999-12-31 23:59:59", ""},
		{"1000-01-01", "1000-01-01 00:00:00"},
		{"1000-01-01 00:00:00Z", ""},
	})
}

func TestOtherTextsAreRefused(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, text := range []string{
		"", " ", "\t\n", "\u00a0", "x", "-", "+", ".", ",", ":", "/", "date", "null", "true", "NaN", "never",
		"2026-12-", "2026-13", "2026-00", "2026-", "2026/12", "12/2026", "2026-12/05", "2026/12-05", "05.12-2026",
		"05.12.", "2026.12.05",
		"2026-1205", "2026--12-05", "2026-12-05-", "2026-W54", "2026-W00", "2026-W53-8", "2026-366", "2026-000", "20261205T18000", "2026-W4", "W49",
		"20261205T2400", "2026-12T10:00", "2026-12-05T10+1",
		"5 Decembre 2026", "5December2026", "5-Dec-2026", "5. December 2026", "5th December 2026",
		"December 5th, 2026",
		"5 December, 2026", "5 December", "December 5", "December 26", "December 5,, 2026",
		"December 5 , 2026", "Dec. 5, 2026", "Decem 5, 2026",
		"diciembre 5, 2026", "grudnia 5, 2026", "5 grudzień 2026", "5 wrzesień 2026", "5. grudnia 2026",
		"5 grudnia", "grudnia 2026", "grudzień", "5 grudnia, 2026", "5 grudnia 26", "5 grudnia 2026 r.",
		"5 de grudnia de 2026", "5 of December 2026", "5 de December de 2026", "5 of diciembre of 2026",
		"5 de de diciembre de 2026", "5 de diciembre de", "5 diciembre", "de diciembre de 2026", "5 de 2026",
		"5 dicembre 2026", "5 diciembre 20260", "el 5 de diciembre de 2026",
		"31 września 2026", "30 de febrero de 2026", "0 maja 2026", "Śróda 5 grudnia 2026",
		"Fri, 05 Dec 2026 18:00:00 GMT", "Friday 5 December 2026", "2026-12-05 18:00 tomorrow",
		"Sat Dec 05 2026 18:00:00 (CET)", "2026-12-05 18:00 Europe", "2026-12-05 18:00 Europe/Nowhere",
		"'2026-12-05'", "\"2026-12-05\"", "2026-12-05;", "2026-12-05 18:00\x00", "\x00", "2026-12-05\x80",
		"\xff",
		"２０２６-12-05", "2026–12–05", "2026−12−05", "５ days",
		"tоday", "wee\u212a", "next wee\u212a", "tódáy", "tomorrów", "5 Décember 2026", "+3 dáys",
		"n\u0301ow", "\u0301now", "2026-12-05\u0301",
		"18:00", "6pm", "noon 18:00", "noon tomorrow", "nowadays", "now 18:00", "now UTC", "now now", "now-", "now+1 day",
		"teraz 18:00", "ahora 6pm",
		"midnight 18:00", "now noon", "today tomorrow", "tomorrow 18", "tomorrow 24:00",
		"tomorrow 9", "tomorrow at 9am", "tomorrow, 9am",
		"tomorrow9am", "9am tomorrow", "tomorrow 9am UTC", "tomorrow 9am +02:00", "tomorrow Z",
		"tomorrow T18:00", "day after tomorrow",
		"next", "last", "this", "next 18:00", "next next monday", "next mondays", "mondays", "monday next",
		"mo", "tues", "the next monday", "on monday",
		"this day", "this month", "this year", "monday week", "weekend", "monday next weekend", "next days", "next second", "next minute",
		"next hour", "next december", "last 3 days",
		"next today", "first", "first monday", "second monday", "fourth friday 18:00", "first monday of",
		"first monday of next", "second day of next month", "first day of january 27",
		"first monday of next week", "first monday of next year",
		"first monday of month", "first monday of the next month",
		"first monday of january 27", "first monday of 2027", "fifth monday of next month",
		"next monday of next month", "this monday of next month",
		"first day of next week", "first day next month", "first of next month",
		"first monday next month", "1st monday of next month",
		"first monday of january 2027 2028", "first monday of next months", "first monday of styczeń 2027",
		"days", "+days", "+ days", "3.5 days", "1,5 days", "++3 days", "+-3 days", "three days", "a day",
		"+3 fortnights", "+3 sat", "+3 days ago", "-3 days ago", "days ago",
		"+1 week 2 days", "+1 day +1 week", "+3 days 25:00", "in 3 days", "+3 d", "5 min", "+3 dni",
		"3 días", "+3 days today", "today +3 days", "3 days hence",
		"za", "za 3", "za dni", "za -3 dni", "za +3 dni", "za 3 days", "za trzy dni", "za 3 dni 24:00",
		"3 dni", "za poniedziałek", "za tygodnie", "za jutro",
		"w poniedziałek", "następny", "następny monday", "next poniedziałek", "następny tydzień",
		"poniedziałek następny", "zeszły poniedziałek", "pojutrze",
		"en", "en 3", "en días", "en -3 días", "en 3 days", "en 3 dni", "en un", "en dos días", "3 días",
		"el lunes", "próximo", "próximo próximo lunes",
		"próximo lunes próximo", "lunes próximo próximo", "próximo monday", "próximo mes", "próximo año",
		"lunes pasado", "pasado mañana", "next lunes",
		strings.Repeat("9", 129), strings.Repeat(" ", 129), strings.Repeat(" ", 120) + "2026-12-05", strings.Repeat("first monday of ", 20),
	} {
		rows = append(rows, row{text, ""})
	}
	checkDates(t, saturday, calendar.UTC(), rows)
}

func TestDatesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, zone(t, "Europe/Warsaw"), []row{
		{"Tue, 01 Dec 2026 10:00:00 GMT", "2026-12-01 10:00:00Z"}, // HTTP
		{"Tue, 01 Dec 2026 10:00:00 +0100", "2026-12-01 09:00:00Z"},
		{"Wed, 01 Dec 2026 10:00:00 GMT", ""},
		{"Tue Dec 01 2026", "2026-12-01 00:00:00"}, // JavaScript
		{"Tue Dec 01 2026 10:00:00 GMT+0100", "2026-12-01 09:00:00Z"},
		{"Sat Dec 05 2026 18:00:00 GMT+0100 (czas środkowoeuropejski standardowy)", "2026-12-05 17:00:00Z"},
		{"Sat Dec 05 2026 18:00:00 GMT+0900 (日本標準時)", "2026-12-05 09:00:00Z"},
		{"2026-12-05 (日本標準時)", ""},
		{"Tue Dec 01 2026 10:00:00 GMT+0100 (Central European Standard Time)", "2026-12-01 09:00:00Z"},
		{"Tuesday, December 1, 2026 6pm", "2026-12-01 18:00:00"},
		{"20261205", "2026-12-05 00:00:00"}, // iCalendar
		{"20261205T180000", "2026-12-05 18:00:00"},
		{"20261205T180000Z", "2026-12-05 18:00:00Z"},
		{"20261205T1800", "2026-12-05 18:00:00"},
		{"20261205 18:00", "2026-12-05 18:00:00"},
		{"2026-12-01T10", "2026-12-01 10:00:00"}, // PHP
		{"2026-12-01T10Z", "2026-12-01 10:00:00Z"},
		{"2026-12", "2026-12-01 00:00:00"}, // ISO 8601
		{"2026-W49", "2026-11-30 00:00:00"},
		{"2026-W49-6", "2026-12-05 00:00:00"},
		{"2026-W53-7", "2027-01-03 00:00:00"},
		{"2027-W01", "2027-01-04 00:00:00"},
		{"2027-W53", ""},
		{"2026-W49-6T18:00:00", "2026-12-05 18:00:00"},
		{"2026-335", "2026-12-01 00:00:00"},
		{"2028-366", "2028-12-31 00:00:00"},
		{"2026-12-05 Europe/Warsaw", "2026-12-04 23:00:00Z"},
	})
}

func TestPhrasesOfDaysWeeksAndMonths(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, calendar.UTC(), []row{
		{"first day of this month", "2026-11-01 00:00:00"},
		{"last day of this month", "2026-11-30 00:00:00"},
		{"first day of next month", "2026-12-01 00:00:00"},
		{"last day of last month 18:00", "2026-10-31 18:00:00"},
		{"first day of december", "2026-12-01 00:00:00"},
		{"last day of february 2028", "2028-02-29 00:00:00"},
		{"last day", "2026-11-20 12:00:00"},
		{"first monday of last month", "2026-10-05 00:00:00"},
		{"first monday of january", "2026-01-05 00:00:00"},
		{"monday this week", "2026-11-16 00:00:00"},
		{"sunday this week", "2026-11-22 00:00:00"},
		{"monday next week 9am", "2026-11-23 09:00:00"},
		{"fri last week", "2026-11-13 00:00:00"},
		{"this week", "2026-11-16 00:00:00"},
		{"next week", "2026-11-28 12:00:00"},
		{"this weekend", "2026-11-21 00:00:00"},
		{"next weekend", "2026-11-28 00:00:00"},
		{"1 month ago", "2026-10-21 12:00:00"},
		{"3 days ago", "2026-11-18 12:00:00"},
		{"2 hours ago", "2026-11-21 10:00:00Z"},
		{"noon", "2026-11-21 12:00:00"},
		{"tomorrow noon", "2026-11-22 12:00:00"},
		{"friday midnight", "2026-11-27 00:00:00"},
		{"2026-12-05 noon", "2026-12-05 12:00:00"},
		{"December 2026", "2026-12-01 00:00:00"},
		{"december", "2026-12-01 00:00:00"},
		{"feb 2027", "2027-02-01 00:00:00"},
	})
}

func TestAWeekendEndsOnItsSunday(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want, tomorrow string }{
		{"this weekend", "2026-11-22", "2026-11-22"},
		{"next weekend", "2026-11-29", "2026-11-29"},
		{"tomorrow", "2026-11-22", "2026-11-23"},
		{"2026-12-05", "2026-12-05", "2026-12-05"},
	} {
		d, err := when.Parse(test.text, saturday, calendar.UTC())
		must.Succeed(t, err)
		end := d.AsEnd()
		if got := end.AsEnd().Wall(calendar.UTC()).Format(time.DateOnly); got != test.want {
			t.Errorf("%s ends on %s, want %s", test.text, got, test.want)
		}
		if got := end.Again(saturday.AddDate(0, 0, 1), calendar.UTC()).Wall(calendar.UTC()).Format(time.DateOnly); got != test.tomorrow {
			t.Errorf("%s ends on %s when asked tomorrow, want %s", test.text, got, test.tomorrow)
		}
	}
}

func TestWhyATextIsNoDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": when.ErrDate, "soon": when.ErrDate, "2026-12-05 25:00": when.ErrDate, "tomorrow CET": when.ErrDate,
		"2026-02-30": when.ErrDay, "31 april 2026 18:00": when.ErrDay, "2026-13": when.ErrDay, "2026-366": when.ErrDay,
		"Fri, 05 Dec 2026 18:00:00 GMT": when.ErrDay, "0999-01-01": when.ErrDay,
		"2026-12-05 18:00 CET": when.ErrZone, "2026-12-05T18:00 Europe/Nowhere": when.ErrZone,
		"253402300800": when.ErrYear, "+9000 years": when.ErrYear,
	} {
		if _, err := when.Parse(text, saturday, calendar.UTC()); err == nil || err.Error() != want.Error() {
			t.Errorf("Parse(%q): %v, want %v", text, err, want)
		}
	}
}

func TestDateInAnotherZone(t *testing.T) {
	t.Parallel()
	warsaw, tokyo := zone(t, "Europe/Warsaw"), zone(t, "Asia/Tokyo")
	wall := when.FromWall(calendar.WallAt(2026, time.December, 5, 18, 0, 0))
	instant := when.FromInstant(time.Date(2026, time.December, 5, 18, 0, 0, 999, warsaw.Location()))
	tests := []struct {
		name string
		date when.Date
		in   calendar.Zone
		want string
	}{
		{"a wall time shows the same everywhere", wall, tokyo, "2026-12-05 18:00:00 = 2026-12-05 09:00:00 UTC"},
		{"and is a different moment", wall, warsaw, "2026-12-05 18:00:00 = 2026-12-05 17:00:00 UTC"},
		{"an instant is converted", instant, tokyo, "2026-12-06 02:00:00 = 2026-12-05 17:00:00 UTC"},
		{"and stays the same moment", instant, warsaw, "2026-12-05 18:00:00 = 2026-12-05 17:00:00 UTC"},
		{
			"a skipped wall time moves forward", when.FromWall(calendar.WallAt(2026, time.March, 29, 2, 30, 0)), warsaw,
			"2026-03-29 03:30:00 = 2026-03-29 01:30:00 UTC",
		},
		{
			"a doubled one is the first pass", when.FromWall(calendar.WallAt(2026, time.October, 25, 2, 30, 0)), warsaw,
			"2026-10-25 02:30:00 = 2026-10-25 00:30:00 UTC",
		},
	}
	for _, test := range tests {
		at := test.date.Instant(test.in)
		if got := fmt.Sprintf("%s = %s", test.date.Wall(test.in), at.Format(calendar.Layout+" MST")); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if at.Nanosecond() != 0 {
			t.Errorf("%s: %s has a fraction", test.name, at)
		}
	}
}

func TestADayHasNoTimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"today": true, "2026-12-05": true, "friday": true, "this weekend": true,
		"midnight": false, "noon": false, "today midnight": false, "2026-12-05 00:00": false, "now": false, "+3 days": false,
	} {
		d, err := when.Parse(text, saturday, calendar.UTC())
		must.Succeed(t, err)
		if d.DayOnly() != want {
			t.Errorf("%s: DayOnly is %t, want %t", text, d.DayOnly(), want)
		}
	}
}
