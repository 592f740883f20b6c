// Package markup cleans texts that clients send. It produces plain text without tags, HTML reduced to an
// allow-list, or HTML for display. Its functions have no side effects, and their time is proportional to their
// input.
package markup

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ErrText is returned for text that cannot be stored, because it is invalid UTF-8 or contains a NUL.
var ErrText = errors.New("text has a NUL character or is not valid UTF-8")

// Text returns plain text for a title, a name or an address that a client sent. It removes tags, comments, and
// the content of script and style. Then it decodes entities once and trims white space.
//
// Only possible tags are removed, so "a < b", "1 <3", "I </3 it" and a "<" without a later ">" stay. The result
// may contain "<" and "&", so it must be escaped in HTML.
//
// The error is ErrText. The rule is the type "text" (contract, section 4).
func Text(s string) (string, error) {
	if !isStorable(s) {
		return "", ErrText
	}
	return strings.TrimSpace(strip(s, false)), nil
}

// TextLimited returns the plain text of s by the rules of Text. If the text exceeds the limit in characters, it
// returns "" and false. It stops early if the text is certainly too long. If s is invalid UTF-8 or contains a NUL,
// the error is ErrText.
func TextLimited(s string, characters int) (text string, ok bool, err error) {
	if !isStorable(s) {
		return "", false, ErrText
	}
	stripped, complete := stripLimited(s, false, characters)
	if !complete {
		return "", false, nil
	}
	if text = strings.TrimSpace(stripped); utf8.RuneCountInString(text) > characters {
		return "", false, nil
	}
	return text, true, nil
}

// Plain converts HTML to one line of plain text, for structured data and other places without markup. It
// removes tags, decodes entities once, and replaces runs of white space by one space. The end of a block, table
// cell or line separates words. An inline tag does not.
func Plain(s string) string {
	return strings.Join(strings.Fields(strip(s, true)), " ")
}

func isStorable(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// strip removes the tags of s, with the content of script and style, and decodes its entities once. If apart is
// true, tags of elements that are not inline become spaces, so that words stay separate.
func strip(s string, apart bool) string {
	stripped, _ := stripLimited(s, apart, -1)
	return stripped
}

// stripLimited removes the tags of s, with the content of script and style, and decodes its entities once. If apart
// is true, tags of elements that are not inline become spaces. The limit in characters does not count outer white
// space. If the result certainly exceeds the limit, it stops and returns "" and false. A negative limit means none.
func stripLimited(s string, apart bool, characters int) (stripped string, complete bool) {
	least := leastLength{enough: characters}
	// Without a ">" there is no tag.
	if strings.Contains(s, ">") {
		s = escapeStray(s)
	}
	if !strings.Contains(s, "<") || !strings.Contains(s, ">") {
		if characters >= 0 && least.add(s) > characters {
			return "", false
		}
		return html.UnescapeString(s), true
	}
	var b strings.Builder
	b.Grow(len(s))
	z := html.NewTokenizer(strings.NewReader(s))
	code := false // the next text is the content of a script or style element
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // end of the text; a string has no other error
			return html.UnescapeString(b.String()), true
		case html.TextToken:
			// The raw text is kept, because entities are decoded only after all tags are removed.
			if !code {
				before := b.Len()
				b.Write(z.Raw())
				if characters >= 0 && least.add(b.String()[before:]) > characters {
					return "", false
				}
			}
			code = false
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			var name atom.Atom
			// The name is needed only for script and style, and to tell whether a tag separates words.
			if raw := z.Raw(); apart || raw[1]|0x20 == 's' {
				tag, _ := z.TagName()
				name = atom.Lookup(tag)
			}
			code = (name == atom.Script || name == atom.Style) && kind != html.EndTagToken
			if !code {
				// The tokenizer treats the content of elements such as textarea as text. Tags in it are removed
				// too.
				z.NextIsNotRawText()
			}
			if apart && !inlineElements[name] {
				b.WriteByte(' ')
			}
		default:
			code = false
		}
	}
}

// leastLength computes, piece by piece, a lower bound of a text's length in characters after decoding entities
// and trimming. It does not count characters that may be part of an entity, because tags may split one.
type leastLength struct {
	enough int  // bound after which counting stops
	n      int  // characters so far
	entity bool // true if the next character may be a part of an entity
}

func (l *leastLength) add(text string) int {
	for i := 0; i < len(text) && l.n <= l.enough; i++ {
		switch c := text[i]; {
		case c == '&':
			l.entity = true
		case l.entity && (c == '#' || c == ';' || isLetter(c) || '0' <= c && c <= '9'):
		case c > ' ' && c < utf8.RuneSelf:
			l.n++
			l.entity = false
		default:
			l.entity = false
		}
	}
	return l.n
}

// escapeStray escapes each "<" that readers see as a character but the tokenizer would treat as markup. These
// are a "<" without a later ">", and "</" before anything but a letter or ">" (a bogus comment in HTML).
func escapeStray(s string) string {
	next := strings.IndexByte(s, '<')
	if next < 0 {
		return s
	}
	last := strings.LastIndexByte(s, '>')
	var b strings.Builder
	done := 0
	for i := next; next >= 0; i += 1 + next {
		if i > last || s[i+1] == '/' && s[i+2] != '>' && !isLetter(s[i+2]) {
			b.WriteString(s[done:i])
			b.WriteString("&lt;")
			done = i + 1
		}
		next = strings.IndexByte(s[i+1:], '<')
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// inlineElements are the HTML elements that do not separate words, such as b and span.
var inlineElements = atomSet(atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code,
	atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp,
	atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var,
	atom.Wbr)

func atomSet(names ...atom.Atom) map[atom.Atom]bool {
	m := make(map[atom.Atom]bool, len(names))
	for _, a := range names {
		m[a] = true
	}
	return m
}
