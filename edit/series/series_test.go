package series_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/migrate"
	"github.com/almanac-cal/almanac/ent/searchtext"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func dayOnly(s string) recur.Date {
	d := dateAt(s + " 00:00:00")
	d.DayOnly = true
	return d
}

func dateAt(s string) recur.Date {
	w, err := calendar.ParseWall(s)
	if err != nil {
		panic(err)
	}
	return recur.Date{Wall: w}
}

func TestCreateSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		parent := w.Event(e, &edit.EventInput{Title: new("Festival")})
		in := edittest.WeeklyEvent("rrule:byday=WE;freq=weekly;interval=1")
		in.ExDate = &[]recur.Date{dayOnly("2026-07-08")}
		in.RDate = &[]recur.Date{dateAt("2026-07-02 10:00:00")}
		in.Title, in.Description, in.Excerpt = new("Yoga"), new("<p>For all</p>"), new("<p>Short</p>")
		in.Password, in.ParentID, in.Website = new("secret"), &parent.ID, &edit.Website{Set: true, URL: "https://example.org"}
		in.Cost = &calendar.Cost{Prices: []string{"10"}}
		in.Featured, in.Attendance, in.VirtualURL = new(true), new(calendar.Online), new("https://meet.example.org")
		in.Venues = &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Hall")}}}
		in.Organizers = &[]edit.OrganizerRef{{New: &edit.OrganizerInput{Name: new("Club")}}}
		in.Tags = &[]edit.TermRef{{Name: "Sport"}}
		before := latestRevision(t, w)
		first := w.Event(e, in)
		rows := w.Occurrences(*first.SeriesID)
		if len(rows) != 107 || rows[0].ID != first.ID {
			t.Fatalf("%d occurrences, the first is %d, answered was %d", len(rows), rows[0].ID, first.ID)
		}
		var starts []string
		for _, row := range rows[:4] {
			starts = append(starts, row.OriginalStart.String()+" "+row.StartsAt.Format(time.RFC3339)+" "+row.EndWall.String()+" "+row.Slug)
		}
		want := []string{
			"2026-07-01 18:00:00 2026-07-01T16:00:00Z 2026-07-01 20:00:00 yoga-2026-07-01",
			"2026-07-02 10:00:00 2026-07-02T08:00:00Z 2026-07-02 12:00:00 yoga-2026-07-02",
			"2026-07-15 18:00:00 2026-07-15T16:00:00Z 2026-07-15 20:00:00 yoga-2026-07-15",
			"2026-07-22 18:00:00 2026-07-22T16:00:00Z 2026-07-22 20:00:00 yoga-2026-07-22",
		}
		if diff := cmp.Diff(want, starts); diff != "" {
			t.Error(diff)
		}
		type fields struct {
			Title, Description, Excerpt, Website, URL string
			Cost                                      calendar.Cost
			Featured                                  bool
			Attendance                                calendar.Attendance
			Parent, Author, Venue, Organizer, Term    int64
			Status                                    calendar.Status
		}
		of := func(r *ent.Event) fields {
			return fields{
				r.Title, r.Description, r.Excerpt, *r.Website, r.VirtualURL, r.Cost, r.Featured, r.Attendance,
				*r.ParentID, *r.AuthorID, r.Edges.Venues[0].ID, r.Edges.Organizers[0].ID, r.Edges.Terms[0].ID, r.Status,
			}
		}
		for _, row := range rows {
			if diff := cmp.Diff(of(rows[0]), of(row)); diff != "" {
				t.Fatalf("occurrence %d: %s", row.ID, diff)
			}
			if !edit.PasswordMatches(e.PasswordKey, row, "secret") || edit.PasswordMatches(e.PasswordKey, row, "other") {
				t.Fatalf("password of occurrence %d", row.ID)
			}
			if row.OwnFields != nil || row.Version != 1 {
				t.Fatalf("own fields %v, version %d", row.OwnFields, row.Version)
			}
		}
		if n := rows[0].Edges.Terms[0].EventCount; n != len(rows) {
			t.Errorf("the tag has %d events, want %d", n, len(rows))
		}
		if n := w.DB.SearchText.Query().Where(searchtext.KindEQ(calendar.Event)).CountX(t.Context()); n != len(rows)+1 {
			t.Errorf("%d search texts", n)
		}
		s := w.DB.Series.GetX(t.Context(), *first.SeriesID)
		if s.Slug != "yoga" || s.Status != calendar.Publish || *s.AuthorID != w.Users[calendar.Editor].ID || s.SortPl == nil ||
			s.GeneratedUntil.String() != "2028-07-15 14:00:00" ||
			!s.ExtendAt.Equal(edittest.Now.AddDate(0, 1, -15-int(s.ID%7))) {
			t.Errorf("series %+v", s)
		}
		p := w.OnlyPhase(s.ID)
		if p.Rrule != "FREQ=WEEKLY;BYDAY=WE" || w.Template(p).Title != "Yoga" || w.Template(p).Slug != "yoga" {
			t.Errorf("phase %+v", p)
		}
		var log []string
		for _, c := range w.DB.Change.Query().Where(entchange.IDGT(before)).Order(entchange.ByID()).AllX(t.Context()) {
			log = append(log, fmt.Sprintf("%s %s", c.Kind, c.Action))
		}
		wantLog := []string{"tag create", "venue create", "organizer create", "event create", "series create", "event loaded"}
		if diff := cmp.Diff(wantLog, log); diff != "" {
			t.Errorf("change log %s", diff)
		}
	})
}

// latestRevision returns the current revision of the calendar.
func latestRevision(t *testing.T, w *edittest.World) int64 {
	t.Helper()
	n, err := edit.Revision(t.Context(), w.DB)
	must.Succeed(t, err)
	return n
}

