package openapi

import (
	"encoding/json"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// Document31 returns the description in OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
func (a *API) Document31() (json.RawMessage, error) {
	return jsonwrite.Encode(convertTo31(a.document()))
}

// dialect is that of the schemas of OpenAPI 3.1.
const dialect = "https://spec.openapis.org/oas/3.1/dialect/base"

// convertTo31 is a document of OpenAPI 3.0 in 3.1.
func convertTo31(doc ordered) ordered {
	out := make(ordered, 0, len(doc)+1)
	for _, m := range doc {
		switch m.Name {
		case "openapi":
			out = append(out, member{m.Name, "3.1.0"})
			continue
		case "info":
			out = append(out, m, member{"jsonSchemaDialect", dialect})
			continue
		case "components":
			m.Value = components31(m.Value.(ordered))
		default:
			m.Value = part31(m.Value)
		}
		out = append(out, m)
	}
	return out
}

func components31(components ordered) ordered {
	out := make(ordered, len(components))
	for i, m := range components {
		if m.Name != "schemas" {
			out[i] = member{m.Name, part31(m.Value)}
			continue
		}
		out[i] = member{m.Name, each31(m.Value)}
	}
	return out
}

// part31 is a part that is no schema, with the schemas in it.
func part31(v any) any {
	switch v := v.(type) {
	case ordered:
		out := make(ordered, len(v))
		for i, m := range v {
			if m.Name == "schema" {
				out[i] = member{m.Name, schema31(m.Value.(ordered))}
				continue
			}
			out[i] = member{m.Name, part31(m.Value)}
		}
		return out
	case []ordered:
		out := make([]ordered, len(v))
		for i, one := range v {
			out[i] = part31(one).(ordered)
		}
		return out
	}
	return v
}

// schema31 is a schema of OpenAPI 3.0 in JSON Schema 2020-12.
func schema31(schema ordered) ordered {
	var out ordered
	nullable := hasMember(schema, "nullable", true)
	for _, m := range schema {
		switch m.Name {
		case "nullable":
			continue
		case "type":
			if hasMember(schema, "format", "binary") {
				continue // a file is bytes, not a JSON string
			}
			if nullable {
				m.Value = []any{m.Value, "null"}
			}
		case "format":
			if m.Value == "binary" {
				m = member{"contentMediaType", "application/octet-stream"}
			}
		case "enum":
			if nullable {
				m.Value = withNull(m.Value)
			}
		case "minimum", "maximum":
			if bound := "exclusive" + capitalise(m.Name); hasMember(schema, bound, true) {
				m.Name = bound
			}
		case "exclusiveMinimum", "exclusiveMaximum":
			continue
		case "example":
			m = member{"examples", []any{m.Value}}
		case "items", "additionalProperties", "not":
			if inner, ok := m.Value.(ordered); ok {
				m.Value = schema31(inner)
			}
		case "properties":
			m.Value = each31(m.Value)
		case "anyOf", "oneOf", "allOf":
			all := make([]ordered, 0, len(m.Value.([]ordered)))
			for _, one := range m.Value.([]ordered) {
				all = append(all, schema31(one))
			}
			m.Value = all
		}
		out = append(out, m)
	}
	if out == nil {
		out = ordered{}
	}
	return out
}

// each31 converts schemas under names of their own.
func each31(named any) ordered {
	out := make(ordered, len(named.(ordered)))
	for i, m := range named.(ordered) {
		out[i] = member{m.Name, schema31(m.Value.(ordered))}
	}
	return out
}

// withNull are the values of an enum and null.
func withNull(values any) []any {
	var out []any
	switch values := values.(type) {
	case []any:
		out = slices.Clone(values)
	case []string:
		for _, v := range values {
			out = append(out, v)
		}
	case []calendar.Status:
		for _, v := range values {
			out = append(out, v)
		}
	}
	if !slices.Contains(out, nil) {
		out = append(out, nil)
	}
	return out
}

// hasMember reports whether a member is there with a value.
func hasMember(o ordered, name string, value any) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.Name == name && m.Value == value })
}
