package edit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// query runs a look-up in a transaction of its own.
func query[R any](w *world, do func(ctx context.Context, tx *ent.Tx) (R, error)) R {
	w.t.Helper()
	return write(w, w.as(calendar.Editor), do)
}

func (w *world) venuesOf(event int64) []int64 {
	w.t.Helper()
	return query(w, func(ctx context.Context, tx *ent.Tx) ([]int64, error) {
		return linked(ctx, tx, calendar.Venue, event)
	})
}

func (w *world) organizersOf(event int64) []int64 {
	w.t.Helper()
	return query(w, func(ctx context.Context, tx *ent.Tx) ([]int64, error) {
		return linked(ctx, tx, calendar.Organizer, event)
	})
}

func (w *world) termsOf(event int64) terms {
	w.t.Helper()
	return query(w, func(ctx context.Context, tx *ent.Tx) (terms, error) { return termsOf(ctx, tx, event) })
}

func TestCreateEventStoresAll(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Author)
		row := w.event(e, &EventInput{
			Title: new("Gala"), Description: new("<p>x</p>"), Excerpt: new("short"), AllDay: new(true),
			Cost: &calendar.Cost{Prices: []string{"5"}}, Website: &Website{Set: true, URL: "http://a.example/"},
			Password: new("secret"), ShowMap: new(true), Hide: new(true), Sticky: new(true), Ticketed: new(true),
			Published: new(now.Add(-time.Hour)), SourceID: new("h?id=1"), ModifiedAt: new(now.Add(-time.Minute)),
		})
		row = w.db.Event.GetX(t.Context(), row.ID)
		author := w.users[calendar.Author].ID
		want := &ent.Event{
			ID: row.ID, AuthorID: &author, Status: calendar.Publish, PublishedAt: now.Add(-time.Hour), Dated: true,
			Language: calendar.English, Languages: "en", CreatedAt: now, ModifiedAt: now.Add(-time.Minute), Version: 1,
			SourceID: new("h?id=1"), Title: "Gala", Description: "<p>x</p>", Excerpt: "short", Slug: "gala",
			StartsAt:  time.Date(2026, 6, 30, 22, 0, 0, 0, time.UTC),
			EndsAt:    time.Date(2026, 7, 1, 21, 59, 59, 0, time.UTC),
			StartWall: calendar.WallAt(2026, 7, 1, 0, 0, 0), EndWall: calendar.WallAt(2026, 7, 1, 23, 59, 59),
			Timezone: "Europe/Warsaw", AllDay: true, Cost: calendar.Cost{Prices: []string{"5"}},
			Website: new("http://a.example/"), PasswordHash: new(HashPassword(e.PasswordKey, row.ID, "secret")),
			ShowMap: true, HideFromListings: true, Sticky: true, Ticketed: true,
		}
		ignore := cmp.FilterPath(func(p cmp.Path) bool {
			return slices.Contains([]string{"config", "selectValues", "Edges"}, p.Last().String()[1:]) && len(p) > 1
		}, cmp.Ignore())
		if diff := cmp.Diff(want, row, ignore, cmp.AllowUnexported(ent.Event{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !PasswordMatches(e.PasswordKey, row.ID, "secret", row.PasswordHash) ||
			PasswordMatches(e.PasswordKey, row.ID, "other", row.PasswordHash) {
			t.Error("the password is not what was sent")
		}
	})
}

func TestUpdateEventChangesWhatIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		venue := w.venue(e, &VenueInput{Name: new("Hall")})
		parent := w.event(e, &EventInput{})
		row := w.event(e, &EventInput{
			Cost: &calendar.Cost{Prices: []string{"5"}}, Website: &Website{Set: true, URL: "http://a.example/"},
			Password: new("secret"), Sticky: new(true), Venues: &[]VenueRef{{ID: venue.ID}}, ParentID: &parent.ID,
			Description: new("text"),
		})
		e.Now = now.Add(time.Hour)
		got := w.changeEvent(e, row.ID, &EventInput{})
		if got.Version != 2 || !got.ModifiedAt.Equal(e.Now) || !got.CreatedAt.Equal(now) {
			t.Errorf("version %d, modified %s, created %s", got.Version, got.ModifiedAt, got.CreatedAt)
		}
		if got.Cost.IsZero() || got.Website == nil || !protected(got) || !got.Sticky || got.ParentID == nil ||
			got.Description != "text" || len(w.venuesOf(row.ID)) != 1 {
			t.Errorf("an update without fields changed %v", got)
		}
		got = w.changeEvent(e, row.ID, &EventInput{
			Cost: &calendar.Cost{}, Website: &Website{Set: true}, Password: new(""), Sticky: new(false),
			Venues: &[]VenueRef{}, ParentID: new(int64(0)), Description: new(""),
		})
		if !got.Cost.IsZero() || *got.Website != "" || protected(got) || got.Sticky || got.ParentID != nil ||
			got.Description != "" || len(w.venuesOf(row.ID)) != 0 {
			t.Errorf("not all was cleared: %v", got)
		}
		if got = w.changeEvent(e, row.ID, &EventInput{Website: &Website{}}); got.Website != nil {
			t.Errorf("website %q", *got.Website)
		}
		log := w.checkLog()
		var fields [][]string
		for _, c := range log {
			if c.RecordID == row.ID && c.Action == calendar.Updated {
				fields = append(fields, c.Fields)
				if c.UserID == nil || *c.UserID != e.By.UserID || !c.At.Equal(e.Now) {
					t.Errorf("logged by %v at %s", c.UserID, c.At)
				}
			}
		}
		want := [][]string{{}, {"description", "cost", "website", "sticky", "post_parent", "password", "venue"}, {"website"}}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("fields (-want +got):\n%s", diff)
		}
	})
}

