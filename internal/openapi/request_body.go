package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/internal/param"
)

// requestBody returns the OpenAPI object for the body of a write. It describes the fields as JSON and as a form.
// Only multipart forms can contain files.
func (d *description) requestBody(p *Route, e *Endpoint, fields []*param.Param) ordered {
	isFile := func(f *param.Param) bool { return f.Format == "binary" }
	verb := "update"
	switch {
	case e.Success == http.StatusCreated:
		verb = "create"
	case p.isPreview():
		verb = "preview"
	}
	name := capitalise(string(p.Kind)) + capitalise(verb)
	if p.isPreview() {
		name += "Fields" // the schema of the reply has the plain name
	}
	clears := e.cleared(d.api.Now, fields)
	texts := slices.DeleteFunc(slices.Clone(fields), isFile)
	schema := d.schemas.add(name, bodySchema(texts, clears))
	form := ordered{{"schema", schema}}
	if encoding := formEncodings(texts); encoding != nil {
		form = append(form, member{"encoding", encoding})
	}
	content := ordered{
		{"application/json", ordered{{"schema", schema}, {"example", p.bodyExample(verb, texts)}}},
		{"application/x-www-form-urlencoded", form},
	}
	if len(texts) < len(fields) {
		content = append(content, member{
			"multipart/form-data",
			ordered{{"schema", d.schemas.add(name+"File", bodySchema(fields, clears))}},
		})
	}
	return ordered{{"required", e.Success == http.StatusCreated || p.isPreview()}, {"content", content}}
}

// bodySchema returns the schema of an object with the given fields. A field accepts null if clears is true for its
// name. An optional field also accepts null if its published default is null.
func bodySchema(fields []*param.Param, clears map[string]bool) ordered {
	var required []string
	var properties ordered
	for _, f := range fields {
		if f.IsRequired {
			required = append(required, f.Name)
		}
		nullable := clears[f.Name] || f.HasDefault && f.Published == nil && !f.IsRequired
		schema := withLimits(valueSchema(f, nullable), bodyLimits)
		for i := range schema {
			// Generators make a field with a default required.
			if schema[i].Name == "default" {
				schema[i].Name = "x-default"
			}
		}
		properties = append(properties, member{f.Name, append(schema, member{"description", f.Description})})
	}
	schema := ordered{{"type", "object"}}
	if required != nil {
		schema = append(schema, member{"required", required})
	}
	return append(schema, member{"properties", properties})
}

// formEncodings returns the encodings of a form: lists are sent as one value with commas.
func formEncodings(fields []*param.Param) ordered {
	var out ordered
	for _, f := range fields {
		if f.Type == "array" {
			out = append(out, member{f.Name, ordered{{"style", "form"}, {"explode", false}}})
		}
	}
	return out
}

// cleared returns the names of the fields whose value a client can remove by sending null. It finds them by parsing
// a request in which all fields are null.
func (e *Endpoint) cleared(now time.Time, fields []*param.Param) map[string]bool {
	nulls := make(map[string]any, len(fields))
	for _, f := range fields {
		nulls[f.Name] = nil
	}
	set := param.NewSet(now, e.In, nil, nulls)
	e.Declare(set)
	// A missing required parameter ends parsing before any value is read.
	var nothing string
	set.PathString(&nothing, "", "")
	var missing param.Missing
	if err := set.Parse(context.Background()); !errors.As(err, &missing) {
		panic(fmt.Sprintf("nulls of %s: %v", e.Summary, err))
	}
	clears := make(map[string]bool)
	for name := range nulls {
		clears[name] = set.Sent(name)
	}
	return clears
}
