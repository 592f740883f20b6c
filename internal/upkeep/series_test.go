package upkeep_test

import (
	"slices"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// wall parses a wall time. If the text is invalid, the test fails.
func wall(t *testing.T, text string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(text)
	must.Succeed(t, err)
	return w
}

// newWeekly adds a series of four Saturdays in two phases. The schedule excludes the third Saturday, whose occurrence
// is in the trash. It then runs Reindex, which writes sort keys and search texts.
func newWeekly(t *testing.T, w *edittest.World) (row *ent.Series, occurrences []*ent.Event) {
	t.Helper()
	ctx, e := t.Context(), w.As(calendar.Editor)
	drawn := w.DB.Record.Create().SetKind(calendar.Series).SaveX(ctx)
	template, err := ent.EncodeTemplate(&ent.Event{Language: calendar.English, Title: "Market"})
	must.Succeed(t, err)
	row = w.DB.Series.Create().SetID(drawn.ID).SetStatus(calendar.Publish).SetPublishedAt(edittest.Now).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(edittest.Now).SetModifiedAt(edittest.Now).SaveX(ctx)
	phase := func(position int, start, rule string, exdate ...calendar.Wall) {
		s := wall(t, start)
		w.DB.SeriesPhase.Create().SetSeriesID(row.ID).SetPosition(position).SetStartWall(s).SetEndWall(s.Add(time.Hour)).
			SetTimezone("Europe/Warsaw").SetRrule(rule).SetExdate(exdate).SetTemplate(template).SaveX(ctx)
	}
	phase(0, "2026-07-04 08:00:00", "FREQ=WEEKLY;COUNT=3", wall(t, "2026-07-18 08:00:00"))
	phase(1, "2026-07-25 08:00:00", "")
	for _, day := range []string{"04", "11", "18", "25"} {
		start := "2026-07-" + day + " 08:00:00"
		made := w.Event(e, &edit.EventInput{Start: edittest.Wall(start), End: edittest.Wall("2026-07-" + day + " 09:00:00")})
		if day == "18" {
			if _, err := w.TrashEvent(e, made.ID); err != nil {
				t.Fatal(err)
			}
		}
		occurrences = append(occurrences,
			w.DB.Event.UpdateOneID(made.ID).SetSeriesID(row.ID).SetOriginalStart(wall(t, start)).SaveX(ctx))
	}
	must.Succeed(t, upkeep.Reindex(ctx, w.DB, w.As(calendar.Administrator), func(calendar.Kind, int) {}))
	return row, occurrences
}

func TestCheckComparesSeriesWithTheirSchedules(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		ctx := t.Context()
		row, occurrences := newWeekly(t, w)
		first, trashed := occurrences[0], occurrences[2]
		if got := w.Problems(); len(got) > 0 {
			t.Fatalf("before anything is wrong: %q", got)
		}
		phase := w.DB.SeriesPhase.Query().Where(seriesphase.Position(0)).OnlyX(ctx)
		checkFinds(t, w, []damage{
			{
				"occurrence of 2026-07-04 08:00:00 is missing",
				func(db *ent.Client) error {
					return db.Event.UpdateOne(first).SetOriginalStart(wall(t, "2026-07-05 08:00:00")).Exec(ctx)
				},
				func(db *ent.Client) error {
					return db.Event.UpdateOne(first).SetOriginalStart(*first.OriginalStart).Exec(ctx)
				},
			},
			{
				"occurrence of 2026-07-05 08:00:00 is not in the schedule",
				func(db *ent.Client) error {
					return db.Event.UpdateOne(first).SetOriginalStart(wall(t, "2026-07-05 08:00:00")).Exec(ctx)
				},
				func(db *ent.Client) error {
					return db.Event.UpdateOne(first).SetOriginalStart(*first.OriginalStart).Exec(ctx)
				},
			},
			{
				"occurrence of 2026-07-18 08:00:00 is in the trash, and the schedule has it",
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).ClearExdate().Exec(ctx) },
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetExdate(phase.Exdate).Exec(ctx) },
			},
			{
				"occurrence of 2026-07-11 08:00:00 is not in the schedule",
				func(db *ent.Client) error {
					both := slices.Insert(slices.Clone(phase.Exdate), 0, wall(t, "2026-07-11 08:00:00"))
					return db.SeriesPhase.UpdateOne(phase).SetExdate(both).Exec(ctx)
				},
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetExdate(phase.Exdate).Exec(ctx) },
			},
			{
				"it never ends, and how far its occurrences go is unknown",
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetRrule("FREQ=WEEKLY").Exec(ctx) },
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetRrule(phase.Rrule).Exec(ctx) },
			},
			{
				"it goes on, and gets no further occurrences",
				func(db *ent.Client) error {
					if err := db.SeriesPhase.UpdateOne(phase).SetRrule("FREQ=WEEKLY").Exec(ctx); err != nil {
						return err
					}
					return db.Series.UpdateOne(row).SetGeneratedUntil(wall(t, "2026-07-27 00:00:00")).Exec(ctx)
				},
				func(db *ent.Client) error {
					if err := db.SeriesPhase.UpdateOne(phase).SetRrule(phase.Rrule).Exec(ctx); err != nil {
						return err
					}
					return db.Series.UpdateOne(row).ClearGeneratedUntil().Exec(ctx)
				},
			},
			{
				"its schedule is not usable",
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetRrule("FREQ=HOURLY").Exec(ctx) },
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetRrule(phase.Rrule).Exec(ctx) },
			},
			{
				"its phase 0 is at position -7",
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetPosition(-7).Exec(ctx) },
				func(db *ent.Client) error { return db.SeriesPhase.UpdateOne(phase).SetPosition(0).Exec(ctx) },
			},
			{
				"its id was never drawn",
				func(db *ent.Client) error { return db.Record.DeleteOneID(row.ID).Exec(ctx) },
				func(db *ent.Client) error { return db.Record.Create().SetID(row.ID).SetKind(calendar.Series).Exec(ctx) },
			},
			{
				"what it is sorted by in sort_pl is out of date",
				func(db *ent.Client) error { return db.Series.UpdateOne(row).SetSortPl([]byte("x")).Exec(ctx) },
				func(db *ent.Client) error {
					return upkeep.Reindex(ctx, db, w.As(calendar.Administrator), func(calendar.Kind, int) {})
				},
			},
			{
				"series 1: what searches look at is out of date",
				func(db *ent.Client) error {
					_, err := db.SearchText.Delete().Where(searchtext.KindEQ(calendar.Series)).Exec(ctx)
					return err
				},
				func(db *ent.Client) error {
					return upkeep.Reindex(ctx, db, w.As(calendar.Administrator), func(calendar.Kind, int) {})
				},
			},
			{
				"its slugs are",
				func(db *ent.Client) error { return db.Series.UpdateOne(row).SetSlug("market").Exec(ctx) },
				func(db *ent.Client) error { return db.Series.UpdateOne(row).SetSlug("").Exec(ctx) },
			},
			{
				"it has texts in",
				func(db *ent.Client) error { return db.Series.UpdateOne(row).SetLanguages("en,pl").Exec(ctx) },
				func(db *ent.Client) error { return db.Series.UpdateOne(row).SetLanguages("en").Exec(ctx) },
			},
			{
				"it is the occurrence of no series",
				func(db *ent.Client) error { return db.Event.UpdateOne(trashed).SetSeriesID(999).Exec(ctx) },
				func(db *ent.Client) error { return db.Event.UpdateOne(trashed).SetSeriesID(row.ID).Exec(ctx) },
			},
			{
				"slugs of the kind series belong to nothing",
				func(db *ent.Client) error {
					return db.Slug.Create().SetKind(calendar.Series).SetSlug("ghost").SetOwnerID(999).SetLanguage("en").Exec(ctx)
				},
				func(db *ent.Client) error {
					_, err := db.Slug.Delete().Where(slug.OwnerID(999)).Exec(ctx)
					return err
				},
			},
		})
	})
}

func TestRepairFreesOccurrencesOfNoSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		ctx := t.Context()
		row, occurrences := newWeekly(t, w)
		lone := w.Event(w.As(calendar.Editor), &edit.EventInput{})
		w.DB.Event.UpdateOne(lone).SetOwnFields([]string{"title"}).ExecX(ctx)
		w.DB.SearchText.Delete().Where(searchtext.KindEQ(calendar.Series)).ExecX(ctx)
		w.DB.SeriesPhase.Delete().ExecX(ctx)
		w.DB.Series.DeleteOneID(row.ID).ExecX(ctx)
		before := w.DB.Event.GetX(ctx, occurrences[0].ID)
		must.Succeed(t, upkeep.Repair(ctx, w.DB, w.As(calendar.Administrator)))
		if got := w.Problems(); len(got) > 0 {
			t.Errorf("after the repair: %q", got)
		}
		stray := event.Or(event.SeriesIDNotNil(), event.OriginalStartNotNil(), event.OwnFieldsNotNil())
		if n := w.DB.Event.Query().Where(stray).CountX(ctx); n > 0 {
			t.Errorf("%d events have something of an occurrence", n)
		}
		after := w.DB.Event.GetX(ctx, before.ID)
		if after.Title != before.Title || after.Status != before.Status || after.Version <= before.Version {
			t.Errorf("the event was %v and is %v", before, after)
		}
	})
}

