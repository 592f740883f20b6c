package param

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Repeated has the values of a key that a form or query contains several times. A list parameter uses all, a
// scalar the last.
type Repeated []any

// ErrForm is returned for a form or query with too many parameters or too deeply nested brackets, and for JSON
// with too many values.
var ErrForm = errors.New("too many parameters")

// ErrNotObject is returned for JSON that is not an object.
var ErrNotObject = errors.New("not a JSON object")

// maxKeys, maxDepth and maxValues limit the memory that a request can use. One byte of a body can become a
// value of fifty bytes.
const (
	maxKeys   = 2000
	maxDepth  = 6
	maxValues = 50_000 // values in a JSON body
)

// DecodeJSON parses a JSON body. An empty body and null have no parameters. Of members with the same key, the last one counts.
// The error is ErrForm for more than maxValues values, and ErrNotObject for other JSON than an object. Clients may see the text
// of other errors.
func DecodeJSON(body []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if n := jsonValues(body); n > maxValues {
		return nil, fmt.Errorf("%w: %d values, at most %d", ErrForm, n, maxValues)
	}
	if !utf8.Valid(body) {
		return nil, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more after the end of the value, at byte %d", dec.InputOffset())
	}
	if v == nil {
		return nil, nil // clients send it for a request without a body
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, ErrNotObject
	}
	return object, nil
}

// DuplicateKeys returns the keys that an object in a valid JSON text has more than once, at any depth. It returns
// each key once, written like the key of a form, such as venue[city]. It returns at most limit keys, and allocates
// little other memory.
func DuplicateKeys(body []byte, limit int) (duplicates []string) {
	type member struct{ object, hash uint64 }
	var open []container // the innermost last
	var objects uint64
	seen := make(map[member]bool) // true for a key that is reported
	seed := maphash.MakeSeed()
	isKey := false // the next text is a key
	for i := 0; i < len(body) && len(duplicates) < limit; i++ {
		switch c := body[i]; c {
		case '{':
			objects++
			open, isKey = append(open, container{id: objects}), true
		case '[':
			open, isKey = append(open, container{}), false
		case '}', ']':
			open, isKey = open[:len(open)-1], false
		case ',':
			in := &open[len(open)-1]
			in.index++
			isKey = in.id != 0
		case '"':
			from, escaped := i, false
			for i++; body[i] != '"'; i++ {
				if body[i] == '\\' {
					escaped = true
					i++
				}
			}
			if !isKey {
				continue
			}
			isKey = false
			in := &open[len(open)-1]
			key := body[from+1 : i]
			if escaped {
				key = []byte(unquoteKey(body[from : i+1]))
			}
			at := member{in.id, maphash.Bytes(seed, key)}
			reported, again := seen[at]
			seen[at] = again
			// A key is kept as bytes of the body until a name needs it.
			in.from, in.to = from, i+1
			if !again || reported {
				continue
			}
			if name := keyName(body, open); !slices.Contains(duplicates, name) {
				duplicates = append(duplicates, name)
			}
		}
	}
	return duplicates
}

// container is an object or list of a JSON text that the scanner has entered and not left yet.
type container struct {
	id       uint64 // number of an object; 0 for a list
	from, to int    // quoted key of the open member of an object
	index    int    // number of the open member
}

// keyName returns the name of the member at which the scanner is, such as venue[city]. It leaves out parts beyond
// maxDuplicateName.
func keyName(body []byte, open []container) string {
	var name strings.Builder
	for i, c := range open {
		part := strconv.Itoa(c.index)
		if c.id != 0 {
			part = unquoteKey(body[c.from:c.to])
		}
		if i > 0 {
			part = "[" + part + "]"
		}
		if name.Len()+len(part) > maxDuplicateName {
			break
		}
		name.WriteString(part)
	}
	return name.String()
}

// unquoteKey returns the text of a quoted key of valid JSON.
func unquoteKey(quoted []byte) string {
	var key string
	if err := json.Unmarshal(quoted, &key); err != nil {
		return string(quoted)
	}
	return key
}

// maxDuplicateName bounds the name of a duplicate key in bytes.
const maxDuplicateName = 200

// jsonValues counts the values in a JSON text. An empty list or object counts as two. For malformed JSON the count
// is meaningless.
func jsonValues(body []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == ',' || c == '[' || c == '{':
			n++
		}
	}
	return n
}

// Form collects the pairs of a form or query in order, and builds structured values from bracketed keys:
// venue[city]=x, organizer[0][organizer]=y, tags[]=z.
type Form struct {
	root node
	keys int
}

// node is a value in a form: a scalar, or members by key.
type node struct {
	values []any            // scalars in the order in which they were sent
	names  []string         // keys of members in order of first appearance
	member map[string]*node // members by key; [] was replaced by the next index
	next   int              // next index for []
}

// Add adds one pair. Both texts must be decoded already, and the form keeps them.
func (f *Form) Add(key, value string) error {
	f.keys++
	if f.keys > maxKeys {
		return fmt.Errorf("%w: more than %d of them", ErrForm, maxKeys)
	}
	name, rest, bracketed := strings.Cut(key, "[")
	if name == "" {
		return nil // a pair without a name is ignored, as on other servers
	}
	n := f.root.at(name)
	for depth := 1; bracketed; depth++ {
		if depth > maxDepth {
			return fmt.Errorf("%w: nested deeper than %d", ErrForm, maxDepth)
		}
		inner, after, closed := strings.Cut(rest, "]")
		if !closed {
			break // an unclosed bracket ends the structure
		}
		if inner == "" {
			inner = strconv.Itoa(n.next)
		}
		n = n.at(inner)
		if rest, bracketed = strings.CutPrefix(after, "["); !bracketed {
			break
		}
	}
	n.values = append(n.values, value)
	return nil
}

func (n *node) at(key string) *node {
	if n.member == nil {
		n.member = make(map[string]*node)
	}
	m, ok := n.member[key]
	if !ok {
		m = &node{}
		n.member[key] = m
		n.names = append(n.names, key)
		if i, err := strconv.Atoi(key); err == nil && i >= n.next && i < math.MaxInt {
			n.next = i + 1
		}
	}
	return m
}

// Values returns the form's values by name.
func (f *Form) Values() map[string]any {
	out := make(map[string]any, len(f.root.names))
	for _, name := range f.root.names {
		out[name] = f.root.member[name].value()
	}
	return out
}

// value returns the structured value of a node. Members have precedence over scalars. If all keys are numbers,
// the result is a list in numeric order, because parts of a multipart form may arrive in any order.
func (n *node) value() any {
	if len(n.names) == 0 {
		if len(n.values) == 1 {
			return n.values[0]
		}
		return Repeated(n.values)
	}
	// The names are checked before members are built; otherwise each level would build those below it twice.
	if slices.ContainsFunc(n.names, func(name string) bool { return !isDigits(name) }) {
		object := make(map[string]any, len(n.names))
		for _, name := range n.names {
			object[name] = n.member[name].value()
		}
		return object
	}
	list := make([]any, 0, len(n.names))
	for _, name := range slices.SortedStableFunc(slices.Values(n.names), compareDigits) {
		list = append(list, n.member[name].value())
	}
	return list
}

// compareDigits compares two texts of digits as numbers.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// Merge returns the values of all sources, by name. An earlier source overrides later ones.
func Merge(sources ...map[string]any) map[string]any {
	out := make(map[string]any)
	for i := len(sources) - 1; i >= 0; i-- {
		maps.Copy(out, sources[i])
	}
	return out
}
