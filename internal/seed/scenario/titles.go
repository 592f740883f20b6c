package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// title is a pattern for titles of events, in all languages, with the descriptions of such events.
type title struct {
	in           templates
	descriptions []*descriptionTexts // by language
	placeholders []int               // placeholders that distinguish the titles, in the order in which they are filled
	turns        permutation
	dark         bool // whether the event must begin after dark

	section string // section of the title in the text file
	number  int    // index of the title in the section
}

// fillKinds compiles the titles for the kinds of events. It also adapts the times at which events begin to the
// country.
func (c *Calendar) fillKinds() error {
	for n, k := range c.plan.Kinds {
		key := "kind " + k.Key
		var err error
		if k.titles, err = c.titles(key, n); err != nil {
			return err
		}
		c.adaptHours(k)
	}
	for _, k := range c.plan.Series {
		c.adaptHours(&k.eventKind)
	}
	return nil
}

// titles compiles the titles of a kind from the section key and its variants, such as key + " summer". It returns an
// error if there is none. The index number of the kind determines the order in which titles are used.
func (c *Calendar) titles(key string, number int) ([]title, error) {
	var all []title
	for _, section := range slices.Sorted(maps.Keys(c.texts[0])) {
		if section != key && !strings.HasPrefix(section, key+" ") {
			continue
		}
		titles, err := c.titlesOf(section, number, len(all))
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", section, err)
		}
		all = append(all, titles...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("section %q: no title", key)
	}
	return all, nil
}

// titlesOf compiles the titles in one section of a kind. The parameter number is the index of the kind. The parameter
// before is the number of titles in its earlier sections.
func (c *Calendar) titlesOf(key string, number, before int) ([]title, error) {
	about, err := c.descriptionsOf(key)
	if err != nil {
		return nil, err
	}
	var all []title
	for i := range c.texts[0][key].Titles {
		texts := make([]string, len(c.texts))
		for l, s := range c.texts {
			texts[l] = s[key].Titles[i]
		}
		ts, err := c.compileAll(texts, false)
		if err == nil {
			err = ts.samePlaceholders()
		}
		if err != nil {
			return nil, err
		}
		t := title{in: ts, descriptions: about, placeholders: ts[0].placeholders(), section: key, number: i}
		size := uint64(1)
		for _, placeholder := range t.placeholders {
			size *= uint64(c.size(placeholder))
		}
		t.turns = newScatter(size, chanceOf(c.o.Seed, chanceTitles, uint64(number), uint64(before+i)))
		all = append(all, t)
	}
	return all, nil
}
