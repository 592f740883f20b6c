package ruletext

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// vocabulary has the words of a language that inflect, and how it joins them.
type vocabulary struct {
	and, andAlso   string // before the last item of a list; andAlso if an item has an and of its own
	andOrdinals    string // andAlso in a list of weekdays with ordinals
	dateSeparator  string // between the day, the month and the year of a date
	dayPreposition string // before days of a month or a year

	dayArticle, daysArticle string // before a date, and before several

	months   [12]string // in a date; after from and to
	inMonths [12]string // after the preposition that the word has

	weekdays     [7]weekday // by time.Weekday
	everyWeekday phrase     // from Monday to Friday
	working      string     // a day from Monday to Friday, as a noun for nth
	weekend      string     // a Saturday or a Sunday, as a noun for nth
	dayAmong     string     // a noun for nth, before several weekdays
	fromEnd      string     // the words of nth that follow the month or the year, if any

	commaAfter   []recur.Frequency // periods with an interval that have a comma before their days
	ofMonth      string            // before the months of weekdays, instead of the preposition of inMonths; "" for none
	monthArticle string            // before each month but the first, in a list after schedule-of-months
	timesInFull  bool              // each time of day in a list has its preposition

	// timeOfDay returns a time of day with its preposition.
	timeOfDay func(hour int, clock string) string
	// dateRange returns the days from first to last of a month, as dates without the month.
	dateRange func(first, last string) string
	// dateBounds is dateRange for a day that falls among these days.
	dateBounds func(first, last string) string
	// monthDay returns the number of a day of a month.
	monthDay func(n int) string
	// monthDays returns days of a month. Negative ones count from its end and come last.
	monthDays func(days []int) string
	// monthDayRange returns the days from first to last of a month.
	monthDayRange func(first, last int) string
	// monthDayBounds is monthDayRange for a day that falls among these days.
	monthDayBounds func(first, last int) string
	// nth returns a noun with ordinals. Negative ordinals count from the end.
	nth func(ordinals []int, noun string, feminine bool) string
}

// weekday has the forms of the name of a weekday.
type weekday struct {
	noun        string // after an ordinal
	feminine    bool
	every       string
	everySecond string
	several     string // each, one of several: "on Mondays and Fridays"
	on          string // in one week
	only        string // after "only"
	bound       string // after "from" and "to"
	plural      string // after "among" and "except"
	counted     string // after "five"
	falls       string // after every, before days of a month
	theOne      string // the one that falls on some dates
	firstDay    string // after "weeks that start"
}

// vocabularies has those of calendar.Languages.
var vocabularies = map[calendar.Language]*vocabulary{
	calendar.English: &english,
	calendar.Polish:  &polish,
	calendar.Spanish: &spanish,
}

// join returns a list of items that may be lists.
func (v *vocabulary) join(items []string) string {
	if slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, v.and) }) {
		return joinList(items, v.andAlso)
	}
	return joinList(items, v.and)
}

// joinList returns a list: "1, 2 and 3".
func joinList(items []string, and string) string {
	last := len(items) - 1
	if last == 0 {
		return items[0]
	}
	return strings.Join(items[:last], ", ") + and + items[last]
}

// joinPhrases returns a list of phrases that say their first word once: "on Mondays and Fridays". A longer form of that
// word is said.
func (v *vocabulary) joinPhrases(phrases []string) string {
	items := []string{phrases[0]}
	said, _, _ := strings.Cut(phrases[0], " ")
	for _, phrase := range phrases[1:] {
		if first, noun, ok := strings.Cut(phrase, " "); ok && len(first) <= len(said) {
			phrase = noun
		}
		items = append(items, phrase)
	}
	return v.join(items)
}

// forms returns a form of each weekday.
func (v *vocabulary) forms(days []recur.Weekday, form func(weekday) string) []string {
	var out []string
	for _, d := range days {
		out = append(out, form(v.weekdays[d.Day]))
	}
	return out
}
