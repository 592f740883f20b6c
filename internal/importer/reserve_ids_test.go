package importer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/origin"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/proof/wptest"
)

// allOf reads the calendar of a test site with all its events.
func allOf(t *testing.T, s *wptest.Site) *Calendar {
	t.Helper()
	r := &Reader{Site: testSite(), Rate: 1e6}
	cal, err := r.Read(t.Context(), s.API+"/events?start_date=2000-01-01&end_date=2040-12-31&per_page=50")
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// runImport imports a calendar. change sets options of the importer first; nil sets none.
func runImport(t *testing.T, st *store.Store, cal *Calendar, change func(*Importer)) (*Report, error) {
	t.Helper()
	im := &Importer{DB: st.Ent, Site: testSite()}
	if change != nil {
		change(im)
	}
	return im.Run(t.Context(), cal)
}

func withNewIDs(im *Importer) { im.NewIDs = true }

// idsBySource returns the ids of all stored records by source id, without the host in the source ids.
func idsBySource(t *testing.T, db *ent.Client) map[string]int64 {
	t.Helper()
	ids := make(map[string]int64)
	add := func(id int64, source *string) {
		if source != nil {
			_, key, _ := strings.Cut(*source, "?")
			ids[key] = id
		}
	}
	for _, row := range db.Event.Query().AllX(t.Context()) {
		add(row.ID, row.SourceID)
	}
	for _, row := range db.Venue.Query().AllX(t.Context()) {
		add(row.ID, row.SourceID)
	}
	for _, row := range db.Organizer.Query().AllX(t.Context()) {
		add(row.ID, row.SourceID)
	}
	for _, row := range db.Image.Query().AllX(t.Context()) {
		add(row.ID, row.SourceID)
	}
	for _, row := range db.Term.Query().AllX(t.Context()) {
		add(row.ID, row.SourceID)
	}
	return ids
}

func TestImportKeepsIDs(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		cal := allOf(t, site)
		report, err := runImport(t, st, cal, nil)
		if err != nil {
			t.Fatal(err)
		}
		var highest int64
		for key, id := range idsBySource(t, st.Ent) {
			_, number, _ := strings.Cut(key, "=")
			if number != fmt.Sprint(id) {
				t.Errorf("%s has the id %d", key, id)
			}
			highest = max(highest, id)
		}
		for _, e := range site.Events() {
			row, err := st.Ent.Event.Get(t.Context(), e.ID)
			if err != nil || calendar.FoldName(row.Title) != calendar.FoldName(e.Title) && !strings.Contains(row.Title, "&") {
				t.Errorf("event %d, %q: %v, %v", e.ID, e.Title, row, err)
			}
		}
		if highest == 0 || report.Count(calendar.Event, Fail) > 0 {
			t.Errorf("%d failed", report.Count(calendar.Event, Fail))
		}
		editor := &edit.Editor{Site: testSite(), Now: testSite().Now(), By: auth.System()}
		err = edit.Write(t.Context(), st.Ent, editor, func(tx *ent.Tx) error {
			venue, _, err := edit.Venues.Create(t.Context(), tx, editor, &edit.VenueInput{Name: new("Later")})
			if err != nil {
				return err
			}
			term, err := editor.CreateTerm(t.Context(), tx, &edit.TermInput{Taxonomy: calendar.Tag, Name: new("Later")})
			if err != nil {
				return err
			}
			if venue.ID <= highest+50_000 || term.ID <= 50_000 {
				t.Errorf("new ids %d and %d are not far above %d", venue.ID, term.ID, highest)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		again, err := runImport(t, st, allOf(t, site), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range Kinds {
			if n := again.Count(kind, Create); n > 0 {
				t.Errorf("the second import created %d %s", n, kind.Plural())
			}
		}
	})
}

// TestImportKeepsIDsOfLaterRecords imports a source to which an event is added later. That event keeps its id, also if
// it is deleted here and imported again.
func TestImportKeepsIDsOfLaterRecords(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		cal := allOf(t, site)
		single := slices.IndexFunc(cal.Events, func(e *Event) bool { return e.Series == nil && !e.Protected })
		late := cal.Events[single]
		cal.Events = slices.Delete(slices.Clone(cal.Events), single, single+1)
		if _, err := runImport(t, st, cal, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := runImport(t, st, allOf(t, site), nil); err != nil {
			t.Fatal(err)
		}
		if row, err := st.Ent.Event.Get(t.Context(), late.Number); err != nil || *row.SourceID != late.Key {
			t.Errorf("event %d: %v, %v", late.Number, row, err)
		}
		// A record that is deleted for good here, and still there at the source, comes back as itself.
		st.Ent.Event.DeleteOneID(late.Number).ExecX(t.Context())
		if _, err := st.DB.ExecContext(t.Context(), "DELETE FROM slugs WHERE kind = 'event' AND owner_id = ?", late.Number); err != nil {
			t.Fatal(err)
		}
		if _, err := runImport(t, st, allOf(t, site), nil); err != nil {
			t.Fatal(err)
		}
		if !st.Ent.Event.Query().Where(event.ID(late.Number), event.SourceID(late.Key)).ExistX(t.Context()) {
			t.Errorf("event %d has not come back", late.Number)
		}
	})
}

// updateAllEvents makes the same change to all events.
func updateAllEvents(t *testing.T, st *store.Store, editor *edit.Editor, write *edit.EventInput) {
	t.Helper()
	for _, id := range st.Ent.Event.Query().IDsX(t.Context()) {
		err := edit.Write(t.Context(), st.Ent, editor, func(tx *ent.Tx) error {
			row, err := edit.LockEvent(t.Context(), tx, id)
			if err == nil {
				_, err = series.UpdateEvent(t.Context(), tx, editor, row, write)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestImportRaisesTheSequenceOfDeletedEvents deletes imported events permanently and imports them again, twice.
func TestImportRaisesTheSequenceOfDeletedEvents(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	for _, tt := range []struct {
		name   string
		writes []*edit.EventInput
	}{
		{name: "unchanged"},
		{"moved and withdrawn", []*edit.EventInput{
			{Start: edittest.Wall("2030-01-01 10:00:00"), End: edittest.Wall("2030-01-01 11:00:00")},
			{Status: new(calendar.Draft)},
			{Status: new(calendar.Publish)},
			{Status: new(calendar.Trash)},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				checkSequences(t, st, site, tt.writes)
			})
		})
	}
}

// checkSequences imports all events, applies the writes, and deletes the events permanently. It then imports them
// again, twice. Each time an event must have a higher sequence than before.
func checkSequences(t *testing.T, st *store.Store, site *wptest.Site, writes []*edit.EventInput) {
	importAll := func() []*ent.Event {
		t.Helper()
		if _, err := runImport(t, st, allOf(t, site), nil); err != nil {
			t.Fatal(err)
		}
		return st.Ent.Event.Query().AllX(t.Context())
	}
	last := make(map[int64]int64)
	for _, row := range importAll() {
		if row.Sequence != 0 {
			t.Errorf("new event %d: sequence %d", row.ID, row.Sequence)
		}
	}
	var occurrences int
	for range 2 {
		editor := &edit.Editor{Site: testSite(), Now: testSite().Now(), By: auth.System()}
		for _, write := range writes {
			updateAllEvents(t, st, editor, write)
		}
		for _, row := range st.Ent.Event.Query().AllX(t.Context()) {
			last[row.ID] = edit.Sequence(row, testSite().Now())
		}
		err := edit.Write(t.Context(), st.Ent, editor, func(tx *ent.Tx) error {
			return editor.RemoveAll(t.Context(), tx, calendar.Event, slices.Collect(maps.Keys(last)))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range importAll() {
			if before, again := last[row.ID]; again && row.Sequence <= before {
				t.Errorf("event %d: sequence %d after %d", row.ID, row.Sequence, before)
			} else if again && row.SeriesID != nil {
				occurrences++
			}
		}
	}
	if occurrences == 0 {
		t.Error("no occurrence came again")
	}
}

func TestImportRefusesTakenIDs(t *testing.T) {
	t.Parallel()
	first := wptest.NewSite(t, wptest.Options{Host: "one.example.org"})
	second := wptest.NewSite(t, wptest.Options{Host: "two.example.org"})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if _, err := runImport(t, st, allOf(t, first), nil); err != nil {
			t.Fatal(err)
		}
		before := idsBySource(t, st.Ent)
		for _, dry := range []bool{true, false} {
			_, err := runImport(t, st, allOf(t, second), func(im *Importer) { im.DryRun = dry })
			var taken *TakenError
			if !errors.As(err, &taken) {
				t.Fatalf("dry run %v: %v", dry, err)
			}
			if want := fmt.Sprintf("%d of the source's ids belong to other records", len(taken.IDs)); !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			for _, pair := range taken.IDs {
				// Terms of the same name are those that are here.
				if pair.ID == 0 || pair.SourceKind != pair.Kind || pair.SourceTitle == "" || pair.Kind.IsTerm() {
					t.Errorf("pair %+v", pair)
				}
			}
			if diff := gocmp.Diff(before, idsBySource(t, st.Ent)); diff != "" {
				t.Errorf("the import wrote (-before +after):\n%s", diff)
			}
		}
		if _, err := runImport(t, st, allOf(t, second), withNewIDs); err != nil {
			t.Fatal(err)
		}
		rows := st.Ent.Event.Query().Where(event.SourceIDHasPrefix("two.example.org")).AllX(t.Context())
		if len(rows) != len(second.Events()) {
			t.Errorf("%d events, want %d", len(rows), len(second.Events()))
		}
		numbers := slices.Collect(maps.Values(before))
		for _, row := range rows {
			if slices.Contains(numbers, row.ID) || row.ID < 50_000 {
				t.Errorf("event %s has the id %d", *row.SourceID, row.ID)
			}
		}
		// A later import of a source with new ids does not need the flag.
		again, err := runImport(t, st, allOf(t, second), nil)
		if err != nil || again.Count(calendar.Event, Create) != 0 {
			t.Errorf("%v, %d created", err, again.Count(calendar.Event, Create))
		}
	})
}

// TestImportWithNewIDsLeavesOldOnesFree imports with new ids into an empty calendar. No record may then have the id of
// the source.
func TestImportWithNewIDsLeavesOldOnesFree(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if _, err := runImport(t, st, allOf(t, site), withNewIDs); err != nil {
			t.Fatal(err)
		}
		old := make(map[int64]bool)
		for _, e := range site.Events() {
			old[e.ID] = true
		}
		for key, id := range idsBySource(t, st.Ent) {
			if strings.HasPrefix(key, "id=") && (old[id] || id < 50_000) {
				t.Errorf("%s has the id %d", key, id)
			}
		}
	})
}

func TestImportStoresUIDsAndGUIDs(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		cal := allOf(t, site)
		if _, err := runImport(t, st, cal, nil); err != nil {
			t.Fatal(err)
		}
		read := make(map[int64]*Event)
		for _, e := range cal.Events {
			read[e.Number] = e
			if e.Series != nil {
				for _, one := range e.Series.Single {
					read[one.Number] = one
				}
			}
		}
		for _, e := range site.Events() {
			row, err := st.Ent.Origin.Query().Where(origin.RecordID(e.ID), origin.KindEQ(calendar.Event)).Only(t.Context())
			if err != nil {
				t.Errorf("event %d: %v", e.ID, err)
				continue
			}
			if row.UID == nil || *row.UID != e.UID {
				t.Errorf("event %d: UID %v, want %s", e.ID, row.UID, e.UID)
			}
			guid := ""
			if row.GUID != nil {
				guid = *row.GUID
			}
			if want := read[e.ID].GUID; guid != want || want != "" && want != e.GUID {
				t.Errorf("event %d: guid %q, want %q", e.ID, guid, want)
			}
		}
	})
}

func TestImportOfAFileKeepsItsUIDs(t *testing.T) {
	t.Parallel()
	vevent := func(uid, title, start string) string {
		return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nSUMMARY:" + title + "\r\nDTSTART:" + start + "\r\nEND:VEVENT\r\n"
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		key, err := edit.FeedKey(t.Context(), st.Ent)
		if err != nil {
			t.Fatal(err)
		}
		file := func(events ...string) *Calendar {
			cal, err := decodeICal([]byte("BEGIN:VCALENDAR\r\n"+strings.Join(events, "")+"END:VCALENDAR\r\n"), testSite())
			if err != nil {
				t.Fatal(err)
			}
			return cal
		}
		if _, err := runImport(t, st, file(vevent("first", "First", "20261201T100000Z")), nil); err != nil {
			t.Fatal(err)
		}
		first := st.Ent.Event.Query().OnlyX(t.Context())
		cal := file(
			vevent("first", "First", "20261201T100000Z"),
			vevent("a\\,b@example.org", "Comma", "20261202T100000Z"),
			vevent("", "None", "20261203T100000Z"),
			vevent("twice", "One", "20261204T100000Z"), vevent("twice", "Other", "20261205T100000Z"),
			vevent(strings.Repeat("x", 256), "Long", "20261206T100000Z"),
			vevent(feed.UID(key, first.ID), "Ours", "20261207T100000Z"),
			"BEGIN:VEVENT\r\nUID:series\r\nSUMMARY:Series\r\nDTSTART:20261208T100000Z\r\nRRULE:FREQ=DAILY;COUNT=2\r\nEND:VEVENT\r\n",
		)
		if _, err := runImport(t, st, cal, nil); err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for _, e := range st.Ent.Event.Query().AllX(t.Context()) {
			row, err := st.Ent.Origin.Query().Where(origin.RecordID(e.ID)).Only(t.Context())
			if err == nil && row.UID != nil {
				got[e.Title] = *row.UID
			}
		}
		if diff := gocmp.Diff(map[string]string{"First": "first", "Comma": "a,b@example.org"}, got); diff != "" {
			t.Errorf("UIDs (-want +got):\n%s", diff)
		}
	})
}

