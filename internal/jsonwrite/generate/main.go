// Generate writes functions that append structs as JSON without reflection, byte for byte as encoding/json does.
//
//	go run ../jsonwrite/generate -o append_gen.go Event Venue
//
// The named structs of the package in the working directory, and those whose comment ends with the directive
// jsonwrite:append, get the method AppendJSON. They and the structs in them
// get a function such as appendEvent. A function of that name that is written by hand is used instead. It takes the
// buffer and a pointer. The tags json give the members; the tag escape:"script" adds jsonwrite.ForScript.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "append_gen.go", "the file to write; for a _test.go file, the types of tests are read")
	flag.Parse()
	code, err := generate(".", *out, flag.Args())
	if err == nil {
		err = os.WriteFile(*out, code, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// source has the declarations of a Go package by name. The name of a method is Type.Method, and that of an import is
// the last part of its path. The package clause has the name "package".
type source map[string]ast.Node

// parse reads the Go files in a folder, except for the file out, which is about to be written. If out is a test file,
// it reads the test files.
func parse(dir, out string) (source, error) {
	s := source{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		if filepath.Base(file) == out || strings.HasSuffix(file, "_test.go") != strings.HasSuffix(out, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s["package"] = tree.Name
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				s[path.Base(strings.Trim(n.Path.Value, `"`))] = n
			case *ast.GenDecl:
				if isMarked(n) {
					s[markedTypes] = &ast.GenDecl{Specs: append(s.marked(), n.Specs...)}
				}
			case *ast.TypeSpec:
				s[n.Name.Name] = n
			case *ast.FuncDecl:
				name := n.Name.Name
				if n.Recv != nil {
					name = strings.TrimPrefix(types.ExprString(n.Recv.List[0].Type), "*") + "." + name
				}
				s[name] = n
				return false
			}
			return true
		})
	}
	return s, err
}

// markedTypes is the name of the types with the directive append.
const markedTypes = "marked types"

// isMarked reports whether the comment of a declaration has the directive append. The generator writes a function for
// such a type.
func isMarked(d *ast.GenDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return c.Text == "//jsonwrite:append" })
}

// marked returns the types with the directive append, sorted by file.
func (s source) marked() []ast.Spec {
	if d, ok := s[markedTypes].(*ast.GenDecl); ok {
		return d.Specs
	}
	return nil
}

// underlying returns the type that a type name stands for. It returns an error for structs and similar types of other
// packages.
func (s source) underlying(t ast.Expr) (ast.Expr, error) {
	switch n := t.(type) {
	case *ast.Ident:
		if cmp.Or(s[n.Name+".MarshalJSON"], s[n.Name+".MarshalText"]) != nil {
			return nil, fmt.Errorf("the type %s encodes itself", n.Name)
		}
		if declared, ok := s[n.Name].(*ast.TypeSpec); ok {
			return s.underlying(declared.Type)
		}
	case *ast.SelectorExpr:
		imported, ok := s[types.ExprString(n.X)].(*ast.ImportSpec)
		if !ok {
			return nil, fmt.Errorf("the import of %s has another name", types.ExprString(t))
		}
		found, err := build.Import(strings.Trim(imported.Path.Value, `"`), ".", build.FindOnly)
		if err != nil {
			return nil, err
		}
		other, err := parse(found.Dir, "")
		if err != nil {
			return nil, err
		}
		u, err := other.underlying(n.Sel)
		if _, isName := u.(*ast.Ident); err == nil && !isName {
			return nil, fmt.Errorf("the type %s of another package has parts", types.ExprString(t))
		}
		return u, err
	}
	return t, nil
}

// generator writes the code of a package's generated functions to body.
type generator struct {
	source
	body    bytes.Buffer
	structs []string // structs that need a function
}

func (g *generator) printf(text string, values ...any) { fmt.Fprintf(&g.body, text, values...) }

