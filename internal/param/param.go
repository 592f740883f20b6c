// Package param declares the parameters of an operation, in the style of package flag: bind a variable, name
// it, describe it. With a request's values, a declaration parses and validates them. Without values, it
// describes the parameters for the index, the interface description and the manual.
//
//	func declare(p *param.Set, q *query) {
//		p.Int(&q.Page, "page", "Page of the list").Between(1, nil)
//		p.OptBool(&q.Featured, "featured", "Featured or not")
//	}
//
// Faults are collected, not returned one by one. The reply lists all missing parameters, or else all invalid
// ones. The package does not depend on HTTP. A Fault has a message key and arguments, and no text.
package param

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Location is the part of a request in which a parameter is sent.
type Location string

// InPath, InQuery and InBody are the values of Location.
const (
	InPath  Location = "path"
	InQuery Location = "query"
	InBody  Location = "body" // JSON or form; the query is accepted too
)

// Set is the set of parameters of one operation.
type Set struct {
	// Now is the time of the request. Relative dates and computed defaults depend on it.
	Now time.Time

	in       Location
	values   map[string]any    // values of body and query; nil if the set only describes
	path     map[string]string // values of the route's placeholders such as {id}, by name
	params   []*Param
	describe bool
	input    any
}

// Describe returns the parameters that a function declares, in order, without a request. Descriptions of the API
// use it.
func Describe(now time.Time, in Location, declare func(*Set)) []*Param {
	s := &Set{Now: now, in: in, describe: true}
	declare(s)
	return s.params
}

// NewSet returns a set with the values of a request. path has the captures of the route. values has the merged
// values of body and query.
func NewSet(now time.Time, in Location, path map[string]string, values map[string]any) *Set {
	return &Set{Now: now, in: in, path: path, values: values}
}

// Param is one declared parameter.
type Param struct {
	Name        string
	Description string
	In          Location
	Type        string   // integer, number, boolean, string or array; "" means untyped
	Format      string   // "double" for numbers, else ""
	Items       string   // type of the items of an array
	Enum        []string // allowed values; for a list, those of its items
	HasDefault  bool
	Published   any  // published default; nil means null
	IsOfToday   bool // true if the published default changes every day
	IsRequired  bool
	Hidden      bool // true if the parameter is accepted, but in no description

	// Sample is an example value for the documentation, as a Go value. The table samples of package openapi has
	// precedence. If both lack one, a boolean gets true, and other types get none.
	Sample any
	// Minimum and Maximum are the bounds of a number, or of each item of a list. Nil means none. IsAbove
	// excludes Minimum itself.
	Minimum, Maximum any
	IsAbove          bool
	MaxLength        int // longest text in characters; 0 means no limit
	MaxItems         int // most items of a list; 0 means the limit of all lists (package constant MaxItems)

	set      *Set
	present  bool                 // true if sent, except for null that means "not sent"
	bind     func(raw any) *Fault // parses the raw value into the variable
	value    func() any           // returns the variable's present value
	apply    func()               // assigns the default to the variable
	checks   []check
	null     bool // true if null is a value, which clears a field
	link     func() string
	unlinked bool
	rawLink  string
}

type check struct {
	run  func(context.Context) *Fault
	late bool
}

// add declares a parameter. bind parses its raw value.
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

// Required makes the absence of the parameter a fault. Missing parameters are reported before all other faults.
func (p *Param) Required() *Param { p.IsRequired = true; return p }

// Untyped publishes the parameter without a type.
func (p *Param) Untyped() *Param { p.Type, p.Items = "", ""; return p }

// Typed publishes another type than that of the bound variable.
func (p *Param) Typed(typ string) *Param { p.Type, p.Items = typ, ""; return p }

// ListOf publishes the parameter as a list of items of a type.
func (p *Param) ListOf(items string) *Param { p.Type, p.Items = "array", items; return p }

// PublishDefault publishes a default that parsing does not apply. It is computed elsewhere, or null, which
// means "not sent".
func (p *Param) PublishDefault(v any) *Param { p.HasDefault, p.Published = true, v; return p }

// OfToday records that the published default changes every day. Cached descriptions must leave the default out.
func (p *Param) OfToday() *Param { p.IsOfToday = true; return p }

// Between sets inclusive bounds of a number, or of each number in a list. Nil means no bound.
func (p *Param) Between(minimum, maximum any) *Param {
	p.Minimum, p.Maximum = minimum, maximum
	return p.bounded(func(v float64) bool {
		return (minimum == nil || v >= numericBound(minimum)) && (maximum == nil || v <= numericBound(maximum))
	})
}

// Above sets bounds of a number, or of each number in a list. A value must be above minimum, and at most
// maximum. A nil maximum means no bound; minimum must not be nil.
func (p *Param) Above(minimum, maximum any) *Param {
	p.Minimum, p.Maximum, p.IsAbove = minimum, maximum, true
	return p.bounded(func(v float64) bool {
		return v > numericBound(minimum) && (maximum == nil || v <= numericBound(maximum))
	})
}

