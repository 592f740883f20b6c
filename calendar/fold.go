package calendar

import (
	"strings"
	"unicode"
)

// FoldName returns a key that is equal for names that differ only in case and runs of white space. It folds
// each rune to the smallest member of its unicode.SimpleFold orbit, so that ẞ and ß, and Σ and ς, are equal. It
// does not depend on the language.
func FoldName(s string) string {
	return strings.Map(func(r rune) rune {
		// The smallest rune of the orbit stands for the whole orbit.
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, strings.Join(strings.Fields(s), " "))
}
