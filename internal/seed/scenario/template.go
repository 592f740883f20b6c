package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

type template []segment

// segment is a part of a template: a text and the placeholder after it.
type segment struct {
	text string
	slot int // -1 means no slot
	form int
	// gendered are the words by the gender of the person or division in the slot: masculine, feminine. Nil means
	// that the slot shows a name.
	gendered *[2]string
}

// templates are the templates of one text, by language.
type templates []template

// Slots that are not lists. Numbers from slotLists on are lists. The texts of a slot are shown as examples.
const (
	slotCity     = iota // Kraków
	slotIn              // in Kraków
	slotOf              // of Kraków
	slotVenue           // name of the venue
	slotOrg             // name of the organizer
	slotYear            // 2026
	slotSeason          // 2026/27
	slotEdition         // ordinal of the edition: 21st
	slotNumber          // number of the lesson: 3
	slotNth             // ordinal of the lesson in words: third
	slotLesson          // subject of the lesson
	slotHead            // title of the festival
	slotHome            // first team of the match
	slotAway            // second team of the match
	slotWeekday         // Saturday, on Saturday
	slotDate            // 28 November
	slotMonth           // November, in November
	slotQuarter         // autumn, in autumn
	slotStart           // 7.30pm
	slotEnd             // 9pm
	slotDoors           // half an hour before the start
	slotLength          // two hours, two-hour
	slotDays            // three days, three-day
	slotAges            // ages 5 to 10
	slotPlaces          // 12
	slotPrice           // £12
	slotStreet          // Byres Road, on Byres Road
	slotDistrict        // Leith, in Leith
	slotSquare          // George Square, in George Square
	slotPark            // Kelvingrove Park, in Kelvingrove Park
	slotRiver           // the Clyde, by the Clyde
	slotStop            // Hillhead subway station, near Hillhead subway station
	slotBy              // author of the work in the title
	slotWho             // a person
	slotWho2            // another person
	slotBand
	slotMatch // pair of home and away team
	slotLists // the first list
)

var slotNames = [...]string{
	"city", "in", "of", "venue", "org", "year", "season", "edition", "n", "nth", "lesson", "head", "home", "away",
	"weekday", "date", "month", "quarter", "start", "end", "doors", "length", "days", "ages", "places", "price",
	"street", "district", "square", "park", "river", "stop", "by", "who", "who2", "band", "match",
}

// compile parses a text with placeholders in braces. If html is true, it escapes the text between them.
func (c *Calendar) compile(text string, html bool) (template, error) {
	var t template
	add := func(text string, slot, form int, gendered *[2]string) {
		if html {
			text = calendar.Escape(text)
		}
		t = append(t, segment{text, slot, form, gendered})
	}
	rest := text
	for {
		before, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		name, next, found := strings.Cut(after, "}")
		if !found {
			return nil, fmt.Errorf("no closing brace in %q", text)
		}
		name, words, byGender := strings.Cut(name, "?")
		var gendered *[2]string
		if byGender {
			masculine, feminine, found := strings.Cut(words, "|")
			if !found || strings.Contains(feminine, "|") || !slices.Contains(genderedSlots, name) {
				return nil, fmt.Errorf("no two forms by gender in {%s?%s} in %q", name, words, text)
			}
			gendered = &[2]string{masculine, feminine}
		}
		name, number, _ := strings.Cut(name, ":")
		form := 1
		if number != "" {
			var err error
			if form, err = strconv.Atoi(number); err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
			if form < 1 {
				return nil, fmt.Errorf("no form %d in %q", form, text)
			}
		}
		slot := slices.Index(slotNames[:], name)
		if slot < 0 {
			at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == name })
			if at < 0 {
				return nil, fmt.Errorf("no slot %q in %q", name, text)
			}
			slot = slotLists + at
		}
		if forms := formsOf(slot); slot < slotLists && form > forms {
			return nil, fmt.Errorf("%q: %s has %d forms", text, name, forms)
		}
		if slot == slotLesson && !c.hasLessons() {
			return nil, fmt.Errorf("no list of courses with %d lessons for %q", lessonsOfCourse, text)
		}
		add(before, slot, form-1, gendered)
		rest = next
	}
	if rest != "" || len(t) == 0 {
		add(rest, -1, 0, nil)
	}
	return t, nil
}

