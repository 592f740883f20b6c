package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// fact returns the text of a placeholder whose value is a field of the event, such as its price. It returns "" for
// other placeholders.
func (d *draft) fact(s segment, language int) string {
	c, p, l := d.c, d.outline, d.c.o.Languages[language]
	day := c.day(d.day)
	switch s.placeholder {
	case placeholderWeekday:
		return weekdays[l][c.weekday(d.day)][s.form]
	case placeholderDate:
		_, month, number := day.Date()
		return c.dateText(l, month, number)
	case placeholderMonth:
		_, month, _ := day.Date()
		return months[l][month-1][s.form]
	case placeholderQuarter:
		return c.quarterText(l, c.month(d.day)%12/3, s.form)
	case placeholderStart:
		return c.clockText(l, p.clock)
	case placeholderEnd:
		return c.clockText(l, p.clock+p.needs.minutes)
	case placeholderDoors:
		return c.clockText(l, p.clock-30)
	case placeholderLength:
		return lengthText(l, p.needs.minutes, s.form)
	case placeholderDays:
		return daysText(l, max(p.needs.days, 1), s.form)
	case placeholderAges:
		return agesText(l, p.ages())
	case placeholderPlaces:
		source := chanceOf(uint64(d.chance), 8)
		return strconv.Itoa(source.between(p.kind.Places[0], p.kind.Places[1]))
	case placeholderPrice:
		return fullPrice(p.cost)
	case placeholderStreet:
		at := c.venuePlaces[d.venue].street
		return [2]string{at.inText(l), at.in(l)}[s.form]
	case placeholderDistrict:
		return c.venuePlaces[d.venue].district.form(s.form)
	case placeholderStop:
		return c.venuePlaces[d.venue].district.stop.form(s.form)
	case placeholderSquare, placeholderPark, placeholderRiver:
		sights := c.cities[d.city].sights[s.placeholder]
		source := chanceOf(uint64(d.chance), 10)
		return sights[source.below(len(sights))].form(s.form)
	}
	return ""
}

// fullPrice returns the unreduced price with its currency, such as "£12". The cost must have a price.
func fullPrice(of calendar.Cost) string {
	price := of.Prices[len(of.Prices)-1]
	if of.Position == calendar.Postfix {
		return price + " " + of.Symbol
	}
	return of.Symbol + price
}

func (n placeName) form(form int) string { return [2]string{n.name, n.at}[form] }

// ages returns the lowest and highest age of the participants in years. A highest age of 0 means no limit.
func (p *eventOutline) ages() [2]int {
	source := chanceOf(uint64(p.draft.chance), 9)
	return p.kind.Ages[source.below(len(p.kind.Ages))]
}

// dateText returns a day and month as text, such as "28 November" or "28 de noviembre".
func (c *Calendar) dateText(l calendar.Language, month time.Month, day int) string {
	name := months[l][month-1]
	switch {
	case l == calendar.Polish:
		return strconv.Itoa(day) + " " + name[2]
	case l == calendar.Spanish:
		return strconv.Itoa(day) + " de " + name[0]
	case c.American():
		return name[0] + " " + strconv.Itoa(day)
	}
	return strconv.Itoa(day) + " " + name[0]
}

// clockText returns a time of day as text: 7.30pm in Britain, 7:30 PM in America, 19:30 in Polish and Spanish. The
// parameter minute is counted from midnight.
func (c *Calendar) clockText(l calendar.Language, minute int) string {
	minute = (minute + 24*60) % (24 * 60)
	hour, rest := minute/60, minute%60
	if l != calendar.English {
		return fmt.Sprintf("%d:%02d", hour, rest)
	}
	half := [2]string{"am", "pm"}[hour/12]
	hour = (hour+11)%12 + 1
	switch {
	case c.American():
		return fmt.Sprintf("%d:%02d %s", hour, rest, strings.ToUpper(half))
	case rest == 0:
		return strconv.Itoa(hour) + half
	}
	return fmt.Sprintf("%d.%02d%s", hour, rest, half)
}

