package calendar

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pricedText is an element of a cost with the prices and the names of currencies in it.
type pricedText struct {
	text   string
	prices []writtenPrice
	names  []placedName
}

// writtenPrice is a price in a text. Its value has '.' as decimal mark and no digit groups.
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

// newPricedText finds the prices and currencies in a text. Decimal is the decimal mark of the site.
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

// groupedLength returns the length in bytes of a price with separated groups at the start of a text. 0 means that there is
// none.
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

// findCurrencies finds the names of currencies in the text, and the prices that they are beside.
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
	t.names = slices.DeleteFunc(slices.Clone(t.names), func(n placedName) bool { return n.alone && words && !t.counts(n) })
}

// counts reports whether a name that is also an ordinary word names a currency in a text with other words. It does so beside
// each of several prices, or beside a price with another name.
func (t *pricedText) counts(n placedName) bool {
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

// hasWords reports whether the text has letters that are no name of a currency.
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

// priceBefore returns the price that a name stands directly behind.
func (t *pricedText) priceBefore(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].end > m.start }) - 1
	if i < 0 || m.start-t.prices[i].end > maxGap || !gapAfterPrice.MatchString(t.text[t.prices[i].end:m.start]) {
		return price, false
	}
	return t.prices[i], true
}

// priceAfter returns the price that a name stands directly before.
func (t *pricedText) priceAfter(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].start >= m.end })
	if i == len(t.prices) || t.prices[i].start-m.end > maxGap || !gapBeforePrice.MatchString(t.text[m.end:t.prices[i].start]) {
		return price, false
	}
	return t.prices[i], true
}

// namedCurrencies are the names of currencies that decide in which currency the prices of a cost are.
type namedCurrencies []placedName

// placedName is the name of a currency beside a price or elsewhere.
type placedName struct {
	mention
	price    *writtenPrice // nil if the name is not beside a price
	position string        // Prefix or Postfix; "" without a price
}

// namedCurrency returns the names beside a price above 0. If there are none, it returns those beside a price of 0, and
// then those anywhere in the texts.
func namedCurrency(texts []*pricedText) namedCurrencies {
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

// codes returns the codes of the currencies that all names can mean. A symbol without a code stands for itself. It returns
// none for names of different currencies. A symbol of several currencies and the name of one agree only beside the same price:
// $200 (12 USD) can be in pesos and dollars.
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

// shareAPrice reports whether a name of one currency and a name of several are beside the same price.
func (n namedCurrencies) shareAPrice() bool {
	return slices.ContainsFunc(n, func(a placedName) bool {
		return len(a.meanings()) == 1 && slices.ContainsFunc(n, func(b placedName) bool {
			return len(b.meanings()) > 1 && a.price != nil && b.price != nil && *a.price == *b.price
		})
	})
}

// meanings returns the codes of the currencies that a name can mean, or the name if it has no code.
func (m mention) meanings() []string {
	if m.codes == nil {
		return []string{m.written}
	}
	return m.codes
}

// commonStrings returns the strings of a that b also has.
func commonStrings(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// format returns how a cost in the named currency is shown: with the first symbol that means exactly this currency, else
// by its codes. A word of several currencies is the symbol beside its codes. The codes are those of n.
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

// side returns the side of a price on which the name stands.
func (p placedName) side(symbol string) string {
	if p.position != "" {
		return p.position
	}
	return positionOfSymbol(symbol)
}

// positionOfSymbol returns the usual side of a symbol: signs stand before a price, letters behind it.
func positionOfSymbol(symbol string) string {
	if strings.ContainsFunc(symbol, unicode.IsLetter) {
		return Postfix
	}
	return Prefix
}

// pricesIn returns the prices in a currency with one of the codes. Percentages and hundredth parts, such as 50p, are no
// prices, unless there are no others.
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

// hundredthParts returns the prices that count the hundredth part of a currency with one of the codes. A price with the
// name of a currency beside it is not such a part. The p of an abbreviation such as p.p. does not count.
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

// InSeveralCurrencies reports whether ParseCost kept the elements as texts because they name several currencies.
func (c Cost) InSeveralCurrencies() bool {
	return len(c.Prices) == 0 && slices.ContainsFunc(c.Texts, func(t string) bool { return strings.ContainsAny(t, "0123456789") })
}

// OwnCurrency returns the symbol and the position of a cost that has a currency of its own. Otherwise it returns "": the
// cost is in the currency of the site.
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

// CurrencyOn returns the format of the prices of a cost on a site.
func (c Cost) CurrencyOn(site Currency) Currency {
	if symbol, position := c.OwnCurrency(site); symbol != "" {
		site.Symbol, site.Position = symbol, position
	}
	return site
}

// CodeOn returns the ISO 4217 code of a cost on a site. It returns "" if the symbol does not tell the currency for certain:
// $ is the currency of many countries.
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

// priceValue converts a written price to digits with at most one '.'.
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
