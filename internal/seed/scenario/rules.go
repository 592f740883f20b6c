package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// entryRule sets fields of events whose title contains a certain entry of a word list. For example, a walk at dusk
// begins at dusk, and a match of children costs little.
type entryRule struct {
	List, Is string   // Is is the English name of the entry; "" means any entry
	Starts   string   // times of day instead of those of the kind; "" means no change
	At, By   []string // types of venues and organizers instead of those of the kind
	Tags     []string
	Price    *[2]int
}

// rule is an entryRule in which indexes replace the names.
type rule struct {
	name               string
	placeholder, entry int // an entry of -1 means any
	at, by             []string
	starts             []clock
	tags               []int
	price              *[2]int
}

// entryNamed finds an entry of the word list "of" by its English name. It returns the placeholder that the list
// fills, and the index of the entry. For the name "" the index is -1. It returns an error if the list or the entry is
// missing.
func (c *Calendar) entryNamed(english sections, of, name string) (placeholder, entry int, err error) {
	at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == of })
	if at < 0 {
		return 0, 0, fmt.Errorf("no list %q", of)
	}
	if name == "" {
		return placeholderLists + at, -1, nil
	}
	entries, err := english.listOf(c.lists[at])
	if err != nil {
		return 0, 0, err
	}
	entry = slices.IndexFunc(entries, func(e []string) bool { return strings.EqualFold(e[0], name) })
	if entry < 0 {
		return 0, 0, fmt.Errorf("list %q: no entry %q", of, name)
	}
	return placeholderLists + at, entry, nil
}

// fillActivities compiles the descriptions that belong to one entry of a word list, such as an activity.
func (c *Calendar) fillActivities(english sections) error {
	c.activities = map[[2]int][]*descriptionTexts{}
	for language, texts := range c.texts {
		for key := range texts {
			if !isEntrySection(key) {
				continue
			}
			typ, rest, _ := strings.Cut(key, " ")
			of, name, _ := strings.Cut(rest, " ")
			placeholder, entry, err := c.entryNamed(english, of, name)
			if err != nil {
				return fmt.Errorf("section %q: %w", key, err)
			}
			a, err := c.compileDescriptions(key, language)
			if err != nil {
				return err
			}
			a.subject = typ == "subject"
			at := [2]int{placeholder, entry}
			if c.activities[at] == nil {
				c.activities[at] = make([]*descriptionTexts, len(c.texts))
			}
			c.activities[at][language] = a
		}
	}
	return nil
}

// fillRules resolves the entries in the rules of the plan, and the keywords of its kinds. It also marks the titles of
// events in darkness. The plan uses English names, because the entries have the same order in all languages.
func (c *Calendar) fillRules() error {
	english, err := readTexts(c.o.Scenario, calendar.English)
	if err != nil {
		return err
	}
	if err := c.fillActivities(english); err != nil {
		return err
	}
	for _, r := range c.plan.Entries {
		made := rule{name: r.Is, at: r.At, by: r.By, price: r.Price}
		if made.placeholder, made.entry, err = c.entryNamed(english, r.List, r.Is); err != nil {
			return err
		}
		for of, types := range map[*[]string][]string{&r.At: c.plan.Venues, &r.By: c.plan.Organizers} {
			for _, typ := range *of {
				if !slices.Contains(types, typ) {
					return fmt.Errorf("entry %q: no venue or organizer %q", r.Is, typ)
				}
			}
		}
		if made.starts, err = parseClocks(r.Starts); err != nil {
			return err
		}
		for _, key := range r.Tags {
			t, ok := c.tagIndex[key]
			if !ok {
				return fmt.Errorf("entry %q: no tag %q", r.Is, key)
			}
			made.tags = append(made.tags, t)
		}
		c.rules = append(c.rules, made)
	}
	for _, k := range c.plan.Kinds {
		for _, name := range k.Keywords {
			_, entry, err := c.entryNamed(english, "keyword", name)
			if err != nil {
				return fmt.Errorf("kind %q: %w", k.Key, err)
			}
			k.keywords = append(k.keywords, c.keyword(entry))
		}
		if k.AfterDark == "" {
			continue
		}
		dark := false
		for i := range k.titles {
			k.titles[i].dark = strings.Contains(strings.ToLower(english[k.titles[i].section].Titles[k.titles[i].number]), k.AfterDark)
			dark = dark || k.titles[i].dark
		}
		if !dark {
			return fmt.Errorf("kind %q: no title with %q", k.Key, k.AfterDark)
		}
	}
	return nil
}

// keyword returns the index of the tag for an entry of the list of keywords. It adds a missing tag.
func (c *Calendar) keyword(entry int) int {
	at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == "keyword" })
	return c.tagFor(placeholderLists+at, entry)
}

// applies reports whether the entry of a rule is in the title of an event. A rule without an entry applies to all
// entries of its word list.
func (r *rule) applies(d *draft) bool {
	return slices.Contains(d.title, r.placeholder) && (r.entry < 0 || int(d.values[r.placeholder]) == r.entry)
}
