package handlers

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/almanac-cal/almanac/internal/param"
)

// maxFields bounds the names a client can make us look for.
const maxFields = 200

// fieldTree is the keys that _fields keeps; a nil tree below a key keeps all of it.
type fieldTree map[string]fieldTree

// fieldNames is _fields as a comma list, in whichever of the forms of a list it was sent. What is no list of
// words asks for nothing.
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

// fieldPaths reads a comma list of keys, dotted for nested ones. It is nil when nothing was asked.
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
		tree.add(strings.Split(name, "."))
	}
	return tree
}

func (t fieldTree) add(path []string) {
	below, known := t[path[0]]
	switch {
	case len(path) == 1:
		t[path[0]] = nil
	case known && below == nil: // all of it is kept already
	default:
		if below == nil {
			below = fieldTree{}
			t[path[0]] = below
		}
		below.add(path[1:])
	}
}

// keepFields keeps the keys of the tree in a JSON document and drops the others, in their order. It applies to
// each element of a list.
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
		name, err := encode(key)
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
