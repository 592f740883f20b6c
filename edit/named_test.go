package edit_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestDuplicates(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		editor, author := w.As(calendar.Editor), w.As(calendar.Author)
		hall := w.Venue(editor, &edit.VenueInput{Name: new("Łódź Hall"), Description: new("Big")})
		w.Venue(editor, &edit.VenueInput{Name: new("Łódź Hall"), Description: new("Small")})
		if _, err := w.UpdateVenue(w.AsIn(calendar.Editor, "pl"), hall.ID, &edit.VenueInput{Name: new("Hala Łódź"), Description: new("Duża")}); err != nil {
			t.Fatal(err)
		}
		secret := w.Venue(editor, &edit.VenueInput{Name: new("Secret"), Status: new(calendar.Private)})
		small := hall.ID + 1
		tests := []struct {
			name string
			by   *edit.Editor
			in   edit.VenueInput
			want int64 // 0: a new one
		}{
			{"the oldest of the name", author, edit.VenueInput{Name: new("łódź  HALL")}, hall.ID},
			{"an empty description is not sent", author, edit.VenueInput{Name: new("Łódź Hall"), Description: new("")}, hall.ID},
			{"name and description", author, edit.VenueInput{Name: new("Łódź Hall"), Description: new("SMALL")}, small},
			{"name with another description", author, edit.VenueInput{Name: new("Łódź Hall"), Description: new("Other")}, 0},
			{"in the language of the request", w.AsIn(calendar.Author, "pl"), edit.VenueInput{Name: new("hala łódź")}, hall.ID},
			{"description in that language", w.AsIn(calendar.Author, "pl"), edit.VenueInput{Name: new("hala łódź"), Description: new("duża")}, hall.ID},
			{"original name, translated description", w.AsIn(calendar.Author, "pl"), edit.VenueInput{Name: new("Łódź Hall"), Description: new("duża")}, hall.ID},
			{"original name in another language", w.AsIn(calendar.Author, "es"), edit.VenueInput{Name: new("Łódź Hall")}, hall.ID},
			{"in a language not asked for", author, edit.VenueInput{Name: new("Hala Łódź")}, 0},
			{"not readable", author, edit.VenueInput{Name: new("Secret")}, 0},
			{"readable for an editor", editor, edit.VenueInput{Name: new("Secret")}, secret.ID},
			{"without diacritics is another name", author, edit.VenueInput{Name: new("Lodz Hall")}, 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				before := w.DB.Venue.Query().CountX(t.Context())
				row, created, err := w.CreateVenue(tt.by, &tt.in)
				must.Succeed(t, err)
				if created != (tt.want == 0) || (!created && row.ID != tt.want) {
					t.Errorf("created %t, id %d, want %d", created, row.ID, tt.want)
				}
				if n := w.DB.Venue.Query().CountX(t.Context()) - before; (n == 1) != created {
					t.Errorf("%d new rows", n)
				}
			})
		}
	})
}

func TestDuplicateIsChangedByWhoMay(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		editor := w.As(calendar.Editor)
		hall := w.Venue(editor, &edit.VenueInput{Name: new("Hall"), Description: new("Big")})
		row, _, err := w.CreateVenue(w.As(calendar.Author), &edit.VenueInput{Name: new("HALL"), Values: edit.VenueValues{VenueValues: ent.VenueValues{City: new("Łódź")}}})
		if err != nil || row.ID != hall.ID || row.City != "" || row.Version != 1 {
			t.Errorf("another author changed it: %v, %v", row, err)
		}
		if row, _, err = w.CreateVenue(editor, &edit.VenueInput{Name: new("HALL")}); err != nil || row.Version != 1 {
			t.Errorf("nothing else was sent, but it was written: %v, %v", row, err)
		}
		row, created, err := w.CreateVenue(editor, &edit.VenueInput{Name: new("HALL"), Values: edit.VenueValues{VenueValues: ent.VenueValues{City: new("Łódź")}}, Description: new("BIG")})
		if err != nil || created || row.City != "Łódź" || row.Name != "Hall" || row.Description != "Big" || row.Version != 2 {
			t.Errorf("changed by an editor: %v, created %t, %v", row, created, err)
		}
		w.Event(editor, &edit.EventInput{Venues: &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("hall"), Values: edit.VenueValues{VenueValues: ent.VenueValues{City: new("Lublin")}}}}}})
		if row = w.DB.Venue.GetX(t.Context(), hall.ID); row.City != "Lublin" || *row.AuthorID != editor.By.UserID {
			t.Errorf("sent with an event: %v", row)
		}
		_, err = trashVenue(w, hall.ID)
		must.Succeed(t, err)
		if _, created, err = w.CreateVenue(editor, &edit.VenueInput{Name: new("Hall")}); err != nil || !created {
			t.Errorf("one in the trash counts as a duplicate: %v", err)
		}
		if row, err = w.UpdateVenue(editor, hall.ID, &edit.VenueInput{Name: new("Hall"), Status: new(calendar.Publish)}); err != nil {
			t.Errorf("an update merged or failed: %v, %v", row, err)
		}
	})
}

