package locale

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// Cost formats a cost as plain text in the style of the language: 25–40 zł, $ 27.600, £8–£12. The parameter
// site is the currency of the site, for a cost without one. The text free is the word for a price of 0. An
// empty cost gives "".
func (d Dates) Cost(c calendar.Cost, site calendar.Currency, free string) string {
	cur := c.CurrencyOn(site)
	parts := append([]string{}, c.Texts...)
	switch n := len(c.Prices); {
	case n == 0:
	case c.Lowest() == "0" && n == 1:
		parts = append(parts, free)
	case c.Lowest() == "0":
		parts = append(parts, free, d.price(d.amount(c.Prices[n-1]), cur))
	case n == 1:
		parts = append(parts, d.price(d.amount(c.Prices[0]), cur))
	default:
		parts = append(parts, d.priceRange(d.amount(c.Prices[0]), d.amount(c.Prices[n-1]), cur))
	}
	return strings.Join(parts, " – ")
}

// priceRange formats a range of prices. The symbol appears once, unless it stands directly before a number.
func (d Dates) priceRange(low, high string, cur calendar.Currency) string {
	if cur.Position != calendar.Postfix && d.beforePrice(cur.Symbol) == "" {
		return d.price(low, cur) + "–" + d.price(high, cur)
	}
	return d.price(low+"–"+high, cur)
}

// price adds a currency symbol to an amount.
func (d Dates) price(amount string, cur calendar.Currency) string {
	switch {
	case cur.Symbol == "":
		return amount
	case cur.Position == calendar.Postfix:
		return amount + noBreak + cur.Symbol
	}
	return cur.Symbol + d.beforePrice(cur.Symbol) + amount
}

const noBreak = "\u00a0"

// beforePrice returns the text between a symbol and the amount after it. In English it is empty, unless the symbol
// ends with a letter.
func (d Dates) beforePrice(symbol string) string {
	if last, _ := utf8.DecodeLastRuneInString(symbol); unicode.IsLetter(last) || d.words.group != "," {
		return noBreak
	}
	return ""
}

// amount formats a stored price, which is digits with at most one point. A fraction gets at least two digits. A
// fraction of zeros is left out.
func (d Dates) amount(price string) string {
	whole, fraction, _ := strings.Cut(price, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	var b strings.Builder
	grouped := len(whole) >= len("1000")
	if d.words.groupFrom > 1000 {
		grouped = len(whole) >= len("10000")
	}
	for i, digit := range whole {
		if grouped && i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(d.words.group)
		}
		b.WriteRune(digit)
	}
	if strings.Trim(fraction, "0") == "" {
		return b.String()
	}
	mark := ","
	if d.words.group == "," {
		mark = "."
	}
	b.WriteString(mark + fraction)
	if len(fraction) == 1 {
		b.WriteByte('0')
	}
	return b.String()
}
