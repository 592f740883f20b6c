package calendar

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pricedText is one element of a cost, together with the prices and the currency names found in its text.
type pricedText struct {
	text   string
	prices []writtenPrice
	names  []placedName
}

// writtenPrice is a price and its place in a text. The value has '.' as decimal mark and no digit groups.
type writtenPrice struct {
	value      string
	start, end int // byte offsets
}

var (
	pricePattern = regexp.MustCompile(`[0-9]+(?:[.,][0-9]+)*`)
	// Groups of three digits are separated by spaces or apostrophes (CLDR, symbol "group" of all locales).
	firstGroupPattern  = regexp.MustCompile(`^[1-9][0-9]{0,2}`)
	spacedGroupPattern = regexp.MustCompile(`^[ \x{a0}\x{2009}\x{202f}][0-9]{3}`)
	quotedGroupPattern = regexp.MustCompile(`^['’ʼ][0-9]{3}`)
	fractionPattern    = regexp.MustCompile(`^[.,][0-9]+`)
	groupMarks         = strings.NewReplacer(" ", "", "\u00a0", "", "\u2009", "", "\u202f", "", "'", "", "’", "", "ʼ", "")
)

// newPricedText finds the prices and currency names in a text. The parameter decimal is the decimal mark of the
// site.
func newPricedText(text, decimal string) *pricedText {
	t := &pricedText{text: text}
	for at := 0; at < len(text); {
		span := pricePattern.FindStringIndex(text[at:])
		if span == nil {
			break
		}
		start, end := at+span[0], at+span[1]
		value := ""
		if n := groupedLength(text[start:]); n > end-start {
			end = start + n
			value = strings.Replace(groupMarks.Replace(text[start:end]), ",", ".", 1)
		} else {
			value = priceValue(text[start:end], decimal)
		}
		t.prices = append(t.prices, writtenPrice{value, start, end})
		at = end
	}
	t.findCurrencies()
	return t
}

// groupedLength returns the length in bytes of a price such as "1 500" or "1'500.50" at the start of a text. It
// returns 0 if the text does not start with a price whose digit groups are separated like that.
func groupedLength(text string) int {
	length := len(firstGroupPattern.FindString(text))
	if length == 0 || startsWithDigit(text[length:]) {
		return 0
	}
	end := length
	for _, group := range []*regexp.Regexp{spacedGroupPattern, quotedGroupPattern} {
		for {
			n := len(group.FindString(text[end:]))
			if n == 0 || startsWithDigit(text[end+n:]) {
				break
			}
			end += n
		}
		if end > length {
			return end + len(fractionPattern.FindString(text[end:]))
		}
	}
	return 0
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// findCurrencies sets t.names: the currency names in the text, each with the price beside it if there is one. It
// requires t.prices.
func (t *pricedText) findCurrencies() {
	for _, m := range findMentions(t.text) {
		after, isAfter := t.priceBefore(m)
		before, isBefore := t.priceAfter(m)
		placed := placedName{mention: m}
		switch {
		case isBefore && (!isAfter || before.start-m.end < m.start-after.end):
			placed.price, placed.position = &before, Prefix
		case isAfter:
			placed.price, placed.position = &after, Postfix
		}
		t.names = append(t.names, placed)
	}
	words := t.hasWords()
	t.names = slices.DeleteFunc(slices.Clone(t.names), func(n placedName) bool { return n.alone && words && !t.meansCurrency(n) })
}

// meansCurrency reports whether a word such as "pounds", which can be an ordinary word too, names a currency here.
// It does so if each of several prices has this word beside it. It also does so if the same price has another
// currency name. findCurrencies asks this only for texts with other words.
func (t *pricedText) meansCurrency(n placedName) bool {
	if n.price == nil {
		return false
	}
	beside := make(map[int]bool)
	for _, other := range t.names {
		switch {
		case other.price == nil:
		case other.written == n.written:
			beside[other.price.start] = true
		case other.price.start == n.price.start && !other.alone && other.form != currencyPart:
			return true
		}
	}
	return len(beside) > 1 && len(beside) == len(t.prices)
}

// hasWords reports whether the text has letters outside its currency names.
func (t *pricedText) hasWords() bool {
	end := 0
	for _, n := range t.names {
		if strings.ContainsFunc(t.text[end:n.start], unicode.IsLetter) {
			return true
		}
		end = n.end
	}
	return strings.ContainsFunc(t.text[end:], unicode.IsLetter)
}

// maxGap is the maximum length in bytes of a gap between a price and the name of its currency.
const maxGap = 12

// Gaps between a price and the name of its currency.
var (
	gapAfterPrice  = regexp.MustCompile(`^(?:[,.]?[-–—])?[\s\p{Z}]*$`)
	gapBeforePrice = regexp.MustCompile(`^[\s\p{Z}]*[:.]?[\s\p{Z}]*$`)
	percentPattern = regexp.MustCompile(`^[\s\p{Z}]*%`)
)

// priceBefore returns the price directly in front of a currency name, as in "10 USD". It reports false if there is
// none.
func (t *pricedText) priceBefore(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].end > m.start }) - 1
	if i < 0 || m.start-t.prices[i].end > maxGap || !gapAfterPrice.MatchString(t.text[t.prices[i].end:m.start]) {
		return price, false
	}
	return t.prices[i], true
}

