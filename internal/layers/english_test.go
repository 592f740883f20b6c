package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"strings"
	"testing"
)

// maxSentence is the largest number of words that a comment's sentence may have.
const maxSentence = 30

// wordings are patterns of phrases that comments must not contain, with the advice what to write instead.
var wordings = []struct{ pattern, instead string }{
	{`\b(?:is|are) what\b`, "a noun, or a verb: \"X returns\""},
	{`(?:^|[.:;] )Of (?:an?|the|these|those|one|all|what|which|its|each|two|several|some|others?|any)\b`, "the subject first"},
	{`(?i)\b(?:nobody|somebody|everybody|anybody)\b`, "the actor: request, caller, process, transaction"},
	{`(?:^|[.:;] )Who [a-z]|\b(?:tells?|to|for|from|by|of|than|and|or|says?|shows?) who\b`, "the actor: request, caller, process"},
	{`(?i)\bkeepers?\b`, "cache, store, owner"},
	{`(?i)\bholders? of\b`, "owner, caller"},
	{`(?i)\blook(?:s|ed|ing)? whether\b`, "checks whether"},
	{`(?i)\banew\b`, "again"},
	{`(?i)\btold\b`, "gets, is notified, is passed"},
	{`(?i)\b(?:tell|tells|telling|take|takes|taken) (?:\S+ ){0,6}apart\b`, "distinguish, split"},
}

// vagueNames are prepositions, adverbs, participles and adjectives that are no name of a package's function, type,
// variable or constant by themselves.
var vagueNames = wordSet(`
	about above across after again against ago ahead all alone already also alike among anew any anyones apart around
	as at away back before behind below beneath beside besides between beyond both but by down each either else
	elsewhere enough even ever every exact except far few fewest first for from fresh here if in inside instead into
	just last least like many maybe meanwhile mean more most near neither never next no none not now of off often on
	once one only onto open other others ours out outside over own past per quite rather same seldom since so some
	soon still such tardy than that then there these this those through till to together too toward twice under
	understood unless until up upon usual very via whatever when where whether which while who whole whose why with
	within without yet

	added advised allowed answered applied asked based broken brought built cached called changed checked chosen
	cleaned closed compiled counted cut decoded described done dropped encoded ended exercised expanded expected
	expired failed filled found fuzzed given gone had headed held hunted indented inherited joined kept keyed known
	left lent linked listed located looked lost made malformed marked meant measured met missed missing mixed moved
	named needed noted opened packed parsed passed placed planned prepared protected pruned published put quoted
	read refused related removed renamed renumbered said saved scoped seen sent served set shortened shown skipped
	sorted spent split spoken started stopped stored swept taken tagged thought told toggled tongued trashed turned
	undone unpadded unpublished unredacted unused used verified wanted written`)

func TestNamesAreNounsOrVerbs(t *testing.T) {
	checkEnglish(t, findVagueNames)
}

func TestCommentsArePlain(t *testing.T) {
	checkEnglish(t, findWordings)
}

// checkEnglish calls find for each hand-written source file and reports the faults that it returns.
func checkEnglish(t *testing.T, find func(*ast.File) []string) {
	t.Helper()
	files, err := ourSources()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if isGenerated(f.path) || ast.IsGenerated(f.tree) {
			continue
		}
		for _, finding := range find(f.tree) {
			t.Error(finding)
		}
	}
}

// findVagueNames returns the declarations of a file whose name is vague.
func findVagueNames(tree *ast.File) (out []string) {
	check := func(id *ast.Ident) {
		if vagueNames[id.Name] {
			out = append(out, fmt.Sprintf("%s: %s needs a noun or a verb", fileSet.Position(id.Pos()), id.Name))
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				check(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						check(name)
					}
				}
			}
		}
	}
	return out
}

// findWordings returns the sentences of a file's comments that a pattern matches or that are too long.
func findWordings(tree *ast.File) (out []string) {
	for _, group := range tree.Comments {
		report := func(sentence, instead string) {
			out = append(out, fmt.Sprintf("%s: %q: write %s", fileSet.Position(group.Pos()), sentence, instead))
		}
		for _, sentence := range sentencesOf(group.Text()) {
			for i, p := range wordingPatterns {
				if p.MatchString(sentence) {
					report(sentence, wordings[i].instead)
				}
			}
			if len(strings.Fields(sentence)) > maxSentence {
				report(sentence, "shorter sentences")
			}
			if strings.Contains(sentence, ": ") && strings.Contains(sentence, "; ") {
				report(sentence, "a list, or two sentences, instead of a colon and a semicolon")
			}
		}
	}
	return out
}

// sentencesOf splits the paragraphs of a comment into sentences. It leaves out code and lists, which are indented.
func sentencesOf(comment string) (out []string) {
	for paragraph := range strings.SplitSeq(comment, "\n\n") {
		if strings.HasPrefix(paragraph, "\t") || strings.HasPrefix(paragraph, " ") {
			continue
		}
		rest := strings.Join(strings.Fields(paragraph), " ")
		for rest != "" {
			end := len(rest)
			if at := sentenceEnd.FindStringIndex(rest); at != nil {
				end = at[0] + 1
			}
			out = append(out, rest[:end])
			rest = strings.TrimSpace(rest[end:])
		}
	}
	return out
}

var (
	sentenceEnd     = regexp.MustCompile(`[.!?] [A-Z"` + "`" + `(]`)
	wordingPatterns = func() (out []*regexp.Regexp) {
		for _, w := range wordings {
			out = append(out, regexp.MustCompile(w.pattern))
		}
		return out
	}()
)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(text) {
		out[word] = true
	}
	return out
}

func TestWordingsAreFound(t *testing.T) {
	tests := []struct {
		comment string
		want    int
	}{
		{"count returns the number of rows. It reads no column.", 0},
		{"A caller who may edit the event gets it in full, apart from its password.", 0},
		{"count is what a page has.", 1},
		{"It is a number. Of the others it is nil.", 1},
		{"Nobody reads it.", 1},
		{"It says so to who asks.", 1},
		{"It is read anew, and the caller is told.", 2},
		{"a: b; c", 1},
		{strings.Repeat("word ", maxSentence), 0},
		{strings.Repeat("word ", maxSentence+1), 1},
	}
	for _, tt := range tests {
		tree, err := parser.ParseFile(fileSet, "a.go", "package a\n\n// "+tt.comment+"\nvar b int\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if found := findWordings(tree); len(found) != tt.want {
			t.Errorf("%q: %q, want %d", tt.comment, found, tt.want)
		}
	}
}
