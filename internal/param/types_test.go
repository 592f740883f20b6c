package param

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// num returns a number in the form in which DecodeJSON returns it.
func num(s string) json.Number { return json.Number(s) }

func TestInteger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		raw  any
		want int64
		ok   bool
	}{
		{"digits", "12", 12, true},
		{"minus", "-12", -12, true},
		{"zeros in front", "007", 7, true},
		{"minus zero", "-0", 0, true},
		{"beyond int64", "9223372036854775808", math.MaxInt64, true},
		{"below int64", "-9223372036854775809", math.MinInt64, true},
		{"JSON integer", num("12"), 12, true},
		{"JSON number without fraction", num("2.0"), 2, true},
		{"JSON number with exponent", num("2e3"), 2000, true},
		{"JSON number with fraction and exponent", num("1.5e1"), 15, true},
		{"JSON minus zero", num("-0.0"), 0, true},
		{"JSON number that a float would round", num("9007199254740993.0"), 9007199254740993, true},
		{"JSON number beyond int64", num("1e300"), math.MaxInt64, true},
		{"JSON number beyond all", num("1e999999999999999999999"), math.MaxInt64, true},
		{"JSON number whose zeros are a fraction", num("120.00e-1"), 12, true},
		{"JSON number with an exponent too small", num("0.00012E+4"), 0, false},
		{"JSON number with exponent to its last digit", num("0.00012E+5"), 12, true},
		{"JSON zero with any exponent", num("0.00e-999999999"), 0, true},
		{"largest with a point", num("922337203685477580.7E1"), math.MaxInt64, true},
		{"smallest with a point", num("-9223372036854775808.0"), math.MinInt64, true},
		{"JSON number below int64", num("-1e300"), math.MinInt64, true},
		{"largest", num("9223372036854775807"), math.MaxInt64, true},
		{"the last of several", Repeated{"1", "x", "3"}, 3, true},

		{"empty", "", 0, false},
		{"minus alone", "-", 0, false},
		{"plus", "+1", 0, false},
		{"space", " 1", 0, false},
		{"fraction", "1.5", 0, false},
		{"no fraction, as text", "2.0", 0, false},
		{"exponent, as text", "1e3", 0, false},
		{"text", "abc", 0, false},
		{"hexadecimal", "0x10", 0, false},
		{"other digits", "١", 0, false},
		{"JSON fraction", num("1.5"), 0, false},
		{"tiny JSON fraction", num("1e-300"), 0, false},
		{"tiny JSON number", num("1e-999999999999999999999"), 0, false},
		{"boolean", true, 0, false},
		{"list", []any{num("1")}, 0, false},
		{"object", map[string]any{}, 0, false},
		{"null", nil, 0, false},
		{"the last of several is no integer", Repeated{"1", "x"}, 0, false},
	} {
		got, fault := Integer(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, ReasonType)
	}
}

// parseForTest compares the result of a parser with the expected one. If ok is false, it expects a fault with the
// given reason instead.
func parseForTest[T any](t *testing.T, name string, got, want T, fault *Fault, ok bool, reason string) {
	t.Helper()
	switch {
	case ok && fault != nil:
		t.Errorf("%s: %s", name, fault.Key)
	case ok:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	case fault == nil:
		t.Errorf("%s: got %v, want a fault", name, got)
	case fault.Reason != reason:
		t.Errorf("%s: reason %q, want %q", name, fault.Reason, reason)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		raw  any
		want float64
		ok   bool
	}{
		{"integer", "12", 12, true},
		{"fraction", "-52.25", -52.25, true},
		{"JSON number", num("-0.5"), -0.5, true},
		{"JSON number with exponent", num("1e2"), 100, true},
		{"the last of several", Repeated{"x", "1.5"}, 1.5, true},

		{"empty", "", 0, false},
		{"nothing before the point", ".5", 0, false},
		{"nothing after the point", "5.", 0, false},
		{"two points", "1.2.3", 0, false},
		{"comma", "1,5", 0, false},
		{"exponent, as text", "1e2", 0, false},
		{"plus", "+1", 0, false},
		{"two minus", "--1", 0, false},
		{"not a number", "NaN", 0, false},
		{"infinity", "Inf", 0, false},
		{"hexadecimal", "0x1p2", 0, false},
		{"underscore", "1_0", 0, false},
		{"too large", num("1e999"), 0, false},
		{"too many digits", strings.Repeat("9", 400), 0, false},
		{"boolean", true, 0, false},
		{"list", []any{}, 0, false},
		{"null", nil, 0, false},
	} {
		got, fault := Number(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, ReasonType)
	}
}

