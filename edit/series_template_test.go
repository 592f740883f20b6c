package edit_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestStoredTemplatesAreRead decodes templates in the forms in which earlier versions stored them.
func TestStoredTemplatesAreRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stored string
		want         func(*ent.Event)
		again        string // as it is stored again; "" means as it was
	}{
		{
			"with all members", `{"Original":{"Language":"en","Title":"Yoga","Description":"\u003cp\u003eBring a mat\u003c/p\u003e",` +
				`"Excerpt":"Calm","Slug":"yoga","EventStatusReason":"Ill"},"Others":[{"Language":"pl","Title":"Joga","Description":"",` +
				`"Excerpt":"","Slug":"joga","EventStatusReason":""}],"Cost":{"prices":["10"]},"Website":"https://example.org/",` +
				`"PasswordHash":"c2VzYW1l","PasswordID":7,"ShowMap":true,"ShowMapLink":true,"HideFromListings":true,"Sticky":true,` +
				`"Featured":true,"Ticketed":true,"EventStatus":"postponed","Attendance":"mixed","VirtualURL":"https://meet.example/",` +
				`"ImageID":4,"ParentID":9,"Categories":[3,2],"Tags":[5],"Venues":[11,10],"Organizers":[12]}`,
			func(e *ent.Event) {
				e.Title, e.Description, e.Excerpt, e.Slug, e.EventStatusReason = "Yoga", "<p>Bring a mat</p>", "Calm", "yoga", "Ill"
				e.SetTranslated([]calendar.Text{{Language: calendar.Polish, Title: "Joga", Slug: "joga"}})
				e.ImageID, e.ParentID, e.Cost = new(int64(4)), new(int64(9)), calendar.Cost{Prices: []string{"10"}}
				e.Website, e.VirtualURL = new("https://example.org/"), "https://meet.example/"
				e.PasswordHash, e.PasswordID = new([]byte("sesame")), new(int64(7))
				e.ShowMap, e.ShowMapLink, e.HideFromListings, e.Sticky, e.Featured, e.Ticketed = true, true, true, true, true, true
				e.EventStatus, e.Attendance = calendar.Postponed, calendar.Mixed
				e.SetTermIDs(calendar.Category, []int64{3, 2})
				e.SetTermIDs(calendar.Tag, []int64{5})
				e.SetVenueIDs([]int64{11, 10})
				e.SetOrganizerIDs([]int64{12})
			}, "",
		},
		{
			"with as few as possible", `{"Original":{"Language":"en","Title":"Yoga","Description":"","Excerpt":"","Slug":"",` +
				`"EventStatusReason":""},"EventStatus":"scheduled","Attendance":"offline"}`,
			func(e *ent.Event) { e.Title = "Yoga" }, "",
		},
		{
			"from before some fields", `{"Original":{"Language":"en","Title":"Yoga"}}`,
			func(e *ent.Event) { e.Title = "Yoga" },
			`{"Original":{"Language":"en","Title":"Yoga","Description":"","Excerpt":"","Slug":"","EventStatusReason":""},` +
				`"EventStatus":"scheduled","Attendance":"offline"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := &ent.Event{Language: calendar.English, EventStatus: calendar.Scheduled, Attendance: calendar.Offline}
			want.SetTranslated(nil)
			want.SetVenueIDs(nil)
			want.SetOrganizerIDs(nil)
			tt.want(want)
			got, err := ent.DecodeTemplate(json.RawMessage(tt.stored))
			must.Succeed(t, err)
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Translated(), got.Translated()); diff != "" {
				t.Errorf("translations (-want +got):\n%s", diff)
			}
			for _, ids := range [][2][]int64{
				{want.TermIDs(calendar.Category), got.TermIDs(calendar.Category)},
				{want.TermIDs(calendar.Tag), got.TermIDs(calendar.Tag)},
				{want.VenueIDs(), got.VenueIDs()},
				{want.OrganizerIDs(), got.OrganizerIDs()},
			} {
				if diff := cmp.Diff(ids[0], ids[1]); diff != "" {
					t.Errorf("ids (-want +got):\n%s", diff)
				}
			}
			again, err := ent.EncodeTemplate(got)
			if tt.again == "" {
				tt.again = tt.stored
			}
			must.Succeed(t, err)
			var wantAgain, gotAgain any
			must.Succeed(t, errors.Join(json.Unmarshal([]byte(tt.again), &wantAgain), json.Unmarshal(again, &gotAgain)))
			if diff := cmp.Diff(wantAgain, gotAgain); diff != "" {
				t.Errorf("stored again (-want +got):\n%s", diff)
			}
		})
	}
}
