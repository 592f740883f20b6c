package importer

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// cost returns the cost of an event, from the displayed text and from the unformatted details.
func (o object) cost(site calendar.Site) calendar.Cost {
	shown := costElements(o.text("cost", maxText))
	// A displayed range has the same marks as a value.
	parsed := calendar.ParseCost(shown, site.Currency.Decimal)
	if parsed.InSeveralCurrencies() {
		return parsed // the values do not say which price is in which currency
	}
	details, ok := newObject(o.members["cost_details"], "cost_details: ", o.log)
	if !ok {
		return parsed
	}
	var prices, texts []string
	for _, v := range details.list("values") {
		if pricePattern.MatchString(v) {
			prices = append(prices, v)
		} else if t := textOf(v, shown); t != "" {
			texts = append(texts, t)
		}
	}
	c := parsed
	if len(prices)+len(texts) > 0 {
		c = calendar.ParseCost(prices, ".")
		c.Texts = texts
		c.Symbol, c.Position, c.Codes = parsed.Symbol, parsed.Position, parsed.Codes
	}
	symbol, position := details.text("currency_symbol", maxText), details.raw("currency_position")
	switch {
	case c.IsZero():
		return calendar.Cost{}
	case isCurrencySymbol(symbol):
		c.Symbol, c.Position, c.Codes = symbol, positionOf(position), nil
	}
	return c
}

// pricePattern matches a value of cost_details that is a number with '.' as decimal mark and without digit
// groups.
var pricePattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// costElements splits a displayed cost, such as "Donation – $10 – $20", at its dashes.
func costElements(shown string) []string {
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(shown, " - ", " – "), " – ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// textOf returns the first of the displayed texts whose slug equals value. If there is none, it returns value.
func textOf(value string, shown []string) string {
	for _, s := range shown {
		if calendar.Slug(s) == calendar.Slug(value) {
			return s
		}
	}
	return value
}

// isCurrencySymbol reports whether a text can be a currency symbol (contract, section 7).
func isCurrencySymbol(symbol string) bool {
	return symbol != "" && utf8.RuneCountInString(symbol) <= 5 &&
		!strings.ContainsFunc(symbol, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) })
}

func positionOf(position string) string {
	switch strings.ToLower(position) {
	case "postfix", "suffix":
		return calendar.Postfix
	}
	return calendar.Prefix
}

// list returns the texts and numbers of the member called name, which is a list or a single value.
func (o object) list(name string) []string {
	if o.isEmpty(name) {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(o.members[name], &items) != nil {
		items = []json.RawMessage{o.members[name]}
	}
	var out []string
	for _, item := range items {
		one := object{map[string]json.RawMessage{name: item}, o.at, o.log}
		if s := one.text(name, maxText); s != "" {
			out = append(out, s)
		}
	}
	return out
}
