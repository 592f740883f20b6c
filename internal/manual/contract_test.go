package manual

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contractPage has the numbers of sections and differences that a citation of the contract may use.
type contractPage struct {
	sections    map[string]bool // "6", "6.4", "6.4a"
	differences map[string]bool // numbers of the rows in section 1
}

var (
	sectionHeading = regexp.MustCompile(`^#{2,3} (\d+(?:\.\d+)?)\.? \S`)
	sectionPart    = regexp.MustCompile(`^([a-z])\) `)
	numberedRow    = regexp.MustCompile(`^\| (\d+) \|`)
)

// readContract finds the numbers of all sections and differences on the page of the contract.
func readContract(page string) contractPage {
	out := contractPage{map[string]bool{}, map[string]bool{}}
	section := ""
	for line := range strings.Lines(page) {
		if m := sectionHeading.FindStringSubmatch(line); m != nil {
			section = m[1]
			out.sections[section] = true
		}
		if m := sectionPart.FindStringSubmatch(line); m != nil {
			out.sections[section+m[1]] = true
		}
		if m := numberedRow.FindStringSubmatch(line); m != nil && section == "1" {
			out.differences[m[1]] = true
		}
	}
	return out
}

const (
	sectionNumber   = `\d+(?:\.\d+)*[a-z]?`
	contractBefore  = "contract, "
	leastCitations  = 40
	contractMissing = "is not in docs/contract.md"
)

