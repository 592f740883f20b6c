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

// Fold removes case and diacritics, as far as the words of random calendars have any.
func Fold(s string) string { return letters.Replace(strings.ToLower(s)) }

// PlainText returns the text of HTML, folded.
func PlainText(s string) string { return Fold(html.UnescapeString(htmlTag.ReplaceAllString(s, ""))) }

// searchWords splits what is searched for in events at white space, except inside of quotes.
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

// eventMatches reports whether every word occurs in one of the texts of an event, and no excluded one does.
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

// linkedMatches reports whether all pieces occur in one and the same text of a venue or organizer.
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

// termMatches reports whether the name or the slug of a term has a text.
func termMatches(t Text, search string) bool {
	search = Fold(strings.TrimSpace(search))
	return strings.Contains(Fold(t.Title), search) || strings.Contains(t.Slug, search)
}
