package when

import "time"

// vocabularies are the languages that dates are read in, in the order in which they are tried.
var vocabularies = [...]*vocabulary{&english, &polish, &spanish}

// vocabulary has the words for dates in one language. To add a language, add a vocabulary in its own file and list it
// in vocabularies. A phrase uses one language throughout; only times of day belong to all.
//
// An empty table means that the language lacks that kind of phrase.
type vocabulary struct {
	// marked: letters may carry diacritics.
	marked bool

	now      wordTable[bool]
	midnight wordTable[bool]
	noon     wordTable[bool]
	// days are words for a day, as its distance from today.
	days     wordTable[int]
	weekdays wordTable[time.Weekday]

	// steps go with a weekday: +1 is the first one after today, -1 the last one before today, 0 the first
	// one that is today or later.
	steps wordTable[int]
	// stepBehind: a step may also follow its weekday.
	stepBehind bool
	// stepped are the units that a step of +1 or -1 goes with, too.
	stepped wordTable[unit]

	// in introduces an amount (za 3 dni). If there is no such word, amounts stand alone and may have a sign.
	in    string
	units wordTable[unit]
	// one are words for an amount of one (en una hora).
	one wordTable[bool]
	// ago stands behind an amount that is counted backwards (3 days ago).
	ago string
	// single are the units that mean one of them if there is no number (za tydzień).
	single wordTable[unit]

	// ordinals count the weekdays of a month, -1 is the last one.
	ordinals wordTable[int]
	of       string
	// day goes with the first and the last ordinal (last day of next month).
	day string
	// weekend goes with a step, and a weekday may stand before a step and week (monday this week).
	weekend, week string
	// monthAlone: a month is a date without a day (December, December 2026).
	monthAlone bool

	// months are spelt as they are in a date. A particle may stand before month and year (5 de mayo de 2026).
	months   wordTable[time.Month]
	particle string
}

// wordTable are a table of words as they are spelt, in lower case, and what they mean.
type wordTable[T any] map[string]T

// plain returns the table as it is looked up, without diacritics.
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

// unit is a unit of time. Seconds, minutes and hours are elapsed time; longer units are steps in the calendar
// and keep the time of day.
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