func TestSeriesSlugs(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		w.Event(e, &edit.EventInput{Title: new("Taken"), Slug: new("taken-2026-07-02")})
		long := strings.Repeat("a", 200)
		for _, tt := range []struct {
			name   string
			in     edit.EventInput
			series string // "id" stands for the id
			slugs  []string
		}{
			{"from the title", edit.EventInput{Title: new("Żar ognia")}, "zar-ognia", []string{"zar-ognia-2026-07-01", "zar-ognia-2026-07-02"}},
			{"sent", edit.EventInput{Slug: new("Sent One")}, "sent-one", []string{"sent-one-2026-07-01", "sent-one-2026-07-02"}},
			{"that of another series", edit.EventInput{Slug: new("sent-one")}, "sent-one-2", []string{"sent-one-2-2026-07-01", "sent-one-2-2026-07-02"}},
			{"an occurrence's is taken", edit.EventInput{Slug: new("taken")}, "taken", []string{"taken-2026-07-01", "taken-2026-07-02-2"}},
			{"a draft", edit.EventInput{Title: new("Plan"), Status: new(calendar.Draft)}, "", []string{"", ""}},
			{"a draft with one", edit.EventInput{Slug: new("plan"), Status: new(calendar.Draft)}, "plan", []string{"plan-2026-07-01", "plan-2026-07-02"}},
			{"long", edit.EventInput{Slug: &long}, long, []string{long[:180] + "-2026-07-01", long[:180] + "-2026-07-02"}},
			{"nothing left of the title", edit.EventInput{Title: new("!")}, "series-id", []string{"series-id-2026-07-01", "series-id-2026-07-02"}},
		} {
			in := tt.in
			in.Rule = new("FREQ=DAILY;COUNT=2")
			first := w.Event(e, &in)
			id := fmt.Sprint(*first.SeriesID)
			if got := w.DB.Series.GetX(t.Context(), *first.SeriesID).Slug; got != strings.ReplaceAll(tt.series, "id", id) {
				t.Errorf("%s: series %q", tt.name, got)
			}
			for i, row := range w.Occurrences(*first.SeriesID) {
				if row.Slug != strings.ReplaceAll(tt.slugs[i], "series-id", "series-"+id) {
					t.Errorf("%s: occurrence %q, want %q", tt.name, row.Slug, tt.slugs[i])
				}
				if n := w.DB.Slug.Query().Where(slug.OwnerID(row.ID), slug.KindEQ(calendar.Event), slug.Slug(row.Slug)).CountX(t.Context()); n != min(len(row.Slug), 1) {
					t.Errorf("%s: %d rows of slug %q", tt.name, n, row.Slug)
				}
			}
		}
	})
}

func TestPublishedOccurrenceOfADraft(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.Status = new(calendar.Draft)
		first := w.Event(e, in)
		row := w.ChangeEvent(e, w.Occurrences(*first.SeriesID)[1].ID, &edit.EventInput{Status: new(calendar.Publish)})
		if row.Slug != "same-2026-07-08" || !slices.Equal(row.OwnFields, []string{"status"}) {
			t.Errorf("slug %q, own fields %v", row.Slug, row.OwnFields)
		}
		if s := w.DB.Series.GetX(t.Context(), *first.SeriesID); s.Status != calendar.Draft || s.Slug != "" || s.Version != 1 {
			t.Errorf("series %+v", s)
		}
	})
}

// readTables returns all rows of the database as text, by the name of the table.
func readTables(t *testing.T, w *edittest.World) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range migrate.Tables {
		all[table.Name] = readTable(t, w, table)
	}
	return all
}

func readTable(t *testing.T, w *edittest.World, table *schema.Table) (lines []string) {
	t.Helper()
	for _, row := range storetest.ReadTable(t, w.DB, table) {
		lines = append(lines, fmt.Sprint(row))
	}
	slices.Sort(lines)
	return lines
}

