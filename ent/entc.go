//go:build ignore

// Command entc generates package ent, with the templates in the folder template.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"text/template"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
	"golang.org/x/tools/imports"
)

func main() {
	err := entc.Generate("../schema", &gen.Config{Target: ".", Package: "github.com/almanac-cal/almanac/ent"},
		entc.FeatureNames("sql/versioned-migration", "sql/upsert", "sql/execquery", "sql/modifier", "sql/lock"),
		entc.Extensions(readers{}))
	if err != nil {
		log.Fatal(err)
	}
}

// readers generates the reading of pages, and leaves out what the product does not use.
type readers struct{ entc.DefaultExtension }

// funcs are the functions of templates.
var funcs = map[string]any{
	"annotated": annotated, "texts": texts, "readable": readable, "readColumns": readColumns, "image": image,
	"links": links, "linkColumns": linkColumns, "textColumns": textColumns, "translations": translations, "title": title,
	"apiFields": apiFields, "plainFields": plainFields, "hasDefault": hasDefault, "named": namedTypes, "fieldOf": fieldOf,
	"searched": searched, "representation": representationOf,
}

// outsideFiles are the files that templates of a folder write in other packages, by the name of the template.
var outsideFiles = map[string]string{
	"calendar": "../calendar/schema.go", "represent": "../internal/represent/plain_fields_gen.go",
}

// write writes a file in another package.
func write(g *gen.Graph, name, file string) error {
	t, err := template.New(name).Funcs(template.FuncMap(gen.Funcs)).Funcs(funcs).ParseFiles("template/outside/" + name + ".tmpl")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, name+".tmpl", g); err != nil {
		return err
	}
	out, err := imports.Process(file, text.Bytes(), nil)
	if err != nil {
		return err
	}
	return os.WriteFile(file, out, 0o644)
}

// Templates implements entc.Extension.
func (readers) Templates() []*gen.Template {
	return []*gen.Template{gen.MustParse(gen.NewTemplate("readers").Funcs(funcs).ParseGlob("template/*.tmpl"))}
}

