package markup

import "strings"

// inertPasses is the largest number of times that Inert decodes the entities of a text. A text that was encoded
// twice by mistake requires two.
const inertPasses = 4

// Inert returns a text in which no HTML parser finds markup, wherever a page inserts it. It is for texts that some
// clients do not escape (contract, sections 6.2 to 6.4). It decodes entities and removes tags and comments, until
// nothing changes, and trims white space. A "<" that begins no tag stays, as in "1 < 2". A "<" that a later ">"
// could complete is removed: "Room <A" becomes "Room A".
//
// Inert(Inert(s)) is Inert(s). If inertPasses passes do not suffice, every "<" and "&" is removed.
func Inert(s string) string {
	s = strings.TrimSpace(s)
	for range inertPasses {
		if strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '&') < 0 {
			return s
		}
		next := strings.TrimSpace(strip(collapseEscapes(s), false))
		if next == s {
			if next = strings.TrimSpace(withoutOpeners(s)); next == s {
				return s
			}
		}
		s = next
	}
	return strings.TrimSpace(strings.NewReplacer("<", "", "&", "").Replace(s))
}

// collapseEscapes decodes ampersands that were encoded several times, in one pass: "&amp;amp;lt;" becomes
// "&lt;".
func collapseEscapes(s string) string {
	const again = "&amp;"
	i := strings.Index(s, again)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0; i = strings.Index(s, again) {
		b.WriteString(s[:i+1])
		for s = s[i+len(again):]; strings.HasPrefix(s, again[1:]); {
			s = s[len(again)-1:]
		}
	}
	b.WriteString(s)
	return b.String()
}

// withoutOpeners removes each "<" that begins markup for a browser. It also removes one at the end, which later
// text could complete.
func withoutOpeners(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		if s[i] == '<' && (i+1 == len(s) || opensMarkup(s[i+1])) {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// opensMarkup reports whether browsers treat "<" before the character c as the start of a tag or comment.
func opensMarkup(c byte) bool { return isLetter(c) || c == '/' || c == '!' || c == '?' }
