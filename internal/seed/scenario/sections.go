package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// section is a section of a data file with texts: its titles, entries and paragraphs.
type section struct {
	Titles, Leads, More []string   // lines that begin with "=", ">" and "+"
	Entries             [][]string // other lines, split into forms
}

// sections has the sections of data files, by type and key, such as "kind jazz".
type sections map[string]*section

var sectionTypes = []string{"kind", "series", "activity", "subject", "list", "works", "words", "categories", "tags", "venue", "organizer", "info"}

// entrySections are the types of sections whose descriptions belong to one entry of a word list. A language may lack
// such a section.
var entrySections = []string{"activity", "subject"}

// isEntrySection reports whether a section has the descriptions that belong to one entry of a word list.
func isEntrySection(key string) bool {
	typ, _, _ := strings.Cut(key, " ")
	return slices.Contains(entrySections, typ)
}

// read adds the sections of a data file. It returns an error if a section name occurs twice.
func (s sections) read(name string) error {
	b, err := dataFiles.ReadFile("data/" + name)
	if err != nil {
		return err
	}
	if err := s.parse(string(b)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s sections) parse(text string) error {
	var now *section
	forms := 0
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		wrong := func(what string) error { return fmt.Errorf("line %d: %s: %q", number+1, what, line) }
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if mark == "#" {
			typ, _, _ := strings.Cut(rest, " ")
			if !slices.Contains(sectionTypes, typ) {
				return wrong("unknown type of section")
			}
			if s[rest] != nil {
				return wrong("section is there twice")
			}
			now, forms = new(section), 0
			s[rest] = now
			continue
		}
		if now == nil {
			return wrong("text before the first section")
		}
		switch mark {
		case "=":
			now.Titles = append(now.Titles, rest)
		case ">":
			now.Leads = append(now.Leads, rest)
		case "+":
			now.More = append(now.More, rest)
		default:
			entry := strings.Split(line, " | ")
			if slices.Contains(entry, "") || forms != 0 && len(entry) != forms {
				return wrong("entry has not as many forms as the one before")
			}
			forms = len(entry)
			now.Entries = append(now.Entries, entry)
		}
	}
	return nil
}

// readTexts reads the texts of a scenario in language l.
func readTexts(scenario string, l calendar.Language) (sections, error) {
	s := sections{}
	for _, name := range []string{"common", "subjects", scenario} {
		if err := s.read(name + "." + string(l) + ".txt"); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func readLocal(l calendar.Language) (sections, error) {
	s := sections{}
	if err := s.read("local." + string(l) + ".txt"); err != nil {
		return nil, err
	}
	return s, s.read("places." + string(l) + ".txt")
}

// entries returns the entries of a section, split into their forms. It returns an error if there are none.
func (s sections) entries(key string) ([][]string, error) {
	if s[key] == nil || len(s[key].Entries) == 0 {
		return nil, fmt.Errorf("no section %q", key)
	}
	return s[key].Entries, nil
}

// named returns the entries of the section "categories" or "tags". The key is the first form, and the value has the
// others.
func (s sections) named(key string) (map[string][]string, error) {
	entries, err := s.entries(key)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, e := range entries {
		if all[e[0]] != nil {
			return nil, fmt.Errorf("%s: %q twice", key, e[0])
		}
		all[e[0]] = e[1:]
	}
	return all, nil
}

// hasSameTexts reports whether the paragraphs of a section are translations of each other. Those of other sections
// are written for each language independently.
func hasSameTexts(key string) bool {
	return key == "info canceled" || key == "info postponed" || key == "info heading" || key == "info place"
}
