package when_test

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestEnglishWords(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday.Add(999*time.Millisecond), calendar.UTC(), []row{
		{"now", "2026-11-21 12:00:00Z"},
		{"NOW", "2026-11-21 12:00:00Z"},
		{"  Now\t", "2026-11-21 12:00:00Z"},
		{"today", "2026-11-21 00:00:00"},
		{"midnight", "2026-11-21 00:00:00"},
		{"tomorrow", "2026-11-22 00:00:00"},
		{"yesterday", "2026-11-20 00:00:00"},
		{"today 18:00", "2026-11-21 18:00:00"},
		{"today 00:00", "2026-11-21 00:00:00"},
		{"tomorrow 9am", "2026-11-22 09:00:00"},
		{"Tomorrow  9  AM", "2026-11-22 09:00:00"},
		{"tomorrow 18:00:30.5", "2026-11-22 18:00:30"},
		{"yesterday 6:30 pm", "2026-11-20 18:30:00"},

		{"saturday", "2026-11-21 00:00:00"},
		{"sunday", "2026-11-22 00:00:00"},
		{"monday", "2026-11-23 00:00:00"},
		{"tuesday", "2026-11-24 00:00:00"},
		{"wednesday", "2026-11-25 00:00:00"},
		{"thursday", "2026-11-26 00:00:00"},
		{"friday", "2026-11-27 00:00:00"},
		{"sat", "2026-11-21 00:00:00"},
		{"sun", "2026-11-22 00:00:00"},
		{"mon", "2026-11-23 00:00:00"},
		{"tue", "2026-11-24 00:00:00"},
		{"wed", "2026-11-25 00:00:00"},
		{"thu", "2026-11-26 00:00:00"},
		{"fri", "2026-11-27 00:00:00"},
		{"saturday 11:59", "2026-11-21 11:59:00"},
		{"Friday 6 pm", "2026-11-27 18:00:00"},

		{"this saturday", "2026-11-21 00:00:00"},
		{"this sunday", "2026-11-22 00:00:00"},
		{"this friday", "2026-11-27 00:00:00"},
		{"this fri 18:00", "2026-11-27 18:00:00"},
		{"next saturday", "2026-11-28 00:00:00"},
		{"next sunday", "2026-11-22 00:00:00"},
		{"next friday", "2026-11-27 00:00:00"},
		{"next wednesday 4pm", "2026-11-25 16:00:00"},
		{"next sat 23:59:59", "2026-11-28 23:59:59"},
		{"last saturday", "2026-11-14 00:00:00"},
		{"last sunday", "2026-11-15 00:00:00"},
		{"last friday", "2026-11-20 00:00:00"},
		{"last fri 8:15", "2026-11-20 08:15:00"},

		{"next day", "2026-11-22 12:00:00"},
		{"last day", "2026-11-20 12:00:00"},
		{"next week", "2026-11-28 12:00:00"},
		{"last week", "2026-11-14 12:00:00"},
		{"next month", "2026-12-21 12:00:00"},
		{"last month", "2026-10-21 12:00:00"},
		{"next year", "2027-11-21 12:00:00"},
		{"last year", "2025-11-21 12:00:00"},
		{"next week 9am", "2026-11-28 09:00:00"},

		{"first tuesday of this month", "2026-11-03 00:00:00"},
		{"first sunday of this month", "2026-11-01 00:00:00"},
		{"second sunday of this month", "2026-11-08 00:00:00"},
		{"fourth saturday of this month", "2026-11-28 00:00:00"},
		{"last monday of this month", "2026-11-30 00:00:00"},
		{"last sunday of this month", "2026-11-29 00:00:00"},
		{"first tuesday of next month", "2026-12-01 00:00:00"},
		{"first monday of next month", "2026-12-07 00:00:00"},
		{"second wednesday of next month", "2026-12-09 00:00:00"},
		{"third thursday of next month", "2026-12-17 00:00:00"},
		{"fourth friday of next month", "2026-12-25 00:00:00"},
		{"last thursday of next month", "2026-12-31 00:00:00"},
		{"last fri of next month 6pm", "2026-12-25 18:00:00"},
		{"first monday of january 2027", "2027-01-04 00:00:00"},
		{"third tue of Feb 2027 18:00", "2027-02-16 18:00:00"},
		{"last sunday of february 2028", "2028-02-27 00:00:00"},
		{"last tuesday of february 2028", "2028-02-29 00:00:00"},
		{"second second of january 2027", ""},
		{"last sunday of october 1999", "1999-10-31 00:00:00"},
	})
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday.Add(999*time.Millisecond), calendar.UTC(), []row{
		{"+3 days", "2026-11-24 12:00:00"},
		{"3 days", "2026-11-24 12:00:00"},
		{"-2 weeks", "2026-11-07 12:00:00"},
		{"1 month", "2026-12-21 12:00:00"},
		{"+1 day", "2026-11-22 12:00:00"},
		{"+1 days", "2026-11-22 12:00:00"},
		{"-1 day", "2026-11-20 12:00:00"},
		{"+1 week", "2026-11-28 12:00:00"},
		{"-1 month", "2026-10-21 12:00:00"},
		{"+14 months", "2028-01-21 12:00:00"},
		{"-11 months", "2025-12-21 12:00:00"},
		{"+1 year", "2027-11-21 12:00:00"},
		{"-10 years", "2016-11-21 12:00:00"},
		{"+1 second", "2026-11-21 12:00:01Z"},
		{"-90 seconds", "2026-11-21 11:58:30Z"},
		{"30 minutes", "2026-11-21 12:30:00Z"},
		{"-1 minute", "2026-11-21 11:59:00Z"},
		{"+1 hour", "2026-11-21 13:00:00Z"},
		{"+48 hours", "2026-11-23 12:00:00Z"},
		{"2592000 seconds", "2026-12-21 12:00:00Z"},
		{"+3days", "2026-11-24 12:00:00"},
		{"+ 3 days", "2026-11-24 12:00:00"},
		{"- 3 DAYS", "2026-11-18 12:00:00"},
		{" 3  days", "2026-11-24 12:00:00"}, // +3 days in a query whose plus was not escaped
		{"+003 days", "2026-11-24 12:00:00"},
		{"+0 seconds", "2026-11-21 12:00:00Z"},
		{"+0 days", "2026-11-21 12:00:00Z"},
		{"-0 months", "2026-11-21 12:00:00Z"},
		{"+0 days 18:00", "2026-11-21 18:00:00"},
		{"+5 days 11am", "2026-11-26 11:00:00"},
		{"+5 days 11:30", "2026-11-26 11:30:00"},
		{"1 month 6:30 pm", "2026-12-21 18:30:00"},
		{"-2 weeks 00:00", "2026-11-07 00:00:00"},
		{"+14 hours 6am", "2026-11-22 06:00:00"},
	})
}

