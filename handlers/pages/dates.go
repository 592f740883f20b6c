package pages

import (
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/web"
)

// pageDates formats dates as calendar pages show them.
type pageDates struct{ locale.Dates }

func (d pageDates) full(w calendar.Wall) string  { return d.Date(locale.FullDate, w) }
func (d pageDates) short(w calendar.Wall) string { return d.Date(locale.ShortWeekdayDay, w) }

// near formats a date in short form. It adds the year if that differs from the year of day.
func (d pageDates) near(w, day calendar.Wall) string {
	year, _, _ := w.Date()
	if other, _, _ := day.Date(); year != other {
		return d.Date(locale.MediumDate, w)
	}
	return d.short(w)
}

// dayMonth formats a date as day and month. It adds the year if that differs from the year of day.
func (d pageDates) dayMonth(w, day calendar.Wall) string {
	year, _, _ := w.Date()
	if other, _, _ := day.Date(); year != other {
		return d.Date(locale.LongDate, w)
	}
	return d.Date(locale.Day, w)
}

// besideDay formats month and year for a place next to the number of the day. Some languages inflect the month
// there: Polish has "listopada 2026" instead of "listopad 2026".
func (d pageDates) besideDay(w calendar.Wall) string {
	text := strings.Replace(d.Date(locale.LongDate, w), strconv.Itoa(dayNumber(w)), "", 1)
	return strings.TrimSpace(strings.Replace(text, " ,", "", 1))
}

func (d pageDates) monthYear(w calendar.Wall) string { return d.Date(locale.Month, w) }

func (d pageDates) monthShort(w calendar.Wall) string {
	_, month, _ := w.Date()
	return d.ShortMonthName(month)
}

// span formats the time of an event from start to end. The day last is the last one to show, which may be before
// the day of end. If allDay is true, it formats days without times.
func (d pageDates) span(start, end, last calendar.Wall, allDay bool) string {
	switch {
	case allDay:
		return d.DateRange(locale.FullDate, start, last)
	case last.Equal(start.StartOfDay()) && !end.StartOfDay().Equal(last):
		return d.Date(locale.FullDate, start) + ", " + d.Time(start) + "\u2009–\u2009" + d.Time(end)
	}
	return d.DateTimeRange(locale.FullDate, start, end)
}

// pluralNames maps CLDR plural categories to the keys of web.Plural.
var pluralNames = map[plural.Form]string{
	plural.Other: "other", plural.One: "one", plural.Few: "few", plural.Many: "many",
}

// pluralOf returns the sentence in forms that fits the number n, with the number filled in.
func (r *request) pluralOf(forms web.Plural, n int) string {
	form := plural.Cardinal.MatchPlural(language.Make(string(r.Language)), n, 0, 0, 0, 0)
	text, ok := forms[pluralNames[form]]
	if !ok {
		text = forms["other"]
	}
	return strings.ReplaceAll(text, "{n}", r.dates.Number(n))
}