func TestBoolean(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"1", "true", "yes", "y", "on", "enable", "enabled", "TRUE", "Yes", "oN", "ENABLED"} {
		got, fault := Boolean(word)
		parseForTest(t, word, got, true, fault, true, "")
	}
	for _, word := range []string{"0", "false", "no", "n", "off", "disable", "disabled", "FALSE", "No", "oFF", "Disabled"} {
		got, fault := Boolean(word)
		parseForTest(t, word, got, false, fault, true, "")
	}
	for _, c := range []struct {
		name string
		raw  any
		want bool
		ok   bool
	}{
		{"JSON true", true, true, true},
		{"JSON false", false, false, true},
		{"JSON one", num("1"), true, true},
		{"JSON zero", num("0"), false, true},
		{"the last of several", Repeated{"x", "on"}, true, true},
		{"empty", "", false, false},
		{"space", " 1", false, false},
		{"two", "2", false, false},
		{"JSON two", num("2"), false, false},
		{"JSON minus one", num("-1"), false, false},
		{"another word", "maybe", false, false},
		{"t", "t", false, false},
		{"a long text", strings.Repeat("true", 1000), false, false},
		{"letters that fold", "ſ", false, false},
		{"list", []any{true}, false, false},
		{"object", map[string]any{}, false, false},
		{"null", nil, false, false},
	} {
		got, fault := Boolean(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, ReasonType)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		raw    any
		want   string
		ok     bool
		reason string
	}{
		{"text", " Łódź\n", " Łódź\n", true, ""},
		{"empty", "", "", true, ""},
		{"digits", "12", "12", true, ""},
		{"the last of several", Repeated{"a", "b"}, "b", true, ""},
		{"NUL", "a\x00b", "", false, ""},
		{"invalid UTF-8", "a\xff", "", false, ""},
		{"JSON number", num("12"), "", false, ReasonType},
		{"boolean", true, "", false, ReasonType},
		{"list", []any{"a"}, "", false, ReasonType},
		{"object", map[string]any{"a": "b"}, "", false, ReasonType},
		{"null", nil, "", false, ReasonType},
	} {
		got, fault := String(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, c.reason)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		raw    any
		want   []string
		ok     bool
		reason string
	}{
		{"CSV", "a,b", []string{"a", "b"}, true, ""},
		{"spaces and empty items", " a , ,b,, c ,", []string{"a", "b", "c"}, true, ""},
		{"one scalar", "a", []string{"a"}, true, ""},
		{"one JSON number", num("5"), []string{"5"}, true, ""},
		{"JSON list", []any{"a", num("5")}, []string{"a", "5"}, true, ""},
		{"items of a JSON list are not split", []any{"a,b", "c"}, []string{"a,b", "c"}, true, ""},
		{"empty items of a JSON list", []any{"", " ", nil, "a"}, []string{"a"}, true, ""},
		{"repeated key", Repeated{"a", "b,c", ""}, []string{"a", "b", "c"}, true, ""},
		{"repeated key inside a list", []any{Repeated{"a", "b"}}, []string{"b"}, true, ""},
		{"nothing", "", nil, false, ""},
		{"only empty items", " , ,", nil, false, ""},
		{"empty JSON list", []any{}, nil, false, ""},
		{"list inside a list", []any{[]any{"a"}}, nil, false, ReasonType},
		{"boolean inside a list", []any{true}, nil, false, ReasonType},
		{"boolean", true, nil, false, ReasonType},
		{"object", map[string]any{"a": "b"}, nil, false, ReasonType},
		{"NUL inside a list", []any{"a", "\x00"}, nil, false, ""},
		{"null", nil, nil, false, ReasonType},
	} {
		got, fault := Strings(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, c.reason)
	}
	for _, c := range []struct {
		name   string
		raw    any
		want   []int64
		ok     bool
		reason string
	}{
		{"CSV", "3, 1,,2,1", []int64{3, 1, 2, 1}, true, ""},
		{"JSON list", []any{num("2.0"), "1"}, []int64{2, 1}, true, ""},
		{"one JSON number", num("5"), []int64{5}, true, ""},
		{"repeated key", Repeated{"1", "2,3"}, []int64{1, 2, 3}, true, ""},
		{"a word among them", "1,x", nil, false, ReasonType},
		{"CSV inside a JSON list", []any{"1,2"}, nil, false, ReasonType},
		{"fraction", []any{num("1.5")}, nil, false, ReasonType},
		{"boolean", true, nil, false, ReasonType},
		{"empty", "", nil, false, ""},
	} {
		got, fault := Integers(c.raw)
		parseForTest(t, c.name, got, c.want, fault, c.ok, c.reason)
	}
}

