package handlers

import (
	"bytes"
	"encoding/json"
	"sync"
)

// ordered is a JSON object whose members keep their order.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) { return encode(o) }

func (o ordered) writeJSON(b *bytes.Buffer) error {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeJSON(b, m.name); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeJSON(b, m.value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// jsonWriter is what writes itself as JSON: without the second pass over what a json.Marshaler returns.
type jsonWriter interface{ writeJSON(*bytes.Buffer) error }

// writeJSON appends a value as JSON with &, < and > as they are: the texts are HTML already and no script reads them
// raw.
func writeJSON(b *bytes.Buffer, v any) error {
	switch w := v.(type) {
	case jsonWriter:
		return w.writeJSON(b)
	case jsonAppender:
		b.Write(w.appendJSON(b.AvailableBuffer()))
		return nil
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line feed
	return nil
}

// Buffers that values are written to. One that has become large is left to the collector.
var encoders = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxEncoder = 256 << 10

// encode is a value as JSON.
func encode(v any) ([]byte, error) {
	b, _ := encoders.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= maxEncoder {
			encoders.Put(b)
		}
	}()
	b.Reset()
	if err := writeJSON(b, v); err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}
