package when

import "time"

// vocabularies are the languages in which dates are parsed, in the order of the attempts.
var vocabularies = [...]*vocabulary{&english, &polish, &spanish}

// vocabulary has the words for dates in one language. To add a language, add a vocabulary in its own file and
// list it in vocabularies. A phrase uses one language; only times of day are common to all.
//
// An empty table means that the language has no such phrases.
type vocabulary struct {
	// hasDiacritics is true if letters of the language have diacritics.
	hasDiacritics bool

	now      wordTable[bool]
	midnight wordTable[bool]
	noon     wordTable[bool]
	// days maps words for a day to its distance from today in days.
	days     wordTable[int]
	weekdays wordTable[time.Weekday]

	// steps maps words before a weekday to numbers. The number 1 is the first such weekday after today, and -1 the
	// last one before today. For 0 it is the first one that is not before today.
	steps wordTable[int]
	// stepBehind is true if a word in steps may also follow its weekday.
	stepBehind bool
	// stepped are the units of time that may follow a word in steps (next week).
	stepped wordTable[unit]

	// in is the word before a number and a unit (za 3 dni). "" means that there is none, and numbers may have a
	// sign.
	in    string
	units wordTable[unit]
	// one has the words for the number one before a unit (en una hora).
	one wordTable[bool]
	// ago is the word after a number and a unit that counts backwards (3 days ago).
	ago string
	// single has the units that mean one unit if no number precedes them (za tydzień).
	single wordTable[unit]

	// ordinals maps ordinals to the number of a weekday in its month. -1 means the last one.
	ordinals wordTable[int]
	of       string
	// day is the noun that may follow the first and last ordinal (last day of next month).
	day string
	// weekend is a noun that follows a word in steps. The noun week is in phrases such as "monday this week".
	weekend, week string
	// monthAlone is true if a month without a day is a date (December, December 2026).
	monthAlone bool

	// months are spelt as in a date. particle may precede the month and the year (5 de mayo de 2026).
	months   wordTable[time.Month]
	particle string
}

// wordTable maps words, in lower case, to their meanings.
type wordTable[T any] map[string]T

// plain returns the table with its words folded to ASCII, because the parsers look up words of normalised texts.
func (w wordTable[T]) plain() wordTable[T] {
	folded := make(wordTable[T], len(w))
	for word, meaning := range w {
		key := make([]byte, 0, len(word))
		for _, r := range word {
			c, _ := foldRune(r)
			key = append(key, c)
		}
		folded[string(key)] = meaning
	}
	return folded
}

// unit is a unit of time. Seconds, minutes and hours are elapsed time. Days and months are calendar steps,
// which keep the time of day.
type unit struct{ seconds, days, months int }

var (
	aSecond = unit{seconds: 1}
	aMinute = unit{seconds: 60}
	anHour  = unit{seconds: 60 * 60}
	aDay    = unit{days: 1}
	aWeek   = unit{days: 7}
	aMonth  = unit{months: 1}
	aYear   = unit{months: 12}
)
