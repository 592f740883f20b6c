package series_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// summary describes the occurrences of a series for comparison, in the order of their ids. A line has a letter,
// the nominal start, and the status, dates and own fields that are unusual.
func summary(t *testing.T, w *edittest.World, series int64) (out []string) {
	t.Helper()
	for i, row := range w.DB.Event.Query().Where(event.SeriesID(series)).Order(event.ByID()).AllX(t.Context()) {
		text := string(rune('a'+i)) + " " + row.OriginalStart.Format("01-02 15:04")
		if row.Status != calendar.Publish {
			text += " " + string(row.Status)
		}
		if row.OffSchedule {
			text += " off"
		}
		if !row.StartWall.Equal(*row.OriginalStart) {
			text += " at " + row.StartWall.Format("01-02 15:04")
		}
		if slices.Contains(row.OwnFields, "end_date") != slices.Contains(row.OwnFields, "start_date") {
			text += " to " + row.EndWall.Format("15:04")
		}
		if len(row.OwnFields) > 0 {
			text += " own " + strings.Join(row.OwnFields, ",")
		}
		out = append(out, text)
	}
	return out
}

// TestFollowingOfTheContract carries out the second example of the contract, section 19.9: a change of the
// following occurrences.
func TestFollowingOfTheContract(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		first := w.Event(e, &edit.EventInput{
			Title: new("Polish for beginners"), Start: edittest.Wall("2026-11-24 18:00:00"), End: edittest.Wall("2026-11-24 19:30:00"),
			Rule: new("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20270303"), ExDate: &[]recur.Date{dayOnly("2026-12-22")},
		})
		rows := w.Occurrences(*first.SeriesID)
		w.ChangeEvent(e, rows[1].ID, &edit.EventInput{Start: edittest.Wall("2026-12-09 17:00:00")})
		before := w.Occurrences(*first.SeriesID)
		row := w.ChangeEvent(e, rows[2].ID, &edit.EventInput{Start: edittest.Wall("2027-01-05 18:30:00"), Scope: edit.FollowingOccurrences})
		if row.StartWall.String() != "2027-01-05 18:30:00" || row.EndWall.String() != "2027-01-05 20:00:00" {
			t.Errorf("answered %s to %s", row.StartWall, row.EndWall)
		}
		want := []string{
			"11-24 18:00–19:30 FREQ=WEEKLY;INTERVAL=2;UNTIL=20270104;BYDAY=TU -12-22 18:00",
			"01-05 18:30–20:00 FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU",
		}
		if diff := cmp.Diff(want, w.Phases(*first.SeriesID)); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
		want = []string{
			"a 11-24 18:00", "b 12-08 18:00 at 12-09 17:00 own start_date,end_date", "c 01-05 18:30", "d 01-19 18:30",
			"e 02-02 18:30", "f 02-16 18:30", "g 03-02 18:30",
		}
		if diff := cmp.Diff(want, summary(t, w, *first.SeriesID)); diff != "" {
			t.Errorf("occurrences (-want +got):\n%s", diff)
		}
		for i, row := range w.Occurrences(*first.SeriesID) {
			if row.ID != before[i].ID || row.Slug != before[i].Slug {
				t.Errorf("occurrence %d of slug %s, before %d of %s", row.ID, row.Slug, before[i].ID, before[i].Slug)
			}
			if changed := row.Version > before[i].Version; changed != (i >= 2) {
				t.Errorf("version of %s rises: %v", row.OriginalStart, changed)
			}
		}
	})
}

