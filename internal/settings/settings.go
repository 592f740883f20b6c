// Package settings has the settings of a site, such as its name, languages, time zone, currency or colours.
// They come from flags of the process, from the folder of the site and from the database. docs/pages.md lists them.
package settings

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

// Site has the settings of a site. It does not change after Resolve, so it is safe for concurrent use.
type Site struct {
	Title, Tagline Text // empty means the program's own text
	// Languages are the languages of the pages and feeds, the main one first.
	Languages []calendar.Language
	Zone      calendar.Zone // zone of dates that name none
	Currency  calendar.Currency
	// Accent and AccentDark are the colours of links and buttons, on light and on dark background. "" means
	// those of the style sheet.
	Accent, AccentDark Colour
	WeekStart          time.Weekday        // Sunday, Monday or Saturday
	DefaultView        string              // view at /events/: ViewList or ViewMonth
	PerPage            int                 // number of records in a list that states none, from 1 to 50
	English            locale.EnglishDates // style of dates in English
	Clock              locale.Clock        // of times on pages, in all languages
	Home               string              // page at /: HomeCalendar or HomeAPI
	Pages              Pages
	Indexing           bool     // false asks search engines not to index the site
	ExternalImages     bool     // shows images from other hosts in descriptions
	EmbedOrigins       []string // origins that may embed the pages; "*" means all
	// PathAliases maps other names of the first path segment to the program's: "wydarzenia" to "events". A page at
	// an alias redirects to its path on the site. The aliases are not percent-encoded.
	PathAliases map[string]string
	// Paths are the names that public pages have in their paths, instead of the program's.
	Paths calendar.Paths
	// MapLink is the address of a map with the placeholders {lat}, {lon} and {query}. "" means that pages have
	// no map link.
	MapLink string
	Footer  []Link

	Logo, Icon, Card *File // nil means that the folder has no such file
	CSS              []byte
	// About is the content of about.{language}.html as it was written. Callers must sanitise it.
	About map[calendar.Language]string
}

// ViewList and ViewMonth are the values of Site.DefaultView, HomeCalendar and HomeAPI those of Site.Home.
const (
	ViewList     = "list"
	ViewMonth    = "month"
	HomeCalendar = "calendar"
	HomeAPI      = "api"
)

// Pages switches kinds of pages on and off. A page that is switched off returns 404, and no page links to it.
type Pages struct{ List, Month, Day, Event, Series, Venue, Organizer, Category, Tag, Feeds, Docs bool }

// Text is a text by language. The key "" is for a text that is the same in all languages.
type Text map[calendar.Language]string

// In returns the text in the language lang, or else in the language site, or else in any. It returns "" if there is
// no text.
func (t Text) In(lang, site calendar.Language) string {
	for _, l := range append([]calendar.Language{lang, site, ""}, calendar.Languages...) {
		if text := t[l]; text != "" {
			return text
		}
	}
	return ""
}

// Dates returns the formats of dates and times on pages in a language.
func (s *Site) Dates(l calendar.Language) locale.Dates {
	return locale.DatesIn(l, s.English).With(s.Clock)
}

// Link is a link in the footer of the pages.
type Link struct {
	Text Text
	URL  string
}

// File is a picture file in the site's folder.
type File struct {
	Name string // file name, such as logo.svg
	Data []byte
}

// Default returns the settings of a site without a folder, flags and stored settings.
func Default() Site {
	return Site{
		Languages: slices.Clone(calendar.Languages), Zone: calendar.UTC(), PerPage: 10,
		Currency:  calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
		WeekStart: time.Monday, DefaultView: ViewList, English: locale.American, Home: HomeCalendar, Indexing: true,
		Pages:        Pages{true, true, true, true, true, true, true, true, true, true, true},
		EmbedOrigins: []string{"*"},
		MapLink:      "https://www.openstreetmap.org/?mlat={lat}&mlon={lon}#map=17/{lat}/{lon}",
	}
}

// maxFileSizes maps the permitted names of files in the site's folder to their maximum sizes, in bytes.
var maxFileSizes = map[string]int{
	"site.json": 64 << 10, "logo.svg": 256 << 10, "logo.png": 256 << 10, "icon.svg": 64 << 10, "card.png": 2 << 20,
	"custom.css": 128 << 10, "about.en.html": 64 << 10, "about.pl.html": 64 << 10, "about.es.html": 64 << 10,
}

