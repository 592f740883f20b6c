package ruletext

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// vocabulary has the inflected words of a language and the rules to join them.
type vocabulary struct {
	and, andAlso    string // before the last item of a list; andAlso if an item contains and
	dateSeparator   string // between day, month and year of a date
	dayPreposition  string // before days of a month
	datePreposition string // before a date of every year

	dayArticle, daysArticle string // before one date; before several dates

	months       [12]string      // forms in a date
	weekdays     [7]weekday      // by time.Weekday, from Sunday
	everyWeekday phrase          // words for every day from Monday to Friday
	ordinals     map[int]ordinal // 1 to 5, and -1 for the last

	commaAfter  []recur.Frequency // frequencies that, with an interval above 1, need a comma before their days
	timesInFull bool              // each time of day in a list has its own preposition

	// timeOfDay adds the preposition to a time of day.
	timeOfDay func(hour int, clock string) string
	// monthDays lists days of a month, where -1 is the last day and comes last.
	monthDays func(days []int) string
	// nth returns a weekday with forms of ordinals, such as "first and third Monday".
	nth func(ordinals []string, noun string) string
}

// ordinal has the forms of an ordinal before a weekday. An empty feminine equals the masculine.
type ordinal struct{ masculine, feminine string }

func (o ordinal) of(feminine bool) string {
	if feminine {
		return o.feminine
	}
	return o.masculine
}

// weekday has the forms of a weekday's name.
type weekday struct {
	noun        string // form after an ordinal
	feminine    bool
	every       string
	everySecond string
	several     string // form as one of several: "every Monday and Friday"
	on          string // form within one week
	bound       string // form after "from" and "to"
	plural      string // form after "except"
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

// forms returns one form of each weekday's name, such as the plural. The function form selects it.
func (v *vocabulary) forms(days []recur.Weekday, form func(weekday) string) []string {
	var out []string
	for _, d := range days {
		out = append(out, form(v.weekdays[d.Day]))
	}
	return out
}