// TestRefusedSeries makes writes of series that must be refused, and checks that they leave no rows.
func TestRefusedSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		single, gone := w.Event(e, edittest.SomeEvent()), w.Event(e, edittest.SomeEvent())
		if _, err := w.TrashEvent(e, gone.ID); err != nil {
			t.Fatal(err)
		}
		first := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=5"))
		author := w.Event(w.As(calendar.Author), edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=5"))
		before := readTables(t, w)
		dates := func(d ...recur.Date) *[]recur.Date { return &d }
		for _, tt := range []struct {
			name string
			role calendar.Role
			id   int64 // 0: create
			in   edit.EventInput
			want string
		}{
			{"no rule", calendar.Editor, 0, edit.EventInput{Rule: new("x")}, "rrule:bad-rule"},
			{"sub-daily", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=DAILY;BYHOUR=1")}, "rrule:rule-part-not-supported"},
			{"not on the start", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=WEEKLY;BYDAY=MO")}, "rrule:start-not-in-rule"},
			{"too many", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=1000"), RDate: dates(dayOnly("2040-01-01"))}, "rrule:too-many-occurrences"},
			{"too many for such a text", calendar.Editor, 0, edit.EventInput{
				Rule: new("FREQ=DAILY;COUNT=700"), Description: new(strings.Repeat("x", 100<<10)),
			}, "rrule:too-many-occurrences"},
			{"none left", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=1"), ExDate: dates(dayOnly("2026-07-01"))}, "rrule:no-occurrences"},
			{"exdate of nothing", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=3"), ExDate: dates(dayOnly("2026-07-02"))}, "exdate:not-in-schedule"},
			{"exdate alone", calendar.Editor, 0, edit.EventInput{ExDate: dates(dayOnly("2026-07-01"))}, "exdate:not-in-schedule"},
			{"dates and rule", calendar.Editor, 0, edit.EventInput{
				Rule: new("FREQ=NEVER"), Start: edittest.Wall("2026-07-01 10:00:00"), End: edittest.Wall("2026-07-01 09:00:00"),
				Venues: &[]edit.VenueRef{{ID: 99999}},
			}, "end_date:end-before-start, venue:unknown-ids, rrule:bad-rule"},
			{"in the trash", calendar.Editor, 0, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=2"), Status: new(calendar.Trash)}, "status"},
			{"of an event in the trash", calendar.Editor, gone.ID, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=2")}, "event-is-in-trash"},
			{"a subscriber", calendar.Subscriber, 0, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=2")}, "rest_forbidden"},
			{"a venue without a name", calendar.Editor, 0, edit.EventInput{
				Rule: new("FREQ=DAILY;COUNT=2"), Tags: &[]edit.TermRef{{Name: "New"}},
				Venues: &[]edit.VenueRef{{New: &edit.VenueInput{Name: new("Hall"), Values: edit.VenueValues{Latitude: &edit.Coordinate{Set: true, Degrees: 1}}}}},
			}, "venue:invalid-linked-record"},

			{"rule of an event, not on the start", calendar.Editor, single.ID, edit.EventInput{Rule: new("FREQ=WEEKLY;BYDAY=MO")}, "rrule:start-not-in-rule"},
			{"rule of an event, without its start", calendar.Editor, single.ID, edit.EventInput{
				Rule: new("FREQ=DAILY;COUNT=3"), ExDate: dates(dateAt("2026-07-01 18:00:00")),
			}, "exdate:not-in-schedule"},
			{"exdate of an event", calendar.Editor, single.ID, edit.EventInput{ExDate: dates(dayOnly("2026-07-01"))}, "exdate:not-in-schedule"},
			{"rule of somebody else's event", calendar.Author, single.ID, edit.EventInput{Rule: new("FREQ=DAILY;COUNT=3")}, "rest_forbidden"},

			{"another rule", calendar.Editor, first.ID, edit.EventInput{Rule: new("FREQ=WEEKLY;COUNT=6")}, "scope:scope-required"},
			{"an rdate", calendar.Editor, first.ID, edit.EventInput{RDate: dates(dayOnly("2026-07-02"))}, "scope:scope-required"},
			{"an exdate", calendar.Editor, first.ID, edit.EventInput{ExDate: dates(dayOnly("2026-07-08"))}, "scope:scope-required"},
			{"an exdate of nothing", calendar.Editor, first.ID, edit.EventInput{ExDate: dates(dayOnly("2026-07-09"))}, "scope:scope-required"},
			{"leave and an rdate", calendar.Editor, first.ID, edit.EventInput{Rule: new(""), RDate: dates(dayOnly("2026-07-02"))}, "scope:scope-required"},
			{"a bad rule of an occurrence", calendar.Editor, first.ID, edit.EventInput{Rule: new("FREQ=")}, "rrule:bad-rule"},
			{"somebody else's occurrence", calendar.Author, first.ID, edit.EventInput{Title: new("Mine")}, "rest_forbidden"},
			{"somebody else's occurrence, out", calendar.Author, first.ID, edit.EventInput{Rule: new("")}, "rest_forbidden"},
			{"end before start", calendar.Author, author.ID, edit.EventInput{End: edittest.Wall("2026-07-01 10:00:00")}, "end_date:end-before-start"},
		} {
			var err error
			in := tt.in
			if tt.id == 0 {
				_, err = w.CreateEvent(w.As(tt.role), &in)
			} else {
				_, err = w.UpdateEvent(w.As(tt.role), tt.id, &in)
			}
			if got := edittest.Describe(err); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
			if diff := cmp.Diff(before, readTables(t, w)); diff != "" {
				t.Fatalf("%s leaves (-before +after)\n%s", tt.name, diff)
			}
		}
		storetest.DisableSeries(t, w.DB)
		before = readTables(t, w)
		_, err := w.CreateEvent(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=2"))
		edittest.Refused(t, err, "rest_unavailable")
		_, err = w.UpdateEvent(e, single.ID, &edit.EventInput{Rule: new("FREQ=DAILY;COUNT=2")})
		edittest.Refused(t, err, "rest_unavailable")
		if diff := cmp.Diff(before, readTables(t, w)); diff != "" {
			t.Fatalf("switched off (-before +after)\n%s", diff)
		}
	})
}

func TestScheduleFaultsHaveData(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		in := edittest.WeeklyEvent("FREQ=WEEKLY;BYDAY=MO")
		_, err := series.NewSchedule(edittest.Site(t), nil, in)
		f := series.ScheduleFault(fmt.Errorf("wrapped: %w", err))
		if f == nil || f.Data["next"] != "2026-07-06 18:00:00" || f.Args["Next"] != "2026-07-06 18:00:00" || f.Key != f.Reason {
			t.Errorf("fault %+v", f)
		}
		in = edittest.WeeklyEvent("FREQ=WEEKLY")
		in.ExDate = &[]recur.Date{dayOnly("2026-07-02"), dayOnly("2026-07-03")}
		_, err = series.NewSchedule(edittest.Site(t), nil, in)
		if f = series.ScheduleFault(err); f == nil || f.Args["Dates"] != "2026-07-02, 2026-07-03" {
			t.Errorf("fault %+v", f)
		}
		if series.ScheduleFault(fmt.Errorf("other")) != nil || series.ScheduleFault(nil) != nil {
			t.Error("a fault of nothing")
		}
	})
}

// TestOwnFields writes to one occurrence and checks which fields become its own fields.
func TestOwnFields(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		other := w.Venue(e, &edit.VenueInput{Name: new("Other")})
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=30")
		in.Venues, in.Password, in.Cost = &[]edit.VenueRef{{ID: hall.ID}}, new("secret"), &calendar.Cost{Prices: []string{"5"}}
		first := w.Event(e, in)
		rows := w.Occurrences(*first.SeriesID)
		author := w.Users[calendar.Author].ID
		dates := func(d ...recur.Date) *[]recur.Date { return &d }
		for i, tt := range []struct {
			name  string
			write calendar.Language
			in    edit.EventInput
			want  string
		}{
			{"nothing", "", edit.EventInput{}, ""},
			{"what is stored", "", edit.EventInput{
				Title: new("Same"), Venues: &[]edit.VenueRef{{ID: hall.ID}}, Password: new("secret"), EventValues: ent.EventValues{Featured: new(false)},
				Cost: &calendar.Cost{Prices: []string{"5"}}, Status: new(calendar.Publish), Rule: new("freq=weekly;count=30"),
				RDate: dates(), ExDate: dates(), ParentID: new(int64(0)), Website: &edit.Website{},
			}, ""},
			{"a title", "", edit.EventInput{Title: new("New")}, "title"},
			{"a title in the original language", calendar.English, edit.EventInput{Title: new("New")}, "title"},
			{"texts in Polish", calendar.Polish, edit.EventInput{Title: new("Nowy"), Slug: new("nowy"), EventStatusReason: new("Tak")}, "title:pl slug:pl event_status_reason:pl"},
			{"a start", "", edit.EventInput{Start: edittest.Wall("2026-09-01 09:00:00")}, "start_date end_date"},
			{"an end", "", edit.EventInput{End: edittest.Wall("2026-12-01 09:00:00")}, "end_date"},
			{"a zone", "", edit.EventInput{Zone: new(zoneOf(t, "Asia/Tokyo"))}, "timezone"},
			{"all day", "", edit.EventInput{AllDay: new(true)}, "all_day start_date end_date"},
			{"a venue", "", edit.EventInput{Venues: &[]edit.VenueRef{{ID: other.ID}}}, "venue"},
			{"no venue", "", edit.EventInput{Venues: &[]edit.VenueRef{}}, "venue"},
			{"new terms", "", edit.EventInput{Tags: &[]edit.TermRef{{Name: "T"}}, Categories: &[]edit.TermRef{{Name: "C"}}}, "categories tags"},
			{"a password", "", edit.EventInput{Password: new("other")}, "password"},
			{"no password", "", edit.EventInput{Password: new("")}, "password"},
			{"flags", "", edit.EventInput{EventValues: ent.EventValues{Ticketed: new(true), ShowMap: new(true), Sticky: new(true)}}, "show_map sticky ticketed"},
			{"canceled", "", edit.EventInput{EventValues: ent.EventValues{EventStatus: new(calendar.Canceled)}, EventStatusReason: new("Rain")}, "event_status event_status_reason"},
			{"an author", "", edit.EventInput{AuthorID: &author}, "author"},
			{"a date", "", edit.EventInput{Published: new(edittest.Now.AddDate(0, 0, -1))}, "date"},
			{"a status", "", edit.EventInput{Status: new(calendar.Draft)}, "status"},
			{"the trash", "", edit.EventInput{Status: new(calendar.Trash)}, ""},
			{"the trash, with its slug", "", edit.EventInput{Status: new(calendar.Trash), Slug: new(rows[20].Slug)}, ""},
			{"a slug", "", edit.EventInput{Slug: new("special")}, "slug"},
			{"in another order", "", edit.EventInput{EventValues: ent.EventValues{VirtualURL: new("https://x.example")}, Excerpt: new("<p>x</p>"), Cost: &calendar.Cost{}}, "excerpt cost virtual_url"},
		} {
			e.Write = tt.write
			before := w.DB.Series.GetX(t.Context(), *first.SeriesID).Version
			row := w.ChangeEvent(e, rows[i].ID, &tt.in)
			if got := strings.Join(row.OwnFields, " "); got != tt.want {
				t.Errorf("%s: own fields %q, want %q", tt.name, got, tt.want)
			}
			if !row.OriginalStart.Equal(*rows[i].OriginalStart) || *row.SeriesID != *first.SeriesID {
				t.Errorf("%s: nominal start %s", tt.name, row.OriginalStart)
			}
			after := w.DB.Series.GetX(t.Context(), *first.SeriesID).Version
			if rises := after > before; rises != strings.HasPrefix(tt.name, "the trash") {
				t.Errorf("%s: version of the series from %d to %d", tt.name, before, after)
			}
		}
		e.Write = ""
		last := rows[len(rows)-1].ID
		w.ChangeEvent(e, last, &edit.EventInput{EventValues: ent.EventValues{Featured: new(true)}})
		w.ChangeEvent(e, last, &edit.EventInput{EventValues: ent.EventValues{Featured: new(false)}, Title: new("Last")})
		if got := w.DB.Event.GetX(t.Context(), last).OwnFields; !slices.Equal(got, []string{"title", "featured"}) {
			t.Errorf("own fields %v", got)
		}
		if untouched := w.DB.Event.GetX(t.Context(), rows[28].ID); untouched.Version != 1 || untouched.OwnFields != nil {
			t.Errorf("untouched occurrence %+v", untouched)
		}
		open := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=2"))
		if row := w.ChangeEvent(e, open.ID, &edit.EventInput{Password: new("")}); row.OwnFields != nil {
			t.Errorf("no password, as before: own fields %v", row.OwnFields)
		}
		// A password is that of the event alone, whichever the hash of the series is keyed with.
		for _, id := range []int64{rows[12].ID, first.ID} {
			w.ChangeEvent(e, id, &edit.EventInput{Password: new("third")})
			row := w.DB.Event.GetX(t.Context(), id)
			if !edit.PasswordMatches(e.PasswordKey, row, "third") || row.PasswordID != nil {
				t.Errorf("password of %d", id)
			}
		}
		if !edit.PasswordMatches(e.PasswordKey, w.DB.Event.GetX(t.Context(), rows[28].ID), "secret") {
			t.Error("the others lose their password")
		}
	})
}

func zoneOf(t *testing.T, name string) calendar.Zone {
	t.Helper()
	z, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	return z
}

func TestLeaveSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=5")
		in.Password = new("secret")
		first := w.Event(e, in)
		rows := w.Occurrences(*first.SeriesID)
		w.ChangeEvent(e, rows[2].ID, &edit.EventInput{Start: edittest.Wall("2026-07-16 10:00:00")})
		row := w.ChangeEvent(e, rows[2].ID, &edit.EventInput{Rule: new(""), Title: new("Alone")})
		if row.SeriesID != nil || row.OriginalStart != nil || row.OwnFields != nil || row.Title != "Alone" ||
			row.Slug != rows[2].Slug || row.StartWall.String() != "2026-07-16 10:00:00" {
			t.Errorf("event %+v", row)
		}
		if !edit.PasswordMatches(e.PasswordKey, row, "secret") {
			t.Error("the password is lost")
		}
		p := w.OnlyPhase(*first.SeriesID)
		if len(p.Exdate) != 1 || p.Exdate[0].String() != "2026-07-15 18:00:00" {
			t.Errorf("exdate %v", p.Exdate)
		}
		if s := w.DB.Series.GetX(t.Context(), *first.SeriesID); s.Version != 2 {
			t.Errorf("version %d of the series", s.Version)
		}
		again := w.ChangeEvent(e, row.ID, &edit.EventInput{Rule: new("")})
		if again.SeriesID != nil {
			t.Error("an event without a series got one")
		}
		// From the trash.
		if _, err := w.TrashEvent(e, rows[3].ID); err != nil {
			t.Fatal(err)
		}
		w.ChangeEvent(e, rows[3].ID, &edit.EventInput{Rule: new("")})
		w.ChangeEvent(e, rows[3].ID, &edit.EventInput{Status: new(calendar.Publish)})
		if p = w.OnlyPhase(*first.SeriesID); len(p.Exdate) != 2 {
			t.Errorf("exdate %v", p.Exdate)
		}
	})
}

func TestEventBecomesSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		tag := w.Term(e, calendar.Tag, "Tag", 0)
		in := edittest.SomeEvent()
		in.Venues, in.Tags = &[]edit.VenueRef{{ID: hall.ID}}, &[]edit.TermRef{{ID: tag.ID}}
		single := w.Event(e, in)
		polish := w.AsIn(calendar.Editor, calendar.Polish)
		w.ChangeEvent(polish, single.ID, &edit.EventInput{Title: new("Po polsku"), Slug: new("po-polsku")})
		polish.Write = calendar.Polish
		row := w.ChangeEvent(polish, single.ID, &edit.EventInput{
			Rule: new("FREQ=DAILY;COUNT=3"), Slug: new("kurs"), EventValues: ent.EventValues{Featured: new(true)}, Start: edittest.Wall("2026-07-02 18:00:00"),
		})
		if row.ID != single.ID || row.Slug != "same" || row.OriginalStart.String() != "2026-07-02 18:00:00" || row.OwnFields != nil {
			t.Errorf("event %+v", row)
		}
		rows := w.Occurrences(*row.SeriesID)
		if len(rows) != 3 || rows[0].ID != row.ID {
			t.Fatalf("%d occurrences", len(rows))
		}
		for i, o := range rows[1:] {
			date := []string{"2026-07-03", "2026-07-04"}[i]
			if o.Slug != "same-"+date || !o.Featured || o.Edges.Venues[0].ID != hall.ID || o.Edges.Terms[0].ID != tag.ID {
				t.Errorf("occurrence %+v", o)
			}
			other := o.Edges.Translations[0]
			if other.Language != calendar.Polish || other.Title != "Po polsku" || other.Slug != "kurs-"+date {
				t.Errorf("translation %+v", other)
			}
		}
		first := w.DB.EventTranslation.Query().Where(eventtranslation.EventID(row.ID)).OnlyX(t.Context())
		if first.Slug != "po-polsku" {
			t.Errorf("the event has the slug %q in Polish", first.Slug)
		}
		s := w.DB.Series.GetX(t.Context(), *row.SeriesID)
		if s.Slug != "same" || s.GeneratedUntil != nil || s.ExtendAt != nil || s.Languages != row.Languages {
			t.Errorf("series %+v", s)
		}
		if n := w.DB.Slug.Query().Where(slug.KindEQ(calendar.Series), slug.OwnerID(s.ID)).CountX(t.Context()); n != 2 {
			t.Errorf("%d slugs of the series", n)
		}
		if n := w.DB.Term.GetX(t.Context(), tag.ID).EventCount; n != 3 {
			t.Errorf("the tag has %d events", n)
		}
	})
}

