package locale

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func TestNegotiate(t *testing.T) {
	const en, pl, es = calendar.English, calendar.Polish, calendar.Spanish
	long := func(size int) string { return "pl" + strings.Repeat(",", size-len("pl")) }
	tests := []struct {
		name     string
		header   string
		fallback calendar.Language
		want     calendar.Language
	}{
		{"no header", "", pl, pl},
		{"one language", "es", en, es},
		{"any case", "PL", en, pl},
		{"a region is shortened", "pl-PL", en, pl},
		{"a long tag is shortened", "es-Latn-419-x-private", en, es},
		{"a desktop browser in Polish", "pl-PL,pl;q=0.9,en-US;q=0.8,en;q=0.7", en, pl},
		{"a desktop browser in Spanish", "es-ES,es;q=0.8,en-US;q=0.5,en;q=0.3", en, es},
		{"a desktop browser in English", "en-US,en;q=0.9", pl, en},
		{"white space", " pl ;\tq=0.5 ,\tes ; q=0.6", en, es},
		{"quality in any case", "pl;Q=0.5,es;Q=0.6", en, es},
		{"the highest quality wins, wherever it stands", "en;q=0.2,pl;q=0.4,es;q=0.3", en, pl},
		{"no quality is 1", "en;q=0.999,pl", en, pl},
		{"three decimals count", "en;q=0.1,pl;q=0.101", es, pl},
		{"missing decimals are zeros", "en;q=0.15,pl;q=0.2", es, pl},
		{"equal quality keeps the order", "es;q=0.5,pl;q=0.5", en, es},
		{"quality 1 in all spellings", "es;q=1.000,pl;q=1.,en;q=1", en, es},
		{"a language twice has its better quality", "pl;q=0.1,en;q=0.5,pl-PL;q=0.7", es, pl},
		{"unknown languages are skipped", "fr,de;q=0.9,es;q=0.1", en, es},
		{"only unknown languages", "fr,de;q=0.9", pl, pl},
		{"a relative is no match", "ca", en, en},
		{"a prefix is no match", "e,esp,plx", en, en},
		{"a private tag is no match", "x-pl", en, en},
		{"quality 0 excludes", "pl;q=0,es;q=0.1", en, es},
		{"quality 0 excludes in all spellings", "pl,pl;q=0.000,es;q=0.1,pl;q=0.", en, es},
		{"quality 0 excludes regions too", "pl-PL,pl;q=0,es;q=0.1", en, es},
		{"quality 0 on a region leaves the language", "pl-PL;q=0,pl;q=0.2,en;q=0.1", en, pl},
		{"nothing but exclusions", "pl;q=0", pl, pl},
		{"any language", "*", es, es},
		{"any language after unknown ones", "fr,*;q=0.5", es, es},
		{"a named wish goes before any language", "*,pl;q=0.1", es, pl},
		{"any language but the fallback", "en;q=0,*", en, pl},
		{"any language but the fallback and the next", "*;q=0.1,pl;q=0,en;q=0", en, es},
		{"any language but all", "en;q=0,pl;q=0,es;q=0,*", es, es},
		{"no other language", "*;q=0", pl, pl},
		{"no other language beside a wish", "es,*;q=0", pl, es},
		{"empty elements", ",pl,,en,", es, pl},
		{"only commas", ",,,", es, es},
		{"only white space", " \t", es, es},
		{"the longest header", long(maxHeader), en, pl},
		{"a header that is too long", long(maxHeader + 1), en, en},
		{"malformed: underscore", "pl_PL", en, en},
		{"malformed: one element spoils the header", "pl,en_US", es, es},
		{"malformed: dangling hyphen", "pl-", en, en},
		{"malformed: leading hyphen", "-pl", en, en},
		{"malformed: double hyphen", "pl--PL", en, en},
		{"malformed: wildcard with a region", "*-PL,pl", en, en},
		{"malformed: digits in the first subtag", "pl,e2", en, en},
		{"malformed: nine letters", "pl,abcdefghi", en, en},
		{"malformed: not ASCII", "pl,español", en, en},
		{"malformed: blank inside", "pl PL", en, en},
		{"malformed: NUL", "pl\x00", en, en},
		{"malformed: line feed", "pl\n", en, en},
		{"malformed: no quality", "pl;", en, en},
		{"malformed: no number", "pl;q=", en, en},
		{"malformed: no language", ";q=1", en, en},
		{"malformed: other parameter", "pl;level=1", en, en},
		{"malformed: second parameter", "pl;q=1;q=1", en, en},
		{"malformed: blank around the equals sign", "pl;q = 1", en, en},
		{"malformed: above 1", "pl;q=1.001", en, en},
		{"malformed: 2", "pl;q=2", en, en},
		{"malformed: negative", "pl;q=-1", en, en},
		{"malformed: no whole part", "pl;q=.5", en, en},
		{"malformed: four decimals", "pl;q=0.1234", en, en},
		{"malformed: exponent", "pl;q=1e0", en, en},
		{"malformed: no point", "pl;q=05", en, en},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Negotiate(tt.header, tt.fallback); got != tt.want {
				t.Errorf("Negotiate(%q, %q) = %q, want %q", tt.header, tt.fallback, got, tt.want)
			}
		})
	}
}

