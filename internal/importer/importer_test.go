package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// calendarOf reads a page of events from a file in testdata, with replacements. replace has pairs of old and new
// text.
func calendarOf(t testing.TB, name string, replace ...string) *Calendar {
	t.Helper()
	data := strings.NewReplacer(replace...).Replace(string(readFile(t, name)))
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(readFile(t, name)), replace[i]) {
			t.Fatalf("%s has no %q", name, replace[i])
		}
	}
	file := filepath.Join(t.TempDir(), "page.json")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	cal, err := newFastReader().Read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

func importInto(t testing.TB, st *store.Store, cal *Calendar, set ...func(*Importer)) *Report {
	t.Helper()
	im := &Importer{DB: st.Ent, Site: testSite()}
	for _, s := range set {
		s(im)
	}
	report, err := im.Run(t.Context(), cal)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// importUnchanged imports a calendar with the options set, and fails the test if the database changes. It returns
// the report.
func importUnchanged(t *testing.T, st *store.Store, cal *Calendar, set ...func(*Importer)) *Report {
	t.Helper()
	before := storedRecords(t, st)
	report := importInto(t, st, cal, set...)
	if diff := gocmp.Diff(before, storedRecords(t, st)); diff != "" {
		t.Errorf("database (-before +after):\n%s", diff)
	}
	return report
}

// counts formats the numbers of records in a report, by kind and action.
func counts(r *Report) string {
	var out []string
	for _, kind := range Kinds {
		for _, a := range Actions {
			if n := r.Count(kind, a); n > 0 {
				out = append(out, fmt.Sprintf("%s %s %d", kind, a, n))
			}
		}
	}
	return strings.Join(out, ", ")
}

// storedRecords returns a line of text for each record that an import can change, in a fixed order.
func storedRecords(t testing.TB, st *store.Store) []string {
	t.Helper()
	ctx, db := t.Context(), st.Ent
	var out []string
	add := func(n int, err error, line func(i int) string) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			out = append(out, line(i))
		}
	}
	events, err := db.Event.Query().Order(ent.Asc(event.FieldID)).All(ctx)
	add(len(events), err, func(i int) string { return fmt.Sprintf("event %v", events[i]) })
	venues, err := db.Venue.Query().Order(ent.Asc(venue.FieldID)).All(ctx)
	add(len(venues), err, func(i int) string { return fmt.Sprintf("venue %v", venues[i]) })
	organizers, err := db.Organizer.Query().Order(ent.Asc("id")).All(ctx)
	add(len(organizers), err, func(i int) string { return fmt.Sprintf("organizer %v", organizers[i]) })
	terms, err := db.Term.Query().Order(ent.Asc(term.FieldID)).All(ctx)
	add(len(terms), err, func(i int) string { return fmt.Sprintf("term %v", terms[i]) })
	images, err := db.Image.Query().Order(ent.Asc("id")).All(ctx)
	add(len(images), err, func(i int) string { return fmt.Sprintf("image %v", images[i]) })
	series, err := db.Series.Query().Order(ent.Asc("id")).All(ctx)
	add(len(series), err, func(i int) string { return fmt.Sprintf("series %v", series[i]) })
	phases, err := db.SeriesPhase.Query().Order(ent.Asc("id")).All(ctx)
	add(len(phases), err, func(i int) string {
		data, err := json.Marshal(phases[i]) // it has pointers
		if err != nil {
			t.Fatal(err)
		}
		return "phase " + string(data)
	})
	changes, err := db.Change.Query().Count(ctx)
	add(1, err, func(int) string { return fmt.Sprintf("%d changes", changes) })
	records, err := db.Record.Query().Count(ctx)
	add(1, err, func(int) string { return fmt.Sprintf("%d ids", records) })
	links, err := db.EventTerm.Query().Count(ctx)
	add(1, err, func(int) string { return fmt.Sprintf("%d terms of events", links) })
	return out
}

