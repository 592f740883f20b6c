package scenario

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func TestLanguagesHaveTheSameSections(t *testing.T) {
	for _, scenario := range Scenarios {
		p, err := readPlan(scenario)
		if err != nil {
			t.Fatal(err)
		}
		en, err := readTexts(scenario, calendar.English)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range calendar.Languages {
			other, err := readTexts(scenario, l)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.check(en, other); err != nil {
				t.Errorf("%s %s: %v", scenario, l, err)
			}
		}
	}
}

// TestCountriesHaveTheSameProperNames compares proper names. Each language has its own list of countries, so all
// lists must have the same ones.
func TestCountriesHaveTheSameProperNames(t *testing.T) {
	en, err := readLocal(calendar.English)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range calendar.Languages {
		s, err := readLocal(l)
		if err != nil {
			t.Fatal(err)
		}
		for key := range en {
			if s[key] == nil && !strings.HasPrefix(key, "words ") {
				t.Errorf("%s: no section %q", l, key)
			}
		}
	}
}

func TestMistakesInFilesAreReported(t *testing.T) {
	plans := map[string]string{
		"unknown field":     `{"colour": 1}`,
		"unknown venue":     `{"kinds": [{"key": "a", "by": ["x"], "at": ["y"], "lasts": [1, 1]}], "organizers": ["x"]}`,
		"unknown category":  `{"kinds": [{"key": "a", "by": ["x"], "in": ["y"], "lasts": [1, 1]}], "organizers": ["x"]}`,
		"no organizer":      `{"kinds": [{"key": "a", "lasts": [1, 1]}]}`,
		"unknown day":       `{"kinds": [{"key": "a", "by": ["x"], "days": "noday", "lasts": [1, 1]}], "organizers": ["x"]}`,
		"no time of day":    `{"kinds": [{"key": "a", "by": ["x"], "starts": "noon", "lasts": [1, 1]}], "organizers": ["x"]}`,
		"no duration":       `{"kinds": [{"key": "a", "by": ["x"]}], "organizers": ["x"]}`,
		"parent comes late": `{"categories": [["a", "b"], ["b", ""]]}`,
		"not JSON":          `{`,
		"no rule":           `{"series": [{"key": "a", "by": ["x"], "lasts": [1, 1]}], "organizers": ["x"]}`,
		"no season":         `{"series": [{"key": "a", "by": ["x"], "lasts": [1, 1], "rule": "FREQ=DAILY", "season": "summer"}], "organizers": ["x"]}`,
		"half a season":     `{"series": [{"key": "a", "by": ["x"], "lasts": [1, 1], "rule": "FREQ=DAILY", "season": "12-01 13-01"}], "organizers": ["x"]}`,
		"closed at no time": `{"series": [{"key": "a", "by": ["x"], "lasts": [1, 1], "rule": "FREQ=DAILY", "closed": "12-25"}], "organizers": ["x"]}`,
		"moved too late":    `{"series": [{"key": "a", "by": ["x"], "lasts": [1, 1], "rule": "FREQ=DAILY;COUNT=2", "moved": 3}], "organizers": ["x"]}`,
	}
	for name, text := range plans {
		if _, err := parsePlan([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	texts := map[string]string{
		"unknown type of section":   "# sort jazz\n= a",
		"text before a section":     "a",
		"section twice":             "# kind a\n# kind a",
		"entry with too few forms":  "# list a\nx | y\nz",
		"entry with an empty form":  "# list a\nx |  | y",
		"entry with too many forms": "# list a\nx\ny | z",
	}
	for name, text := range texts {
		if err := (sections{}).parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := &plan{Kinds: []*eventKind{{Key: "a"}}}
	parse := func(text string) sections {
		s := sections{}
		if err := s.parse(text); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := parse("# kind a\n= x\n> y\n# list l\nz\n# info canceled\n> y")
	for name, text := range map[string]string{
		"section is missing":     "# kind a\n= x\n> y",
		"section is too much":    "# kind a\n= x\n> y\n# list l\nz\n# list m\nz",
		"title is missing":       "# kind a\n> y\n# list l\nz",
		"entry is too much":      "# kind a\n= x\n> y\n# list l\nz\nz",
		"text is too much":       "# kind a\n= x\n> y\n# list l\nz\n# info canceled\n> y\n> z",
		"kind is in no scenario": "# kind b\n= x\n# kind a\n= x\n> y\n# list l\nz",
		"series is unknown":      "# series b\n= x\n# kind a\n= x\n> y\n# list l\nz",
	} {
		if err := p.check(first, parse(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := &Calendar{plan: p, lists: []*list{{name: "l", size: 1, entries: [][][]string{{{"z"}}}}}}
	for name, text := range map[string]string{
		"unknown placeholder": "{m}", "unknown form": "{l:2}", "form 0": "{l:0}", "no number": "{l:x}", "open brace": "{l",
		"one form by gender": "{who?he}", "three forms by gender": "{who?he|she|it}", "no person": "{city?he|she}",
		"unknown condition": "[wet] a", "open condition": "[free a", "unknown kind": "[kind:b] a", "condition and kind": "[free:a] a",
		"unknown venue": "[at:moon] a",
	} {
		if _, err := c.compileLine(text, 0); err == nil {
			t.Errorf("template with %s: no error", name)
		}
	}
}
