package baseline

import (
	"strconv"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// str appends a string as encoding/json writes it without escaping HTML.
func str(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + size
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, s[from:i]...), `\u202`...)
				b = append(b, hex[r&0xF])
				from = i + size
			}
			i += size
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// object writes the members of an object.
type object struct{ b []byte }

func begin(b []byte) *object { return &object{append(b, '{')} }

// key begins a member. Names have nothing to escape.
func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) str(name, value string) {
	o.key(name)
	o.b = str(o.b, value)
}

// some is str that leaves out what is empty.
func (o *object) some(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

func (o *object) int(name string, value int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) bool(name string, value bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, value)
}

func (o *object) float(name string, value float64) {
	o.key(name)
	o.b = strconv.AppendFloat(o.b, value, 'f', -1, 64)
}

func (o *object) list(name string, values []string) {
	o.key(name)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = str(o.b, v)
	}
	o.b = append(o.b, ']')
}

func (o *object) raw(name, value string) {
	o.key(name)
	o.b = append(o.b, value...)
}

func (o *object) end() []byte { return append(o.b, '}') }

// date writes a date, and its parts under the name with _details.
func (o *object) date(name, date string) {
	o.str(name, date)
	o.key(name + "_details")
	o.b = append(append(append(o.b, `{"year":"`...), date[0:4]...), `","month":"`...)
	o.b = append(append(append(o.b, date[5:7]...), `","day":"`...), date[8:10]...)
	o.b = append(append(append(o.b, `","hour":"`...), date[11:13]...), `","minutes":"`...)
	o.b = append(append(append(o.b, date[14:16]...), `","seconds":"`...), date[17:19]...)
	o.b = append(o.b, `"}`...)
}
