package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// translations returns the translated texts of the interface description by their English form. Texts with the
// name of the site have that name filled in.
func translations(t *testing.T, lang calendar.Language) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(apitest.Root(), "internal", "locale", "doc."+string(lang)+".json"))
	must.Succeed(t, err)
	var texts map[string]string
	must.Succeed(t, json.Unmarshal(bytes.ReplaceAll(data, []byte("{{.Site}}"), []byte("Almanac")), &texts))
	return texts
}

// splitDocument is a JSON document in two lists: the texts for readers, and all other values. Each has its path
// before it.
type splitDocument struct{ texts, rest []string }

func describedBy(t *testing.T, body []byte) splitDocument {
	t.Helper()
	var d splitDocument
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	must.Succeed(t, d.read(dec, "", ""))
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("more than a document: %v", err)
	}
	return d
}

func (d *splitDocument) read(dec *json.Decoder, path, key string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	text, isText := token.(string)
	switch {
	// What an example holds is a calendar's, not ours.
	case isText && !strings.HasPrefix(path, "/components/examples/") && !strings.Contains(path, "/application/json/example/") &&
		slices.Contains([]string{"description", "summary", "title", "x-displayName"}, key):
		d.texts = append(d.texts, text)
		d.rest = append(d.rest, path+" is a text")
	case token == json.Delim('{'):
		d.rest = append(d.rest, path+" is an object")
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if err := d.read(dec, fmt.Sprint(path, "/", name), name.(string)); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	case token == json.Delim('['):
		d.rest = append(d.rest, path+" is a list")
		for i := 0; dec.More(); i++ {
			if err := d.read(dec, fmt.Sprint(path, "/", i), ""); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	default:
		d.rest = append(d.rest, fmt.Sprintf("%s is %#v", path, token))
	}
	return err
}

func TestEveryDescriptionIsTranslated(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	said := make(map[string]bool)
	for _, path := range []string{"/doc", ""} {
		for _, text := range describedBy(t, api.Do(t, get(path)).Body).texts {
			said[text] = true
		}
	}
	want := slices.Sorted(maps.Keys(said))
	if len(want) < 100 {
		t.Fatalf("only %d texts: %q", len(want), want)
	}
	for _, lang := range []calendar.Language{calendar.Polish, calendar.Spanish} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(translations(t, lang)))); diff != "" {
			t.Errorf("locale/doc.%s.json (-said in English +translated):\n%s", lang, diff)
		}
	}
}

// wish returns a request for a path that asks for a language in one of the possible ways.
type wish func(method, path string, lang calendar.Language) apitest.Request

// waysToAsk returns all ways to ask for a language, by name.
func waysToAsk() map[string]wish {
	under := "/" + handlers.Namespace
	return map[string]wish{
		"parameter": func(method, path string, lang calendar.Language) apitest.Request {
			mark := "?"
			if strings.Contains(path, mark) {
				mark = "&"
			}
			return apitest.Request{Method: method, Path: path + mark + "ml_language=" + string(lang)}
		},
		"header": func(method, path string, lang calendar.Language) apitest.Request {
			return apitest.Request{Method: method, Path: path, Header: map[string]string{"Accept-Language": string(lang)}}
		},
		"segment": func(method, path string, lang calendar.Language) apitest.Request {
			return apitest.Request{Method: method, Absolute: true, Path: "/" + string(lang) + under + path}
		},
		"segment of another mount": func(method, path string, lang calendar.Language) apitest.Request {
			return apitest.Request{Method: method, Absolute: true, Path: "/" + string(lang) + "/wp-json/tribe/events/v1" + path}
		},
	}
}

// splitDocuments caches the results of splitting and comparing descriptions, by their texts. Most ways to ask for
// a language return the same documents.
type splitDocuments struct {
	documents map[string]splitDocument
	compared  map[[2]string]bool
}

// read returns the text of a description in a language, without the language segment in links.
func (d splitDocuments) read(t *testing.T, api *apitest.API, r apitest.Request, lang calendar.Language) string {
	t.Helper()
	res := api.Do(t, r)
	if res.Status != 200 {
		t.Fatalf("%d: %s", res.Status, res.Body)
	}
	speaks(t, res, lang)
	// The segment is in the links of its own root, and ends the server of feeds.
	body := res.Body
	for _, end := range []string{"/", `"`} {
		segment := []byte(apitest.BaseURL + "/" + string(lang) + end)
		body = bytes.ReplaceAll(body, segment, []byte(apitest.BaseURL+end))
	}
	text := string(body)
	if _, ok := d.documents[text]; !ok {
		d.documents[text] = describedBy(t, body)
	}
	return text
}