// TestScopes checks the occurrences after writes with all scopes. The series is on Wednesdays from 1 to 29 July,
// 18:00 to 20:00. Its occurrences are called a to e.
func TestScopes(t *testing.T) {
	type step struct {
		at    string // "series" for the series
		scope edit.Scope
		in    edit.EventInput
		trash bool
	}
	following, all := edit.FollowingOccurrences, edit.AllOccurrences
	start := func(at string) edit.EventInput { return edit.EventInput{Start: edittest.Wall("2026-" + at + ":00")} }
	rule := func(text string) edit.EventInput { return edit.EventInput{Rule: &text} }
	weekly := []string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=5"}
	tests := []struct {
		name   string
		day    int // of June and after
		steps  []step
		phases []string
		events []string
	}{
		{
			"later by half an hour", 15,
			[]step{{"a", all, start("07-01 18:30"), false}},
			[]string{"07-01 18:30–20:30 FREQ=WEEKLY;COUNT=5"},
			[]string{"a 07-01 18:30", "b 07-08 18:30", "c 07-15 18:30", "d 07-22 18:30", "e 07-29 18:30"},
		},
		{
			"to another weekday from the third", 15,
			[]step{{"c", following, start("07-16 18:00"), false}},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2", "07-16 18:00–20:00 FREQ=WEEKLY;COUNT=3"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-16 18:00", "d 07-23 18:00", "e 07-30 18:00"},
		},
		{
			"what has begun stays", 46,
			[]step{{"e", all, start("07-29 19:00"), false}}, // 16 July
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3", "07-22 19:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 19:00", "e 07-29 19:00"},
		},
		{
			"by the series", 46,
			[]step{{"series", all, start("07-01 19:00"), false}},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3", "07-22 19:00–21:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 19:00", "e 07-29 19:00"},
		},
		{
			"another rule trashes and returns", 15,
			[]step{
				{"a", all, rule("FREQ=WEEKLY;INTERVAL=2;COUNT=3"), false},
				{"a", all, rule("FREQ=WEEKLY;COUNT=6"), false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=6"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00"},
		},
		{
			"an exception stays", 15,
			[]step{
				{"b", "", edit.EventInput{Title: new("Own")}, false},
				{"a", all, rule("FREQ=WEEKLY;INTERVAL=2;COUNT=3"), false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;INTERVAL=2;COUNT=3 +07-08 18:00"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 own title", "c 07-15 18:00", "d 07-22 18:00 trash off", "e 07-29 18:00"},
		},
		{
			"an exception does not stay without its fields", 15,
			[]step{
				{"b", "", edit.EventInput{Title: new("Own")}, false},
				{"a", all, edit.EventInput{Rule: new("FREQ=WEEKLY;INTERVAL=2;COUNT=3"), DropExceptions: true}, false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;INTERVAL=2;COUNT=3"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 trash off", "c 07-15 18:00", "d 07-22 18:00 trash off", "e 07-29 18:00"},
		},
		{
			"fewer by COUNT counts what has begun", 46,
			[]step{{"e", all, rule("FREQ=WEEKLY;COUNT=4"), false}},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3", "07-22 18:00–20:00 FREQ=WEEKLY;COUNT=1"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00 trash off"},
		},
		{
			"more by COUNT counts from the addressed one", 15,
			[]step{{"d", following, rule("FREQ=WEEKLY;COUNT=3"), false}},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=3", "07-22 18:00–20:00 FREQ=WEEKLY;COUNT=3"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00"},
		},
		{
			"after its end it goes on", 60,
			[]step{{"series", all, rule("FREQ=WEEKLY;COUNT=7"), false}}, // 14 August
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=5", "08-05 18:00–20:00 FREQ=WEEKLY;COUNT=2"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00", "f 08-05 18:00", "g 08-12 18:00"},
		},
		{
			"a start left out and in again", 15,
			[]step{
				{"a", all, edit.EventInput{ExDate: &[]recur.Date{dayOnly("2026-07-15")}}, false},
				{"a", all, edit.EventInput{ExDate: &[]recur.Date{}}, false},
			},
			weekly,
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00"},
		},
		{
			"a deleted one moves with its exdate and returns with it", 15,
			[]step{
				{"c", "", edit.EventInput{}, true},
				{"a", all, start("07-02 18:30"), false},
				{"a", all, edit.EventInput{ExDate: &[]recur.Date{}}, false},
			},
			[]string{"07-02 18:30–20:30 FREQ=WEEKLY;COUNT=5"},
			[]string{"a 07-02 18:30", "b 07-09 18:30", "c 07-16 18:30", "d 07-23 18:30", "e 07-30 18:30"},
		},
		{
			"delete following, and restore one", 15,
			[]step{
				{"c", following, edit.EventInput{}, true},
				{"e", "", edit.EventInput{Status: new(calendar.Publish)}, false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=2 +07-29 18:00"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00 trash off", "d 07-22 18:00 trash off", "e 07-29 18:00"},
		},
		{
			"delete all, and restore the series", 15,
			[]step{
				{"b", "", edit.EventInput{}, true},
				{"c", all, edit.EventInput{}, true},
				{"series", all, edit.EventInput{Status: new(calendar.Publish)}, false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=5 -07-08 18:00"},
			[]string{"a 07-01 18:00", "b 07-08 18:00 trash", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:00"},
		},
		{
			"the fields of a moved one cease to be own", 15,
			[]step{
				{"b", "", start("07-09 17:00"), false},
				{"b", all, start("07-09 17:30"), false},
			},
			[]string{"07-01 18:30–20:30 FREQ=WEEKLY;COUNT=5"},
			[]string{"a 07-01 18:30", "b 07-08 18:30", "c 07-15 18:30", "d 07-22 18:30", "e 07-29 18:30"},
		},
		{
			"later phases move likewise", 15,
			[]step{
				{"c", following, start("07-15 18:30"), false},
				{"a", all, start("07-01 19:00"), false},
			},
			[]string{"07-01 19:00–21:00 FREQ=WEEKLY;COUNT=2", "07-15 19:30–21:30 FREQ=WEEKLY;COUNT=3"},
			[]string{"a 07-01 19:00", "b 07-08 19:00", "c 07-15 19:30", "d 07-22 19:30", "e 07-29 19:30"},
		},
		{
			"a rule replaces later phases", 15,
			[]step{
				{"c", following, start("07-15 18:30"), false},
				{"a", all, rule("FREQ=WEEKLY;COUNT=4"), false},
			},
			[]string{"07-01 18:00–20:00 FREQ=WEEKLY;COUNT=4"},
			[]string{"a 07-01 18:00", "b 07-08 18:00", "c 07-15 18:00", "d 07-22 18:00", "e 07-29 18:30 trash off"},
		},
		{
			"within the week, in order", 15,
			[]step{
				{"a", all, rule("FREQ=WEEKLY;BYDAY=WE,FR;COUNT=4"), false},
				{"a", all, edit.EventInput{Rule: new("FREQ=WEEKLY;BYDAY=MO,TH;COUNT=3"), Start: edittest.Wall("2026-07-02 18:00:00")}, false},
			},
			[]string{"07-02 18:00–20:00 FREQ=WEEKLY;COUNT=3;BYDAY=MO,TH"},
			[]string{
				"a 07-02 18:00", "b 07-06 18:00", "c 07-15 18:00 trash off", "d 07-22 18:00 trash off", "e 07-29 18:00 trash off",
				"f 07-03 18:00 trash off", "g 07-09 18:00",
			},
		},
		{
			"to the start of one in the trash", 15,
			[]step{
				{"a", all, rule("FREQ=WEEKLY;BYDAY=WE,FR;COUNT=4"), false},
				{"a", all, rule("FREQ=WEEKLY;COUNT=2"), false},
				{"a", all, edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=2"), Start: edittest.Wall("2026-07-03 18:00:00")}, false},
			},
			[]string{"07-03 18:00–20:00 FREQ=WEEKLY;COUNT=2"},
			[]string{
				"a 07-03 18:00", "b 07-10 18:00", "c 07-15 18:00 trash off", "d 07-22 18:00 trash off", "e 07-29 18:00 trash off",
				"f 07-01 18:00 trash off", "g 07-08 18:00 trash off",
			},
		},
	}
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=5"))
				for i, s := range tt.steps {
					e := w.As(calendar.Editor)
					e.Now = edittest.Now.AddDate(0, 0, tt.day-15)
					in := s.in
					in.Scope = s.scope
					rows := w.DB.Event.Query().Where(event.SeriesID(*first.SeriesID)).Order(event.ByID()).IDsX(t.Context())
					var err error
					switch {
					case s.at == "series":
						err = w.UpdateSeries(e, *first.SeriesID, &in)
					case s.trash && s.scope != "":
						err = w.TrashOccurrences(e, rows[s.at[0]-'a'], s.scope)
					case s.trash:
						_, err = w.TrashEvent(e, rows[s.at[0]-'a'])
					default:
						_, err = w.UpdateEvent(e, rows[s.at[0]-'a'], &in)
					}
					if err != nil {
						t.Fatalf("step %d: %v", i, edittest.Describe(err))
					}
				}
				if diff := cmp.Diff(tt.phases, w.Phases(*first.SeriesID)); diff != "" {
					t.Errorf("phases (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.events, summary(t, w, *first.SeriesID)); diff != "" {
					t.Errorf("occurrences (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestScopeWritesFields writes fields of all kinds, in two languages, to a daily series with four occurrences.
func TestScopeWritesFields(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall, yard := w.Venue(e, &edit.VenueInput{Name: new("Hall")}), w.Venue(e, &edit.VenueInput{Name: new("Yard")})
		old, fresh := w.Term(e, calendar.Tag, "Old", 0), w.Term(e, calendar.Tag, "New", 0)
		group := w.Term(e, calendar.Category, "Group", 0)
		in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=4")
		in.Tags, in.Venues = &[]edit.TermRef{{ID: old.ID}}, &[]edit.VenueRef{{ID: hall.ID}}
		in.Categories = &[]edit.TermRef{{ID: group.ID}}
		first := w.Event(e, in)
		rows := w.Occurrences(*first.SeriesID)
		polish := w.AsIn(calendar.Editor, calendar.Polish)
		// The last one is an exception.
		w.ChangeEvent(e, rows[3].ID, &edit.EventInput{
			Title: new("Own"), Cost: new(calendar.ParseCost([]string{"7"}, ".")), Tags: &[]edit.TermRef{}, Venues: &[]edit.VenueRef{},
		})
		w.ChangeEvent(polish, rows[3].ID, &edit.EventInput{Title: new("Własny")})
		w.ChangeEvent(e, rows[1].ID, &edit.EventInput{
			Scope: edit.FollowingOccurrences, Title: new("Choir"), Description: new("<p>Sing</p>"), EventValues: ent.EventValues{Featured: new(true), EventStatus: new(calendar.Postponed), Attendance: new(calendar.Mixed), VirtualURL: new("https://example.org/live")},
			Cost: new(calendar.ParseCost([]string{"5"}, ".")), Website: &edit.Website{Set: true, URL: "https://example.org/"},
			Tags: &[]edit.TermRef{{ID: fresh.ID}}, Venues: &[]edit.VenueRef{{ID: yard.ID}, {ID: hall.ID}},
			Organizers: &[]edit.OrganizerRef{{New: &edit.OrganizerInput{Name: new("Club")}}}, Password: new("sesame"), Slug: new("choir"),
		})
		polish = w.AsIn(calendar.Editor, calendar.Polish)
		if err := w.UpdateSeries(polish, *first.SeriesID, &edit.EventInput{Title: new("Chór"), Excerpt: new("Śpiew")}); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		describe := func(row *ent.Event) string {
			text := fmt.Sprint(row.Title, "|", row.Description, "|", row.Cost.Prices, "|", row.Featured, "|", row.EventStatus, row.Attendance, "|",
				row.VirtualURL, "|", edit.PasswordMatches(e.PasswordKey, row, "sesame"), "|", row.Languages, "|", row.OwnFields)
			for _, link := range row.Edges.Terms {
				text += " " + link.Name
			}
			venues := w.DB.Event.QueryVenueLinks(row).Order(ent.Asc("position")).AllX(t.Context())
			for _, link := range venues {
				text += fmt.Sprint(" ", link.VenueID-hall.ID)
			}
			for _, link := range row.Edges.Translations {
				text += " " + link.Title + "/" + link.Excerpt
			}
			return text
		}
		var got []string
		for _, row := range w.Occurrences(*first.SeriesID) {
			slices.SortFunc(row.Edges.Terms, func(a, b *ent.Term) int { return strings.Compare(a.Name, b.Name) })
			got = append(got, describe(row))
		}
		step := fmt.Sprint(yard.ID - hall.ID)
		changed := "Choir|<p>Sing</p>|[5]|true|postponedmixed|https://example.org/live|true|en,pl|[] Group New " + step + " 0 Chór/Śpiew"
		want := []string{
			"Yoga||[]|false|scheduledoffline||false|en,pl|[] Group Old 0 Chór/Śpiew",
			changed, changed,
			"Own|<p>Sing</p>|[7]|true|postponedmixed|https://example.org/live|true|en,pl|[title title:pl cost tags venue] Group Własny/Śpiew",
		}
		want[0] = strings.Replace(want[0], "Yoga", first.Title, 1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("occurrences (-want +got):\n%s", diff)
		}
		if n := [3]int{w.Count(old.ID), w.Count(fresh.ID), w.Count(group.ID)}; n != [3]int{1, 2, 4} {
			t.Errorf("terms count %v", n)
		}
		s := w.DB.Series.GetX(t.Context(), *first.SeriesID)
		if s.Slug != "choir" || s.Languages != "en,pl" {
			t.Errorf("series %s in %s", s.Slug, s.Languages)
		}
		if phases := w.Phases(s.ID); len(phases) != 2 {
			t.Errorf("phases %q", phases)
		}

		// Without exceptions all are alike.
		before := latestRevision(t, w)
		e = w.As(calendar.Editor)
		if err := w.UpdateSeries(e, s.ID, &edit.EventInput{DropExceptions: true}); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		if last := w.Occurrences(s.ID)[3]; strings.Replace(describe(last), "New Group", "Group New", 1) != changed {
			t.Errorf("got %s, want %s", describe(last), changed)
		}
		if n := latestRevision(t, w) - before; n != 1 {
			t.Errorf("%d entries in the change log, want that of the exception", n)
		}

		// What is sent back changes nothing.
		before = latestRevision(t, w)
		e = w.As(calendar.Editor)
		row := w.DB.Event.GetX(t.Context(), rows[1].ID)
		w.ChangeEvent(e, row.ID, &edit.EventInput{
			Scope: edit.AllOccurrences, Title: &row.Title, Slug: &row.Slug, Start: edittest.Wall(row.StartWall.String()),
			End: edittest.Wall(row.EndWall.String()), Tags: &[]edit.TermRef{{ID: fresh.ID}}, Password: new("sesame"),
			Rule: new("freq=daily;count=3"), RDate: &[]recur.Date{}, ExDate: &[]recur.Date{}, Status: new(calendar.Publish),
		})
		if n := latestRevision(t, w) - before; n != 0 {
			t.Errorf("%d entries in the change log of a write that changes nothing", n)
		}
		w.CheckCounts()
	})
}

// scopeRight is a row of TestScopeRights: the role of a caller, what the caller owns, and the scopes that are
// allowed.
type scopeRight struct {
	role               calendar.Role
	status             calendar.Status
	series, occurrence bool // true if the caller is the author
	may                struct{ this, following, all, series bool }
}

// TestScopeRights checks which callers may write with which scope. That depends on the authors of the series and
// of the occurrence.
func TestScopeRights(t *testing.T) {
	type rights = struct{ this, following, all, series bool }
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		for _, tt := range []scopeRight{
			{calendar.Subscriber, calendar.Publish, true, true, rights{}},
			{calendar.Contributor, calendar.Publish, true, true, rights{}},
			{calendar.Contributor, calendar.Draft, true, true, rights{true, true, true, true}},
			{calendar.Contributor, calendar.Draft, true, false, rights{}},
			{calendar.Author, calendar.Publish, true, true, rights{true, true, true, true}},
			{calendar.Author, calendar.Publish, false, true, rights{this: true}},
			{calendar.Author, calendar.Publish, true, false, rights{}},
			{calendar.Author, calendar.Publish, false, false, rights{}},
			{calendar.Editor, calendar.Publish, false, false, rights{true, true, true, true}},
			{calendar.Administrator, calendar.Private, false, false, rights{true, true, true, true}},
		} {
			for write, may := range map[edit.Scope]bool{
				edit.ThisOccurrence: tt.may.this, edit.FollowingOccurrences: tt.may.following,
				edit.AllOccurrences: tt.may.all, "series": tt.may.series,
			} {
				series, occurrence := tt.create(t, w)
				for _, kind := range []string{"title", "start", "delete"} {
					before := latestRevision(t, w)
					err := tt.write(w, write, kind, series, occurrence)
					name := fmt.Sprintf("%s, %s, series %v, occurrence %v: %s of %s", tt.role, tt.status, tt.series, tt.occurrence, kind, write)
					if (err == nil) != may || err != nil && edittest.Describe(err) != edittest.Describe(edit.Forbidden()) {
						t.Errorf("%s: %v", name, edittest.Describe(err))
					}
					if n := latestRevision(t, w) - before; err != nil && n != 0 {
						t.Errorf("%s is refused, and logged %d changes", name, n)
					}
				}
			}
		}
	})
}

// create stores a series of three occurrences. It returns the id of the series and that of the second occurrence.
func (r scopeRight) create(t *testing.T, w *edittest.World) (series, occurrence int64) {
	t.Helper()
	owner := func(own bool) *int64 {
		if own {
			return &w.Users[r.role].ID
		}
		return &w.Users[calendar.Administrator].ID
	}
	in := edittest.WeeklyEvent("FREQ=DAILY;COUNT=3")
	in.AuthorID, in.Status = owner(r.series), &r.status
	first := w.Event(w.As(calendar.Administrator), in)
	rows := w.Occurrences(*first.SeriesID)
	if r.series != r.occurrence {
		w.ChangeEvent(w.As(calendar.Administrator), rows[1].ID, &edit.EventInput{AuthorID: owner(r.occurrence)})
	}
	return *first.SeriesID, rows[1].ID
}

// write makes a write as the caller of the row. The kind is "title", "start" or "delete". The scope "series" means
// a request to the series, any other scope one to the occurrence.
func (r scopeRight) write(w *edittest.World, scope edit.Scope, kind string, series, occurrence int64) error {
	e, in := w.As(r.role), &edit.EventInput{Scope: scope}
	switch {
	case kind == "title":
		in.Title = new("Other")
	case kind == "start" && scope == "series":
		in.Start = edittest.Wall("2026-07-01 19:00:00")
	case kind == "start":
		in.Start = edittest.Wall("2026-07-02 19:00:00")
	}
	var err error
	switch {
	case scope == "series" && kind == "delete":
		err = w.TrashSeries(e, series)
	case scope == "series":
		err = w.UpdateSeries(e, series, in)
	case scope == edit.ThisOccurrence && kind == "delete":
		_, err = w.TrashEvent(e, occurrence)
	case kind == "delete":
		err = w.TrashOccurrences(e, occurrence, scope)
	default:
		_, err = w.UpdateEvent(e, occurrence, in)
	}
	return err
}

// TestScopeExpectsAVersion writes with each scope, once with the current version of the addressed record and once
// with an old one.
func TestScopeExpectsAVersion(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=DAILY;COUNT=3"))
		w.ChangeEvent(w.As(calendar.Editor), first.ID, &edit.EventInput{Title: new("Second version")})
		expecting := func(version int64) *edit.Editor {
			e := w.As(calendar.Editor)
			e.Expect = calendar.Precondition{Some: &calendar.Versions{List: []int64{version}}}
			return e
		}
		for i, scope := range []edit.Scope{edit.FollowingOccurrences, edit.AllOccurrences} {
			in := &edit.EventInput{Scope: scope, Excerpt: new(string(scope))}
			if _, err := w.UpdateEvent(expecting(1), first.ID, in); edittest.Describe(err) != edittest.Describe(edit.PreconditionFailed()) {
				t.Errorf("%s: %v", scope, err)
			}
			if err := w.TrashOccurrences(expecting(1), first.ID, scope); edittest.Describe(err) != edittest.Describe(edit.PreconditionFailed()) {
				t.Errorf("%s: delete: %v", scope, err)
			}
			if _, err := w.UpdateEvent(expecting(int64(2+i)), first.ID, in); err != nil {
				t.Errorf("%s: %v", scope, edittest.Describe(err))
			}
		}
		version := w.DB.Series.GetX(t.Context(), *first.SeriesID).Version
		in := &edit.EventInput{Title: new("By the series")}
		if err := w.UpdateSeries(expecting(version-1), *first.SeriesID, in); edittest.Describe(err) != edittest.Describe(edit.PreconditionFailed()) {
			t.Errorf("series: %v", err)
		}
		if err := w.UpdateSeries(expecting(version), *first.SeriesID, in); err != nil {
			t.Errorf("series: %v", edittest.Describe(err))
		}
	})
}

// TestScopeRefusals checks the errors of writes with a scope that are refused. They must change nothing.
func TestScopeRefusals(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		alone := w.Event(e, edittest.SomeEvent())
		first := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=5"))
		rows := w.Occurrences(*first.SeriesID)
		all, following := edit.AllOccurrences, edit.FollowingOccurrences
		for _, tt := range []struct {
			name string
			id   int64
			in   edit.EventInput
			want string
		}{
			{"outside a series", alone.ID, edit.EventInput{Scope: all}, "scope not-recurring"},
			{"no start of the rule", rows[0].ID, edit.EventInput{Scope: all, Rule: new("FREQ=WEEKLY;BYDAY=TH")}, "rrule start-not-in-rule"},
			{"no rule", rows[0].ID, edit.EventInput{Scope: all, Rule: new("FREQ=HOURLY")}, "rrule bad-rule"},
			{"too many", rows[0].ID, edit.EventInput{Scope: all, Rule: new("FREQ=DAILY;COUNT=1000"), RDate: &[]recur.Date{
				dayOnly("2040-01-01"), dayOnly("2040-01-02"), dayOnly("2040-01-03"), dayOnly("2040-01-04"), dayOnly("2040-01-05"), dayOnly("2040-01-06"),
			}}, "rrule too-many-occurrences"},
			{"none", rows[0].ID, edit.EventInput{Scope: all, ExDate: &[]recur.Date{
				dayOnly("2026-07-01"), dayOnly("2026-07-08"), dayOnly("2026-07-15"), dayOnly("2026-07-22"), dayOnly("2026-07-29"),
			}}, "rrule no-occurrences"},
			{"no date of the schedule", rows[0].ID, edit.EventInput{Scope: all, ExDate: &[]recur.Date{dayOnly("2026-07-02")}}, "exdate not-in-schedule"},
			{"before an earlier one", rows[2].ID, edit.EventInput{Scope: following, Start: edittest.Wall("2026-07-07 18:00:00")}, "start_date "},
			{"ends before it starts", rows[0].ID, edit.EventInput{Scope: all, End: edittest.Wall("2026-07-01 17:00:00")}, "end_date end-before-start"},
			{"a date before it", rows[2].ID, edit.EventInput{Scope: following, RDate: &[]recur.Date{dayOnly("2026-07-02")}}, "rdate "},
			{"below itself", rows[0].ID, edit.EventInput{Scope: all, ParentID: &rows[1].ID}, "post_parent parent-loop"},
		} {
			before := latestRevision(t, w)
			_, err := w.UpdateEvent(w.As(calendar.Editor), tt.id, &tt.in)
			var invalid param.Invalid
			if !errors.As(err, &invalid) {
				t.Errorf("%s: %v", tt.name, edittest.Describe(err))
				continue
			}
			reason := invalid.Faults[0].Reason
			if reason == "" && invalid.Faults[0].Key == "parent-loop" {
				reason = "parent-loop"
			}
			if got := invalid.Faults[0].Param + " " + reason; !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
			if latestRevision(t, w) != before {
				t.Errorf("%s: it is refused, and logged", tt.name)
			}
		}
	})
}

