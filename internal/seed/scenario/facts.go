package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// facts has what is known about an event. It decides which lines are true of the event, and so can be in its
// description.
type facts struct {
	known           uint64 // placeholders with a value, as bits
	holds           uint32 // conditions that hold, as bits
	kind, venueType string
	lesson          string // its number as a word of a condition; "0" for events that are no lesson
}

// line is a sentence or paragraph for descriptions. It has the conditions under which it is true of an event.
type line struct {
	template
	needs uint64 // placeholders of the template, as bits
	when  []condition
}

// condition is one requirement of a line, such as "free" or "kind:jazz". If not is true, the event must not meet it.
type condition struct {
	bit   uint32
	name  string // "" means that bit decides
	value string
	not   bool
}

// conditions are the names of the conditions without a value. The bit of a condition is its index.
var conditions = []string{
	"free", "fee", "tickets", "indoors", "outdoors", "online", "doors", "spring", "summer", "autumn", "winter", "weekend",
	"morning", "evening", "women", "men", "youth",
}

// divisionGender is the bit of line.needs for words that depend on the gender of a division. Only matches have a
// division, such as women.
const divisionGender = 63

// compileLine parses a line of a description, such as "[free, !winter] Bring {who}.", in one language.
func (c *Calendar) compileLine(text string, language int) (line, error) {
	var l line
	if rest, ok := strings.CutPrefix(text, "["); ok {
		names, body, found := strings.Cut(rest, "] ")
		if !found {
			return l, fmt.Errorf("no ] after the conditions of %q", text)
		}
		for name := range strings.SplitSeq(names, ",") {
			w, err := c.parseCondition(strings.TrimSpace(name))
			if err != nil {
				return l, fmt.Errorf("%w of %q", err, text)
			}
			l.when = append(l.when, w)
		}
		text = body
	}
	var err error
	if l.template, err = c.compileIn(text, language, true); err != nil {
		return l, err
	}
	for _, s := range l.template {
		switch {
		case s.placeholder >= placeholderLists && s.gendered != nil:
			l.needs |= 1 << divisionGender
		case s.placeholder >= 0 && s.placeholder < placeholderLists:
			l.needs |= 1 << s.placeholder
		}
	}
	return l, nil
}

func (c *Calendar) parseCondition(text string) (w condition, err error) {
	text, w.not = strings.CutPrefix(text, "!")
	name, value, named := strings.Cut(text, ":")
	if !named {
		at := slices.Index(conditions, name)
		if at < 0 {
			return w, fmt.Errorf("unknown condition %q", name)
		}
		w.bit = 1 << at
		return w, nil
	}
	w.name, w.value = name, value
	ok := false
	switch name {
	case "kind":
		ok = slices.ContainsFunc(c.plan.Kinds, func(k *eventKind) bool { return k.Key == value })
	case "at":
		ok = slices.Contains(c.plan.Venues, value)
	case "lesson":
		n, err := strconv.Atoi(value)
		ok = err == nil && n >= 0 && n <= lessonsOfCourse
	}
	if !ok {
		return w, fmt.Errorf("unknown condition %q", text)
	}
	return w, nil
}

// allow reports whether a line can describe an event: the event meets its conditions, and its placeholders have
// values.
func (f *facts) allow(l *line) bool {
	if l.needs&^f.known != 0 {
		return false
	}
	for _, w := range l.when {
		holds := f.holds&w.bit != 0
		switch w.name {
		case "kind":
			holds = f.kind == w.value
		case "at":
			holds = f.venueType == w.value
		case "lesson":
			holds = f.lesson == w.value
		}
		if holds == w.not {
			return false
		}
	}
	return true
}

// suitable returns the lines that can be used in the description of an event.
func (f *facts) suitable(lines []line) []line {
	var all []line
	for i := range lines {
		if f.allow(&lines[i]) {
			all = append(all, lines[i])
		}
	}
	return all
}

// in returns the facts that can be written in language l. If l is not home, the language of the city, it leaves out
// local names such as streets.
func (f facts) in(l, home calendar.Language) facts {
	if l != home {
		f.known &^= localPlaceholders
	}
	return f
}

// localPlaceholders are the placeholders whose values are words in the language of the city only.
const localPlaceholders = 1<<placeholderStreet | 1<<placeholderDistrict | 1<<placeholderSquare | 1<<placeholderPark | 1<<placeholderRiver | 1<<placeholderStop