// FuzzInteger compares integers in JSON notation with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, seed := range []string{"0", "-1", "2.0", "1.5", "12e3", "120e-1", "0.00012E5", "9223372036854775807.0", "-1e19", "1e-400", "100.00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 40 || !json.Valid([]byte(text)) || strings.Trim(text, "-+.eE0123456789") != "" {
			return
		}
		if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exponent) > 4 {
			return // too large to be computed with
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		got, fault := Integer(json.Number(text))
		switch {
		case !want.IsInt():
			if fault == nil {
				t.Errorf("%s: got %d", text, got)
			}
		case fault != nil:
			t.Errorf("%s: %s", text, fault.Key)
		case want.Num().IsInt64() && want.Num().Int64() != got,
			!want.Num().IsInt64() && want.Sign() > 0 && got != math.MaxInt64,
			!want.Num().IsInt64() && want.Sign() < 0 && got != math.MinInt64:
			t.Errorf("%s: got %d", text, got)
		}
	})
}

// FuzzScalars parses one text as every type. It formats each parsed value and expects the same value when it parses
// that.
func FuzzScalars(f *testing.F) {
	for _, seed := range []string{
		"", " ", "yes", "OFF", "1", "-0", "007", "1.5", "-1e3", "1e400", "NaN", "Inf", "0x10", "1_000", "3, 1,,2,1", "a,b , c", ",", "9223372036854775808", "ａ", "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rereadNumbers(t, text)
		rereadBoolean(t, text)
		rereadStrings(t, text)
		rereadIntegers(t, text)
	})
}

// rereadNumbers checks that the number in a text is read again from its usual form.
func rereadNumbers(t *testing.T, text string) {
	t.Helper()
	if v, fault := Integer(text); fault == nil {
		again, fault := Integer(strconv.FormatInt(v, 10))
		if fault != nil || again != v || strings.Trim(text, "-0123456789") != "" {
			t.Errorf("%q is the integer %d, and that is %d", text, v, again)
		}
	}
	if v, fault := Number(text); fault == nil {
		again, fault := Number(strconv.FormatFloat(v, 'f', -1, 64))
		if fault != nil || again != v || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%q is the number %v, and that is %v", text, v, again)
		}
	}
}

// rereadBoolean checks that the boolean in a text is read again from its usual form, and in upper case.
func rereadBoolean(t *testing.T, text string) {
	t.Helper()
	v, fault := Boolean(text)
	if fault != nil {
		return
	}
	word := map[bool]string{true: "true", false: "false"}[v]
	if again, fault := Boolean(word); fault != nil || again != v || text == "" {
		t.Errorf("%q is %t, and %q is %t", text, v, word, again)
	}
	if upper, fault := Boolean(strings.ToUpper(text)); fault != nil || upper != v {
		t.Errorf("%q is %t, and not so in upper case", text, v)
	}
}

// rereadStrings checks that the list in a text has no empty items, and is read again when it is joined.
func rereadStrings(t *testing.T, text string) {
	t.Helper()
	v, fault := Strings(text)
	if fault != nil {
		return
	}
	again, fault := Strings(strings.Join(v, ","))
	if diff := cmp.Diff(v, again); fault != nil || diff != "" || len(v) == 0 {
		t.Errorf("%q: %v %s", text, fault, diff)
	}
	for _, item := range v {
		if item == "" || strings.TrimSpace(item) != item || strings.Contains(item, ",") {
			t.Errorf("%q has the item %q", text, item)
		}
	}
}

// rereadIntegers checks that the ids in a text are read again from a JSON list.
func rereadIntegers(t *testing.T, text string) {
	t.Helper()
	ids, fault := Integers(text)
	if fault != nil {
		return
	}
	words := make([]any, len(ids))
	for i, id := range ids {
		words[i] = json.Number(strconv.FormatInt(id, 10))
	}
	again, fault := Integers(words)
	if diff := cmp.Diff(ids, again); fault != nil || diff != "" || len(ids) == 0 {
		t.Errorf("%q: %v %s", text, fault, diff)
	}
}