func TestRepairDerivesInstantsFromWallTimes(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		ctx := t.Context()
		row := w.Event(w.As(calendar.Editor), &edit.EventInput{})
		unknown := w.Event(w.As(calendar.Editor), &edit.EventInput{})
		// As if the zone had left summer time since.
		late := row.StartsAt.Add(time.Hour)
		w.DB.Event.UpdateOne(row).SetStartsAt(late).SetEndsAt(row.EndsAt.Add(time.Hour)).ExecX(ctx)
		w.DB.Event.UpdateOne(unknown).SetTimezone("Mars/Base").SetStartsAt(late).ExecX(ctx)
		must.Succeed(t, upkeep.Repair(ctx, w.DB, w.As(calendar.Administrator)))
		got := w.DB.Event.GetX(ctx, row.ID)
		if !got.StartsAt.Equal(row.StartsAt) || !got.EndsAt.Equal(row.EndsAt) || got.Version <= row.Version {
			t.Errorf("from %s to %s, version %d; it was from %s to %s, version %d",
				got.StartsAt, got.EndsAt, got.Version, row.StartsAt, row.EndsAt, row.Version)
		}
		if got := w.DB.Event.GetX(ctx, unknown.ID); !got.StartsAt.Equal(late) {
			t.Errorf("the event in an unknown zone starts at %s", got.StartsAt)
		}
		w.DB.Event.UpdateOne(unknown).SetTimezone(unknown.Timezone).SetStartsAt(unknown.StartsAt).ExecX(ctx)
	})
}

// TestRepairLocksSeriesFirst corrects the instants of occurrences of two series. It checks that the series are locked
// before their occurrences.
func TestRepairLocksSeriesFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if st.Engine() == "sqlite" {
			t.Skip("SQLite locks no rows")
		}
		statements := storetest.Statements(st)
		w := edittest.NewWorld(t, st.Ent)
		for _, rule := range []string{"FREQ=DAILY;COUNT=2", "FREQ=WEEKLY;COUNT=2"} {
			row := w.Event(w.As(calendar.Editor), &edit.EventInput{Rule: &rule})
			w.DB.Event.UpdateOne(row).SetStartsAt(row.StartsAt.Add(time.Hour)).ExecX(t.Context())
		}
		statements()
		must.Succeed(t, upkeep.Repair(t.Context(), w.DB, w.As(calendar.Administrator)))
		storetest.CheckSeriesFirst(t, statements())
	})
}
