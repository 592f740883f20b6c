// Package sitefolder reads the folder with which a site makes the pages its own. docs/pages.md lists its files.
package sitefolder

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

// Settings are the settings of a site for its pages. Default returns those of a site without a folder. They do
// not change after Read, and any number of goroutines may read them.
type Settings struct {
	Title, Tagline Text // empty means that of the program
	// Accent and AccentDark are the colours of links and buttons on light and on dark paper; "" means those of the style
	// sheet.
	Accent, AccentDark Colour
	WeekStart          time.Weekday        // Sunday, Monday or Saturday
	DefaultView        string              // default view of /events/: ViewList or ViewMonth
	PerPage            int                 // events in a list; 0 means the setting --per-page
	English            locale.EnglishDates // how dates are written in English
	Home               string              // page at /: HomeCalendar or HomeAPI
	Pages              Pages
	Indexing           bool     // false asks search engines not to index the site
	ExternalImages     bool     // shows the images of other hosts in descriptions
	EmbedOrigins       []string // sites that may embed the pages: "*", or origins
	// PathAliases maps first segments of paths to those of the program: "wydarzenia" to "events".
	PathAliases map[string]string
	// MapLink is the address of a map, with {lat}, {lon} and {query} in it. "" means that there is no link.
	MapLink string
	Footer  []Link

	Logo, Icon, Card *File // nil: there is none
	CSS              []byte
	// About are the contents of about.{language}.html as they were written. Callers clean them.
	About map[calendar.Language]string
}

// The values of Settings.DefaultView and Settings.Home.
const (
	ViewList     = "list"
	ViewMonth    = "month"
	HomeCalendar = "calendar"
	HomeAPI      = "api"
)

// Pages are the switches of the kinds of pages. A page that is off is not found, and no page links to it.
type Pages struct{ List, Month, Day, Event, Series, Venue, Organizer, Category, Tag, Feeds, Docs bool }

// Text is a text by its language. The language "" is that of a text given once for all.
type Text map[calendar.Language]string

// In returns the text in a language. Without one it returns the text in the site's language, or else in any.
func (t Text) In(lang, site calendar.Language) string {
	for _, l := range append([]calendar.Language{lang, site, ""}, calendar.Languages...) {
		if text := t[l]; text != "" {
			return text
		}
	}
	return ""
}

// Link is a link in the footer.
type Link struct {
	Text Text
	URL  string
}

// File is a picture of the folder.
type File struct {
	Name string // logo.svg
	Data []byte
}

// Default returns the settings of a site without a folder.
func Default() Settings {
	return Settings{
		WeekStart: time.Monday, DefaultView: ViewList, English: locale.American, Home: HomeCalendar, Indexing: true,
		Pages:        Pages{true, true, true, true, true, true, true, true, true, true, true},
		EmbedOrigins: []string{"*"},
		MapLink:      "https://www.openstreetmap.org/?mlat={lat}&mlon={lon}#map=17/{lat}/{lon}",
	}
}

// maxFileSizes are the sizes that files may have, in bytes.
var maxFileSizes = map[string]int{
	"site.json": 64 << 10, "logo.svg": 256 << 10, "logo.png": 256 << 10, "icon.svg": 64 << 10, "card.png": 2 << 20,
	"custom.css": 128 << 10, "about.en.html": 64 << 10, "about.pl.html": 64 << 10, "about.es.html": 64 << 10,
}

// Read returns the settings of a folder. An error names each file, key and value that is wrong, and what would be right.
// Names that begin with a dot are ignored: Kubernetes keeps the files of a ConfigMap below such.
func Read(dir string) (Settings, error) {
	s := Default()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return s, err
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
		for _, fault := range s.parse(data) {
			faults = append(faults, fmt.Errorf("site.json: %w", fault))
		}
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
	return s, errors.Join(faults...)
}

// readFile reads a file of the folder, never more than it may have.
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

// checkPicture reports what is wrong with a picture.
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

// foreignCSS matches what the content security policy of the pages would keep a style sheet from loading.
var foreignCSS = regexp.MustCompile(`(?i)@import|url\(\s*["']?\s*(?:[a-z][a-z0-9+.-]*:)?//`)

// checkCSS reports what is wrong with a style sheet.
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