// TestRaceOfScopes makes concurrent writes with several scopes to one series. Each of them must take effect as a
// whole.
func TestRaceOfScopes(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false
		first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=DAILY;COUNT=20"))
		rows := w.Occurrences(*first.SeriesID)
		edittest.RunConcurrently(t, func(i int) error {
			e := w.As(calendar.Editor)
			return w.Run(e, func(ctx context.Context, tx *ent.Tx) error {
				title := fmt.Sprint("Title ", i)
				switch i % 4 {
				case 0:
					return series.Update(ctx, tx, e, *first.SeriesID, &edit.EventInput{Title: &title, Excerpt: &title})
				case 1:
					row, err := edit.LockEvent(ctx, tx, rows[i].ID)
					if err == nil {
						_, err = series.UpdateEvent(ctx, tx, e, row, &edit.EventInput{Description: &title})
					}
					return err
				case 2:
					row, err := edit.LockSeriesOf(ctx, tx, rows[i].ID)
					if err == nil {
						_, err = series.UpdateEvent(ctx, tx, e, row, &edit.EventInput{Scope: edit.FollowingOccurrences, Title: &title, Excerpt: &title})
					}
					return err
				}
				row, err := edit.LockSeriesOf(ctx, tx, rows[i].ID)
				if err == nil {
					_, err = series.UpdateEvent(ctx, tx, e, row, &edit.EventInput{
						Scope: edit.AllOccurrences, Start: edittest.Wall(row.StartWall.Add(30 * time.Minute).String()),
					})
				}
				return err
			})
		})
		for _, row := range w.Occurrences(*first.SeriesID) {
			if row.Title != row.Excerpt && row.Excerpt != "" {
				t.Errorf("%s: title %q of one write, excerpt %q of another", row.OriginalStart, row.Title, row.Excerpt)
			}
			if !row.StartWall.Equal(*row.OriginalStart) {
				t.Errorf("%s starts at %s", row.OriginalStart, row.StartWall)
			}
		}
	})
}

