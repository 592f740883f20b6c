package calendar

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

func TestSortKeyOrdersAsTheLanguageDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		language Language
		want     []string
	}{
		{"Polish letters", Polish, []string{
			"Aleksandrów", "Ąkowo", "Ciechanów", "Czersk", "Ćmielów", "Elbląg", "Ełk", "Lódz", "Lublin", "Lwów", "Łask",
			"Łódź", "Nysa", "Ńsk", "Olsztyn", "Oława", "Ósmy", "Sopot", "Szczecin", "Śrem", "Tczew", "Zabrze", "Zgierz",
			"Źródło", "Żary",
		}},
		{"Spanish letters", Spanish, []string{
			"Ábalos", "Abanto", "Cádiz", "Chiclana", "Ciudad Real", "Leganés", "Llanes", "Lugo", "Navarra", "nube", "Nzo",
			"ñandú", "Ñora", "Oca", "Óscar", "Oviedo", "Zamora",
		}},
		{"accents are none in English", English, []string{
			"cafe", "café", "cafés", "Lodz", "Łódź", "Lublin", "Nandu", "ñandú", "nube",
		}},
		{"symbols, digits, letters", English, []string{"_", "-1", "(a)", "#b", "0", "10", "9", "a", "ab", "b"}},
		{"other scripts", Polish, []string{"9", "żuk", "Ωμέγα", "Жук", "日本"}},
		{"words", Polish, []string{"a", "a b", "a c", "ab", "ab c"}},
		{"an unknown language is English", "de", []string{"Lodz", "Łódź", "Lublin"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := slices.Clone(tt.want)
			rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			slices.SortFunc(got, func(a, b string) int {
				return bytes.Compare(SortKey(tt.language, a, NameKeySize), SortKey(tt.language, b, NameKeySize))
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSortKeyOfEqualNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ż", 600)
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"case", "ŁÓDŹ", "łódź", true},
		{"white space", " a \t b\n", "a b", true},
		{"composed and not", "o\u0301", "ó", true},
		{"accent", "Lodz", "Łódź", false},
		{"beyond the size", long + "a", long + "b", true},
		{"within the size", long[:100] + "a", long[:100] + "b", false},
		{"empty", "", " ", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, l := range Languages {
				same := bytes.Equal(SortKey(l, tt.a, NameKeySize), SortKey(l, tt.b, NameKeySize))
				if same != tt.same {
					t.Errorf("in %s: the same is %v, want %v", l, same, tt.same)
				}
			}
		})
	}
}

// TestSortKeyIsSafeForConcurrentUse calls SortKey in many goroutines. A collator is not safe for concurrent use,
// so no two goroutines may use one at the same time.
func TestSortKeyIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	want := SortKey(Polish, "Zażółć gęślą jaźń", NameKeySize)
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 200 {
				SortKey(Polish, strings.Repeat("ź", 200), NameKeySize)
				if got := SortKey(Polish, "Zażółć gęślą jaźń", NameKeySize); !bytes.Equal(got, want) {
					t.Fatalf("got %x, want %x", got, want)
				}
			}
		})
	}
}

// FuzzSortKey checks that sort keys have the order of the texts. Keys cut to a maximum size may be equal, but must
// never have the reverse order.
func FuzzSortKey(f *testing.F) {
	for _, pair := range [][2]string{
		{"Łódź", "Lublin"},
		{"", "a"},
		{"a\x00", "a"},
		{"\xff", "z"},
		{"ch", "cz"},
		{"日本", "にほん"},
		{"o\u0301", "ó"},
		{"\U0010ffff", "\ufffd"},
		{"e\u0301\u0328", "e\u0328\u0301"},
	} {
		f.Add(pair[0], pair[1], 16)
	}
	f.Fuzz(func(t *testing.T, a, b string, size int) {
		if size < 0 || size > 4096 || len(a) > 500 || len(b) > 500 {
			t.Skip()
		}
		for _, l := range Languages {
			// Room for all: no character's key is longer.
			x, y := SortKey(l, a, 1<<14), SortKey(l, b, 1<<14)
			order := collate.New(language.Make(string(l)), collate.IgnoreCase).
				CompareString(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
			if got := bytes.Compare(x, y); got != order {
				t.Errorf("in %s the keys of %q and %q compare as %d, the texts as %d", l, a, b, got, order)
			}
			if cut := bytes.Compare(SortKey(l, a, size), SortKey(l, b, size)); cut != 0 && cut != order {
				t.Errorf("in %s %d bytes of the keys of %q and %q compare as %d, want %d", l, size, a, b, cut, order)
			}
		}
	})
}