func trashVenue(w *edittest.World, id int64) (*ent.Venue, error) {
	w.T.Helper()
	e := w.As(calendar.Editor)
	return edittest.Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
		row, err := tx.Venue.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return edit.Venues.Trash(ctx, tx, e, row)
	})
}

func TestVenueFields(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		degrees := func(d float64) *edit.Coordinate { return &edit.Coordinate{Set: true, Degrees: d} }
		_, _, err := w.CreateVenue(e, &edit.VenueInput{Name: new("A"), Values: edit.VenueValues{Latitude: degrees(1)}})
		edittest.Refused(t, err, "geo_lng")
		_, _, err = w.CreateVenue(e, &edit.VenueInput{Name: new("A"), Values: edit.VenueValues{Longitude: degrees(1)}})
		edittest.Refused(t, err, "geo_lat")
		row := w.Venue(e, &edit.VenueInput{Name: new("A"), Values: edit.VenueValues{Latitude: degrees(0), Longitude: degrees(0), VenueValues: ent.VenueValues{Stateprovince: new("X")}}})
		if row.Latitude == nil || *row.Latitude != 0 || !row.ShowMap || !row.ShowMapLink || row.Stateprovince != "X" {
			t.Errorf("%v", row)
		}
		steps := []struct {
			name string
			in   edit.VenueInput
			want string
		}{
			{"one of two is changed", edit.VenueInput{Values: edit.VenueValues{Latitude: degrees(52.2)}}, ""},
			{"one of two is removed", edit.VenueInput{Values: edit.VenueValues{Longitude: &edit.Coordinate{}}}, "geo_lng"},
			{"both are removed", edit.VenueInput{Values: edit.VenueValues{Latitude: &edit.Coordinate{}, Longitude: &edit.Coordinate{}}}, ""},
			{"one of none is set", edit.VenueInput{Values: edit.VenueValues{Longitude: degrees(21)}}, "geo_lat"},
			{"name is emptied", edit.VenueInput{Name: new("")}, "venue"},
		}
		for _, s := range steps {
			_, err := w.UpdateVenue(e, row.ID, &s.in)
			if got := edittest.Describe(err); got != s.want {
				t.Errorf("%s: %q, want %q", s.name, got, s.want)
			}
		}
	})
}

func TestOrganizer(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.AsIn(calendar.Editor, "pl")
		create := func(in *edit.OrganizerInput) *ent.Organizer {
			return edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
				o, _, err := edit.Organizers.Create(ctx, tx, e, in)
				return o, err
			})
		}
		row := create(&edit.OrganizerInput{Name: new("Dom Kultury"), Values: ent.OrganizerValues{Email: new("a@b"), Phone: new("1"), Website: new("http://a.example")}})
		want := []string{"Dom Kultury", "dom kultury", "dom-kultury", "a@b", "1", "http://a.example", "pl"}
		got := []string{row.Name, row.NameKey, row.Slug, row.Email, row.Phone, row.Website, string(row.Language)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if again := create(&edit.OrganizerInput{Name: new("DOM KULTURY"), Values: ent.OrganizerValues{Phone: new("2")}}); again.ID != row.ID || again.Phone != "2" {
			t.Errorf("%v", again)
		}
		event := w.Event(e, &edit.EventInput{Organizers: &[]edit.OrganizerRef{{ID: row.ID}}})
		row = edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, err := tx.Organizer.Get(ctx, row.ID)
			if err != nil {
				return nil, err
			}
			return edit.Organizers.Trash(ctx, tx, e, o)
		})
		if row.Slug != "dom-kultury__trashed" || len(organizersOf(w, event.ID)) != 0 {
			t.Errorf("%v is linked to %v", row, organizersOf(w, event.ID))
		}
		row = edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			e.Write = calendar.English
			return edit.Organizers.Update(ctx, tx, e, row, &edit.OrganizerInput{Name: new("House"), Status: new(calendar.Draft)})
		})
		if row.Name != "Dom Kultury" || row.Languages != "en,pl" || row.Slug != "dom-kultury" || row.Status != calendar.Draft {
			t.Errorf("%v", row)
		}
		tr := w.DB.OrganizerTranslation.Query().OnlyX(t.Context())
		if tr.Name != "House" || tr.NameKey != "house" {
			t.Errorf("%v", tr)
		}
	})
}