// lengthText returns a duration as text, such as "90 minutes". With form 1 the text can stand beside a noun:
// attributive in English, with "de" in Spanish, genitive in Polish.
func lengthText(l calendar.Language, minutes, form int) string {
	hours, rest := minutes/60, minutes%60
	switch {
	case rest == 30 && l == calendar.Polish && hours == 1:
		return "półtorej godziny"
	case rest == 30 && l == calendar.Polish && hours > 1:
		return [2]string{polishHours[hours], polishHoursOf[hours]}[form] + " i pół godziny"
	case rest == 30 && l == calendar.Spanish && hours > 0:
		return [2]string{"", "de "}[form] + spanishHours(hours) + " y media"
	case rest == 30 && l == calendar.English && hours > 1 && form == 0:
		return englishNumbers[hours] + " and a half hours"
	case rest != 0 && hours > 0 && minutes > 90 && hours <= 12 && (form == 0 || l != calendar.English):
		and := map[calendar.Language]string{calendar.Polish: " i ", calendar.Spanish: " y ", calendar.English: " and "}[l]
		return lengthText(l, 60*hours, form) + and + minutesText(l, rest, 0)
	case rest != 0 || hours == 0 || hours > 12:
		return minutesText(l, minutes, form)
	}
	switch l {
	case calendar.Polish:
		if hours == 1 {
			return [2]string{"godzinę", "godziny"}[form]
		}
		noun := "godzin"
		if hours < 5 && form == 0 {
			noun = "godziny"
		}
		return [2]string{polishHours[hours], polishHoursOf[hours]}[form] + " " + noun
	case calendar.Spanish:
		return [2]string{"", "de "}[form] + spanishHours(hours)
	}
	switch {
	case form == 1:
		return englishNumbers[hours] + "-hour"
	case hours == 1:
		return "an hour"
	}
	return englishNumbers[hours] + " hours"
}

func minutesText(l calendar.Language, minutes, form int) string {
	number := strconv.Itoa(minutes)
	switch l {
	case calendar.Polish:
		return number + " minut"
	case calendar.Spanish:
		return [2]string{"", "de "}[form] + number + " minutos"
	}
	return number + [2]string{" minutes", "-minute"}[form]
}

func spanishHours(hours int) string {
	if hours == 1 {
		return "una hora"
	}
	return spanishNumbers[hours] + " horas"
}

// daysText returns a number of days as text, such as "three days". With form 1 the text can stand beside a noun:
// attributive in English, with "de" in Spanish, genitive in Polish.
func daysText(l calendar.Language, days, form int) string {
	number := func(words []string) string {
		if days < len(words) {
			return words[days]
		}
		return strconv.Itoa(days)
	}
	switch l {
	case calendar.Polish:
		if days == 1 {
			return [2]string{"jeden dzień", "jednego dnia"}[form]
		}
		if days >= len(polishHours) {
			return strconv.Itoa(days) + " dni"
		}
		return [2]string{polishDays[days], polishHoursOf[days]}[form] + " dni"
	case calendar.Spanish:
		if days == 1 {
			return [2]string{"", "de "}[form] + "un día"
		}
		return [2]string{"", "de "}[form] + number(spanishNumbers) + " días"
	}
	switch {
	case form == 1:
		return number(englishNumbers) + "-day"
	case days == 1:
		return "one day"
	}
	return number(englishNumbers) + " days"
}

// agesText returns an age range as text. ages are the lowest and highest age in years. A highest age of 0 means no
// limit.
func agesText(l calendar.Language, ages [2]int) string {
	from, to := strconv.Itoa(ages[0]), strconv.Itoa(ages[1])
	if ages[1] == 0 {
		return map[calendar.Language]string{
			calendar.Polish: "od " + from + " lat", calendar.Spanish: "a partir de " + from + " años",
			calendar.English: "ages " + from + " and over",
		}[l]
	}
	return map[calendar.Language]string{
		calendar.Polish: "od " + from + " do " + to + " lat", calendar.Spanish: "de " + from + " a " + to + " años",
		calendar.English: "ages " + from + " to " + to,
	}[l]
}

// quarterText returns the name of a season. The parameter quarter is 0 for winter to 3 for autumn. With form 1 the
// text has a preposition, such as "in autumn".
func (c *Calendar) quarterText(l calendar.Language, quarter, form int) string {
	if l == calendar.English && quarter == 3 && c.cities[0].country.code == "US" {
		return [2]string{"fall", "in fall"}[form]
	}
	return quarters[l][quarter][form]
}