// priceAfter returns the price directly behind a currency name, as in "USD 10". It reports false if there is none.
func (t *pricedText) priceAfter(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].start >= m.end })
	if i == len(t.prices) || t.prices[i].start-m.end > maxGap || !gapBeforePrice.MatchString(t.text[m.end:t.prices[i].start]) {
		return price, false
	}
	return t.prices[i], true
}

// namedCurrencies is a list of currency names found in a cost. The names decide the currency of its prices.
type namedCurrencies []placedName

// placedName is a currency name in a text, with the price beside it if there is one.
type placedName struct {
	mention
	price    *writtenPrice // nil if the name is not beside a price
	position string        // Prefix or Postfix; "" without a price
}

// decisiveNames returns the currency names that decide the currency of a cost. These are the names beside prices
// above 0. If there are none, they are the names beside prices of 0. Otherwise they are names anywhere in the
// texts that count without a price, such as the codes of common currencies.
func decisiveNames(texts []*pricedText) namedCurrencies {
	var priced, free, apart namedCurrencies
	for _, t := range texts {
		for _, n := range t.names {
			switch {
			case n.form == currencyPart:
			case n.price == nil && n.apart:
				apart = append(apart, n)
			case n.price == nil:
			case isFree(n.price.value):
				free = append(free, n)
			default:
				priced = append(priced, n)
			}
		}
	}
	switch {
	case len(priced) > 0:
		return priced
	case len(free) > 0:
		return free
	}
	return apart
}

// codes returns the ISO 4217 codes of the currencies that all names can mean. A symbol without a code stands for
// itself. The result is empty if the names mean different currencies.
//
// A symbol of several currencies and an exact name agree only beside the same price. "$200 (12 USD)" has no codes,
// because $200 can be pesos.
func (n namedCurrencies) codes() []string {
	codes := n[0].meanings()
	exact, shared := false, false
	for _, name := range n {
		meanings := name.meanings()
		codes = commonStrings(codes, meanings)
		exact, shared = exact || len(meanings) == 1, shared || len(meanings) > 1
	}
	if exact && shared && !n.shareAPrice() {
		return nil
	}
	return codes
}

// shareAPrice reports whether an exact currency name and an ambiguous one, such as "$", stand beside the same
// price.
func (n namedCurrencies) shareAPrice() bool {
	return slices.ContainsFunc(n, func(a placedName) bool {
		return len(a.meanings()) == 1 && slices.ContainsFunc(n, func(b placedName) bool {
			return len(b.meanings()) > 1 && a.price != nil && b.price != nil && *a.price == *b.price
		})
	})
}

// meanings returns the codes of the currencies that a name can mean. For a name without a code it returns the
// name.
func (m mention) meanings() []string {
	if m.codes == nil {
		return []string{m.written}
	}
	return m.codes
}

