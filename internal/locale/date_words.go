package locale

// englishMonths, englishWeekdays and englishShortWeekdays are the names that American and British dates share.
var (
	englishMonths = [...]string{
		"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December",
	}
	englishWeekdays      = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	englishShortWeekdays = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
)

// englishDates has the words and patterns of American and British dates. These and all below are from CLDR 48.
// MMMM is the month in a date, and LLLL the month alone. In the pattern of a range, the first repeated field
// and all later fields belong to the second date.
var englishDates = dateWords{
	months:     englishMonths,
	headMonths: englishMonths,
	shortMonths: [...]string{
		"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	},
	weekdays:      englishWeekdays,
	shortWeekdays: englishShortWeekdays,
	dates: [...]datePatterns{
		LongDate: {
			"{MMMM} {d}, {y}",
			"{MMMM} {d}\u2009–\u2009{d}, {y}",
			"{MMMM} {d}\u2009–\u2009{MMMM} {d}, {y}",
			"{MMMM} {d}, {y}\u2009–\u2009{MMMM} {d}, {y}",
		},
		FullDate: {
			"{EEEE}, {MMMM} {d}, {y}",
			"{EEEE}, {MMMM} {d}\u2009–\u2009{EEEE}, {MMMM} {d}, {y}",
			"{EEEE}, {MMMM} {d}\u2009–\u2009{EEEE}, {MMMM} {d}, {y}",
			"{EEEE}, {MMMM} {d}, {y}\u2009–\u2009{EEEE}, {MMMM} {d}, {y}",
		},
		MediumDate: {
			"{MMM} {d}, {y}",
			"{MMM} {d}\u2009–\u2009{d}, {y}",
			"{MMM} {d}\u2009–\u2009{MMM} {d}, {y}",
			"{MMM} {d}, {y}\u2009–\u2009{MMM} {d}, {y}",
		},
		Day: {
			"{MMMM} {d}",
			"{MMMM} {d}\u2009–\u2009{d}",
			"{MMMM} {d}\u2009–\u2009{MMMM} {d}",
			"{MMMM} {d}, {y}\u2009–\u2009{MMMM} {d}, {y}",
		},
		WeekdayDay: {
			"{EEEE}, {MMMM} {d}",
			"{EEEE}, {MMMM} {d}\u2009–\u2009{EEEE}, {MMMM} {d}",
			"{EEEE}, {MMMM} {d}\u2009–\u2009{EEEE}, {MMMM} {d}",
			"{EEEE}, {MMMM} {d}, {y}\u2009–\u2009{EEEE}, {MMMM} {d}, {y}",
		},
		ShortDay: {
			"{MMM} {d}",
			"{MMM} {d}\u2009–\u2009{d}",
			"{MMM} {d}\u2009–\u2009{MMM} {d}",
			"{MMM} {d}, {y}\u2009–\u2009{MMM} {d}, {y}",
		},
		ShortWeekdayDay: {
			"{EEE}, {MMM} {d}",
			"{EEE}, {MMM} {d}\u2009–\u2009{EEE}, {MMM} {d}",
			"{EEE}, {MMM} {d}\u2009–\u2009{EEE}, {MMM} {d}",
			"{EEE}, {MMM} {d}, {y}\u2009–\u2009{EEE}, {MMM} {d}, {y}",
		},
		Month: {
			"{LLLL} {y}",
			"{LLLL} {y}",
			"{LLLL}\u2009–\u2009{LLLL} {y}",
			"{LLLL} {y}\u2009–\u2009{LLLL} {y}",
		},
	},
	clock:     Clock12,
	hours12:   timePatterns{"{h}:{mm}\u202f{a}", "{h}:{mm}\u2009–\u2009{h}:{mm}\u202f{a}", "{h}:{mm}\u202f{a}\u2009–\u2009{h}:{mm}\u202f{a}"},
	hours24:   timePatterns{"{HH}:{mm}", "{HH}:{mm}\u2009–\u2009{HH}:{mm}", "{HH}:{mm}\u2009–\u2009{HH}:{mm}"},
	dayHalves: [...]string{"AM", "PM"},
	atLong:    " at ", atFull: " at ",
	group: ",", groupFrom: 1000,
	relative: [...]string{"yesterday", "today", "tomorrow"},
}

var britishDates = dateWords{
	months:     englishMonths,
	headMonths: englishMonths,
	shortMonths: [...]string{
		"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sept", "Oct", "Nov", "Dec",
	},
	weekdays:      englishWeekdays,
	shortWeekdays: englishShortWeekdays,
	dates: [...]datePatterns{
		LongDate: {
			"{d} {MMMM} {y}",
			"{d}\u2009–\u2009{d} {MMMM} {y}",
			"{d} {MMMM}\u2009–\u2009{d} {MMMM} {y}",
			"{d} {MMMM} {y}\u2009–\u2009{d} {MMMM} {y}",
		},
		FullDate: {
			"{EEEE}, {d} {MMMM} {y}",
			"{EEEE} {d}\u2009{MMMM} –\u2009{EEEE} {d} {MMMM} {y}",
			"{EEEE} {d} {MMMM}\u2009–\u2009{EEEE} {d} {MMMM} {y}",
			"{EEEE} {d} {MMMM} {y}\u2009–\u2009{EEEE} {d} {MMMM} {y}",
		},
		MediumDate: {
			"{d} {MMM} {y}",
			"{d}\u2009–\u2009{d} {MMM} {y}",
			"{d} {MMM}\u2009–\u2009{d} {MMM} {y}",
			"{d} {MMM} {y}\u2009–\u2009{d} {MMM} {y}",
		},
		Day: {
			"{d} {MMMM}",
			"{d}\u2009–\u2009{d} {MMMM}",
			"{d} {MMMM}\u2009–\u2009{d} {MMMM}",
			"{d} {MMMM} {y}\u2009–\u2009{d} {MMMM} {y}",
		},
		WeekdayDay: {
			"{EEEE} {d} {MMMM}",
			"{EEEE} {d} {MMMM}\u2009–\u2009{EEEE} {d} {MMMM}",
			"{EEEE} {d} {MMMM}\u2009–\u2009{EEEE} {d} {MMMM}",
			"{EEEE}, {d} {MMMM} {y}\u2009–\u2009{EEEE}, {d} {MMMM} {y}",
		},
		ShortDay: {
			"{d} {MMM}",
			"{d}\u2009–\u2009{d} {MMM}",
			"{d} {MMM}\u2009–\u2009{d} {MMM}",
			"{d} {MMM} {y}\u2009–\u2009{d} {MMM} {y}",
		},
		ShortWeekdayDay: {
			"{EEE} {d} {MMM}",
			"{EEE} {d} {MMM}\u2009–\u2009{EEE} {d} {MMM}",
			"{EEE} {d} {MMM}\u2009–\u2009{EEE} {d} {MMM}",
			"{EEE}, {d} {MMM} {y}\u2009–\u2009{EEE}, {d} {MMM} {y}",
		},
		Month: {
			"{LLLL} {y}",
			"{LLLL} {y}",
			"{LLLL}\u2009–\u2009{LLLL} {y}",
			"{LLLL} {y}\u2009–\u2009{LLLL} {y}",
		},
	},
	clock:     Clock24,
	hours12:   timePatterns{"{h}:{mm}\u202f{a}", "{h}:{mm}\u2009–\u2009{h}:{mm}\u202f{a}", "{h}:{mm}\u202f{a}\u2009–\u2009{h}:{mm}\u202f{a}"},
	hours24:   timePatterns{"{HH}:{mm}", "{HH}:{mm}–{HH}:{mm}", "{HH}:{mm}–{HH}:{mm}"},
	dayHalves: [...]string{"am", "pm"},
	atLong:    " at ", atFull: " at ",
	group: ",", groupFrom: 1000,
	relative: [...]string{"yesterday", "today", "tomorrow"},
}

var polishDates = dateWords{
	months: [...]string{
		"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca",
		"lipca", "sierpnia", "września", "października", "listopada", "grudnia",
	},
	headMonths: [...]string{
		"styczeń", "luty", "marzec", "kwiecień", "maj", "czerwiec",
		"lipiec", "sierpień", "wrzesień", "październik", "listopad", "grudzień",
	},
	shortMonths: [...]string{
		"sty", "lut", "mar", "kwi", "maj", "cze",
		"lip", "sie", "wrz", "paź", "lis", "gru",
	},
	weekdays:      [...]string{"niedziela", "poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota"},
	shortWeekdays: [...]string{"niedz.", "pon.", "wt.", "śr.", "czw.", "pt.", "sob."},
	dates: [...]datePatterns{
		LongDate: {
			"{d} {MMMM} {y}",
			"{d}–{d} {MMMM} {y}",
			"{d} {MMMM}\u2009–\u2009{d} {MMMM} {y}",
			"{d} {MMMM} {y}\u2009–\u2009{d} {MMMM} {y}",
		},
		FullDate: {
			"{EEEE}, {d} {MMMM} {y}",
			"{EEEE}, {d} {MMMM}\u2009–\u2009{EEEE}, {d} {MMMM} {y}",
			"{EEEE}, {d} {MMMM}\u2009–\u2009{EEEE}, {d} {MMMM} {y}",
			"{EEEE}, {d} {MMMM} {y}\u2009–\u2009{EEEE}, {d} {MMMM} {y}",
		},
		MediumDate: {
			"{d} {MMM} {y}",
			"{d}–{d} {MMM} {y}",
			"{d} {MMM}–{d} {MMM} {y}",
			"{d} {MMM} {y}–{d} {MMM} {y}",
		},
		Day: {
			"{d} {MMMM}",
			"{d}–{d} {MMMM}",
			"{d} {MMMM}\u2009–\u2009{d} {MMMM}",
			"{d} {MMMM} {y}\u2009–\u2009{d} {MMMM} {y}",
		},
		WeekdayDay: {
			"{EEEE}, {d} {MMMM}",
			"{EEEE}, {d} {MMMM}\u2009–\u2009{EEEE}, {d} {MMMM}",
			"{EEEE}, {d} {MMMM}\u2009–\u2009{EEEE}, {d} {MMMM}",
			"{EEEE}, {d} {MMMM} {y}\u2009–\u2009{EEEE}, {d} {MMMM} {y}",
		},
		ShortDay: {
			"{d} {MMM}",
			"{d}–{d} {MMM}",
			"{d} {MMM}–{d} {MMM}",
			"{d} {MMM} {y}–{d} {MMM} {y}",
		},
		ShortWeekdayDay: {
			"{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM}–{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM}–{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM} {y}–{EEE}, {d} {MMM} {y}",
		},
		Month: {
			"{LLLL} {y}",
			"{LLLL} {y}",
			"{LLLL} {y}\u2009–\u2009{LLLL} {y}",
			"{LLLL} {y}\u2009–\u2009{LLLL} {y}",
		},
	},
	clock:     Clock24,
	hours12:   timePatterns{"{h}:{mm}\u202f{a}", "{h}:{mm}–{h}:{mm}\u202f{a}", "{h}:{mm}\u202f{a}–{h}:{mm}\u202f{a}"},
	hours24:   timePatterns{"{HH}:{mm}", "{HH}:{mm}–{HH}:{mm}", "{HH}:{mm}–{HH}:{mm}"},
	dayHalves: [...]string{"AM", "PM"},
	atLong:    " ", atFull: " ",
	group: "\u00a0", groupFrom: 10_000,
	relative: [...]string{"wczoraj", "dzisiaj", "jutro"},
}

var spanishDates = dateWords{
	months: [...]string{
		"enero", "febrero", "marzo", "abril", "mayo", "junio",
		"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
	},
	headMonths: [...]string{
		"enero", "febrero", "marzo", "abril", "mayo", "junio",
		"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
	},
	shortMonths: [...]string{
		"ene", "feb", "mar", "abr", "may", "jun",
		"jul", "ago", "sept", "oct", "nov", "dic",
	},
	weekdays:      [...]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
	shortWeekdays: [...]string{"dom", "lun", "mar", "mié", "jue", "vie", "sáb"},
	dates: [...]datePatterns{
		LongDate: {
			"{d} de {MMMM} de {y}",
			"{d}–{d} de {MMMM} de {y}",
			"{d} de {MMMM}\u2009–\u2009{d} de {MMMM} de {y}",
			"{d} de {MMMM} de {y}\u2009–\u2009{d} de {MMMM} de {y}",
		},
		FullDate: {
			"{EEEE}, {d} de {MMMM} de {y}",
			"{EEEE}, {d} de {MMMM}\u2009–\u2009{EEEE}, {d} de {MMMM} de {y}",
			"{EEEE}, {d} de {MMMM}\u2009–\u2009{EEEE}, {d} de {MMMM} de {y}",
			"{EEEE}, {d} de {MMMM} de {y}\u2009–\u2009{EEEE}, {d} de {MMMM} de {y}",
		},
		MediumDate: {
			"{d} {MMM} {y}",
			"{d}–{d} {MMM} {y}",
			"{d} {MMM}\u2009–\u2009{d} {MMM} {y}",
			"{d} {MMM} {y}\u2009–\u2009{d} {MMM} {y}",
		},
		Day: {
			"{d} de {MMMM}",
			"{d}–{d} de {MMMM}",
			"{d} de {MMMM}\u2009–\u2009{d} de {MMMM}",
			"{d} de {MMMM} de {y}\u2009–\u2009{d} de {MMMM} de {y}",
		},
		WeekdayDay: {
			"{EEEE}, {d} de {MMMM}",
			"{EEEE}, {d} de {MMMM}\u2009–\u2009{EEEE}, {d} de {MMMM}",
			"{EEEE}, {d} de {MMMM}\u2009–\u2009{EEEE}, {d} de {MMMM}",
			"{EEEE}, {d} de {MMMM} de {y}\u2009–\u2009{EEEE}, {d} de {MMMM} de {y}",
		},
		ShortDay: {
			"{d} {MMM}",
			"{d}–{d} {MMM}",
			"{d} {MMM}\u2009–\u2009{d} {MMM}",
			"{d} {MMM} {y}\u2009–\u2009{d} {MMM} {y}",
		},
		ShortWeekdayDay: {
			"{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM}\u2009–\u2009{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM}\u2009–\u2009{EEE}, {d} {MMM}",
			"{EEE}, {d} {MMM} {y}\u2009–\u2009{EEE}, {d} {MMM} {y}",
		},
		Month: {
			"{LLLL} de {y}",
			"{LLLL} de {y}",
			"{LLLL}–{LLLL} de {y}",
			"{LLLL} de {y}\u2009–\u2009{LLLL} de {y}",
		},
	},
	clock:     Clock24,
	hours12:   timePatterns{"{h}:{mm}\u202f{a}", "{h}:{mm}\u2009–\u2009{h}:{mm}\u202f{a}", "{h}:{mm}\u202f{a}\u2009–\u2009{h}:{mm}\u202f{a}"},
	hours24:   timePatterns{"{H}:{mm}", "{H}:{mm}–{H}:{mm}", "{H}:{mm}–{H}:{mm}"},
	dayHalves: [...]string{"a.\u202fm.", "p.\u202fm."},
	atLong:    " a las ", atFull: ", ",
	group: ".", groupFrom: 10_000,
	relative: [...]string{"ayer", "hoy", "mañana"},
}