// TestStateOfAnEventThatBecomesSeries turns canceled events into series. Only the first occurrence keeps the event
// status, unless the request sends one.
func TestStateOfAnEventThatBecomesSeries(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		for _, tt := range []struct {
			name         string
			write        calendar.Language
			in           edit.EventInput
			first, other string // event_status, reason, reason in Polish
			own          string
		}{
			{"nothing sent", "", edit.EventInput{}, "canceled Rain Deszcz", "scheduled  ", "event_status event_status_reason event_status_reason:pl"},
			{
				"what is stored sent", "",
				edit.EventInput{EventValues: ent.EventValues{EventStatus: new(calendar.Canceled)}, EventStatusReason: new("Rain")},
				"canceled Rain Deszcz", "scheduled  ", "event_status event_status_reason event_status_reason:pl",
			},
			{
				"another state", "",
				edit.EventInput{EventValues: ent.EventValues{EventStatus: new(calendar.Postponed)}},
				"postponed Rain Deszcz", "postponed  ", "event_status_reason event_status_reason:pl",
			},
			{
				"no state", "",
				edit.EventInput{EventValues: ent.EventValues{EventStatus: new(calendar.Scheduled)}, EventStatusReason: new("")},
				"scheduled  Deszcz", "scheduled  ", "event_status_reason:pl",
			},
			{"another reason", "", edit.EventInput{EventStatusReason: new("Snow")}, "canceled Snow Deszcz", "scheduled Snow ", "event_status event_status_reason:pl"},
			{
				"another reason in Polish", calendar.Polish,
				edit.EventInput{EventStatusReason: new("Mróz")},
				"canceled Rain Mróz", "scheduled  Mróz", "event_status event_status_reason",
			},
		} {
			e, polish := w.As(calendar.Editor), w.As(calendar.Editor)
			polish.Write = calendar.Polish
			single := edittest.SomeEvent()
			single.EventStatus, single.EventStatusReason = new(calendar.Canceled), new("Rain")
			id := w.Event(e, single).ID
			w.ChangeEvent(polish, id, &edit.EventInput{EventStatusReason: new("Deszcz")})
			e.Write = tt.write
			in := tt.in
			in.Rule = new("FREQ=DAILY;COUNT=2")
			row := w.ChangeEvent(e, id, &in)
			state := func(r *ent.Event) string {
				other := ""
				for _, text := range r.Edges.Translations {
					other = text.EventStatusReason
				}
				return fmt.Sprintf("%s %s %s", r.EventStatus, r.EventStatusReason, other)
			}
			rows := w.Occurrences(*row.SeriesID)
			if got := state(rows[0]); got != tt.first {
				t.Errorf("%s: the event is %q, want %q", tt.name, got, tt.first)
			}
			if got := state(rows[1]); got != tt.other {
				t.Errorf("%s: the other occurrence is %q, want %q", tt.name, got, tt.other)
			}
			if got := strings.Join(rows[0].OwnFields, " "); got != tt.own || !slices.Equal(row.OwnFields, rows[0].OwnFields) || rows[1].OwnFields != nil {
				t.Errorf("%s: own fields %q, answered %q, want %q", tt.name, got, row.OwnFields, tt.own)
			}
			if has := strings.HasSuffix(tt.other, "Mróz"); rows[1].Languages.Has(calendar.Polish) != has {
				t.Errorf("%s: languages %v", tt.name, rows[1].Languages)
			}
		}
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.EventStatus, in.EventStatusReason = new(calendar.Postponed), new("Snow")
		for _, row := range w.Occurrences(*w.Event(w.As(calendar.Editor), in).SeriesID) {
			if row.EventStatus != calendar.Postponed || row.EventStatusReason != "Snow" || row.OwnFields != nil {
				t.Errorf("occurrence of a new series: %s %q %v", row.EventStatus, row.EventStatusReason, row.OwnFields)
			}
		}
	})
}