// factsOf returns what is known about an event whose place and time are chosen.
func (c *Calendar) factsOf(p *eventOutline) facts {
	k, d := p.kind, p.draft
	f := facts{kind: k.Key, lesson: strconv.Itoa(d.number)}
	know := func(known bool, placeholders ...int) {
		for _, placeholder := range placeholders {
			if known {
				f.known |= 1 << placeholder
			}
		}
	}
	hold := func(name string, holds bool) {
		if holds {
			f.holds |= 1 << slices.Index(conditions, name)
		}
	}
	timed, match := len(p.needs.starts) > 0, slices.Contains(p.title.placeholders, placeholderMatch)
	low, fee := p.cost.Lowest(), len(p.cost.Prices) > 0 && p.cost.Lowest() != "0"
	know(true, placeholderCity, placeholderIn, placeholderOf, placeholderVenue, placeholderOrg, placeholderYear, placeholderSeason, placeholderWeekday, placeholderDate, placeholderMonth,
		placeholderBy, placeholderWho, placeholderWho2, placeholderBand)
	know(c.hasSeasons(), placeholderQuarter)
	know(timed, placeholderStart, placeholderEnd, placeholderLength)
	know(!timed, placeholderDays)
	know(timed && k.Doors, placeholderDoors)
	know(d.number > 0, placeholderNumber, placeholderNth, placeholderLesson)
	know(d.fest >= 0, placeholderHead)
	know(k.Role == festivalRole, placeholderEdition)
	know(match, placeholderHome, placeholderAway, placeholderMatch)
	know(fee, placeholderPrice)
	know(len(k.Ages) > 0, placeholderAges)
	know(k.Places[1] > 0, placeholderPlaces)
	if slices.Contains(p.title.placeholders, c.divisionPlaceholder()) {
		f.known |= 1 << divisionGender
	}
	for placeholder, sights := range c.cities[d.city].sights {
		know(len(sights) > 0, placeholder)
	}
	if d.venue >= 0 {
		at := c.venuePlaces[d.venue]
		know(true, placeholderStreet)
		know(at.district != nil, placeholderDistrict)
		know(at.district != nil && at.district.stop.name != "", placeholderStop)
		f.venueType = c.plan.Venues[d.venue%len(c.plan.Venues)]
	}
	hold("free", low == "0")
	hold("fee", fee)
	hold("tickets", fee && k.Ticketed)
	hold("online", len(p.needs.at) == 0)
	hold("outdoors", slices.Contains(outdoorTypes, f.venueType) || k.Outdoors)
	hold("indoors", f.venueType != "" && !slices.Contains(outdoorTypes, f.venueType) && !k.Outdoors)
	hold("doors", timed && k.Doors)
	hold([]string{"winter", "spring", "summer", "autumn"}[c.month(d.day)%12/3], c.hasSeasons())
	hold("weekend", c.weekday(d.day) > 4)
	hold("morning", timed && p.clock < 12*60)
	hold("evening", timed && p.clock >= 17*60)
	hold("women", match && d.gender(c.divisionPlaceholder()) == 1)
	hold("men", match && d.gender(c.divisionPlaceholder()) == 0)
	hold("youth", match && c.hasEntryTag(d, "youth"))
	return f
}

// outdoorTypes are the types of venues in the open.
var outdoorTypes = []string{"park", "stage", "stadium"}

// divisionPlaceholder returns the placeholder for divisions of a sport, such as women, or -1 if the scenario has none.
func (c *Calendar) divisionPlaceholder() int {
	at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == divisionList })
	if at < 0 {
		return -1
	}
	return placeholderLists + at
}

// hasEntryTag reports whether an entry in the event's title adds the tag with this key to the event.
func (c *Calendar) hasEntryTag(d *draft, key string) bool {
	tag, ok := c.tagIndex[key]
	return ok && slices.ContainsFunc(c.rules, func(r rule) bool {
		return r.applies(d) && slices.Contains(r.tags, tag)
	})
}

// gender returns 1 if the person or division in a placeholder is female, otherwise 0.
func (d *draft) gender(placeholder int) int {
	var female bool
	switch placeholder {
	case placeholderBy:
		female = d.c.people[d.author()].female
	case placeholderWho, placeholderWho2:
		female = d.c.people[d.value(placeholder)].female
	default:
		female = d.c.hasEntryTag(d, "women")
	}
	if female {
		return 1
	}
	return 0
}
