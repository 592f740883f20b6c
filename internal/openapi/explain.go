package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// Explanation describes a parameter for readers. If a name means different things in several operations, each
// meaning has its own explanation.
type Explanation struct {
	Name        string   // name of the parameter
	In          string   // path, query, header or body
	Type        string   // type in words, such as "list of integer"
	Description string   // text in the language of the API value
	Rules       []string // default, bounds and other rules, such as "at most 20 items"
	Operations  []string // operations that accept the parameter, such as PATCH /events/{id}
	Sample      Sample   // a request that uses the parameter
}

// RouteExplanation describes one operation and its parameters.
type RouteExplanation struct {
	Operation  string // method and path, such as GET /events
	Server     string // base address of a feed's path; "" means that of the API
	Summary    string // text in the language of the API value
	Parameters []Explanation
}

// Explain describes all parameters with the given name, for the command explain. It returns nothing for an unknown
// name.
func (a *API) Explain(name string) []Explanation {
	var out []Explanation
	for _, route := range a.explanations() {
		for _, one := range route.Parameters {
			if one.Name != name {
				continue
			}
			at := slices.IndexFunc(out, one.isSameAs)
			if at < 0 {
				out = append(out, one)
				continue
			}
			out[at].Operations = append(out[at].Operations, one.Operations...)
			// PATCH stands for all three methods of an update.
			if one.Sample.Method == "PATCH" && out[at].Sample.Method != "PATCH" {
				out[at].Sample = one.Sample
			}
		}
	}
	return out
}

// isSameAs reports whether two explanations say the same, so that one of them suffices. It ignores the operations
// and the sample.
func (x Explanation) isSameAs(o Explanation) bool {
	return x.Name == o.Name && x.In == o.In && x.Type == o.Type && x.Description == o.Description &&
		slices.Equal(x.Rules, o.Rules)
}

// ExplainRoute describes the operations of a path. The path is an OpenAPI template, such as /events/{id}. "" as
// method means all methods.
func (a *API) ExplainRoute(method, path string) []RouteExplanation {
	return slices.DeleteFunc(a.explanations(), func(one RouteExplanation) bool {
		verb, template, _ := strings.Cut(one.Operation, " ")
		return template != path || method != "" && method != verb
	})
}

// Explainable returns the sorted names of all parameters and paths that Explain and ExplainRoute know.
func (a *API) Explainable() []string {
	var out []string
	for _, route := range a.explanations() {
		_, path, _ := strings.Cut(route.Operation, " ")
		out = append(out, path)
		for _, one := range route.Parameters {
			out = append(out, one.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// explanations describes all operations, in the order of the route table.
func (a *API) explanations() []RouteExplanation {
	var out []RouteExplanation
	for i := range a.Routes {
		p := &a.Routes[i]
		for j := range p.Endpoints {
			e := &p.Endpoints[j]
			params := param.Describe(a.Now, e.In, e.Declare)
			params = slices.DeleteFunc(params, func(one *param.Param) bool { return one.Hidden })
			clears := e.cleared(a.Now, slices.DeleteFunc(slices.Clone(params), func(one *param.Param) bool {
				return one.In != param.InBody || e.In != param.InBody
			}))
			if !p.isFeed() {
				params = append(params, fieldsParam())
			}
			for _, method := range e.Methods {
				route := RouteExplanation{Operation: method + " " + p.Path, Server: p.Server, Summary: a.text(e.Summary)}
				all := slices.Clip(params)
				for _, h := range headerParameters {
					if h.of(p, method) {
						all = append(all, h.declare())
					}
				}
				for _, one := range all {
					x := a.explanation(one, clears[one.Name])
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

// fieldsParam returns the declaration of the parameter _fields. No endpoint declares it, because package handlers
// applies it to all replies except feeds.
func fieldsParam() *param.Param {
	return &param.Param{Name: "_fields", Description: fieldsDescription, In: param.InQuery, Type: "array", Items: "string"}
}

func (a *API) explanation(p *param.Param, clears bool) Explanation {
	x := Explanation{
		Name: p.Name, In: parameterLocation(p), Type: typeText(valueSchema(p, false)), Description: a.text(p.Description),
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
	if p.MaxItems > 0 {
		x.Rules = append(x.Rules, "at most "+strconv.Itoa(p.MaxItems)+" items")
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

// typeText describes a schema in words, such as "list of integer".
func typeText(schema ordered) string {
	typ := ""
	for _, m := range schema {
		switch {
		case m.Name == "anyOf":
			var all []string
			between := " or "
			for _, one := range m.Value.([]ordered) {
				text := typeText(one)
				if strings.Contains(text, between) {
					between = ", or "
				}
				if !slices.Contains(all, text) {
					all = append(all, text)
				}
			}
			return strings.Join(all, between)
		case m.Name == "$ref" || m.Name == "type" && m.Value == "object":
			return "object"
		case m.Name == "format" && m.Value == "binary":
			return "file"
		case m.Name == "type":
			typ, _ = m.Value.(string)
		case m.Name == "items":
			if inner := typeText(m.Value.(ordered)); inner != "" {
				return "list of " + inner
			}
		case m.Name == "enum" && typ == "boolean":
			return "false"
		}
	}
	return typ
}
