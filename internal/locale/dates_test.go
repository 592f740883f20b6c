package locale

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func wall(t *testing.T, text string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(text + ":00")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestDatesAreThoseOfCLDR compares with texts of CLDR 48, with plain spaces. The script .ci/dates compares many more
// with those of Node.
func TestDatesAreThoseOfCLDR(t *testing.T) {
	t.Parallel()
	at := wall(t, "2026-11-22 18:05")
	morning := wall(t, "2026-11-22 09:00")
	evening := wall(t, "2026-11-22 20:00")
	later := wall(t, "2026-11-24 20:00")
	nextMonth := wall(t, "2026-12-02 00:00")
	nextYear := wall(t, "2027-01-02 00:00")
	for _, test := range []struct {
		name                  string
		write                 func(Dates) string
		en, british, pl, span string
	}{
		{
			"long", func(d Dates) string { return d.Date(LongDate, at) },
			"November 22, 2026", "22 November 2026", "22 listopada 2026", "22 de noviembre de 2026",
		},
		{
			"full", func(d Dates) string { return d.Date(FullDate, at) },
			"Sunday, November 22, 2026", "Sunday, 22 November 2026", "niedziela, 22 listopada 2026", "domingo, 22 de noviembre de 2026",
		},
		{
			"medium", func(d Dates) string { return d.Date(MediumDate, at) },
			"Nov 22, 2026", "22 Nov 2026", "22 lis 2026", "22 nov 2026",
		},
		{
			"short with its weekday", func(d Dates) string { return d.Date(ShortWeekdayDay, at) },
			"Sun, Nov 22", "Sun 22 Nov", "niedz., 22 lis", "dom, 22 nov",
		},
		{
			"month", func(d Dates) string { return d.Date(Month, at) },
			"November 2026", "November 2026", "listopad 2026", "noviembre de 2026",
		},
		{
			"a day as a range", func(d Dates) string { return d.DateRange(LongDate, morning, evening) },
			"November 22, 2026", "22 November 2026", "22 listopada 2026", "22 de noviembre de 2026",
		},
		{
			"within a month", func(d Dates) string { return d.DateRange(LongDate, at, later) },
			"November 22 – 24, 2026", "22 – 24 November 2026", "22–24 listopada 2026", "22–24 de noviembre de 2026",
		},
		{
			"within a year", func(d Dates) string { return d.DateRange(Day, at, nextMonth) },
			"November 22 – December 2", "22 November – 2 December", "22 listopada – 2 grudnia", "22 de noviembre – 2 de diciembre",
		},
		{
			"beyond a year", func(d Dates) string { return d.DateRange(ShortDay, at, nextYear) },
			"Nov 22, 2026 – Jan 2, 2027", "22 Nov 2026 – 2 Jan 2027", "22 lis 2026–2 sty 2027", "22 nov 2026 – 2 ene 2027",
		},
		{
			"time", func(d Dates) string { return d.Time(morning) },
			"9:00 AM", "09:00", "09:00", "9:00",
		},
		{
			"midnight", func(d Dates) string { return d.Time(nextYear) },
			"12:00 AM", "00:00", "00:00", "0:00",
		},
		{
			"times of an evening", func(d Dates) string { return d.TimeRange(at, evening) },
			"6:05 – 8:00 PM", "18:05–20:00", "18:05–20:00", "18:05–20:00",
		},
		{
			"times of a day", func(d Dates) string { return d.TimeRange(morning, evening) },
			"9:00 AM – 8:00 PM", "09:00–20:00", "09:00–20:00", "9:00–20:00",
		},
		{
			"times on a clock of twelve hours", func(d Dates) string { return d.With(Clock12).TimeRange(at, evening) },
			"6:05 – 8:00 PM", "6:05 – 8:00 pm", "6:05–8:00 PM", "6:05 – 8:00 p. m.",
		},
		{
			"times on a clock of 24 hours", func(d Dates) string { return d.With(Clock24).TimeRange(morning, evening) },
			"09:00 – 20:00", "09:00–20:00", "09:00–20:00", "9:00–20:00",
		},
		{
			"day and time", func(d Dates) string { return d.DateTime(LongDate, at) },
			"November 22, 2026 at 6:05 PM", "22 November 2026 at 18:05", "22 listopada 2026 18:05", "22 de noviembre de 2026 a las 18:05",
		},
		{
			"an evening", func(d Dates) string { return d.DateTimeRange(WeekdayDay, at, evening) },
			"Sunday, November 22, 6:05 – 8:00 PM", "Sunday 22 November, 18:05–20:00",
			"niedziela, 22 listopada, 18:05–20:00", "domingo, 22 de noviembre, 18:05–20:00",
		},
		{
			"an event without a length", func(d Dates) string { return d.DateTimeRange(MediumDate, at, at) },
			"Nov 22, 2026, 6:05 PM", "22 Nov 2026, 18:05", "22 lis 2026, 18:05", "22 nov 2026, 18:05",
		},
		{
			"several days", func(d Dates) string { return d.DateTimeRange(MediumDate, at, later) },
			"Nov 22, 2026, 6:05 PM – Nov 24, 2026, 8:00 PM", "22 Nov 2026, 18:05 – 24 Nov 2026, 20:00",
			"22 lis 2026, 18:05 – 24 lis 2026, 20:00", "22 nov 2026, 18:05 – 24 nov 2026, 20:00",
		},
		{
			"names", func(d Dates) string {
				return d.ShortMonthName(9) + " " + d.WeekdayName(3) + " " + d.ShortWeekdayName(3)
			},
			"Sep Wednesday Wed", "Sept Wednesday Wed", "wrz środa śr.", "sept miércoles mié",
		},
		{
			"words for days", func(d Dates) string {
				return d.RelativeDay(-1) + " " + d.RelativeDay(0) + " " + d.RelativeDay(1) + d.RelativeDay(2) + d.RelativeDay(-2)
			},
			"yesterday today tomorrow", "yesterday today tomorrow", "wczoraj dzisiaj jutro", "ayer hoy mañana",
		},
		{"a small number", func(d Dates) string { return d.Number(1234) }, "1,234", "1,234", "1234", "1234"},
		{"a large number", func(d Dates) string { return d.Number(-1234567) }, "-1,234,567", "-1,234,567", "-1 234 567", "-1.234.567"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, language := range []struct {
				dates Dates
				want  string
			}{
				{DatesIn(calendar.English, American), test.en},
				{DatesIn(calendar.English, British), test.british},
				{DatesIn(calendar.Polish, American), test.pl},
				{DatesIn(calendar.Spanish, British), test.span},
				{DatesIn("de", ""), test.en},
			} {
				got := strings.NewReplacer("\u2009", " ", "\u202f", " ", "\u00a0", " ").Replace(test.write(language.dates))
				if got != language.want {
					t.Errorf("%q, want %q", got, language.want)
				}
			}
		})
	}
}