func TestTrashAndRestoreOccurrence(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.RDate = &[]recur.Date{dateAt("2026-07-02 10:00:00")}
		first := w.Event(e, in)
		rows := w.Occurrences(*first.SeriesID)
		schedule := func() string {
			p := w.OnlyPhase(*first.SeriesID)
			return fmt.Sprint(p.Rdate, p.Exdate, w.DB.Series.GetX(t.Context(), *first.SeriesID).Version)
		}
		was := schedule()
		for _, row := range rows { // to the last
			if _, err := w.TrashEvent(e, row.ID); err != nil {
				t.Fatal(err)
			}
		}
		if got := schedule(); got != "[2026-07-02 10:00:00] [2026-07-01 18:00:00 2026-07-02 10:00:00 2026-07-08 18:00:00 2026-07-15 18:00:00] 5" {
			t.Errorf("schedule %s", got)
		}
		_, err := w.TrashEvent(e, rows[0].ID)
		edittest.Refused(t, err, "event-is-in-trash")
		w.ChangeEvent(e, rows[0].ID, &edit.EventInput{Title: new("In the trash")}) // stays there
		for _, row := range rows {
			w.ChangeEvent(e, row.ID, &edit.EventInput{Status: new(calendar.Publish)})
		}
		if got := schedule(); got != strings.Replace(was, "[] 1", "[] 9", 1) {
			t.Errorf("schedule %s, was %s", got, was)
		}
		if got := w.DB.Event.GetX(t.Context(), rows[1].ID); got.OwnFields != nil || got.Slug != rows[1].Slug {
			t.Errorf("restored %+v", got)
		}
		// One that a change of the schedule took to the trash.
		w.RowsPast = true
		nominal := dateAt("2026-08-01 18:00:00").Wall
		w.DB.Event.UpdateOneID(rows[3].ID).SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Publish).
			SetOffSchedule(true).SetOriginalStart(nominal).ExecX(t.Context())
		row := w.ChangeEvent(e, rows[3].ID, &edit.EventInput{Status: new(calendar.Publish)})
		if row.OffSchedule {
			t.Error("still off schedule")
		}
		if got := schedule(); got != "[2026-07-02 10:00:00 2026-08-01 18:00:00] [] 10" {
			t.Errorf("schedule %s", got)
		}
	})
}

