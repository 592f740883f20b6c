package locale

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

func TestText(t *testing.T) {
	c := loaded(t)
	for _, tt := range []struct {
		lang          calendar.Language
		english, want string
	}{
		{calendar.English, "Postal code", "Postal code"},
		{calendar.Polish, "Postal code", "Kod pocztowy"},
		{calendar.Spanish, "Postal code", "Código postal"},
		{calendar.Polish, "Nothing is described so", "Nothing is described so"},
		{calendar.Spanish, "", ""},
		{"fr", "Postal code", "Postal code"},
		{"", "Postal code", "Postal code"},
	} {
		if got := c.Text(tt.lang, tt.english); got != tt.want {
			t.Errorf("Text(%q, %q) = %q, want %q", tt.lang, tt.english, got, tt.want)
		}
	}
}

// TestTextOfNoCataloguesIsEnglish calls Text on nil Catalogues. Code that only needs the English descriptions
// calls it so.
func TestTextOfNoCataloguesIsEnglish(t *testing.T) {
	var c *Catalogues
	if got := c.Text("", "Postal code"); got != "Postal code" {
		t.Errorf("got %q", got)
	}
}

// descriptions reads the file with a language's translated descriptions, by English text.
func descriptions(t *testing.T, lang calendar.Language) map[string]string {
	t.Helper()
	return readEntries[string](t, "doc."+string(lang)+".json")
}

// untranslated matches parts that a translation must not change: numbers, placeholders, and names such as geoloc_lat
// and venue.venue.
var untranslated = regexp.MustCompile(`\{\{\.\w+\}\}|\d+|[a-z]+[_.][a-z]+|\b(?:UTC|HTML|URL|ID|multipart|false|asc|desc)s?\b`)

func TestDescriptionsAgree(t *testing.T) {
	// loans are the English words that are also those of the language.
	loans := map[calendar.Language][]string{
		calendar.Polish:  {"API", "Slug", "Status"},
		calendar.Spanish: {"API", "Series", "Slug"},
	}
	words := func(s string) []string {
		found := untranslated.FindAllString(s, -1)
		for i := range found {
			found[i] = strings.TrimSuffix(found[i], "s") // neither language has IDs
		}
		return slices.Sorted(slices.Values(found))
	}
	polish := descriptions(t, calendar.Polish)
	for lang, loans := range loans {
		texts := descriptions(t, lang)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(polish)), slices.Sorted(maps.Keys(texts))); diff != "" {
			t.Errorf("%s describes something else (-pl +%s):\n%s", lang, lang, diff)
		}
		for english, text := range texts {
			// An address of a site is a URL where the language has no other word for it.
			got, want := words(text), words(english)
			if strings.Contains(english, "ddress of an image") || strings.Contains(english, "by file or address") {
				want = slices.Sorted(slices.Values(append(want, "URL")))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %q has other words of programs than %q (-en +%s):\n%s", lang, text, english, lang, diff)
			}
			if text == "" || text != strings.TrimSpace(text) {
				t.Errorf("%s: %q is empty or has white space around it", lang, text)
			}
			if text == english && !slices.Contains(loans, english) {
				t.Errorf("%s: %q is not translated", lang, english)
			}
			if strings.HasSuffix(text, ".") != strings.HasSuffix(english, ".") {
				t.Errorf("%s: %q does not end as %q does", lang, text, english)
			}
		}
	}
}

func TestLoadRefusesBadDescriptions(t *testing.T) {
	good := &fstest.MapFile{Data: []byte(`{"a": "b"}`)}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"no JSON":        {fstest.MapFS{"doc.pl.json": good, "doc.es.json": {Data: []byte(`{`)}}, "descriptions es: "},
		"plural forms":   {fstest.MapFS{"doc.pl.json": {Data: []byte(`{"a": {"one": "b"}}`)}, "doc.es.json": good}, "descriptions pl: "},
		"a missing file": {fstest.MapFS{"doc.pl.json": good}, "descriptions es: "},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := loadTexts(c.files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}
