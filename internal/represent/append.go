package represent

import (
	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// The most frequent shapes write their own JSON, byte for byte as encoding/json does. TestShapesWriteThemselves
// compares both.
//go:generate go run ../jsonwrite/generate -o append_gen.go Event Venue Term Image Series

// appendDateDetails appends the parts of a date. They are digits, so nothing is escaped.
func appendDateDetails(b []byte, d *DateDetails) []byte {
	b = append(append(append(b, `{"year":"`...), d.Year...), `","month":"`...)
	b = append(append(append(b, d.Month...), `","day":"`...), d.Day...)
	b = append(append(append(b, `","hour":"`...), d.Hour...), `","minutes":"`...)
	b = append(append(append(b, d.Minutes...), `","seconds":"`...), d.Seconds...)
	return append(b, `"}`...)
}

// appendOrFalse appends an image, or false if there is none.
func appendOrFalse(b []byte, v *OrFalse) []byte {
	if i, ok := (*v).(*Image); ok && i != nil {
		return appendImage(b, i)
	}
	return append(b, "false"...)
}

// appendOneOrMany appends the venues of an event.
func appendOneOrMany(b []byte, v *OneOrMany) []byte {
	switch v := (*v).(type) {
	case *Venue:
		return appendVenue(b, v)
	case []Venue:
		return jsonwrite.List(b, v, appendVenue)
	}
	return append(b, "null"...)
}