const elementGrammar = `(\*|[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*)([ \t]*;[ \t]*[Qq]=(0(\.[0-9]{0,3})?|1(\.0{0,3})?))?`

var (
	headerGrammar = regexp.MustCompile(`^[ \t]*(` + elementGrammar + `)?[ \t]*(,[ \t]*(` + elementGrammar + `)?[ \t]*)*$`)
	wishGrammar   = regexp.MustCompile(`(?i)^(en|pl|es)(-[a-z0-9]+)*$`)
)

// slowNegotiate is a simple reference implementation of Negotiate. It uses a regular expression for the grammar, and
// sorts the languages by quality.
func slowNegotiate(t *testing.T, header string, fallback calendar.Language) calendar.Language {
	type element struct {
		tag     string
		quality float64
	}
	if len(header) > maxHeader || !headerGrammar.MatchString(header) {
		return fallback
	}
	var elements []element
	excluded := map[calendar.Language]bool{}
	for text := range strings.SplitSeq(strings.NewReplacer(" ", "", "\t", "").Replace(header), ",") {
		e := element{tag: strings.ToLower(text), quality: 1}
		if tag, weight, ok := strings.Cut(e.tag, ";q="); ok {
			quality, err := strconv.ParseFloat(weight, 64)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			e = element{tag, quality}
		}
		if e.quality == 0 {
			excluded[calendar.Language(e.tag)] = true
			continue
		}
		elements = append(elements, e)
	}
	slices.SortStableFunc(elements, func(a, b element) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	for _, e := range elements {
		if m := wishGrammar.FindStringSubmatch(e.tag); m != nil && !excluded[calendar.Language(m[1])] {
			return calendar.Language(m[1])
		}
	}
	if slices.ContainsFunc(elements, func(e element) bool { return e.tag == "*" }) {
		for _, lang := range append([]calendar.Language{fallback}, calendar.Languages...) {
			if !excluded[lang] {
				return lang
			}
		}
	}
	return fallback
}

func FuzzNegotiate(f *testing.F) {
	for _, header := range []string{
		"", "pl", "en-US,en;q=0.9", "pl-PL,pl;q=0.9,en-US;q=0.8,en;q=0.7", "*", "en;q=0,*", "*;q=0,es;q=0.001",
		"es ; Q=1.000 ,,\tPL;q=0.", "pl;q=1.001", "pl_PL", "x-pl,es-419", "fr;q=0,de", "\x00", "ñ",
	} {
		f.Add(header, uint8(0))
		f.Add(header, uint8(1))
	}
	f.Fuzz(func(t *testing.T, header string, i uint8) {
		fallback := calendar.Languages[int(i)%len(calendar.Languages)]
		got := Negotiate(header, fallback)
		if !got.Known() {
			t.Errorf("Negotiate(%q, %q) = %q, no language of the service", header, fallback, got)
		}
		if want := slowNegotiate(t, header, fallback); got != want {
			t.Errorf("Negotiate(%q, %q) = %q, want %q", header, fallback, got, want)
		}
	})
}

func TestNegotiateAllocatesNothing(t *testing.T) {
	for _, header := range []string{"", "pl", "pl-PL,pl;q=0.9,en-US;q=0.8,en;q=0.7", "fr-FR,fr;q=0.9,*;q=0.5"} {
		if n := testing.AllocsPerRun(100, func() { Negotiate(header, calendar.English) }); n != 0 {
			t.Errorf("Negotiate(%q) makes %v allocations, want none", header, n)
		}
	}
}

func BenchmarkNegotiate(b *testing.B) {
	for _, bb := range []struct{ name, header string }{
		{"none", ""},
		{"one", "pl"},
		{"browser", "pl-PL,pl;q=0.9,en-US;q=0.8,en;q=0.7"},
		{"longest", strings.Repeat("fr;q=0.5,", maxHeader/9)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Negotiate(bb.header, calendar.English)
			}
		})
	}
}
