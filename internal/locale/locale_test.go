package locale

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

func loaded(tb testing.TB) *Catalogues {
	tb.Helper()
	c, err := Load()
	must.Succeed(tb, err)
	return c
}

func TestMessage(t *testing.T) {
	tooLong := func(count any) map[string]any {
		return map[string]any{"Param": "title", "Maximum": count, "Count": count}
	}
	tests := []struct {
		name string
		lang calendar.Language
		key  string
		args map[string]any
		want string
	}{
		{"a fixed sentence in English", "en", "free", nil, "Free"},
		{"a fixed sentence in Polish", "pl", "free", nil, "Bezpłatnie"},
		{"a fixed sentence in Spanish", "es", "free", nil, "Gratis"},
		{"a fixed sentence ignores arguments", "en", "free", map[string]any{"Count": 2}, "Free"},
		{
			"placeholders are filled", "en", "missing-params",
			map[string]any{"Names": "title, start_date"},
			"Missing parameter(s): title, start_date",
		},
		{
			"an integer is printed plainly", "pl", "rest-event-not-found",
			map[string]any{"ID": int64(1234567)},
			"Nie ma wydarzenia o ID 1234567.",
		},
		{
			"two bounds", "es", "between",
			map[string]any{"Param": "page", "Minimum": 1, "Maximum": 50},
			"El valor de page debe estar entre 1 y 50.",
		},
		{
			"argument text is not a template", "en", "unknown-terms",
			map[string]any{"Names": "{{.Names}}"},
			"You are not allowed to create: {{.Names}}. Choose terms that exist.",
		},
		{
			"a count does not disturb a sentence without plural forms", "pl", "min",
			map[string]any{"Param": "page", "Minimum": 1, "Count": 1},
			"Wartość parametru page musi wynosić co najmniej 1.",
		},
		{"English one", "en", "too-long", tooLong(1), "title must not be longer than 1 character."},
		{"English other", "en", "too-long", tooLong(500), "title must not be longer than 500 characters."},
		{"Polish one", "pl", "too-long", tooLong(1), "Wartość parametru title może mieć co najwyżej 1 znak."},
		{"Polish few", "pl", "too-long", tooLong(22), "Wartość parametru title może mieć co najwyżej 22 znaki."},
		{"Polish many", "pl", "too-long", tooLong(500), "Wartość parametru title może mieć co najwyżej 500 znaków."},
		{"Polish many for teens", "pl", "too-long", tooLong(112), "Wartość parametru title może mieć co najwyżej 112 znaków."},
		{"Polish other", "pl", "too-long", tooLong("1.5"), "Wartość parametru title może mieć co najwyżej 1.5 znaku."},
		{"Spanish one", "es", "too-long", tooLong(1), "El valor de title no puede tener más de 1 carácter."},
		{"Spanish many", "es", "too-long", tooLong(1000000), "El valor de title no puede tener más de 1000000 caracteres."},
		{"Spanish other", "es", "too-long", tooLong(255), "El valor de title no puede tener más de 255 caracteres."},
		{
			"no count takes the general form", "en", "too-long",
			map[string]any{"Param": "title", "Maximum": 1},
			"title must not be longer than 1 characters.",
		},
		{
			"a count of an unfit type takes the general form", "en", "too-long", tooLong(1.5),
			"title must not be longer than 1.5 characters.",
		},
		{"an unknown language is English", "fr", "free", nil, "Free"},
		{"no language is English", "", "rest_forbidden", nil, "You are not allowed to do that."},
		{"an unknown key is itself", "pl", "no-such-key", nil, "no-such-key"},
		{"no key is empty", "pl", "", nil, ""},
		{
			"a missing argument leaves the key, not a hole", "en", "rest-event-not-found",
			map[string]any{"Id": 1},
			"rest-event-not-found",
		},
		{"no arguments at all leave the key", "pl", "between", nil, "between"},
		{"a plural sentence without its argument is the key", "pl", "too-long", map[string]any{"Count": 2}, "too-long"},
	}
	c := loaded(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.Message(tt.lang, tt.key, tt.args); got != tt.want {
				t.Errorf("Message(%q, %q, %v) = %q, want %q", tt.lang, tt.key, tt.args, got, tt.want)
			}
		})
	}
}

