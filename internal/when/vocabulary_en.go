package when

import "time"

var english = vocabulary{
	now:      wordTable[bool]{"now": true},
	midnight: wordTable[bool]{"midnight": true},
	noon:     wordTable[bool]{"noon": true},
	days:     wordTable[int]{"today": 0, "tomorrow": 1, "yesterday": -1},
	weekdays: wordTable[time.Weekday]{
		"monday": time.Monday, "mon": time.Monday,
		"tuesday": time.Tuesday, "tue": time.Tuesday,
		"wednesday": time.Wednesday, "wed": time.Wednesday,
		"thursday": time.Thursday, "thu": time.Thursday,
		"friday": time.Friday, "fri": time.Friday,
		"saturday": time.Saturday, "sat": time.Saturday,
		"sunday": time.Sunday, "sun": time.Sunday,
	},
	steps:   wordTable[int]{"next": 1, "this": 0, "last": -1},
	stepped: wordTable[unit]{"day": aDay, "week": aWeek, "month": aMonth, "year": aYear},
	units: wordTable[unit]{
		"second": aSecond, "seconds": aSecond,
		"minute": aMinute, "minutes": aMinute,
		"hour": anHour, "hours": anHour,
		"day": aDay, "days": aDay,
		"week": aWeek, "weeks": aWeek,
		"month": aMonth, "months": aMonth,
		"year": aYear, "years": aYear,
	},
	ordinals: wordTable[int]{"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1},
	ago:      "ago",
	of:       "of",
	day:      "day",
	weekend:  "weekend",
	week:     "week",

	monthAlone: true,
	months: wordTable[time.Month]{
		"january": time.January, "jan": time.January,
		"february": time.February, "feb": time.February,
		"march": time.March, "mar": time.March,
		"april": time.April, "apr": time.April,
		"may":  time.May,
		"june": time.June, "jun": time.June,
		"july": time.July, "jul": time.July,
		"august": time.August, "aug": time.August,
		"september": time.September, "sep": time.September,
		"october": time.October, "oct": time.October,
		"november": time.November, "nov": time.November,
		"december": time.December, "dec": time.December,
	},
}
