package endpoint

import (
	"fmt"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// Codec encodes the values of replies in one format. Path and method determine the format, because each endpoint has
// one codec. There are two exceptions. The query of a calendar page's URL can also choose a feed (see
// feeds.Feeds.Match), and clients can choose a table for some lists (see WithTables). The Atom, RSS and JSON feeds
// have paths of their own, and share their input and their code.
type Codec struct {
	MediaType   string // media type in the OpenAPI description
	ContentType string // Content-Type of replies
	// Encode returns the bytes of a value. fields is a comma-separated list of the keys to keep. "" keeps all.
	// A table keeps the columns with these names. The formats of feeds ignore it.
	Encode func(value any, fields string) ([]byte, error)
}

// EncodeRecord returns the encoded bytes of a record, with all its keys, for the record cache.
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