// TestExtendDue creates later occurrences of series in several goroutines at once.
func TestExtendDue(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		hall := w.Venue(e, &edit.VenueInput{Name: new("Hall")})
		gone := w.Venue(e, &edit.VenueInput{Name: new("Gone")})
		tag, lost := w.Term(e, calendar.Tag, "Tag", 0), w.Term(e, calendar.Tag, "Lost", 0)
		parent := w.Event(e, &edit.EventInput{Title: new("Parent")})
		in := edittest.WeeklyEvent("FREQ=WEEKLY")
		in.Venues = &[]edit.VenueRef{{ID: gone.ID}, {ID: hall.ID}}
		in.Tags = &[]edit.TermRef{{ID: tag.ID}, {ID: lost.ID}}
		in.ParentID, in.Published = &parent.ID, new(edittest.Now.AddDate(0, -1, 0))
		first := w.Event(e, in)
		w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3"))
		// A series in the trash gets none.
		trashed := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY"))
		away := w.DB.Series.GetX(t.Context(), *trashed.SeriesID)
		away.Update().SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Publish).
			SetSlug(calendar.TrashedSlug(away.Slug)).ExecX(t.Context())
		w.DB.Slug.Update().Where(slug.OwnerID(away.ID), slug.KindEQ(calendar.Series)).
			SetSlug(calendar.TrashedSlug(away.Slug)).SetTrashedID(away.ID).ExecX(t.Context())
		was := len(w.Occurrences(*first.SeriesID))
		if _, err := edittest.Wrote(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) {
			return edit.Venues.Trash(ctx, tx, e, tx.Venue.GetX(ctx, gone.ID))
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.TrashEvent(e, parent.ID); err != nil { // stays the parent of its events
			t.Fatal(err)
		}
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (struct{}, error) {
			return struct{}{}, e.DeleteTerm(ctx, tx, tx.Term.GetX(ctx, lost.ID))
		})
		for _, tt := range []struct {
			now     time.Time
			overdue int
			made    int
		}{
			{edittest.Now, 0, 0},
			{edittest.Now.AddDate(0, 0, 10), 0, 0},
			{edittest.Now.AddDate(0, 0, 28), 1, 4},
			{edittest.Now.AddDate(0, 0, 28), 0, 0},
			{edittest.Now.AddDate(30, 0, 0), 1, 1560},
		} {
			if n, err := series.CountOverdue(t.Context(), w.DB, tt.now); err != nil || n != tt.overdue {
				t.Errorf("%d series are overdue, want %d: %v", n, tt.overdue, err)
			}
			made := make([]int, 4)
			edittest.RunConcurrently(t, func(i int) (err error) {
				if i < len(made) {
					made[i], err = series.ExtendDue(t.Context(), w.DB, edittest.Site(t), tt.now)
				}
				return err
			})
			total := 0
			for _, n := range made {
				total += n
			}
			if total < tt.made-2 || total > tt.made+2 {
				t.Errorf("%s: %d occurrences, want about %d", tt.now, total, tt.made)
			}
			was += total
		}
		rows := w.Occurrences(*first.SeriesID)
		if len(rows) != was {
			t.Fatalf("%d occurrences, want %d", len(rows), was)
		}
		for i, row := range rows {
			want := dateAt("2026-07-01 18:00:00").Wall.AddDate(0, 0, 7*i)
			if !row.OriginalStart.Equal(want) {
				t.Fatalf("occurrence %d starts on %s", i, row.OriginalStart)
			}
		}
		last := rows[len(rows)-1]
		if len(last.Edges.Venues) != 1 || len(last.Edges.Terms) != 1 || *last.ParentID != parent.ID ||
			!last.PublishedAt.Equal(edittest.Now.AddDate(0, -1, 0)) || *last.AuthorID != *first.AuthorID || last.Slug != "same-"+last.OriginalStart.Format("2006-01-02") {
			t.Errorf("last occurrence %+v", last)
		}
		if c := w.DB.Change.Query().Order(ent.Desc(entchange.FieldID)).FirstX(t.Context()); c.UserID != nil {
			t.Errorf("change by user %d", *c.UserID)
		}
		s := w.DB.Series.GetX(t.Context(), *first.SeriesID)
		if s.GeneratedUntil.Before(dateAt("2058-07-14 00:00:00").Wall) {
			t.Errorf("generated until %s", s.GeneratedUntil)
		}
	})
}

