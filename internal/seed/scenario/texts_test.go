package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

// maskNames replaces names and other words that stand in titles by "…" in a calendar: people, bands, places, teams,
// works, crafts. The tests then compare the other words of its texts.
func maskNames(c *Calendar) {
	const mask = "…"
	masked := func(texts []string) {
		for i := range texts {
			texts[i] = mask
		}
	}
	masks := [grammaticalCases]string{mask, mask, mask, mask, mask, mask}
	for i := range c.people {
		c.people[i] = person{&masks, &masks, c.people[i].female}
	}
	masked(c.bands)
	for i := range c.cities {
		c.cities[i].name = mask
		masked(c.cities[i].names)
		masked(c.cities[i].in)
		masked(c.cities[i].of)
	}
	for i := range c.teams {
		c.teams[i].name = mask
	}
	for i := range c.venues {
		c.venues[i].Name = c.inAllLanguages(mask)
	}
	for i := range c.organizers {
		c.organizers[i].Name = c.inAllLanguages(mask)
	}
	for _, f := range c.layout.fests {
		masked(f.titles)
	}
	for _, k := range c.plan.Kinds {
		for _, t := range k.titles {
			for _, placeholder := range t.placeholders {
				if placeholder < placeholderLists {
					continue
				}
				for _, entries := range c.lists[placeholder-placeholderLists].entries {
					for _, forms := range entries {
						masked(forms)
					}
				}
			}
		}
	}
}

// TestOpeningSentencesAreSeldomShared counts opening sentences, without names in them. No sentence may open more than 1
// of 100 events. Short mode: each scenario in one language, with a higher limit for the fewer events.
func TestOpeningSentencesAreSeldomShared(t *testing.T) {
	events, limit := manyEvents, 0.01
	if testing.Short() {
		events, limit = 1000, 0.03
	}
	for i, s := range Scenarios {
		for j, l := range calendar.Languages {
			if !isPair(i, j) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", s, l), func(t *testing.T) {
				o := optionsOf(s, l, events)
				o.Languages, o.Pictures = o.Languages[:1], false
				c := mustNew(t, o)
				maskNames(c)
				counts := map[string]int{}
				for i := range c.Len() {
					counts[c.Event(i).Excerpt[l]]++
				}
				var openings []string
				for opening, n := range counts {
					openings = append(openings, opening)
					if float64(n) > limit*float64(c.Len()) {
						t.Errorf("%d of %d events open with %s", n, c.Len(), opening)
					}
				}
				most := slices.MaxFunc(openings, func(a, b string) int { return counts[a] - counts[b] })
				t.Logf("%d openings; the most shared one has %.2f %% of the events: %s", len(openings),
					100*float64(counts[most])/float64(c.Len()), most)
			})
		}
	}
}

// TestCountriesWriteAsTheyDo checks quotes and spellings that differ between countries with one language. Short mode: a
// quarter of the calendars.
func TestCountriesWriteAsTheyDo(t *testing.T) {
	foreign := map[string][]string{
		"España": {"“", "celular"}, "México": {"«", "móvil", "ordenador"}, "Argentina": {"«", "móvil", "ordenador"},
		"Colombia": {"«", "móvil", "ordenador"}, "Chile": {"«", "móvil", "ordenador"}, "Perú": {"«", "móvil", "ordenador"},
		"United States": {"eighbour", "heatre", "metre", "umour", "practise", "rganise", "ushchair", "cosy"}, "United Kingdom": {"neighbor", "theater", "kilometer"},
	}
	for _, l := range []calendar.Language{calendar.English, calendar.Spanish} {
		seeds := uint64(12)
		if testing.Short() {
			seeds = 3
		}
		for seed := range seeds {
			o := optionsOf("city", l, 300)
			o.Languages, o.Seed = o.Languages[:1], seed
			c := mustNew(t, o)
			words := foreign[c.cities[0].country.name]
			for i := range c.Len() {
				e := c.Event(i)
				for _, word := range words {
					if strings.Contains(e.Title[l]+e.Description[l], word) {
						t.Errorf("%s, %s: %q in %q: %q", l, c.cities[0].country.name, word, e.Title[l], e.Description[l])
					}
				}
			}
		}
	}
}

// fewestTexts are the kinds that need more descriptions than others, because they have many events.
var fewestTexts = map[string]int{
	"conference talk": 54, "conference workshop": 14, "conference meetup": 14, "university lesson": 34, "venue band": 32,
	"venue part": 18, "festival concert": 32, "festival street": 18, "festival workshop": 14, "sport match": 30,
	"sport football": 22, "sport basketball": 16, "sport volleyball": 14,
}

// activityLists are the lists whose entries have their own descriptions.
var activityLists = map[string][]string{
	"city": {"craft", "move", "market"}, "university": {"science", "club"}, "festival": {"skill"}, "sport": {"move"},
}

// subjectLists are the lists whose entries are subjects of events, by scenario; those of "" are in all. The description of an
// event whose title has such an entry comes from the section of that entry.
var subjectLists = map[string][]string{
	"":     {"talk", "tale", "course", "film", "book", "play", "exhibit"},
	"city": {"theme", "walk"}, "university": {"thesis"}, "conference": {"subject"},
}

// fewestSubjectTexts is the number of descriptions of a subject that suit every event.
const fewestSubjectTexts = 3

// unfinishedTexts are the scenarios with kinds whose texts in a language are not yet rewritten.
var unfinishedTexts = map[calendar.Language][]string{}

func skipUnfinished(t *testing.T, scenario string, l calendar.Language) {
	t.Helper()
	if slices.Contains(unfinishedTexts[l], scenario) {
		t.Skip("these texts are not yet rewritten")
	}
}