// Folder has the parsed content of a site's folder.
type Folder struct {
	Said  Layer // settings in site.json
	files Site  // settings from the other files, such as Logo and CSS
}

// Read returns the content of a site's folder. The error names each file, key and value that is wrong, and what is
// expected. It ignores names that begin with a dot, because Kubernetes stores a ConfigMap's files under such names.
func Read(dir string) (Folder, error) {
	var f Folder
	s := &f.files
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, err
	}
	files := map[string][]byte{}
	var faults []error
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		data, err := readFile(dir, name)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			continue
		}
		files[name] = data
	}
	if files["logo.svg"] != nil && files["logo.png"] != nil {
		faults = append(faults, errors.New("logo.png: there is a logo.svg already; want one of them"))
	}
	if data := files["site.json"]; data != nil {
		said, wrong := parseLayer(data)
		for _, fault := range wrong {
			faults = append(faults, fmt.Errorf("site.json: %w", fault))
		}
		f.Said = said
	}
	for _, picture := range []struct {
		name string
		to   **File
	}{{"logo.svg", &s.Logo}, {"logo.png", &s.Logo}, {"icon.svg", &s.Icon}, {"card.png", &s.Card}} {
		data := files[picture.name]
		if data == nil {
			continue
		}
		if err := checkPicture(picture.name, data); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", picture.name, err))
		}
		*picture.to = &File{picture.name, data}
	}
	if s.CSS = files["custom.css"]; s.CSS != nil {
		if err := checkCSS(s.CSS); err != nil {
			faults = append(faults, fmt.Errorf("custom.css: %w", err))
		}
	}
	for _, lang := range calendar.Languages {
		name := "about." + string(lang) + ".html"
		data := files[name]
		if data == nil {
			continue
		}
		if !utf8.Valid(data) {
			faults = append(faults, fmt.Errorf("%s: want UTF-8", name))
		}
		if s.About == nil {
			s.About = map[calendar.Language]string{}
		}
		s.About[lang] = string(data)
	}
	return f, errors.Join(faults...)
}

// readFile reads a file of the folder. It rejects unknown names and files over the size limit.
func readFile(dir, name string) ([]byte, error) {
	limit, known := maxFileSizes[name]
	if !known {
		names := make([]string, 0, len(maxFileSizes))
		for n := range maxFileSizes {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no file of a site; want %s", strings.Join(names, ", "))
	}
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("want a file")
	case info.Size() > int64(limit):
		return nil, fmt.Errorf("%d KiB; want at most %d", (info.Size()+1023)>>10, limit>>10)
	}
	data, err := os.ReadFile(path)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// checkPicture returns an error if a .png file has no valid PNG header. For other names it returns one if the first
// XML element is not svg.
func checkPicture(name string, data []byte) error {
	if filepath.Ext(name) == ".png" {
		if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil {
			return fmt.Errorf("want a PNG picture: %w", err)
		}
		return nil
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("want an SVG picture: %w", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local != "svg" {
				return fmt.Errorf("want an SVG picture, not <%s>", e.Name.Local)
			}
			return nil
		}
	}
}

// foreignCSS matches references to other hosts in a style sheet, which the pages' content security policy
// blocks.
var foreignCSS = regexp.MustCompile(`(?i)@import|url\(\s*["']?\s*(?:[a-z][a-z0-9+.-]*:)?//`)

// checkCSS returns an error if a style sheet is not UTF-8, or has @import or a url() on another host. It does not
// parse the style sheet.
func checkCSS(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("want UTF-8")
	}
	if at := foreignCSS.FindIndex(data); at != nil {
		line := 1 + bytes.Count(data[:at[0]], []byte("\n"))
		return fmt.Errorf("line %d: %s: pages load nothing from other hosts; want data: addresses, and all rules in this file",
			line, data[at[0]:at[1]])
	}
	return nil
}

// programName is the name of a site without a title.
const programName = "Almanac"

// Calendar returns the settings as a calendar.Site, without a base URL. Its Now is the parameter now, and its name
// "Almanac" if there is no title.
func (s *Site) Calendar(now func() time.Time) calendar.Site {
	name := s.Title.In(s.Language(), s.Language())
	if name == "" {
		name = programName
	}
	return calendar.Site{Name: name, Zone: s.Zone, Language: s.Language(), PerPage: s.PerPage, Currency: s.Currency, Now: now}
}
