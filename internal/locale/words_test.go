package locale

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

// sentence is one English text of a catalogue and its translation.
type sentence struct{ english, text string }

// sentences returns the translations of all catalogues: messages, descriptions and the words of pages.
func sentences(t *testing.T, lang calendar.Language) []sentence {
	t.Helper()
	var out []sentence
	english, translated := catalogue(t, calendar.English), catalogue(t, lang)
	for _, key := range slices.Sorted(maps.Keys(translated)) {
		for _, form := range translated[key] {
			out = append(out, sentence{english[key]["other"], form})
		}
	}
	for english, text := range descriptions(t, lang) {
		out = append(out, sentence{english, text})
	}
	for _, name := range []string{"", "calendar."} {
		english, translated := pageWords(t, name, calendar.English), pageWords(t, name, lang)
		for _, key := range slices.Sorted(maps.Keys(translated)) {
			out = append(out, sentence{english[key], translated[key]})
		}
	}
	return out
}

// pageWords reads the texts of web pages in a language. The key of a plural form is the key of its text with the
// plural category.
func pageWords(t *testing.T, name string, lang calendar.Language) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "web", "words", name+string(lang)+".json"))
	must.Succeed(t, err)
	var raw map[string]any
	must.Succeed(t, json.Unmarshal(data, &raw))
	out := map[string]string{}
	for key, v := range raw {
		if forms, ok := v.(map[string]any); ok {
			for form, text := range forms {
				out[key+"."+form] = fmt.Sprint(text)
			}
			continue
		}
		out[key] = fmt.Sprint(v)
	}
	return out
}

// TestGlossary checks that each term of docs/languages.md has one translation in each language. A row of its table
// has a pattern of the English term, and the beginnings of the allowed translations.
func TestGlossary(t *testing.T) {
	glossary := []struct{ english, polish, spanish string }{
		{"requests?", "żąda", "solicitud"},
		{"responses?", "odpowied", "respuesta"},
		{"events?", "wydarze", "evento"},
		{"occurrences?", "termin", "fechas? de la serie"},
		{"series", "cykl", "serie"},
		{"schedules?", "harmonogram", "programación"},
		{"recurrence rules?", "regu[lł]\\pL* powtarzania", "reglas? de repetición"},
		{"venues?", "miejsc", "lugar"},
		{"organizers?", "organizator", "organizador"},
		{"categor(y|ies)", "kategori", "categoría"},
		{"tags?", "tag", "etiqueta"},
		{"images?", "obraz", "im[aá]gen"},
		{"records?", "rekord", "registro"},
		{"trash", "kosz", "papelera"},
		{"passwords?", "has(ł|eł)", "contraseña"},
		{"parameters?", "parametr", "parámetro"},
		{"headers?", "nagłów", "cabecera"},
		{"pages?", "stron", "página"},
		{"languages?", "język", "idioma"},
		{"time zones?", "stref\\pL* czasow", "zona horaria"},
		{"feeds?", "kanał", "canal"},
		{"filters?", "filtr", "filtr"},
		{"tokens?", "token", "token"},
		{"operators?", "operator", "operador"},
		{"routes?", "ścież", "ruta"},
		{"links?", "odnośnik", "enlace"},
		{"featured", "(nie)?wyróżni", "destacado"},
	}
	// literal matches names of parameters, which stay English.
	literal := regexp.MustCompile(`id,venue\.venue|category; did-you-mean=categories`)
	for _, lang := range []calendar.Language{calendar.Polish, calendar.Spanish} {
		all := sentences(t, lang)
		for _, term := range glossary {
			want := term.polish
			if lang == calendar.Spanish {
				want = term.spanish
			}
			english := regexp.MustCompile(`(?i)(^|[^\w-])(` + term.english + `)($|[^\w-])`)
			translated := regexp.MustCompile(`(?i)(^|\PL)(` + want + `)`)
			found := false
			for _, s := range all {
				if !english.MatchString(literal.ReplaceAllString(s.english, "")) {
					continue
				}
				found = true
				if !translated.MatchString(s.text) {
					t.Errorf("%s: %q translates %q without the word %q of the glossary", lang, s.text, s.english, want)
				}
			}
			if !found {
				t.Errorf("no English text has the term %q", term.english)
			}
		}
	}
}

// TestBannedWords finds translations that do not use the terms of the glossary, or address the reader informally.
// Polish messages must not address a person at all. Spanish ones use usted. A star in the table stands for any
// ending.
func TestBannedWords(t *testing.T) {
	banned := map[calendar.Language]string{
		calendar.Polish: "zapytani* prośb* kwerend* pozycj* seri* polecan* łącze łącza łączy " +
			"masz możesz musisz chcesz jesteś twoj* twój ciebie tobie spróbuj podaj wybierz odczytaj zobacz",
		calendar.Spanish: "petici* requerimiento* encabezado* ocurrencia* periódic* " +
			"tú tu tus ti tienes puedes debes quieres quisiste elige introduce prueba inténtalo vuelve escribe envía " +
			"mira estás eres",
	}
	notLetter := regexp.MustCompile(`\PL+`)
	for lang, list := range banned {
		for _, s := range sentences(t, lang) {
			for _, word := range notLetter.Split(strings.ToLower(s.text), -1) {
				for ban := range strings.FieldsSeq(list) {
					stem, open := strings.CutSuffix(ban, "*")
					if word == ban || open && strings.HasPrefix(word, stem) {
						t.Errorf("%s: %q has the word %q; see the glossary of docs/languages.md", lang, s.text, word)
					}
				}
			}
		}
	}
}
