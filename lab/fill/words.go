package fill

import (
	"strings"
	"sync"
)

// Words is the number of different words in texts. Of a few thousand events, most words are in none. Of a million,
// each is in some hundreds.
const Words = 50_000

var (
	onsets       = strings.Split("b c d f g h j k l m n p r s t v w z br cl dr fr gr pl pr sk st tr sz ł ñ", " ")
	vowels       = strings.Split("a e i o u a e i o u ai ea io ó ę é", " ")
	syllableEnds = strings.Split("n r s l t m k _ _ _ _ _ _", " ")
)

// vocabulary returns the made-up words, the most frequent first. Without diacritics, all are different.
var vocabulary = sync.OnceValue(func() []string {
	c := chanceOf("words", 0)
	taken := make(map[string]bool, Words)
	out := make([]string, 0, Words)
	for len(out) < Words {
		syllables := 2
		if len(out) > 400 {
			syllables = 2 + c.below(3)
		}
		var b strings.Builder
		for range syllables {
			b.WriteString(onsets[c.below(len(onsets))])
			b.WriteString(vowels[c.below(len(vowels))])
		}
		b.WriteString(strings.Trim(syllableEnds[c.below(len(syllableEnds))], "_"))
		word := b.String()
		if len(word) < 4 || taken[asciiLetters.Replace(word)] {
			continue
		}
		taken[asciiLetters.Replace(word)] = true
		out = append(out, word)
	}
	return out
})

var asciiLetters = strings.NewReplacer("ł", "l", "ñ", "n", "ó", "o", "ę", "e", "é", "e")

// Word returns the word with a rank by frequency, from 0. The word of rank 20 is in every fourth event, and the last
// one in one of some thousand.
func Word(rank int) string { return vocabulary()[rank] }

// sentence returns a sentence with a number of random words, without a full stop.
func sentence(c *randomSource, words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Word(c.rank(Words)))
	}
	return capitalize(b.String())
}

// name returns a number of random words that are not among the most frequent, each capitalised.
func name(c *randomSource, words int) string {
	var parts []string
	for range words {
		parts = append(parts, capitalize(Word(200+c.below(5000))))
	}
	return strings.Join(parts, " ")
}

func capitalize(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// paragraphs returns HTML with at least a number of random words, and up to 47 more.
func paragraphs(c *randomSource, words int) string {
	var b strings.Builder
	for words > 0 {
		b.WriteString("<p>")
		for range 1 + c.below(3) {
			n := 5 + c.below(12)
			b.WriteString(sentence(c, n) + ". ")
			words -= n
		}
		b.WriteString("</p>\n")
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), ". </p>", ".</p>"), "\n")
}
