// Package jsonwrite appends JSON to a buffer without reflection, for the most frequent shapes. Its output
// equals that of encoding/json without HTML escaping.
package jsonwrite

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// String appends a JSON string.
func String(b []byte, s string) []byte {
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

// Float appends a number as JavaScript would print it. f must not be infinite or NaN.
func Float(b []byte, f float64) []byte {
	// The rule is in ES6: https://262.ecma-international.org/6.0/#sec-tostring-applied-to-the-number-type.
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	// The exponent e-09 is shortened to e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && (b[n-3] == '-' || b[n-3] == '+') && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// Strings appends a list of strings. Nil gives null.
func Strings(b []byte, values []string) []byte {
	return List(b, values, func(b []byte, s *string) []byte { return String(b, *s) })
}

// List appends a list. It calls each to append an item. Nil gives null.
func List[T any](b []byte, values []T, each func([]byte, *T) []byte) []byte {
	if values == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, &values[i])
	}
	return append(b, ']')
}

// Builder appends the members of a JSON object to B. Names must not need escaping.
type Builder struct{ B []byte }

// Begin begins an object at the end of the buffer.
func Begin(b []byte) Builder { return Builder{append(b, '{')} }

// End ends the object and returns the buffer.
func (o *Builder) End() []byte { return append(o.B, '}') }

// Key appends the name of a member. Afterwards the caller must append the value to B.
func (o *Builder) Key(name string) {
	if o.B[len(o.B)-1] != '{' {
		o.B = append(o.B, ',')
	}
	o.B = append(append(append(o.B, '"'), name...), '"', ':')
}

// String appends a member with a string.
func (o *Builder) String(name, value string) {
	o.Key(name)
	o.B = String(o.B, value)
}

// Some appends a member with a string, or nothing if the string is empty.
func (o *Builder) Some(name, value string) {
	if value != "" {
		o.String(name, value)
	}
}

// Int appends a member with an integer.
func (o *Builder) Int(name string, value int64) {
	o.Key(name)
	o.B = strconv.AppendInt(o.B, value, 10)
}

// Bool appends a member with true or false.
func (o *Builder) Bool(name string, value bool) {
	o.Key(name)
	o.B = strconv.AppendBool(o.B, value)
}

// BoolOrNull appends a member with true or false. Nil gives null.
func (o *Builder) BoolOrNull(name string, value *bool) {
	if value == nil {
		o.Raw(name, "null")
		return
	}
	o.Bool(name, *value)
}

// Float appends a member with a number.
func (o *Builder) Float(name string, value float64) {
	o.Key(name)
	o.B = Float(o.B, value)
}

// Strings appends a member with a list of strings.
func (o *Builder) Strings(name string, values []string) {
	o.Key(name)
	o.B = Strings(o.B, values)
}

// Raw appends a member whose value is already JSON.
func (o *Builder) Raw(name, value string) {
	o.Key(name)
	o.B = append(o.B, value...)
}

// ForScript escapes the JSON in b from the index from on, for use in a script element of a page. Without this,
// a text could end the element.
func ForScript(b []byte, from int) []byte {
	value := b[from:]
	if bytes.IndexByte(value, '<') < 0 {
		return b
	}
	return append(b[:from], bytes.ReplaceAll(value, []byte("<"), []byte(`\u003c`))...)
}