// TestLongTexts stores texts of the permitted length in characters, which have more bytes.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		long, text := strings.Repeat("Ł", 500), strings.Repeat("ń", 255)
		row := w.event(e, &EventInput{
			Title: &long, Categories: &[]TermRef{{Name: long}},
			Venues:     &[]VenueRef{{New: &VenueInput{Name: &long, City: &text}}},
			Organizers: &[]OrganizerRef{{New: &OrganizerInput{Name: &long, Phone: &text}}},
		})
		if row.Title != long || row.Slug != strings.Repeat("l", 200) {
			t.Errorf("title of %d bytes, slug %s", len(row.Title), row.Slug)
		}
		w.changeEvent(w.as(calendar.Editor).in("pl"), row.ID, &EventInput{Title: &long})
	})
}

func TestEventWithoutKeyRefusesPasswords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		e.PasswordKey = nil
		if _, err := w.createEvent(e, &EventInput{Password: new("x")}); err == nil {
			t.Error("a password was hashed without a key")
		}
	})
}

func TestEventLinks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		editor, contributor := w.as(calendar.Editor), w.as(calendar.Contributor)
		a, b := w.venue(editor, &VenueInput{Name: new("A")}), w.venue(editor, &VenueInput{Name: new("B")})
		hidden := w.venue(editor, &VenueInput{Name: new("Hidden"), Status: new(calendar.Private)})
		org := write(w, editor, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, _, err := editor.CreateOrganizer(ctx, tx, &OrganizerInput{Name: new("Org")})
			return o, err
		})
		row := w.event(editor, &EventInput{
			Venues:     &[]VenueRef{{ID: b.ID}, {ID: a.ID}, {ID: b.ID}, {New: &VenueInput{Name: new("C"), City: new("Łódź")}}},
			Organizers: &[]OrganizerRef{{ID: org.ID}, {New: &OrganizerInput{Name: new("ORG")}}},
		})
		venues := w.venuesOf(row.ID)
		if len(venues) != 3 || venues[0] != b.ID || venues[1] != a.ID {
			t.Errorf("venues %v, want %d, %d and a new one", venues, b.ID, a.ID)
		}
		if c := w.db.Venue.GetX(t.Context(), venues[2]); c.City != "Łódź" || c.Status != calendar.Publish || !c.ShowMap {
			t.Errorf("inline venue: %v", c)
		}
		if got := w.organizersOf(row.ID); !slices.Equal(got, []int64{org.ID}) {
			t.Errorf("organizers %v, want the one there once", got)
		}

		t.Run("inline records take the author of the event and the caller's right", func(t *testing.T) {
			mine := w.event(contributor, &EventInput{
				Venues: &[]VenueRef{{New: &VenueInput{Name: new("Mine"), AuthorID: new(w.users[calendar.Editor].ID)}}},
			})
			v := w.db.Venue.GetX(t.Context(), w.venuesOf(mine.ID)[0])
			if *v.AuthorID != w.users[calendar.Contributor].ID || v.Status != calendar.Draft {
				t.Errorf("author %d, status %s", *v.AuthorID, v.Status)
			}
			w.changeEvent(editor, mine.ID, &EventInput{Venues: &[]VenueRef{{New: &VenueInput{Name: new("Yours")}}}})
			v = w.db.Venue.GetX(t.Context(), w.venuesOf(mine.ID)[0])
			if *v.AuthorID != w.users[calendar.Contributor].ID || v.Status != calendar.Publish {
				t.Errorf("author %d, status %s", *v.AuthorID, v.Status)
			}
		})

		tests := []struct {
			name string
			by   *Editor
			in   EventInput
			want string
		}{
			{"unknown venue", editor, EventInput{Venues: &[]VenueRef{{ID: a.ID}, {ID: 999}}}, "venue:unknown-ids"},
			{"id of an event", editor, EventInput{Venues: &[]VenueRef{{ID: row.ID}}}, "venue:unknown-ids"},
			{"id of an organizer", editor, EventInput{Venues: &[]VenueRef{{ID: org.ID}}}, "venue:unknown-ids"},
			{"not readable", contributor, EventInput{Venues: &[]VenueRef{{ID: hidden.ID}}}, "venue:unknown-ids"},
			{"all faults at once, in order", editor, EventInput{
				AuthorID: new(int64(999)), Organizers: &[]OrganizerRef{{ID: 999}}, Venues: &[]VenueRef{{ID: 999}},
				Tags: &[]TermRef{{ID: 999}}, Categories: &[]TermRef{{ID: 999}}, ParentID: new(int64(999)), ImageID: new(int64(999)),
			}, "author:unknown-ids, image:unknown-ids, categories:unknown-ids, tags:unknown-ids, venue:unknown-ids, organizer:unknown-ids, post_parent:unknown-ids"},
			{"invalid inline venue", editor, EventInput{Venues: &[]VenueRef{
				{ID: a.ID}, {New: &VenueInput{Name: new("X"), Latitude: &Coordinate{true, 1}}},
			}}, "venue:invalid-linked-record"},
			{"before the permission", w.as(calendar.Subscriber), EventInput{Venues: &[]VenueRef{{ID: 999}}}, "venue:unknown-ids"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				events, venues := w.db.Event.Query().CountX(t.Context()), w.db.Venue.Query().CountX(t.Context())
				_, err := w.createEvent(tt.by, &tt.in)
				refused(t, err, tt.want)
				if w.db.Event.Query().CountX(t.Context()) != events || w.db.Venue.Query().CountX(t.Context()) != venues {
					t.Error("something was stored nevertheless")
				}
			})
		}
		t.Run("the fault of an inline record names its place", func(t *testing.T) {
			_, err := w.createEvent(editor, &tests[5].in)
			var invalid param.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an invalid parameter", err)
			}
			f := invalid.Faults[0]
			inner := f.Data["params"].([]param.Fault)
			if f.Data["index"] != 1 || len(inner) != 1 || inner[0].Param != "geo_lng" {
				t.Errorf("%+v", f)
			}
		})
		w.checkLog()
	})
}

