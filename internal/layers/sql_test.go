package layers

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/ent/migrate"
)

// statementFiles maps the files that may contain table names in SQL to the reason.
var statementFiles = map[string]string{
	"proof/storetest/logged.go": "a test kit",
}

// tableNamed matches an SQL keyword such as FROM and the table name after it.
var tableNamed = regexp.MustCompile("\\b(?:FROM|JOIN|INTO|UPDATE)\\s+[`\"]?([a-z_]+)\\b")

// TestStatementsNameTablesByConstants fails for SQL literals that contain a table's name. With Ent's constants
// instead, a change of the name in the schema breaks the build everywhere.
func TestStatementsNameTablesByConstants(t *testing.T) {
	files, err := ourSources()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]bool{}
	for _, table := range migrate.Tables {
		tables[table.Name] = true
	}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") || strings.HasPrefix(f.path, "ent/") || strings.HasPrefix(f.path, "lab/") {
			continue
		}
		found := tablesNamed(f.tree, tables)
		if _, may := statementFiles[f.path]; may {
			if found == nil {
				t.Errorf("%s names no table any more: take it from the list", f.path)
			}
			continue
		}
		for _, table := range found {
			t.Errorf("%s: a statement names the table %s: use the constants of Ent", f.path, table)
		}
	}
}

// tablesNamed returns the table names that occur in the SQL literals of a file.
func tablesNamed(tree *ast.File, tables map[string]bool) (out []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		for _, match := range tableNamed.FindAllStringSubmatch(text, -1) {
			if tables[match[1]] {
				out = append(out, match[1])
			}
		}
		return true
	})
	return out
}
