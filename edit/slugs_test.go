package edit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/proof/edittest"
)

func TestSlugs(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		draft := new(calendar.Draft)
		tests := []struct {
			name string
			in   edit.EventInput
			want string // %d is the id
		}{
			{"from the title", edit.EventInput{Title: new("Zażółć gęślą jaźń!")}, "zazolc-gesla-jazn"},
			{"taken", edit.EventInput{Title: new("Zażółć gęślą jaźń")}, "zazolc-gesla-jazn-2"},
			{"taken again", edit.EventInput{Title: new("Zażółć, gęślą: jaźń")}, "zazolc-gesla-jazn-3"},
			{"sent", edit.EventInput{Title: new("Other"), Slug: new("My Slug")}, "my-slug"},
			{"sent and taken", edit.EventInput{Title: new("Other"), Slug: new("my-slug")}, "my-slug-2"},
			{"empty is not sent", edit.EventInput{Title: new("Third"), Slug: new("")}, "third"},
			{"nothing left of the title", edit.EventInput{Title: new("!!!")}, "event-%d"},
			{"nothing left of what is sent", edit.EventInput{Title: new("Title"), Slug: new("???")}, "event-%d"},
			{"draft has none", edit.EventInput{Title: new("Draft"), Status: draft}, ""},
			{"draft keeps one that is sent", edit.EventInput{Title: new("Draft"), Slug: new("early"), Status: draft}, "early"},
			{"the longest", edit.EventInput{Title: new(strings.Repeat("a", 500))}, strings.Repeat("a", 200)},
			{"the longest, taken", edit.EventInput{Title: new(strings.Repeat("a", 500))}, strings.Repeat("a", 198) + "-2"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				row := w.Event(e, &tt.in)
				want := tt.want
				if strings.Contains(want, "%d") {
					want = fmt.Sprintf(want, row.ID)
				}
				if row.Slug != want {
					t.Errorf("slug %q, want %q", row.Slug, want)
				}
				n := w.DB.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).CountX(t.Context())
				if n != 1 && want != "" || n != 0 && want == "" {
					t.Errorf("%d rows of slugs", n)
				}
			})
		}
		t.Run("kinds do not meet", func(t *testing.T) {
			if row := w.Venue(e, &edit.VenueInput{Name: new("My slug")}); row.Slug != "my-slug" {
				t.Errorf("slug %q", row.Slug)
			}
		})
		t.Run("a draft venue has one", func(t *testing.T) {
			if row := w.Venue(e, &edit.VenueInput{Name: new("Hall"), Status: draft}); row.Slug != "hall" {
				t.Errorf("slug %q", row.Slug)
			}
		})
	})
}

func TestSlugUpdates(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		w.Event(e, &edit.EventInput{Title: new("Taken")})
		row := w.Event(e, &edit.EventInput{Title: new("Mine"), Status: new(calendar.Draft)})
		steps := []struct {
			name string
			in   edit.EventInput
			want string
		}{
			{"renamed while a draft", edit.EventInput{Title: new("Yours")}, ""},
			{"published", edit.EventInput{Status: new(calendar.Publish)}, "yours"},
			{"renaming keeps it", edit.EventInput{Title: new("Ours")}, "yours"},
			{"sent back", edit.EventInput{Slug: new("Yours")}, "yours"},
			{"taken", edit.EventInput{Slug: new("taken")}, "taken-2"},
			{"taken, sent again", edit.EventInput{Slug: new("taken")}, "taken-2"},
			{"free again", edit.EventInput{Slug: new("yours")}, "yours"},
			{"back to draft keeps it", edit.EventInput{Status: new(calendar.Draft)}, "yours"},
			{"empty is not sent", edit.EventInput{Slug: new("")}, "yours"},
			{"changed in the trash", edit.EventInput{Status: new(calendar.Trash), Slug: new("new")}, "new__trashed"},
			{"sent back in the trash", edit.EventInput{Slug: new("new__trashed")}, "new__trashed"},
			{"sent in the trash", edit.EventInput{Slug: new("newer")}, "newer__trashed"},
			{"restored with its representation", edit.EventInput{Slug: new("newer__trashed"), Status: new(calendar.Publish)}, "newer"},
		}
		for _, s := range steps {
			if got := w.ChangeEvent(e, row.ID, &s.in).Slug; got != s.want {
				t.Fatalf("%s: slug %q, want %q", s.name, got, s.want)
			}
		}
		draft := w.Event(e, &edit.EventInput{Status: new(calendar.Draft)})
		got := w.ChangeEvent(e, draft.ID, &edit.EventInput{Slug: new("???")}).Slug
		if want := calendar.Event.Slug(draft.ID); got != want {
			t.Errorf("nothing left of what is sent: slug %q, want %q", got, want)
		}
		rows := w.DB.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event)).AllX(t.Context())
		if len(rows) != 1 || rows[0].Slug != "newer" || rows[0].TrashedID != 0 {
			t.Errorf("rows of slugs: %v", rows)
		}
	})
}

// TestCrowdedSlug takes a slug for which thousands of numbers are taken. It must not read them all.
func TestCrowdedSlug(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.RowsPast = true
		for _, crowd := range []int{15, 16, 17, 31, 32, 33, 1000, 3001} {
			base := fmt.Sprintf("yoga-in-%d", crowd)
			rows := make([]*ent.SlugCreate, crowd)
			for i := range rows {
				s := base
				if i > 0 {
					s = calendar.NumberedSlug(base, i+1)
				}
				rows[i] = w.DB.Slug.Create().SetKind(calendar.Event).SetSlug(s).SetOwnerID(1e9).SetLanguage("en")
			}
			for part := range slices.Chunk(rows, 500) {
				w.DB.Slug.CreateBulk(part...).ExecX(t.Context())
			}
			got := w.Event(w.As(calendar.Editor), &edit.EventInput{Title: &base}).Slug
			if want := calendar.NumberedSlug(base, crowd+1); got != want {
				t.Errorf("among %d: %s, want %s", crowd, got, want)
			}
		}
	})
}

