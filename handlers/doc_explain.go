package handlers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// Explanation is what a declaration says about a parameter, for people. Where several operations have a parameter
// of one name that means something else, each meaning has an explanation of its own.
type Explanation struct {
	Name        string
	In          string   // path, query, header or body
	Type        string   // list of integer
	Description string   // in the language asked for
	Rules       []string // default, bounds and the like
	Operations  []string // PATCH /events/{id}
	Sample      Sample   // a request with it
}

// RouteExplanation is one operation and its parameters.
type RouteExplanation struct {
	Operation  string // GET /events
	Summary    string // in the language asked for
	Parameters []Explanation
}

// Explain describes the parameters of a name; none is not an error.
func (h *Handlers) Explain(now time.Time, root Root, lang calendar.Language, name string) []Explanation {
	var out []Explanation
	for _, route := range h.explained(now, root, lang) {
		for _, one := range route.Parameters {
			if one.Name != name {
				continue
			}
			at := slices.IndexFunc(out, one.means)
			if at < 0 {
				out = append(out, one)
				continue
			}
			out[at].Operations = append(out[at].Operations, one.Operations...)
			// Of the three methods of an update this one says what it does.
			if one.Sample.Method == "PATCH" && out[at].Sample.Method != "PATCH" {
				out[at].Sample = one.Sample
			}
		}
	}
	return out
}

// means reports whether two explanations differ in nothing but the operations and the example.
func (x Explanation) means(o Explanation) bool {
	return x.Name == o.Name && x.In == o.In && x.Type == o.Type && x.Description == o.Description &&
		slices.Equal(x.Rules, o.Rules)
}

// ExplainRoute describes the operations of a path below the API, of all methods if none is named: /events,
// /events/{id} or /events/15.
func (h *Handlers) ExplainRoute(now time.Time, root Root, lang calendar.Language, method, path string) []RouteExplanation {
	path = strings.TrimPrefix(path, root.Mount)
	sample := strings.NewReplacer("{id}", "1", "{slug}", "a").Replace(path)
	m := h.Match("GET", sample)
	if m == nil {
		return nil
	}
	return slices.DeleteFunc(h.explained(now, root, lang), func(one RouteExplanation) bool {
		verb, template, _ := strings.Cut(one.Operation, " ")
		return template != m.Template() || method != "" && method != verb
	})
}

// Explainable are the names of all parameters and the paths of all routes, in order.
func (h *Handlers) Explainable(now time.Time) []string {
	var out []string
	for _, route := range h.explained(now, Root{Mount: h.mounts[0]}, calendar.English) {
		_, path, _ := strings.Cut(route.Operation, " ")
		out = append(out, path)
		for _, one := range route.Parameters {
			out = append(out, one.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// explained are all operations in the order of the table.
func (h *Handlers) explained(now time.Time, root Root, lang calendar.Language) []RouteExplanation {
	r := &request{h: h, now: now, root: root, lang: lang}
	var out []RouteExplanation
	for _, p := range h.table {
		for _, e := range p.endpoints {
			params := param.Describe(now, e.in, func(s *param.Set) { e.declare(r, s) })
			params = slices.DeleteFunc(params, func(one *param.Param) bool { return one.Hidden })
			clears := e.cleared(r, slices.DeleteFunc(slices.Clone(params), func(one *param.Param) bool {
				return one.In != param.InBody || e.in != param.InBody
			}))
			params = append(params, fieldsParam())
			for _, method := range e.methods {
				route := RouteExplanation{Operation: method + " " + p.template(), Summary: r.text(e.summary)}
				all := slices.Clip(params)
				for _, h := range headerParameters {
					if h.of(p, method) {
						all = append(all, h.declare())
					}
				}
				for _, one := range all {
					x := r.explanation(one, clears[one.Name])
					x.Operations = []string{route.Operation}
					x.Sample = sampleOf(p, params, one, method)
					route.Parameters = append(route.Parameters, x)
				}
				out = append(out, route)
			}
		}
	}
	return out
}

// fieldsParam is _fields as a declaration; package server obeys it for all.
func fieldsParam() *param.Param {
	return &param.Param{Name: "_fields", Description: fieldsDescription, In: param.InQuery, Type: "array", Items: "string"}
}

func (r *request) explanation(p *param.Param, clears bool) Explanation {
	x := Explanation{
		Name: p.Name, In: sentIn(p), Type: typeText(valueSchema(p, false)), Description: r.text(p.Description),
	}
	if p.IsRequired {
		x.Rules = append(x.Rules, "required")
	}
	if p.HasDefault && p.Published != nil && !p.IsRequired {
		value := p.Published
		if number, ok := value.(int); ok && p.Type == "boolean" {
			value = number != 0
		}
		x.Rules = append(x.Rules, fmt.Sprintf("default %v", value))
	}
	switch {
	case p.Minimum != nil && p.Maximum != nil && p.IsAbove:
		x.Rules = append(x.Rules, fmt.Sprintf("more than %v, at most %v", p.Minimum, p.Maximum))
	case p.Minimum != nil && p.Maximum != nil:
		x.Rules = append(x.Rules, fmt.Sprintf("%v to %v", p.Minimum, p.Maximum))
	case p.Minimum != nil:
		x.Rules = append(x.Rules, fmt.Sprintf("at least %v", p.Minimum))
	}
	if p.MaxLength > 0 {
		x.Rules = append(x.Rules, "at most "+strconv.Itoa(p.MaxLength)+" characters")
	}
	if p.Enum != nil {
		x.Rules = append(x.Rules, "one of "+strings.Join(p.Enum, ", "))
	}
	if p.Name == "status" {
		words := make([]string, len(calendar.Statuses))
		for i, s := range calendar.Statuses {
			words[i] = string(s)
		}
		x.Rules = append(x.Rules, "of "+strings.Join(words, ", "))
	}
	if clears {
		x.Rules = append(x.Rules, "null clears it")
	}
	return x
}

// typeText says in words what a schema takes.
func typeText(schema ordered) string {
	typ := ""
	for _, m := range schema {
		switch {
		case m.name == "anyOf":
			var all []string
			between := " or "
			for _, one := range m.value.([]ordered) {
				text := typeText(one)
				if strings.Contains(text, between) {
					between = ", or "
				}
				if !slices.Contains(all, text) {
					all = append(all, text)
				}
			}
			return strings.Join(all, between)
		case m.name == "$ref" || m.name == "type" && m.value == "object":
			return "object"
		case m.name == "format" && m.value == "binary":
			return "file"
		case m.name == "type":
			typ, _ = m.value.(string)
		case m.name == "items":
			if inner := typeText(m.value.(ordered)); inner != "" {
				return "list of " + inner
			}
		case m.name == "enum" && typ == "boolean":
			return "false"
		}
	}
	return typ
}
