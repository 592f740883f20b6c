package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxChars is the maximum length of a search in characters, before Fold. A long title fits.
const MaxChars = 400

// maxTerms is the maximum number of different terms in a search. Each term costs a lookup or a scan of texts.
const maxTerms = 20

// Query is a parsed search of events. Each term must occur, and no excluded term may. The zero Query matches
// everything.
type Query struct{ Terms []Term }

// Term is a word or a phrase of a search.
type Term struct {
	Text    string // folded, not empty; may contain spaces
	Exclude bool   // the term must not occur
	Phrase  bool   // the term was quoted
}

// ParseEvents parses a search of events (contract, section 9.1). Terms are words separated by white space, and
// phrases in straight or typographic quotes. A "-" before a term excludes it. A quote begins a phrase only
// where a word can begin, so not in 12" vinyl. The end of the search ends an unclosed phrase. Other dashes, and
// dashes that stand alone, are words.
//
// Terms keep their order, without duplicates. A search may consist of exclusions only.
//
// ok is false if s has no term or exceeds MaxChars or maxTerms. Empty phrases and characters that Fold removes
// are not terms.
func ParseEvents(s string) (q Query, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return Query{}, false
	}
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		var t Term
		t, s = nextTerm(s)
		if t.Text == "" || slices.ContainsFunc(q.Terms, func(have Term) bool {
			return have.Text == t.Text && have.Exclude == t.Exclude
		}) {
			continue
		}
		if len(q.Terms) == maxTerms {
			return Query{}, false
		}
		q.Terms = append(q.Terms, t)
	}
	return q, len(q.Terms) > 0
}

// nextTerm splits the first term off a search. The result rest is the text after it. The search s must not be empty
// or begin with white space.
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

// cutPhrase splits off the quoted phrase at the start of s, without its quotes. A phrase without a second quote
// extends to the end of s. The result ok is false if s does not begin with a quote.
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

// Match reports whether an event with these folded fields, such as title and description, matches. Each term must
// occur in some field, and no excluded term in any. A term may match inside a word, but not across fields.
func (q Query) Match(fields ...string) bool {
	for _, t := range q.Terms {
		if containsText(fields, t.Text) == t.Exclude {
			return false
		}
	}
	return true
}

// ParseLinked parses a search of venues and organizers (contract, section 9.2). It returns the folded pieces
// between white space and commas, in order, without duplicates. Quotes and "-" have no meaning here.
//
// ok is false if there is no piece, or if s exceeds MaxChars or maxTerms.
func ParseLinked(s string) (pieces []string, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return nil, false
	}
	for piece := range strings.FieldsFuncSeq(Fold(s), isSeparator) {
		if slices.Contains(pieces, piece) {
			continue
		}
		if len(pieces) == maxTerms {
			return nil, false
		}
		pieces = append(pieces, piece)
	}
	return pieces, len(pieces) > 0
}

// isSeparator reports whether a character separates the pieces of a search of venues and organizers: a space or a
// comma. The text is folded, so full-width commas are ASCII already.
func isSeparator(r rune) bool { return r == ' ' || r == ',' || r == '،' || r == '、' }

// MatchLinked reports whether a venue or organizer with these folded fields matches. One field must contain all
// pieces.
func MatchLinked(pieces []string, fields ...string) bool {
	for _, f := range fields {
		if !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(f, p) }) {
			return true
		}
	}
	return false
}

// ParseName folds a search of categories and tags (contract, section 9.3). The text must occur in the folded name or
// the slug. The result ok is false if it is empty, or if s exceeds MaxChars.
func ParseName(s string) (text string, ok bool) {
	if utf8.RuneCountInString(s) > MaxChars {
		return "", false
	}
	text = Fold(s)
	return text, text != ""
}

// containsText reports whether one of the folded fields contains text.
func containsText(fields []string, text string) bool {
	for _, f := range fields {
		if strings.Contains(f, text) {
			return true
		}
	}
	return false
}
