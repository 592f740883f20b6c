package baseline

import "github.com/almanac-cal/almanac/internal/jsonappend"

func begin(b []byte) *jsonappend.Object {
	o := jsonappend.Begin(b)
	return &o
}

// date writes a date, and its parts under the name with _details.
func date(o *jsonappend.Object, name, date string) {
	o.String(name, date)
	o.Key(name + "_details")
	o.B = append(append(append(o.B, `{"year":"`...), date[0:4]...), `","month":"`...)
	o.B = append(append(append(o.B, date[5:7]...), `","day":"`...), date[8:10]...)
	o.B = append(append(append(o.B, `","hour":"`...), date[11:13]...), `","minutes":"`...)
	o.B = append(append(append(o.B, date[14:16]...), `","seconds":"`...), date[17:19]...)
	o.B = append(o.B, `"}`...)
}
