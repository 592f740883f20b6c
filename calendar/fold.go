package calendar

import (
	"strings"
	"unicode"
)

// FoldName makes names comparable without regard to case and to runs of white space. It folds rune by rune
// (unicode.SimpleFold's smallest member), so that ẞ and ß, Σ and ς meet, and needs no language.
func FoldName(s string) string {
	return strings.Map(func(r rune) rune {
		// The smallest rune of the orbit names the whole orbit.
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, strings.Join(strings.Fields(s), " "))
}
