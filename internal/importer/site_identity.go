package importer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/almanac-cal/almanac/calendar"
)

// SourceSite has what a WordPress site says about itself. A zero field means that the source does not say it, or says
// something that this program cannot use.
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
	// PerPage is the number of events on a page of a list if a request states none.
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

// readIdentity sets cal.Site from the root of the REST API and from the home page. Both may be missing.
func (s *siteReader) readIdentity(ctx context.Context) {
	site := &SourceSite{}
	s.cal.Site = site
	data, _, err := s.get(ctx, s.api("/", nil))
	if err == nil {
		s.readRoot(site, data)
	}
	if ctx.Err() != nil {
		return
	}
	data, _, err = s.get(ctx, s.home)
	if err != nil {
		return
	}
	head := readHead(data)
	base, _, _ := strings.Cut(strings.ReplaceAll(head.language, "_", "-"), "-")
	switch l := calendar.Language(strings.ToLower(base)); {
	case l.Known():
		site.Language = l
	case base != "":
		s.notice("the home page of the source is in the language %q, which this calendar does not have", abbreviate(head.language))
	}
	site.ThemeColour = head.colour
	if icon := cmp.Or(site.Icon, head.icon); icon != "" {
		site.Icon = ""
		if u, err := s.home.Parse(icon); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && len(icon) <= maxURL {
			site.Icon = u.String()
		}
	}
}

// readRoot reads the root of a REST API. It ignores members that it cannot interpret.
func (s *siteReader) readRoot(site *SourceSite, data []byte) {
	root, ok := newObject(bytes.TrimPrefix(data, byteOrderMark), "", &readLog{})
	if !ok {
		return
	}
	site.Title, site.Tagline = oneLine(root.text("name", maxTitle)), oneLine(root.text("description", maxTitle))
	site.Icon = root.raw("site_icon_url")
	name := root.raw("timezone_string")
	if name == "" {
		name = hoursZone(root.raw("gmt_offset"))
	}
	if zone, err := calendar.ParseZone(name); err == nil {
		site.Zone = zone.String()
	} else if name != "" {
		s.notice("the time zone %q of the source is unknown", abbreviate(name))
	}
}

// oneLine replaces each run of white space by one space, and removes white space at both ends.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hoursZone returns the name of a zone from its offset in hours, such as 5.5. It returns "" for 0, which WordPress has
// for a zone that was never set, and for an invalid offset.
func hoursZone(hours string) string {
	h, err := strconv.ParseFloat(hours, 64)
	if err != nil || h == 0 || h < -14 || h > 14 {
		return ""
	}
	sign, minutes := '+', int(h*60)
	if h < 0 {
		sign, minutes = '-', -minutes
	}
	if minutes%60 == 0 {
		return fmt.Sprintf("UTC%c%d", sign, minutes/60)
	}
	return fmt.Sprintf("UTC%c%d:%02d", sign, minutes/60, minutes%60)
}

// pageHead has what a page says about its site. "" means that it does not.
type pageHead struct{ language, icon, colour string }

// readHead reads the language of a page, and its icon and theme colour. The colour has the form #rrggbb.
func readHead(data []byte) (out pageHead) {
	page, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return out
	}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			out.language = cmp.Or(out.language, strings.TrimSpace(attribute(n, "lang")))
		case atom.Link:
			for _, relation := range strings.Fields(attribute(n, "rel")) {
				if strings.EqualFold(relation, "icon") {
					out.icon = cmp.Or(out.icon, strings.TrimSpace(attribute(n, "href")))
				}
			}
		case atom.Meta:
			if strings.EqualFold(attribute(n, "name"), "theme-color") {
				out.colour = cmp.Or(out.colour, colourOf(attribute(n, "content")))
			}
		}
	}
	return out
}

// hexColour matches the colours #rgb and #rrggbb in lower case.
var hexColour = regexp.MustCompile(`^#([0-9a-f]{3}|[0-9a-f]{6})$`)

// colourOf returns a colour in the form #rrggbb. It returns "" for any other notation.
func colourOf(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case !hexColour.MatchString(text):
		return ""
	case len(text) == len("#rgb"):
		return string([]byte{'#', text[1], text[1], text[2], text[2], text[3], text[3]})
	}
	return text
}

// readPageSize finds how many events the source sends on a page if a request states no number. Only a list of several
// pages shows it.
func (s *siteReader) readPageSize(ctx context.Context) {
	// The window has as many events as possible.
	at := s.api(pluginRoute, url.Values{"start_date": {"1900-01-01"}, "end_date": {"2099-12-31"}})
	data, _, err := s.get(ctx, at)
	if err != nil {
		return
	}
	list, ok := newObject(bytes.TrimPrefix(data, byteOrderMark), "", &readLog{})
	if n := len(list.objects("events")); ok && n > 0 && list.count("total_pages") > 1 {
		s.cal.Site.PerPage = n
	}
}

// Currency is a currency as the source formats costs.
type Currency struct {
	Symbol, Code, Position string
	// Implied reports whether the source displays the symbol, but does not name it in the details of the cost.
	Implied bool
}

// learnCurrency sets the site's currency to the most frequent one among the events with prices.
func (s *siteReader) learnCurrency() {
	count := make(map[Currency]int)
	var most Currency
	for _, e := range s.cal.Events {
		one := e.Currency
		one.Implied = false
		if one == (Currency{}) {
			continue
		}
		if count[one]++; count[one] > count[most] {
			most = one
		}
	}
	s.cal.Site.CurrencySymbol, s.cal.Site.CurrencyCode, s.cal.Site.CurrencyPosition = most.Symbol, most.Code, most.Position
}

// costOn returns the cost to store on a site, or nil if the source sent none. It leaves out an implied symbol that
// equals the symbol of the site. Almanac then replies with the same details.
func (e *Event) costOn(site calendar.Currency) *calendar.Cost {
	if e.Cost == nil || !e.Currency.Implied || e.Cost.Symbol != site.Symbol || e.Cost.Position != site.Position {
		return e.Cost
	}
	c := *e.Cost
	c.Symbol, c.Position = "", ""
	return &c
}

// currencyCode matches ISO 4217 codes.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// currency returns the currency in the details of a cost. If they name no symbol, it is that of the displayed cost.
func (o object) currency(shown *calendar.Cost) (c Currency) {
	if shown == nil || len(shown.Prices) == 0 {
		return c
	}
	c.Symbol, c.Position = shown.Symbol, shown.Position
	if len(shown.Codes) == 1 {
		c.Code = shown.Codes[0]
	}
	details, ok := newObject(o.members["cost_details"], "", &readLog{})
	if !ok {
		return c
	}
	c.Implied = !isCurrencySymbol(details.text("currency_symbol", maxText))
	if code := strings.TrimSpace(details.raw("currency_code")); currencyCode.MatchString(code) {
		c.Code = code
	}
	return c
}
