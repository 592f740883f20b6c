package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// claim is a pattern of words that state a fact about the event, with a check of that fact.
type claim struct {
	language calendar.Language
	pattern  *regexp.Regexp
	// wrong reports whether the record contradicts the match. Nil: the words are a fault in any text.
	wrong func(c *Calendar, m *testEvent, match string) bool
}

var claims = []claim{
	{calendar.English, words(`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?`), wrongWeekday},
	{calendar.Polish, words(`poniedziałek|wtorek|środę|czwartek|piątek|sobotę|sobota|niedzielę|niedziela`), wrongWeekday},
	{calendar.Spanish, words(`lunes|martes|miércoles|jueves|viernes|sábados?|domingos?`), wrongWeekday},
	{calendar.English, words(`(?:(?:\d+|` + numbersIn(englishNumbers) + `|an)(?: and a half)?[ -](?:hours?|minutes?|days?))`), wrongLength},
	{calendar.Polish, words(`(?:(?:\d+|` + numbersIn(polishHours, polishHoursOf, polishDays) + `|półtorej) (?:godzin\pL*|minut\pL*|dni|dzień|dnia))`), wrongLength},
	{calendar.Spanish, words(`(?:(?:\d+|` + numbersIn(spanishNumbers) + `|una) (?:horas?(?: y media)?|minutos?|días?))`), wrongLength},
	{calendar.English, words(`ages \d+ (?:to \d+|and over)|\d+[- ]year-olds?|aged \d+`), wrongAges},
	{calendar.Polish, words(`od \d+ (?:do \d+ )?lat|dla \d+-latków`), wrongAges},
	{calendar.Spanish, words(`de \d+ a \d+ años|a partir de (?:los )?\d+ años|mayores de \d+ años`), wrongAges},
	{calendar.English, words(`(?:in|this) (?:winter|spring|summer|autumn|fall)`), wrongSeason},
	{calendar.Polish, words(`zimą|wiosną|latem|jesienią`), wrongSeason},
	{calendar.Spanish, words(`(?:este|esta) (?:invierno|primavera|verano|otoño)`), wrongSeason},
	{calendar.English, words(`(?:this|in the|all) (?:morning|afternoon|evening)`), wrongTimeOfDay},
	{calendar.English, words(`[£€$]\d+`), wrongPrice},
	{calendar.Polish, words(`\d+ zł`), wrongPrice},
	{calendar.Spanish, words(`\d+ €|S/\d+|\$\d+`), wrongPrice},
	{calendar.Polish, words(`zawodnicy|zawodników|piłkarze|piłkarzy|gospodarze|koszykarze|siatkarze|bramkarzy?`), wrongOfWomen},
	{calendar.Spanish, words(`los jugadores|los locales|los chicos|los visitantes`), wrongOfWomen},
	{calendar.English, words(`men|boys|lads|his|him`), wrongOfWomen},
	{calendar.English, words(`women|girls|her`), wrongOfMen},
	{calendar.Polish, words(`zawodniczki|piłkarki|gospodynie|koszykarki|siatkarki|bramkark[ai]`), wrongOfMen},
	{calendar.Spanish, words(`las jugadoras|las locales|las chicas|las visitantes`), wrongOfMen},
	{calendar.English, words(`swimming goggles|swimming cap|swimming costume|swimsuit`), equipmentOnlyAt("move", "Swimming")},
	{calendar.Polish, words(`okular\pL+ pływack\pL+|czepek|czepka|strój kąpielowy|stroju kąpielowego`), equipmentOnlyAt("move", "Swimming")},
	{calendar.Spanish, words(`gafas de nadar|gorro de baño|bañador`), equipmentOnlyAt("move", "Swimming")},
	{calendar.English, words(`indoor shoes|clean trainers`), equipmentNotAt("move", "Swimming", "Yoga", "Judo", "Cross-country Running")},
	{calendar.Polish, words(`obuwie zmienne|obuwia zmiennego|buty na zmianę`), equipmentNotAt("move", "Swimming", "Yoga", "Judo", "Cross-country Running")},
	{calendar.Spanish, words(`calzado de interior|zapatillas de suela limpia`), equipmentNotAt("move", "Swimming", "Yoga", "Judo", "Cross-country Running")},
	{calendar.English, regexp.MustCompile(`(?i)\b(doors open)\b`), wrongDoors},
	{calendar.Polish, regexp.MustCompile(`(?i)(drzwi otwieramy|otwarcie drzwi)`), wrongDoors},
	{calendar.Spanish, regexp.MustCompile(`(?i)(apertura de puertas|las puertas se abren)`), wrongDoors},
	{calendar.English, regexp.MustCompile(`(?i)\b(free entry|free admission|admission is free)\b`), wrongFree},
	{calendar.Polish, regexp.MustCompile(`(?i)(wstęp wolny|wstęp bezpłatny)`), wrongFree},
	{calendar.Spanish, regexp.MustCompile(`(?i)(entrada libre|entrada gratuita)`), wrongFree},
	{calendar.English, regexp.MustCompile(`\btrams?\b`), wrongTram},
	{calendar.Polish, regexp.MustCompile(`\btramwaj\w*`), wrongTram},
	{calendar.Spanish, regexp.MustCompile(`\btranvías?\b`), wrongTram},
	{calendar.Spanish, regexp.MustCompile(`[\pL>] (y [«“]?[IiÍí][^aeoáéó\s]|y [Hh]i[^aeoáéóp]|o [«“]?[OoÓó]\pL|o [Hh][oó]\pL)`), nil},
}

