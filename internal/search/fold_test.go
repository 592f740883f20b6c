package search

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	polish  = "Zażółć gęślą jaźń — 12. Łódzki Festiwal Świateł: „Noc Żywiołów” w Parku Źródliska, wstęp wolny!"
	spanish = "¡Fiesta de Año Nuevo! ¿Vienes? La Peña «El Búho» " +
		"celebra su 3.º aniversario con cigüeñas, música y ñoquis."
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"folded ascii", "jazz club 12+", "jazz club 12+"},
		{"ascii case", "JAZZ Club", "jazz club"},
		{
			"polish", polish,
			`zazolc gesla jazn - 12. lodzki festiwal swiatel: "noc zywiolow" w parku zrodliska, wstep wolny!`,
		},
		{"polish capitals", "ŁÓDŹ ŻÓŁĆ ŚWIĘTO", "lodz zolc swieto"},
		{
			"spanish", spanish,
			`¡fiesta de ano nuevo! ¿vienes? la pena "el buho" ` +
				`celebra su 3.o aniversario con ciguenas, musica y noquis.`,
		},
		{
			"german", "Straßenfest in GÖẞWEINSTEIN, Fußgängerüberweg",
			"strassenfest in gossweinstein, fussgangeruberweg",
		},
		{"french", "L’Œuvre d’ÆSOP à Noël, façade ouïe", "l'oeuvre d'aesop a noel, facade ouie"},
		{"danish, icelandic, sami", "Ærø SØNDAG Þórður ŊÁHKKI Ħal Ŧ ĸ", "aero sondag thordur nahkki hal t q"},
		{"croatian, vietnamese", "ĐAKOVO Điện Biên Phủ, cơm, nước", "dakovo dien bien phu, com, nuoc"},
		{"turkish i", "İSTANBUL ISPARTA ısparta istanbul", "istanbul isparta isparta istanbul"},
		{"turkish i, combining dot", "I\u0307stanbul", "istanbul"},
		{"greek, final sigma", "ΟΔΥΣΣΕΥΣ Ὀδυσσεύς οδυσσευσ", "οδυσσευσ οδυσσευσ οδυσσευσ"},
		{"greek iota subscript", "ᾼδης ᾳ", "αδησ α"},
		{"cyrillic", "Ёлка, МОЙ Київ, Їжак, Ґанок, ЎСЕ", "елка, мои киів, іжак, ґанок, усе"},
		{"combining marks", "Lo\u0301dz\u0301 an\u0303o n\u0308", "lodz ano n"},
		{"several marks", "Hờ\u0301a\u0323\u0302", "hoa"},
		{"mark alone", "\u0301", ""},
		{"caron and ogonek", "Příliš žluťoučký kůň ąę", "prilis zlutoucky kun ae"},
		{"hebrew points go", "שָׁלוֹם צה״ל תל־אביב", `שלום צה"ל תל-אביב`},
		{"arabic points and stretching go", "مُوسِيقَى مـــوسيقى أحمد آمن", "موسيقى موسيقى احمد امن"},
		{"direction marks go", "\u200Fשלום\u200E \u202Bعيد\u202C", "שלום عيد"},
		{"devanagari vowels stay", "हिन्दी", "हिन्दी"},
		{"thai vowels stay", "เทศกาลดนตรี", "เทศกาลดนตรี"},
		{"voiced kana stay", "か\u3099が ｶﾞ", "がが ガ"},
		{"hangul stays whole", "각 \u1100\u1161\u11A8", "각 각"},
		{"full width", "Ｊａｚｚ　１２，", "jazz 12,"},
		{"ligatures and signs", "ﬁn ½ № ² ™ ㎞ …", "fin 1/2 no 2 tm km ..."},
		{
			"apostrophes", "don’t don‘t donʼt don´t don`t don′t don＇t ἀλλ᾽",
			"don't don't don't don't don't don't don't αλλ'",
		},
		{"double quotes", "“a” „b” «c» ″ ‟d” ＂", `"a" "b" "c" " "d" "`},
		{"dashes", "a‐b‑c‒d–e—f―g−h－i", "a-b-c-d-e-f-g-h-i"},
		{"soft hyphen", "Donau\u00ADdampf\u00ADschiff", "donaudampfschiff"},
		{"zero width", "\uFEFFja\u200Bzz", "jazz"},
		{"emoji", "🎷 Jazz 👩\u200D💻 ❤\uFE0F 🇵🇱", "🎷 jazz 👩💻 ❤ 🇵🇱"},
		{"white space", " \t a \r\n\v\f b\u00A0\u202F\u2009c\u2028d \u3000", "a b c d"},
		{"space at the end only", "jazz ", "jazz"},
		{"spaces before the first capital", "a  B", "a b"},
		{"spaces around what disappears", "a \u200B b", "a b"},
		{"only white space", " \u00A0\n", ""},
		{"invalid bytes", "a\xffB\xc5", "a\uFFFDb\uFFFD"},
		{"nul", "a\x00b", "a\x00b"},
	} {
		if got := Fold(c.in); got != c.want {
			t.Errorf("%s: Fold(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		if got := Fold(norm.NFD.String(c.in)); got != c.want {
			t.Errorf("%s, decomposed: Fold = %q, want %q", c.name, got, c.want)
		}
		if got := Fold(c.want); got != c.want {
			t.Errorf("%s: Fold(%q) = %q, not its own fold", c.name, c.want, got)
		}
	}
}

