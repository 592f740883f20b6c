package edit

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

func TestDuplicates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		editor, author := w.as(calendar.Editor), w.as(calendar.Author)
		hall := w.venue(editor, &VenueInput{Name: new("Łódź Hall"), Description: new("Big")})
		w.venue(editor, &VenueInput{Name: new("Łódź Hall"), Description: new("Small")})
		if _, err := w.updateVenue(w.as(calendar.Editor).in("pl"), hall.ID, &VenueInput{Name: new("Hala Łódź"), Description: new("Duża")}); err != nil {
			t.Fatal(err)
		}
		secret := w.venue(editor, &VenueInput{Name: new("Secret"), Status: new(calendar.Private)})
		small := hall.ID + 1
		tests := []struct {
			name string
			by   *Editor
			in   VenueInput
			want int64 // 0: a new one
		}{
			{"the oldest of the name", author, VenueInput{Name: new("łódź  HALL")}, hall.ID},
			{"an empty description is not sent", author, VenueInput{Name: new("Łódź Hall"), Description: new("")}, hall.ID},
			{"name and description", author, VenueInput{Name: new("Łódź Hall"), Description: new("SMALL")}, small},
			{"name with another description", author, VenueInput{Name: new("Łódź Hall"), Description: new("Other")}, 0},
			{"in the language of the request", w.as(calendar.Author).in("pl"), VenueInput{Name: new("hala łódź")}, hall.ID},
			{"description in that language", w.as(calendar.Author).in("pl"), VenueInput{Name: new("hala łódź"), Description: new("duża")}, hall.ID},
			{"original name, translated description", w.as(calendar.Author).in("pl"), VenueInput{Name: new("Łódź Hall"), Description: new("duża")}, hall.ID},
			{"original name in another language", w.as(calendar.Author).in("es"), VenueInput{Name: new("Łódź Hall")}, hall.ID},
			{"in a language not asked for", author, VenueInput{Name: new("Hala Łódź")}, 0},
			{"not readable", author, VenueInput{Name: new("Secret")}, 0},
			{"readable for an editor", editor, VenueInput{Name: new("Secret")}, secret.ID},
			{"without diacritics is another name", author, VenueInput{Name: new("Lodz Hall")}, 0},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				before := w.db.Venue.Query().CountX(t.Context())
				row, created, err := w.createVenue(tt.by, &tt.in)
				if err != nil {
					t.Fatal(err)
				}
				if created != (tt.want == 0) || (!created && row.ID != tt.want) {
					t.Errorf("created %t, id %d, want %d", created, row.ID, tt.want)
				}
				if n := w.db.Venue.Query().CountX(t.Context()) - before; (n == 1) != created {
					t.Errorf("%d new rows", n)
				}
			})
		}
	})
}

func TestDuplicateIsChangedByWhoMay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		editor := w.as(calendar.Editor)
		hall := w.venue(editor, &VenueInput{Name: new("Hall"), Description: new("Big")})
		row, _, err := w.createVenue(w.as(calendar.Author), &VenueInput{Name: new("HALL"), City: new("Łódź")})
		if err != nil || row.ID != hall.ID || row.City != "" || row.Version != 1 {
			t.Errorf("another author changed it: %v, %v", row, err)
		}
		if row, _, err = w.createVenue(editor, &VenueInput{Name: new("HALL")}); err != nil || row.Version != 1 {
			t.Errorf("nothing else was sent, but it was written: %v, %v", row, err)
		}
		row, created, err := w.createVenue(editor, &VenueInput{Name: new("HALL"), City: new("Łódź"), Description: new("BIG")})
		if err != nil || created || row.City != "Łódź" || row.Name != "Hall" || row.Description != "Big" || row.Version != 2 {
			t.Errorf("changed by an editor: %v, created %t, %v", row, created, err)
		}
		w.event(editor, &EventInput{Venues: &[]VenueRef{{New: &VenueInput{Name: new("hall"), City: new("Lublin")}}}})
		if row = w.db.Venue.GetX(t.Context(), hall.ID); row.City != "Lublin" || *row.AuthorID != editor.By.UserID {
			t.Errorf("sent with an event: %v", row)
		}
		_, err = w.trashVenue(hall.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, created, err = w.createVenue(editor, &VenueInput{Name: new("Hall")}); err != nil || !created {
			t.Errorf("one in the trash counts as a duplicate: %v", err)
		}
		if row, err = w.updateVenue(editor, hall.ID, &VenueInput{Name: new("Hall"), Status: new(calendar.Publish)}); err != nil {
			t.Errorf("an update merged or failed: %v, %v", row, err)
		}
	})
}

