package edit_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestPublishDue(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		tomorrow := new(edittest.Now.AddDate(0, 0, 1))
		tag := w.Term(e, calendar.Tag, "Tag", 0)
		refs := &[]edit.TermRef{{ID: tag.ID}}
		due := w.Event(e, &edit.EventInput{Published: tomorrow, Tags: refs})
		w.Event(e, &edit.EventInput{Published: tomorrow})
		later := w.Event(e, &edit.EventInput{Published: new(edittest.Now.AddDate(0, 0, 3)), Tags: refs})
		w.Event(e, &edit.EventInput{Published: tomorrow, Status: new(calendar.Draft)})
		w.Venue(e, &edit.VenueInput{Name: new("V"), Published: tomorrow})
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, _, err := edit.Organizers.Create(ctx, tx, e, &edit.OrganizerInput{Name: new("O"), Published: tomorrow})
			return o, err
		})
		before := len(w.CheckLog())

		if n, err := edit.PublishDue(t.Context(), w.DB, edittest.Now); n != 0 || err != nil {
			t.Fatalf("%d published too early, %v", n, err)
		}
		var total atomic.Int64
		edittest.RunConcurrently(t, func(int) error {
			n, err := edit.PublishDue(t.Context(), w.DB, edittest.Now.AddDate(0, 0, 2).Add(time.Nanosecond))
			total.Add(int64(n))
			return err
		})
		if total.Load() != 4 {
			t.Errorf("%d published, want 4", total.Load())
		}
		row := w.DB.Event.GetX(t.Context(), due.ID)
		if row.Status != calendar.Publish || row.Version != 2 || !row.ModifiedAt.Equal(edittest.Now) {
			t.Errorf("%s, version %d, modified %s", row.Status, row.Version, row.ModifiedAt)
		}
		if s := w.DB.Event.GetX(t.Context(), later.ID).Status; s != calendar.Future {
			t.Errorf("the later one is %s", s)
		}
		if n := w.Count(tag.ID); n != 1 {
			t.Errorf("the tag counts %d", n)
		}
		log := w.CheckLog()[before:]
		if len(log) != 4 || log[0].Action != calendar.Published || log[0].UserID != nil {
			t.Errorf("logged %v", log)
		}
		w.CheckCounts()
	})
}
