package importer

import (
	"bytes"
	"encoding/hex"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"

	"github.com/almanac-cal/almanac/calendar"
)

// contentLine is a logical line of an iCalendar file, joined from its folded lines (RFC 5545, section 3.1).
type contentLine struct {
	text   string
	number int  // number of its first line in the file, from 1
	length int  // length of its last line in the file, in bytes
	ended  bool // whether a line end follows
}

// contentLines yields the logical lines of a file. Lines end with CR LF, LF or CR. Empty lines are skipped. If the
// lines of a component are indented, the indentation is removed. Soft line breaks of quoted-printable are joined.
func contentLines(text string) iter.Seq[contentLine] {
	return func(yield func(contentLine) bool) {
		u := unfolder{yield: yield, block: true}
		counted := byte('\r') // old programs end lines with CR alone
		if strings.Contains(text, "\n") {
			counted = '\n'
		}
		for number := 1; text != "" && !u.stopped; {
			line, rest := text, ""
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, rest = text[:end], strings.TrimPrefix(strings.TrimLeft(text[end:], "\r"), "\n")
			}
			u.add(line, number, len(line)+len(rest) < len(text))
			number += strings.Count(text[len(line):len(text)-len(rest)], string(counted))
			text = rest
		}
		u.flush()
	}
}

// unfolder joins the folded lines of a file and yields logical lines.
type unfolder struct {
	yield   func(contentLine) bool
	stopped bool
	current contentLine
	open    bool   // whether current has a line
	folded  []byte // text of current if it has folds
	block   bool   // whether current is a BEGIN or END, which have no folds
	indent  string // white space before each line of the present component
}

// add passes the next physical line to the unfolder. ended is false for a last line without a line break.
func (u *unfolder) add(line string, number int, ended bool) {
	if u.block {
		u.indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	}
	body, indented := strings.CutPrefix(line, u.indent)
	if !indented {
		body, u.indent = strings.TrimLeft(line, " \t"), ""
	}
	if body == "" {
		return
	}
	block := isBlock(splitName(body))
	soft := u.open && !block && u.isSoftBreak()
	folded := indented && !u.block && (body[0] == ' ' || body[0] == '\t')
	if folded && block {
		folded = !indentedBlock.MatchString(body)
	}
	if u.open && (soft || folded) {
		if u.folded == nil {
			u.folded = append(u.folded, u.current.text...)
		}
		if soft {
			u.folded = u.folded[:len(u.folded)-1]
		}
		if body[0] == ' ' || body[0] == '\t' {
			body = body[1:]
		}
		u.folded = append(u.folded, body...)
		u.current.length, u.current.ended = len(line), ended
		return
	}
	u.flush()
	body = strings.TrimLeft(body, " \t")
	u.open, u.current = true, contentLine{body, number, len(line), ended}
	u.block = block
}

// indentedBlock matches a BEGIN or END in a file that is indented. A fold has one space.
var indentedBlock = regexp.MustCompile(`(?i)^(  |\t)\s*(BEGIN|END):V(CALENDAR|EVENT|TIMEZONE)\s*$`)

// isSoftBreak reports whether the current line ends with a soft line break of quoted-printable, so that the next
// line continues it.
func (u *unfolder) isSoftBreak() bool {
	last := u.current.text
	if u.folded != nil {
		last = string(u.folded[len(u.folded)-1:])
	}
	const most = 200 // bytes of the head of such a line
	return strings.HasSuffix(last, "=") &&
		strings.Contains(strings.ToUpper(u.current.text[:min(len(u.current.text), most)]), quotedPrintable)
}

// flush yields the current logical line, if there is one.
func (u *unfolder) flush() {
	if !u.open || u.stopped {
		return
	}
	if u.folded != nil {
		u.current.text, u.folded = string(u.folded), nil
	}
	u.open, u.stopped = false, !u.yield(u.current)
}

const quotedPrintable = "QUOTED-PRINTABLE"

// maxLineHead is the maximum length of the name and the parameters of a line, in bytes.
const maxLineHead = 4096

// splitName splits a line before the first ":" or ";" of its first maxLineHead bytes, and returns the name in upper
// case. Without such a character, it splits after maxLineHead bytes; rest is then usually "".
func splitName(line string) (name, rest string) {
	at := strings.IndexAny(line[:min(len(line), maxLineHead)], ":;")
	if at < 0 {
		at = min(len(line), maxLineHead)
	}
	return strings.ToUpper(strings.TrimSpace(line[:at])), line[at:]
}

// propertyName matches the name of a property.
var propertyName = regexp.MustCompile(`^[A-Z][A-Z0-9-]*$`)

// continuesText reports whether a line is a part of the previous line's text. Some programs fold lines without a
// space, or write unescaped line breaks. name and rest are the results of splitName.
func continuesText(name, rest string) bool {
	return rest == "" || !propertyName.MatchString(name) ||
		!strings.HasPrefix(name, "X-") && (strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, "://"))
}

