package handlers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

// costRow is a row of the table of costs (contract, section 7).
type costRow struct {
	sent, cost, symbol, position, values string
}

// readCostRows reads the rows of that table. The first column may list several inputs, each of which becomes a
// row. Another column may list several values, and the first one is for a site in dollars.
func readCostRows(t *testing.T) []costRow {
	t.Helper()
	contract, err := os.ReadFile(filepath.Join("..", "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(contract), "\n## 7. Cost\n")
	section, _, _ = strings.Cut(section, "\n## 8. ")
	code := regexp.MustCompile("`[^`]+`")
	var rows []costRow
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.Contains(cells[0], "`") {
			continue
		}
		row := costRow{sent: cells[0]}
		for i, to := range []*string{&row.cost, &row.symbol, &row.position, &row.values} {
			*to = strings.Trim(code.FindString(cells[i+1]), "`")
			if *to == `""` {
				*to = ""
			}
		}
		if strings.TrimSpace(cells[1]) == "400" {
			row.cost = "400"
		}
		for _, sent := range code.FindAllString(cells[0], -1) {
			row.sent = strings.Trim(sent, "`")
			rows = append(rows, row)
		}
	}
	return rows
}

func TestCostsAreAsTheContractShows(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.SignIn(t, "admin", calendar.Administrator)
	rows := readCostRows(t)
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var sent any
		if err := json.Unmarshal([]byte(row.sent), &sent); err != nil {
			t.Fatalf("%s: %v", row.sent, err)
		}
		res := api.Do(t, post("admin", "/events", concert(object{"cost": sent})))
		if row.cost == "400" {
			if res.Status != 400 {
				t.Errorf("%s: status %d", row.sent, res.Status)
			}
			continue
		}
		got := costRow{row.sent, res.Get(t, "cost").(string), "", "", encodedMembers(t, res.Get(t, "cost_details", "values"))}
		got.symbol, got.position = res.Get(t, "cost_details", "currency_symbol").(string), res.Get(t, "cost_details", "currency_position").(string)
		if got != row {
			t.Errorf("got  %+v\nwant %+v", got, row)
		}
	}
}

func TestCurrenciesForSearchEngines(t *testing.T) {
	t.Parallel()
	api := onSQLite(t) // a site in US dollars
	api.SignIn(t, "admin", calendar.Administrator)
	for _, test := range []struct {
		sent any
		want []any // price and currency; nil if there are no offers
	}{
		{"10", []any{"10", "USD"}},
		{"$10", []any{"10", "USD"}},
		{"10–20 zł", []any{"10", "PLN"}},
		{"£5/£3 concs", []any{"3", "GBP"}},
		{"$20 CAD", []any{"20", "CAD"}},
		{"10 to 15 euros", []any{"10", "EUR"}},
		{"100 kr / 50 kr barn", []any{"50", nil}},
		{"10 pesos", []any{"10", nil}},
		{"Donation", []any{"0", "USD"}},
		{[]string{"$10", "€20"}, nil},
	} {
		id := encodedMembers(t, api.Do(t, post("admin", "/events", concert(object{"cost": test.sent, "status": "publish"}))).Get(t, "id"))
		var got []any
		if offers := api.Do(t, get("/events/"+id)).Get(t, "json_ld", "offers"); offers != nil {
			members := offers.(object)
			got = []any{members["price"], members["priceCurrency"]}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.sent, got, test.want)
		}
	}
}
