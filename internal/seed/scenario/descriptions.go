package scenario

import (
	"fmt"
	"strings"
)

// descriptionTexts are the paragraphs for descriptions of a kind, an activity, or a type of venue or organizer, in
// one language.
type descriptionTexts struct {
	leads, more []line
	subject     bool // the leads say what something is about, such as a film
}

// descriptionsOf returns the descriptions in the section key, by language in the order of Options.Languages. It
// compiles a section only once.
func (c *Calendar) descriptionsOf(key string) ([]*descriptionTexts, error) {
	if a, ok := c.descriptions[key]; ok {
		return a, nil
	}
	var all []*descriptionTexts
	for language := range c.texts {
		a, err := c.compileDescriptions(key, language)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	c.descriptions[key] = all
	return all, nil
}

// compileDescriptions compiles the descriptions of a section in one language. It returns an error if there are none,
// unless the type of the section is "kind".
func (c *Calendar) compileDescriptions(key string, language int) (*descriptionTexts, error) {
	s := c.texts[language][key]
	if s == nil || len(s.Leads) == 0 && !strings.HasPrefix(key, "kind ") {
		return nil, fmt.Errorf("no text in section %q", key)
	}
	a := new(descriptionTexts)
	for of, texts := range map[*[]line][]string{&a.leads: s.Leads, &a.more: s.More} {
		for _, text := range texts {
			l, err := c.compileLine(text, language)
			if err != nil {
				return nil, fmt.Errorf("section %q in %q: %w", key, c.o.Languages[language], err)
			}
			*of = append(*of, l)
		}
	}
	return a, nil
}