func (w *world) trashVenue(id int64) (*ent.Venue, error) {
	w.t.Helper()
	e := w.as(calendar.Editor)
	return wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
		row, err := tx.Venue.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return e.TrashVenue(ctx, tx, row)
	})
}

func TestVenueFields(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor)
		degrees := func(d float64) *Coordinate { return &Coordinate{Set: true, Degrees: d} }
		_, _, err := w.createVenue(e, &VenueInput{Name: new("A"), Latitude: degrees(1)})
		refused(t, err, "geo_lng")
		_, _, err = w.createVenue(e, &VenueInput{Name: new("A"), Longitude: degrees(1)})
		refused(t, err, "geo_lat")
		row := w.venue(e, &VenueInput{Name: new("A"), Latitude: degrees(0), Longitude: degrees(0), StateProvince: new("X")})
		if row.Latitude == nil || *row.Latitude != 0 || !row.ShowMap || !row.ShowMapLink || row.Stateprovince != "X" {
			t.Errorf("%v", row)
		}
		steps := []struct {
			name string
			in   VenueInput
			want string
		}{
			{"one of two is changed", VenueInput{Latitude: degrees(52.2)}, ""},
			{"one of two is removed", VenueInput{Longitude: &Coordinate{}}, "geo_lng"},
			{"both are removed", VenueInput{Latitude: &Coordinate{}, Longitude: &Coordinate{}}, ""},
			{"one of none is set", VenueInput{Longitude: degrees(21)}, "geo_lat"},
			{"name is emptied", VenueInput{Name: new("")}, "venue"},
		}
		for _, s := range steps {
			_, err := w.updateVenue(e, row.ID, &s.in)
			if got := describe(err); got != s.want {
				t.Errorf("%s: %q, want %q", s.name, got, s.want)
			}
		}
	})
}

func TestOrganizer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := w.as(calendar.Editor).in("pl")
		create := func(in *OrganizerInput) *ent.Organizer {
			return write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
				o, _, err := e.CreateOrganizer(ctx, tx, in)
				return o, err
			})
		}
		row := create(&OrganizerInput{Name: new("Dom Kultury"), Email: new("a@b"), Phone: new("1"), Website: new("http://a.example")})
		want := []string{"Dom Kultury", "dom kultury", "dom-kultury", "a@b", "1", "http://a.example", "pl"}
		got := []string{row.Name, row.NameKey, row.Slug, row.Email, row.Phone, row.Website, string(row.Language)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if again := create(&OrganizerInput{Name: new("DOM KULTURY"), Phone: new("2")}); again.ID != row.ID || again.Phone != "2" {
			t.Errorf("%v", again)
		}
		event := w.event(e, &EventInput{Organizers: &[]OrganizerRef{{ID: row.ID}}})
		row = write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			o, err := tx.Organizer.Get(ctx, row.ID)
			if err != nil {
				return nil, err
			}
			return e.TrashOrganizer(ctx, tx, o)
		})
		if row.Slug != "dom-kultury__trashed" || len(w.organizersOf(event.ID)) != 0 {
			t.Errorf("%v is linked to %v", row, w.organizersOf(event.ID))
		}
		row = write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Organizer, error) {
			e.Write = calendar.English
			return e.UpdateOrganizer(ctx, tx, row, &OrganizerInput{Name: new("House"), Status: new(calendar.Draft)})
		})
		if row.Name != "Dom Kultury" || row.Languages != "en,pl" || row.Slug != "dom-kultury" || row.Status != calendar.Draft {
			t.Errorf("%v", row)
		}
		tr := w.db.OrganizerTranslation.Query().OnlyX(t.Context())
		if tr.Name != "House" || tr.NameKey != "house" {
			t.Errorf("%v", tr)
		}
	})
}
