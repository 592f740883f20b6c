// Package layers tests the layout of the source: imports, removals of links, tables in statements, comments of
// packages.
//
// It reads the source itself, so it needs neither a build nor the go command, and sees the files of every platform.
package layers

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const module = "github.com/almanac-cal/almanac"

// layer is a set of packages at the same height in the order of imports. A package includes the folders below it,
// unless a layer lists such a folder itself.
type layer struct {
	name     string
	packages string // paths of the packages, separated by spaces
}

// layers lists the packages from the bottom up. A package may import those of lower layers, and those of its
// own layer that sameLayerImports names. A new package is added here first.
var layers = []layer{
	{"domain", "calendar"},
	{"tables", "schema migrations"},
	{"generated", "ent"},
	{"machinery", "internal/store internal/migrate internal/auth internal/idempotency internal/jsonwrite internal/limit internal/locale internal/markup internal/media internal/param internal/ruletext internal/search internal/settings internal/sheet internal/when internal/wholefile"},
	{"reads", "internal/address internal/query internal/index internal/represent internal/feed internal/openapi internal/reply"},
	{"rules", "edit"},
	{"bulk writer", "edit/bulk"},
	{"rules of series", "edit/series"},
	{"what callers see", "internal/read"},
	{"tools", "internal/upkeep internal/importer internal/seed internal/translations internal/manual"},
	{"resources", "handlers web"},
	{"requests", "server"},
	{"program", "cmd/almanac"},
	{"test kits", "proof/storetest proof/edittest proof/apitest proof/icaltest proof/wptest proof/occurrencemodel proof/scopemodel proof/listreference proof/rightsmodel proof/draw proof/randomcalendar"},
	{"tests", "internal/layers"},
}

// sameLayerImports lists the packages of its own layer that a package may import.
var sameLayerImports = map[string]string{
	"handlers":             "web",
	"internal/ruletext":    "internal/locale",
	"internal/search":      "internal/markup",
	"internal/settings":    "internal/locale",
	"internal/migrate":     "internal/store",
	"internal/idempotency": "internal/store",
	"internal/index":       "internal/query",
	"internal/openapi":     "internal/represent",
	"internal/represent":   "internal/feed",
	"internal/reply":       "internal/index internal/query",
	"proof/edittest":       "proof/storetest",
	"proof/apitest":        "proof/storetest proof/edittest",
	"proof/randomcalendar": "proof/apitest proof/draw proof/listreference",
}

// narrowImports lists, for some packages, all packages of the module that they may import. Their layer would
// allow more.
var narrowImports = map[string]string{
	"migrations":            "",
	"web":                   "",
	"internal/address":      "calendar internal/param internal/settings",
	"internal/feed":         "calendar internal/jsonwrite internal/locale internal/markup",
	"internal/jsonwrite":    "",
	"internal/limit":        "",
	"internal/locale":       "calendar",
	"internal/markup":       "",
	"internal/media":        "calendar",
	"internal/param":        "",
	"internal/ruletext":     "calendar internal/locale",
	"internal/search":       "calendar internal/markup",
	"internal/settings":     "calendar internal/locale",
	"internal/sheet":        "",
	"internal/when":         "calendar",
	"internal/wholefile":    "",
	"internal/openapi":      "calendar internal/jsonwrite internal/locale internal/param internal/represent",
	"internal/layers":       "",
	"internal/manual":       "",
	"proof/occurrencemodel": "calendar",
	"proof/scopemodel":      "",
	"proof/listreference":   "calendar",
	"proof/rightsmodel":     "calendar",
	"proof/draw":            "",
	// It knows no resource.
	"server": "calendar handlers web internal/address internal/auth internal/idempotency internal/jsonwrite internal/limit internal/locale internal/media internal/param internal/query internal/read internal/reply internal/represent internal/settings",
}

// testImports lists further packages that tests may import: a database, the packages that write to it, and a server.
var testImports = []string{"proof/storetest", "proof/apitest", "proof/edittest", "proof/icaltest", "proof/wptest", "proof/occurrencemodel", "proof/scopemodel", "proof/listreference", "proof/rightsmodel", "proof/draw", "proof/randomcalendar", "internal/store", "internal/migrate", "internal/upkeep", "ent", "edit", "edit/bulk", "edit/series"}

// standardLibraryOnly are the packages that may not import third-party modules.
var standardLibraryOnly = []string{"internal/param"}

// moduleUsers lists the packages that may import a third-party module. The web framework stays at the edge, because it
// reuses its values after the request.
var moduleUsers = map[string][]string{
	"ariga.io/atlas":                      {"internal/migrate"},
	"github.com/gomodule/redigo":          {"internal/limit"},
	"github.com/prometheus/client_golang": {"server", "cmd/almanac"},
	"go.opentelemetry.io/otel":            {"server", "cmd/almanac"},
	"github.com/gofiber/fiber":            {"handlers", "server", "cmd/almanac", "proof/apitest"},
}