func findEvent(t testing.TB, st *store.Store, key string) *ent.Event {
	t.Helper()
	row, err := st.Ent.Event.Query().Where(event.SourceID("calendar.example.org?id=" + key)).
		WithVenueLinks(func(q *ent.EventVenueQuery) { q.Order(eventvenue.ByPosition()).WithVenue() }).
		WithOrganizerLinks(func(q *ent.EventOrganizerQuery) { q.Order(eventorganizer.ByPosition()).WithOrganizer() }).
		WithTerms().WithImage().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// summary formats an event and its links as one line.
func summary(e *ent.Event) string {
	var venues, organizers, terms []string
	for _, l := range e.Edges.VenueLinks {
		v := l.Edges.Venue
		venues = append(venues, fmt.Sprintf("%s/%s/%s", v.Name, v.Slug, v.City))
	}
	for _, l := range e.Edges.OrganizerLinks {
		organizers = append(organizers, l.Edges.Organizer.Name)
	}
	for _, t := range e.Edges.Terms {
		terms = append(terms, string(t.Taxonomy)+" "+t.Name)
	}
	slices.Sort(terms)
	website := "unset"
	if e.Website != nil {
		website = "<" + *e.Website + ">"
	}
	return fmt.Sprintf("%s | %s | %s %s %s | %s | %s | %v | %v | %v", e.Title, e.Slug, e.StartWall, e.EndWall, e.Timezone,
		e.Cost.Display(testSite().Currency, "Free"), website, venues, organizers, terms)
}

func TestImportStoresEventsWithWhatBelongsToThem(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		report := importInto(t, st, calendarOf(t, shapesFile))
		want := "category create 3, tag create 1, image create 1, venue create 4, organizer create 2, event create 4, event fail 3"
		if got := counts(report); got != want {
			t.Errorf("report: %s\nwant:   %s", got, want)
		}
		if len(report.Problems) != 3 || report.Complete() {
			t.Errorf("problems %v", report.Problems)
		}
		wantNotices := []string{
			"page 1, event 7 (id 107): website: not an address of the web; left out",
			`category calendar.example.org?term=23, first in page 1, event 7 (id 107): "Hiking": its parent ` +
				`calendar.example.org?term=900 is not in what was read; its place is left as it is, ` +
				`new ones come to the top level`,
		}
		if diff := gocmp.Diff(wantNotices, report.Notices); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		lines := map[string]string{
			"101": "Readers’ evening: poems &amp; prose | readers-evening | " +
				"2026-05-12 18:00:00 2026-05-12 20:30:00 Europe/Warsaw | $12.50 – $20 | " +
				"<https://readers.example.org/evening?a=1&copy=2> | [Reading Room – North/reading-room/Riverton] | " +
				"[Page Turners Library & Co] | [category Books & more category Poetry tag Indoors]",
			"102": "Garden day | garden-day | 2026-06-01 00:00:00 2026-06-02 23:59:59 UTC+2 | Free | <> | [] | [] | []",
			"105": "Two rooms | two-rooms | 2026-07-01 09:00:00 2026-07-01 09:00:00 UTC+5:45 | Donation – 10€ | unset | " +
				"[Reading Room – North/reading-room-2/Elsewhere /203/Riverton /204/Lakeside] | [Page Turners] | [tag Indoors]",
			"107": "Walk | walk | 2026-08-01 09:00:00 2026-08-01 11:00:00 UTC |  | <> | [] | [] | [category Hiking]",
		}
		for key, want := range lines {
			if diff := gocmp.Diff(want, summary(findEvent(t, st, key))); diff != "" {
				t.Errorf("event %s (-want +got):\n%s", key, diff)
			}
		}
		e := findEvent(t, st, "101")
		if got := e.PublishedAt.Format(calendar.Layout); got != "2026-03-01 09:00:00" {
			t.Errorf("published %s", got)
		}
		if got := e.ModifiedAt.Format(calendar.Layout); got != "2026-03-02 10:30:00" {
			t.Errorf("modified %s", got)
		}
		if e.AuthorID != nil || !e.Featured || !e.Sticky || !e.ShowMap || e.Status != calendar.Publish || e.Version != 1 {
			t.Errorf("event %v", e)
		}
		i := e.Edges.Image
		if i.Path != "" || i.SourceURL != "https://calendar.example.org/files/books.JPG" || i.Width != 1200 ||
			len(i.Sizes) != 1 {
			t.Errorf("image %v", i)
		}
		v := e.Edges.VenueLinks[0].Edges.Venue
		if !v.ShowMap || !v.ShowMapLink || *v.Latitude != 45.5 || *v.Longitude != -122.6 || v.Stateprovince != "" ||
			v.Website != "rooms.example.org" {
			t.Errorf("venue %v", v)
		}
		v = findEvent(t, st, "105").Edges.VenueLinks[0].Edges.Venue
		if v.ShowMap || v.ShowMapLink || *v.SourceID != "calendar.example.org?id=202" {
			t.Errorf("venue %v", v)
		}
		poetry := st.Ent.Term.Query().Where(term.Name("Poetry")).WithParent().OnlyX(t.Context())
		if poetry.Edges.Parent == nil || poetry.Edges.Parent.Name != "Books & more" || poetry.EventCount != 1 {
			t.Errorf("category %v below %v", poetry, poetry.Edges.Parent)
		}
	})
}

func TestImportAgainChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importInto(t, st, calendarOf(t, shapesFile))
		report := importUnchanged(t, st, calendarOf(t, shapesFile))
		want := "category unchanged 3, tag unchanged 1, image unchanged 1, venue unchanged 4, " +
			"organizer unchanged 2, event unchanged 4, event fail 3"
		if got := counts(report); got != want {
			t.Errorf("report: %s\nwant:   %s", got, want)
		}
	})
}

func TestImportAgainFollowsTheSource(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importInto(t, st, calendarOf(t, shapesFile))
		ids := findEvent(t, st, "101").ID
		report := importInto(t, st, calendarOf(t, shapesFile,
			"Readers&#8217; evening", "Readers&#8217; night",
			`"start_date": "2026-05-12 18:00:00"`, `"start_date": "2026-05-12 19:00:00"`,
			`"2026-03-02 10:30:00"`, `"2026-04-01 10:30:00"`,
			`"slug": "readers-evening"`, `"slug": "readers-night"`,
			`"12.50", "20"`, `"12.50", "25"`,
			"books.JPG", "books-2.png",
			"4 Quiet Lane", "5 Quiet Lane",
			"555-0100", "555-0199",
			"Books &amp; more", "Books",
			`"parent": 900`, `"parent": 21`,
			`"venue": []`, `"venue": {"id": 204, "global_id": "calendar.example.org?id=204", "status": "publish",
				"slug": "204", "city": "Lakeside"}`,
		))
		want := "category update 2, category unchanged 1, tag unchanged 1, image update 1, venue update 1, venue unchanged 3, " +
			"organizer update 1, organizer unchanged 1, event update 2, event unchanged 2, event fail 3"
		if got := counts(report); got != want {
			t.Errorf("report: %s\nwant:   %s", got, want)
		}
		e := findEvent(t, st, "101")
		wantLine := "Readers’ night: poems &amp; prose | readers-night | " +
			"2026-05-12 19:00:00 2026-05-12 20:30:00 Europe/Warsaw | $12.50 – $25 | " +
			"<https://readers.example.org/evening?a=1&copy=2> | [Reading Room – North/reading-room/Riverton] | " +
			"[Page Turners Library & Co] | [category Books category Poetry tag Indoors]"
		if diff := gocmp.Diff(wantLine, summary(e)); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		if e.ID != ids || e.Version != 2 || e.ModifiedAt.Format(calendar.Layout) != "2026-04-01 10:30:00" {
			t.Errorf("event %v", e)
		}
		if i := e.Edges.Image; i.SourceURL != "https://calendar.example.org/files/books-2.png" || i.Version != 2 {
			t.Errorf("image %v", i)
		}
		if v := findEvent(t, st, "102").Edges.VenueLinks; len(v) != 1 || v[0].Edges.Venue.City != "Lakeside" {
			t.Errorf("venues %v", v)
		}
		// The parent is there now, so the category finds its place.
		hiking := st.Ent.Term.Query().Where(term.Name("Hiking")).WithParent().OnlyX(t.Context())
		if hiking.Edges.Parent == nil || hiking.Edges.Parent.Name != "Books" {
			t.Errorf("category %v below %v", hiking, hiking.Edges.Parent)
		}
	})
}

