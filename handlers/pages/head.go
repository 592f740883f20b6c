package pages

import (
	"cmp"
	"encoding/json"
	"html/template"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// frameInput describes a page for its head, navigation and footer.
type frameInput struct {
	kind        string // class attribute of the body element
	title       string
	description string
	index       bool         // search engines may index the page
	current     address.View // the view that the navigation marks as the current one
	// paths returns the page in a language. languages lists the languages in which it has texts. Nil means all.
	paths     func(calendar.Language) address.Page
	languages []calendar.Language
	// original is the language of the canonical page if there is no text in the language of the request.
	original calendar.Language
	filters  []web.Field
	prev     string // links to the previous and next page
	next     string
	ogType   string // type of the page in Open Graph
	image    *web.Picture
	linked   any // JSON-LD of the page
	// events is the JSON-LD of the events that the page lists.
	events []json.RawMessage
	// feed has the filters of the page's feeds. Nil means that the page has none.
	feed []web.Field
	// api is the path and query, below the API, of the same content.
	api string
}

// frame returns the head, navigation and footer around the content of a page.
func (r *request) frame(f frameInput) web.Frame {
	site := r.Site
	name := cmp.Or(r.SiteName(), r.words.Calendar)
	title := f.title
	if title != name {
		title += " – " + name
	}
	base := r.pages.prefix + r.Root.Segment
	out := web.Frame{
		Language: string(r.Language), Dir: "ltr", Locale: r.locale(), W: r.words, Kind: f.kind, Site: name, Home: base + "/", Title: title,
		Description: f.description, NoIndex: !f.index || !r.PageSettings.Indexing, Prev: r.absoluteAddress(f.prev), Next: r.absoluteAddress(f.next),
		APIRoot: site.BaseURL, LinkedData: f.linked, LinkedEvents: f.events, RESTRoot: r.pages.restRoot,
		OpenGraph:    web.OpenGraph{Type: cmp.Or(f.ogType, "website"), Title: f.title, Image: f.image},
		SearchAction: r.searchAction(), SearchWords: param.SentText(r.values["search"]),
		Assets: r.pages.assets(), Tagline: r.PageSettings.Tagline.In(r.Language, site.Language),
	}
	for _, v := range []struct {
		view address.View
		text string
	}{{address.ViewList, r.words.List}, {address.ViewMonth, r.words.Month}, {address.ViewDay, r.words.Today}} {
		if !r.pages.servesView(v.view) {
			continue
		}
		out.Views = append(out.Views, web.Link{
			Text: v.text, Href: r.href(r.readingIn(v.view), r.viewFilters()), Current: f.current == v.view,
		})
	}
	paths := f.paths
	if paths == nil {
		paths = func(l calendar.Language) address.Page {
			p := r.path
			p.Language = r.pages.PathLanguage(l)
			return p
		}
	}
	canonical := func(l calendar.Language) string {
		p := paths(l)
		return site.BaseURL + p.Canonical(r.pages.defaultView()).Path(&r.PageSettings.Paths) + encode(withParams(p, f.filters))
	}
	offered := r.PageSettings.Languages
	languages := offered
	if f.languages != nil {
		languages = r.pages.offeredLanguages(f.languages)
	}
	own := r.Language
	for _, l := range offered {
		if len(offered) == 1 {
			break
		}
		p := paths(l)
		out.Languages = append(out.Languages, web.Choice{
			Code: string(l), Name: languageNames[l], Current: l == r.Language,
			Href: r.href(p, f.filters),
		})
	}
	if f.languages != nil && !hasLanguage(languages, r.Language) {
		own = r.pages.neutralLanguage(f.original, languages)
		if hasLanguage(languages, f.original) {
			own = f.original
		}
	}
	out.Canonical = canonical(own)
	if f.index && len(offered) > 1 {
		for _, l := range languages {
			out.Alternates = append(out.Alternates, web.Alternate{Hreflang: string(l), Href: canonical(l)})
		}
		out.Alternates = append(out.Alternates, web.Alternate{Hreflang: "x-default", Href: canonical(r.pages.neutralLanguage(f.original, languages))})
	}
	if f.feed != nil && r.PageSettings.Pages.Feeds {
		query := encode(f.feed)
		for _, feed := range feedsOfPages {
			out.Alternates = append(out.Alternates, web.Alternate{
				Type: feed.mediaType, Title: name + " (" + feed.name + ")", Href: site.BaseURL + r.Root.Segment + feed.path + query,
			})
		}
	}
	if f.api != "" {
		out.Alternates = append(out.Alternates, web.Alternate{Type: "application/json", Href: r.api() + f.api})
	}
	if r.PageSettings.Pages.Feeds {
		out.Feeds = []web.Link{
			{Text: r.words.Subscribe + " (iCalendar)", Href: base + "/events.ics"}, {Text: "Atom", Href: base + "/events.atom"},
		}
	}
	for _, l := range r.PageSettings.Footer {
		out.Footer = append(out.Footer, web.Link{Text: l.Text.In(r.Language, site.Language), Href: l.URL})
	}
	if r.PageSettings.Pages.Docs {
		out.Footer = append(out.Footer, web.Link{Text: r.words.Developers, Href: base + "/developers/"})
	}
	if card := r.PageSettings.Card; out.OpenGraph.Image == nil && card != nil {
		out.OpenGraph.Image = &web.Picture{URL: site.BaseURL + r.pages.templates.Asset(card.Name), Width: 1200, Height: 630}
	}
	return out
}

// locale returns the language with its territory in the notation of Open Graph, such as "pl_PL".
func (r *request) locale() string {
	switch {
	case r.Language == calendar.English && r.PageSettings.English == locale.British:
		return "en_GB"
	case r.Language == calendar.English:
		return "en_US"
	}
	return string(r.Language) + "_" + strings.ToUpper(string(r.Language)) // pl_PL, es_ES
}

// hideProtected keeps machines from reading a protected record. It removes the record's JSON-LD and API link from
// the page, and forbids indexing. It does so even if the visitor has entered the password. It changes nothing if
// protected is false.
func (f *frameInput) hideProtected(protected bool) {
	if protected {
		f.index, f.linked, f.api = false, nil, ""
	}
}

// feedsOfPages are the feeds that the page of a list links to.
var feedsOfPages = []struct{ name, mediaType, path string }{
	{"iCalendar", "text/calendar", "/events.ics"},
	{"Atom", "application/atom+xml", "/events.atom"},
	{"RSS", "application/rss+xml", "/events.rss"},
	{"JSON Feed", "application/feed+json", "/events.json"},
}

// languageNames maps each language to its name in that language.
var languageNames = map[calendar.Language]string{
	calendar.English: "English", calendar.Polish: "Polski", calendar.Spanish: "Español",
}

func hasLanguage(languages []calendar.Language, l calendar.Language) bool {
	for _, one := range languages {
		if one == l {
			return true
		}
	}
	return false
}

// searchAction returns the link of the search form in the navigation. It is "" if the site has no list pages.
func (r *request) searchAction() string {
	if !r.pages.servesView(address.ViewList) {
		return ""
	}
	return r.href(r.newPagePath(address.ViewList), nil)
}

// viewFilters returns the filters that links to other views of the same events keep: all except dates. It
// returns nil if the page is no list, month or day.
func (r *request) viewFilters() []web.Field {
	switch r.path.View {
	case address.ViewList, address.ViewMonth, address.ViewDay:
		return r.filters(dateParameters...)
	}
	return nil
}

// absoluteAddress returns a link with the scheme and host of the base URL. "" stays "".
func (r *request) absoluteAddress(href string) string {
	if href == "" {
		return ""
	}
	return r.Site.BaseURL + strings.TrimPrefix(href, r.pages.prefix)
}

// api returns the URL of the API in the language of the page.
func (r *request) api() string { return r.Site.BaseURL + r.Root.Segment + r.Root.Mount }

// headers returns the headers of a page that depend on its content.
func (r *request) headers(f *web.Frame) [][2]string {
	links := make([]string, 0, len(f.Alternates)+2)
	for _, a := range f.Alternates {
		link := endpoint.LinkValue(a.Href, "alternate")
		if a.Hreflang != "" {
			link += `; hreflang="` + a.Hreflang + `"`
		}
		if a.Type != "" {
			link += `; type="` + a.Type + `"`
		}
		links = append(links, link)
	}
	if f.Prev != "" {
		links = append(links, endpoint.LinkValue(f.Prev, "prev"))
	}
	if f.Next != "" {
		links = append(links, endpoint.LinkValue(f.Next, "next"))
	}
	root := r.Site.BaseURL + r.Root.Mount + "/"
	if r.apiRoot != "" {
		root = r.Site.BaseURL + r.Root.Mount + r.apiRoot
	}
	out := [][2]string{
		{"X-TEC-API-VERSION", "v1"},
		{"X-TEC-API-ORIGIN", r.Site.BaseURL},
		{"X-TEC-API-ROOT", root},
		{"Content-Language", string(r.Language)},
	}
	if len(links) > 0 {
		out = append(out, [2]string{"Link", strings.Join(links, ", ")})
	}
	if f.NoIndex {
		out = append(out, [2]string{"X-Robots-Tag", "noindex, follow"})
	}
	return out
}

// summary returns the beginning of an HTML text as plain text, of at most the given number of characters.
func summary(html string, characters int) string {
	return represent.Shorten(markup.Plain(html), characters)
}

// subscribe returns the addresses for subscribing to the events that match filters. The title of these events is
// the argument of. The result is nil if the site has no feeds.
func (r *request) subscribe(of string, filters []web.Field) *web.Subscribe {
	if !r.PageSettings.Pages.Feeds {
		return nil
	}
	title := strings.ReplaceAll(r.words.SubscribeTo, "{title}", of)
	base := r.Site.BaseURL + r.Root.Segment
	file := base + "/events.ics" + encode(filters)
	app := "webcal" + strings.TrimPrefix(strings.TrimPrefix(file, "https"), "http")
	return &web.Subscribe{
		Title: title, App: template.URL(app), //nolint:gosec // the base URL is that of the site
		Google:  "https://calendar.google.com/calendar/render" + encode([]web.Field{{Name: "cid", Value: app}}),
		Outlook: "https://outlook.live.com/calendar/0/addfromweb" + encode([]web.Field{{Name: "url", Value: file}, {Name: "name", Value: title}}),
		File:    file, Atom: base + "/events.atom" + encode(filters), RSS: base + "/events.rss" + encode(filters),
		JSON: base + "/events.json" + encode(filters),
	}
}