func TestEventParent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e, author := w.as(calendar.Editor), w.as(calendar.Author)
		top := w.event(e, &EventInput{})
		mid := w.event(e, &EventInput{ParentID: &top.ID})
		low := w.event(e, &EventInput{ParentID: &mid.ID})
		private := w.event(e, &EventInput{Status: new(calendar.Private)})
		own := w.event(author, &EventInput{})
		tests := []struct {
			name   string
			by     *Editor
			id     int64
			parent int64
			want   string
		}{
			{"itself", e, top.ID, top.ID, "post_parent"},
			{"its child", e, top.ID, mid.ID, "post_parent"},
			{"its grandchild", e, top.ID, low.ID, "post_parent"},
			{"what it is already", e, low.ID, mid.ID, ""},
			{"a sibling of its parent", e, low.ID, top.ID, ""},
			{"unknown", e, low.ID, 999, "post_parent:unknown-ids"},
			{"not readable", author, own.ID, private.ID, "post_parent:unknown-ids"},
			{"of another", author, own.ID, low.ID, ""},
			{"none", e, low.ID, 0, ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.updateEvent(tt.by, tt.id, &EventInput{ParentID: &tt.parent})
				refused(t, err, tt.want)
			})
		}
		t.Run("in the trash", func(t *testing.T) {
			if _, err := w.trashEvent(e, top.ID); err != nil {
				t.Fatal(err)
			}
			_, err := w.updateEvent(e, low.ID, &EventInput{ParentID: &top.ID})
			refused(t, err, "post_parent:unknown-ids")
			if _, err := w.updateEvent(e, mid.ID, &EventInput{ParentID: &top.ID}); err != nil {
				t.Errorf("the parent it has cannot be sent back: %v", describe(err))
			}
		})
	})
}

func TestLostUpdateIsRetried(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		stale := w.event(e, &EventInput{})
		w.changeEvent(e, stale.ID, &EventInput{Sticky: new(true)})
		tries := 0
		row := write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
			tries++
			row := stale
			if tries > 1 {
				var err error
				if row, err = tx.Event.Get(ctx, stale.ID); err != nil {
					return nil, err
				}
			}
			return e.UpdateEvent(ctx, tx, row, &EventInput{Featured: new(true)})
		})
		if tries != 2 || !row.Sticky || !row.Featured || row.Version != 3 {
			t.Errorf("after %d tries: sticky %t, featured %t, version %d", tries, row.Sticky, row.Featured, row.Version)
		}
		if n := len(w.checkLog()); n != 3 {
			t.Errorf("%d changes, want 3: those of the lost attempt must not count", n)
		}
	})
}

// protected: a hash that was read is never a nil pointer.
func protected(row *ent.Event) bool { return len(*row.PasswordHash) > 0 }