func TestTrashAndRestore(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		first := w.Event(e, &edit.EventInput{Title: new("Fair")})
		row, err := w.TrashEvent(e, first.ID)
		if err != nil {
			t.Fatal(err)
		}
		if row.Status != calendar.Trash || row.StatusBeforeTrash != calendar.Publish || row.Slug != "fair__trashed" {
			t.Errorf("trashed: %s before %s, slug %s", row.Status, row.StatusBeforeTrash, row.Slug)
		}
		_, err = w.TrashEvent(e, first.ID)
		edittest.Refused(t, err, "event-is-in-trash")
		_, err = w.TrashEvent(w.As(calendar.Author), first.ID)
		edittest.Refused(t, err, "rest_forbidden")

		if row = w.ChangeEvent(e, first.ID, &edit.EventInput{Title: new("Old fair")}); row.Status != calendar.Trash {
			t.Errorf("an update took it out of the trash: %s", row.Status)
		}
		second := w.Event(e, &edit.EventInput{Title: new("Fair")})
		if second.Slug != "fair" {
			t.Errorf("the slug in the trash blocks: %s", second.Slug)
		}
		if row, err = w.TrashEvent(e, second.ID); err != nil || row.Slug != "fair__trashed" {
			t.Errorf("second in the trash: %v, %v", row, err)
		}
		row = w.ChangeEvent(e, second.ID, &edit.EventInput{Status: new(calendar.Publish)})
		if row.Slug != "fair" || row.StatusBeforeTrash != "" {
			t.Errorf("restored: slug %s, before %s", row.Slug, row.StatusBeforeTrash)
		}
		if row = w.ChangeEvent(e, first.ID, &edit.EventInput{Status: new(calendar.Private)}); row.Slug != "fair-2" {
			t.Errorf("restored second: slug %s", row.Slug)
		}

		draft := w.Event(e, &edit.EventInput{Title: new("Bare"), Status: new(calendar.Draft)})
		if row, err = w.TrashEvent(e, draft.ID); err != nil || row.Slug != "" {
			t.Errorf("a draft without slug: %q, %v", row.Slug, err)
		}
		created := w.Event(e, &edit.EventInput{Title: new("Binned"), Status: new(calendar.Trash)})
		if created.Slug != "binned__trashed" {
			t.Errorf("created in the trash: slug %q", created.Slug)
		}
		actions := ""
		for _, c := range w.CheckLog() {
			if c.RecordID == second.ID {
				actions += string(c.Action) + " "
			}
		}
		if actions != "create trash restore " {
			t.Errorf("log of the second: %s", actions)
		}
	})
}

// TestTrashTranslatedSlugs checks that a record in the trash frees its slugs in all languages.
func TestTrashTranslatedSlugs(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		row := w.Event(w.As(calendar.Editor), &edit.EventInput{Title: new("Fair")})
		w.ChangeEvent(w.AsIn(calendar.Editor, "pl"), row.ID, &edit.EventInput{Title: new("Targ"), Slug: new("targ")})
		if _, err := w.TrashEvent(w.As(calendar.Editor), row.ID); err != nil {
			t.Fatal(err)
		}
		if got := w.Translation(row.ID, "pl").Slug; got != "targ__trashed" {
			t.Errorf("slug in Polish %q", got)
		}
		other := w.Event(w.As(calendar.Editor), &edit.EventInput{Title: new("Targ")})
		if other.Slug != "targ" {
			t.Errorf("slug %q", other.Slug)
		}
		w.ChangeEvent(w.As(calendar.Editor), row.ID, &edit.EventInput{Status: new(calendar.Publish)})
		if got := w.Translation(row.ID, "pl").Slug; got != "targ-2" {
			t.Errorf("restored slug in Polish %q", got)
		}
	})
}

func TestTrashVenue(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall, club := w.Venue(e, &edit.VenueInput{Name: new("Hall")}), w.Venue(e, &edit.VenueInput{Name: new("Club")})
		row := w.Event(e, &edit.EventInput{Venues: &[]edit.VenueRef{{ID: hall.ID}, {ID: club.ID}}})
		trash := func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
			v, err := tx.Venue.Get(ctx, hall.ID)
			if err != nil {
				return nil, err
			}
			return edit.Venues.Trash(ctx, tx, e, v)
		}
		if v := edittest.Write(w, e, trash); v.Status != calendar.Trash || v.Slug != "hall__trashed" {
			t.Errorf("%s, slug %s", v.Status, v.Slug)
		}
		_, err := edittest.Wrote(w, e, trash)
		edittest.Refused(t, err, "venue-is-in-trash")
		if ids := venuesOf(w, row.ID); len(ids) != 1 || ids[0] != club.ID {
			t.Errorf("venues %v", ids)
		}
		_, err = w.UpdateEvent(e, row.ID, &edit.EventInput{Venues: &[]edit.VenueRef{{ID: club.ID}, {ID: hall.ID}}})
		edittest.Refused(t, err, "venue:unknown-ids")
		if _, err := w.UpdateVenue(e, hall.ID, &edit.VenueInput{Status: new(calendar.Publish)}); err != nil {
			t.Fatal(err)
		}
		if ids := venuesOf(w, row.ID); len(ids) != 1 {
			t.Errorf("restoring brought the link back: %v", ids)
		}
	})
}
