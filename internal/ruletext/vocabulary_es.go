package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
)

var spanish = vocabulary{
	and: " y ", andAlso: " y ", andOrdinals: " y ", dateSeparator: " de ", dayArticle: "el ", daysArticle: "los días ",
	monthArticle: "de ", ofMonth: "de ", timesInFull: true, fromEnd: spanishFromEnd,
	commaAfter: []recur.Frequency{recur.FreqWeekly, recur.FreqMonthly},
	months:     locale.DatesIn(calendar.Spanish, locale.British).DateMonthNames(),
	inMonths: [...]string{
		"en enero", "en febrero", "en marzo", "en abril", "en mayo", "en junio",
		"en julio", "en agosto", "en septiembre", "en octubre", "en noviembre", "en diciembre",
	},
	weekdays: [...]weekday{
		spanishWeekday("domingo", "domingos"), spanishWeekday("lunes", "lunes"), spanishWeekday("martes", "martes"),
		spanishWeekday("miércoles", "miércoles"), spanishWeekday("jueves", "jueves"),
		spanishWeekday("viernes", "viernes"), spanishWeekday("sábado", "sábados"),
	},
	everyWeekday: phrase{text: "de lunes a viernes"},
	working:      "día laborable (de lunes a viernes)",
	weekend:      "día de fin de semana (sábado o domingo)",
	dayAmong:     "día de entre ",
	timeOfDay: func(hour int, clock string) string {
		if hour == 1 {
			return "a la " + clock
		}
		return "a las " + clock
	},
	dateRange:  func(first, last string) string { return "del " + first + " al " + last },
	dateBounds: func(first, last string) string { return "del " + first + " al " + last },
	monthDay:   strconv.Itoa,
	monthDays: func(days []int) string {
		var numbers, fromEnd []string
		for _, n := range days {
			if n < 0 {
				fromEnd = append(fromEnd, spanishNth([]int{n}, "día", false))
			} else {
				numbers = append(numbers, strconv.Itoa(n))
			}
		}
		switch len(numbers) {
		case 0:
			return joinList(fromEnd, " y ")
		case 1:
			return joinList(append([]string{"el día " + numbers[0]}, fromEnd...), " y ")
		}
		return joinList(append([]string{"los días " + joinList(numbers, " y ")}, fromEnd...), " y ")
	},
	monthDayRange:  spanishDays,
	monthDayBounds: spanishDays,
	nth:            spanishNth,
}

// spanishDays returns the Spanish words for a range of days of a month.
func spanishDays(first, last int) string {
	return "del " + strconv.Itoa(first) + " al " + strconv.Itoa(last)
}

func spanishWeekday(name, names string) weekday {
	return weekday{
		noun:        name,
		every:       "todos los " + names,
		everySecond: "cada dos " + names,
		several:     "los " + names,
		on:          "los " + names,
		only:        "los " + names,
		bound:       name,
		plural:      "los " + names,
		counted:     names,
		falls:       "que caigan",
		theOne:      "el " + name + " que caiga",
		firstDay:    "en " + name,
	}
}

func spanishNth(ordinals []int, noun string, _ bool) string {
	var items, full []string
	fromEnd := ""
	for _, n := range ordinals {
		ordinal, after := spanishOrdinal(n)
		items = append(items, "el "+ordinal)
		full = append(full, "el "+ordinal+" "+noun+after)
		fromEnd += after
	}
	if fromEnd != "" {
		return joinList(full, " y ")
	}
	return joinList(items, " y ") + " " + noun
}

var spanishOrdinals = map[int]string{
	-3: "antepenúltimo", -2: "penúltimo", -1: "último",
	1: "primer", 2: "segundo", 3: "tercer", 4: "cuarto", 5: "quinto",
}

const spanishFromEnd = " contando desde el final"

// spanishOrdinal returns the Spanish words for the ordinal n: those before the noun and those after it.
func spanishOrdinal(n int) (ordinal, after string) {
	word, ok := spanishOrdinals[n]
	switch {
	case ok:
		return word, ""
	case n < 0:
		ordinal, _ = spanishOrdinal(-n)
		return ordinal, spanishFromEnd
	}
	if (n%10 == 1 || n%10 == 3) && n != 11 { // shortened before a noun: trigésimo primer
		return strconv.Itoa(n) + ".er", ""
	}
	return strconv.Itoa(n) + ".º", ""
}