func TestEveryErrorCodeHasAMessage(t *testing.T) {
	codes := map[string]string{ // code or reason -> message key, "" for the same
		"rest_no_route": "", "rest_invalid_json": "", "rest_body_not_object": "", "rest_unsupported_media_type": "", "duplicate-key": "", "rest_invalid_date": "date-unreadable", "rest_missing_callback_param": "missing-params",
		"rest_invalid_param": "invalid-params", "rest_forbidden": "", "incorrect_password": "",
		"rest_invalid_token": "", "rest-event-not-found": "", "rest-invalid-event-id": "",
		"event-no-longer-available": "", "event-not-accessible": "", "venue-not-accessible": "",
		"organizer-not-accessible": "", "event-password-protected": "", "event-is-in-trash": "",
		"venue-is-in-trash": "", "organizer-is-in-trash": "", "series-is-in-trash": "", "event-archive-page-not-found": "",
		"venue-archive-page-not-found": "", "organizer-archive-page-not-found": "", "term_exists": "",
		"duplicate_term_slug": "", "image-not-found": "", "rest_request_too_large": "",
		"rest_too_many_requests": "", "rest_internal_error": "", "rest_unavailable": "",
		"rest_invalid_type": "not-of-type", "rest_not_in_enum": "not-in-enum", "rest_out_of_bounds": "between",
		"unknown-ids": "no-venue", "unknown-parameter": "", "unknown-terms": "", "end-before-start": "", "invalid-linked-record": "",
		"image-not-usable": "", "upload-not-allowed": "", "rest_unavailable of series": "series-disabled",
	}
	keys := loaded(t).Keys()
	for code, key := range codes {
		if key == "" {
			key = code
		}
		if !slices.Contains(keys, key) {
			t.Errorf("code %s: no message %q", code, key)
		}
	}
}

// readEntries reads a file of texts. The test fails if a key is there twice.
func readEntries[V any](t *testing.T, name string) (out map[string]V) {
	t.Helper()
	data, err := fs.ReadFile(files, name)
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(data, &out))
	if lines := regexp.MustCompile(`(?m)^\t"`).FindAll(data, -1); len(lines) != len(out) {
		t.Errorf("%s has %d lines for %d texts: is one there twice?", name, len(lines), len(out))
	}
	return out
}

// catalogue reads the message file of a language: key, plural category, text.
func catalogue(t *testing.T, lang calendar.Language) map[string]map[string]string {
	t.Helper()
	raw := readEntries[any](t, string(lang)+".json")
	out := make(map[string]map[string]string, len(raw))
	for key, v := range raw {
		out[key] = map[string]string{}
		switch v := v.(type) {
		case string:
			out[key]["other"] = v
		case map[string]any:
			for category, form := range v {
				s, ok := form.(string)
				if !ok {
					t.Fatalf("%s: %s.%s is no text", lang, key, category)
				}
				out[key][category] = s
			}
		}
	}
	return out
}

func TestCataloguesAgree(t *testing.T) {
	// The categories of CLDR for whole and decimal numbers.
	categories := map[calendar.Language][]string{
		calendar.English: {"one", "other"},
		calendar.Polish:  {"few", "many", "one", "other"},
		calendar.Spanish: {"many", "one", "other"},
	}
	placeholder := regexp.MustCompile(`\{\{\.[A-Z][A-Za-z]*\}\}`)
	placeholders := func(s string) []string {
		return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(s, -1))))
	}
	english := catalogue(t, calendar.English)
	keys := slices.Sorted(maps.Keys(english))
	if diff := cmp.Diff(keys, loaded(t).Keys()); diff != "" {
		t.Errorf("Keys() differs from the English catalogue (-file +Keys):\n%s", diff)
	}
	for _, lang := range calendar.Languages {
		messages := catalogue(t, lang)
		if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(messages))); diff != "" {
			t.Errorf("%s has other keys than English (-en +%s):\n%s", lang, lang, diff)
		}
		for key, forms := range messages {
			want := placeholders(english[key]["other"])
			for category, form := range forms {
				if diff := cmp.Diff(want, placeholders(form)); diff != "" {
					t.Errorf("%s: %s.%s has other placeholders than English:\n%s", lang, key, category, diff)
				}
				if rest := placeholder.ReplaceAllString(form, ""); strings.ContainsAny(rest, "{}") {
					t.Errorf("%s: %s.%s has more than plain placeholders: %q", lang, key, category, form)
				}
				if form == "" || form != strings.TrimSpace(form) {
					t.Errorf("%s: %s.%s is empty or has white space around it: %q", lang, key, category, form)
				}
				if lang != calendar.English && form == english[key][category] {
					t.Errorf("%s: %s.%s is not translated: %q", lang, key, category, form)
				}
			}
			plural := len(english[key]) > 1
			got := slices.Sorted(maps.Keys(forms))
			if !plural && !slices.Equal(got, []string{"other"}) {
				t.Errorf("%s: %s has the forms %v, but English has one", lang, key, got)
			}
			if plural && !slices.Equal(got, categories[lang]) {
				t.Errorf("%s: %s has the forms %v, want %v", lang, key, got, categories[lang])
			}
		}
	}
}