// generate returns the code of the file out for some structs of the package in dir.
func generate(dir, out string, shapes []string) ([]byte, error) {
	s, err := parse(dir, out)
	if err != nil {
		return nil, err
	}
	g := &generator{source: s}
	for _, t := range s.marked() {
		shapes = append(shapes, t.(*ast.TypeSpec).Name.Name)
	}
	for _, name := range shapes {
		call := g.call("b", "j", ast.NewIdent(name))
		if call == "" {
			return nil, fmt.Errorf("%s is no struct", name)
		}
		g.printf("\n// AppendJSON implements jsonwrite.Appender.\nfunc (j %s) AppendJSON(b []byte) []byte { return %s }\n", name, call)
	}
	for i := 0; i < len(g.structs); i++ {
		name := g.structs[i]
		g.printf("\nfunc %s(b []byte, j *%s) []byte {\no := jsonwrite.Begin(b)\n", appender(name), name)
		if err := g.members(name, "j", map[string]bool{}); err != nil {
			return nil, err
		}
		g.printf("return o.End()\n}\n")
	}
	head := fmt.Sprintf("// Code generated by internal/jsonwrite/generate. DO NOT EDIT.\n\npackage %s\n\nimport (\n", s["package"])
	if bytes.Contains(g.body.Bytes(), []byte("strconv.")) {
		head += "\"strconv\"\n\n"
	}
	head += "\"github.com/almanac-cal/almanac/internal/jsonwrite\"\n)\n"
	return format.Source(append([]byte(head), g.body.Bytes()...))
}

// appender returns the name of the generated function for a type.
func appender(t string) string {
	name := t[strings.LastIndexByte(t, '.')+1:]
	return "append" + strings.ToUpper(name[:1]) + name[1:]
}

// call returns Go code that calls the function which appends a value of type t. "" means that there is no such
// function.
func (g *generator) call(buffer, value string, t ast.Expr) string {
	name := types.ExprString(t)
	if _, isPointer := t.(*ast.StarExpr); isPointer || g.source[appender(name)] == nil {
		u, _ := g.underlying(t)
		if _, isStruct := u.(*ast.StructType); !isStruct || u == t {
			return ""
		}
		if !slices.Contains(g.structs, name) {
			g.structs = append(g.structs, name)
		}
	}
	address, isPointer := strings.CutPrefix(value, "*")
	if !isPointer {
		address = "&" + value
	}
	return fmt.Sprintf("%s(%s, %s)", appender(name), buffer, address)
}

// members writes code that appends the members of a struct. value is the Go expression of the struct, and seen has
// the names of the members that are written already.
func (g *generator) members(name, value string, seen map[string]bool) error {
	u, err := g.underlying(ast.NewIdent(name))
	structure, ok := u.(*ast.StructType)
	if !ok {
		return cmp.Or(err, fmt.Errorf("the type %s is no struct of the package", name))
	}
	for _, field := range structure.Fields.List {
		var tag reflect.StructTag
		if field.Tag != nil {
			tag = reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		}
		names := field.Names
		if names == nil {
			embedded := types.ExprString(field.Type)
			names = []*ast.Ident{ast.NewIdent(embedded[strings.LastIndexAny(embedded, ".*")+1:])}
		}
		for _, n := range names {
			of := value + "." + n.Name
			if field.Names == nil && tag.Get("json") == "" {
				err = g.members(types.ExprString(field.Type), of, seen)
			} else {
				err = g.member(n.Name, of, field.Type, tag, seen)
			}
			if err != nil {
				return fmt.Errorf("%s.%s: %w", name, n.Name, err)
			}
		}
	}
	return nil
}

// plainName matches names of members that need no escaping.
var plainName = regexp.MustCompile(`^[\w@$.:/-]+$`)