func TestMonthsStopAtTheirLastDay(t *testing.T) {
	t.Parallel()
	tests := []struct{ now, text, want string }{
		{"2027-01-31", "+1 month", "2027-02-28"},
		{"2028-01-31", "+1 month", "2028-02-29"},
		{"2027-01-31", "next month", "2027-02-28"},
		{"2027-01-31", "+2 months", "2027-03-31"},
		{"2027-01-31", "+3 months", "2027-04-30"},
		{"2027-03-31", "last month", "2027-02-28"},
		{"2027-03-31", "-1 month", "2027-02-28"},
		{"2027-03-31", "-13 months", "2026-02-28"},
		{"2026-12-31", "+2 months", "2027-02-28"},
		{"2028-02-29", "+1 year", "2029-02-28"},
		{"2028-02-29", "next year", "2029-02-28"},
		{"2028-02-29", "last year", "2027-02-28"},
		{"2028-02-29", "+4 years", "2032-02-29"},
		{"2027-01-31", "za miesiąc", "2027-02-28"},
		{"2027-01-31", "en 1 mes", "2027-02-28"},
		{"2027-01-31", "+1 day", "2027-02-01"},
		{"2027-01-31", "first monday of next month", "2027-02-01"},
	}
	for _, test := range tests {
		now, err := time.Parse(time.DateOnly, test.now)
		must.Succeed(t, err)
		d, err := when.Parse(test.text, now, calendar.UTC())
		if err != nil {
			t.Errorf("%s of %s: %v", test.text, test.now, err)
		} else if got := d.Wall(calendar.UTC()).Format(time.DateOnly); got != test.want {
			t.Errorf("%s of %s = %s, want %s", test.text, test.now, got, test.want)
		}
	}
}

