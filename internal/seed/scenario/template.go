package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

type template []segment

// segment is a part of a template: a text, and a placeholder after it that other texts fill.
type segment struct {
	text        string
	placeholder int // -1 means no placeholder
	form        int
	// gendered are two words, masculine and feminine, chosen by the gender of the person or division. Nil means that
	// the placeholder shows a name.
	gendered *[2]string
}

// templates has the translations of one text, in the order of Options.Languages.
type templates []template

// placeholderCity to placeholderMatch are the placeholders that no word list fills. The comments show example texts.
// Word lists have higher numbers, and the first in Calendar.lists has placeholderLists.
const (
	placeholderCity     = iota // Kraków
	placeholderIn              // in Kraków
	placeholderOf              // of Kraków
	placeholderVenue           // name of the venue
	placeholderOrg             // name of the organizer
	placeholderYear            // 2026
	placeholderSeason          // 2026/27
	placeholderEdition         // ordinal of the edition: 21st
	placeholderNumber          // number of the lesson: 3
	placeholderNth             // ordinal of the lesson in words: third
	placeholderLesson          // subject of the lesson
	placeholderHead            // title of the festival
	placeholderHome            // first team of the match
	placeholderAway            // second team of the match
	placeholderWeekday         // Saturday, on Saturday
	placeholderDate            // 28 November
	placeholderMonth           // November, in November
	placeholderQuarter         // autumn, in autumn
	placeholderStart           // 7.30pm
	placeholderEnd             // 9pm
	placeholderDoors           // half an hour before the start
	placeholderLength          // two hours, two-hour
	placeholderDays            // three days, three-day
	placeholderAges            // ages 5 to 10
	placeholderPlaces          // 12
	placeholderPrice           // £12
	placeholderStreet          // Byres Road, on Byres Road
	placeholderDistrict        // Leith, in Leith
	placeholderSquare          // George Square, in George Square
	placeholderPark            // Kelvingrove Park, in Kelvingrove Park
	placeholderRiver           // the Clyde, by the Clyde
	placeholderStop            // Hillhead subway station, near Hillhead subway station
	placeholderBy              // author of the work in the title
	placeholderWho             // a person
	placeholderWho2            // another person
	placeholderBand
	placeholderMatch // pair of home and away team
	placeholderLists // the first list
)

var placeholderNames = [...]string{
	"city", "in", "of", "venue", "org", "year", "season", "edition", "n", "nth", "lesson", "head", "home", "away",
	"weekday", "date", "month", "quarter", "start", "end", "doors", "length", "days", "ages", "places", "price",
	"street", "district", "square", "park", "river", "stop", "by", "who", "who2", "band", "match",
}

// compile parses a text with placeholders in braces. If html is true, it escapes the text between them for HTML. It
// returns an error for an unknown placeholder.
func (c *Calendar) compile(text string, html bool) (template, error) {
	var t template
	add := func(text string, placeholder, form int, gendered *[2]string) {
		if html {
			text = calendar.Escape(text)
		}
		t = append(t, segment{text, placeholder, form, gendered})
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
			if !found || strings.Contains(feminine, "|") || !slices.Contains(genderedPlaceholders, name) {
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
		placeholder := slices.Index(placeholderNames[:], name)
		if placeholder < 0 {
			at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == name })
			if at < 0 {
				return nil, fmt.Errorf("no placeholder %q in %q", name, text)
			}
			placeholder = placeholderLists + at
		}
		if forms := formsOf(placeholder); placeholder < placeholderLists && form > forms {
			return nil, fmt.Errorf("%q: %s has %d forms", text, name, forms)
		}
		if placeholder == placeholderLesson && !c.hasLessons() {
			return nil, fmt.Errorf("no list of courses with %d lessons for %q", lessonsOfCourse, text)
		}
		add(before, placeholder, form-1, gendered)
		rest = next
	}
	if rest != "" || len(t) == 0 {
		add(rest, -1, 0, nil)
	}
	return t, nil
}

// formsOf returns the number of grammatical forms that a placeholder has if no word list fills it.
func formsOf(placeholder int) int {
	switch placeholder {
	case placeholderBy, placeholderWho, placeholderWho2:
		return personForms
	case placeholderMonth:
		return 3
	case placeholderNth, placeholderWeekday, placeholderQuarter, placeholderLength, placeholderDays, placeholderStreet, placeholderDistrict, placeholderSquare, placeholderPark,
		placeholderRiver, placeholderStop:
		return 2
	}
	return 1
}

// genderedPlaceholders are the placeholders with words by gender: {who?he|she}.
var genderedPlaceholders = []string{"who", "who2", "by", divisionList}

// divisionList is the name of the list of leagues' divisions, such as women.
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
		if s.placeholder >= placeholderLists {
			if entries := c.lists[s.placeholder-placeholderLists].entries[language]; s.form >= len(entries[0]) {
				return nil, fmt.Errorf("too few forms for %q", text)
			}
		}
	}
	return t, nil
}

// samePlaceholders returns an error if the translations of a title have different placeholders.
func (ts templates) samePlaceholders() error {
	first := ts[0].placeholders()
	for _, t := range ts[1:] {
		if other := t.placeholders(); !slices.Equal(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(other))) {
			return fmt.Errorf("languages have different placeholders in a title: %q", ts[0][0].text)
		}
	}
	return nil
}

// placeholders returns the placeholders whose values make titles different: word lists, persons, bands and matches.
// It returns each once.
func (t template) placeholders() []int {
	var all []int
	for _, s := range t {
		placeholder := s.placeholder
		if placeholder == placeholderHome || placeholder == placeholderAway {
			placeholder = placeholderMatch
		}
		if placeholder >= placeholderWho && !slices.Contains(all, placeholder) {
			all = append(all, placeholder)
		}
	}
	return all
}

// abbreviations are words whose full stop does not end a sentence.
var abbreviations = []string{"ul", "pl", "al", "św", "dr", "prof", "reż", "Mr", "Mrs", "Dr", "St", "dir", "Dir", "Sr", "Sra", "D", "No"}

// firstSentence returns the first sentence of a paragraph, or the whole paragraph if it has only one.
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

// escape escapes the characters &, < and > for HTML. It returns a text without them unchanged.
func escape(s string) string {
	if strings.ContainsAny(s, "&<>") {
		return calendar.Escape(s)
	}
	return s
}

// ordinal returns the number of an edition as text: 21st in English, XXI in other languages.
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
