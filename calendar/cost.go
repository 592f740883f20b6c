package calendar

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cost is the stored cost of an event. The zero value means no cost, which differs from a cost of 0. Display
// adds the words that depend on the language of the reader.
type Cost struct {
	// Symbol is the currency symbol of the elements, with Position Prefix or Postfix. If it is empty, or Codes
	// has that of the site, Display uses symbol and position of the site.
	Symbol   string `json:"symbol,omitempty"`
	Position string `json:"position,omitempty"`
	// Codes are the ISO 4217 codes of the currency, if the elements name it by its code or by a word. A word such as dollars
	// has several, and is the symbol on a site with none of them.
	Codes []string `json:"codes,omitempty"`
	// Prices are distinct numbers in ascending order, with '.' as decimal mark and without digit groups. Zeros
	// are kept as they were written: 12.50.
	Prices []string `json:"prices,omitempty"`
	// Texts are the elements without a price, and the texts before a price in a displayed cost. They are in the order
	// in which they were sent, each once.
	Texts []string `json:"texts,omitempty"`
}

const maxSymbol = 5 // maximum length of a currency symbol in characters

// partPattern matches the separators of parts. It is only matched outside prices, where a comma cannot belong to a
// number.
var partPattern = regexp.MustCompile(`[;,\n\r\v\f\x{85}\x{2028}\x{2029}]|[\s\p{Z}][-–—][\s\p{Z}]`)

// ParseCost parses the elements of a cost (contract, section 7), which are sanitised plain text. Decimal is the
// decimal mark of the site, "." or ",". It decides what 1.500 and 1,500 mean. A caller with a number writes it
// with that mark, so that ParseCost does not read the mark as a digit group.
func ParseCost(elements []string, decimal string) Cost {
	var c Cost
	var parts []costPart
	var free []string // prices of 0 from words
	var priced []*pricedText
	for _, e := range elements {
		texts, e := leadingTexts(strings.TrimSpace(e))
		for _, t := range texts {
			if freeWords[strings.ToLower(t)] {
				free = []string{"0"}
				parts = append(parts, costPart{prices: free})
			} else {
				c.addText(t)
			}
		}
		p := newPricedText(e, decimal)
		if len(p.prices) == 0 {
			c.addText(e)
		}
		priced = append(priced, p)
		parts = append(parts, p.parts()...)
	}
	for _, t := range c.Texts {
		priced = append(priced, newPricedText(t, decimal))
	}
	for _, p := range parts {
		c.Prices = append(c.Prices, p.prices...)
	}
	c.Symbol, c.Position = commonSymbol(parts)
	if currency := decisiveNames(priced); len(currency) > 0 && len(c.Prices) > 0 && len(newPricedText(c.Symbol, decimal).names) == 0 {
		codes := currency.codes()
		if len(codes) == 0 {
			return verbatimCost(elements)
		}
		c.Symbol, c.Position, c.Codes = currency.format(codes)
		c.Prices = slices.Concat(free, pricesIn(priced, codes))
	}
	slices.SortStableFunc(c.Prices, comparePrices)
	c.Prices = slices.CompactFunc(c.Prices, func(a, b string) bool { return comparePrices(a, b) == 0 })
	return c
}

// verbatimCost returns a cost that keeps all elements as texts, without prices. ParseCost uses it for elements in
// several currencies, because a cost has only one currency.
func verbatimCost(elements []string) Cost {
	var c Cost
	for _, e := range elements {
		for text := range strings.SplitSeq(strings.TrimSpace(e), displaySeparator) {
			c.addText(strings.TrimSpace(text))
		}
	}
	return c
}

// addText adds a text to c.Texts, unless it is empty or already there.
func (c *Cost) addText(text string) {
	if text != "" && !slices.Contains(c.Texts, text) {
		c.Texts = append(c.Texts, text)
	}
}

// displaySeparator separates the texts and prices of a displayed cost.
const displaySeparator = " – "

// freeWords are the words for a price of 0 in all languages, in lower case.
var freeWords = map[string]bool{"free": true, "bezpłatnie": true, "gratis": true}

// leadingTexts splits an element of the form that Cost.Display writes. For "Donation – $10" it returns the text
// "Donation" and the rest "$10". If the element has no digit, rest is the whole element.
func leadingTexts(element string) (texts []string, rest string) {
	at := strings.IndexAny(element, "0123456789")
	if at < 0 {
		return nil, element
	}
	end := strings.LastIndex(element[:at], displaySeparator)
	if end < 0 {
		return nil, element
	}
	for text := range strings.SplitSeq(element[:end], displaySeparator) {
		texts = append(texts, strings.TrimSpace(text))
	}
	return texts, element[end+len(displaySeparator):]
}

// IsZero reports whether c means "no cost given". It is false for a free event, whose price is 0.
func (c Cost) IsZero() bool { return len(c.Prices) == 0 && len(c.Texts) == 0 }

// Equal reports whether two costs have the same stored form.
func (c Cost) Equal(d Cost) bool {
	return c.Symbol == d.Symbol && c.Position == d.Position && slices.Equal(c.Codes, d.Codes) &&
		slices.Equal(c.Prices, d.Prices) && slices.Equal(c.Texts, d.Texts)
}

// Values returns the cost in the form for programs: the slug of each text in the order sent, then the prices. It
// leaves out texts without a slug. It never returns nil.
func (c Cost) Values() []string {
	values := make([]string, 0, len(c.Texts)+len(c.Prices))
	for _, t := range c.Texts {
		if s := Slug(t); s != "" && !slices.Contains(values, s) {
			values = append(values, s)
		}
	}
	return append(values, c.Prices...)
}

