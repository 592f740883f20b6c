package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	lastDecision       = 66 // number of the last numbered decision; later ones have none
	leastDecisionCites = 20
)

var (
	decisionRow      = regexp.MustCompile(`(?m)^\| (\d{3}) \| .+ \| (.+) \|$`)
	decisionCitation = regexp.MustCompile(`(?i)\bdecisions? (\d{3}(?:(?:, | and )\d{3})*)\b`)
	decisionNumber   = regexp.MustCompile(`\d{3}`)
	sourceFile       = regexp.MustCompile("`([a-z_/]+/[a-z_]+\\.go)`")
)

// decisionIndex reads the table of decisions on a page. The map has, by number, whether a decision has a section. A
// number without one was dropped or never used.
func decisionIndex(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range decisionRow.FindAllStringSubmatch(page, -1) {
		out[m[1]] = strings.Contains(m[2], "](")
	}
	return out
}

// decisionFaults returns the number of decisions that a text cites, and those without a section.
func decisionFaults(index map[string]bool, text string) (count int, faults []string) {
	for _, m := range decisionCitation.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
		for _, number := range decisionNumber.FindAllString(m[1], -1) {
			count++
			if !index[number] {
				faults = append(faults, number)
			}
		}
	}
	return count, faults
}

func TestCitedDecisionsHaveASection(t *testing.T) {
	t.Parallel()
	const root = "../.."
	data, err := os.ReadFile(filepath.Join(root, "docs", "design", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	index := decisionIndex(string(data))
	for n := range lastDecision {
		number := fmt.Sprintf("%03d", n+1)
		if _, ok := index[number]; !ok {
			t.Errorf("docs/design/README.md has no row for %s", number)
		}
	}
	texts, err := citingTexts(root)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, text := range texts {
		count, faults := decisionFaults(index, text.text)
		total += count
		for _, number := range faults {
			t.Errorf("%s cites decision %s, which has no section in docs/design", text.place, number)
		}
	}
	if total < leastDecisionCites {
		t.Errorf("found %d citations, want %d at least: are the files read?", total, leastDecisionCites)
	}
}

func TestDecisionFaults(t *testing.T) {
	t.Parallel()
	index := decisionIndex("| Decision | About | Now in |\n|---|---|---|\n| 001 | ids | [Writing](writing.md#ids) |\n| 002 | – | not used |\n")
	for text, want := range map[string][]string{
		"decision 001":               nil,
		"Decision\n\t002, see there": {"002"},
		"decisions 001 and 003":      {"003"},
		"(decisions 001, 002 and 4)": {"002"},
		"indecision 009":             nil,
	} {
		if _, got := decisionFaults(index, text); !cmp.Equal(want, got) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestDesignNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	const root = "../.."
	pages, err := filepath.Glob(filepath.Join(root, "docs", "design", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range sourceFile.FindAllStringSubmatch(string(data), -1) {
			total++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if total == 0 {
		t.Error("no page names a file")
	}
}