// formsOf returns the number of grammatical forms of a placeholder that is not a list.
func formsOf(slot int) int {
	switch slot {
	case slotBy, slotWho, slotWho2:
		return personForms
	case slotMonth:
		return 3
	case slotNth, slotWeekday, slotQuarter, slotLength, slotDays, slotStreet, slotDistrict, slotSquare, slotPark,
		slotRiver, slotStop:
		return 2
	}
	return 1
}

// genderedSlots are the slots with words by gender: {who?he|she}.
var genderedSlots = []string{"who", "who2", "by", divisionList}

// divisionList is the list of the divisions of leagues.
const divisionList = "division"

// hasLessons reports whether the scenario has courses with a title for each lesson.
func (c *Calendar) hasLessons() bool {
	at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == "course" })
	return at >= 0 && !slices.ContainsFunc(c.lists[at].entries, func(entries [][]string) bool {
		return len(entries[0]) != lessonsOfCourse+1
	})
}

// compileAll parses a text in all languages. texts are in the order of Options.Languages.
func (c *Calendar) compileAll(texts []string, html bool) (templates, error) {
	var all templates
	for i, text := range texts {
		t, err := c.compileIn(text, i, html)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// compileIn parses a text in one language. language is its index in Options.Languages.
func (c *Calendar) compileIn(text string, language int, html bool) (template, error) {
	t, err := c.compile(text, html)
	if err != nil {
		return nil, err
	}
	for _, s := range t {
		if s.slot >= slotLists {
			if entries := c.lists[s.slot-slotLists].entries[language]; s.form >= len(entries[0]) {
				return nil, fmt.Errorf("too few forms for %q", text)
			}
		}
	}
	return t, nil
}

// sameSlots returns an error if the placeholders of a title differ between languages.
func (ts templates) sameSlots() error {
	first := ts[0].slots()
	for _, t := range ts[1:] {
		if other := t.slots(); !slices.Equal(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(other))) {
			return fmt.Errorf("languages have different slots in a title: %q", ts[0][0].text)
		}
	}
	return nil
}

// slots returns the placeholders whose values make titles different from each other, without repeats.
func (t template) slots() []int {
	var all []int
	for _, s := range t {
		slot := s.slot
		if slot == slotHome || slot == slotAway {
			slot = slotMatch
		}
		if slot >= slotWho && !slices.Contains(all, slot) {
			all = append(all, slot)
		}
	}
	return all
}

// abbreviations are words whose full stop does not end a sentence.
var abbreviations = []string{"ul", "pl", "al", "św", "dr", "prof", "reż", "Mr", "Mrs", "Dr", "St", "dir", "Dir", "Sr", "Sra", "D", "No"}

// firstSentence returns the first sentence of a paragraph.
func firstSentence(paragraph string) string {
	for i := range len(paragraph) - 1 {
		if paragraph[i+1] != ' ' || strings.IndexByte(".?!", paragraph[i]) < 0 {
			continue
		}
		if word := paragraph[strings.LastIndexAny(paragraph[:i], " (>")+1 : i]; paragraph[i] == '.' && slices.Contains(abbreviations, word) {
			continue
		}
		return paragraph[:i+1]
	}
	return paragraph
}

// escape is calendar.Escape, but faster for text that needs no escaping.
func escape(s string) string {
	if strings.ContainsAny(s, "&<>") {
		return calendar.Escape(s)
	}
	return s
}

// ordinal writes the number of an edition in a language: 21st in English, XXI in others.
func ordinal(l calendar.Language, n int) string {
	if l != calendar.English {
		return roman(n)
	}
	suffix := "th"
	switch n % 10 {
	case 1:
		suffix = "st"
	case 2:
		suffix = "nd"
	case 3:
		suffix = "rd"
	}
	if n%100 >= 11 && n%100 <= 13 {
		suffix = "th"
	}
	return strconv.Itoa(n) + suffix
}

func roman(n int) string {
	var b strings.Builder
	for _, step := range []struct {
		value int
		text  string
	}{{100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= step.value; n -= step.value {
			b.WriteString(step.text)
		}
	}
	return b.String()
}
