package endpoint

import (
	"fmt"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// Codec encodes the values of replies in one format, such as JSON or iCalendar. Each endpoint has one codec. For
// lists that WithTables extends, a request may choose Table instead.
type Codec struct {
	MediaType   string // media type in the OpenAPI description
	ContentType string // Content-Type of replies
	// Encode returns the bytes of a value. fields is a comma-separated list of the keys to keep. "" keeps all.
	// A table keeps the columns with these names. The formats of feeds ignore it.
	Encode func(value any, fields string) ([]byte, error)
}

// EncodeRecord returns the encoded bytes of one record, with all its keys. The record cache stores them.
func (c Codec) EncodeRecord(value any) ([]byte, error) { return c.Encode(value, "") }

// JSON encodes any value as JSON.
var JSON = Codec{"application/json", "application/json; charset=UTF-8", encodeJSON}

func encodeJSON(value any, fields string) ([]byte, error) {
	if l, ok := value.(*list); ok {
		value = l.object()
	}
	body, err := jsonwrite.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("reply: %w", err)
	}
	if keep := fieldPaths(fields); keep != nil {
		if body, err = keepFields(body, keep); err != nil {
			return nil, fmt.Errorf("_fields: %w", err)
		}
	}
	return body, nil
}
