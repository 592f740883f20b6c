package edit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// venuesOf loads the ids of the venues of an event in their order.
func venuesOf(w *edittest.World, event int64) (ids []int64) {
	w.T.Helper()
	err := w.DB.EventVenue.Query().Where(eventvenue.EventID(event)).Order(eventvenue.ByPosition()).
		Select(eventvenue.FieldVenueID).Scan(w.T.Context(), &ids)
	if err != nil {
		w.T.Fatal(err)
	}
	return ids
}

// organizersOf loads the ids of the organizers of an event in their order.
func organizersOf(w *edittest.World, event int64) (ids []int64) {
	w.T.Helper()
	err := w.DB.EventOrganizer.Query().Where(eventorganizer.EventID(event)).Order(eventorganizer.ByPosition()).
		Select(eventorganizer.FieldOrganizerID).Scan(w.T.Context(), &ids)
	if err != nil {
		w.T.Fatal(err)
	}
	return ids
}

// categoriesOf loads the ids of the categories of an event.
func categoriesOf(w *edittest.World, id int64) []int64 {
	w.T.Helper()
	return w.DB.Term.Query().Where(term.HasEventsWith(event.ID(id)), term.TaxonomyEQ(calendar.Category)).
		Order(term.ByID()).IDsX(w.T.Context())
}

func TestCreateEventStoresAll(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Author)
		row := w.Event(e, &edit.EventInput{
			Title: new("Gala"), Description: new("<p>x</p>"), Excerpt: new("short"), AllDay: new(true),
			Cost: &calendar.Cost{Prices: []string{"5"}}, Website: &edit.Website{Set: true, URL: "http://a.example/"},
			Password: new("secret"), EventValues: ent.EventValues{ShowMap: new(true), HideFromListings: new(true), Sticky: new(true), Ticketed: new(true), EventStatus: new(calendar.Canceled), Attendance: new(calendar.Mixed), VirtualURL: new("https://meet.example/")}, EventStatusReason: new("Ill"),
			Published: new(edittest.Now.Add(-time.Hour)), SourceID: new("h?id=1"), ModifiedAt: new(edittest.Now.Add(-time.Minute)),
		})
		row = w.DB.Event.GetX(t.Context(), row.ID)
		author := w.Users[calendar.Author].ID
		want := &ent.Event{
			ID: row.ID, AuthorID: &author, Status: calendar.Publish, PublishedAt: edittest.Now.Add(-time.Hour), Dated: true,
			Language: calendar.English, Languages: "en", CreatedAt: edittest.Now, ModifiedAt: edittest.Now.Add(-time.Minute), Version: 1,
			SourceID: new("h?id=1"), Title: "Gala", Description: "<p>x</p>", Excerpt: "short", Slug: "gala",
			StartsAt:  time.Date(2026, 6, 30, 22, 0, 0, 0, time.UTC),
			EndsAt:    time.Date(2026, 7, 1, 21, 59, 59, 0, time.UTC),
			StartWall: calendar.WallAt(2026, 7, 1, 0, 0, 0), EndWall: calendar.WallAt(2026, 7, 1, 23, 59, 59),
			Timezone: "Europe/Warsaw", AllDay: true, Cost: calendar.Cost{Prices: []string{"5"}},
			Website: new("http://a.example/"), PasswordHash: new(edit.HashPassword(e.PasswordKey, row.ID, "secret")),
			ShowMap: true, HideFromListings: true, Sticky: true, Ticketed: true,
			EventStatus: calendar.Canceled, EventStatusReason: "Ill", Attendance: calendar.Mixed, VirtualURL: "https://meet.example/",
		}
		ignore := cmp.FilterPath(func(p cmp.Path) bool {
			return slices.Contains([]string{"config", "selectValues", "Edges"}, p.Last().String()[1:]) && len(p) > 1
		}, cmp.Ignore())
		if diff := cmp.Diff(want, row, ignore, cmp.AllowUnexported(ent.Event{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !edit.PasswordMatches(e.PasswordKey, row, "secret") ||
			edit.PasswordMatches(e.PasswordKey, row, "other") {
			t.Error("the password is not what was sent")
		}
	})
}