// TestImportAndIDsOfTerms imports a term whose id is not free: a stored term has the id, or another import has reserved
// it.
func TestImportAndIDsOfTerms(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	source := allOf(t, site).Terms[0]
	number := source.Number
	for _, tt := range []struct {
		name    string
		add     func(context.Context, *ent.Client) error
		refused bool
	}{
		{"of the same name", func(ctx context.Context, db *ent.Client) error {
			return addTerm(ctx, db, number, source.Kind, source.Name)
		}, false},
		{"of another name", func(ctx context.Context, db *ent.Client) error {
			return addTerm(ctx, db, number, source.Kind, "Something else")
		}, true},
		{"reserved", func(ctx context.Context, db *ent.Client) error {
			return db.Origin.Create().SetSourceID("other.example.org?id=1").SetKind(source.Kind).SetRecordID(number).SetNumber(number).Exec(ctx)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if err := tt.add(t.Context(), st.Ent); err != nil {
					t.Fatal(err)
				}
				_, err := runImport(t, st, allOf(t, site), nil)
				var taken *TakenError
				if errors.As(err, &taken) != tt.refused || err != nil && !tt.refused {
					t.Fatalf("got %v, refused %v", err, tt.refused)
				}
				n := st.Ent.Term.Query().Where(term.NameKey(calendar.FoldName(source.Name)), term.TaxonomyEQ(source.Kind)).CountX(t.Context())
				if !tt.refused && n != 1 || tt.refused && n != 0 {
					t.Errorf("%d terms %s", n, source.Name)
				}
			})
		})
	}
}

