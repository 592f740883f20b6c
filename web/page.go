package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"sync"
)

// Site has the properties of a site that the start page and the API reference show.
type Site struct {
	Name    string // name of the site; "" means that it has none
	BaseURL string // absolute base URL, without a slash at the end
	API     string // path of the API below the base URL, such as /cal/events/v1
	// RESTRoot is the REST root of WordPress. "" means that the site has none.
	RESTRoot string
	// Files has the site's own files, by name. They are served as assets, like the embedded files.
	Files map[string][]byte
}

// pageWords has the texts of pages in a language, from words/{language}.json. {name} stands for the name of the
// site.
type pageWords struct {
	Name                                                 string // name of the language in the language itself
	Title, Lead, LanguagesLabel                          string
	DocsLink, DocsText, DocumentLink, DocumentText       string
	IndexLink, IndexText                                 string
	FirstLines, FirstLinesText, Next, Search, Create     string
	SearchWord, CreateTitle, Token                       string
	Languages, LanguagesText, Loading, Failure, NoScript string
	// translations of the English texts of the API reference
	Reference map[string]string
}

// readWords reads the texts of a language. A missing or unknown text is an error, because pages need all texts.
func readWords(language string) (pageWords, error) {
	var w pageWords
	data, err := files.ReadFile("words/" + language + ".json")
	if err != nil {
		return w, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, fmt.Errorf("words in %s: %w", language, err)
	}
	for field, value := range reflect.ValueOf(w).Fields() {
		if value.IsZero() {
			return w, fmt.Errorf("words in %s: no %s", language, field.Name)
		}
	}
	return w, nil
}

// view has the data for the template of a page. Links have no host, so that visitors stay on the host that they used.
// They begin with the path of the base URL, which a proxy may remove.
type view struct {
	Language  string
	Words     pageWords
	Name      string // name of the site, or a description if it has none
	Title     string
	API       string // absolute URL of the API
	Base      string // path of the base URL, such as "" or "/rest"
	Home      string
	Docs      string
	Index     string
	Document  string
	RESTRoot  string // same as in Site
	Canonical string // absolute URL of the page
	Neutral   string // absolute URL of the page without a language
	Segment   string // path of the API in the language of the page
	Languages []languageChoice
	Lines     []exampleCommand
	Reference string // translations for the API reference, as JSON

	names map[string]string
}

// languageChoice is a link to the page in another language.
type languageChoice struct {
	Code, Name, Path, Canonical string
	Current                     bool
}

// exampleCommand is a shell command for visitors to try, with a description.
type exampleCommand struct{ What, Command string }

// Asset returns the path of an asset. name is its name without the hash.
func (v view) Asset(name string) (string, error) {
	full, ok := v.names[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return v.Base + AssetsPath + full, nil
}

// pages maps the paths of pages to their templates. The calendar may take "/" for its own home page.
var pages = map[string]string{"/": "start.html", DevelopersPath: "start.html", DocsPath: "docs.html"}

var pageTemplates = sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(files, "pages/*.html") })

// write renders all pages in the given languages. The paths of the first language have no segment for the language.
func (p *Pages) write(site Site, languages []string) error {
	base, err := url.Parse(site.BaseURL)
	if err != nil {
		return fmt.Errorf("base URL: %w", err)
	}
	templates, err := pageTemplates()
	if err != nil {
		return err
	}
	said := make(map[string]pageWords, len(languages))
	for _, lang := range languages {
		if said[lang], err = readWords(lang); err != nil {
			return err
		}
		p.pages[lang] = make(map[string]*File, len(pages))
	}
	segment := func(lang string) string {
		if lang == languages[0] {
			return ""
		}
		return "/" + lang
	}
	for _, lang := range languages {
		for where, name := range pages {
			v, err := newView(site, strings.TrimRight(base.EscapedPath(), "/"), lang, segment(lang), where, said[lang])
			if err != nil {
				return err
			}
			for _, other := range languages {
				if len(languages) == 1 {
					break
				}
				v.Languages = append(v.Languages, languageChoice{
					Code: other, Name: said[other].Name, Current: other == lang,
					Path: v.Base + segment(other) + where, Canonical: site.BaseURL + segment(other) + where,
				})
			}
			v.names = p.names
			var b bytes.Buffer
			if err := templates.ExecuteTemplate(&b, name, v); err != nil {
				return err
			}
			if p.pages[lang][where], err = newFile(".html", b.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// newView returns the data for the template of a page. where is the page's path. segment is the start of all paths in
// the language, such as "/pl", or "".
func newView(site Site, base, lang, segment, where string, w pageWords) (view, error) {
	reference, err := json.Marshal(w.Reference)
	if err != nil {
		return view{}, err
	}
	title := strings.TrimSpace(strings.ReplaceAll(w.Title, "{name}", site.Name))
	v := view{
		Language: lang, Words: w, Name: site.Name, Title: title, API: site.BaseURL + site.API, Base: base,
		Home: base + segment + "/", Docs: base + segment + "/docs", Index: base + site.API,
		Document: base + site.API + "/doc?ml_language=" + lang, RESTRoot: site.RESTRoot, Canonical: site.BaseURL + segment + where,
		Neutral: site.BaseURL + where, Segment: "/" + lang + site.API, Reference: string(reference),
	}
	if v.Name == "" {
		v.Name = title
	}
	v.Lines, err = firstCommands(v.API, lang, w)
	return v, err
}

// firstCommands returns example commands for the start page. They work with any calendar.
func firstCommands(api, lang string, w pageWords) ([]exampleCommand, error) {
	var event bytes.Buffer
	e := json.NewEncoder(&event)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		Title string `json:"title"`
		Start string `json:"start_date"`
		End   string `json:"end_date"`
	}{w.CreateTitle, "tomorrow 18:00", "tomorrow 20:00"}); err != nil {
		return nil, err
	}
	return []exampleCommand{
		{w.Next, "curl " + shellQuote(api+"/events?per_page=3")},
		{w.Search, "curl " + shellQuote(api+"/events?search="+url.QueryEscape(w.SearchWord)+"&ml_language="+lang)},
		{w.Create, `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \` + "\n" +
			"  -d " + shellQuote(strings.TrimSpace(event.String())) + ` \` + "\n" +
			"  " + shellQuote(api+"/events?ml_language="+lang)},
	}, nil
}

// shellQuote returns a text as one quoted word for a shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