// TestSeriesInZones stores daily series across changes of the clock, in several zones.
func TestSeriesInZones(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		for _, tt := range []struct {
			zone, start, end string
			want             []string // starts in UTC
		}{
			{"Europe/Warsaw", "2027-03-27 02:30:00", "2027-03-27 03:30:00", []string{"2027-03-27T01:30:00Z", "2027-03-28T01:30:00Z", "2027-03-29T00:30:00Z"}},
			{"Europe/Warsaw", "2026-10-24 02:30:00", "2026-10-24 03:30:00", []string{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
			{"America/New_York", "2027-03-13 02:30:00", "2027-03-13 04:00:00", []string{"2027-03-13T07:30:00Z", "2027-03-14T07:30:00Z", "2027-03-15T06:30:00Z"}},
			{"America/New_York", "2026-10-31 01:30:00", "2026-10-31 02:30:00", []string{"2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
			{"Australia/Lord_Howe", "2026-10-03 02:15:00", "2026-10-03 03:15:00", []string{"2026-10-02T15:45:00Z", "2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"}},
			{"America/Santiago", "2026-09-05 00:00:00", "2026-09-05 01:00:00", []string{"2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
			{"Asia/Tokyo", "2026-10-03 02:15:00", "2026-10-03 03:15:00", []string{"2026-10-02T17:15:00Z", "2026-10-03T17:15:00Z", "2026-10-04T17:15:00Z"}},
			{"Pacific/Apia", "2011-12-29 10:00:00", "2011-12-29 11:00:00", []string{"2011-12-29T20:00:00Z", "2011-12-30T20:00:00Z"}},
			{"Pacific/Auckland", "2026-09-26 02:30:00", "2026-09-26 03:30:00", []string{"2026-09-25T14:30:00Z", "2026-09-26T14:30:00Z", "2026-09-27T13:30:00Z"}},
			{"UTC+05:30", "2026-09-26 02:30:00", "2026-09-26 03:30:00", []string{"2026-09-25T21:00:00Z", "2026-09-26T21:00:00Z", "2026-09-27T21:00:00Z"}},
		} {
			first := w.Event(e, &edit.EventInput{
				Zone: new(zoneOf(t, tt.zone)), Start: edittest.Wall(tt.start), End: edittest.Wall(tt.end), Rule: new("FREQ=DAILY;COUNT=3"),
			})
			var got []string
			for _, row := range w.Occurrences(*first.SeriesID) {
				got = append(got, row.StartsAt.Format(time.RFC3339))
				if !row.EndsAt.After(row.StartsAt) {
					t.Errorf("%s: ends at %s", tt.zone, row.EndsAt)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s from %s: %s", tt.zone, tt.start, diff)
			}
		}
		// The nominal start is the one that was sent, though the clock skips it on that day.
		first := w.Event(e, &edit.EventInput{
			Start: edittest.Wall("2027-03-28 02:30:00"), End: edittest.Wall("2027-03-28 04:00:00"), Rule: new("FREQ=DAILY;COUNT=2"),
		})
		rows := w.Occurrences(*first.SeriesID)
		if rows[0].OriginalStart.String() != "2027-03-28 02:30:00" || rows[0].StartWall.String() != "2027-03-28 03:30:00" ||
			rows[1].StartWall.String() != "2027-03-29 02:30:00" {
			t.Errorf("starts %s, %s", rows[0].StartWall, rows[1].StartWall)
		}
		allDay := w.Event(e, &edit.EventInput{
			AllDay: new(true), Start: new(when.FromInstant(edittest.Now)), End: new(when.FromInstant(edittest.Now)), Rule: new("FREQ=MONTHLY;COUNT=2"),
		})
		rows = w.Occurrences(*allDay.SeriesID)
		if rows[1].StartWall.String() != "2026-07-15 00:00:00" || rows[1].EndWall.String() != "2026-07-15 23:59:59" {
			t.Errorf("all day from %s to %s", rows[1].StartWall, rows[1].EndWall)
		}
	})
}

// TestSeriesWithOthers checks that a series follows changes elsewhere, such as its scheduled publication and the
// removal of its author.
func TestSeriesWithOthers(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Author)
		in := edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=3")
		in.Published = new(edittest.Now.Add(time.Hour))
		first := w.Event(e, in)
		if s := w.DB.Series.GetX(t.Context(), *first.SeriesID); s.Status != calendar.Future {
			t.Errorf("status %s", s.Status)
		}
		later := edittest.Now.Add(2 * time.Hour)
		if n, err := edit.PublishDue(t.Context(), w.DB, later); err != nil || n != 4 {
			t.Errorf("%d published: %v", n, err)
		}
		s := w.DB.Series.GetX(t.Context(), *first.SeriesID)
		if s.Status != calendar.Publish || s.Version != 2 {
			t.Errorf("series %+v", s)
		}
		admin := w.As(calendar.Administrator)
		edittest.Write(w, admin, func(ctx context.Context, tx *ent.Tx) (struct{}, error) {
			return struct{}{}, admin.RemoveUser(ctx, tx, w.Users[calendar.Author].ID)
		})
		if s = w.DB.Series.GetX(t.Context(), s.ID); s.AuthorID != nil || s.Version != 3 {
			t.Errorf("series %+v", s)
		}
		edittest.Write(w, admin, func(ctx context.Context, tx *ent.Tx) (struct{}, error) {
			return struct{}{}, admin.RemoveAll(ctx, tx, calendar.Series, []int64{s.ID})
		})
		if w.DB.Series.Query().Where(entseries.ID(s.ID)).ExistX(t.Context()) || w.DB.Event.GetX(t.Context(), first.ID).SeriesID != nil ||
			w.DB.SeriesPhase.Query().CountX(t.Context()) != 0 {
			t.Error("the series is not removed")
		}
	})
}

// TestRemovedOccurrence deletes occurrences for good. They must not be created again.
func TestRemovedOccurrence(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Administrator)
		in := edittest.WeeklyEvent("FREQ=WEEKLY")
		first := w.Event(e, in)
		id := *first.SeriesID
		other := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=2"))
		rows := w.Occurrences(id)
		if _, err := w.TrashEvent(e, rows[1].ID); err != nil {
			t.Fatal(err)
		}
		gone := w.Event(e, edittest.SomeEvent()).ID
		for _, tt := range []struct {
			name    string
			remove  []int64
			exdate  string
			version int64
			log     string
		}{
			{"an event without a series", []int64{gone}, "2026-07-08", 2, "event delete"},
			{"one in the trash", []int64{rows[1].ID}, "2026-07-08", 2, "event delete"},
			{"the first two left", []int64{rows[2].ID, rows[0].ID}, "2026-07-01 2026-07-08 2026-07-15", 3, "series update event delete event delete"},
			{"gone already", []int64{rows[0].ID}, "2026-07-01 2026-07-08 2026-07-15", 3, ""},
			{
				"with all of another series", append(idsOfEvents(w.Occurrences(*other.SeriesID)), rows[3].ID),
				"2026-07-01 2026-07-08 2026-07-15 2026-07-22", 4, "series update series delete event delete event delete event delete",
			},
		} {
			before := latestRevision(t, w)
			w.RemoveEvents(e, tt.remove...)
			var exdate, log []string
			for _, at := range w.OnlyPhase(id).Exdate {
				exdate = append(exdate, at.Format("2006-01-02"))
			}
			if got := strings.Join(exdate, " "); got != tt.exdate {
				t.Errorf("%s: exdate %s, want %s", tt.name, got, tt.exdate)
			}
			if v := w.DB.Series.GetX(t.Context(), id).Version; v != tt.version {
				t.Errorf("%s: version %d of the series, want %d", tt.name, v, tt.version)
			}
			for _, c := range w.DB.Change.Query().Where(entchange.IDGT(before)).Order(entchange.ByID()).AllX(t.Context()) {
				log = append(log, fmt.Sprintf("%s %s", c.Kind, c.Action))
			}
			if got := strings.Join(log, " "); got != tt.log {
				t.Errorf("%s: log %q, want %q", tt.name, got, tt.log)
			}
		}
		if w.DB.Series.Query().Where(entseries.ID(*other.SeriesID)).ExistX(t.Context()) {
			t.Error("a series without occurrences is left")
		}
		// Nothing makes them again.
		if _, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), edittest.Now.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		left := w.Occurrences(id)
		if len(left) <= len(rows) || left[0].ID != rows[4].ID {
			t.Errorf("%d occurrences from %s on", len(left), left[0].OriginalStart)
		}
		// All at once, more than one statement takes.
		w.RemoveEvents(e, idsOfEvents(left)...)
		many := w.Occurrences(*w.Event(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=600")).SeriesID)
		w.RemoveEvents(e, idsOfEvents(many)...)
		if n := w.DB.Series.Query().CountX(t.Context()); n > 0 {
			t.Errorf("%d series are left", n)
		}
		if n := w.DB.Slug.Query().CountX(t.Context()); n > 0 {
			t.Errorf("%d slugs are left", n)
		}
	})
}

func idsOfEvents(rows []*ent.Event) (ids []int64) {
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

// TestRemovalLocksSeriesFirst deletes occurrences of two series for good. The series must be locked before the
// occurrences.
func TestRemovalLocksSeriesFirst(t *testing.T) {
	eachWithRowLocks(t, func(t *testing.T, w *edittest.World, e *edit.Editor, statements func() []string) {
		ids := []int64{w.Event(e, edittest.WeeklyEvent("FREQ=DAILY;COUNT=2")).ID, w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY;COUNT=2")).ID}
		statements()
		w.RemoveEvents(e, ids...)
		storetest.CheckSeriesFirst(t, statements())
	})
}
