// Package search defines what the parameter "search" matches (contract, section 9.1; contract, section 14). It folds
// texts for comparison, and parses and matches searches. It also splits terms for a lookup in an index of whole
// words.
//
// Both sides of a comparison go through Fold, so the result depends neither on the database nor on its collation.
// Callers pass the text as it is served, without HTML.
package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold makes texts comparable by ignoring case and diacritics: lodz finds Łódź, ano finds año, strasse finds
// Straße. All languages fold alike, so й becomes и, and the Turkish ı and İ become i.
//
// Compatibility variants (full width, ligatures, superscripts) become plain characters. Typographic quotes,
// apostrophes and dashes become ASCII, so don't finds don’t. Invisible characters such as soft hyphens and
// joiners are removed. Every run of white space becomes one space, and is removed at the ends.
//
// Marks that are vowels, or that make another letter, stay (Devanagari, Thai, the voiced kana). Vowel points of
// Hebrew and Arabic are removed. The result is valid UTF-8 in normal form C, and folding it again changes
// nothing. Invalid bytes become U+FFFD. Folded ASCII is returned without a copy.
func Fold(s string) string {
	i := foldedASCII(s)
	if i == len(s) {
		return s
	}
	f := folder{out: append(make([]byte, 0, len(s)+8), s[:i]...)}
	if i > 0 && s[i-1] == ' ' {
		f.out, f.gap = f.out[:i-1], true
	}
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			f.ascii(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		f.rune(r, s[i:i+size])
		i += size
	}
	if f.joins {
		return norm.NFC.String(string(f.out))
	}
	return string(f.out)
}

// foldedASCII returns the length of the longest ASCII prefix of s that Fold would return unchanged. Fold skips
// this prefix.
func foldedASCII(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c == '`', c >= '\t' && c <= '\r':
			return i
		case c == ' ' && (i == 0 || s[i-1] == ' ' || i == len(s)-1):
			return i
		}
	}
	return len(s)
}

// folder builds the result of Fold, character by character.
type folder struct {
	out   []byte
	gap   bool // white space was read since the last character was written
	joins bool // a written character may compose with the one before it
}

func (f *folder) ascii(c byte) {
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		f.gap = true
		return
	case c >= 'A' && c <= 'Z':
		c += 'a' - 'A'
	case c == '`':
		c = '\''
	}
	f.space()
	f.out = append(f.out, c)
}

// rune appends the folded form of the character r. The bytes of r in the source text are enc.
func (f *folder) rune(r rune, enc string) {
	if r == utf8.RuneError {
		f.put(r)
		return
	}
	// This precedes the decomposition, which turns the ´ in rock´n´roll into a space and an accent.
	if typed := keyboardRune(r); typed != r {
		f.put(typed)
		return
	}
	parts := norm.NFKD.PropertiesString(enc).Decomposition()
	if len(parts) == 0 {
		f.put(r)
		return
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		f.put(keyboardRune(part))
		parts = parts[size:]
	}
}

// put appends the folded form of a character that cannot be decomposed further.
func (f *folder) put(r rune) {
	switch {
	case r < utf8.RuneSelf:
		f.ascii(byte(r)) //nolint:gosec // ASCII, as the case says
		return
	case isIgnored(r):
		return
	case unicode.IsSpace(r):
		f.gap = true
		return
	}
	// Folding goes through upper case, because pairs such as ς and σ share only the capital. Han and most
	// scripts near it have no case.
	if r < 0x3000 || r > 0xA63F {
		r = unicode.ToLower(unicode.ToUpper(r))
	}
	f.space()
	if plain := letterSpelling(r); plain != "" {
		f.out = append(f.out, plain...)
		return
	}
	f.joins = f.joins || r >= 0x1100 && r <= 0x11FF || unicode.Is(unicode.M, r)
	f.out = utf8.AppendRune(f.out, r)
}

func (f *folder) space() {
	if f.gap && len(f.out) > 0 {
		f.out = append(f.out, ' ')
	}
	f.gap = false
}

// isIgnored reports whether Fold removes r. It removes accents, and invisible marks for line breaks, joining and
// direction.
func isIgnored(r rune) bool {
	switch {
	case r < 0x300:
		return r == '\u00AD'
	case r <= 0x36F:
		return true
	case r == '\u061C', r == '\u0640', r == '\u180E', r == '\uFEFF',
		r >= '\u200B' && r <= '\u200F', r >= '\u202A' && r <= '\u202E', r >= '\u2060' && r <= '\u206F':
		return true
	case r == '\u3099', r == '\u309A': // the voicing marks of kana make another syllable
		return false
	}
	return unicode.Is(unicode.M, r) &&
		unicode.In(r, unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Greek,
			unicode.Syriac)
}

// keyboardRune returns the ASCII character that people type instead of a typographic quote, apostrophe or dash. It
// returns other characters unchanged.
func keyboardRune(r rune) rune {
	if r > 0x7F && r < 0xAB {
		return r
	}
	switch r {
	case '´', '\u02B9', '\u02BB', '\u02BC', '\u02BD', '\u05F3', '‘', '’', '‚', '‛', '′', '‵', '‹', '›', '❛', '❜',
		'\u1FBD', '\u1FBF', '\u1FCD', '\u1FCE', '\u1FCF', '\u1FFD', '\uA78B', '\uA78C':
		return '\''
	case '\u02BA', '\u02EE', '\u05F4', '″', '‶', '❝', '❞', '〝', '〞', '〟':
		return '"'
	case '\u05BE', '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015',
		'\u2043', '\u2212', '\u2E3A', '\u2E3B':
		return '-'
	case '\u2044', '\u2215':
		return '/'
	}
	if isQuote(r) {
		return '"'
	}
	return r
}

// isQuote reports whether r begins or ends a phrase. Typographic quotes count, because phones and word
// processors insert them.
func isQuote(r rune) bool {
	switch r {
	case '"', '“', '”', '„', '‟', '«', '»', '\uFF02':
		return true
	}
	return false
}

// letterSpelling returns the usual ASCII spelling of a lower-case letter without a decomposition: "ss" for ß, "l"
// for ł. It returns "" for other letters.
func letterSpelling(r rune) string {
	if r > 0x2C6C || r < 'ß' {
		return ""
	}
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'ⱥ':
		return "a"
	case 'ƀ', 'ɓ', 'ƃ':
		return "b"
	case 'ƈ', 'ȼ':
		return "c"
	case 'đ', 'ð', 'ɖ', 'ɗ', 'ƌ':
		return "d"
	case 'ɇ':
		return "e"
	case 'ƒ':
		return "f"
	case 'ɠ', 'ǥ':
		return "g"
	case 'ħ', 'ⱨ':
		return "h"
	case 'ı', 'ɨ':
		return "i"
	case 'ɉ', 'ȷ':
		return "j"
	case 'ƙ', 'ⱪ':
		return "k"
	case 'ł', 'ƚ', 'ɫ', 'ⱡ':
		return "l"
	case 'ŋ', 'ɲ', 'ƞ':
		return "n"
	case 'ø', 'ɵ':
		return "o"
	case 'ƥ', 'ᵽ':
		return "p"
	case 'ĸ', 'ɋ':
		return "q"
	case 'ɍ', 'ɽ':
		return "r"
	case 'ȿ':
		return "s"
	case 'ŧ', 'ƭ', 'ʈ', 'ⱦ':
		return "t"
	case 'ʉ':
		return "u"
	case 'ʋ':
		return "v"
	case 'ƴ', 'ɏ':
		return "y"
	case 'ƶ', 'ȥ', 'ⱬ', 'ɀ':
		return "z"
	}
	return ""
}
