package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseEvents(t *testing.T) {
	word := func(s string) Term { return Term{Text: s} }
	not := func(s string) Term { return Term{Text: s, Exclude: true} }
	phrase := func(s string) Term { return Term{Text: s, Phrase: true} }
	notPhrase := func(s string) Term { return Term{Text: s, Exclude: true, Phrase: true} }
	for _, c := range []struct {
		name, in string
		want     []Term // nil means refused
	}{
		{"empty", "", nil},
		{"blank", " \t\u00A0\n", nil},
		{"nothing visible", "\u200B \u0301", nil},
		{"empty phrases", `"" -"" " "`, nil},
		{"lone quote", `"`, nil},
		{"word", "Łódź", []Term{word("lodz")}},
		{"words", "  Jazz\u00A0na\tPLAŻY ", []Term{word("jazz"), word("na"), word("plazy")}},
		{"comma is part of a word", "jazz,blues", []Term{word("jazz,blues")}},
		{"excluded word", "jazz -Blues", []Term{word("jazz"), not("blues")}},
		{"exclusions alone", "-jazz", []Term{not("jazz")}},
		{"hyphen inside a word", "hip-hop", []Term{word("hip-hop")}},
		{"lone hyphen", "jazz - blues", []Term{word("jazz"), word("-"), word("blues")}},
		{"hyphens alone", "--", []Term{word("--")}},
		{"two hyphens exclude what begins with one", "--flag", []Term{not("-flag")}},
		{"other dashes exclude nothing", "–jazz — −5", []Term{word("-jazz"), word("-"), word("-5")}},
		{"phrase", `"Jazz  Club" Łódź`, []Term{phrase("jazz club"), word("lodz")}},
		{"excluded phrase", `-"Jazz Club"`, []Term{notPhrase("jazz club")}},
		{"minus inside a phrase", `"rock -roll"`, []Term{phrase("rock -roll")}},
		{"open phrase", `blues "jazz club -x `, []Term{word("blues"), phrase("jazz club -x")}},
		{"minus and an open phrase", `-"jazz club`, []Term{notPhrase("jazz club")}},
		{"word glued to a phrase", `"jazz club"bar`, []Term{phrase("jazz club"), word("bar")}},
		{"phrases glued together", `"a b""c d"`, []Term{phrase("a b"), phrase("c d")}},
		{"quote inside a word", `12" vinyl rock"n"roll`, []Term{word(`12"`), word("vinyl"), word(`rock"n"roll`)}},
		{"empty phrase among words", `jazz "" -"" blues`, []Term{word("jazz"), word("blues")}},
		{
			"typographic quotes", "„Noc Żywiołów” “Jazz Club” «El Búho» -»Das Fest«",
			[]Term{phrase("noc zywiolow"), phrase("jazz club"), phrase("el buho"), notPhrase("das fest")},
		},
		{"apostrophes quote nothing", "'jazz club'", []Term{word("'jazz"), word("club'")}},
		{"each once", `Łódź lodz "LODZ" -lodz -łódź`, []Term{word("lodz"), not("lodz")}},
		{"most characters", strings.Repeat("ł", MaxChars), []Term{word(strings.Repeat("l", MaxChars))}},
		{"too many characters", strings.Repeat("ł", MaxChars+1), nil},
		{"too many terms", numbers(maxTerms + 1), nil},
		{"many terms, few different", strings.Repeat("a b -a ", maxTerms), []Term{word("a"), word("b"), not("a")}},
		{"invalid bytes", "a\xff", []Term{word("a\uFFFD")}},
	} {
		q, ok := ParseEvents(c.in)
		if ok != (c.want != nil) {
			t.Errorf("%s: ok is %t", c.name, ok)
		}
		if diff := cmp.Diff(Query{Terms: c.want}, q); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if q, ok := ParseEvents(numbers(maxTerms)); !ok || len(q.Terms) != maxTerms {
		t.Errorf("%d terms: %t, %d", maxTerms, ok, len(q.Terms))
	}
}

// numbers returns a search with n different words.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String()
}

func TestMatch(t *testing.T) {
	title, excerpt := "Łódzki Jazz: Noc Żywiołów", "¡Año nuevo!"
	text := "Don’t miss it – the JAZZ\u00A0\n  Club’s 12\" vinyl fair, Straße 7, by Ὀδυσσεύς. 🎷"
	for _, c := range []struct {
		search string
		want   bool
	}{
		{"lodz", true},
		{"łódz", true},
		{"ŁÓDZ", true},
		{"ano", true},
		{"año", true},
		{"an\u0303o", true},
		{"strasse", true},
		{"STRAẞE", true},
		{"don't", true},
		{"don’t", true},
		{"dont", false},
		{"azz", true}, // inside a word
		{"zywiol", true},
		{"nuevo vinyl lodzki", true}, // in three fields
		{"jazz blues", false},
		{"jazz -blues", true},
		{"jazz -fair", false},
		{"jazz -ai", false}, // inside a word
		{"-blues", true},
		{"-jazz", false},
		{"jazz -jazz", false},
		{`"jazz club"`, true},
		{`"club jazz"`, false},
		{"club jazz", true},
		{`"azz club's 1"`, true},
		{`"zywiolow ano"`, false}, // across fields
		{`-"jazz club"`, false},
		{`-"club jazz"`, true},
		{`12" vinyl`, true},
		{`"it - the"`, true},
		{"οδυσσευσ", true},
		{"🎷", true},
		{"🎺", false},
		{"jazz\u200B", true},
		{"%", false},
		{"_", false},
		{"j*z", false},
	} {
		q, ok := ParseEvents(c.search)
		if !ok {
			t.Errorf("%s: refused", c.search)
		}
		if got := q.Match(Fold(title), Fold(excerpt), Fold(text)); got != c.want {
			t.Errorf("%s: %t", c.search, got)
		}
	}
	if q, _ := ParseEvents("jazz"); q.Match() {
		t.Error("a word is found in no fields")
	}
	if q, _ := ParseEvents("-jazz"); !q.Match() {
		t.Error("an excluded word is found in no fields")
	}
}

