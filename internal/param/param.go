// Package param declares the parameters of an operation, in the style of package flag: bind a variable, name
// it, describe it. The same declaration, run with a request's values, parses and validates; run without, it
// describes the parameters for the index, the interface description and the manual.
//
//	func declare(p *param.Set, q *query) {
//		p.Int(&q.Page, "page", "Page of the list").Between(1, nil)
//		p.OptBool(&q.Featured, "featured", "Featured or not")
//	}
//
// Faults are collected, not returned one by one: all that is missing in one answer, else all that is invalid.
// The package knows no HTTP and no sentence; a Fault carries a message key and its arguments.
package param

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Location is where a parameter is sent.
type Location string

// The locations.
const (
	InPath  Location = "path"
	InQuery Location = "query"
	InBody  Location = "body" // JSON or form; the query serves too
)

// Set is the parameters of one operation.
type Set struct {
	// Now is the time of the request, which relative dates and computed defaults refer to.
	Now time.Time

	in       Location
	values   map[string]any    // nil when the set only describes
	path     map[string]string // captures of the path
	params   []*Param
	describe bool
	input    any
}

// Describe runs a declaration without a request and returns its parameters, in order.
func Describe(now time.Time, in Location, declare func(*Set)) []*Param {
	s := &Set{Now: now, in: in, describe: true}
	declare(s)
	return s.params
}

// NewSet makes a set over a request's values: path holds the captures of the route, values all that body and
// query carry, already merged.
func NewSet(now time.Time, in Location, path map[string]string, values map[string]any) *Set {
	return &Set{Now: now, in: in, path: path, values: values}
}

// Param is one declared parameter.
type Param struct {
	Name        string
	Description string
	In          Location
	Type        string   // integer, number, boolean, string, array, or "" for an untyped one
	Format      string   // double, or ""
	Items       string   // type of the items of an array
	Enum        []string // allowed values, of a list those of its items
	HasDefault  bool
	Published   any  // the published default; nil is null
	IsOfToday   bool // the published default is another one each day
	IsRequired  bool
	Hidden      bool // understood but in no description

	// Bounds of a number, and of each item of a list; nil is none. A minimum may be excluded itself.
	Minimum, Maximum any
	IsAbove          bool
	MaxLength        int // of a text, in characters; 0 is none
	MaxItems         int // of a list; 0 means the bound of all lists

	set      *Set
	present  bool // sent, and not null where null means "not sent"
	bind     func(raw any) *Fault
	value    func() any // what bind has read
	apply    func()     // sets the default
	checks   []check
	null     bool // null is a value: it clears
	link     func() string
	unlinked bool
	rawLink  string
}

type check struct {
	run  func(context.Context) *Fault
	late bool
}

// add declares a parameter whose raw value bind reads.
func (s *Set) add(name, description, typ string, bind func(raw any) *Fault) *Param {
	p := &Param{Name: name, Description: description, In: s.in, Type: typ, set: s, bind: bind}
	for _, other := range s.params {
		if other.Name == name && other.In == p.In {
			panic("param: " + name + " is declared twice")
		}
	}
	s.params = append(s.params, p)
	return p
}

// Required makes the parameter's absence a fault of its own, answered before all others.
func (p *Param) Required() *Param { p.IsRequired = true; return p }

// Untyped publishes the parameter without a type.
func (p *Param) Untyped() *Param { p.Type, p.Items = "", ""; return p }

// Typed publishes another type than that of the variable.
func (p *Param) Typed(typ string) *Param { p.Type, p.Items = typ, ""; return p }

// ListOf publishes the parameter as a list.
func (p *Param) ListOf(items string) *Param { p.Type, p.Items = "array", items; return p }

// PublishDefault publishes a default that is not applied by parsing: one that is computed elsewhere, or null,
// which means "not sent".
func (p *Param) PublishDefault(v any) *Param { p.HasDefault, p.Published = true, v; return p }

// OfToday says that the published default is another one each day. Descriptions that are kept leave it out.
func (p *Param) OfToday() *Param { p.IsOfToday = true; return p }

