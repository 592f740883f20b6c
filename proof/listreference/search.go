package listreference

import (
	"html"
	"regexp"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

var (
	htmlTag = regexp.MustCompile(`<[^>]*>`)
	letters = strings.NewReplacer(
		"ą", "a", "ć", "c", "ę", "e", "ł", "l", "ń", "n", "ó", "o", "ś", "s", "ź", "z", "ż", "z",
		"á", "a", "é", "e", "í", "i", "ú", "u", "ü", "u", "ñ", "n")
)

// Fold converts a text to lower case without diacritics, for comparing in searches. It knows only the letters that
// random calendars use.
func Fold(s string) string { return letters.Replace(strings.ToLower(s)) }

// PlainText removes the tags of HTML, decodes its entities, and converts the rest to lower case without diacritics.
func PlainText(s string) string { return Fold(html.UnescapeString(htmlTag.ReplaceAllString(s, ""))) }

// searchWords splits a search for events into words at white space. A phrase in quotation marks is one word without
// these.
func searchWords(search string) []string {
	var out []string
	for i, part := range strings.Split(search, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// eventMatches reports whether a search finds an event. Each word must occur in its title, excerpt or description. A
// word after a minus sign must not occur.
func eventMatches(t Text, search string) bool {
	for _, word := range searchWords(search) {
		without, excluded := strings.CutPrefix(word, "-")
		without = Fold(without)
		occurs := strings.Contains(Fold(t.Title), without) ||
			strings.Contains(PlainText(t.Excerpt), without) || strings.Contains(PlainText(t.Description), without)
		if occurs == excluded {
			return false
		}
	}
	return true
}

// linkedMatches reports whether a search finds a venue or organizer. All words must occur in the same text. Spaces
// and commas separate words.
func linkedMatches(l *Linked, lang calendar.Language, search string) bool {
	t := l.Texts.served(lang)
	texts := []string{Fold(t.Title), PlainText(t.Description)}
	for _, text := range l.Fields {
		texts = append(texts, Fold(text))
	}
	for _, text := range texts {
		all := true
		for piece := range strings.FieldsFuncSeq(search, func(r rune) bool { return r == ' ' || r == ',' }) {
			all = all && strings.Contains(text, Fold(piece))
		}
		if all {
			return true
		}
	}
	return false
}

// termMatches reports whether a term's name or slug contains the search text.
func termMatches(t Text, search string) bool {
	search = Fold(strings.TrimSpace(search))
	return strings.Contains(Fold(t.Title), search) || strings.Contains(t.Slug, search)
}
