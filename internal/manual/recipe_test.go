package manual

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecipesInsertAfterOneLine checks that each block of docs/recipes.md has exactly one place where it can be
// inserted. CI also follows the recipes in a copy of the source tree.
func TestRecipesInsertAfterOneLine(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Add a filter", "Add a field", "Add a resource"} {
		steps, err := Steps(string(page), title)
		if err != nil {
			t.Errorf("%s: %v", title, err)
		}
		for _, s := range steps {
			if s.File == "" || s.IsNew() {
				continue
			}
			text, err := os.ReadFile("../../" + s.File)
			if err != nil {
				t.Error(err)
				continue
			}
			if _, err := s.Insert(string(text)); err != nil {
				t.Errorf("%s: %v", title, err)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	const insert, run = "   <!-- insert a.go after x( -->\n   ```go\n   y(\n   ```\n", "<!-- run -->\n```sh\ngo vet\ngo test\n```\n"
	for _, test := range []struct {
		name, section string
		want          []Step
	}{
		{"an insertion and commands", "Text.\n" + insert + "\nText.\n" + run, []Step{
			{File: "a.go", After: "x(", Text: "y(\n"}, {Text: "go vet\ngo test\n"},
		}},
		{"a new file keeps the indentation below that of its fence", "   <!-- create a.go -->\n   ```go\n   func y() {\n   \tz()\n   }\n   ```\n", []Step{
			{File: "a.go", Text: "func y() {\n\tz()\n}\n"},
		}},
		{"the next section is another recipe", run + "\n## B\n" + insert, []Step{{Text: "go vet\ngo test\n"}}},
		{"a block without a marker", insert + "```go\nz\n```\n", nil},
		{"an unknown marker", "<!-- copy a.go -->\n" + run, nil},
		{"no block", "Text.\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Steps("# Page\n\n## A\n"+test.section, "A")
			if (err != nil) != (test.want == nil) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
	if steps, err := Steps("# Page\n", "A"); err == nil {
		t.Errorf("a page without the section has %v", steps)
	}
}

func TestInsert(t *testing.T) {
	t.Parallel()
	s := Step{File: "a.go", After: "x(", Text: "y\nz\n"}
	for text, want := range map[string]string{
		"a\n\tx(1)\nb\n": "a\n\tx(1)\n\ty\n\tz\nb\n",
		"a\n":            "",
		"x(\nx(\n":       "",
	} {
		if got, err := s.Insert(text); got != want || (err != nil) != (want == "") {
			t.Errorf("%q becomes %q, error %v; want %q", text, got, err, want)
		}
	}
}
