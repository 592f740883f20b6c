package pages

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/web"
)

// themeFile and customFile are the names of the style sheets that a site adds to the assets.
const (
	themeFile  = "theme.css"  // colours of the site
	customFile = "custom.css" // style sheet of the site
)

// SiteFiles returns the files that the site itself provides for its pages, by name.
func SiteFiles(s *settings.Site) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range []*settings.File{s.Logo, s.Icon, s.Card} {
		if f != nil {
			out[f.Name] = f.Data
		}
	}
	if len(s.CSS) > 0 {
		out[customFile] = s.CSS
	}
	light, dark := string(s.Accent), string(s.AccentDark)
	switch {
	case light != "" && dark != "":
		out[themeFile] = []byte(":root{--accent:light-dark(" + light + "," + dark + ")}\n")
	case light != "":
		out[themeFile] = []byte("@media (prefers-color-scheme:light){:root{--accent:" + light + "}}\n")
	case dark != "":
		out[themeFile] = []byte("@media (prefers-color-scheme:dark){:root{--accent:" + dark + "}}\n")
	}
	return out
}

// assets returns the addresses of the style sheets and scripts that pages load.
func (s *Pages) assets() web.Assets {
	address := func(name string) string { return s.prefix + s.templates.Asset(name) }
	out := web.Assets{Styles: []string{address("calendar.css")}, Script: address("calendar.js"), Icon: address("favicon.svg")}
	for _, name := range []string{themeFile, customFile} {
		if s.templates.Asset(name) != "" {
			out.Styles = append(out.Styles, address(name))
		}
	}
	if s.PageSettings.Icon != nil {
		out.Icon = address(s.PageSettings.Icon.Name)
	}
	if s.PageSettings.Logo != nil {
		out.Logo = address(s.PageSettings.Logo.Name)
	}
	return out
}

// defaultView returns the view that the site shows at /events/.
func (s *Pages) defaultView() address.View {
	if s.PageSettings.DefaultView == settings.ViewMonth && s.PageSettings.Pages.Month || !s.PageSettings.Pages.List {
		return address.ViewMonth
	}
	return address.ViewList
}

// servesView reports whether the site has enabled the pages of a view.
func (s *Pages) servesView(view address.View) bool {
	p := &s.PageSettings.Pages
	switch view {
	case address.ViewList:
		return p.List
	case address.ViewMonth:
		return p.Month
	case address.ViewDay:
		return p.Day
	case address.ViewEvent:
		return p.Event
	case address.ViewSeries:
		return p.Series
	case address.ViewVenue:
		return p.Venue
	case address.ViewOrganizer:
		return p.Organizer
	}
	return true
}

// servesTerms reports whether the site has enabled the pages of a taxonomy.
func (s *Pages) servesTerms(taxonomy calendar.Kind) bool {
	if taxonomy == calendar.Tag {
		return s.PageSettings.Pages.Tag
	}
	return s.PageSettings.Pages.Category
}

// offeredLanguages returns the languages in which a record has a page. They are those of the given languages,
// which it has texts in, that the site offers. If the site offers none of them, the result is the main language.
func (s *Pages) offeredLanguages(languages []calendar.Language) []calendar.Language {
	var out []calendar.Language
	for _, l := range languages {
		if s.PageSettings.Offers(l) {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		out = append(out, s.Site.Language)
	}
	return out
}

// neutralLanguage returns the language of a record's page for visitors whose language is unknown (hreflang
// x-default). It is the main language if the record has a page in it, else the original, else the first of
// languages.
func (s *Pages) neutralLanguage(original calendar.Language, languages []calendar.Language) calendar.Language {
	for _, l := range [...]calendar.Language{s.Site.Language, original} {
		if hasLanguage(languages, l) {
			return l
		}
	}
	return languages[0]
}
