package openapi

import (
	"math"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// publishedSchema returns the schema of a parameter that accepts several types of values. The description lists
// all these types, but the namespace index publishes only one type or none, as the original API does. For a
// parameter with one type, ok is false. If nullable is true, the schema also accepts null.
func publishedSchema(p *param.Param, nullable bool) (schema ordered, ok bool) {
	text := ordered{{"type", "string"}}
	id := ordered{{"type", "integer"}, {"format", "int64"}}
	if nullable {
		text = append(text, member{"nullable", true})
	}
	switch {
	case p.In == param.InQuery && p.Type == "array" && (p.Name == "categories" || p.Name == "tags"):
		return ordered{{"type", "array"}, {"items", anyOfSchemas(id, ordered{{"type", "string"}})}}, true
	case p.In == param.InQuery && p.Name == "status":
		return ordered{{"type", "array"}, {"items", ordered{{"type", "string"}, {"enum", calendar.Statuses}}}}, true
	case p.In != param.InBody:
		return nil, false
	case p.Name == "categories" || p.Name == "tags":
		schema = ordered{{"type", "array"}, {"items", anyOfSchemas(id, ordered{{"type", "string"}}, idReference())}}
		return nullableIf(schema, nullable), true
	case p.Name == "rdate" || p.Name == "exdate":
		dates := ordered{{"type", "array"}, {"items", anyOfSchemas(ordered{{"type", "string"}}, id)}, {"maxItems", p.MaxItems}}
		return nullableIf(dates, nullable), true
	case p.Type == "array": // venue or organizer of an event
		one := []ordered{id, idReference(), refTo("schemas", capitalise(p.Name)+"Create")}
		list := nullableIf(ordered{{"type", "array"}, {"items", anyOfSchemas(one...)}}, nullable)
		return anyOfSchemas(append([]ordered{list}, one...)...), true
	case p.Name == "cost":
		number := ordered{{"type", "number"}, {"minimum", 0}}
		list := ordered{{"type", "array"}, {"items", anyOfSchemas(ordered{{"type", "string"}}, number)}}
		return anyOfSchemas(text, number, list), true
	case p.Name == "image":
		return anyOfSchemas(text, id, idReference(), ordered{{"type", "boolean"}, {"enum", []bool{false}}}), true
	case (p.Name == "show_map" || p.Name == "show_map_link") && p.Type == "string":
		return anyOfSchemas(ordered{{"type", "boolean"}}, text), true
	case p.Name == "event_status" || p.Name == "attendance": // "" means the default
		words := slices.Concat(p.Enum, []string{""})
		if nullable {
			return append(text, member{"enum", withNull(words)}), true
		}
		return append(text, member{"enum", words}, member{"default", p.Published}), true
	case p.Name == "status" && p.Type == "string":
		if nullable {
			return append(text, member{"enum", withNull(calendar.Statuses)}), true
		}
		return append(text, member{"enum", calendar.Statuses}), true
	}
	return nil, false
}

// valueLimits has limits for values without their own: the length of a text in characters, and the number of items
// in a list.
type valueLimits struct{ text, items int }

// queryLimits, bodyLimits and replyLimits are the limits of values in a query, a body and a reply. Texts and
// lists in replies are as long as an import stored them.
var (
	queryLimits = valueLimits{param.MaxURL, param.MaxItems}
	bodyLimits  = valueLimits{param.MaxBody, param.MaxItems}
	replyLimits = valueLimits{math.MaxInt32, math.MaxInt32}
)

// withLimits returns a schema with limits for texts, lists and integers. Texts and lists that declare no limits get
// those of the parameter of. Binary texts and values with an enum get none.
func withLimits(schema ordered, of valueLimits) ordered {
	out := make(ordered, 0, len(schema)+2)
	typ := any(nil)
	for _, m := range schema {
		switch v := m.Value.(type) {
		case ordered:
			switch m.Name {
			case "items", "additionalProperties":
				m.Value = withLimits(v, of)
			case "properties":
				properties := slices.Clone(v)
				for i, property := range v {
					properties[i].Value = withLimits(property.Value.(ordered), of)
				}
				m.Value = properties
			}
		case []ordered:
			parts := make([]ordered, len(v))
			for i := range v {
				parts[i] = withLimits(v[i], of)
			}
			m.Value = parts
		}
		if m.Name == "type" {
			typ = m.Value
		}
		out = append(out, m)
	}
	add := func(name string, limit any) {
		if !hasMember(schema, name, "enum") {
			out = append(out, member{name, limit})
		}
	}
	switch {
	case typ == "string" && !slices.Contains(schema, member{"format", "binary"}):
		add("maxLength", of.text)
	case typ == "array":
		add("maxItems", of.items)
	case typ == "integer":
		add("minimum", 0)
		add("maximum", int64(math.MaxInt64))
	}
	return out
}

// hasMember reports whether a schema has a member with one of the names.
func hasMember(schema ordered, names ...string) bool {
	return slices.ContainsFunc(schema, func(m member) bool { return slices.Contains(names, m.Name) })
}

// anyOfSchemas returns a schema for values that match at least one of several schemas.
func anyOfSchemas(schemas ...ordered) ordered { return ordered{{"anyOf", schemas}} }

func nullableIf(schema ordered, nullable bool) ordered {
	if nullable {
		return append(schema, member{"nullable", true})
	}
	return schema
}

// idReference returns the schema of an object with the id of an existing record. A whole representation of the
// record is valid too.
func idReference() ordered {
	return ordered{
		{"type", "object"},
		{"required", []string{"id"}},
		{"properties", ordered{{"id", ordered{{"type", "integer"}, {"format", "int64"}}}}},
	}
}

// typeOf returns the published type of a parameter. If none is published, it returns the type of the values.
func typeOf(p *param.Param) string {
	if p.Type != "" {
		return p.Type
	}
	switch p.Name {
	case "strict_dates", "has_events", "only_with_upcoming":
		return "boolean"
	}
	return "string" // dates and addresses
}

// valueBounds returns the constraints of a value: allowed words, bounds of a number, and maximum length. If
// nullable is true, null is an allowed word.
func valueBounds(p *param.Param, nullable bool) ordered {
	var o ordered
	switch {
	case p.Enum != nil && nullable:
		o = append(o, member{"enum", withNull(p.Enum)})
	case p.Enum != nil:
		o = append(o, member{"enum", p.Enum})
	}
	if p.Minimum != nil {
		o = append(o, member{"minimum", p.Minimum})
	}
	if p.IsAbove {
		o = append(o, member{"exclusiveMinimum", true})
	}
	if p.Maximum != nil {
		o = append(o, member{"maximum", p.Maximum})
	}
	if p.MaxLength != 0 {
		o = append(o, member{"maxLength", p.MaxLength})
	}
	return o
}

// withNull returns the words of an enum followed by null.
func withNull[W ~string](words []W) []any {
	out := make([]any, 0, len(words)+1)
	for _, w := range words {
		out = append(out, w)
	}
	return append(out, nil)
}
