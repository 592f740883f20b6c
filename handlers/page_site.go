package handlers

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/web"
)

// Names of the style sheets that a site adds to the assets.
const (
	themeFile  = "theme.css"  // colours of the site
	customFile = "custom.css" // style sheet of the site
)

// SiteFiles returns the files that the site itself provides for its pages, by name.
func (h *Handlers) SiteFiles() map[string][]byte {
	out := map[string][]byte{}
	for _, f := range []*settings.File{h.PageSettings.Logo, h.PageSettings.Icon, h.PageSettings.Card} {
		if f != nil {
			out[f.Name] = f.Data
		}
	}
	if len(h.PageSettings.CSS) > 0 {
		out[customFile] = h.PageSettings.CSS
	}
	light, dark := string(h.PageSettings.Accent), string(h.PageSettings.AccentDark)
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
func (h *Handlers) assets() web.Assets {
	address := func(name string) string { return h.prefix + h.pages.Asset(name) }
	out := web.Assets{Styles: []string{address("calendar.css")}, Script: address("calendar.js"), Icon: address("favicon.svg")}
	for _, name := range []string{themeFile, customFile} {
		if h.pages.Asset(name) != "" {
			out.Styles = append(out.Styles, address(name))
		}
	}
	if h.PageSettings.Icon != nil {
		out.Icon = address(h.PageSettings.Icon.Name)
	}
	if h.PageSettings.Logo != nil {
		out.Logo = address(h.PageSettings.Logo.Name)
	}
	return out
}

// defaultView returns the view that the site shows at /events/.
func (h *Handlers) defaultView() address.View {
	if h.PageSettings.DefaultView == settings.ViewMonth && h.PageSettings.Pages.Month || !h.PageSettings.Pages.List {
		return address.ViewMonth
	}
	return address.ViewList
}

// firstWeekday returns the weekday on which weeks begin.
func (h *Handlers) firstWeekday() time.Weekday { return h.PageSettings.WeekStart }

// servesView reports whether the site has enabled the pages of a view.
func (h *Handlers) servesView(view address.View) bool {
	p := &h.PageSettings.Pages
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
func (h *Handlers) servesTerms(taxonomy calendar.Kind) bool {
	if taxonomy == calendar.Tag {
		return h.PageSettings.Pages.Tag
	}
	return h.PageSettings.Pages.Category
}

// offeredOf returns the languages with pages of those that a record has texts in. If it has none of them, its only page is
// in the main language.
func (h *Handlers) offeredOf(languages []calendar.Language) []calendar.Language {
	var out []calendar.Language
	for _, l := range languages {
		if h.PageSettings.Offers(l) {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		out = append(out, h.Site.Language)
	}
	return out
}

// neutral returns which of the languages of a record's pages is for visitors of no known language: the main one, else the
// original, else the first.
func (h *Handlers) neutral(original calendar.Language, languages []calendar.Language) calendar.Language {
	for _, l := range [...]calendar.Language{h.Site.Language, original} {
		if hasLanguage(languages, l) {
			return l
		}
	}
	return languages[0]
}
