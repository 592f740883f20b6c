package settings

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/proof/must"
)

const svg = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`

// folder creates a folder with the given files, by name, and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// readSite returns the settings of a site whose only source of settings is a folder.
func readSite(dir string) (Site, error) {
	f, err := Read(dir)
	if err != nil {
		return Site{}, err
	}
	return Resolve(Flags{}, f, nil)
}

func picture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 1))))
	return b.String()
}

func TestFolderOfASite(t *testing.T) {
	t.Parallel()
	card := picture(t)
	got, err := readSite(folder(t, map[string]string{
		"site.json": `{
			"title": {"en": "City of Łódź", "pl": "Miasto Łódź"}, "tagline": "What is on", "languages": ["es", "pl"],
			"timezone": "Europe/Warsaw", "currency-symbol": "zł", "currency-code": "PLN", "currency-position": "postfix", "decimal-mark": ",",
			"accent": "#0B57D0", "accent-dark": "#a8c7fa", "default-view": "month", "week-start": "sunday",
			"english": "en-GB", "home": "api", "per-page": 20, "indexing": false, "external-images": true,
			"embed-origins": ["https://example.org", "http://localhost:3000"], "path-aliases": {"wydarzenia": "events", "%D1%81%d0%be": "venue"},
			"paths": {"events": "kalendarz", "event": "событие", "category": "%CE%B5", "tag": "tag"},
			"map-link": "https://maps.example.org/?q={query}", "pages": {"venue": false, "docs": false},
			"footer": [{"text": "Imprint", "url": "https://example.org/imprint"}, {"text": {"pl": "Pomoc"}, "url": "/pomoc"}]
		}`,
		"logo.svg": svg, "icon.svg": svg, "card.png": card, "custom.css": "a { background: url(data:image/png;base64,AA) }",
		"about.pl.html": "<p>O nas", ".hidden": "is ignored",
	}))
	must.Succeed(t, err)
	want := Site{
		Languages: []calendar.Language{"es", "pl"}, Zone: zone(t, "Europe/Warsaw"),
		Currency: calendar.Currency{Symbol: "zł", Code: "PLN", Position: calendar.Postfix, Decimal: ","},
		Title:    Text{"en": "City of Łódź", "pl": "Miasto Łódź"}, Tagline: Text{"": "What is on"},
		Accent: "#0b57d0", AccentDark: "#a8c7fa", DefaultView: ViewMonth, WeekStart: time.Sunday,
		English: locale.British, Home: HomeAPI, PerPage: 20, ExternalImages: true,
		EmbedOrigins: []string{"https://example.org", "http://localhost:3000"},
		PathAliases:  map[string]string{"wydarzenia": "events", "со": "venue"},
		Paths:        calendar.Paths{Events: "kalendarz", Event: "%d1%81%d0%be%d0%b1%d1%8b%d1%82%d0%b8%d0%b5", Category: "%ce%b5", Tag: "tag"},
		MapLink:      "https://maps.example.org/?q={query}",
		Pages:        Pages{List: true, Month: true, Day: true, Event: true, Series: true, Organizer: true, Category: true, Tag: true, Feeds: true},
		Footer:       []Link{{Text{"": "Imprint"}, "https://example.org/imprint"}, {Text{"pl": "Pomoc"}, "/pomoc"}},
		Logo:         &File{"logo.svg", []byte(svg)}, Icon: &File{"icon.svg", []byte(svg)}, Card: &File{"card.png", []byte(card)},
		CSS: []byte("a { background: url(data:image/png;base64,AA) }"), About: map[calendar.Language]string{"pl": "<p>O nas"},
	}
	if diff := cmp.Diff(want, got, sameZone); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderMayBeEmpty(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{"empty": nil, "an empty object": {"site.json": " {}\n"}} {
		got, err := readSite(folder(t, files))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(Default(), got, sameZone); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestWrongFoldersAreNamed reads folders with mistakes. The error must name the mistake and say what is expected.
func TestWrongFoldersAreNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, text, want string }{
		{"an unknown file", "sitte.json", "{}", "sitte.json: no file of a site; want about.en.html, about.es.html, about.pl.html, card.png, custom.css, icon.svg, logo.png, logo.svg, site.json"},
		{"a large file", "site.json", strings.Repeat(" ", 65<<10), "site.json: 65 KiB; want at most 64"},
		{"no object", "site.json", "[]", "site.json: want a JSON object in braces"},
		{"no JSON", "site.json", "{\n\"title\": \"a\",\n}", "site.json: line 3: want a JSON object: invalid character"},
		{"a brace is missing", "site.json", "{", "site.json: line 1: want a JSON object"},
		{"text after the object", "site.json", "{} {}", "site.json: want nothing after the closing brace"},
		{"an unknown key", "site.json", `{"titel": "a"}`, `site.json: "titel": unknown; want accent, accent-dark, clock, currency-code,`},
		{"a key twice", "site.json", `{"title": "a", "title": "b"}`, `site.json: "title": written twice`},
		{"null", "site.json", `{"title": null}`, `site.json: "title": null; want a text, or one for each language`},
		{"an empty title", "site.json", `{"title": " "}`, `"title": want a text that is not empty`},
		{"a long title", "site.json", `{"title": "` + strings.Repeat("ł", 121) + `"}`, `"title": 121 characters; want at most 120`},
		{"a title of two lines", "site.json", `{"title": "a\nb"}`, `"title": want one line`},
		{"an unknown language", "site.json", `{"title": {"de": "a"}}`, `"title": "de": want a language, en, pl or es`},
		{"a text that is none", "site.json", `{"title": {"pl": 1}}`, `"title": "pl": 1; want a text`},
		{"no language", "site.json", `{"title": {}}`, `"title": want a text in one language at least`},
		{"a name of a colour", "site.json", `{"accent": "red"}`, `"accent": "red"; want a colour such as #0b57d0`},
		{"a pale colour", "site.json", `{"accent": "#ff8800"}`, `"accent": the contrast of #ff8800 with the paper #ffffff is 2.39; want at least 4.5`},
		{"a dark colour on dark paper", "site.json", `{"accent-dark": "#0b57d0"}`, `"accent-dark": the contrast of #0b57d0 with the paper #14171c is`},
		{"an unknown view", "site.json", `{"default-view": "week"}`, `"default-view": "week"; want "list" or "month"`},
		{"a view that is no text", "site.json", `{"default-view": 1}`, `"default-view": 1; want "list" or "month"`},
		{"a week that starts on Friday", "site.json", `{"week-start": "friday"}`, `"week-start": "friday"; want "monday" or "saturday" or "sunday"`},
		{"an unknown home", "site.json", `{"home": "blog"}`, `"home": "blog"; want "api" or "calendar"`},
		{"English of Australia", "site.json", `{"english": "en-AU"}`, `"english": "en-AU"; want "en" or "en-GB"`},
		{"a page without events", "site.json", `{"per-page": 0}`, `"per-page": 0; want a number from 1 to 50`},
		{"a broken number", "site.json", `{"per-page": 1.5}`, `"per-page": 1.5; want a number from 1 to 50`},
		{"a word for a switch", "site.json", `{"indexing": "no"}`, `"indexing": "no"; want true or false`},
		{"an unknown page", "site.json", `{"pages": {"photo": false}}`, `"pages": "photo": unknown; want category, day, docs,`},
		{"a page that is no switch", "site.json", `{"pages": {"tag": 0}}`, `"pages": "tag": 0; want true or false`},
		{"an origin with a path", "site.json", `{"embed-origins": ["https://example.org/a"]}`, `"embed-origins": "https://example.org/a"; want a list of origins`},
		{"an origin that breaks out of the policy", "site.json", `{"embed-origins": ["https://a.org; script-src *"]}`, `want a list of origins`},
		{"all origins and one", "site.json", `{"embed-origins": ["*", "https://a.org"]}`, `"embed-origins": "*"; want`},
		{"an alias of nothing", "site.json", `{"path-aliases": {"wydarzenia": "event-list"}}`, `"wydarzenia": "event-list"; want one of event, events,`},
		{"an alias that is a path", "site.json", `{"path-aliases": {"docs": "events"}}`, `"docs": this is a path of the program already`},
		{"an alias that is a language", "site.json", `{"path-aliases": {"pl": "events"}}`, `"pl": this is a path of the program already`},
		{"an alias with a slash", "site.json", `{"path-aliases": {"a/b": "events"}}`, `"a/b": want lower-case letters, digits, - and _`},
		{"names that are no object", "site.json", `{"paths": "wydarzenia"}`, `"paths": want a JSON object in braces`},
		{"a name of nothing", "site.json", `{"paths": {"evnts": "wydarzenia"}}`, `"paths": "evnts": unknown; want category, event, events, events-tag, organizer, series, tag, venue`},
		{"a name that is no text", "site.json", `{"paths": {"events": 1}}`, `"paths": "events": 1; want a name such as "wydarzenia"`},
		{"an empty name", "site.json", `{"paths": {"events": ""}}`, `"paths": "events": "": want lower-case letters, digits, - and _`},
		{"a name with a slash", "site.json", `{"paths": {"events": "a/b"}}`, `"paths": "events": "a/b": want lower-case`},
		{"a name with an encoded slash", "site.json", `{"paths": {"events": "a%2fb"}}`, `"paths": "events": "a%2fb": want lower-case`},
		{"a name with a dot", "site.json", `{"paths": {"event": ".."}}`, `"paths": "event": "..": want lower-case`},
		{"a name with a capital letter", "site.json", `{"paths": {"event": "Ł"}}`, `"paths": "event": "Ł": want lower-case`},
		{"a name with a space", "site.json", `{"paths": {"event": "a%c2%a0b"}}`, `"paths": "event": "a%c2%a0b": want lower-case`},
		{"a name that is no UTF-8", "site.json", `{"paths": {"event": "%ff"}}`, `"paths": "event": "%ff": want lower-case`},
		{"a name with a broken encoding", "site.json", `{"paths": {"event": "%c"}}`, `"paths": "event": "%c": want lower-case`},
		{"a long name", "site.json", `{"paths": {"event": "` + strings.Repeat("ł", 34) + `"}}`, `"paths": "event": 204 characters, percent-encoded; want at most 200`},
		{"a name of another page", "site.json", `{"paths": {"event": "venue"}}`, `"paths": "event": "venue": this is a path of the program already`},
		{"a name that is a path", "site.json", `{"paths": {"event": "wp-json"}}`, `"paths": "event": "wp-json": this is a path of the program already`},
		{"a name that is a language", "site.json", `{"paths": {"event": "es"}}`, `"paths": "event": "es": this is a path of the program already`},
		{"a name of two pages", "site.json", `{"paths": {"event": "koncert", "events": "koncert"}}`, `"paths": "event": "koncert" is the name of "events" already`},
		{"a category that is a view", "site.json", `{"paths": {"category": "month"}}`, `"paths": "category": "month": this is a path of the program already`},
		{"a category that is a date", "site.json", `{"paths": {"category": "2026-12"}}`, `"paths": "category": "2026-12": this is a path of the program already`},
		{"a category that is a tag", "site.json", `{"paths": {"category": "tag"}}`, `"paths": "category": "tag": this is a path of the program already`},
		{"categories and tags in one place", "site.json", `{"paths": {"category": "temat", "events-tag": "temat"}}`, `"paths": "events-tag": "temat" is the name of "category" already`},
		{"a tag that is the category", "site.json", `{"paths": {"category": "temat", "tag": "temat"}}`, `"tag" is also the name below /events/: "temat" is the name of "category" already; want another "events-tag"`},
		{"a tag that is a view", "site.json", `{"paths": {"tag": "map"}}`, `"tag" is also the name below /events/: "map": this is a path of the program already; want another "events-tag"`},
		{"a map without a place", "site.json", `{"map-link": "https://example.org/"}`, `"map-link": "https://example.org/"; want an address with {lat} and {lon}`},
		{"a map that is a script", "site.json", `{"map-link": "javascript:{query}"}`, `"map-link": "javascript:{query}"; want`},
		{"a link that is a script", "site.json", `{"footer": [{"text": "a", "url": "javascript:a"}]}`, `"footer": link 1: "url": "javascript:a"; want an address`},
		{"a link to another host", "site.json", `{"footer": [{"text": "a", "url": "//evil.example"}]}`, `"footer": link 1: "url": "//evil.example"; want an address`},
		{"a link without a text", "site.json", `{"footer": [{"url": "/a"}]}`, `"footer": link 1: want "text" and "url"`},
		{"a logo that is a page", "logo.svg", "<html/>", "logo.svg: want an SVG picture, not <html>"},
		{"an empty logo", "logo.svg", "", "logo.svg: want an SVG picture: EOF"},
		{"a card that is no picture", "card.png", "GIF89a", "card.png: want a PNG picture: "},
		{"a style sheet that imports", "custom.css", "a {}\n@import 'b.css';", "custom.css: line 2: @import: pages load nothing from other hosts"},
		{"a style sheet with a font of others", "custom.css", "a { src: URL( 'https://fonts.example/a.woff' ) }", "custom.css: line 1: URL( 'https://: pages load nothing"},
		{"a text in another encoding", "about.en.html", "caf\xe9", "about.en.html: want UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(folder(t, map[string]string{test.file: test.text}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAllFaultsOfAFolderAreNamed(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"site.json": `{"home": 1, "indexing": 1}`, "logo.svg": "a", "logo.png": "a", "readme.txt": "",
	})
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "icon.svg"), 0o700))
	_, err := Read(dir)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"home"`, `"indexing"`, "logo.svg: want", "logo.png: there is", "readme.txt: no file", "icon.svg: want a file"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// TestContrast checks Contrast with the examples of WCAG.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b Colour
		want float64
	}{
		{"#000000", "#ffffff", 21},
		{"#ffffff", "#000000", 21},
		{"#ffffff", "#ffffff", 1},
		{"#777777", "#ffffff", 4.48},
		{"#767676", "#ffffff", 4.54},
		{"#0000ff", "#ffffff", 8.59},
	} {
		if got := Contrast(test.a, test.b); math.Abs(got-test.want) > 0.006 {
			t.Errorf("%s on %s: %.3f, want %.2f", test.a, test.b, got, test.want)
		}
	}
}

func TestTextsFallBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text Text
		want string
	}{
		{Text{"": "all"}, "all"},
		{Text{"pl": "p", "es": "s", "en": "e"}, "p"},
		{Text{"es": "s", "en": "e"}, "s"},
		{Text{"en": "e"}, "e"},
		{nil, ""},
	} {
		if got := test.text.In("pl", "es"); got != test.want {
			t.Errorf("%v: %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzSiteFile(f *testing.F) {
	f.Add([]byte(`{"title": {"en": "a"}, "footer": [{"text": "a", "url": "/b"}], "accent": "#000000"}`))
	f.Add([]byte(`{"title": "a", "embed-origins": ["*"], "pages": {"tag": false}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		said, err := ParseLayer(data)
		if err != nil {
			return
		}
		s, err := Resolve(Flags{}, Folder{}, said)
		if err != nil {
			t.Fatalf("%s is right alone: %v", data, err)
		}
		for _, c := range []struct{ colour, paper Colour }{{s.Accent, lightPaper}, {s.AccentDark, darkPaper}} {
			if c.colour != "" && Contrast(c.colour, c.paper) < leastContrast {
				t.Errorf("%s cannot be read on %s", c.colour, c.paper)
			}
		}
		for _, origin := range s.EmbedOrigins {
			if strings.ContainsAny(origin, "; ,\n") {
				t.Errorf("%q breaks out of a policy", origin)
			}
		}
	})
}
