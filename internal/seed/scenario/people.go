package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// person is a musician, author or teacher. Several persons share a first name or a surname.
type person struct {
	first, last *[grammaticalCases]string
	female      bool
}

// formWith is the form of a person's name after the Polish word for "with". Forms below it are the grammatical cases.
// personForms is the number of forms.
const (
	formWith    = grammaticalCases
	personForms = grammaticalCases + 1
)

// name returns the full name in a grammatical case of Polish. For formWith it returns the Polish word for "with" and the
// name after it. Other languages have one form only.
func (p person) name(l calendar.Language, form int) string {
	switch {
	case l != calendar.Polish:
		return p.first[0] + " " + p.last[0]
	case form == formWith:
		return polishWith(p.first[0]) + " " + p.first[4] + " " + p.last[4]
	}
	return p.first[form] + " " + p.last[form]
}

// genitive returns the Polish genitive of the name if home is Polish, or else the name unchanged.
func (p person) genitive(home calendar.Language) string {
	if home != calendar.Polish {
		return p.first[0] + " " + p.last[0]
	}
	return decline(p.first[0], p.female, home)[1] + " " + decline(p.last[0], p.female, home)[1]
}

// polishWith returns the Polish word for "with" before a name: "z" Anną, "ze" Stanisławem.
func polishWith(name string) string {
	rest := strings.TrimPrefix(name[1:], "z") // "sz" is one consonant
	if hasSuffix(name[:1], "S", "Z") && !strings.ContainsAny(rest[:1], "aeiouy") && !strings.HasPrefix(rest, "ó") {
		return "ze"
	}
	return "z"
}

// fillLocal creates the people and bands of the country, in random order.
func (c *Calendar) fillLocal() error {
	f := c.fake(chanceNames)
	surnames, err := c.local.entries("list surnames")
	if err != nil {
		return err
	}
	polish := slices.Contains(c.o.Languages, calendar.Polish)
	forms := func(name string, female bool) *[grammaticalCases]string {
		if !polish {
			return &[grammaticalCases]string{name}
		}
		declined := decline(name, female, c.home)
		return &declined
	}
	// If a surname has two forms, the first is that of women.
	for column, key := range []string{"list women", "list men"} {
		names, err := c.local.entries(key)
		if err != nil {
			return err
		}
		var last []*[grammaticalCases]string
		for _, s := range surnames {
			last = append(last, forms(s[min(column, len(s)-1)], column == 0))
		}
		c.people = slices.Grow(c.people, len(names)*len(last))
		for _, name := range names {
			first := forms(name[0], column == 0)
			for _, surname := range last {
				c.people = append(c.people, person{first, surname, column == 0})
			}
		}
	}
	f.Rand.Shuffle(len(c.people), func(i, j int) { c.people[i], c.people[j] = c.people[j], c.people[i] })
	return c.fillBands()
}

// bandsOfMould is the maximum number of bands whose names have the same pattern.
const bandsOfMould = 120

// fillBands creates the names of bands from patterns, which are used in turn.
func (c *Calendar) fillBands() error {
	var lists [4][][]string
	for i, key := range []string{"list band moulds", "list bands", "list bands of", "list band words"} {
		var err error
		if lists[i], err = c.local.entries(key); err != nil {
			return err
		}
	}
	source := chanceOf(c.o.Seed, chanceNames, 1)
	any := func(of [][]string) string { return of[source.below(len(of))][0] }
	used := map[string]bool{}
	for range bandsOfMould {
		for _, mould := range lists[0] {
			in := &c.cities[0]
			place := in.name
			if n := len(in.districts); n > 0 {
				place = in.districts[source.below(n)]
			}
			p, other := c.people[source.below(len(c.people))], c.people[source.below(len(c.people))]
			name := mould[0]
			if first, second, two := strings.Cut(name, "{last} & {last}"); two {
				name = first + p.last[0] + " & " + other.last[0] + second
			}
			name = strings.NewReplacer("{a}", any(lists[1]), "{b}", any(lists[2]), "{word}", any(lists[3]), "{place}", place,
				"{first}", p.first[0], "{last}", p.last[0], "{who}", p.first[0]+" "+p.last[0],
				"{who:2}", p.genitive(c.home)).Replace(name)
			if strings.ContainsAny(name, "{}") {
				return fmt.Errorf("band %q: unknown placeholder", name)
			}
			if !used[name] {
				used[name] = true
				c.bands = append(c.bands, name)
			}
		}
	}
	return nil
}

// properNames are the sections of the files with local names that are the same in all countries of a language.
var properNames = []string{
	"list cities", "list countries", "list streets", "list quarters", "list sights", "list neighbours",
	"list holidays", "list women", "list men", "list surnames",
}

// fillWords adapts the texts in the first language to the country of the first city: "theater" in the United States.
// It does nothing if the country has another language.
func (c *Calendar) fillWords() error {
	if c.home != c.o.Languages[0] {
		return nil
	}
	countries, err := c.local.entries("list countries")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(countries, func(e []string) bool { return e[1] == c.cities[0].country.name })
	if at < 0 {
		return fmt.Errorf("no country %q", c.cities[0].country.name)
	}
	words := c.local["words "+countries[at][0]]
	if words == nil {
		return nil
	}
	replace := wordReplacer(words.Entries)
	replaced := func(lines []string) []string {
		lines = slices.Clone(lines)
		for i, line := range lines {
			conditions := ""
			if strings.HasPrefix(line, "[") { // conditions are not words
				conditions, line, _ = strings.Cut(line, "] ")
				conditions += "] "
			}
			lines[i] = conditions + replace(line)
		}
		return lines
	}
	for key, s := range c.texts[0] {
		to := &section{Titles: replaced(s.Titles), Leads: replaced(s.Leads), More: replaced(s.More)}
		for _, e := range s.Entries {
			to.Entries = append(to.Entries, append(e[:1:1], replaced(e[1:])...))
			if key != "categories" && key != "tags" { // the first form of these entries is a key
				to.Entries[len(to.Entries)-1][0] = replace(e[0])
			}
		}
		c.texts[0][key] = to
	}
	c.local = maps.Clone(c.local)
	for key, s := range c.local {
		if slices.Contains(properNames, key) || !strings.HasPrefix(key, "list ") {
			continue
		}
		to := *s
		to.Entries = nil
		for _, e := range s.Entries {
			to.Entries = append(to.Entries, replaced(e))
		}
		c.local[key] = &to
	}
	return nil
}

// wordReplacer returns a function that replaces, at the beginning of words, the first form of each entry by the
// second. "móvil" also applies to "móviles", but not to "automóvil". Earlier entries take precedence.
func wordReplacer(entries [][]string) func(string) string {
	byFirst := map[byte][][]string{}
	for _, e := range entries {
		byFirst[e[0][0]] = append(byFirst[e[0][0]], e)
	}
	return func(text string) string {
		var b strings.Builder
		inWord := false
	next:
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRuneInString(text[at:])
			if !inWord || !unicode.IsLetter(r) {
				for _, e := range byFirst[text[at]] {
					if !strings.HasPrefix(text[at:], e[0]) {
						continue
					}
					b.WriteString(e[1])
					at += len(e[0])
					last, _ := utf8.DecodeLastRuneInString(e[0])
					inWord = unicode.IsLetter(last)
					continue next
				}
			}
			b.WriteString(text[at : at+size])
			at += size
			inWord = unicode.IsLetter(r)
		}
		return b.String()
	}
}
