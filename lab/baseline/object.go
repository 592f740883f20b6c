package baseline

import "github.com/almanac-cal/almanac/internal/jsonwrite"

func begin(b []byte) *jsonwrite.Builder {
	o := jsonwrite.Begin(b)
	return &o
}

// date writes the members of a date: the date itself, and its parts as NAME_details. date must be in the form of
// calendar.Layout.
func date(o *jsonwrite.Builder, name, date string) {
	o.String(name, date)
	o.Key(name + "_details")
	o.B = append(append(append(o.B, `{"year":"`...), date[0:4]...), `","month":"`...)
	o.B = append(append(append(o.B, date[5:7]...), `","day":"`...), date[8:10]...)
	o.B = append(append(append(o.B, `","hour":"`...), date[11:13]...), `","minutes":"`...)
	o.B = append(append(append(o.B, date[14:16]...), `","seconds":"`...), date[17:19]...)
	o.B = append(o.B, `"}`...)
}
