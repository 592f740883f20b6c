package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// list is a list of words or names that fill a placeholder, with their grammatical forms in all languages.
type list struct {
	name    string
	works   bool // whether the entries are works with authors, such as plays
	size    int
	entries [][][]string   // by language, entry and form
	nested  [][][]template // templates of entries with placeholders; nil if none has placeholders
}

// fillLists reads the word lists, the ordinals and the general remarks in all languages. It sorts the word lists by
// name.
func (c *Calendar) fillLists() error {
	for key := range c.texts[0] {
		typ, name, _ := strings.Cut(key, " ")
		if typ != "list" && typ != "works" {
			continue
		}
		if slices.Contains(placeholderNames[:], name) {
			return fmt.Errorf("section %q has the name of a placeholder", key)
		}
		c.lists = append(c.lists, &list{name: name, works: typ == "works"})
	}
	slices.SortFunc(c.lists, func(a, b *list) int { return cmp.Compare(a.name, b.name) })
	if len(c.lists) > maxPlaceholders-placeholderLists {
		return fmt.Errorf("%d lists are too many", len(c.lists))
	}
	for _, l := range c.lists {
		for _, texts := range c.texts {
			entries, err := texts.listOf(l)
			if err != nil {
				return err
			}
			l.size = len(entries)
			l.entries = append(l.entries, entries)
		}
	}
	if err := c.nestLists(); err != nil {
		return err
	}
	for _, texts := range c.texts {
		ordinals, err := texts.entries("list ordinal")
		if err != nil {
			return err
		}
		if len(ordinals) < lessonsOfCourse || len(ordinals[0]) < formsOf(placeholderNth) {
			return fmt.Errorf("list of ordinals: want %d with %d forms", lessonsOfCourse, formsOf(placeholderNth))
		}
		c.ordinals = append(c.ordinals, ordinals)
	}
	c.remarkTexts = map[string][]*descriptionTexts{}
	for _, key := range []string{"free", "ticket", "any", "doors", "outdoors", "online", "canceled", "postponed", "heading", "house", "long", "place"} {
		var err error
		if c.remarkTexts[key], err = c.descriptionsOf("info " + key); err != nil {
			return err
		}
	}
	return nil
}

// listOf returns the entries of a word list in one language. If l.works is true, it replaces an entry with a
// placeholder by one entry for each value of the placeholder.
func (s sections) listOf(l *list) ([][]string, error) {
	if !l.works {
		return s.entries("list " + l.name)
	}
	patterns, err := s.entries("works " + l.name)
	if err != nil {
		return nil, err
	}
	var all [][]string
	for _, forms := range patterns {
		written, err := s.writeOut(forms)
		if err != nil {
			return nil, fmt.Errorf("works %q: %w", l.name, err)
		}
		all = append(all, written...)
	}
	return all, nil
}

// writeOut replaces an entry with a placeholder by one entry for each value of the placeholder. It returns other
// entries as they are. Each entry is a list of its grammatical forms.
func (s sections) writeOut(forms []string) ([][]string, error) {
	_, rest, found := strings.Cut(forms[0], "{")
	if !found {
		return [][]string{forms}, nil
	}
	placeholder, _, _ := strings.Cut(rest, "}")
	name, _, _ := strings.Cut(placeholder, ":")
	fillings, err := s.entries("list " + name)
	if err != nil {
		return nil, err
	}
	var placeholders []string // of the forms of a filling
	for i := range fillings[0] {
		placeholders = append(placeholders, fmt.Sprintf("{%s:%d}", name, i+1))
	}
	var all [][]string
	for _, filling := range fillings {
		written := slices.Clone(forms)
		for i := range written {
			written[i] = strings.ReplaceAll(written[i], "{"+name+"}", filling[0])
			for at, form := range filling {
				written[i] = strings.ReplaceAll(written[i], placeholders[at], form)
			}
			if strings.ContainsAny(written[i], "{}") {
				return nil, fmt.Errorf("%q: unknown placeholder", written[i])
			}
		}
		all = append(all, written)
	}
	return all, nil
}

// nestLists compiles the word lists in which some entry has a placeholder. It returns an error if a word list with
// placeholders fills such a placeholder.
func (c *Calendar) nestLists() error {
	flat := make([]bool, len(c.lists))
	for at, l := range c.lists {
		flat[at] = true
		for _, e := range slices.Concat(l.entries...) {
			flat[at] = flat[at] && !strings.Contains(strings.Join(e, ""), "{")
		}
	}
	for at, l := range c.lists {
		if flat[at] {
			continue
		}
		for language, entries := range l.entries {
			nested := make([][]template, len(entries))
			for i, e := range entries {
				for _, form := range e {
					t, err := c.compile(form, false)
					if err != nil {
						return fmt.Errorf("list %q: %w", l.name, err)
					}
					for _, s := range t {
						if s.placeholder < placeholderLists {
							continue
						}
						of := c.lists[s.placeholder-placeholderLists]
						if !flat[s.placeholder-placeholderLists] || s.form >= len(of.entries[language][0]) {
							return fmt.Errorf("list %q: cannot fill %q", l.name, form)
						}
					}
					nested[i] = append(nested[i], t)
				}
			}
			l.nested = append(l.nested, nested)
		}
	}
	return nil
}
