// Package ruletext describes the schedule of a series in words.
package ruletext

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/internal/locale"
)

const (
	listLimit  = 5 // longest list of dates; for more, the text gives their number
	listSample = 3 // number of dates that are listed before the number of the others
)

// Format describes a schedule in words: "every second Tuesday until 3 March 2027, except 22 December 2026". The
// text begins in lower case. It omits the first day and the time of day, which the start of the schedule shows.
// For a rule without an everyday shape, it lists the first dates. For an unknown language it uses English.
func Format(words *locale.Catalogues, lang calendar.Language, s recur.Schedule) string {
	v, ok := vocabularies[lang]
	if !ok {
		lang, v = calendar.English, &english
	}
	w := &writer{words, lang, v}
	if s.Rule.IsZero() || s.Rule.Count == 1 {
		return w.starts(s)
	}
	r := simplify(s.Rule, s.Start)
	text, ok := w.rule(r)
	if !ok {
		return w.starts(s)
	}
	switch {
	case r.Count > 0 && text.several:
		text.addClause(w.say("schedule-times-in-all", arguments{"Count": r.Count}))
	case r.Count > 0:
		text.addClause(w.say("schedule-times", arguments{"Count": r.Count}))
	case !r.Until.IsZero():
		text.add(w.say("schedule-until", arguments{"Date": w.date(lastDay(s))}))
	}
	w.addChanges(&text, s, r)
	return text.text
}

// addChanges appends the exceptions of a schedule to the text: additional starts, and excluded starts of the rule.
func (w *writer) addChanges(text *phrase, s recur.Schedule, r recur.Rule) {
	added, removed := changes(s, r)
	// If a start was moved within a day, the text lists that day with the time of the replaced start.
	kept := datesOf(added)
	switch timed := slices.ContainsFunc(datesOf(removed), func(d date) bool { return slices.Contains(kept, d) }); {
	case len(removed) == 0:
	case len(removed) <= listLimit:
		text.addClause(w.say("schedule-except", arguments{"Dates": w.startList(removed, timed)}))
	default:
		text.addClause(w.say("schedule-except-more", arguments{"Count": len(removed)}))
	}
	switch timed := slices.ContainsFunc(added, func(start calendar.Wall) bool { return !sameClock(start, s.Start) }); {
	case len(added) == 0:
	case len(added) <= listLimit:
		text.addClause(w.say("schedule-and-dates", arguments{"Dates": w.startList(added, timed)}))
	default:
		text.addClause(w.say("schedule-and-more", arguments{"Count": len(added)}))
	}
}

// phrase is a text that is built from words and clauses, with the commas that they need.
type phrase struct {
	text    string
	closed  bool // a comma must precede the next part
	several bool // whether a period of the rule may have several starts, or none
}

// add appends words after a space. If the phrase ends with a clause, it writes a comma first.
func (p *phrase) add(words string) {
	if p.closed {
		p.text += ","
	}
	p.text += " " + words
}

// addClause appends words after a comma. The next words also get a comma.
func (p *phrase) addClause(words string) {
	p.closed = true
	p.add(words)
}

// writer describes schedules in one language.
type writer struct {
	words *locale.Catalogues
	lang  calendar.Language
	*vocabulary
}

// say returns the message with a key, in the language of the writer. args fill its placeholders.
func (w *writer) say(key string, args arguments) string { return w.words.Message(w.lang, key, args) }

// arguments has the values of a message's placeholders. The argument Count selects the plural form.
type arguments = map[string]any