// englishNumbers and the other variables have words for numbers and times. A form with a preposition follows the
// bare word.
var (
	englishNumbers = []string{
		"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
	}
	spanishNumbers = []string{
		"", "un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce",
	}
	polishHours = []string{ // before godziny and godzin
		"", "jedną", "dwie", "trzy", "cztery", "pięć", "sześć", "siedem", "osiem", "dziewięć", "dziesięć", "jedenaście",
		"dwanaście",
	}
	polishDays = []string{
		"", "jeden", "dwa", "trzy", "cztery", "pięć", "sześć", "siedem", "osiem", "dziewięć", "dziesięć", "jedenaście",
		"dwanaście",
	}
	polishHoursOf = []string{
		"", "jednej", "dwóch", "trzech", "czterech", "pięciu", "sześciu", "siedmiu", "ośmiu", "dziewięciu", "dziesięciu",
		"jedenastu", "dwunastu",
	}
	weekdays = map[calendar.Language][7][2]string{
		calendar.English: withPreposition("on ", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
		calendar.Spanish: withPreposition("el ", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
		calendar.Polish: {
			{"poniedziałek", "w poniedziałek"},
			{"wtorek", "we wtorek"},
			{"środa", "w środę"},
			{"czwartek", "w czwartek"},
			{"piątek", "w piątek"},
			{"sobota", "w sobotę"},
			{"niedziela", "w niedzielę"},
		},
	}
	quarters = map[calendar.Language][4][2]string{
		calendar.English: {{"winter", "in winter"}, {"spring", "in spring"}, {"summer", "in summer"}, {"autumn", "in autumn"}},
		calendar.Spanish: {{"invierno", "en invierno"}, {"primavera", "en primavera"}, {"verano", "en verano"}, {"otoño", "en otoño"}},
		calendar.Polish:  {{"zima", "zimą"}, {"wiosna", "wiosną"}, {"lato", "latem"}, {"jesień", "jesienią"}},
	}
	months = map[calendar.Language][12][3]string{
		calendar.English: {
			{"January", "in January"},
			{"February", "in February"},
			{"March", "in March"},
			{"April", "in April"},
			{"May", "in May"},
			{"June", "in June"},
			{"July", "in July"},
			{"August", "in August"},
			{"September", "in September"},
			{"October", "in October"},
			{"November", "in November"},
			{"December", "in December"},
		},
		calendar.Spanish: {
			{"enero", "en enero"},
			{"febrero", "en febrero"},
			{"marzo", "en marzo"},
			{"abril", "en abril"},
			{"mayo", "en mayo"},
			{"junio", "en junio"},
			{"julio", "en julio"},
			{"agosto", "en agosto"},
			{"septiembre", "en septiembre"},
			{"octubre", "en octubre"},
			{"noviembre", "en noviembre"},
			{"diciembre", "en diciembre"},
		},
		calendar.Polish: {
			{"styczeń", "w styczniu", "stycznia"},
			{"luty", "w lutym", "lutego"},
			{"marzec", "w marcu", "marca"},
			{"kwiecień", "w kwietniu", "kwietnia"},
			{"maj", "w maju", "maja"},
			{"czerwiec", "w czerwcu", "czerwca"},
			{"lipiec", "w lipcu", "lipca"},
			{"sierpień", "w sierpniu", "sierpnia"},
			{"wrzesień", "we wrześniu", "września"},
			{"październik", "w październiku", "października"},
			{"listopad", "w listopadzie", "listopada"},
			{"grudzień", "w grudniu", "grudnia"},
		},
	}
)

// withPreposition returns seven words, each with the form after a preposition.
func withPreposition(preposition string, words ...string) [7][2]string {
	var all [7][2]string
	for i, word := range words {
		all[i] = [2]string{word, preposition + word}
	}
	return all
}

// composedTitle corrects the punctuation of a title that consists of parts. It leaves one colon, and no comma or
// colon after "?" or "!".
func composedTitle(title string) string {
	for _, mark := range []string{"?", "!"} {
		title = strings.ReplaceAll(title, mark+",", mark)
		title = strings.ReplaceAll(title, mark+":", mark)
	}
	if head, tail, ok := strings.Cut(title, ": "); ok {
		title = head + ": " + strings.ReplaceAll(tail, ": ", " – ")
	}
	return title
}
