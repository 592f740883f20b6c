package markup

import "strings"

// Paragraphs converts stored HTML, which the function HTML returned, to the HTML of responses. In text without block
// elements, empty lines separate paragraphs. Each paragraph becomes a p element, and a line feed separates them. A
// line break becomes "<br />" and a line feed, unless the line already ends with br. Inside an inline element an
// empty line becomes two line breaks, because an element cannot span paragraphs. Text with a block element stays
// unchanged. The result is trimmed.
//
// The rule is in the contract, section 6.7. Paragraphs runs for every description in every response, so it searches
// for element names instead of parsing.
func Paragraphs(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || hasBlock(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len("<p></p>") + len(s) + len("<br />")*strings.Count(s, "\n"))
	b.WriteString("<p>")
	before := "" // previous line that is not empty; "" before the first one
	apart := false
	open := 0 // number of elements open at the end of the previous line
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, blank)
		if line == "" {
			apart = true
			continue
		}
		switch {
		case before == "":
		case apart && open > 0:
			b.WriteString("<br />\n<br />\n")
		case apart:
			b.WriteString("</p>\n<p>")
			line = strings.TrimLeft(line, blank)
		case endsInBreak(before):
			b.WriteByte('\n')
		default:
			b.WriteString("<br />\n")
		}
		b.WriteString(line)
		open += openedElements(line)
		before, apart = line, false
	}
	b.WriteString("</p>")
	return b.String()
}

// openedElements returns how many more elements a line opens than closes. Elements without an end tag, br and img,
// do not count. The result may be negative.
func openedElements(line string) (n int) {
	for {
		i := strings.IndexByte(line, '<')
		if i < 0 || i+1 == len(line) {
			return n
		}
		line = line[i+1:]
		switch {
		case line[0] == '/':
			n--
		case strings.HasPrefix(line, "br") || strings.HasPrefix(line, "img"):
			// These elements have no end tag.
		case isLetter(line[0]):
			n++
		}
	}
}

// blank has the white space characters that Paragraphs trims from lines. A no-break space is not trimmed.
const blank = " \t\r\f\v"

// hasBlock reports whether s has the start tag of a block element.
func hasBlock(s string) bool {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return false
		}
		s = s[i+1:]
		var name [len("blockquote")]byte
		n := 0
		for n < len(s) && n < len(name) && (isLetter(s[n]) || '1' <= s[n] && s[n] <= '6') {
			name[n] = s[n] | 0x20 // lower case for letters; digits are unchanged
			n++
		}
		if n == len(s) || strings.IndexByte("> /\t\n\r\f", s[n]) < 0 {
			continue
		}
		switch string(name[:n]) {
		case "address", "blockquote", "dd", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6",
			"hr", "li", "ol", "p", "pre", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul":
			return true
		}
	}
}

// endsInBreak reports whether a line ends with a br element: <br>, <br/> or <br />.
func endsInBreak(line string) bool {
	i := strings.LastIndexByte(line, '<')
	if i < 0 {
		return false
	}
	tag := line[i:]
	return len(tag) >= len("<br>") && len(tag) <= len("<br />") && strings.EqualFold(tag[:3], "<br") &&
		strings.Trim(tag[3:], " /") == ">"
}
