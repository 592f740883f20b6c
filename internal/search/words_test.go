package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEachWord(t *testing.T) {
	long := strings.Repeat("0123456789", 10) // 100 bytes
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"no words", "- ... !", nil},
		{"words", "jazz club, 12. noc", []string{"jazz", "club", "12", "noc"}},
		{"in order, as often as they occur", "b a b, a c", []string{"b", "a", "b", "a", "c"}},
		{"apostrophe and hyphen part", "don't hip-hop", []string{"don", "t", "hip", "hop"}},
		{"letters and digits together", "u2 4x4", []string{"u2", "4x4"}},
		{"other scripts", "киів सङ्गीत שלום", []string{"киів", "सङ्गीत", "שלום"}},
		{"emoji are words", "jazz🎷🎺 🎷", []string{"jazz", "🎷🎺", "🎷"}},
		{"signs are not", "c++ 5€ a=b", []string{"c", "5", "a", "b"}},
		{"longest word", long[:MaxWord], []string{long[:MaxWord]}},
		{"longer word", long, []string{long[:64], long[33:97], long[66:]}},
		{
			"parts of one repeated character", strings.Repeat("a", 200),
			append(slices.Repeat([]string{strings.Repeat("a", 64)}, 5), strings.Repeat("a", 35)),
		},
		{
			"long word of three-byte characters", strings.Repeat("東", 30) + "京",
			[]string{strings.Repeat("東", 21), strings.Repeat("東", 19) + "京"},
		},
	} {
		if diff := cmp.Diff(c.want, slices.Collect(EachWord(c.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestPieces(t *testing.T) {
	inner := func(s string) Piece { return Piece{Text: s} }
	start := func(s string) Piece { return Piece{Text: s, Start: true} }
	end := func(s string) Piece { return Piece{Text: s, End: true} }
	whole := func(s string) Piece { return Piece{Text: s, Start: true, End: true} }
	long := strings.Repeat("0123456789", 8)
	for _, c := range []struct {
		name, term string
		want       []Piece
		exact      bool
	}{
		{"empty", "", nil, false},
		{"word", "jazz", []Piece{inner("jazz")}, true},
		{"emoji", "🎷", []Piece{inner("🎷")}, true},
		{"phrase", "jazz club", []Piece{end("jazz"), start("club")}, false},
		{"phrase of three", "noc w klubie", []Piece{end("noc"), whole("w"), start("klubie")}, false},
		{"punctuation before", "(jazz", []Piece{start("jazz")}, false},
		{"punctuation behind", "jazz!", []Piece{end("jazz")}, false},
		{"punctuation around", `"jazz"`, []Piece{whole("jazz")}, false},
		{"punctuation alone", "--", nil, false},
		{"apostrophe", "don't", []Piece{end("don"), start("t")}, false},
		{"emoji at a word", "jazz🎷", []Piece{end("jazz"), start("🎷")}, false},
		{"the same twice", "-a-a-", []Piece{whole("a")}, false},
		{"longest piece", long[:maxPiece], []Piece{inner(long[:maxPiece])}, true},
		{"longer", long[:maxPiece+1], []Piece{inner(long[:32]), inner(long[1:33])}, false},
		{"much longer", "-" + long + "-", []Piece{start(long[:32]), inner(long[32:64]), end(long[48:])}, false},
		{
			"longer, of three-byte characters", strings.Repeat("東", 10) + "京都",
			[]Piece{inner(strings.Repeat("東", 10)), inner(strings.Repeat("東", 8) + "京都")},
			false,
		},
	} {
		got, exact := Term{Text: c.term}.Pieces()
		if diff := cmp.Diff(c.want, got); diff != "" || exact != c.exact {
			t.Errorf("%s: exact %t (-want +got):\n%s", c.name, exact, diff)
		}
	}
}

func TestPieceIn(t *testing.T) {
	for _, c := range []struct {
		start, end bool
		in, not    []string
	}{
		{false, false, []string{"jazz", "jazzy", "acidjazz", "acidjazzy"}, []string{"jaz", ""}},
		{true, false, []string{"jazz", "jazzy"}, []string{"acidjazz", "acidjazzy", "jaz"}},
		{false, true, []string{"jazz", "acidjazz"}, []string{"jazzy", "acidjazzy", "azz"}},
		{true, true, []string{"jazz"}, []string{"jazzy", "acidjazz", "acidjazzy", "jaz", ""}},
	} {
		p := Piece{Text: "jazz", Start: c.start, End: c.end}
		for _, w := range c.in {
			if !p.In(w) {
				t.Errorf("%+v is not in %q", p, w)
			}
		}
		for _, w := range c.not {
			if p.In(w) {
				t.Errorf("%+v is in %q", p, w)
			}
		}
	}
}

// TestIndexAgreesWithMatch compares look-ups in an index of words with Match. The index must find every match. If
// Pieces reports that it is exact, the index must find nothing else.
func TestIndexAgreesWithMatch(t *testing.T) {
	stretch := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", "a", "b", "ab", "-", "'", "\"", "ł", "Ó", "ß", "ي", "е\u0308",
			"が", "か", "\u3099", "東", "각", "\u1161", "सु", "🎷", "👩\u200D💻",
			"\u0301", "\u200B", "7", "…", "½",
			strings.Repeat("ab", 20), strings.Repeat("東a", 20), strings.Repeat("łó", 30),
		}),
		rapid.String(),
	)
	hits, exacts := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return Fold(strings.Join(rapid.SliceOfN(stretch, 0, 12).Draw(t, "text"), ""))
		}), 1, 3).Draw(t, "fields")
		q := Query{Terms: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Term {
			return Term{Text: drawTerm(t, stretch, texts), Exclude: rapid.IntRange(0, 4).Draw(t, "exclude") == 0}
		}), 1, 3).Draw(t, "terms")}

		var words []string
		for _, text := range texts {
			for w := range EachWord(text) {
				if w == "" || len(w) > MaxWord || !utf8.ValidString(w) || !strings.Contains(text, w) {
					t.Fatalf("word %q of %q", w, text)
				}
				words = append(words, w)
			}
		}
		found := q.Match(texts...)
		for _, term := range q.Terms {
			pieces, exact := term.Pieces()
			indexed := true
			for _, p := range pieces {
				indexed = indexed && slices.ContainsFunc(words, p.In)
			}
			if found && !term.Exclude {
				hits++
				if !indexed {
					t.Fatalf("%q is in %q, but %+v not in words %q", term.Text, texts, pieces, words)
				}
			}
			if exact {
				exacts++
				if holds := (Query{Terms: []Term{{Text: term.Text}}}).Match(texts...); holds != indexed {
					t.Fatalf("%q in %q: %t, by the index %t", term.Text, texts, holds, indexed)
				}
			}
		}
	})
	if hits == 0 || exacts == 0 {
		t.Errorf("%d hits and %d exact terms prove nothing", hits, exacts)
	}
}

// drawTerm returns a random search term. It is often part of one of the texts, so that there are matches.
func drawTerm(t *rapid.T, stretch *rapid.Generator[string], texts []string) string {
	if rapid.IntRange(0, 3).Draw(t, "other") > 0 {
		runes := []rune(rapid.SampledFrom(texts).Draw(t, "of"))
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		to := rapid.IntRange(from, min(len(runes), from+40)).Draw(t, "to")
		if s := Fold(string(runes[from:to])); s != "" {
			return s
		}
	}
	if s := Fold(stretch.Draw(t, "term")); s != "" {
		return s
	}
	return "x"
}

func BenchmarkEachWord(b *testing.B) {
	text := Fold(strings.Repeat(polish+" ", 6))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range EachWord(text) {
		}
	}
}
