package openapi

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/represent"
)

// schemas are the schema components of a document, in the order of their first use.
type schemas struct{ members ordered }

// representations maps each kind of record to the Go type of its JSON representation.
var representations = func() map[calendar.Kind]reflect.Type {
	all := map[calendar.Kind]reflect.Type{
		calendar.Event:    reflect.TypeFor[represent.Event](),
		calendar.Venue:    reflect.TypeFor[represent.Venue](),
		calendar.Category: reflect.TypeFor[represent.Term](),
		calendar.Tag:      reflect.TypeFor[represent.Term](),
		calendar.Image:    reflect.TypeFor[represent.Image](),
		calendar.Series:   reflect.TypeFor[represent.Series](),
	}
	for _, s := range represent.ShownKinds {
		all[s.Kind] = s.Type
	}
	return all
}()

// HasKey reports whether the JSON representation of a kind has a key. The kind "" has no representation.
func HasKey(kind calendar.Kind, key string) bool {
	t, ok := representations[kind]
	if !ok {
		return false
	}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
			return true
		}
	}
	return false
}

// add stores a schema under a name, unless the name exists, and returns a reference to it.
func (s *schemas) add(name string, schema ordered) ordered {
	if !s.has(name) {
		s.members = append(s.members, member{name, schema})
	}
	return refTo("schemas", name)
}

func (s *schemas) has(name string) bool {
	return slices.ContainsFunc(s.members, func(m member) bool { return m.Name == name })
}

// schemaOf returns the schema of the JSON that encoding/json writes for a type. Structs become components. It panics for
// an unsupported type. Documents are built on request, so the first request for one shows this.
func (s *schemas) schemaOf(t reflect.Type) ordered {
	switch t {
	case reflect.TypeFor[calendar.Status]():
		return ordered{{"type", "string"}, {"enum", calendar.Statuses}}
	case reflect.TypeFor[calendar.EventStatus]():
		return ordered{{"type", "string"}, {"enum", calendar.EventStatuses}}
	case reflect.TypeFor[calendar.Attendance]():
		return ordered{{"type", "string"}, {"enum", calendar.Attendances}}
	case reflect.TypeFor[represent.OrFalse]():
		return ordered{
			{"description", "The image, or false"},
			{"oneOf", []ordered{
				s.schemaOf(reflect.TypeFor[represent.Image]()), {{"type", "boolean"}, {"enum", []bool{false}}},
			}},
		}
	case reflect.TypeFor[represent.OneOrMany]():
		one := s.schemaOf(reflect.TypeFor[represent.Venue]())
		return ordered{
			{"description", "The venue; an empty list for none; a list for several"},
			{"oneOf", []ordered{one, {{"type", "array"}, {"items", one}}}},
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.schemaOf(t.Elem())
	case reflect.Struct:
		return s.structSchema(t)
	case reflect.Slice:
		return ordered{{"type", "array"}, {"items", s.schemaOf(t.Elem())}}
	case reflect.String:
		return ordered{{"type", "string"}}
	case reflect.Bool:
		return ordered{{"type", "boolean"}}
	case reflect.Int:
		return ordered{{"type", "integer"}, {"minimum", 0}, {"maximum", math.MaxInt32}}
	case reflect.Int64:
		return ordered{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"maximum", int64(math.MaxInt64)}}
	case reflect.Float64:
		return ordered{{"type", "number"}, {"format", "double"}}
	}
	panic(fmt.Sprintf("no schema for %v", t))
}

