package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

// maskNames writes "…" for all names and for everything that stands in titles: people, bands, places, teams, works,
// crafts. What is left of a text are its own words.
func maskNames(c *Calendar) {
	const mask = "…"
	masked := func(texts []string) {
		for i := range texts {
			texts[i] = mask
		}
	}
	masks := [grammaticalCases]string{mask, mask, mask, mask, mask, mask}
	for i := range c.people {
		c.people[i] = person{&masks, &masks}
	}
	masked(c.bands)
	for i := range c.cities {
		c.cities[i].name = mask
		masked(c.cities[i].names)
		masked(c.cities[i].in)
		masked(c.cities[i].of)
	}
	for i := range c.teams {
		c.teams[i].name = mask
	}
	for i := range c.venues {
		c.venues[i].Name = c.same(mask)
	}
	for i := range c.organizers {
		c.organizers[i].Name = c.same(mask)
	}
	for _, f := range c.layout.fests {
		masked(f.titles)
	}
	for _, k := range c.plan.Kinds {
		for _, t := range k.titles {
			for _, slot := range t.slots {
				if slot < slotLists {
					continue
				}
				for _, entries := range c.lists[slot-slotLists].entries {
					for _, forms := range entries {
						masked(forms)
					}
				}
			}
		}
	}
}

// TestOpeningSentencesAreSeldomShared counts opening sentences without the names in them: no sentence opens more than 1
// of 100 events. Short: each scenario in one language, with a higher limit for the fewer events.
func TestOpeningSentencesAreSeldomShared(t *testing.T) {
	events, limit := manyEvents, 0.01
	if testing.Short() {
		events, limit = 1000, 0.03
	}
	for i, s := range Scenarios {
		for j, l := range calendar.Languages {
			if !isPair(i, j) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", s, l), func(t *testing.T) {
				o := optionsOf(s, l, events)
				o.Languages, o.Pictures = o.Languages[:1], false
				c := mustNew(t, o)
				maskNames(c)
				counts := map[string]int{}
				for i := range c.Len() {
					counts[c.Event(i).Excerpt[l]]++
				}
				var openings []string
				for opening, n := range counts {
					openings = append(openings, opening)
					if float64(n) > limit*float64(c.Len()) {
						t.Errorf("%d of %d events open with %s", n, c.Len(), opening)
					}
				}
				most := slices.MaxFunc(openings, func(a, b string) int { return counts[a] - counts[b] })
				t.Logf("%d openings; the most shared one has %.2f %% of the events: %s", len(openings),
					100*float64(counts[most])/float64(c.Len()), most)
			})
		}
	}
}

// TestCountriesWriteAsTheyDo checks quotes and spellings that differ within a language. Short: in a quarter of the calendars.
func TestCountriesWriteAsTheyDo(t *testing.T) {
	foreign := map[string][]string{
		"España": {"“", "celular"}, "México": {"«", "móvil", "ordenador"}, "Argentina": {"«", "móvil", "ordenador"},
		"Colombia": {"«", "móvil", "ordenador"}, "Chile": {"«", "móvil", "ordenador"}, "Perú": {"«", "móvil", "ordenador"},
		"United States": {"neighbour", "theatre", "kilometre"}, "United Kingdom": {"neighbor", "theater", "kilometer"},
	}
	for _, l := range []calendar.Language{calendar.English, calendar.Spanish} {
		seeds := uint64(12)
		if testing.Short() {
			seeds = 3
		}
		for seed := range seeds {
			o := optionsOf("city", l, 300)
			o.Languages, o.Seed = o.Languages[:1], seed
			c := mustNew(t, o)
			words := foreign[c.cities[0].country.name]
			for i := range c.Len() {
				e := c.Event(i)
				for _, word := range words {
					if strings.Contains(e.Title[l]+e.Description[l], word) {
						t.Errorf("%s, %s: %q in %q: %q", l, c.cities[0].country.name, word, e.Title[l], e.Description[l])
					}
				}
			}
		}
	}
}
