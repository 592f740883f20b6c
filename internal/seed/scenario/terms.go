package scenario

import (
	"fmt"
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// fillTerms creates the categories and the tags. The number of tags grows more slowly than the number of events.
func (c *Calendar) fillTerms() error {
	var categories, tags []map[string][]string
	for _, s := range c.texts {
		for of, all := range map[string]*[]map[string][]string{"categories": &categories, "tags": &tags} {
			named, err := s.named(of)
			if err != nil {
				return err
			}
			if want := map[string]int{"categories": len(c.plan.Categories), "tags": len(c.plan.Tags)}[of]; len(named) != want {
				return fmt.Errorf("section %q has %d entries, not %d", of, len(named), want)
			}
			*all = append(*all, named)
		}
	}
	form := func(all []map[string][]string, key string, n int) (Text, error) {
		t := Text{}
		for i, l := range c.o.Languages {
			if len(all[i][key]) <= n {
				return nil, fmt.Errorf("no text for %q in %q", key, l)
			}
			t[l] = all[i][key][n]
		}
		return t, nil
	}
	c.categoryIndex, c.tagIndex = map[string]int{}, map[string]int{}
	for i, pair := range c.plan.Categories {
		name, err := form(categories, pair[0], 0)
		if err != nil {
			return err
		}
		about, err := form(categories, pair[0], 1)
		if err != nil {
			return err
		}
		t := Term{SourceID: c.sourceID("category", i), Parent: -1, Name: name, Description: about}
		if pair[1] != "" {
			t.Parent = c.categoryIndex[pair[1]]
		}
		c.categoryIndex[pair[0]] = i
		c.categories = append(c.categories, t)
	}
	for _, key := range c.plan.Tags {
		name, err := form(tags, key, 0)
		if err != nil {
			return err
		}
		c.tagIndex[key] = c.addTag(name)
	}
	want := 12 + int(math.Pow(float64(c.o.Events), 0.41))
	for _, from := range c.plan.TagLists {
		at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == from })
		if at < 0 {
			return fmt.Errorf("no list %q", from)
		}
		for i := range c.lists[at].size {
			if len(c.tags) >= want {
				return nil
			}
			c.tagFor(placeholderLists+at, i)
		}
	}
	return nil
}

// tagFor returns the index of the tag for an entry of a word list. It adds a missing tag. placeholder is the one that
// the list fills.
func (c *Calendar) tagFor(placeholder, entry int) int {
	list := c.lists[placeholder-placeholderLists]
	if c.entryTags[placeholder] == nil {
		c.entryTags[placeholder] = slices.Repeat([]int{-1}, list.size)
	}
	if c.entryTags[placeholder][entry] < 0 {
		name := Text{}
		for n, l := range c.o.Languages {
			name[l] = list.entries[n][entry][0]
		}
		c.entryTags[placeholder][entry] = c.addTag(name)
	}
	return c.entryTags[placeholder][entry]
}

// addTag returns the index of the tag with a name. It adds a missing tag. Names with the same slug are the same.
func (c *Calendar) addTag(name Text) int {
	first := c.o.Languages[0]
	key := calendar.Slug(name[first])
	at := slices.IndexFunc(c.tags, func(t Term) bool { return calendar.Slug(t.Name[first]) == key })
	if at < 0 {
		at = len(c.tags)
		c.tags = append(c.tags, Term{SourceID: c.sourceID("tag", at), Parent: -1, Name: name})
	}
	return at
}

// tagsOf returns up to five tags of an event. They are those of the entries in its title, such as the composer, and
// some of its kind.
func (c *Calendar) tagsOf(p *eventOutline, source *randomSource) []int {
	var tags []int
	add := func(t int) {
		if t >= 0 && !slices.Contains(tags, t) && len(tags) < 5 {
			tags = append(tags, t)
		}
	}
	for _, placeholder := range p.title.placeholders {
		if byEntry := c.entryTags[placeholder]; byEntry != nil {
			add(byEntry[p.draft.values[placeholder]])
		}
	}
	for _, r := range c.rules {
		if r.applies(p.draft) {
			for _, t := range r.tags {
				add(t)
			}
		}
	}
	if own := p.kind.Tags; len(own) > 0 {
		first := source.below(len(own))
		for i := range own {
			if source.percent(50 / (i + 1) / (i + 1)) {
				add(c.tagIndex[own[(first+i)%len(own)]])
			}
		}
	}
	for _, t := range p.kind.keywords {
		if source.percent(100 / (len(p.kind.keywords) + 1)) {
			add(t)
		}
	}
	return tags
}
