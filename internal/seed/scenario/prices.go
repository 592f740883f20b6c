package scenario

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// fillPrices computes the costs for all prices in all countries once, because parsing them for each event would be
// slow.
func (c *Calendar) fillPrices() error {
	highest := 0
	for _, k := range c.plan.Kinds {
		highest = max(highest, k.Price[1])
	}
	for _, k := range c.plan.Series {
		highest = max(highest, k.Price[1])
	}
	for _, r := range c.rules {
		if r.price != nil {
			highest = max(highest, r.price[1])
		}
	}
	c.prices = map[*country][][2]calendar.Cost{}
	for _, in := range c.cities {
		if c.prices[in.country] != nil {
			continue
		}
		for price := range max(highest, 3) + 1 {
			whole := fmt.Sprintf(in.country.price, price*in.country.factor)
			less := fmt.Sprintf(in.country.price, max(price*2/3, 2)*in.country.factor)
			pair := [2]calendar.Cost{calendar.ParseCost([]string{whole}, "."), calendar.ParseCost([]string{whole, less}, ".")}
			if price == 0 {
				pair[0] = calendar.ParseCost([]string{"0"}, ".")
				pair[1] = pair[0]
			}
			c.prices[in.country] = append(c.prices[in.country], pair)
		}
	}
	return nil
}

// priceOf returns the lowest and highest price of an event, in units of about a pound. Negative prices mean unknown.
func (c *Calendar) priceOf(p *eventOutline) [2]int {
	for _, r := range c.rules {
		if r.price != nil && r.applies(p.draft) {
			return *r.price
		}
	}
	return p.kind.Price
}

// cost returns a random cost between two prices, in the currency of the city with index in. If k.Reduced is true, it
// also has a reduced price of two thirds. For negative prices the cost is empty.
func (c *Calendar) cost(k *eventKind, price [2]int, in int, source *randomSource) calendar.Cost {
	if price[0] < 0 {
		return calendar.Cost{}
	}
	both := c.prices[c.cities[in].country][plausiblePrice(source.between(price[0], price[1]))]
	n := 0
	if k.Reduced {
		n = 1
	}
	shared := both[n]
	shared.Prices = slices.Clone(shared.Prices)
	return shared
}

// plausiblePrice rounds a number to a price that an organizer might charge: 0, or 3 and more. High prices are round
// numbers.
func plausiblePrice(price int) int {
	switch {
	case price < 2:
		return 0
	case price < 10:
		return max(price, 3)
	case price < 30:
		return price / 2 * 2
	case price < 100:
		return price / 5 * 5
	}
	return price / 10 * 10
}