// parseProperty parses the rest of a line after its name. It accepts parameters that the RFC forbids. It returns
// false for a line without a value.
func parseProperty(name, rest string) (p property, ok bool) {
	head, value, ok := cutHead(name, rest)
	if !ok {
		return property{}, false
	}
	p.value = value
	for part := range splitUnquoted(head, ';') {
		key, text, _ := strings.Cut(part, "=")
		key = strings.ToUpper(strings.TrimSpace(key))
		switch key {
		case "":
			continue
		case quotedPrintable: // vCalendar 1.0 allows the value alone
			key, text = "ENCODING", key
		}
		if p.parameters == nil {
			p.parameters = make(map[string]string)
		}
		if _, twice := p.parameters[key]; !twice {
			p.parameters[key] = parameterEscapes.Replace(strings.ReplaceAll(text, `"`, ""))
		}
	}
	return p, true
}

// parameterEscapes decodes the value of a parameter (RFC 6868).
var parameterEscapes = strings.NewReplacer("^n", "\n", "^'", `"`, "^^", "^")

// splitUnquoted yields the parts of a text between separators outside of quotes.
func splitUnquoted(text string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := range len(text) {
			switch text[i] {
			case '"':
				quoted = !quoted
			case separator:
				if !quoted {
					if !yield(text[start:i]) {
						return
					}
					start = i + 1
				}
			}
		}
		yield(text[start:])
	}
}

// startsLikeDate matches the beginning of a DATE or DATE-TIME. It does not match what follows a colon in a time
// zone's name.
var startsLikeDate = regexp.MustCompile(`^[\s"]*\d{4}`)

// cutHead splits the rest of a line into its parameters (head) and its value, at the first colon outside quotes. For
// a date property it splits before the date, because some programs write TZID=(UTC+01:00) without quotes. A quote
// that is never closed is ignored. It returns false if there is no such colon.
func cutHead(name, rest string) (head, value string, ok bool) {
	head = rest[:min(len(rest), maxLineHead)]
	first, quoted := -1, false
	for i := range len(head) {
		switch head[i] {
		case '"':
			quoted = !quoted
		case ':':
			if quoted {
				continue
			}
			if first < 0 {
				first = i
			}
			if !dateProperties[name] || startsLikeDate.MatchString(rest[i+1:]) {
				return rest[:i], rest[i+1:], true
			}
		}
	}
	if first < 0 {
		first = strings.Index(head, ":")
	}
	if first < 0 {
		return "", "", false
	}
	return rest[:first], rest[first+1:], true
}

// dateProperties are the properties whose value begins with a date.
var dateProperties = map[string]bool{
	"DTSTART": true, "DTEND": true, "RECURRENCE-ID": true, "EXDATE": true, "RDATE": true,
}

// decodeQuotedPrintable decodes quoted-printable. Invalid sequences stay as they are.
func decodeQuotedPrintable(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "=")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if code, err := hex.DecodeString(after[:min(len(after), 2)]); err == nil && len(code) == 1 {
			b.Write(code)
			after = after[2:]
		} else {
			b.WriteByte('=')
		}
		s = after
	}
}

// decodeUTF16 converts a text in UTF-16 to UTF-8. It returns false for text in another encoding.
func decodeUTF16(data []byte) ([]byte, bool) {
	order := utf16.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), isWide(data, 1):
	case bytes.HasPrefix(data, []byte("\xfe\xff")), isWide(data, 0):
		order = utf16.BigEndian
	default:
		return nil, false
	}
	text, err := utf16.UTF16(order, utf16.UseBOM).NewDecoder().Bytes(data)
	return text, err == nil
}

// isWide reports whether data starts like ASCII text in UTF-16. zero is the index of the zero byte in each pair: 0 for
// big endian, 1 for little endian.
func isWide(data []byte, zero int) bool {
	const enough = 16
	if len(data) < enough {
		return false
	}
	for i, c := range data[:enough] {
		if (c == 0) != (i%2 == zero) {
			return false
		}
	}
	return true
}

// textDecoder converts lines that are not valid UTF-8 to UTF-8.
type textDecoder struct {
	charmap *charmap.Charmap // for lines that do not name their encoding
	// decoded counts lines that were read with charmap, and replaced counts lines in UTF-8 with some invalid bytes.
	decoded, replaced int
}

// newTextDecoder returns a decoder for a file whose texts are in a language. It assumes the Windows encoding of that
// language.
func newTextDecoder(language calendar.Language) *textDecoder {
	if language == calendar.Polish {
		return &textDecoder{charmap: charmap.Windows1250}
	}
	return &textDecoder{charmap: charmap.Windows1252}
}

// text returns s as valid UTF-8. It decodes other text from charset, or else from d.charmap. If the property has no
// parameter CHARSET, charset is "". Bytes that it cannot decode become U+FFFD.
func (d *textDecoder) text(s, charset string) string {
	if utf8.ValidString(s) {
		return s
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError }) {
		d.replaced++
		return strings.ToValidUTF8(s, "�")
	}
	var named *charmap.Charmap
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok && charset != "" && charsetKey(c.String()) == charsetKey(charset) {
			named = c
		}
	}
	if named == nil {
		named = d.charmap
		d.decoded++
	}
	decoded, err := named.NewDecoder().String(s)
	if err != nil {
		return strings.ToValidUTF8(s, "�")
	}
	return decoded
}

// charsetKey returns an encoding's name without case and punctuation, so that "ISO 8859-2" and "iso-8859-2" are
// equal.
func charsetKey(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
