package ruletext

import (
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

var english = vocabulary{
	and: " and ", andAlso: ", and ", dateSeparator: " ", dayPreposition: "on the ", datePreposition: "on ",
	months: locale.DatesIn(calendar.English, locale.British).DateMonthNames(),
	weekdays: [...]weekday{
		englishWeekday("Sunday"), englishWeekday("Monday"), englishWeekday("Tuesday"), englishWeekday("Wednesday"),
		englishWeekday("Thursday"), englishWeekday("Friday"), englishWeekday("Saturday"),
	},
	everyWeekday: phrase{text: "every weekday"},
	ordinals: map[int]ordinal{
		-1: {"last", ""}, 1: {"first", ""}, 2: {"second", ""}, 3: {"third", ""}, 4: {"fourth", ""}, 5: {"fifth", ""},
	},
	timeOfDay: func(hour int, clock string) string {
		if hour < 10 {
			return "at 0" + clock
		}
		return "at " + clock
	},
	monthDays: func(days []int) string {
		var items []string
		for i, n := range days {
			item := englishNumber(n)
			if n < 0 {
				item = "last day"
			}
			if i > 0 && days[len(days)-1] < 0 {
				item = "the " + item
			}
			items = append(items, item)
		}
		return joinList(items, " and ")
	},
	nth: func(ordinals []string, noun string) string { return joinList(ordinals, " and ") + " " + noun },
}

func englishWeekday(name string) weekday {
	return weekday{
		noun:        name,
		every:       "every " + name,
		everySecond: "every second " + name,
		several:     "every " + name,
		on:          "on " + name,
		bound:       name,
		plural:      name + "s",
	}
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
