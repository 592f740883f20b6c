package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

// manualPages returns the paths of the README and of the pages of the manual.
func manualPages(t *testing.T) []string {
	t.Helper()
	return append(pagesIn(t, "../../docs"), "../../README.md")
}

// designDir is the folder of the pages about the design.
const designDir = "../../docs/design"

// pagesIn returns the paths of the pages in a folder.
func pagesIn(t *testing.T, dir string) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must.Succeed(t, err)
	return string(text)
}

func TestManualIsGenerated(t *testing.T) {
	t.Parallel()
	p, err := newParts()
	must.Succeed(t, err)
	generated := 0
	for _, file := range manualPages(t) {
		old := readPage(t, file)
		generated += strings.Count(old, "<!-- generated: ")
		text, err := p.fill(old)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(text, old); diff != "" {
			t.Errorf("%s is out of date: run go generate ./... (-want +got):\n%s", file, diff)
		}
	}
	if generated == 0 {
		t.Error("nothing is generated")
	}
}

func TestGeneratedParts(t *testing.T) {
	t.Parallel()
	p, err := newParts()
	must.Succeed(t, err)
	for _, test := range []struct{ part, want string }{
		{"flags", "| `--listen` | `127.0.0.1:8080` | Address to listen on. PORT alone is on 127.0.0.1"},
		{"flags", "| `--index`, `--no-index` | on | Filter and sort lists in memory"},
		{"flags", "| `--db` | a temporary SQLite file | Database to fill and keep. |"},
		{"flags", "### `almanac user role <login> <role>`\n"},
		{"flags", "- `--limit` (`100`): Most problems to print."},
		{"flags", "| `--out`, `-o` | `-` | File to write, - for standard output."},
		{"flags", "| `--site-language` | the originals' | Language of the site: en, pl or es. Variable `ALMANAC_LANGUAGE`. |"},
		{"flags", "As for `serve`: `--timezone`, `--language`.\n"},
		{"flags", "As for `serve`: all flags but `--db`, "},
		{"routes", "| `{api}/events/{id}` | GET, POST, PUT, PATCH, DELETE | Read an event; Update an event; Delete an event |"},
		{"parameters GET /events", "| `start_date` | string; default depends on the day | "},
		{"parameters GET /venues", "| `per_page` | integer; default 10; at least 1 | "},
		{"parameters POST /tags", "| `name` | string; required; at most 500 characters | "},
	} {
		t.Run(test.part, func(t *testing.T) {
			t.Parallel()
			got, err := p.part(test.part, shownRows{})
			if err != nil || !strings.Contains(got, test.want) {
				t.Errorf("error %v; no %q in %d characters", err, test.want, len(got))
			}
		})
	}
	if text, err := p.fill("<!-- generated: parameters GET /events -->\n<!-- /generated -->\n" +
		"<!-- generated: parameters GET /images -->\n<!-- /generated -->\n"); err != nil ||
		!strings.Contains(text, "\nAs for [events](#events): `page`, ") {
		t.Errorf("a second table of a page: error %v, text\n%s", err, text)
	}
	for _, name := range []string{"", "flag", "flags serve", "routes x", "parameters", "parameters GET /nothing", "parameters BREW /events"} {
		if got, err := p.part(name, shownRows{}); err == nil {
			t.Errorf("%q is made: %s", name, got)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	code    = regexp.MustCompile("(?ms)^ *```.*?\n *```$")
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which links refer to the headings of a page.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		out[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

func TestManualLinksLead(t *testing.T) {
	t.Parallel()
	files := append(manualPages(t), "../../CONTRIBUTING.md", "../../CHANGELOG.md")
	for _, file := range append(files, pagesIn(t, designDir)...) {
		text := code.ReplaceAllString(readPage(t, file), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			address := m[1] + m[2]
			if strings.Contains(address, "://") || strings.HasPrefix(address, "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(address, "#")
			to := file
			if target != "" {
				to = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere: %v", file, address, err)
				continue
			}
			if anchor != "" && !anchors(readPage(t, to))[anchor] {
				t.Errorf("%s: there is no heading for %s", file, address)
			}
		}
	}
}

func TestManualIndexNamesEveryPage(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../../docs", designDir} {
		index := readPage(t, filepath.Join(dir, "README.md"))
		for _, file := range pagesIn(t, dir) {
			name := filepath.Base(file)
			if name != "README.md" && !strings.Contains(index, "]("+name+")") {
				t.Errorf("%s/README.md has no link to %s", dir, name)
			}
		}
	}
}
