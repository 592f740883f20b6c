package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
)

var spanish = vocabulary{
	and: " y ", andAlso: " y ", dateSeparator: " de ", dayArticle: "el ", daysArticle: "los días ", timesInFull: true,
	commaAfter: []recur.Frequency{recur.FreqWeekly, recur.FreqMonthly},
	months:     locale.DatesIn(calendar.Spanish, locale.British).DateMonthNames(),
	weekdays: [...]weekday{
		spanishWeekday("domingo", "domingos"), spanishWeekday("lunes", "lunes"), spanishWeekday("martes", "martes"),
		spanishWeekday("miércoles", "miércoles"), spanishWeekday("jueves", "jueves"),
		spanishWeekday("viernes", "viernes"), spanishWeekday("sábado", "sábados"),
	},
	everyWeekday: phrase{text: "de lunes a viernes"},
	ordinals: map[int]ordinal{
		-1: {"el último", ""}, 1: {"el primer", ""}, 2: {"el segundo", ""}, 3: {"el tercer", ""}, 4: {"el cuarto", ""},
		5: {"el quinto", ""},
	},
	timeOfDay: func(hour int, clock string) string {
		if hour == 1 {
			return "a la " + clock
		}
		return "a las " + clock
	},
	monthDays: func(days []int) string {
		var numbers, all []string
		for _, n := range days {
			if n > 0 {
				numbers = append(numbers, strconv.Itoa(n))
			}
		}
		switch len(numbers) {
		case 0:
		case 1:
			all = append(all, "el día "+numbers[0])
		default:
			all = append(all, "los días "+joinList(numbers, " y "))
		}
		if len(numbers) < len(days) {
			all = append(all, "el último día")
		}
		return joinList(all, " y ")
	},
	nth: func(ordinals []string, noun string) string { return joinList(ordinals, " y ") + " " + noun },
}

func spanishWeekday(name, names string) weekday {
	return weekday{
		noun:        name,
		every:       "todos los " + names,
		everySecond: "cada dos " + names,
		several:     "los " + names,
		on:          "los " + names,
		bound:       name,
		plural:      "los " + names,
	}
}
