package feed

import "unicode/utf8"

const xmlHeader = `<?xml version="1.0" encoding="utf-8"?>` + "\n"

// xmlWriter builds an XML document. The caller's element names must be valid; texts are escaped.
type xmlWriter struct{ out []byte }

// open writes a start tag. attributes are alternating names and values.
func (x *xmlWriter) open(name string, attributes ...string) {
	x.tag(name, attributes)
	x.out = append(x.out, ">\n"...)
}

func (x *xmlWriter) close(name string) {
	x.out = append(append(append(x.out, "</"...), name...), ">\n"...)
}

// empty writes an element without content.
func (x *xmlWriter) empty(name string, attributes ...string) {
	x.tag(name, attributes)
	x.out = append(x.out, "/>\n"...)
}

// element writes an element with a text as content.
func (x *xmlWriter) element(name, text string, attributes ...string) {
	x.tag(name, attributes)
	x.out = appendXML(append(x.out, '>'), text)
	x.close(name)
}

func (x *xmlWriter) tag(name string, attributes []string) {
	x.out = append(append(x.out, '<'), name...)
	for i := 0; i < len(attributes); i += 2 {
		x.out = append(append(append(x.out, ' '), attributes[i]...), `="`...)
		x.out = append(appendXML(x.out, attributes[i+1]), '"')
	}
}

// appendXML appends a text, escaped for use as content or in double quotes. Control characters except tab and line
// feed are left out, and so are U+FFFE and U+FFFF. Invalid UTF-8 becomes U+FFFD.
func appendXML(b []byte, s string) []byte {
	done := 0 // s is written up to this index
	for i, r := range s {
		var text string
		size := 1
		switch {
		case r == '&':
			text = "&amp;"
		case r == '<':
			text = "&lt;"
		case r == '>':
			text = "&gt;"
		case r == '"':
			text = "&quot;"
		case r == '\n' || r == '\t':
			continue
		case isControl(r), r == 0xfffe, r == 0xffff:
			size = utf8.RuneLen(r)
		case r == utf8.RuneError: // U+FFFD itself, or a byte that is not UTF-8
			text = "\uFFFD"
			_, size = utf8.DecodeRuneInString(s[i:])
		default:
			continue
		}
		b = append(append(b, s[done:i]...), text...)
		done = i + size
	}
	return append(b, s[done:]...)
}