var (
	citation = regexp.MustCompile(`(?i)\b(section|difference)(s?) (` + sectionNumber + `(?:(?:, | and | to )` + sectionNumber + `)*)\b`)
	number   = regexp.MustCompile(sectionNumber)
	// otherDocument matches the end of the text before a citation of another document.
	otherDocument = regexp.MustCompile(`(?:RFC \d+|\bspecification|https?://\S+), $`)
	link          = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// check returns the number of citations of the contract in a text, and a message for each wrong one. A section counts
// only after its document: "contract, section 9.1", "RFC 9110, section 8.4".
func (p contractPage) check(text string) (count int, faults []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, at := range citation.FindAllStringSubmatchIndex(text, -1) {
		cited, before := text[at[0]:at[1]], text[:at[0]]
		word, plural := text[at[2]:at[3]], at[4] < at[5]
		if !strings.HasSuffix(before, contractBefore) {
			if word == "difference" || !otherDocument.MatchString(before) {
				faults = append(faults, fmt.Sprintf("%q does not name its document: write %q", cited, contractBefore+cited))
			}
			continue
		}
		count++
		names := number.FindAllString(text[at[6]:at[7]], -1)
		if plural != (len(names) > 1) {
			faults = append(faults, fmt.Sprintf("%q: singular for one, plural for several", cited))
		}
		faults = append(faults, p.missing(word, names)...)
	}
	return count, faults
}

// missing returns a message for each of the numbers names that the contract does not have. The parameter word
// is "section" or "difference".
func (p contractPage) missing(word string, names []string) (faults []string) {
	known := p.sections
	if word == "difference" {
		known = p.differences
	}
	for _, name := range names {
		if !known[name] {
			faults = append(faults, fmt.Sprintf("%s %s %s", word, name, contractMissing))
		}
	}
	return faults
}

func TestCitationsOfTheContractLeadSomewhere(t *testing.T) {
	t.Parallel()
	const root = "../.."
	data, err := os.ReadFile(filepath.Join(root, "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := readContract(string(data))
	for _, m := range citation.FindAllStringSubmatch(strings.Join(strings.Fields(string(data)), " "), -1) {
		for _, fault := range page.missing(m[1], number.FindAllString(m[3], -1)) {
			t.Errorf("docs/contract.md: %s", fault)
		}
	}
	texts, err := citingTexts(root)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, text := range texts {
		count, faults := page.check(text.text)
		total += count
		for _, fault := range faults {
			t.Errorf("%s: %s", text.place, fault)
		}
	}
	if total < leastCitations {
		t.Errorf("found %d citations, want %d at least: are the files read?", total, leastCitations)
	}
}

// citingText is a text in which citations are checked: a comment of a Go file, or a page of the manual.
type citingText struct{ place, text string }

// citingTexts reads the comments of all hand-written Go files below root, and the pages of the manual.
func citingTexts(root string) (texts []citingText, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && rel != "." && (rel == "ent" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case rel == "internal/manual/contract_test.go", rel == "docs/contract.md":
			return nil // the first has wrong citations for its test, the second is the cited page
		case d.IsDir():
			return nil
		case filepath.Ext(rel) == ".go":
			comments, err := commentsOf(name, rel)
			texts = append(texts, comments...)
			return err
		case isManualPage(rel):
			data, err := os.ReadFile(name)
			texts = append(texts, citingText{rel, link.ReplaceAllString(string(data), "$1")})
			return err
		}
		return nil
	})
	return texts, err
}

func isManualPage(rel string) bool {
	return rel == "README.md" || rel == "CONTRIBUTING.md" || strings.HasPrefix(rel, "docs/") && filepath.Ext(rel) == ".md"
}

func commentsOf(name, rel string) ([]citingText, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(parsed) {
		return nil, nil
	}
	texts := make([]citingText, len(parsed.Comments))
	for i, group := range parsed.Comments {
		texts[i] = citingText{fmt.Sprintf("%s:%d", rel, set.Position(group.Pos()).Line), group.Text()}
	}
	return texts, nil
}

func TestReadContract(t *testing.T) {
	t.Parallel()
	got := readContract("# Contract\n\n| 9 | not yet |\n\n## 1. Differences\n\n| # | a |\n|---|---|\n| 1 | x |\n| 12 | y |\n\n" +
		"## 2. Routes\n\n| 3 | no difference |\n\n### 2.1 Paths\n\na) one\n\n#### 2.1.1 Too deep\n\nb) two\n")
	want := contractPage{
		sections:    map[string]bool{"1": true, "2": true, "2.1": true, "2.1a": true, "2.1b": true},
		differences: map[string]bool{"1": true, "12": true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(contractPage{})); diff != "" {
		t.Errorf("readContract (-want +got):\n%s", diff)
	}
}

func TestCitationFaults(t *testing.T) {
	t.Parallel()
	page := contractPage{
		sections:    map[string]bool{"3": true, "6": true, "6.4": true, "6.4a": true, "16": true},
		differences: map[string]bool{"20": true},
	}
	const (
		irregular = "does not name its document"
		unknown   = contractMissing
		grammar   = "singular for one"
	)
	tests := []struct {
		name, text string
		count      int
		faults     []string
	}{
		{"a section", "Errors have a body (contract, section 16).", 1, nil},
		{"a subsection", "as in the contract, section 6.4.", 1, nil},
		{"a part of a subsection", "(contract, section 6.4a)", 1, nil},
		{"two sections", "(contract, sections 3 and 16)", 1, nil},
		{"a range", "(contract, sections 3 to 6, 6.4 and 16)", 1, nil},
		{"a difference", "(contract, difference 20)", 1, nil},
		{"a line break inside", "steps (contract,\nsection 3)", 1, nil},
		{"two citations", "contract, section 3; contract, section 6", 2, nil},
		{"the contract as a whole", "as the contract says", 0, nil},
		{"another document", "RFC 9110, section 99.1; RFC 9112, sections 3.2, 6.1 and 6.3", 0, nil},
		{"the specification", "(specification, section 2)", 0, nil},
		{"a page on the web", "(https://example.org/a.html, section 2.2)", 0, nil},

		{"an unknown section", "(contract, section 17)", 1, []string{unknown}},
		{"an unknown subsection", "(contract, section 6.9)", 1, []string{unknown}},
		{"an unknown part", "(contract, section 6.4c)", 1, []string{unknown}},
		{"an unknown difference", "(contract, difference 3)", 1, []string{unknown}},
		{"one of two is unknown", "(contract, sections 3 and 17)", 1, []string{unknown}},
		{"a genitive", "the contract's section 3", 0, []string{irregular}},
		{"without a comma", "(contract section 3)", 0, []string{irregular}},
		{"brackets", "what the contract lists (section 3)", 0, []string{irregular}},
		{"the section first", "section 3 of the contract", 0, []string{irregular}},
		{"no document", "(section 3)", 0, []string{irregular}},
		{"a capital letter", "Section 3 says so", 0, []string{irregular}},
		{"a difference without a document", "(difference 20)", 0, []string{irregular}},
		{"an RFC has no differences", "RFC 9110, difference 20", 0, []string{irregular}},
		{"a plural for one", "(contract, sections 3)", 1, []string{grammar}},
		{"a singular for two", "(contract, section 3 and 16)", 1, []string{grammar}},
		{"two faults", "(contract, section 17; section 3)", 1, []string{unknown, irregular}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			count, faults := page.check(tt.text)
			if count != tt.count || !slices.EqualFunc(faults, tt.faults, strings.Contains) {
				t.Errorf("%d citations, faults %q; want %d, %q", count, faults, tt.count, tt.faults)
			}
		})
	}
}