// TestImportLocksSeriesFirst imports changes of occurrences of two series. The import must lock each series before its
// occurrences.
func TestImportLocksSeriesFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if st.Engine() == "sqlite" {
			t.Skip("SQLite locks no rows")
		}
		statements := storetest.Statements(st)
		importInto(t, st, calendarOf(t, shapesFile))
		e := &edit.Editor{Site: testSite(), Now: testSite().Now(), By: auth.System()}
		for _, key := range []string{"101", "102"} {
			err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
				_, err := series.UpdateEvent(t.Context(), tx, e, findEvent(t, st, key), &edit.EventInput{Rule: new("FREQ=DAILY;COUNT=2")})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		statements()
		report := importInto(t, st, calendarOf(t, shapesFile,
			"Readers&#8217; evening", "Readers&#8217; night",
			`"venue": []`, `"venue": {"id": 204, "global_id": "calendar.example.org?id=204", "status": "publish",
				"slug": "204", "city": "Lakeside"}`,
		))
		if n := report.Count(calendar.Event, Update); n != 2 {
			t.Errorf("%d events are updated", n)
		}
		storetest.CheckSeriesFirst(t, statements())
		if got := findEvent(t, st, "101"); !slices.Contains(got.OwnFields, "title") {
			t.Errorf("own fields %v", got.OwnFields)
		}
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		dry := func(im *Importer) { im.DryRun = true }
		empty := storedRecords(t, st)
		report := importInto(t, st, calendarOf(t, shapesFile), dry)
		want := "category create 3, tag create 1, image create 1, venue create 4, organizer create 2, event create 4, event fail 3"
		if got := counts(report); got != want || !report.DryRun {
			t.Errorf("report: %s\nwant:   %s", got, want)
		}
		if diff := gocmp.Diff(empty, storedRecords(t, st)); diff != "" {
			t.Errorf("database (-before +after):\n%s", diff)
		}
		importInto(t, st, calendarOf(t, shapesFile))
		report = importUnchanged(t, st, calendarOf(t, shapesFile, "Garden day", "Garden night"), dry)
		want = "category unchanged 3, tag unchanged 1, image unchanged 1, venue unchanged 4, organizer unchanged 2, " +
			"event update 1, event unchanged 3, event fail 3"
		if got := counts(report); got != want {
			t.Errorf("report: %s\nwant:   %s", got, want)
		}
	})
}

func TestImportLeavesTheTrashAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		importInto(t, st, calendarOf(t, shapesFile))
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			row, err := tx.Event.Query().Where(event.SourceID("calendar.example.org?id=102")).Only(t.Context())
			if err != nil {
				return err
			}
			if _, err := e.TrashEvent(t.Context(), tx, row); err != nil {
				return err
			}
			place, err := tx.Venue.Query().Where(venue.SourceID("calendar.example.org?id=203")).Only(t.Context())
			if err != nil {
				return err
			}
			_, err = edit.Venues.Trash(t.Context(), tx, e, place)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		report := importUnchanged(t, st, calendarOf(t, shapesFile,
			"Garden day", "Garden night", `"203", "city": "Riverton"`, `"203", "city": "Rivertown"`))
		var trash []string
		for _, n := range report.Notices {
			if strings.Contains(n, "trash") {
				trash = append(trash, n)
			}
		}
		want := []string{
			"venue calendar.example.org?id=203, first in page 1, event 5 (id 105): in the trash here; left alone",
			"page 1, event 2 (id 102): in the trash here; left alone",
			"page 1, event 5 (id 105): some of its [venues] were not imported or are in the trash here",
		}
		if diff := gocmp.Diff(want, trash); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

