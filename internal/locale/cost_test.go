package locale

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func TestCost(t *testing.T) {
	site := calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."}
	tests := []struct {
		name       string
		sent       []string
		en, pl, es string
	}{
		{"none", nil, "", "", ""},
		{"free", []string{"0"}, "Free", "Bezpłatnie", "Gratis"},
		{"złoty", []string{"20 zł"}, "20 zł", "20 zł", "20 zł"},
		{"a range in złoty", []string{"25 zł", "40 zł"}, "25–40 zł", "25–40 zł", "25–40 zł"},
		{"euro behind", []string{"10 €"}, "10 €", "10 €", "10 €"},
		{"euro before", []string{"€10"}, "€10", "€ 10", "€ 10"},
		{"pounds", []string{"£8", "£12"}, "£8–£12", "£ 8–12", "£ 8–12"},
		{"pesos", []string{"$27600"}, "$27,600", "$ 27 600", "$ 27.600"},
		{"four digits", []string{"1500 zł"}, "1,500 zł", "1500 zł", "1500 zł"},
		{"a fraction", []string{"12.5 zł"}, "12.50 zł", "12,50 zł", "12,50 zł"},
		{"a fraction of zeros", []string{"12.00 zł"}, "12 zł", "12 zł", "12 zł"},
		{"the currency of the site", []string{"10", "20"}, "$10–$20", "$ 10–20", "$ 10–20"},
		{"letters before", []string{"CHF 5"}, "CHF 5", "CHF 5", "CHF 5"},
		{"from free", []string{"0 zł", "30 zł"}, "Free – 30 zł", "Bezpłatnie – 30 zł", "Gratis – 30 zł"},
		{"a text", []string{"Donation", "10 zł"}, "Donation – 10 zł", "Donation – 10 zł", "Donation – 10 zł"},
		{"many digits", []string{"123456789012345678901234567890 zł"}, "123,456,789,012,345,678,901,234,567,890 zł", "123 456 789 012 345 678 901 234 567 890 zł", "123.456.789.012.345.678.901.234.567.890 zł"},
	}
	for _, tt := range tests {
		c := calendar.ParseCost(tt.sent, ".")
		for lang, want := range map[calendar.Language]string{calendar.English: tt.en, calendar.Polish: tt.pl, calendar.Spanish: tt.es} {
			free := map[calendar.Language]string{calendar.English: "Free", calendar.Polish: "Bezpłatnie", calendar.Spanish: "Gratis"}[lang]
			if got := strings.ReplaceAll(DatesIn(lang, American).Cost(c, site, free), noBreak, " "); got != want {
				t.Errorf("%s in %s: %q, want %q", tt.name, lang, got, want)
			}
		}
	}
}
