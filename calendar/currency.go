package calendar

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// currencyList has the currencies and their names. Its first lines explain the format.
//
//go:embed currencies.txt
var currencyList string

// currencyForm is the kind of a currency name. It is a code, a symbol, a word, or the name of a hundredth part
// such as "p".
type currencyForm int

const (
	currencySymbol currencyForm = iota // a price is shown with this name
	currencyCode                       // an ISO 4217 code
	currencyWord                       // a word of a language
	currencyPart                       // the hundredth part, such as pence
)

// currencyName is a code, symbol or word for one or several currencies: "$" can mean many.
type currencyName struct {
	form  currencyForm
	codes []string // ISO 4217 codes of the currencies that have the name; nil for a symbol without a known code
	alone bool     // the name is also an ordinary word: see pricedText.meansCurrency
	apart bool     // the name also counts if it is not beside a number
}

// currencyNames has the names of currencies: as written, and in lower case if case does not matter.
var currencyNames = sync.OnceValue(func() map[string]*currencyName {
	names := make(map[string]*currencyName)
	for line := range strings.Lines(currencyList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, parts, _ := strings.Cut(line, " / ")
		symbols, words, _ := strings.Cut(line, " | ")
		fields := strings.Fields(symbols)
		code := strings.TrimRight(fields[0], "+~")
		common := strings.HasSuffix(fields[0], "+")
		add := func(name string, form currencyForm, apart bool) {
			name, alone := strings.CutSuffix(name, "~")
			n, ok := names[name]
			if !ok {
				n = &currencyName{form: form, alone: alone, apart: apart}
				names[name] = n
			}
			n.codes = append(n.codes, code)
			if lower := strings.ToLower(name); form == currencySymbol && !isShortLatin(name) && names[lower] == nil {
				names[lower] = n
			}
		}
		add(strings.TrimSuffix(fields[0], "+"), currencyCode, common)
		if common {
			add(strings.ToLower(code), currencyCode, false)
		}
		for _, s := range fields[1:] {
			add(s, currencySymbol, common && (!hasASCIILetter(s) || s == "zł"))
		}
		for _, w := range strings.Fields(words) {
			add(w, currencyWord, false)
		}
		for _, p := range strings.Fields(parts) {
			add(p, currencyPart, false)
		}
	}
	return names
})

func hasASCIILetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) })
}

// isShortLatin reports whether a symbol could be confused with a word or a unit. Such a symbol is only recognised
// in its exact case.
func isShortLatin(symbol string) bool {
	return len(symbol) <= 2 && !strings.ContainsFunc(symbol, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
}

// currencyNamed looks up a code, symbol or word for a currency as it stands in a text. It returns nil for an
// unknown name.
func currencyNamed(written string) *currencyName {
	names := currencyNames()
	if n := names[written]; n != nil {
		return n
	}
	if n := names[strings.ToLower(written)]; n != nil && !isShortLatin(written) {
		return n
	}
	first, size := utf8.DecodeRuneInString(written)
	switch {
	case size == len(written) && unicode.Is(unicode.Sc, first):
		return &currencyName{form: currencySymbol, apart: true}
	case !ownDollar.MatchString(written):
		return nil
	}
	if n := names[strings.TrimSuffix(written, "$")]; n != nil && n.form == currencyCode {
		return n // USD$
	}
	return &currencyName{form: currencySymbol}
}

// ownDollar matches a symbol such as J$, which is a currency of its own.
var ownDollar = regexp.MustCompile(`^[A-Z]{1,4}\$$`)

// mention is a place in a text that names a currency.
type mention struct {
	*currencyName
	written    string
	start, end int // byte offsets
}

// maxCurrencyName is the maximum length of a name of a currency in characters.
const maxCurrencyName = 12

// findMentions returns the currency names in a text, in the order of the text. It does not find a name made of
// letters inside a longer word.
func findMentions(text string) []mention {
	var found []mention
	inWord := false // the rune before start is a letter
	for start := 0; start < len(text); {
		first, size := utf8.DecodeRuneInString(text[start:])
		if !inWord || unicode.Is(unicode.Sc, first) {
			if m, ok := mentionAt(text, start); ok {
				found = append(found, m)
				last, _ := utf8.DecodeLastRuneInString(m.written)
				inWord = unicode.IsLetter(last)
				start = m.end
				continue
			}
		}
		inWord = unicode.IsLetter(first)
		start += size
	}
	return found
}

// mentionAt returns the longest currency name that begins at a byte offset of a text. It reports false if none
// begins there.
func mentionAt(text string, start int) (longest mention, ok bool) {
	end := start
	for range maxCurrencyName {
		last, size := utf8.DecodeRuneInString(text[end:])
		if size == 0 || unicode.IsSpace(last) {
			break
		}
		end += size
		if next, _ := utf8.DecodeRuneInString(text[end:]); unicode.IsLetter(last) && unicode.IsLetter(next) {
			continue
		}
		if n := currencyNamed(text[start:end]); n != nil {
			longest, ok = mention{n, text[start:end], start, end}, true
		}
	}
	return longest, ok
}
