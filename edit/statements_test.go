package edit_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestStatements checks the number of SQL statements of common writes, without BEGIN and COMMIT.
func TestStatements(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	var n atomic.Int64
	db := ent.NewClient(ent.Driver(dialect.DebugWithContext(
		entsql.OpenDB(dialect.SQLite, st.DB), func(_ context.Context, v ...any) {
			for _, line := range v {
				if text, ok := line.(string); ok && (strings.Contains(text, "Exec") || strings.Contains(text, "Query")) {
					n.Add(1)
				}
			}
		})))
	w := edittest.NewWorld(t, db)
	e := w.As(calendar.Editor)
	tag := w.Term(e, calendar.Tag, "Tag", 0)
	hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
	var row, first, many *ent.Event
	tests := []struct {
		name string
		do   func()
		most int64
	}{
		{"event", func() { row = w.Event(e, edittest.SomeEvent()) }, 8},
		{"event with links", func() {
			in := edittest.SomeEvent()
			in.Tags, in.Venues = &[]edit.TermRef{{ID: tag.ID}}, &[]edit.VenueRef{{ID: hall.ID}}
			w.Event(e, in)
		}, 13},
		{"event with a venue that is there", func() {
			in := edittest.SomeEvent()
			in.Venues = &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("hall")}}}
			w.Event(e, in)
		}, 11},
		{"venue", func() { w.Venue(e, &edit.VenueInput{Name: new("New")}) }, 14},
		{"tag", func() { w.Term(e, calendar.Tag, "New", 0) }, 12},
		{"series of 109", func() {
			in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=109")
			in.Tags, in.Venues = &[]edit.TermRef{{ID: tag.ID}}, &[]edit.VenueRef{{ID: hall.ID}}
			first = w.Event(e, in)
		}, 34},
		{"series of 1000", func() { many = w.Event(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=1000")) }, 41},
		{"series of 109 with the long slug of another", func() {
			for _, end := range []string{"a", "b"} {
				in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=109")
				in.Slug = new(strings.Repeat("long-", 36) + end)
				n.Store(0)
				w.Event(e, in)
			}
		}, 31},
		{"update of an occurrence", func() { w.ChangeEvent(e, first.ID, &edit.EventInput{Title: new("Other")}) }, 9},
		{"occurrence to the trash", func() {
			if _, err := w.TrashEvent(e, first.ID); err != nil {
				t.Fatal(err)
			}
		}, 19},
		{"title of all 109", func() {
			w.ChangeEvent(e, first.ID, &edit.EventInput{Title: new("All"), Scope: edit.AllOccurrences})
		}, 25},
		{"dates of all 109", func() {
			w.ChangeEvent(e, first.ID, &edit.EventInput{Start: edittest.Wall("2026-07-01 19:00:00"), Scope: edit.AllOccurrences})
		}, 21},
		{"dates of all 1000", func() {
			w.ChangeEvent(e, many.ID, &edit.EventInput{Start: edittest.Wall("2026-07-01 19:00:00"), Scope: edit.AllOccurrences})
		}, 29},
		{"venue, tag and title of all 1000", func() {
			w.ChangeEvent(e, many.ID, &edit.EventInput{
				Title: new("All"), Tags: &[]edit.TermRef{{ID: tag.ID}}, Venues: &[]edit.VenueRef{{ID: hall.ID}}, Scope: edit.AllOccurrences,
			})
		}, 59},
		{"1000 to the trash", func() {
			if err := w.TrashSeries(e, *many.SeriesID); err != nil {
				t.Fatal(err)
			}
		}, 55},
		{"update of an event", func() { w.ChangeEvent(e, row.ID, &edit.EventInput{Title: new("Other")}) }, 9},
		{"event to the trash", func() {
			if _, err := w.TrashEvent(e, row.ID); err != nil {
				t.Fatal(err)
			}
		}, 13},
	}
	for _, tt := range tests {
		n.Store(0)
		tt.do()
		t.Logf("%s: %d statements", tt.name, n.Load())
		if n.Load() > tt.most {
			t.Errorf("%s takes %d statements, more than %d", tt.name, n.Load(), tt.most)
		}
	}
}

// TestSlugsBeforeTerms checks the order of locks when a series is written. Slugs must be taken before event counts
// lock the terms.
func TestSlugsBeforeTerms(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		statements := storetest.Statements(st)
		w := edittest.NewWorld(t, st.Ent)
		e := w.As(calendar.Editor)
		tag := w.Term(e, calendar.Tag, "Tag", 0)
		single := w.Event(e, edittest.SomeEvent())
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.Tags = &[]edit.TermRef{{ID: tag.ID}}
		for _, tt := range []struct {
			name  string
			write func()
		}{
			{"new", func() { w.Event(e, in) }},
			{"of an event", func() { w.ChangeEvent(e, single.ID, &edit.EventInput{Rule: in.Rule, Tags: in.Tags}) }},
		} {
			statements()
			tt.write()
			all := statements()
			term := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "UPDATE `terms`") })
			if term < 0 || slices.ContainsFunc(all[term:], func(s string) bool { return strings.HasPrefix(s, "INSERT INTO `slugs`") }) {
				t.Errorf("%s: slugs are taken after terms are locked, or these are not locked:\n%s", tt.name, strings.Join(all, "\n"))
			}
		}
		if n := w.Count(tag.ID); n != 6 {
			t.Errorf("the tag has %d events", n)
		}
	})
}