func TestLinked(t *testing.T) {
	fields := []string{"Klub „Żak”", "Piwna 4, 2. piętro", "Łódź", "+48 42 123-45-67", "https://zak.example/"}
	for i, f := range fields {
		fields[i] = Fold(f)
	}
	for _, c := range []struct {
		search string
		pieces []string // nil means refused
		found  bool
	}{
		{"", nil, false},
		{" ,, \u00A0", nil, false},
		{"\u200B", nil, false},
		{strings.Repeat("a", MaxChars+1), nil, false},
		{numbers(maxTerms + 1), nil, false},
		{"ŻAK", []string{"zak"}, true},
		{"żak, klub", []string{"zak", "klub"}, true},
		{"klub,klub Klub", []string{"klub"}, true},
		{"piwna 4,2.", []string{"piwna", "4", "2."}, true},
		{"piwna，pietro", []string{"piwna", "pietro"}, true},
		{"piwna، pietro", []string{"piwna", "pietro"}, true},
		{"zak lodz", []string{"zak", "lodz"}, false}, // in two fields
		{"+48 123-45", []string{"+48", "123-45"}, true},
		{"-zak", []string{"-zak"}, false},
		{`"klub`, []string{`"klub`}, false},
		{"“żak”", []string{`"zak"`}, true},
	} {
		pieces, ok := ParseLinked(c.search)
		if diff := cmp.Diff(c.pieces, pieces); diff != "" || ok != (c.pieces != nil) {
			t.Errorf("%q: %t (-want +got):\n%s", c.search, ok, diff)
		}
		if got := ok && MatchLinked(pieces, fields...); got != c.found {
			t.Errorf("%q: found %t", c.search, got)
		}
	}
}

func TestName(t *testing.T) {
	name, slug := Fold("Muzyka  poważna & żywa"), "muzyka-powazna-zywa"
	for _, c := range []struct {
		search string
		ok     bool
		found  bool
	}{
		{" ", false, false},
		{"\u200B", false, false},
		{strings.Repeat("a", MaxChars+1), false, false},
		{"POWAŻNA", true, true},
		{" muzyka powazna ", true, true},
		{"powazna muzyka", true, false},
		{"powazna-zywa", true, true},
		{"a & z", true, true},
		{"powazna zywa", true, false},
		{"-zywa", true, true},
		{`"zywa"`, true, false},
	} {
		text, ok := ParseName(c.search)
		if found := ok && containsText([]string{name, slug}, text); ok != c.ok || found != c.found {
			t.Errorf("%q: ok %t, found %t", c.search, ok, found)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "jazz", `"jazz club" -blues -"a b" "open`, "--", `-"`, "«a» ”b“", "a,b ,c", "\xff\"", "\u200B", "ﷺ",
		numbers(maxTerms + 1), strings.Repeat("ﷺ", MaxChars),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, ok := ParseEvents(s)
		if ok != (len(q.Terms) > 0) || len(q.Terms) > maxTerms {
			t.Fatalf("%q: %t with %d terms", s, ok, len(q.Terms))
		}
		var positive []string
		for _, term := range q.Terms {
			checkText(t, s, term.Text)
			if !term.Exclude {
				positive = append(positive, term.Text)
			}
			pieces, exact := term.Pieces()
			if exact && len(pieces) != 1 {
				t.Fatalf("%q: %v of %q is exact", s, pieces, term.Text)
			}
			for _, p := range pieces {
				if p.Text == "" || len(p.Text) > maxPiece || !strings.Contains(term.Text, p.Text) {
					t.Fatalf("%q: piece %q of %q", s, p.Text, term.Text)
				}
			}
		}
		// What is searched for is found in itself.
		all := Query{Terms: nil}
		for _, p := range positive {
			all.Terms = append(all.Terms, Term{Text: p})
		}
		if !all.Match(strings.Join(positive, " ")) {
			t.Fatalf("%q: %q is not found in itself", s, positive)
		}

		pieces, ok := ParseLinked(s)
		if ok != (len(pieces) > 0) || len(pieces) > maxTerms {
			t.Fatalf("%q: %t with pieces %q", s, ok, pieces)
		}
		for _, p := range pieces {
			checkText(t, s, p)
			if strings.ContainsAny(p, " ,") {
				t.Fatalf("%q: piece %q", s, p)
			}
		}
		if ok && !MatchLinked(pieces, Fold(s)) {
			t.Fatalf("%q: %q is not found in it", s, pieces)
		}

		if text, ok := ParseName(s); ok {
			checkText(t, s, text)
		}
	})
}

// checkText checks that the text of a term is folded and not empty. Its size must be within the limit that follows
// from the length of the search s.
func checkText(t *testing.T, s, text string) {
	t.Helper()
	// The longest decomposition is of 18 characters.
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > 18*MaxChars || Fold(text) != text {
		t.Fatalf("%q: %q", s, text)
	}
}

func BenchmarkMatch(b *testing.B) {
	title, text := Fold(polish), Fold(strings.Repeat(spanish+" ", 40))
	for _, c := range []struct{ name, search string }{
		{"found", `lodzki "el buho" -blues`},
		{"absent", "trombone"},
	} {
		q, ok := ParseEvents(c.search)
		if !ok {
			b.Fatal("refused")
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.Match(title, "", text)
			}
		})
	}
}
