package represent

//go:generate go run ../jsonwrite/generate -o append_gen.go Event Venue Organizer Term Image Series

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// The generated functions take these for types that the generator cannot read from their declarations, or whose values
// need no escaping.

func appendDateDetails(b []byte, d *DateDetails) []byte {
	b = append(append(append(b, `{"year":"`...), d.Year...), `","month":"`...)
	b = append(append(append(b, d.Month...), `","day":"`...), d.Day...)
	b = append(append(append(b, `","hour":"`...), d.Hour...), `","minutes":"`...)
	b = append(append(append(b, d.Minutes...), `","seconds":"`...), d.Seconds...)
	return append(b, `"}`...)
}

func appendOrFalse(b []byte, v *OrFalse) []byte {
	if i, ok := (*v).(*Image); ok && i != nil {
		return appendImage(b, i)
	}
	return append(b, "false"...)
}

func appendOneOrMany(b []byte, v *OneOrMany) []byte {
	switch v := (*v).(type) {
	case *Venue:
		return appendVenue(b, v)
	case []Venue:
		return jsonwrite.List(b, v, appendVenue)
	}
	return append(b, "null"...)
}
