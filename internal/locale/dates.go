package locale

import (
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Dates formats dates, times and numbers in one language, with the patterns of CLDR. A script compares the
// formatted texts with those of Node's Intl, for every day of five years (.ci/dates). No formatted text
// contains a time zone.
type Dates struct {
	words *dateWords
	times *timePatterns
	clock Clock
}

// DatesIn returns the formats of a language, with the clock that is usual in it. The parameter english is the
// style for English and for unknown languages.
func DatesIn(lang calendar.Language, english EnglishDates) Dates {
	words := &englishDates
	switch {
	case lang == calendar.Polish:
		words = &polishDates
	case lang == calendar.Spanish:
		words = &spanishDates
	case english == British:
		words = &britishDates
	}
	return Dates{words: words}.With(UsualClock)
}

// With returns the same formats with the given clock instead.
func (d Dates) With(clock Clock) Dates {
	d.clock = clock
	if clock == UsualClock {
		d.clock = d.words.clock
	}
	d.times = &d.words.hours24
	if d.clock == Clock12 {
		d.times = &d.words.hours12
	}
	return d
}

// Clock states whether times are written with 12 or 24 hours, or as is usual in the language.
type Clock string

// UsualClock, Clock12 and Clock24 are the values of Clock.
const (
	UsualClock Clock = ""    // the clock that is usual in the language
	Clock12    Clock = "12h" // 6:05 PM
	Clock24    Clock = "24h" // 18:05
)

// Clock returns the clock that times are formatted with: Clock12 or Clock24.
func (d Dates) Clock() Clock { return d.clock }

// EnglishDates is a style of dates in English, as a BCP 47 tag.
type EnglishDates string

// American and British are the values of EnglishDates.
const (
	American EnglishDates = "en"    // November 22, 2026; the zero value means the same
	British  EnglishDates = "en-GB" // 22 November 2026
)

// DateStyle is a style of formatting a day or a month.
type DateStyle int

// LongDate to Month are the date styles, with examples in American English. The constant dateStyles is their
// number.
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

// datePatterns are the patterns of a style: for one date, and for ranges within a month, within a year, and
// across years.
type datePatterns struct{ one, month, year, years string }

// timePatterns are the patterns of times: for one time, and for ranges within half a day and across noon.
type timePatterns struct{ one, half, halves string }

// dateWords are the words and patterns of a language.
type dateWords struct {
	months        [12]string // names in a date
	headMonths    [12]string // names alone or with a year
	shortMonths   [12]string
	weekdays      [7]string // by time.Weekday, from Sunday
	shortWeekdays [7]string
	dates         [dateStyles]datePatterns
	clock         Clock // the usual one
	// hours12 and hours24 are the patterns of times on each clock.
	hours12, hours24 timePatterns
	dayHalves        [2]string // words for the hours before and from noon
	// atLong and atFull join a date and a time: atLong after LongDate or Day, atFull after FullDate or
	// WeekdayDay. Other styles use a comma.
	atLong, atFull string
	group          string // separator of thousands
	groupFrom      int    // smallest number that gets separators
	relative       [3]string
}

// rangeDash joins the ends of a range if they contain spaces.
const rangeDash = "\u2009–\u2009"

// Date formats a day or a month. The style Month ignores the day.
func (d Dates) Date(style DateStyle, day calendar.Wall) string {
	return d.format(d.words.dates[style].one, day, day)
}

// DateRange formats the range of days or months from first to last. Common parts are written once. If both are
// equal, it formats one date.
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

// Time formats a time of day without seconds.
func (d Dates) Time(at calendar.Wall) string { return d.format(d.times.one, at, at) }

// TimeRange formats the range of times from first to last, which must be on the same day.
func (d Dates) TimeRange(first, last calendar.Wall) string {
	fromHour, fromMinute, _ := first.Clock()
	toHour, toMinute, _ := last.Clock()
	switch {
	case fromHour == toHour && fromMinute == toMinute:
		return d.Time(first)
	case fromHour < 12 == (toHour < 12):
		return d.format(d.times.half, first, last)
	}
	return d.format(d.times.halves, first, last)
}

// DateTime formats a day and a time of day: "November 22, 2026 at 6:05 PM".
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

// DateTimeRange formats the time from first to last. If both are on one day, the day is written once.
func (d Dates) DateTimeRange(style DateStyle, first, last calendar.Wall) string {
	switch {
	case first.StartOfDay() != last.StartOfDay():
		return d.DateTime(style, first) + rangeDash + d.DateTime(style, last)
	case first.Format("15:04") == last.Format("15:04"):
		return d.DateTime(style, first)
	}
	return d.Date(style, first) + ", " + d.TimeRange(first, last)
}

// DateMonthNames returns the names of the months in the form used in dates.
func (d Dates) DateMonthNames() [12]string { return d.words.months }

// ShortMonthName returns the abbreviated name of a month.
func (d Dates) ShortMonthName(m time.Month) string { return d.words.shortMonths[m-1] }

// WeekdayName returns the name of a weekday.
func (d Dates) WeekdayName(day time.Weekday) string { return d.words.weekdays[day] }

// ShortWeekdayName returns the abbreviated name of a weekday.
func (d Dates) ShortWeekdayName(day time.Weekday) string { return d.words.shortWeekdays[day] }

// RelativeDay returns the word for a day relative to today: -1 is yesterday, 0 today, 1 tomorrow. Other values
// give "".
func (d Dates) RelativeDay(days int) string {
	if days < -1 || days > 1 {
		return ""
	}
	return d.words.relative[days+1]
}

// Number formats an integer with separators of thousands.
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

// format replaces the fields in braces of a pattern by values. The values are those of first, until a field occurs
// again. From there on they are those of last.
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

// field returns the value of a date field by its CLDR name.
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
		return d.words.dayHalves[hour/12]
	}
	panic("no field of a date: " + name)
}
