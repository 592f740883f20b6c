package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerateRefusesWhatItCannotWrite generates code for types that the generator does not support. It must return
// an error.
func TestGenerateRefusesWhatItCannotWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, declarations string
		want               string // part of the code, or of the error
		refused            bool
	}{
		{"a text", "type Shape struct { A string `json:\"a\"` }", "o.Key(\"a\")\n\to.B = jsonwrite.String(o.B, j.A)", false},
		{"an empty number is omitted", "type Shape struct { A int `json:\"a,omitempty\"` }", "if j.A != 0 {", false},
		{"null", "type Shape struct { A *bool `json:\"a\"` }", "if j.A == nil {\n\t\to.B = append(o.B, \"null\"...)", false},
		{"a named text", "type Word string\ntype Shape struct { A Word `json:\"a\"` }", "jsonwrite.String(o.B, string(j.A))", false},
		{"members of an embedded struct", "type More struct { B int `json:\"b\"` }\ntype Shape struct { More }", "o.Key(\"b\")\n\to.B = strconv.AppendInt(o.B, int64(j.More.B), 10)", false},
		{"a list of structs", "type Part struct{}\ntype Shape struct { A []Part `json:\"a\"` }", "jsonwrite.List(o.B, j.A, appendPart)", false},
		{"no member", "type Shape struct { A chan int `json:\"-\"`; b chan int }", "return o.End()", false},
		{"a map", "type Shape struct { A map[string]int `json:\"a\"` }", "Shape.A", true},
		{"a channel", "type Shape struct { A chan int `json:\"a\"` }", "Shape.A", true},
		{"bytes", "type Shape struct { A []byte `json:\"a\"` }", "Shape.A", true},
		{"an unknown option", "type Shape struct { A int `json:\"a,omitzero\"` }", "omitzero", true},
		{"a name twice", "type More struct { A int `json:\"a\"` }\ntype Shape struct { A int `json:\"a\"`; More }", "Shape.More", true},
		{"a name that needs escaping", "type Shape struct { A int `json:\"a<\"` }", "Shape.A", true},
		{"a type that encodes itself", "type Own struct{}\nfunc (Own) MarshalJSON() ([]byte, error) { return nil, nil }\ntype Shape struct { A Own `json:\"a\"` }", "encodes itself", true},
		{"no struct", "type Shape int", "Shape is no struct", true},
		{"an unknown type", "type Other struct{}", "Shape is no struct", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "shape.go"), []byte("package shape\n\n"+tt.declarations+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			code, err := generate(dir, "append_gen.go", []string{"Shape"})
			got := string(code)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != tt.refused || !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %q", got, tt.want)
			}
		})
	}
}
