package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// pageWithSlug returns a page of events in JSON. It has one event, and the event, its venue, organizer and terms have
// the given slug.
func pageWithSlug(slug string) string {
	return fmt.Sprintf(`{"events":[{"id":5,"global_id":"calendar.example.org?id=5","title":"Evening","slug":%[1]q,
	"start_date":"2026-12-05 18:00:00","end_date":"2026-12-05 20:00:00","timezone":"UTC",
	"venue":{"id":6,"global_id":"calendar.example.org?id=6","venue":"Hall","slug":%[1]q},
	"organizer":[{"id":7,"global_id":"calendar.example.org?id=7","organizer":"Club","slug":%[1]q}],
	"categories":[{"id":8,"name":"Evenings","slug":%[1]q}],"tags":[{"id":9,"name":"Evenings","slug":%[1]q}]}]}`, slug)
}

// importSlug imports pageWithSlug(slug) into st. It returns the report, and the slugs of the stored event, venue,
// organizer and terms.
func importSlug(t *testing.T, st *store.Store, slug string) (report *Report, slugs []string) {
	t.Helper()
	p, err := decode([]byte(pageWithSlug(slug)), 1, testSite())
	if err != nil || len(p.Problems) > 0 {
		t.Fatal(err, p.Problems)
	}
	report = importInto(t, st, &Calendar{Events: p.Events})
	e := st.Ent.Event.Query().WithVenues().WithOrganizers().WithTerms().OnlyX(t.Context())
	slugs = []string{e.Slug, e.Edges.Venues[0].Slug, e.Edges.Organizers[0].Slug}
	for _, term := range e.Edges.Terms {
		slugs = append(slugs, term.Slug)
	}
	for _, s := range st.Ent.Slug.Query().AllX(t.Context()) {
		if s.Slug != slugs[0] {
			t.Errorf("%s %d is found by %s", s.Kind, s.OwnerID, s.Slug)
		}
	}
	return report, slugs
}

func TestSlugsOfOtherScriptsStay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		japanese := strings.Repeat("%e6%97%a5", 22)
		for _, test := range []struct{ name, sent, want, changes string }{
			{"a slug by the former rule", "ri-ben-yu", "ri-ben-yu", ""},
			{"its letters", "%e6%97%a5%e6%9c%ac%e8%aa%9e", "ri-ben-yu", "unchanged"},
			{"changed at the source", "%e6%97%a5%e6%9c%ac", "%e6%97%a5%e6%9c%ac", ""},
			{"in upper case", "%E6%97%A5%E6%9C%AC", "%e6%97%a5%e6%9c%ac", "unchanged"},
			{"sent in letters", "日本", "%e6%97%a5%e6%9c%ac", "unchanged"},
			{"Greek", "%cf%84%ce%b6%ce%b1%ce%b6-2", "%cf%84%ce%b6%ce%b1%ce%b6-2", ""},
			{"Cyrillic", "джаз", "%d0%b4%d0%b6%d0%b0%d0%b7", ""},
			{"emoji", "%f0%9f%8e%89", "%f0%9f%8e%89", ""},
			{"prime", "7%e2%80%b2", "7%e2%80%b2", ""},
			{"Latin, encoded", "%c5%bc%c3%b3%c5%82w", "%c5%bc%c3%b3%c5%82w", ""},
			{"the longest", japanese, japanese, ""},
			{"the longest again", japanese, japanese, "unchanged"},
		} {
			report, slugs := importSlug(t, st, test.sent)
			for _, slug := range slugs {
				if slug != test.want || len(slugs) != 5 {
					t.Errorf("%s: got %q, want %q", test.name, slugs, test.want)
				}
			}
			if got := counts(report); test.changes != "" && (strings.Contains(got, "update") || strings.Contains(got, "create")) {
				t.Errorf("%s: %s", test.name, got)
			}
		}
	})
}

func TestTablesNameEventsWithEncodedSlugs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		const slug = "%e6%97%a5%e6%9c%ac"
		importSlug(t, st, slug)
		id := st.Ent.Event.Query().OnlyIDX(t.Context())
		for i, cells := range []string{
			"https://calendar.example.org/event/" + slug + "/," + slug, "/event/%E6%97%A5%E6%9C%AC/," + slug, "/event/日本/,日本",
			"/event/" + slug + "/,%e6%97%a5-2",
		} {
			report := importInto(t, st, mustReadSheet(t, fmt.Sprintf("id,url,slug,title\n%d,%s,Title %d\n", id, cells, i)))
			if got := counts(report); got != "event update 1" {
				t.Errorf("%s: %s", cells, got)
			}
		}
		if got := st.Ent.Event.Query().Select(event.FieldSlug).StringX(t.Context()); got != "%e6%97%a5-2" {
			t.Errorf("slug %q", got)
		}
	})
}
