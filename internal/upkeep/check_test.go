package upkeep_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestCheckFindsWhatWritesDoNotLeave(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Administrator)
		tag := w.Term(e, calendar.Tag, "Jazz", 0)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall"), Values: edit.VenueValues{Latitude: &edit.Coordinate{Set: true, Degrees: 50}, Longitude: &edit.Coordinate{Set: true, Degrees: 20}}})
		row := w.Event(e, &edit.EventInput{Title: new("Concert"), Start: edittest.Wall("2026-12-01 10:00:00"), End: edittest.Wall("2026-12-01 12:00:00")})
		if got := w.Problems(); len(got) > 0 {
			t.Fatalf("before anything is wrong: %q", got)
		}
		ctx := t.Context()
		checkFinds(t, w, []damage{
			{
				"its instants are not its wall times",
				func(db *ent.Client) error {
					return db.Event.UpdateOne(row).SetEndsAt(row.EndsAt.AddDate(0, 0, 1)).Exec(ctx)
				},
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetEndsAt(row.EndsAt).Exec(ctx) },
			},
			{
				"time zone \"Mars/Base\" is unknown",
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetTimezone("Mars/Base").Exec(ctx) },
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetTimezone(row.Timezone).Exec(ctx) },
			},
			{
				"what searches look at is out of date",
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetTitle("Recital").Exec(ctx) },
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetTitle(row.Title).Exec(ctx) },
			},
			{
				"its slugs are",
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetSlug("recital").Exec(ctx) },
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetSlug(row.Slug).Exec(ctx) },
			},
			{
				"slugs of the kind tag belong to nothing",
				func(db *ent.Client) error {
					return db.Slug.Create().SetKind(calendar.Tag).SetSlug("ghost").SetOwnerID(999).SetLanguage("en").Exec(ctx)
				},
				func(db *ent.Client) error {
					_, err := db.Slug.Delete().Where(slug.OwnerID(999)).Exec(ctx)
					return err
				},
			},
			{
				"it has texts in",
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetLanguages("en,pl").Exec(ctx) },
				func(db *ent.Client) error { return db.Event.UpdateOne(row).SetLanguages(row.Languages).Exec(ctx) },
			},
			{
				"event " + strconv.FormatInt(row.ID, 10) + ": it has texts in \"en,pl\" and says \"en\"",
				func(db *ent.Client) error {
					return db.EventTranslation.Create().SetEventID(row.ID).SetLanguage(calendar.Polish).SetTitle("Koncert").Exec(ctx)
				},
				func(db *ent.Client) error {
					_, err := db.EventTranslation.Delete().Where(eventtranslation.EventID(row.ID)).Exec(ctx)
					return err
				},
			},
			{
				"venue " + strconv.FormatInt(hall.ID, 10) + ": it has texts in \"en,pl\" and says \"en\"",
				func(db *ent.Client) error {
					return db.VenueTranslation.Create().SetVenueID(hall.ID).SetLanguage(calendar.Polish).SetName("Hala").Exec(ctx)
				},
				func(db *ent.Client) error {
					_, err := db.VenueTranslation.Delete().Where(venuetranslation.VenueID(hall.ID)).Exec(ctx)
					return err
				},
			},
			{
				"it counts 3 events and has 0",
				func(db *ent.Client) error { return db.Term.UpdateOne(tag).SetEventCount(3).Exec(ctx) },
				func(db *ent.Client) error { return db.Term.UpdateOne(tag).SetEventCount(0).Exec(ctx) },
			},
			{
				"what it is sorted by in sort_pl",
				func(db *ent.Client) error { return db.Term.UpdateOne(tag).SetSortPl([]byte("x")).Exec(ctx) },
				func(db *ent.Client) error { return db.Term.UpdateOne(tag).SetSortPl(tag.SortPl).Exec(ctx) },
			},
			{
				"its place on the map is not indexed",
				func(db *ent.Client) error { return db.Venue.UpdateOneID(hall.ID).ClearCell().Exec(ctx) },
				func(db *ent.Client) error { return db.Venue.UpdateOneID(hall.ID).SetCell(*hall.Cell).Exec(ctx) },
			},
			{
				"the change log up to revision",
				func(db *ent.Client) error { return db.Counter.UpdateOneID("revision").AddValue(1).Exec(ctx) },
				func(db *ent.Client) error { return db.Counter.UpdateOneID("revision").AddValue(-1).Exec(ctx) },
			},
		})
		if n := w.DB.Event.Query().Where(event.ID(row.ID)).CountX(ctx); n != 1 {
			t.Errorf("%d events are left", n)
		}
	})
}

// damage is a change of the database that Check must find.
type damage struct {
	want        string // in a problem
	wrong, mend func(db *ent.Client) error
}

// checkFinds makes each damage and mends it again. Check must find a problem in between, and none afterwards.
func checkFinds(t *testing.T, w *edittest.World, all []damage) {
	t.Helper()
	for _, c := range all {
		if err := c.wrong(w.DB); err != nil {
			t.Fatalf("%s: %v", c.want, err)
		}
		if got := w.Problems(); !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, c.want) }) {
			t.Errorf("want %q, got %q", c.want, got)
		}
		if err := c.mend(w.DB); err != nil {
			t.Fatalf("%s: %v", c.want, err)
		}
		if got := w.Problems(); len(got) > 0 {
			t.Errorf("%s is mended, and there is %q", c.want, got)
		}
	}
}
