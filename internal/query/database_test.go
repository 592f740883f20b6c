package query_test

import (
	"errors"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var publishedOnly = query.Visible{Anyone: []calendar.Status{calendar.Publish}}

// TestMoreIDsThanPlaceholders requests the events of a category. It has more descendants than a statement may have
// placeholders.
func TestMoreIDsThanPlaceholders(t *testing.T) {
	t.Parallel()
	categories := query.Terms("categories", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Category, "")
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := apitest.New(t, st, apitest.Unindexed)
		concert := api.AddEvent(t, "Concert", "2026-12-01 10:00:00", "2026-12-01 12:00:00")
		api.AddEvent(t, "Match", "2026-12-01 10:00:00", "2026-12-01 12:00:00")
		music := api.AddTerm(t, calendar.Category, "Music")
		api.LinkTerms(t, concert, music)
		for _, n := range []int{10_000, 10_001, 70_000} {
			ids := make([]int64, n)
			for i := range ids {
				ids[i] = 1_000_000 + int64(i)
			}
			ids[n/2] = music
			q := &query.Events{
				Now: apitest.Now, Visible: publishedOnly, Conditions: []query.Condition{{Column: &categories, IDs: ids}},
			}
			page, err := query.Database{Ent: st.Ent}.FindEvents(t.Context(), q, 0, 10)
			if err != nil {
				t.Fatalf("%d ids: %v", n, err)
			}
			if page.Total != 1 || len(page.IDs) != 1 || page.IDs[0] != concert {
				t.Errorf("%d ids: %+v, want event %d", n, page, concert)
			}
		}
	})
}

// TestUnknownKindsAreRefused requests lists of linked records for kinds that events cannot be linked to.
func TestUnknownKindsAreRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		_, err := query.Database{Ent: st.Ent}.FindLinked(t.Context(), calendar.Image, &query.Linked{Now: apitest.Now, Visible: publishedOnly}, 0, 10)
		if !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
	})
}