// TestWeekdaysFromEveryDay parses weekdays on each day of a week. "Friday" and "this friday" may be today, "next
// friday" and "last friday" may not.
func TestWeekdaysFromEveryDay(t *testing.T) {
	t.Parallel()
	for today := range 7 {
		now := saturday.AddDate(0, 0, today)
		for ahead := range 7 {
			name := now.AddDate(0, 0, ahead).Weekday().String()
			next, last := ahead, ahead-7
			if ahead == 0 {
				next = 7
			}
			want := func(days int) string { return now.AddDate(0, 0, days).Format(time.DateOnly) + " 00:00:00" }
			checkDates(t, now, calendar.UTC(), []row{
				{name, want(ahead)},
				{"this " + name, want(ahead)},
				{"next " + name, want(next)},
				{"last " + name, want(last)},
				{"next " + name[:3], want(next)},
			})
		}
	}
}

func TestPolishWords(t *testing.T) {
	t.Parallel()
	rows := []row{
		{"teraz", "2026-11-21 12:00:00Z"},
		{"dziś", "2026-11-21 00:00:00"},
		{"dzis", "2026-11-21 00:00:00"},
		{"DZIŚ", "2026-11-21 00:00:00"},
		{"dzis\u0301", "2026-11-21 00:00:00"}, // decomposed
		{"dzisiaj", "2026-11-21 00:00:00"},
		{"jutro", "2026-11-22 00:00:00"},
		{"wczoraj", "2026-11-20 00:00:00"},
		{"jutro 18:00", "2026-11-22 18:00:00"},
		{"dziś 6pm", "2026-11-21 18:00:00"},
		{"sobota", "2026-11-21 00:00:00"},
		{"sobotę", "2026-11-21 00:00:00"},
		{"sobote", "2026-11-21 00:00:00"},
		{"niedziela", "2026-11-22 00:00:00"},
		{"niedzielę", "2026-11-22 00:00:00"},
		{"poniedziałek", "2026-11-23 00:00:00"},
		{"poniedzialek", "2026-11-23 00:00:00"},
		{"Poniedziałek 9:00", "2026-11-23 09:00:00"},
		{"PONIEDZIAŁEK", "2026-11-23 00:00:00"},
		{"wtorek", "2026-11-24 00:00:00"},
		{"środa", "2026-11-25 00:00:00"},
		{"sroda", "2026-11-25 00:00:00"},
		{"ŚRODĘ", "2026-11-25 00:00:00"},
		{"czwartek", "2026-11-26 00:00:00"},
		{"piątek", "2026-11-27 00:00:00"},
		{"pia\u0328tek", "2026-11-27 00:00:00"},
		{"piatek", "2026-11-27 00:00:00"},
		{"następna środa 18:30", "2026-11-25 18:30:00"},
		{"najbliz\u0307szy piątek", "2026-11-27 00:00:00"},
		{"następny środa", "2026-11-25 00:00:00"},
		{"za 3 dni", "2026-11-24 12:00:00"},
		{"Za 3 dni 18:00", "2026-11-24 18:00:00"},
		{"za 0 dni", "2026-11-21 12:00:00Z"},
	}
	for adjective, weekdays := range map[string][]row{
		"y": {{"poniedziałek", "23"}, {"wtorek", "24"}, {"czwartek", "26"}, {"piątek", "27"}},
		"a": {{"środa", "25"}, {"sobota", "28"}, {"niedziela", "22"}},
		"ą": {{"środę", "25"}, {"sobotę", "28"}, {"niedzielę", "22"}},
	} {
		for _, w := range weekdays {
			for _, stem := range []string{"następn", "nastepn", "przyszł", "przyszl", "najbliższ", "najblizsz"} {
				rows = append(rows, row{stem + adjective + " " + w.text, "2026-11-" + w.want + " 00:00:00"})
			}
		}
	}
	for _, u := range []struct {
		singular, few, many string
		one, two, five      string
	}{
		{"sekundę", "sekundy", "sekund", "21 12:00:01Z", "21 12:00:02Z", "21 12:00:05Z"},
		{"minutę", "minuty", "minut", "21 12:01:00Z", "21 12:02:00Z", "21 12:05:00Z"},
		{"godzinę", "godziny", "godzin", "21 13:00:00Z", "21 14:00:00Z", "21 17:00:00Z"},
		{"dzień", "dni", "dni", "22 12:00:00", "23 12:00:00", "26 12:00:00"},
	} {
		rows = append(rows,
			row{"za " + u.singular, "2026-11-" + u.one},
			row{"za 1 " + u.singular, "2026-11-" + u.one},
			row{"za 2 " + u.few, "2026-11-" + u.two},
			row{"za 5 " + u.many, "2026-11-" + u.five},
		)
	}
	rows = append(rows,
		row{"za tydzień", "2026-11-28 12:00:00"},
		row{"za tydzien 10:00", "2026-11-28 10:00:00"},
		row{"za 2 tygodnie", "2026-12-05 12:00:00"},
		row{"za 5 tygodni", "2026-12-26 12:00:00"},
		row{"za miesiąc", "2026-12-21 12:00:00"},
		row{"za 2 miesiące", "2027-01-21 12:00:00"},
		row{"za 5 miesięcy", "2027-04-21 12:00:00"},
		row{"za 5 miesiecy", "2027-04-21 12:00:00"},
		row{"za rok", "2027-11-21 12:00:00"},
		row{"za 2 lata", "2028-11-21 12:00:00"},
		row{"za 5 lat", "2031-11-21 12:00:00"},
		row{"za 999999999 lat", ""},
	)
	checkDates(t, saturday, calendar.UTC(), rows)
}