// bounded adds a check that a number, or each number in a list, is within bounds. It panics if the parameter is
// neither.
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

// numericBound converts a bound to a float64.
func numericBound(bound any) float64 {
	switch v := bound.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	panic(fmt.Sprintf("param: %T is no bound", bound))
}

// Longest limits the length of a text, in characters. It panics if the parameter is not a string.
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

// Most limits the number of items in a list, not counting empty ones. The check comes before the items are parsed.
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

// EachOf publishes the allowed items of a list of strings. Other items are a fault.
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

// Check adds a validation. It runs only if the parameter was sent and parsed. The function f reads the variable to
// which the parameter is bound.
func (p *Param) Check(f func(context.Context) *Fault) *Param {
	p.checks = append(p.checks, check{run: f})
	return p
}

// CheckAlways adds a validation that compares several parameters. It runs after all parameters are parsed, even
// if this one was not sent.
func (p *Param) CheckAlways(f func(context.Context) *Fault) *Param {
	p.checks = append(p.checks, check{run: f, late: true})
	return p
}

// Null makes the parameter accept null as a value. Without it, null has the same meaning as a parameter that was
// not sent.
func (p *Param) Null() *Param { p.null = true; return p }

// Link sets the function that returns the parameter's value in links to other pages of the list. By default
// links repeat the parsed value.
func (p *Param) Link(text func() string) *Param { p.link = text; return p }

// NoLink excludes the parameter from links.
func (p *Param) NoLink() *Param { p.unlinked = true; return p }

// Hide excludes the parameter from all descriptions.
func (p *Param) Hide() *Param { p.Hidden = true; return p }

// Sent reports whether a parameter was sent. null does not count if it means "not sent".
func (s *Set) Sent(name string) bool {
	for _, p := range s.params {
		if p.Name == name && p.present {
			return true
		}
	}
	return false
}

// Declares reports whether a parameter with the name is declared in the set.
func (s *Set) Declares(name string) bool {
	return slices.ContainsFunc(s.params, func(p *Param) bool { return p.Name == name })
}

// Names returns the names of the published body and query parameters, in order of declaration.
func (s *Set) Names() []string {
	var out []string
	for _, p := range s.params {
		if p.In != InPath && !p.Hidden {
			out = append(out, p.Name)
		}
	}
	return out
}

// Parse parses all parameters into their variables. The error is Missing, Invalid with the faults in order of
// declaration, the error of ctx, or the error of a check that could not run.
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
			f := p.bind(raw)
			if f != nil && f.Err != nil {
				return f.Err
			}
			if f != nil {
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

// raw returns the value that was sent for p, and whether one was. A query cannot override a capture of the path.
func (s *Set) raw(p *Param) (any, bool) {
	if p.In == InPath {
		v, ok := s.path[p.Name]
		return v, ok
	}
	v, ok := s.values[p.Name]
	return v, ok
}

// Pair is the name and value of a parameter in a link.
type Pair struct{ Name, Value string }

// Links returns the sent parameters with their parsed values, in order of declaration. For a parameter with a
// function of Link it uses that function's result, even if the parameter was not sent. Path parameters and those
// with NoLink are left out.
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
	Reason string         // code in the details of the reply; "" means none
	Key    string         // key of the message
	Args   map[string]any // arguments of the message
	Data   map[string]any // data in the details of the reply
	Err    error          // error of a parser or a check that could not run; not the client's fault
}

// Bad returns a fault without a reason, for a failed check, an unknown record or an unreadable date.
func Bad() *Fault { return &Fault{Key: "invalid-param"} }

// Missing lists the required parameters that were not sent.
type Missing struct{ Names []string }

func (m Missing) Error() string { return "missing parameters: " + strings.Join(m.Names, ", ") }

// Invalid lists the parameters that were sent with an unusable value.
type Invalid struct{ Faults []Fault }

func (i Invalid) Error() string { return "invalid parameters: " + strings.Join(i.Names(), ", ") }

// Names returns the names of the invalid parameters, in order.
func (i Invalid) Names() []string {
	names := make([]string, len(i.Faults))
	for k, f := range i.Faults {
		names[k] = f.Param
	}
	return names
}

// SetInput stores the struct whose fields the declaration binds to parameters, so that a handler can get it from
// Input.
func (s *Set) SetInput(v any) { s.input = v }

// Input returns the argument of SetInput.
func (s *Set) Input() any { return s.input }

// Optional publishes a path capture as optional. It is used if a field has the same name as the capture.
func (p *Param) Optional() *Param { p.IsRequired = false; return p }

// Raw returns the value that was sent under a name, before parsing. It returns false if none was sent.
func (s *Set) Raw(name string) (any, bool) {
	v, ok := s.values[name]
	return v, ok
}