// Display returns the cost as HTML-escaped text for readers: the texts, then the lowest price or the range of
// prices. An example is "Donation – $10 – $20". The parameter site is the default currency of the site. The
// parameter free is the word for a price of 0 in the language of the reader. Display returns "" if there is no
// cost.
func (c Cost) Display(site Currency, free string) string {
	cur := c.CurrencyOn(site)
	shown := slices.Clone(c.Texts)
	if n := len(c.Prices); n > 0 {
		shown = append(shown, displayPrice(c.Prices[0], cur, free))
		if n > 1 {
			shown = append(shown, displayPrice(c.Prices[n-1], cur, free))
		}
	}
	return Escape(strings.Join(shown, displaySeparator))
}

// Text returns the whole cost as plain text for forms and tables: the texts, then all prices, joined by separator.
// The parameter decimal is the decimal mark of the site. ParseCost reads most results back as the same cost. It
// cannot do so for some costs that a client sent as a list.
func (c Cost) Text(decimal, separator string) string {
	shown := make([]string, len(c.Prices))
	for i, price := range c.Prices {
		shown[i] = price
		if decimal == "," {
			shown[i] = strings.Replace(price, ".", decimal, 1)
		}
		switch {
		case isFree(price) || c.Symbol == "":
		case c.Position == Postfix:
			shown[i] += c.Symbol
		default:
			shown[i] = c.Symbol + shown[i]
		}
	}
	prices := strings.Join(shown, separator)
	switch {
	case len(c.Codes) != 1 || prices == "":
	case c.Position == Postfix:
		prices += " " + c.Codes[0]
	default:
		prices = c.Codes[0] + " " + prices
	}
	return strings.Join(slices.DeleteFunc(append(slices.Clone(c.Texts), prices), func(s string) bool { return s == "" }), displaySeparator)
}

// Lowest returns the lowest price as a decimal number. It returns "0" for a free event and for a cost that
// consists of words. It returns "" if there is no cost, or if its prices are in several currencies.
func (c Cost) Lowest() string {
	switch {
	case c.IsZero(), c.InSeveralCurrencies():
		return ""
	case len(c.Prices) == 0 || isFree(c.Prices[0]):
		return "0"
	}
	return c.Prices[0]
}

func displayPrice(price string, cur Currency, free string) string {
	switch {
	case isFree(price):
		return free
	case cur.Position == Postfix:
		return price + cur.Symbol
	}
	return cur.Symbol + price
}

// costPart is a piece of a cost element that contains at least one price: "adults $20" in "adults $20, children
// $10". The fields before and after have the text in front of and behind the price.
type costPart struct {
	prices        []string
	before, after string
}

// parts splits the text at commas, semicolons, line breaks and spaced dashes. It returns only the parts that
// contain a price.
func (t *pricedText) parts() []costPart {
	var parts []costPart
	var p costPart
	rest := func(text string) {
		if len(p.prices) == 0 {
			p.before += text
		} else {
			p.after += text
		}
	}
	// between adds a text without prices to the parts beside it. A separator in the text ends one part and begins
	// the next.
	between := func(text string) {
		for {
			cut := partPattern.FindStringIndex(text)
			if cut == nil {
				rest(text)
				return
			}
			rest(text[:cut[0]])
			if len(p.prices) > 0 {
				parts = append(parts, p)
			}
			p, text = costPart{}, text[cut[1]:]
		}
	}
	end := 0
	for _, price := range t.prices {
		between(t.text[end:price.start])
		p.prices = append(p.prices, price.value)
		end = price.end
	}
	between(t.text[end:])
	if len(p.prices) > 0 {
		parts = append(parts, p)
	}
	return parts
}

// symbol returns the currency symbol of a part, which is the text beside its only price, and the symbol's
// position. It returns "" twice if the part has several prices, or if that text cannot be a symbol.
func (p costPart) symbol() (symbol, position string) {
	before, after := strings.TrimSpace(p.before), strings.TrimSpace(p.after)
	switch {
	case len(p.prices) != 1:
		return "", ""
	case after == "":
		symbol, position = before, Prefix
	case before == "":
		symbol, position = after, Postfix
	}
	alien := func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) }
	if symbol == "" || utf8.RuneCountInString(symbol) > maxSymbol || strings.ContainsFunc(symbol, alien) {
		return "", ""
	}
	return symbol, position
}

// commonSymbol returns the symbol that all parts share and its position. It returns "" if the symbols differ. A
// part with the price 0 needs no symbol: the symbol of "0" and "20$" is "$".
func commonSymbol(parts []costPart) (symbol, position string) {
	for _, p := range parts {
		s, pos := p.symbol()
		switch {
		case s == "" && !slices.ContainsFunc(p.prices, func(v string) bool { return !isFree(v) }):
		case s == "", symbol != "" && (s != symbol || pos != position):
			return "", ""
		default:
			symbol, position = s, pos
		}
	}
	return symbol, position
}

func isFree(price string) bool { return strings.Trim(price, "0.") == "" }

// comparePrices compares two prices as numbers, for sorting. Prices can have hundreds of digits and must not be
// rounded. So it compares text: first the number of digits before the point, then the digits.
func comparePrices(a, b string) int {
	wholeA, fractionA, _ := strings.Cut(a, ".")
	wholeB, fractionB, _ := strings.Cut(b, ".")
	wholeA, wholeB = strings.TrimLeft(wholeA, "0"), strings.TrimLeft(wholeB, "0")
	return cmp.Or(
		cmp.Compare(len(wholeA), len(wholeB)),
		cmp.Compare(wholeA, wholeB),
		cmp.Compare(strings.TrimRight(fractionA, "0"), strings.TrimRight(fractionB, "0")),
	)
}