// membersOf returns the fields of a struct that become JSON members. The fields of an embedded struct replace it,
// as in package encoding/json.
func membersOf(t reflect.Type) (out []reflect.StructField) {
	for f := range t.Fields() {
		if f.Anonymous {
			out = append(out, membersOf(f.Type)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

func (s *schemas) structSchema(t reflect.Type) ordered {
	name := t.Name()
	if s.has(name) {
		return refTo("schemas", name)
	}
	at := len(s.members)
	s.members = append(s.members, member{Name: name}) // reserves its place before the types of its fields
	var required []string
	var properties ordered
	for _, f := range membersOf(t) {
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" {
			panic(fmt.Sprintf("no schema for %v: field %s has no name in JSON", t, f.Name))
		}
		schema := s.schemaOf(f.Type)
		if looks, ok := textFormats[key]; ok && (f.Type.Kind() == reflect.String || f.Type == reflect.TypeFor[*string]()) {
			schema = append(schema, looks...)
		}
		switch {
		case option == "omitempty":
		case f.Type.Kind() == reflect.Pointer:
			if f.Type.Elem().Kind() == reflect.Struct { // OpenAPI 3.0 ignores members beside a $ref
				schema = ordered{{"type", "object"}, {"allOf", []ordered{schema}}}
				s.allowNull(f.Type.Elem().Name()) // null must match each part of allOf, too
			}
			schema = append(schema, member{"nullable", true})
			fallthrough
		default:
			required = append(required, key)
		}
		properties = append(properties, member{key, schema})
	}
	schema := ordered{{"type", "object"}}
	if required != nil {
		schema = append(schema, member{"required", required})
	}
	schema = append(schema, member{"properties", properties})
	s.members[at].Value = schema
	return refTo("schemas", name)
}

// allowNull makes a schema accept null.
func (s *schemas) allowNull(name string) {
	for i, m := range s.members {
		schema, ok := m.Value.(ordered)
		if ok && m.Name == name && !slices.ContainsFunc(schema, func(m member) bool { return m.Name == "nullable" }) {
			s.members[i].Value = slices.Concat(schema, ordered{{"nullable", true}})
		}
	}
}

// textFormats maps JSON keys to the format of their text, in every object.
var textFormats = func() map[string]ordered {
	date := ordered{{"pattern", `^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`}, {"maxLength", len(time.DateTime)}}
	address := ordered{{"format", "uri"}}
	out := map[string]ordered{"language": {{"enum", calendar.Languages}}}
	for _, key := range []string{
		"date", "date_utc", "modified", "modified_utc", "start_date", "end_date", "utc_start_date", "utc_end_date", "original_start_date", "generated_until",
	} {
		out[key] = date
	}
	for _, key := range []string{"url", "rest_url", "self", "collection", "up"} {
		out[key] = address
	}
	return out
}()

// listSchema returns the schema of a list reply: a page of records with totals and links. The page has at most most
// records, in the member key.
func listSchema(key string, item ordered, most int) ordered {
	address := ordered{{"type", "string"}, {"format", "uri"}}
	count := ordered{{"type", "integer"}, {"minimum", 0}, {"maximum", int64(math.MaxInt64)}}
	return ordered{
		{"type", "object"},
		{"required", []string{key, "rest_url", "total", "total_pages"}},
		{"properties", ordered{
			{key, ordered{{"type", "array"}, {"items", item}, {"maxItems", most}}},
			{"rest_url", address},
			{"next_rest_url", address},
			{"previous_rest_url", address},
			{"total", count},
			{"total_pages", count},
		}},
	}
}

// indexSchema returns the schema of the namespace index, which lists the routes.
func indexSchema() ordered {
	text := ordered{{"type", "string"}}
	words := ordered{{"type", "array"}, {"items", text}}
	object := func(required []string, properties ordered) ordered {
		return ordered{{"type", "object"}, {"required", required}, {"properties", properties}}
	}
	links := func(name string) ordered {
		href := object([]string{"href"}, ordered{{"href", ordered{{"type", "string"}, {"format", "uri"}}}})
		return object([]string{name}, ordered{{name, ordered{{"type", "array"}, {"items", href}}}})
	}
	arg := object([]string{"description", "required"}, ordered{
		{"type", text},
		{"format", text},
		{"enum", words},
		{"items", ordered{{"type", "object"}}},
		{"default", ordered{
			{"description", "A value of the type, or null, which is the same as not sending it"},
			{"anyOf", []ordered{
				{{"type", "string"}, {"nullable", true}},
				{{"type", "number"}},
				{{"type", "boolean"}},
				{{"type", "array"}, {"items", ordered{}}},
			}},
		}},
		{"description", text},
		{"required", ordered{{"type", "boolean"}}},
	})
	endpoint := object([]string{"methods", "args"}, ordered{
		{"methods", words}, {"args", ordered{{"type", "object"}, {"additionalProperties", arg}}},
	})
	route := object([]string{"namespace", "methods", "endpoints"}, ordered{
		{"namespace", text},
		{"methods", words},
		{"endpoints", ordered{{"type", "array"}, {"items", endpoint}}},
		{"_links", links("self")},
	})
	return object([]string{"namespace", "routes", "_links"}, ordered{
		{"namespace", text},
		{"routes", ordered{{"type", "object"}, {"additionalProperties", route}}},
		{"_links", links("up")},
	})
}

// errorSchema returns the schema of an error body (contract, section 16).
func errorSchema() ordered {
	text := ordered{{"type", "string"}}
	detail := ordered{
		{"type", "object"},
		{"required", []string{"code", "message", "data"}},
		{"properties", ordered{{"code", text}, {"message", text}, {"data", ordered{{"type", "object"}}}}},
	}
	return ordered{
		{"type", "object"},
		{"required", []string{"code", "message", "data"}},
		{"properties", ordered{
			{"code", ordered{{"type", "string"}, {"description", "Code that clients may rely on"}}},
			{"message", ordered{{"type", "string"}, {"description", "Message for people, in the language of the request"}}},
			{"data", ordered{
				{"type", "object"},
				{"required", []string{"status"}},
				{"properties", ordered{
					{"status", ordered{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
					{"params", ordered{
						{"description", "Names of missing parameters, or a sentence for each invalid one"},
						{"oneOf", []ordered{
							{{"type", "array"}, {"items", text}},
							{{"type", "object"}, {"additionalProperties", text}},
						}},
					}},
					{"details", ordered{
						{"description", "Reasons of the invalid parameters that have one; an empty list if none has"},
						{"oneOf", []ordered{
							{{"type", "array"}, {"items", text}, {"maxItems", 0}},
							{{"type", "object"}, {"additionalProperties", detail}},
						}},
					}},
					{"term_id", ordered{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"maximum", int64(math.MaxInt64)}}},
					{"json_error_message", text},
				}},
			}},
		}},
	}
}

// problemSchema returns the schema of an error in application/problem+json.
func problemSchema() ordered {
	text := ordered{{"type", "string"}}
	return ordered{
		{"type", "object"},
		{"required", []string{"type", "title", "status", "detail", "instance", "code"}},
		{"properties", ordered{
			{"type", text},
			{"title", text},
			{"status", ordered{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
			{"detail", text},
			{"instance", text},
			{"code", text},
			{"errors", ordered{{"type", "array"}, {"items", ordered{
				{"type", "object"},
				{"required", []string{"parameter", "code", "detail"}},
				{"properties", ordered{{"parameter", text}, {"code", text}, {"detail", text}}},
			}}}},
		}},
	}
}
