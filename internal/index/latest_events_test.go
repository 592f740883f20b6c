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

// latestRow is an event with the data from which TestLatestEvents computes the expected result.
type latestRow struct {
	id, series   int64
	start, end   time.Time
	changed      time.Time
	hidden, open bool
}

// latestCalendar is a random calendar. Most of its records changed before apitest.Now, and some change later.
type latestCalendar struct {
	*testing.T
	api    *apitest.API
	random *rand.Rand

	linked [3][]linkedRow // venues, organizers and terms
	series []int64        // the first one is a draft
	events []latestRow
}

// linkedRow is a venue, organizer or term that events are linked to, and the time of its last change.
type linkedRow struct {
	id      int64
	changed time.Time
}

// changeTime returns a random time within the given number of seconds around apitest.Now. One in ten of these times
// is later than apitest.Now.
func (c *latestCalendar) changeTime(seconds int) time.Time {
	return apitest.Now.Add(time.Duration(c.random.IntN(seconds)-seconds+seconds/10) * time.Second)
}

// addLinked adds the records that events are linked to.
func (c *latestCalendar) addLinked() {
	c.Helper()
	for i := range 8 {
		when := c.changeTime(500)
		id := c.api.AddVenue(c, fmt.Sprint("Venue ", i), func(v *ent.VenueCreate) { v.SetModifiedAt(when) })
		c.linked[0] = append(c.linked[0], linkedRow{id, when})
		when = c.changeTime(500)
		id = c.api.AddOrganizer(c, fmt.Sprint("Organizer ", i), func(o *ent.OrganizerCreate) { o.SetModifiedAt(when) })
		c.linked[1] = append(c.linked[1], linkedRow{id, when})
		when = c.changeTime(500)
		kind := []calendar.Kind{calendar.Category, calendar.Tag}[i%2]
		id = c.api.AddTerm(c, kind, fmt.Sprint("Term ", i), func(t *ent.TermCreate) { t.SetModifiedAt(when) })
		c.linked[2] = append(c.linked[2], linkedRow{id, when})
	}
}

// addSeries adds series without occurrences.
func (c *latestCalendar) addSeries() {
	c.Helper()
	for i := range 12 {
		s := apitest.SeriesRow{
			Title: fmt.Sprint("Series ", i), Slug: fmt.Sprint("series-", i), Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00",
			RRule: "FREQ=DAILY",
		}
		if i == 0 {
			s.Status = calendar.Draft
		}
		c.series = append(c.series, c.api.AddSeries(c, s))
	}
}

// addEvent adds a random event with the number i in its title. It stores in c.events when the event last changed
// before apitest.Now.
func (c *latestCalendar) addEvent(i int) {
	c.Helper()
	r := c.random
	row := latestRow{hidden: r.IntN(10) == 0, open: r.IntN(10) > 0}
	changed, published := c.changeTime(1000), c.changeTime(1000)
	start := apitest.Now.Add(time.Duration(r.IntN(4000)-1000) * time.Minute)
	nominal := calendar.WallOf(start)
	if r.IntN(6) > 0 { // so most of what is read is left out
		row.series = c.series[r.IntN(len(c.series))]
	}
	row.id = c.api.AddEvent(c, fmt.Sprint("Event ", i), start.Format(calendar.Layout), start.Add(time.Hour).Format(calendar.Layout),
		func(e *ent.EventCreate) {
			e.SetModifiedAt(changed).SetPublishedAt(published).SetHideFromListings(row.hidden)
			if !row.open {
				e.SetStatus(calendar.Draft)
			}
			if row.series != 0 {
				e.SetSeriesID(row.series).SetOriginalStart(nominal.AddDate(0, 0, i))
			}
		})
	row.changed, row.start, row.end = changed, start, start.Add(time.Hour)
	row.note(published)
	for kind, link := range []func(testing.TB, int64, ...int64){c.api.LinkVenues, c.api.LinkOrganizers, c.api.LinkTerms} {
		if r.IntN(8) == 0 {
			to := c.linked[kind][r.IntN(len(c.linked[kind]))]
			link(c, row.id, to.id)
			row.note(to.changed)
		}
	}
	c.events = append(c.events, row)
}

// note sets the time of the last change to when, unless when is earlier or lies after apitest.Now.
func (l *latestRow) note(when time.Time) {
	if when.After(l.changed) && !when.After(apitest.Now) {
		l.changed = when
	}
}

// TestLatestEvents compares the results of LatestEvents, of the database and of the index, with a scan of all
// events. The calendars are random, with equal times and with dates in the future. In some of them a publication, a
// link or a later occurrence changed last.
func TestLatestEvents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		r := rand.New(rand.NewPCG(20, 50))
		c := &latestCalendar{T: t, api: apitest.New(t, st, apitest.Unindexed), random: r}
		c.addLinked()
		c.addSeries()
		for i := range 300 {
			c.addEvent(i)
		}
		finders := latestFinders(t, st)
		for i := range 100 {
			now := apitest.Now.Add(time.Duration(r.IntN(3000)) * time.Minute)
			q := &query.Events{Now: apitest.Now, Visible: publishedOnly, Series: query.Series{Visible: publishedOnly}}
			if i%2 == 0 {
				q.Window.EndMin = new(now.Add(time.Second))
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
				compareLatest(t, find, c.events, c.series[0], q, few, number)
			}
		}
	})
}

// latestFinder finds the events that changed last, in the database or in the index.
type latestFinder func(ctx context.Context, q *query.Events, few []int64, number int) (query.Latest, error)

// latestFinders returns two finders of the last changed events: the database, and an index that was just loaded
// from it.
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

// compareLatest compares one result of find with the events in all. If several events changed at the same time, any
// of them may be in the result.
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

// TestLatestEventsHoldUntilNext checks Latest.Next. It repeats the query at the time Next of each result. By then
// an event has ended, and the result is another one.
func TestLatestEventsHoldUntilNext(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.AddSeries(t, apitest.SeriesRow{
			Title: "Weekly", Slug: "weekly", Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00", RRule: "FREQ=WEEKLY",
			Occurrences: []string{"2026-12-01 10:00:00", "2026-12-08 10:00:00"},
		})
		last := api.AddEvent(t, "Last", "2026-12-03 10:00:00", "2026-12-03 11:00:00")
		err := api.Store.Ent.Event.Update().Where(event.OriginalStartGTE(calendar.WallAt(2026, 12, 8, 0, 0, 0))).
			SetModifiedAt(apitest.Now).Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, find := range latestFinders(t, api.Store) {
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
	}, apitest.Unindexed)
}
