package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

var english = vocabulary{
	and: " and ", andAlso: ", and ", dateSeparator: " ", dayPreposition: "on ", andOrdinals: " and ",
	months: locale.DatesIn(calendar.English, locale.British).DateMonthNames(),
	inMonths: [...]string{
		"in January", "in February", "in March", "in April", "in May", "in June",
		"in July", "in August", "in September", "in October", "in November", "in December",
	},
	weekdays: [...]weekday{
		englishWeekday("Sunday"), englishWeekday("Monday"), englishWeekday("Tuesday"), englishWeekday("Wednesday"),
		englishWeekday("Thursday"), englishWeekday("Friday"), englishWeekday("Saturday"),
	},
	everyWeekday: phrase{text: "every weekday"},
	working:      "working day (Monday to Friday)",
	weekend:      "weekend day (Saturday or Sunday)",
	dayAmong:     "day among the ",
	timeOfDay: func(hour int, clock string) string {
		if hour < 10 {
			return "at 0" + clock
		}
		return "at " + clock
	},
	dateRange:  func(first, last string) string { return "from " + first + " to " + last },
	dateBounds: func(first, last string) string { return "between " + first + " and " + last },
	monthDay:   englishNumber,
	monthDays: func(days []int) string {
		fromEnd := days[len(days)-1] < 0
		var items []string
		for _, n := range days {
			switch {
			case n < 0:
				items = append(items, "the "+englishOrdinal(n)+" day")
			case fromEnd:
				items = append(items, "the "+englishNumber(n))
			default:
				items = append(items, englishNumber(n))
			}
		}
		if fromEnd {
			return joinList(items, " and ")
		}
		return "the " + joinList(items, " and ")
	},
	monthDayRange: func(first, last int) string {
		return "from the " + englishNumber(first) + " to the " + englishNumber(last)
	},
	monthDayBounds: func(first, last int) string {
		return "between the " + englishNumber(first) + " and the " + englishNumber(last)
	},
	nth: englishNth,
}

func englishWeekday(name string) weekday {
	return weekday{
		noun:        name,
		every:       "every " + name,
		everySecond: "every second " + name,
		several:     "every " + name,
		on:          "on " + name,
		only:        "on " + name + "s",
		bound:       name,
		plural:      name + "s",
		counted:     name + "s",
		falls:       "that falls",
		theOne:      "on the " + name + " that falls",
		firstDay:    "on " + name,
	}
}

func englishNth(ordinals []int, noun string, _ bool) string {
	var items []string
	for _, n := range ordinals {
		items = append(items, englishOrdinal(n))
	}
	return "the " + joinList(items, " and ") + " " + noun
}

var englishOrdinals = map[int]string{-1: "last", 1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}

func englishOrdinal(n int) string {
	word, ok := englishOrdinals[n]
	switch {
	case ok:
		return word
	case n < 0:
		return englishOrdinal(-n) + "-to-last"
	}
	return englishNumber(n)
}

// englishNumber formats an ordinal in digits: "3rd".
func englishNumber(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
