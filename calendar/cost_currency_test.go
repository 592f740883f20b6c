package calendar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCurrencyOfCost parses prices as people write them. The default currency of the site is the zloty, and its
// decimal mark is the comma.
func TestCurrencyOfCost(t *testing.T) {
	zloty := Currency{Symbol: "zł", Code: "PLN", Position: Postfix, Decimal: ","}
	tests := []struct{ sent, shown, prices, code string }{
		{"1 500 zł", "1500zł", "1500", "PLN"},
		{"1\u00a0500 zł", "1500zł", "1500", "PLN"},
		{"1\u202f500,50 zł", "1500.50zł", "1500.50", "PLN"},
		{"1 234 567 zł", "1234567zł", "1234567", "PLN"},
		{"CHF 1'200.50", "CHF1200.50", "1200.50", "CHF"},
		{"1’200 CHF", "1200CHF", "1200", "CHF"},
		{"Kč 1 200", "Kč1200", "1200", "CZK"},
		{"1 500–2 000 Ft", "1500Ft – 2000Ft", "1500 2000", ""},
		{"₹ 1,00,000", "₹100000", "100000", "INR"},
		{"12 3456 zł", "12zł – 3456zł", "12 3456", "PLN"},
		{"0 500 zł", "Free – 500zł", "0 500", "PLN"},

		{"10€–15€", "10€ – 15€", "10 15", "EUR"},
		{"10–20 zł", "10zł – 20zł", "10 20", "PLN"},
		{"10—15 €", "10€ – 15€", "10 15", "EUR"},
		{"€10‑15", "€10 – €15", "10 15", "EUR"},
		{"£5/£3 concs", "£3 – £5", "3 5", "GBP"},
		{"15,00 zł / 10,00 zł ulgowy", "10.00zł – 15.00zł", "10.00 15.00", "PLN"},
		{"od 20 zł", "20zł", "20", "PLN"},
		{"€8 (€5 reduced)", "€5 – €8", "5 8", "EUR"},
		{"20,- zł / 10,- zł", "10zł – 20zł", "10 20", "PLN"},
		{"entre 10 y 20 euros", "10EUR – 20EUR", "10 20", "EUR"},
		{"Adults £12.50, children £6", "£6 – £12.50", "6 12.50", "GBP"},
		{"bilety: 20 zł (normalny), 15 zł (ulgowy)", "15zł – 20zł", "15 20", "PLN"},
		{"Price in €: 10/20", "€10 – €20", "10 20", "EUR"},
		{"10 each, prices in €", "€10", "10", "EUR"},
		{"100 kr / 50 kr barn", "50kr – 100kr", "50 100", ""},
		{"R$ 20,00 / R$ 10,00 (meia)", "R$10.00 – R$20.00", "10.00 20.00", "BRL"},
		{"J$500–800", "J$500 – J$800", "500 800", "JMD"},
		{"XX$500–800", "XX$500 – XX$800", "500 800", ""},
		{"R150 / R100", "R100 – R150", "100 150", ""},

		{"from 5 to 50 USD", "5USD – 50USD", "5 50", "USD"},
		{"from 5 to 50 dollars", "5dollars – 50dollars", "5 50", ""},
		{"20 - 30 PLN", "20zł – 30zł", "20 30", "PLN"},
		{"10 do 15 złotych", "10zł – 15zł", "10 15", "PLN"},
		{"10-15 eur", "10EUR – 15EUR", "10 15", "EUR"},
		{"$20 CAD", "20CAD", "20", "CAD"},
		{"US$10–20", "US$10 – US$20", "10 20", "USD"},
		{"20–30 MAD", "20MAD – 30MAD", "20 30", "MAD"},

		{"FREE FOR ALL 10-12", "10zł – 12zł", "10 12", "PLN"},
		{"try 10-12 songs", "10zł – 12zł", "10 12", "PLN"},
		{"Euros and 10-12 cakes", "10zł – 12zł", "10 12", "PLN"},
		{"Sala L3, rząd R5, od 20", "3zł – 20zł", "3 5 20", "PLN"},
		{"plan 10-20", "10zł – 20zł", "10 20", "PLN"},
		{"CHILDREN'S 5–10", "5zł – 10zł", "5 10", "PLN"},
		{"Jen & Tom live, 10–15", "10zł – 15zł", "10 15", "PLN"},
		{"Evening with Fr. James, 10–15", "10zł – 15zł", "10 15", "PLN"},
		{"Quid pro quo, 10–15", "10zł – 15zł", "10 15", "PLN"},
		{"2 pounds of crawfish, 15–20", "2zł – 20zł", "2 15 20", "PLN"},
		{"CPR/AED 40–50", "40zł – 50zł", "40 50", "PLN"},
		{"Includes 1 lei. 20 per person", "1zł – 20zł", "1 20", "PLN"},
		{"10–15 :-)", "10zł – 15zł", "10 15", "PLN"},
		{"Euro Trash Party 10–15", "10zł – 15zł", "10 15", "PLN"},

		{"S/10–20", "S/10 – S/20", "10 20", "PEN"},
		{"S/. 20 / S/. 10", "S/.10 – S/.20", "10 20", "PEN"},
		{"10–20 soles", "10PEN – 20PEN", "10 20", "PEN"},
		{"From 150 SEK / 100 SEK students", "100SEK – 150SEK", "100 150", "SEK"},
		{"R150 / R100 pensioners", "R100 – R150", "100 150", ""},
		{"Q50 adultos / Q25 niños", "Q25 – Q50", "25 50", ""},
		{"100–200 kč", "100kč – 200kč", "100 200", "CZK"},
		{"rs 500/rs 700", "rs500 – rs700", "500 700", ""},
		{"1 500–2 000 ft", "1500ft – 2000ft", "1500 2000", ""},
		{"r$20 / r$10", "r$10 – r$20", "10 20", "BRL"},
		{"entre 100 y 150 pesos", "100pesos – 150pesos", "100 150", ""},
		{"1 500 2000", "1500zł – 2000zł", "1500 2000", "PLN"},
		{"$100 ARS members", "100ARS", "100", "ARS"},

		{"£1 / 50p", "£1", "1", "GBP"},
		{"5 zł 50 gr", "5zł", "5", "PLN"},
		{"£20 p.p. or £35 per couple", "£20 – £35", "20 35", "GBP"},
		{"£10 p/p, £15 door", "£10 – £15", "10 15", "GBP"},
		{"$100 c/u o $180 la pareja", "$100 – $180", "100 180", ""},
		{"50p / 20p", "20zł – 50zł", "20 50", "PLN"},
		{"50p", "50p", "50", ""},
		{"€10 (50% off)", "€10", "10", "EUR"},

		{"$10 / €9", "$10 / €9", "", ""},
		{"20 złotych lub 5 euro", "20 złotych lub 5 euro", "", ""},
		{"Donation – $10 – €20", "Donation – $10 – €20", "", ""},
		{"$200 (12 USD)", "$200 (12 USD)", "", ""},

		{"20 zł/os", "20zł/os", "20", "PLN"},
		{"10 each", "10each", "10", ""},
		{"$10", "$10", "10", ""},
		{"Free – $20", "Free – $20", "0 20", ""},
	}
	for _, test := range tests {
		c := ParseCost([]string{test.sent}, ",")
		if got := c.Display(zloty, "Free"); got != test.shown {
			t.Errorf("%q is shown as %q, want %q", test.sent, got, test.shown)
		}
		if got := strings.Join(c.Prices, " "); got != test.prices {
			t.Errorf("%q has the prices %q, want %q", test.sent, got, test.prices)
		}
		code := c.CodeOn(zloty)
		if c.InSeveralCurrencies() {
			code = ""
			if c.Lowest() != "" {
				t.Errorf("%q costs at least %q", test.sent, c.Lowest())
			}
		}
		if code != test.code {
			t.Errorf("%q is in %q, want %q", test.sent, code, test.code)
		}
		// What a site shows is shown again when it is sent back.
		if again := ParseCost([]string{test.shown}, ","); test.code != "PLN" && again.Display(zloty, "Free") != test.shown {
			t.Errorf("%q is shown as %q and then as %q", test.sent, test.shown, again.Display(zloty, "Free"))
		}
	}
}

