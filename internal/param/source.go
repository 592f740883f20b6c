package param

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Repeated is a key that a form or query carries several times: a list for a list parameter, its last value
// for a scalar.
type Repeated []any

// ErrForm is returned for a form or query that has too many parameters or brackets that nest too deep, and for
// JSON of too many values.
var ErrForm = errors.New("too many parameters")

// Bounds on what a client can make us build. A byte of a body can become a value of fifty bytes.
const (
	maxKeys   = 2000
	maxDepth  = 6
	maxValues = 50_000 // of a JSON body
)

// DecodeJSON reads a JSON body. An empty body and JSON that is no object carry no parameters. ErrForm is returned
// for JSON of more than maxValues values. The text of other errors may be shown to the client.
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
	object, ok := v.(map[string]any)
	if !ok {
		return nil, nil
	}
	return object, nil
}

// jsonValues counts the values of a JSON text. The count of malformed JSON has no meaning.
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

// Form collects the pairs of a form or query in their order and gives them structure:
// venue[city]=x, organizer[0][organizer]=y, tags[]=z.
type Form struct {
	root node
	keys int
}

// node is a place in a form: a scalar, or members by key.
type node struct {
	values []any            // the scalars sent, in order
	names  []string         // keys of members, in order of first appearance
	member map[string]*node // by key; "" was expanded to the next index
	next   int              // the next index for []
}

// Add takes one pair. Text is kept as it is; the caller has decoded it and must own it.
func (f *Form) Add(key, value string) error {
	f.keys++
	if f.keys > maxKeys {
		return fmt.Errorf("%w: more than %d of them", ErrForm, maxKeys)
	}
	name, rest, bracketed := strings.Cut(key, "[")
	if name == "" {
		return nil // as other servers do: no name, no parameter
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

// Values is the form as parameters.
func (f *Form) Values() map[string]any {
	out := make(map[string]any, len(f.root.names))
	for _, name := range f.root.names {
		out[name] = f.root.member[name].value()
	}
	return out
}

// value returns the structured value. Members take precedence over scalars. If all members are numbered they form a
// list in the order of their numbers, because parts of a multipart form arrive in any order.
func (n *node) value() any {
	if len(n.names) == 0 {
		if len(n.values) == 1 {
			return n.values[0]
		}
		return Repeated(n.values)
	}
	// The names are checked before any member is built, or each level would build those below it twice.
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

// compareDigits compares texts of digits as numbers.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// Merge lays sources over each other, strongest first.
func Merge(sources ...map[string]any) map[string]any {
	out := make(map[string]any)
	for i := len(sources) - 1; i >= 0; i-- {
		maps.Copy(out, sources[i])
	}
	return out
}