func addTerm(ctx context.Context, db *ent.Client, id int64, taxonomy calendar.Kind, name string) error {
	now := testSite().Now()
	return db.Term.Create().SetID(id).SetTaxonomy(taxonomy).SetName(name).SetNameKey(calendar.FoldName(name)).
		SetLanguage(calendar.English).SetLanguages(calendar.LanguagesOf(calendar.English)).SetCreatedAt(now).SetModifiedAt(now).Exec(ctx)
}

func TestGUIDsAreAddresses(t *testing.T) {
	t.Parallel()
	for guid, want := range map[string]bool{
		"https://example.org/?p=5": true, "http://example.org/łódź": true, "urn:uuid:5": true, "urn:": false, "": false,
		"ftp://example.org/": false, "example.org/?p=5": false, "https://example.org/a b": false, "https://example.org/a\x01": false,
		"https://example.org/<a>": false, `https://example.org/"`: false, "https://example.org/{a}": false,
		"https://example.org/a|b": false, `https://example.org/a\b`: false, "https://example.org/^": false, "https://example.org/`": false,
	} {
		if got := isGUID(guid); got != want {
			t.Errorf("%q: %v, want %v", guid, got, want)
		}
	}
}

// TestDryRunTellsOfNewIDs imports a source with new ids. A later import, dry or not, must say that further records get
// new ids too.
func TestDryRunTellsOfNewIDs(t *testing.T) {
	t.Parallel()
	site := wptest.NewSite(t, wptest.Options{})
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		first := allOf(t, site)
		first.Events = first.Events[:3]
		if _, err := runImport(t, st, first, withNewIDs); err != nil {
			t.Fatal(err)
		}
		for _, dry := range []bool{true, false} {
			report, err := runImport(t, st, allOf(t, site), func(im *Importer) { im.DryRun = dry })
			if err != nil || !slices.ContainsFunc(report.Notices, func(s string) bool { return strings.Contains(s, "new records get new ids") }) {
				t.Errorf("dry run %v: %v, %v", dry, err, report.Notices)
			}
		}
	})
}
