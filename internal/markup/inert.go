package markup

import "strings"

// inertPasses bounds how often entities are decoded. Texts that were encoded twice by mistake need two passes.
const inertPasses = 4

// Inert makes of a text one that no HTML parser finds markup in, wherever in a page it is put as text: clients do not
// escape the texts that are answered unescaped (contract, sections 6.2 to 6.4). Entities are decoded and tags and comments
// removed, as Text does, until there is nothing left to decode or to remove. A "<" that begins no tag stays, as in
// "1 < 2"; one that would begin a tag if a ">" followed goes alone, and "Room <A" becomes "Room A".
//
// Inert(Inert(s)) is Inert(s). It takes at most inertPasses+1 passes over its input. A text that was nested deeper than
// that was made to waste time: it loses each "<" and "&".
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

// collapseEscapes decodes the ampersands of a text that was encoded many times at once: "&amp;amp;lt;" becomes "&lt;".
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

// withoutOpeners removes each "<" that begins markup for a browser, and one at the end, where more may follow.
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

// opensMarkup reports whether a "<" before the character begins a tag, a comment or what browsers take for one.
func opensMarkup(c byte) bool { return isLetter(c) || c == '/' || c == '!' || c == '?' }
