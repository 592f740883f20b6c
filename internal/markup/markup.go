// Package markup is what becomes of the texts that clients send and get: plain text without tags, HTML reduced
// to an allow-list, and HTML as readers see it. All functions are pure and take time proportional to their input.
package markup

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ErrText is returned for what cannot be stored as text: invalid UTF-8, or a text with a NUL in it.
var ErrText = errors.New("text has a NUL character or is not valid UTF-8")

// Text makes plain text of what a client sent for a title, a name or an address: tags are removed (script and
// style with their content, comments too), then entities are decoded once, and outer white space is trimmed.
//
// Only what can be a tag is taken for one, so "a < b", "1 <3" and "I </3 it" stay, and so does a "<" that no
// ">" follows. The result may hold "<" and "&" and is to be escaped wherever HTML is expected.
//
// The error is ErrText. The rule is the type "text" of the contract, section 4.
func Text(s string) (string, error) {
	if !storable(s) {
		return "", ErrText
	}
	return strings.TrimSpace(strip(s, false)), nil
}

// Plain makes one line of plain text out of HTML, for places such as structured data that take no markup: tags
// are removed, entities decoded once, and runs of white space become one space. The end of a block, of a table
// cell or of a line also separates words; an inline tag does not.
func Plain(s string) string {
	return strings.Join(strings.Fields(strip(s, true)), " ")
}

func storable(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// strip removes the tags of s and decodes its entities once. With apart, tags that are not inline leave a space.
func strip(s string, apart bool) string {
	if s = mend(s); !strings.Contains(s, "<") {
		return html.UnescapeString(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	z := html.NewTokenizer(strings.NewReader(s))
	code := false // the next text is the content of a script or style element
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // the end: a string has no other error
			return html.UnescapeString(b.String())
		case html.TextToken:
			// Raw, because entities are decoded when all tags are gone, not piece by piece.
			if !code {
				b.Write(z.Raw())
			}
			code = false
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			code = (name == atom.Script || name == atom.Style) && kind != html.EndTagToken
			if !code {
				// The tokenizer takes the content of elements such as textarea for text; here tags go everywhere.
				z.NextIsNotRawText()
			}
			if apart && !inline[name] {
				b.WriteByte(' ')
			}
		default:
			code = false
		}
	}
}

// mend escapes each "<" that readers mean as a character though the tokenizer would take it, and what follows,
// for markup: one that no ">" follows, and "</" before anything but a letter, which HTML calls a bogus comment.
func mend(s string) string {
	next := strings.IndexByte(s, '<')
	if next < 0 {
		return s
	}
	last := strings.LastIndexByte(s, '>')
	var b strings.Builder
	done := 0
	for i := next; next >= 0; i += 1 + next {
		if i > last || s[i+1] == '/' && s[i+2] != '>' && !letter(s[i+2]) {
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

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// inline are the elements that do not part words.
var inline = set(atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code,
	atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp,
	atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var,
	atom.Wbr)

func set(names ...atom.Atom) map[atom.Atom]bool {
	m := make(map[atom.Atom]bool, len(names))
	for _, a := range names {
		m[a] = true
	}
	return m
}
