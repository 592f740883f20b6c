package locale

import (
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Dates writes dates, times and numbers in one language as CLDR does. They are compared with Node's Intl for every
// day of five years (.ci/dates). No method names a zone.
type Dates struct{ words *dateWords }

// DatesIn returns the dates of a language; english chooses those of an unknown one and of English.
func DatesIn(lang calendar.Language, english EnglishDates) Dates {
	switch {
	case lang == calendar.Polish:
		return Dates{&polishDates}
	case lang == calendar.Spanish:
		return Dates{&spanishDates}
	case english == British:
		return Dates{&britishDates}
	}
	return Dates{&englishDates}
}

// EnglishDates is a way to write dates in English, as a BCP 47 tag.
type EnglishDates string

// The ways to write dates in English.
const (
	American EnglishDates = "en"    // November 22, 2026; the zero value means the same
	British  EnglishDates = "en-GB" // 22 November 2026
)

// DateStyle is a way to write a day or a month.
type DateStyle int

// The styles, as CLDR 48 writes them in English.
const (
	LongDate        DateStyle = iota // November 22, 2026
	FullDate                         // Sunday, November 22, 2026
	MediumDate                       // Nov 22, 2026
	Day                              // November 22
	WeekdayDay                       // Sunday, November 22
	ShortDay                         // Nov 22
	ShortWeekdayDay                  // Sun, Nov 22
	Month                            // November 2026
	dateStyles
)

// datePatterns are the patterns of a style: of one date, and of ranges within a month, a year, and beyond a year.
type datePatterns struct{ one, month, year, years string }

// timePatterns are the patterns of times: of one, and of ranges within half a day and beyond.
type timePatterns struct{ one, half, halves string }

// dateWords are the words and patterns of a language.
type dateWords struct {
	months        [12]string // in a date
	headMonths    [12]string // alone or with a year
	shortMonths   [12]string
	weekdays      [7]string // by time.Weekday
	shortWeekdays [7]string
	dates         [dateStyles]datePatterns
	time          timePatterns
	// Between a date and a time: after LongDate or Day, and after FullDate or WeekdayDay. Other styles have a comma.
	atLong, atFull string
	group          string // between thousands
	groupFrom      int    // the smallest number that is grouped
	relative       [3]string
}

// rangeDash separates the ends of a range whose ends have spaces.
const rangeDash = "\u2009–\u2009"

// Date returns a day or a month. Month ignores the day.
func (d Dates) Date(style DateStyle, day calendar.Wall) string {
	return d.format(d.words.dates[style].one, day, day)
}

// DateRange returns the days or months from first to last. What they share is written once. A range that ends on its
// first day is that day.
func (d Dates) DateRange(style DateStyle, first, last calendar.Wall) string {
	patterns := d.words.dates[style]
	fromYear, fromMonth, fromDay := first.Date()
	toYear, toMonth, toDay := last.Date()
	switch {
	case fromYear != toYear:
		return d.format(patterns.years, first, last)
	case fromMonth != toMonth:
		return d.format(patterns.year, first, last)
	case fromDay != toDay:
		return d.format(patterns.month, first, last)
	}
	return d.Date(style, first)
}

// Time returns a time of day without seconds.
func (d Dates) Time(at calendar.Wall) string { return d.format(d.words.time.one, at, at) }

// TimeRange returns the time of day from first to last, which are of the same day.
func (d Dates) TimeRange(first, last calendar.Wall) string {
	fromHour, fromMinute, _ := first.Clock()
	toHour, toMinute, _ := last.Clock()
	switch {
	case fromHour == toHour && fromMinute == toMinute:
		return d.Time(first)
	case fromHour < 12 == (toHour < 12):
		return d.format(d.words.time.half, first, last)
	}
	return d.format(d.words.time.halves, first, last)
}

// DateTime returns a day and a time of day: "November 22, 2026 at 6:05 PM".
func (d Dates) DateTime(style DateStyle, at calendar.Wall) string {
	join := ", "
	switch style {
	case LongDate, Day:
		join = d.words.atLong
	case FullDate, WeekdayDay:
		join = d.words.atFull
	}
	return d.Date(style, at) + join + d.Time(at)
}

// DateTimeRange returns the time from first to last. The day is written once if it is the same.
func (d Dates) DateTimeRange(style DateStyle, first, last calendar.Wall) string {
	switch {
	case first.StartOfDay() != last.StartOfDay():
		return d.DateTime(style, first) + rangeDash + d.DateTime(style, last)
	case first.Format("15:04") == last.Format("15:04"):
		return d.DateTime(style, first)
	}
	return d.Date(style, first) + ", " + d.TimeRange(first, last)
}

// DateMonthNames returns the names of the months as they stand in dates.
func (d Dates) DateMonthNames() [12]string { return d.words.months }

// ShortMonthName returns the name of a month cut short.
func (d Dates) ShortMonthName(m time.Month) string { return d.words.shortMonths[m-1] }

// WeekdayName returns the name of a weekday.
func (d Dates) WeekdayName(day time.Weekday) string { return d.words.weekdays[day] }

// ShortWeekdayName returns the name of a weekday cut short.
func (d Dates) ShortWeekdayName(day time.Weekday) string { return d.words.shortWeekdays[day] }

// RelativeDay returns the word for a day: -1 is yesterday, 0 today, 1 tomorrow. Other days have none, and it is "".
func (d Dates) RelativeDay(days int) string {
	if days < -1 || days > 1 {
		return ""
	}
	return d.words.relative[days+1]
}

// Number returns a whole number, its thousands grouped.
func (d Dates) Number(n int) string {
	text := strconv.Itoa(n)
	if n < d.words.groupFrom && -n < d.words.groupFrom {
		return text
	}
	digits := strings.TrimPrefix(text, "-")
	var b strings.Builder
	b.WriteString(text[:len(text)-len(digits)])
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(d.words.group)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// format fills a pattern, whose fields stand in braces. A field that occurs again is of last, as is all that follows.
func (d Dates) format(pattern string, first, last calendar.Wall) string {
	var b strings.Builder
	seen := map[byte]bool{}
	at := first
	for {
		text, rest, found := strings.Cut(pattern, "{")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		field, rest, _ := strings.Cut(rest, "}")
		if seen[field[0]] {
			at = last
		}
		seen[field[0]] = true
		b.WriteString(d.field(field, at))
		pattern = rest
	}
}

// field returns a field of a date by its name in CLDR.
func (d Dates) field(name string, at calendar.Wall) string {
	year, month, day := at.Date()
	hour, _, _ := at.Clock()
	switch name {
	case "y":
		return strconv.Itoa(year)
	case "LLLL":
		return d.words.headMonths[month-1]
	case "MMMM":
		return d.words.months[month-1]
	case "MMM":
		return d.words.shortMonths[month-1]
	case "d":
		return strconv.Itoa(day)
	case "EEEE":
		return d.words.weekdays[at.Weekday()]
	case "EEE":
		return d.words.shortWeekdays[at.Weekday()]
	case "h":
		return strconv.Itoa((hour+11)%12 + 1)
	case "H":
		return strconv.Itoa(hour)
	case "HH":
		return at.Format("15")
	case "mm":
		return at.Format("04")
	case "a":
		return at.Format("PM")
	}
	panic("no field of a date: " + name)
}
