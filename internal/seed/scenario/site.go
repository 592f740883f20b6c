package scenario

import (
	"fmt"
	"strings"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/almanac-cal/almanac/calendar"
)

// Titles returns the name of the calendar's website in each of its languages, such as "Events in Kraków". It names
// the first city.
func (c *Calendar) Titles() map[calendar.Language]string {
	words := map[calendar.Language]string{calendar.English: "Events", calendar.Polish: "Wydarzenia", calendar.Spanish: "Eventos"}
	out := map[calendar.Language]string{}
	for i, l := range c.o.Languages {
		out[l] = words[l] + " " + c.cities[0].in[i]
	}
	return out
}

// Currency returns the currency of the country of the first city, and how prices are written there. It returns an
// error for a country without a currency.
func (c *Calendar) Currency() (calendar.Currency, error) {
	in := c.cities[0].country
	region, err := language.ParseRegion(in.code)
	if err != nil {
		return calendar.Currency{}, fmt.Errorf("country %q: %w", in.code, err)
	}
	unit, ok := currency.FromRegion(region)
	if !ok {
		return calendar.Currency{}, fmt.Errorf("country %q has no currency", in.code)
	}
	out := calendar.Currency{Code: unit.String(), Position: calendar.Prefix, Decimal: "."}
	before, after, _ := strings.Cut(in.price, "%d")
	if out.Symbol = strings.TrimSpace(before); out.Symbol == "" {
		out.Symbol, out.Position = strings.TrimSpace(after), calendar.Postfix
	}
	tag, err := language.Compose(language.Make(string(c.o.Languages[0])), region)
	if err != nil {
		return calendar.Currency{}, fmt.Errorf("country %q: %w", in.code, err)
	}
	if strings.Contains(message.NewPrinter(tag).Sprintf("%.1f", 1.5), ",") {
		out.Decimal = ","
	}
	return out, nil
}

// American reports whether texts in English use American English, because the country of the first city does.
func (c *Calendar) American() bool {
	switch c.cities[0].country.code {
	case "US", "CA", "MX", "AR", "CO", "CL", "PE", "UY", "EC":
		return true
	}
	return false
}
