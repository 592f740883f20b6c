package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxChars is the longest search, in characters as sent. It holds a long title with room to spare.
const MaxChars = 400

// MaxTerms is the most terms of a search, each counted once. Every term costs a look-up, or a pass over texts.
const MaxTerms = 20

// Query is a search of events: every term must occur, no excluded one may. The zero Query matches everything.
type Query struct{ Terms []Term }

// Term is a word or a phrase of a search.
type Term struct {
	Text    string // folded, not empty; may hold spaces
	Exclude bool
	Phrase  bool // it was quoted
}

// ParseEvents parses the search of events (contract, section 9.1). Terms are words separated by white space and phrases
// in straight or typographic quotes. A "-" before a term excludes it. A quote opens a phrase only where a word can
// begin, so not in 12" vinyl. An unclosed phrase ends with the search. Other dashes, and dashes that stand alone, are
// words.
//
// Terms are in the order of the search, without duplicates. A search may consist of exclusions only.
//
// Ok is false if s has no term or exceeds MaxChars or MaxTerms. Empty phrases and characters that Fold ignores are no
// terms.
func ParseEvents(s string) (q Query, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return Query{}, false
	}
	for s = trimStart(s); s != ""; s = trimStart(s) {
		var t Term
		t, s = nextTerm(s)
		if t.Text == "" || slices.ContainsFunc(q.Terms, func(have Term) bool {
			return have.Text == t.Text && have.Exclude == t.Exclude
		}) {
			continue
		}
		if len(q.Terms) == MaxTerms {
			return Query{}, false
		}
		q.Terms = append(q.Terms, t)
	}
	return q, len(q.Terms) > 0
}

// nextTerm cuts the first term off s, which begins with no white space and is not empty.
func nextTerm(s string) (t Term, rest string) {
	after, minus := strings.CutPrefix(s, "-")
	if phrase, rest, ok := cutPhrase(after); ok {
		return Term{Text: Fold(phrase), Exclude: minus, Phrase: true}, rest
	}
	word := s
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		word, rest = s[:i], s[i:]
	}
	if strings.Trim(word, "-") == "" {
		return Term{Text: Fold(word)}, rest
	}
	return Term{Text: Fold(strings.TrimPrefix(word, "-")), Exclude: minus}, rest
}

// cutPhrase cuts off the phrase that s begins with, if it begins with a quote.
func cutPhrase(s string) (phrase, rest string, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	if !isQuote(r) {
		return "", "", false
	}
	s = s[size:]
	end := strings.IndexFunc(s, isQuote)
	if end < 0 {
		return s, "", true
	}
	_, size = utf8.DecodeRuneInString(s[end:])
	return s[:end], s[end+size:], true
}

func trimStart(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// Match reports whether an event with these folded fields (title, excerpt, description text) matches. Each term must
// occur in some field, and no excluded term in any. A term may match inside a word, but not across two fields.
func (q Query) Match(fields ...string) bool {
	for _, t := range q.Terms {
		if containsText(fields, t.Text) == t.Exclude {
			return false
		}
	}
	return true
}

// ParseLinked reads the search of venues and organizers (contract, section 9.2): pieces split at white space and
// commas, folded, in order, each once. Quotes and "-" mean nothing there.
//
// Ok is false if no piece is left, and if s exceeds MaxChars or has more than MaxTerms pieces.
func ParseLinked(s string) (pieces []string, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return nil, false
	}
	for piece := range strings.FieldsFuncSeq(Fold(s), isSeparator) {
		if slices.Contains(pieces, piece) {
			continue
		}
		if len(pieces) == MaxTerms {
			return nil, false
		}
		pieces = append(pieces, piece)
	}
	return pieces, len(pieces) > 0
}

// isSeparator tells whether r, of a folded text, stands between pieces. Full-width commas are folded already.
func isSeparator(r rune) bool { return r == ' ' || r == ',' || r == '،' || r == '、' }

// MatchLinked tells whether a venue or organizer with these folded fields is found: one field holds all pieces.
func MatchLinked(pieces []string, fields ...string) bool {
	for _, f := range fields {
		if !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(f, p) }) {
			return true
		}
	}
	return false
}

// ParseName reads the search of categories and tags (contract, section 9.3): one text, folded, that the folded
// name or the slug is to hold. Ok is false if nothing is left of it, and if s exceeds MaxChars.
func ParseName(s string) (text string, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return "", false
	}
	text = Fold(s)
	return text, text != ""
}

// containsText tells whether one of the folded fields containsText text.
func containsText(fields []string, text string) bool {
	for _, f := range fields {
		if strings.Contains(f, text) {
			return true
		}
	}
	return false
}
