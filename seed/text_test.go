package seed

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

var slot = regexp.MustCompile(`\{[^}]*\}`)

// slots lists what is to be filled in a section, each once.
func slots(paragraphs []string) []string {
	found := slot.FindAllString(strings.Join(paragraphs, "\n"), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestLanguagesHaveTheSameSections(t *testing.T) {
	en := readTexts("city", calendar.English)
	for _, l := range calendar.Languages[1:] {
		other := readTexts("city", l)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(other))); diff != "" {
			t.Errorf("(-en +%s)\n%s", l, diff)
		}
		for key, paragraphs := range en {
			if diff := cmp.Diff(len(paragraphs), len(other[key])); diff != "" {
				t.Errorf("paragraphs of %s: (-en +%s)\n%s", key, l, diff)
			}
			if diff := cmp.Diff(slots(paragraphs), slots(other[key])); diff != "" {
				t.Errorf("slots of %s: (-en +%s)\n%s", key, l, diff)
			}
			if len(paragraphs) > 0 && len(other[key]) > 0 &&
				!cmp.Equal(slots(paragraphs[:1]), slots(other[key][:1])) {
				t.Errorf("title of %s: %q, %q", key, paragraphs[0], other[key][0])
			}
		}
	}
}

func TestEverySectionIsUsed(t *testing.T) {
	used := map[string]bool{"event clock-back": true, "event clock-forward": true}
	for _, c := range categories {
		used["category "+c.key] = true
	}
	for kind, keys := range map[string][]string{"tag ": tags, "venue ": venueKeys, "organizer ": organizerKeys} {
		for _, key := range keys {
			used[kind+key] = true
		}
	}
	acts := slices.Concat(opening, single, repeating)
	for i, key := range lectures {
		acts = append(acts, lecture(key, i))
	}
	en := readTexts("city", calendar.English)
	for _, a := range acts {
		used["event "+a.text] = true
		if a.more != "" {
			used["event "+a.more] = true
		}
		if got := slices.Contains(slots(en["event "+a.text]), "{who}"); got != (a.who != nobody) {
			t.Errorf("%s: {who} %v, want %v", a.text, got, !got)
		}
	}
	for _, a := range repeating {
		if title := en["event "+a.text][0]; !strings.Contains(title, "{who}") {
			t.Errorf("%q repeats and cannot tell itself apart", title)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(en))); diff != "" {
		t.Errorf("(-used +written)\n%s", diff)
	}
}

func TestTownsAreComplete(t *testing.T) {
	for _, l := range calendar.Languages {
		town := towns[l]
		if town == nil {
			t.Errorf("no town for %s", l)
			continue
		}
		for _, key := range venueKeys {
			if town.venues[key].name == "" {
				t.Errorf("%s has no %s", town.name, key)
			}
		}
		for _, key := range organizerKeys {
			if town.organizers[key] == "" {
				t.Errorf("%s has no %s", town.name, key)
			}
		}
		if len(town.venues) != len(venueKeys) || len(town.organizers) != len(organizerKeys) {
			t.Errorf("%s has more than is used", town.name)
		}
		if got := town.in.Languages(); !slices.Equal(got, calendar.Languages) {
			t.Errorf("in %s is said in %v", town.name, got)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for in, want := range map[string]string{
		"One. Two.":           "One.",
		"Only one.":           "Only one.",
		"Half past 7.30. Two": "Half past 7.30.",
		"":                    "",
	} {
		if got := firstSentence(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