// compare checks that a description has the form of the English one, and the translations of its texts.
func (d splitDocuments) compare(t *testing.T, inEnglish, translated string, lang calendar.Language) {
	t.Helper()
	pair := [2]string{inEnglish, translated}
	if d.compared[pair] {
		return
	}
	d.compared[pair] = true
	english, got, texts := d.documents[inEnglish], d.documents[translated], translations(t, lang)
	if diff := cmp.Diff(english.rest, got.rest); diff != "" {
		t.Fatalf("%s has another form (-en +%s):\n%s", lang, lang, diff)
	}
	for i, text := range english.texts {
		if got.texts[i] != texts[text] {
			t.Errorf("%s: %q is %q, want %q", lang, text, got.texts[i], texts[text])
		}
	}
}

func TestDescriptionsDifferInTextsForPeopleAlone(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) {
		c.Mounts = []string{"/wp-json/tribe/events/v1"}
	})
	documents := splitDocuments{documents: map[string]splitDocument{}, compared: map[[2]string]bool{}}
	for name, ask := range waysToAsk() {
		for _, one := range []struct{ name, method, path string }{
			{"doc", "GET", "/doc"},
			{"kept doc", "GET", "/doc"},
			{"index", "GET", ""},
			{"options of the index", "OPTIONS", "/"},
			{"options of a list", "OPTIONS", "/events"},
			{"options of a record", "OPTIONS", "/categories/5"},
		} {
			if testing.Short() && name != "parameter" && one.name != "doc" {
				continue
			}
			t.Run(name+" "+one.name, func(t *testing.T) {
				read := func(lang calendar.Language) string {
					return documents.read(t, api, ask(one.method, one.path, lang), lang)
				}
				inEnglish := read(calendar.English)
				for _, lang := range []calendar.Language{calendar.Polish, calendar.Spanish} {
					documents.compare(t, inEnglish, read(lang), lang)
				}
			})
		}
	}
}

// speaks checks the language that a reply declares. TestWishesAreTakenInTheirOrder checks its Vary header.
func speaks(t *testing.T, res apitest.Response, lang calendar.Language) {
	t.Helper()
	if got := res.Header.Get("Content-Language"); got != string(lang) {
		t.Errorf("Content-Language is %q, want %q", got, lang)
	}
}

func TestTranslatedIndexIsPublished(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	for _, lang := range []calendar.Language{calendar.Polish, calendar.Spanish} {
		res := api.Do(t, get("?ml_language="+string(lang)))
		if res.Status != 200 {
			t.Fatalf("%s: %d: %s", lang, res.Status, res.Body)
		}
		comparePublished(t, "index."+string(lang)+".json", res.Body)
	}
}

func TestDescriptionsOfASiteThatSpeaksPolish(t *testing.T) {
	t.Parallel()
	const polish, english = `"API wydarzeń Dom Kultury"`, `"Dom Kultury events API"`
	named := func(name string) apitest.Option {
		return func(c *handlers.Config) { c.Site.Language, c.Site.Name = calendar.Polish, name }
	}
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), named("Dom Kultury"))
	api.Run(t, []apitest.Case{
		{Name: "no wish", Request: get("/doc"), Status: 200, Check: allChecks(showsMember(polish, "info", "title"), header("Content-Language", "pl"))},
		{Name: "a wish", Request: get("/doc?ml_language=en"), Status: 200, Check: allChecks(showsMember(english, "info", "title"), header("Content-Language", "en"))},
		{Name: "no wish again", Request: get("/doc"), Status: 200, Check: showsMember(polish, "info", "title")},
		{
			Name: "a wish that cannot be met", Status: 200, Check: showsMember(polish, "info", "title"),
			Request: apitest.Request{Path: "/doc", Header: map[string]string{"Accept-Language": "de"}},
		},
		{
			Name: "the index", Request: get(""), Status: 200,
			Check: showsMember(`"Język żądania"`, "routes", "/cal/events/v1/doc", "endpoints", 0, "args", "ml_language", "description"),
		},
		{Name: "an unknown language", Request: get("/doc?ml_language=de"), Status: 400, Code: "rest_invalid_param", Check: header("Content-Language", "pl")},
	})
	nameless := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), named(""))
	nameless.Run(t, []apitest.Case{
		{Name: "a site without a name", Request: get("/doc"), Status: 200, Check: showsMember(`"API wydarzeń"`, "info", "title")},
		{Name: "a site without a name in English", Request: get("/doc?ml_language=en"), Status: 200, Check: showsMember(`"events API"`, "info", "title")},
	})
}
