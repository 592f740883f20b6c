package handlers

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Document31 is Document in OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
func (h *Handlers) Document31(now time.Time, root Root, lang calendar.Language) (json.RawMessage, error) {
	doc := in31((&request{h: h, now: now, root: root, lang: lang}).document())
	return encode(doc)
}

// dialect is that of the schemas of OpenAPI 3.1.
const dialect = "https://spec.openapis.org/oas/3.1/dialect/base"

// in31 is a document of OpenAPI 3.0 in 3.1.
func in31(doc ordered) ordered {
	out := make(ordered, 0, len(doc)+1)
	for _, m := range doc {
		switch m.name {
		case "openapi":
			out = append(out, member{m.name, "3.1.0"})
			continue
		case "info":
			out = append(out, m, member{"jsonSchemaDialect", dialect})
			continue
		case "components":
			m.value = components31(m.value.(ordered))
		default:
			m.value = part31(m.value)
		}
		out = append(out, m)
	}
	return out
}

func components31(components ordered) ordered {
	out := make(ordered, len(components))
	for i, m := range components {
		if m.name != "schemas" {
			out[i] = member{m.name, part31(m.value)}
			continue
		}
		out[i] = member{m.name, each31(m.value)}
	}
	return out
}

// part31 is a part that is no schema, with the schemas in it.
func part31(v any) any {
	switch v := v.(type) {
	case ordered:
		out := make(ordered, len(v))
		for i, m := range v {
			if m.name == "schema" {
				out[i] = member{m.name, schema31(m.value.(ordered))}
				continue
			}
			out[i] = member{m.name, part31(m.value)}
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
	nullable := schema.has("nullable", true)
	for _, m := range schema {
		switch m.name {
		case "nullable":
			continue
		case "type":
			if schema.has("format", "binary") {
				continue // a file is bytes, not a JSON string
			}
			if nullable {
				m.value = []any{m.value, "null"}
			}
		case "format":
			if m.value == "binary" {
				m = member{"contentMediaType", "application/octet-stream"}
			}
		case "enum":
			if nullable {
				m.value = withNull(m.value)
			}
		case "minimum", "maximum":
			if bound := "exclusive" + capital(m.name); schema.has(bound, true) {
				m.name = bound
			}
		case "exclusiveMinimum", "exclusiveMaximum":
			continue
		case "example":
			m = member{"examples", []any{m.value}}
		case "items", "additionalProperties", "not":
			if inner, ok := m.value.(ordered); ok {
				m.value = schema31(inner)
			}
		case "properties":
			m.value = each31(m.value)
		case "anyOf", "oneOf", "allOf":
			all := make([]ordered, 0, len(m.value.([]ordered)))
			for _, one := range m.value.([]ordered) {
				all = append(all, schema31(one))
			}
			m.value = all
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
		out[i] = member{m.name, schema31(m.value.(ordered))}
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

// has reports whether a member is there with a value.
func (o ordered) has(name string, value any) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.name == name && m.value == value })
}
