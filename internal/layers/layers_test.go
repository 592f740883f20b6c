// Package layers tests the layout of the source: who imports whom, who may remove links, what a package says it owns.
//
// It reads the source itself, so it needs neither a build nor the go command, and sees the files of every platform.
package layers

import (
	"errors"
	"fmt"
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
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/almanac-cal/almanac"

// layer is a package and the packages of ours that it may import. What lies in folders under it stands where
// it stands.
type layer struct {
	name string
	may  string // names, separated by spaces; "*" is every layer above this one
}

// layers is the order of the program: arrows go up the list only. A new package is placed here first.
var layers = []layer{
	{"calendar", ""},
	{"migrations", ""},
	{"web", ""},
	{"internal/param", ""},
	{"internal/markup", ""},
	{"internal/limit", ""},
	{"internal/jsonwrite", ""},
	{"internal/layers", ""},
	{"internal/licences", ""},
	{"internal/manual", ""},
	{"internal/when", "calendar"},
	{"internal/locale", "calendar"},
	{"internal/media", "calendar"},
	{"internal/search", "calendar internal/markup"},
	{"schema", "calendar"},
	{"ent", "schema calendar"},
	{"internal/store", "ent calendar"},
	{"internal/migrate", "ent internal/store migrations"},
	{"internal/auth", "ent calendar"},
	{"internal/idempotency", "ent internal/store calendar"},
	{"internal/query", "ent calendar internal/search"},
	{"edit", "internal/auth ent internal/store calendar internal/when internal/markup internal/param internal/search"},
	{"internal/load", "edit internal/auth ent internal/store calendar internal/markup"},
	{"internal/upkeep", "edit ent calendar"},
	{"internal/index", "ent internal/store calendar internal/search internal/query"},
	{"internal/translations", "edit internal/auth ent internal/store calendar internal/when internal/locale internal/markup"},
	{"internal/importer", "edit internal/auth ent internal/store calendar internal/when internal/locale internal/markup internal/media internal/param"},
	{"internal/seed", "edit internal/load internal/auth ent internal/store calendar internal/when internal/locale internal/markup internal/media"},
	{"internal/represent", "internal/auth ent calendar internal/jsonwrite internal/locale internal/markup"},
	{"internal/openapi", "calendar internal/jsonwrite internal/locale internal/param internal/represent"},
	{"handlers", "*"},
	{"server", "handlers internal/auth calendar internal/limit internal/locale internal/param internal/media internal/idempotency internal/jsonwrite internal/represent web"},
	{"cmd/almanac", "*"},
	{"internal/storetest", "*"},
	{"internal/edittest", "*"},
	{"internal/apitest", "*"},
}

// testsMay is what a test may import besides: a database, what writes to it, and a server on one.
var testsMay = []string{"internal/storetest", "internal/apitest", "internal/store", "internal/migrate", "ent", "edit", "internal/edittest", "internal/upkeep"}

// standardOnly are packages without dependencies of others'.
var standardOnly = []string{"internal/param"}

// users says who alone may import a module of others'. The web framework stays at the edge, so that nothing
// else holds a value that it reuses after the request.
var users = map[string][]string{
	"ariga.io/atlas":                      {"internal/migrate"},
	"github.com/redis/go-redis":           {"internal/limit"},
	"github.com/prometheus/client_golang": {"server", "cmd/almanac"},
	"go.opentelemetry.io/otel":            {"server", "cmd/almanac"},
	"github.com/gofiber/fiber":            {"handlers", "server", "cmd/almanac", "internal/apitest"},
}

// file is a source file and what it imports.
type file struct {
	path    string // from the root, with slashes
	imports []string
}

func TestLayers(t *testing.T) {
	files, err := sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no source was found")
	}
	for _, fault := range faults(files) {
		t.Error(fault)
	}
}

// faults returns a sentence for each import that the tables forbid, and one for each package they do not know.
func faults(files []file) []string {
	var out []string
	unknown := map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.path)
		from := place(dir)
		if from < 0 {
			unknown[dir] = true
			continue
		}
		for _, name := range f.imports {
			if !allowed(from, strings.HasSuffix(f.path, "_test.go"), name) {
				out = append(out, fmt.Sprintf("%s: %s may not import %s", f.path, layers[from].name, name))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(unknown)) {
		out = append(out, fmt.Sprintf("%s: in no layer; place it in the table", dir))
	}
	return out
}

