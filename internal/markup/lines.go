package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// bytesPerCharacter is the number of bytes of HTML that Lines reads for each character of its result. It limits
// the time for texts that are mostly tags.
const bytesPerCharacter = 32

// Lines converts HTML to plain text of at most the given number of characters. Block elements and br end lines.
// White space becomes one space, except that line feeds in pre stay. An http, https, mailto or tel address follows
// its link's text in parentheses, unless it is the text. A shortened text ends in "…". Lines reads at most 32 bytes
// of HTML for each character.
func Lines(s string, characters int) string {
	cut := false
	if most := characters * bytesPerCharacter; len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), true
	}
	w := linesWriter{most: characters}
	z := html.NewTokenizer(strings.NewReader(s))
	for w.count <= characters {
		kind := z.Next()
		if kind == html.ErrorToken { // end of the text; a string has no other error
			break
		}
		w.token(z, kind)
	}
	w.closeLink()
	if cut || w.count > characters {
		return shorten(w.b.String(), characters)
	}
	return w.b.String()
}

// Head returns the beginning of the HTML s that suffices for Lines with the same number of characters. It includes a
// little more, so that Lines can tell that a text was shortened.
func Head(s string, characters int) string {
	if most := characters*bytesPerCharacter + len("…"); len(s) > most {
		return strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// linesWriter builds plain text from HTML tokens.
type linesWriter struct {
	b      strings.Builder
	most   int  // largest number of characters
	count  int  // number of characters so far
	blank  bool // true if a blank precedes the next word
	breaks int  // number of line ends before the next word
	pre    int  // number of open pre elements
	hidden bool // true if the next text is the content of a script or style element
	href   string
	link   int // start of the open link's text in b
}

func (w *linesWriter) token(z *html.Tokenizer, kind html.TokenType) {
	if kind == html.TextToken {
		if !w.hidden {
			w.text(string(z.Text()))
		}
		w.hidden = false
		return
	}
	w.hidden = false
	if kind == html.CommentToken || kind == html.DoctypeToken {
		return
	}
	name, more := z.TagName()
	tag := atom.Lookup(name)
	open := kind != html.EndTagToken
	switch tag {
	case atom.Script, atom.Style:
		w.hidden = kind == html.StartTagToken
	case atom.A:
		w.closeLink()
		if open {
			w.openLink(z, more)
		}
	case atom.Br:
		w.newLine()
	case atom.Td, atom.Th:
		w.blank = true
	case atom.Pre:
		w.newLine()
		if open {
			w.pre++
		} else if w.pre > 0 {
			w.pre--
		}
	case atom.Img:
	default:
		if !inlineElements[tag] {
			w.endLine()
		}
	}
}

func (w *linesWriter) openLink(z *html.Tokenizer, more bool) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "href" {
			w.href = strings.TrimSpace(string(value))
		}
	}
	w.link = w.b.Len()
}

// closeLink ends the open link and appends its address. It leaves out an address that is the link's text. It also
// leaves out schemes other than http, https, mailto and tel.
func (w *linesWriter) closeLink() {
	address := w.href
	w.href = ""
	scheme, rest, ok := strings.Cut(address, ":")
	if !ok {
		return
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
	case "mailto", "tel":
		address = rest
	default:
		return
	}
	switch text := strings.TrimSpace(w.b.String()[w.link:]); text {
	case "":
		w.word(address)
	case address, rest, strings.TrimPrefix(rest, "//"):
	default:
		w.blank = true
		w.word("(" + address + ")")
	}
}

func (w *linesWriter) text(s string) {
	word := 0
	for i, r := range s {
		if !isBlank(r) {
			continue
		}
		w.word(s[word:i])
		word = i + utf8.RuneLen(r)
		if r == '\n' && w.pre > 0 {
			w.newLine()
		} else {
			w.blank = true
		}
		if w.count > w.most {
			return
		}
	}
	w.word(s[word:])
}

// isBlank reports whether HTML collapses r as white space. A no-break space does not collapse.
func isBlank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

func (w *linesWriter) word(s string) {
	if s == "" {
		return
	}
	if w.b.Len() > 0 {
		before := strings.Repeat("\n", w.breaks)
		if w.breaks == 0 && w.blank {
			before = " "
		}
		w.b.WriteString(before)
		w.count += len(before)
	}
	w.blank, w.breaks = false, 0
	w.b.WriteString(s)
	w.count += utf8.RuneCountInString(s)
}

// newLine ends the line, even if it is empty. At most one empty line separates two others.
func (w *linesWriter) newLine() { w.breaks = min(w.breaks+1, 2) }

// endLine ends the line if it is not empty.
func (w *linesWriter) endLine() { w.breaks = max(w.breaks, 1) }

// shorten cuts a text and appends "…". The result has at most the given number of characters. It cuts at the last
// white space, unless that would remove more than 40 bytes.
func shorten(s string, characters int) string {
	const back = 40 // bytes
	n := 0
	for i := range s {
		if n == characters-1 {
			s = s[:i]
			break
		}
		n++
	}
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 && len(s)-i <= back {
		s = s[:i]
	}
	return strings.TrimRightFunc(s, unicode.IsSpace) + "…"
}
