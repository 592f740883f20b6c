package jsonwrite

import (
	"bytes"
	"encoding/json"
	"sync"
)

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is the name and value of a member. It is an alias, so that literals in other packages may omit the
// field names.
type Member = struct {
	Name  string
	Value any
}

// Appender is implemented by values that append themselves as JSON, exactly as encoding/json would.
type Appender interface {
	AppendJSON(b []byte) []byte
}

// RawList is a list of values that are already JSON.
type RawList [][]byte

// AppendJSON implements Appender.
func (l RawList) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, value := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, value...)
	}
	return append(b, ']')
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return Encode(o) }

// write appends the object as JSON to a buffer.
func (o Object) write(b *bytes.Buffer) error {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(String(b.AvailableBuffer(), m.Name))
		b.WriteByte(':')
		if err := writeValue(b, m.Value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeValue appends a value as JSON without escaping &, < and >. Texts in replies are HTML already, and no
// script reads them raw.
func writeValue(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case Object: // avoids the second pass of encoding/json over a json.Marshaler's result
		return v.write(b)
	case Appender:
		b.Write(v.AppendJSON(b.AvailableBuffer()))
		return nil
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // removes the line feed that the encoder adds
	return nil
}

// buffers is a pool. Buffers larger than maxBuffer bytes are not returned to it.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxBuffer = 256 << 10

// Encode returns a value as JSON. Objects and Appenders write themselves; encoding/json writes other values.
func Encode(v any) ([]byte, error) {
	b, _ := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= maxBuffer {
			buffers.Put(b)
		}
	}()
	b.Reset()
	if err := writeValue(b, v); err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}