// Hooks implements entc.Extension.
func (readers) Hooks() []gen.Hook {
	return []gen.Hook{func(next gen.Generator) gen.Generator {
		return gen.GenerateFunc(func(g *gen.Graph) error {
			if err := next.Generate(g); err != nil {
				return err
			}
			for name, file := range outsideFiles {
				if err := write(g, name, file); err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			}
			for _, unused := range []string{"enttest", "hook"} {
				if err := os.RemoveAll(unused); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}

// annotated reports whether the schema annotates a type or a field with a name.
func annotated(annotations gen.Annotations, name string) bool {
	_, ok := annotations[name]
	return ok
}

// texts returns the types with texts in several languages: events, venues, organizers and terms.
func texts(g *gen.Graph) (out []*gen.Type) {
	for _, t := range g.Nodes {
		if translations(t) != nil {
			out = append(out, t)
		}
	}
	return out
}

// namedTypes returns the types of published records with a name. Those that events are linked to are first, in the order of the
// links.
func namedTypes(g *gen.Graph) (out []*gen.Type) {
	for _, t := range g.Nodes {
		if t.Name == "Event" {
			for _, l := range links(t) {
				if l.Position != "0" {
					out = append(out, l.Type)
				}
			}
		}
	}
	for _, t := range texts(g) {
		if fieldOf(t, "name") != nil && fieldOf(t, "status") != nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// fieldOf returns the field of a type with a name, or nil.
func fieldOf(t *gen.Type, name string) *gen.Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// searched returns the fields of the API that searches find in all languages: the texts of a type with a name.
func searched(t *gen.Type) (out []*apiField, err error) {
	all, err := apiFields(t)
	for _, f := range all {
		if c := f.Column(); fieldOf(t, "name") != nil && c.IsString() && !c.HasGoType() && f.Text == nil {
			out = append(out, f)
		}
	}
	return out, err
}

// representationType has what the schema says of a type whose representation is generated (schema.representation).
type representationType struct{ Doc, SchemaOrg string }

// representationOf returns the representationType of a type, nil if its representation is written by hand.
func representationOf(t *gen.Type) (*representationType, error) {
	annotation, ok := t.Annotations["Representation"]
	if !ok {
		return nil, nil
	}
	text, err := json.Marshal(annotation)
	if err != nil {
		return nil, err
	}
	var s representationType
	return &s, json.Unmarshal(text, &s)
}

// readable reports whether pages are read with rows of a type.
func readable(t *gen.Type) bool { return translations(t) != nil || t.Name == "Image" }

// edgeOf returns the edge of a type with a name, or nil.
func edgeOf(t *gen.Type, name string) *gen.Edge {
	for _, e := range t.Edges {
		if e.Name == name {
			return e
		}
	}
	return nil
}

func translations(t *gen.Type) *gen.Edge { return edgeOf(t, "translations") }
func image(t *gen.Type) *gen.Edge        { return edgeOf(t, "image") }

// title returns the field with what a record is called: its name, or the title of an event.
func title(t *gen.Type) (*gen.Field, error) {
	for _, f := range t.Fields {
		if f.Name == "title" || f.Name == "name" {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s has no title", t.Name)
}

// readColumns returns the fields that a page is read with, the id first.
func readColumns(t *gen.Type) (out []*gen.Field, err error) {
	for _, f := range append([]*gen.Field{t.ID}, t.Fields...) {
		if annotated(f.Annotations, "Unread") {
			continue
		}
		if f.Optional && !f.Nillable && !f.IsJSON() && !f.IsBytes() {
			return nil, fmt.Errorf("%s.%s may be NULL, which its type cannot express: make it Nillable", t.Name, f.Name)
		}
		out = append(out, f)
	}
	return out, nil
}

// link is an edge to records that a page is read with.
type link struct {
	*gen.Edge
	// Owner and Target are the columns of the table of links, Position is that of the order or 0.
	Owner, Target, Position string
}

// links returns the edges of a type to others with texts.
func links(t *gen.Type) (out []link) {
	for _, e := range t.Edges {
		if e.Through == nil || e.IsInverse() {
			continue
		}
		l := link{Edge: e, Owner: e.Rel.Columns[0], Target: e.Rel.Columns[1], Position: "0"}
		for _, f := range e.Through.Fields {
			if f.Name == "position" {
				l.Position = "l." + f.StorageKey()
			}
		}
		out = append(out, l)
	}
	return out
}

// sharedColumn is a column of a statement that reads several types.
type sharedColumn struct {
	*gen.Field
	// Of has a value for each type: the name of the column, or what stands for it where a type lacks it.
	Of []string
}

// linkColumns returns the columns of the statement that reads what a type is linked to.
func linkColumns(t *gen.Type) ([]*sharedColumn, error) {
	var types []*gen.Type
	for _, l := range links(t) {
		types = append(types, l.Type)
	}
	return shared(types, func(*gen.Type, string) bool { return false })
}

// textColumns returns the columns of the statement that reads translations. Their own ids and owners are not among them.
func textColumns(g *gen.Graph) ([]*sharedColumn, error) {
	var types []*gen.Type
	owners := make(map[*gen.Type]string)
	for _, t := range texts(g) {
		e := translations(t)
		types = append(types, e.Type)
		owners[e.Type] = e.Rel.Column()
	}
	return shared(types, func(t *gen.Type, column string) bool { return column == t.ID.StorageKey() || column == owners[t] })
}

// shared returns the columns of a statement about some types, whose tables have the alias t. Columns of the same name share
// a place.
func shared(types []*gen.Type, skip func(*gen.Type, string) bool) (out []*sharedColumn, err error) {
	all := make(map[string]*sharedColumn)
	times := make([]string, len(types))
	for i, t := range types {
		fields, err := readColumns(t)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			name := f.StorageKey()
			if skip(t, name) {
				continue
			}
			if all[name] == nil {
				all[name] = &sharedColumn{f, make([]string, len(types))}
				out = append(out, all[name])
			}
			if first := all[name].Field; first.Type.String() != f.Type.String() || first.Nillable != f.Nillable {
				return nil, fmt.Errorf("%s.%s: a column of this name has another type elsewhere", t.Name, name)
			}
			all[name].Of[i] = "t." + name
			if f.IsTime() && !f.Nillable {
				times[i] = "t." + name
			}
		}
	}
	for _, c := range out {
		for i, t := range types {
			switch {
			case c.Of[i] != "":
			case c.Nillable || c.IsJSON() || c.IsBytes():
				c.Of[i] = "NULL"
			case c.IsTime(): // SQLite recognises a time by its column
				c.Of[i] = times[i]
			case c.IsString():
				c.Of[i] = "''"
			case c.IsBool() || c.Type.Type.Numeric():
				c.Of[i] = "0"
			}
			if c.Of[i] == "" {
				return nil, fmt.Errorf("%s: no value stands for the column %s", t.Name, c.StorageKey())
			}
		}
	}
	return out, nil
}

// apiField is a field of the API: the columns with its value, and what the schema says of it (schema.api).
type apiField struct {
	Key, Doc                        string
	Sample                          any
	Min, Max                        int
	Address, Ruled, Placed, Guarded bool

	Columns []*gen.Field
	Text    *gen.Field // column of the translation; nil if the value is the same in all languages
}

// Column returns the first column of the field.
func (f *apiField) Column() *gen.Field { return f.Columns[0] }

// apiFields returns the fields of the API that a type has columns for, in their order.
func apiFields(t *gen.Type) (out []*apiField, err error) {
	for _, column := range t.Fields {
		annotation, ok := column.Annotations["API"]
		if !ok {
			continue
		}
		text, err := json.Marshal(annotation)
		if err != nil {
			return nil, err
		}
		f := &apiField{Columns: []*gen.Field{column}}
		if err := json.Unmarshal(text, f); err != nil {
			return nil, err
		}
		if f.Key == "" {
			f.Key = column.StorageKey()
		}
		if e := translations(t); e != nil {
			for _, other := range e.Type.Fields {
				if other.Name == column.Name {
					f.Text = other
				}
			}
		}
		if len(out) > 0 && out[len(out)-1].Key == f.Key {
			last := out[len(out)-1]
			last.Columns = append(last.Columns, column)
			continue
		}
		if fault := f.fault(); fault != "" && !f.Ruled {
			return nil, fmt.Errorf("%s.%s: %s", t.Name, column.Name, fault)
		}
		out = append(out, f)
	}
	return out, nil
}

// fault returns why a field cannot be without rules of its own, "" if it can.
func (f *apiField) fault() string {
	switch c := f.Column(); {
	case f.Doc == "":
		return "it has no Doc"
	case c.Nillable || c.Optional:
		return "a column that may be NULL needs rules"
	case c.IsBool(), c.IsString():
		return ""
	case c.Type.String() != "int":
		return "a " + c.Type.String() + " needs rules"
	case f.Max <= f.Min:
		return "an integer needs a Max above its Min"
	}
	return ""
}

// plainFields returns those of apiFields without rules of their own.
func plainFields(t *gen.Type) (out []*apiField, err error) {
	all, err := apiFields(t)
	for _, f := range all {
		if !f.Ruled {
			out = append(out, f)
		}
	}
	return out, err
}

// hasDefault reports whether the default of a column differs from the zero value of its type.
func hasDefault(f *gen.Field) bool {
	if !f.Default || f.IsTime() {
		return false
	}
	v := f.DefaultValue()
	return v != nil && !reflect.ValueOf(v).IsZero()
}