// Between bounds a number, or each number of a list. Both bounds are allowed themselves; nil is none.
func (p *Param) Between(minimum, maximum any) *Param {
	p.Minimum, p.Maximum = minimum, maximum
	return p.bounded(func(v float64) bool {
		return (minimum == nil || v >= numericBound(minimum)) && (maximum == nil || v <= numericBound(maximum))
	})
}

// Above is Between, but the lower bound is not allowed itself.
func (p *Param) Above(minimum, maximum any) *Param {
	p.Minimum, p.Maximum, p.IsAbove = minimum, maximum, true
	return p.bounded(func(v float64) bool {
		return v > numericBound(minimum) && (maximum == nil || v <= numericBound(maximum))
	})
}

// bounded checks the published bounds. It panics for a parameter that is no number and no list of numbers.
func (p *Param) bounded(within func(float64) bool) *Param {
	switch v := p.value().(type) {
	case int64, float64, []int64:
	default:
		panic(fmt.Sprintf("param: %s is a %T, which has no bounds", p.Name, v))
	}
	return p.Check(func(context.Context) *Fault {
		ok := true
		switch v := p.value().(type) {
		case int64:
			ok = within(float64(v))
		case float64:
			ok = within(v)
		case []int64:
			ok = !slices.ContainsFunc(v, func(n int64) bool { return !within(float64(n)) })
		}
		if !ok {
			return OutOfBounds(p.Name, p.Minimum, p.Maximum)
		}
		return nil
	})
}

// numericBound returns a bound as a number.
func numericBound(bound any) float64 {
	switch v := bound.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	panic(fmt.Sprintf("param: %T is no bound", bound))
}

// Longest bounds a text, in characters. It panics for a parameter that is no text.
func (p *Param) Longest(characters int) *Param {
	p.MaxLength = characters
	if v, ok := p.value().(string); !ok {
		panic(fmt.Sprintf("param: %s is a %T, which has no length", p.Name, v))
	}
	return p.Check(func(context.Context) *Fault {
		if text, ok := p.value().(string); ok && utf8.RuneCountInString(text) > characters {
			return TooLong(p.Name, characters)
		}
		return nil
	})
}

// Most bounds the number of items of a list, empty ones not counted. It is checked before the items are read.
func (p *Param) Most(items int) *Param {
	p.MaxItems = items
	bind := p.bind
	p.bind = func(raw any) *Fault {
		if list, fault := List(raw); fault == nil && len(list) > items {
			return itemsFault(p.Name, items)
		}
		return bind(raw)
	}
	return p
}

// EachOf publishes the words that the items of a list of strings can be, and refuses others.
func (p *Param) EachOf(words []string) *Param {
	p.Enum = words
	if v, ok := p.value().([]string); !ok {
		panic(fmt.Sprintf("param: %s is a %T and no list of strings", p.Name, v))
	}
	return p.Check(func(context.Context) *Fault {
		sent, _ := p.value().([]string)
		for _, w := range sent {
			if !slices.Contains(words, w) {
				return &Fault{Key: "not-a-word", Args: map[string]any{"Values": strings.Join(words, ", ")}}
			}
		}
		return nil
	})
}

// Check adds a validation that runs when the parameter was sent and parsed. It reads the bound variable.
func (p *Param) Check(f func(context.Context) *Fault) *Param {
	p.checks = append(p.checks, check{run: f})
	return p
}

// CheckAlways adds a validation that runs even when the parameter was not sent, once all others are parsed: for
// rules between parameters.
func (p *Param) CheckAlways(f func(context.Context) *Fault) *Param {
	p.checks = append(p.checks, check{run: f, late: true})
	return p
}

// Null makes null a value that is parsed, instead of one that means "not sent".
func (p *Param) Null() *Param { p.null = true; return p }

// Link says how the parameter is repeated in links. By default it is repeated as it was understood.
func (p *Param) Link(text func() string) *Param { p.link = text; return p }

// NoLink keeps the parameter out of links.
func (p *Param) NoLink() *Param { p.unlinked = true; return p }

// Hide keeps the parameter out of all descriptions.
func (p *Param) Hide() *Param { p.Hidden = true; return p }

// Sent reports whether the named parameter was sent, null not counting where null means "not sent".
func (s *Set) Sent(name string) bool {
	for _, p := range s.params {
		if p.Name == name && p.present {
			return true
		}
	}
	return false
}

