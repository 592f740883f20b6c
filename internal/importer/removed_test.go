package importer

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

func TestImportNamesWhatDescriptionsLost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		s := wptest.NewSite(t, wptest.Options{})
		cal, byKey := readSite(t, s, s.API+allEvents)
		report, err := (&Importer{DB: st.Ent, Site: testSite()}).Run(t.Context(), cal)
		if err != nil {
			t.Fatal(err)
		}
		notices := strings.Join(report.Notices, "\n")
		for _, want := range []string{
			`descriptions in which a video became a link: 1: "Open day"`,
			`descriptions in which an embedded page was removed: 1: "Open day"`,
			`descriptions in which styles were removed: 1: "Open day"`,
		} {
			if !strings.Contains(notices, want) {
				t.Errorf("notices %s\nwant %s", notices, want)
			}
		}
		const link = `<a href="https://www.youtube.com/watch?v=aBc-123">The house</a>`
		for _, e := range byKey {
			if e.Title == "Open day" && !strings.Contains(*e.Description, link) {
				t.Errorf("description %s\nwant %s", *e.Description, link)
			}
		}
	})
}