// commonStrings returns the strings of a that are also in b, in the order of a.
func commonStrings(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// format returns how to display prices in the currencies with the given codes, which n.codes returned. It returns
// the first symbol that means exactly these currencies, and no codes. Without such a symbol it returns the codes.
// A word of several currencies, such as "dollars", is the symbol, and the codes are returned too.
func (n namedCurrencies) format(codes []string) (symbol, position string, own []string) {
	for _, m := range n {
		if m.form == currencySymbol && len(m.meanings()) == len(codes) && utf8.RuneCountInString(m.written) <= maxSymbol {
			return m.written, m.side(m.written), nil
		}
	}
	if len(codes) == 1 {
		name := n[0]
		for _, m := range n {
			if len(m.meanings()) == 1 {
				name = m
				break
			}
		}
		return "", name.side(codes[0]), codes
	}
	return n[0].written, n[0].side(n[0].written), codes
}

// side returns Prefix or Postfix: the side of the price on which the name stands. Without a price it returns the
// usual side of the symbol.
func (p placedName) side(symbol string) string {
	if p.position != "" {
		return p.position
	}
	return positionOfSymbol(symbol)
}

// positionOfSymbol returns the usual position of a symbol. It is Postfix for symbols with letters and Prefix for
// signs such as "$".
func positionOfSymbol(symbol string) string {
	if strings.ContainsFunc(symbol, unicode.IsLetter) {
		return Postfix
	}
	return Prefix
}

// pricesIn returns the prices of texts in the currency with the given codes. It leaves out percentages and
// hundredth parts, such as the 50 in "50p". If nothing else is left, it returns all.
func pricesIn(texts []*pricedText, codes []string) []string {
	var prices, all []string
	for _, t := range texts {
		parts := t.hundredthParts(codes)
		for _, p := range t.prices {
			all = append(all, p.value)
			if !parts[p] && !percentPattern.MatchString(t.text[p.end:]) {
				prices = append(prices, p.value)
			}
		}
	}
	if len(prices) == 0 {
		return all
	}
	return prices
}

// hundredthParts returns the prices that count a hundredth of the currency with the given codes, such as the 50 in
// "50p". A price with the name of a currency beside it does not count. The p of an abbreviation such as "p.p."
// does not count either.
func (t *pricedText) hundredthParts(codes []string) map[writtenPrice]bool {
	parts := make(map[writtenPrice]bool)
	for _, n := range t.names {
		if n.form == currencyPart && n.position == Postfix && !abbreviationPattern.MatchString(t.text[n.end:]) &&
			len(commonStrings(n.meanings(), codes)) > 0 {
			parts[*n.price] = true
		}
	}
	for _, n := range t.names {
		if n.form != currencyPart && n.price != nil {
			delete(parts, *n.price)
		}
	}
	return parts
}

var abbreviationPattern = regexp.MustCompile(`^[./&]\pL`)

// InSeveralCurrencies reports whether ParseCost kept all elements as texts because they name several currencies.
func (c Cost) InSeveralCurrencies() bool {
	return len(c.Prices) == 0 && slices.ContainsFunc(c.Texts, func(t string) bool { return strings.ContainsAny(t, "0123456789") })
}

// OwnCurrency returns the symbol or code to display with the prices, and its position. It returns "" twice if the
// prices are in the currency of the site.
func (c Cost) OwnCurrency(site Currency) (symbol, position string) {
	switch {
	case slices.Contains(c.Codes, site.Code):
		return "", ""
	case c.Symbol != "":
		return c.Symbol, c.Position
	case len(c.Codes) == 1:
		return c.Codes[0], c.Position
	}
	return "", ""
}

// CurrencyOn returns the format for displaying the prices of the cost on a site. Symbol and position are those of
// the cost if it has its own, and otherwise those of the site.
func (c Cost) CurrencyOn(site Currency) Currency {
	if symbol, position := c.OwnCurrency(site); symbol != "" {
		site.Symbol, site.Position = symbol, position
	}
	return site
}

// CodeOn returns the ISO 4217 code of the currency of a cost on a site. It returns "" if the currency is
// ambiguous: many countries use the symbol $.
func (c Cost) CodeOn(site Currency) string {
	switch {
	case len(c.Codes) == 1:
		return c.Codes[0]
	case slices.Contains(c.Codes, site.Code):
		return site.Code
	case len(c.Codes) > 1:
		return ""
	case c.Symbol == "", c.Symbol == site.Symbol:
		return site.Code
	}
	var codes []string
	for i, n := range newPricedText(c.Symbol, ".").names {
		switch {
		case n.form == currencyPart:
			return "" // 50p is no price of 50 pounds
		case i == 0:
			codes = n.codes
		default:
			codes = commonStrings(codes, n.codes)
		}
		if n.alone && !slices.Equal(codes, []string{site.Code}) {
			return "" // TOP 10
		}
	}
	if len(codes) == 1 {
		return codes[0]
	}
	return ""
}

// priceValue converts a price from a text, such as "1.500,00", to digits with at most one '.'. The parameter
// decimal is the decimal mark of the site.
func priceValue(written, decimal string) string {
	last := strings.LastIndexAny(written, ".,")
	if last < 0 {
		return written
	}
	if decimal != "," {
		decimal = "."
	}
	points, commas := strings.Count(written, "."), strings.Count(written, ",")
	mark, fraction := written[last:last+1], written[last+1:]
	groups := strings.NewReplacer(".", "", ",", "")
	switch {
	case points > 0 && commas > 0:
	case points+commas == 1 && (len(fraction) != 3 || mark == decimal):
	default:
		return groups.Replace(written)
	}
	return groups.Replace(written[:last]) + "." + fraction
}