// Declares reports whether a parameter has the name.
func (s *Set) Declares(name string) bool {
	return slices.ContainsFunc(s.params, func(p *Param) bool { return p.Name == name })
}

// Names returns the names of the published parameters that a body or query may carry, in the order of declaration.
func (s *Set) Names() []string {
	var out []string
	for _, p := range s.params {
		if p.In != InPath && !p.Hidden {
			out = append(out, p.Name)
		}
	}
	return out
}

// Parse binds all parameters. The error is Missing, or Invalid with the faults in the order of declaration,
// or that of ctx, or whatever made a check impossible.
func (s *Set) Parse(ctx context.Context) error {
	var missing Missing
	for _, p := range s.params {
		raw, sent := s.raw(p)
		p.present = sent && (raw != nil || p.null)
		if p.IsRequired && (!sent || raw == nil) {
			missing.Names = append(missing.Names, p.Name)
		}
	}
	if len(missing.Names) > 0 {
		return missing
	}
	faults := make(map[*Param]*Fault)
	for _, p := range s.params {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case p.present:
			raw, _ := s.raw(p)
			if f := p.bind(raw); f != nil {
				faults[p] = f
			}
		case p.apply != nil:
			p.apply()
		}
	}
	for _, late := range [2]bool{false, true} {
		for _, p := range s.params {
			for _, c := range p.checks {
				if c.late != late || faults[p] != nil || (!late && !p.present) {
					continue
				}
				f := c.run(ctx)
				if f != nil && f.Err != nil {
					return f.Err
				}
				if f != nil {
					faults[p] = f
				}
			}
		}
	}
	if len(faults) == 0 {
		return nil
	}
	var invalid Invalid
	for _, p := range s.params {
		if f := faults[p]; f != nil {
			f.Param = p.Name
			invalid.Faults = append(invalid.Faults, *f)
		}
	}
	return invalid
}

// raw returns the sent value of p. A capture of the path cannot be overridden.
func (s *Set) raw(p *Param) (any, bool) {
	if p.In == InPath {
		v, ok := s.path[p.Name]
		return v, ok
	}
	v, ok := s.values[p.Name]
	return v, ok
}

// Pair is a parameter as it is repeated in a link.
type Pair struct{ Name, Value string }

// Links returns the parameters that were sent, as they were understood, in the order of declaration.
func (s *Set) Links() []Pair {
	var out []Pair
	for _, p := range s.params {
		switch {
		case p.unlinked || p.In == InPath:
		case p.link != nil:
			if v := p.link(); v != "" {
				out = append(out, Pair{p.Name, v})
			}
		case p.present:
			out = append(out, Pair{p.Name, p.rawLink})
		}
	}
	return out
}

// Fault describes the error of one parameter.
type Fault struct {
	Param  string
	Reason string         // code in the body's details; "" when there is nothing to say beyond "invalid"
	Key    string         // of the message
	Args   map[string]any // of the message
	Data   map[string]any // in the body's details
	Err    error          // the check could not be made; not the client's fault
}

// Bad is the fault without a reason: a failed check, an unknown target, an unreadable date.
func Bad() *Fault { return &Fault{Key: "invalid-param"} }

// Missing lists the required parameters that were not sent.
type Missing struct{ Names []string }

func (m Missing) Error() string { return "missing parameters: " + strings.Join(m.Names, ", ") }

// Invalid lists the parameters that were sent and cannot be used.
type Invalid struct{ Faults []Fault }

func (i Invalid) Error() string { return "invalid parameters: " + strings.Join(i.Names(), ", ") }

// Names of the parameters, in order.
func (i Invalid) Names() []string {
	names := make([]string, len(i.Faults))
	for k, f := range i.Faults {
		names[k] = f.Param
	}
	return names
}

// SetInput stores the variable that a declaration binds to, for the caller of the handler.
func (s *Set) SetInput(v any) { s.input = v }

// Input returns the argument of SetInput.
func (s *Set) Input() any { return s.input }

// Optional publishes a capture of the path as optional, where it shares its name with a field.
func (p *Param) Optional() *Param { p.IsRequired = false; return p }

// Raw returns the sent value of a name, before parsing.
func (s *Set) Raw(name string) (any, bool) {
	v, ok := s.values[name]
	return v, ok
}
