package markup

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth is the deepest nesting of elements in stored HTML. Deeper tags are removed and their content stays.
// Some parsers fail, or take quadratic time, at some hundreds of levels.
const maxDepth = 100

// render formats HTML that the allow-list has passed, in a form that all parsers read in the same way. It escapes
// only the necessary characters, puts attributes in double quotes, closes every element, and removes stray end tags.
// It also removes images without src, and calls addNoopener for links.
func render(ctx context.Context, s string) (string, error) {
	w := writer{out: make([]byte, 0, len(s)+len(s)/8)}
	z := html.NewTokenizer(newReader(ctx, s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := tokenizerError(z); err != nil {
				return "", err
			}
			w.closeTo(0)
			return string(w.out), nil
		case html.TextToken:
			w.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(z.Token())
		case html.EndTagToken:
			tag, _ := z.TagName()
			w.end(atom.Lookup(tag))
		}
	}
}

// writer builds HTML and tracks the open elements.
type writer struct {
	out  []byte
	open []atom.Atom
}

func (w *writer) text(text []byte) {
	for i, c := range text {
		if c != '\r' { // the tokenizer decoded a \r from an entity
			w.escape(c)
		} else if i+1 == len(text) || text[i+1] != '\n' {
			w.out = append(w.out, '\n')
		}
	}
}

// escape writes a byte of text or of an attribute, with "&", "<" and ">" as entities.
func (w *writer) escape(c byte) {
	switch c {
	case '&':
		w.out = append(w.out, "&amp;"...)
	case '<':
		w.out = append(w.out, "&lt;"...)
	case '>':
		w.out = append(w.out, "&gt;"...)
	default:
		w.out = append(w.out, c)
	}
}

func (w *writer) start(t html.Token) {
	w.closeImplied(t.DataAtom)
	switch t.DataAtom {
	case atom.Img:
		if !slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "src" }) {
			return
		}
	case atom.A:
		t.Attr = addNoopener(t.Attr)
	}
	empty := t.DataAtom == atom.Br || t.DataAtom == atom.Hr || t.DataAtom == atom.Img
	if !empty {
		if len(w.open) >= maxDepth {
			return
		}
		w.open = append(w.open, t.DataAtom)
	}
	w.out = append(append(w.out, '<'), t.Data...)
	for _, a := range t.Attr {
		w.attr(a.Key, a.Val)
	}
	if empty && t.Type == html.SelfClosingTagToken {
		w.out = append(w.out, " /"...)
	}
	w.out = append(w.out, '>')
}

func (w *writer) attr(key, value string) {
	w.out = append(append(append(w.out, ' '), key...), `="`...)
	for _, c := range []byte(value) {
		switch c {
		case '"':
			w.out = append(w.out, "&quot;"...)
		case '\n': // encoded as an entity, because Paragraphs would break the line inside the tag
			w.out = append(w.out, "&#10;"...)
		case '\r':
			w.out = append(w.out, "&#13;"...)
		default:
			w.escape(c)
		}
	}
	w.out = append(w.out, '"')
}

// addNoopener adds "noopener" to the rel of a link whose target is not _self, _parent or _top. A rel with noopener
// or noreferrer stays unchanged. Otherwise the opened page could control the window with the link.
func addNoopener(attrs []html.Attribute) []html.Attribute {
	rel, elsewhere := -1, false
	for i, a := range attrs {
		switch a.Key {
		case "rel":
			rel = i
		case "target":
			switch strings.ToLower(a.Val) {
			case "_self", "_parent", "_top":
			default:
				elsewhere = true
			}
		}
	}
	switch {
	case !elsewhere:
	case rel < 0:
		attrs = append(attrs, html.Attribute{Key: "rel", Val: "noopener"})
	default:
		words := strings.Fields(strings.ToLower(attrs[rel].Val))
		if !slices.Contains(words, "noopener") && !slices.Contains(words, "noreferrer") {
			attrs[rel].Val = strings.TrimSpace(attrs[rel].Val) + " noopener"
		}
	}
	return attrs
}

// end closes the innermost open element of the given name, and all elements inside it. It is called for an end
// tag. If no such element is open, or stopsEndTag returns true for one inside it, the end tag is dropped.
func (w *writer) end(name atom.Atom) {
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i] == name {
			w.closeTo(i)
			return
		}
		if stopsEndTag(name, w.open[i]) {
			return
		}
	}
}

// closeTo closes elements until only n are open.
func (w *writer) closeTo(n int) {
	for i := len(w.open) - 1; i >= n; i-- {
		w.out = append(append(append(w.out, "</"...), w.open[i].String()...), '>')
	}
	w.open = w.open[:n]
}

// closeImplied closes the elements that the start of a new one closes in HTML. A block closes a paragraph. An
// item closes the item before it, a cell the cell before it, and a link another link.
func (w *writer) closeImplied(name atom.Atom) {
	if !isBlock(name) && name != atom.A && !isTablePart(name) {
		return // a start tag of this element closes nothing
	}
	for i := len(w.open) - 1; i >= 0; i-- {
		if closesElement(name, w.open[i]) {
			w.closeTo(i)
		} else if stopsImpliedEnd(name, w.open[i]) {
			return
		}
	}
}

// isBlock reports whether the element cannot be inside a paragraph.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Blockquote, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Figcaption, atom.Figure, atom.H1, atom.H2, atom.H3,
		atom.H4, atom.H5, atom.H6, atom.Hr, atom.Li, atom.Ol, atom.P, atom.Pre, atom.Table, atom.Ul:
		return true
	}
	return false
}

// closesElement reports whether the start tag of next closes the element open, as a new li closes the li before
// it.
func closesElement(next, open atom.Atom) bool {
	switch open {
	case atom.P:
		return isBlock(next)
	case atom.Li, atom.A, atom.Tbody, atom.Thead, atom.Tfoot:
		return next == open || isTableSection(open) && isTableSection(next)
	case atom.Dd, atom.Dt:
		return next == atom.Dd || next == atom.Dt
	case atom.Td, atom.Th:
		return next == atom.Td || next == atom.Th || next == atom.Tr || isTableSection(next)
	case atom.Tr:
		return next == atom.Tr || isTableSection(next)
	}
	return false
}

// stopsImpliedEnd reports whether the open element protects the elements around it: the start tag of next
// cannot close them.
func stopsImpliedEnd(next, open atom.Atom) bool {
	switch open {
	case atom.Table:
		return true
	case atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		return !isTablePart(next)
	case atom.P, atom.Div:
		return false
	}
	return isBlock(open) && (next == atom.Li || next == atom.Dd || next == atom.Dt || next == atom.A)
}

// stopsEndTag reports whether an end tag inside the element open cannot close an element around it. A table stops
// every end tag. A table part, a list or a list item stops some, such as stray inline end tags.
func stopsEndTag(end, open atom.Atom) bool {
	switch open {
	case atom.Table:
		return true
	case atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		return !isTablePart(end)
	case atom.Ul, atom.Ol:
		return end == atom.Li || !isBlock(end) && !isTablePart(end)
	case atom.Dl:
		return end == atom.Dd || end == atom.Dt || !isBlock(end) && !isTablePart(end)
	case atom.Li, atom.Dd, atom.Dt:
		return !isBlock(end) && !isTablePart(end)
	}
	return false
}

func isTableSection(a atom.Atom) bool { return a == atom.Tbody || a == atom.Thead || a == atom.Tfoot }

func isTablePart(a atom.Atom) bool {
	return a == atom.Table || a == atom.Tr || a == atom.Td || a == atom.Th || isTableSection(a)
}
