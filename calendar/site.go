package calendar

import "time"

// Site has the settings of the operator.
type Site struct {
	Name     string
	BaseURL  string // absolute URL without trailing slash: https://host or https://host/rest
	Zone     Zone
	Language Language
	PerPage  int
	Currency Currency
	Now      func() time.Time
}

// Currency is the default format of prices, for events without their own currency symbol.
type Currency struct {
	Symbol   string // "$"
	Code     string // ISO 4217: "USD"
	Position string // Prefix or Postfix
	Decimal  string // decimal mark of ambiguous prices: "." or ","
}

// The positions of a currency symbol: before or after the price.
const (
	Prefix  = "prefix"
	Postfix = "postfix"
)