// allowed reports whether a file of the layer at index from may import the package name.
func allowed(from int, test bool, name string) bool {
	here := layers[from].name
	dir, ours := strings.CutPrefix(name, module+"/")
	if !ours {
		standard := !strings.Contains(strings.Split(name, "/")[0], ".")
		if !test && !standard && slices.Contains(standardOnly, here) {
			return false
		}
		for prefix, who := range users {
			if under(name, prefix) && !slices.Contains(who, here) {
				return false
			}
		}
		return true
	}
	to := place(dir)
	switch {
	case to < 0:
		return false
	case to == from:
		return true
	case test && slices.Contains(testsMay, layers[to].name):
		return true
	case layers[from].may == "*":
		return to < from
	}
	return slices.Contains(strings.Fields(layers[from].may), layers[to].name)
}

// place is the index of the layer that a folder belongs to, -1 for none.
func place(dir string) int {
	return slices.IndexFunc(layers, func(l layer) bool { return under(dir, l.name) })
}

func under(name, prefix string) bool { return name == prefix || strings.HasPrefix(name, prefix+"/") }

// sources reads the imports of every Go file below root that the go command would look at.
func sources(root string) ([]file, error) {
	var out []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, name, d.Name())
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := file{path: filepath.ToSlash(rel)}
		for _, spec := range parsed.Imports {
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

// enter returns fs.SkipDir for folders that are no packages of this module.
func enter(root, name, base string) error {
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

func TestTable(t *testing.T) {
	for i, l := range layers {
		if place(l.name) != i {
			t.Errorf("%s is hidden by an earlier layer", l.name)
		}
		if l.may == "*" {
			continue
		}
		for _, name := range strings.Fields(l.may) {
			if to := slices.IndexFunc(layers, func(l layer) bool { return l.name == name }); to < 0 || to >= i {
				t.Errorf("%s may import %s, which does not stand above it", l.name, name)
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
		{"a listed layer", "internal/store/store.go", ours + "ent", 0},
		{"a folder under a listed layer", "edit/events.go", ours + "ent/event", 0},
		{"a folder beside it in the same layer", "ent/event.go", ours + "ent/predicate", 0},
		{"a folder of the layer imports what the layer may", "ent/event/event.go", ours + "calendar", 0},
		{"a name that only begins alike", "enterprise/x.go", "strings", 1},
		{"an import down the list", "edit/events.go", ours + "handlers", 1},
		{"schemas never import what is generated from them", "schema/event.go", ours + "ent", 1},
		{"the handlers import all above", "handlers/events.go", ours + "internal/importer", 0},
		{"the handlers do not import the server", "handlers/events.go", ours + "server", 1},
		{"the command imports the server", "cmd/almanac/serve.go", ours + "server", 0},
		{"a package in no layer", "utils/utils.go", "strings", 1},
		{"an import of a package in no layer", "cmd/almanac/serve.go", ours + "utils", 1},
		{"tests open databases", "internal/auth/auth_test.go", ours + "internal/storetest", 0},
		{"the program does not use what tests use", "internal/auth/auth.go", ours + "internal/storetest", 1},
		{"tests keep to the table otherwise", "internal/auth/auth_test.go", ours + "server", 1},
		{"parameters need the standard library only", "internal/param/param.go", "golang.org/x/text/language", 1},
		{"their tests may compare with others' help", "internal/param/param_test.go", "github.com/google/go-cmp/cmp", 0},
		{"Atlas in the package of migrations", "internal/migrate/lint.go", "ariga.io/atlas/sql/migrate", 0},
		{"Atlas nowhere else", "internal/store/store.go", "ariga.io/atlas/sql/migrate", 1},
		{"the database does not know its migrations", "internal/store/store.go", ours + "internal/migrate", 1},
		{"the web framework in handlers", "handlers/route.go", "github.com/gofiber/fiber/v2", 0},
		{"the web framework nowhere else", "internal/auth/auth.go", "github.com/gofiber/fiber/v2/utils", 1},
		{"nor in a test there", "internal/auth/auth_test.go", "github.com/gofiber/fiber/v2", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := faults([]file{{tt.path, []string{tt.imports}}})
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
	want := []file{{"a/a.go", []string{"os", "fmt"}}, {"a/a_windows.go", []string{"syscall"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
