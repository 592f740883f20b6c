package bulk_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// tables has the tables to compare, with the columns that may differ. These are the automatic numbers of a table, and the
// version, which grows with each language that is written one by one.
var tables = map[string][]string{
	"records": nil, "slugs": {"id"}, "search_texts": {"id"}, "event_terms": nil, "event_venues": nil,
	"event_organizers": nil, "events": {"version"}, "venues": {"version"}, "organizers": {"version"},
	"terms": {"version"}, "event_translations": {"id"}, "venue_translations": {"id"},
	"organizer_translations": {"id"}, "term_translations": {"id"},
}

// dump returns the rows of all tables as lines of text, to compare two databases.
func dump(t *testing.T, db *sql.DB) []string {
	t.Helper()
	var out []string
	for name, leave := range tables {
		columns, found, err := tableRows(t.Context(), db, "SELECT * FROM "+name)
		must.Succeed(t, err)
		for _, values := range found {
			var b strings.Builder
			b.WriteString(name)
			for i, c := range columns {
				if text, ok := values[i].([]byte); ok {
					values[i] = string(text)
				}
				if !slices.Contains(leave, c) {
					fmt.Fprintf(&b, " %s=%#v", c, values[i])
				}
			}
			out = append(out, b.String())
		}
	}
	slices.Sort(out)
	return out
}

// tableRows returns the names of the columns and all rows of the result of a query.
func tableRows(ctx context.Context, db *sql.DB, query string) (columns []string, rows [][]any, err error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	if columns, err = found.Columns(); err != nil {
		return nil, nil, err
	}
	for found.Next() {
		values, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			at[i] = &values[i]
		}
		if err := found.Scan(at...); err != nil {
			return nil, nil, err
		}
		rows = append(rows, values)
	}
	return columns, rows, found.Err()
}

func TestLoadedIsWhatCreatesWouldLeave(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		one := storetest.Migrated(t, url)
		ours := edittest.NewWorld(t, one.Ent)
		e := ours.As(calendar.Administrator)
		newExample().writeByEditor(ours, e)
		want := dump(t, one.DB)
		for _, size := range []int{1, 3, 100} {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				other := storetest.SQLite(t)
				if one.Engine() == "mysql" {
					other = storetest.MySQL(t)
				}
				st := storetest.Migrated(t, other)
				w := edittest.NewWorld(t, st.Ent)
				l := bulk.NewLoader(st, w.As(calendar.Administrator))
				l.Verify = true
				newExample().writeByLoader(t, l, size)
				if diff := cmp.Diff(want, dump(t, st.DB)); diff != "" {
					t.Errorf("tables (-one by one +loaded):\n%s", diff)
				}
				w.CheckCounts()
				log := w.CheckLog()
				if last := log[len(log)-1]; last.Action != calendar.Loaded || last.Kind != calendar.Event || len(last.Fields) != 1 {
					t.Errorf("the last change is %+v", last)
				}
			})
		}
	})
}

// writeEvents writes events with a loader and returns their ids.
func writeEvents(t *testing.T, l *bulk.Loader, in ...bulk.Event) []int64 {
	t.Helper()
	p, err := l.Events(in)
	must.Succeed(t, err)
	ids, err := l.Write(t.Context(), p)
	must.Succeed(t, err)
	return ids
}

func TestLoadedSlugsGoAroundTakenOnes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := edittest.NewWorld(t, st.Ent)
		e := w.As(calendar.Administrator)
		for _, s := range []string{"lesson", "lesson-2", "lesson-4", "lesson-7"} {
			w.Event(e, &edit.EventInput{Title: new("Other"), Slug: &s})
		}
		l := bulk.NewLoader(st, e)
		load := func(titles ...string) {
			t.Helper()
			var in []bulk.Event
			for _, title := range titles {
				in = append(in, bulk.Event{EventInput: edit.EventInput{
					Title: &title, Start: edittest.Wall("2026-07-01 18:00:00"), End: edittest.Wall("2026-07-01 20:00:00"),
				}})
			}
			writeEvents(t, l, in...)
		}
		load("Lesson", "Lesson", "Lesson 9", "Lesson")
		w.Event(e, &edit.EventInput{Title: new("lesson")}) // behind the loader's back
		load("Lesson", "Lesson")
		got, err := st.Ent.Event.Query().Order(ent.Asc("id")).Select("slug").Strings(t.Context())
		must.Succeed(t, err)
		want := []string{
			"lesson", "lesson-2", "lesson-4", "lesson-7", "lesson-3", "lesson-5", "lesson-9", "lesson-6",
			"lesson-8", "lesson-10", "lesson-11",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("slugs (-want +got):\n%s", diff)
		}
	})
}