// words compiles a pattern that matches whole words only.
func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\pL\d])(` + pattern + `)(?:$|[^\pL\d])`)
}

// numbersIn returns the words of lists of numbers as alternatives of a regular expression.
func numbersIn(lists ...[]string) string {
	return strings.Join(slices.DeleteFunc(slices.Concat(lists...), func(s string) bool { return s == "" }), "|")
}

func (m *testEvent) language(c *Calendar) calendar.Language { return c.o.Languages[0] }

// wrongWeekday reports whether an event is on another weekday than the matched text names.
func wrongWeekday(c *Calendar, m *testEvent, match string) bool {
	if m.language(c) == calendar.English || strings.HasPrefix(match, "sáb") || strings.HasPrefix(match, "dom") {
		match = strings.TrimSuffix(match, "s")
	}
	for day := range max(m.needs.days, 1) {
		forms := weekdays[m.language(c)][c.weekday(m.draft.day+day)]
		if strings.Contains(forms[0], match) || strings.Contains(forms[1], match) {
			return false
		}
	}
	return true
}

// wrongLength reports whether the matched duration differs from that of the event, in time and in days. A duration
// under half of the event's is allowed, because it may be that of a part.
func wrongLength(c *Calendar, m *testEvent, match string) bool {
	l := m.language(c)
	is := func(length string) bool { return strings.Contains(length, match) }
	if !m.timed() {
		return !is(daysText(l, 1, 0)) && !is(daysText(l, max(m.needs.days, 1), 0)) && !is(daysText(l, max(m.needs.days, 1), 1))
	}
	for _, minutes := range []int{m.needs.minutes, 60} {
		if is(lengthText(l, minutes, 0)) || is(lengthText(l, minutes, 1)) {
			return minutes != m.needs.minutes && 2*minutes > m.needs.minutes
		}
	}
	part := regexp.MustCompile(`(\S+)[ -]min`).FindStringSubmatch(match)
	if part == nil {
		return !is(daysText(l, 1, 0))
	}
	number, err := strconv.Atoi(part[1])
	return err == nil && 2*number > m.needs.minutes
}

func wrongAges(c *Calendar, m *testEvent, match string) bool {
	return len(m.kind.Ages) == 0 || !strings.Contains(agesText(m.language(c), m.ages()), match)
}

// wrongSeason reports whether an event is in another season than the matched text names. A season in the title is
// allowed.
func wrongSeason(c *Calendar, m *testEvent, match string) bool {
	if strings.Contains(m.Title[m.language(c)], match) {
		return false
	}
	season := c.quarterText(m.language(c), c.month(m.draft.day)%12/3, 0)
	of := c.quarterText(m.language(c), c.month(m.draft.day)%12/3, 1)
	return !strings.HasSuffix(match, season) && match != of
}

func wrongTimeOfDay(_ *Calendar, m *testEvent, match string) bool {
	_, part, _ := strings.Cut(strings.TrimPrefix(match, "in "), " ")
	from, until := m.minute(), m.minute()+m.needs.minutes
	return m.timed() && !map[string]bool{
		"morning": from < 12*60, "afternoon": from < 18*60 && until > 12*60, "evening": until > 17*60,
	}[part]
}

func wrongPrice(_ *Calendar, m *testEvent, match string) bool {
	return len(m.Cost.Prices) == 0 || fullPrice(m.Cost) != match
}

func (m *testEvent) division(c *Calendar) int {
	if m.title == nil || !slices.Contains(m.title.placeholders, c.divisionPlaceholder()) {
		return -1
	}
	return m.draft.gender(c.divisionPlaceholder())
}

func wrongOfWomen(c *Calendar, m *testEvent, _ string) bool { return m.division(c) == 1 }
func wrongOfMen(c *Calendar, m *testEvent, _ string) bool {
	return m.division(c) == 0 && !m.entry(c, "division", "Juniors")
}

// equipmentOnlyAt returns a check for words about equipment. It reports an error unless the title has the entry name of the
// list.
func equipmentOnlyAt(list, name string) func(*Calendar, *testEvent, string) bool {
	return func(c *Calendar, m *testEvent, _ string) bool { return !m.entry(c, list, name) }
}

// equipmentNotAt returns a check for words about equipment. It reports an error if the title has one of the entries of the list.
func equipmentNotAt(list string, names ...string) func(*Calendar, *testEvent, string) bool {
	return func(c *Calendar, m *testEvent, _ string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return m.entry(c, list, name) })
	}
}

func wrongDoors(_ *Calendar, m *testEvent, _ string) bool { return !m.kind.Doors || m.Span.AllDay }
func wrongFree(_ *Calendar, m *testEvent, _ string) bool  { return m.Cost.Lowest() != "0" }

// wrongTram reports whether the city of the event has no known tram stop.
func wrongTram(c *Calendar, m *testEvent, _ string) bool {
	return !slices.ContainsFunc(c.cities[m.draft.city].mapped, func(q district) bool {
		return strings.Contains(q.stop.name, "tram") || strings.Contains(q.stop.name, "tranvía")
	})
}

// forEachEvent calls look for each event of a calendar, with the outline that the event was generated from.
func forEachEvent(c *Calendar, look func(m *testEvent)) {
	for i := range c.Len() {
		m := testEvent{Event: c.Event(i), i: i, roomSlot: c.spots[i]}
		c.outlineEvent(&m.eventOutline, i)
		c.locateEvent(&m.eventOutline, m.roomSlot)
		look(&m)
	}
}

// TestRecordAndTextAgree checks that the texts of events state no wrong facts, in 18 calendars. Short mode: fewer
// events.
func TestRecordAndTextAgree(t *testing.T) {
	events := 10_000
	if testing.Short() {
		events = 600
	}
	for _, s := range Scenarios {
		for _, l := range calendar.Languages {
			t.Run(s+"/"+string(l), func(t *testing.T) {
				o := optionsOf(s, l, events)
				o.Languages, o.Pictures = o.Languages[:1], false
				agree(t, mustNew(t, o), l)
			})
		}
	}
}

// mostPerSentence is the greatest share of the events of a calendar whose descriptions have a sentence.
const mostPerSentence = 0.03

// fewSentences is a number of events that may share a sentence in a calendar of any size.
const fewSentences = 30

func agree(t *testing.T, c *Calendar, l calendar.Language) {
	sentences, openings, wrong := map[string]int{}, map[string]int{}, map[string]int{}
	named, described := 0, 0
	report := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if kind, _, _ := strings.Cut(text, ":"); wrong[kind] < 3 {
			t.Error(text)
			wrong[kind]++
		}
	}
	forEachEvent(c, func(m *testEvent) {
		text := m.Description[l]
		if strings.Contains(text, "{") || strings.Count(m.Title[l], ": ") > 1 || strings.Contains(m.Title[l], "?,") {
			report("punctuation: %q: %s", m.Title[l], text)
		}
		c.checkClaims(m, l, report)
		if text != "" {
			described++
			if c.namesFact(m, l, text) {
				named++
			}
		}
		seen := map[string]bool{}
		for _, sentence := range sentencesOf(text) {
			if !seen[sentence] {
				sentences[sentence]++
				seen[sentence] = true
			}
		}
		if text != "" {
			openings[m.Excerpt[l]]++
		}
		agreesWithKind(c, m, report)
	})
	commonest := commonestOf(sentences)
	t.Logf("%d sentences, %d openings, %.0f %% of the descriptions name something of the event; %d of %d events say: %s",
		len(sentences), len(openings), 100*float64(named)/float64(described), sentences[commonest], c.Len(), commonest)
	skipUnfinished(t, c.o.Scenario, l)
	for sentence, n := range sentences {
		if float64(n) > max(mostPerSentence*float64(c.Len()), fewSentences) {
			t.Errorf("%d of %d events say: %s", n, c.Len(), sentence)
		}
	}
	if share := float64(named) / float64(described); share < 0.7 {
		t.Errorf("only %.0f %% of the descriptions name something of the event", 100*share)
	}
}

// checkClaims reports the statements in an event's texts that are wrong, in one language.
func (c *Calendar) checkClaims(m *testEvent, l calendar.Language, report func(format string, args ...any)) {
	text := m.Description[l]
	for _, claim := range claims {
		if claim.language != l {
			continue
		}
		about := text
		if claim.wrong != nil && c.textsOf(&m.eventOutline)[0].subject {
			_, about, _ = strings.Cut(text, "\n") // the days of a plot are not those of the film
		}
		for _, match := range claim.pattern.FindAllStringSubmatch(about+" "+m.Title[l], -1) {
			if said := match[len(match)-1]; claim.wrong == nil || claim.wrong(c, m, said) {
				report("claim %q: %s, %s: %s", said, m.Title[l], m.Span.Start, text)
			}
		}
	}
}

// commonestOf returns the text with the highest count. If several have it, the first in the alphabet wins.
func commonestOf(counts map[string]int) (commonest string) {
	for text, n := range counts {
		if n > counts[commonest] || n == counts[commonest] && text < commonest {
			commonest = text
		}
	}
	return commonest
}

// agreesWithKind reports an event whose place, organizer, time, weekday or price does not suit its kind.
func agreesWithKind(c *Calendar, m *testEvent, report func(string, ...any)) {
	country := c.cities[0].country.code
	if c.isHoliday(m.Span.Start) && m.timed() && m.kind.Role != clockChangeRole {
		report("holiday: %s at %s", m.kind.Key, m.Span.Start)
	}
	if m.entry(c, "move", "Swimming") && len(m.Venues) > 0 && c.plan.Venues[m.Venues[0]%len(c.plan.Venues)] != "pool" {
		report("place: swimming in %s", c.venues[m.Venues[0]].Name)
	}
	for _, o := range m.Organizers[:1] {
		typ := c.plan.Organizers[o%len(c.plan.Organizers)]
		if !slices.Contains(m.organizerTypes, typ) {
			report("organizer: %s by %s", m.kind.Key, typ)
		}
	}
	if country == "ES" && m.timed() && m.kind.Lasts[1] <= 4*60 && m.minute() >= lunchFrom && m.minute() < lunchUntil {
		report("lunch: %s at %s", m.kind.Key, m.Span.Start)
	}
	for _, price := range m.Cost.Prices {
		number := strings.Trim(price, "0123456789") // the currency or a separator
		value := strings.Trim(price, number)
		if price != "0" && (value == "1" || value == "2" && len(m.Cost.Prices) == 1) {
			report("price: %s costs %s", m.kind.Key, price)
		}
	}
	for _, zip := range m.Venues {
		if v := c.venues[zip]; v.Zip != "" && strings.Contains(v.Zip, " ") {
			report("postcode: %s", v.Zip)
		}
	}
}

// namesFact reports whether a description names something particular of the event, such as a person, a place, a date or
// a price. A description of the event's subject counts as such.
func (c *Calendar) namesFact(m *testEvent, l calendar.Language, text string) bool {
	texts := c.textsOf(&m.eventOutline)
	lead := texts[0].leads[c.leads[m.i*len(c.o.Languages)]]
	return texts[0].subject || slices.ContainsFunc(lead.template, func(s segment) bool { return s.placeholder >= 0 && s.gendered == nil }) && l != "" && text != ""
}

// sentencesOf returns the sentences of a description without tags.
func sentencesOf(html string) []string {
	var all []string
	for _, paragraph := range strings.FieldsFunc(tags.ReplaceAllString(html, "\n"), func(r rune) bool { return r == '\n' }) {
		for paragraph = strings.TrimSpace(paragraph); paragraph != ""; {
			first := firstSentence(paragraph)
			all = append(all, first)
			paragraph = strings.TrimSpace(strings.TrimPrefix(paragraph, first))
		}
	}
	return all
}

var tags = regexp.MustCompile(`<[^>]*>`)

// TestNoTextAgainInAMonth checks how often each description occurs in a month. It may occur twice only after all others
// that suit the event occurred.
func TestNoTextAgainInAMonth(t *testing.T) {
	forEachCalendar(t, 300, func(t *testing.T, c *Calendar) {
		type use struct {
			texts       *descriptionTexts
			year, month int
		}
		used := map[use]map[uint16]int{}
		forEachEvent(c, func(m *testEvent) {
			texts := c.textsOf(&m.eventOutline)[0]
			year, month, _ := c.day(int(m.day)).Date()
			at := use{texts, year, int(month)}
			if used[at] == nil {
				used[at] = map[uint16]int{}
			}
			used[at][c.leads[m.i*len(c.o.Languages)]]++
		})
		for at, leads := range used {
			events, most := 0, 0
			for _, n := range leads {
				events += n
				most = max(most, n)
			}
			unconditional := 0
			for _, l := range at.texts.leads {
				if len(l.when) == 0 && l.needs&localPlaceholders == 0 {
					unconditional++
				}
			}
			if most > 1 && events <= unconditional {
				t.Errorf("%d-%02d: a text is used %d times for %d events, of %d texts", at.year, at.month, most, events, unconditional)
			}
		}
	})
}

// TestHolidays compares the computed public holidays with dates that governments published.
func TestHolidays(t *testing.T) {
	for country, days := range map[string][]string{
		"PL": {"2026-04-05", "2026-04-06", "2026-05-24", "2026-06-04", "2026-11-11", "2027-03-29", "2027-05-27"},
		"ES": {"2026-04-03", "2026-10-12", "2026-12-08", "2027-03-26"},
		"GB": {"2026-04-06", "2026-05-04", "2026-05-25", "2026-08-31", "2026-12-28", "2027-12-27", "2027-12-28", "2028-01-03"},
		"IE": {"2023-02-06", "2024-02-05", "2025-02-03", "2026-02-02", "2030-02-01", "2026-06-01", "2026-10-26"},
		"US": {"2026-01-19", "2026-05-25", "2026-10-12", "2026-11-26", "2027-09-06"},
		"CA": {"2026-05-18", "2027-05-24"},
		"NZ": {"2026-07-10", "2027-06-25", "2026-04-27", "2027-02-08", "2026-12-28"},
		"AR": {"2026-02-16", "2026-02-17", "2026-06-15", "2026-08-17", "2026-10-12", "2026-11-23", "2027-06-21", "2027-08-16"},
		"CL": {"2026-06-21", "2026-06-29", "2026-10-12", "2026-10-31", "2027-06-28", "2027-09-17", "2027-10-11", "2028-10-27"},
		"EC": {"2026-05-01", "2026-05-25", "2026-08-10", "2026-10-09", "2027-04-30", "2027-08-09", "2027-10-08"},
		"CO": {"2026-01-12", "2026-06-15", "2026-11-02"},
	} {
		var rules []holiday
		for _, l := range calendar.Languages {
			c := mustNew(t, optionsOf("city", l, 10))
			countries, err := c.readCountries()
			if err != nil {
				t.Fatal(err)
			}
			if in := countries[country]; in != nil {
				rules = in.closed
			}
		}
		for _, text := range days {
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				t.Fatal(err)
			}
			if !holidaysIn(rules, day.Year())[yearDay{day.Month(), day.Day()}] {
				t.Errorf("%s: %s is no holiday", country, text)
			}
		}
	}
	for text, day := range map[string]string{
		"fri=09-17": "2026-09-17", "2026-07-10": "2027-07-10", "06-17@tue-1,wed-2,thu+4,fri+3": "2026-06-17",
		"02-01@tue+6,wed+5,thu+4,sat+2,sun+1": "2026-02-01",
	} {
		rules, err := parseHolidays(text)
		if err != nil {
			t.Fatal(err)
		}
		if on, err := time.Parse(time.DateOnly, day); err != nil || holidaysIn(rules, on.Year())[yearDay{on.Month(), on.Day()}] {
			t.Errorf("%s: %s is a holiday, %v", text, day, err)
		}
	}
	for _, wrong := range []string{"06-17@tue", "06-17@xyz+1", "13-17@tue-1", "fri=13-01", "2026-02-30", "easter+x", "mon", "mon0/05", "mon1/13", "xyz1/05", "mon>=13-01", "13-01"} {
		if _, err := parseHoliday(wrong); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}

func TestGrammar(t *testing.T) {
	for text, want := range map[string]string{
		"Los Relojes y Iván Morales": "Los Relojes e Iván Morales", "Ana y Hilario": "Ana e Hilario", "agua y hielo": "agua y hielo",
		"<p>Marta y «Inés»</p>": "<p>Marta e «Inés»</p>", "siete o ocho": "siete u ocho", "Ana o Óscar": "Ana u Óscar",
		"hoy Isabel": "hoy Isabel", "vino o horchata": "vino u horchata", "Ana y Ian": "Ana y Ian",
	} {
		if got := mendGrammar(text, calendar.Spanish); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"a 90-minute walk": "a 90-minute walk", "a 80-minute walk": "an 80-minute walk", "a eight-hour day": "an eight-hour day",
		"A 11-day fair": "An 11-day fair", "a 105-minute walk": "a 105-minute walk",
	} {
		if got := mendGrammar(text, calendar.English); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"Who Knew?, Introduced by Ann": "Who Knew? Introduced by Ann", "A: B: C": "A: B – C", "A: B": "A: B",
	} {
		if got := composedTitle(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestComposedTitles checks the punctuation of all titles in every language.
func TestComposedTitles(t *testing.T) {
	wrong := regexp.MustCompile(`[?!][,:.]|: .*: |[,;:]$|  |\{`)
	forEachCalendar(t, 1000, func(t *testing.T, c *Calendar) {
		var titles []Text
		for i := range c.Len() {
			titles = append(titles, c.Event(i).Title)
		}
		for _, s := range c.Series() {
			titles = append(titles, s.Title)
		}
		for _, title := range titles {
			for l, text := range title {
				if text == "" || wrong.MatchString(text) {
					t.Errorf("%s: %q", l, text)
				}
			}
		}
	})
}

func TestPricesInWords(t *testing.T) {
	for want, elements := range map[string][]string{
		"£12": {"£12", "£8"}, "12 zł": {"12 zł"}, "S/40": {"S/40", "S/28"}, "$20": {"$20"}, "9 €": {"9 €", "6 €"},
	} {
		if got := fullPrice(calendar.ParseCost(elements, ".")); got != want {
			t.Errorf("%s: %q, want %q", elements, got, want)
		}
	}
}

func TestTimesInWords(t *testing.T) {
	c := mustNew(t, optionsOf("city", calendar.Polish, 10))
	for _, tt := range []struct{ got, want string }{
		{lengthText("pl", 90, 0), "półtorej godziny"},
		{lengthText("pl", 60, 0), "godzinę"},
		{lengthText("pl", 120, 1), "dwóch godzin"},
		{lengthText("pl", 300, 0), "pięć godzin"},
		{lengthText("pl", 75, 0), "75 minut"},
		{lengthText("es", 90, 0), "una hora y media"},
		{lengthText("es", 120, 1), "de dos horas"},
		{lengthText("en", 90, 0), "90 minutes"},
		{lengthText("en", 150, 0), "two and a half hours"},
		{lengthText("en", 120, 1), "two-hour"},
		{daysText("pl", 3, 1), "trzech dni"},
		{daysText("en", 14, 1), "14-day"},
		{c.clockText("en", 19*60+30), "7.30pm"},
		{c.clockText("en", 12*60), "12pm"},
		{c.clockText("pl", 9*60), "9:00"},
		{agesText("es", [2]int{16, 0}), "a partir de 16 años"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}
