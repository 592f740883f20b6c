package edit

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

func TestPublishDue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		tomorrow := new(now.AddDate(0, 0, 1))
		tag := w.term(e, calendar.Tag, "Tag", 0)
		refs := &[]TermRef{{ID: tag.ID}}
		due := w.event(e, &EventInput{Published: tomorrow, Tags: refs})
		w.event(e, &EventInput{Published: tomorrow})
		later := w.event(e, &EventInput{Published: new(now.AddDate(0, 0, 3)), Tags: refs})
		w.event(e, &EventInput{Published: tomorrow, Status: new(calendar.Draft)})
		w.venue(e, &VenueInput{Name: new("V"), Published: tomorrow})
		write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, _, err := e.CreateOrganizer(ctx, tx, &OrganizerInput{Name: new("O"), Published: tomorrow})
			return o, err
		})
		before := len(w.checkLog())

		if n, err := PublishDue(t.Context(), w.db, now); n != 0 || err != nil {
			t.Fatalf("%d published too early, %v", n, err)
		}
		var total atomic.Int64
		race(t, func(int) error {
			n, err := PublishDue(t.Context(), w.db, now.AddDate(0, 0, 2).Add(time.Nanosecond))
			total.Add(int64(n))
			return err
		})
		if total.Load() != 4 {
			t.Errorf("%d published, want 4", total.Load())
		}
		row := w.db.Event.GetX(t.Context(), due.ID)
		if row.Status != calendar.Publish || row.Version != 2 || !row.ModifiedAt.Equal(now) {
			t.Errorf("%s, version %d, modified %s", row.Status, row.Version, row.ModifiedAt)
		}
		if s := w.db.Event.GetX(t.Context(), later.ID).Status; s != calendar.Future {
			t.Errorf("the later one is %s", s)
		}
		if n := w.count(tag.ID); n != 1 {
			t.Errorf("the tag counts %d", n)
		}
		log := w.checkLog()[before:]
		if len(log) != 4 || log[0].Action != calendar.Published || log[0].UserID != nil {
			t.Errorf("logged %v", log)
		}
		w.checkCounts()
	})
}