func TestSpanishWords(t *testing.T) {
	t.Parallel()
	rows := []row{
		{"ahora", "2026-11-21 12:00:00Z"},
		{"hoy", "2026-11-21 00:00:00"},
		{"mañana", "2026-11-22 00:00:00"},
		{"manana", "2026-11-22 00:00:00"},
		{"MAÑANA", "2026-11-22 00:00:00"},
		{"man\u0303ana", "2026-11-22 00:00:00"}, // decomposed
		{"ayer", "2026-11-20 00:00:00"},
		{"mañana 18:00", "2026-11-22 18:00:00"},
		{"hoy 6:30 pm", "2026-11-21 18:30:00"},
		{"sábado", "2026-11-21 00:00:00"},
		{"sábado 20:00", "2026-11-21 20:00:00"},
		{"próximo lunes 18:00", "2026-11-23 18:00:00"},
		{"lunes próximo 18:00", "2026-11-23 18:00:00"},
		{"lunes 18:00", "2026-11-23 18:00:00"},
		{"en 3 días", "2026-11-24 12:00:00"},
		{"en 3 dias", "2026-11-24 12:00:00"},
		{"En 3 DÍAS", "2026-11-24 12:00:00"},
		{"en 1 día", "2026-11-22 12:00:00"},
		{"en un día", "2026-11-22 12:00:00"},
		{"en 3 días 18:00", "2026-11-24 18:00:00"},
		{"en 10 segundos", "2026-11-21 12:00:10Z"},
		{"en 1 segundo", "2026-11-21 12:00:01Z"},
		{"en 10 minutos", "2026-11-21 12:10:00Z"},
		{"en un minuto", "2026-11-21 12:01:00Z"},
		{"en 2 horas", "2026-11-21 14:00:00Z"},
		{"en una hora", "2026-11-21 13:00:00Z"},
		{"en 2 semanas", "2026-12-05 12:00:00"},
		{"en una semana", "2026-11-28 12:00:00"},
		{"en 2 meses", "2027-01-21 12:00:00"},
		{"en un mes 9:00", "2026-12-21 09:00:00"},
		{"en 2 años", "2028-11-21 12:00:00"},
		{"en 2 anos", "2028-11-21 12:00:00"},
		{"en 1 año", "2027-11-21 12:00:00"},
		{"en 999999999 años", ""},
	}
	for _, w := range []struct{ name, bare, next string }{
		{"lunes", "23", "23"},
		{"martes", "24", "24"},
		{"miércoles", "25", "25"},
		{"miercoles", "25", "25"},
		{"jueves", "26", "26"},
		{"viernes", "27", "27"},
		{"sábado", "21", "28"},
		{"sabado", "21", "28"},
		{"domingo", "22", "22"},
	} {
		rows = append(rows, row{w.name, "2026-11-" + w.bare + " 00:00:00"})
		for _, step := range []string{"próximo", "proximo", "PRÓXIMO", "próxima"} {
			rows = append(rows,
				row{step + " " + w.name, "2026-11-" + w.next + " 00:00:00"},
				row{w.name + " " + step, "2026-11-" + w.next + " 00:00:00"},
			)
		}
	}
	checkDates(t, saturday, calendar.UTC(), rows)
}

