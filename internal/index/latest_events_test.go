package index_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var publishedOnly = query.Visible{Anyone: []calendar.Status{calendar.Publish}}

// latestRow is an event as TestLatestEvents computes it.
type latestRow struct {
	id, series   int64
	start, end   time.Time
	changed      time.Time
	hidden, open bool
}

// TestLatestEvents compares LatestEvents of the database and of the index with a scan of all events. The calendars have equal times and dates in the
// future. In some of them a publication, a link or a later occurrence changed last.
func TestLatestEvents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := apitest.New(t, st, apitest.Unindexed)
		r := rand.New(rand.NewPCG(20, 50))
		at := func(seconds int) time.Time {
			return apitest.Now.Add(time.Duration(r.IntN(seconds)-seconds+seconds/10) * time.Second)
		}
		record := func() time.Time { return at(500) }
		var venues, terms, organizers, recurring []int64
		modified := map[[2]int64]time.Time{} // by the place of the kind and the id
		for i := range 8 {
			when := record()
			id := api.AddVenue(t, fmt.Sprint("Venue ", i), func(c *ent.VenueCreate) { c.SetModifiedAt(when) })
			venues, modified[[2]int64{0, id}] = append(venues, id), when
			when = record()
			id = api.AddOrganizer(t, fmt.Sprint("Organizer ", i), func(c *ent.OrganizerCreate) { c.SetModifiedAt(when) })
			organizers, modified[[2]int64{1, id}] = append(organizers, id), when
			when = record()
			kind := []calendar.Kind{calendar.Category, calendar.Tag}[i%2]
			id = api.AddTerm(t, kind, fmt.Sprint("Term ", i), func(c *ent.TermCreate) { c.SetModifiedAt(when) })
			terms, modified[[2]int64{2, id}] = append(terms, id), when
		}
		for i := range 12 {
			s := apitest.SeriesRow{
				Title: fmt.Sprint("Series ", i), Slug: fmt.Sprint("series-", i), Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00",
				RRule: "FREQ=DAILY",
			}
			if i == 0 {
				s.Status = calendar.Draft
			}
			recurring = append(recurring, api.AddSeries(t, s))
		}
		var all []latestRow
		for i := range 300 {
			row := latestRow{hidden: r.IntN(10) == 0, open: r.IntN(10) > 0}
			changed, published := at(1000), at(1000)
			start := apitest.Now.Add(time.Duration(r.IntN(4000)-1000) * time.Minute)
			nominal := calendar.WallOf(start)
			if r.IntN(6) > 0 { // so most of what is read is left out
				row.series = recurring[r.IntN(len(recurring))]
			}
			row.id = api.AddEvent(t, fmt.Sprint("Event ", i), start.Format(calendar.Layout), start.Add(time.Hour).Format(calendar.Layout),
				func(c *ent.EventCreate) {
					c.SetModifiedAt(changed).SetPublishedAt(published).SetHideFromListings(row.hidden)
					if !row.open {
						c.SetStatus(calendar.Draft)
					}
					if row.series != 0 {
						c.SetSeriesID(row.series).SetOriginalStart(nominal.AddDate(0, 0, i))
					}
				})
			row.changed, row.start, row.end = changed, start, start.Add(time.Hour)
			note := func(when time.Time) {
				if when.After(row.changed) && !when.After(apitest.Now) {
					row.changed = when
				}
			}
			note(published)
			for kind, ids := range [][]int64{venues, organizers, terms} {
				if r.IntN(8) != 0 {
					continue
				}
				to := ids[r.IntN(len(ids))]
				[]func(testing.TB, int64, ...int64){api.LinkVenues, api.LinkOrganizers, api.LinkTerms}[kind](t, row.id, to)
				note(modified[[2]int64{int64(kind), to}])
			}
			all = append(all, row)
		}
		finders := latestFinders(t, st)
		for i := range 100 {
			now := apitest.Now.Add(time.Duration(r.IntN(3000)) * time.Minute)
			q := &query.Events{Now: apitest.Now, Visible: publishedOnly, Series: query.Series{Visible: publishedOnly}}
			if i%2 == 0 {
				q.Window.EndMin = new(now.Add(time.Second))
			} else {
				now = time.Time{}
			}
			q.Series.First = r.IntN(3) > 0
			number := 1 + r.IntN(25)
			var few []int64
			if r.IntN(2) == 0 {
				page, err := query.Database{Ent: st.Ent}.FindEvents(t.Context(), q, 0, query.FewEvents)
				if err != nil {
					t.Fatal(err)
				}
				few = append([]int64{}, page.IDs...)
			}
			for _, find := range finders {
				compareLatest(t, find, all, recurring[0], q, few, number)
			}
		}
	})
}

