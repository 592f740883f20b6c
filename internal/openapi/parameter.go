package openapi

import (
	"github.com/almanac-cal/almanac/internal/param"
)

// parameter returns the OpenAPI object of a path or query parameter.
func parameter(p *param.Param) ordered {
	in := param.InQuery
	if p.In == param.InPath {
		in = param.InPath
	}
	o := ordered{
		{"name", p.Name},
		{"in", in},
		{"description", p.Description},
		// OpenAPI has no optional path parameters.
		{"required", p.IsRequired || in == param.InPath},
	}
	schema := withLimits(valueSchema(p, false), queryLimits)
	if len(schema) > 0 && schema[0].Value == "array" {
		o = append(o, member{"style", "form"}, member{"explode", false})
	}
	return append(o, member{"schema", schema})
}

// valueSchema returns the schema of a parameter's value. If no type is published, typeOf determines it. If
// nullable is true, the schema also accepts null.
func valueSchema(p *param.Param, nullable bool) ordered {
	o, ok := publishedSchema(p, nullable)
	if ok {
		return o
	}
	typ := typeOf(p)
	if typ != "" {
		o = append(o, member{"type", typ})
	}
	switch {
	case p.Format != "":
		o = append(o, member{"format", p.Format})
	case p.Type == "integer":
		o = append(o, member{"format", "int64"})
	}
	if p.In == param.InPath {
		if p.Type == "integer" {
			o = append(o, member{"minimum", 0})
		} else {
			o = append(o, member{"pattern", "^[^/]+$"})
		}
	}
	if p.Items != "" {
		o = append(o, member{"items", append(ordered{{"type", p.Items}}, valueBounds(p, false)...)})
	} else {
		o = append(o, valueBounds(p, nullable)...)
	}
	if nullable {
		o = append(o, member{"nullable", true})
	}
	if p.HasDefault && p.Published != nil && !p.IsRequired && !p.IsOfToday {
		value := p.Published
		if number, ok := value.(int); ok && typ == "boolean" {
			value = number != 0 // the index publishes 1, as the specification does
		}
		o = append(o, member{"default", value})
	}
	return o
}

const fieldsDescription = "Keys to keep in the response, dotted for nested ones: id,venue.venue. " +
	"In lists they apply to each element"

// fieldsParameter returns the OpenAPI object of _fields. All replies except feeds support it.
func fieldsParameter() ordered {
	return ordered{
		{"name", "_fields"},
		{"in", "query"},
		{"description", fieldsDescription},
		{"required", false},
		{"style", "form"},
		{"explode", false},
		{"schema", withLimits(ordered{{"type", "array"}, {"items", ordered{{"type", "string"}}}}, queryLimits)},
	}
}
