package search

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWord is the longest word that EachWord yields, in bytes.
const MaxWord = 64

// maxPiece is the longest text of a Piece, in bytes. It is so much smaller than MaxWord that one part of a
// split word contains the whole piece.
const maxPiece = 32

// EachWord yields the words of a folded text in order, with repetitions. A word is a run of letters, digits and
// combining marks, or a run of symbols such as emoji.
//
// A word of more than MaxWord bytes, such as a sentence in a script without spaces, is split into overlapping
// parts. Every stretch of up to maxPiece bytes is inside one part. The first part begins with the word, and the
// last one ends with it.
//
// The words share the memory of the text.
func EachWord(folded string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for from, to := range wordRuns(folded) {
			if to-from <= MaxWord {
				if !yield(folded[from:to]) {
					return
				}
				continue
			}
			for part := range splitWord(folded[from:to]) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// Piece is a part of a search term that must be inside one word.
type Piece struct {
	Text       string // folded, 1 to maxPiece bytes
	Start, End bool   // whether the piece must begin the word; whether it must end it
}

// In reports whether a word that EachWord yielded contains the piece. The piece must be at the start or end of the
// word if Start or End is true.
func (p Piece) In(word string) bool {
	switch {
	case p.Start && p.End:
		return word == p.Text
	case p.Start:
		return strings.HasPrefix(word, p.Text)
	case p.End:
		return strings.HasSuffix(word, p.Text)
	}
	return strings.Contains(word, p.Text)
}

// Pieces splits a search term into pieces for a lookup in an index of words. Each text that contains the term has,
// for each piece, a word that contains the piece. So a lookup of all pieces misses no text. But it may find others,
// so the caller must compare the texts with the term.
//
// exact is true if the term is a single piece, so that the comparison is not necessary. For an excluded term the
// index alone may exclude a text only if exact. A term of punctuation has no pieces, so every text must be compared.
func (t Term) Pieces() (pieces []Piece, exact bool) {
	add := func(from, to int, start, end bool) {
		if p := (Piece{Text: t.Text[from:to], Start: start, End: end}); !slices.Contains(pieces, p) {
			pieces = append(pieces, p)
		}
	}
	for from, to := range wordRuns(t.Text) {
		// If the term begins or ends inside a run, the word may continue in the text.
		start, end := from > 0, to < len(t.Text)
		exact = !start && !end && to-from <= maxPiece
		at := from
		for to-at > maxPiece {
			next := runeAtOrBefore(t.Text, at+maxPiece)
			add(at, next, start && at == from, false)
			at = next
		}
		// The last piece is as long as the others and overlaps, because short pieces are in too many words.
		at = max(from, runeAtOrAfter(t.Text, to-maxPiece))
		add(at, to, start && at == from, end)
	}
	return pieces, exact
}

// wordRuns yields the byte offsets of the start and end of each word in s. A word has letters and digits, or
// symbols, but not both.
func wordRuns(s string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from, in := 0, noWord
		for i, r := range s {
			k := kindOf(r)
			if k == in {
				continue
			}
			if in != noWord && !yield(from, i) {
				return
			}
			from, in = i, k
		}
		if in != noWord {
			yield(from, len(s))
		}
	}
}

// kind is the class of a character: part of a word of letters, part of a word of symbols, or neither.
type kind byte

const (
	noWord kind = iota // white space, punctuation, signs
	letter             // letters, digits, combining marks
	symbol             // emoji and similar symbols
)

func kindOf(r rune) kind {
	if r < utf8.RuneSelf {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return letter
		}
		return noWord
	}
	switch {
	case unicode.In(r, unicode.L, unicode.M, unicode.N):
		return letter
	case unicode.In(r, unicode.So, unicode.Sk):
		return symbol
	}
	return noWord
}

// splitWord yields the overlapping parts of a word, each of at most MaxWord bytes. Most words are a single part.
func splitWord(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(word) > MaxWord {
			end := runeAtOrBefore(word, MaxWord)
			if !yield(word[:end]) {
				return
			}
			// A stretch of maxPiece bytes that begins before the next part ends inside this one.
			word = word[runeAtOrAfter(word, end-maxPiece+1):]
		}
		yield(word)
	}
}

// runeAtOrBefore returns the byte offset at which the character that contains byte i of s starts. In invalid
// UTF-8, which Fold never returns, the result may be i.
func runeAtOrBefore(s string, i int) int {
	for at := i; at > i-utf8.UTFMax; at-- {
		if utf8.RuneStart(s[at]) {
			return at
		}
	}
	return i
}

// runeAtOrAfter returns the start of the first character in s at byte i or later. It is at most three bytes after i.
// If there is none, the result is i.
func runeAtOrAfter(s string, i int) int {
	i = max(i, 0)
	for at := i; at < min(i+utf8.UTFMax, len(s)); at++ {
		if utf8.RuneStart(s[at]) {
			return at
		}
	}
	return i
}
