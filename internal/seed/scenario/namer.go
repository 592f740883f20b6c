package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// namer generates unique proper names of venues and organizers.
type namer struct {
	c       *Calendar
	streets []street // common street names, for cities whose streets are unknown
	used    map[string]bool
}

func (c *Calendar) newNamer() (n namer, err error) {
	n = namer{c: c, used: map[string]bool{}}
	streets, err := c.local.entries("list streets")
	if err != nil {
		return n, err
	}
	for _, s := range streets {
		n.streets = append(n.streets, street{s[0], s[1]})
	}
	return n, nil
}

// name returns an unused name from the patterns of the list key. The name may use the city in, the street on and the
// district inside; a nil district means unknown. If all attempts give used names, the address makes it unique.
func (n namer) name(key string, in *city, on street, inside *district, address string, source *randomSource) (string, error) {
	patterns, err := n.c.local.entries(key)
	if err != nil {
		return "", err
	}
	district := ""
	switch {
	case inside != nil:
		district = inside.name
	case len(in.districts) > 0 && !strings.HasPrefix(key, "list venue "): // the street may be in another district
		district = in.districts[source.below(len(in.districts))]
	}
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(e []string) bool {
		return n.c.plan.House && (strings.Contains(e[0], "{street}") || strings.Contains(e[0], "{district}")) ||
			district == "" && strings.Contains(e[0], "{district}") ||
			len(in.adjective) == 0 && strings.Contains(e[0], "{adj")
	})
	if len(patterns) == 0 {
		return "", fmt.Errorf("%s: no pattern for %s", key, in.name)
	}
	names, err := n.names(key)
	if err != nil {
		return "", err
	}
	name := ""
	for range 60 {
		what := names[source.below(len(names))]
		fill := []string{"{city}", in.name, "{street}", on.name, "{district}", district}
		for i, form := range what {
			fill = append(fill, fmt.Sprintf("{name:%d}", i+1), form)
		}
		for i, form := range in.adjective {
			fill = append(fill, fmt.Sprintf("{adj:%d}", i+1), form)
		}
		name = strings.NewReplacer(fill...).Replace(patterns[source.below(len(patterns))][0])
		if strings.ContainsAny(name, "{}") {
			return "", fmt.Errorf("%s: %q has an unknown placeholder", key, name)
		}
		if !n.used[name] {
			break
		}
	}
	if n.used[name] {
		name += ", " + address
	}
	n.used[name] = true
	return name, nil
}

// names returns the names that patterns use for a type of venue or organizer. A section such as "list name sports
// arena" replaces "list name" for its types.
func (n namer) names(key string) ([][]string, error) {
	_, typ, _ := strings.Cut(strings.TrimPrefix(key, "list "), " ")
	for section, s := range n.c.local {
		if types, ok := strings.CutPrefix(section, "list name "); ok && slices.Contains(strings.Fields(types), typ) {
			return s.Entries, nil
		}
	}
	return n.c.local.entries("list name")
}

// street returns a random street of the city, and its district if the city's districts are known, else nil. A city
// without known streets gets common street names.
func (n namer) street(in *city, source *randomSource) (street, *district) {
	switch {
	case len(in.mapped) > 0:
		q := &in.mapped[source.below(len(in.mapped))]
		return q.streets[source.below(len(q.streets))], q
	case len(in.streets) > 0:
		return in.streets[source.below(len(in.streets))], nil
	}
	return n.streets[source.below(len(n.streets))], nil
}

func (n namer) address(in *city, at street, source *randomSource) string {
	number := strconv.Itoa(1 + source.lowBiased(140))
	return strings.NewReplacer("{street}", at.address, "{number}", number).Replace(in.country.address)
}

// randomPhone returns a telephone number with random digits for the # of the pattern.
func randomPhone(pattern string, source *randomSource) string {
	b := []byte(pattern)
	for i, ch := range b {
		if ch == '#' {
			b[i] = byte('0' + source.below(10))
		}
	}
	return string(b)
}

func siteURL(name string) string { return "https://" + calendar.Slug(name) + ".example/" }

// inAllLanguages returns a text that is equal in all languages, for proper names.
func (c *Calendar) inAllLanguages(name string) Text {
	t := Text{}
	for _, l := range c.o.Languages {
		t[l] = name
	}
	return t
}