// latestFinder finds the events of a list that changed last.
type latestFinder func(ctx context.Context, q *query.Events, few []int64, number int) (query.Latest, error)

// latestFinders returns the database, and an index of its present rows.
func latestFinders(t *testing.T, st *store.Store) []latestFinder {
	t.Helper()
	db := query.Database{Ent: st.Ent}
	lists := index.New(st.Ent, nil, slog.New(slog.DiscardHandler))
	if err := lists.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return []latestFinder{db.LatestEvents, func(ctx context.Context, q *query.Events, _ []int64, number int) (query.Latest, error) {
		latest, err := lists.LatestEvents(ctx, q, nil, number)
		if err != nil || latest.Since.IsZero() {
			return latest, err
		}
		terms, err := db.NewerTerms(ctx, latest.Since, q.Now)
		if err != nil || terms == nil {
			return latest, err
		}
		return lists.LatestEvents(ctx, q, terms, number)
	}}
}

// compareLatest compares one answer. Of events that changed at the same time any may be among the last.
func compareLatest(t *testing.T, find latestFinder, all []latestRow, hiddenSeries int64, q *query.Events, few []int64, number int) {
	t.Helper()
	first := map[int64]latestRow{}
	earlier := func(a, b latestRow) int { return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id)) }
	shown := func(row latestRow) bool {
		return row.open && !row.hidden && (q.Window.EndMin == nil || !row.end.Before(*q.Window.EndMin))
	}
	var want []latestRow
	for _, row := range all {
		if !shown(row) {
			continue
		}
		if q.Series.First && row.series != 0 && row.series != hiddenSeries {
			if old, ok := first[row.series]; !ok || earlier(row, old) < 0 {
				first[row.series] = row
			}
			continue
		}
		want = append(want, row)
	}
	for _, row := range first {
		want = append(want, row)
	}
	newest := func(a, b latestRow) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(b.id, a.id)) }
	slices.SortFunc(want, newest)
	latest, err := find(t.Context(), q, few, number)
	if err != nil {
		t.Fatal(err)
	}
	var got []latestRow
	for _, id := range latest.IDs {
		i := slices.IndexFunc(want, func(row latestRow) bool { return row.id == id })
		if i < 0 {
			t.Fatalf("event %d is not in the list", id)
		}
		got = append(got, want[i])
	}
	slices.SortFunc(got, newest)
	n := min(number, len(want))
	if len(got) < n || len(got) > 6*number {
		t.Fatalf("%d events for %d of %d", len(got), number, len(want))
	}
	for i := range n {
		if !got[i].changed.Equal(want[i].changed) {
			t.Fatalf("number %d of %d changed at %s, want %s", i, number, got[i].changed, want[i].changed)
		}
	}
}

// TestLatestEventsHoldUntilNext asks again at the time up to which the events were said to be the last.
func TestLatestEventsHoldUntilNext(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api := apitest.New(t, st, apitest.Unindexed)
		api.AddSeries(t, apitest.SeriesRow{
			Title: "Weekly", Slug: "weekly", Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00", RRule: "FREQ=WEEKLY",
			Occurrences: []string{"2026-12-01 10:00:00", "2026-12-08 10:00:00"},
		})
		last := api.AddEvent(t, "Last", "2026-12-03 10:00:00", "2026-12-03 11:00:00")
		err := st.Ent.Event.Update().Where(event.OriginalStartGTE(calendar.WallAt(2026, 12, 8, 0, 0, 0))).
			SetModifiedAt(apitest.Now).Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, find := range latestFinders(t, st) {
			now := apitest.Now
			for i, tt := range []struct {
				events int
				first  bool // the one event is Last
				next   string
			}{{1, true, "2026-12-01 11:00:00"}, {1, false, "2026-12-08 11:00:00"}, {0, false, ""}} {
				q := &query.Events{
					Now: now, Visible: publishedOnly, Window: query.Window{EndMin: new(now.Add(time.Second))},
					Series: query.Series{First: true, Visible: publishedOnly},
				}
				latest, err := find(t.Context(), q, nil, 1)
				if err != nil {
					t.Fatal(err)
				}
				ids, next := latest.IDs, latest.Next
				text := ""
				if !next.IsZero() {
					text = next.UTC().Format(calendar.Layout)
				}
				if slices.Contains(ids, last) != tt.first || min(len(ids), 1) != tt.events || text != tt.next {
					t.Errorf("%d: events %v until %q, want %+v", i, ids, text, tt)
				}
				now = next
				if text == "" {
					break
				}
			}
		}
	})
}
