package when

import "time"

// Nouns and adjectives are in the nominative, as in headings, or in the accusative, as in speech. Gender is not
// checked: "następny środa" is wrong, but unambiguous.
var polish = vocabulary{
	hasDiacritics: true,
	now:           wordTable[bool]{"teraz": true},
	days:          wordTable[int]{"dziś": 0, "dzisiaj": 0, "jutro": 1, "wczoraj": -1}.plain(),
	weekdays: wordTable[time.Weekday]{
		"poniedziałek": time.Monday,
		"wtorek":       time.Tuesday,
		"środa":        time.Wednesday, "środę": time.Wednesday,
		"czwartek": time.Thursday,
		"piątek":   time.Friday,
		"sobota":   time.Saturday, "sobotę": time.Saturday,
		"niedziela": time.Sunday, "niedzielę": time.Sunday,
	}.plain(),
	steps: wordTable[int]{
		"następny": 1, "następna": 1, "następną": 1,
		"przyszły": 1, "przyszła": 1, "przyszłą": 1,
		"najbliższy": 1, "najbliższa": 1, "najbliższą": 1,
	}.plain(),
	in: "za",
	units: wordTable[unit]{
		"sekundę": aSecond, "sekundy": aSecond, "sekund": aSecond,
		"minutę": aMinute, "minuty": aMinute, "minut": aMinute,
		"godzinę": anHour, "godziny": anHour, "godzin": anHour,
		"dzień": aDay, "dni": aDay,
		"tydzień": aWeek, "tygodnie": aWeek, "tygodni": aWeek,
		"miesiąc": aMonth, "miesiące": aMonth, "miesięcy": aMonth,
		"rok": aYear, "lata": aYear, "lat": aYear,
	}.plain(),
	single: wordTable[unit]{
		"sekundę": aSecond,
		"minutę":  aMinute,
		"godzinę": anHour,
		"dzień":   aDay,
		"tydzień": aWeek,
		"miesiąc": aMonth,
		"rok":     aYear,
	}.plain(),
	months: wordTable[time.Month]{
		"stycznia": time.January, "sty": time.January,
		"lutego": time.February, "lut": time.February,
		"marca": time.March, "mar": time.March,
		"kwietnia": time.April, "kwi": time.April,
		"maja": time.May, "maj": time.May,
		"czerwca": time.June, "cze": time.June,
		"lipca": time.July, "lip": time.July,
		"sierpnia": time.August, "sie": time.August,
		"września": time.September, "wrz": time.September,
		"października": time.October, "paź": time.October,
		"listopada": time.November, "lis": time.November,
		"grudnia": time.December, "gru": time.December,
	}.plain(),
}
