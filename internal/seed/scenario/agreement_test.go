package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// claim is words of a language that say something about the record of an event.
type claim struct {
	language calendar.Language
	pattern  *regexp.Regexp
	// wrong reports whether the record contradicts the match.
	wrong func(c *Calendar, m *testEvent, match string) bool
}

var claims = []claim{
	{calendar.English, regexp.MustCompile(`\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b`), func(_ *Calendar, m *testEvent, match string) bool {
		return m.Span.Start.Weekday().String() != match
	}},
	{calendar.English, regexp.MustCompile(`(?i)\b(doors open)\b`), wrongDoors},
	{calendar.Polish, regexp.MustCompile(`(?i)(drzwi otwieramy|otwarcie drzwi)`), wrongDoors},
	{calendar.Spanish, regexp.MustCompile(`(?i)(apertura de puertas|las puertas se abren)`), wrongDoors},
	{calendar.English, regexp.MustCompile(`(?i)\b(free entry|free admission|admission is free)\b`), wrongFree},
	{calendar.Polish, regexp.MustCompile(`(?i)(wstęp wolny|wstęp bezpłatny)`), wrongFree},
	{calendar.Spanish, regexp.MustCompile(`(?i)(entrada libre|entrada gratuita)`), wrongFree},
	{calendar.English, regexp.MustCompile(`\btrams?\b`), wrongTram},
	{calendar.Polish, regexp.MustCompile(`\btramwaj\w*`), wrongTram},
	{calendar.Spanish, regexp.MustCompile(`\btranvías?\b`), wrongTram},
	{calendar.Spanish, regexp.MustCompile(`[\pL>] (y [«“]?[IiÍí][^aeoáéó\s]|y [Hh]i[^aeoáéó]|o [«“]?[OoÓó]\pL|o [Hh][oó]\pL)`), func(*Calendar, *testEvent, string) bool { return true }},
}

func wrongDoors(_ *Calendar, m *testEvent, _ string) bool { return !m.kind.Doors || m.Span.AllDay }
func wrongFree(_ *Calendar, m *testEvent, _ string) bool  { return m.Cost.Lowest() != "0" }

// wrongTram reports whether no stop of a tram is known in the city.
func wrongTram(c *Calendar, m *testEvent, _ string) bool {
	return !slices.ContainsFunc(c.cities[m.draft.city].quarters, func(q quarter) bool {
		return strings.Contains(q.stop.name, "tram") || strings.Contains(q.stop.name, "tranvía")
	})
}

// eventsOf calls look for each event, with what it was made of.
func eventsOf(c *Calendar, look func(m *testEvent)) {
	for i := range c.Len() {
		m := testEvent{Event: c.Event(i), i: i, roomSlot: c.spots[i]}
		c.outline(&m.place, i)
		c.locateEvent(&m.place, m.roomSlot)
		look(&m)
	}
}

// TestRecordAndTextAgree reads every event of 18 calendars. Short: fewer events.
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
	eventsOf(c, func(m *testEvent) {
		text := m.Description[l]
		if strings.Contains(text, "{") || strings.Count(m.Title[l], ": ") > 1 || strings.Contains(m.Title[l], "?,") {
			report("punctuation: %q: %s", m.Title[l], text)
		}
		for _, claim := range claims {
			if claim.language != l {
				continue
			}
			for _, match := range claim.pattern.FindAllString(text+" "+m.Title[l], -1) {
				if claim.wrong(c, m, match) {
					report("claim %q: %s, %s: %s", match, m.Title[l], m.Span.Start, text)
				}
			}
		}
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
	t.Logf("%d sentences, %d openings, %.0f %% of the descriptions name something of the event", len(sentences), len(openings),
		100*float64(named)/float64(described))
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

// agreesWithKind checks the place, the organizer, the hours, the days and the price of an event.
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
		if !slices.Contains(m.by, typ) {
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

// namesFact reports whether a description names a person, a band, a team, a work, a place, a date or a price of the event.
func (c *Calendar) namesFact(m *testEvent, l calendar.Language, text string) bool {
	texts := c.textsOf(&m.place)
	lead := texts[0].leads[c.leads[m.i*len(c.o.Languages)]]
	return slices.ContainsFunc(lead.template, func(s segment) bool { return s.slot >= 0 && s.gendered == nil }) && l != "" && text != ""
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

// TestNoTextAgainInAMonth counts the descriptions of each kind and activity in each month. One is used twice only if all
// that suit the event were used.
func TestNoTextAgainInAMonth(t *testing.T) {
	forEachCalendar(t, 300, func(t *testing.T, c *Calendar) {
		type use struct {
			texts       *descriptionTexts
			year, month int
		}
		used := map[use]map[uint16]int{}
		eventsOf(c, func(m *testEvent) {
			texts := c.textsOf(&m.place)[0]
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
				if len(l.when) == 0 && l.needs&localSlots == 0 {
					unconditional++
				}
			}
			if most > 1 && events <= unconditional {
				t.Errorf("%d-%02d: a text is used %d times for %d events, of %d texts", at.year, at.month, most, events, unconditional)
			}
		}
	})
}

// TestHolidays has days that governments published.
func TestHolidays(t *testing.T) {
	for country, days := range map[string][]string{
		"PL": {"2026-04-05", "2026-04-06", "2026-05-24", "2026-06-04", "2026-11-11", "2027-03-29", "2027-05-27"},
		"ES": {"2026-04-03", "2026-10-12", "2026-12-08", "2027-03-26"},
		"GB": {"2026-04-06", "2026-05-04", "2026-05-25", "2026-08-31", "2026-12-28", "2027-12-27", "2027-12-28", "2028-01-03"},
		"IE": {"2026-02-02", "2026-06-01", "2026-10-26"},
		"US": {"2026-01-19", "2026-05-25", "2026-11-26", "2027-09-06"},
		"CA": {"2026-05-18", "2027-05-24"},
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
	for _, wrong := range []string{"easter+x", "mon", "mon0/05", "mon1/13", "xyz1/05", "mon>=13-01", "13-01"} {
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
