package jsonwrite_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// standard returns a value as encoding/json encodes it, without HTML escaping.
func standard(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "zażółć <b>&</b>", "\u2028\u2029\ufffd", "\xff\xc3", "😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(jsonwrite.String(nil, s)), standard(t, s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		list := []string{s, "", s}
		if got, want := string(jsonwrite.Strings(nil, list)), standard(t, list); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	})
}

func FuzzFloat(f *testing.F) {
	for _, n := range []float64{0, math.Copysign(0, -1), 1, -0.5, 52.2297, 1e-7, 1.5e-10, 1e21, 9.99e20, 1e-6, math.MaxFloat64, 5e-324} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n float64) {
		if math.IsInf(n, 0) || math.IsNaN(n) {
			return
		}
		if got, want := string(jsonwrite.Float(nil, n)), standard(t, n); got != want {
			t.Errorf("%g: %s, want %s", n, got, want)
		}
	})
}

func TestObject(t *testing.T) {
	t.Parallel()
	o := jsonwrite.Begin([]byte("x"))
	yes := true
	o.String("s", "é\"")
	o.Some("none", "")
	o.Some("some", "1")
	o.Int("i", -5)
	o.Bool("b", false)
	o.BoolOrNull("p", &yes)
	o.BoolOrNull("n", nil)
	o.Float("f", 0.25)
	o.Strings("l", []string{"a", "b"})
	o.Strings("e", []string{})
	o.Strings("z", nil)
	o.Raw("r", "[]")
	o.Key("o")
	inner := jsonwrite.Begin(o.B)
	o.B = inner.End()
	o.Key("t")
	o.B = jsonwrite.List(o.B, []int{1, 2}, func(b []byte, n *int) []byte { return append(b, byte('0'+*n)) })
	const want = `x{"s":"é\"","some":"1","i":-5,"b":false,"p":true,"n":null,"f":0.25,"l":["a","b"],"e":[],"z":null,"r":[],"o":{},"t":[1,2]}`
	if got := string(o.End()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestForScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`["a<b"]["</script>","<"]`: `["a<b"]["\u003c/script>","\u003c"]`, `["a<b"][1]`: `["a<b"][1]`} {
		if got := string(jsonwrite.ForScript([]byte(text), len(`["a<b"]`))); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func TestRawList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list jsonwrite.RawList
		want string
	}{
		{nil, `[]`},
		{jsonwrite.RawList{[]byte(`{"a":1}`)}, `[{"a":1}]`},
		{jsonwrite.RawList{[]byte(`1`), []byte(`"b"`)}, `[1,"b"]`},
	} {
		got, err := jsonwrite.Encode(jsonwrite.Object{{Name: "list", Value: c.list}})
		if want := `{"list":` + c.want + `}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
