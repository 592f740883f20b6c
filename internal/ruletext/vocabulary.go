package ruletext

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// vocabulary has the inflected words of a language and the rules to join them.
type vocabulary struct {
	and, andAlso   string // before the last item of a list; andAlso if an item contains and
	andOrdinals    string // andAlso for a list of weekdays with ordinals
	dateSeparator  string // between day, month and year of a date
	dayPreposition string // before days of a month or a year

	dayArticle, daysArticle string // before one date; before several dates

	months   [12]string // forms in a date, and after "from" and "to"
	inMonths [12]string // with the preposition for "in"

	weekdays     [7]weekday // by time.Weekday, from Sunday
	everyWeekday phrase     // words for every day from Monday to Friday
	working      string     // noun for a day from Monday to Friday, used by nth
	weekend      string     // noun for a Saturday or Sunday, used by nth
	dayAmong     string     // noun used by nth before several weekdays
	fromEnd      string     // words of nth that follow the month or the year; "" means none

	commaAfter   []recur.Frequency // frequencies that, with an interval above 1, need a comma before their days
	ofMonth      string            // before the months after a day or weekday, in place of inMonths; "" means none
	monthArticle string            // before each month except the first, in schedule-of-months and schedule-in-months
	timesInFull  bool              // each time of day in a list has its own preposition

	// timeOfDay adds the preposition to a time of day.
	timeOfDay func(hour int, clock string) string
	// dateRange returns the words for the days from first to last of a month, without the month.
	dateRange func(first, last string) string
	// dateBounds is like dateRange, for a single day that is among these days.
	dateBounds func(first, last string) string
	// monthDay returns the words for one day of a month.
	monthDay func(n int) string
	// monthDays lists days of a month. Negative ones count from the end of the month and come last.
	monthDays func(days []int) string
	// monthDayRange returns the words for the days from first to last of a month.
	monthDayRange func(first, last int) string
	// monthDayBounds is like monthDayRange, for a single day that is among these days.
	monthDayBounds func(first, last int) string
	// nth returns a noun with ordinals, such as "the first Monday". Negative ordinals count from the end.
	nth func(ordinals []int, noun string, feminine bool) string
}

// weekday has the forms of a weekday's name.
type weekday struct {
	noun        string // form after an ordinal
	feminine    bool
	every       string
	everySecond string
	several     string // form as one of several: "every Monday and Friday"
	on          string // form within one week
	only        string // form after "only"
	bound       string // form after "from" and "to"
	plural      string // form after "among" and "except"
	counted     string // form after a number such as "five"
	falls       string // form after "every", before days of a month
	theOne      string // form for the one that falls on given dates
	firstDay    string // form after "weeks that start"
}

// vocabularies are the vocabularies by language, one for each of calendar.Languages.
var vocabularies = map[calendar.Language]*vocabulary{
	calendar.English: &english,
	calendar.Polish:  &polish,
	calendar.Spanish: &spanish,
}

// join joins items with commas and the word for "and". An item may be a list itself.
func (v *vocabulary) join(items []string) string {
	if slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, v.and) }) {
		return joinList(items, v.andAlso)
	}
	return joinList(items, v.and)
}

// joinList joins items as a list: "1, 2 and 3".
func joinList(items []string, and string) string {
	last := len(items) - 1
	if last == 0 {
		return items[0]
	}
	return strings.Join(items[:last], ", ") + and + items[last]
}

// joinPhrases joins phrases and writes a common first word only once: "on Mondays and Fridays". It repeats a first
// word that has a longer form in one of them.
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

// forms returns a form of each weekday's name, such as its plural. The function form chooses it.
func (v *vocabulary) forms(days []recur.Weekday, form func(weekday) string) []string {
	var out []string
	for _, d := range days {
		out = append(out, form(v.weekdays[d.Day]))
	}
	return out
}
