package when

import "time"

var spanish = vocabulary{
	hasDiacritics: true,
	now:           wordTable[bool]{"ahora": true},
	days:          wordTable[int]{"hoy": 0, "mañana": 1, "ayer": -1}.plain(),
	weekdays: wordTable[time.Weekday]{
		"lunes":     time.Monday,
		"martes":    time.Tuesday,
		"miércoles": time.Wednesday,
		"jueves":    time.Thursday,
		"viernes":   time.Friday,
		"sábado":    time.Saturday,
		"domingo":   time.Sunday,
	}.plain(),
	steps:      wordTable[int]{"próximo": 1, "próxima": 1}.plain(),
	stepBehind: true,
	in:         "en",
	units: wordTable[unit]{
		"segundo": aSecond, "segundos": aSecond,
		"minuto": aMinute, "minutos": aMinute,
		"hora": anHour, "horas": anHour,
		"día": aDay, "días": aDay,
		"semana": aWeek, "semanas": aWeek,
		"mes": aMonth, "meses": aMonth,
		"año": aYear, "años": aYear,
	}.plain(),
	one: wordTable[bool]{"un": true, "una": true},
	months: wordTable[time.Month]{
		"enero": time.January, "ene": time.January,
		"febrero": time.February, "feb": time.February,
		"marzo": time.March, "mar": time.March,
		"abril": time.April, "abr": time.April,
		"mayo": time.May, "may": time.May,
		"junio": time.June, "jun": time.June,
		"julio": time.July, "jul": time.July,
		"agosto": time.August, "ago": time.August,
		"septiembre": time.September, "setiembre": time.September, "sept": time.September, "sep": time.September,
		"octubre": time.October, "oct": time.October,
		"noviembre": time.November, "nov": time.November,
		"diciembre": time.December, "dic": time.December,
	},
	particle: "de",
}