func (g *generator) member(name, value string, t ast.Expr, tag reflect.StructTag, seen map[string]bool) error {
	key, option, _ := strings.Cut(tag.Get("json"), ",")
	if key == "-" || !ast.IsExported(name) {
		return nil
	}
	key = cmp.Or(key, name)
	if seen[key] || !plainName.MatchString(key) || option != "" && option != "omitempty" {
		return fmt.Errorf("the name %q is taken or needs escaping, or the option %q is unknown", key, option)
	}
	seen[key] = true
	u, err := g.underlying(t)
	if err != nil && (option != "" || g.call("", "", t) == "") {
		return err
	}
	if condition := isSet(u, value); option != "" && condition != "" {
		g.printf("if %s {\n", condition)
		defer g.printf("}\n")
		if star, isPointer := u.(*ast.StarExpr); isPointer {
			t, value = star.X, "*"+value
		}
	}
	g.printf("o.Key(%q)\n", key)
	switch call := g.call("o.B", value, t); {
	case tag.Get("escape") == "":
		return g.value("o.B", value, t)
	case tag.Get("escape") == "script" && call != "":
		g.printf("o.B = jsonwrite.ForScript(%s, len(o.B))\n", call)
		return nil
	}
	return fmt.Errorf("escape %q of the type %s", tag.Get("escape"), types.ExprString(t))
}

// isSet returns Go code for a condition. It is false if encoding/json would omit the value because of omitempty. ""
// means that encoding/json never omits it.
func isSet(underlying ast.Expr, value string) string {
	switch u := underlying.(type) {
	case *ast.StructType:
		return ""
	case *ast.ArrayType, *ast.MapType:
		return "len(" + value + ") > 0"
	case *ast.Ident:
		zeros := map[string]string{"bool": " != false", "string": ` != ""`, "any": " != nil"}
		return value + cmp.Or(zeros[u.Name], " != 0")
	}
	return value + " != nil"
}

var (
	integer = [2]string{"strconv.AppendInt(%s, %s, 10)", "int64"}
	// basics has, for each predeclared type, the function that appends it and the type of the argument. uint8 is left out,
	// because encoding/json writes []uint8 as base64.
	basics = map[string][2]string{
		"string": {"jsonwrite.String(%s, %s)", "string"}, "bool": {"strconv.AppendBool(%s, %s)", "bool"},
		"float64": {"jsonwrite.Float(%s, %s)", "float64"}, "uint16": integer, "uint32": integer,
		"int": integer, "int8": integer, "int16": integer, "int32": integer, "int64": integer,
	}
)

// value writes statements that append a value to a buffer.
func (g *generator) value(buffer, value string, t ast.Expr) error {
	if call := g.call(buffer, value, t); call != "" {
		g.printf("%s = %s\n", buffer, call)
		return nil
	}
	u, err := g.underlying(t)
	null := fmt.Sprintf("if %s == nil {\n%s = append(%[2]s, \"null\"...)\n} else {\n", value, buffer)
	switch n := u.(type) {
	case *ast.StarExpr:
		g.printf("%s", null)
		defer g.printf("}\n")
		return g.value(buffer, "*"+value, n.X)
	case *ast.ArrayType:
		element := types.ExprString(n.Elt)
		switch {
		case n.Len != nil:
		case element == "string":
			g.printf("%s = jsonwrite.Strings(%[1]s, %s)\n", buffer, value)
			return nil
		case g.call("", "", n.Elt) != "":
			g.printf("%s = jsonwrite.List(%[1]s, %s, %s)\n", buffer, value, appender(element))
			return nil
		default:
			g.printf("%s%s = append(%[2]s, '[')\nfor i, item := range %s {\nif i > 0 {\n%[2]s = append(%[2]s, ',')\n}\n", null, buffer, value)
			defer g.printf("}\n%s = append(%[1]s, ']')\n}\n", buffer)
			return g.value(buffer, "item", n.Elt)
		}
	case *ast.Ident:
		if b, ok := basics[n.Name]; ok {
			if types.ExprString(t) != b[1] {
				value = b[1] + "(" + value + ")"
			}
			g.printf("%s = "+b[0]+"\n", buffer, buffer, value)
			return nil
		}
	}
	return cmp.Or(err, fmt.Errorf("no rule for the type %s", types.ExprString(t)))
}
