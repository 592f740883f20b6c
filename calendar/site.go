package calendar

import "time"

// Site has the settings of the operator: name, zone, language, page size, currency and the clock.
type Site struct {
	Name     string
	BaseURL  string // absolute, without trailing slash: https://host or https://host/rest
	Zone     Zone
	Language Language
	PerPage  int
	Currency Currency
	Now      func() time.Time
}

// Currency is the format of prices of events that have no currency symbol of their own.
type Currency struct {
	Symbol   string // "$"
	Code     string // ISO 4217: "USD"
	Position string // Prefix or Postfix
	Decimal  string // the decimal mark of ambiguous prices: "." or ","
}

// The sides of a price a currency symbol can stand on.
const (
	Prefix  = "prefix"
	Postfix = "postfix"
)