func TestLoaderLeavesOutWhatIsInTheTrash(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := edittest.NewWorld(t, st.Ent)
		e := w.As(calendar.Administrator)
		kept, gone := w.Venue(e, &edit.VenueInput{Name: new("Kept")}), w.Venue(e, &edit.VenueInput{Name: new("Gone")})
		edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (*ent.Venue, error) { return edit.Venues.Trash(ctx, tx, e, gone) })
		l := bulk.NewLoader(st, e)
		ids := writeEvents(t, l, bulk.Event{EventInput: edit.EventInput{
			Title: new("A"), Start: edittest.Wall("2026-07-01 18:00:00"), End: edittest.Wall("2026-07-01 20:00:00"),
			Venues: &[]edit.VenueRef{{ID: gone.ID}, {ID: kept.ID}},
		}})
		links := st.Ent.EventVenue.Query().AllX(t.Context())
		if len(links) != 1 || links[0].VenueID != kept.ID || links[0].EventID != ids[0] || links[0].Position != 0 {
			t.Errorf("links %v", links)
		}
	})
}

func TestLoaderUsesTermsThatAreThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := edittest.NewWorld(t, st.Ent)
		e := w.As(calendar.Administrator)
		music := w.Term(e, calendar.Category, "Music", 0)
		loaded, err := bulk.NewLoader(st, e).Terms(t.Context(), calendar.Category, []bulk.Term{
			{TermInput: edit.TermInput{Name: new("MUSIC")}},
			{TermInput: edit.TermInput{Name: new("Music")}, Parent: func(ids []int64) int64 { return ids[0] }},
		})
		must.Succeed(t, err)
		if loaded[0] != (bulk.LoadedTerm{ID: music.ID}) || !loaded[1].Created {
			t.Errorf("loaded %+v", loaded)
		}
		if row := st.Ent.Term.GetX(t.Context(), loaded[1].ID); *row.ParentID != music.ID || row.Slug != "music-2" {
			t.Errorf("the new one is %v", row)
		}
	})
}

func TestLoaderAsksForRights(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	l := bulk.NewLoader(st, &edit.Editor{Site: edittest.Site(t), Now: edittest.Now, By: auth.Principal{Role: calendar.Subscriber, UserID: 1}})
	p, err := l.Venues([]bulk.Venue{{NamedInput: edit.VenueInput{Name: new("A")}}})
	must.Succeed(t, err)
	_, err = l.Write(t.Context(), p)
	edittest.Refused(t, err, "rest_forbidden")
	_, err = l.Terms(t.Context(), calendar.Tag, []bulk.Term{{TermInput: edit.TermInput{Name: new("A")}}})
	edittest.Refused(t, err, "rest_forbidden")
	_, err = l.Images(t.Context(), []func(*ent.ImageCreate){func(*ent.ImageCreate) {}})
	edittest.Refused(t, err, "rest_forbidden")
}

func TestVerifyRefusesTextsThatAreNotClean(t *testing.T) {
	t.Parallel()
	l := bulk.NewLoader(nil, &edit.Editor{Site: edittest.Site(t), Now: edittest.Now, By: auth.System()})
	l.Verify = true
	for _, tt := range []struct {
		name string
		in   edit.VenueInput
		text []calendar.Text
		ok   bool
	}{
		{"clean", edit.VenueInput{Name: new("A & B"), Description: new("<p>x &amp; y</p>")}, nil, true},
		{"a script", edit.VenueInput{Name: new("A"), Description: new("<script>x</script>")}, nil, false},
		{"characters of a tag in a name", edit.VenueInput{Name: new("a <b> c")}, nil, true},
		{"space around a name", edit.VenueInput{Name: new(" A ")}, nil, false},
		{"in another language", edit.VenueInput{Name: new("A")}, inPolish("", "<p onclick=x>a</p>", ""), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := l.Venues([]bulk.Venue{{NamedInput: tt.in, Texts: tt.text}})
			if (err == nil) != tt.ok {
				t.Errorf("error %v, want none: %t", err, tt.ok)
			}
		})
	}
}

func TestLoadedRowsFillEveryStatement(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := edittest.NewWorld(t, st.Ent)
	l := bulk.NewLoader(st, w.As(calendar.Administrator))
	long := "<p>" + strings.Repeat("long ", 20_000) + "</p>"
	var in []bulk.Event
	for i := range 1200 {
		in = append(in, bulk.Event{EventInput: edit.EventInput{
			Title: new(fmt.Sprintf("Event %d", i)), Start: edittest.Wall("2026-07-01 18:00:00"), End: edittest.Wall("2026-07-01 20:00:00"),
		}})
		if i%100 == 0 {
			in[i].Description = &long
		}
	}
	ids := writeEvents(t, l, in...)
	if n := st.Ent.Event.Query().CountX(t.Context()); n != len(in) || len(ids) != len(in) {
		t.Errorf("%d events, %d ids", n, len(ids))
	}
	if n := st.Ent.SearchText.Query().CountX(t.Context()); n != len(in) {
		t.Errorf("%d search texts", n)
	}
	if n := st.Ent.Change.Query().Where(entchange.ActionEQ(calendar.Loaded)).CountX(t.Context()); n != 1 {
		t.Errorf("%d changes", n)
	}
}