// TestFoldEveryRune folds every Unicode character: alone, with its other case, and decomposed.
func TestFoldEveryRune(t *testing.T) {
	const subscript = "\u0345" // below another letter: a mark, whose capital is a letter
	for r := rune(1); r < 0xE1000; r++ {
		switch {
		case r == 0x34000: // nothing is assigned between here and the tags, and only private use after them
			r = 0xE0000
		case !utf8.ValidRune(r):
			continue
		}
		s := string(r)
		got := Fold(s)
		if again := Fold(got); again != got {
			t.Errorf("Fold(%+q) = %+q, whose fold is %+q", s, got, again)
		}
		if !norm.NFC.IsNormalString(got) {
			t.Errorf("Fold(%+q) = %+q is not in normal form C", s, got)
		}
		if s == subscript {
			continue
		}
		for _, other := range []string{
			string(unicode.ToUpper(r)), string(unicode.ToLower(r)), string(unicode.ToTitle(r)),
			string(unicode.SimpleFold(r)), norm.NFC.String(s), norm.NFD.String(s),
			norm.NFKC.String(s), norm.NFKD.String(s),
		} {
			if other == s {
				continue
			}
			// Marks that are typed for quotes have compatible forms of two
			// characters, such as ′′ and space with accent.
			if f := Fold(other); f != got && got != "'" && got != `"` && other != subscript {
				t.Errorf("Fold(%+q) = %+q, but Fold(%+q) = %+q", s, got, other, f)
			}
		}
	}
}

func TestFoldOfFoldedASCIIDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("an evening of jazz, 12 euro. ", 20) + "end"
	if n := testing.AllocsPerRun(10, func() { Fold(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{
		"", "jazz", " A  b ", polish, spanish, "İı", "ᾼδης", "か\u3099", "ﾞ", "\u1100\u1161\u11A8", "\xff\xc5",
		"´", "\u0E33\u0E49",
		strings.Repeat("\u0E38\u0301\u0E48", 40), "क\u093C\u094D", "🎷\u200D🎷", "\u0345Σς", "\U0001D15E",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Fold(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Fold(%+q) = %+q is not UTF-8", s, got)
		}
		if again := Fold(got); again != got {
			t.Fatalf("Fold(%+q) = %+q, whose fold is %+q", s, got, again)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) ||
			strings.Contains(got, "  ") || strings.Trim(got, " ") != got {
			t.Fatalf("Fold(%+q) = %+q has white space to spare", s, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
			t.Fatalf("Fold(%+q) = %+q has capitals", s, got)
		}
		// More than 30 marks on one letter, which no language has, are normalised in
		// groups with U+034F between them.
		apart := norm.NFD.String(s)
		if utf8.ValidString(s) && strings.Count(apart, "\u034F") == strings.Count(s, "\u034F") {
			if composed, apart := Fold(norm.NFC.String(s)), Fold(apart); composed != got || apart != got {
				t.Fatalf("Fold(%+q) = %+q, composed %+q, decomposed %+q", s, got, composed, apart)
			}
		}
		if spaced := Fold("\n " + s + "\u00A0"); spaced != got {
			t.Fatalf("Fold(%+q) = %+q, but %+q with white space around", s, got, spaced)
		}
	})
}

func BenchmarkFold(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"folded", strings.Repeat("an evening of jazz, 12 euro. ", 20) + "end"},
		{"english", strings.Repeat("An Evening of Jazz, 12 Euro. ", 20)},
		{"polish", strings.Repeat(polish, 6)},
		{"japanese", strings.Repeat("東京ジャズフェスティバル、無料。", 12)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Fold(c.text)
			}
		})
	}
}
