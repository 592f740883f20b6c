package layers

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
)

var updateHabits = flag.Bool("update-habits", false, "write the lower counts of habits to testdata/habits.txt")

// habitsFile has a line for each package and page of the manual: the number of habits that its English may have.
const habitsFile = "testdata/habits.txt"

// A habit is a construction that makes English read like a translation. The test counts habits, and the counts may only
// fall. The constructions in wordings are not allowed at all.
type habit struct {
	name    string
	pattern *regexp.Regexp
}

// habits are counted in comments and in the manual.
var habits = []habit{
	{"chain of \"of\"", regexp.MustCompile(`\bof (?:\S+ ){1,3}of\b`)},
	{"\"being\" for \"-ing\"", regexp.MustCompile(`\b(?:is|are|was|were) being\b`)},
	{"trailing adverb", regexp.MustCompile(`\b(?:besides|beside|too)[.,;:)]|\bfrom (?:\S+ ){1,4}on[.,;:)]|\bfurther ones\b`)},
	{"lifeless subject", regexp.MustCompile(`\b(?:that|which) (?:has|have|names?|needs?)\b`)},
	{"\"need\" for \"require\"", regexp.MustCompile(`\bneeds (?:an?|the|no|its)\b`)},
}

// manualHabits are counted in the manual only: a Go comment has a caller and a reply.
var manualHabits = []habit{
	{"house word", regexp.MustCompile(`(?i)\b(?:repl(?:y|ies)|made-up|callers?)\b`)},
	{"\"may\" for \"can\"", regexp.MustCompile(`\bmay\b`)},
	{"telegram", regexp.MustCompile(`^(?:\S+ ){1,2}\S+\.$`)},
}

// longSentence is the number of words from which a sentence counts as a habit.
const longSentence = 20

// findHabits returns the habits of a sentence, each once.
func findHabits(sentence string, lists ...[]habit) (out []string) {
	for _, h := range slices.Concat(lists...) {
		if h.pattern.MatchString(sentence) {
			out = append(out, h.name)
		}
	}
	return out
}

// monotone reports whether a paragraph has four sentences or more and none of the words that join thoughts.
func monotone(sentences []string) bool {
	return len(sentences) >= 4 && !joiningWords.MatchString(strings.Join(sentences, " "))
}

var joiningWords = regexp.MustCompile(`(?i)\b(?:because|so|but|when|while|if|unless|although|since|until|then|which)\b`)

// TestHabitsOnlyFall compares the habits of each package and page with the numbers in habitsFile.
func TestHabitsOnlyFall(t *testing.T) {
	found := map[string][]string{}
	countComments(t, found)
	countManual(t, found)
	allowed := readHabits(t)
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if n := len(found[place]); n > allowed[place] && !*updateHabits {
			t.Errorf("%s has %d habits, of %d allowed:\n\t%s", place, n, allowed[place], strings.Join(found[place], "\n\t"))
		}
	}
	for place, n := range allowed {
		if len(found[place]) < n && !*updateHabits {
			t.Errorf("%s has fewer habits than %d: run go test ./internal/layers -run Habits -update-habits", place, n)
		}
	}
	if *updateHabits {
		writeHabits(t, found, allowed)
	}
}

func countComments(t *testing.T, found map[string][]string) {
	t.Helper()
	files, err := ourSources()
	must.Succeed(t, err)
	for _, f := range files {
		if isGenerated(f.path) {
			continue
		}
		place := filepath.ToSlash(filepath.Dir(f.path))
		for _, group := range f.tree.Comments {
			for _, sentence := range sentencesOf(group.Text()) {
				names := findHabits(sentence, habits)
				if len(strings.Fields(sentence)) > longSentence {
					names = append(names, "long sentence")
				}
				for _, name := range names {
					found[place] = append(found[place], fmt.Sprintf("%s: %s: %s", fileSet.Position(group.Pos()), name, sentence))
				}
			}
		}
	}
}

func countManual(t *testing.T, found map[string][]string) {
	t.Helper()
	for _, page := range manualPages(t) {
		text, err := os.ReadFile("../../" + page)
		must.Succeed(t, err)
		for _, paragraph := range paragraphsOf(string(text)) {
			sentences := sentencesOf(paragraph)
			for _, sentence := range sentences {
				for _, name := range findHabits(sentence, habits, manualHabits) {
					found[page] = append(found[page], name+": "+sentence)
				}
			}
			if monotone(sentences) {
				found[page] = append(found[page], "nothing joins the sentences: "+paragraph)
			}
		}
	}
}

// manualPages returns the pages of the manual as paths from the root. It leaves out the contract, which is normative.
func manualPages(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/design/*.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		must.Succeed(t, err)
		for _, page := range pages {
			if page = filepath.ToSlash(page[len("../../"):]); page != "docs/contract.md" {
				out = append(out, page)
			}
		}
	}
	return out
}

// paragraphsOf returns the paragraphs and list items of a page, each on one line, without code, tables and headings.
func paragraphsOf(page string) (out []string) {
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out = append(out, strings.Join(paragraph, " "))
		}
		paragraph = nil
	}
	inCode := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			inCode = !inCode
		case inCode:
		case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<"):
			end()
		case listItem.MatchString(line):
			end()
			paragraph = append(paragraph, listItem.ReplaceAllString(line, ""))
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return out
}

var listItem = regexp.MustCompile(`^(?:[-*]|\d+\.) `)

func readHabits(t *testing.T) map[string]int {
	t.Helper()
	file, err := os.Open(habitsFile)
	must.Succeed(t, err)
	defer file.Close()
	out := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var place string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &place, &n); err != nil {
			t.Fatalf("%s: %q: %v", habitsFile, lines.Text(), err)
		}
		out[place] = n
	}
	return out
}

// writeHabits writes the counts that were found. A count that is allowed already is never raised; a place without a line
// is allowed none.
func writeHabits(t *testing.T, found map[string][]string, allowed map[string]int) {
	t.Helper()
	var b strings.Builder
	for _, place := range slices.Sorted(maps.Keys(allowed)) {
		if n := min(len(found[place]), allowed[place]); n > 0 {
			fmt.Fprintf(&b, "%s %d\n", place, n)
		}
	}
	must.Succeed(t, os.WriteFile(habitsFile, []byte(b.String()), 0o600))
}

func TestHabitsAreFound(t *testing.T) {
	tests := []struct {
		sentence string
		want     int
	}{
		{"Your client's phone shows the event because you published it.", 0},
		{"It shows the phone of the owner of the venue.", 1},
		{"The table is being changed.", 1},
		{"The page has it too.", 1},
		{"This holds from the second page on.", 1},
		{"Migrations that name their locks are applied.", 1},
		{"It needs a server.", 1},
		{"A reply may be old.", 2},
		{"Ids are new.", 1},
	}
	for _, tt := range tests {
		if found := findHabits(tt.sentence, habits, manualHabits); len(found) != tt.want {
			t.Errorf("%q: %q, want %d", tt.sentence, found, tt.want)
		}
	}
	if !monotone(sentencesOf("One is here. Two is here. Three is here. Four is here.")) {
		t.Error("four sentences without a joining word are not found")
	}
	page := paragraphsOf("# T\n\nA b.\nC d.\n\n- e\n- f\n```sh\ncode\n```\n| t |\n")
	if want := []string{"A b. C d.", "e", "f"}; !slices.Equal(page, want) {
		t.Errorf("paragraphs %q, want %q", page, want)
	}
}
