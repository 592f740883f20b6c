package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// facts is the knowledge about an event from which its description is drawn.
type facts struct {
	known           uint64 // slots with a value, as bits
	holds           uint32 // conditions that hold, as bits
	kind, venueType string
	lesson          string // its number as a word of a condition; "0" for events that are no lesson
}

// line is a text of a description, with the conditions under which it is true.
type line struct {
	template
	needs uint64 // slots of the template, as bits
	when  []condition
}

// condition is a condition of a line. Its value is that of a condition with a name, such as "kind:jazz".
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

// divisionGender is the bit of line.needs for words by the gender of the division. Only a match has one.
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
		case s.slot >= slotLists && s.gendered != nil:
			l.needs |= 1 << divisionGender
		case s.slot >= 0 && s.slot < slotLists:
			l.needs |= 1 << s.slot
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
		ok = slices.ContainsFunc(c.plan.Kinds, func(k *kind) bool { return k.Key == value })
	case "at":
		ok = slices.Contains(c.plan.Venues, value)
	case "lesson":
		n, err := strconv.Atoi(value)
		ok = err == nil && n >= 0 && n <= lessons
	}
	if !ok {
		return w, fmt.Errorf("unknown condition %q", text)
	}
	return w, nil
}

// allow reports whether a line is true of an event and its placeholders have values.
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

// suitable returns the lines that are true of an event.
func (f *facts) suitable(lines []line) []line {
	var all []line
	for i := range lines {
		if f.allow(&lines[i]) {
			all = append(all, lines[i])
		}
	}
	return all
}

// in returns the facts that a language has words for. Names of streets and districts are declined only in the language
// of the city.
func (f facts) in(l, home calendar.Language) facts {
	if l != home {
		f.known &^= localSlots
	}
	return f
}
