package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
)

var polish = vocabulary{
	and: " i ", andAlso: " oraz ", dateSeparator: " ", andOrdinals: " oraz ",
	commaAfter: []recur.Frequency{recur.FreqMonthly, recur.FreqYearly},
	months:     locale.DatesIn(calendar.Polish, locale.British).DateMonthNames(),
	inMonths: [...]string{
		"w styczniu", "w lutym", "w marcu", "w kwietniu", "w maju", "w czerwcu",
		"w lipcu", "w sierpniu", "we wrześniu", "w październiku", "w listopadzie", "w grudniu",
	},
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
	working:      "dzień roboczy (od poniedziałku do piątku)",
	weekend:      "dzień weekendowy (sobotę lub niedzielę)",
	dayAmong:     "dzień spośród ",
	timeOfDay:    func(_ int, clock string) string { return "o " + clock },
	dateRange:    func(first, last string) string { return "od " + first + " do " + last },
	dateBounds:   func(first, last string) string { return "między " + first + " a " + last },
	monthDay:     polishNumber,
	monthDays: func(days []int) string {
		var items []string
		for _, n := range days {
			items = append(items, polishMonthDay(n))
		}
		return joinList(items, " i ") + " dnia"
	},
	monthDayRange: func(first, last int) string {
		return "od " + polishNumber(first) + " do " + polishNumber(last) + " dnia"
	},
	monthDayBounds: func(first, last int) string {
		return "między " + polishNumber(first) + " a " + polishNumber(last) + " dniem"
	},
	nth: polishNth,
}

// polishWeekday returns the forms of a Polish weekday. The preposition is in. The accusative is name and names,
// the genitive ofName and ofNames, each singular and plural.
func polishWeekday(in, name string, feminine bool, names, ofName, ofNames string) weekday {
	each, second, falling := "każdy ", "drugi ", "przypadający"
	if feminine {
		each, second, falling = "każdą ", "drugą ", "przypadającą"
	}
	return weekday{
		noun:        name,
		feminine:    feminine,
		every:       "w " + each + name,
		everySecond: "co " + second + name,
		several:     in + names,
		on:          in + name,
		only:        in + names,
		bound:       ofName,
		plural:      ofNames,
		counted:     ofNames,
		falls:       falling,
		theOne:      in + name + " " + falling,
		firstDay:    in + name,
	}
}

func polishNth(ordinals []int, noun string, feminine bool) string {
	var items []string
	for _, n := range ordinals {
		items = append(items, polishOrdinal(n, feminine))
	}
	return "w " + joinList(items, " i ") + " " + noun
}

// polishMasculines are the masculine ordinals in the accusative, for things.
var polishMasculines = map[int]string{
	-2: "przedostatni", -1: "ostatni", 1: "pierwszy", 2: "drugi", 3: "trzeci", 4: "czwarty", 5: "piąty",
}

// polishFeminines are the feminine ordinals in the accusative.
var polishFeminines = map[int]string{
	-2: "przedostatnią", -1: "ostatnią", 1: "pierwszą", 2: "drugą", 3: "trzecią", 4: "czwartą", 5: "piątą",
}

func polishOrdinal(n int, feminine bool) string {
	words := polishMasculines
	if feminine {
		words = polishFeminines
	}
	word, ok := words[n]
	switch {
	case ok:
		return word
	case n < 0:
		return polishOrdinal(-n, feminine) + " od końca"
	}
	return polishNumber(n)
}

// polishGenitives are the ordinals in the genitive for days that count from the end of a month.
var polishGenitives = map[int]string{
	-5: "piątego od końca", -4: "czwartego od końca", -3: "trzeciego od końca", -2: "przedostatniego", -1: "ostatniego",
}

// polishMonthDay returns the Polish words for a day of a month, without the noun "dzień".
func polishMonthDay(n int) string {
	word, ok := polishGenitives[n]
	switch {
	case ok:
		return word
	case n < 0:
		return polishNumber(-n) + " od końca"
	}
	return polishNumber(n)
}

// polishNumber formats an ordinal in digits: "3.".
func polishNumber(n int) string { return strconv.Itoa(n) + "." }
