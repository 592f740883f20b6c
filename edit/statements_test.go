package edit_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/edittest"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// TestStatements keeps the number of statements of common writes in check, BEGIN and COMMIT not counted.
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
	var row *ent.Event
	tests := []struct {
		name string
		do   func()
		most int64
	}{
		{"event", func() { row = w.Event(e, someEvent()) }, 7},
		{"event with links", func() {
			in := someEvent()
			in.Tags, in.Venues = &[]edit.TermRef{{ID: tag.ID}}, &[]edit.VenueRef{{ID: hall.ID}}
			w.Event(e, in)
		}, 12},
		{"event with a venue that is there", func() {
			in := someEvent()
			in.Venues = &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("hall")}}}
			w.Event(e, in)
		}, 10},
		{"venue", func() { w.Venue(e, &edit.VenueInput{Name: new("New")}) }, 13},
		{"tag", func() { w.Term(e, calendar.Tag, "New", 0) }, 11},
		{"update of an event", func() { w.ChangeEvent(e, row.ID, &edit.EventInput{Title: new("Other")}) }, 8},
		{"event to the trash", func() {
			if _, err := w.TrashEvent(e, row.ID); err != nil {
				t.Fatal(err)
			}
		}, 7},
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
