package param

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestFormGivesBracketsStructure(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for _, c := range []struct {
		name string
		keys []string // key=value
		want object
	}{
		{"scalars", []string{"a=1", "b="}, object{"a": "1", "b": ""}},
		{"repeated key", []string{"a=1", "b=x", "a=2"}, object{"a": Repeated{"1", "2"}, "b": "x"}},
		{"list", []string{"tags[]=a", "tags[]=b"}, object{"tags": []any{"a", "b"}}},
		{"list of one", []string{"tags[]=a"}, object{"tags": []any{"a"}}},
		{"numbered list, in the order of the numbers", []string{"tags[10]=c", "tags[1]=b", "tags[0]=a"}, object{"tags": []any{"a", "b", "c"}}},
		{"numbers go on", []string{"tags[4]=a", "tags[]=b", "tags[5]=c"}, object{"tags": []any{"a", Repeated{"b", "c"}}}},
		{"object", []string{"venue[venue]=Hall", "venue[city]=Łódź"}, object{"venue": object{"venue": "Hall", "city": "Łódź"}}},
		{"list of objects", []string{"o[0][organizer]=A", "o[0][phone]=1", "o[1][organizer]=B"}, object{"o": []any{object{"organizer": "A", "phone": "1"}, object{"organizer": "B"}}}},
		{"list inside an object", []string{"a[b][]=1", "a[b][]=2"}, object{"a": object{"b": []any{"1", "2"}}}},
		{"mixed members are an object", []string{"a[]=1", "a[x]=2"}, object{"a": object{"0": "1", "x": "2"}}},
		{"members before scalars", []string{"a=1", "a[x]=2", "a=3"}, object{"a": object{"x": "2"}}},
		{"repeated member", []string{"a[x]=1", "a[x]=2"}, object{"a": object{"x": Repeated{"1", "2"}}}},
		{"no name", []string{"=1", "[a]=2", "b=3"}, object{"b": "3"}},
		{"unclosed bracket", []string{"a[b=1"}, object{"a": "1"}},
		{"text after a bracket", []string{"a[b]c=1", "d[e]f[g]=2"}, object{"a": object{"b": "1"}, "d": object{"e": "2"}}},
		{"closing bracket alone", []string{"a]=1"}, object{"a]": "1"}},
		{"the largest index", []string{"a[9223372036854775807]=1", "a[]=2"}, object{"a": []any{"2", "1"}}},
		{"an index beyond all", []string{"a[99999999999999999999]=1", "a[]=2"}, object{"a": []any{"2", "1"}}},
		{"nothing", nil, object{}},
	} {
		var f Form
		for _, pair := range c.keys {
			key, value, _ := strings.Cut(pair, "=")
			if err := f.Add(key, value); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if diff := cmp.Diff(c.want, f.Values()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestFormIsBounded(t *testing.T) {
	t.Parallel()
	var deep Form
	if err := deep.Add("a"+strings.Repeat("[b]", maxDepth), ""); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
	if err := deep.Add("a"+strings.Repeat("[b]", maxDepth+1), ""); !errors.Is(err, ErrForm) {
		t.Errorf("too deep: %v", err)
	}
	var long Form
	for i := range maxKeys {
		if err := long.Add(strconv.Itoa(i), ""); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if err := long.Add("a", ""); !errors.Is(err, ErrForm) {
		t.Errorf("too many: %v", err)
	}
}

func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       map[string]any
		ok         bool
	}{
		{"object", `{"a":1,"b":"x","c":[true,null],"d":{"e":1.50}}`, map[string]any{
			"a": num("1"), "b": "x", "c": []any{true, nil}, "d": map[string]any{"e": num("1.50")},
		}, true},
		{"white space around", " \r\n{}\t\n", map[string]any{}, true},
		{"the last of two members", `{"a":1,"a":2}`, map[string]any{"a": num("2")}, true},
		{"large number kept", `{"a":123456789012345678901234567890}`, map[string]any{"a": num("123456789012345678901234567890")}, true},
		{"escaped text", `{"a":"\u0142\u0000"}`, map[string]any{"a": "ł\x00"}, true},
		{"empty", ``, nil, true},
		{"blank", " \n", nil, true},
		{"null", `null`, nil, true},
		{"list", `[{"a":1}]`, nil, false},
		{"text", `"a"`, nil, false},
		{"number", `1`, nil, false},
		{"cut", `{"a":`, nil, false},
		{"two values", `{}{}`, nil, false},
		{"something after", `{} x`, nil, false},
		{"single quotes", `{'a':1}`, nil, false},
		{"trailing comma", `{"a":1,}`, nil, false},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", nil, false},
		{"byte order mark", "\ufeff{}", nil, false},
		{"very deep", strings.Repeat("[", 100_000), nil, false},
	} {
		got, err := DecodeJSON([]byte(c.body))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestMergeTakesTheStrongestSource(t *testing.T) {
	t.Parallel()
	body, query := map[string]any{"a": "body", "b": nil}, map[string]any{"a": "query", "b": "query", "c": "query"}
	got := Merge(body, nil, query)
	if diff := cmp.Diff(map[string]any{"a": "body", "b": nil, "c": "query"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got["a"] = "changed"
	if body["a"] != "body" || query["a"] != "query" {
		t.Error("a source was changed")
	}
	if got := Merge(); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// count returns how many texts a value contains, and how deeply they are nested.
func count(v any) (texts, depth int) {
	members := func(v any) {
		n, d := count(v)
		texts, depth = texts+n, max(depth, d)
	}
	switch v := v.(type) {
	case string:
		return 1, 0
	case Repeated:
		return len(v), 0
	case []any:
		for _, m := range v {
			members(m)
		}
	case map[string]any:
		for _, m := range v {
			members(m)
		}
	}
	return texts, depth + 1
}

// FuzzForm builds forms from pairs, one per line. The form must contain only values that were sent, and must not be
// nested too deeply. Every parser of a type must accept or refuse them without a panic.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		"a=1\nb=2", "a=1\na=2", "tags[]=a\ntags[]=b", "venue[city]=x\nvenue[venue]=y", "o[0][p]=1\no[1][p]=2",
		"a[=1", "a[]b[]=1", "[]=1", "a=1\na[b]=2\na[]=3", "a[9223372036854775807]=1\na[]=2", "a[b][c][d][e][f][g]=1", "ł[ó]=ź\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var form Form
		sent := 0
		for line := range strings.Lines(text) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if err := form.Add(key, value); err != nil {
				if !errors.Is(err, ErrForm) {
					t.Fatalf("%q: %v", text, err)
				}
				break
			}
			sent++
		}
		values := form.Values()
		texts, depth := count(values)
		if texts > sent {
			t.Errorf("%q: %d texts of %d pairs", text, texts, sent)
		}
		if depth > maxDepth+1 {
			t.Errorf("%q: %d deep", text, depth)
		}
		for name, v := range values {
			if name == "" || strings.Contains(name, "[") {
				t.Errorf("%q: parameter %q", text, name)
			}
			if list, ok := v.([]any); ok && len(list) == 0 {
				t.Errorf("%q: %s is an empty list", text, name)
			}
			parseAll(t, v)
		}
	})
}

func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{`{}`, ""},
		{`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`, ""},
		{`{"a":"a","b":"a"}`, ""},
		{`{"a":1,"a":2,"a":3}`, "a"},
		{`{"a":1,"\u0061":2}`, "a"},
		{`{"a":1,"A":2}`, ""},
		{`{"a":{"b":1,"b":1},"a":{"b":1}}`, "a[b] a"},
		{`{"a":{"b":1},"a":{"b":1}}`, "a"},
		{`{"v":[{"n":"x"},{"n":"x","c":{},"n":[]}],"t":1,"t":null}`, "v[1][n] t"},
		{`{"v":[[1,2],[{"a":{"b":[],"b":{}}}]]}`, "v[1][0][a][b]"},
		{`{"a":1,"a":1,"b":1,"b":1,"c":1,"c":1,"d":1,"d":1}`, "a b c"},
		{`{"":1,"":2}`, ""},
	} {
		if got := DuplicateKeys([]byte(c.body), 3); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
	deep := strings.Repeat(`{"a":`, 9000) + `{"b":1,"b":2}` + strings.Repeat("}", 9000)
	if got := DuplicateKeys([]byte(deep), 3); len(got) != 1 || len(got[0]) > maxDuplicateName {
		t.Errorf("deep: %q", got)
	}
}

// FuzzDecodeJSON decodes bodies. It encodes each result, decodes it again and expects the same values.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[1]`, `{"a":1,"b":[true,null,"x"],"c":{"d":2.0}}`, `{"a":1}{}`, `{"a":1e400}`, "{\"\":\"\\ud800\"}",
		`{"a":-0}`, `{"a":9007199254740993.0}`, "\ufeff{}", "{\"a\":\"\xff\"}",
		`{"a":1e-999999,"b":0.12e2,"c":1E+99999999999999999999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		values, err := DecodeJSON(body)
		if err != nil {
			if values != nil {
				t.Errorf("%q: values and %v", body, err)
			}
			if utf8.Valid(body) && json.Valid(body) && !errors.Is(err, ErrNotObject) {
				t.Errorf("%q: JSON refused: %v", body, err)
			}
			return
		}
		if values == nil {
			return
		}
		if !json.Valid(body) {
			t.Errorf("%q: accepted", body)
		}
		DuplicateKeys(body, 3)
		again, err := json.Marshal(values)
		must.Succeed(t, err)
		back, err := DecodeJSON(again)
		must.Succeed(t, err)
		if diff := cmp.Diff(values, back); diff != "" {
			t.Errorf("%q (-first +second):\n%s", body, diff)
		}
		for _, v := range values {
			parseAll(t, v)
		}
	})
}

// parseAll passes a value to the parser of every type. Each fault must have a message.
func parseAll(t *testing.T, v any) {
	t.Helper()
	_, integer := Integer(v)
	_, number := Number(v)
	_, boolean := Boolean(v)
	text, str := String(v)
	_, integers := Integers(v)
	words, strs := Strings(v)
	for _, fault := range []*Fault{integer, number, boolean, str, integers, strs} {
		if fault != nil && fault.Key == "" {
			t.Errorf("%v: a fault without sentence", v)
		}
	}
	if str == nil && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
		t.Errorf("%v: text %q", v, text)
	}
	if strs == nil && len(words) == 0 {
		t.Errorf("%v: an empty list", v)
	}
}
