package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/almanac-cal/almanac/proof/must"
)

var languages = []string{"en", "pl", "es"}

// builtPages returns the pages of a site whose base URL has a path.
func builtPages(t *testing.T) *Pages {
	t.Helper()
	p, err := New(Site{Name: "Almanac", BaseURL: "https://example.org/rest", API: "/cal/events/v1"}, languages)
	must.Succeed(t, err)
	return p
}

func text(t *testing.T, f *File) string {
	t.Helper()
	data, err := f.Plain()
	must.Succeed(t, err)
	return string(data)
}

// eachPage calls do with the parsed HTML of every page in every language. where is the path of the page.
func eachPage(t *testing.T, do func(t *testing.T, p *Pages, lang, where string, nodes []*html.Node)) {
	t.Helper()
	p := builtPages(t)
	for _, lang := range languages {
		for where := range pages {
			t.Run(lang+where, func(t *testing.T) {
				f, ok := p.Page(lang, where)
				if !ok {
					t.Fatal("there is no such page")
				}
				root, err := html.Parse(strings.NewReader(text(t, f)))
				must.Succeed(t, err)
				do(t, p, lang, where, slices.Collect(root.Descendants()))
			})
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// segments precede the paths of pages in each language. The first language of a site has none.
var segments = map[string]string{"en": "", "pl": "/pl", "es": "/es"}

func TestPagesSayTheirLanguage(t *testing.T) {
	t.Parallel()
	eachPage(t, func(t *testing.T, _ *Pages, lang, where string, nodes []*html.Node) {
		alternates, links := map[string]string{}, map[string]string{}
		var current []string
		for _, n := range nodes {
			switch {
			case n.Type == html.ElementNode && n.Data == "html" && attribute(n, "lang") != lang:
				t.Errorf("lang is %q", attribute(n, "lang"))
			case n.Data == "link" && attribute(n, "rel") == "alternate":
				alternates[attribute(n, "hreflang")] = attribute(n, "href")
			case n.Data == "link" && attribute(n, "rel") == "canonical":
				if want := "https://example.org/rest" + segments[lang] + where; attribute(n, "href") != want {
					t.Errorf("canonical is %q, want %q", attribute(n, "href"), want)
				}
			case n.Data == "a" && attribute(n, "hreflang") != "":
				links[attribute(n, "hreflang")] = attribute(n, "href")
				if attribute(n, "aria-current") == "true" {
					current = append(current, attribute(n, "hreflang"))
				}
			}
		}
		const site = "https://example.org"
		want := map[string]string{}
		for code, segment := range segments {
			want[code] = "/rest" + segment + where
		}
		if diff := cmp.Diff(want, links); diff != "" {
			t.Errorf("links to languages (-want +got):\n%s", diff)
		}
		if !slices.Equal(current, []string{lang}) {
			t.Errorf("current: %q", current)
		}
		for code, address := range want {
			want[code] = site + address
		}
		want["x-default"] = site + "/rest" + where
		if diff := cmp.Diff(want, alternates); diff != "" {
			t.Errorf("alternates (-want +got):\n%s", diff)
		}
	})
}

// TestNoFieldOfAPageHidesOneOfItsFrame checks that no page model has a field with the name of a field of Frame. The
// template of the head would show the page's field in place of the frame's.
func TestNoFieldOfAPageHidesOneOfItsFrame(t *testing.T) {
	t.Parallel()
	for _, page := range []any{
		HomePage{}, ListPage{}, MonthPage{}, EventPage{}, PlacePage{}, ErrorPage{},
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeFor[Frame]()) {
			if found, ok := reflect.TypeOf(page).FieldByName(field.Name); !ok || found.Type != field.Type || len(found.Index) == 1 {
				t.Errorf("%T: %s is not that of the frame", page, field.Name)
			}
		}
	}
}

// TestPagesHoldNeitherScriptNorStyle looks for markup that the Content-Security-Policy of the pages forbids. Otherwise
// such a fault would show only in a browser.
func TestPagesHoldNeitherScriptNorStyle(t *testing.T) {
	t.Parallel()
	eachPage(t, func(t *testing.T, _ *Pages, _, _ string, nodes []*html.Node) {
		for _, n := range nodes {
			for _, a := range n.Attr {
				if n.Type == html.ElementNode && (a.Key == "style" || strings.HasPrefix(a.Key, "on") ||
					strings.HasPrefix(a.Val, "javascript:")) {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "style" || n.Data == "iframe" || n.Data == "script" && (n.FirstChild != nil || attribute(n, "src") == "") {
				t.Errorf("<%s>", n.Data)
			}
		}
	})
}

func TestPagesReferToNothingElse(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachPage(t, func(t *testing.T, p *Pages, lang, _ string, nodes []*html.Node) {
		known := []string{
			"/rest/", "/rest/pl/", "/rest/es/", "/rest/docs", "/rest/pl/docs", "/rest/es/docs",
			"/rest/developers/", "/rest/pl/developers/", "/rest/es/developers/",
			"/rest/cal/events/v1", "/rest/cal/events/v1/doc?ml_language=" + lang,
		}
		for _, n := range nodes {
			for _, name := range []string{"href", "src", "data-document"} {
				address := attribute(n, name)
				switch asset, ok := strings.CutPrefix(address, "/rest"+AssetsPath); {
				case address == "":
				case ok:
					if _, there := p.Asset(asset); !there {
						t.Errorf("there is no asset %s", asset)
					}
					used[asset] = true
				case n.Data == "link" && strings.HasPrefix(address, "https://example.org/rest/"):
				case !slices.Contains(known, address):
					t.Errorf("<%s %s=%q>", n.Data, name, address)
				}
			}
		}
	})
	for _, name := range []string{"calendar.css", "calendar.js"} {
		used[builtPages(t).names[name]] = true // by the pages of the calendar
	}
	if want := slices.Sorted(maps.Values(builtPages(t).names)); !slices.Equal(want, slices.Sorted(maps.Keys(used))) {
		t.Errorf("assets %q, of which the pages use %q", want, slices.Sorted(maps.Keys(used)))
	}
}

var hosts = regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'<>)\\]*`)

func TestNoOtherHostIsNamed(t *testing.T) {
	t.Parallel()
	p := builtPages(t)
	check := func(name, text string) {
		for _, address := range hosts.FindAllString(text, -1) {
			if !strings.HasPrefix(address, "https://example.org/rest") && address != "http://www.w3.org/2000/svg" {
				t.Errorf("%s names %s", name, address)
			}
		}
	}
	for lang, pages := range p.pages {
		for where, f := range pages {
			check(lang+where, text(t, f))
		}
	}
	for name, f := range p.assets {
		switch {
		// The licences name their authors, and the bundle the specifications that it follows; its policy keeps it here.
		case strings.HasSuffix(name, ".txt"), strings.HasPrefix(name, "swagger-ui.") && strings.HasSuffix(name, ".js"):
		case strings.HasSuffix(name, ".css"):
			check(name, text(t, f))
			if regexp.MustCompile(`@import|url\(\s*["']?(?:http|//)`).MatchString(text(t, f)) {
				t.Errorf("%s loads something", name)
			}
		default:
			check(name, text(t, f))
		}
	}
	if !hosts.MatchString(`src="//cdn.example.com/a.js"`) {
		t.Error("a host would not be found")
	}
}

func TestAssetsAreNamedAfterTheirContent(t *testing.T) {
	t.Parallel()
	for name, f := range builtPages(t).assets {
		data := []byte(text(t, f))
		parts := strings.Split(name, ".")
		sum := sha256.Sum256(data)
		if want := hex.EncodeToString(sum[:6]); parts[1] != want || f.Tag != want {
			t.Errorf("%s with the tag %s holds %s", name, f.Tag, want)
		}
		if f.Type != mediaTypes[path.Ext(name)] {
			t.Errorf("%s is %q", name, f.Type)
		}
		packed, err := f.Gzip()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		zipped, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		brotlied, err := f.Brotli()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for form, r := range map[string]io.Reader{"gzip": zipped, "Brotli": brotli.NewReader(bytes.NewReader(brotlied))} {
			unpacked, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(unpacked, data) {
				t.Errorf("%s in %s is something else: %v", name, form, err)
			}
		}
		if len(brotlied) >= len(data) || len(packed) >= len(data) {
			t.Errorf("%s: %d bytes, %d in Brotli, %d in gzip", name, len(data), len(brotlied), len(packed))
		}
	}
}

func TestLicencesGoWithTheBundle(t *testing.T) {
	t.Parallel()
	p := builtPages(t)
	f, ok := p.Asset(p.names["swagger-ui.txt"])
	if !ok {
		t.Fatal("there are none")
	}
	for _, want := range []string{"SmartBear", "Apache License", "MIT"} {
		if !strings.Contains(text(t, f), want) {
			t.Errorf("%s is not among them", want)
		}
	}
}

// TestWordsOfTheReference checks the translations that replace English words in the API reference. No translation may
// itself be one of the English words, because the page would replace it again.
func TestWordsOfTheReference(t *testing.T) {
	t.Parallel()
	polish, err := readWords("pl")
	must.Succeed(t, err)
	if len(polish.Reference) == 0 {
		t.Error("no words")
	}
	for _, lang := range []string{"pl", "es"} {
		w, err := readWords(lang)
		must.Succeed(t, err)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(polish.Reference)), slices.Sorted(maps.Keys(w.Reference))); diff != "" {
			t.Errorf("%s has other words (-pl +%s):\n%s", lang, lang, diff)
		}
		for english, word := range w.Reference {
			if _, again := w.Reference[word]; again || word == "" || word != strings.TrimSpace(word) || english != strings.TrimSpace(english) {
				t.Errorf("%s: %q for %q", lang, word, english)
			}
		}
	}
	p := builtPages(t)
	bundle, _ := p.Asset(p.names["swagger-ui.js"])
	source := text(t, bundle)
	for english := range polish.Reference {
		// Two that it puts together: authorization button + locked.
		if !strings.Contains(source, english) && !strings.HasPrefix(english, "authorization button") {
			t.Errorf("the bundle does not say %q", english)
		}
	}
}

func TestLanguagesHaveTheSameWords(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(files, "words")
	must.Succeed(t, err)
	if len(entries) != 2*len(languages) {
		t.Errorf("%d files, want %d", len(entries), 2*len(languages))
	}
	calendar, err := NewCalendar(languages, nil)
	must.Succeed(t, err)
	for _, lang := range []string{"pl", "es"} {
		if w := calendar.Words(lang); w.Lead == calendar.Words("en").Lead || w.Search == calendar.Words("en").Search {
			t.Errorf("the calendar is not translated: %+v", w)
		}
	}
	english, err := readWords("en")
	must.Succeed(t, err)
	for _, lang := range []string{"pl", "es"} {
		w, err := readWords(lang)
		must.Succeed(t, err)
		w.Reference, english.Reference = nil, nil
		if strings.Count(w.Title, "{name}") != 1 || w.Lead == english.Lead || w.Next == english.Next {
			t.Errorf("%s is not translated: %+v", lang, w)
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	p, err := New(Site{Name: `<b>"Tom" & 'Jo'</b>`, BaseURL: "http://localhost:8080", API: "/cal/events/v1"}, languages)
	must.Succeed(t, err)
	for where := range pages {
		f, _ := p.Page("en", where)
		if got := text(t, f); strings.Contains(got, "<b>") || !strings.Contains(got, "&lt;b&gt;") {
			t.Errorf("%s: %s", where, got)
		}
	}
}

func TestASiteWithoutANameIsWhatItIs(t *testing.T) {
	t.Parallel()
	p, err := New(Site{BaseURL: "http://localhost:8080", API: "/cal/events/v1"}, languages)
	must.Succeed(t, err)
	for lang, want := range map[string]string{"en": "events API", "pl": "API wydarzeń", "es": "API de eventos"} {
		f, _ := p.Page(lang, "/")
		if !strings.Contains(text(t, f), "<title>"+want+"</title>") {
			t.Errorf("%s: %s", lang, text(t, f))
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		site      Site
		languages []string
		want      string
	}{
		"a language without words": {Site{BaseURL: "http://localhost"}, []string{"en", "de"}, "de.json"},
		"no address":               {Site{BaseURL: "http://local host"}, languages, "base URL"},
	} {
		if _, err := New(c.site, c.languages); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "''", "a b": "'a b'", "$HOME": "'$HOME'", "it's": `'it'\''s'`, `\`: `'\'`,
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}
