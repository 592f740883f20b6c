package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
)

var polish = vocabulary{
	and: " i ", andAlso: " oraz ", dateSeparator: " ",
	commaAfter: []recur.Frequency{recur.FreqMonthly, recur.FreqYearly},
	months:     locale.DatesIn(calendar.Polish, locale.British).DateMonthNames(),
	weekdays: [...]weekday{
		polishWeekday("w ", "niedzielę", true, "niedziele", "niedzieli", "niedziel"),
		polishWeekday("w ", "poniedziałek", false, "poniedziałki", "poniedziałku", "poniedziałków"),
		polishWeekday("we ", "wtorek", false, "wtorki", "wtorku", "wtorków"),
		polishWeekday("w ", "środę", true, "środy", "środy", "śród"),
		polishWeekday("w ", "czwartek", false, "czwartki", "czwartku", "czwartków"),
		polishWeekday("w ", "piątek", false, "piątki", "piątku", "piątków"),
		polishWeekday("w ", "sobotę", true, "soboty", "soboty", "sobót"),
	},
	everyWeekday: phrase{text: "codziennie od poniedziałku do piątku", closed: true},
	ordinals: map[int]ordinal{ // in the accusative, the masculine ones for things
		-1: {"ostatni", "ostatnią"}, 1: {"pierwszy", "pierwszą"}, 2: {"drugi", "drugą"}, 3: {"trzeci", "trzecią"},
		4: {"czwarty", "czwartą"}, 5: {"piąty", "piątą"},
	},
	timeOfDay: func(_ int, clock string) string { return "o " + clock },
	monthDays: func(days []int) string {
		var items []string
		for _, n := range days {
			if n < 0 {
				items = append(items, "ostatniego")
			} else {
				items = append(items, strconv.Itoa(n)+".")
			}
		}
		return joinList(items, " i ") + " dnia"
	},
	nth: func(ordinals []string, noun string) string { return "w " + joinList(ordinals, " i ") + " " + noun },
}

// polishWeekday returns the forms of a Polish weekday. The parameter in is the preposition with its space. The
// accusative is name and names, the genitive ofName and ofNames, each singular and plural.
func polishWeekday(in, name string, feminine bool, names, ofName, ofNames string) weekday {
	each, second := "każdy ", "drugi "
	if feminine {
		each, second = "każdą ", "drugą "
	}
	return weekday{
		noun:        name,
		feminine:    feminine,
		every:       "w " + each + name,
		everySecond: "co " + second + name,
		several:     in + names,
		on:          in + name,
		bound:       ofName,
		plural:      ofNames,
	}
}
