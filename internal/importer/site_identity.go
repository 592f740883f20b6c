package importer

import "github.com/almanac-cal/almanac/calendar"

// SourceSite has what a WordPress site says about itself. A zero field means that the source does not say it, or says
// something that this program cannot use. A notice of the calendar then names it.
type SourceSite struct {
	// Title and Tagline are plain texts.
	Title, Tagline string
	// Zone is an IANA name, or an offset such as UTC+2.
	Zone string
	// Language is the language of the home page.
	Language calendar.Language
	// CurrencySymbol, CurrencyCode and CurrencyPosition are those of most costs. The code has three capital letters, and
	// the position is calendar.Prefix or calendar.Postfix.
	CurrencySymbol, CurrencyCode, CurrencyPosition string
	// PerPage is the number of records in a list that states none.
	PerPage int
	// English is the order of dates in English: "en" for American and "en-GB" for British.
	English string
	// Clock is "12h" or "24h".
	Clock string
	// Icon is the address of the site's icon.
	Icon string
	// ThemeColour is the colour of the browser's frame in the form #rrggbb.
	ThemeColour string
}