func TestTodayIsTheDayInTheZone(t *testing.T) {
	t.Parallel()
	// 12:00 UTC is 02:00 of Sunday the 22nd on Kiritimati, and 07:00 of Saturday in New York.
	checkDates(t, saturday, zone(t, "Pacific/Kiritimati"), []row{
		{"now", "2026-11-21 12:00:00Z"},
		{"today", "2026-11-22 00:00:00"},
		{"tomorrow", "2026-11-23 00:00:00"},
		{"sunday", "2026-11-22 00:00:00"},
		{"next sunday", "2026-11-29 00:00:00"},
		{"saturday", "2026-11-28 00:00:00"},
		{"last saturday", "2026-11-21 00:00:00"},
		{"+1 day", "2026-11-23 02:00:00"},
		{"+1 hour", "2026-11-21 13:00:00Z"},
		{"+1 hour 9am", "2026-11-22 09:00:00"},
		{"2026-12-05 18:00", "2026-12-05 18:00:00"},
	})
	checkDates(t, saturday, zone(t, "America/New_York"), []row{
		{"today", "2026-11-21 00:00:00"},
		{"next month", "2026-12-21 07:00:00"},
		{"-1 month", "2026-10-21 07:00:00"}, // over the end of summer time: the clock counts, not the hours
		{"jutro 18:00", "2026-11-22 18:00:00"},
	})
	checkDates(t, time.Date(2026, time.November, 30, 23, 30, 0, 0, time.UTC), zone(t, "Europe/Warsaw"), []row{
		{"first monday of this month", "2026-12-07 00:00:00"},
		{"first monday of next month", "2027-01-04 00:00:00"},
	})
}