func TestKeysBelongToTheCaller(t *testing.T) {
	c := loaded(t)
	first := c.Keys()[0]
	c.Keys()[0] = "changed"
	if got := c.Keys()[0]; got != first {
		t.Errorf("the first key became %q, want %q", got, first)
	}
}

func TestMissingTranslationIsEnglish(t *testing.T) {
	c, err := load(fstest.MapFS{
		"en.json": {Data: []byte(`{
			"greeting": "Hello, {{.Name}}",
			"days": {"one": "{{.Count}} day", "other": "{{.Count}} days"}
		}`)},
		"pl.json": {Data: []byte(`{"greeting": "Cześć, {{.Name}}", "only-here": "Tylko tu"}`)},
		"es.json": {Data: []byte(`{}`)},
	})
	must.Succeed(t, err)
	tests := []struct {
		lang      calendar.Language
		key, want string
	}{
		{calendar.Polish, "greeting", "Cześć, Ola"},
		{calendar.Spanish, "greeting", "Hello, Ola"},
		{calendar.Polish, "days", "2 days"}, // by the plural rules of English, which has no "few"
		{calendar.English, "only-here", "only-here"},
	}
	for _, tt := range tests {
		if got := c.Message(tt.lang, tt.key, map[string]any{"Name": "Ola", "Count": 2}); got != tt.want {
			t.Errorf("Message(%q, %q) = %q, want %q", tt.lang, tt.key, got, tt.want)
		}
	}
}

func TestLoadRefusesBadCatalogues(t *testing.T) {
	tests := []struct {
		name, polish, want string
	}{
		{"no JSON", `{"a": "b"`, "unexpected end"},
		{"a list of sentences", `"a"`, "single value"},
		{"a placeholder left open", `{"a": "{{.Name"}`, "unclosed action"},
		{"a bad plural form", `{"a": {"one": "{{end}}", "other": "b"}}`, "unexpected {{end}}"},
		{"an empty sentence", `{"a": ""}`, `"a" has no text`},
		{"no general form", `{"a": {"one": "b"}}`, `"a" has no text`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(fstest.MapFS{
				"en.json": {Data: []byte(`{"a": "b"}`)},
				"pl.json": {Data: []byte(tt.polish)},
				"es.json": {Data: []byte(`{"a": "b"}`)},
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "catalogue pl: ") {
				t.Errorf("got error %v, want one for catalogue pl with %q", err, tt.want)
			}
		})
	}
	t.Run("a missing file", func(t *testing.T) {
		if _, err := load(fstest.MapFS{"en.json": {Data: []byte(`{"a": "b"}`)}}); err == nil {
			t.Error("got no error")
		}
	})
}

func TestMessageIsSafeForConcurrentUse(t *testing.T) {
	c := loaded(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, lang := range calendar.Languages {
				for _, key := range c.Keys() {
					c.Message(lang, key, map[string]any{"Param": "title", "Maximum": 5, "Count": 5, "ID": 1})
				}
				if got := c.Message(lang, "max", map[string]any{"Param": "page", "Maximum": 50}); !strings.Contains(got, "50") {
					t.Errorf("%s: got %q", lang, got)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkMessage(b *testing.B) {
	c := loaded(b)
	b.Run("fixed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Message(calendar.Polish, "free", nil)
		}
	})
	b.Run("placeholders", func(b *testing.B) {
		args := map[string]any{"ID": 999999}
		b.ReportAllocs()
		for b.Loop() {
			c.Message(calendar.Polish, "rest-event-not-found", args)
		}
	})
	b.Run("plural", func(b *testing.B) {
		args := map[string]any{"Param": "title", "Maximum": 500, "Count": 500}
		b.ReportAllocs()
		for b.Loop() {
			c.Message(calendar.Polish, "too-long", args)
		}
	})
}
