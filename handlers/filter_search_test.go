package handlers_test

import (
	"html"
	"regexp"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// served is the text a reader of a language gets, field by field: in that language, in English as the language
// of the site, in the original one.
func (t refTexts) served(lang calendar.Language) refText {
	var out refText
	for _, l := range []calendar.Language{lang, calendar.English, t.original} {
		text := t.in[l]
		for _, f := range []struct {
			to   *string
			from string
		}{
			{&out.title, text.title},
			{&out.excerpt, text.excerpt},
			{&out.description, text.description},
			{&out.slug, text.slug},
		} {
			if *f.to == "" {
				*f.to = f.from
			}
		}
	}
	return out
}

// hasSlug reports whether a slug is one of the record's, in any language.
func (t refTexts) hasSlug(slug string) bool {
	for _, text := range t.in {
		if text.slug == slug && slug != "" {
			return true
		}
	}
	return false
}

var (
	refTag     = regexp.MustCompile(`<[^>]*>`)
	refLetters = strings.NewReplacer(
		"ą", "a", "ć", "c", "ę", "e", "ł", "l", "ń", "n", "ó", "o", "ś", "s", "ź", "z", "ż", "z",
		"á", "a", "é", "e", "í", "i", "ú", "u", "ü", "u", "ñ", "n")
)

// refFold takes case and diacritics away, as far as the words of the test have any.
func refFold(s string) string { return refLetters.Replace(strings.ToLower(s)) }

// refPlain is the text of HTML, folded.
func refPlain(s string) string { return refFold(html.UnescapeString(refTag.ReplaceAllString(s, ""))) }

// refWords cuts what is searched for in events: at white space, except inside of quotes.
func refWords(search string) []string {
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
func eventMatches(t refText, search string) bool {
	for _, word := range refWords(search) {
		without, excluded := strings.CutPrefix(word, "-")
		without = refFold(without)
		occurs := strings.Contains(refFold(t.title), without) ||
			strings.Contains(refPlain(t.excerpt), without) || strings.Contains(refPlain(t.description), without)
		if occurs == excluded {
			return false
		}
	}
	return true
}

// linkedMatches reports whether all pieces occur in one and the same text of a venue or organizer.
func linkedMatches(l *refLinked, lang calendar.Language, search string) bool {
	t := l.texts.served(lang)
	texts := []string{refFold(t.title), refPlain(t.description)}
	for _, text := range l.fields {
		texts = append(texts, refFold(text))
	}
	for _, text := range texts {
		all := true
		for piece := range strings.FieldsFuncSeq(search, func(r rune) bool { return r == ' ' || r == ',' }) {
			all = all && strings.Contains(text, refFold(piece))
		}
		if all {
			return true
		}
	}
	return false
}

func termMatches(t refText, search string) bool {
	search = refFold(strings.TrimSpace(search))
	return strings.Contains(refFold(t.title), search) || strings.Contains(t.slug, search)
}
