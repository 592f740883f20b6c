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

// ParseEvents reads the search of events (contract, section 9.1): words split at white space, "quoted phrases" in
// straight or typographic quotes, -word and -"phrase" for what must not occur. A quote opens a phrase only where a
// word could begin, as in 12" vinyl it does not, and a phrase that is not closed ends with the search. Only "-"
// excludes, and only before something else: other dashes, and dashes that stand alone, are words.
//
// Terms are in the order in which they were sent, each once. A search of exclusions alone is one.
//
// Ok is false if there is nothing to search for, because s is blank or has only empty phrases and characters that
// Fold ignores, and if s exceeds MaxChars or MaxTerms.
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

// Match tells whether an event with these folded fields (title, excerpt, description text) is found: each term
// occurs in one of them, not necessarily in the same, and no excluded one occurs in any. A term is found inside
// words too, but not across two fields.
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
