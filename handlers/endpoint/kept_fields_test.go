package endpoint

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzFields compares the effect of _fields on encoded JSON with the same filter on the decoded document.
func FuzzFields(f *testing.F) {
	for _, seed := range []struct{ fields, body string }{
		{"", `{"a":1}`},
		{"a", `{"a":1,"b":[{"a":2}]}`},
		{"a.b, a.b.c ,a", `{"a":{"b":{"c":[1,{"d":"<&>"}]},"x":null}}`},
		{"b.c", `[{"b":[{"c":1,"d":2},5,null,{"c":{}}]},{"b":1},[]]`},
		{".,..,a.,.a", `{"":{"":1,"a":2},"a":{"":3}}`},
		{"ą,\u2028", "{\"ą\":\"\u2028\",\"\\u2028\":1}"},
	} {
		f.Add(seed.fields, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, fields string, body []byte) {
		var whole any
		if json.Unmarshal(body, &whole) != nil || strings.TrimSpace(string(body)) != string(body) {
			return // replies are JSON without space around it
		}
		tree := fieldPaths(fields)
		got, err := keepFields(body, tree)
		if err != nil {
			t.Fatal(err)
		}
		var kept any
		if err := json.Unmarshal(got, &kept); err != nil {
			t.Fatalf("%q of %s: %s: %v", fields, body, got, err)
		}
		want := whole
		var paths [][]string
		for i, name := range strings.Split(fields, ",") {
			if name = strings.TrimSpace(name); name != "" && i < maxFields {
				paths = append(paths, strings.Split(name, "."))
			}
		}
		if paths != nil {
			want = pruneValue(whole, paths)
		}
		if !reflect.DeepEqual(kept, want) {
			t.Errorf("%q of %s: got %s, want %v", fields, body, got, want)
		}
		if again, err := keepFields(got, tree); err != nil || string(again) != string(got) {
			t.Errorf("%q of %s is %s, and that is %s (%v)", fields, body, got, again, err)
		}
	})
}

// pruneValue returns v with only the members on one of the paths. Members below the end of a path stay.
func pruneValue(v any, paths [][]string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = pruneValue(item, paths)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, path := range paths {
			value, there := v[path[0]]
			if !there {
				continue
			}
			var below [][]string
			whole := false
			for _, other := range paths {
				if other[0] == path[0] {
					whole = whole || len(other) == 1
					below = append(below, other[1:])
				}
			}
			if out[path[0]] = value; !whole {
				out[path[0]] = pruneValue(value, below)
			}
		}
		return out
	}
	return v
}