// file is a parsed source file with its path and imports.
type file struct {
	path    string // path from the root of the module, with slashes
	imports []string
	tree    *ast.File // syntax tree with comments; generated Ent code has its imports only
}

// fileSet has the positions of all source files.
var fileSet = token.NewFileSet()

// ourSources reads the source files of the module, once for all tests.
var ourSources = sync.OnceValues(func() ([]file, error) { return sources("../..") })

func TestLayers(t *testing.T) {
	files, err := ourSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no source was found")
	}
	for _, fault := range importFaults(files) {
		t.Error(fault)
	}
}

// importFaults returns a message for each import that the tables forbid, and for each folder that belongs to no
// listed package.
func importFaults(files []file) []string {
	var out []string
	unknown := map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.path)
		from := packageOf(dir)
		if from == "" {
			unknown[dir] = true
			continue
		}
		for _, name := range f.imports {
			if !isAllowed(from, strings.HasSuffix(f.path, "_test.go"), name) {
				out = append(out, fmt.Sprintf("%s: %s may not import %s", f.path, from, name))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(unknown)) {
		out = append(out, fmt.Sprintf("%s: in no layer; place it in the table", dir))
	}
	return out
}

// isAllowed reports whether a file of the package from may import the package name. test means that it is a test
// file, which may import more.
func isAllowed(from string, test bool, name string) bool {
	dir, ours := strings.CutPrefix(name, module+"/")
	if !ours {
		standard := !strings.Contains(strings.Split(name, "/")[0], ".")
		if !test && !standard && slices.Contains(standardLibraryOnly, from) {
			return false
		}
		for prefix, importers := range moduleUsers {
			if isUnder(name, prefix) && !slices.Contains(importers, from) {
				return false
			}
		}
		return true
	}
	to := packageOf(dir)
	switch {
	case to == "":
		return false
	case to == from:
		return true
	case test && slices.Contains(testImports, to):
		return true
	}
	if few, limited := narrowImports[from]; limited {
		return slices.Contains(strings.Fields(few), to)
	}
	return heightOf(to) < heightOf(from) || slices.Contains(strings.Fields(sameLayerImports[from]), to)
}

// packageOf returns the listed package to which a folder belongs. If several match, it is the one with the longest
// path. "" means none.
func packageOf(dir string) (found string) {
	for _, l := range layers {
		for _, name := range strings.Fields(l.packages) {
			if isUnder(dir, name) && len(name) > len(found) {
				found = name
			}
		}
	}
	return found
}

// heightOf returns the index of a package's layer, counted from the lowest one. -1 means that no layer lists it.
func heightOf(name string) int {
	return slices.IndexFunc(layers, func(l layer) bool { return slices.Contains(strings.Fields(l.packages), name) })
}

func isUnder(name, prefix string) bool { return name == prefix || strings.HasPrefix(name, prefix+"/") }

