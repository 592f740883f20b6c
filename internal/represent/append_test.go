package represent

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestShapesWriteThemselves fills representations at random. It checks that their own appending methods write the
// same JSON as package encoding/json.
func TestShapesWriteThemselves(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		for _, shape := range []any{&Event{}, &Venue{}, &Organizer{}, &Term{}, &Image{}, &Series{}} {
			v := reflect.ValueOf(shape).Elem()
			scramble(t, chance, v, "")
			written := v.Interface()
			if _, ok := written.(jsonwrite.Appender); !ok {
				written = v.Addr().Interface()
			}
			one, ok := written.(jsonwrite.Appender)
			if !ok {
				t.Fatalf("%T does not write itself", shape)
			}
			got, err := jsonwrite.Encode(one)
			must.Succeed(t, err)
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			must.Succeed(t, enc.Encode(v.Interface()))
			// In JSON-LD alone < is escaped.
			got = bytes.ReplaceAll(got, []byte(`\u003c`), []byte("<"))
			if diff := cmp.Diff(string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))), string(got)); diff != "" {
				t.Fatalf("%T (-encoding/json +itself):\n%s", shape, diff)
			}
		}
	}
}

// scramble fills a value at random for TestShapesWriteThemselves. Parts of dates are digits. A value that may have
// one of two types, such as an object or false, gets one of them.
func scramble(t *testing.T, chance *rand.Rand, v reflect.Value, name string) {
	t.Helper()
	empty := chance.IntN(3) == 0
	switch {
	case v.Type() == reflect.TypeFor[OrFalse]() && name == "Image":
		v.Set(reflect.ValueOf(imageOrFalse(nil)))
		if !empty {
			image := &Image{}
			scramble(t, chance, reflect.ValueOf(image).Elem(), "")
			v.Set(reflect.ValueOf(image))
		}
		return
	case v.Type() == reflect.TypeFor[OneOrMany]():
		venues := make([]Venue, chance.IntN(3))
		for i := range venues {
			scramble(t, chance, reflect.ValueOf(&venues[i]).Elem(), "")
		}
		v.Set(reflect.ValueOf(venuesOf(venues)))
		return
	case v.Type() == reflect.TypeFor[DateDetails]():
		for i := range v.NumField() {
			v.Field(i).SetString([]string{"2026", "01", ""}[chance.IntN(3)])
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(t, chance, v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if v.SetZero(); !empty {
			v.Set(reflect.New(v.Type().Elem()))
			scramble(t, chance, v.Elem(), "")
		}
	case reflect.Slice:
		if v.SetZero(); !empty {
			v.Set(reflect.MakeSlice(v.Type(), chance.IntN(3), 3))
			for i := range v.Len() {
				scramble(t, chance, v.Index(i), "")
			}
		}
	case reflect.String:
		texts := []string{"zażółć", "<p>a & \"b\"</p>\n", "\u2028\x01", "\xff", "10"}
		if v.SetZero(); !empty {
			v.SetString(texts[chance.IntN(len(texts))])
		}
	case reflect.Bool:
		v.SetBool(empty)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(chance.IntN(2000)) - 1000)
	case reflect.Float64:
		v.SetFloat([]float64{0, 52.2297, -180, 1e-7, 1e21}[chance.IntN(5)])
	default:
		t.Fatalf("%s: a %s", name, v.Type())
	}
}
