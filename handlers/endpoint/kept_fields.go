package endpoint

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/param"
)

// maxFields and maxNested limit the parameter _fields, so that a client cannot make a request expensive.
const (
	maxFields = 200 // largest number of names
	maxNested = 10  // largest number of keys in a dotted name; no representation nests deeper
)

// fieldTree has the keys that _fields keeps. The tree below a key has the nested keys to keep. Nil there means
// that the whole value is kept.
type fieldTree map[string]fieldTree

// fieldNames returns the value of _fields as a comma-separated list. The argument raw is the sent value: a
// string or a list. The result is "" for nil and for other values.
func fieldNames(raw any) string {
	if raw == nil {
		return ""
	}
	names, fault := param.Strings(raw)
	if fault != nil {
		return ""
	}
	return strings.Join(names, ",")
}

// fieldPaths parses a comma-separated list of keys, in which dots separate nested keys. Nil means that all keys
// are kept.
func fieldPaths(list string) fieldTree {
	names := strings.Split(list, ",")
	var tree fieldTree
	for _, name := range names[:min(len(names), maxFields)] {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if tree == nil {
			tree = fieldTree{}
		}
		tree.add(strings.SplitN(name, ".", maxNested))
	}
	return tree
}

func (t fieldTree) add(path []string) {
	below, known := t[path[0]]
	switch {
	case len(path) == 1:
		t[path[0]] = nil
	case known && below == nil: // the whole value is kept already
	default:
		if below == nil {
			below = fieldTree{}
			t[path[0]] = below
		}
		below.add(path[1:])
	}
}

// keepFields returns a JSON document with only the keys of the tree, in the order of the document. In an array,
// it filters each element.
func keepFields(body []byte, tree fieldTree) ([]byte, error) {
	var out bytes.Buffer
	err := keepValue(&out, body, tree)
	return out.Bytes(), err
}

func keepValue(out *bytes.Buffer, value json.RawMessage, tree fieldTree) error {
	if tree == nil || len(value) == 0 {
		out.Write(value)
		return nil
	}
	switch value[0] {
	case '{':
		return keepMembers(out, value, tree)
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return err
		}
		out.WriteByte('[')
		for i, item := range items {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := keepValue(out, item, tree); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	out.Write(value)
	return nil
}

func keepMembers(out *bytes.Buffer, object json.RawMessage, tree fieldTree) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return err
	}
	out.WriteByte('{')
	first := true
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		key, _ := token.(string)
		below, kept := tree[key]
		if !kept {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		name, err := jsonwrite.Encode(key)
		if err != nil {
			return err
		}
		out.Write(name)
		out.WriteByte(':')
		if err := keepValue(out, value, below); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}