// TestTextsAreComplete checks each line of the texts and counts the descriptions of each kind and activity. A scenario
// must not have a description twice. Most descriptions must name something of their event.
func TestTextsAreComplete(t *testing.T) {
	for _, l := range calendar.Languages {
		for _, s := range Scenarios {
			t.Run(string(l)+"/"+s, func(t *testing.T) {
				skipUnfinished(t, s, l)
				textsAreComplete(t, s, l)
			})
		}
	}
}

func textsAreComplete(t *testing.T, scenario string, l calendar.Language) {
	o := optionsOf(scenario, l, 10)
	o.Languages = o.Languages[:1]
	texts, err := readTexts(scenario, l)
	if err != nil {
		t.Fatal(err)
	}
	english, err := readTexts(scenario, calendar.English)
	if err != nil {
		t.Fatal(err)
	}
	c := mustNew(t, o)
	where := map[string]string{}
	for key, section := range texts {
		typ, _, _ := strings.Cut(key, " ")
		for _, text := range slices.Concat(section.Leads, section.More) {
			if _, err := c.compileLine(text, 0); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if typ != "kind" && !isEntrySection(key) {
			continue
		}
		checkSection(t, c, scenario, key, section, texts, where)
	}
	for typ, lists := range map[string][]string{
		"activity": activityLists[scenario], "subject": slices.Concat(subjectLists[""], subjectLists[scenario]),
	} {
		for _, name := range lists {
			at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == name })
			entries, err := english.listOf(c.lists[at])
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				key := typ + " " + name + " " + e[0]
				checkEntrySection(t, typ, name, key, texts[key])
			}
		}
	}
}

// checkSection checks the texts of a section about a kind of events or an entry of a list. where records in which
// section each text occurs.
func checkSection(t *testing.T, c *Calendar, scenario, key string, section *section, texts sections, where map[string]string) {
	typ, name, _ := strings.Cut(key, " ")
	plain, always := 0, 0
	for _, text := range section.Leads {
		if where[text] != "" {
			t.Errorf("%s and %s share %q", key, where[text], text)
		}
		where[text] = key
		if !strings.Contains(text, "{") {
			plain++
		}
		if !strings.HasPrefix(text, "[") {
			always++
		}
	}
	if typ == "subject" {
		if len(section.More) > 0 {
			t.Errorf("%s: further paragraphs belong to the kind", key)
		}
		return
	}
	if list, _, _ := strings.Cut(name, " "); typ == "activity" && !slices.Contains(activityLists[scenario], list) {
		return
	}
	if typ == "kind" && (c.hasEntryTexts(name, texts) || slices.ContainsFunc(c.plan.Kinds, func(k *eventKind) bool {
		return k.Key == name && (k.Role == currentRole || k.Role == clockChangeRole)
	})) {
		return
	}
	if n, want := len(section.Leads), max(fewestTexts[scenario+" "+name], 12); n < want {
		t.Errorf("%s: %d descriptions of %d", key, n, want)
	}
	if always < 6 {
		t.Errorf("%s: %d descriptions without a condition, not 6", key, always)
	}
	if 4*plain > len(section.Leads) {
		t.Errorf("%s: %d of %d descriptions have no placeholder", key, plain, len(section.Leads))
	}
}

// checkEntrySection checks the section about an entry of a list. A nil section means that there is none.
func checkEntrySection(t *testing.T, typ, name, key string, section *section) {
	switch {
	case section == nil:
		t.Errorf("no section %q", key)
	case typ == "subject" && name == "course":
		for lesson := range lessonsOfCourse + 1 {
			condition := fmt.Sprintf("[lesson:%d] ", lesson)
			if !slices.ContainsFunc(section.Leads, func(text string) bool { return strings.HasPrefix(text, condition) }) {
				t.Errorf("%s: no description with %s", key, condition)
			}
		}
	case typ == "subject" && len(section.Leads) < fewestSubjectTexts:
		t.Errorf("%s: %d descriptions of %d", key, len(section.Leads), fewestSubjectTexts)
	}
}

// hasEntryTexts reports whether each title in a section has an entry that has descriptions of its own in a language.
func (c *Calendar) hasEntryTexts(name string, texts sections) bool {
	for _, title := range texts["kind "+name].Titles {
		if !slices.ContainsFunc(c.lists, func(l *list) bool {
			return (strings.Contains(title, "{"+l.name+"}") || strings.Contains(title, "{"+l.name+":")) && c.describesEach(l, texts)
		}) {
			return false
		}
	}
	return true
}

// describesEach reports whether a language has descriptions for each entry of a list.
func (c *Calendar) describesEach(l *list, texts sections) bool {
	sections := 0
	for key := range texts {
		if typ, rest, _ := strings.Cut(key, " "); isEntrySection(typ) && strings.HasPrefix(rest, l.name+" ") {
			sections++
		}
	}
	return sections == len(l.entries[0])
}

func TestWordsOfACountryAreWholeWords(t *testing.T) {
	replace := wordReplacer([][]string{{"el móvil", "el celular"}, {"móvil", "celular"}, {"{band} play", "{band} will play"}, {"torches", "flashlights"}, {"torch", "flashlight"}})
	for text, want := range map[string]string{
		"el automóvil y el móvil":       "el automóvil y el celular",
		"móviles":                       "celulares",
		"torches, a torch.":             "flashlights, a flashlight.",
		"Tonight {band} play, {band:2}": "Tonight {band} will play, {band:2}",
		"":                              "",
		"ámóvil":                        "ámóvil",
	} {
		if got := replace(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
