package settings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

func zone(t *testing.T, name string) calendar.Zone {
	t.Helper()
	z, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	return z
}

func layer(t *testing.T, text string) Layer {
	t.Helper()
	l, err := ParseLayer([]byte(text))
	must.Succeed(t, err)
	return l
}

// TestResolve checks that a flag takes precedence over the folder, and the folder over a stored setting.
func TestResolve(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                  string
		flags, folder, stored string
		main                  calendar.Language
		want                  func(*Site)
	}{
		{"nothing", "{}", "{}", "{}", "", func(*Site) {}},
		{"stored", "{}", "{}", `{"timezone": "Europe/Warsaw", "languages": ["pl", "en"]}`, "", func(s *Site) {
			s.Zone, s.Languages = zone(t, "Europe/Warsaw"), []calendar.Language{"pl", "en"}
		}},
		{"the folder wins over what is stored", "{}", `{"per-page": 20}`, `{"per-page": 30, "currency-code": "PLN"}`, "", func(s *Site) {
			s.PerPage, s.Currency.Code = 20, "PLN"
		}},
		{"a flag wins over both", `{"per-page": 5}`, `{"per-page": 20}`, `{"per-page": 30}`, "", func(s *Site) { s.PerPage = 5 }},
		{"an empty symbol is one", `{"currency-symbol": ""}`, "{}", `{"currency-symbol": "zł"}`, "", func(s *Site) { s.Currency.Symbol = "" }},
		{"the main language by a flag", "{}", "{}", `{"languages": ["pl", "en"]}`, "en", func(s *Site) {
			s.Languages = []calendar.Language{"en", "pl"}
		}},
		{"a main language that was not offered", "{}", "{}", `{"languages": ["pl"]}`, "es", func(s *Site) {
			s.Languages = []calendar.Language{"es", "pl"}
		}},
	} {
		want := Default()
		test.want(&want)
		got, err := Resolve(Flags{Layer: layer(t, test.flags), Language: test.main}, Folder{Said: layer(t, test.folder)}, layer(t, test.stored))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(want, got, sameZone); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	stored := layer(t, `{"languages": ["pl", "en"], "per-page": 10, "title": {"pl": "A", "en": "B"}, "timezone": "Europe/Warsaw"}`)
	got := Differences(Flags{Layer: layer(t, `{"timezone": "UTC", "currency-code": "PLN"}`), Language: calendar.English},
		Folder{Said: layer(t, `{"title": {"en": "B", "pl": "A"}, "per-page": 12}`)}, stored)
	want := []Difference{{"currency-code", "PLN", "USD"}, {"per-page", "12", "10"}, {"timezone", "UTC", "Europe/Warsaw"}, {"language", "en", "pl"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Differences(Flags{Language: calendar.Polish}, Folder{}, stored); got != nil {
		t.Errorf("the same language differs: %v", got)
	}
	got = Differences(Flags{Layer: layer(t, `{"timezone": "UTC"}`), Language: calendar.Polish}, Folder{Said: layer(t, `{"title": "A"}`)}, Layer{})
	if diff := cmp.Diff([]Difference{{"language", "pl", "en"}}, got); diff != "" {
		t.Errorf("of a calendar that has all defaults: %s", diff)
	}
}

// TestDefaultTexts sets each setting to its DefaultText. The resolved site must stay the same, except that the title
// is then set explicitly.
func TestDefaultTexts(t *testing.T) {
	t.Parallel()
	said := Layer{}
	for _, key := range Keys() {
		if text := DefaultText(key); text != "" {
			if err := said.Set(key, text); err != nil {
				t.Error(err)
			}
		}
	}
	got, err := Resolve(Flags{}, Folder{}, said)
	must.Succeed(t, err)
	want := Default()
	want.Title = Text{"": programName}
	if diff := cmp.Diff(want, got, sameZone); diff != "" {
		t.Error(diff)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, value, want, fault string }{
		{"timezone", "Europe/Warsaw", `"Europe/Warsaw"`, ""},
		{"timezone", `"Europe/Warsaw"`, `"Europe/Warsaw"`, ""},
		{"timezone", "Europe/Warschau", "", `"timezone": "Europe/Warschau": `},
		{"languages", "pl, en", `["pl","en"]`, ""},
		{"languages", "pl", `["pl"]`, ""},
		{"languages", `["pl"]`, `["pl"]`, ""},
		{"languages", "pl,de", "", `"languages": "de"; want en, pl or es`},
		{"languages", "pl,pl", "", `written twice`},
		{"per-page", "20", "20", ""},
		{"per-page", "200", "", "200; want a number from 1 to 50"},
		{"title", "Kalendarz", `"Kalendarz"`, ""},
		{"title", "2026", `"2026"`, ""},
		{"title", `{"pl": "Kalendarz"}`, `{"pl": "Kalendarz"}`, ""},
		{"title", " ", "", "want a text that is not empty"},
		{"currency-symbol", "", `""`, ""},
		{"currency-code", "pln", "", `"pln"; want three capital letters`},
		{"indexing", "false", "false", ""},
		{"path-aliases", `{"wydarzenia": "events"}`, `{"wydarzenia": "events"}`, ""},
		{"paths", `{"events": "kalendarz", "category": "events"}`, `{"events":"kalendarz","category":"events"}`, ""},
		{"paths", `{"event": "событие", "venue": "%CE%B5"}`, `{"event":"%d1%81%d0%be%d0%b1%d1%8b%d1%82%d0%b8%d0%b5","venue":"%ce%b5"}`, ""},
		{"paths", `{"tag": "map", "events-tag": "tag"}`, `{"tag":"map","events-tag":"tag"}`, ""},
		{"paths", "kalendarz", "", `"paths": `},
		{"titel", "a", "", `"titel": unknown; want accent, `},
	} {
		l := Layer{}
		err := l.Set(test.key, test.value)
		switch {
		case test.fault == "" && err != nil:
			t.Errorf("%s=%s: %v", test.key, test.value, err)
		case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
			t.Errorf("%s=%s: %v, want %s", test.key, test.value, err, test.fault)
		case string(l[test.key]) != test.want:
			t.Errorf("%s=%s: %s, want %s", test.key, test.value, l[test.key], test.want)
		}
		if test.fault == "" {
			again := Layer{}
			if err := again.Set(test.key, l.Text(test.key)); err != nil || !sameValue(again[test.key], l[test.key]) {
				t.Errorf("%s: %q is %s when it is set again: %v", test.key, l.Text(test.key), again[test.key], err)
			}
		}
	}
}

// FuzzSet sets settings to arbitrary texts. If Set accepts a text, the layer must survive Format and ParseLayer.
func FuzzSet(f *testing.F) {
	f.Add("title", "a")
	f.Add("languages", "pl,en")
	f.Add("path-aliases", `{"a": "events"}`)
	f.Add("paths", `{"event": "событие", "category": "%CE%B5"}`)
	f.Fuzz(func(t *testing.T, key, value string) {
		l := Layer{}
		if l.Set(key, value) != nil {
			return
		}
		data, err := l.Format()
		if err != nil || !json.Valid(data) {
			t.Fatalf("%s: %v", data, err)
		}
		if _, err := ParseLayer(data); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	})
}

// sameZone compares zones by their names.
var sameZone = cmp.Comparer(func(a, b calendar.Zone) bool { return a.String() == b.String() })