// sources parses all Go files below root, except for folders that the go command ignores.
func sources(root string) ([]file, error) {
	var out []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return checkFolder(root, name, d.Name())
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := file{path: filepath.ToSlash(rel)}
		mode := parser.ParseComments | parser.SkipObjectResolution
		if isGenerated(f.path) {
			mode = parser.ImportsOnly
		}
		if f.tree, err = parser.ParseFile(fileSet, name, nil, mode); err != nil {
			return err
		}
		for _, spec := range f.tree.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			f.imports = append(f.imports, imported)
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// isGenerated reports whether Ent generates a file.
func isGenerated(name string) bool {
	return strings.HasPrefix(name, "ent/") && !strings.HasPrefix(name, "ent/entc")
}

// checkFolder returns fs.SkipDir for folders that are not packages of this module, such as testdata.
func checkFolder(root, name, base string) error {
	if name == root {
		return nil
	}
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return fs.SkipDir
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	if err == nil {
		return fs.SkipDir // a module of its own
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func TestTables(t *testing.T) {
	for _, l := range layers {
		for _, name := range strings.Fields(l.packages) {
			if packageOf(name) != name {
				t.Errorf("%s stands twice, or is hidden by %s", name, packageOf(name))
			}
			if _, err := os.Stat("../../" + name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, list := range append(slices.Collect(maps.Values(moduleUsers)), testImports, standardLibraryOnly) {
		for _, name := range list {
			if heightOf(name) < 0 {
				t.Errorf("%s stands in no layer", name)
			}
		}
	}
	for from, names := range sameLayerImports {
		for _, to := range strings.Fields(names) {
			if heightOf(from) < 0 || heightOf(to) != heightOf(from) || slices.Contains(strings.Fields(sameLayerImports[to]), from) {
				t.Errorf("%s and %s do not stand beside each other, or import each other", from, to)
			}
		}
	}
	for from, names := range narrowImports {
		if heightOf(from) < 0 {
			t.Errorf("%s stands in no layer", from)
		}
		for _, to := range strings.Fields(names) {
			if heightOf(to) < 0 || heightOf(to) >= heightOf(from) && !slices.Contains(strings.Fields(sameLayerImports[from]), to) {
				t.Errorf("%s may import %s, which does not stand under it", from, to)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	const ours = module + "/"
	tests := []struct {
		name    string
		path    string
		imports string
		faults  int
	}{
		{"the standard library is everybody's", "calendar/slug.go", "strings", 0},
		{"a library of others", "calendar/slug.go", "github.com/mozillazg/go-unidecode", 0},
		{"the domain imports nothing of ours", "calendar/slug.go", ours + "internal/param", 1},
		{"a layer under it", "internal/store/store.go", ours + "ent", 0},
		{"a folder of a package under it", "edit/events.go", ours + "ent/event", 0},
		{"a folder beside it in the same package", "ent/event.go", ours + "ent/predicate", 0},
		{"a folder of a package imports what the package may", "ent/event/event.go", ours + "calendar", 0},
		{"a name that only begins alike", "enterprise/x.go", "strings", 1},
		{"a layer above it", "edit/events.go", ours + "handlers", 1},
		{"a folder with a layer of its own", "edit/bulk/loader.go", ours + "edit", 0},
		{"the package around such a folder", "edit/events.go", ours + "edit/bulk", 1},
		{"a package beside it", "internal/auth/auth.go", ours + "internal/store", 1},
		{"a package beside it that the table names", "internal/migrate/plan.go", ours + "internal/store", 0},
		{"reading does not know the rules of writing", "internal/represent/event.go", ours + "edit", 1},
		{"dates know no database", "internal/when/date.go", ours + "ent", 1},
		{"the server knows no resource", "server/server.go", ours + "edit", 1},
		{"schemas never import what is generated from them", "schema/event.go", ours + "ent", 1},
		{"the handlers import tools", "handlers/events.go", ours + "internal/importer", 0},
		{"the handlers do not import the server", "handlers/events.go", ours + "server", 1},
		{"the command imports the server", "cmd/almanac/serve.go", ours + "server", 0},
		{"a package in no layer", "utils/utils.go", "strings", 1},
		{"an import of a package in no layer", "cmd/almanac/serve.go", ours + "utils", 1},
		{"tests open databases", "internal/auth/auth_test.go", ours + "proof/storetest", 0},
		{"the program does not use what tests use", "internal/auth/auth.go", ours + "proof/storetest", 1},
		{"tests keep to the table otherwise", "internal/auth/auth_test.go", ours + "server", 1},
		{"parameters need the standard library only", "internal/param/param.go", "golang.org/x/text/language", 1},
		{"their tests may compare with others' help", "internal/param/param_test.go", "github.com/google/go-cmp/cmp", 0},
		{"Atlas in the package of migrations", "internal/migrate/lint.go", "ariga.io/atlas/sql/migrate", 0},
		{"Atlas nowhere else", "internal/store/store.go", "ariga.io/atlas/sql/migrate", 1},
		{"the database does not know its migrations", "internal/store/store.go", ours + "internal/migrate", 1},
		{"the web framework in handlers", "handlers/serve.go", "github.com/gofiber/fiber/v2", 0},
		{"the web framework nowhere else", "internal/auth/auth.go", "github.com/gofiber/fiber/v2/utils", 1},
		{"nor in a test there", "internal/auth/auth_test.go", "github.com/gofiber/fiber/v2", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := importFaults([]file{{path: tt.path, imports: []string{tt.imports}}})
			if len(got) != tt.faults {
				t.Errorf("faults %q, want %d", got, tt.faults)
			}
		})
	}
}

func TestSources(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":            "package a\nimport (\n\"os\"\nf \"fmt\"\n)\n",
		"a/a_windows.go":    "package a\nimport \"syscall\"\n",
		"a/notes.txt":       "import nothing",
		"a/testdata/bad.go": "not Go at all",
		".ci/main.go":       "package main\nimport \"os\"\n",
		"other/go.mod":      "module other\n",
		"other/other.go":    "package other\nimport \"os\"\n",
	} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []file{{path: "a/a.go", imports: []string{"os", "fmt"}}, {path: "a/a_windows.go", imports: []string{"syscall"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(file{}), cmpopts.IgnoreFields(file{}, "tree")); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