func TestUpdateEventChangesWhatIsSent(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		venue := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		parent := w.Event(e, &edit.EventInput{})
		row := w.Event(e, &edit.EventInput{
			Cost: &calendar.Cost{Prices: []string{"5"}}, Website: &edit.Website{Set: true, URL: "http://a.example/"},
			Password: new("secret"), EventValues: ent.EventValues{Sticky: new(true)}, Venues: &[]edit.VenueRef{{ID: venue.ID}}, ParentID: &parent.ID,
			Description: new("text"),
		})
		e.Now = edittest.Now.Add(time.Hour)
		got := w.ChangeEvent(e, row.ID, &edit.EventInput{})
		if got.Version != 2 || got.HiddenChanges != 1 || !got.ModifiedAt.Equal(edittest.Now) || !got.HiddenAt.Equal(e.Now) || !got.CreatedAt.Equal(edittest.Now) {
			t.Errorf("version %d, modified %s, hidden %v, created %s", got.Version, got.ModifiedAt, got.HiddenAt, got.CreatedAt)
		}
		if got.Cost.IsZero() || got.Website == nil || !hasPassword(got) || !got.Sticky || got.ParentID == nil ||
			got.Description != "text" || len(venuesOf(w, row.ID)) != 1 {
			t.Errorf("an update without fields changed %v", got)
		}
		got = w.ChangeEvent(e, row.ID, &edit.EventInput{
			Cost: &calendar.Cost{}, Website: &edit.Website{Set: true}, Password: new(""), EventValues: ent.EventValues{Sticky: new(false)},
			Venues: &[]edit.VenueRef{}, ParentID: new(int64(0)), Description: new(""),
		})
		if !got.Cost.IsZero() || *got.Website != "" || hasPassword(got) || got.Sticky || got.ParentID != nil ||
			got.Description != "" || len(venuesOf(w, row.ID)) != 0 {
			t.Errorf("not all was cleared: %v", got)
		}
		if got = w.ChangeEvent(e, row.ID, &edit.EventInput{Website: &edit.Website{}}); got.Website != nil {
			t.Errorf("website %q", *got.Website)
		}
		log := w.CheckLog()
		var fields [][]string
		for _, c := range log {
			if c.RecordID == row.ID && c.Action == calendar.Updated {
				fields = append(fields, c.Fields)
				if c.UserID == nil || *c.UserID != e.By.UserID || !c.At.Equal(e.Now) {
					t.Errorf("logged by %v at %s", c.UserID, c.At)
				}
			}
		}
		want := [][]string{{}, {"description", "cost", "website", "password", "sticky", "post_parent", "venue"}, {"website"}}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("fields (-want +got):\n%s", diff)
		}
	})
}

// TestLongTexts stores texts with the maximum number of characters. Each character has several bytes, so a limit
// in bytes would refuse them.
func TestLongTexts(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		long, text := strings.Repeat("Ł", 500), strings.Repeat("ń", 255)
		row := w.Event(e, &edit.EventInput{
			Title: &long, Categories: &[]edit.TermRef{{Name: long}},
			Venues:     &[]edit.VenueRef{{New: &edit.VenueInput{Name: &long, Values: edit.VenueValues{VenueValues: ent.VenueValues{City: &text}}}}},
			Organizers: &[]edit.OrganizerRef{{New: &edit.OrganizerInput{Name: &long, Values: ent.OrganizerValues{Phone: &text}}}},
		})
		if row.Title != long || row.Slug != strings.Repeat("l", 200) {
			t.Errorf("title of %d bytes, slug %s", len(row.Title), row.Slug)
		}
		w.ChangeEvent(w.AsIn(calendar.Editor, "pl"), row.ID, &edit.EventInput{Title: &long})
	})
}

