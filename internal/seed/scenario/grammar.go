package scenario

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// mendGrammar corrects words that depend on the sound of the next word, such as a and an. Call it after placeholders
// are filled.
func mendGrammar(text string, l calendar.Language) string {
	switch l {
	case calendar.Spanish:
		text = changeBefore(text, "y", "e", startsWithI)
		text = changeBefore(text, "o", "u", startsWithO)
	case calendar.English:
		text = changeBefore(text, "a", "an", startsWithVowelNumber)
		text = changeBefore(text, "A", "An", startsWithVowelNumber)
	}
	return text
}

// changeBefore replaces word by other where the next word satisfies begins. It ignores a quote before the next word.
func changeBefore(text, word, other string, begins func(next string) bool) string {
	if !strings.Contains(text, word+" ") {
		return text
	}
	var b strings.Builder
	rest := text
	for {
		at := strings.Index(rest, word+" ")
		if at < 0 {
			b.WriteString(rest)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:at])
		start := at == 0 || before == ' ' || before == '>'
		next := strings.TrimLeft(rest[at+len(word)+1:], "«“\"¿¡(")
		b.WriteString(rest[:at])
		if start && begins(next) {
			b.WriteString(other + " ")
		} else {
			b.WriteString(word + " ")
		}
		rest = rest[at+len(word)+1:]
	}
}

// startsWithI reports whether a word begins with the sound of the Spanish vowel i, as Iván and Hilario do, but not
// hielo and hip-hop.
func startsWithI(word string) bool {
	word = firstWord(word)
	if strings.HasPrefix(word, "hip-") || word == "hip" {
		return false
	}
	word = strings.TrimPrefix(word, "h")
	rest, ok := strings.CutPrefix(word, "i")
	if !ok {
		return strings.HasPrefix(word, "í") || strings.HasPrefix(word, "yv")
	}
	return !strings.HasPrefix(rest, "e") && !strings.HasPrefix(rest, "a") && !strings.HasPrefix(rest, "o")
}

// startsWithO reports whether a word begins with the sound of the Spanish vowel o, as Óscar and hora do.
func startsWithO(word string) bool {
	word = strings.TrimPrefix(firstWord(word), "h")
	return strings.HasPrefix(word, "o") || strings.HasPrefix(word, "ó")
}

// startsWithVowelNumber reports whether an English word is a number that begins with a vowel.
func startsWithVowelNumber(word string) bool {
	word = firstWord(word)
	digits := strings.TrimRightFunc(word, func(r rune) bool { return !unicode.IsDigit(r) })
	if digits != "" && unicode.IsDigit(rune(word[0])) {
		return digits[0] == '8' || word[:2] == "11" || word[:2] == "18"
	}
	for _, number := range []string{"eight", "eleven"} {
		if strings.HasPrefix(word, number) {
			return true
		}
	}
	return false
}

// firstWord returns the first word of a text in lower case.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.ToLower(word)
}