func TestImportUsesTermsOfOthersWithoutChangingThem(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		e := &edit.Editor{Site: testSite(), Now: noon, By: auth.System()}
		err := edit.Write(t.Context(), st.Ent, e, func(tx *ent.Tx) error {
			_, err := e.CreateTerm(t.Context(), tx, &edit.TermInput{
				Taxonomy: calendar.Tag, Name: new("INDOORS"), Description: new("Ours"), Slug: new("inside"),
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			importInto(t, st, calendarOf(t, shapesFile))
		}
		tag := st.Ent.Term.Query().Where(term.TaxonomyEQ(calendar.Tag)).OnlyX(t.Context())
		if tag.Name != "INDOORS" || tag.Description != "Ours" || tag.SourceID != nil || tag.Version != 1 ||
			tag.EventCount != 2 {
			t.Errorf("tag %v", tag)
		}
	})
}

func TestOneRecordThatIsRefusedCostsNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		above := func(id, name, parent string) *Term {
			if parent != "" {
				parent = "x?term=" + parent
			}
			return &Term{
				Origin: Origin{Key: "x?term=" + id, Where: "category " + id}, Kind: calendar.Category,
				Name: name, Parent: parent,
			}
		}
		importInto(t, st, &Calendar{Parents: []*Term{above("1", "One", ""), above("2", "Two", "1"), above("3", "Three", "1")}})
		// One below Two, which is below One and not read this time.
		report := importInto(t, st, &Calendar{Parents: []*Term{above("3", "Third", ""), above("1", "First", "2")}})
		if got, want := counts(report), "category update 1, category fail 1"; got != want {
			t.Errorf("report %s, want %s", got, want)
		}
		refused := []Problem{{Kind: calendar.Category, Where: "category 1", Reason: "parent: parent-loop"}}
		if diff := gocmp.Diff(refused, report.Problems); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		names := st.Ent.Term.Query().Order(ent.Asc(term.FieldID)).Select(term.FieldName).StringsX(t.Context())
		slices.SortFunc(names, cmp.Compare)
		if diff := gocmp.Diff([]string{"One", "Third", "Two"}, names); diff != "" {
			t.Errorf("categories (-want +got):\n%s", diff)
		}
	})
}

func TestImportGivesUpWhenTheDatabaseIsGone(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	if _, err := st.DB.ExecContext(t.Context(), "ALTER TABLE events RENAME COLUMN sticky TO stuck"); err != nil {
		t.Fatal(err)
	}
	im := &Importer{DB: st.Ent, Site: testSite()}
	report, err := im.Run(t.Context(), calendarOf(t, shapesFile))
	if err == nil || !strings.Contains(err.Error(), "import of the events") {
		t.Errorf("error %v", err)
	}
	if got := report.Count(calendar.Venue, Create); got != 4 {
		t.Errorf("%d venues in the report", got)
	}
}

func TestImportEndsWithItsContext(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	im := &Importer{DB: st.Ent, Site: testSite(), Progress: func(done, _ int) {
		if done >= 4 {
			cancel()
		}
	}}
	if _, err := im.Run(ctx, calendarOf(t, shapesFile)); ctx.Err() == nil || err == nil {
		t.Errorf("error %v", err)
	}
}

func TestImportNamesAnAuthor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		user, err := auth.AddUser(t.Context(), st.Ent, noon, "ada", "Ada", calendar.Author, "")
		if err != nil {
			t.Fatal(err)
		}
		importInto(t, st, calendarOf(t, shapesFile), func(im *Importer) { im.AuthorID = user.ID })
		e := findEvent(t, st, "101")
		for what, id := range map[string]*int64{
			"event": e.AuthorID, "venue": e.Edges.VenueLinks[0].Edges.Venue.AuthorID,
			"organizer": e.Edges.OrganizerLinks[0].Edges.Organizer.AuthorID, "image": e.Edges.Image.AuthorID,
		} {
			if id == nil || *id != user.ID {
				t.Errorf("author of the %s: %v", what, id)
			}
		}
	})
}
