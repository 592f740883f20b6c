package layers

import (
	"go/doc"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPackagesHaveOneOwner checks the first sentence of each package's comment. It must be short and must not contain
// "and", which shows that the package has several subjects.
func TestPackagesHaveOneOwner(t *testing.T) {
	files, err := ourSources()
	if err != nil {
		t.Fatal(err)
	}
	sentences := map[string]string{}
	for _, f := range files {
		dir := path.Dir(f.path)
		if isUnder(dir, "ent") || strings.Contains(dir, "testdata") {
			continue // generated
		}
		if !strings.HasSuffix(f.path, "_test.go") && sentences[dir] == "" {
			sentences[dir] = ""
		}
		if f.tree.Doc == nil || strings.HasSuffix(f.tree.Name.Name, "_test") {
			continue
		}
		if sentences[dir] != "" {
			t.Errorf("%s: the package has a second comment", f.path)
		}
		sentences[dir] = new(doc.Package).Synopsis(f.tree.Doc.Text())
	}
	for dir, sentence := range sentences {
		words := strings.FieldsFunc(sentence, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == ':' })
		switch {
		case sentence == "":
			t.Errorf("%s: no comment says what the package owns", dir)
		case slices.Contains(words, "and"):
			t.Errorf("%s owns several things: %s", dir, sentence)
		case len(words) > 30:
			t.Errorf("%s: %d words: %s", dir, len(words), sentence)
		}
	}
}
