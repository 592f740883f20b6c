package calendar

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

var dollar = Currency{Symbol: "$", Code: "USD", Position: Prefix, Decimal: "."}

func TestCost(t *testing.T) {
	tests := []struct {
		name             string
		sent             []string
		display          string
		symbol, position string
		values           []string
	}{
		{"none", nil, "", "", "", []string{}},
		{"empty", []string{""}, "", "", "", []string{}},
		{"blank elements", []string{" ", "", "\t"}, "", "", "", []string{}},
		{"zero", []string{"0"}, "Free", "", "", []string{"0"}},
		{"free as a text", []string{"Free"}, "Free", "", "", []string{"free"}},
		{"whole number", []string{"10"}, "$10", "", "", []string{"10"}},
		{"point", []string{"10.5"}, "$10.5", "", "", []string{"10.5"}},
		{"comma", []string{"25,55"}, "$25.55", "", "", []string{"25.55"}},
		{"group", []string{"1,500"}, "$1500", "", "", []string{"1500"}},
		{"group and fraction", []string{"1.234,50 zł"}, "1234.50zł", "zł", "postfix", []string{"1234.50"}},
		{"symbol before", []string{"$10"}, "$10", "$", "prefix", []string{"10"}},
		{"symbol after", []string{"20$"}, "20$", "$", "postfix", []string{"20"}},
		{"symbol before and space", []string{"€ 10"}, "€10", "€", "prefix", []string{"10"}},
		{"symbol after space", []string{"10 €"}, "10€", "€", "postfix", []string{"10"}},
		{"range", []string{"10 - 20"}, "$10 – $20", "", "", []string{"10", "20"}},
		{"range with symbol", []string{"$12.50 - $20"}, "$12.50 – $20", "$", "prefix", []string{"12.50", "20"}},
		{"words around", []string{"from 5 to 50 USD"}, "$5 – $50", "", "", []string{"5", "50"}},
		{"list with zero", []string{"0$", "20$", "30$"}, "Free – 30$", "$", "postfix", []string{"0", "20", "30"}},
		{"text and price", []string{"Donation", "10"}, "Donation – $10", "", "", []string{"donation", "10"}},

		{"zero needs no symbol", []string{"0", "20 zł"}, "Free – 20zł", "zł", "postfix", []string{"0", "20"}},
		{"zero after needs none either", []string{"20 zł", "0"}, "Free – 20zł", "zł", "postfix", []string{"0", "20"}},
		{"zero with a longer remark", []string{"children 0", "20 zł"}, "Free – 20zł", "zł", "postfix", []string{"0", "20"}},
		{"zero with another symbol", []string{"0 €", "20 zł"}, "Free – 20zł", "zł", "postfix", []string{"0", "20"}},
		{"zero with fraction", []string{"0.00", "0"}, "Free", "", "", []string{"0.00"}},
		{"price without symbol", []string{"$10 - 20"}, "$10 – $20", "$", "prefix", []string{"10", "20"}},
		{"different symbols", []string{"$10", "€20"}, "$10 – €20", "", "", []string{"10", "20"}},
		{"different sides", []string{"€10", "20€"}, "€10 – €20", "€", "prefix", []string{"10", "20"}},
		{"symbol and code", []string{"€10 EUR"}, "€10", "€", "prefix", []string{"10"}},
		{"text on both sides", []string{"from 10 each"}, "$10", "", "", []string{"10"}},
		{"symbol of five characters", []string{"Pesos 5"}, "Pesos5", "Pesos", "prefix", []string{"5"}},
		{"symbol of six characters", []string{"ticket 5"}, "$5", "", "", []string{"5"}},
		{"symbol with white space", []string{"a b 5"}, "$5", "", "", []string{"5"}},
		{"symbol with a foreign digit", []string{"٣ 5"}, "$5", "", "", []string{"5"}},
		{"no-break space", []string{"10\u00a0zł"}, "10zł", "zł", "postfix", []string{"10"}},

		{"as it is shown", []string{"Donation – $10"}, "Donation – $10", "$", "prefix", []string{"donation", "10"}},
		{"texts and a range as shown", []string{"Members – By card – €5 – €8"}, "Members – By card – €5 – €8", "€", "prefix", []string{"members", "by-card", "5", "8"}},
		{"a free range as shown", []string{"Free – $20"}, "Free – $20", "$", "prefix", []string{"0", "20"}},
		{"a free range as shown in Polish", []string{"Bezpłatnie – 20 zł"}, "Free – 20zł", "zł", "postfix", []string{"0", "20"}},
		{"a text behind a price", []string{"$10 – Donation"}, "$10", "$", "prefix", []string{"10"}},
		{"another dash", []string{"Donation - $10"}, "$10", "$", "prefix", []string{"10"}},

		{"parts at semicolons", []string{"€5; €8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"parts at commas", []string{"€5, €8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"parts at line breaks", []string{"5 €\r\n8 €"}, "5€ – 8€", "€", "postfix", []string{"5", "8"}},
		{"parts at an en dash", []string{"€5 – €8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"parts at an em dash", []string{"€5 — €8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"parts at a hyphen", []string{"€5 - €8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"a dash without spaces", []string{"€5-€8"}, "€5 – €8", "€", "prefix", []string{"5", "8"}},
		{"no part at a dash without spaces", []string{"5 each-8 each"}, "$5 – $8", "", "", []string{"5", "8"}},
		{"part without price", []string{"Members, €5"}, "€5", "€", "prefix", []string{"5"}},
		{
			"text keeps its parts",
			[]string{"Donation, or nothing; as you like"},
			"Donation, or nothing; as you like", "", "",
			[]string{"donation-or-nothing-as-you-like"},
		},

		{"sorted by number", []string{"100", "20", "3"}, "$3 – $100", "", "", []string{"3", "20", "100"}},
		{"sorted by fraction", []string{"1.5", "1.25", "1"}, "$1 – $1.5", "", "", []string{"1", "1.25", "1.5"}},
		{"equal numbers once, as first written", []string{"10.00", "10", "010"}, "$10.00", "", "", []string{"10.00"}},
		{"leading zeros", []string{"007", "8"}, "$007 – $8", "", "", []string{"007", "8"}},
		{"several groups", []string{"1,234,567"}, "$1234567", "", "", []string{"1234567"}},
		{"several points", []string{"1.234.567"}, "$1234567", "", "", []string{"1234567"}},
		{"groups and point", []string{"1,234,567.891"}, "$1234567.891", "", "", []string{"1234567.891"}},
		{"point and three digits", []string{"1.500"}, "$1.500", "", "", []string{"1.500"}},
		{"four digits after a comma", []string{"1,5000"}, "$1.5000", "", "", []string{"1.5000"}},
		{"mixed marks", []string{"1,2.3,4"}, "$123.4", "", "", []string{"123.4"}},
		{"mark without digits", []string{"10."}, "10.", ".", "postfix", []string{"10"}},

		{
			"texts first, in the order sent",
			[]string{"20", "Pay what you can", "10", "Donation"},
			"Pay what you can – Donation – $10 – $20", "", "",
			[]string{"pay-what-you-can", "donation", "10", "20"},
		},
		{"text sent twice", []string{"Free", "Free"}, "Free", "", "", []string{"free"}},
		{"text without a slug", []string{"???"}, "???", "", "", []string{}},
		{"an element with a price is no text", []string{"Tea & cake <3"}, "$3", "", "", []string{"3"}},
		{"markup in texts", []string{"Tea & <cake>"}, "Tea &amp; &lt;cake&gt;", "", "", []string{"tea-cake"}},
		{"markup in symbols", []string{"<&> 5"}, "&lt;&amp;&gt;5", "<&>", "prefix", []string{"5"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := ParseCost(test.sent, ".")
			if got := c.Display(dollar, "Free"); got != test.display {
				t.Errorf("display %q, want %q", got, test.display)
			}
			if symbol, position := c.OwnCurrency(dollar); symbol != test.symbol || position != test.position {
				t.Errorf("symbol %q %q, want %q %q", symbol, position, test.symbol, test.position)
			}
			if diff := cmp.Diff(test.values, c.Values()); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if none := test.display == ""; c.IsZero() != none {
				t.Errorf("IsZero is %v", c.IsZero())
			}
		})
	}
}

func TestCostHugeNumbers(t *testing.T) {
	nines := strings.Repeat("9", 250)
	c := ParseCost([]string{nines + "8", nines, nines + "7"}, ".")
	want := []string{nines, nines + "7", nines + "8"}
	if diff := cmp.Diff(want, c.Values()); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	c = ParseCost([]string{"1." + nines + "1", "1." + nines, "1." + nines + "0"}, ".")
	want = []string{"1." + nines, "1." + nines + "1"}
	if diff := cmp.Diff(want, c.Values()); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestCostDecimalMark(t *testing.T) {
	tests := []struct{ sent, decimal, want string }{
		{"1.500", ".", "1.500"},
		{"1.500", ",", "1500"},
		{"1.500", "", "1.500"},
		{"1,500", ".", "1500"},
		{"1,500", ",", "1.500"},
		{"10,5", ".", "10.5"},
		{"10.5", ",", "10.5"},
		{"1.234,567", ".", "1234.567"},
		{"1,234.567", ",", "1234.567"},
		{"1.234.567", ".", "1234567"},
		{"1,234,567", ",", "1234567"},
	}
	for _, test := range tests {
		if got := ParseCost([]string{test.sent}, test.decimal).Values(); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%q with mark %q is %q, want %q", test.sent, test.decimal, got, test.want)
		}
	}
}

func TestCostDisplayByReader(t *testing.T) {
	zloty := Currency{Symbol: "zł", Position: Postfix}
	tests := []struct {
		name string
		sent []string
		cur  Currency
		free string
		want string
	}{
		{"word of the reader", []string{"0", "20"}, dollar, "Bezpłatnie", "Bezpłatnie – $20"},
		{"word is escaped", []string{"0"}, dollar, "<Free>", "&lt;Free&gt;"},
		{"currency of the site", []string{"10", "20"}, zloty, "Free", "10zł – 20zł"},
		{"currency sent wins", []string{"$10"}, zloty, "Free", "$10"},
		{"no currency", []string{"10"}, Currency{}, "Free", "10"},
		{"texts are not translated", []string{"Free"}, dollar, "Gratis", "Free"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := ParseCost(test.sent, ".").Display(test.cur, test.free); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCostLowest(t *testing.T) {
	tests := []struct {
		sent []string
		want string
	}{
		{nil, ""},
		{[]string{"Donation"}, "0"},
		{[]string{"0.00", "5"}, "0"},
		{[]string{"Donation", "12.50", "100"}, "12.50"},
	}
	for _, test := range tests {
		if got := ParseCost(test.sent, ".").Lowest(); got != test.want {
			t.Errorf("%q: %q, want %q", test.sent, got, test.want)
		}
	}
}

func TestCostIsStoredWhole(t *testing.T) {
	tests := []struct {
		sent []string
		want string
	}{
		{nil, `{}`},
		{[]string{"10"}, `{"prices":["10"]}`},
		{[]string{"Donation", "0", "20 zł"}, `{"symbol":"zł","position":"postfix","prices":["0","20"],"texts":["Donation"]}`},
	}
	for _, test := range tests {
		c := ParseCost(test.sent, ".")
		stored, err := json.Marshal(c)
		must.Succeed(t, err)
		if string(stored) != test.want {
			t.Errorf("stored %s, want %s", stored, test.want)
		}
		var back Cost
		must.Succeed(t, json.Unmarshal(stored, &back))
		if diff := cmp.Diff(c, back); diff != "" {
			t.Errorf("(-sent +read):\n%s", diff)
		}
	}
}

func FuzzCost(f *testing.F) {
	for _, seed := range []string{
		"", "0", "Free", "1.234,50 zł", "$12.50 - $20", "from 5 to 50 USD", "0$|20$|30$", "Donation|10", "€5;€8,9",
		"1,2.3,4", "٣|5", "a\u00a0–\u00a05", "5 - - 6", "\xff5", "1 500 zł", "CHF 1'200.50", "10–20 euro", "€8 (£5)", "od 20 złotych",
		"J$500–800", "$20 CAD", "£1 / 50p", "TRY 20–30", "5 kr/10 kr", "10 pesos 5%", "Free – $10 – €20", "¤5-8",
	} {
		f.Add(seed, ".")
		f.Add(seed, ",")
	}
	f.Fuzz(func(t *testing.T, sent, decimal string) {
		elements := strings.Split(sent, "|")
		c := ParseCost(elements, decimal)
		if diff := cmp.Diff(c, ParseCost(elements, decimal)); diff != "" {
			t.Errorf("differs the second time:\n%s", diff)
		}
		checkCurrency(t, sent, c)
		checkPrices(t, c)
		checkShown(t, c)
		checkReadAgain(t, c)
	})
}

// checkCurrency checks that symbol, codes and position of a cost are consistent, and that the sent text names that
// currency.
func checkCurrency(t *testing.T, sent string, c Cost) {
	t.Helper()
	if (c.Symbol == "" && c.Codes == nil) != (c.Position == "") || (c.Symbol == "") != (len(c.Codes) == 1) && c.Codes != nil {
		t.Errorf("symbol %q, codes %q, position %q", c.Symbol, c.Codes, c.Position)
	}
	if !namesCurrency(sent, c) {
		t.Errorf("%q has the currency %q %q", sent, c.Symbol, c.Codes)
	}
}

// checkPrices checks that the prices of a cost are decimal numbers in strictly ascending order.
func checkPrices(t *testing.T, c Cost) {
	t.Helper()
	for i, p := range c.Prices {
		if !decimalNumber(p) {
			t.Errorf("%q is no price", p)
		}
		if i > 0 && comparePrices(c.Prices[i-1], p) >= 0 {
			t.Errorf("%q is not above %q", p, c.Prices[i-1])
		}
	}
}

// checkShown checks the results of Values, Display and Lowest for a cost. They must be empty exactly if the cost
// is.
func checkShown(t *testing.T, c Cost) {
	t.Helper()
	values := c.Values()
	if values == nil || slices.Contains(values, "") {
		t.Errorf("values %q", values)
	}
	shown := c.Display(dollar, "Free")
	if (shown == "") != c.IsZero() || strings.ContainsAny(shown, "<>") {
		t.Errorf("shown as %q", shown)
	}
	if priced := len(c.Prices) > 0; priced && c.Lowest() == "" || c.IsZero() && c.Lowest() != "" {
		t.Errorf("the lowest price of %q is %q", shown, c.Lowest())
	}
}

// checkReadAgain checks that ParseCost reads the texts, prices and symbol of a parsed cost as the same cost.
func checkReadAgain(t *testing.T, c Cost) {
	t.Helper()
	again := ParseCost(slices.Concat(c.Texts, c.Prices), ".")
	if !slices.Equal(c.Texts, again.Texts) || !slices.Equal(c.Prices, again.Prices) {
		t.Errorf("%q is read again as %q", c, again)
	}
	if c.Symbol == "" {
		return
	}
	var written []string
	for _, p := range c.Prices {
		written = append(written, displayPrice(p, Currency{Symbol: c.Symbol, Position: c.Position}, p))
	}
	if strings.ContainsAny(c.Symbol, ".,;:/-–—%") {
		return // such a symbol looks like a part of the number or separates prices: "10.", "5 ,-"
	}
	if again := ParseCost(written, "."); again.Symbol != c.Symbol && comparePrices(c.Prices[len(c.Prices)-1], "0") != 0 {
		t.Errorf("symbol %q of %q read again as %q", c.Symbol, written, again.Symbol)
	}
}

// namesCurrency reports whether a text names the currency of a cost. It also reports true for a cost without its
// own currency. It does not use the parser's list of names, so that it can check the parser.
func namesCurrency(text string, c Cost) bool {
	words := map[string]string{
		"CAD": `C\$`, "GBP": `(?i)pound|quid|libra|funt|sterling|[£p]`, "EUR": `(?i)euro`, "PLN": `(?i)z[łl]ot`, "CHF": `(?i)fran`,
	}
	named := func(name string) bool {
		if strings.Contains(strings.ToUpper(text), strings.ToUpper(name)) {
			return true
		}
		word, ok := words[name]
		return ok && regexp.MustCompile(word).MatchString(text)
	}
	return (c.Symbol == "" || named(c.Symbol)) && (len(c.Codes) != 1 || named(c.Codes[0]))
}

func decimalNumber(s string) bool {
	whole, fraction, ok := strings.Cut(s, ".")
	return isDigits(whole) && (!ok || isDigits(fraction))
}

func TestTextOfACostIsParsedAsTheCost(t *testing.T) {
	t.Parallel()
	for _, decimal := range []string{".", ","} {
		for _, elements := range [][]string{
			nil,
			{"0"},
			{"Free"},
			{"10 - 15 - 20"},
			{"$12.50 - $20"},
			{"1.234,50 zł"},
			{"1" + decimal + "500"},
			{"Donation", "€5", "€12.50", "€8"},
			{"0$", "20$", "30$"},
			{"from 5 to 50 USD"},
			{"10 to 15 euros"},
			{"PLN 20/15"},
			{"$10", "€20"},
			{"Donation", "$10 / €9"},
			{"Pay what you can"},
			{"0.000; 3 zł"},
		} {
			want := ParseCost(elements, decimal)
			if got := ParseCost([]string{want.Text(decimal, " – ")}, decimal); !got.Equal(want) {
				t.Errorf("%q with %q: %q is %+v, want %+v", elements, decimal, want.Text(decimal, " – "), got, want)
			}
		}
	}
}