func TestDaysOnWhichTheClockChanges(t *testing.T) {
	t.Parallel()
	warsaw := zone(t, "Europe/Warsaw")
	tests := []struct {
		name, now, text, in, want string
	}{
		{"tomorrow has 23 hours", "2026-03-28T12:00:00Z", "tomorrow", "Europe/Warsaw", "2026-03-29 00:00:00 +0100"},
		{"a day keeps the clock", "2026-03-28T12:00:00Z", "+1 day", "Europe/Warsaw", "2026-03-29 13:00:00 +0200"},
		{"24 hours do not", "2026-03-28T12:00:00Z", "+24 hours", "Europe/Warsaw", "2026-03-29 14:00:00 +0200"},
		{"into the gap", "2026-03-28T12:00:00Z", "tomorrow 2:30", "Europe/Warsaw", "2026-03-29 03:30:00 +0200"},
		{"a day into the gap", "2026-03-28T01:30:00Z", "+1 day", "Europe/Warsaw", "2026-03-29 03:30:00 +0200"},
		{"a week into the gap", "2026-03-22T01:30:00Z", "next week", "Europe/Warsaw", "2026-03-29 03:30:00 +0200"},
		{"written into the gap", "2026-03-22T01:30:00Z", "2026-03-29 02:00", "Europe/Warsaw", "2026-03-29 03:00:00 +0200"},
		{"an hour over the gap", "2026-03-29T00:30:00Z", "+1 hour", "Europe/Warsaw", "2026-03-29 03:30:00 +0200"},
		{"an hour within the doubled one", "2026-10-25T00:30:00Z", "+1 hour", "Europe/Warsaw", "2026-10-25 02:30:00 +0100"},
		{"now in the first pass", "2026-10-25T00:30:00Z", "now", "Europe/Warsaw", "2026-10-25 02:30:00 +0200"},
		{"now in the second pass", "2026-10-25T01:30:00Z", "now", "Europe/Warsaw", "2026-10-25 02:30:00 +0100"},
		{"no days from the second pass", "2026-10-25T01:30:00Z", "+0 days", "Europe/Warsaw", "2026-10-25 02:30:00 +0100"},
		{"no seconds from the second pass", "2026-10-25T01:30:00Z", "+0 seconds", "Europe/Warsaw", "2026-10-25 02:30:00 +0100"},
		{"a minute from the second pass", "2026-10-25T01:30:00Z", "1 minute", "Europe/Warsaw", "2026-10-25 02:31:00 +0100"},
		{"today in the second pass", "2026-10-25T01:30:00Z", "today", "Europe/Warsaw", "2026-10-25 00:00:00 +0200"},
		{"a day from the second pass", "2026-10-25T01:30:00Z", "+1 day", "Europe/Warsaw", "2026-10-26 02:30:00 +0100"},
		{"a day into the doubled hour", "2026-10-24T00:30:00Z", "+1 day", "Europe/Warsaw", "2026-10-25 02:30:00 +0200"},
		{"written in the doubled hour", "2026-10-24T00:30:00Z", "2026-10-25 02:30", "Europe/Warsaw", "2026-10-25 02:30:00 +0200"},
		{"the second pass, written", "2026-10-24T00:30:00Z", "2026-10-25 02:30:00+01:00", "Europe/Warsaw", "2026-10-25 02:30:00 +0100"},
		{"a day without midnight", "2026-09-05T12:00:00Z", "tomorrow", "America/Santiago", "2026-09-06 01:00:00 -0300"},
		{"a day without midnight, with a time", "2026-09-05T12:00:00Z", "tomorrow 9am", "America/Santiago", "2026-09-06 09:00:00 -0300"},
		{"a gap of half an hour", "2026-10-03T12:00:00Z", "tomorrow 2:15", "Australia/Lord_Howe", "2026-10-04 02:45:00 +1100"},
		{"yesterday had 25 hours", "2026-10-26T12:00:00Z", "yesterday", "Europe/Warsaw", "2026-10-25 00:00:00 +0200"},
	}
	for _, test := range tests {
		now, err := time.Parse(time.RFC3339, test.now)
		must.Succeed(t, err)
		z := warsaw
		if test.in != z.String() {
			z = zone(t, test.in)
		}
		d, err := when.Parse(test.text, now, z)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		at := d.Instant(z).In(z.Location())
		if got := at.Format(calendar.Layout + " -0700"); got != test.want {
			t.Errorf("%s: %q at %s = %s, want %s", test.name, test.text, test.now, got, test.want)
		}
		if got := d.Wall(z).String(); got != test.want[:len(calendar.Layout)] {
			t.Errorf("%s: wall time %s, want %s", test.name, got, test.want)
		}
	}
}