func TestEventWithoutKeyRefusesPasswords(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		e.PasswordKey = nil
		if _, err := w.CreateEvent(e, &edit.EventInput{Password: new("x")}); err == nil {
			t.Error("a password was hashed without a key")
		}
	})
}

func TestEventLinks(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		editor, contributor := w.As(calendar.Editor), w.As(calendar.Contributor)
		a, b := w.Venue(editor, &edit.VenueInput{Name: new("A")}), w.Venue(editor, &edit.VenueInput{Name: new("B")})
		hidden := w.Venue(editor, &edit.VenueInput{Name: new("Hidden"), Status: new(calendar.Private)})
		org := edittest.Write(w, editor, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, _, err := edit.Organizers.Create(ctx, tx, editor, &edit.OrganizerInput{Name: new("Org")})
			return o, err
		})
		row := w.Event(editor, &edit.EventInput{
			Venues:     &[]edit.VenueRef{{ID: b.ID}, {ID: a.ID}, {ID: b.ID}, {New: &edit.VenueInput{Name: new("C"), Values: edit.VenueValues{VenueValues: ent.VenueValues{City: new("Łódź")}}}}},
			Organizers: &[]edit.OrganizerRef{{ID: org.ID}, {New: &edit.OrganizerInput{Name: new("ORG")}}},
		})
		venues := venuesOf(w, row.ID)
		if len(venues) != 3 || venues[0] != b.ID || venues[1] != a.ID {
			t.Errorf("venues %v, want %d, %d and a new one", venues, b.ID, a.ID)
		}
		if c := w.DB.Venue.GetX(t.Context(), venues[2]); c.City != "Łódź" || c.Status != calendar.Publish || !c.ShowMap {
			t.Errorf("inline venue: %v", c)
		}
		if got := organizersOf(w, row.ID); !slices.Equal(got, []int64{org.ID}) {
			t.Errorf("organizers %v, want the one there once", got)
		}

		t.Run("inline records take the author of the event and the caller's right", func(t *testing.T) {
			mine := w.Event(contributor, &edit.EventInput{
				Venues: &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Mine"), AuthorID: new(w.Users[calendar.Editor].ID)}}},
			})
			v := w.DB.Venue.GetX(t.Context(), venuesOf(w, mine.ID)[0])
			if *v.AuthorID != w.Users[calendar.Contributor].ID || v.Status != calendar.Draft {
				t.Errorf("author %d, status %s", *v.AuthorID, v.Status)
			}
			w.ChangeEvent(editor, mine.ID, &edit.EventInput{Venues: &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Yours")}}}})
			v = w.DB.Venue.GetX(t.Context(), venuesOf(w, mine.ID)[0])
			if *v.AuthorID != w.Users[calendar.Contributor].ID || v.Status != calendar.Publish {
				t.Errorf("author %d, status %s", *v.AuthorID, v.Status)
			}
		})

		tests := []struct {
			name string
			by   *edit.Editor
			in   edit.EventInput
			want string
		}{
			{"unknown venue", editor, edit.EventInput{Venues: &[]edit.VenueRef{{ID: a.ID}, {ID: 999}}}, "venue:unknown-ids"},
			{"id of an event", editor, edit.EventInput{Venues: &[]edit.VenueRef{{ID: row.ID}}}, "venue:unknown-ids"},
			{"id of an organizer", editor, edit.EventInput{Venues: &[]edit.VenueRef{{ID: org.ID}}}, "venue:unknown-ids"},
			{"not readable", contributor, edit.EventInput{Venues: &[]edit.VenueRef{{ID: hidden.ID}}}, "venue:unknown-ids"},
			{"all faults at once, in order", editor, edit.EventInput{
				AuthorID: new(int64(999)), Organizers: &[]edit.OrganizerRef{{ID: 999}}, Venues: &[]edit.VenueRef{{ID: 999}},
				Tags: &[]edit.TermRef{{ID: 999}}, Categories: &[]edit.TermRef{{ID: 999}}, ParentID: new(int64(999)), ImageID: new(int64(999)),
			}, "author:unknown-ids, image:unknown-ids, categories:unknown-ids, tags:unknown-ids, venue:unknown-ids, organizer:unknown-ids, post_parent:unknown-ids"},
			{"invalid inline venue", editor, edit.EventInput{Venues: &[]edit.VenueRef{
				{ID: a.ID}, {New: &edit.VenueInput{Name: new("X"), Values: edit.VenueValues{Latitude: &edit.Coordinate{Set: true, Degrees: 1}}}},
			}}, "venue:invalid-linked-record"},
			{"before the permission", w.As(calendar.Subscriber), edit.EventInput{Venues: &[]edit.VenueRef{{ID: 999}}}, "venue:unknown-ids"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				events, venues := w.DB.Event.Query().CountX(t.Context()), w.DB.Venue.Query().CountX(t.Context())
				_, err := w.CreateEvent(tt.by, &tt.in)
				edittest.Refused(t, err, tt.want)
				if w.DB.Event.Query().CountX(t.Context()) != events || w.DB.Venue.Query().CountX(t.Context()) != venues {
					t.Error("something was stored nevertheless")
				}
			})
		}
		t.Run("the fault of an inline record names its place", func(t *testing.T) {
			_, err := w.CreateEvent(editor, &tests[5].in)
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
		w.CheckLog()
	})
}

