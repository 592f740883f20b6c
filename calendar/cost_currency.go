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
	text     string
	prices   []writtenPrice
	mentions []mention
}

// writtenPrice is a price in a text. Its value has '.' as decimal mark and no digit groups.
type writtenPrice struct {
	value      string
	start, end int // byte offsets
}

var (
	pricePattern = regexp.MustCompile(`[0-9]+(?:[.,][0-9]+)*`)
	// groupedPattern matches a price whose groups of three digits are separated by spaces or apostrophes (CLDR, symbol
	// "group" of all locales).
	groupedPattern = regexp.MustCompile(`^[1-9][0-9]{0,2}(?:(?:[ \x{a0}\x{2009}\x{202f}][0-9]{3})+|(?:['’ʼ][0-9]{3})+)(?:[.,][0-9]+)?`)
	groupMarks     = strings.NewReplacer(" ", "", "\u00a0", "", "\u2009", "", "\u202f", "", "'", "", "’", "", "ʼ", "")
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
		if n := len(groupedPattern.FindString(text[start:])); n > end-start && !startsWithDigit(text[start+n:]) {
			end = start + n
			value = strings.Replace(groupMarks.Replace(text[start:end]), ",", ".", 1)
		} else {
			value = priceValue(text[start:end], decimal)
		}
		t.prices = append(t.prices, writtenPrice{value, start, end})
		at = end
	}
	t.mentions = findMentions(text)
	if t.hasWords() {
		t.mentions = slices.DeleteFunc(t.mentions, func(m mention) bool { return m.alone })
	}
	return t
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// hasWords reports whether the text has letters that are no name of a currency.
func (t *pricedText) hasWords() bool {
	end := 0
	for _, m := range t.mentions {
		if strings.ContainsFunc(t.text[end:m.start], unicode.IsLetter) {
			return true
		}
		end = m.end
	}
	return strings.ContainsFunc(t.text[end:], unicode.IsLetter)
}

// Gaps between a price and the name of its currency.
var (
	gapAfterPrice  = regexp.MustCompile(`^(?:[,.]?[-–—])?[\s\p{Z}]*$`)
	gapBeforePrice = regexp.MustCompile(`^[\s\p{Z}]*[:.]?[\s\p{Z}]*$`)
	percentPattern = regexp.MustCompile(`^[\s\p{Z}]*%`)
)

// priceBefore returns the price that a name stands directly behind.
func (t *pricedText) priceBefore(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].end > m.start }) - 1
	if i < 0 || !gapAfterPrice.MatchString(t.text[t.prices[i].end:m.start]) {
		return price, false
	}
	return t.prices[i], true
}

// priceAfter returns the price that a name stands directly before.
func (t *pricedText) priceAfter(m mention) (price writtenPrice, ok bool) {
	i := sort.Search(len(t.prices), func(i int) bool { return t.prices[i].start >= m.end })
	if i == len(t.prices) || !gapBeforePrice.MatchString(t.text[m.end:t.prices[i].start]) {
		return price, false
	}
	return t.prices[i], true
}

// namedCurrencies are the names of currencies that decide in which currency the prices of a cost are.
type namedCurrencies []placedName

// placedName is the name of a currency with its side of a price.
type placedName struct {
	mention
	position string // Prefix or Postfix; "" if it is not beside a price
}

// namedCurrency returns the names beside a price above 0. If there are none, it returns those beside a price of 0, and
// then those anywhere in the texts.
func namedCurrency(texts []*pricedText) namedCurrencies {
	var priced, free, apart namedCurrencies
	for _, t := range texts {
		for _, m := range t.mentions {
			if m.form == currencyPart {
				continue
			}
			price, after := t.priceBefore(m)
			placed := placedName{m, Postfix}
			if next, before := t.priceAfter(m); before && (!after || next.start-m.end < m.start-price.end) {
				price, placed.position = next, Prefix
			} else if !after {
				placed.position = ""
			}
			switch {
			case placed.position == "" && m.apart:
				apart = append(apart, placed)
			case placed.position == "":
			case isFree(price.value):
				free = append(free, placed)
			default:
				priced = append(priced, placed)
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

// codes returns the codes of the currencies that all names can mean. A symbol without a code stands for itself. Names of
// different currencies have no common code.
func (n namedCurrencies) codes() []string {
	codes := n[0].meanings()
	for _, other := range n[1:] {
		codes = commonStrings(codes, other.meanings())
	}
	return codes
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
// with its code. Words that several currencies share give the symbol of the first of them. The codes are those of n.
func (n namedCurrencies) format(codes []string) (symbol, position, code string) {
	for _, m := range n {
		if m.form == currencySymbol && len(m.meanings()) == len(codes) && utf8.RuneCountInString(m.written) <= maxSymbol {
			return m.written, m.side(m.written), ""
		}
	}
	for _, m := range n {
		if m.form != currencySymbol && len(codes) == 1 && len(m.meanings()) == 1 {
			return "", m.side(codes[0]), codes[0]
		}
	}
	if len(codes) == 1 {
		return "", n[0].side(codes[0]), codes[0]
	}
	return n[0].symbol, positionOfSymbol(n[0].symbol), ""
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
		parts := make(map[writtenPrice]bool)
		for _, m := range t.mentions {
			if m.form == currencyPart && len(commonStrings(m.meanings(), codes)) > 0 {
				if p, ok := t.priceBefore(m); ok {
					parts[p] = true
				}
			}
		}
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

// InSeveralCurrencies reports whether ParseCost kept the elements as texts because they name several currencies.
func (c Cost) InSeveralCurrencies() bool {
	return len(c.Prices) == 0 && slices.ContainsFunc(c.Texts, func(t string) bool { return strings.ContainsAny(t, "0123456789") })
}

// OwnCurrency returns the symbol and the position of a cost that has a currency of its own. Otherwise it returns "": the
// cost is in the currency of the site.
func (c Cost) OwnCurrency(site Currency) (symbol, position string) {
	switch {
	case c.Symbol != "":
		return c.Symbol, c.Position
	case c.Code != "" && c.Code != site.Code:
		return c.Code, c.Position
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
	case c.Code != "":
		return c.Code
	case c.Symbol == "", c.Symbol == site.Symbol:
		return site.Code
	}
	var codes []string
	for i, m := range findMentions(c.Symbol) {
		switch {
		case m.form == currencyPart:
			return "" // 50p is no price of 50 pounds
		case i == 0:
			codes = m.codes
		default:
			codes = commonStrings(codes, m.codes)
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