// TestScopeOfAnEndlessSeries changes the schedule of an endless series: to whole days, to another zone, to other times,
// and to a rule that ends.
func TestScopeOfAnEndlessSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		first := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY"))
		id := *first.SeriesID
		rows := w.Occurrences(id)
		if len(rows) < 100 {
			t.Fatalf("%d occurrences", len(rows))
		}
		last := func() *ent.Event { all := w.Occurrences(id); return all[len(all)-1] }
		change := func(row int, in *edit.EventInput) *ent.Event {
			t.Helper()
			return w.ChangeEvent(w.As(calendar.Editor), rows[row].ID, in)
		}
		row := change(2, &edit.EventInput{Scope: edit.FollowingOccurrences, AllDay: new(true)})
		if got := row.StartWall.String() + " " + row.EndWall.String() + " " + row.OriginalStart.String(); got != "2026-07-15 00:00:00 2026-07-15 23:59:59 2026-07-15 00:00:00" {
			t.Errorf("whole days: %s", got)
		}
		row = change(4, &edit.EventInput{Scope: edit.FollowingOccurrences, AllDay: new(false), Start: edittest.Wall("2026-07-29 18:00:00"), End: edittest.Wall("2026-07-29 19:00:00")})
		if got := row.StartWall.String() + " " + row.EndWall.String(); got != "2026-07-29 18:00:00 2026-07-29 19:00:00" {
			t.Errorf("hours again: %s", got)
		}
		row = change(5, &edit.EventInput{Scope: edit.FollowingOccurrences, Zone: new(zoneOf(t, "America/New_York"))})
		if got := row.StartsAt.UTC().Format(time.RFC3339); got != "2026-08-05T22:00:00Z" || last().Timezone != "America/New_York" {
			t.Errorf("another zone: %s", got)
		}
		row = change(6, &edit.EventInput{Scope: edit.FollowingOccurrences, End: edittest.Wall("2026-08-12 21:00:00")})
		if row.EndWall.String() != "2026-08-12 21:00:00" || last().EndWall.Sub(last().StartWall) != 3*time.Hour {
			t.Errorf("another end: %s", row.EndWall)
		}
		want := []string{
			"07-01 18:00–20:00 FREQ=WEEKLY;UNTIL=20260714", "07-15 00:00–23:59 FREQ=WEEKLY;UNTIL=20260728",
			"07-29 18:00–19:00 FREQ=WEEKLY;UNTIL=20260804", "08-05 18:00–19:00 FREQ=WEEKLY;UNTIL=20260811", "08-12 18:00–21:00 FREQ=WEEKLY",
		}
		if diff := cmp.Diff(want, w.Phases(id)); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
		ids := func() (ids []int64) {
			for _, row := range w.Occurrences(id) {
				ids = append(ids, row.ID)
			}
			return ids
		}
		before := ids()
		// All move to Thursday: the whole series keeps its ids.
		change(0, &edit.EventInput{Scope: edit.AllOccurrences, Start: edittest.Wall("2026-07-02 18:00:00")})
		if after := ids(); !slices.Equal(before[:100], after[:100]) {
			t.Errorf("ids before %v, after %v", before, after)
		}
		if got := last(); got.StartWall.Weekday() != time.Thursday {
			t.Errorf("the last one is on %s", got.StartWall.Weekday())
		}
		if _, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), edittest.Now.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		if got := last(); got.OriginalStart.Before(calendar.WallOf(edittest.Now.AddDate(3, 0, 0))) || got.EndWall.Sub(got.StartWall) != 3*time.Hour {
			t.Errorf("a year later the last one is at %s to %s", got.StartWall, got.EndWall)
		}
		// It ends, and goes on without end.
		e = w.As(calendar.Editor)
		if err := w.UpdateSeries(e, id, &edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=3")}); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		if s := w.DB.Series.GetX(t.Context(), id); s.GeneratedUntil != nil || s.ExtendAt != nil {
			t.Errorf("series that ends: %v, %v", s.GeneratedUntil, s.ExtendAt)
		}
		e = w.As(calendar.Editor)
		if err := w.UpdateSeries(e, id, &edit.EventInput{Rule: new("FREQ=WEEKLY")}); err != nil {
			t.Fatal(edittest.Describe(err))
		}
		if s := w.DB.Series.GetX(t.Context(), id); s.GeneratedUntil == nil || s.ExtendAt == nil {
			t.Errorf("series without end: %v, %v", s.GeneratedUntil, s.ExtendAt)
		}
	})
}