func TestEventParent(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e, author := w.As(calendar.Editor), w.As(calendar.Author)
		top := w.Event(e, &edit.EventInput{})
		mid := w.Event(e, &edit.EventInput{ParentID: &top.ID})
		low := w.Event(e, &edit.EventInput{ParentID: &mid.ID})
		private := w.Event(e, &edit.EventInput{Status: new(calendar.Private)})
		own := w.Event(author, &edit.EventInput{})
		tests := []struct {
			name   string
			by     *edit.Editor
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
				_, err := w.UpdateEvent(tt.by, tt.id, &edit.EventInput{ParentID: &tt.parent})
				edittest.Refused(t, err, tt.want)
			})
		}
		t.Run("in the trash", func(t *testing.T) {
			if _, err := w.TrashEvent(e, top.ID); err != nil {
				t.Fatal(err)
			}
			_, err := w.UpdateEvent(e, low.ID, &edit.EventInput{ParentID: &top.ID})
			edittest.Refused(t, err, "post_parent:unknown-ids")
			if _, err := w.UpdateEvent(e, mid.ID, &edit.EventInput{ParentID: &top.ID}); err != nil {
				t.Errorf("the parent it has cannot be sent back: %v", edittest.Describe(err))
			}
		})
	})
}

func TestLostUpdateIsRetried(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		stale := w.Event(e, &edit.EventInput{})
		w.ChangeEvent(e, stale.ID, &edit.EventInput{EventValues: ent.EventValues{Sticky: new(true)}})
		tries := 0
		row := edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Event, error) {
			tries++
			row := stale
			if tries > 1 {
				var err error
				if row, err = tx.Event.Get(ctx, stale.ID); err != nil {
					return nil, err
				}
			}
			return e.UpdateEvent(ctx, tx, row, &edit.EventInput{EventValues: ent.EventValues{Featured: new(true)}})
		})
		if tries != 2 || !row.Sticky || !row.Featured || row.Version != 3 {
			t.Errorf("after %d tries: sticky %t, featured %t, version %d", tries, row.Sticky, row.Featured, row.Version)
		}
		if n := len(w.CheckLog()); n != 3 {
			t.Errorf("%d changes, want 3: those of the lost attempt must not count", n)
		}
	})
}

// hasPassword reports whether an event that was read from the database has a password. In such a row the pointer
// to the hash is never nil.
func hasPassword(row *ent.Event) bool { return len(*row.PasswordHash) > 0 }