func TestCostOnSites(t *testing.T) {
	cost := ParseCost([]string{"from 5 to 50 USD"}, ".")
	tests := []struct {
		name         string
		site         Currency
		shown        string
		symbol, code string
	}{
		{"the same currency", dollar, "$5 – $50", "", "USD"},
		{"another currency", Currency{Symbol: "€", Code: "EUR", Position: Prefix}, "5USD – 50USD", "USD", "USD"},
		{"another dollar", Currency{Symbol: "$", Code: "CAD", Position: Prefix}, "5USD – 50USD", "USD", "USD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			symbol, _ := cost.OwnCurrency(test.site)
			got := []string{cost.Display(test.site, "Free"), symbol, cost.CodeOn(test.site)}
			if diff := cmp.Diff([]string{test.shown, test.symbol, test.code}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, test := range []struct{ sent, onDollars, onPounds string }{
		{"$10", "USD", ""},
		{"£10", "GBP", "GBP"},
		{"10", "USD", "GBP"},
		{"kr 10", "", ""},
		{"€10", "EUR", "EUR"},
		{"10 MXN", "MXN", "MXN"},
		{"10 to 15 dollars", "USD", ""},
		{"TOP 10", "", ""},
		{"10–15 koron", "", ""},
	} {
		c, pound := ParseCost([]string{test.sent}, "."), Currency{Symbol: "£", Code: "GBP", Position: Prefix}
		if a, b := c.CodeOn(dollar), c.CodeOn(pound); a != test.onDollars || b != test.onPounds {
			t.Errorf("%q is in %q and %q, want %q and %q", test.sent, a, b, test.onDollars, test.onPounds)
		}
	}
}
