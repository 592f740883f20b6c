package calendar

import "time"

// Site has the settings of the site that records depend on.
type Site struct {
	Name     string
	BaseURL  string // absolute URL without trailing slash: https://host or https://host/rest
	Zone     Zone
	Language Language
	PerPage  int
	Currency Currency
	Now      func() time.Time
	// Indexed is the preferred language of search texts and sort keys. All writers have the same one, whatever main language
	// they were started with. "" means Language.
	Indexed Language
	// Stored is the stored text that the settings come from. Writes are refused when it has changed. "" means that no
	// settings are stored.
	Stored string
}

// Currency is the default format of prices on a site. It applies to events whose cost names no currency.
type Currency struct {
	Symbol   string // "$"
	Code     string // ISO 4217: "USD"
	Position string // Prefix or Postfix
	Decimal  string // decimal mark of ambiguous prices: "." or ","
}

// Prefix and Postfix are the values of Currency.Position: the symbol stands before or after the price.
const (
	Prefix  = "prefix"
	Postfix = "postfix"
)

// IndexedIn returns the language for which search texts are built: s.Indexed, or s.Language if that is empty.
func (s Site) IndexedIn() Language {
	if s.Indexed != "" {
		return s.Indexed
	}
	return s.Language
}
