package when

import (
	"testing"
	"time"
)

// TestVocabulariesConsistOfPlainWords checks that all words of the vocabularies are in the form of normalised
// texts. The parsers could never find another word, such as a misspelt one.
func TestVocabulariesConsistOfPlainWords(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]*vocabulary{"english": &english, "polish": &polish, "spanish": &spanish} {
		check := func(table string, known ...string) {
			t.Helper()
			for _, word := range known {
				r := reader{s: word}
				if got := r.word(); got != word || word == "" {
					t.Errorf("%s %s: %q is not a plain word", name, table, word)
				}
			}
		}
		check("now", keys(v.now)...)
		check("midnight", keys(v.midnight)...)
		check("days", keys(v.days)...)
		check("weekdays", keys(v.weekdays)...)
		check("steps", keys(v.steps)...)
		check("stepped", keys(v.stepped)...)
		check("units", keys(v.units)...)
		check("one", keys(v.one)...)
		check("single", keys(v.single)...)
		check("ordinals", keys(v.ordinals)...)
		check("months", keys(v.months)...)
		seen := map[int]bool{}
		for _, day := range v.weekdays {
			seen[int(day)] = true
		}
		if len(seen) != 7 {
			t.Errorf("%s has words for %d weekdays", name, len(seen))
		}
		named := map[time.Month]bool{}
		for _, month := range v.months {
			named[month] = true
		}
		if len(named) != 12 {
			t.Errorf("%s has words for %d months", name, len(named))
		}
	}
}

func keys[T any](w wordTable[T]) []string {
	all := make([]string, 0, len(w))
	for word := range w {
		all = append(all, word)
	}
	return all
}
