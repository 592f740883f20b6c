package series_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// BenchmarkCreateSeries measures the creation of a series with a venue and a tag.
func BenchmarkCreateSeries(b *testing.B) {
	for _, n := range []int{109, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			st := storetest.Migrated(b, storetest.SQLite(b))
			w := edittest.NewWorld(b, st.Ent)
			e := w.As(calendar.Editor)
			tag := w.Term(e, calendar.Tag, "Tag", 0)
			hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
			for b.Loop() {
				in := edittest.WeeklyEvent(fmt.Sprintf("FREQ=DAILY;COUNT=%d", n))
				in.Description = new("<p>Bring a cup and a friend who has never been here.</p>")
				in.Tags, in.Venues = &[]edit.TermRef{{ID: tag.ID}}, &[]edit.VenueRef{{ID: hall.ID}}
				w.Event(e, in)
			}
		})
	}
}

// BenchmarkChangeSeries measures a write to all occurrences of a series: a title and a description, and another time of day.
func BenchmarkChangeSeries(b *testing.B) {
	for _, n := range []int{109, 1000} {
		for _, field := range []string{"Text", "Start"} {
			b.Run(fmt.Sprint(field, n), func(b *testing.B) {
				url := storetest.SQLite(b)
				if name := os.Getenv("ALMANAC_TEST_MYSQL"); name != "" {
					url = storetest.MySQL(b)
				}
				w := edittest.NewWorld(b, storetest.Migrated(b, url).Ent)
				first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent(fmt.Sprintf("FREQ=DAILY;COUNT=%d", n)))
				for i := 0; b.Loop(); i++ {
					in := &edit.EventInput{Title: new(fmt.Sprint("Title ", i)), Description: new(fmt.Sprint("<p>Number ", i, "</p>"))}
					if field == "Start" {
						in = &edit.EventInput{Start: edittest.Wall(fmt.Sprintf("2026-07-01 1%d:00:00", i%2))}
					}
					in.Scope = edit.AllOccurrences
					w.ChangeEvent(w.As(calendar.Editor), first.ID, in)
				}
			})
		}
	}
}

// BenchmarkExtendDue measures the extension of 200 weekly series by a month.
func BenchmarkExtendDue(b *testing.B) {
	st := storetest.Migrated(b, storetest.SQLite(b))
	w := edittest.NewWorld(b, st.Ent)
	e := w.As(calendar.Editor)
	for i := range 200 {
		in := edittest.WeeklyEvent("FREQ=WEEKLY")
		in.Title = new(fmt.Sprintf("Series %d", i))
		w.Event(e, in)
	}
	now := edittest.Now
	for b.Loop() {
		now = now.AddDate(0, 0, 30)
		if _, err := series.ExtendDue(b.Context(), w.DB, edittest.Site(b), now); err != nil {
			b.Fatal(err)
		}
	}
}
